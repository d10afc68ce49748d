//! The only way to the service, for the screen and for scripts.
//!
//! ```text
//! stored? ── yes ──> the response, free
//!   └─ no ─> in the budget? ─> reserve in the ledger ─> paid for by the team? ─> in its budgets?
//!            ─> send, once ─> store the bytes ─> read them ─> settle ─> hand over
//! ```
//! A killed program cannot hide a cost, and a bug in parsing cannot cost a second call. Readings of
//! free quota details are stored too: they settle entries whose cost the responses leave open.

mod error;
mod reading;
mod sharing;
mod spending;
mod stored;
mod values;

use crate::log::{Level, Log};
use crate::quota::audit::{self, CounterReading, QuotaSnapshot};
use crate::quota::{Balances, Budget, Entitlements, Holder, NO_LICENCE, Period, Settlement, State, Unit};
use crate::report::Body;
use crate::report::identifier::FileHash;
use crate::request::{Quote, Request, UploadLimit};
use crate::service::Client;
use crate::service::error::{ApiError, InvalidResponse, LONGEST_ERROR, ServiceError};
use crate::store::{
    ANSWERED, NewEntry, NewResponse, Payer, RecordedCall, Reserved, Store, StoreError, service_id, too_fast,
};
use crate::team::{Team, TeamClaim};
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub use crate::service::client::hash_file;
pub use crate::service::error::ApiErrorKind;
pub use crate::store::StoredResponse;
pub use error::GatewayError;
pub use reading::{Received, find_parts};

/// Interval of the checks whether the limit of requests a minute allows a call.
const RATE_CHECK: Duration = Duration::from_secs(1);

/// Difference to the service's clock from which on this machine's clock counts as wrong.
const WRONG_CLOCK: SignedDuration = audit::QUIET;

/// Sends requests to the service, and records each request, its cost and its response.
pub struct Gateway {
    pub store: Arc<Store>,
    /// For its settings; only the gateway sends.
    pub client: Client,
    /// Digest of the service's address; its responses are stored under it.
    pub service: String,
    /// Name of this run of the program in the ledger.
    pub session: String,
    /// A request that may cost more is not sent.
    pub budget: Budget,
    /// Requests accepted in 60 seconds (§8.1.3), if configured: calls beyond it wait.
    pub per_minute: Option<u64>,
    /// The tag of this run in the ledger, by which costs are summed.
    pub project: Option<String>,
    /// Whether nothing is sent at all.
    pub is_offline: bool,
    /// The team store, if responses are shared with a team.
    pub team: Option<Arc<Team>>,
    pub log: Log,
    pub clock: Clock,
    state: Mutex<RunState>,
    /// Locked while responses are shared, and while their values are.
    sharing: tokio::sync::Mutex<()>,
    counting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct RunState {
    entitled: Option<Entitlements>,
    /// How far this clock was behind the service's at the last response, and its time then.
    clocks: Option<(SignedDuration, Timestamp)>,
    /// The calls in flight; the token of one that is over is cancelled.
    in_flight: HashMap<Request, CancellationToken>,
    /// The keys of the responses that are sent for, and are to be shared.
    sending: HashSet<Vec<u8>>,
    /// What no colleague sends until it is shared.
    claims: Vec<TeamClaim>,
    /// Whether calls may spend the team's reserve for incidents.
    is_incident: bool,
}

/// Source of the time, so that a test can stop it.
pub type Clock = fn() -> Timestamp;

/// Callback for the progress of a response.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(Received) + Send + Sync);

type GatewayResult<T = StoredResponse> = Result<T, GatewayError>;

/// What shows the progress of a call in flight, and what cancels it.
#[derive(Clone, Copy)]
struct Flight<'a> {
    progress: OnProgress<'a>,
    cancel: &'a CancellationToken,
    /// Whether a stored response is replaced.
    is_refresh: bool,
}

impl Gateway {
    /// Creates a gateway for one run of the program; `session` identifies its ledger entries.
    pub fn new(store: Arc<Store>, client: Client, session: String, clock: Clock) -> Self {
        Self {
            store,
            service: service_id(&client.profile().place()),
            client,
            session,
            clock,
            budget: Budget::default(),
            per_minute: None,
            project: None,
            is_offline: false,
            team: None,
            log: Log::default(),
            state: Mutex::default(),
            sharing: tokio::sync::Mutex::default(),
            counting: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the same gateway with a budget.
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Returns the current time: this machine's, unless the last response shows it to be wrong.
    pub fn now(&self) -> Timestamp {
        let now = (self.clock)();
        match self.behind().filter(|behind| behind.abs() > WRONG_CLOCK) {
            Some(behind) => now.saturating_add(behind).unwrap_or(now),
            None => now,
        }
    }

    /// Returns how far this machine's clock is behind the service's, once a response showed that.
    pub fn behind(&self) -> Option<SignedDuration> {
        self.state().clocks.map(|(behind, _)| behind)
    }

    /// Compares this machine's clock with the date of a response just received.
    fn note_date(&self, theirs: Timestamp) {
        let now = (self.clock)();
        self.state().clocks = Some((now.duration_until(theirs), now));
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the profile, service and key owner that the ledger attributes calls to.
    pub fn payer(&self) -> Payer<'_> {
        Payer { profile: &self.client.profile().name, service: &self.service, key_digest: self.client.key_digest() }
    }

    /// Cancels a call in flight. A request that was sent counts as charged.
    pub fn cancel(&self, request: &Request) {
        if let Some(cancel) = self.state().in_flight.get(request) {
            cancel.cancel();
        }
    }

    /// Returns the stored response, or else requests it.
    pub async fn get(&self, quote: &Quote, progress: OnProgress<'_>) -> GatewayResult {
        match self.get_stored(quote) {
            Err(GatewayError::NotStored) => match self.fetch_logged(quote, progress, false).await {
                // What the team has paid for needs no budget, no licence and no key.
                Err(
                    error @ (GatewayError::OverBudget(_)
                    | GatewayError::NotEntitled(_)
                    | GatewayError::Service { error: ServiceError::NoApiKey(_), .. }),
                ) => self.get_shared(quote, progress).await.map_err(|_| error),
                fetched => fetched,
            },
            found => found,
        }
    }

    /// Returns the stored response; never sends a request.
    pub fn get_stored(&self, quote: &Quote) -> GatewayResult {
        let stored = self.stored(quote.request())?.ok_or(GatewayError::NotStored)?;
        self.log.write(Level::Debug, "stored", &[("what", &self.logged(quote))]);
        Ok(stored)
    }

    /// Sends the request, even if a response is stored.
    ///
    /// Once started, the future must run to its end: the response may be paid for.
    pub async fn fetch(&self, quote: &Quote, progress: OnProgress<'_>) -> GatewayResult {
        self.fetch_logged(quote, progress, true).await
    }

    /// Sends a request unless it is in flight; logs it with its duration and outcome.
    async fn fetch_logged(&self, quote: &Quote, progress: OnProgress<'_>, is_refresh: bool) -> GatewayResult {
        if self.client.tells_key(quote.request()) {
            return Err(GatewayError::NamesKey);
        }
        if let Some(reason) = quote.price().verdict.refusal {
            return Err(GatewayError::NotEntitled(reason));
        }
        if self.is_offline {
            return Err(GatewayError::Offline);
        }
        let began = Instant::now();
        let cancel = self.begin(quote.request())?;
        let guard = cancel.clone().drop_guard();
        let mut result = self.fetch_unless_stored(quote, Flight { progress, cancel: &cancel, is_refresh }).await;
        drop(guard);
        let what = self.logged(quote);
        let price = quote.price().short();
        let ms = began.elapsed().as_millis();
        let (level, outcome) = match &result {
            Ok(response) => (Level::Info, format!("response of {} bytes", response.body.len())),
            Err(error) if self.store.is_persistent => (Level::Error, error.to_string()),
            // The error may quote the service, which may name a file.
            Err(_) => (Level::Error, "failed".to_owned()),
        };
        let id =
            self.log.write(level, "call", &[("what", &what), ("price", &price), ("ms", &ms), ("outcome", &outcome)]);
        if let Err(GatewayError::Service { line, .. }) = &mut result {
            *line = id;
        }
        result
    }

    /// Begins a call, unless the same is in flight; the result cancels it.
    fn begin(&self, request: &Request) -> GatewayResult<CancellationToken> {
        let in_flight = &mut self.state().in_flight;
        in_flight.retain(|_, cancel| !cancel.is_cancelled());
        if in_flight.contains_key(request) {
            return Err(GatewayError::InFlight);
        }
        Ok(in_flight.entry(request.clone()).or_default().clone())
    }

    /// Describes a request in the log: only by its operation if responses are not on disk.
    fn logged(&self, quote: &Quote) -> String {
        if self.store.is_persistent { quote.request().label() } else { quote.price().operation.kind.name().to_owned() }
    }

    /// Sends a request, unless another program has stored its response meanwhile.
    async fn fetch_unless_stored(&self, quote: &Quote, flight: Flight<'_>) -> GatewayResult {
        if let Some(parts) = quote.request().by_hash() {
            return self.fetch_each(parts, quote, flight).await;
        }
        let Flight { progress, cancel, is_refresh } = flight;
        let whole = self.with_content(quote, cancel).await?;
        let request = whole.request();
        self.read_counters_before(&whole).await?;
        let call = match request {
            Request::Quotas | Request::Usage { .. } => None,
            _ => Some(self.reserve(&whole, flight).await?),
        };
        // From here on others cannot reserve it: without a stored response none is in flight.
        let may_be_stored = !is_refresh && call.is_some();
        if let Some(stored) = may_be_stored.then(|| self.stored(request).ok()).flatten().flatten() {
            self.settle(call, Settlement::UNSENT, "not sent: another program has stored the response")?;
            return Ok(stored);
        }
        if let Some(reserved) = &call {
            match self.ask_team(&whole, reserved, may_be_stored, progress, cancel).await {
                Ok(None) => {}
                Ok(Some((stored, label))) => {
                    self.settle(call, Settlement::UNSENT, &format!("not sent: {label}"))?;
                    return Ok(stored);
                }
                Err(error) => {
                    self.settle(call, Settlement::UNSENT, &error.to_string())?;
                    return Err(error);
                }
            }
        }
        self.note_sending(request);
        let mut taken = self.send(request, flight).await;
        self.note_sent(request, taken.is_ok()).await;
        if let Err(ServiceError::Refused(refusal)) = &mut taken {
            refusal.has_licence = whole.needs_licence() && self.licence() == Some(Some(true));
        }
        self.settle_by_outcome(call, &whole, taken)
    }

    /// Sends one request for each hash until one fails; each is stored, priced and settled alone.
    async fn fetch_each(&self, parts: Vec<(FileHash, Request)>, quote: &Quote, flight: Flight<'_>) -> GatewayResult {
        let mut responses = Vec::new();
        let mut missing = Vec::new();
        let mut failure = None;
        let stored = |part| if flight.is_refresh { Ok(None) } else { self.stored(part) };
        let stored = parts.iter().map(|(_, part)| stored(part)).collect::<Result<Vec<_>, _>>()?;
        // A response that was stored when the price was shown may have been deleted.
        let to_ask = stored.iter().filter(|stored| stored.is_none()).count() as u64;
        if quote.price().verdict.units.max.is_some_and(|agreed| to_ask > agreed) {
            return Err(GatewayError::NotStored);
        }
        for ((file, _), stored) in parts.into_iter().zip(stored) {
            match (stored, &failure) {
                (Some(stored), _) => responses.push(stored),
                (None, Some(_)) => missing.push(file),
                (None, None) => {
                    let quote = quote.clone().of_missing(vec![file.clone()]);
                    match Box::pin(self.fetch_unless_stored(&quote, flight)).await {
                        Ok(response) => responses.push(response),
                        Err(error) => {
                            missing.push(file);
                            failure = Some(error);
                        }
                    }
                }
            }
        }
        match failure {
            Some(error) if responses.is_empty() => Err(error),
            failure => Ok(stored::joined(&responses, &missing, failure.as_ref())),
        }
    }

    /// Returns the quote for an upload's content, which decides whether the same is in flight.
    async fn with_content(&self, quote: &Quote, cancel: &CancellationToken) -> GatewayResult<Quote> {
        let Some(path) = quote.unseen().map(Path::to_owned) else { return Ok(quote.clone()) };
        let largest = self.client.profile().largest(UploadLimit::Direct);
        let read = tokio::task::spawn_blocking(move || hash_file(&path, largest));
        let found = read.await.map_err(|error| GatewayError::bug(&error))?;
        if cancel.is_cancelled() {
            return Err(GatewayError::unsent(ServiceError::Unsent));
        }
        Ok(quote.clone().of_seen(found.map_err(|why| GatewayError::unsent(ServiceError::Unsendable(why)))?))
    }

    /// Records a call in the ledger, as soon as the limit of requests a minute allows it.
    ///
    /// If a budget refuses as the cost of others is unknown, reads the counters and tries again.
    async fn reserve(&self, quote: &Quote, flight: Flight<'_>) -> GatewayResult<RecordedCall> {
        let request = quote.request();
        let claim = request.claim();
        let what = request.label();
        let account = self.client.account();
        let per_minute = self.minute_limit().map_err(GatewayError::Ledger)?.map(|(limit, _)| limit);
        let mut is_reread = false;
        loop {
            let entry = NewEntry {
                at: self.now(),
                clock: (self.clock)(),
                session: &self.session,
                payer: self.payer(),
                what: &what,
                claim: claim.as_deref(),
                price: quote.price(),
                account: account.as_deref(),
                budget: self.budget,
                project: self.project.as_deref(),
                per_minute,
            };
            match self.store.reserve(&entry).map_err(GatewayError::Ledger)? {
                Reserved::Entry(call) => {
                    let Err(sent) = self.check_unsent(request, call.entry) else { return Ok(call) };
                    self.settle(Some(call), Settlement::UNSENT, "not sent: the same may have arrived before")?;
                    return Err(sent);
                }
                Reserved::InFlight => return Err(GatewayError::InFlight),
                Reserved::OverBudget(_) if !is_reread && self.spent_in(Period::Daily)?.has_unsure() => {
                    is_reread = true;
                    let _ = self.read_counters().await;
                }
                Reserved::OverBudget(over) => return Err(GatewayError::OverBudget(over)),
                Reserved::NotBefore(at) => {
                    (flight.progress)(Received::NotBefore(at));
                    if flight.cancel.run_until_cancelled(tokio::time::sleep(RATE_CHECK)).await.is_none() {
                        return Err(GatewayError::unsent(ServiceError::Unsent));
                    }
                }
            }
        }
    }

    /// Settles a call; if that cannot be written, the entry stays reserved and counts as charged.
    fn settle(&self, call: Option<RecordedCall>, cost: Settlement, outcome: &str) -> Result<(), StoreError> {
        let settled = call.map_or(Ok(()), |call| self.store.settle(call, cost, outcome, self.now()));
        settled.inspect_err(|why| drop(self.log.write(Level::Error, "not settled", &[("why", why)])))
    }

    /// Settles a call by its outcome; returns its response, or its error with the cost.
    fn settle_by_outcome(
        &self,
        call: Option<RecordedCall>,
        quote: &Quote,
        taken: Result<StoredResponse, ServiceError>,
    ) -> GatewayResult {
        let mut cost = quote.price().settle(reading::outcome(quote.request(), &taken));
        let is_settled = self.settle(call, cost, &outcome_label(&taken, (self.clock)()));
        if is_settled.is_err() {
            cost.state = State::Reserved;
        }
        let mut response = taken.map_err(|error| GatewayError::Service { error, cost, line: None })?;
        if let Err(why) = is_settled {
            let unstored = response.remark.map(|remark| remark + "; it ").unwrap_or_default();
            response.remark =
                Some(format!("{unstored}may be missing in the ledger, which could not be written: {why}"));
        }
        Ok(response)
    }

    /// Sends a request, and stores and reads the response.
    async fn send(&self, request: &Request, flight: Flight<'_>) -> Result<StoredResponse, ServiceError> {
        // A cancellation while the call was recorded still prevents sending.
        tokio::task::yield_now().await;
        let before = if *request == Request::Quotas { self.begin_reading() } else { None };
        let body = self.gather(request, flight).await?;
        // A purge by age uses this machine's clock too.
        let received = (self.clock)();
        if let Some(before) = before {
            self.note_reading(before, self.now(), &body);
        }
        let short = Some(&*body).filter(|body| body.len() as u64 <= LONGEST_ERROR);
        if let Some(refusal) = short.and_then(|body| ApiError::in_body(body, received)) {
            return Err(ServiceError::Refused(refusal.of_request(request)));
        }
        let lost = |why: StoreError| format!("could not be stored, so asking again costs again: {why}");
        let pending = reading::is_pending(request, &body);
        let unstored = if let Some(key) = request.storage_key().filter(|_| !pending) {
            let service = &*self.service;
            let profile = &*self.client.profile().name;
            let new = NewResponse { service, profile, key: &key, received, bytes: &body, imported: None };
            match self.store.write_response(&new) {
                Ok(()) => reading::read_stored(&self.store, request, &new, &body)?,
                Err(why) => {
                    find_parts(request, &body)?;
                    Some(lost(why))
                }
            }
        } else {
            reading::check(request, &body)?;
            let noted = Entitlements::parse(&body, received).ok().filter(|_| *request == Request::User);
            noted.and_then(|found| self.store.note_privileges(self.payer(), &found).err()).map(lost)
        };
        let remark = pending.then_some(reading::PENDING).or_else(|| reading::defect(request, &body));
        Ok(StoredResponse { remark: unstored.or(remark.map(str::to_owned)), ..StoredResponse::new(received, body) })
    }

    /// Reads the counters before the first call of a run that needs a licence, and before one that
    /// may cost more than a request: if its response is lost, only readings show its cost.
    async fn read_counters_before(&self, quote: &Quote) -> GatewayResult<()> {
        // A budget never allows a call without a known limit.
        let may_cost_more = quote.price().verdict.units.max.map_or(!self.budget.is_set(), |most| most > 1);
        // This machine's clock alone does not start a new day of the budget.
        let is_today = |seen| !Period::Daily.is_renewed(seen, (self.clock)());
        let knows_day = || self.state().clocks.is_some_and(|(_, seen)| is_today(seen));
        let needs_date = self.budget.daily.is_some() && !quote.price().is_free() && !knows_day();
        if may_cost_more || needs_date || quote.needs_licence() && self.licence().is_none() {
            let read = self.read_counters().await;
            if needs_date && !knows_day() && self.client.account().is_some() {
                let no_date = || ServiceError::Unusable(InvalidResponse::Silent("the time (no Date header)"));
                return Err(GatewayError::DayUnknown(read.err().unwrap_or_else(no_date)));
            }
        }
        match self.licence() {
            Some(Some(false)) if quote.needs_licence() => Err(GatewayError::NotEntitled(NO_LICENCE)),
            _ => Ok(()),
        }
    }

    /// Returns whether the counters show the licence; `None` until they are read.
    fn licence(&self) -> Option<Option<bool>> {
        self.state().entitled.as_ref().map(|shown| shown.private_scanning.is_granted())
    }

    /// Reads the counters. A reading that fails explains nothing.
    async fn read_counters(&self) -> Result<(), ServiceError> {
        let Some(before) = self.begin_reading() else { return Ok(()) };
        let flight = Flight { progress: &|_| {}, cancel: &CancellationToken::new(), is_refresh: true };
        let body = self.gather(&Request::Quotas, flight).await?;
        self.note_reading(before, self.now(), &body);
        Ok(())
    }

    /// Starts a reading of the counters; `None` if it cannot be compared with the ledger.
    fn begin_reading(&self) -> Option<QuotaSnapshot> {
        let account = self.client.account()?;
        let sent = self.now();
        let after = self.store.last_entry().ok()?;
        Some(QuotaSnapshot { sent, received: sent, account, after, readings: Vec::new() })
    }

    /// Stores a reading of the counters, and settles the entries that it explains.
    fn note_reading(&self, before: QuotaSnapshot, received: Timestamp, response: &Body) {
        let Ok(response) = serde_json::from_slice(response) else { return };
        let balances = Balances::read(&response);
        self.state().entitled = Some(Entitlements::from_balances(&balances));
        let mut look = QuotaSnapshot { received, ..before };
        // The end of the other periods is not documented.
        for period in [Period::Daily, Period::Monthly] {
            look.readings.extend([Holder::User, Holder::Group].into_iter().filter_map(|holder| {
                let side = balances.counter(Unit::Request, period)?.side(holder)?;
                Some(CounterReading { unit: Unit::Request, period, holder, used: side.used, allowed: side.allowed })
            }));
        }
        if let Err(why) = self.store.record_snapshot(self.payer(), &self.session, &look) {
            self.log.write(Level::Error, "counters not recorded", &[("why", &why)]);
        }
    }
}

fn outcome_label(taken: &Result<StoredResponse, ServiceError>, now: Timestamp) -> String {
    match taken {
        Ok(_) => ANSWERED.to_owned(),
        Err(ServiceError::Refused(refusal)) if refusal.reason == ApiErrorKind::TooFast => {
            too_fast(refusal, refusal.retry_after.and_then(|wait| now.checked_add(wait).ok()))
        }
        Err(error) => error.to_string(),
    }
}
