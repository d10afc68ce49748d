//! What can be priced, and what stands behind an operation's name: read by the table of `quota`, as in the app's planner.

use crate::cli::document::{STANDARD_INPUT, opened};
use crate::cli::{CliError, FailureKind};
use crate::quota::{Amount, Choice, Entitlement, Entitlements, Kind, Numbers, OPTIONS, Operation};
use crate::report::identifier::hashes::Hashes;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Parser, ValueEnum};
use std::io::{Read, Write};

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
    let help = |kind: Kind| format!("{}: {}", kind.about(), kind.options_words());
    Kind::ALL.iter().map(move |kind| PossibleValue::new(kind.name()).help(help(*kind)))
}

/// The options of operations that were given, each as one word; an operation takes those that the table gives it.
#[derive(Debug, Default, Clone)]
pub(super) struct Options {
    given: Vec<String>,
}

impl Args for Options {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading("Numbers").args(OPTIONS.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: OPTIONS.iter().filter_map(|choice| given(choice, matches)).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// An option of the table as the command line has it.
fn argument(choice: &'static Choice) -> Arg {
    let name = choice.name.trim_start_matches('-');
    let about = if choice.is_file() { format!("{} (- for standard input)", choice.about) } else { choice.about.into() };
    let argument = Arg::new(name).long(name).help(about);
    let Some(value) = choice.value_name() else { return argument.action(ArgAction::SetTrue) };
    let checked = move |word: &str| choice.check(word).map(|()| word.to_owned());
    argument.value_name(value).value_parser(checked)
}

/// An option that was given, with its value.
fn given(choice: &Choice, matches: &ArgMatches) -> Option<String> {
    let name = choice.name.trim_start_matches('-');
    match choice.value_name() {
        None => matches.get_flag(name).then(|| choice.name.to_owned()),
        Some(_) => matches.get_one::<String>(name).map(|value| format!("{}={value}", choice.name)),
    }
}

impl Options {
    /// The names of those that were given.
    pub(super) fn names(&self) -> Vec<&str> {
        self.given.iter().map(|word| word.split_once('=').map_or(word.as_str(), |(name, _)| name)).collect()
    }
}

/// As many as a file lists.
fn listed(path: &str, numbers: Numbers, files: &mut Files) -> anyhow::Result<Numbers> {
    let found = Hashes::of(&files.read(path)?).map_err(|error| FailureKind::Usage.error(format!("{path}: {error}")))?;
    if found.repeated > 0 {
        let Hashes { count, repeated } = found;
        writeln!(std::io::stderr(), "behaview: {repeated} of {count} hashes are repeated; each is counted")?;
    }
    Ok(Numbers { hashes: found.count, ..numbers })
}

// What the user has bought; an option overrules config and balances.
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

/// An operation as a plan's item says it.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Said {
    #[arg(value_name = "OPERATION", value_parser = kind())]
    kind: Kind,
    #[arg(value_name = "N")]
    words: Vec<String>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    entitled: Entitled,
}

/// An operation, how many of it, and what is said of entitlements beside it.
#[derive(Debug)]
pub(super) struct Item {
    kind: Kind,
    amount: Amount,
    entitled: Entitled,
}

fn kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(kinds()).try_map(|name| Kind::named(&name).ok_or("there is no such operation"))
}

impl Item {
    /// An operation with the words behind it and the options, wherever they stand.
    pub(super) fn of(kind: Kind, mut words: Vec<String>, options: Options) -> Result<Self, CliError> {
        words.extend(options.given);
        let amount = Amount::of(kind, words).map_err(|why| FailureKind::Usage.error(why))?;
        Ok(Self { kind, amount, entitled: Entitled::default() })
    }

    /// Reads the `n`th item of a plan.
    pub(super) fn parse(n: usize, text: &str) -> Result<Self, CliError> {
        let at = |words: String| FailureKind::Usage.error(format!("item {n} of the plan, \"{text}\": {words}"));
        let words = crate::quota::words(text).map_err(&at)?;
        let Said { kind, words, options, entitled } =
            Said::try_parse_from(words).map_err(|error| at(in_one_line(&error)))?;
        let item = Self::of(kind, words, options).map_err(|why| at(why.to_string()))?;
        Ok(Self { entitled, ..item })
    }

    /// The operation, with the hashes of its file counted, and what is said of entitlements beside it.
    pub(super) fn read(self, files: &mut Files) -> anyhow::Result<(Operation, Entitlements)> {
        let numbers = match self.amount {
            Amount::Numbers(numbers) => numbers,
            Amount::Listed { path, numbers, .. } => listed(&path, numbers, files)?,
        };
        Ok((Operation::with(self.kind, numbers), self.entitled.by_hand()))
    }
}

/// What is wrong and what may be meant, without the lines on usage.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim);
    let wrong = lines.clone().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    lines.filter_map(|line| line.strip_prefix("tip: ")).fold(wrong, |wrong, tip| format!("{wrong}; {tip}"))
}

/// The largest file that is read whole, in bytes: a million hashes are less.
const LARGEST: u64 = 128 << 20;

/// Reads files, and standard input once.
#[derive(Debug, Default)]
pub(super) struct Files {
    is_input_read: bool,
}

impl Files {
    /// The whole of a file, or of standard input.
    pub(super) fn read(&mut self, path: &str) -> Result<Vec<u8>, CliError> {
        let unreadable = |error| FailureKind::Usage.error(format!("{path} cannot be read: {error}"));
        if path != STANDARD_INPUT {
            return bounded(opened(&crate::export::file::typed(path)).map_err(unreadable)?, path);
        }
        if std::mem::replace(&mut self.is_input_read, true) {
            fail!(Usage, "standard input can be read once only; name a file in one of the places");
        }
        bounded(std::io::stdin().lock(), "standard input")
    }
}

/// All that a file gives, which may be a device without an end.
fn bounded(source: impl Read, name: &str) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    source
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| FailureKind::Usage.error(format!("{name} cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        fail!(Usage, "{name} is larger than {}", crate::text::bytes(LARGEST));
    }
    Ok(bytes)
}
