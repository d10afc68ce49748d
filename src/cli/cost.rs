//! `behaview cost`: the prices of operations, the rules behind them, and whether they fit. Sends
//! nothing except, on request, the free call for the service's counters.

use super::counters::{ask_balances, read_balances};
use super::document::{STANDARD_INPUT, read_bounded};
use super::output::{Table, print_json, print_text};
use super::setup::privileges;
use super::{CliError, Common, FailureKind, setup};
use crate::config::{Config, EntitlementTable};
use crate::quota::{
    Allowed, Amount, Balances, Choice, Entitlements, Fit, Forecast, Holder, Kind, Numbers, OPTIONS, Operation, Plan,
    PlannedItem, Pool, Price, PriceRule, RULES, Units,
};
use crate::report::identifier::hashes::Hashes;
use crate::text::thousands;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  behaview cost v2-file-report --hashes 600
  behaview cost plan \"private-behaviours 3\" \"v2-file-report --hashes 600\"

The exit code is 0 when it is allowed and, where the balances are known, fits; 10 when it does not \
fit now, or not for certain; 4 when it is refused. \"fits, paced\" is what fits only when it is spread over some minutes.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CostArgs {
    /// What is to be priced
    #[arg(value_name = "OPERATION", value_parser = target())]
    target: CostTarget,
    /// How many of it, as in the app's planner: 3, 1,200, @hashes.txt; or the operations of a plan, each with its options in one quoted word
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Ask the service what is left, which costs nothing, and say whether it fits
    #[arg(long, conflicts_with = "balances_from")]
    balances: bool,
    /// Say whether it fits by a saved answer to the quota call (- for standard input)
    #[arg(long, value_name = "FILE")]
    balances_from: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: CostOptions,
    #[command(flatten)]
    entitled: EntitlementTable,
}

impl CostArgs {
    pub(super) fn run(mut self, common: &Common) -> anyhow::Result<()> {
        let (folders, config) = common.config()?;
        let read = privileges(&folders, &config)?;
        if self.target == CostTarget::Rules {
            return self.rules();
        }
        let mut files = InputFiles::default();
        // Parsed before any call, so that errors in a list are found first.
        let asked = self.planned()?.into_iter().map(|item| counted(item, &mut files));
        let asked = asked.collect::<anyhow::Result<Vec<_>>>()?;
        let balances = self.left(common, &mut files)?;
        let entitled = self.entitlements(&config, read, balances.as_ref());
        let mut plan = Plan::new();
        asked.into_iter().for_each(|operation| plan.add(operation, &entitled));
        let is_balanced = balances.is_some();
        let forecast = plan.forecast(&balances.unwrap_or_default(), crate::clock::now());
        self.print(&plan, &forecast, is_balanced)?;
        self.verdict(&forecast, is_balanced)
    }

    fn rules(&self) -> anyhow::Result<()> {
        let (limits, number) = (self.balances || self.balances_from.is_some(), self.options.names());
        if limits || !number.is_empty() || self.entitled != EntitlementTable::default() || !self.items.is_empty() {
            fail!(Usage, "rules takes --json and nothing else");
        }
        if self.json { print_json(&RULES) } else { print_text(&rules_text()) }
    }

    /// One operation, or the items of a plan.
    fn planned(&mut self) -> Result<Vec<(Kind, Amount)>, CliError> {
        let usage = |why: String| FailureKind::Usage.error(why);
        match self.target {
            CostTarget::Operation(_) if self.items.iter().any(|item| is_operation(item)) => {
                Err(usage("several operations are added up by: behaview cost plan ITEM...".to_owned()))
            }
            CostTarget::Operation(kind) => {
                let mut words = std::mem::take(&mut self.items);
                words.append(&mut self.options.given);
                Ok(vec![(kind, Amount::of(kind, words).map_err(usage)?)])
            }
            _ if !self.options.given.is_empty() => {
                let given = self.options.names().join(", ");
                Err(usage(format!("{given}: in a plan the numbers stand in its items, inside the quotes")))
            }
            _ if self.items.is_empty() => {
                Err(usage("a plan has items, such as \"v2-file-report --hashes 600\"".to_owned()))
            }
            _ => {
                let item = |(n, text): (usize, &String)| {
                    plan_item(text).map_err(|why| usage(format!("item {n} of the plan, \"{text}\": {why}")))
                };
                (1..).zip(&self.items).map(item).collect()
            }
        }
    }

    /// The quota left according to the service, if requested.
    fn left(&self, common: &Common, files: &mut InputFiles) -> anyhow::Result<Option<Balances>> {
        match &self.balances_from {
            Some(path) => Ok(Some(read_balances(&files.read(path)?)?)),
            None if self.balances => Ok(Some(ask_balances(&setup(common)?)?)),
            None => Ok(None),
        }
    }

    /// The options take precedence, then the config file, then the user object, then the balances.
    fn entitlements(&self, config: &Config, read: Entitlements, balances: Option<&Balances>) -> Entitlements {
        let shown = balances.map(Entitlements::from_balances).unwrap_or_default();
        shown.updated(read).updated(config.entitlements()).updated(self.entitled.entitlements())
    }

    fn print(&self, plan: &Plan, forecast: &Forecast, is_balanced: bool) -> anyhow::Result<()> {
        match (self.json, self.target, forecast.prices.as_slice()) {
            (true, CostTarget::Operation(_), [price]) => print_json(price),
            (true, _, _) => print_json(forecast),
            (false, _, _) => print_text(&forecast_text(plan, forecast, is_balanced)),
        }
    }

    /// The verdict as an exit code. The text output includes the reason already; JSON gets it here.
    fn verdict(&self, forecast: &Forecast, is_balanced: bool) -> anyhow::Result<()> {
        let words = |short: &str| if self.json { forecast.words.clone() } else { short.to_owned() };
        if forecast.fit == Fit::Refused {
            fail!(Refused, "{}", words("it is refused"));
        }
        if is_balanced && !forecast.fits() {
            fail!(DoesNotFit, "{}", words("it does not fit now, or not for certain"));
        }
        Ok(())
    }
}

/// Whether the text begins with the name of an operation.
fn is_operation(item: &str) -> bool {
    item.split_whitespace().next().is_some_and(|name| Kind::named(name).is_some())
}

/// The meaning of the first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CostTarget {
    /// Every rule.
    Rules,
    /// The sum of several operations.
    Plan,
    /// One operation.
    Operation(Kind),
}

/// Parses the first word.
fn target() -> impl TypedValueParser<Value = CostTarget> {
    let more = [("rules", "List every rule"), ("plan", "Add several operations up")];
    let more = more.map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(more.into_iter().chain(kinds())).map(|name| match Kind::named(&name) {
        Some(kind) => CostTarget::Operation(kind),
        None if name == "rules" => CostTarget::Rules,
        None => CostTarget::Plan,
    })
}

fn kinds() -> impl Iterator<Item = PossibleValue> {
    let help = |kind: Kind| format!("{}: {}", kind.about(), kind.options_words());
    Kind::ALL.iter().map(move |kind| PossibleValue::new(kind.name()).help(help(*kind)))
}

/// The operation options on the command line, each as one word; an operation takes those that the
/// table lists for it.
#[derive(Debug)]
struct CostOptions {
    given: Vec<String>,
}

impl Args for CostOptions {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading("Numbers").args(OPTIONS.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CostOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { given: OPTIONS.iter().filter_map(|choice| given(choice, matches)).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The clap argument for an option of the table.
fn argument(choice: &'static Choice) -> Arg {
    let name = choice.name.trim_start_matches('-');
    let about = if choice.is_file() { format!("{} (- for standard input)", choice.about) } else { choice.about.into() };
    let argument = Arg::new(name).long(name).help(about);
    let Some(value) = choice.value_name() else { return argument.action(ArgAction::SetTrue) };
    let checked = move |word: &str| choice.check(word).map(|()| word.to_owned());
    argument.value_name(value).value_parser(checked)
}

/// An option from the command line, with its value.
fn given(choice: &Choice, matches: &ArgMatches) -> Option<String> {
    let name = choice.name.trim_start_matches('-');
    match choice.value_name() {
        None => matches.get_flag(name).then(|| choice.name.to_owned()),
        Some(_) => matches.get_one::<String>(name).map(|value| format!("{}={value}", choice.name)),
    }
}

impl CostOptions {
    /// The names of the options used.
    fn names(&self) -> Vec<&str> {
        self.given.iter().map(|word| word.split_once('=').map_or(word.as_str(), |(name, _)| name)).collect()
    }
}

/// Sets the count of hashes from a file.
fn listed(path: &str, numbers: Numbers, files: &mut InputFiles) -> anyhow::Result<Numbers> {
    let found = Hashes::of(&files.read(path)?).map_err(|error| FailureKind::Usage.error(format!("{path}: {error}")))?;
    if found.repeated > 0 {
        let Hashes { count, repeated } = found;
        writeln!(std::io::stderr(), "behaview: {repeated} of {count} hashes are repeated; each is counted")?;
    }
    Ok(Numbers { hashes: found.count, ..numbers })
}

/// Parses an item of a plan: an operation, and the words and options after it in any order.
fn plan_item(text: &str) -> Result<(Kind, Amount), String> {
    let words = crate::quota::words(text)?;
    let (name, amount) = words.split_first().ok_or("it names no operation")?;
    let kind = Kind::named(name).ok_or("there is no such operation; behaview cost --help lists them")?;
    Ok((kind, Amount::of(kind, amount.to_vec())?))
}

/// The operation of an item; counts the hashes of its file, if it names one.
fn counted((kind, amount): (Kind, Amount), files: &mut InputFiles) -> anyhow::Result<Operation> {
    let numbers = match amount {
        Amount::Numbers(numbers) => numbers,
        Amount::Listed { path, numbers, .. } => listed(&path, numbers, files)?,
    };
    Ok(Operation::with(kind, numbers))
}

/// Maximum size of a file, in bytes; a million hashes are smaller.
const LARGEST: u64 = 128 << 20;

/// Reads files, and standard input at most once.
#[derive(Debug, Default)]
struct InputFiles {
    is_input_read: bool,
}

impl InputFiles {
    /// Reads a whole file, or standard input.
    fn read(&mut self, path: &str) -> anyhow::Result<Vec<u8>> {
        if path == STANDARD_INPUT && std::mem::replace(&mut self.is_input_read, true) {
            fail!(Usage, "standard input can be read once only; name a file in one of the places");
        }
        read_bounded(Path::new(path), LARGEST)
    }
}

/// Every rule with its number, its words and the operations it covers.
fn rules_text() -> String {
    RULES.iter().map(|rule| rule_words(rule)).collect()
}

fn rule_words(rule: &PriceRule) -> String {
    let names: Vec<_> = rule.operations.iter().map(|kind| kind.name()).collect();
    let operations = if rule.operations == Kind::ALL { "every operation".to_owned() } else { names.join(", ") };
    let (number, words) = (rule.number, rule.words);
    format!("{number:<7}{words}\n       {} · {} · {operations}\n", rule.pool.words(), rule.basis.name())
}

/// The prices of operations and, if the balances are known, the quota left.
fn forecast_text(plan: &Plan, forecast: &Forecast, is_balanced: bool) -> String {
    let mut text = match plan.items() {
        [one] => price(one),
        several => prices(several),
    };
    if is_balanced && !forecast.lines.is_empty() {
        text += &format!("\n{}", limits(forecast));
    }
    if is_balanced || forecast.fit == Fit::Refused {
        text += &format!("\n{}\n", forecast.words);
    } else if plan.items().len() > 1 {
        text += &format!("\n{}: {}\n", plan.words(), plan.totals_words());
    }
    text
}

/// One operation with its explanation.
fn price(item: &PlannedItem) -> String {
    let Price { rule, pool, charged, basis, notes, agreeing, .. } = &item.price;
    let mut text = format!("{}: {}\n", item.price.operation.about(), item.operation.words());
    let mut line = |name: &str, words: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<9}{words}");
    };
    line("price", &price_words(&item.price));
    line("rule", &format!("{}: {}", rule.number, rule.words));
    if !agreeing.is_empty() {
        line("", &format!("the same follows from {}", agreeing.join(" and ")));
    }
    line("pool", pool.words());
    line("charged", &holders(charged));
    line("basis", basis.name());
    notes.iter().for_each(|note| line("note", note));
    if let Some(settled) = settled(item) {
        line("exactly", &settled);
    }
    text
}

/// The option that turns an open price into an exact one.
fn settled(item: &PlannedItem) -> Option<String> {
    let is_open = matches!(item.price.units, Units::PerItem { .. });
    let how_many = item.operation.kind().settled_by().filter(|_| is_open)?;
    Some(format!("with {}: {}", how_many.words(), phrase(how_many.about)))
}

fn price_words(price: &Price) -> String {
    match (price.allowed, price.units) {
        (Allowed::Allowed, Units::Range { why, .. }) => format!("{}: {}", price.short(), phrase(why)),
        (Allowed::Allowed, Units::PerItem { item, each }) => {
            format!("{} for each {}", price.unit.count(each), item.words())
        }
        (Allowed::Allowed, _) if price.pool == Pool::None => "nothing".to_owned(),
        _ => price.short(),
    }
}

/// Turns a sentence into a part of another one.
fn phrase(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters.as_str().chars()).collect()
}

fn holders(charged: &[Holder]) -> String {
    let names: Vec<_> = charged.iter().map(|holder| holder.name()).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(" and ") }
}

/// Several operations, one per line.
fn prices(items: &[PlannedItem]) -> String {
    let mut table = Table::new(&["operation", "asked", "price", "rule", "pool", "charged", "basis"], &[]);
    for PlannedItem { operation, price } in items {
        table.row([
            price.operation.name().to_owned(),
            operation.words(),
            price.short(),
            price.rule.number.to_owned(),
            price.pool.name().to_owned(),
            holders(price.charged),
            price.basis.name().to_owned(),
        ]);
    }
    let exactly = |item: &PlannedItem| Some(format!("exactly  {} {}\n", item.price.operation.name(), settled(item)?));
    let mut told: Vec<_> = items.iter().filter_map(exactly).collect();
    told.dedup();
    format!("{table}{}", told.concat())
}

/// Every limit that is charged, before and after the plan.
fn limits(forecast: &Forecast) -> String {
    let mut table = Table::new(&["whose", "period", "counts", "left", "of", "after", "fit", "resets at"], &[3, 4, 5]);
    for line in &forecast.lines {
        let limit = line.limit;
        let guess = if line.reset_is_assumed { "about " } else { "" };
        table.row([
            limit.holder.name().to_owned(),
            limit.period.current().to_owned(),
            line.unit.name().to_owned(),
            thousands(limit.remaining),
            thousands(limit.allowed),
            line.after_words(),
            line.fit_words(),
            format!("{guess}{}", crate::text::moment(line.resets_at)),
        ]);
    }
    table.to_string()
}
