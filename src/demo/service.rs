//! Handles a call, in this order: hooks, key, licence, body, price, limits, response, charge.
//!
//! A call that is not admitted (400, 401, 403, 429) is free. Any other call is charged in full,
//! whatever its status: a behaviour that is not found costs the same as one that is found.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::fmt::rfc2822;
use percent_encoding::percent_decode_str;
use tokio::time::sleep;

use super::counters::{Counters, DemoClock, timestamp};
use super::http::{DemoCall, DemoResponse};
use super::private::Scans;
use super::public::{Corpus, hashes};
use super::reports::{self, PrivateFile, digest};
use super::routes::{self, Context, Route};
use super::{Endpoint, Hook, Interference, Options, ReceivedCall, SeenCall, Writer};

pub(super) struct ServerState {
    pub(crate) clock: DemoClock,
    pub(crate) counters: Counters,
    pub(crate) corpus: Corpus,
    pub(crate) scans: Scans,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) seen: Vec<SeenCall>,
}

pub(super) struct DemoService {
    pub(crate) root: String,
    pub(crate) key: String,
    pub(crate) options: Options,
    pub(crate) archive: Vec<PrivateFile>,
    /// Time of the start, in Unix seconds.
    pub(crate) started: i64,
    state: Mutex<ServerState>,
}

impl DemoService {
    pub(crate) fn new(root: String, options: Options) -> io::Result<DemoService> {
        let clock = DemoClock { still: options.now, ahead: 0 };
        let Options { user_limits, group_limits, group_spent, scan_limits, .. } = options;
        let counters = Counters::new(user_limits, group_limits, group_spent, scan_limits, clock.now());
        Ok(DemoService {
            key: options.key.clone().unwrap_or_else(fresh_key),
            archive: reports::read_embedded(options.rows)?,
            started: clock.seconds(),
            state: Mutex::new(ServerState {
                clock,
                counters,
                corpus: Corpus::new(),
                scans: Scans::default(),
                hooks: Vec::new(),
                seen: Vec::new(),
            }),
            root,
            options,
        })
    }

    /// Locks the state, and resets the periods that have ended.
    pub(crate) fn state(&self) -> MutexGuard<'_, ServerState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.clock.now();
        state.counters.turn(now);
        state
    }

    /// Handles a call, then waits: a client that cancels during the delay has been charged.
    pub(crate) async fn reply(
        &self,
        mut call: DemoCall,
        read: Result<(), DemoResponse>,
    ) -> (DemoResponse, Option<Writer>) {
        let (reply, interference) = self.decide(&mut call, read);
        sleep(self.options.delay + interference.delay).await;
        (reply, interference.write)
    }

    fn decide(&self, call: &mut DemoCall, read: Result<(), DemoResponse>) -> (DemoResponse, Interference) {
        let mut state = self.state();
        let path = self.redacted(&call.target);
        let route = Route::find(&call.method, &call.segments);
        let endpoint = route.as_ref().map(|(route, _)| route.endpoint);
        let mut interference = Interference::default();
        if let Some(endpoint) = endpoint {
            let received = ReceivedCall { endpoint, target: &call.target, now: state.clock.seconds() };
            state.hooks.iter_mut().for_each(|hook| hook(&received, &mut interference));
        }
        if let Some(target) = interference.target.take() {
            call.aim(target);
        }
        let change = interference.reply.take();
        let is_changed = change.is_some() || interference.write.is_some();
        let (reply, charge) = if interference.is_uncounted {
            (change.map_or_else(DemoResponse::default, |change| change(DemoResponse::default())), CallCharge::default())
        } else {
            match self.admit(call, read, &state) {
                Err(refusal) => (refusal, CallCharge::default()),
                Ok((route, id, charge)) => {
                    let mut context = Context { service: self, state: &mut state, call };
                    let reply = (route.handler)(&id, &mut context).unwrap_or_else(|error| error);
                    let reply = change.map_or(reply.clone(), |change| change(reply));
                    let is_turned_away = matches!(reply.status, 400 | 401 | 403 | 429);
                    let charge = if is_turned_away { CallCharge::default() } else { charge };
                    (reply, charge)
                }
            }
        };
        if let Some((route, _)) = &route {
            let today = state.clock.now().date();
            state.counters.charge(route.usage, charge.requests, charge.scans, today);
        }
        let method = call.method.clone();
        state.seen.push(SeenCall { method, path, endpoint, charged: charge.requests, scans: charge.scans });
        let reply = if call.takes_gzip && !is_changed { reply.gzipped() } else { reply };
        // By the demo's clock, which may be stopped.
        let date = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&timestamp(state.clock.seconds()));
        (reply.with_header("date", date.unwrap_or_default()), interference)
    }

    /// Admits a call with key, any license it needs, a valid body, and enough quota for its price.
    fn admit(
        &self,
        call: &DemoCall,
        read: Result<(), DemoResponse>,
        state: &ServerState,
    ) -> Result<(&'static Route, String, CallCharge), DemoResponse> {
        self.authenticate(call)?;
        let (route, id) = Route::find(&call.method, &call.segments)
            .ok_or_else(|| DemoResponse::not_found("URL", &self.redacted(&call.target)))?;
        if route.is_private() && !self.options.licence {
            return Err(DemoResponse::error(403, "ForbiddenError", "A private scanning license is required"));
        }
        read?;
        let charge = CallCharge::of(route.endpoint, &id, call, &state.corpus);
        match state.counters.lacking(charge.requests, charge.scans) {
            None => Ok((route, id, charge)),
            Some(0) => Err(DemoResponse::error(429, "TooManyRequestsError", "Too many requests within a minute")),
            Some(_) => Err(DemoResponse::error(429, "QuotaExceededError", "Quota exceeded")),
        }
    }

    fn authenticate(&self, call: &DemoCall) -> Result<(), DemoResponse> {
        let (given, missing) = match routes::versioned(&call.segments).first() {
            Some(&"v2") => (call.value("apikey"), "apikey parameter is missing"),
            _ => (call.header_key.as_deref(), "X-Apikey header is missing"),
        };
        match given {
            None => Err(DemoResponse::error(401, "AuthenticationRequiredError", missing)),
            Some(key) if key == self.key => Ok(()),
            Some(_) => Err(DemoResponse::error(401, "WrongCredentialsError", "Wrong API key")),
        }
    }

    /// Path and query with every key in them replaced.
    fn redacted(&self, target: &str) -> String {
        let redact = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or(("", part));
            let has_key = percent_decode_str(value).decode_utf8_lossy().contains(&self.key);
            match name {
                "apikey" => "apikey=<key>".to_owned(),
                "" if has_key => "<key>".to_owned(),
                name if has_key => format!("{name}=<key>"),
                _ => part.to_owned(),
            }
        };
        let parts = target.split_inclusive(['/', '?', '&']).map(|part| {
            let (part, separator) = part.split_at(part.len() - usize::from(part.ends_with(['/', '?', '&'])));
            redact(part) + separator
        });
        parts.collect()
    }
}

#[derive(Clone, Copy, Default)]
struct CallCharge {
    requests: u64,
    scans: u64,
}

impl CallCharge {
    /// Returns the price of a call in requests of API quota (§8), known before the response.
    fn of(endpoint: Endpoint, id: &str, call: &DemoCall, corpus: &Corpus) -> Self {
        let uploaded = || call.upload.as_ref().and_then(|upload| corpus.find(&upload.sha256));
        let requests = match endpoint {
            // A private scan is counted by itself, and not among the requests.
            Endpoint::Scan => return CallCharge { requests: 0, scans: 1 },
            // §8.3: calls for quotas and usage are free.
            Endpoint::Quotas | Endpoint::Usage => 0,
            // §8.3: an analysis is free when its identifier is invalid.
            Endpoint::Analysis => u64::from(corpus.by_analysis(id).is_some()),
            // §8.2, §8.3: the upload of a file not yet known is free.
            Endpoint::Upload | Endpoint::V2Scan => u64::from(uploaded().is_some()),
            // §8.3: so are later requests of such a file and of its analyses, in v3 only.
            Endpoint::File => u64::from(!corpus.find(id).is_some_and(|file| file.was_new)),
            Endpoint::FileAnalyses => u64::from(!corpus.by_any_id(id).is_some_and(|file| file.was_new)),
            // §8.2: a report costs one request for each hash in the list, known or not.
            Endpoint::V2Report => hashes(call).len() as u64,
            // §8.2: submissions cost one request for each one returned.
            Endpoint::V2Submissions => {
                let known = hashes(call).into_iter().filter_map(|hash| corpus.find(&hash));
                known.map(|file| file.submissions.len() as u64).sum()
            }
            // §8.1: as a rule, one call consumes one request; re-scans too (§8.3).
            _ => 1,
        };
        CallCharge { requests, scans: 0 }
    }
}

/// 64 hexadecimal digits, seeded by the operating system.
fn fresh_key() -> String {
    let one = RandomState::new();
    let other = RandomState::new();
    digest(format!("{:x}{:x}", one.hash_one("key"), other.hash_one("key")))
}
