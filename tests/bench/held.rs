//! A report that is held: from exec to its first screen, at every size.

use crate::figures::{Figure, Table};
use crate::home::{self, Home};
use crate::opening::complete;
use crate::report::FIRST;
use crate::terminal::Program;
use crate::{Stage, behaview, peers};
use std::ffi::OsStr;
use std::time::Duration;

pub fn measure(stage: &Stage, table: &mut Table) {
    let homes: Vec<_> = stage.reports.iter().map(|report| (Home::offline(), report)).collect();
    let file = home::file().to_string();
    let program = |home: &Home| Program::new("behaview", behaview(), &[OsStr::new(&file)]).at(home.path());
    let mut figures = Vec::new();
    for (home, report) in &homes {
        home.hold(report);
        // The first opening reads the report, and keeps what it finds.
        let mut first = program(home).start();
        first.until(&complete(report));
        first.settle();
        std::thread::sleep(Duration::from_millis(500));
        let stored = home.stored() as f64 / report.bytes as f64;
        table.row(&format!("{}: on disk, bytes a byte", report.size()), "behaview", format!("{stored:.2}"));
        if report.bytes >= 10_000_000 {
            table.ratio(&format!("{}: on disk against the report", report.size()), stored, 1.0, 0.35);
        }
        figures.push((Figure::default(), Figure::default()));
    }
    let compared = stage.reports.iter().rposition(|report| report.bytes <= peers::MOST).unwrap_or(0);
    let mut peers: Vec<_> =
        peers::on(&stage.reports[compared]).into_iter().map(|peer| (peer, Figure::default())).collect();
    for _ in 0..stage.wanted.reps * 2 {
        for ((home, report), (times, memory)) in homes.iter().zip(&mut figures) {
            let mut running = program(home).start();
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
        table.grows("exec to first screen with counts, ms", report, times);
        table.grows("peak memory, MB", report, memory);
        let most = if report.bytes > 100_000_000 { 1.5 } else { 1.25 };
        table.ratio(&format!("{size}: against the smallest"), times.median(), small, most);
        let allowed = report.bytes as f64 * 0.1 / 1e6 + 12.0;
        table.ratio(&format!("{size}: memory against 0.1 a byte and 12 MB"), memory.median(), allowed, 1.0);
    }
    let (size, ours) = (stage.reports[compared].size(), figures[compared].0.median());
    for (peer, times) in &peers {
        table.row(&format!("{size}: first screen, ms"), &peer.program.name, times.words());
        match peer.program.name.as_str() {
            "less" => table.ratio(&format!("{size}: against less"), ours, times.median(), 1.5),
            "jless" => table.ratio(&format!("{size}: against jless"), ours, times.median(), 1.0 / 60.0),
            _ => {}
        }
    }
}
