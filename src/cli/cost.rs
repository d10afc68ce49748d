//! `behaview cost`: what operations cost, by which rule, and whether they fit. Nothing is sent but, if asked for, the free
//! look at the service's counters.

mod options;
mod words;

use super::output::{print_json, print_text};
use super::quota::{ask_balances, read_balances};
use super::{CliError, Common, FailureKind, setup};
use crate::config::Config;
use crate::quota::{Balances, Entitlements, Fit, Forecast, Kind, Plan, RULES};
use clap::Args;
use options::{Entitled, Files, Item, Options, Target};

const EXAMPLES: &str = "\
Examples:
  behaview cost v2-file-report --hashes 600
  behaview cost plan \"private-behaviours 3\" \"v2-file-report --hashes 600\"

The exit code is 0 when it is allowed and, where the balances are known, fits; 10 when it does not \
fit now, or not for certain; 4 when it is refused. \"fits, paced\" is what fits only when it is spread over some minutes.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Cost {
    /// What is to be priced
    #[arg(value_name = "OPERATION", value_parser = options::target())]
    target: Target,
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
    options: Options,
    #[command(flatten)]
    entitled: Entitled,
}

impl Cost {
    pub(super) fn run(mut self, common: &Common) -> anyhow::Result<()> {
        let (_, config) = common.config()?;
        config.profile(None)?;
        if self.target == Target::Rules {
            return self.rules();
        }
        let mut files = Files::default();
        // Before anybody is asked, so that a mistake in a list is found first.
        let asked =
            self.planned()?.into_iter().map(|item| item.read(&mut files)).collect::<anyhow::Result<Vec<_>>>()?;
        let balances = self.left(common, &mut files)?;
        let entitled = self.entitlements(&config, balances.as_ref());
        let mut plan = Plan::new();
        for (operation, by_hand) in asked {
            plan.add(operation, &entitled.updated(by_hand));
        }
        let is_balanced = balances.is_some();
        let forecast = plan.forecast(&balances.unwrap_or_default(), crate::clock::now());
        self.print(&plan, &forecast, is_balanced)?;
        self.verdict(&forecast, is_balanced)
    }

    fn rules(&self) -> anyhow::Result<()> {
        let (limits, number) = (self.balances || self.balances_from.is_some(), self.options.names());
        if limits || !number.is_empty() || self.entitled.is_given() || !self.items.is_empty() {
            fail!(Usage, "rules takes --json and nothing else");
        }
        if self.json { print_json(&RULES) } else { print_text(&words::rules()) }
    }

    /// What is asked about: one operation, or the items of a plan.
    fn planned(&mut self) -> Result<Vec<Item>, CliError> {
        let options = std::mem::take(&mut self.options);
        match self.target {
            Target::Operation(_) if self.items.iter().any(|item| is_operation(item)) => {
                Err(FailureKind::Usage.error("several operations are added up by: behaview cost plan ITEM..."))
            }
            Target::Operation(kind) => Ok(vec![Item::of(kind, std::mem::take(&mut self.items), options)?]),
            _ if !options.names().is_empty() => {
                let given = options.names().join(", ");
                Err(FailureKind::Usage
                    .error(format!("{given}: in a plan the numbers stand in its items, inside the quotes")))
            }
            _ if self.items.is_empty() => {
                Err(FailureKind::Usage.error("a plan has items, such as \"v2-file-report --hashes 600\""))
            }
            _ => (1..).zip(&self.items).map(|(n, text)| Item::parse(n, text)).collect(),
        }
    }

    /// What the service says is left, if that is to be known.
    fn left(&self, common: &Common, files: &mut Files) -> anyhow::Result<Option<Balances>> {
        match &self.balances_from {
            Some(path) => Ok(Some(read_balances(&files.read(path)?)?)),
            None if self.balances => Ok(Some(ask_balances(&setup(common)?)?)),
            None => Ok(None),
        }
    }

    /// The options settle it, else the config file, else the balances.
    fn entitlements(&self, config: &Config, balances: Option<&Balances>) -> Entitlements {
        let read = balances.map(Entitlements::from_balances).unwrap_or_default();
        read.updated(config.entitlements()).updated(self.entitled.by_hand())
    }

    fn print(&self, plan: &Plan, forecast: &Forecast, is_balanced: bool) -> anyhow::Result<()> {
        match (self.json, self.target, forecast.prices.as_slice()) {
            (true, Target::Operation(_), [price]) => print_json(price),
            (true, _, _) => print_json(forecast),
            (false, _, _) => print_text(&words::forecast(plan, forecast, is_balanced)),
        }
    }

    /// What the exit code says. The text has told why already; beside JSON it is told here.
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

/// Whether this begins with the name of an operation.
fn is_operation(item: &str) -> bool {
    item.split_whitespace().next().is_some_and(|name| Kind::named(name).is_some())
}
