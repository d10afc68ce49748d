//! The table of report attributes: name, pane, label, shape. What no row names lands in the pane "Other", whole.

/// A pane of a report: attributes that an analyst looks at together. They stand, and compare, in the order of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pane {
    /// The process tree, and processes made, ended, injected.
    Processes,
    /// Behaviour tags.
    Tags,
    /// Registry keys.
    Registry,
    /// Files.
    Files,
    /// Names looked up, connections, conversations, alerts.
    Network,
    /// Command lines.
    Commands,
    /// Modules and calls.
    Modules,
    /// Services, mutexes, windows, signals.
    Services,
    /// ATT&CK techniques, signatures, rules that matched.
    Techniques,
    /// Text seen, cryptography, memory patterns.
    Text,
    /// What only mobile sandboxes report.
    Mobile,
    /// Everything that no row of [`ATTRIBUTES`] names.
    Other,
    /// Verdicts, hashes, dates, flags.
    Overview,
}

impl Pane {
    /// Every pane, in the order of the screen.
    pub const ALL: [Self; 13] = [
        Self::Processes,
        Self::Tags,
        Self::Registry,
        Self::Files,
        Self::Network,
        Self::Commands,
        Self::Modules,
        Self::Services,
        Self::Techniques,
        Self::Text,
        Self::Mobile,
        Self::Other,
        Self::Overview,
    ];

    /// Its name in exports and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Processes => "processes",
            Self::Tags => "tags",
            Self::Registry => "registry",
            Self::Files => "files",
            Self::Network => "network",
            Self::Commands => "commands",
            Self::Modules => "modules",
            Self::Services => "services",
            Self::Techniques => "techniques",
            Self::Text => "text",
            Self::Mobile => "mobile",
            Self::Other => "other",
        }
    }

    /// The pane of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pane| pane.name() == name)
    }
}

/// One report attribute (specification §2.1, and what the service adds to it).
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name in the report.
    pub name: &'static str,
    /// The pane that shows it.
    pub pane: Pane,
    /// What happened to the thing, or what it is, in a word beside the row.
    pub label: &'static str,
    /// What its values look like when they are as documented.
    pub shape: Shape,
}

/// What the values of an attribute look like when they are as documented. A value of another kind is shown all the same.
#[derive(Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value, shown as written.
    Value,
    /// A moment, in seconds since 1970.
    Moment,
    /// A list of strings, a row each.
    Strings,
    /// A list of objects, a row each; the fields to show in the row, in order.
    Records(&'static [Field]),
    /// Processes with children.
    ProcessTree,
}

/// One field of a record as it stands in its row.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// What stands before the value when both are there.
    pub before: &'static str,
    /// Name in the record.
    pub name: &'static str,
    /// What it tells.
    pub role: Role,
}

/// What a field of a record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What the thing is, or something of it.
    Said,
    /// How severe it is: rows are shown by it.
    Severity,
    /// What it was seen by: values at any depth, one after another.
    Evidence,
}

const fn field(before: &'static str, name: &'static str) -> Field {
    Field { before, name, role: Role::Said }
}

/// How severe a thing is, as the first field of its row.
const fn severity(name: &'static str) -> Field {
    Field { before: "", name, role: Role::Severity }
}

/// What a thing was seen by, as the last field of its row.
const fn evidence(name: &'static str) -> Field {
    Field { before: " ← ", name, role: Role::Evidence }
}

const fn row(name: &'static str, pane: Pane, label: &'static str, shape: Shape) -> Attribute {
    Attribute { name, pane, label, shape }
}

const fn list(name: &'static str, pane: Pane, label: &'static str) -> Attribute {
    row(name, pane, label, Shape::Strings)
}

use Pane::{
    Commands, Files, Mobile, Modules, Network, Overview, Processes, Registry, Services, Tags, Techniques, Text,
};
use Shape::{Moment, ProcessTree, Records, Value};

/// Every attribute that is known by name. The order within a pane is the order of its rows: what tells most comes first.
pub static ATTRIBUTES: &[Attribute] = &[
    row("sandbox_name", Overview, "sandbox", Value),
    row("id", Overview, "identifier", Value),
    row("type", Overview, "type", Value),
    list("verdicts", Overview, "verdict"),
    list("verdict_labels", Overview, "labelled"),
    row("verdict_confidence", Overview, "confidence", Value),
    row("analysis_date", Overview, "analysed", Moment),
    row("last_modification_date", Overview, "modified", Moment),
    row("behash", Overview, "behash", Value),
    row("has_html_report", Overview, "HTML report", Value),
    row("has_pcap", Overview, "capture", Value),
    row("has_evtx", Overview, "event log", Value),
    row("has_memdump", Overview, "memory dump", Value),
    row("html_report_link", Overview, "HTML report at", Value),
    row("pcap_link", Overview, "capture at", Value),
    row("evtx_link", Overview, "event log at", Value),
    row("memdump_link", Overview, "memory dump at", Value),
    row("processes_tree", Processes, "", ProcessTree),
    list("processes_injected", Processes, "injected"),
    list("processes_created", Processes, "created"),
    list("processes_killed", Processes, "killed"),
    list("processes_terminated", Processes, "ended"),
    row(
        "memory_dumps",
        Processes,
        "dumped",
        Records(&[field("", "process"), field(" · ", "process_id"), field(" · ", "stage"), field(" → ", "file_name")]),
    ),
    list("tags", Tags, ""),
    row("registry_keys_set", Registry, "set", Records(&[field("", "key"), field(" = ", "value")])),
    list("registry_keys_deleted", Registry, "deleted"),
    list("registry_keys_opened", Registry, "opened"),
    row(
        "files_dropped",
        Files,
        "dropped",
        Records(&[field("", "path"), field(" · ", "type"), field(" · by ", "process_name"), field(" · ", "sha256")]),
    ),
    list("files_written", Files, "written"),
    list("files_deleted", Files, "deleted"),
    row("files_copied", Files, "copied", Records(&[field("", "source"), field(" → ", "destination")])),
    list("files_attribute_changed", Files, "changed"),
    list("files_opened", Files, "opened"),
    row(
        "ids_alerts",
        Network,
        "alert",
        Records(&[severity("alert_severity"), field(" · ", "rule_msg"), field(" · ", "rule_category")]),
    ),
    row(
        "ids_results",
        Network,
        "IDS result",
        Records(&[severity("alert_severity"), field(" · ", "rule_msg"), field(" · ", "rule_category")]),
    ),
    row("dns_lookups", Network, "name", Records(&[field("", "hostname"), field(" → ", "resolved_ips")])),
    row(
        "http_conversations",
        Network,
        "http",
        Records(&[field("", "request_method"), field(" ", "url"), field(" → ", "response_status_code")]),
    ),
    row(
        "ip_traffic",
        Network,
        "address",
        Records(&[field("", "destination_ip"), field(":", "destination_port"), field(" ", "transport_layer_protocol")]),
    ),
    row("tls", Network, "tls", Records(&[field("", "sni"), field(" · ", "version"), field(" · ", "thumbprint")])),
    list("ja3_digests", Network, "ja3"),
    list("memory_pattern_domains", Network, "name in memory"),
    list("memory_pattern_urls", Network, "URL in memory"),
    list("memory_pattern_ips", Network, "IP in memory"),
    list("command_executions", Commands, ""),
    list("calls_highlighted", Modules, "call"),
    list("modules_loaded", Modules, "loaded"),
    list("invokes", Modules, "invoked"),
    list("services_created", Services, "created"),
    list("services_started", Services, "started"),
    list("services_stopped", Services, "stopped"),
    list("services_deleted", Services, "deleted"),
    list("services_bound", Services, "bound"),
    list("services_opened", Services, "opened"),
    list("mutexes_created", Services, "mutex made"),
    list("mutexes_opened", Services, "mutex opened"),
    list("windows_searched", Services, "window sought"),
    list("windows_hidden", Services, "window hidden"),
    row(
        "mitre_attack_techniques",
        Techniques,
        "technique",
        Records(&[severity("severity"), field(" · ", "id"), field(" ", "signature_description"), evidence("refs")]),
    ),
    row(
        "signature_matches",
        Techniques,
        "signature",
        Records(&[
            severity("severity"),
            field(" · ", "name"),
            field(" · ", "id"),
            field(" · ", "description"),
            evidence("match_data"),
            evidence("refs"),
        ]),
    ),
    row(
        "sigma_analysis_results",
        Techniques,
        "sigma",
        Records(&[
            severity("rule_level"),
            field(" · ", "rule_title"),
            field(" · ", "rule_source"),
            evidence("match_context"),
        ]),
    ),
    list("mbc", Techniques, "mbc"),
    list("text_highlighted", Text, "seen"),
    list("text_decoded", Text, "decoded"),
    list("crypto_algorithms_observed", Text, "algorithm"),
    list("crypto_keys", Text, "key"),
    list("crypto_plain_text", Text, "plain text"),
    list("encoding_algorithms_observed", Text, "encoding"),
    list("permissions_requested", Mobile, "permission"),
    row("permissions_checked", Mobile, "checked", Records(&[field("", "permission"), field(" · ", "owner")])),
    row("sms_sent", Mobile, "sms", Records(&[field("", "destination"), field(" · ", "body")])),
    list("activities_started", Mobile, "activity"),
    list("signals_observed", Mobile, "signal"),
    list("signals_hooked", Mobile, "hooked"),
    list("content_model_observers", Mobile, "observes"),
    list("databases_opened", Mobile, "database"),
    list("databases_deleted", Mobile, "database gone"),
    row("shared_preferences_sets", Mobile, "preference", Records(&[field("", "key"), field(" = ", "value")])),
    list("shared_preferences_lookups", Mobile, "looked up"),
    list("system_property_lookups", Mobile, "property"),
    row("hosts_file", Text, "hosts file", Value),
];

impl Attribute {
    /// The field of its records that says how severe a thing is, if it has one.
    #[must_use]
    pub fn severity(&self) -> Option<&'static str> {
        match self.shape {
            Shape::Records(fields) => fields.iter().find(|field| field.role == Role::Severity).map(|field| field.name),
            _ => None,
        }
    }

    /// The row of this name.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<&'static Self> {
        ATTRIBUTES.iter().find(|row| row.name.as_bytes() == name)
    }

    /// Place in the table, which is the place among a pane's rows.
    #[must_use]
    pub fn rank(attribute: Option<&'static Self>) -> usize {
        attribute.and_then(|found| ATTRIBUTES.iter().position(|row| row == found)).unwrap_or(ATTRIBUTES.len())
    }
}

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
    fn every_pane_is_listed_once() {
        let panes: HashSet<_> = Pane::ALL.into_iter().collect();
        assert_eq!(panes.len(), Pane::ALL.len());
        assert!((0..).zip(Pane::ALL).all(|(place, pane)| pane as usize == place), "they are declared in this order");
        assert!(ATTRIBUTES.iter().all(|row| panes.contains(&row.pane)));
        assert!(Pane::ALL.into_iter().all(|pane| Pane::named(pane.name()) == Some(pane)));
    }
}
