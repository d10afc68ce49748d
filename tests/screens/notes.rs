//! Notes on reports and on rows: written, shown wherever they belong, kept over a new fetch, deleted.

use crate::stage::{Stage, file, main_file, options};
use crate::{above_bar, screen};
use behaview::app::TerminalEvent;
use behaview::report::Pane;

fn write(stage: &mut Stage, text: &str) {
    stage.keys("a");
    stage.session.take(TerminalEvent::Paste(text.to_owned()));
    stage.keys("enter");
}

#[test]
fn a_note_on_a_report_is_written_shown_and_deleted() {
    let mut stage = Stage::listed();
    stage.session.model.settings.forgets = Some("This is the demo");
    stage.size(80, 24).keys("a");
    assert!(stage.screen().contains("This is the demo: the note is gone when this run ends"), "{}", stage.screen());
    let is_empty = |row: &str| row.starts_with('┃') && row.trim_matches('┃').trim().is_empty();
    assert_eq!(stage.screen().lines().filter(|row| is_empty(row)).count(), 1, "{}", stage.screen());
    stage.session.model.settings.forgets = None;
    stage.size(120, 40).keys("s e e space q u");
    screen!("note_typed", stage);
    stage.keys("enter");
    above_bar!("note_on_report", stage);
    let mut stage = stage.restart_without_service();
    assert!(stage.screen().contains("✎1"), "{}", stage.screen());
    stage.open(&main_file());
    assert!(stage.screen().contains("CAPE Sandbox ✎"), "{}", stage.screen());
    stage.keys("a ctrl-u enter");
    screen!("note_deletion_asks", stage);
    stage.keys("esc esc");
    assert!(stage.screen().contains("✎ see qu"), "{}", stage.screen());
    stage.keys("a ctrl-u enter y");
    assert!(!stage.screen().contains('✎'), "{}", stage.screen());
}

#[test]
fn a_note_on_a_row_stays_with_what_the_row_says() {
    let mut stage = Stage::listed();
    stage.keys("enter 3 j");
    write(&mut stage, "survives a reboot\u{1b}[2J");
    screen!("note_on_row", stage);
    stage.keys("enter");
    screen!("note_in_detail", stage);
    write(&mut stage, "!");
    assert!(stage.screen().contains(r"survives a reboot [2J!"), "{}", stage.screen());
    stage.keys("esc r");
    assert_eq!(stage.paid_calls(), 2);
    stage.keys("esc enter 3");
    assert!(stage.screen().contains(" ✎"), "{}", stage.screen());
    assert_eq!(stage.screen().matches('✎').count(), 2, "{}", stage.screen());
}

#[test]
fn a_note_on_a_row_is_found_and_leads_to_the_row() {
    let mut stage = Stage::listed();
    stage.keys("enter 3 j j");
    write(&mut stage, "comes back after a reboot");
    let row = stage.session.model.pane_state(Pane::Registry).scroll.cursor;
    stage.open_other(&file("Blank"));
    stage.keys("enter S");
    stage.session.take(TerminalEvent::Paste("AFTER A REBOOT".to_owned()));
    stage.rest();
    stage.keys("down enter");
    let model = &stage.session.model;
    assert_eq!((model.file(), model.focused()), (Some(&main_file()), Some(Pane::Registry)));
    assert_eq!(model.pane_state(Pane::Registry).scroll.cursor, row);
    assert!(stage.screen().contains("━ 3 Registry"), "{}", stage.screen());
}

#[test]
fn a_note_costs_nothing_and_needs_no_key() {
    let mut stage = Stage::listed();
    stage.keys("a");
    stage.assert_shows("Note on");
    // Nothing is chosen.
    let mut stage = Stage::without_key();
    stage.open(&main_file());
    stage.keys("a");
    stage.assert_gone("Note on");
    let mut stage = Stage::at(main_file(), options());
    stage.keys("a");
    stage.assert_gone("Note on");
    assert_eq!(stage.paid_calls(), 0);
}

#[test]
fn a_note_that_another_program_wrote_meanwhile_is_shown_and_not_overwritten() {
    let mut stage = Stage::listed();
    stage.keys("a m i n e");
    stage.sql(&stage.note_of_another("theirs"));
    stage.keys("enter");
    screen!("note_meanwhile", stage);
    stage.keys("esc");
    assert!(stage.screen().contains("✎ theirs"), "{}", stage.screen());
    // Who has seen it may put another in its place.
    stage.keys("a ctrl-u m i n e");
    stage.sql("UPDATE note SET text = CAST('theirs again' AS BLOB)");
    stage.keys("enter enter");
    assert!(stage.screen().contains("✎ mine"), "{}", stage.screen());
    // Nor is it deleted unseen.
    stage.keys("a ctrl-u");
    stage.sql("UPDATE note SET text = CAST('a third' AS BLOB)");
    stage.keys("enter y");
    assert!(stage.screen().contains("a third"), "{}", stage.screen());
    stage.keys("esc");
    assert!(stage.screen().contains("✎ a third"), "{}", stage.screen());
    stage.keys("a ctrl-u enter y");
    assert!(!stage.screen().contains('✎'), "{}", stage.screen());
}

#[test]
fn first_note_on_a_deleted_report_is_kept() {
    let mut stage = Stage::listed();
    stage.keys("a o n e");
    stage.delete_stored("");
    stage.keys("enter");
    assert!(stage.screen().contains('✎'), "{}", stage.screen());
}

#[test]
fn a_note_that_is_too_long_is_not_cut_and_stays_in_its_line() {
    let mut stage = Stage::listed();
    write(&mut stage, &"ü".repeat(2_049));
    assert!(stage.screen().contains("A note has at most 4,096 bytes"), "{}", stage.screen());
    stage.keys("backspace enter");
    assert!(stage.screen().contains("CAPE Sandbox ✎"), "{}", stage.screen());
}

#[test]
fn who_leaves_while_another_program_writes_is_told_what_is_waited_for_and_nothing_is_lost() {
    let mut stage = Stage::listed();
    let other = rusqlite::Connection::open(stage.folder.path().join("store/records.db")).unwrap();
    let lock = |how: &str| other.execute_batch(how).unwrap();
    lock("BEGIN IMMEDIATE");
    stage.keys("a n o t e d");
    stage.press("enter");
    stage.press("q");
    stage.until("Waiting until paid responses and notes are stored");
    assert!(stage.session.exit.is_none());
    lock("ROLLBACK");
    stage.rest();
    assert!(stage.session.exit.is_some());
    let notes = || other.query_row("SELECT COUNT(*) FROM note", [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(notes(), 1);
}
