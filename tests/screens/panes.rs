//! The panes of a report: four at once, others by a key, folded, zoomed, scrolled, one row whole.

use crate::harness::{TuiHarness, file, options};
use crate::{above_bar, screen};

#[test]
fn a_report_opens_in_four_panes() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter");
    above_bar!("panes_four", tui);
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn further_panes_are_reached_by_a_key() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter ]");
    above_bar!("panes_second_group", tui);
    tui.keys("t");
    above_bar!("panes_third_group", tui);
    tui.keys("0");
    above_bar!("panes_overview", tui);
    tui.keys("tab");
    assert!(tui.screen().contains("━ 1 Processes"), "{}", tui.screen());
    tui.keys("shift-tab shift-tab");
    assert!(tui.screen().contains("━ o Other"), "{}", tui.screen());
    tui.keys("5 esc j");
    assert!(tui.screen().contains("─ 1 Processes"), "it has no network: {}", tui.screen());
}

#[test]
fn a_pane_can_have_the_whole_screen() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter z");
    above_bar!("panes_zoomed", tui);
    tui.keys("4 G");
    above_bar!("panes_zoomed_files_end", tui);
    tui.keys("esc");
    assert!(tui.screen().contains("1 Processes"));
}

#[test]
fn the_process_tree_folds_and_unfolds() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter j j j space");
    screen!("tree_folded", tui);
    tui.keys("-");
    screen!("tree_roots", tui);
    tui.keys("+ h");
    screen!("tree_whole_again", tui);
}

#[test]
fn left_climbs_to_the_parent() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter G { j j left");
    screen!("tree_parent", tui);
}

#[test]
fn techniques_are_sorted_by_tactic_and_severity() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 9 z");
    screen!("techniques_by_severity", tui);
    tui.keys("/ c r e a t e s enter");
    screen!("techniques_filtered", tui);
    tui.keys("esc y");
    assert_eq!(tui.copied(), "T1053.005");
    tui.size(80, 24);
    tui.keys("G y");
    assert!(tui.copied() == "T1105" && tui.screen().contains("24/24"), "{}", tui.screen());
    tui.keys("enter");
    assert!(tui.screen().contains("Drops a program where users can write."), "{}", tui.screen());
    tui.keys("esc / T 1 1 0 5 enter");
    assert!(tui.screen().contains("1 of 24"), "{}", tui.screen());
    tui.keys("esc y");
    assert_eq!(tui.copied(), "T1105");
    let mut tui = TuiHarness::at(file("Delivery"), options());
    tui.keys("enter enter 9");
    let screen = tui.screen();
    let place = |word: &str| screen.find(word).unwrap_or_else(|| panic!("{word}: {screen}"));
    assert!(place("T1059.001") < place("T1204.002") && place("T1204.002") < place("T1105"), "{screen}");
}

#[test]
fn a_row_is_shown_whole() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 4 enter");
    screen!("row_whole", tui);
    tui.keys("esc 3 enter");
    screen!("row_whole_registry", tui);
    tui.keys("esc 6 G enter");
    screen!("row_whole_decoded", tui);
}

#[test]
fn kinds_of_rows_are_stepped_through() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 4 }");
    screen!("kinds_next", tui);
    tui.keys("} {");
    screen!("kinds_back", tui);
}

#[test]
fn text_moves_sideways() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 4 right right");
    screen!("sideways", tui);
    tui.keys("left left left");
    assert!(tui.screen().contains("dropped"));
}

#[test]
fn an_empty_report_is_a_calm_screen() {
    let mut tui = TuiHarness::at(file("Blank"), options());
    tui.keys("enter");
    above_bar!("panes_empty_report", tui);
}

#[test]
fn hostile_strings_are_shown_and_not_obeyed() {
    let mut tui = TuiHarness::at(file("Unfriendly"), options());
    tui.keys("enter enter 4 z");
    screen!("hostile_files", tui);
    tui.keys("o");
    screen!("hostile_other", tui);
    tui.keys("esc esc j enter");
    screen!("hostile_wrong_types", tui);
    assert!(!tui.screen().chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn a_generated_report_shows_its_counts() {
    let mut tui = TuiHarness::at(file("Busy"), options());
    tui.keys("enter enter 4 G");
    above_bar!("panes_generated", tui);
}

#[test]
fn subtree_is_isolated_and_restored() {
    let mut tui = TuiHarness::listed();
    tui.keys("1 j j j z .");
    screen!("subtree_alone", tui);
    tui.assert_shows("one subtree");
    tui.keys(".");
    tui.assert_gone("one subtree");
    tui.keys("j ^");
    assert!(tui.screen().contains("4/37"), "back at the parent:\n{}", tui.screen());
}

#[test]
fn process_mentions_are_found_in_all_panes() {
    let mut tui = TuiHarness::listed();
    tui.keys("1 j j j j e");
    screen!("process_named", tui);
    tui.assert_shows("Find in all panes");
    tui.keys("enter");
    tui.assert_gone("Find in all panes");
}

#[test]
fn filter_searches_the_isolated_subtree_only() {
    let mut tui = TuiHarness::listed();
    let shows = |tui: &TuiHarness, title: &str| {
        assert!(tui.screen().contains(title), "{title}:\n{}", tui.screen());
    };
    tui.keys("enter / c m d enter");
    shows(&tui, "1 Processes 4 of 37");
    tui.keys("esc j j j j . / c m d enter");
    shows(&tui, "1 Processes 1 of 37");
    tui.keys(".");
    shows(&tui, "1 Processes 4 of 37");
    tui.keys(". esc");
    shows(&tui, "1 Processes 10 of 37 ");
}

#[test]
fn ancestors_of_matches_are_marked_and_uncounted() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter z / r e g . e x e enter n");
    screen!("filter_in_the_tree", tui);
    tui.keys("g");
    assert!(tui.screen().contains(" -/"), "the cursor is on no hit:\n{}", tui.screen());
}
