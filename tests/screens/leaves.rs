//! Nothing of a report gets lost: every leaf of its JSON stands on some screen, and in what is exported.

use behaview::app::model::Service;
use behaview::app::{Here, Model, PANES, Size};
use behaview::export::{Format, Job, Source, What};
use behaview::report::Body;
use behaview::runtime::{Backing, Session};
use behaview::text::Untrusted;
use jiff::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every report of the demo that is embedded, whatever it is there to show.
fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|path| path.file_name().unwrap() != "file.json").collect()
}

/// The leaves of JSON with how often each stands there: told apart by looking at what follows a string, and by nothing that the
/// program itself uses.
fn leaves(json: &[u8]) -> BTreeMap<Untrusted, usize> {
    let (mut found, mut at) = (BTreeMap::new(), 0);
    while at < json.len() {
        let start = at;
        match json[at] {
            b'"' => {
                at += 1;
                while json[at] != b'"' {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                let is_name = json[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                if !is_name {
                    *found.entry(Untrusted::from_json(&json[start + 1..at - 1])).or_default() += 1;
                }
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            _ => {
                while at < json.len() && !b",]} \n\r\t".contains(&json[at]) {
                    at += 1;
                }
                *found.entry(Untrusted::from(&json[start..at])).or_default() += 1;
            }
        }
    }
    found
}

fn clock() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// Every row of every pane opened whole, one after another: what stands there, without blanks.
fn all_details(bytes: &[u8]) -> String {
    let mut model = Model::new(Service::default(), clock());
    model.size = Size { width: 150, height: 90 };
    let here = Here { received: clock(), body: Body::in_memory(bytes.to_vec()), unkept: None };
    let first = model.open_document("fixture".to_owned(), vec![(None, here)]);
    let terminal = Terminal::new(TestBackend::new(150, 90)).unwrap();
    let mut session = Session::new(terminal, model, Backing::Document, clock).unwrap();
    session.begin(first);
    assert!(session.run_until_idle(Duration::from_secs(20)).unwrap());
    let mut text = String::new();
    for info in &PANES {
        session.press(info.command.keys[0]);
        session.press("g".parse().unwrap());
        for _ in 0..session.model().open().unwrap().count(info.pane) {
            session.press("enter".parse().unwrap());
            loop {
                let before = overlay(&mut session);
                text += &before;
                session.press("pgdn".parse().unwrap());
                if overlay(&mut session) == before {
                    break;
                }
            }
            session.press("esc".parse().unwrap());
            session.press("j".parse().unwrap());
        }
    }
    text
}

/// What stands in the frame that is over the screen, its rows joined, without blanks.
fn overlay(session: &mut Session<TestBackend>) -> String {
    // Drawn anew: unlike a terminal, the backend keeps what stood under the second half of a wide letter.
    session.terminal_mut().clear().unwrap();
    session.draw().unwrap();
    let buffer = session.terminal().backend().buffer();
    let rows: Vec<String> = buffer
        .content()
        .chunks(usize::from(buffer.area.width))
        .map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect())
        .collect();
    let top = rows.iter().rposition(|row| row.starts_with('┏')).expect("something stands over the screen");
    let inside = rows[top + 1..].iter().take_while(|row| row.starts_with('┃'));
    let inside = inside.map(|row| row.trim_start_matches('┃').trim_end_matches('┃').to_owned());
    squeezed(&inside.collect::<String>())
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn every_leaf_stands_on_some_screen() {
    for path in fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        let shown = all_details(&bytes);
        for (leaf, count) in leaves(&bytes) {
            let visible = squeezed(leaf.visible().as_str());
            let found = shown.matches(&visible).count();
            assert!(
                visible.is_empty() || found >= count,
                "{}: {leaf:?} stands {found} times, not {count}",
                path.display()
            );
        }
    }
}

#[test]
fn every_leaf_stands_in_what_is_exported() {
    for path in fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        let body = Body::in_memory(bytes.clone());
        let sources = [Source { body, identifier: None, origin: String::new(), received: None }];
        let job = Job { sources: &sources, what: What::All, is_stopped: &|| false };
        for name in ["raw", "json", "jsonl"] {
            let mut out = Vec::new();
            Format::named(name).unwrap().write(&job, &mut out).unwrap();
            let exported = leaves(&out);
            for (leaf, count) in leaves(&bytes) {
                // What no strict reader takes stands in its visible form.
                let visible = Untrusted::from(leaf.visible().as_str());
                let found = exported.get(&leaf).or_else(|| exported.get(&visible)).copied().unwrap_or(0);
                assert!(found >= count, "{} as {name}: {leaf:?} stands {found} times, not {count}", path.display());
            }
        }
    }
}
