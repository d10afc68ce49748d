//! Sends the requests of the commands for scripts through the gateway, with progress on a terminal
//! and the cost at the end; or prints the price of each call in a dry run.

use super::Setup;
use super::output::{Table, print_json, print_text};
use super::setup::say;
use crate::gateway::{Answer, Gateway, GatewayError, Received};
use crate::quota::{Allowed, Period, Price, Spent, Total, Unit, in_units};
use crate::request::{Quote, Request};
use crate::runtime::{BlockedSignals, LAST_WAIT, STUCK};
use crate::store::StoreError;
use crate::text::{said, thousands};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Interval of the checks for a signal.
const PACE: Duration = Duration::from_millis(50);

/// The stored response, or the service's; prints the cost of the run.
pub(super) fn send(setup: &Setup, request: &Request, refresh: bool) -> anyhow::Result<Answer> {
    let answer = runtime()?.block_on(get(setup, request, refresh))?;
    say_cost(&setup.gateway)?;
    Ok(answer)
}

/// The stored response, or the service's; on failure prints the cost of the run.
pub(super) async fn get(setup: &Setup, request: &Request, refresh: bool) -> anyhow::Result<Answer> {
    let answer = ask(setup, request, refresh).await;
    if answer.is_err() {
        say_cost(&setup.gateway)?;
    }
    Ok(answer?)
}

/// The stored response, or the service's.
pub(super) async fn ask(setup: &Setup, request: &Request, refresh: bool) -> Result<Answer, GatewayError> {
    let Setup { gateway, entitled, .. } = setup;
    let quote = request.clone().quote(entitled);
    if refresh || gateway.held(request)?.is_none() {
        say_before(gateway, &quote, refresh)?;
    }
    let meter = Meter::default();
    let progress = |received| meter.tell(&received);
    let call =
        async { if refresh { gateway.ask(&quote, &progress).await } else { gateway.get(&quote, &progress).await } };
    let answer = to_its_end(gateway, request, call).await;
    drop(meter);
    if let Some(why) = answer.as_ref().ok().and_then(|answer| answer.unkept.as_ref()) {
        say(format!("the answer {}", said(why)));
    }
    answer
}

/// Runs a call to its end. After a signal it waits a moment for the response, then cancels the
/// call, so that the received bytes are stored and the possible cost is recorded. The signal takes
/// effect after that.
async fn to_its_end(
    gateway: &Gateway,
    request: &Request,
    call: impl Future<Output = Result<Answer, GatewayError>>,
) -> Result<Answer, GatewayError> {
    let signals = BlockedSignals::begin().map_err(|error| GatewayError::Internal(error.to_string()))?;
    let end = async {
        while !signals.has_any() {
            tokio::time::sleep(PACE).await;
        }
        tokio::time::sleep(LAST_WAIT).await;
        gateway.give_up(request);
        tokio::time::sleep(STUCK).await;
    };
    let answer = tokio::select! {
        biased;
        answer = call => answer,
        () = end => Err(GatewayError::Internal("the store takes nothing".to_owned())),
    };
    if let (true, Err(error)) = (signals.has_any(), &answer) {
        let (what, advice) = (request.words(), error.advice());
        say(format!("{what}: {error}. {advice} behaview ledger says what it counts as."));
    }
    signals.let_go().map_err(|error| GatewayError::Internal(error.to_string()))?;
    answer
}

/// Warns before a call if its stored response was paid for and is damaged.
pub(super) fn say_if_aside(gateway: &Gateway, quote: &Quote) -> Result<(), StoreError> {
    let request = quote.request();
    let aside = if gateway.held(request)?.is_none() { gateway.quarantined(request)? } else { None };
    if let Some(aside) = aside {
        let (what, price) = (request.words(), quote.price().short());
        say(format!("{what}: {}. To ask for it again costs {price}", aside.words()));
    }
    Ok(())
}

/// Prints the outcome of earlier calls for the same request, and the price of repeating it.
fn say_before(gateway: &Gateway, quote: &Quote, refresh: bool) -> Result<(), StoreError> {
    if !refresh {
        say_if_aside(gateway, quote)?;
    }
    if let Some(missing) = gateway.missing(quote.request())? {
        say(format!("{missing}; asking again costs {}", quote.price().short()));
    }
    Ok(())
}

/// Shows what a call waits for: on a terminal how many bytes of a response have arrived.
#[derive(Default)]
struct Meter(Mutex<MeterState>);

#[derive(Default)]
struct MeterState {
    /// When bytes were shown last.
    updated: Option<Instant>,
    has_said_wait: bool,
}

impl Meter {
    /// Time between two updates.
    const PACE: Duration = Duration::from_millis(200);

    fn tell(&self, received: &Received) {
        let Ok(mut state) = self.0.lock() else { return };
        match received {
            Received::NotBefore(at) if !state.has_said_wait => {
                state.has_said_wait = true;
                let at = at.strftime("%T UTC");
                say(format!("waits until {at}: more requests a minute are refused (limits.per_minute)"));
            }
            Received::Bytes { bytes, total } => {
                let is_due = state.updated.is_none_or(|updated| updated.elapsed() >= Self::PACE);
                let mut to = std::io::stderr();
                if is_due && to.is_terminal() {
                    state.updated = Some(Instant::now());
                    let total = total.map(|total| format!(" of {}", crate::text::bytes(total)));
                    let total = total.unwrap_or_default();
                    let _ = write!(to, "\r{}{total}\x1b[K\r", crate::text::bytes(*bytes));
                }
            }
            Received::NotBefore(_) | Received::Rows(_) => {}
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.0.lock().is_ok_and(|state| state.updated.is_some()) {
            let _ = write!(std::io::stderr(), "\x1b[K");
        }
    }
}

/// Prints the cost of this run on standard error; standard output stays clean.
pub(super) fn say_cost(gateway: &Gateway) -> anyhow::Result<()> {
    let spent = gateway.spent_by_unit()?;
    let all: Spent = spent.values().copied().sum();
    let words = match (all.charged, all.unsure) {
        (0, 0) => "nothing was charged".to_owned(),
        _ => format!("charged: {}", in_units(&spent)),
    };
    say(&words);
    Ok(())
}

/// The cost of this run, for scripts.
pub(super) fn cost(gateway: &Gateway) -> anyhow::Result<BTreeMap<Unit, CostOutput>> {
    let spent = gateway.spent_by_unit()?;
    let cost = |spent: Spent| CostOutput { charged: spent.charged, perhaps: spent.unsure, is_open: spent.is_open };
    Ok(spent.into_iter().map(|(unit, spent)| (unit, cost(spent))).collect())
}

/// The cost of a run in one unit.
#[derive(Serialize)]
pub(super) struct CostOutput {
    /// Units of answered calls.
    charged: u64,
    /// Units that lost or refused calls may have cost.
    perhaps: u64,
    /// Whether the cost may be higher.
    is_open: bool,
}

/// The async runtime for requests.
pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    crate::runtime::threads(1)
}

/// The output of a dry run.
#[derive(Serialize)]
struct DryRunOutput {
    calls: Vec<DryRunCall>,
    /// Sums by unit; without a maximum if it is unknown.
    total: BTreeMap<Unit, Total>,
    /// What cannot be known before the calls.
    remark: Option<String>,
}

#[derive(Serialize)]
struct DryRunCall {
    what: String,
    /// Whether the response is stored, so that nothing is sent.
    held: bool,
    /// `None` for a stored response.
    price: Option<Price>,
}

/// A remark on costs that cannot be known before the calls.
pub(super) struct DryRunRemark {
    /// The remark as text.
    pub(super) words: String,
    /// Further requests in addition to the named ones: minimum, and maximum if known.
    pub(super) further: (u64, Option<u64>),
}

impl DryRunRemark {
    /// A remark without further requests.
    pub(super) fn only(words: String) -> Self {
        Self { words, further: (0, Some(0)) }
    }
}

/// Prints the price of requests.
pub(super) fn print_dry_run(
    setup: &Setup,
    requests: Vec<Request>,
    refresh: bool,
    remark: Option<DryRunRemark>,
    as_json: bool,
) -> anyhow::Result<()> {
    let mut kept = BTreeSet::new();
    let calls = requests
        .into_iter()
        .map(|request| {
            // An earlier line will have stored its response by then.
            let is_repeated = request.holding_key().is_some_and(|key| !kept.insert(key));
            dry_run_call(setup, request, refresh, is_repeated)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let prices = || calls.iter().filter_map(|call| call.price.as_ref());
    let verdict = verdict(setup, prices());
    let further = remark.as_ref().map(|remark| remark.further).filter(|further| *further != (0, Some(0)));
    let further = further.map(|(min, max)| (Unit::Request, Total { min, max }));
    let priced = prices().map(|price| (price.unit, Total { min: price.units.min(), max: price.units.max() }));
    let mut total = BTreeMap::new();
    for (unit, units) in priced.chain(further) {
        let sum = total.entry(unit).or_insert(Total::NOTHING);
        *sum = sum.plus(units);
    }
    let shown = DryRunOutput { total, calls, remark: remark.map(|remark| remark.words) };
    if as_json {
        print_json(&shown)?
    } else {
        print_text(&dry_run_text(&shown))?
    }
    verdict
}

fn dry_run_call(setup: &Setup, request: Request, refresh: bool, is_repeated: bool) -> anyhow::Result<DryRunCall> {
    let held = !refresh && (is_repeated || setup.gateway.held(&request)?.is_some());
    let quote = request.quote(&setup.entitled);
    if !held {
        say_before(&setup.gateway, &quote, refresh)?;
    }
    Ok(DryRunCall { what: quote.request().words(), held, price: (!held).then(|| quote.price().clone()) })
}

/// Fails before the first call if the budget does not cover all of them.
pub(super) fn check_budget(setup: &Setup, requests: &[Request]) -> anyhow::Result<()> {
    let quotes: Vec<_> = requests.iter().map(|request| request.clone().quote(&setup.entitled)).collect();
    verdict(setup, quotes.iter().map(Quote::price))
}

/// Whether the budget covers all calls, one after another, given today's spending.
fn verdict<'a>(setup: &Setup, prices: impl Iterator<Item = &'a Price>) -> anyhow::Result<()> {
    let (mut run, mut today) = (Spent::default(), setup.gateway.spent_in(Period::Daily)?);
    for price in prices {
        if let Allowed::Refused(reason) = price.allowed {
            fail!(Refused, "it would be refused: {reason}");
        }
        if let Some(over) = setup.gateway.budget().exceeded(price, run, today) {
            fail!(OverBudget, "{over}");
        }
        for sum in [&mut run, &mut today] {
            sum.charged = sum.charged.saturating_add(price.units.max().unwrap_or(0));
            sum.is_open |= price.units.max().is_none();
        }
    }
    Ok(())
}

fn dry_run_text(shown: &DryRunOutput) -> String {
    let mut table = Table::new(&["price", "rule", "what"], &[]);
    for call in &shown.calls {
        let price = call.price.as_ref();
        let (words, rule) = price.map_or(("0, held".to_owned(), ""), |price| (price.short(), price.rule.number));
        table.row([words, rule.to_owned(), call.what.clone()]);
    }
    let mut text = table.to_string();
    let sums: Vec<_> = shown.total.iter().map(|(unit, sum)| total_words(*unit, *sum)).collect();
    let sums = if sums.is_empty() { "nothing".to_owned() } else { sums.join(", ") };
    text += &format!("\nIn all: {sums}. Nothing was sent.\n");
    shown.remark.iter().for_each(|remark| text += &format!("{remark}\n"));
    text
}

fn total_words(unit: Unit, total: Total) -> String {
    match total.max {
        Some(max) if max == total.min => unit.count(max),
        Some(max) => format!("{} to {}", thousands(total.min), unit.count(max)),
        None => format!("{} or more", unit.count(total.min)),
    }
}
