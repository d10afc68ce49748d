//! The search over everything that is held: when the first hits are on the screen, when all are, and the memory it takes.

use crate::figures::{Figure, Table};
use crate::report::{self, FIRST, NEEDLE};
use crate::terminal::Program;
use crate::{Stage, behaview};
use behaview::gateway::Gateway;
use behaview::report::Identifier;
use behaview::request::Request;
use behaview::service::{Client, Profile};
use behaview::store::{NewAnswer, Store};
use behaview::text::Untrusted;
use jiff::Timestamp;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// How many reports are held, and the bytes of each: the last row is the one that is held to the limits.
const HELD: [(usize, u64); 3] = [(20, 50_000), (20, 5_000_000), (200, 5_000_000)];

/// Every so many reports the word stands in one.
const EVERY: usize = 25;

/// A word that stands in every report.
const COMMON: &str = "windows";

/// The most memory, whatever is held, in megabytes.
const MEMORY: f64 = 80.0;

/// Holds so many reports; none of them has been opened, so that no index of them is kept.
fn hold(home: &Path, folder: &Path, count: usize, bytes: u64) {
    let config = "profile = \"lab\"\n[profiles.lab]\nroot = \"http://127.0.0.1:9\"\n";
    std::fs::create_dir_all(home.join(".config/behaview")).unwrap();
    std::fs::write(home.join(".config/behaview/config.toml"), config).unwrap();
    let profile = Profile { name: "lab".to_owned(), root: "http://127.0.0.1:9".to_owned(), ..Profile::default() };
    let store = Arc::new(Store::open(&home.join(".local/share/behaview")).unwrap());
    let client = Client::new(profile, None).unwrap();
    let gateway = Gateway::new(Arc::clone(&store), client, "bench".to_owned(), Timestamp::now);
    let with = std::fs::read_to_string(report::make(folder, bytes).path).unwrap();
    let without = with.replace(NEEDLE, "nothing.example");
    for n in 0..count {
        let file = format!("{n:064x}");
        let identifier = Identifier::new(Untrusted::from(format!("{file}_Bench Box-1794474845"))).unwrap();
        let request = Request::Behaviour { identifier };
        let text = if n % EVERY == 0 { &with } else { &without };
        let (key, bytes) = (request.holding_key().unwrap(), text.replace(&"5".repeat(64), &file).into_bytes());
        let (service, received) = (gateway.service(), Timestamp::now());
        store.keep(&NewAnswer { service, profile: "lab", key: &key, received, bytes: &bytes }).unwrap();
        assert!(gateway.held(&request).unwrap().is_some());
    }
}

pub fn measure(stage: &Stage, table: &mut Table) {
    for (count, bytes) in HELD {
        let home = tempfile::tempdir().unwrap();
        hold(home.path(), stage.folder.path(), count, bytes);
        let (mut first, mut all, mut memory) = Default::default();
        for _ in 0..stage.wanted.reps {
            let file = format!("{:064x}", 0);
            let mut running = Program::new("behaview", behaview(), &[OsStr::new(&file)]).at(home.path()).start();
            running.until(FIRST);
            running.settle();
            running.effect(b"S");
            running.until("Search everything");
            running.settle();
            let pasted = |words: &str| [b"\x1b[200~", words.as_bytes(), b"\x1b[201~"].concat();
            let pressed = running.press(&pasted(COMMON));
            Figure::time(&mut first, running.until_that(pressed, "the first hit", |screen| screen.contains(" hits")));
            running.effect(&[0x7f; 40]);
            let pressed = running.press(&pasted(NEEDLE));
            let is_done = |screen: &str| {
                screen.contains(NEEDLE)
                    && screen.contains(&format!("{count} of {count} reports"))
                    && !screen.contains("searching")
            };
            Figure::time(&mut all, running.until_that(pressed, "the last report", is_done));
            Figure::add(&mut memory, running.peak().unwrap_or(f64::NAN) / 1e6);
        }
        let what = format!("{count} reports of {} KB", bytes / 1_000);
        table.row(&format!("{what}: first hits, ms"), "behaview", first.words());
        table.row(&format!("{what}: every report, ms"), "behaview", all.words());
        table.row(&format!("{what}: peak memory, MB"), "behaview", memory.words());
        if count == 200 {
            table.ratio("first hits against 100 ms", first.median(), 100.0, 1.0);
            table.ratio("every report against 2 s", all.median(), 2_000.0, 1.0);
            table.ratio("memory against 80 MB", memory.median(), MEMORY, 1.0);
        }
    }
}
