//! The table of report attributes: the pane and the form in which each is shown, when two of its
//! values are the same, and which indicators its values contain. An attribute without a row in the
//! table goes whole to the pane "Other".

mod table;

use super::indicators::Kind;

pub use table::ATTRIBUTES;
pub(in crate::report) use table::TECHNIQUE;

/// The flat list of processes, which is made a tree where a report has none.
pub(in crate::report) const PROCESS_LIST: &str = "processes_list";

/// The member of a record whose value is a password: shown where it is asked for, by an export of data.
pub const PASSWORD: &str = "auth_pass";

/// Shown instead of a password.
pub const HIDDEN: &str = "(hidden; an export as JSON has it)";

/// Lengths of lists at which the service seems to cut them.
const CUT_LENGTHS: [usize; 2] = [300, 500];

/// Shown after the row count of a list that the service may have cut.
pub const PERHAPS_CUT: &str = ", perhaps cut by the service";

/// Whether the service may have cut a list that has this many rows.
pub fn is_perhaps_cut(rows: usize) -> bool {
    CUT_LENGTHS.contains(&rows)
}

/// The title of a pane, as a literal that others can be made of.
macro_rules! title {
    (Processes) => {
        "Processes"
    };
    (Tags) => {
        "Tags"
    };
    (Registry) => {
        "Registry"
    };
    (Files) => {
        "Files"
    };
    (Network) => {
        "Network"
    };
    (Commands) => {
        "Commands"
    };
    (Modules) => {
        "Modules and calls"
    };
    (Services) => {
        "Services and mutexes"
    };
    (Techniques) => {
        "ATT&CK and signatures"
    };
    (Text) => {
        "Text and crypto"
    };
    (Mobile) => {
        "Mobile"
    };
    (Other) => {
        "Other"
    };
    (Overview) => {
        "Overview"
    };
}
pub(crate) use title;

/// A pane of a report: attributes that an analyst reads together. Panes are declared and ordered as
/// they are on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pane {
    /// The process tree, and processes made, ended, injected.
    Processes,
    Tags,
    Registry,
    Files,
    /// Names looked up, connections, conversations, alerts.
    Network,
    Commands,
    Modules,
    Services,
    /// ATT&CK techniques, signatures, rules that matched.
    Techniques,
    /// Text seen, cryptography, memory patterns.
    Text,
    /// What only mobile sandboxes report.
    Mobile,
    /// Everything that no row of [`ATTRIBUTES`] names.
    Other,
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

    /// Its title on the screen and in texts for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Processes => title!(Processes),
            Self::Tags => title!(Tags),
            Self::Registry => title!(Registry),
            Self::Files => title!(Files),
            Self::Network => title!(Network),
            Self::Commands => title!(Commands),
            Self::Modules => title!(Modules),
            Self::Services => title!(Services),
            Self::Techniques => title!(Techniques),
            Self::Text => title!(Text),
            Self::Mobile => title!(Mobile),
            Self::Other => title!(Other),
            Self::Overview => title!(Overview),
        }
    }

    /// The pane of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pane| pane.name() == name)
    }
}

/// One report attribute (specification §2.1, and what the service adds to it).
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    pub name: &'static str,
    /// The pane that shows it.
    pub pane: Pane,
    /// What happened to the thing, or what it is, in a word beside the row.
    pub label: &'static str,
    /// What its values look like when they are as documented.
    pub shape: Shape,
    /// When two of its values are one item of a comparison.
    pub sameness: Sameness,
    /// Groups of fields that identify a record. Every present field of a group counts; the next
    /// group is used only when the group before has none.
    pub told_by: &'static [&'static [&'static str]],
    /// Members of its values that contain indicators. Other members are not searched: a version
    /// number is not an address.
    pub holds: &'static [Source],
    /// Members of a record that are the text of a program or of a rule: of use only as they are, in which no address is defanged.
    pub code: &'static [&'static str],
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
    /// The usual one of a pane.
    pub const fn of(pane: Pane) -> Self {
        match pane {
            Pane::Files | Pane::Processes | Pane::Commands | Pane::Modules | Pane::Registry => Self::Path,
            Pane::Network | Pane::Services | Pane::Tags | Pane::Techniques | Pane::Overview => Self::Case,
            Pane::Text | Pane::Mobile | Pane::Other => Self::Exact,
        }
    }
}

/// Where in the values of an attribute something stands that others can look for.
#[derive(Debug, PartialEq, Eq)]
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
}

/// Where the traffic came from that network rules saw.
pub const ORIGIN: &str = "src_ip";

/// Where it went.
pub const DESTINATION: &str = "dest_ip";

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
    ProcessTree,
}

/// One field of a record, as shown in its row.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// What stands before the value when both are there.
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

impl Attribute {
    /// The field of its records that says how severe a thing is, if it has one.
    pub fn severity(&self) -> Option<&'static str> {
        match self.shape {
            Shape::Records(fields) => fields.iter().find(|field| field.role == Role::Severity).map(|field| field.name),
            _ => None,
        }
    }

    /// The row of this name.
    pub fn named(name: &[u8]) -> Option<&'static Self> {
        ATTRIBUTES.iter().find(|row| row.name.as_bytes() == name)
    }

    /// Place in the table, which is the place among a pane's rows.
    pub fn rank(attribute: Option<&'static Self>) -> usize {
        attribute.and_then(|found| ATTRIBUTES.iter().position(|row| row == found)).unwrap_or(ATTRIBUTES.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_pane_is_listed_once() {
        let panes: HashSet<_> = Pane::ALL.into_iter().collect();
        assert_eq!(panes.len(), Pane::ALL.len());
        assert!((0..).zip(Pane::ALL).all(|(place, pane)| pane as usize == place), "they are declared in this order");
        assert!(ATTRIBUTES.iter().all(|row| panes.contains(&row.pane)));
        assert!(Pane::ALL.into_iter().all(|pane| Pane::named(pane.name()) == Some(pane)));
    }
}
