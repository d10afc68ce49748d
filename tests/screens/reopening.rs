//! A held report is opened by the index that is kept beside it, and by its bytes where there is none.

use crate::stage::{Stage, file, main_file, options};
use behaview::demo::Options;

/// The app at the report of many rows, with the index of it changed by a statement.
fn reopened(change: &str) -> (String, String) {
    let mut stage = Stage::at(file("Busy"), Options { rows: 6_000, ..options() });
    stage.keys("enter enter G");
    let before = stage.screen();
    stage.sql(change);
    let mut again = stage.restart_without_service();
    again.open(&file("Busy"));
    again.keys("tab G");
    (before, again.screen())
}

#[test]
fn a_report_looks_the_same_whatever_became_of_its_index() {
    for change in [
        "SELECT 1",
        "DELETE FROM row_index",
        "UPDATE row_index SET head = x'00'",
        "UPDATE row_index SET length = length - 4",
        "UPDATE index_block SET bytes = x'00'",
        "DELETE FROM index_block",
    ] {
        let (before, after) = reopened(change);
        assert!(before.contains("Processes 600"), "{before}");
        let panes = |screen: &str| screen.lines().take(30).skip(2).collect::<Vec<_>>().join("\n");
        assert_eq!(panes(&before), panes(&after), "{change}");
    }
}

#[test]
fn a_list_that_cannot_be_read_is_said_to_be_set_aside() {
    let stage = Stage::listed();
    stage.sql("UPDATE block SET bytes = zeroblob(100)");
    let mut again = stage.restart_without_service();
    again.open(&main_file());
    let screen = again.screen();
    assert!(screen.contains("the list of its sandboxes of") && screen.contains("is set aside"), "{screen}");
}

#[test]
fn where_a_list_is_set_aside_what_is_held_beside_it_is_counted() {
    let mut stage = Stage::listed();
    stage.keys("G enter");
    stage.sql("UPDATE block SET bytes = zeroblob(100) WHERE answer = (SELECT MIN(id) FROM answer)");
    let mut again = stage.restart_without_service();
    again.open(&main_file());
    again.keys("G");
    let screen = again.screen();
    assert!(screen.contains("list the sandboxes") && screen.contains("Held of this file: 2 reports"), "{screen}");
    assert!(!screen.contains("Nothing is held"), "{screen}");
}
