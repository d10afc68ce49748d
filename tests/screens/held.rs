//! Everything that is held: listed, sorted, deleted after a yes that says what goes.

use crate::stage::{Stage, file, main_file, options};
use behaview::demo::{Endpoint, ListContent, Options};
use behaview::request::Request;
use behaview::store::{NewAnswer, Store};
use behaview::text::Untrusted;

#[test]
fn everything_that_is_held_stands_on_one_screen() {
    let mut stage = Stage::listed();
    stage.open_other(&file("Parcel"));
    stage.keys("enter esc H");
    insta::assert_snapshot!("held", without_sizes(stage.shown()));
    stage.keys("O O O j");
    insta::assert_snapshot!("held_by_file", without_sizes(stage.shown()));
    assert_eq!(stage.paid_calls(), 2);
}

/// A screen without what the service's port changes: its address stands in what is packed, so the last digit of a size varies.
pub fn without_sizes(screen: String) -> String {
    (400..900).fold(screen, |screen, size| screen.replace(&format!("{size} B"), "7__ B"))
}

#[test]
fn one_report_is_deleted_after_a_yes() {
    let mut stage = Stage::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    stage.keys("enter enter esc a x enter H D");
    insta::assert_snapshot!("held_delete_asks", without_sizes(stage.shown()));
    stage.keys("esc");
    assert!(stage.screen().contains("Stored · 2 items"), "{}", stage.screen());
    stage.keys("D y");
    insta::assert_snapshot!("held_deleted", without_sizes(stage.shown()));
    stage.keys("esc");
    stage.open(&main_file());
    stage.keys("enter");
    assert_eq!((stage.calls(Endpoint::List), stage.calls(Endpoint::Behaviour)), (1, 2));
}

#[test]
fn a_file_what_is_old_and_everything_go_after_a_yes() {
    let mut stage = Stage::listed();
    stage.keys("H P 3 0 enter");
    assert!(stage.screen().contains("Nothing stored is that old"), "{}", stage.screen());
    stage.later(31 * 86_400);
    stage.keys("P 3 0 enter");
    insta::assert_snapshot!("held_purge_by_age", without_sizes(stage.shown()));
    stage.keys("esc D");
    insta::assert_snapshot!("held_delete_file", without_sizes(stage.shown()));
    stage.keys("esc X Y");
    insta::assert_snapshot!("held_nothing", without_sizes(stage.shown()));
    stage.keys("esc");
    assert!(stage.screen().contains("No file has been opened yet"), "{}", stage.screen());
}

#[test]
fn what_came_after_the_question_does_not_go_with_its_yes() {
    for key in ["D", "X"] {
        let mut stage = Stage::listed();
        stage.keys(&format!("H {key}"));
        let other = Store::open(&stage.folder.path().join("store")).unwrap();
        let before = other.inventory().unwrap();
        let listing = behaview::request::Listing::Reports;
        let page = Request::Behaviours { file: main_file(), listing, cursor: Some(Untrusted::from("next")) };
        let (service, profile) = (&before[0].service, &before[0].profile);
        let (page, received, bytes) = (page.holding_key().unwrap(), before[0].received, &b"{\"data\":[]}"[..]);
        other.keep(&NewAnswer { service, profile, key: &page, received, bytes, imported: None }).unwrap();
        stage.keys("Y");
        assert_eq!(other.inventory().unwrap().len(), before.len() + 1, "{key}");
        let screen = stage.screen();
        assert!(screen.contains("Nothing was deleted: the store has changed"), "{screen}");
        assert!(screen.contains("To be deleted") && screen.contains("1 other answer"), "{screen}");
        stage.keys("Y");
        assert_eq!(other.inventory().unwrap().len(), 0, "{key}: {}", stage.screen());
    }
}

#[test]
fn a_note_that_stands_on_nothing_is_listed_counted_and_deleted() {
    let mut stage = Stage::listed();
    stage.sql(&stage.note_of_another("left").replace("_CAPE", "_Gone"));
    stage.keys("H X");
    assert!(stage.screen().contains(", with 1 note"), "{}", stage.screen());
    stage.keys("esc G");
    assert!(stage.screen().contains("notes alone"), "{}", stage.screen());
    stage.keys("D");
    let words = ": notes on reports that are not stored";
    assert!(said(&stage).contains(words), "{}", stage.screen());
    stage.keys("y");
    stage.assert_shows("Stored · 4 items");
    stage.assert_shows("0 B on disk, with 1 note.");
}

/// What stands on the screen, without borders and the ends of rows.
fn said(stage: &Stage) -> String {
    stage.screen().replace(['┃', '│'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_question_names_the_file_and_what_the_filter_hides_of_it() {
    let mut stage = Stage::listed();
    stage.open_other(&file("Parcel"));
    stage.keys("enter esc H / c a p e enter G");
    let named = format!("To be deleted of file {}: ", main_file().short());
    let hidden = "3 of them hidden by the filter.";
    stage.keys("D");
    assert!(said(&stage).contains(&named) && said(&stage).contains(hidden), "{}", stage.screen());
    stage.keys("esc");
    stage.size(50, 12);
    stage.keys("D");
    assert!(said(&stage).contains(&named), "{}", stage.screen());
}

#[test]
fn what_is_open_stays_open_but_for_what_was_deleted() {
    let mut stage = Stage::listed();
    stage.open_other(&file("Parcel"));
    stage.keys("enter enter tab tab j f T esc J tab tab z");
    let before = stage.screen();
    assert!(before.contains("file 1 of 2"), "{before}");
    // One that is not looked at.
    stage.keys("H / D r o i d enter D y esc esc");
    let screen = stage.screen();
    assert_eq!(screen, before.replace("6 of 6", "5 of 6"), "{screen}");
    // The one that is looked at.
    stage.keys("H / C A P E enter D y esc esc");
    let screen = stage.screen();
    assert!(screen.contains("file 1 of 2") && screen.contains("open · 1 request"), "{screen}");
}

#[test]
fn what_deletes_several_reports_is_not_agreed_to_by_y() {
    let mut stage = Stage::listed();
    for ask in ["H X", "D esc P 0 enter"] {
        stage.later(60);
        stage.keys(ask);
        assert!(stage.screen().contains("Y yes, delete all of it"), "{ask}: {}", stage.screen());
        stage.keys("y");
        let screen = stage.screen();
        assert!(screen.contains("y does not answer") && screen.contains("Stored · 4 items"), "{ask}: {screen}");
    }
    stage.keys("D y");
    assert!(stage.screen().contains("Stored · 3 items"), "one is one: {}", stage.screen());
    stage.keys("X Y");
    assert!(stage.screen().contains("The store is empty."), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}
