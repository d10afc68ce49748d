//! The table of report attributes, `assets/attributes.tsv`: the pane and the form in which each is shown, when two of its
//! values are the same, and which indicators its values contain. An attribute without a line in the
//! table goes whole to the pane "Other".

use super::indicators::Kind;
use crate::text::names;
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

/// Shown after the row count of a list that the service may have cut.
pub const PERHAPS_CUT: &str = ", perhaps cut by the service";

/// The panes of a report, in the order of the screen: variant, name in exports and on the command line, title for people.
macro_rules! panes {
    ($($(#[$doc:meta])* $pane:ident, $name:literal, $short:literal, $title:literal;)*) => {
        names! {
            /// Attributes that an analyst reads together, in the order of the screen.
            Pane { $($(#[$doc])* $pane $name,)* }
        }

        impl Pane {
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

/// One report attribute (specification §2.1, and what the service adds to it).
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    pub name: &'static str,
    pub pane: Pane,
    /// What happened to the thing, or what it is, in a word beside the row.
    pub label: &'static str,
    /// What its values look like when they are as documented.
    pub shape: ValueShape,
    /// When two of its values are one item of a comparison.
    pub sameness: Sameness,
    /// Groups of fields that identify a record: every present field of a group counts; the next group is used only when the group
    /// before has none.
    pub told_by: Vec<Vec<&'static str>>,
    /// Members of its values that contain indicators. Other members are not searched: a version
    /// number is not an address.
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
pub struct IndicatorSource {
    /// Name of the member that holds it, at any depth below the row; empty for the row itself.
    pub member: &'static str,
    pub meaning: ValueMeaning,
    /// Whether the sample left it behind. A file that was only opened or deleted is not a trace.
    pub is_left: bool,
}

impl IndicatorSource {
    /// A source as the table writes it, such as `path=!path`.
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

/// What a value is known to be by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueMeaning {
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
pub enum ValueShape {
    Value,
    /// A moment, in seconds since 1970.
    Moment,
    Strings,
    /// A list of objects, a row each; the fields to show in the row, in order.
    Records(Vec<RecordField>),
    ProcessTree,
}

impl ValueShape {
    /// The shape of this name, or else that of a record with these fields.
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
    pub before: &'static str,
    pub name: &'static str,
    pub role: FieldRole,
}

/// The role of a field in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldRole {
    /// What the thing is, or something of it.
    Said,
    /// The subject of the row. If no present field has this role, the first shown value is the subject.
    About,
    /// How severe it is: rows are shown by it.
    Severity,
    /// What it was seen by: values at any depth, one after another.
    Evidence,
}

impl RecordField {
    /// The fields of a row, as the table writes them.
    fn all(row: &'static str) -> Vec<Self> {
        let parts = row.split_terminator('}').filter_map(|part| part.split_once('{'));
        let field = |(before, name): (&'static str, &'static str)| {
            let role = match name.get(..1) {
                Some("*") => FieldRole::About,
                Some("!") => FieldRole::Severity,
                Some("?") => FieldRole::Evidence,
                _ => FieldRole::Said,
            };
            Self { before, name: name.trim_start_matches(['*', '!', '?']), role }
        };
        parts.map(field).collect()
    }
}

/// A registry value whose name is given apart from its key.
pub(in crate::report) static NAMED_VALUE: LazyLock<Vec<RecordField>> =
    LazyLock::new(|| RecordField::all(r"{key}\{value}"));

impl Attribute {
    pub fn severity(&self) -> Option<&'static str> {
        match &self.shape {
            ValueShape::Records(fields) => {
                fields.iter().find(|field| field.role == FieldRole::Severity).map(|field| field.name)
            }
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

    /// An attribute by its line of the table; none for a remark.
    fn from_line(line: &'static str) -> Option<Self> {
        let columns: Vec<_> = line.split('\t').map(|column| if column == "-" { "" } else { column }).collect();
        let [name, pane, label, shape, sameness, told_by, holds] = columns.try_into().ok()?;
        let pane = Pane::named(pane)?;
        Some(Self {
            name,
            pane,
            label,
            shape: ValueShape::named(shape),
            sameness: Sameness::named(sameness).unwrap_or(Sameness::of(pane)),
            told_by: told_by.split_terminator('|').map(|group| group.split(' ').collect()).collect(),
            holds: holds.split_whitespace().map(IndicatorSource::from_word).collect::<Option<_>>()?,
        })
    }
}

/// Every known attribute, in the order of `assets/attributes.tsv`.
pub static ATTRIBUTES: LazyLock<Vec<Attribute>> =
    LazyLock::new(|| include_str!("../../assets/attributes.tsv").lines().filter_map(Attribute::from_line).collect());

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
    fn every_record_that_is_compared_says_which_thing_it_is() {
        for known in ATTRIBUTES.iter() {
            let is_record = matches!(known.shape, ValueShape::Records(_));
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
