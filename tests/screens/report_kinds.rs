//! Every screen on reports of every kind (Windows, Android, document, empty, hostile, huge), each
//! pane and overlay at every size. What matters is compared; everything is drawn.

use crate::harness::{TuiHarness, file, options};
use behaview::app::PANES;
use behaview::demo::Options;
use behaview::report::Pane;
use behaview::report::identifier::Sha256;

/// Rows of the report that is huge: more than any screen, window or page of it.
const MANY: u64 = 20_000;

/// Keys that put something over the screen that is about the row or the pane.
const OVER_ROWS: [&str; 4] = ["enter", "x", "a", "e"];

/// Keys that put something over the screen that is about the report or the program.
const OVER_REPORTS: [&str; 11] = ["!", "T", "i", "F", "c", "d", "?", "$", ":", "H", "S"];

/// A kind of report: its name, its file, and which of the file's reports it is.
const KINDS: [(&str, &str, usize); 7] = [
    ("windows", "Quarterly", 0),
    ("android", "Parcel", 0),
    ("document", "Delivery", 0),
    ("empty", "Blank", 0),
    ("hostile", "Unfriendly", 0),
    ("wrong_types", "Unfriendly", 1),
    ("huge", "Busy", 0),
];

fn tui(word: &str, entry: usize) -> TuiHarness {
    let rows = if word == "Busy" { MANY } else { options().rows };
    let found: Sha256 = file(word);
    let mut tui = TuiHarness::at(found, Options { rows, ..options() });
    tui.keys("enter");
    for _ in 0..entry {
        tui.keys("j");
    }
    tui.keys("enter");
    tui
}

/// Nothing that a terminal would obey, and no row that is wider than the screen.
fn check(tui: &mut TuiHarness, name: &str, way: &str) {
    let screen = tui.screen();
    assert!(!screen.chars().any(|c| c.is_control() && c != '\n'), "{name} {way}:\n{screen}");
    assert!(screen.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 120), "{name} {way}:\n{screen}");
}

/// Puts one thing after another over the screen, and takes it away again.
fn overlay(tui: &mut TuiHarness, name: &str, keys: &[&str]) {
    for key in keys {
        tui.keys(key);
        check(tui, name, key);
        while !tui.session.model.overlays.is_empty() {
            tui.keys("esc");
        }
    }
}

/// The focused pane's rows and its messages: all of the screen except the list.
fn pane(tui: &mut TuiHarness, key: &str) -> String {
    tui.keys(&format!("{key} z"));
    let screen = tui.screen();
    tui.keys("z");
    screen
}

#[test]
fn every_screen_of_every_kind_of_report() {
    for (name, word, entry) in KINDS {
        let mut tui = tui(word, entry);
        assert!(tui.session.model.open().is_some(), "{name} is open");
        insta::assert_snapshot!(format!("kind_{name}"), tui.without_bar());
        let mut shown = String::new();
        for (command, which) in PANES.iter().zip(Pane::ALL) {
            let key = command.keys[0].to_string();
            let screen = pane(&mut tui, &key);
            check(&mut tui, name, command.label);
            let count = tui.session.model.open().unwrap().report.count(which);
            let is_empty = |row: &str| row.chars().all(|c| matches!(c, '┃' | '┗' | '┛' | '━' | ' '));
            // A pane is seen by its title and its first rows.
            let rows = screen.lines().skip(2).take(10).filter(|row| !is_empty(row));
            if count > 0 {
                shown += &rows.map(|row| format!("{row}\n")).collect::<String>();
            }
            overlay(&mut tui, name, &OVER_ROWS);
        }
        overlay(&mut tui, name, &OVER_REPORTS);
        insta::assert_snapshot!(format!("kind_{name}_panes"), shown);
        for (width, height) in [(80, 24), (40, 10), (200, 60)] {
            tui.size(width, height);
            for command in &PANES {
                tui.press(&command.keys[0].to_string());
                tui.press("G");
                tui.session.draw().unwrap();
                assert!(!tui.screen().chars().any(|c| c.is_control() && c != '\n'), "{name} {width} {}", command.label);
            }
            tui.rest();
        }
    }
}

#[test]
fn list_perhaps_cut_is_marked_wherever_it_counts() {
    let rows = |name: &str, count: usize, row: &dyn Fn(usize) -> String| {
        format!(r#""{name}":[{}]"#, (0..count).map(row).collect::<Vec<_>>().join(","))
    };
    let keys = |count| rows("registry_keys_opened", count, &|n| format!(r#""HKLM\\K{n}""#));
    let dropped = rows("files_dropped", 500, &|n| format!(r#"{{"path":"C:\\f{n}","process_name":"a.exe"}}"#));
    let tree = r#""processes_tree":[{"name":"a.exe","process_id":"1"}]"#;
    let one = format!(r#"{{"sandbox_name":"One",{tree},{},{dropped}}}"#, keys(300));
    let two = format!(r#"{{"sandbox_name":"Two",{tree},{}}}"#, keys(301));
    let mut tui = TuiHarness::documents(&[("one.json", &one), ("two.json", &two)]);
    tui.size(160, 40).keys("enter");
    tui.assert_shows("3 Registry 300+");
    tui.assert_shows("Files 500+");
    tui.assert_shows("4 Files, perhaps cut by the service");
    tui.keys("3");
    tui.assert_shows(" 1/300+ ");
    for (keys, words) in [
        ("enter", "row 1 of 300, perhaps cut by the service"),
        ("esc z / K 1 enter", "of 300, perhaps cut by the service"),
        ("esc z 1 enter", "files_dropped 500, perhaps cut by the service"),
        ("esc F z z z z", "no match; 2 lists, perhaps cut by the service"),
        ("esc esc !", "2 lists, perhaps cut by the service"),
        ("esc i", "2 lists, perhaps cut by the service"),
        ("esc c", "+ · B "),
        ("/ K 3 0 0 enter", "? not listed, perhaps cut by the service"),
        ("ctrl-y", "Copied the row"),
    ] {
        tui.keys(keys);
        tui.assert_shows(words);
    }
    assert!(tui.copied().contains("; not listed, perhaps cut by the service: "), "{}", tui.screen());
}
