//! The embedded service: a real HTTP/1.1 server on loopback, made-up reports, honest counters.
//!
//! It uses nothing of the rest of the crate, so that it can disagree with it. The path of a call:
//!
//! ```text
//! http ──▶ service ────────────▶ private, public ──▶ http ──▶ socket
//! (read)   (hooks, operation,    (from reports       (hyper, or a hook)
//!           key, counters)        and uploads)
//! ```
//!
//! Its charges follow §8 alone. §8 does not cover failed calls; here a call that is not admitted
//! (400, 401, 403, 429) is free, and any other call is charged in full.

mod counters;
mod http;
mod private;
mod public;
mod reports;
mod service;

use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

use reports::digest;

pub use counters::{PeriodAmounts, SCANS_SPENT, UsedAmounts};
pub use http::{DemoResponse, SubmittedFile};
pub use reports::DemoFile;
pub use service::Endpoint;

/// The form of a report in the responses of the list operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListContent {
    /// The whole report, as the public service does.
    #[default]
    Attributes,
    /// The identifier only, which is all that §1 promises.
    Identifiers,
}

/// How a demo service is set up.
#[derive(Clone)]
pub struct Options {
    /// Port on 127.0.0.1; any free one unless given.
    pub port: Option<u16>,
    /// API key that the service accepts; a new one unless given.
    pub key: Option<String>,
    /// Number of rows of the generated report, in all its lists.
    pub rows: u64,
    pub listing: ListContent,
    /// Maximum number of entries of a list page, whatever the `limit` of the request.
    pub page: usize,
    /// Whether the user has a private scanning license (§5).
    pub licence: bool,
    /// Delay of every response after its call was counted.
    pub delay: Duration,
    pub user_limits: PeriodAmounts,
    /// Limits of the group, shared by all its members (§8.1).
    pub group_limits: PeriodAmounts,
    /// Requests that colleagues in the group had spent before the start.
    pub group_spent: u64,
    /// Unix time in seconds of a stopped clock; the machine's clock unless given.
    pub now: Option<i64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            port: None,
            key: None,
            rows: 2_000,
            listing: ListContent::Attributes,
            page: 4,
            licence: true,
            delay: Duration::ZERO,
            user_limits: PeriodAmounts { minute: 120, hourly: 240, daily: 500, monthly: 10_000 },
            group_limits: PeriodAmounts { minute: 6_000, hourly: 20_000, daily: 30_000, monthly: 600_000 },
            group_spent: 12_480,
            now: None,
        }
    }
}

/// A call that the service received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenCall {
    /// Path and query as sent, with every API key replaced by `<key>`.
    pub path: String,
    /// The operation of the call, if the service has it.
    pub endpoint: Option<Endpoint>,
    /// Requests charged for the call.
    pub charged: u64,
    /// Private scans charged for the call.
    pub scans: u64,
}

/// A call as hooks see it, before the service handles it.
pub struct ReceivedCall<'a> {
    pub endpoint: Endpoint,
    /// Path and query as sent.
    pub target: &'a str,
    /// The service's time in Unix seconds.
    pub now: i64,
}

/// The changes of hooks to a call; none by default.
#[derive(Default)]
pub struct Interference {
    /// Path and query to handle in place of those received.
    pub target: Option<String>,
    /// Additional delay before the response.
    pub delay: Duration,
    /// Whether a hook responds in place of the service, which neither handles nor counts the call.
    pub is_uncounted: bool,
    /// Replaces the response of an admitted call before the call is charged.
    pub reply: Option<Box<dyn FnOnce(DemoResponse) -> DemoResponse + Send>>,
    /// Writes the response to the connection in place of hyper.
    pub write: Option<Writer>,
}

/// Receives each call to a known endpoint, and sets the changes to it.
pub(crate) type Hook = Box<dyn FnMut(&ReceivedCall<'_>, &mut Interference) + Send>;

/// Writes a response to a connection, which then closes.
pub type Writer =
    Box<dyn FnOnce(TcpStream, DemoResponse) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> + Send>;

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

    /// Returns the root address, such as `http://127.0.0.1:40123`.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Returns the API key it accepts: 64 hexadecimal digits unless the options say otherwise.
    pub fn key(&self) -> &str {
        &self.service.key
    }

    /// Name of the user of the key.
    pub fn user(&self) -> &'static str {
        counters::USER
    }

    /// Returns the embedded private files, the main one first.
    pub fn files() -> Vec<DemoFile> {
        reports::EMBEDDED.iter().map(|(title, about, ..)| DemoFile { sha256: digest(title), title, about }).collect()
    }

    /// Returns the files known to the public operations (`/files`, v2 `/file`).
    pub fn public_files() -> Vec<DemoFile> {
        public::EMBEDDED.iter().map(|(title, about, ..)| DemoFile { sha256: digest(title), title, about }).collect()
    }

    /// Adds a hook after the existing ones.
    pub fn intercept(&self, hook: Hook) {
        self.service.state().hooks.push(hook);
    }

    pub fn remove_hooks(&self) {
        self.service.state().hooks.clear();
    }

    /// Returns all calls received so far, in the order in which they were handled.
    pub fn seen(&self) -> Vec<SeenCall> {
        self.service.state().seen.clone()
    }

    /// Returns all files that were submitted for a private scan.
    pub fn submitted(&self) -> Vec<SubmittedFile> {
        self.service.state().scans.submitted.clone()
    }

    /// Returns the amounts spent in the current minute, hour, day and month.
    pub fn used(&self) -> UsedAmounts {
        let counters = &self.service.state().counters;
        UsedAmounts { user: counters.user.used, group: counters.group.used, scans: counters.scans.used.monthly }
    }

    /// Spends `requests` of the group for a colleague, not of the user's own counters (§8.1).
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
