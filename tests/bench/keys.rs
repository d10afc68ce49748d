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
const SCROLLING: &str = "a row down, scrolling";
const WHOLE: &str = "the same in a pane that fills the screen";
const PAGE: &str = "a page down";
const END: &str = "to the end";
const FOLD: &str = "fold one";
const UNFOLD_ALL: &str = "unfold all";
const FOLD_ALL: &str = "fold all";

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
    stroke(SCROLLING, &[b"\x06", b"\x06"], b"j", None),
    stroke(WHOLE, &[b"z"], b"j", None),
    stroke(PAGE, &[b"z", b"g"], b"\x06", Some(b"\x02")),
    stroke(END, &[], b"G", Some(b"g")),
    stroke("next pane", &[], b"\t", None),
    stroke(FOLD, &[b"1", b"g", b"j"], b" ", None),
    stroke(UNFOLD_ALL, &[b"-"], b"+", Some(b"-")),
    stroke(FOLD_ALL, &[b"+"], b"-", Some(b"+")),
];

/// The same in jless, which folds, too.
const JLESS: [Stroke; 7] = [
    stroke(DOWN, &[b"g"], b"j", Some(b"k")),
    stroke(SCROLLING, &[b"\x06", b"\x06"], b"j", None),
    stroke(PAGE, &[b"g"], b"\x06", Some(b"\x02")),
    stroke(END, &[], b"G", Some(b"g")),
    stroke(FOLD, &[b"g", b"j"], b" ", None),
    stroke(UNFOLD_ALL, &[b"g", b"C"], b"E", Some(b"C")),
    stroke(FOLD_ALL, &[b"E"], b"C", Some(b"E")),
];

/// The same in every other program.
const OTHERS: [Stroke; 2] = [stroke(SCROLLING, &[], b"j", None), stroke(PAGE, &[], b"\x06", None)];

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
    press(&mut running, &OURS, presses, figures);
    running
}

/// Presses each of these so many times.
fn press(running: &mut Terminal, strokes: &[Stroke], presses: usize, figures: &mut [Measured]) {
    for (stroke, measured) in strokes.iter().zip(figures) {
        // What is pressed in between may change nothing: its effect is not waited for.
        for key in stroke.before {
            running.press(key);
        }
        for _ in 0..presses {
            measured.press(running, stroke.key);
            if let Some(back) = stroke.back {
                running.press(back);
            }
        }
    }
}

/// What is pressed in a peer.
fn strokes(peer: &peers::Peer) -> &'static [Stroke] {
    if peer.program.name == "jless" { &JLESS } else { &OTHERS }
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
    let measured = |peer: &peers::Peer| strokes(peer).iter().map(|_| Measured::default()).collect::<Vec<_>>();
    let mut peers: Vec<_> = peers::on(stage.largest())
        .into_iter()
        .map(|peer| {
            let all = measured(&peer);
            (peer, all)
        })
        .collect();
    for _ in 0..stage.wanted.reps {
        resting.clear();
        for (at, (report, figures)) in reports.iter().zip(&mut figures).enumerate() {
            let is_between = at > 0 && at + 1 < reports.len();
            resting.push(run(stage, report, if is_between { FEW_PRESSES } else { PRESSES }, figures));
        }
        for (peer, figures) in &mut peers {
            let mut running = peer.program.start();
            running.until(peer.first);
            press(&mut running, strokes(peer), PRESSES, figures);
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
        for (stroke, measured) in strokes(peer).iter().zip(measured) {
            table.row(&format!("{}, ms", stroke.what), &peer.program.name, measured.words());
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

fn ratios(table: &mut Table, small: &[Measured], large: &[Measured], peers: &[(peers::Peer, Vec<Measured>)]) {
    for ((stroke, small), large) in OURS.iter().zip(small).zip(large) {
        let what = stroke.what;
        table.ratio(&format!("{what}: large against small"), large.times.median(), small.times.median(), 1.1);
        if stroke.key == b"j" {
            table.ratio(&format!("{what}: bytes against 200"), large.bytes.median(), MOST_BYTES, 1.0);
        }
        for (peer, theirs) in peers {
            let of = |what| strokes(peer).iter().zip(theirs).find(|(stroke, _)| stroke.what == what);
            // Theirs fill the screen always; what one has no key for stands beside a page of it.
            let same = if what == WHOLE { SCROLLING } else { what };
            let Some((same, theirs)) = of(same).or_else(|| of(PAGE)) else { continue };
            let (same, ours, theirs) = (same.what, &large.times, &theirs.times);
            match peer.program.name.as_str() {
                "jless" => {
                    table.ratio(&format!("{what}: against {same} in jless"), ours.median(), theirs.median(), 1.0)
                }
                "less" => {
                    let (ours, theirs) = (ours.quantile(0.99), theirs.quantile(0.99));
                    table.ratio(&format!("{what}: p99 against {same} in less"), ours, theirs, 1.2);
                }
                _ => {}
            }
        }
    }
}
