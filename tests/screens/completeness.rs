//! Nothing of a report is lost: every leaf of its JSON is on some screen, and in its exports.

use crate::harness::{TuiHarness, file, options};
use behaview::app::model::Service;
use behaview::app::{LoadedReport, Model, Overlay, PANES, Size};
use behaview::demo::Options;
use behaview::export::{Export, ExportContext, ExportSource, Format, Part};
use behaview::report::rules::Rules;
use behaview::report::{Body, Cancel, Pane};
use behaview::runtime::EventLoop;
use behaview::text::Untrusted;
use jiff::Timestamp;
use ratatui::backend::TestBackend;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Every report of the demo, embedded and generated ones alike.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let files = files.filter(|path| path.file_name().unwrap() != "file.json");
    let embedded = files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()));
    embedded.chain([("Unfriendly", 2), ("Busy", 0)].map(|(word, entry)| (word.to_owned(), made(word, entry)))).collect()
}

/// A report of one of the demo's files, as it came.
fn made(word: &str, entry: usize) -> Vec<u8> {
    let mut tui = TuiHarness::at(file(word), Options { rows: 60, ..options() });
    tui.keys("enter");
    for _ in 0..entry {
        tui.keys("j");
    }
    tui.keys("enter");
    tui.session.model.open().expect("it is open").report.body.to_vec()
}

/// The leaves of JSON, each with its name, if any: found by what follows a string, without any code
/// of the program.
fn leaves(json: &[u8]) -> Vec<(Option<Untrusted>, Untrusted)> {
    let (mut found, mut name, mut at) = (Vec::new(), None, 0);
    while at < json.len() {
        let start = at;
        match json[at] {
            b'"' => {
                at += 1;
                while json[at] != b'"' {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                let text = Untrusted::from_json(&json[start + 1..at - 1]);
                let is_name = json[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                if is_name { name = Some(text) } else { found.push((name.take(), text)) }
            }
            b'[' | b'{' => {
                name = None;
                at += 1;
            }
            b'}' | b']' | b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            _ => {
                while at < json.len() && !b",]} \n\r\t".contains(&json[at]) {
                    at += 1;
                }
                let name = name.take();
                // Null stands for nothing.
                if &json[start..at] != b"null" {
                    found.push((name, Untrusted::from(&json[start..at])));
                }
            }
        }
    }
    found
}

/// How often each of some things stands there.
fn counted<T: Ord>(things: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    things.into_iter().for_each(|thing| *counts.entry(thing).or_default() += 1);
    counts
}

fn clock() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// Every row of every pane opened whole, one after another: what stands there, without blanks.
fn all_details(bytes: &[u8]) -> String {
    let mut model = Model::new(Service::default(), clock());
    model.size = Size { width: 150, height: 90 };
    let here = LoadedReport::new(clock(), Body::in_memory(bytes.to_vec()), None);
    model.open_documents(vec![("fixture".to_owned(), vec![(None, here)])]);
    let mut session = EventLoop::new(TestBackend::new(150, 90), model, None, clock).unwrap();
    session.begin();
    assert!(session.run_until_idle(Duration::from_secs(20)).unwrap());
    let mut text = String::new();
    for (command, pane) in PANES.iter().zip(Pane::ALL) {
        session.press(command.keys[0]);
        session.press("g".parse().unwrap());
        for _ in 0..session.model.pane_state(pane).count(&session.model.open().unwrap().report, pane) {
            session.press("enter".parse().unwrap());
            let mut rows = overlay(&mut session);
            text += &title(&session);
            loop {
                text += &squeezed(&rows.concat());
                let before = top(&session);
                session.press("pgdn".parse().unwrap());
                rows = overlay(&mut session);
                // The last page begins with rows that have been seen.
                let new = top(&session) - before;
                if new == 0 {
                    break;
                }
                rows.drain(..rows.len() - new);
            }
            session.press("esc".parse().unwrap());
            session.press("j".parse().unwrap());
        }
    }
    text
}

/// Every row of the screen.
fn rows(session: &EventLoop<TestBackend>) -> Vec<String> {
    let buffer = session.terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(buffer.area.width));
    rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect()).collect()
}

/// What the frame that is over the screen says of itself, without blanks.
fn title(session: &EventLoop<TestBackend>) -> String {
    let rows = rows(session);
    let top = rows.iter().rfind(|row| row.starts_with('┏')).expect("something stands over the screen");
    let words = top.trim_matches(['┏', '━', '┓']);
    squeezed(words.split("━").next().unwrap_or_default())
}

/// The first row of the detail that is shown.
fn top(session: &EventLoop<TestBackend>) -> usize {
    match session.model.overlays.top() {
        Some(Overlay::Detail(detail)) => detail.top,
        other => panic!("no detail: {other:?}"),
    }
}

/// The rows in the frame that is over the screen.
fn overlay(session: &mut EventLoop<TestBackend>) -> Vec<String> {
    // Redrawn: unlike a terminal, the backend keeps what a wide letter's second half covered.
    session.redraw();
    session.draw().unwrap();
    let rows = rows(session);
    let top = rows.iter().rposition(|row| row.starts_with('┏')).expect("something stands over the screen");
    let inside = rows[top + 1..].iter().take_while(|row| row.starts_with('┃'));
    inside.map(|row| row.trim_start_matches('┃').trim_end_matches('┃').to_owned()).collect()
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A leaf as a screen shows it: after its name, or the attribute's where the row is the leaf.
fn as_shown(name: Option<&Untrusted>, leaf: &Untrusted) -> Vec<String> {
    let value = squeezed(leaf.visible().as_str());
    // A long name is cut.
    let Some(name) = name.map(|name| squeezed(name.visible().as_str())).filter(|name| name.chars().count() < 38) else {
        return vec![value];
    };
    vec![format!("{name}:{value}"), format!("{name}·row1{value}")]
}

#[test]
fn every_leaf_stands_on_some_screen() {
    for (path, bytes) in fixtures() {
        let shown = all_details(&bytes);
        for ((name, leaf), count) in counted(leaves(&bytes)) {
            let ways = as_shown(name.as_ref(), &leaf);
            let found: usize = ways.iter().map(|way| shown.matches(way.as_str()).count()).sum();
            let is_nothing = ways.iter().all(String::is_empty);
            assert!(is_nothing || found >= count, "{path}: {name:?} {leaf:?} stands {found} times, not {count}");
        }
    }
}

#[test]
fn every_leaf_stands_in_what_is_exported() {
    for (path, bytes) in fixtures() {
        let wanted = counted(leaves(&bytes).into_iter().map(|(_, leaf)| leaf));
        let body = Body::in_memory(bytes);
        let notes = Default::default();
        let sources =
            [ExportSource { body, identifier: None, file: None, origin: String::new(), received: None, notes }];
        let job = Export {
            sources: &sources,
            what: Part::All,
            rules: &Rules::read(None).0,
            context: &ExportContext::default(),
            cancel: &Cancel::default(),
        };
        for name in ["raw", "json", "jsonl"] {
            let mut out = Vec::new();
            Format::named(name).unwrap().write(&job, &mut out).unwrap();
            let exported = counted(leaves(&out).into_iter().map(|(_, leaf)| leaf));
            for (leaf, count) in &wanted {
                // What no strict reader takes stands in its visible form.
                let visible = Untrusted::from(leaf.visible().as_str());
                let found = exported.get(leaf).or_else(|| exported.get(&visible)).copied().unwrap_or(0);
                assert!(found >= *count, "{path} as {name}: {leaf:?} stands {found} times, not {count}");
            }
        }
    }
}
