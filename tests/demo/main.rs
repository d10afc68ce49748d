//! The embedded service, driven over real HTTP on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod assets;
mod counters;
mod private;
mod server;

use behaview::demo::{Demo, DemoFile, Options, PeriodAmounts};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;

/// A running service, and a client that holds its key.
struct Visit {
    demo: Demo,
    client: Client,
}

impl Visit {
    async fn begin() -> Visit {
        Visit::with(Options::default()).await
    }

    /// The clock stands still, so that no minute or midnight passes during a test.
    async fn with(options: Options) -> Visit {
        let options = Options { now: options.now.or(Some(1_794_474_845)), ..options };
        let demo = Demo::start(options).await.unwrap();
        let client = client().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Visit { demo, client }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.demo.root())).header("x-apikey", self.demo.key())
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.demo.root())).header("x-apikey", self.demo.key())
    }

    /// The status and body of a GET, which must be JSON.
    async fn ask(&self, path: &str) -> (u16, Value) {
        read(self.get(path).send().await.unwrap()).await
    }

    /// The body of a GET that succeeds.
    async fn json(&self, path: &str) -> Value {
        let (status, body) = self.ask(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// What the user has spent, which must be the same in every period.
    fn spent(&self) -> u64 {
        let PeriodAmounts { minute, hourly, daily, monthly } = self.demo.used().user;
        assert!([hourly, daily, monthly].iter().all(|used| *used == minute));
        minute
    }
}

async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

fn file(title: &str) -> DemoFile {
    let known = Demo::files().into_iter().chain(Demo::public_files());
    known.into_iter().find(|file| file.title == title).unwrap()
}

fn sha256(title: &str) -> String {
    file(title).sha256
}

fn dropper() -> String {
    sha256("Quarterly statement viewer.exe")
}

/// The path of a report, its identifier encoded as one segment.
fn behaviour_path(id: &str) -> String {
    let keeps = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let encode = |byte: u8| {
        if keeps(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    format!("/api/v3/private/file_behaviours/{}", id.bytes().map(encode).collect::<String>())
}

/// The report of the dropper's first sandbox.
fn first_report() -> String {
    behaviour_path(&format!("{}_CAPE Sandbox-1794474845", dropper()))
}

fn list_path(sha256: &str) -> String {
    format!("/api/v3/private/files/{sha256}/behaviours")
}

/// The client of this crate's own choice of cryptography; a second test finds it chosen already.
fn client() -> reqwest::ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}
