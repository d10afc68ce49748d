//! The screen at every size: usable at 80x24, sensible at 40x10, a message below, resized anytime.

use crate::faults::arm;
use crate::harness::{TuiHarness, file, main_file, options, public};
use crate::stored::without_sizes;
use behaview::app::TerminalEvent;
use behaview::runtime::RunExit;
use std::collections::BTreeMap;

/// The sizes at which every screen is compared with the accepted one.
const SIZES: [(u16, u16); 5] = [(200, 55), (120, 40), (80, 24), (60, 15), (40, 10)];

/// The screens of an open file, each with the keys that lead to it from the list.
const SCREENS: [(&str, &str); 26] = [
    ("list", "g"),
    ("next_page", "G"),
    ("pane", "1 j j"),
    ("zoomed", "4 z"),
    ("overview", "0"),
    ("detail", "1 enter"),
    ("findings", "!"),
    ("indicators", "i"),
    ("export", "3 x"),
    ("note", "3 a"),
    ("artifacts", "d"),
    ("timeline", "T"),
    ("hits", "F l u m e n"),
    ("compare", "c"),
    ("compare_where", "c enter"),
    ("prices", "$"),
    ("usage", "u"),
    ("counters", "b"),
    ("ledger", "L"),
    ("costs", "B"),
    ("planner", "p v 2 - f i l e - r e p o r t space 5 enter"),
    ("stored", "H"),
    ("confirmation", "E"),
    ("submit", "U"),
    ("help", "?"),
    ("palette", ":"),
];

#[test]
fn every_screen_at_every_size() {
    let mut shown: BTreeMap<&str, String> = BTreeMap::new();
    for (width, height) in SIZES {
        let mut show = |name, tui: &TuiHarness| {
            let screen = format!("── {width}x{height} ──\n{}", without_sizes(tui.screen()));
            shown.entry(name).or_default().push_str(&screen);
        };
        let mut tui = TuiHarness::new(options());
        tui.size(width, height);
        show("start", &tui);
        tui.type_question("v3-file", &public()[0]);
        tui.keys("enter");
        show("answer", &tui);
        tui.keys("esc esc");
        tui.open(&main_file());
        tui.keys("enter");
        for (name, keys) in SCREENS {
            tui.keys(keys);
            show(name, &tui);
            while !tui.session.model.overlays.is_empty() || tui.session.model.focused().is_some() {
                tui.keys("esc");
            }
            tui.keys("g");
        }
    }
    for (name, screens) in shown {
        insta::assert_snapshot!(format!("every_{name}"), screens);
    }
}

#[test]
fn what_is_left_stands_with_its_period_at_every_width() {
    let mut tui = TuiHarness::listed();
    for columns in 40..=120 {
        tui.size(columns, 20);
        let screen = tui.screen();
        let bar = screen.lines().last().unwrap();
        assert!(bar.contains(" left: you 239 ") && bar.contains("this hour"), "{columns}: {bar}");
        assert!(bar.contains("499 ") && bar.contains("today") || columns < 48, "{columns}: {bar}");
        assert!(bar.contains(" · group 17,519 ") || columns < 67, "{columns}: {bar}");
        assert!(bar.trim_end().ends_with(" 1"), "{columns}: {bar}");
    }
}

#[test]
fn smaller_is_a_message() {
    let mut tui = TuiHarness::listed();
    tui.size(30, 8);
    insta::assert_snapshot!("size_30x8", tui.screen());
    tui.size(1, 1);
    tui.size(120, 40);
    assert!(tui.screen().contains("Sandboxes"));
}

#[test]
fn below_the_smallest_size_no_key_acts_but_quit() {
    let keys = "r R W U E d A b u enter G j tab esc : ? $ / y x f Q ctrl-z H S T L p z 0 1".split(' ');
    for (width, height, before) in [(39, 10, "esc"), (40, 9, "E"), (1, 1, "U"), (39, 10, ":")] {
        let mut tui = TuiHarness::listed();
        tui.keys(before);
        let (screen, calls) = (tui.screen(), tui.demo.as_ref().unwrap().seen().len());
        tui.size(width, height);
        for key in keys.clone() {
            tui.keys(key);
        }
        tui.session.take(TerminalEvent::Paste("d41d8cd9".to_owned()));
        tui.rest();
        tui.size(120, 40);
        assert_eq!(tui.screen(), screen, "{before} at {width}x{height}");
        assert_eq!(tui.demo.as_ref().unwrap().seen().len(), calls);
        tui.size(width, height).press("ctrl-c");
        assert_eq!(tui.session.exit, Some(RunExit::Done), "{before} at {width}x{height}");
    }
}

#[test]
fn a_failure_is_told_where_only_the_list_has_room() {
    let mut tui = TuiHarness::new(options());
    tui.size(40, 12);
    tui.open(&file("statement"));
    arm(tui.demo.as_ref().unwrap(), "list:404*1");
    tui.keys("enter");
    insta::assert_snapshot!("size_40x12_failure", tui.screen());
}
