//! What a sandbox keeps beside its report.

/// What a sandbox kept beside its report (specification §2.1, and what the service adds to it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Artefact {
    /// The report as a web page.
    Html,
    /// The network capture.
    Pcap,
    /// The event log of Windows.
    Evtx,
    /// The memory dump.
    Memdump,
}

impl Artefact {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Html, Self::Pcap, Self::Evtx, Self::Memdump];

    /// Its name in addresses and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Pcap => "pcap",
            Self::Evtx => "evtx",
            Self::Memdump => "memdump",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|artefact| artefact.name() == name)
    }

    /// What it is, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Html => "HTML report",
            Self::Pcap => "network capture",
            Self::Evtx => "event log",
            Self::Memdump => "memory dump",
        }
    }

    /// How its files' names end.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Memdump => "memdump.bin",
            other => other.name(),
        }
    }

    /// The attribute of a report that says that it exists.
    #[must_use]
    pub fn attribute(self) -> &'static str {
        match self {
            Self::Html => "has_html_report",
            Self::Pcap => "has_pcap",
            Self::Evtx => "has_evtx",
            Self::Memdump => "has_memdump",
        }
    }
}
