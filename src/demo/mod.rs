//! The embedded service: a real HTTP/1.1 server on loopback with made-up reports and honest counters.
//!
//! It knows nothing of the rest of the crate, so that it can disagree with it. A call passes through:
//!
//! ```text
//! http ──▶ service ─────▶ routes ──▶ private, public ──▶ http ──▶ socket
//! (read)   (hooks, key,   (which     (from reports        (hyper, or a hook)
//!           counters)      endpoint)  and uploads)
//! ```
//!
//! What it charges is written from §8 alone. Of failed calls §8 says nothing; here a call
//! turned away at the door (400, 401, 403, 429) is free, and anything later is charged in full.

mod counters;
mod generated;
mod http;
mod private;
mod public;
mod reports;
mod routes;
mod service;

use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

pub use counters::{PeriodAmounts, ScanLimits, UsedAmounts};
pub use http::{DemoAnswer, SubmittedFile};
pub use reports::DemoFile;
pub use routes::Endpoint;

/// What the list operation answers with for each report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListContent {
    /// The whole report, as the public service does.
    #[default]
    Attributes,
    /// The identifier only, which is all §1 promises.
    Identifiers,
}

/// How a demo service is set up.
#[derive(Clone)]
pub struct Options {
    /// The port on 127.0.0.1; without it any free one.
    pub port: Option<u16>,
    /// The API key it accepts; without it a fresh one.
    pub key: Option<String>,
    /// The name of the user who holds the key.
    pub user: String,
    /// How many rows the generated report has, over all its lists.
    pub rows: u64,
    pub listing: ListContent,
    /// The most entries a page of a list holds, whatever `limit` asks for.
    pub page: usize,
    /// Whether the user holds a private scanning license (§5).
    pub licence: bool,
    /// How long every answer takes, after the call was counted.
    pub delay: Duration,
    /// What the user may spend.
    pub user_limits: PeriodAmounts,
    /// What the group may spend, shared by all its members (§8.1).
    pub group_limits: PeriodAmounts,
    /// What colleagues had spent from the group before the start, in requests.
    pub group_spent: u64,
    pub scan_limits: ScanLimits,
    /// How often an analysis is polled until its first sandbox is done; each further one takes one poll more.
    pub polls: u64,
    /// A clock that stands still at this Unix time in seconds, instead of the machine's.
    pub now: Option<i64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            port: None,
            key: None,
            user: "demo-analyst".to_owned(),
            rows: 2_000,
            listing: ListContent::Attributes,
            page: 4,
            licence: true,
            delay: Duration::ZERO,
            user_limits: PeriodAmounts { minute: 120, hourly: 240, daily: 500, monthly: 10_000 },
            group_limits: PeriodAmounts { minute: 6_000, hourly: 20_000, daily: 30_000, monthly: 600_000 },
            group_spent: 12_480,
            scan_limits: ScanLimits { minute: 5, monthly: 50, spent: 3 },
            polls: 2,
            now: None,
        }
    }
}

/// One call the service received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenCall {
    pub method: String,
    /// Path and query as sent, with every API key replaced by `<key>`.
    pub path: String,
    /// The operation of the call, if the service has it.
    pub endpoint: Option<Endpoint>,
    /// The requests charged for it by the service's own counters.
    pub charged: u64,
    /// The private scans counted for it.
    pub scans: u64,
}

/// A call as hooks see it, before the service decides it.
pub struct ReceivedCall<'a> {
    pub endpoint: Endpoint,
    /// Path and query as sent.
    pub target: &'a str,
    /// The service's time in Unix seconds.
    pub now: i64,
}

/// What hooks change about a call; by default nothing.
#[derive(Default)]
pub struct Interference {
    /// Answers another path and query than the one received.
    pub target: Option<String>,
    /// Waits so much longer before the answer.
    pub delay: Duration,
    /// Answers in front of the service, which then neither decides nor counts the call.
    pub is_uncounted: bool,
    /// Replaces the answer before it is priced, where the call passed the door.
    pub answer: Option<Box<dyn FnOnce(DemoAnswer) -> DemoAnswer + Send>>,
    /// Writes the answer to the connection in the place of the server.
    pub write: Option<Writer>,
}

/// Sees each call to a known endpoint, and decides its changes.
pub type Hook = Box<dyn FnMut(&ReceivedCall<'_>, &mut Interference) + Send>;

/// Writes an answer to a connection, which then closes.
pub type Writer = Box<dyn FnOnce(TcpStream, DemoAnswer) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> + Send>;

/// A running demo service; it ends when this is dropped.
pub struct Demo {
    root: String,
    service: Arc<service::DemoService>,
    accepting: AbortHandle,
}

impl Demo {
    /// Binds 127.0.0.1 and serves from the current tokio runtime.
    pub async fn start(options: Options) -> io::Result<Demo> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port.unwrap_or(0))).await?;
        let root = format!("http://{}", listener.local_addr()?);
        let service = Arc::new(service::DemoService::new(root.clone(), options)?);
        let accepting = tokio::spawn(http::accept(listener, Arc::clone(&service))).abort_handle();
        Ok(Demo { root, service, accepting })
    }

    /// The root address, such as `http://127.0.0.1:40123`.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The API key it accepts: 64 hexadecimal digits unless the options say otherwise.
    pub fn key(&self) -> &str {
        &self.service.key
    }

    /// The name of the user who holds the key.
    pub fn user(&self) -> &str {
        &self.service.options.user
    }

    /// The private files it holds, the main one first.
    pub fn files() -> Vec<DemoFile> {
        reports::private_files()
    }

    /// The files known to the public operations (`/files`, v2 `/file`).
    pub fn public_files() -> Vec<DemoFile> {
        public::embedded()
    }

    /// Adds a hook, behind those already there.
    pub fn intercept(&self, hook: Hook) {
        self.service.state().hooks.push(hook);
    }

    /// Removes every hook.
    pub fn remove_hooks(&self) {
        self.service.state().hooks.clear();
    }

    /// Every call received so far, in the order in which they were decided.
    pub fn seen(&self) -> Vec<SeenCall> {
        self.service.state().seen.clone()
    }

    /// Every file that was taken in for a private scan.
    pub fn submitted(&self) -> Vec<SubmittedFile> {
        self.service.state().scans.submitted.clone()
    }

    /// What user and group have spent in the current minute, hour, day and month.
    pub fn used(&self) -> UsedAmounts {
        let counters = &self.service.state().counters;
        UsedAmounts { user: counters.user.used, group: counters.group.used, scans: counters.scans.used.monthly }
    }

    /// A colleague spends `requests` from the group, which leaves the user's own counters alone (§8.1).
    pub fn colleague_spends(&self, requests: u64) {
        self.service.state().counters.group.spend(requests);
    }

    /// Moves the service's clock forward, so that its periods can end.
    pub fn advance(&self, by: Duration) {
        self.service.state().clock.ahead += by.as_secs().cast_signed();
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
