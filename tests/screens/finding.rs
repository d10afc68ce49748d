//! Finding: a pane's filter as it is typed, hits over all panes, hits over everything that is held, and the way to them.

use crate::screen;
use crate::stage::{Stage, file, main_file, options};

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
    assert!(stage.screen().contains("/STAG▏"), "{}", stage.screen());
    stage.keys("esc");
    assert!(!stage.screen().contains("/STAG"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn what_happened_to_a_file_is_found_as_its_name_is() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 /");
    type_words(&mut stage, "dropped");
    assert!(stage.screen().contains("/dropped▏") && !stage.screen().contains(" 0 of "), "{}", stage.screen());
    stage.keys("esc F");
    type_words(&mut stage, "injected");
    assert!(stage.screen().contains(" hit") && !stage.screen().contains("nothing holds this"), "{}", stage.screen());
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
    // With the tree as it is, with all of it folded, and with one branch folded.
    for folds in ["g", "- g", "+ g j space g"] {
        for last in ["esc", "/ ctrl-u enter", "/ esc"] {
            let mut stage = Stage::listed();
            stage.keys(&format!("enter {folds} / c m d enter n n y"));
            let chosen = stage.copied();
            assert!(chosen.contains("cmd.exe"), "{chosen}");
            stage.keys(&format!("{last} y"));
            assert_eq!(stage.copied(), chosen, "{folds} {last}: {}", stage.screen());
            assert!(!stage.screen().contains("/cmd"), "{}", stage.screen());
        }
    }
    let mut stage = Stage::listed();
    stage.keys("enter");
    for pane in ["1", "2", "3", "4", "6", "7", "9", "0"] {
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
fn a_row_that_a_filter_hides_comes_back_with_the_letters_that_hid_it() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 j j j j j y");
    let chosen = stage.copied();
    stage.keys("/ s t a g e ctrl-u");
    stage.keys("enter y");
    assert_eq!(stage.copied(), chosen, "{}", stage.screen());
}

#[test]
fn the_chosen_line_of_a_list_stays_the_chosen_one_when_it_is_sought_in() {
    let mut stage = Stage::listed();
    for list in ["H", "i", "!"] {
        stage.keys(&format!("{list} / e enter j j"));
        let chosen = |stage: &Stage| {
            let screen = stage.screen();
            let line = screen.lines().find(|line| line.contains('›')).unwrap_or_else(|| panic!("{screen}"));
            line.to_owned()
        };
        let before = chosen(&stage);
        stage.keys("/ ctrl-u enter");
        assert_eq!(chosen(&stage), before, "{list}: {}", stage.screen());
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
    stage.keys("esc");
    assert!(!stage.screen().contains("of 37"), "{}", stage.screen());
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
    stage.size(40, 10);
    screen!("find_small", stage);
    stage.keys("ctrl-u");
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

#[test]
fn a_large_report_is_filtered_and_searched_whole() {
    let mut stage = Stage::at(file("Busy"), options());
    stage.keys("enter enter 4 / 2 9 9");
    screen!("filter_generated", stage);
}

#[test]
fn what_another_profile_holds_is_found_and_says_whose_it_is() {
    let stage = Stage::listed();
    stage.move_to_another_service();
    let mut stage = stage.restart_as("second");
    stage.keys("S");
    type_words(&mut stage, "rundll32");
    let screen = stage.screen();
    assert!(screen.contains("4 of 4 reports") && screen.contains("· held for profile demo"), "{screen}");
    stage.keys("down enter");
    let screen = stage.screen();
    assert!(screen.contains("Profile demo holds this report: behaview --profile demo opens it."), "{screen}");
    assert!(screen.contains("Search everything that is held"), "the list of hits stays: {screen}");
}

#[test]
fn a_filter_without_another_hit_says_so() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 /");
    type_words(&mut stage, "zzzz");
    stage.keys("enter n");
    assert!(stage.screen().contains("Nothing in this pane holds what the filter seeks."), "{}", stage.screen());
    stage.keys("esc /");
    type_words(&mut stage, "9a8b7c6d");
    stage.keys("enter n");
    assert!(stage.screen().contains("This is the only hit."), "{}", stage.screen());
}

#[test]
fn hits_stand_in_the_order_of_their_pane() {
    const KINDS: [&str; 6] = ["dropped", "written", "deleted", "copied", "changed", "opened"];
    let mut stage = Stage::listed();
    stage.keys("F");
    type_words(&mut stage, "statement_setup");
    let screen = stage.screen();
    let files = screen.lines().skip_while(|line| !line.contains("4 Files")).skip(1);
    let kind = |line: &str| KINDS.iter().position(|kind| line.split_whitespace().nth(1) == Some(kind));
    let kinds: Vec<_> = files.map_while(kind).collect();
    assert!(kinds.len() > 2 && kinds.is_sorted(), "{kinds:?}\n{screen}");
}

#[test]
fn a_report_that_is_fetched_again_keeps_its_filter() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 /");
    type_words(&mut stage, "stage");
    stage.keys("enter");
    let before = stage.screen();
    stage.keys("r");
    assert_eq!(stage.paid_calls(), 2);
    let pane = |screen: &str| screen.lines().filter(|line| line.contains("stage.js")).count();
    assert!(stage.screen().contains("of 22 · /stage"), "{}", stage.screen());
    assert_eq!(pane(&stage.screen()), pane(&before));
    stage.keys("esc");
    assert!(!stage.screen().contains("/stage"), "{}", stage.screen());
}

#[test]
fn an_expression_that_makes_no_sense_has_no_hits_of_another() {
    for key in ["F", "S"] {
        let mut stage = Stage::listed();
        stage.keys(&format!("{key} ctrl-r"));
        type_words(&mut stage, "lumen");
        assert!(stage.screen().contains(" hits"), "{}", stage.screen());
        stage.keys("(");
        let is_refused = |stage: &Stage| {
            let screen = stage.screen();
            assert!(screen.contains("unclosed group") && !screen.contains(" hits"), "{key}: {screen}");
        };
        is_refused(&stage);
        stage.keys("enter");
        is_refused(&stage);
        stage.keys("ctrl-u");
        // What the search for the letters before it brings comes after it.
        "lumen(".chars().for_each(|letter| stage.press(&letter.to_string()));
        stage.rest();
        is_refused(&stage);
    }
}

#[test]
fn whoever_looks_for_searching_finds_both_searches() {
    let mut stage = Stage::listed();
    stage.keys(":");
    type_words(&mut stage, "search");
    let screen = stage.screen();
    assert!(screen.contains("find-held") && screen.contains("find  "), "{screen}");
}

#[test]
fn hits_that_are_gone_back_to_take_keys_and_no_words() {
    let mut stage = Stage::listed();
    for begin in ["S", "esc F"] {
        stage.keys(begin);
        type_words(&mut stage, "lumen");
        stage.keys("enter esc j");
        assert!(stage.screen().contains("find lumen ") && !stage.screen().contains('▏'), "{}", stage.screen());
        stage.keys("/ x");
        assert!(stage.screen().contains("find lumenx▏"), "{}", stage.screen());
        stage.keys("backspace enter esc esc");
        assert!(!stage.screen().contains("find lumen"), "{}", stage.screen());
    }
}
