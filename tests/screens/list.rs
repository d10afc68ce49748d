//! The list of sandboxes: priced page by page, and what it brought along is held.

use crate::stage::{Stage, file, main_file, options};
use crate::{above_bar, screen};
use behaview::demo::{Endpoint, ListContent, Options};

#[test]
fn nothing_is_asked_before_a_key_says_so() {
    let stage = Stage::at(main_file(), options());
    above_bar!("list_not_asked", stage);
    assert_eq!(stage.paid_calls(), 0);
}

#[test]
fn each_page_costs_one_and_brings_its_reports() {
    let mut stage = Stage::listed();
    above_bar!("list_first_page", stage);
    stage.keys("G");
    insta::assert_snapshot!("list_next_page_offered", stage.screen());
    stage.keys("enter");
    screen!("list_all_pages", stage);
    assert_eq!((stage.paid_calls(), stage.calls(Endpoint::List), stage.calls(Endpoint::Behaviour)), (2, 2, 0));
}

#[test]
fn what_came_with_the_list_opens_for_nothing() {
    let mut stage = Stage::listed();
    for _ in 0..3 {
        stage.keys("enter esc j");
    }
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn identifiers_alone_are_opened_one_by_one() {
    let mut stage = Stage::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    stage.keys("enter");
    screen!("list_identifiers", stage);
    stage.keys("enter");
    above_bar!("list_identifiers_opened", stage);
    assert_eq!((stage.paid_calls(), stage.calls(Endpoint::Behaviour)), (2, 1));
}

#[test]
fn an_identifier_of_an_odd_shape_is_shown_whole() {
    let mut stage = Stage::at(file("Delivery"), options());
    stage.keys("enter j");
    screen!("list_odd_identifier", stage);
}

#[test]
fn a_file_without_reports_says_so() {
    let mut stage = Stage::at(file("queue"), options());
    stage.keys("enter");
    above_bar!("list_empty", stage);
}
