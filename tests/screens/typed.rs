//! What is typed where nothing can be: it never acts, and no question takes it for a yes.

use crate::stage::{Stage, file, identifiers, main_file};
use behaview::app::TerminalEvent;
use behaview::demo::Endpoint;

#[test]
fn a_question_is_closed_as_no_by_any_key_that_is_not_its_own() {
    let mut stage = Stage::listed();
    for (question, other, words) in [
        ("E", "v", "v is no answer to the question: it is closed, and nothing was done."),
        ("H X", "a", "a is no answer"),
        ("esc H D", "tab", "tab is no answer"),
        ("esc H d", "j", "j is no answer"),
        ("esc 2 Y", "?", "? is no answer"),
    ] {
        stage.keys(question);
        assert!(stage.screen().contains("Are you sure?"), "{question}: {}", stage.screen());
        assert!(!stage.screen().contains("? help"), "the bar names what answers alone: {}", stage.screen());
        stage.keys(other);
        assert!(!stage.screen().contains("Are you sure?"), "{question}: {}", stage.screen());
        assert!(stage.screen().contains(words), "{question}: {}", stage.screen());
    }
    assert_eq!((stage.calls(Endpoint::PrivateDelete), stage.paid_calls()), (0, 1));
}

#[test]
fn what_is_typed_after_a_key_that_is_off_deletes_and_pays_nothing() {
    let mut stage = Stage::listed();
    for typed in ["/ E v e r y", "F H / D y", "a G / R u n"] {
        stage.keys("G").keys(typed);
        assert!(stage.screen().contains("Nothing can be typed here"), "{typed}: {}", stage.screen());
        stage.keys("esc");
        assert!(!stage.screen().contains("Nothing can be typed here"), "{typed}: {}", stage.screen());
    }
    assert_eq!((stage.calls(Endpoint::PrivateDelete), stage.paid_calls()), (0, 1));
    assert!(stage.screen().contains("next page"), "{}", stage.screen());
}

#[test]
fn a_line_where_nothing_is_sought_says_why_and_ends_by_enter() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("/ E y");
    insta::assert_snapshot!("typed_in_vain", stage.screen());
    stage.keys("enter");
    assert!(!stage.screen().contains("Nothing can be typed here"), "{}", stage.screen());
    stage.keys("? esc $ / d y esc esc");
    assert_eq!(stage.paid_calls(), 0);
}

#[test]
fn what_is_held_is_sought_in_by_the_words_of_its_row() {
    let mut stage = Stage::listed();
    stage.keys("H / d a i l y");
    assert!(stage.screen().contains("no row holds this"), "{}", stage.screen());
    stage.keys("ctrl-u c a p e enter");
    assert!(stage.screen().contains("Held: 1 of 4"), "{}", stage.screen());
    stage.keys("X");
    assert!(stage.screen().contains("needs all rows shown"), "{}", stage.screen());
    stage.keys("d");
    assert!(stage.screen().contains("the report by CAPE Sandbox"), "{}", stage.screen());
    stage.keys("y");
    assert!(stage.screen().contains("Held: 0 of 3"), "{}", stage.screen());
}

#[test]
fn indicators_are_sought_in() {
    let mut stage = Stage::listed();
    stage.keys("i / l u m e n");
    let screen = stage.screen();
    assert!(screen.contains("lumen") && screen.contains(" of "), "{screen}");
    stage.keys("enter tab");
    insta::assert_snapshot!("indicators_sought", stage.screen());
    stage.keys("/ z z z z enter enter");
    assert!(stage.screen().contains("no row holds this"), "{}", stage.screen());
    stage.keys("/ esc");
    assert!(!stage.screen().contains("no row holds this"), "{}", stage.screen());
}

#[test]
fn the_words_of_last_time_give_way_to_what_is_typed() {
    let mut stage = Stage::listed();
    stage.keys("F l u m e n enter F");
    assert!(stage.screen().contains("find lumen▏"), "{}", stage.screen());
    assert!(stage.screen().contains("typing replaces these words"), "{}", stage.screen());
    stage.keys("g a t e");
    assert!(stage.screen().contains("find gate▏"), "{}", stage.screen());
    stage.keys("esc F backspace");
    assert!(stage.screen().contains("find gat▏"), "{}", stage.screen());
}

#[test]
fn rows_that_deserve_a_look_and_items_of_a_comparison_can_be_copied() {
    let mut stage = Stage::listed();
    stage.keys("! y");
    let value = stage.copied();
    stage.keys("ctrl-y");
    let row = stage.copied();
    assert!(row.starts_with("high · ") && row.contains(&value), "{row:?} {value:?}");
    stage.keys("tab ctrl-y");
    let row = stage.copied();
    assert!(row.contains(" · seen by CAPE Sandbox"), "{row:?}");
    stage.keys("esc c y");
    let value = stage.copied();
    stage.keys("ctrl-y");
    let row = stage.copied();
    assert!(row.starts_with("seen by ") && row.contains(" of 4: ") && row.contains(&value), "{row:?} {value:?}");
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn what_is_not_judged_is_said_beside_what_deserves_a_look_in_all() {
    let mut stage = Stage::listed();
    stage.keys("!");
    assert!(stage.screen().contains("tab all sandboxes"), "{}", stage.screen());
    stage.keys("tab");
    let screen = stage.screen();
    assert!(screen.contains("in all held reports of the file · "), "{screen}");
    assert!(screen.contains("Not in it: further sandboxes on pages that were not listed."), "{screen}");
    assert!(screen.contains("tab this sandbox") && !screen.contains("tab all sandboxes"), "{screen}");
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter enter esc j enter esc ! tab");
    assert!(stage.screen().contains("Not in it: 2 reports not held, and further"), "{}", stage.screen());
    stage.size(80, 24);
    assert!(stage.screen().contains("Not in it: 2 reports not held, and further"), "{}", stage.screen());
}

#[test]
fn a_plan_that_does_not_fit_the_screen_says_that_it_goes_on() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("p");
    for typed in ["private-behaviours --calls 3", "v2-file-report 600"] {
        for letter in typed.chars() {
            stage.press(&letter.to_string().replace(' ', "space"));
        }
        stage.keys("enter");
    }
    let screen = stage.screen();
    assert!(
        screen.contains("private-behaviours · 3 calls") && screen.contains("more than are left this hour"),
        "{screen}"
    );
    stage.size(80, 12);
    let screen = stage.screen();
    assert!(screen.contains(" …  "), "{screen}");
}

#[test]
fn the_page_of_a_followed_scan_stops_it() {
    let mut stage = Stage::at(file("Still in the queue"), identifiers());
    stage.keys("W W");
    let is_followed = |stage: &Stage| stage.session.model().following().is_some();
    assert!(is_followed(&stage) && stage.screen().contains("s stops"), "{}", stage.screen());
    stage.keys("s");
    assert!(!is_followed(&stage), "{}", stage.screen());
    assert!(stage.screen().contains("not followed any more"), "{}", stage.screen());
}

#[test]
fn behind_the_first_digit_of_a_hash_letters_are_no_keys() {
    let mut stage = Stage::listed();
    stage.keys("f");
    assert!(!stage.screen().contains('▏'), "nothing is typed into yet: {}", stage.screen());
    stage.keys("a q H p");
    assert_eq!(stage.session.exit(), None);
    let screen = stage.screen();
    assert!(screen.contains("SHA-256 a▏ 63 to go") && screen.contains("p is no digit of a SHA-256"), "{screen}");
    stage.keys("5 ctrl-w");
    assert!(!stage.screen().contains('▏'), "{}", stage.screen());
    stage.keys("c esc");
    assert!(!stage.screen().contains('▏') && stage.screen().contains("Which file?"), "{}", stage.screen());
}

#[test]
fn the_last_word_of_a_line_is_taken_off_at_once() {
    let mut stage = Stage::listed();
    for (line, before, after) in
        [("F o n e space t w o", "find one two▏", "find one ▏"), ("esc S o n e space", "find one ▏", "find ▏")]
    {
        stage.keys(line);
        assert!(stage.screen().contains(before), "{}", stage.screen());
        stage.keys("ctrl-w");
        assert!(stage.screen().contains(after), "{}", stage.screen());
    }
    stage.keys("esc enter / p o w ctrl-w");
    assert!(stage.screen().contains("· /▏"), "{}", stage.screen());
}

#[test]
fn numbers_of_units_are_written_in_thousands() {
    let mut stage = Stage::listed();
    stage.keys("p");
    stage.session.take(TerminalEvent::Paste("v2-file-report 30000".to_owned()));
    stage.rest();
    assert!(stage.screen().contains("30,000 hashes · 30,000 requests"), "{}", stage.screen());
}

#[test]
fn the_prices_say_where_the_other_rules_are() {
    let mut stage = Stage::listed();
    stage.keys("$ G");
    assert!(stage.screen().contains("behaview cost rules"), "{}", stage.screen());
}
