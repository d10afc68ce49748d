//! A fresh report from a file: the first screen with data, the last count, and the memory until then.

use crate::figures::{Figure, Table};
use crate::report::{FIRST, Made};
use crate::terminal::Program;
use crate::{Stage, behaview, peers};
use std::collections::BTreeMap;
use std::ffi::OsStr;

/// Ours on a file.
pub fn ours(stage: &Stage, report: &Made) -> Program {
    Program::new("behaview", behaview(), &[OsStr::new("open"), report.path.as_os_str()]).at(stage.folder.path())
}

/// What the panes show once every row is counted.
pub fn complete(report: &Made) -> String {
    let digits = report.files.to_string();
    let grouped: Vec<_> = digits.as_bytes().rchunks(3).rev().map(|part| str::from_utf8(part).unwrap()).collect();
    // While rows are found a plus stands in the place of the blank.
    format!("Files {} ", grouped.join(","))
}

pub fn measure(stage: &Stage, table: &mut Table) {
    for report in &stage.reports {
        let mut times = BTreeMap::<String, [Figure; 3]>::new();
        for _ in 0..stage.wanted.reps {
            let mut running = ours(stage, report).start();
            let [first, last, memory] = times.entry("behaview".to_owned()).or_default();
            first.time(running.until(FIRST));
            last.time(running.until(&complete(report)));
            memory.add(running.peak().unwrap_or(f64::NAN) / report.bytes as f64);
            drop(running);
            for peer in peers::on(report) {
                let mut running = peer.program.start();
                let [first, last, memory] = times.entry(peer.program.name.clone()).or_default();
                let time = running.until(peer.first);
                first.time(time);
                last.time(time);
                memory.add(running.peak().unwrap_or(f64::NAN) / report.bytes as f64);
            }
        }
        let size = report.size();
        for (name, [first, last, memory]) in &times {
            table.row(&format!("{size}: first screen, ms"), name, first.words());
            if name == "behaview" {
                table.row(&format!("{size}: every row counted, ms"), name, last.words());
            }
            table.row(&format!("{size}: peak memory, bytes a byte"), name, memory.words());
        }
        if let Some([ours, complete, memory]) = times.get("behaview") {
            table.grows("first screen, ms", report, ours);
            table.grows("every row counted, ms", report, complete);
            table.grows("peak memory, bytes a byte", report, memory);
            table.limit(&format!("{size}: first screen"), ours.median(), 20.0, stage.pace);
            if report.bytes >= 10_000_000 {
                table.ratio(&format!("{size}: memory against the report"), memory.median(), 1.0, 1.3);
            }
            if let Some([jless, ..]) = times.get("jless") {
                table.ratio(&format!("{size}: complete against jless"), complete.median(), jless.median(), 0.4);
            }
        }
    }
}
