//! Prepares the gateway and the store of a command, and sends its requests with progress on a
//! terminal and the cost at the end; or prints the price of each call in a dry run.

use super::*;
use crate::app::overlays::stored::describe_deletion;
use crate::app::scan::PollPace;
use crate::config::StoreTable;
use crate::gateway::{Received, StoredResponse};
use crate::log::Level;
use crate::quota::{GroupBudget, Period, Price, SpentUnits, TeamOverride, Unit, UnitTotal, in_units};
use crate::report::{Deletion, DeletionTarget};
use crate::request::Quote;
use crate::runtime::{BlockedSignals, SHUTDOWN_GRACE, STUCK_TIMEOUT};
use crate::service::{Client, Profile};
use crate::store::{StoreError, service_id};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// The service and the user's entitlements there.
pub(super) struct Setup {
    pub(super) gateway: Gateway,
    /// From the config file; the service's counters may add further ones.
    pub(super) entitled: Entitlements,
    pub(super) pace: PollPace,
    pub(super) spending: Spending,
    limits: StoreTable,
    /// Runs the calls, one after another.
    pub(super) runtime: Runtime,
    pub(super) remarks: Vec<String>,
}

/// Returns the setup for a script; prints the remarks on the store on standard error.
pub(super) fn setup(common: &Common, spending: Spending) -> Result<Setup> {
    let (folders, config) = common.config()?;
    let setup = Setup::new(common, &folders, &config, spending)?;
    setup.remarks.iter().for_each(warn);
    Ok(setup)
}

impl Setup {
    /// Returns the setup from config and command line. A dry run never sends anything.
    pub(super) fn new(common: &Common, folders: &Folders, config: &Config, spending: Spending) -> Result<Self> {
        let profile = config.profile()?;
        let session = session();
        let log = common.open_log(folders, config, &session);
        log.write(
            Level::Info,
            "run",
            &[("version", &env!("CARGO_PKG_VERSION")), ("profile", &profile.name), ("session", &session)],
        );
        let is_offline = config.offline || spending.dry_run;
        let known = config.known_keys();
        // `api_key_command` may prompt for a password: a run that sends nothing does not run it,
        // but knows another key, so that it never stores it.
        let credential = if is_offline { known.first().cloned() } else { config.credential()? };
        let client = Client::new(profile, credential)?;
        let project = config.project.clone();
        // Nothing has stored the arguments before this check.
        let has_key = |text: &[u8]| client.has_key(text) || known.iter().any(|key| key.is_in(text));
        let is_in_project = project.as_ref().is_some_and(|project| has_key(project.as_bytes()));
        if is_in_project || std::env::args_os().any(|argument| has_key(argument.as_encoded_bytes())) {
            return Err(GatewayError::NamesKey.into());
        }
        let store = Store::open_with(&folders.store, config.is_persistent())?;
        let remarks = store.notice.clone().into_iter().collect();
        let budget = config.budget().at_most(spending.max_cost);
        let mut gateway = Gateway::new(Arc::new(store), client, session, crate::clock::now).with_budget(budget);
        gateway.is_offline = is_offline;
        gateway.project = project;
        gateway.per_minute = config.per_minute();
        gateway.log = log;
        // A dry run may ask for prices there; a store that forgets shares nothing either.
        if !config.offline && gateway.client.profile().share && config.is_persistent() {
            gateway.team = config.team()?.map(Arc::new);
        }
        if spending.incident {
            gateway.permit(TeamOverride::Incident);
        }
        // Without the uploads, later look-ups are priced like any other.
        let uploads = gateway.store.uploads(gateway.payer()).unwrap_or_default();
        let read = gateway.store.privileges(gateway.payer()).unwrap_or_default();
        let entitled = Entitlements { uploads, ..read.updated(config.entitlements.known()) };
        let (pace, limits, runtime) = (config.pace(), config.store, runtime()?);
        Ok(Self { gateway, entitled, pace, spending, limits, runtime, remarks })
    }

    /// Deletes by the limits of the config; returns remarks for the user.
    pub(super) fn apply_retention(&self) -> Result<Vec<String>, StoreError> {
        let StoreTable { max_age_days, max_size_mib, .. } = self.limits;
        let store = &self.gateway.store;
        let mut limits = Vec::new();
        let mut remarks = Vec::new();
        if max_age_days.is_none() && max_size_mib.is_none() {
            return Ok(remarks);
        }
        let stored = store.inventory()?;
        limits.extend(max_size_mib.map(|most| DeletionTarget::DownTo(u64::from(most.get()) << 20)));
        if let Some(days) = max_age_days
            && let Ok(before) = crate::clock::now().checked_sub(SignedDuration::from_hours(24 * i64::from(days.get())))
        {
            // The clock may have been set ahead.
            if !stored.is_empty() && stored.iter().all(|thing| thing.received < before) {
                remarks.push(format!(
                    "Everything stored is older than store.max_age_days = {days}, by this machine's clock. It was not deleted; \
                     behaview store remove --older-than {days}d --yes does."
                ));
            } else {
                limits.push(DeletionTarget::Before(before));
            }
        }
        let deletion = Deletion::of(limits, None, &stored);
        if store.purge(&deletion)? && deletion.sizes().0 > 0 {
            remarks.push(format!("The config's [store] limits deleted {}.", describe_deletion(&deletion)));
        }
        Ok(remarks)
    }
}

pub(super) fn session() -> String {
    format!("{}-{}", crate::clock::now().as_microsecond(), std::process::id())
}

/// Opens the store for a command without requests, and prints the outcome of repairs.
pub(super) fn open_for_reading(folder: &Path) -> Result<Store, StoreError> {
    let store = Store::open(folder)?;
    store.notice.as_deref().into_iter().for_each(warn);
    Ok(store)
}

/// Opens the store of a command without requests; returns it with its id of the service.
pub(super) fn store_and_service(common: &Common) -> Result<(Store, String)> {
    let (folders, config) = common.config()?;
    Ok((open_for_reading(&folders.store)?, service_of(&config.profile()?)))
}

pub(super) fn service_of(profile: &Profile) -> String {
    service_id(&profile.place())
}

/// Whether progress, costs and hints are left out.
pub(super) static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Shows progress in the terminal's last line; with `"\r"` at its end the next text replaces it.
pub(super) fn show_progress(words: &str, end: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) && std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\r{}\x1b[K{end}", crate::text::own(words));
    }
}

/// Prints a cost or a hint on standard error, unless `--quiet` leaves it out.
pub(super) fn hint(words: impl AsRef<str>) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        warn(words);
    }
}

/// Prints a warning on standard error; ignores errors, as the result matters more.
pub(super) fn warn(remark: impl AsRef<str>) {
    let name = if remark.as_ref().starts_with("behaview") { "" } else { "behaview: " };
    let _ = write!(std::io::stderr(), "{}", wrapped(&format!("{name}{}", remark.as_ref())));
}

/// Returns the stored response, or the service's; prints the cost of the run.
pub(super) fn send(setup: &Setup, request: &Request, refresh: bool) -> Result<StoredResponse> {
    let response = fetch(setup, request, refresh);
    print_cost(setup)?;
    Ok(response?)
}

/// Returns the stored response, or the service's.
pub(super) fn fetch(setup: &Setup, request: &Request, refresh: bool) -> Result<StoredResponse, GatewayError> {
    let Setup { gateway, entitled, runtime, .. } = setup;
    let quote = request.clone().quote(entitled);
    let stored = if refresh { Err(GatewayError::NotStored) } else { gateway.get_stored(&quote) };
    if !matches!(stored, Err(GatewayError::NotStored)) {
        return stored;
    }
    warn_of_earlier_calls(gateway, &quote, refresh)?;
    let meter = Mutex::new(ReceivedMeter::default());
    let progress = |received| show_received(&meter, &received);
    let call =
        async { if refresh { gateway.fetch(&quote, &progress).await } else { gateway.get(&quote, &progress).await } };
    let response = runtime.block_on(run_call(gateway, request, call));
    if meter.lock().is_ok_and(|meter| meter.updated.is_some()) {
        show_progress("", "");
    }
    runtime.block_on(gateway.share()).into_iter().for_each(warn);
    if let Request::Behaviour { identifier } = request {
        runtime.block_on(gateway.copy_notes(std::slice::from_ref(identifier)));
    }
    if let Some(why) = response.as_ref().ok().and_then(|response| response.remark.as_ref()) {
        warn(format!("the response {}", to_visible(why)));
    }
    response
}

/// Runs a call until it is complete. After a signal it waits a moment, then cancels the call, so
/// that received bytes and possible cost are recorded. The signal takes effect after that.
async fn run_call(
    gateway: &Gateway,
    request: &Request,
    call: impl Future<Output = Result<StoredResponse, GatewayError>>,
) -> Result<StoredResponse, GatewayError> {
    let signals = BlockedSignals::begin().map_err(|error| GatewayError::Internal(error.to_string()))?;
    let end = async {
        while !signals.cancel.is_cancelled() {
            tokio::time::sleep(SIGNAL_INTERVAL).await;
        }
        tokio::time::sleep(SHUTDOWN_GRACE).await;
        gateway.cancel(request);
        tokio::time::sleep(STUCK_TIMEOUT).await;
    };
    let response = tokio::select! {
        biased;
        response = call => response,
        () = end => Err(GatewayError::Internal("the store accepts no data".to_owned())),
    };
    if let (true, Err(error)) = (signals.cancel.is_cancelled(), &response) {
        let what = request.label();
        let advice = error.advice();
        warn(format!("{what}: {error}. {advice} behaview ledger says what it counts as."));
    }
    signals.unblock().map_err(|error| GatewayError::Internal(error.to_string()))?;
    response
}

/// Warns before a call, if its response is not stored, of an unreadable one that was paid for.
pub(super) fn warn_if_quarantined(gateway: &Gateway, quote: &Quote) -> Result<(), StoreError> {
    let request = quote.request();
    if let Some(aside) = gateway.unreadable(request)? {
        let what = request.label();
        let price = quote.price().short();
        warn(format!("{what}: {}. Fetching it again costs {price}", aside));
    }
    Ok(())
}

/// Prints the outcome of earlier calls for the same request, and the price of repeating it.
fn warn_of_earlier_calls(gateway: &Gateway, quote: &Quote, refresh: bool) -> Result<(), StoreError> {
    if !refresh {
        warn_if_quarantined(gateway, quote)?;
    }
    if let Some(missing) = gateway.missing(quote.request())? {
        warn(format!("{missing}; repeating it costs {}", quote.price().short()));
    }
    Ok(())
}

#[derive(Default)]
struct ReceivedMeter {
    updated: Option<Instant>,
    has_shown_wait: bool,
}

/// Shows the progress of a call: its wait or, on a terminal, the number of received bytes.
fn show_received(meter: &Mutex<ReceivedMeter>, received: &Received) {
    let Ok(mut meter) = meter.lock() else { return };
    match received {
        Received::NotBefore(at) if !meter.has_shown_wait => {
            meter.has_shown_wait = true;
            let at = at.strftime("%F %T UTC");
            hint(format!("waits until {at}: more requests a minute are refused (limits.per_minute)"));
        }
        Received::Bytes { bytes: so_far, total }
            if meter.updated.is_none_or(|updated| updated.elapsed() >= PROGRESS_INTERVAL) =>
        {
            meter.updated = Some(Instant::now());
            let total = total.map(|total| format!(" of {}", bytes(total))).unwrap_or_default();
            show_progress(&format!("{}{total}", bytes(*so_far)), "\r");
        }
        Received::Notice(words) => warn(words),
        _ => {}
    }
}

/// Prints this run's cost on standard error; only a charged run then deletes by config limits.
pub(super) fn print_cost(setup: &Setup) -> Result<()> {
    let spent = setup.gateway.store.spent(&setup.gateway.session)?;
    let all: SpentUnits = spent.values().copied().sum();
    if (all.charged, all.unsure) == (0, 0) {
        hint("nothing was charged");
    } else {
        hint(format!("charged: {}", in_units(&spent)));
        setup.apply_retention().unwrap_or_else(|why| vec![why.to_string()]).iter().for_each(warn);
    }
    Ok(())
}

/// Returns this run's cost by unit: certain, perhaps of lost or refused calls, at least or exact.
pub(super) fn cost(gateway: &Gateway) -> Result<Vec<Value>> {
    let cost = |unit: Unit, of: SpentUnits| json!({"unit": unit, "charged": of.charged, "perhaps": of.unsure, "at_least": of.is_open});
    Ok(gateway.store.spent(&gateway.session)?.into_iter().map(|(unit, spent)| cost(unit, spent)).collect())
}

pub(super) fn runtime() -> std::io::Result<Runtime> {
    runtime::threads(1)
}

/// A remark on costs that cannot be known before the calls, and the requests that they may add.
pub(super) type OpenCost = (String, Units);

pub(super) fn print_dry_run(setup: &Setup, batch: Vec<Request>, refresh: bool, remark: Option<OpenCost>) -> Result<()> {
    let mut stored = BTreeSet::new();
    let mut calls = Vec::new();
    // A refresh is paid for again, whatever the team has.
    let shared = setup.runtime.block_on(setup.gateway.find_shared(if refresh { &[] } else { &batch }));
    let shared = shared.unwrap_or_else(|error| {
        warn(format!("{error}. Prices are without it"));
        Vec::new()
    });
    for request in batch {
        // An earlier line will have stored its response by then.
        let is_repeated = request.storage_key().is_some_and(|key| !stored.insert(key));
        let is_stored = !refresh && (is_repeated || setup.gateway.stored(&request)?.is_some());
        let copy = || shared.iter().find(|(of, _)| *of == request).map(|(_, copy)| copy.label());
        let place = if is_stored { Some(STORED.to_owned()) } else { copy() };
        let what = request.label();
        calls.push(match place {
            Some(place) => (what, Err(place)),
            None => (what, Ok(price_of_sending(setup, request, refresh)?)),
        });
    }
    let prices = || calls.iter().filter_map(|(_, price)| price.as_ref().ok());
    let verdict = verdict(setup, prices());
    let (remark, further) = remark.unzip();
    let further = further.filter(|further| *further != Units::NOTHING).map(|further| (Unit::Request, further));
    let priced = prices().map(|price| (price.verdict.unit, price.verdict.units));
    let mut total = BTreeMap::<_, UnitTotal>::new();
    for (unit, units) in priced.chain(further) {
        let sum = total.entry(unit).or_insert(UnitTotal { unit, units: Units::NOTHING });
        sum.units = sum.units.plus(units);
    }
    let totals: Vec<_> = total.into_values().collect();
    let call = |(what, price): &DryRunCall| {
        let team = price.as_ref().err().filter(|stored| *stored != STORED);
        json!({"request": what, "stored": price.is_err(), "team": team, "price": price.as_ref().ok()})
    };
    // A remark has costs that no call shows before; a total without a maximum is unknown.
    let shown = json!({"calls": calls.iter().map(call).collect::<Vec<_>>(), "totals": totals, "remark": remark});
    print(setup.spending.json, &shown, || {
        let row = |(what, price): &DryRunCall| {
            let (price_label, rule) = match price {
                Ok(price) => (price.short(), price.rule.number),
                Err(stored) => (format!("0, {stored}"), ""),
            };
            [price_label, rule.to_owned(), what.clone()]
        };
        let sums: Vec<_> = totals.iter().map(|sum| sum.units.label(sum.unit)).collect();
        let sums = if sums.is_empty() { "nothing".to_owned() } else { sums.join(", ") };
        let remark = remark.iter().map(|remark| format!("{remark}\n")).collect::<String>();
        let calls = table(["price", "rule", "what"], calls.iter().map(row));
        format!("{calls}\nIn all: {sums}. Nothing was sent.\n{remark}")
    })?;
    verdict
}

/// A call in words, and its price, or where its response is stored.
type DryRunCall = (String, Result<Price, String>);

const STORED: &str = "stored";

fn price_of_sending(setup: &Setup, request: Request, refresh: bool) -> Result<Price> {
    let mut quote = request.quote(&setup.entitled);
    warn_of_earlier_calls(&setup.gateway, &quote, refresh)?;
    if let Some(missing) = setup.gateway.missing_hashes(quote.request()).filter(|_| !refresh) {
        quote = quote.of_missing(missing);
    }
    Ok(quote.price().clone())
}

/// Fails before the first call if the budget does not cover all of them.
pub(super) fn check_budget(setup: &Setup, requests: &[Request]) -> Result<()> {
    let quotes: Vec<_> = requests.iter().map(|request| request.clone().quote(&setup.entitled)).collect();
    verdict(setup, quotes.iter().map(Quote::price))
}

/// Returns whether the budget covers all calls, one after another, given today's spending.
fn verdict<'a>(setup: &Setup, prices: impl Iterator<Item = &'a Price>) -> Result<()> {
    let mut run = SpentUnits::default();
    let mut today = setup.gateway.spent_in(Period::Daily)?;
    let group = setup.runtime.block_on(setup.gateway.group_budgets());
    let is_incident = setup.gateway.is_incident();
    for (covered, price) in prices.enumerate() {
        if let Some(reason) = price.verdict.refusal {
            fail!(Refused, "it would be refused: {reason}");
        }
        let (unit, worst) = (price.verdict.unit, price.verdict.units.max);
        let over_group = || {
            let spent = |budget: &GroupBudget| budget.spent.saturating_add(run.total());
            let then = |budget: &GroupBudget| GroupBudget { spent: spent(budget), ..*budget };
            group.iter().find_map(|budget| then(budget).exceeded(unit, worst, is_incident))
        };
        if let Some(over) = setup.gateway.budget.exceeded(price, run, today).or_else(over_group) {
            let first = match covered as u64 {
                0 => String::new(),
                covered => format!("the budget covers {} of these, the next is ", count(covered, "call")),
            };
            fail!(OverBudget, "{first}{over}");
        }
        for sum in [&mut run, &mut today] {
            sum.charged = sum.charged.saturating_add(price.verdict.units.max.unwrap_or(0));
            sum.is_open |= price.verdict.units.max.is_none();
        }
    }
    Ok(())
}
