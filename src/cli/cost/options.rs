//! What can be priced, which numbers each operation takes, and how both are written.

use super::files::Files;
use crate::cli::Failed;
use crate::quota::{Entitlement, Entitlements, Kind, MOST, Numbers, Operation, spelled_out};
use crate::report::identifier::hashes::Hashes;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, ValueEnum};
use std::io::Write;

/// What the first word asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Every rule.
    Rules,
    /// Several operations, added up.
    Plan,
    /// One operation.
    Operation(Kind),
}

/// Reads the first word.
pub(super) fn target() -> impl TypedValueParser<Value = Target> {
    let more = [("rules", "List every rule"), ("plan", "Add several operations up")];
    let more = more.map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(more.into_iter().chain(kinds())).map(|name| match Kind::named(&name) {
        Some(kind) => Target::Operation(kind),
        None if name == "rules" => Target::Rules,
        None => Target::Plan,
    })
}

fn kinds() -> impl Iterator<Item = PossibleValue> {
    Kind::ALL.iter().map(|kind| PossibleValue::new(kind.name()).help(kind.about()))
}

/// Numbers of an operation; each takes those that [`Kind::takes`] lists.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Numbers")]
pub(super) struct Options {
    /// Calls: each page, pivot and step of a cursor is one; of a public graph, those that load all its items
    #[arg(long, value_name = "N", value_parser = number())]
    calls: Option<u64>,
    /// Hashes in the list; repeated ones count
    #[arg(long, value_name = "N", value_parser = number(), conflicts_with = "hashes_from")]
    hashes: Option<u64>,
    /// A file of hashes, apart by line ends, blanks or commas (- for standard input)
    #[arg(long, value_name = "FILE")]
    hashes_from: Option<String>,
    /// Submissions of each file asked about, such as 4,6
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = number())]
    submissions: Option<Vec<u64>>,
    /// Whether the service has the file already
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    known: Option<Answer>,
    /// Whether the analysis exists
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    exists: Option<Answer>,
    /// The look-up follows the upload of a file that was new to the service
    #[arg(long)]
    after_new_upload: bool,
    /// Live hunting rules
    #[arg(long, value_name = "N", value_parser = number())]
    rules: Option<u64>,
    /// Whether their ruleset is active
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    active: Option<Answer>,
    /// Retrospective hunting jobs
    #[arg(long, value_name = "N", value_parser = number())]
    jobs: Option<u64>,
    /// Graphs
    #[arg(long, value_name = "N", value_parser = number())]
    graphs: Option<u64>,
    /// Private scans
    #[arg(long, value_name = "N", value_parser = number())]
    scans: Option<u64>,
}

/// A number of an operation: not so many that its price could not be counted.
fn number() -> impl TypedValueParser<Value = u64> {
    clap::value_parser!(u64).range(..=MOST)
}

impl Options {
    /// The options that were given.
    pub(super) fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--calls", self.calls.is_some()),
            ("--hashes", self.hashes.is_some()),
            ("--hashes-from", self.hashes_from.is_some()),
            ("--submissions", self.submissions.is_some()),
            ("--known", self.known.is_some()),
            ("--exists", self.exists.is_some()),
            ("--after-new-upload", self.after_new_upload),
            ("--rules", self.rules.is_some()),
            ("--active", self.active.is_some()),
            ("--jobs", self.jobs.is_some()),
            ("--graphs", self.graphs.is_some()),
            ("--scans", self.scans.is_some()),
        ];
        options.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }

    fn numbers(self, files: &mut Files) -> anyhow::Result<Numbers> {
        let usual = Numbers::default();
        let listed = self.hashes_from.map(|path| hashes(&path, files)).transpose()?;
        Ok(Numbers {
            calls: self.calls.unwrap_or(usual.calls),
            hashes: self.hashes.or(listed).unwrap_or(usual.hashes),
            submissions: self.submissions,
            known: self.known.map(Answer::is_yes),
            exists: self.exists.map(Answer::is_yes),
            after_new_upload: self.after_new_upload,
            rules: self.rules.unwrap_or(usual.rules),
            active: self.active.map_or(usual.active, Answer::is_yes),
            jobs: self.jobs.unwrap_or(usual.jobs),
            graphs: self.graphs.unwrap_or(usual.graphs),
            loads: self.calls,
            scans: self.scans.unwrap_or(usual.scans),
        })
    }
}

fn hashes(path: &str, files: &mut Files) -> anyhow::Result<u64> {
    let list = files.read(path)?;
    let found = Hashes::of(&list).map_err(|error| Failed::usage(format!("{path}: {error}")))?;
    if found.repeated > 0 {
        let Hashes { count, repeated } = found;
        writeln!(std::io::stderr(), "behaview: {repeated} of {count} hashes are repeated; each is counted")?;
    }
    Ok(found.count)
}

/// What the user has bought; known here, it settles it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Entitlements, else from the config file or the balances")]
pub(super) struct Entitled {
    /// Premium API
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    premium_api: Option<Answer>,
    /// Premium intelligence
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    premium_intelligence: Option<Answer>,
    /// A private scanning licence
    #[arg(long, value_enum, value_name = "yes|no", hide_possible_values = true)]
    private_scanning: Option<Answer>,
}

impl Entitled {
    pub(super) fn is_given(&self) -> bool {
        [self.premium_api, self.premium_intelligence, self.private_scanning].iter().any(Option::is_some)
    }

    pub(super) fn by_hand(&self) -> Entitlements {
        let by_hand = |answer: Option<Answer>| {
            answer.map_or(Entitlement::Unknown, |answer| Entitlement::by_hand(answer.is_yes()))
        };
        Entitlements {
            premium_api: by_hand(self.premium_api),
            premium_intelligence: by_hand(self.premium_intelligence),
            private_scanning: by_hand(self.private_scanning),
            group: Entitlement::Unknown,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Yes,
    No,
}

impl Answer {
    fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

/// An operation with its numbers, as a plan's item says it.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(super) struct Item {
    #[arg(value_name = "OPERATION", value_parser = kind())]
    kind: Kind,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    entitled: Entitled,
}

fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(kinds()).try_map(|name| Kind::named(&name).ok_or("there is no such operation"))
}

impl Item {
    /// An operation with options that it takes.
    pub(super) fn checked(kind: Kind, options: Options) -> Result<Self, Failed> {
        let takes = kind.takes();
        let strange: Vec<_> = options.given().into_iter().filter(|option| !takes.contains(option)).collect();
        if strange.is_empty() {
            return Ok(Self { kind, options, entitled: Entitled::default() });
        }
        let (name, strange, takes) = (kind.name(), strange.join(" or "), takes.join(", "));
        Err(Failed::usage(format!("{name} does not take {strange}; it takes {takes}")))
    }

    /// Reads the `n`th item of a plan.
    pub(super) fn parse(n: usize, text: &str) -> Result<Self, Failed> {
        let at = |words: String| Failed::usage(format!("item {n} of the plan, \"{text}\": {words}"));
        let words = words(text).ok_or_else(|| at("a quotation mark is not closed".to_owned()))?;
        Self::of(words).map_err(|why| at(why.to_string()))
    }

    /// Reads an operation's name and what stands behind it.
    pub(super) fn of(words: Vec<String>) -> Result<Self, Failed> {
        let read = Self::try_parse_from(with_options(words));
        let Self { kind, options, entitled } = read.map_err(|error| Failed::usage(in_one_line(&error)))?;
        Ok(Self { entitled, ..Self::checked(kind, options)? })
    }

    /// The operation, with the hashes of its file counted, and what is said of entitlements beside it.
    pub(super) fn read(self, files: &mut Files) -> anyhow::Result<(Operation, Entitlements)> {
        Ok((Operation::with(self.kind, self.options.numbers(files)?), self.entitled.by_hand()))
    }
}

/// The words with the options that those without one stand for, as the app's planner takes them.
fn with_options(words: Vec<String>) -> Vec<String> {
    let Some(kind) = words.first().and_then(|name| Kind::named(name)) else { return words };
    let (mut whole, mut is_value) = (Vec::new(), false);
    for word in words {
        match spelled_out(kind, &word).filter(|_| !is_value) {
            Some((option, value)) => whole.extend([option.to_owned(), value]),
            None => {
                is_value = word.starts_with("--") && word != "--after-new-upload" && !word.contains('=');
                whole.push(word);
            }
        }
    }
    whole
}

/// What is wrong and what may be meant, without the lines on usage.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim);
    let wrong = lines.clone().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    lines.filter_map(|line| line.strip_prefix("tip: ")).fold(wrong, |wrong, tip| format!("{wrong}; {tip}"))
}

/// The words of an item: apart by blanks, unless quoted. A backslash is a backslash, for there are paths with them.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut quoted_by) = (Vec::<String>::new(), None);
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
            _ => words.last_mut()?.push(letter),
        }
    }
    quoted_by.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_split_as_a_shell_would_and_paths_stay_whole() {
        let split = |text: &str| words(text).map(|words| words.join("|"));
        assert_eq!(split("  v3-file   --calls 3 ").as_deref(), Some("v3-file|--calls|3"));
        assert_eq!(
            split(r#"a --from "C:\my list.txt" 'b "c"' ''"#).as_deref(),
            Some(r#"a|--from|C:\my list.txt|b "c"|"#)
        );
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("").as_deref(), Some(""));
    }

    #[test]
    fn every_option_belongs_to_some_operation() {
        let given = Options {
            calls: Some(1),
            hashes: Some(1),
            hashes_from: Some(String::new()),
            submissions: Some(Vec::new()),
            known: Some(Answer::Yes),
            exists: Some(Answer::Yes),
            after_new_upload: true,
            rules: Some(1),
            active: Some(Answer::Yes),
            jobs: Some(1),
            graphs: Some(1),
            scans: Some(1),
        };
        for option in given.given() {
            assert!(Kind::ALL.iter().any(|kind| kind.takes().contains(&option)), "{option}");
        }
        for option in Kind::ALL.iter().flat_map(|kind| kind.takes()) {
            assert!(given.given().contains(option), "{option}");
        }
    }
}
