//! A running service, and a gateway to it with a store of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use behaview::gateway::{Gateway, GatewayError, StoredResponse};
use behaview::quota::audit::LedgerEntry;
use behaview::quota::{Entitlement, Entitlements};
use behaview::report::Body;
use behaview::report::page::Page;
use behaview::request::{Request, RequestContext};
use behaview::service::credential::{Credential, KeySource};
use behaview::service::{Client, Profile};
use behaview::store::Store;
use tempfile::TempDir;
use tokio::time::timeout;

use super::counted::{start_clock, tick};
use super::{Demo, Options};
use behaview::demo::Endpoint;

/// Long enough for anything on loopback, however busy the machine is.
const SOON: Duration = Duration::from_secs(30);

/// A running service, and a gateway to it.
pub struct GatewayHarness {
    // The gateway ends before its folder does, as some systems remove no file that is open.
    pub gateway: Gateway,
    pub demo: Demo,
    folder: TempDir,
}

/// A gateway to the service at `root`, with the store in a folder.
pub fn gateway(path: &Path, profile: Profile, key: &str) -> Gateway {
    let credential = Credential::new(key, KeySource::Demo).unwrap();
    let client = Client::new(profile, Some(credential)).unwrap();
    let store = Arc::new(Store::open(path).unwrap());
    let mut gateway = Gateway::new(store, client, "session".to_owned(), tick);
    // No refusal by rate makes the next call wait.
    gateway.per_minute = Some(1_000_000);
    gateway
}

/// All that an error says of itself.
pub fn words(error: &GatewayError) -> String {
    let advice = match error {
        GatewayError::Service { error, cost, .. } => format!("{} {cost}", error.advice()),
        _ => String::new(),
    };
    format!("{error} {error:?} {error:#?} {advice}")
}

impl GatewayHarness {
    pub async fn begin() -> GatewayHarness {
        GatewayHarness::with(Options::default()).await
    }

    /// The service's clock stands still, so that no minute or midnight passes during a test.
    pub async fn with(options: Options) -> GatewayHarness {
        start_clock();
        let demo = Demo::start(Options { now: Some(1_794_474_845), ..options }).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let gateway = gateway(&folder.path().join("store"), GatewayHarness::profile(&demo), demo.key());
        GatewayHarness { gateway, demo, folder }
    }

    /// Without the user's name, the address of quota details has the key: the harder case.
    pub fn profile(demo: &Demo) -> Profile {
        Profile { user: None, ..Profile::demo(demo.root().to_owned(), String::new()) }
    }

    /// Asks at the list price.
    pub async fn fetch(&self, request: &Request) -> Result<StoredResponse, GatewayError> {
        fetch(&self.gateway, request).await
    }

    /// What is held for a request, as bytes.
    pub fn stored(&self, request: &Request) -> Option<Vec<u8>> {
        self.gateway.stored(request).unwrap().map(|stored| stored.body.to_vec())
    }

    /// Returns whether this response is stored: a report's bytes, or a page's identifiers.
    pub fn holds(&self, request: &Request, answer: &[u8]) -> bool {
        let names = |page: &[u8]| {
            let page = Page::of(&Body::in_memory(page.to_vec())).unwrap();
            page.entries.into_iter().map(|entry| entry.identifier).collect::<Vec<_>>()
        };
        let is_list = matches!(request, Request::Behaviours { .. });
        self.stored(request)
            .is_some_and(|stored| if is_list { names(&stored) == names(answer) } else { stored == answer })
    }

    /// What the ledger says.
    pub fn entries(&self) -> Vec<LedgerEntry> {
        self.gateway.store.entries(self.gateway.payer()).unwrap()
    }

    /// How many calls the service received.
    pub fn calls(&self) -> usize {
        self.demo.seen().len()
    }

    /// How many calls it received besides readings of the counters, which are free.
    pub fn priced_calls(&self) -> usize {
        self.demo.seen().iter().filter(|call| call.endpoint != Some(Endpoint::Quotas)).count()
    }

    /// What the service charged the user.
    pub fn charged(&self) -> u64 {
        let charged = self.demo.seen().iter().map(|call| call.charged).sum();
        assert_eq!(self.demo.used().user.monthly, charged);
        charged
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> PathBuf {
        self.gateway.store.folder.clone()
    }

    /// Does something to the store behind the gateway's back.
    pub fn meddle(&self, sql: &str) {
        rusqlite::Connection::open(self.gateway.store.path()).unwrap().execute_batch(sql).unwrap();
    }

    /// A number from the store, read behind the gateway's back.
    pub fn count(&self, sql: &str) -> i64 {
        rusqlite::Connection::open(self.gateway.store.path()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// The files in a folder of the store and below it.
    pub fn files(&self, folder: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.store().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                if entry.path().is_dir() { folders.push(entry.path()) } else { found.push(entry.path()) }
            }
        }
        found
    }

    /// Nothing can be written into a folder of the store while something else stands there.
    pub fn block(&self, folder: &str) {
        std::fs::write(self.store().join(folder), b"in the way").unwrap();
    }

    pub fn unblock(&self, folder: &str) {
        std::fs::remove_file(self.store().join(folder)).unwrap();
    }

    /// What the service answers to whoever asks it without the gateway.
    pub async fn reference(&self, request: &Request) -> Vec<u8> {
        let context = RequestContext { user: self.demo.key(), page_size: 40, ..RequestContext::default() };
        let address = request.address(&context);
        let url = format!("{}/api/v3{}", self.demo.root(), address.path);
        // An error says that a provider is there already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let response =
            client.get(url).query(&address.parameters).header("x-apikey", self.demo.key()).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.bytes().await.unwrap().to_vec()
    }
}

/// A user who is known to have the private scanning licence.
pub fn licensed() -> Entitlements {
    Entitlements { private_scanning: Entitlement::by_hand(true), ..Entitlements::default() }
}

/// Asks at the list price; fails the test if that does not end.
pub async fn fetch(gateway: &Gateway, request: &Request) -> Result<StoredResponse, GatewayError> {
    let quote = request.clone().quote(&licensed());
    timeout(SOON, gateway.fetch(&quote, &|_| {})).await.expect("it ends by itself")
}
