//! The table of report attributes, `assets/attributes.tsv`: pane, form, comparison and indicators
//! of each. An attribute without a line is shown in the pane "Other".

use super::indicators::Kind;
use crate::text::{count, names};
use std::sync::LazyLock;

/// The techniques in the response to `behaviour_mitre_trees`; reports have no member of this name.
pub(crate) const TREE_TECHNIQUES: &str = "behaviour_mitre_trees";

const TECHNIQUE: &str = "technique";

/// The flat list of processes, which becomes a tree if a report has none.
pub(crate) const PROCESS_LIST: &str = "processes_list";

/// The member of a record whose value is a password: only exports of data contain it.
pub const PASSWORD: &str = "auth_pass";

/// Members that are a program's or rule's text: useful only as written, so never defanged.
pub const CODE: [&str; 2] = ["rule_raw", "rule_src"];

/// Shown instead of a password.
pub const HIDDEN: &str = "(hidden; an export as JSON has it)";

/// Shown after the row count of a list that the service may have cut.
pub const PERHAPS_CUT: &str = ", perhaps cut by the service";

/// Follows a count that may be too low: the report is incomplete, or a list perhaps cut.
pub const AT_LEAST: &str = "+";

/// Counts the lists that the service may have cut, as a remark on findings; `None` for none.
pub fn cut_lists_label(lists: u64) -> Option<String> {
    (lists > 0).then(|| format!("{}{PERHAPS_CUT}", count(lists, "list")))
}

/// Defines panes in screen order: variant, name in exports and on the command line, and title.
macro_rules! panes {
    ($($(#[$doc:meta])* $pane:ident, $name:literal, $short:literal, $title:literal;)*) => {
        names! {
            /// Attributes that an analyst reads together, in the order of the screen.
            Pane { $($(#[$doc])* $pane $name,)* }
        }

        impl Pane {
            /// Returns its title in one word.
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

        /// The title of a pane, as a literal for `concat!`.
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

/// One report attribute (specification §2.1, and what the service adds to it).
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    pub name: &'static str,
    /// Its position in the table.
    pub(super) rank: usize,
    pub(crate) pane: Pane,
    /// The label beside its rows: what happened to the item, or its kind.
    pub label: &'static str,
    /// The documented form of its values.
    pub shape: ValueShape,
    /// How a comparison matches its values.
    pub(crate) sameness: Sameness,
    /// Groups of fields that identify a record: all present fields of the first group that has any.
    pub(crate) key_groups: Vec<Vec<&'static str>>,
    /// Members searched for indicators; elsewhere, for example, versions look like addresses.
    pub holds: Vec<IndicatorSource>,
}

names! {
    /// When a comparison of sandboxes treats two values as the same.
    Sameness {
        /// They differ between any two runs, and are not compared.
        Never "never",
        Exact "exact",
        Case "case",
        /// The normal form of paths and registry keys ([`super::canonical`]).
        Path "path",
        /// The file name counts, and a folder that says more than where programs are.
        Program "program",
    }
}

impl Sameness {
    pub(crate) const fn of(pane: Pane) -> Self {
        match pane {
            Pane::Files | Pane::Processes | Pane::Commands | Pane::Modules | Pane::Registry => Self::Path,
            Pane::Network | Pane::Services | Pane::Tags | Pane::Techniques | Pane::Overview => Self::Case,
            Pane::Text | Pane::Mobile | Pane::Other => Self::Exact,
        }
    }
}

/// A member of an attribute's values that contains indicators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndicatorSource {
    /// Name of the member, at any depth below the row; empty for the row itself.
    pub member: &'static str,
    pub meaning: ValueMeaning,
    /// Whether the sample left it behind. A file that was only opened or deleted is not a trace.
    pub(crate) is_left: bool,
}

impl IndicatorSource {
    /// Creates a source as the table writes it, such as `path=!path`.
    fn from_word(word: &'static str) -> Option<Self> {
        let (member, kind) = word.split_once('=').unwrap_or(("", word));
        let name = kind.trim_start_matches('!');
        let meaning = match name {
            "module" => ValueMeaning::Module,
            "words" => ValueMeaning::Words,
            "others" => ValueMeaning::Others,
            "data" => ValueMeaning::Data,
            "encoded" => ValueMeaning::Encoded,
            _ => ValueMeaning::Is(Kind::ALL.into_iter().find(|kind| kind.name() == name)?),
        };
        Some(Self { member, meaning, is_left: name != kind })
    }
}

/// The kind of a value, known from its member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueMeaning {
    Is(Kind),
    /// A module: its path, or only its name, which is not an indicator.
    Module,
    /// Text that may contain hashes, URLs, addresses and paths; a path alone is its subject.
    Words,
    /// Text in which a path alone names the target, not a trace of the sample.
    Others,
    /// Text in which hexadecimal digits are binary data, not a hash.
    Data,
    /// A command line; only its hidden texts are searched.
    Encoded,
}

/// The member with the source address of an alert.
pub(crate) const ORIGIN: &str = "src_ip";

/// The member with its destination address.
pub(crate) const DESTINATION: &str = "dest_ip";

/// The documented form of an attribute's values. A value of another form is shown as well.
#[derive(Debug, PartialEq, Eq)]
pub enum ValueShape {
    Value,
    /// A time, in seconds since 1970.
    Moment,
    Strings,
    /// A list of objects, a row each; the fields to show in the row, in order.
    Records(Vec<RecordField>),
    ProcessTree,
}

impl ValueShape {
    /// Returns the shape with this name, or else a record with these fields.
    fn named(name: &'static str) -> Self {
        match name {
            "value" => Self::Value,
            "moment" => Self::Moment,
            "list" => Self::Strings,
            "tree" => Self::ProcessTree,
            fields => Self::Records(RecordField::all(fields)),
        }
    }
}

/// One field of a record, as shown in its row.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordField {
    pub(crate) before: &'static str,
    pub(crate) name: &'static str,
    pub(crate) role: FieldRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldRole {
    Plain,
    /// The subject of the row; if no field has this role, the first shown value.
    About,
    /// Its severity, which orders the rows.
    Severity,
    Evidence,
}

impl RecordField {
    /// Returns the fields of a row, as the table writes them.
    fn all(row: &'static str) -> Vec<Self> {
        let parts = row.split_terminator('}').filter_map(|part| part.split_once('{'));
        let field = |(before, name): (&'static str, &'static str)| {
            let role = match name.get(..1) {
                Some("*") => FieldRole::About,
                Some("!") => FieldRole::Severity,
                Some("?") => FieldRole::Evidence,
                _ => FieldRole::Plain,
            };
            Self { before, name: name.trim_start_matches(['*', '!', '?']), role }
        };
        parts.map(field).collect()
    }
}

/// A registry value whose name is given apart from its key.
pub(crate) static NAMED_VALUE: LazyLock<Vec<RecordField>> = LazyLock::new(|| RecordField::all(r"{key}\{value}"));

impl Attribute {
    pub(crate) fn severity(&self) -> Option<&'static str> {
        match &self.shape {
            ValueShape::Records(fields) => {
                fields.iter().find(|field| field.role == FieldRole::Severity).map(|field| field.name)
            }
            _ => None,
        }
    }

    /// Returns whether its rows are techniques of ATT&CK.
    pub fn is_technique(&self) -> bool {
        self.label == TECHNIQUE
    }

    pub(crate) fn named(name: &[u8]) -> Option<&'static Self> {
        ATTRIBUTES.iter().find(|row| row.name.as_bytes() == name)
    }

    fn from_line((rank, line): (usize, &'static str)) -> Option<Self> {
        let columns: Vec<_> = line.split('\t').map(|column| if column == "-" { "" } else { column }).collect();
        let [name, pane, label, shape, sameness, key_groups, holds] = columns.try_into().ok()?;
        let pane = Pane::named(pane)?;
        Some(Self {
            name,
            rank,
            pane,
            label,
            shape: ValueShape::named(shape),
            sameness: Sameness::named(sameness).unwrap_or(Sameness::of(pane)),
            key_groups: key_groups.split_terminator('|').map(|group| group.split(' ').collect()).collect(),
            holds: holds.split_whitespace().map(IndicatorSource::from_word).collect::<Option<_>>()?,
        })
    }
}

/// Every known attribute, in the order of `assets/attributes.tsv`.
pub static ATTRIBUTES: LazyLock<Vec<Attribute>> = LazyLock::new(|| {
    let lines = include_str!("../../assets/attributes.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.enumerate().filter_map(Attribute::from_line).collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_line_of_the_table_is_an_attribute() {
        let lines = include_str!("../../assets/attributes.tsv").lines().filter(|line| !line.starts_with('#'));
        let names: HashSet<_> = ATTRIBUTES.iter().map(|row| row.name).collect();
        assert_eq!((names.len(), lines.count()), (ATTRIBUTES.len(), ATTRIBUTES.len()));
        let shapes = ATTRIBUTES.iter().filter_map(|row| match &row.shape {
            ValueShape::Records(fields) => Some(fields),
            _ => None,
        });
        shapes.for_each(|fields| assert!(!fields.is_empty()));
    }

    #[test]
    fn key_groups_exist_for_compared_records_only() {
        for known in ATTRIBUTES.iter() {
            let is_record = matches!(known.shape, ValueShape::Records(_));
            assert_eq!(!known.key_groups.is_empty(), is_record && known.sameness != Sameness::Never, "{}", known.name);
        }
    }

    #[test]
    fn attribute_labels_are_unique_within_a_pane() {
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
