//! Finding: a pane's filter as it is typed, hits over all panes, hits over everything that is held, and the way to them.

use crate::screen;
use crate::stage::{Stage, file, main_file};

/// Types letters one by one, as an analyst does.
fn type_words(stage: &mut Stage, words: &str) {
    for letter in words.chars() {
        stage.keys(if letter == ' ' { "space".to_owned() } else { letter.to_string() }.as_str());
    }
}

#[test]
fn a_pane_is_filtered_as_you_type() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 j j /");
    type_words(&mut stage, "STAGE");
    screen!("filter_typed", stage);
    stage.keys("enter");
    screen!("filter_kept", stage);
    stage.keys("n N / backspace");
    stage.assert_shows("/STAG▏");
    stage.keys("esc");
    stage.assert_gone("/STAG");
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn leaving_a_filter_restores_what_was_before_it() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 j j j");
    let before = stage.screen();
    stage.keys("/ r u n esc");
    assert_eq!(stage.screen(), before);
    stage.keys("/ enter");
    assert_eq!(stage.screen(), before);
}

#[test]
fn the_chosen_row_stays_the_chosen_one_when_a_filter_comes_and_goes() {
    // With the tree as it is, and with one branch folded.
    for (folds, last) in [("g", "esc"), ("+ g j space g", "/ ctrl-u enter")] {
        let mut stage = Stage::listed();
        stage.keys(&format!("enter {folds} / c m d enter n n y"));
        let chosen = stage.copied();
        assert!(chosen.contains("cmd.exe"), "{chosen}");
        stage.assert_shows("/cmd");
        stage.keys(&format!("{last} y"));
        assert_eq!(stage.copied(), chosen, "{folds} {last}: {}", stage.screen());
        stage.assert_gone("/cmd");
    }
    let mut stage = Stage::listed();
    stage.keys("enter");
    for pane in ["1", "3", "9"] {
        stage.keys(&format!("{pane} g / e enter j j y"));
        let chosen = stage.copied();
        stage.keys("esc y");
        assert_eq!(stage.copied(), chosen, "{}", stage.screen());
        // One that the filter lets through stays when it comes.
        stage.keys("/ e enter y");
        assert_eq!(stage.copied(), chosen, "{}", stage.screen());
        stage.keys("esc");
    }
}

#[test]
fn a_registry_path_is_found_as_it_is_read() {
    let mut stage = Stage::listed();
    stage.keys("enter 3 z /");
    type_words(&mut stage, r"currentversion\run");
    screen!("filter_registry_path", stage);
}

#[test]
fn a_filtered_tree_keeps_those_above_what_is_found() {
    let mut stage = Stage::listed();
    stage.keys("enter - /");
    type_words(&mut stage, "cmd");
    screen!("filter_tree", stage);
    stage.keys("enter n");
    screen!("filter_tree_next", stage);
    stage.assert_shows("of 37");
    stage.keys("esc");
    stage.assert_gone("of 37");
}

#[test]
fn an_expression_that_makes_no_sense_leaves_the_last_result() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 z / ctrl-r");
    type_words(&mut stage, r"\.(js");
    screen!("filter_bad_expression", stage);
    type_words(&mut stage, r"|dll)$");
    screen!("filter_expression", stage);
    stage.keys("ctrl-r");
    screen!("filter_no_hit", stage);
}

#[test]
fn fields_that_stand_in_no_line_are_found() {
    let mut stage = Stage::listed();
    // The number of the process that dropped it, which only the whole row shows.
    stage.keys("enter 4 z /");
    type_words(&mut stage, "5120");
    screen!("filter_other_field", stage);
}

#[test]
fn all_panes_are_searched_and_a_hit_is_gone_to() {
    let mut stage = Stage::listed();
    stage.keys("enter F");
    screen!("find_nothing_typed", stage);
    type_words(&mut stage, "lumen32");
    screen!("find_hits", stage);
    stage.keys("down down down enter");
    screen!("find_gone_to", stage);
    stage.keys("n");
    screen!("find_next", stage);
    stage.keys("F");
    assert!(stage.screen().contains("find lumen32"), "{}", stage.screen());
    // The key of a pane shows its hits only, once the words are typed.
    stage.keys("enter esc 3");
    stage.assert_shows(" · Registry only");
    stage.keys("3 /");
    stage.assert_shows("find lumen32");
    stage.assert_gone(" only");
    stage.size(40, 10);
    screen!("find_small", stage);
    stage.keys("ctrl-w");
    type_words(&mut stage, "no such thing");
    screen!("find_no_hit", stage);
}

#[test]
fn everything_that_is_held_is_searched_for_nothing() {
    let mut stage = Stage::listed();
    stage.keys("A y");
    stage.open_other(&file("Blank"));
    stage.keys("enter");
    let paid = stage.paid_calls();
    stage.keys("S");
    type_words(&mut stage, "rundll32");
    screen!("held_hits", stage);
    stage.keys("down enter");
    screen!("held_gone_to", stage);
    assert_eq!(stage.paid_calls(), paid);
    assert!(stage.screen().contains(&main_file().short()), "{}", stage.screen());
}

#[test]
fn notes_are_found_with_what_is_held_and_lead_to_their_report() {
    let mut stage = Stage::listed();
    stage.keys("j a");
    type_words(&mut stage, "talks to the beacon at dawn");
    stage.keys("enter k S");
    type_words(&mut stage, "DAWN");
    screen!("held_note", stage);
    stage.keys("down enter");
    screen!("held_note_gone_to", stage);
    assert_eq!(stage.paid_calls(), 1);
}
