//! Homes that the program is started in: a config with a live profile, and a store that holds reports.

use crate::report::Made;
use behaview::gate::Gate;
use behaview::report::identifier::Sha256;
use behaview::report::{Body, Identifier};
use behaview::request::Request;
use behaview::service::{Client, Profile};
use behaview::store::{Brought, Store};
use behaview::text::Untrusted;
use jiff::Timestamp;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
        self.path().join(".local/share/behaview/behaview.db")
    }

    /// How large the store is on disk.
    pub fn stored(&self) -> u64 {
        let files = std::fs::read_dir(self.store().parent().unwrap()).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    }

    /// Holds a report as if it had been fetched.
    pub fn hold(&self, report: &Made) {
        let request = Request::Behaviour { identifier: identifier("Bench Box") };
        let store = Arc::new(Store::open(&self.store()).unwrap());
        let bytes = Body::on_disk(File::open(&report.path).unwrap()).unwrap();
        store.keep(PROFILE, &request.holding_key().unwrap(), Timestamp::now(), &bytes).unwrap();
        store.note_file(PROFILE, &file(), None, Timestamp::now()).unwrap();
        let profile = Profile { name: PROFILE.to_owned(), root: "http://127.0.0.1:9".to_owned(), ..Profile::default() };
        let gate = Gate::new(store, Client::new(profile, None).unwrap(), "bench".to_owned(), Timestamp::now);
        assert!(gate.held(&request).unwrap().is_some());
    }

    /// Holds the same bytes as the reports of so many sandboxes.
    pub fn hold_many(&self, report: &Made, count: usize) {
        let store = Store::open(&self.store()).unwrap();
        let bytes = Body::on_disk(File::open(&report.path).unwrap()).unwrap();
        for number in 0..count {
            let identifier = identifier(&format!("Bench Box {number}"));
            let key = Request::Behaviour { identifier: identifier.clone() }.holding_key().unwrap();
            let answer = store.keep(PROFILE, &key, Timestamp::now(), &bytes).unwrap();
            let brought = Brought { identifier, file: Some(file()), range: 0..bytes.len() };
            store.accept(PROFILE, answer, &[brought]).unwrap();
        }
    }
}

/// The file that all reports are of.
pub fn file() -> Sha256 {
    Sha256::parse(&"5".repeat(64)).unwrap()
}

fn identifier(sandbox: &str) -> Identifier {
    Identifier::new(Untrusted::from(format!("{}_{sandbox}-1794474845", file()))).unwrap()
}
