//! Homes that the program is started in: a config with a live profile, and a store that holds reports.

use crate::report::Made;
use behaview::report::Identifier;
use behaview::report::identifier::Sha256;
use behaview::request::Request;
use behaview::service::Profile;
use behaview::store::{NewAnswer, Store, service_id};
use behaview::text::Untrusted;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The profile's name.
const PROFILE: &str = "lab";

/// A home of its own; gone when it is dropped.
pub struct Home(TempDir);

impl Home {
    /// A home with a profile of the service at this address, and more lines for it.
    pub fn new(root: &str, more: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let config = format!("profile = \"{PROFILE}\"\n[profiles.{PROFILE}]\nroot = \"{root}\"\n{more}");
        std::fs::create_dir_all(home.path().join(".config/behaview")).unwrap();
        std::fs::write(home.path().join(".config/behaview/config.toml"), config).unwrap();
        home
    }

    /// A home with a profile of a service that nobody reaches.
    pub fn offline() -> Self {
        Self::new("http://127.0.0.1:9", "")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn store(&self) -> PathBuf {
        self.path().join(".local/share/behaview")
    }

    /// How large the store is on disk.
    pub fn stored(&self) -> u64 {
        let (mut size, mut folders) = (0, vec![self.store()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let about = entry.metadata().unwrap();
                if about.is_dir() { folders.push(entry.path()) } else { size += about.len() }
            }
        }
        size
    }

    /// Holds a report as if it had been fetched.
    pub fn hold(&self, report: &Made) {
        let request = Request::Behaviour { identifier: identifier("Bench Box") };
        let store = Store::open(&self.store()).unwrap();
        self.store_report(&store, &request, &std::fs::read(&report.path).unwrap());
        store.note_file(&service(), &file(), None, Timestamp::now()).unwrap();
    }

    /// Holds the same bytes as the reports of so many sandboxes.
    pub fn hold_many(&self, report: &Made, count: usize) {
        let store = Store::open(&self.store()).unwrap();
        let bytes = std::fs::read(&report.path).unwrap();
        for number in 0..count {
            let identifier = identifier(&format!("Bench Box {number}"));
            self.store_report(&store, &Request::Behaviour { identifier }, &bytes);
        }
    }

    fn store_report(&self, store: &Store, request: &Request, bytes: &[u8]) {
        let (service, key) = (service(), request.holding_key().unwrap());
        let new = NewAnswer { service: &service, profile: PROFILE, key: &key, received: Timestamp::now(), bytes };
        store.keep(&new).unwrap();
        store.accept(&new, &[]).unwrap();
    }
}

/// What the store knows the profile's service by.
fn service() -> String {
    let root = "http://127.0.0.1:9".to_owned();
    service_id(&Profile { root, ..Profile::default() }.place())
}

/// The file that all reports are of.
pub fn file() -> Sha256 {
    Sha256::parse(&"5".repeat(64)).unwrap()
}

fn identifier(sandbox: &str) -> Identifier {
    Identifier::new(Untrusted::from(format!("{}_{sandbox}-1794474845", file()))).unwrap()
}
