//! The artefacts that a sandbox keeps beside its report.

use crate::report::json::Raw;
use crate::report::{Place, Report};

/// A file that a sandbox kept beside its report (specification §2.1, and further kinds of the
/// service).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Artefact {
    /// The report as a web page.
    Html,
    Pcap,
    /// The event log of Windows.
    Evtx,
    Memdump,
}

impl Artefact {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Html, Self::Pcap, Self::Evtx, Self::Memdump];

    /// The name in addresses and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Pcap => "pcap",
            Self::Evtx => "evtx",
            Self::Memdump => "memdump",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|artefact| artefact.name() == name)
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Html => "HTML report",
            Self::Pcap => "network capture",
            Self::Evtx => "event log",
            Self::Memdump => "memory dump",
        }
    }

    /// The extension of its file names.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Memdump => "memdump.bin",
            other => other.name(),
        }
    }

    /// Whether a report states that it exists; `None` if the report does not mention it.
    pub fn is_beside(self, report: &Report) -> Option<bool> {
        let section = report.index.sections.iter().position(|s| s.name.as_bytes() == self.attribute().as_bytes())?;
        let record = report.record(Place { section, row: 0 });
        match Raw::new(&record.value).bytes() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// The report's attribute that states whether it exists.
    pub fn attribute(self) -> &'static str {
        match self {
            Self::Html => "has_html_report",
            Self::Pcap => "has_pcap",
            Self::Evtx => "has_evtx",
            Self::Memdump => "has_memdump",
        }
    }
}
