//! From a key to the last byte of what it does, at a thousand rows and at a million.

use crate::figures::{Figure, Table};
use crate::opening::{complete, ours};
use crate::report::FIRST;
use crate::terminal::Terminal;
use crate::{Stage, peers};
use std::time::Duration;

/// Times that a key is pressed in a run.
const PRESSES: usize = 20;

/// Keys of ours, by what they do; they are pressed in the pane of files.
const OURS: [(&str, &[u8]); 8] = [
    ("a row down", b"j"),
    ("a page down", b"\x06"),
    ("to the end", b"G"),
    ("to the start", b"g"),
    ("next pane", b"\t"),
    ("processes", b"1"),
    ("fold all", b"-"),
    ("unfold all", b"+"),
];

fn press(terminal: &mut Terminal, keys: &[u8], times: &mut Figure, bytes: &mut Figure) {
    let effect = terminal.effect(keys);
    times.time(effect.time);
    bytes.add(effect.bytes as f64);
}

pub fn measure(stage: &Stage, table: &mut Table) {
    let mut medians = Vec::new();
    for report in [stage.smallest(), stage.largest()] {
        let mut figures: Vec<_> = OURS.iter().map(|(name, _)| (*name, Figure::default(), Figure::default())).collect();
        let (mut idle, mut wakes) = (0, 0);
        for _ in 0..stage.wanted.reps {
            let mut running = ours(stage, report).start();
            running.until(FIRST);
            running.until(&complete(report));
            running.effect(b"4");
            for ((_, keys), (_, times, bytes)) in OURS.iter().zip(&mut figures) {
                (0..PRESSES).for_each(|_| press(&mut running, keys, times, bytes));
            }
            running.settle();
            let before = running.wakes().unwrap_or(0);
            idle += running.idle(Duration::from_secs(2));
            wakes += running.wakes().unwrap_or(0) - before;
        }
        for (name, times, bytes) in &figures {
            let what = format!("{}: {name}, ms", report.size());
            let tail = times.quantile(0.99);
            table.row(&what, "behaview", format!("{}, p99 {tail:.1}, {:.0} bytes", times.words(), bytes.median()));
        }
        table.row(&format!("{}: idle", report.size()), "behaview", format!("{idle} bytes, {wakes} wakes in 2 s a run"));
        medians.push(figures);
    }
    let peers = peers_keys(stage, table);
    for ((name, small, _), (_, large, bytes)) in medians[0].iter().zip(&medians[1]) {
        table.ratio(&format!("{name}: large against small"), large.median(), small.median(), 1.1);
        if *name == "a row down" {
            table.ratio("bytes for a row down against 200", bytes.median(), 200.0, 1.0);
        }
        for (peer, times, tail) in &peers {
            match (*peer, *name) {
                ("jless", "a page down") => table.ratio("a page against jless", large.median(), times.median(), 1.0),
                ("less", "a page down") => table.ratio("a page, p99 against less", large.quantile(0.99), *tail, 1.2),
                _ => {}
            }
        }
    }
}

/// A page down in the peers.
fn peers_keys(stage: &Stage, table: &mut Table) -> Vec<(&'static str, Figure, f64)> {
    let report = stage.largest();
    let mut found = Vec::new();
    for peer in peers::on(report) {
        let (mut times, mut bytes) = (Figure::default(), Figure::default());
        for _ in 0..stage.wanted.reps {
            let mut running = peer.program.start();
            running.until(peer.first);
            (0..PRESSES).for_each(|_| press(&mut running, peer.page, &mut times, &mut bytes));
        }
        let words = format!("{}, p99 {:.1}, {:.0} bytes", times.words(), times.quantile(0.99), bytes.median());
        table.row("a page down, ms", &peer.program.name, words);
        let tail = times.quantile(0.99);
        let name = ["jless", "less"].into_iter().find(|name| *name == peer.program.name).unwrap_or("");
        found.push((name, times, tail));
    }
    found
}
