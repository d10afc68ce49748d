//! Notes on reports and rows: written, shown where they belong, kept when fetched again, deleted.

use crate::harness::{TuiHarness, file, main_file, options};
use crate::{above_bar, screen};
use behaview::app::TerminalEvent;
use behaview::report::Pane;

fn write(tui: &mut TuiHarness, text: &str) {
    tui.keys("a");
    tui.session.take(TerminalEvent::Paste(text.to_owned()));
    tui.keys("enter");
}

#[test]
fn a_note_on_a_report_is_written_shown_and_deleted() {
    let mut tui = TuiHarness::listed();
    tui.session.model.settings.forgets = Some("This is the demo");
    tui.size(80, 24).keys("a");
    assert!(tui.screen().contains("This is the demo: the note is deleted when this run ends"), "{}", tui.screen());
    let is_empty = |row: &str| row.starts_with('┃') && row.trim_matches('┃').trim().is_empty();
    assert_eq!(tui.screen().lines().filter(|row| is_empty(row)).count(), 1, "{}", tui.screen());
    tui.session.model.settings.forgets = None;
    tui.size(120, 40).keys("s e e space q u");
    screen!("note_typed", tui);
    tui.keys("enter");
    above_bar!("note_on_report", tui);
    let mut tui = tui.restart_without_service();
    assert!(tui.screen().contains("✎1"), "{}", tui.screen());
    tui.open(&main_file());
    assert!(tui.screen().contains("CAPE Sandbox ✎"), "{}", tui.screen());
    tui.keys("a ctrl-u enter");
    screen!("note_deletion_asks", tui);
    tui.keys("esc esc");
    assert!(tui.screen().contains("✎ see qu"), "{}", tui.screen());
    tui.keys("a ctrl-u enter y");
    assert!(!tui.screen().contains('✎'), "{}", tui.screen());
}

#[test]
fn row_note_survives_a_refetch() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 3 j");
    write(&mut tui, "survives a reboot\u{1b}[2J");
    screen!("note_on_row", tui);
    tui.keys("enter");
    screen!("note_in_detail", tui);
    write(&mut tui, "!");
    assert!(tui.screen().contains(r"survives a reboot [2J!"), "{}", tui.screen());
    tui.keys("esc r");
    assert_eq!(tui.paid_calls(), 2);
    tui.keys("esc enter 3");
    assert!(tui.screen().contains(" ✎"), "{}", tui.screen());
    assert_eq!(tui.screen().matches('✎').count(), 2, "{}", tui.screen());
}

#[test]
fn a_note_on_a_row_is_found_and_leads_to_the_row() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 3 j j");
    write(&mut tui, "comes back after a reboot");
    let row = tui.session.model.pane_state(Pane::Registry).scroll.cursor;
    tui.open_other(&file("Blank"));
    tui.keys("enter S");
    tui.session.take(TerminalEvent::Paste("AFTER A REBOOT".to_owned()));
    tui.rest();
    tui.keys("down enter");
    let model = &tui.session.model;
    assert_eq!((model.file(), model.focused()), (Some(&main_file()), Some(Pane::Registry)));
    assert_eq!(model.pane_state(Pane::Registry).scroll.cursor, row);
    assert!(tui.screen().contains("━ 3 Registry"), "{}", tui.screen());
}

#[test]
fn a_note_costs_nothing_and_needs_no_key() {
    let mut tui = TuiHarness::listed();
    tui.keys("a");
    tui.assert_shows("Note on");
    // Nothing is chosen.
    let mut tui = TuiHarness::without_key();
    tui.open(&main_file());
    tui.keys("a");
    tui.assert_gone("Note on");
    let mut tui = TuiHarness::at(main_file(), options());
    tui.keys("a");
    tui.assert_gone("Note on");
    assert_eq!(tui.paid_calls(), 0);
}

#[test]
fn note_changed_elsewhere_is_not_overwritten() {
    let mut tui = TuiHarness::listed();
    tui.keys("a m i n e");
    tui.sql(&tui.note_of_another("theirs"));
    tui.keys("enter");
    screen!("note_meanwhile", tui);
    tui.keys("esc");
    assert!(tui.screen().contains("✎ theirs"), "{}", tui.screen());
    // Who has seen it may put another in its place.
    tui.keys("a ctrl-u m i n e");
    tui.sql("UPDATE note SET text = CAST('theirs again' AS BLOB)");
    tui.keys("enter enter");
    assert!(tui.screen().contains("✎ mine"), "{}", tui.screen());
    // Nor is it deleted unseen.
    tui.keys("a ctrl-u");
    tui.sql("UPDATE note SET text = CAST('a third' AS BLOB)");
    tui.keys("enter y");
    assert!(tui.screen().contains("a third"), "{}", tui.screen());
    tui.keys("esc");
    assert!(tui.screen().contains("✎ a third"), "{}", tui.screen());
    tui.keys("a ctrl-u enter y");
    assert!(!tui.screen().contains('✎'), "{}", tui.screen());
}

#[test]
fn first_note_on_a_deleted_report_is_stored() {
    let mut tui = TuiHarness::listed();
    tui.keys("a o n e");
    tui.delete_stored("");
    tui.keys("enter");
    assert!(tui.screen().contains('✎'), "{}", tui.screen());
}

#[test]
fn overlong_note_is_refused_and_stays_editable() {
    let mut tui = TuiHarness::listed();
    write(&mut tui, &"ü".repeat(2_049));
    assert!(tui.screen().contains("A note has at most 4,096 bytes"), "{}", tui.screen());
    tui.keys("backspace enter");
    assert!(tui.screen().contains("CAPE Sandbox ✎"), "{}", tui.screen());
}

#[test]
fn quit_waits_for_a_locked_store_to_save_notes() {
    let mut tui = TuiHarness::listed();
    let other = rusqlite::Connection::open(tui.folder.path().join("store/records.db")).unwrap();
    let lock = |how: &str| other.execute_batch(how).unwrap();
    lock("BEGIN IMMEDIATE");
    tui.keys("a n o t e d");
    tui.press("enter");
    tui.press("q");
    tui.until("Waiting until paid responses and notes are stored");
    assert!(tui.session.exit.is_none());
    lock("ROLLBACK");
    tui.rest();
    assert!(tui.session.exit.is_some());
    let notes = || other.query_row("SELECT COUNT(*) FROM note", [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(notes(), 1);
}
