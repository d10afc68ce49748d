//! Comparisons: marks, filters, finding, jumps to rows, fetching missing reports, another file.

use crate::harness::{TuiHarness, file, main_file, options};
use crate::screen;

#[test]
fn matrix_shows_which_sandbox_reported_an_item() {
    let mut tui = TuiHarness::listed();
    tui.keys("c");
    screen!("compare_all", tui);
    assert_eq!(tui.paid_calls(), 1);
    tui.keys("} v");
    screen!("compare_in_all", tui);
    tui.keys("{ l v v");
    screen!("compare_only_here", tui);
    tui.keys("v");
    screen!("compare_not_here", tui);
    tui.size(40, 10);
    screen!("compare_small", tui);
}

#[test]
fn pane_key_filters_the_comparison_and_back() {
    let mut tui = TuiHarness::listed();
    tui.keys("c 5");
    assert!(tui.screen().contains("Compare · Network"), "{}", tui.screen());
    tui.assert_shows("gate.lumen.example →");
    assert!(!tui.screen().contains("conhost"), "{}", tui.screen());
    tui.keys("5");
    assert!(tui.screen().contains("Compare · all panes"), "{}", tui.screen());
    tui.keys("8 v");
    let none = "no match · 11 are hidden by the view: v changes it · 1 by the pane: 8 shows all";
    assert!(tui.screen().contains(none), "{}", tui.screen());
    tui.keys("esc c");
    assert!(tui.screen().contains("Compare · all panes · everything"), "{}", tui.screen());
    tui.keys("9");
    screen!("compare_techniques", tui);
    tui.keys("/ T 1 4 9 7 . 0 0 3 enter");
    assert_eq!(tui.screen().matches("Time Based Checks").count(), 1, "a technique is one item: {}", tui.screen());
    tui.keys("enter");
    assert!(tui.screen().contains("by rule:"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn row_opens_its_origin_and_returns() {
    let mut tui = TuiHarness::listed();
    tui.keys("c / l u m e n enter enter");
    screen!("compare_where", tui);
    tui.keys("enter");
    screen!("compare_arrived", tui);
    tui.keys("c");
    assert!(tui.screen().contains("Compare · all panes"), "{}", tui.screen());
    assert!(tui.screen().contains("/ lumen"), "{}", tui.screen());
    // The filter goes before the comparison does.
    tui.keys("esc");
    assert!(tui.screen().contains(" 216 items "), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn missing_reports_are_fetched_at_a_shown_price() {
    let mut tui =
        TuiHarness::new(behaview::demo::Options { listing: behaview::demo::ListContent::Identifiers, ..options() });
    tui.open(&main_file());
    tui.keys("enter enter esc c");
    screen!("compare_missing", tui);
    tui.keys("A");
    for _ in 0..6 {
        tui.later(70);
        tui.rest();
    }
    screen!("compare_fetched", tui);
}

#[test]
fn columns_are_hidden_to_compare_two_and_restored() {
    let mut tui = TuiHarness::listed();
    tui.keys("c l -");
    screen!("compare_without", tui);
    tui.keys("- -");
    let alone = tui.screen();
    assert!(alone.contains("A CAPE Sandbox") && alone.contains("▸B Quiet Harbour"), "two remain:\n{alone}");
    assert!(alone.contains("without Zenbox, Lynxbox: + brings back"), "{alone}");
    tui.keys("/ Q u i e t enter");
    let named = tui.screen();
    assert!(named.contains("39 of ") && named.contains("lumensvc.exe"), "the name of a column matches:\n{named}");
    let help = tui.keys("? / v").screen();
    assert!(help.contains("in a comparison, show in turn what every column saw"), "{help}");
    tui.keys("esc esc / ctrl-u enter").keys("v");
    screen!("compare_two_alone", tui);
    // What was left out stays so when one comes back from a row.
    tui.keys("enter enter c");
    assert!(tui.screen().contains("without Zenbox, Lynxbox"), "{}", tui.screen());
    tui.keys("v v v v +");
    let all = tui.screen();
    assert!(all.contains("C Lynxbox 48 · ▸D Quiet Harbour 39") && all.contains(" 216 items "), "{all}");
    assert!(!all.contains("without"), "{all}");
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn two_files_are_stored_against_each_other() {
    let mut tui = TuiHarness::listed();
    tui.keys("f");
    tui.open(&file("Unfriendly"));
    tui.keys("enter c w enter");
    screen!("compare_two_files", tui);
    tui.keys("v");
    screen!("compare_two_files_all", tui);
    tui.keys("l l l v v G enter enter");
    assert!(tui.screen().contains("57874b32"), "{}", tui.screen());
}

#[test]
fn differing_values_of_sandboxes_are_marked() {
    let mut tui = TuiHarness::listed();
    tui.keys("c 4 v v / p e _ d l l enter");
    screen!("compare_told_otherwise", tui);
    tui.keys("enter");
    screen!("compare_told_where", tui);
}
