//! Sandboxes against each other: marks, filters, finding, going to a row, fetching what is missing, another file.

use crate::screen;
use crate::stage::{Stage, file, main_file, options};

#[test]
fn a_matrix_says_which_sandbox_saw_what() {
    let mut stage = Stage::listed();
    stage.keys("c");
    screen!("compare_all", stage);
    assert_eq!(stage.paid_calls(), 1);
    stage.keys("} v");
    screen!("compare_in_all", stage);
    stage.keys("{ l v v");
    screen!("compare_only_here", stage);
    stage.keys("v");
    screen!("compare_not_here", stage);
    stage.size(40, 10);
    screen!("compare_small", stage);
}

#[test]
fn the_key_of_a_pane_shows_its_items_only_or_all_again() {
    let mut stage = Stage::listed();
    stage.keys("c 5");
    assert!(stage.screen().contains("Compare · Network"), "{}", stage.screen());
    stage.assert_shows("gate.lumen.example →");
    assert!(!stage.screen().contains("conhost"), "{}", stage.screen());
    stage.keys("5");
    assert!(stage.screen().contains("Compare · all panes"), "{}", stage.screen());
    stage.keys("8 v");
    let none = "no match · 11 are hidden by the view: v changes it · 1 by the pane: 8 shows all";
    assert!(stage.screen().contains(none), "{}", stage.screen());
    stage.keys("esc c");
    assert!(stage.screen().contains("Compare · all panes · everything"), "{}", stage.screen());
    stage.keys("9");
    screen!("compare_techniques", stage);
    stage.keys("/ T 1 4 9 7 . 0 0 3 enter");
    assert_eq!(stage.screen().matches("Time Based Checks").count(), 1, "a technique is one item: {}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains("by rule:"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn a_row_leads_to_where_it_was_seen_and_back() {
    let mut stage = Stage::listed();
    stage.keys("c / l u m e n enter enter");
    screen!("compare_where", stage);
    stage.keys("enter");
    screen!("compare_arrived", stage);
    stage.keys("c");
    assert!(stage.screen().contains("Compare · all panes"), "{}", stage.screen());
    assert!(stage.screen().contains("/ lumen"), "{}", stage.screen());
    // The filter goes before the comparison does.
    stage.keys("esc");
    assert!(stage.screen().contains(" 216 items "), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn what_is_not_held_is_fetched_at_a_price_that_is_said() {
    let mut stage =
        Stage::new(behaview::demo::Options { listing: behaview::demo::ListContent::Identifiers, ..options() });
    stage.open(&main_file());
    stage.keys("enter enter esc c");
    screen!("compare_missing", stage);
    stage.keys("A");
    for _ in 0..6 {
        stage.later(70);
        stage.rest();
    }
    screen!("compare_fetched", stage);
}

#[test]
fn two_sandboxes_are_compared_alone_and_the_others_come_back() {
    let mut stage = Stage::listed();
    stage.keys("c l -");
    screen!("compare_without", stage);
    stage.keys("- -");
    let alone = stage.screen();
    assert!(alone.contains("1 CAPE Sandbox") && alone.contains("▸2 Quiet Harbour"), "two remain:\n{alone}");
    assert!(alone.contains("without Zenbox, Lynxbox: + brings back"), "{alone}");
    stage.keys("v");
    screen!("compare_two_alone", stage);
    // What was left out stays so when one comes back from a row.
    stage.keys("enter enter c");
    assert!(stage.screen().contains("without Zenbox, Lynxbox"), "{}", stage.screen());
    stage.keys("v v v v +");
    let all = stage.screen();
    assert!(all.contains("3 Lynxbox 48 · ▸4 Quiet Harbour 39") && all.contains(" 216 items "), "{all}");
    assert!(!all.contains("without"), "{all}");
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn two_files_are_held_against_each_other() {
    let mut stage = Stage::listed();
    stage.keys("f");
    stage.open(&file("Unfriendly"));
    stage.keys("enter c w enter");
    screen!("compare_two_files", stage);
    stage.keys("v");
    screen!("compare_two_files_all", stage);
    stage.keys("l l l v v G enter enter");
    assert!(stage.screen().contains("57874b32"), "{}", stage.screen());
}

#[test]
fn what_one_sandbox_tells_otherwise_than_another_is_marked_and_differs() {
    let mut stage = Stage::listed();
    stage.keys("c 4 v v / p e _ d l l enter");
    screen!("compare_told_otherwise", stage);
    stage.keys("enter");
    screen!("compare_told_where", stage);
}
