//! All operations of the service, with the numbers that their prices need, and the options that set
//! these for planner and `behaview cost`; parses typed amounts.

use crate::text::{count, names, thousands};

/// Maximum accepted number; the price of a higher one could overflow.
const MAX_NUMBER: u64 = 1_000_000_000;

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

/// An option of operations.
#[derive(Debug)]
pub struct Choice {
    /// Its name, with its dashes.
    pub name: &'static str,
    pub about: &'static str,
    /// The fields of [`Numbers`] that it sets; operations that need one take the option.
    sets: &'static [&'static str],
    value: Value,
}

#[derive(Debug)]
enum Value {
    Count(fn(&mut Numbers, u64)),
    /// Numbers, one for each file; their sum counts.
    Counts(fn(&mut Numbers, u64)),
    Response(fn(&mut Numbers, bool)),
    /// No value: the option is a flag.
    Flag(fn(&mut Numbers, bool)),
    /// The name of a file with hashes; the caller counts them.
    File,
}

/// Declares the options: name, value, the numbers that it sets, description.
macro_rules! options {
    ($($name:literal $value:ident ($($number:ident)*) $about:literal;)*) => {
        pub static OPTIONS: &[Choice] = &[$(Choice {
            name: $name,
            about: $about,
            sets: &[$(stringify!($number)),*],
            value: options!(@ $value $($number)*),
        },)*];
    };
    (@ File $($number:ident)*) => { Value::File };
    (@ $value:ident $($number:ident)*) => {
        Value::$value(|numbers, value| { $(numbers.$number = value.into();)* })
    };
}

options! {
    "--calls" Count (calls loads)
        "Calls: each page, pivot and step of a cursor is one; of a graph, those that load all its items";
    "--hashes" Count (hashes) "Hashes in the list; repeated ones count";
    "--hashes-from" File (hashes) "A file of hashes, separated by line ends, blanks or commas";
    "--submissions" Counts (submissions) "Submissions of each file, such as 4,6";
    "--known" Response (known) "Whether the service has the file already";
    "--exists" Response (exists) "Whether the analysis exists";
    "--after-new-upload" Flag (after_new_upload)
        "The look-up follows the upload of a file that was new to the service";
    "--rules" Count (rules) "Live hunting rules";
    "--active" Response (active) "Whether their ruleset is active";
    "--jobs" Count (jobs) "Retrospective hunting jobs";
    "--graphs" Count (graphs) "Graphs";
    "--scans" Count (scans) "Private scans";
}

impl Kind {
    /// Returns the options that it takes; the one for its count comes first.
    pub fn options(self) -> impl Iterator<Item = &'static Choice> {
        self.needs().iter().flat_map(|number| OPTIONS.iter().filter(move |choice| choice.sets.contains(number)))
    }

    /// Returns its options as text: "--hashes N, --hashes-from FILE, --after-new-upload".
    pub fn options_label(self) -> String {
        self.options().map(Choice::label).collect::<Vec<_>>().join(", ")
    }
}

impl Choice {
    /// Returns the placeholder of its value in the help; `None` for a flag.
    pub fn value_name(&self) -> Option<&'static str> {
        match self.value {
            Value::Count(_) => Some("N"),
            Value::Counts(_) => Some("N,..."),
            Value::Response(_) => Some("yes|no"),
            Value::File => Some("FILE"),
            Value::Flag(_) => None,
        }
    }

    /// Returns the option with its placeholder.
    pub fn label(&self) -> String {
        [Some(self.name), self.value_name()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    pub fn is_file(&self) -> bool {
        matches!(self.value, Value::File)
    }

    /// Checks a value without using it.
    pub fn check(&self, value: &str) -> Result<(), String> {
        self.set(&mut Numbers::default(), value)
    }

    /// Sets its numbers. The hashes of a file are not counted here.
    fn set(&self, numbers: &mut Numbers, value: &str) -> Result<(), String> {
        match self.value {
            Value::Flag(set) if value.is_empty() => set(numbers, true),
            Value::Flag(_) => return Err(format!("{} takes no value", self.name)),
            _ if value.is_empty() => return Err(format!("{} takes a value", self.label())),
            Value::Count(set) => set(numbers, number(value)?),
            Value::Counts(set) => set(numbers, sum(value)?),
            Value::Response(set) => match value {
                "yes" => set(numbers, true),
                "no" => set(numbers, false),
                _ => return Err(format!("{value} is neither yes nor no")),
            },
            Value::File => {}
        }
        Ok(())
    }
}

/// Adds numbers separated by commas. Rejects a word that may be one number with grouped thousands.
fn sum(word: &str) -> Result<u64, String> {
    if word.contains(',') && number(word).is_ok() {
        return Err(format!(
            "{word} may be one number or several: write one without commas, several with a short one last"
        ));
    }
    word.split(',').map(number).try_fold(0, |sum: u64, number| Ok(sum.saturating_add(number?)))
}

/// Parses a number, with or without commas between thousands.
fn number(word: &str) -> Result<u64, String> {
    let is_grouped = word.split(',').skip(1).all(|group| group.len() == 3) && !word.starts_with(',');
    let digits = word.replace(',', "");
    let is_number = is_grouped && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    match digits.parse().ok().filter(|number| *number <= MAX_NUMBER) {
        _ if !is_number => Err(format!("{word} is not a number")),
        None => Err(format!("{word} is more than {}", thousands(MAX_NUMBER))),
        Some(number) => Ok(number),
    }
}

/// The amounts typed after an operation's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    pub numbers: Numbers,
    /// A file that lists hashes, which the caller counts.
    pub list: Option<String>,
    /// The typed options for the other numbers.
    pub others: String,
}

impl Amount {
    /// Parses words: numbers with or without their option. Without words the count is one.
    pub fn read(kind: Kind, words: &[String]) -> Result<Self, String> {
        let mut amount = Self { numbers: Numbers::default(), list: None, others: String::new() };
        let mut seen = Vec::<&str>::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (choice, own) = meant(kind, word)?;
            if choice.sets.iter().any(|number| seen.contains(number)) {
                return Err(format!("{word}: this number is given twice"));
            }
            seen.extend(choice.sets);
            let next = choice.value_name().filter(|_| own.is_none()).and_then(|_| words.next());
            let value = own.or(next.cloned()).unwrap_or_default();
            choice.set(&mut amount.numbers, &value)?;
            if choice.is_file() {
                amount.list = Some(value);
            } else {
                let others = [Some(&amount.others), Some(word), next].into_iter().flatten();
                amount.others = others.map(String::as_str).collect::<Vec<_>>().join(" ").trim_start().to_owned();
            }
        }
        Ok(amount)
    }
}

/// Returns a word's option and value. The option may be left out for a count, for the submissions
/// of files, for a file after `@`, and for the state of a ruleset.
fn meant(kind: Kind, word: &str) -> Result<(&'static Choice, Option<String>), String> {
    let (name, value) = match (word, word.split_once('='), word.strip_prefix('@')) {
        ("active", ..) => ("--active", Some("yes")),
        ("inactive", ..) => ("--active", Some("no")),
        (_, Some((name, value)), _) if word.starts_with("--") => (name, Some(value)),
        (_, _, Some(path)) => ("--hashes-from", Some(path)),
        _ => (word, None),
    };
    if let Some(choice) = kind.options().find(|choice| choice.name == name) {
        return Ok((choice, value.map(str::to_owned)));
    }
    let takes_no = || format!("{} does not take {name}; it takes {}", kind.name(), kind.options_label());
    let is_count = |choice: &&Choice| matches!(choice.value, Value::Count(_) | Value::Counts(_));
    let count = kind.options().find(is_count).filter(|_| value.is_none() && !word.starts_with("--"));
    let count = count.ok_or_else(takes_no)?;
    match count.check(word) {
        Ok(()) => Ok((count, Some(word.to_owned()))),
        Err(why) if word.starts_with(|first: char| first.is_ascii_digit()) => Err(why),
        Err(why) => Err(format!("{why}; {}", takes_no())),
    }
}

/// Splits text at blanks outside quotes; a backslash is literal, because paths contain it.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::<String>::new();
    let mut quoted_by = None;
    let mut is_between = true;
    for letter in text.chars() {
        if quoted_by.is_none() && letter.is_whitespace() {
            is_between = true;
            continue;
        }
        if std::mem::take(&mut is_between) {
            words.push(String::new());
        }
        match (letter, quoted_by) {
            (mark, Some(open)) if mark == open => quoted_by = None,
            ('"' | '\'', None) => quoted_by = Some(letter),
            _ => words.last_mut().into_iter().for_each(|word| word.push(letter)),
        }
    }
    if quoted_by.is_some() { Err("a quotation mark is not closed".to_owned()) } else { Ok(words) }
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

    #[test]
    fn options_and_operations_cover_each_other() {
        for choice in OPTIONS {
            assert!(Kind::ALL.iter().any(|kind| kind.options().any(|taken| taken.name == choice.name)), "{choice:?}");
        }
        for (kind, number) in Kind::ALL.iter().flat_map(|kind| kind.needs().iter().map(move |number| (kind, number))) {
            let mut options = kind.options();
            assert!(options.any(|choice| choice.sets.contains(number)), "{kind:?} {number}");
        }
    }

    #[test]
    fn shell_words_are_split_and_paths_stay_whole() {
        let split = |text: &str| split_words(text).map(|words| words.join("|")).ok();
        assert_eq!(split("  v3-file   --calls 3 ").as_deref(), Some("v3-file|--calls|3"));
        assert_eq!(
            split(r#"a --from "C:\my list.txt" 'b "c"' ''"#).as_deref(),
            Some(r#"a|--from|C:\my list.txt|b "c"|"#)
        );
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("").as_deref(), Some(""));
    }
}
