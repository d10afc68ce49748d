//! A stored report is opened as it was shown when it came; what is damaged is said to be unreadable.

use crate::stage::{Stage, file, main_file, options};
use behaview::demo::Options;

#[test]
fn a_stored_report_is_shown_as_when_it_came() {
    let mut stage = Stage::at(file("Busy"), Options { rows: 6_000, ..options() });
    stage.keys("enter enter G");
    let before = stage.screen();
    let mut again = stage.restart_without_service();
    again.open(&file("Busy"));
    again.keys("tab G");
    assert!(before.contains("Processes 600"), "{before}");
    let panes = |screen: &str| screen.lines().take(30).skip(2).collect::<Vec<_>>().join("\n");
    assert_eq!(panes(&before), panes(&again.screen()));
}

#[test]
fn where_a_list_is_unreadable_what_is_held_beside_it_is_counted() {
    let mut stage = Stage::listed();
    stage.keys("G enter");
    stage.damage_stored("/behaviours-");
    let mut again = stage.restart_without_service();
    again.open(&main_file());
    again.keys("G");
    let screen = again.screen();
    assert!(screen.contains("list the sandboxes") && screen.contains("Stored of this file: 6 reports"), "{screen}");
    assert!(!screen.contains("Nothing is stored"), "{screen}");
}
