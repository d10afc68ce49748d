//! The start screen: no key, a typed hash, a pasted one, earlier files.

use crate::stage::{Stage, main_file, options};
use crate::{above_bar, screen};
use behaview::app::TerminalEvent;
use behaview::runtime::Exit;

#[test]
fn without_a_key_three_lines_say_what_is_missing_and_offer_the_demo() {
    let mut stage = Stage::without_key();
    screen!("start_without_key", stage);
    stage.press("t");
    assert_eq!(stage.session.exit, Some(Exit::Demo));
}

#[test]
fn a_file_can_be_opened_without_a_key_but_nothing_is_asked() {
    let mut stage = Stage::without_key();
    stage.open(&main_file());
    stage.keys("enter");
    above_bar!("file_without_key", stage);
}

#[test]
fn a_hash_can_be_typed() {
    let mut stage = Stage::new(options());
    stage.keys("3 0 d 1 x G backspace");
    screen!("start_typed", stage);
    stage.keys("enter");
    screen!("start_typed_too_short", stage);
    for digit in main_file().as_str()[3..].chars() {
        stage.keys(&digit.to_string());
    }
    stage.keys("enter");
    assert!(stage.screen().contains("list the sandboxes"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
}

#[test]
fn a_hash_is_found_in_what_is_pasted() {
    let mut stage = Stage::new(options());
    stage.session.take(TerminalEvent::Paste("no hash here".to_owned()));
    stage.rest();
    screen!("start_pasted_nonsense", stage);
    let text = format!("\"SHA-256\":\t{}\r\n\u{1b}[31m", main_file().as_str().to_uppercase());
    stage.session.take(TerminalEvent::Paste(text));
    stage.rest();
    screen!("start_pasted", stage);
}

#[test]
fn earlier_files_are_offered() {
    let mut stage = Stage::listed();
    stage.keys("f");
    screen!("start_earlier_files", stage);
    stage.keys("enter");
    assert!(stage.screen().contains("Sandboxes 4 of 6"));
    assert_eq!(stage.paid_calls(), 1);
}
