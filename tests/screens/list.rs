//! The list of sandboxes: priced page by page, and what it brought along is held.

use crate::harness::{TuiHarness, file, main_file, options};
use crate::{above_bar, screen};
use behaview::demo::{Endpoint, ListContent, Options};

#[test]
fn nothing_is_asked_before_a_key_says_so() {
    let tui = TuiHarness::at(main_file(), options());
    above_bar!("list_not_asked", tui);
    assert_eq!(tui.paid_calls(), 0);
}

#[test]
fn each_page_costs_one_and_brings_its_reports() {
    let mut tui = TuiHarness::listed();
    above_bar!("list_first_page", tui);
    tui.keys("G");
    insta::assert_snapshot!("list_next_page_offered", tui.screen());
    tui.keys("enter");
    screen!("list_all_pages", tui);
    assert_eq!((tui.paid_calls(), tui.calls(Endpoint::List), tui.calls(Endpoint::Behaviour)), (2, 2, 0));
}

#[test]
fn what_came_with_the_list_opens_for_nothing() {
    let mut tui = TuiHarness::listed();
    for _ in 0..3 {
        tui.keys("enter esc j");
    }
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn identifiers_alone_are_opened_one_by_one() {
    let mut tui = TuiHarness::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    tui.keys("enter");
    screen!("list_identifiers", tui);
    tui.keys("enter");
    above_bar!("list_identifiers_opened", tui);
    assert_eq!((tui.paid_calls(), tui.calls(Endpoint::Behaviour)), (2, 1));
}

#[test]
fn an_identifier_of_an_odd_shape_is_shown_whole() {
    let mut tui = TuiHarness::at(file("Delivery"), options());
    tui.keys("enter j");
    screen!("list_odd_identifier", tui);
}

#[test]
fn a_file_without_reports_says_so() {
    let mut tui = TuiHarness::at(file("queue"), options());
    tui.keys("enter");
    above_bar!("list_empty", tui);
}
