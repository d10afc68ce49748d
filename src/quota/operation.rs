//! All operations of the service, with the numbers that their prices need.

use super::Numbers;
use crate::text::count;
use serde::{Serialize, Serializer};

/// Declares the operations. A row has the kind, the numbers its price needs (with the name and type
/// of a field of [`Numbers`]), its name on the command line, its description, and its standing in
/// the specification.
macro_rules! operations {
    ($($kind:ident { $($number:ident: $type:ty),* } $name:literal $about:literal $standing:ident)*) => {
        /// A request to the service with its numbers, as explained at [`Numbers`].
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the numbers are explained at `Numbers`")]
        pub enum Operation {
            $(#[doc = concat!($about, ".")] $kind { $($number: $type),* },)*
        }

        impl Operation {
            /// An operation of this kind with the numbers it needs; it ignores the others.
            pub fn with(kind: Kind, numbers: Numbers) -> Self {
                match kind { $(Kind::$kind => Self::$kind { $($number: numbers.$number),* },)* }
            }

            /// The numbers of this operation; all others have their defaults.
            fn numbers(&self) -> Numbers {
                match self {
                    $(Self::$kind { $($number),* } => {
                        Numbers { $($number: Clone::clone($number),)* ..Numbers::default() }
                    })*
                }
            }

            /// The kind, without the numbers.
            pub fn kind(&self) -> Kind {
                match self { $(Self::$kind { .. } => Kind::$kind,)* }
            }
        }

        /// The kind of an operation, without its numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = concat!($about, ": `", $name, "`.")] $kind,)*
        }

        impl Kind {
            /// Every kind, in display order.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The name on the command line and in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// A short description.
            pub fn about(self) -> &'static str {
                match self { $(Self::$kind => $about,)* }
            }

            /// The numbers that its price needs, by their field names in [`Numbers`].
            pub(super) fn needs(self) -> &'static [&'static str] {
                match self { $(Self::$kind => &[$(stringify!($number)),*],)* }
            }

            fn standing(self) -> Standing {
                match self { $(Self::$kind => Standing::$standing,)* }
            }
        }
    };
}

operations! {
    PrivateBehaviours { calls: u64 }                            "private-behaviours"  "List the sandbox reports of a private file"         Private
    PrivateBehaviour  { calls: u64 }                            "private-behaviour"   "Fetch one sandbox report of a private file"         Private
    PrivateSummary    { calls: u64 }                            "private-summary"     "Fetch a summary of all sandboxes of a private file" Private
    PrivateArtefact   { calls: u64 }                            "private-artefact"    "Download an artefact of a private sandbox run"      Private
    PrivateFile       { calls: u64 }                            "private-file"        "Look at private files"                              Private
    PrivateRelated    { calls: u64 }                            "private-related"     "Fetch what is related to a private file"            Private
    PrivateDelete     { calls: u64 }                            "private-delete"      "Delete a private file"                              Private
    PrivateAnalysis   { calls: u64 }                            "private-analysis"    "Look at private analyses"                           Private
    PrivateUploadUrl  { calls: u64 }                            "private-upload-url"  "Ask where to upload a large private file"           Private
    PrivateScan       { scans: u64 }                            "private-scan"        "Scan a file privately, or once more"                Private
    V2FileReport      { hashes: u64, after_new_upload: Option<bool> } "v2-file-report"      "Fetch v2 file reports for a list of hashes"         Priced
    V2FileSubmissions { submissions: Option<Vec<u64>> }         "v2-file-submissions" "Fetch the uploads of files by v2"                   Priced
    V2FileScan        { known: Option<bool> }                   "v2-file-scan"        "Upload a file to the public corpus by v2"           Priced
    V3FileUpload      { known: Option<bool> }                   "v3-file-upload"      "Upload a file to the public corpus"                 Priced
    V3File            { calls: u64, after_new_upload: Option<bool> } "v3-file"             "Look up a file"                                     Priced
    V3FileAnalyses    { calls: u64, after_new_upload: Option<bool> } "v3-file-analyses"    "List the analyses of a file"                        Priced
    V3Rescan          { calls: u64 }                            "v3-rescan"           "Scan a public file again"                           Priced
    V3Analysis        { exists: Option<bool> }                  "v3-analysis"         "Fetch an analysis by its identifier"                Priced
    V3User            { calls: u64 }                            "v3-user"             "Fetch the user object"                              Unnamed
    V3Quotas          { calls: u64 }                            "v3-quotas"           "Fetch quota details"                                Priced
    V3Usage           { calls: u64 }                            "v3-usage"            "Fetch usage details"                                Priced
    V3Feed            { calls: u64 }                            "v3-feed"             "Read a feed, or download by a link it gave"         Priced
    V3Search          { calls: u64 }                            "v3-search"           "Search by v3"                                       Priced
    V3Download        { calls: u64 }                            "v3-download"         "Download a public file by v3"                       Unnamed
    WebSearch         { calls: u64 }                            "web-search"          "Search on the website"                              Priced
    LivehuntRules     { rules: u64, active: bool }              "livehunt-rules"      "Create live hunting rules"                          Priced
    Retrohunt         { jobs: u64 }                             "retrohunt"           "Create retrospective hunting jobs"                  Priced
    GraphPrivate      { graphs: u64, loads: Option<u64> }       "graph-private"       "Create private graphs"                              Priced
    GraphPublic       { graphs: u64, loads: Option<u64> }       "graph-public"        "Create public graphs"                               Priced
}

/// How the specification treats a kind of operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Section 8 prices it, directly or as an operation named in §4.2.
    Priced,
    /// It lies under `/private`: it needs the licence, and section 8 does not mention it.
    Private,
    /// Known from the service only.
    Unnamed,
}

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether it needs the private scanning licence (§4.1).
    pub fn is_private(self) -> bool {
        self.standing() == Standing::Private
    }

    /// Whether the specification states its cost.
    pub fn is_priced_by_specification(self) -> bool {
        self.standing() == Standing::Priced
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Operation {
    /// One operation of this kind with default numbers.
    pub fn once(kind: Kind) -> Self {
        Self::with(kind, Numbers::default())
    }

    /// The HTTP calls that the general rule counts (§8.1.2). An operation counted in hashes, rules
    /// or graphs is one call here.
    pub fn calls(&self) -> u64 {
        self.numbers().calls
    }

    /// The number of items requested, with their noun: "600 hashes", "3 rules", "1 call".
    pub fn words(&self) -> String {
        match self {
            Self::PrivateScan { scans } => count(*scans, "scan"),
            Self::V2FileReport { hashes, .. } => count(*hashes, "hash"),
            Self::V2FileSubmissions { submissions: None } => "submissions".to_owned(),
            Self::V2FileSubmissions { submissions: Some(files) } => count(total(files), "submission"),
            Self::V2FileScan { .. } | Self::V3FileUpload { .. } => count(1, "upload"),
            Self::V3Search { calls } | Self::WebSearch { calls } => count(*calls, "search"),
            Self::V3Download { calls } => count(*calls, "download"),
            Self::LivehuntRules { rules, .. } => count(*rules, "rule"),
            Self::Retrohunt { jobs } => count(*jobs, "job"),
            Self::GraphPrivate { graphs, .. } | Self::GraphPublic { graphs, .. } => count(*graphs, "graph"),
            _ => count(self.calls(), "call"),
        }
    }
}

/// The sum of counts, at most `u64::MAX`.
pub(super) fn total(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_name_leads_back_to_its_kind_and_no_two_share_one() {
        let names: HashSet<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.name()), Some(*kind));
            assert_eq!(kind.is_private(), kind.name().starts_with("private-"));
        }
        assert_eq!(Kind::named("V3-file"), None);
    }

    #[test]
    fn every_kind_builds_an_operation_of_its_kind() {
        for kind in Kind::ALL {
            assert_eq!(Operation::once(*kind).kind(), *kind);
        }
    }

    #[test]
    fn a_total_saturates() {
        assert_eq!(total(&[u64::MAX, 1]), u64::MAX);
        assert_eq!(total(&[]), 0);
    }
}
