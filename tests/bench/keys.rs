//! From a key to the last byte of what it does, at a thousand rows and at a million, beside the same in other programs.

use crate::figures::{Figure, Table};
use crate::opening::{complete, ours};
use crate::report::{FIRST, Made};
use crate::terminal::Terminal;
use crate::{Stage, peers};
use std::time::Duration;

/// Times that a key is pressed in a run: in the smallest report and the largest, which are held against each other and against
/// other programs, and in those between, of which only the middle is told.
const PRESSES: usize = 15;
const FEW_PRESSES: usize = 5;

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
struct Idle {
    bytes: usize,
    wakes: u64,
}

impl Idle {
    fn sum(&self) -> f64 {
        self.bytes as f64 + self.wakes as f64
    }
}

/// Every key of ours so many times on a report that is there whole; gives the program back, which runs on.
fn run(stage: &Stage, report: &Made, presses: usize, figures: &mut [Measured]) -> Terminal {
    let mut running = ours(stage, report).start();
    running.until(FIRST);
    running.until(&complete(report));
    for (stroke, measured) in OURS.iter().zip(figures) {
        // What is pressed in between may change nothing: its effect is not waited for.
        for key in stroke.before {
            running.press(key);
        }
        for _ in 0..presses {
            measured.press(&mut running, stroke.key);
            if let Some(back) = stroke.back {
                running.press(back);
            }
        }
    }
    running
}

/// What programs do when nobody does anything, all at once: what does nothing is in nobody's way.
fn idle(mut running: Vec<Terminal>) -> Vec<Idle> {
    running.iter_mut().for_each(Terminal::settle);
    let wakes = |running: &[Terminal]| -> Vec<Option<u64>> { running.iter().map(Terminal::wakes).collect() };
    // What was begun beside the screen when the report was opened comes to its end first.
    let mut before = wakes(&running);
    for _ in 0..MOST_WAITS {
        std::thread::sleep(WAIT);
        if std::mem::replace(&mut before, wakes(&running)) == before {
            break;
        }
    }
    running.iter_mut().for_each(Terminal::settle);
    std::thread::sleep(Duration::from_secs(2));
    let after = wakes(&running);
    let wakes = before.into_iter().zip(after).map(|(before, after)| after.unwrap_or(0).abs_diff(before.unwrap_or(0)));
    running.iter_mut().zip(wakes).map(|(running, wakes)| Idle { bytes: running.idle(Duration::ZERO), wakes }).collect()
}

pub fn measure(stage: &Stage, table: &mut Table) {
    let reports = &stage.reports;
    let mut figures: Vec<Vec<Measured>> =
        reports.iter().map(|_| OURS.iter().map(|_| Measured::default()).collect()).collect();
    let mut resting = Vec::new();
    let mut peers: Vec<_> =
        peers::on(stage.largest()).into_iter().map(|peer| (peer, <[Measured; 2]>::default())).collect();
    for _ in 0..stage.wanted.reps {
        resting.clear();
        for (at, (report, figures)) in reports.iter().zip(&mut figures).enumerate() {
            let is_between = at > 0 && at + 1 < reports.len();
            resting.push(run(stage, report, if is_between { FEW_PRESSES } else { PRESSES }, figures));
        }
        for (peer, [down, page]) in &mut peers {
            let mut running = peer.program.start();
            running.until(peer.first);
            (0..PRESSES).for_each(|_| down.press(&mut running, b"j"));
            (0..PRESSES).for_each(|_| page.press(&mut running, peer.page));
        }
    }
    let idle = idle(resting);
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
