//! How a call is decided: faults, key, licence, arguments, price, limits, answer, charge, in this order.
//!
//! A call turned away at the door (400, 401, 403, 429) is free. Anything later is charged in full,
//! whatever its status: a behaviour that is not found costs what one that is found does.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

use super::answers::{Answer, Refusal};
use super::asked::Asked;
use super::corpus::Corpus;
use super::counters::{Clock, Counters, Period, Used};
use super::damage::Damage;
use super::operations::{self, Context};
use super::reports::{Archive, digest};
use super::routes::{self, Operation, Version};
use super::scans::Scans;
use super::{Endpoint, Fault, FaultKind, Options, Seen, decode, faulty, prices};

/// The parts that change while it runs.
pub(super) struct Books {
    pub clock: Clock,
    pub counters: Counters,
    pub corpus: Corpus,
    pub scans: Scans,
    pub armed: Vec<Fault>,
    pub seen: Vec<Seen>,
}

impl Books {
    /// The time every delay armed for this endpoint takes, and the first other fault.
    fn strike(&mut self, endpoint: Endpoint) -> (Duration, Option<FaultKind>) {
        let (mut delay, mut other) = (Duration::ZERO, None);
        for fault in self.armed.iter_mut().filter(|fault| fault.strikes(endpoint)) {
            match &fault.kind {
                FaultKind::Delay(time) => delay += *time,
                kind if other.is_none() => other = Some(kind.clone()),
                _ => continue,
            }
            fault.times = fault.times.map(|times| times - 1);
        }
        (delay, other)
    }
}

/// The service behind the socket.
pub(super) struct Service {
    pub root: String,
    pub key: String,
    pub options: Options,
    pub archive: Archive,
    /// When it started, in Unix seconds.
    pub started: i64,
    books: Mutex<Books>,
}

/// What a call is charged.
#[derive(Clone, Copy, Default)]
struct Price {
    requests: u64,
    scans: u64,
}

/// What becomes of a call.
pub(super) enum Reply {
    Sound(Answer),
    Damaged(Damage, Answer),
}

impl Service {
    pub fn new(root: String, options: Options) -> io::Result<Service> {
        let clock = Clock::new(options.now);
        let (limits, scans, spent) = (options.user_limits, options.scan_limits, options.group_spent);
        let counters = Counters::new(limits, options.group_limits, spent, scans, clock.now());
        Ok(Service {
            key: options.key.clone().unwrap_or_else(fresh_key),
            archive: Archive::open(options.rows)?,
            started: clock.seconds(),
            books: Mutex::new(Books {
                clock,
                counters,
                corpus: Corpus::new(),
                scans: Scans::default(),
                armed: options.faults.clone(),
                seen: Vec::new(),
            }),
            root,
            options,
        })
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    pub fn user(&self) -> &str {
        &self.options.user
    }

    pub fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn used(&self) -> Used {
        let mut books = self.books();
        let now = books.clock.now();
        books.counters.turn(now);
        books.counters.used()
    }

    pub fn colleague_spends(&self, requests: u64) {
        let mut books = self.books();
        let now = books.clock.now();
        books.counters.turn(now);
        books.counters.charge_colleague(requests);
    }

    /// Decides a call, then lets its delay pass: a client that gives up meanwhile has been charged.
    pub async fn answer(&self, asked: Asked, read: Result<(), Refusal>) -> Reply {
        let (delay, reply) = self.decide(&asked, read);
        sleep(self.options.delay + delay).await;
        reply
    }

    fn decide(&self, asked: &Asked, read: Result<(), Refusal>) -> (Duration, Reply) {
        let mut books = self.books();
        let now = books.clock.now();
        books.counters.turn(now);
        let endpoint = routes::endpoint(asked);
        let (delay, fault) = endpoint.map(|endpoint| books.strike(endpoint)).unwrap_or_default();
        let (answer, Price { requests: charged, scans }) = self.call(asked, read, fault.as_ref(), &mut books);
        books.counters.count_scans(scans);
        if let Some(endpoint) = endpoint {
            books.counters.charge(endpoint, charged, now.date());
        }
        let damage = fault.as_ref().and_then(Damage::of);
        let status = damage.is_none_or(Damage::shows_status).then_some(answer.status().as_u16());
        let (method, path) = (asked.method.to_string(), self.redacted(&asked.target));
        books.seen.push(Seen { method, path, endpoint, status, charged, scans });
        let reply = match damage {
            Some(damage) => Reply::Damaged(damage, answer),
            None if fault == Some(FaultKind::GzipLie) => Reply::Sound(faulty::gzip_claimed(answer)),
            None if fault.is_some() => Reply::Sound(answer),
            None => Reply::Sound(encoded(asked, answer)),
        };
        (delay, reply)
    }

    /// The answer to a call, and what is charged for it.
    fn call(
        &self,
        asked: &Asked,
        read: Result<(), Refusal>,
        fault: Option<&FaultKind>,
        books: &mut Books,
    ) -> (Answer, Price) {
        if let Some(kind) = fault.filter(|kind| kind.comes_before_counting()) {
            return (faulty::answer(kind, books.clock.now()).unwrap_or_default(), Price::default());
        }
        if fault == Some(&FaultKind::QuotaSpent) {
            books.counters.spend_the_day();
        }
        match self.admit(asked, read, books) {
            Err(refusal) => (refusal.into(), Price::default()),
            Ok((operation, price)) => {
                let answer = self.perform(operation, fault, books);
                let charged = if is_turned_away(&answer) { Price::default() } else { price };
                (answer, charged)
            }
        }
    }

    /// The door: who passes it has a key, a license if one is needed, sound arguments, and enough
    /// quota for the price.
    fn admit(&self, asked: &Asked, read: Result<(), Refusal>, books: &Books) -> Result<(Operation, Price), Refusal> {
        self.authenticate(asked)?;
        let endpoint =
            routes::endpoint(asked).ok_or_else(|| Refusal::not_found("URL", &self.redacted(&asked.target)))?;
        if endpoint.is_private() && !self.options.licence {
            return Err(Refusal::new(403, "ForbiddenError", "A private scanning license is required"));
        }
        read?;
        let operation = routes::operation(endpoint, asked)?;
        let price = Price { requests: prices::price(&operation, &books.corpus), scans: prices::scans(&operation) };
        match books.counters.lacking(price.requests).or_else(|| books.counters.lacking_scans(price.scans)) {
            None => Ok((operation, price)),
            Some(Period::Minute) => Err(Refusal::new(429, "TooManyRequestsError", "Too many requests within a minute")),
            Some(_) => Err(Refusal::new(429, "QuotaExceededError", "Quota exceeded")),
        }
    }

    fn authenticate(&self, asked: &Asked) -> Result<(), Refusal> {
        let (version, _) = routes::version(&asked.segments);
        let (given, missing) = match version {
            Version::V2 => (asked.value("apikey"), "apikey parameter is missing"),
            Version::V3 => (asked.header_key.as_deref(), "X-Apikey header is missing"),
        };
        match given {
            None => Err(Refusal::new(401, "AuthenticationRequiredError", missing)),
            Some(key) if key == self.key => Ok(()),
            Some(_) => Err(Refusal::new(401, "WrongCredentialsError", "Wrong API key")),
        }
    }

    fn perform(&self, operation: Operation, fault: Option<&FaultKind>, books: &mut Books) -> Answer {
        if let Some(answer) = fault.and_then(|kind| faulty::answer(kind, books.clock.now())) {
            return answer;
        }
        let mut context = Context { service: self, books, fault };
        operations::answer(operation, &mut context).unwrap_or_else(Answer::from)
    }

    /// Path and query with every key in them replaced.
    fn redacted(&self, target: &str) -> String {
        let hide = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or(("", part));
            match (name, decode::percent(value).contains(&self.key)) {
                ("apikey", _) => "apikey=<key>".to_owned(),
                ("", true) => "<key>".to_owned(),
                (name, true) => format!("{name}=<key>"),
                _ => part.to_owned(),
            }
        };
        target
            .split_inclusive(['/', '?', '&'])
            .map(|part| {
                let end = part.len() - usize::from(part.ends_with(['/', '?', '&']));
                let (part, separator) = part.split_at(end);
                hide(part) + separator
            })
            .collect()
    }
}

fn is_turned_away(answer: &Answer) -> bool {
    matches!(answer.status().as_u16(), 400 | 401 | 403 | 429)
}

/// Compresses what succeeded, if the client takes it; errors come as they are.
fn encoded(asked: &Asked, answer: Answer) -> Answer {
    let is_json = answer.headers().get(hyper::header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if asked.takes_gzip && is_json && answer.status().is_success() {
        faulty::gzip_claimed(answer.map(super::pieces::Pieces::gzipped))
    } else {
        answer
    }
}

/// 64 hexadecimal digits, seeded by the operating system.
fn fresh_key() -> String {
    let (one, other) = (RandomState::new(), RandomState::new());
    digest(&format!("{:x}{:x}", one.hash_one("key"), other.hash_one("key")))
}
