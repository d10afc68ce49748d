//! The table of report attributes: the pane and the form in which each is shown, when two of its
//! values are the same, and which indicators its values contain. An attribute without a row in the
//! table goes whole to the pane "Other".

use super::indicators::Kind;
use Pane::{
    Commands, Files, Mobile, Modules, Network, Overview, Processes, Registry, Services, Tags, Techniques, Text,
};
use Shape::{Moment, ProcessTree, Value};
use std::sync::LazyLock;

/// The techniques that the service's answer to `behaviour_mitre_trees` names for a sandbox; no report has a member of this name.
pub(in crate::report) const TREE_TECHNIQUES: &str = "behaviour_mitre_trees";

/// What a row of a technique is labelled whose tactic is not known.
const TECHNIQUE: &str = "technique";

/// The flat list of processes, which is made a tree where a report has none.
pub(in crate::report) const PROCESS_LIST: &str = "processes_list";

/// The member of a record whose value is a password: shown where it is asked for, by an export of data.
pub const PASSWORD: &str = "auth_pass";

/// Members of a record that are the text of a program or of a rule: useful only as written, so no address in them is defanged.
pub const CODE: [&str; 2] = ["rule_raw", "rule_src"];

/// Shown instead of a password.
pub const HIDDEN: &str = "(hidden; an export as JSON has it)";

/// Lengths of lists at which the service seems to cut them.
const CUT_LENGTHS: [usize; 2] = [300, 500];

/// Shown after the row count of a list that the service may have cut.
pub const PERHAPS_CUT: &str = ", perhaps cut by the service";

pub fn is_perhaps_cut(rows: usize) -> bool {
    CUT_LENGTHS.contains(&rows)
}

/// The panes of a report, in the order of the screen: variant, name in exports and on the command line, title for people.
macro_rules! panes {
    ($($(#[$doc:meta])* $pane:ident, $name:literal, $short:literal, $title:literal;)*) => {
        /// Attributes that an analyst reads together.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Pane {
            $($(#[$doc])* $pane,)*
        }

        impl Pane {
            /// Every pane, in the order of the screen.
            pub const ALL: [Self; 13] = [$(Self::$pane),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$pane => $name,)*
                }
            }

            /// Its title in one word.
            pub fn short(self) -> &'static str {
                match self {
                    $(Self::$pane => $short,)*
                }
            }

            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$pane => $title,)*
                }
            }
        }

        /// The title of a pane, as a literal that others can be made of.
        macro_rules! title {
            $(($pane) => {
                $title
            };)*
        }
        pub(crate) use title;
    };
}

panes! {
    Processes, "processes", "Processes", "Processes";
    Tags, "tags", "Tags", "Tags";
    Registry, "registry", "Registry", "Registry";
    Files, "files", "Files", "Files";
    Network, "network", "Network", "Network";
    Commands, "commands", "Commands", "Commands";
    Modules, "modules", "Modules", "Modules and calls";
    Services, "services", "Services", "Services and mutexes";
    Techniques, "techniques", "ATT&CK", "ATT&CK and signatures";
    /// Text seen, cryptography, memory patterns.
    Text, "text", "Text", "Text and crypto";
    Mobile, "mobile", "Mobile", "Mobile";
    /// Everything that no row of [`ATTRIBUTES`] names.
    Other, "other", "Other", "Other";
    Overview, "overview", "Overview", "Overview";
}

impl Pane {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pane| pane.name() == name)
    }
}

/// One report attribute (specification §2.1, and what the service adds to it).
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    pub name: &'static str,
    pub pane: Pane,
    /// What happened to the thing, or what it is, in a word beside the row.
    pub label: &'static str,
    /// What its values look like when they are as documented.
    pub shape: Shape,
    /// When two of its values are one item of a comparison.
    pub sameness: Sameness,
    /// Groups of fields that identify a record: every present field of a group counts; the next group is used only when the group
    /// before has none.
    pub told_by: Vec<Vec<&'static str>>,
    /// Members of its values that contain indicators. Other members are not searched: a version
    /// number is not an address.
    pub holds: Vec<Source>,
}

/// When a comparison of sandboxes treats two values as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sameness {
    /// They differ between any two runs, and are not compared.
    Never,
    Exact,
    Case,
    /// The normal form of paths and registry keys ([`super::canonical`]).
    Path,
    /// The file name counts, and a folder that says more than where programs are.
    Program,
}

impl Sameness {
    pub const fn of(pane: Pane) -> Self {
        match pane {
            Pane::Files | Pane::Processes | Pane::Commands | Pane::Modules | Pane::Registry => Self::Path,
            Pane::Network | Pane::Services | Pane::Tags | Pane::Techniques | Pane::Overview => Self::Case,
            Pane::Text | Pane::Mobile | Pane::Other => Self::Exact,
        }
    }
}

/// Where in the values of an attribute something stands that others can look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Name of the member that holds it, at any depth below the row; empty for the row itself.
    pub member: &'static str,
    pub meaning: Meaning,
    /// Whether the sample left it behind. A file that was only opened or deleted is not a trace.
    pub is_left: bool,
}

/// What a value is known to be by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Is(Kind),
    /// A module: its path, or its name alone, which leads nowhere.
    Module,
    /// Words in which hashes, URLs, addresses and paths may stand; a path by itself is what they are about.
    Words,
    /// The same where a path by itself is what something was done to, and no trace of who did it.
    Others,
    /// Words where hexadecimal digits are binary data, and no hash.
    Data,
    /// A command line of which only the texts that it hides are searched.
    Encoded,
}

/// Where the traffic came from that network rules saw.
pub const ORIGIN: &str = "src_ip";

/// Where it went.
pub const DESTINATION: &str = "dest_ip";

/// What the values of an attribute look like when they are as documented. A value of another kind is shown all the same.
#[derive(Debug, PartialEq, Eq)]
pub enum Shape {
    Value,
    /// A moment, in seconds since 1970.
    Moment,
    Strings,
    /// A list of objects, a row each; the fields to show in the row, in order.
    Records(Vec<Field>),
    ProcessTree,
}

/// One field of a record, as shown in its row.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub before: &'static str,
    pub name: &'static str,
    pub role: Role,
}

/// The role of a field in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What the thing is, or something of it.
    Said,
    /// The subject of the row. If no present field has this role, the first shown value is the
    /// subject.
    About,
    /// How severe it is: rows are shown by it.
    Severity,
    /// What it was seen by: values at any depth, one after another.
    Evidence,
}

impl Field {
    /// The fields of a row: `{name}`, each with the text before it; `*` marks [`Role::About`], `!` [`Role::Severity`], `?`
    /// [`Role::Evidence`].
    fn all(row: &'static str) -> Vec<Self> {
        let parts = row.split_terminator('}').filter_map(|part| part.split_once('{'));
        let field = |(before, name): (&'static str, &'static str)| {
            let role = match name.get(..1) {
                Some("*") => Role::About,
                Some("!") => Role::Severity,
                Some("?") => Role::Evidence,
                _ => Role::Said,
            };
            Self { before, name: name.trim_start_matches(['*', '!', '?']), role }
        };
        parts.map(field).collect()
    }
}

/// A registry value whose name is given apart from its key.
pub(in crate::report) static NAMED_VALUE: LazyLock<Vec<Field>> = LazyLock::new(|| Field::all(r"{key}\{value}"));

impl Attribute {
    pub fn severity(&self) -> Option<&'static str> {
        match &self.shape {
            Shape::Records(fields) => fields.iter().find(|field| field.role == Role::Severity).map(|field| field.name),
            _ => None,
        }
    }

    /// Whether its rows are techniques of ATT&CK.
    pub fn is_technique(&self) -> bool {
        self.label == TECHNIQUE
    }

    pub fn named(name: &[u8]) -> Option<&'static Self> {
        ATTRIBUTES.iter().find(|row| row.name.as_bytes() == name)
    }

    /// The groups of fields that say which object it is, parted by `|`.
    fn told_by(self, groups: &'static str) -> Self {
        Self { told_by: groups.split('|').map(|group| group.split(' ').collect()).collect(), ..self }
    }

    fn same(self, sameness: Sameness) -> Self {
        Self { sameness, ..self }
    }

    fn holds(self, holds: &[Source]) -> Self {
        Self { holds: holds.to_vec(), ..self }
    }
}

/// A row with the pane's default sameness and nothing else set.
const fn row(name: &'static str, pane: Pane, label: &'static str, shape: Shape) -> Attribute {
    Attribute { name, pane, label, shape, sameness: Sameness::of(pane), told_by: Vec::new(), holds: Vec::new() }
}

const fn list(name: &'static str, pane: Pane, label: &'static str) -> Attribute {
    row(name, pane, label, Shape::Strings)
}

/// A list of objects, by the fields of their rows.
fn records(name: &'static str, pane: Pane, label: &'static str, fields: &'static str) -> Attribute {
    row(name, pane, label, Shape::Records(Field::all(fields)))
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

const WORDS: &[Source] = &[words("")];
const OTHERS: &[Source] = &[Source { member: "", meaning: Meaning::Others, is_left: false }];
const DATA: Source = Source { member: "value", meaning: Meaning::Data, is_left: false };
const MODULES: &[Source] = &[Source { member: "", meaning: Meaning::Module, is_left: false }];
const PROCESS: &[Source] = &[
    is("files_opened", Kind::Path),
    left("files_written", Kind::Path),
    Source { member: "name", meaning: Meaning::Encoded, is_left: false },
];
const PATHS: &[Source] = &[is("", Kind::Path)];
const LEFT_PATHS: &[Source] = &[left("", Kind::Path)];
const KEYS: &[Source] = &[is("", Kind::Key)];
const ALERT: &[Source] =
    &[is("hostname", Kind::Host), is(ORIGIN, Kind::Address), is(DESTINATION, Kind::Address), is("url", Kind::Url)];

/// Every known attribute. Within a pane, rows are shown in this order: the most informative first.
pub static ATTRIBUTES: LazyLock<Vec<Attribute>> = LazyLock::new(|| {
    vec![
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
        row("processes_tree", Processes, "", ProcessTree).same(Sameness::Program).holds(PROCESS),
        records(PROCESS_LIST, Processes, "", "{name}  {process_id} · parent {parent_process_id}")
            .told_by("name")
            .same(Sameness::Program)
            .holds(PROCESS),
        list("processes_injected", Processes, "injected").holds(OTHERS),
        list("processes_created", Processes, "created").holds(WORDS),
        list("processes_killed", Processes, "killed"),
        list("processes_terminated", Processes, "ended"),
        records("memory_dumps", Processes, "dumped", "{process} · {process_id} · {stage} → {file_name}")
            .told_by("process|file_name")
            .same(Sameness::Program),
        list("tags", Tags, ""),
        records("registry_keys_set", Registry, "set", "{key} = {value}")
            .told_by("key")
            .holds(&[left("key", Kind::Key), DATA]),
        list("registry_keys_deleted", Registry, "deleted").holds(KEYS),
        list("registry_keys_opened", Registry, "opened").holds(KEYS),
        records("files_dropped", Files, "dropped", "{path} · {type} · by {process_name} · {sha256}")
            .told_by("path|sha256")
            .holds(&[left("sha256", Kind::Hash), left("path", Kind::Path)]),
        list("files_written", Files, "written").holds(LEFT_PATHS),
        list("files_deleted", Files, "deleted").holds(PATHS),
        records("files_copied", Files, "copied", "{source} → {destination}")
            .told_by("source destination")
            .holds(&[is("source", Kind::Path), left("destination", Kind::Path)]),
        list("files_attribute_changed", Files, "changed").holds(PATHS),
        list("files_opened", Files, "opened").holds(PATHS),
        records("ids_alerts", Network, "alert", "{!alert_severity} · {rule_msg} · {rule_category}")
            .told_by("rule_msg|rule_id")
            .holds(ALERT),
        records("ids_results", Network, "IDS result", "{!alert_severity} · {rule_msg} · {rule_category}")
            .told_by("rule_msg|rule_id")
            .holds(ALERT),
        records("dns_lookups", Network, "name", "{hostname} → {resolved_ips} · txt {txt_records}")
            .told_by("hostname")
            .holds(&[is("hostname", Kind::Host), is("resolved_ips", Kind::Address)]),
        records("http_conversations", Network, "http", "{request_method} {*url} → {response_status_code}")
            .told_by("request_method url")
            .same(Sameness::Exact)
            .holds(&[is("url", Kind::Url)]),
        records(
            "ip_traffic",
            Network,
            "address",
            "{destination_ip}:{destination_port} {transport_layer_protocol} · AS{destination_ip_asn}",
        )
        .told_by("destination_ip destination_port transport_layer_protocol")
        .holds(&[is("destination_ip", Kind::Address)]),
        records(
            "smtp_conversations",
            Network,
            "smtp",
            "{smtp_from} → {smtp_to} · {subject} · {*hostname} · {*destination_ip}:{destination_port}",
        )
        .told_by("hostname destination_ip smtp_to subject")
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
        records("tls", Network, "tls", "{*sni} · {version} · {*thumbprint} · ja4 {ja4}")
            .told_by("sni thumbprint")
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
        records("system_property_sets", Modules, "property set", "{key} = {value}")
            .told_by("key")
            .same(Sameness::Exact),
        list("modules_loaded", Modules, "loaded").holds(MODULES),
        list("invokes", Modules, "invoked").same(Sameness::Exact),
        list("signals_observed", Modules, "signal").same(Sameness::Exact),
        list("signals_hooked", Modules, "hooked").same(Sameness::Exact),
        list("permissions_requested", Services, "permission").same(Sameness::Exact),
        records("permissions_checked", Services, "checked", "{permission} · {owner}")
            .told_by("permission")
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
            TECHNIQUE,
            "{!severity} · {id} {signature_description} ← {?refs}",
        )
        .told_by("id"),
        records("attack_techniques", Techniques, TECHNIQUE, "{!severity} · {id} {description} ← {?refs}").told_by("id"),
        records(TREE_TECHNIQUES, Techniques, TECHNIQUE, "{!severity} · {id} {description}").told_by("id"),
        records(
            "signature_matches",
            Techniques,
            "signature",
            "{!severity} · {name} · {id} · {description} ← {?match_data} ← {?events} ← {?refs}",
        )
        .told_by("id|name|description")
        .holds(&[words("match_data")]),
        records(
            "sigma_analysis_results",
            Techniques,
            "sigma",
            "{!rule_level} · {rule_title} · {rule_source} ← {?match_context}",
        )
        .told_by("rule_id|rule_title"),
        records("mbc", Techniques, "mbc", "{id} {behavior} · {method} · {objective} ← {?refs}")
            .told_by("id|behavior method"),
        list("text_highlighted", Text, "seen").holds(WORDS),
        list("text_decoded", Text, "decoded").holds(WORDS),
        list("crypto_algorithms_observed", Text, "algorithm"),
        list("crypto_keys", Text, "key"),
        list("crypto_plain_text", Text, "plain text").holds(WORDS),
        list("encoding_algorithms_observed", Text, "encoding"),
        records("sms_sent", Mobile, "sms", "{destination} · {body}")
            .told_by("destination body")
            .holds(&[words("body")]),
        list("activities_started", Mobile, "activity"),
        list("content_model_observers", Mobile, "observes"),
        records("content_model_sets", Mobile, "content", "{key} = {value}").told_by("key").holds(&[words("value")]),
        list("databases_opened", Mobile, "database").holds(PATHS),
        list("databases_deleted", Mobile, "database gone").holds(PATHS),
        records("shared_preferences_sets", Mobile, "preference", "{key} = {value}").told_by("key").holds(&[DATA]),
        list("shared_preferences_lookups", Mobile, "looked up"),
        row("context_attributes", Pane::Other, "context", Value).holds(&[
            is("sha256", Kind::Hash),
            is("sha1", Kind::Hash),
            is("md5", Kind::Hash),
            is("filename", Kind::Path),
            is("name", Kind::Path),
            is("names", Kind::Path),
            is("type_description", Kind::FileType),
            is("type_tag", Kind::FileType),
            is("url", Kind::Url),
            is("hostname", Kind::Host),
        ]),
        row("hosts_file", Text, "hosts file", Value).holds(WORDS),
    ]
});

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
        for known in ATTRIBUTES.iter() {
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
            ("mitre_attack_techniques", TREE_TECHNIQUES),
            ("attack_techniques", TREE_TECHNIQUES),
        ];
        for (n, one) in ATTRIBUTES.iter().enumerate() {
            let twin = ATTRIBUTES.iter().skip(n + 1).find(|other| (other.pane, other.label) == (one.pane, one.label));
            assert!(twin.is_none_or(|twin| forms.contains(&(one.name, twin.name))), "{one:?} {twin:?}");
        }
    }
}
