//! All operations of the service, with the numbers that their prices need.

use crate::text::{count, names};

/// Declares operations: kind, name on the command line, description, their [`Numbers`].
macro_rules! operations {
    ($($kind:ident $name:literal $about:literal $($number:ident)*;)*) => {
        names! {
            /// The kind of an operation, without its numbers.
            Kind { $(#[doc = concat!($about, ": `", $name, "`.")] $kind $name,)* }
        }

        impl Kind {
            pub fn about(self) -> &'static str {
                match self { $(Self::$kind => $about,)* }
            }

            /// Returns the fields of [`Numbers`] that its price needs.
            pub(super) fn needs(self) -> &'static [&'static str] {
                match self { $(Self::$kind => &[$(stringify!($number)),*],)* }
            }
        }
    };
}

operations! {
    PrivateBehaviours "private-behaviours"  "List the sandbox reports of a private file"         calls;
    PrivateBehaviour  "private-behaviour"   "Fetch one sandbox report of a private file"         calls;
    PrivateSummary    "private-summary"     "Fetch a summary of all sandboxes of a private file" calls;
    PrivateArtifact   "private-artifact"    "Download an artifact of a private sandbox run"      calls;
    PrivateFile       "private-file"        "Look at private files"                              calls;
    PrivateRelated    "private-related"     "Fetch what is related to a private file"            calls;
    PrivateDelete     "private-delete"      "Delete a private file"                              calls;
    PrivateAnalysis   "private-analysis"    "Look at private analyses"                           calls;
    PrivateUploadUrl  "private-upload-url"  "Ask where to upload a large private file"           calls;
    PrivateScan       "private-scan"        "Scan a file privately, or once more"                scans;
    V2FileReport      "v2-file-report"      "Fetch v2 file reports for a list of hashes"         hashes after_new_upload;
    V2FileSubmissions "v2-file-submissions" "Fetch the uploads of files by v2"                   submissions;
    V2FileScan        "v2-file-scan"        "Upload a file to the public corpus by v2"           known;
    V3FileUpload      "v3-file-upload"      "Upload a file to the public corpus"                 known;
    V3File            "v3-file"             "Look up a file"                                     calls after_new_upload;
    V3FileAnalyses    "v3-file-analyses"    "List the analyses of a file"                        calls after_new_upload;
    V3Rescan          "v3-rescan"           "Scan a public file again"                           calls;
    V3Analysis        "v3-analysis"         "Fetch an analysis by its identifier"                exists;
    V3User            "v3-user"             "Fetch the user object"                              calls;
    V3Quotas          "v3-quotas"           "Fetch quota details"                                calls;
    V3Usage           "v3-usage"            "Fetch usage details"                                calls;
    V3GroupUsage      "v3-group-usage"      "Fetch the usage details of a group"                 calls;
    V3GroupUsers      "v3-group-users"      "Fetch the use of a group's quota by its users"       calls;
    V3Feed            "v3-feed"             "Read a feed, or download by a link it gave"         calls;
    V3Search          "v3-search"           "Search by v3"                                       calls;
    V3Download        "v3-download"         "Download a public file by v3"                       calls;
    WebSearch         "web-search"          "Search on the website"                              calls;
    LivehuntRules     "livehunt-rules"      "Create live hunting rules"                          rules active;
    Retrohunt         "retrohunt"           "Create retrospective hunting jobs"                  jobs;
    GraphPrivate      "graph-private"       "Create private graphs"                              graphs loads;
    GraphPublic       "graph-public"        "Create public graphs"                               graphs loads;
}

impl Kind {
    /// Returns whether its path is under `/private`: it needs that licence (§4.1).
    pub fn is_private(self) -> bool {
        self.name().starts_with("private-")
    }
}

/// Numbers that prices depend on; default: counts of one, unknown facts, the dearer of two cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// HTTP calls; each page, each pivot and each step of a cursor is one.
    pub calls: u64,
    pub hashes: u64,
    /// Submissions of all files in question, once known.
    pub submissions: Option<u64>,
    /// Whether the service had the file before the upload, once known.
    pub known: Option<bool>,
    /// Whether the analysis exists, once known.
    pub exists: Option<bool>,
    /// Whether the look-up follows an upload of a file that was new to the service, once known.
    pub after_new_upload: Option<bool>,
    pub rules: u64,
    /// Whether the ruleset of the new rules is active.
    pub active: bool,
    pub jobs: u64,
    pub graphs: u64,
    /// HTTP calls that load all items of one graph, once known.
    pub loads: Option<u64>,
    pub scans: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            calls: 1,
            hashes: 1,
            submissions: None,
            known: None,
            exists: None,
            after_new_upload: Some(false),
            rules: 1,
            active: true,
            jobs: 1,
            graphs: 1,
            loads: None,
            scans: 1,
        }
    }
}

/// A request to the service; its price depends on the numbers that its kind needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub kind: Kind,
    pub numbers: Numbers,
}

impl Operation {
    /// Returns one operation of this kind with default numbers.
    pub fn once(kind: Kind) -> Self {
        Self { kind, numbers: Numbers::default() }
    }

    /// Returns the calls that the general rule counts (§8.1.2): one if others are counted.
    pub(super) fn calls(&self) -> u64 {
        if self.kind.needs().contains(&"calls") { self.numbers.calls } else { 1 }
    }

    /// Returns the number of items requested, with their noun: "600 hashes", "3 rules", "1 call".
    pub fn label(&self) -> String {
        let n = &self.numbers;
        match self.kind {
            Kind::PrivateScan => count(n.scans, "scan"),
            Kind::V2FileReport => count(n.hashes, "hash"),
            Kind::V2FileSubmissions => n.submissions.map_or("submissions".to_owned(), |n| count(n, "submission")),
            Kind::V2FileScan | Kind::V3FileUpload => count(1, "upload"),
            Kind::V3Search | Kind::WebSearch => count(n.calls, "search"),
            Kind::V3Download => count(n.calls, "download"),
            Kind::LivehuntRules => count(n.rules, "rule"),
            Kind::Retrohunt => count(n.jobs, "job"),
            Kind::GraphPrivate | Kind::GraphPublic => count(n.graphs, "graph"),
            _ => count(self.calls(), "call"),
        }
    }
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
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
        assert_eq!(Kind::named("V3-file"), None);
    }
}
