//! Finding in one report: a filter as it is typed, a letter that refines it, a word near the end, an expression.

use crate::figures::{Figure, Table};
use crate::opening::{complete, ours};
use crate::report::{FIRST, Made, NEEDLE};
use crate::terminal::{Program, Terminal};
use crate::{Stage, peers};
use std::ffi::OsStr;
use std::time::{Duration, Instant};

/// The longest that a complete search of the largest report should take, in milliseconds; an expression takes four times as long.
const COMPLETE: f64 = 25.0;

/// A frame, in milliseconds.
const FRAME: f64 = 16.7;

/// What is typed into the filter of the pane of keys, letter by letter.
const TYPED: &str = "software";

/// A common word for the list of hits over all panes, and an expression without a letter that must be there.
const COMMON: &str = "windows";
const EXPRESSION: &str = "[xz]{3}[0-9]*[.]";

/// What was measured of one report.
#[derive(Default)]
struct Measured {
    first_letter: Figure,
    further_letters: Figure,
    echo: Figure,
    needle: Figure,
    common: Figure,
    first_hits: Figure,
    expression: Figure,
    late: Figure,
}

/// Opens the list of hits with nothing typed.
fn find_anew(running: &mut Terminal) {
    running.effect(b"F");
    // What was typed last stays: it is taken away letter by letter.
    running.effect(&[0x7f; 40]);
}

/// The time to the end of a search in the list of hits.
fn until_complete(running: &mut Terminal, since: Instant, words: &str) -> Duration {
    let is_done = |screen: &str| screen.contains(" hit") || screen.contains("nothing holds this");
    let is_there = |screen: &str| screen.contains(words) && is_done(screen) && !screen.contains("searching");
    running.until_that(since, words, is_there)
}

fn filter(running: &mut Terminal, measured: &mut Measured) {
    running.effect(b"3");
    // Large enough for a title with all that is told.
    running.effect(b"z");
    running.effect(b"/");
    for end in 1..=TYPED.len() {
        let pressed = running.press(&TYPED.as_bytes()[end - 1..end]);
        let echo = format!("/{}▏", &TYPED[..end]);
        measured.echo.time(running.until_that(pressed, &echo, |screen| screen.contains(&echo)));
        let is_complete = |screen: &str| screen.contains(&echo) && !screen.contains(&format!("{echo} …"));
        let time = running.until_that(pressed, &echo, is_complete);
        if end == 1 { &mut measured.first_letter } else { &mut measured.further_letters }.time(time);
    }
    running.effect(b"\x1b");
    running.effect(b"z");
}

fn find(running: &mut Terminal, measured: &mut Measured) {
    find_anew(running);
    let pasted = |words: &str| [b"\x1b[200~", words.as_bytes(), b"\x1b[201~"].concat();
    let pressed = running.press(&pasted(&NEEDLE[..8]));
    measured.needle.time(until_complete(running, pressed, NEEDLE));
    running.effect(&[0x7f; 40]);
    let pressed = running.press(&pasted(COMMON));
    measured.first_hits.time(running.until_that(pressed, COMMON, |screen| screen.contains(" hits")));
    measured.common.time(until_complete(running, pressed, COMMON));
    running.effect(&[0x7f; 40]);
    // A key in the middle of a search.
    running.press(b"e");
    let pressed = running.press_at_once(b"x");
    measured.late.time(running.until_that(pressed, "ex", |screen| screen.contains("find ex")));
    until_complete(running, pressed, "ex");
    running.effect(&[0x7f; 40]);
    running.effect(b"\x12");
    let pressed = running.press(&pasted(EXPRESSION));
    measured.expression.time(until_complete(running, pressed, EXPRESSION));
    running.effect(b"\x12");
    running.effect(b"\x1b");
}

/// A filter of lines on the same strings, where there is one: its slowest key beside ours.
fn beside_lines(stage: &Stage, table: &mut Table, ours: f64) {
    if !peers::is_installed("fzf") {
        return;
    }
    let path = stage.folder.path().join("lines.txt");
    let text = std::fs::read_to_string(&stage.largest().path).unwrap();
    std::fs::write(&path, text.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("\n")).unwrap();
    let words = ["-c", "fzf --exact --no-sort < \"$1\"", "sh"].map(OsStr::new);
    let fzf = Program::new("fzf", "sh", &[&words[..], &[path.as_os_str()]].concat());
    let mut slowest = Figure::default();
    for _ in 0..stage.wanted.reps {
        let mut running = fzf.start();
        running.until("> ");
        // It reads on for a while.
        running.effect_before(b"\x01", Duration::from_secs(2));
        let times = TYPED.as_bytes().chunks(1).map(|key| running.effect_before(key, Duration::from_millis(250)).time);
        slowest.time(times.max().unwrap());
    }
    table.row("largest: slowest letter of a filter, ms", "fzf", slowest.words());
    table.ratio("slowest letter of a filter against fzf", ours, slowest.median(), 0.15);
}

fn run(stage: &Stage, report: &Made, measured: &mut Measured) {
    let mut running = ours(stage, report).start();
    running.until(FIRST);
    running.until(&complete(report));
    running.settle();
    filter(&mut running, measured);
    find(&mut running, measured);
}

pub fn measure(stage: &Stage, table: &mut Table) {
    let mut figures: Vec<Measured> = stage.reports.iter().map(|_| Measured::default()).collect();
    let mut peers: Vec<_> = peers::on(stage.largest()).into_iter().map(|peer| (peer, Figure::default())).collect();
    for _ in 0..stage.wanted.reps {
        for (report, measured) in stage.reports.iter().zip(&mut figures) {
            run(stage, report, measured);
        }
        for (peer, figure) in &mut peers {
            let mut running = peer.program.start();
            running.until(peer.first);
            running.settle();
            // A program may ask for the word by other means than it reads keys: what comes with the key would be lost to it. What it
            // finds may come long after the word is seen.
            running.effect(b"/");
            let typed = format!("{}\r", &NEEDLE[..8]);
            figure.time(running.effect_before(typed.as_bytes(), Duration::from_secs(4)).time);
        }
    }
    for (report, measured) in stage.reports.iter().zip(&figures) {
        let size = report.size();
        let rows = [
            ("first letter of a filter, ms", &measured.first_letter),
            ("further letters, ms", &measured.further_letters),
            ("until the letter is seen, ms", &measured.echo),
            ("a word near the end, over all panes, ms", &measured.needle),
            ("first hits of a common word, ms", &measured.first_hits),
            ("all hits of a common word, ms", &measured.common),
            ("an expression that must try every row, ms", &measured.expression),
            ("a letter in the middle of a search, ms", &measured.late),
        ];
        for (what, figure) in rows {
            table.row(&format!("{size}: {what}"), "behaview", figure.words());
            table.grows(what, report, figure);
        }
    }
    for (peer, figure) in &peers {
        table.row("largest: a word near the end, ms", &peer.program.name, figure.words());
    }
    let large = figures.last().unwrap();
    beside_lines(stage, table, large.first_letter.quantile(1.0).max(large.further_letters.quantile(1.0)));
    let limits = [
        ("first letter of a filter, complete,", large.first_letter.median(), COMPLETE),
        ("slowest further letter", large.further_letters.quantile(1.0), COMPLETE),
        ("all hits of a common word", large.common.median(), COMPLETE),
        ("an expression", large.expression.median(), 4.0 * COMPLETE),
        ("first hits", large.first_hits.median(), FRAME),
        ("a letter in the middle of a search", large.late.median(), FRAME),
    ];
    for (what, time, most) in limits {
        table.limit(what, time, most, stage.pace);
    }
    for (peer, figure) in &peers {
        if matches!(peer.program.name.as_str(), "jless" | "vim") {
            let what = format!("a word near the end against {}", peer.program.name);
            table.ratio(&what, large.needle.median(), figure.median(), 1.0);
        }
    }
}
