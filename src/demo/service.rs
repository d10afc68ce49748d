//! Finds a call's operation, and handles it in this order: hooks, key, licence, body, price,
//! limits, response, charge.
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
use super::http::{DemoCall, DemoResponse, DemoResult};
use super::private::Scans;
use super::public::{Corpus, hashes};
use super::reports::{self, PrivateFile, digest};
use super::{Hook, Interference, Options, ReceivedCall, SeenCall, Writer, private, public};

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
        let counters = Counters::new(&options, clock.now());
        Ok(DemoService {
            key: options.key.clone().unwrap_or_else(fresh_key),
            archive: reports::EMBEDDED
                .iter()
                .map(|file| reports::read(file, options.rows))
                .collect::<Result<_, _>>()?,
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
    pub(crate) async fn reply(&self, mut call: DemoCall) -> (DemoResponse, Option<Writer>) {
        let (reply, interference) = self.decide(&mut call);
        sleep(self.options.delay + interference.delay).await;
        (reply, interference.write)
    }

    fn decide(&self, call: &mut DemoCall) -> (DemoResponse, Interference) {
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
            match self.admit(call, &state) {
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
        state.seen.push(SeenCall { path, endpoint, charged: charge.requests, scans: charge.scans });
        let reply = if call.takes_gzip && !is_changed { reply.gzipped() } else { reply };
        // By the demo's clock, which may be stopped.
        let date = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&timestamp(state.clock.seconds()));
        (reply.with_header("date", date.unwrap_or_default()), interference)
    }

    /// Admits a call with key, any license it needs, a valid body, and enough quota for its price.
    fn admit(
        &self,
        call: &DemoCall,
        state: &ServerState,
    ) -> Result<(&'static Route, String, CallCharge), DemoResponse> {
        self.authenticate(call)?;
        let (route, id) = Route::find(&call.method, &call.segments)
            .ok_or_else(|| DemoResponse::not_found("URL", &self.redacted(&call.target)))?;
        if route.is_private() && !self.options.licence {
            return Err(DemoResponse::error(403, "ForbiddenError", "A private scanning license is required"));
        }
        call.bad_body.clone().map_or(Ok(()), Err)?;
        let charge = CallCharge::of(route.endpoint, &id, call, &state.corpus);
        match state.counters.lacking(charge.requests, charge.scans) {
            None => Ok((route, id, charge)),
            Some(0) => Err(DemoResponse::error(429, "TooManyRequestsError", "Too many requests within a minute")),
            Some(_) => Err(DemoResponse::error(429, "QuotaExceededError", "Quota exceeded")),
        }
    }

    fn authenticate(&self, call: &DemoCall) -> Result<(), DemoResponse> {
        let (given, missing) = match versioned(&call.segments).first() {
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

/// The data that an operation may read and change.
pub(super) struct Context<'a> {
    pub(crate) service: &'a DemoService,
    pub(crate) state: &'a mut ServerState,
    pub(crate) call: &'a DemoCall,
}

impl Context<'_> {
    /// Returns an address of the v3 API, as links give it.
    pub(crate) fn link(&self, path: &str) -> String {
        format!("{}/api/v3/{path}", self.service.root)
    }
}

/// Handles an admitted call, with the identifier in its address.
type Handler = fn(&str, &mut Context) -> DemoResult;

/// An address: `{}` matches any segment, `a|b` one of several; with its name in the usage record.
pub(super) struct Route {
    pub(crate) endpoint: Endpoint,
    method: &'static str,
    path: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) handler: Handler,
}

macro_rules! routes {
    ($($endpoint:ident, $handler:path, $usage:literal: $($method:literal $path:literal)+;)+) => {
        /// An operation of the service.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Endpoint { $($endpoint),+ }

        /// The first match counts.
        const ROUTES: &[Route] = &[$($(Route {
            endpoint: Endpoint::$endpoint, method: $method, path: $path, usage: $usage, handler: $handler,
        }),+),+];
    };
}

routes! {
    Behaviour, private::behaviour, "private_file_behaviours": "GET" "v3/private/file_behaviours/{}";
    Artifact, private::artifact, "private_file_behaviour_artifacts": "GET" "v3/private/file_behaviours/{}/html|pcap|evtx|memdump";
    List, private::list, "private_file_related": "GET" "v3/private/files/{}/behaviours";
    Identifiers, private::identifiers, "private_file_relationships": "GET" "v3/private/files/{}/relationships/behaviours";
    PrivateAnalyses, private::analyses, "private_file_analyses": "GET" "v3/private/files/{}/analyses";
    UploadUrl, private::upload_url, "private_file_upload_url": "GET" "v3/private/files/upload_url";
    PrivateFile, private::file, "private_files": "GET" "v3/private/files/{}";
    PrivateDelete, private::delete, "private_file_delete": "DELETE" "v3/private/files/{}";
    PrivateAnalysis, private::analysis, "private_analyses": "GET" "v3/private/analyses/{}";
    GroupFiles, private::files, "private_files_list": "GET" "v3/private/files";
    GroupAnalyses, private::group_analyses, "private_analyses_list": "GET" "v3/private/analyses";
    Scan, private::scan, "private_file_upload": "POST" "v3/private/files" "POST" "v3/large/{}";
    Quotas, public::quotas, "overall_quotas": "GET" "v3/users/{}/overall_quotas";
    Usage, public::usage, "api_usage": "GET" "v3/users/{}/api_usage";
    GroupUsage, public::usage, "group_api_usage": "GET" "v3/groups/{}/api_usage";
    GroupUsers, public::group_users, "group_users": "GET" "v3/groups/{}/users_consuming_quota/api_requests_monthly";
    User, public::user, "users": "GET" "v3/users/{}";
    Analysis, public::analysis, "analyses": "GET" "v3/analyses/{}";
    FileAnalyses, public::analyses, "file_analyses": "GET" "v3/files/analyses/{}" "GET" "v3/files/{}/analyses";
    File, public::file, "files": "GET" "v3/files/{}";
    Rescan, public::rescan, "file_analyse": "POST" "v3/files/{}/analyse";
    Upload, public::upload, "file_upload": "POST" "v3/files";
    V2Report, public::v2_report, "v2_file_report": "GET|POST" "v2/file/report";
    V2Submissions, public::v2_submissions, "v2_file_submissions": "GET" "v2/file/submissions";
    V2Scan, public::v2_scan, "v2_file_scan": "POST" "v2/file/scan";
}

impl Route {
    /// Returns a request's route, and the identifier in its address; empty if it has none.
    pub(crate) fn find(method: &str, segments: &[String]) -> Option<(&'static Route, String)> {
        let path = versioned(segments);
        let is_one_of = |pattern: &str, part: &str| pattern == "{}" || pattern.split('|').any(|each| each == part);
        ROUTES.iter().find_map(|route| {
            let parts: Vec<_> = route.path.split('/').zip(&path).collect();
            let is_as_long = route.path.split('/').count() == path.len();
            let fits =
                is_as_long && is_one_of(route.method, method) && parts.iter().all(|(each, part)| is_one_of(each, part));
            let id = parts.iter().find(|(each, _)| *each == "{}").map(|(_, part)| (**part).to_owned());
            fits.then(|| (route, id.unwrap_or_default()))
        })
    }

    /// Returns whether the call needs a private scanning license (§5).
    pub(crate) fn is_private(&self) -> bool {
        self.usage.starts_with("private_")
    }
}

/// Returns the path after the version of its API. A path without a prefix is as in §4.2.
fn versioned(segments: &[String]) -> Vec<&str> {
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["api", "v3", rest @ ..] => [&["v3"], rest].concat(),
        ["svcapi" | "vtapi", "v2", rest @ ..] => [&["v2"], rest].concat(),
        ["file", ..] => [&["v2"], path.as_slice()].concat(),
        _ => [&["v3"], path.as_slice()].concat(),
    }
}
