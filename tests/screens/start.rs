//! The start screen: no key, a typed hash, a pasted one, earlier files.

use crate::harness::{TuiHarness, main_file, options};
use crate::{above_bar, screen};
use behaview::app::TerminalEvent;
use behaview::runtime::RunExit;

#[test]
fn missing_key_is_explained_and_demo_offered() {
    let mut tui = TuiHarness::without_key();
    screen!("start_without_key", tui);
    tui.press("t");
    assert_eq!(tui.session.exit, Some(RunExit::Demo));
}

#[test]
fn file_opens_without_a_key_and_sends_nothing() {
    let mut tui = TuiHarness::without_key();
    tui.open(&main_file());
    tui.keys("enter");
    above_bar!("file_without_key", tui);
}

#[test]
fn a_hash_can_be_typed() {
    let mut tui = TuiHarness::new(options());
    tui.keys("3 0 d 1 x G backspace");
    screen!("start_typed", tui);
    tui.keys("enter");
    screen!("start_typed_too_short", tui);
    for digit in main_file().as_str()[3..].chars() {
        tui.keys(&digit.to_string());
    }
    tui.keys("enter");
    assert!(tui.screen().contains("list the sandboxes"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
}

#[test]
fn hash_is_found_in_pasted_text() {
    let mut tui = TuiHarness::new(options());
    tui.session.take(TerminalEvent::Paste("no hash here".to_owned()));
    tui.rest();
    screen!("start_pasted_nonsense", tui);
    let text = format!("\"SHA-256\":\t{}\r\n\u{1b}[31m", main_file().as_str().to_uppercase());
    tui.session.take(TerminalEvent::Paste(text));
    tui.rest();
    screen!("start_pasted", tui);
}

#[test]
fn earlier_files_are_offered() {
    let mut tui = TuiHarness::listed();
    tui.keys("f");
    screen!("start_earlier_files", tui);
    tui.keys("enter");
    assert!(tui.screen().contains("Sandboxes 4 of 6"));
    assert_eq!(tui.paid_calls(), 1);
}
