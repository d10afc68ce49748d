//! A stored report opens as it was shown on receipt; a damaged one is reported as unreadable.

use crate::harness::{TuiHarness, file, main_file, options};
use behaview::demo::Options;

#[test]
fn stored_report_is_shown_as_received() {
    let mut tui = TuiHarness::at(file("Busy"), Options { rows: 6_000, ..options() });
    tui.keys("enter enter G");
    let before = tui.screen();
    let mut again = tui.restart_without_service();
    again.open(&file("Busy"));
    again.keys("tab G");
    assert!(before.contains("Processes 600"), "{before}");
    let panes = |screen: &str| screen.lines().take(30).skip(2).collect::<Vec<_>>().join("\n");
    assert_eq!(panes(&before), panes(&again.screen()));
}

#[test]
fn reports_beside_an_unreadable_list_are_counted() {
    let mut tui = TuiHarness::listed();
    tui.keys("G enter");
    tui.damage_stored("/behaviours-");
    let mut again = tui.restart_without_service();
    again.open(&main_file());
    again.keys("G");
    let screen = again.screen();
    assert!(screen.contains("list the sandboxes") && screen.contains("Stored of this file: 6 reports"), "{screen}");
    assert!(!screen.contains("Nothing is stored"), "{screen}");
}
