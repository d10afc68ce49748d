//! The numbers that prices depend on, and their defaults.

/// The numbers of an operation, for example from the command line. By default a count is one, a
/// fact is unknown, and of two cases the dearer one applies. Each operation uses those it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// HTTP calls; each page, each pivot and each step of a cursor is one.
    pub calls: u64,
    pub hashes: u64,
    /// Submissions of each file in question, once known.
    pub submissions: Option<Vec<u64>>,
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
