//! The panes of a report: four at once, the others behind a key, folded, zoomed, scrolled, one row whole.

use crate::stage::{Stage, file, options};
use crate::{above_bar, screen};

#[test]
fn a_report_opens_in_four_panes() {
    let mut stage = Stage::listed();
    stage.keys("enter");
    above_bar!("panes_four", stage);
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn further_panes_stand_behind_a_key() {
    let mut stage = Stage::listed();
    stage.keys("enter ]");
    above_bar!("panes_second_group", stage);
    stage.keys("t");
    above_bar!("panes_third_group", stage);
    stage.keys("0");
    above_bar!("panes_overview", stage);
    stage.keys("tab");
    assert!(stage.screen().contains("━ 1 Processes"), "{}", stage.screen());
    stage.keys("shift-tab shift-tab");
    assert!(stage.screen().contains("━ o Other"), "{}", stage.screen());
    stage.keys("5 esc j");
    assert!(stage.screen().contains("─ 1 Processes"), "it has no network: {}", stage.screen());
}

#[test]
fn a_pane_can_have_the_whole_screen() {
    let mut stage = Stage::listed();
    stage.keys("enter z");
    above_bar!("panes_zoomed", stage);
    stage.keys("4 G");
    above_bar!("panes_zoomed_files_end", stage);
    stage.keys("esc");
    assert!(stage.screen().contains("1 Processes"));
}

#[test]
fn the_process_tree_folds_and_unfolds() {
    let mut stage = Stage::listed();
    stage.keys("enter j j j space");
    screen!("tree_folded", stage);
    stage.keys("-");
    screen!("tree_roots", stage);
    stage.keys("+ h");
    screen!("tree_whole_again", stage);
}

#[test]
fn left_climbs_to_the_parent() {
    let mut stage = Stage::listed();
    stage.keys("enter G { j j left");
    screen!("tree_parent", stage);
}

#[test]
fn techniques_stand_by_tactic_and_severity() {
    let mut stage = Stage::listed();
    stage.keys("enter 9 z");
    screen!("techniques_by_severity", stage);
    stage.keys("/ c r e a t e s enter");
    screen!("techniques_filtered", stage);
    stage.keys("esc y");
    assert_eq!(stage.copied(), "T1053.005");
    stage.size(80, 24);
    stage.keys("G y");
    assert!(stage.copied() == "T1105" && stage.screen().contains("24/24"), "{}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains("Drops a program where users can write."), "{}", stage.screen());
    stage.keys("esc / T 1 1 0 5 enter");
    assert!(stage.screen().contains("1 of 24"), "{}", stage.screen());
    stage.keys("esc y");
    assert_eq!(stage.copied(), "T1105");
    let mut stage = Stage::at(file("Delivery"), options());
    stage.keys("enter enter 9");
    let screen = stage.screen();
    let place = |word: &str| screen.find(word).unwrap_or_else(|| panic!("{word}: {screen}"));
    assert!(place("T1059.001") < place("T1204.002") && place("T1204.002") < place("T1105"), "{screen}");
}

#[test]
fn a_row_is_shown_whole() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 enter");
    screen!("row_whole", stage);
    stage.keys("esc 3 enter");
    screen!("row_whole_registry", stage);
    stage.keys("esc 6 G enter");
    screen!("row_whole_decoded", stage);
}

#[test]
fn kinds_of_rows_are_stepped_through() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 }");
    screen!("kinds_next", stage);
    stage.keys("} {");
    screen!("kinds_back", stage);
}

#[test]
fn text_moves_sideways() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 right right");
    screen!("sideways", stage);
    stage.keys("left left left");
    assert!(stage.screen().contains("dropped"));
}

#[test]
fn an_empty_report_is_a_calm_screen() {
    let mut stage = Stage::at(file("Blank"), options());
    stage.keys("enter");
    above_bar!("panes_empty_report", stage);
}

#[test]
fn hostile_strings_are_shown_and_not_obeyed() {
    let mut stage = Stage::at(file("Unfriendly"), options());
    stage.keys("enter enter 4 z");
    screen!("hostile_files", stage);
    stage.keys("o");
    screen!("hostile_other", stage);
    stage.keys("esc esc j enter");
    screen!("hostile_wrong_types", stage);
    assert!(!stage.screen().chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn a_generated_report_shows_its_counts() {
    let mut stage = Stage::at(file("Busy"), options());
    stage.keys("enter enter 4 G");
    above_bar!("panes_generated", stage);
}

#[test]
fn one_subtree_stands_alone_until_the_whole_tree_is_wanted() {
    let mut stage = Stage::listed();
    stage.keys("1 j j j z .");
    screen!("subtree_alone", stage);
    stage.assert_shows("one subtree");
    stage.keys(".");
    stage.assert_gone("one subtree");
    stage.keys("j ^");
    assert!(stage.screen().contains("4/37"), "back at the parent:\n{}", stage.screen());
}

#[test]
fn what_names_a_process_is_found_in_all_panes() {
    let mut stage = Stage::listed();
    stage.keys("1 j j j j e");
    screen!("process_named", stage);
    stage.assert_shows("Find in all panes");
    stage.keys("enter");
    stage.assert_gone("Find in all panes");
}

#[test]
fn a_filter_seeks_in_the_subtree_that_stands_alone() {
    let mut stage = Stage::listed();
    let shows = |stage: &Stage, title: &str| {
        assert!(stage.screen().contains(title), "{title}:\n{}", stage.screen());
    };
    stage.keys("enter / c m d enter");
    shows(&stage, "1 Processes 4 of 37");
    stage.keys("esc j j j j . / c m d enter");
    shows(&stage, "1 Processes 1 of 37");
    stage.keys(".");
    shows(&stage, "1 Processes 4 of 37");
    stage.keys(". esc");
    shows(&stage, "1 Processes 10 of 37 ");
}

#[test]
fn what_only_stands_above_a_hit_is_told_apart_and_counted_nowhere() {
    let mut stage = Stage::listed();
    stage.keys("enter z / r e g . e x e enter n");
    screen!("filter_in_the_tree", stage);
    stage.keys("g");
    assert!(stage.screen().contains(" -/"), "the cursor is on no hit:\n{}", stage.screen());
}
