//! A report that is held: from exec to its first screen, at every size.

use crate::figures::{Figure, Table};
use crate::opening::complete;
use crate::report::{FIRST, Made};
use crate::terminal::Program;
use crate::{Stage, behaview, peers};
use behaview::gate::Gate;
use behaview::report::identifier::Sha256;
use behaview::report::{Body, Identifier};
use behaview::request::Request;
use behaview::service::{Client, Profile};
use behaview::store::Store;
use behaview::text::Untrusted;
use jiff::Timestamp;
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Holds a report in a new home, and says how large the store has become.
fn hold(home: &Path, report: &Made) -> u64 {
    let config = "profile = \"lab\"\n[profiles.lab]\nroot = \"http://127.0.0.1:9\"\n";
    std::fs::create_dir_all(home.join(".config/behaview")).unwrap();
    std::fs::write(home.join(".config/behaview/config.toml"), config).unwrap();
    let path = home.join(".local/share/behaview/behaview.db");
    let profile = Profile { name: "lab".to_owned(), root: "http://127.0.0.1:9".to_owned(), ..Profile::default() };
    let store = Arc::new(Store::open(&path).unwrap());
    let identifier = Identifier::new(Untrusted::from(format!("{}_Bench Box-1794474845", file()))).unwrap();
    let request = Request::Behaviour { identifier };
    let bytes = Body::on_disk(File::open(&report.path).unwrap()).unwrap();
    store.keep("lab", &request.holding_key().unwrap(), Timestamp::now(), &bytes).unwrap();
    store.note_file("lab", &file(), None, Timestamp::now()).unwrap();
    let gate = Gate::new(store, Client::new(profile, None).unwrap(), "bench".to_owned(), Timestamp::now);
    assert!(gate.held(&request).unwrap().is_some());
    drop(gate);
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn file() -> Sha256 {
    Sha256::parse(&"5".repeat(64)).unwrap()
}

pub fn measure(stage: &Stage, table: &mut Table) {
    let homes: Vec<_> = stage.reports.iter().map(|report| (tempfile::tempdir().unwrap(), report)).collect();
    let file = file().to_string();
    let program = |home: &Path| Program::new("behaview", behaview(), &[OsStr::new(&file)]).at(home);
    let mut figures = Vec::new();
    for (home, report) in &homes {
        let bytes = hold(home.path(), report);
        // The first opening reads the report, and keeps what it finds.
        let mut first = program(home.path()).start();
        first.until(&complete(report));
        first.settle();
        std::thread::sleep(std::time::Duration::from_millis(500));
        table.row(
            &format!("{}: on disk, bytes a byte", report.size()),
            "behaview",
            format!("{:.2}", bytes as f64 / report.bytes as f64),
        );
        figures.push((Figure::default(), Figure::default()));
    }
    let mut peers: Vec<_> = peers::on(stage.largest()).into_iter().map(|peer| (peer, Figure::default())).collect();
    for _ in 0..stage.wanted.reps * 2 {
        for ((home, report), (times, memory)) in homes.iter().zip(&mut figures) {
            let mut running = program(home.path()).start();
            let first = running.until(FIRST);
            times.time(first.max(running.until(&complete(report))));
            memory.add(running.peak().unwrap_or(f64::NAN) / 1e6);
        }
        for (peer, times) in &mut peers {
            times.time(peer.program.start().until(peer.first));
        }
    }
    let small = figures[0].0.median();
    for ((_, report), (times, memory)) in homes.iter().zip(&figures) {
        let size = report.size();
        table.row(&format!("{size}: exec to first screen with counts, ms"), "behaview", times.words());
        table.row(&format!("{size}: peak memory, MB"), "behaview", memory.words());
        let most = if report.bytes > 100_000_000 { 1.5 } else { 1.25 };
        table.ratio(&format!("{size}: against the smallest"), times.median(), small, most);
        let allowed = report.bytes as f64 * 0.1 / 1e6 + 12.0;
        table.ratio(&format!("{size}: memory against 0.1 a byte and 12 MB"), memory.median(), allowed, 1.0);
    }
    let large = figures.last().unwrap().0.median();
    for (peer, times) in &peers {
        table.row("largest: first screen, ms", &peer.program.name, times.words());
        match peer.program.name.as_str() {
            "less" => table.ratio("largest against less", large, times.median(), 1.5),
            "jless" => table.ratio("largest against jless", large, times.median(), 1.0 / 60.0),
            _ => {}
        }
    }
}
