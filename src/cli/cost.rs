//! `behaview cost`: the prices of operations, the rules behind them, and whether they fit. Sends
//! nothing except, on request, the free call for the service's counters.

use super::counters::{fetch_balances, read_balances};
use super::document::read_bounded;
use super::*;
use crate::config::EntitlementTable;
use crate::quota::{Amount, Choice, Fit, Forecast, Holder, Kind, OPTIONS, Operation, Price, PriceRule, RULES};
use crate::report::identifier::Hashes;
use crate::store::Payer;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{ArgAction, ArgMatches, Command};

/// Maximum size of a file, in bytes; a million hashes are smaller.
const MAX_INPUT_BYTES: u64 = 128 << 20;

#[derive(Debug, Args)]
#[command(after_help = examples("cost"))]
pub(super) struct CostArgs {
    /// The operation to price
    #[arg(value_name = "OPERATION", value_parser = target())]
    target: CostTarget,
    /// How many of it, as in the app's planner: 3, 1,200, @hashes.txt; or the operations of a plan,
    /// each with its options in one quoted word
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Fetch the remaining quota (free), and print whether it allows the operations
    #[arg(long, conflicts_with = "balances_from")]
    balances: bool,
    /// Read the remaining quota from a saved response to the quota call (- for standard input)
    #[arg(long, value_name = "FILE")]
    balances_from: Option<String>,
    #[command(flatten)]
    form: FormatFlags,
    #[command(flatten)]
    options: CostOptions,
    #[command(flatten)]
    entitled: EntitlementTable,
}

impl CostArgs {
    pub(super) fn run(mut self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        if self.target == CostTarget::Rules {
            return self.rules();
        }
        // Parsed before any call, so that errors in a list are found first.
        let mut is_input_read = false;
        let mut operations = Vec::new();
        for (kind, amount) in self.planned()? {
            let Amount { mut numbers, list, .. } = amount;
            if let Some(path) = list {
                let found = Hashes::of(&read(&path, &mut is_input_read)?);
                let found = found.map_err(|error| FailureKind::Usage.error(format!("{path}: {error}")))?;
                numbers.hashes = found.count;
                if found.repeated > 0 {
                    hint(format!("{} of {} hashes are repeated; each is counted", found.repeated, found.count));
                }
            }
            operations.push(Operation { kind, numbers });
        }
        let (read_before, minute_limit) = known(&folders, &config)?;
        let balances = match &self.balances_from {
            Some(path) => Some(read_balances(&read(path, &mut is_input_read)?)?.with_minute_limit(minute_limit)),
            None if self.balances => Some(fetch_balances(&setup(common, Spending::default())?)?),
            None => None,
        };
        // Precedence: the options, the config file, the user object, then the balances.
        let shown = balances.as_ref().map(Entitlements::from_balances).unwrap_or_default();
        let entitled = shown.updated(read_before).updated(config.entitlements.known()).updated(self.entitled.known());
        let has_balances = balances.is_some();
        let forecast = Plan::of(operations, &entitled).forecast(&balances.unwrap_or_default(), crate::clock::now());
        let text = || forecast_text(&forecast, has_balances);
        match (self.target, forecast.plan.prices.as_slice()) {
            (CostTarget::Operation(_), [price]) => print(self.form.json, price, text)?,
            _ => print(self.form.json, &forecast, text)?,
        }
        // The text output includes the reason already; JSON gets it here.
        let message = |short| if self.form.json { forecast.summary.as_str() } else { short };
        if forecast.fit == Fit::Refused {
            fail!(Refused, "{}", message("it is refused"));
        }
        if has_balances && !forecast.fits {
            fail!(DoesNotFit, "{}", message("it does not fit now, or not for certain"));
        }
        Ok(())
    }

    fn rules(&self) -> Result<()> {
        let has_limits = self.balances || self.balances_from.is_some();
        let has_numbers = !self.options.given.is_empty() || !self.items.is_empty();
        if has_limits || has_numbers || self.entitled != EntitlementTable::default() {
            fail!(Usage, "rules takes --json and nothing else");
        }
        print(self.form.json, &RULES, || RULES.iter().map(rule_label).collect())
    }

    /// Returns one operation, or the items of a plan.
    fn planned(&mut self) -> Result<Vec<(Kind, Amount)>, CliError> {
        let usage = |why: &str| FailureKind::Usage.error(why);
        let is_kind = |item: &String| item.split_whitespace().next().is_some_and(|name| Kind::named(name).is_some());
        match self.target {
            CostTarget::Operation(_) if self.items.iter().any(is_kind) => {
                Err(usage("several operations are added up by: behaview cost plan ITEM..."))
            }
            CostTarget::Operation(kind) => {
                let mut words = std::mem::take(&mut self.items);
                words.append(&mut self.options.given);
                Ok(vec![(kind, Amount::read(kind, &words).map_err(|why| usage(&why))?)])
            }
            _ if !self.options.given.is_empty() => {
                let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
                let given = self.options.given.iter().map(name).collect::<Vec<_>>().join(", ");
                Err(usage(&format!("{given}: in a plan the numbers belong into its items, inside the quotes")))
            }
            _ if self.items.is_empty() => Err(usage("a plan has items, such as \"v2-file-report --hashes 600\"")),
            _ => {
                let item = |(n, text): (usize, &String)| {
                    plan_item(text).map_err(|why| usage(&format!("item {n} of the plan, \"{text}\": {why}")))
                };
                (1..).zip(&self.items).map(item).collect()
            }
        }
    }
}

/// Returns the entitlements of the last user object, the limit of requests a minute, and its use.
pub(super) fn known(folders: &Folders, config: &Config) -> Result<(Entitlements, Option<(u64, u64)>)> {
    let profile = config.profile()?;
    let limit = config.per_minute();
    let payer = Payer { profile: &profile.name, service: &service_of(&profile), key_digest: None };
    let store = folders.store.exists().then(|| open_for_reading(&folders.store).ok()).flatten();
    let Some(store) = store else { return Ok((Entitlements::default(), limit.map(|limit| (limit, 0)))) };
    let minute = store.minute_limit(payer, limit, crate::clock::now()).unwrap_or_default();
    Ok((store.privileges(payer).unwrap_or_default(), minute))
}

/// Parses an item of a plan: an operation, and the words and options after it in any order.
fn plan_item(text: &str) -> Result<(Kind, Amount), String> {
    let words = crate::quota::split_words(text)?;
    let (name, amount) = words.split_first().ok_or("it names no operation")?;
    let kind = Kind::named(name).ok_or("unknown operation; behaview cost --help lists them")?;
    Ok((kind, Amount::read(kind, amount)?))
}

/// Reads a whole file, or, at most once, standard input.
fn read(path: &str, is_input_read: &mut bool) -> Result<Vec<u8>> {
    if path == STANDARD_INPUT && std::mem::replace(is_input_read, true) {
        fail!(Usage, "standard input can be read once only; name a file in one of the places");
    }
    read_bounded(Path::new(path), MAX_INPUT_BYTES)
}

/// The meaning of the first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CostTarget {
    Rules,
    Plan,
    Operation(Kind),
}

fn target() -> impl TypedValueParser<Value = CostTarget> {
    let more = [("rules", "List every rule"), ("plan", "Add several operations up")];
    let more = more.map(|(name, about)| PossibleValue::new(name).help(about));
    let help = |kind: &Kind| format!("{}: {}", kind.about(), kind.options_label());
    let kinds = Kind::ALL.iter().map(|kind| PossibleValue::new(kind.name()).help(help(kind)));
    PossibleValuesParser::new(more.into_iter().chain(kinds)).map(|name| match Kind::named(&name) {
        Some(kind) => CostTarget::Operation(kind),
        None if name == "rules" => CostTarget::Rules,
        None => CostTarget::Plan,
    })
}

/// The options of [`OPTIONS`] on the command line, each as one argument.
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
        let given = |choice: &Choice| {
            let name = choice.name.trim_start_matches('-');
            match choice.value_name() {
                None => matches.get_flag(name).then(|| choice.name.to_owned()),
                Some(_) => matches.get_one::<String>(name).map(|value| format!("{}={value}", choice.name)),
            }
        };
        Ok(Self { given: OPTIONS.iter().filter_map(given).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(choice: &'static Choice) -> Arg {
    let name = choice.name.trim_start_matches('-');
    let about = if choice.is_file() { format!("{} (- for standard input)", choice.about) } else { choice.about.into() };
    let argument = Arg::new(name).long(name).help(about);
    let Some(value) = choice.value_name() else { return argument.action(ArgAction::SetTrue) };
    argument.value_name(value).value_parser(move |word: &str| choice.check(word).map(|()| word.to_owned()))
}

fn rule_label(rule: &PriceRule) -> String {
    let names: Vec<_> = rule.operations.iter().map(|kind| kind.name()).collect();
    let operations = if rule.operations == Kind::ALL { "every operation".to_owned() } else { names.join(", ") };
    format!("{:<7}{}\n       {} · documented · {operations}\n", rule.number, rule.text, rule.pool_label())
}

/// Returns the prices of operations and, if the balances are known, the quota left.
fn forecast_text(forecast: &Forecast, has_balances: bool) -> String {
    let plan = &forecast.plan;
    let mut text = match plan.prices.as_slice() {
        [one] => explained(one),
        several => prices(several),
    };
    let mut exactly: Vec<_> = plan.prices.iter().filter_map(exact_price_hint).collect();
    exactly.dedup();
    text += &exactly.concat();
    if has_balances && !forecast.lines.is_empty() {
        text += &format!("\n{}", limits(forecast));
    }
    if has_balances || forecast.fit == Fit::Refused {
        text += &format!("\n{}\n", forecast.summary);
    } else if plan.prices.len() > 1 {
        text += &format!("\n{}: {}\n", plan.label(), plan);
    }
    text
}

/// Returns one operation with its explanation, as the app's planner has it.
fn explained(price: &Price) -> String {
    let about = price.operation.kind.about();
    let words = price.operation.label();
    format!("{about}: {words}\nprice    {}\n{}\n", price.short(), price.explanation().join("\n"))
}

/// Returns the option that makes an open price exact: the last, for the number of items.
fn exact_price_hint(price: &Price) -> Option<String> {
    let how_many = price.operation.kind.options().last().filter(|_| price.verdict.each.is_some())?;
    let operation = price.operation.kind.name();
    Some(format!("exactly  {operation} with {}: {}\n", how_many.label(), how_many.about))
}

fn prices(prices: &[Price]) -> String {
    let row = |price: &Price| {
        let holders: Vec<_> = price.charged.iter().map(|holder: &Holder| holder.name()).collect();
        [
            price.operation.kind.name().to_owned(),
            price.operation.label(),
            price.short(),
            price.rule.number.to_owned(),
            price.verdict.pool.name().to_owned(),
            if holders.is_empty() { "none".to_owned() } else { holders.join(" and ") },
            price.basis.name().to_owned(),
        ]
    };
    table(["operation", "count", "price", "rule", "pool", "charged", "basis"], prices.iter().map(row))
}

/// Returns every limit that is charged, before and after the plan.
fn limits(forecast: &Forecast) -> String {
    let rows = forecast.lines.iter().map(|line| {
        let guess = if line.reset_is_assumed { "about " } else { "" };
        let is_month = line.limit.period == crate::quota::Period::Monthly;
        [
            line.limit.holder.name().to_owned(),
            line.limit.period.current().to_owned(),
            line.unit.name().to_owned(),
            thousands(line.limit.remaining),
            thousands(line.limit.allowed),
            line.after_label(),
            line.fit_label(),
            format!("{guess}{}", line.resets_at.strftime(if is_month { "%-d %B" } else { "%H:%M" })),
        ]
    });
    table(["holder", "period", "counts", ">left", ">of", ">after", "fit", "resets (UTC)"], rows)
}
