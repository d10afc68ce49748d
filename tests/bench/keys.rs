//! From a key to the last byte of what it does, at a thousand rows and at a million, beside the same in other programs.

use crate::figures::{Figure, Table};
use crate::opening::{complete, ours};
use crate::report::{FIRST, Made};
use crate::terminal::Terminal;
use crate::{Stage, peers};
use std::time::Duration;

/// Times that a key is pressed in a run.
const PRESSES: usize = 15;

/// The most bytes that are written for a move of the selection.
const MOST_BYTES: f64 = 200.0;

/// Threads that helped to open a report end by themselves, and that is seen once in so long; longest that is waited for them.
const WAIT: Duration = Duration::from_secs(11);
const MOST_WAITS: usize = 4;

/// A key whose effect is measured.
struct Stroke {
    what: &'static str,
    /// What is pressed before it, once.
    before: &'static [&'static [u8]],
    key: &'static [u8],
    /// What undoes it, so that it has an effect when it is pressed again.
    back: Option<&'static [u8]>,
}

const DOWN: &str = "a row down";
const PAGE: &str = "a page down";

const fn stroke(
    what: &'static str,
    before: &'static [&'static [u8]],
    key: &'static [u8],
    back: Option<&'static [u8]>,
) -> Stroke {
    Stroke { what, before, key, back }
}

/// Keys of ours; they are pressed in the pane of files, then in that of processes.
const OURS: [Stroke; 9] = [
    stroke(DOWN, &[b"4", b"g"], b"j", Some(b"k")),
    stroke("a row down, scrolling", &[b"\x06", b"\x06"], b"j", None),
    stroke("the same in a pane that fills the screen", &[b"z"], b"j", None),
    stroke(PAGE, &[b"z", b"g"], b"\x06", Some(b"\x02")),
    stroke("to the end", &[], b"G", Some(b"g")),
    stroke("next pane", &[], b"\t", None),
    stroke("fold one", &[b"1", b"g", b"j"], b" ", None),
    stroke("unfold all", &[b"-"], b"+", Some(b"-")),
    stroke("fold all", &[b"+"], b"-", Some(b"+")),
];

/// Times of a key, and the bytes that it wrote.
#[derive(Default)]
struct Measured {
    times: Figure,
    bytes: Figure,
}

impl Measured {
    fn press(&mut self, terminal: &mut Terminal, key: &[u8]) {
        let effect = terminal.effect(key);
        self.times.time(effect.time);
        self.bytes.add(effect.bytes as f64);
    }

    fn words(&self) -> String {
        let (tail, bytes) = (self.times.quantile(0.99), self.bytes.median());
        format!("{}, p99 {tail:.1}, {bytes:.0} bytes", self.times.words())
    }
}

/// What a program does when nobody does anything.
#[derive(Default)]
struct Idle {
    bytes: usize,
    wakes: u64,
}

impl Idle {
    fn sum(&self) -> f64 {
        self.bytes as f64 + self.wakes as f64
    }
}

/// Every key of ours on a report that is there whole.
fn run(stage: &Stage, report: &Made, figures: &mut [Measured], idle: Option<&mut Idle>) {
    let mut running = ours(stage, report).start();
    running.until(FIRST);
    running.until(&complete(report));
    for (stroke, measured) in OURS.iter().zip(figures) {
        // What is pressed in between may change nothing: its effect is not waited for.
        for key in stroke.before {
            running.press(key);
        }
        for _ in 0..PRESSES {
            measured.press(&mut running, stroke.key);
            if let Some(back) = stroke.back {
                running.press(back);
            }
        }
    }
    let Some(idle) = idle else { return };
    running.settle();
    // What was begun beside the screen when the report was opened comes to its end first.
    let mut before = running.wakes();
    for _ in 0..MOST_WAITS {
        running.idle(WAIT);
        if std::mem::replace(&mut before, running.wakes()) == before {
            break;
        }
    }
    idle.bytes += running.idle(Duration::from_secs(2));
    idle.wakes += running.wakes().unwrap_or(0).abs_diff(before.unwrap_or(0));
}

pub fn measure(stage: &Stage, table: &mut Table) {
    let reports = &stage.reports;
    let mut figures: Vec<Vec<Measured>> =
        reports.iter().map(|_| OURS.iter().map(|_| Measured::default()).collect()).collect();
    let mut idle: Vec<Idle> = reports.iter().map(|_| Idle::default()).collect();
    let mut peers: Vec<_> =
        peers::on(stage.largest()).into_iter().map(|peer| (peer, <[Measured; 2]>::default())).collect();
    for rep in 0..stage.wanted.reps {
        for ((report, figures), idle) in reports.iter().zip(&mut figures).zip(&mut idle) {
            run(stage, report, figures, (rep == 0).then_some(idle));
        }
        for (peer, [down, page]) in &mut peers {
            let mut running = peer.program.start();
            running.until(peer.first);
            (0..PRESSES).for_each(|_| down.press(&mut running, b"j"));
            (0..PRESSES).for_each(|_| page.press(&mut running, peer.page));
        }
    }
    for ((report, figures), idle) in reports.iter().zip(&figures).zip(&idle) {
        for (stroke, measured) in OURS.iter().zip(figures) {
            table.row(&format!("{}: {}, ms", report.size(), stroke.what), "behaview", measured.words());
            table.grows(&format!("{}, ms", stroke.what), report, &measured.times);
        }
        let words = format!("{} bytes, {} wakes in 2 s", idle.bytes, idle.wakes);
        table.row(&format!("{}: idle", report.size()), "behaview", words);
    }
    for (peer, measured) in &peers {
        for (what, measured) in ["a row down, scrolling", PAGE].iter().zip(measured) {
            table.row(&format!("{what}, ms"), &peer.program.name, measured.words());
        }
    }
    if let [small, .., large] = figures.as_slice() {
        ratios(table, small, large, &peers);
    }
    for (report, idle) in reports.iter().zip(&idle) {
        // Nothing is nothing: a single wake falls short.
        table.ratio(&format!("{}: idle, bytes and wakes against none", report.size()), idle.sum(), 1.0, 0.0);
    }
}

fn ratios(table: &mut Table, small: &[Measured], large: &[Measured], peers: &[(peers::Peer, [Measured; 2])]) {
    for ((stroke, small), large) in OURS.iter().zip(small).zip(large) {
        let what = stroke.what;
        table.ratio(&format!("{what}: large against small"), large.times.median(), small.times.median(), 1.1);
        if stroke.key == b"j" {
            table.ratio(&format!("{what}: bytes against 200"), large.bytes.median(), MOST_BYTES, 1.0);
        }
        for (peer, [_, page]) in peers {
            let (name, ours) = (peer.program.name.as_str(), &large.times);
            match name {
                "jless" => {
                    table.ratio(&format!("{what}: against a page in jless"), ours.median(), page.times.median(), 1.0)
                }
                "less" => {
                    let (ours, theirs) = (ours.quantile(0.99), page.times.quantile(0.99));
                    table.ratio(&format!("{what}: p99 against a page in less"), ours, theirs, 1.2);
                }
                _ => {}
            }
        }
    }
}
