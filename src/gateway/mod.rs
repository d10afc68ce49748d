//! The only way to the service, for the screen and for scripts.
//!
//! ```text
//! stored? ── yes ──> the answer, free
//!   └─ no ─> in the budget? ─> reserve in the ledger ─> send, once ─> store the bytes ─> settle
//!            ─> read them ─> hand over
//! ```
//! The ledger is written before the request is sent, and the bytes are stored before anything
//! depends on them: a killed program cannot hide a cost, and a bug in parsing cannot cost a second
//! call. The rows of a report are displayed while it arrives; a separate thread finds them, so that
//! its failure stops nothing else. Readings of the free quota details are stored too, and settle
//! the entries whose cost the answers leave open.

mod about;
mod arriving;
mod cost;
mod error;
mod flight;
pub mod import;
mod looks;
mod reading;
mod received;
mod stored;
pub mod submission;

use crate::log::{Level, Log};
use crate::quota::audit::{self, Look};
use crate::quota::{Allowed, Budget, Entitlements, Period, Spent, Unit};
use crate::request::{Quote, Request, UploadLimit};
use crate::service::Client;
use crate::service::error::ServiceError;
use crate::store::{ANSWERED, Call, Keep, NewEntry, Reserved, State, Store, StoreError, TOO_FAST, Whose, service_id};
use jiff::{SignedDuration, Timestamp};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use crate::store::Answer;
pub use arriving::{Received, Rows};
pub use cost::Cost;
pub use error::GatewayError;
use flight::{Flight, GivenUp, UnderWay};
use received::settlement;
pub use stored::Quarantined;

/// Sends requests to the service, and records each request, its cost and its answer.
pub struct Gateway {
    store: Arc<Store>,
    client: Client,
    /// Digest of the service's address; its answers are stored under it.
    service: String,
    session: String,
    clock: Clock,
    budget: Budget,
    is_offline: bool,
    log: Log,
    /// The licence and so on, as the counters of this run show them.
    shown: Mutex<Option<Entitlements>>,
    /// How far this machine's clock was behind the service's at the last response, and its time then.
    clocks: Mutex<Option<(SignedDuration, Timestamp)>>,
    under_way: Mutex<HashMap<Request, Flight>>,
}

/// Interval of the checks whether the limit of requests a minute allows a call.
const RATE_CHECK: Duration = Duration::from_secs(1);

/// From here on this machine's clock counts as wrong, and calls are recorded by the service's.
const WRONG_CLOCK: SignedDuration = audit::QUIET;

/// Source of the time, so that a test can stop it.
pub type Clock = fn() -> Timestamp;

/// Callback for the progress of an answer.
pub type OnProgress<'a> = &'a (dyn Fn(Received) + Send + Sync);

impl Gateway {
    /// Creates a gateway for one run of the program; `session` identifies its ledger entries.
    pub fn new(store: Arc<Store>, client: Client, session: String, clock: Clock) -> Self {
        Self {
            store,
            service: service_id(&client.root()),
            client,
            session,
            clock,
            budget: Budget::default(),
            is_offline: false,
            log: Log::default(),
            shown: Mutex::default(),
            clocks: Mutex::default(),
            under_way: Mutex::default(),
        }
    }

    /// The same gateway; it sends nothing if it is offline.
    pub fn with_offline(self, is_offline: bool) -> Self {
        Self { is_offline, ..self }
    }

    /// Whether nothing is sent at all.
    pub fn is_offline(&self) -> bool {
        self.is_offline
    }

    /// The same gateway, which writes each call into a log.
    pub fn with_log(self, log: Log) -> Self {
        Self { log, ..self }
    }

    /// Where calls are logged.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The same gateway with a budget: it sends no request that may cost more.
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The budget that calls are checked against.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The store behind the gateway.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The client behind the gateway, for its settings; only the gateway sends.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The current time: this machine's, unless the service's last response shows that it is wrong.
    pub fn now(&self) -> Timestamp {
        let now = (self.clock)();
        match self.behind().filter(|behind| behind.abs() > WRONG_CLOCK) {
            Some(behind) => now.saturating_add(behind).unwrap_or(now),
            None => now,
        }
    }

    /// How far this machine's clock is behind the service's; `None` before the first response with a
    /// date.
    pub fn behind(&self) -> Option<SignedDuration> {
        self.clocks().map(|(behind, _)| behind)
    }

    /// Whether the service's date was seen on this day of this machine's clock.
    fn knows_day(&self) -> bool {
        self.clocks().is_some_and(|(_, seen)| !Period::Daily.is_renewed(seen, (self.clock)()))
    }

    /// Compares this machine's clock with the date of a response.
    fn note_date(&self) {
        if let Some(theirs) = self.client.take_date() {
            let now = (self.clock)();
            *self.clocks() = Some((now.duration_until(theirs), now));
        }
    }

    fn clocks(&self) -> MutexGuard<'_, Option<(SignedDuration, Timestamp)>> {
        self.clocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Name of this run of the program in the ledger.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Name of the profile.
    pub fn profile(&self) -> &str {
        &self.client.profile().name
    }

    /// Identifier of the service in the store.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// What this run has spent so far.
    pub fn spent(&self) -> Result<Spent, StoreError> {
        Ok(self.spent_by_unit()?.into_values().sum())
    }

    /// What this run has spent so far of each unit on finished calls, including those whose
    /// settlement could not be written.
    pub fn settled(&self) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.store.settled(&self.session)
    }

    /// What this run has spent so far of each unit.
    pub fn spent_by_unit(&self) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.store.spent(&self.session)
    }

    /// The profile, service and key owner that the ledger attributes calls to.
    pub fn whose(&self) -> Whose<'_> {
        Whose { profile: self.profile(), service: self.service(), owner: self.client.owner() }
    }

    /// What all runs with this service and key have spent in the current period (UTC), by the sum
    /// that budgets are compared with.
    pub fn spent_in(&self, period: Period) -> Result<Spent, StoreError> {
        Ok(self.spent_in_by_unit(period)?.into_values().sum())
    }

    /// The same, each unit by itself.
    pub fn spent_in_by_unit(&self, period: Period) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.store.spent_in(self.whose(), period, self.now())
    }

    /// The stored answer, or else the service's.
    pub async fn get(&self, quote: &Quote, progress: OnProgress<'_>) -> Result<Answer, GatewayError> {
        match self.get_held(quote) {
            Err(GatewayError::NotHeld) => self.ask_logged(quote, progress, false).await,
            found => found,
        }
    }

    /// The stored answer. Sends nothing if none is stored.
    pub fn get_held(&self, quote: &Quote) -> Result<Answer, GatewayError> {
        let held = self.held(quote.request())?.ok_or(GatewayError::NotHeld)?;
        self.log.write(Level::Debug, "held", &[("what", &self.told(quote))]);
        Ok(held)
    }

    /// Asks the service, even if an answer is stored.
    ///
    /// Once started, the future must run to its end: the answer may be paid for.
    pub async fn ask(&self, quote: &Quote, progress: OnProgress<'_>) -> Result<Answer, GatewayError> {
        self.ask_logged(quote, progress, true).await
    }

    /// Asks, and logs the request, its duration and its outcome.
    async fn ask_logged(&self, quote: &Quote, progress: OnProgress<'_>, anew: bool) -> Result<Answer, GatewayError> {
        if self.client.tells_key(quote.request()) {
            return Err(GatewayError::NamesKey);
        }
        let began = Instant::now();
        let mut result = self.ask_unless(quote, progress, anew).await;
        let (what, price, ms) = (self.told(quote), quote.price().short(), began.elapsed().as_millis());
        let call = |level, outcome: &dyn std::fmt::Display| {
            let details: [(&str, &dyn std::fmt::Display); 4] =
                [("what", &what), ("price", &price), ("ms", &ms), ("outcome", outcome)];
            self.log.write(level, "call", &details)
        };
        match &mut result {
            Ok(answer) => drop(call(Level::Info, &format!("answered with {} bytes", answer.body.len()))),
            Err(error) => {
                // The service's own words may name a file.
                let id = match self.store.keep {
                    Keep::Everything => call(Level::Error, error),
                    Keep::Nothing => call(Level::Error, &"failed"),
                };
                if let GatewayError::Service { line, .. } = error {
                    *line = id;
                }
            }
        }
        result
    }

    /// Description of a request in the log: only its operation if nothing is kept on disk.
    fn told(&self, quote: &Quote) -> String {
        match self.store.keep {
            Keep::Everything => quote.request().words(),
            Keep::Nothing => quote.price().operation.name().to_owned(),
        }
    }

    /// Asks the service, or returns an answer that another program has stored meanwhile, if the
    /// caller accepts a stored one.
    async fn ask_unless(&self, quote: &Quote, progress: OnProgress<'_>, anew: bool) -> Result<Answer, GatewayError> {
        if let Allowed::Refused(reason) = quote.price().allowed {
            return Err(GatewayError::NotEntitled(reason));
        }
        if self.is_offline {
            return Err(GatewayError::Offline);
        }
        let asked = quote.request();
        let under_way = self.enter(asked)?;
        let quote = &*self.looked_at(quote, &under_way.given_up).await?;
        let missing = if anew { None } else { self.missing_hashes(asked)? };
        let quote =
            &missing.map_or_else(|| Cow::Borrowed(quote), |missing| Cow::Owned(quote.clone().of_missing(missing)));
        let (request, price) = (quote.request(), quote.price());
        let limit = self.limit_per_minute().map_err(GatewayError::Ledger)?;
        if let Some(parts) = limit.and_then(|limit| quote.split(limit)) {
            return self.ask_parts(asked, &parts, progress, &under_way).await;
        }
        under_way.claim(request.claim())?;
        self.look_before(quote).await?;
        let call = match price.is_free() {
            true => None,
            false => Some(self.reserve(quote, progress, &under_way).await?),
        };
        if let Some(entry) = call.as_ref().map(|call| call.entry)
            && let Err(sent) = self.check_unsent(request, entry).await
        {
            self.settle(call, (State::Unsent, Some(0)), "not sent: the same may have arrived before").await;
            return Err(sent);
        }
        // No other program can reserve the same request from here on, so an answer that is not
        // stored now is not in flight either.
        if !anew
            && call.is_some()
            && let Some(held) = self.held(asked).ok().flatten()
        {
            self.settle(call, (State::Unsent, Some(0)), "not sent: another program had got the answer").await;
            return Ok(held);
        }
        let look = if *request == Request::Quotas { self.begin_look().await } else { None };
        let taken = self.send(request, look, progress, &under_way.given_up).await?;
        let settled = price.settle(reading::outcome(request, &taken));
        let outcome = match &taken {
            Ok(_) => ANSWERED.to_owned(),
            Err(error) if error.is_of_rate() => format!("{TOO_FAST}{error}"),
            Err(error) => error.to_string(),
        };
        self.settle(call, settlement(settled, &taken), &outcome).await;
        if request != asked
            && taken.is_ok()
            && let Some(whole) = self.held(asked).ok().flatten()
        {
            return Ok(whole);
        }
        taken.map_err(|error| GatewayError::Service { error, cost: Cost::of(settled, price.unit), line: None })
    }

    /// The most requests that the service accepts in a minute: as configured, or as its refusals of
    /// the last hour teach.
    fn limit_per_minute(&self) -> Result<Option<u64>, StoreError> {
        match self.budget.per_minute {
            Some(limit) => Ok(Some(limit)),
            None => self.store.minute_limit(self.whose(), self.now()),
        }
    }

    /// The limit of requests a minute, and how many of them are used.
    pub fn minute_limit(&self) -> Result<Option<(u64, u64)>, StoreError> {
        let Some(limit) = self.limit_per_minute()? else { return Ok(None) };
        Ok(Some((limit, self.store.spent_last_minute(self.whose(), self.now())?)))
    }

    /// Asks about the hashes of a request in several calls, each as soon as the limit of requests a
    /// minute allows it. The answers before a failure are stored.
    async fn ask_parts(
        &self,
        asked: &Request,
        parts: &[Quote],
        progress: OnProgress<'_>,
        under_way: &UnderWay<'_>,
    ) -> Result<Answer, GatewayError> {
        for part in parts {
            let mut call = Box::pin(self.ask_unless(part, progress, true));
            tokio::select! {
                answer = &mut call => drop(answer?),
                () = under_way.given_up.said() => {
                    self.give_up(part.request());
                    call.await?;
                }
            }
        }
        let stored = self.held(asked)?;
        stored.ok_or_else(|| GatewayError::Internal("an answer in parts is not stored".to_owned()))
    }

    /// The request for the current content of a file that is to be uploaded and was not read yet:
    /// its content, not its name, decides whether the same upload is in flight.
    async fn looked_at<'a>(&self, quote: &'a Quote, given_up: &Arc<GivenUp>) -> Result<Cow<'a, Quote>, GatewayError> {
        let Some(path) = quote.unseen().map(Path::to_owned) else { return Ok(Cow::Borrowed(quote)) };
        let largest = self.client.profile().largest(UploadLimit::Direct);
        let given_up = Arc::clone(given_up);
        let found = self.work(move |_| submission::look_at(&path, largest, &|| !given_up.is_said())).await?;
        let unsendable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::Interrupted => ServiceError::Unsent,
            _ => ServiceError::Unsendable(error.to_string()),
        };
        let found = found.map_err(|error| GatewayError::Service {
            error: unsendable(error),
            cost: Cost::Nothing,
            line: None,
        })?;
        Ok(Cow::Owned(quote.clone().of_seen(found)))
    }

    /// Sends a request, and reads the answer.
    async fn send(
        &self,
        request: &Request,
        look: Option<Look>,
        progress: OnProgress<'_>,
        given_up: &GivenUp,
    ) -> Result<Result<Answer, ServiceError>, GatewayError> {
        let gathered = self.gather(request, progress, given_up).await;
        let received = self.now();
        if let (Some(look), Ok(gathered)) = (look, &gathered) {
            self.note_look(look, received, &gathered.body).await;
        }
        match gathered {
            Ok(gathered) => self.take(request, received, gathered).await,
            Err(error) => Ok(Err(error)),
        }
    }

    /// Records a call in the ledger, as soon as the limit of requests a minute allows it.
    ///
    /// If a budget does not allow the call because the cost of others is not known, the counters are
    /// read first: they may show that those were free.
    async fn reserve(
        &self,
        quote: &Quote,
        progress: OnProgress<'_>,
        under_way: &UnderWay<'_>,
    ) -> Result<Call, GatewayError> {
        let mut is_reread = false;
        loop {
            match self.reserve_now(quote).await? {
                Reserved::OverBudget(_) if !is_reread && self.spent_in(Period::Daily)?.has_unsure() => {
                    is_reread = true;
                    self.read_counters().await;
                }
                Reserved::Entry(call) => {
                    under_way.is_written(call.entry);
                    return Ok(call);
                }
                Reserved::InFlight => return Err(GatewayError::UnderWayElsewhere),
                Reserved::OverBudget(over) => return Err(GatewayError::OverBudget(over)),
                Reserved::NotBefore(at) => {
                    progress(Received::NotBefore(at));
                    tokio::select! {
                        () = under_way.given_up.said() => {
                            let (error, cost) = (ServiceError::Unsent, Cost::Nothing);
                            return Err(GatewayError::Service { error, cost, line: None });
                        }
                        () = tokio::time::sleep(RATE_CHECK) => {}
                    }
                }
            }
        }
    }

    async fn reserve_now(&self, quote: &Quote) -> Result<Reserved, GatewayError> {
        let (session, profile, service) = (self.session.clone(), self.profile().to_owned(), self.service.clone());
        let request = quote.request();
        let what = request.words();
        // Two sets of hashes that overlap must not be in flight at once.
        let parts = request.by_hash().into_iter().flatten().filter_map(|(_, part)| part.claim());
        let claims: Vec<_> = request.claim().into_iter().chain(parts.collect::<BTreeSet<_>>()).collect();
        let (price, at) = (quote.price().clone(), self.now());
        let (account, owner) = (self.client.account(), self.client.owner());
        let per_minute = self.limit_per_minute().map_err(GatewayError::Ledger)?;
        let budget = Budget { per_minute, ..self.budget };
        let write = move |store: &Store| {
            let whose = Whose { profile: &profile, service: &service, owner };
            let (session, what, claims, account) = (&session, &what, &claims, account.as_deref());
            store.reserve(&NewEntry { at, session, whose, what, claims, price: &price, account, budget })
        };
        self.work(write).await?.map_err(GatewayError::Ledger)
    }

    /// Runs work on the store on a thread that may block.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> T + Send + 'static,
    ) -> Result<T, GatewayError> {
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || work(&store)).await.map_err(|error| GatewayError::bug(&error))
    }
}
