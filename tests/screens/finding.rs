//! Finding: a pane's filter while typed, hits in all panes and stored reports, jumps to them.

use crate::harness::{TuiHarness, file, main_file};
use crate::screen;

/// Types letters one by one, as an analyst does.
fn type_words(tui: &mut TuiHarness, words: &str) {
    for letter in words.chars() {
        tui.keys(if letter == ' ' { "space".to_owned() } else { letter.to_string() }.as_str());
    }
}

#[test]
fn a_pane_is_filtered_as_you_type() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 4 j j /");
    type_words(&mut tui, "STAGE");
    screen!("filter_typed", tui);
    tui.keys("enter");
    screen!("filter_kept", tui);
    tui.keys("n N / backspace");
    tui.assert_shows("/STAG▏");
    tui.keys("esc");
    tui.assert_gone("/STAG");
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn leaving_a_filter_restores_the_previous_view() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 4 j j j");
    let before = tui.screen();
    tui.keys("/ r u n esc");
    assert_eq!(tui.screen(), before);
    tui.keys("/ enter");
    assert_eq!(tui.screen(), before);
}

#[test]
fn filter_preserves_the_selected_row() {
    // With the tree as it is, and with one branch folded.
    for (folds, last) in [("g", "esc"), ("+ g j space g", "/ ctrl-u enter")] {
        let mut tui = TuiHarness::listed();
        tui.keys(&format!("enter {folds} / c m d enter n n y"));
        let chosen = tui.copied();
        assert!(chosen.contains("cmd.exe"), "{chosen}");
        tui.assert_shows("/cmd");
        tui.keys(&format!("{last} y"));
        assert_eq!(tui.copied(), chosen, "{folds} {last}: {}", tui.screen());
        tui.assert_gone("/cmd");
    }
    let mut tui = TuiHarness::listed();
    tui.keys("enter");
    for pane in ["1", "3", "9"] {
        tui.keys(&format!("{pane} g / e enter j j y"));
        let chosen = tui.copied();
        tui.keys("esc y");
        assert_eq!(tui.copied(), chosen, "{}", tui.screen());
        // One that the filter lets through stays when it comes.
        tui.keys("/ e enter y");
        assert_eq!(tui.copied(), chosen, "{}", tui.screen());
        tui.keys("esc");
    }
}

#[test]
fn a_registry_path_is_found_as_it_is_read() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 3 z /");
    type_words(&mut tui, r"currentversion\run");
    screen!("filter_registry_path", tui);
}

#[test]
fn filtered_tree_shows_ancestors_of_matches() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter - /");
    type_words(&mut tui, "cmd");
    screen!("filter_tree", tui);
    tui.keys("enter n");
    screen!("filter_tree_next", tui);
    tui.assert_shows("of 37");
    tui.keys("esc");
    tui.assert_gone("of 37");
}

#[test]
fn invalid_regex_preserves_the_last_result() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 4 z / ctrl-r");
    type_words(&mut tui, r"\.(js");
    screen!("filter_bad_expression", tui);
    type_words(&mut tui, r"|dll)$");
    screen!("filter_expression", tui);
    tui.keys("ctrl-r");
    screen!("filter_no_hit", tui);
}

#[test]
fn fields_outside_the_line_are_searched() {
    let mut tui = TuiHarness::listed();
    // The number of the process that dropped it, which only the whole row shows.
    tui.keys("enter 4 z /");
    type_words(&mut tui, "5120");
    screen!("filter_other_field", tui);
}

#[test]
fn all_panes_are_searched_and_a_match_is_opened() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter F");
    screen!("find_nothing_typed", tui);
    type_words(&mut tui, "lumen32");
    screen!("find_hits", tui);
    tui.keys("down down down enter");
    screen!("find_gone_to", tui);
    tui.keys("n");
    screen!("find_next", tui);
    tui.keys("F");
    assert!(tui.screen().contains("find lumen32"), "{}", tui.screen());
    // The key of a pane shows its hits only, once the words are typed.
    tui.keys("enter esc 3");
    tui.assert_shows(" · Registry only");
    tui.keys("3 /");
    tui.assert_shows("find lumen32");
    tui.assert_gone(" only");
    tui.size(40, 10);
    screen!("find_small", tui);
    tui.keys("ctrl-w");
    type_words(&mut tui, "no such thing");
    screen!("find_no_hit", tui);
}

#[test]
fn stored_reports_are_searched_at_no_cost() {
    let mut tui = TuiHarness::listed();
    tui.keys("A y");
    tui.open_other(&file("Blank"));
    tui.keys("enter");
    let paid = tui.paid_calls();
    tui.keys("S");
    type_words(&mut tui, "rundll32");
    screen!("stored_hits", tui);
    tui.keys("down enter");
    screen!("stored_gone_to", tui);
    assert_eq!(tui.paid_calls(), paid);
    assert!(tui.screen().contains(&main_file().short()), "{}", tui.screen());
}

#[test]
fn notes_are_searched_and_lead_to_their_report() {
    let mut tui = TuiHarness::listed();
    tui.keys("j a");
    type_words(&mut tui, "talks to the beacon at dawn");
    tui.keys("enter k S");
    type_words(&mut tui, "DAWN");
    screen!("stored_note", tui);
    tui.keys("down enter");
    screen!("stored_note_gone_to", tui);
    assert_eq!(tui.paid_calls(), 1);
}
