//! The only way to the service, for the screen and for scripts alike.
//!
//! ```text
//! held? ── yes ──> the answer, for nothing
//!   └─ no ─> reserve in the ledger ─> send, once ─> keep the raw bytes ─> settle ─> read them ─> hand over
//! ```
//! The ledger is written before the request leaves, and the bytes are kept before anything reads them: a killed program
//! cannot hide a cost, and a mistake in reading cannot cost a second call.

use crate::quota::{Allowed, Outcome, Price, Settled};
use crate::report::page::{Page, PageError};
use crate::report::{Body, Index, Report};
use crate::request::Request;
use crate::service::error::{ServiceError, Unusable};
use crate::service::{Client, Received};
use crate::store::{AnswerId, Entry, HeldAnswer, HeldReport, LedgerId, Settlement, Spent, Store, StoreError};
use jiff::Timestamp;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Asks the service, and remembers what was asked, what it cost and what came.
pub struct Gate {
    store: Arc<Store>,
    client: Client,
    session: String,
    clock: Clock,
    under_way: Mutex<HashSet<Request>>,
}

/// Where the time comes from, so that a test can stop it.
pub type Clock = fn() -> Timestamp;

/// An answer that was paid for, or was free.
#[derive(Debug, Clone)]
pub struct Answer {
    /// When it came.
    pub received: Timestamp,
    /// Its bytes.
    pub body: Body,
    /// Why it could not be kept, if so: it is gone when the program ends.
    pub unkept: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The same question is under way already; its answer serves both.
    #[error("this is being fetched already")]
    UnderWay,
    /// The user is not entitled to it, so nothing was sent.
    #[error("nothing was sent: {0}")]
    NotEntitled(&'static str),
    /// The ledger could not be written, so nothing was sent.
    #[error("nothing was sent, because the ledger could not be written: {0}")]
    Ledger(StoreError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The service, or the way to it.
    #[error("{error}")]
    Service {
        /// What happened.
        error: ServiceError,
        /// What it counts as in the ledger.
        cost: Cost,
    },
    /// This program's own fault.
    #[error("internal error: {0}")]
    Internal(String),
}

/// What a call that failed counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Nothing was charged.
    Nothing,
    /// It may have been charged, at most this many units; none where no limit is known.
    Perhaps(Option<u64>),
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("It cost nothing."),
            Self::Perhaps(Some(units)) => {
                write!(f, "It may have cost {units}; the ledger counts it until the service's counters say otherwise.")
            }
            Self::Perhaps(None) => f.write_str("It may have been charged."),
        }
    }
}

/// Forgets that a request is under way, however its future ends.
struct UnderWay<'a>(&'a Gate, &'a Request);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(self.1);
    }
}

impl Gate {
    /// A gate for one run of the program; `session` tells its ledger entries from those of other runs.
    #[must_use]
    pub fn new(store: Arc<Store>, client: Client, session: String, clock: Clock) -> Self {
        Self { store, client, session, clock, under_way: Mutex::default() }
    }

    /// The store behind the gate.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The client behind the gate, to look at; only the gate sends.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Name of the profile that answers are held under.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.client.profile().name
    }

    /// What this run has spent so far.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent(&self) -> Result<Spent, StoreError> {
        self.store.spent(&self.session)
    }

    /// The answer that is held, for nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn held(&self, request: &Request) -> Result<Option<HeldAnswer>, StoreError> {
        if let Request::Behaviour { identifier } = request {
            return Ok(self.store.report(self.profile(), identifier)?.map(HeldReport::into_answer));
        }
        request.holding_key().map_or(Ok(None), |key| self.store.answer(self.profile(), &key))
    }

    /// Asks the service at the price that was agreed to, even if an answer is held.
    ///
    /// Once begun it must run to its end: the answer may be paid for.
    ///
    /// # Errors
    /// Each says what it cost.
    pub async fn ask(
        &self,
        request: &Request,
        price: &Price,
        progress: &(dyn Fn(Received) + Send + Sync),
    ) -> Result<Answer, GateError> {
        if let Allowed::Refused(reason) = price.allowed {
            return Err(GateError::NotEntitled(reason));
        }
        let _under_way = self.enter(request)?;
        let entry = if price.is_free() { None } else { Some(self.reserve(request, price).await?) };
        let sent = self.client.send(request, progress).await;
        let received = (self.clock)();
        let taken = match sent {
            Ok(reply) => self.take(request, received, reply.bytes).await?,
            Err(error) => Err(error),
        };
        let settled = price.settle(outcome(&taken));
        if let Some(entry) = entry {
            self.settle(entry, settled, &taken).await;
        }
        taken.map_err(|error| GateError::Service { error, cost: cost(settled) })
    }

    fn enter<'a>(&'a self, request: &'a Request) -> Result<UnderWay<'a>, GateError> {
        let is_new = self.under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(request.clone());
        if is_new { Ok(UnderWay(self, request)) } else { Err(GateError::UnderWay) }
    }

    async fn reserve(&self, request: &Request, price: &Price) -> Result<LedgerId, GateError> {
        let (session, profile) = (self.session.clone(), self.profile().to_owned());
        let (what, price, at) = (request.words(), price.clone(), (self.clock)());
        let write = move |store: &Store| {
            store.reserve(&Entry { at, session: &session, profile: &profile, what: &what, price: &price })
        };
        self.work(write).await?.map_err(GateError::Ledger)
    }

    /// A settlement that cannot be written leaves the entry reserved, which counts as charged.
    async fn settle(&self, entry: LedgerId, settled: Settled, taken: &Result<Answer, ServiceError>) {
        let settlement = match (settled, taken) {
            (Settled::Exactly(units), Ok(_)) => Settlement::Charged(units),
            (Settled::Exactly(0), Err(_)) => Settlement::Unsent,
            _ => Settlement::Unknown,
        };
        let outcome = taken.as_ref().map_or_else(ToString::to_string, |_| "answered".to_owned());
        let now = (self.clock)();
        let _ = self.work(move |store| store.settle(entry, settlement, &outcome, now)).await;
    }

    /// Keeps the bytes of an answer, then reads them.
    async fn take(
        &self,
        request: &Request,
        received: Timestamp,
        bytes: Vec<u8>,
    ) -> Result<Result<Answer, ServiceError>, GateError> {
        let (profile, request) = (self.profile().to_owned(), request.clone());
        self.work(move |store| match request.holding_key() {
            None => Ok(Answer { received, body: Body::in_memory(bytes), unkept: None }),
            Some(key) => match store.keep(&profile, &key, received, &bytes) {
                Ok(id) => read_kept(store, &profile, &request, id, received, bytes),
                Err(error) => read(&request, &Body::in_memory(bytes)).map(|found| Answer {
                    received,
                    body: found.body,
                    unkept: Some(error.to_string()),
                }),
            },
        })
        .await
    }

    /// Runs store work where waiting is allowed.
    async fn work<T: Send + 'static>(&self, work: impl FnOnce(&Store) -> T + Send + 'static) -> Result<T, GateError> {
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || work(&store)).await.map_err(|error| GateError::Internal(error.to_string()))
    }
}

fn outcome(taken: &Result<Answer, ServiceError>) -> Outcome {
    match taken {
        Ok(_) => Outcome::Answered,
        Err(error) if !error.may_be_charged() => Outcome::Unsent,
        Err(ServiceError::Refused(_) | ServiceError::Unusable(_)) => Outcome::Failed,
        Err(_) => Outcome::Unknown,
    }
}

fn cost(settled: Settled) -> Cost {
    match settled {
        Settled::Exactly(0) => Cost::Nothing,
        Settled::Exactly(units) | Settled::AtMost(units) => Cost::Perhaps(Some(units)),
        Settled::Open => Cost::Perhaps(None),
    }
}

/// What reading an answer finds.
struct Found {
    body: Body,
    page: Option<Page>,
}

/// Reads an answer that is kept: from now on it is served from the store, or it is set aside.
fn read_kept(
    store: &Store,
    profile: &str,
    request: &Request,
    id: AnswerId,
    received: Timestamp,
    bytes: Vec<u8>,
) -> Result<Answer, ServiceError> {
    let body = Body::in_memory(bytes);
    let found = read(request, &body).inspect_err(|_| {
        // Failing to mark it leaves an answer that will be read, and refused, again.
        let _ = store.set_aside(id);
    })?;
    let noted = match (request, &found.page) {
        (Request::Behaviour { identifier }, _) => {
            store.hold_report(profile, id, identifier, identifier.parts().file.as_ref())
        }
        (Request::Behaviours { file, .. }, Some(page)) => store.hold_page(profile, id, file, page),
        _ => Ok(()),
    };
    let unkept = noted.err().map(|error| error.to_string());
    let held = request.holding_key().and_then(|key| store.answer(profile, &key).ok().flatten());
    let body = held.filter(|held| held.id == id).map_or(body, |held| held.body);
    Ok(Answer { received, body, unkept })
}

/// Whether a body answers the request.
fn read(request: &Request, body: &Body) -> Result<Found, ServiceError> {
    let unusable = |why: Unusable| Err(ServiceError::Unusable(why));
    let index = Index::of(body).map_err(|error| ServiceError::Lost(error.to_string()))?;
    if !index.is_json {
        return unusable(Unusable::NotJson(looks_like_a_page(body)));
    }
    if index.is_cut {
        return unusable(Unusable::Cut);
    }
    let body = body.clone();
    match request {
        Request::Behaviours { file, .. } => match page_of(&body, &index, file) {
            Ok(page) => Ok(Found { body, page: Some(page) }),
            Err(why) => unusable(why),
        },
        Request::Behaviour { identifier } => {
            let report = Report { body, index };
            let kind = report.kind();
            let is_behaviour = kind.is_none_or(|kind| kind.as_bytes().ends_with(b"file_behaviour"));
            match report.identifier() {
                Some(found) if found == *identifier && is_behaviour => Ok(Found { body: report.body, page: None }),
                Some(found) if is_behaviour => unusable(Unusable::Foreign(found.text().clone())),
                _ => unusable(Unusable::WrongType("a behaviour report")),
            }
        }
        Request::Quotas | Request::Usage { .. } => Ok(Found { body, page: None }),
    }
}

fn page_of(body: &Body, index: &Index, file: &crate::report::identifier::Sha256) -> Result<Page, Unusable> {
    let page = Page::from_index(body, index).map_err(|error| match error {
        PageError::Cut | PageError::Unreadable(_) => Unusable::Cut,
        PageError::NotJson => Unusable::NotJson(false),
        PageError::NotAList => Unusable::WrongType("a list of sandboxes"),
    })?;
    let foreign = page.entries.iter().find(|entry| entry.identifier.parts().file.is_some_and(|found| found != *file));
    foreign.map_or(Ok(()), |entry| Err(Unusable::Foreign(entry.identifier.text().clone())))?;
    Ok(page)
}

fn looks_like_a_page(body: &Body) -> bool {
    let start = body.window(0..512).unwrap_or_default().to_ascii_lowercase();
    [&b"<html"[..], b"<!doctype", b"<title"].iter().any(|mark| memchr::memmem::find(&start, mark).is_some())
}
