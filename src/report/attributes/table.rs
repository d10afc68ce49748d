//! The table of known attributes, one row each. All that differs between attributes is in it.

use super::Pane::{
    Commands, Files, Mobile, Modules, Network, Overview, Processes, Registry, Services, Tags, Techniques, Text,
};
use super::Shape::{Moment, ProcessTree, Value};
use super::{Attribute, DESTINATION, Field, Meaning, ORIGIN, PROCESS_LIST, Pane, Role, Sameness, Shape, Source};
use crate::report::indicators::Kind;

const fn field(before: &'static str, name: &'static str) -> Field {
    Field { before, name, role: Role::Said }
}

/// What the row is about, where another field stands before it or in its place.
const fn about(before: &'static str, name: &'static str) -> Field {
    Field { before, name, role: Role::About }
}

/// How severe a thing is, as the first field of its row.
const fn severity(name: &'static str) -> Field {
    Field { before: "", name, role: Role::Severity }
}

/// What a thing was seen by, as the last field of its row.
const fn evidence(name: &'static str) -> Field {
    Field { before: " ← ", name, role: Role::Evidence }
}

/// A row with the pane's default sameness and nothing else set.
const fn row(name: &'static str, pane: Pane, label: &'static str, shape: Shape) -> Attribute {
    Attribute { name, pane, label, shape, sameness: Sameness::of(pane), told_by: &[], holds: &[], code: &[] }
}

const fn list(name: &'static str, pane: Pane, label: &'static str) -> Attribute {
    row(name, pane, label, Shape::Strings)
}

const fn records(name: &'static str, pane: Pane, label: &'static str, fields: &'static [Field]) -> Attribute {
    row(name, pane, label, Shape::Records(fields))
}

impl Attribute {
    const fn same(mut self, sameness: Sameness) -> Self {
        self.sameness = sameness;
        self
    }

    const fn told_by(mut self, fields: &'static [&'static [&'static str]]) -> Self {
        self.told_by = fields;
        self
    }

    const fn holds(mut self, sources: &'static [Source]) -> Self {
        self.holds = sources;
        self
    }

    const fn code(mut self, members: &'static [&'static str]) -> Self {
        self.code = members;
        self
    }
}

const fn is(member: &'static str, kind: Kind) -> Source {
    Source { member, meaning: Meaning::Is(kind), is_left: false }
}

/// The sample left it behind.
const fn left(member: &'static str, kind: Kind) -> Source {
    Source { member, meaning: Meaning::Is(kind), is_left: true }
}

const fn words(member: &'static str) -> Source {
    Source { member, meaning: Meaning::Words, is_left: false }
}

/// A technique of a summary, whose descriptions, severities and references stand under its number.
pub(in crate::report) const TECHNIQUE: &[Field] =
    &[severity("severity"), field(" · ", "id"), field(" ", "description"), evidence("refs")];

const WORDS: &[Source] = &[words("")];
const OTHERS: &[Source] = &[Source { member: "", meaning: Meaning::Others, is_left: false }];
const DATA: Source = Source { member: "value", meaning: Meaning::Data, is_left: false };
const MODULES: &[Source] = &[Source { member: "", meaning: Meaning::Module, is_left: false }];
const PATHS: &[Source] = &[is("", Kind::Path)];
const LEFT_PATHS: &[Source] = &[left("", Kind::Path)];
const KEYS: &[Source] = &[is("", Kind::Key)];
const ALERT: &[Source] =
    &[is("hostname", Kind::Host), is(ORIGIN, Kind::Address), is(DESTINATION, Kind::Address), is("url", Kind::Url)];

/// Every known attribute. Within a pane, rows are shown in this order: the most informative first.
pub static ATTRIBUTES: &[Attribute] = &[
    row("sandbox_name", Overview, "sandbox", Value).same(Sameness::Never),
    row("id", Overview, "identifier", Value).same(Sameness::Never),
    row("type", Overview, "type", Value).same(Sameness::Never),
    list("verdicts", Overview, "verdict"),
    list("verdict_labels", Overview, "labelled"),
    row("owner", Overview, "owner", Value).same(Sameness::Never),
    row("verdict_confidence", Overview, "confidence", Value),
    row("analysis_date", Overview, "analysed", Moment).same(Sameness::Never),
    row("last_modification_date", Overview, "modified", Moment).same(Sameness::Never),
    row("behash", Overview, "behash", Value),
    row("has_html_report", Overview, "HTML report", Value),
    row("has_pcap", Overview, "capture", Value),
    row("has_evtx", Overview, "event log", Value),
    row("has_memdump", Overview, "memory dump", Value),
    row("html_report_link", Overview, "HTML report at", Value).same(Sameness::Never),
    row("pcap_link", Overview, "capture at", Value).same(Sameness::Never),
    row("evtx_link", Overview, "event log at", Value).same(Sameness::Never),
    row("memdump_link", Overview, "memory dump at", Value).same(Sameness::Never),
    row("processes_tree", Processes, "", ProcessTree)
        .same(Sameness::Program)
        .holds(&[is("files_opened", Kind::Path), left("files_written", Kind::Path)]),
    records(
        PROCESS_LIST,
        Processes,
        "",
        &[field("", "name"), field("  ", "process_id"), field(" · parent ", "parent_process_id")],
    )
    .told_by(&[&["name"]])
    .same(Sameness::Program)
    .holds(&[is("files_opened", Kind::Path), left("files_written", Kind::Path)]),
    list("processes_injected", Processes, "injected").holds(OTHERS),
    list("processes_created", Processes, "created").holds(WORDS),
    list("processes_killed", Processes, "killed"),
    list("processes_terminated", Processes, "ended"),
    records(
        "memory_dumps",
        Processes,
        "dumped",
        &[field("", "process"), field(" · ", "process_id"), field(" · ", "stage"), field(" → ", "file_name")],
    )
    .told_by(&[&["process"], &["file_name"]])
    .same(Sameness::Program),
    list("tags", Tags, ""),
    records("registry_keys_set", Registry, "set", &[field("", "key"), field(" = ", "value")])
        .told_by(&[&["key"]])
        .holds(&[left("key", Kind::Key), DATA]),
    list("registry_keys_deleted", Registry, "deleted").holds(KEYS),
    list("registry_keys_opened", Registry, "opened").holds(KEYS),
    records(
        "files_dropped",
        Files,
        "dropped",
        &[field("", "path"), field(" · ", "type"), field(" · by ", "process_name"), field(" · ", "sha256")],
    )
    .told_by(&[&["path"], &["sha256"]])
    .holds(&[left("sha256", Kind::Hash), left("path", Kind::Path)]),
    list("files_written", Files, "written").holds(LEFT_PATHS),
    list("files_deleted", Files, "deleted").holds(PATHS),
    records("files_copied", Files, "copied", &[field("", "source"), field(" → ", "destination")])
        .told_by(&[&["source", "destination"]])
        .holds(&[is("source", Kind::Path), left("destination", Kind::Path)]),
    list("files_attribute_changed", Files, "changed").holds(PATHS),
    list("files_opened", Files, "opened").holds(PATHS),
    records(
        "ids_alerts",
        Network,
        "alert",
        &[severity("alert_severity"), field(" · ", "rule_msg"), field(" · ", "rule_category")],
    )
    .told_by(&[&["rule_msg"], &["rule_id"]])
    .holds(ALERT)
    .code(&["rule_raw"]),
    records(
        "ids_results",
        Network,
        "IDS result",
        &[severity("alert_severity"), field(" · ", "rule_msg"), field(" · ", "rule_category")],
    )
    .told_by(&[&["rule_msg"], &["rule_id"]])
    .holds(ALERT)
    .code(&["rule_raw"]),
    records(
        "dns_lookups",
        Network,
        "name",
        &[field("", "hostname"), field(" → ", "resolved_ips"), field(" · txt ", "txt_records")],
    )
    .told_by(&[&["hostname"]])
    .holds(&[is("hostname", Kind::Host), is("resolved_ips", Kind::Address)]),
    records(
        "http_conversations",
        Network,
        "http",
        &[field("", "request_method"), about(" ", "url"), field(" → ", "response_status_code")],
    )
    .told_by(&[&["request_method", "url"]])
    .same(Sameness::Exact)
    .holds(&[is("url", Kind::Url)]),
    records(
        "ip_traffic",
        Network,
        "address",
        &[
            field("", "destination_ip"),
            field(":", "destination_port"),
            field(" ", "transport_layer_protocol"),
            field(" · AS", "destination_ip_asn"),
        ],
    )
    .told_by(&[&["destination_ip", "destination_port", "transport_layer_protocol"]])
    .holds(&[is("destination_ip", Kind::Address)]),
    records(
        "smtp_conversations",
        Network,
        "smtp",
        &[
            field("", "smtp_from"),
            field(" → ", "smtp_to"),
            field(" · ", "subject"),
            about(" · ", "hostname"),
            about(" · ", "destination_ip"),
            field(":", "destination_port"),
        ],
    )
    .told_by(&[&["hostname", "destination_ip", "smtp_to", "subject"]])
    .holds(&[
        is("hostname", Kind::Host),
        is("destination_ip", Kind::Address),
        is("smtp_from", Kind::Mail),
        is("smtp_to", Kind::Mail),
        words("message_from"),
        words("message_to"),
        words("txt_body"),
        words("html_body"),
        is("sha256", Kind::Hash),
    ]),
    records(
        "tls",
        Network,
        "tls",
        &[about("", "sni"), field(" · ", "version"), about(" · ", "thumbprint"), field(" · ja4 ", "ja4")],
    )
    .told_by(&[&["sni", "thumbprint"]])
    .holds(&[
        is("sni", Kind::Host),
        is("thumbprint", Kind::Certificate),
        is("ja3", Kind::Ja3),
        is("ja3s", Kind::Ja3s),
        is("ja4", Kind::Ja4),
    ]),
    list("ja3_digests", Network, "ja3").holds(&[is("", Kind::Ja3)]),
    list("memory_pattern_domains", Network, "name in memory").holds(&[is("", Kind::Memory)]),
    list("memory_pattern_urls", Network, "URL in memory").same(Sameness::Exact).holds(&[is("", Kind::Memory)]),
    list("memory_pattern_ips", Network, "IP in memory").holds(&[is("", Kind::Memory)]),
    list("command_executions", Commands, "").holds(WORDS),
    list("calls_highlighted", Modules, "call").same(Sameness::Exact),
    // On Windows these are calls of WMI.
    list("system_property_lookups", Modules, "property").same(Sameness::Exact),
    records("system_property_sets", Modules, "property set", &[field("", "key"), field(" = ", "value")])
        .told_by(&[&["key"]])
        .same(Sameness::Exact),
    list("modules_loaded", Modules, "loaded").holds(MODULES),
    list("invokes", Modules, "invoked").same(Sameness::Exact),
    list("signals_observed", Modules, "signal").same(Sameness::Exact),
    list("signals_hooked", Modules, "hooked").same(Sameness::Exact),
    list("permissions_requested", Services, "permission").same(Sameness::Exact),
    records("permissions_checked", Services, "checked", &[field("", "permission"), field(" · ", "owner")])
        .told_by(&[&["permission"]])
        .same(Sameness::Exact),
    list("services_created", Services, "created"),
    list("services_started", Services, "started"),
    list("services_stopped", Services, "stopped"),
    list("services_deleted", Services, "deleted"),
    list("services_bound", Services, "bound"),
    list("services_opened", Services, "opened"),
    list("mutexes_created", Services, "mutex made").same(Sameness::Exact).holds(&[left("", Kind::Mutex)]),
    list("mutexes_opened", Services, "mutex opened").same(Sameness::Exact).holds(&[is("", Kind::Mutex)]),
    list("windows_searched", Services, "window sought").same(Sameness::Exact),
    list("windows_hidden", Services, "window hidden").same(Sameness::Exact),
    records(
        "mitre_attack_techniques",
        Techniques,
        "technique",
        &[severity("severity"), field(" · ", "id"), field(" ", "signature_description"), evidence("refs")],
    )
    .told_by(&[&["id"]]),
    records("attack_techniques", Techniques, "technique", TECHNIQUE).told_by(&[&["id"]]),
    records(
        "signature_matches",
        Techniques,
        "signature",
        &[
            severity("severity"),
            field(" · ", "name"),
            field(" · ", "id"),
            field(" · ", "description"),
            evidence("match_data"),
            evidence("events"),
            evidence("refs"),
        ],
    )
    .told_by(&[&["id"], &["name"], &["description"]])
    .holds(&[words("match_data")])
    .code(&["rule_src"]),
    records(
        "sigma_analysis_results",
        Techniques,
        "sigma",
        &[severity("rule_level"), field(" · ", "rule_title"), field(" · ", "rule_source"), evidence("match_context")],
    )
    .told_by(&[&["rule_id"], &["rule_title"]]),
    records(
        "mbc",
        Techniques,
        "mbc",
        &[field("", "id"), field(" ", "behavior"), field(" · ", "method"), field(" · ", "objective"), evidence("refs")],
    )
    .told_by(&[&["id"], &["behavior", "method"]]),
    list("text_highlighted", Text, "seen").holds(WORDS),
    list("text_decoded", Text, "decoded").holds(WORDS),
    list("crypto_algorithms_observed", Text, "algorithm"),
    list("crypto_keys", Text, "key"),
    list("crypto_plain_text", Text, "plain text").holds(WORDS),
    list("encoding_algorithms_observed", Text, "encoding"),
    records("sms_sent", Mobile, "sms", &[field("", "destination"), field(" · ", "body")])
        .told_by(&[&["destination", "body"]])
        .holds(&[words("body")]),
    list("activities_started", Mobile, "activity"),
    list("content_model_observers", Mobile, "observes"),
    records("content_model_sets", Mobile, "content", &[field("", "key"), field(" = ", "value")])
        .told_by(&[&["key"]])
        .holds(&[words("value")]),
    list("databases_opened", Mobile, "database").holds(PATHS),
    list("databases_deleted", Mobile, "database gone").holds(PATHS),
    records("shared_preferences_sets", Mobile, "preference", &[field("", "key"), field(" = ", "value")])
        .told_by(&[&["key"]])
        .holds(&[DATA]),
    list("shared_preferences_lookups", Mobile, "looked up"),
    row("context_attributes", Pane::Other, "context", Value).holds(&[
        is("sha256", Kind::Hash),
        is("sha1", Kind::Hash),
        is("md5", Kind::Hash),
        is("filename", Kind::Path),
        is("name", Kind::Path),
        is("names", Kind::Path),
        is("url", Kind::Url),
        is("hostname", Kind::Host),
    ]),
    row("hosts_file", Text, "hosts file", Value).holds(WORDS),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_name_stands_once() {
        let names: HashSet<_> = ATTRIBUTES.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), ATTRIBUTES.len());
    }

    #[test]
    fn every_record_that_is_compared_says_which_thing_it_is() {
        for known in ATTRIBUTES {
            let is_record = matches!(known.shape, Shape::Records(_));
            assert_eq!(!known.told_by.is_empty(), is_record && known.sameness != Sameness::Never, "{}", known.name);
        }
    }

    #[test]
    fn no_two_attributes_share_a_word_but_two_forms_of_one() {
        let forms = [
            ("ids_alerts", "ids_results"),
            ("processes_tree", "processes_list"),
            ("mitre_attack_techniques", "attack_techniques"),
        ];
        for (n, one) in ATTRIBUTES.iter().enumerate() {
            let twin = ATTRIBUTES.iter().skip(n + 1).find(|other| (other.pane, other.label) == (one.pane, one.label));
            assert!(twin.is_none_or(|twin| forms.contains(&(one.name, twin.name))), "{one:?} {twin:?}");
        }
    }
}
