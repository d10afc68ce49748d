//! Everything that is held: listed, sorted, deleted after a yes that says what goes.

use crate::harness::{TuiHarness, file, main_file, options};
use behaview::demo::{Endpoint, ListContent, Options};
use behaview::request::Request;
use behaview::store::{NewResponse, Store};
use behaview::text::Untrusted;

#[test]
fn store_screen_lists_everything() {
    let mut tui = TuiHarness::listed();
    tui.open_other(&file("Parcel"));
    tui.keys("enter esc H");
    insta::assert_snapshot!("stored", without_sizes(tui.shown()));
    tui.keys("O O O j");
    insta::assert_snapshot!("stored_by_file", without_sizes(tui.shown()));
    assert_eq!(tui.paid_calls(), 2);
}

/// A screen without sizes: the service's port, in compressed texts, changes their last digits.
pub fn without_sizes(screen: String) -> String {
    (400..900).fold(screen, |screen, size| screen.replace(&format!("{size} B"), "7__ B"))
}

#[test]
fn one_report_is_deleted_after_confirmation() {
    let mut tui = TuiHarness::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    tui.keys("enter enter esc a x enter H D");
    insta::assert_snapshot!("stored_delete_asks", without_sizes(tui.shown()));
    tui.keys("esc");
    assert!(tui.screen().contains("Stored · 2 items"), "{}", tui.screen());
    tui.keys("D y");
    insta::assert_snapshot!("stored_deleted", without_sizes(tui.shown()));
    tui.keys("esc");
    tui.open(&main_file());
    tui.keys("enter");
    assert_eq!((tui.calls(Endpoint::List), tui.calls(Endpoint::Behaviour)), (1, 2));
}

#[test]
fn file_age_and_store_deletions_are_confirmed() {
    let mut tui = TuiHarness::listed();
    tui.keys("H P 3 0 enter");
    assert!(tui.screen().contains("Nothing stored is that old"), "{}", tui.screen());
    tui.later(31 * 86_400);
    tui.keys("P 3 0 enter");
    insta::assert_snapshot!("stored_purge_by_age", without_sizes(tui.shown()));
    tui.keys("esc D");
    insta::assert_snapshot!("stored_delete_file", without_sizes(tui.shown()));
    tui.keys("esc X Y");
    insta::assert_snapshot!("stored_nothing", without_sizes(tui.shown()));
    tui.keys("esc");
    assert!(tui.screen().contains("No file has been opened yet"), "{}", tui.screen());
}

#[test]
fn items_stored_after_the_dialog_are_not_deleted() {
    for key in ["D", "X"] {
        let mut tui = TuiHarness::listed();
        tui.keys(&format!("H {key}"));
        let other = Store::open(&tui.folder.path().join("store")).unwrap();
        let before = other.inventory().unwrap();
        let listing = behaview::request::Listing::Reports;
        let page = Request::Behaviours { file: main_file(), listing, cursor: Some(Untrusted::from("next")) };
        let (service, profile) = (&before[0].service, &before[0].profile);
        let (page, received, bytes) = (page.storage_key().unwrap(), before[0].received, &b"{\"data\":[]}"[..]);
        other.write_response(&NewResponse { service, profile, key: &page, received, bytes, imported: None }).unwrap();
        tui.keys("Y");
        assert_eq!(other.inventory().unwrap().len(), before.len() + 1, "{key}");
        let screen = tui.screen();
        assert!(screen.contains("Nothing was deleted: the store changed"), "{screen}");
        tui.keys(key);
        let screen = tui.screen();
        assert!(screen.contains("To be deleted") && screen.contains("1 other response"), "{screen}");
        tui.keys("Y");
        assert_eq!(other.inventory().unwrap().len(), 0, "{key}: {}", tui.screen());
    }
}

#[test]
fn orphaned_note_is_listed_counted_and_deleted() {
    let mut tui = TuiHarness::listed();
    tui.sql(&tui.note_of_another("left").replace("_CAPE", "_Gone"));
    tui.keys("H X");
    assert!(tui.screen().contains(", with 1 note"), "{}", tui.screen());
    tui.keys("esc G");
    assert!(tui.screen().contains("notes alone"), "{}", tui.screen());
    tui.keys("D");
    let words = ": notes on reports that are not stored";
    assert!(to_visible(&tui).contains(words), "{}", tui.screen());
    tui.keys("y");
    tui.assert_shows("Stored · 4 items");
    tui.assert_shows("0 B on disk, with 1 note.");
}

/// What stands on the screen, without borders and the ends of rows.
fn to_visible(tui: &TuiHarness) -> String {
    tui.screen().replace(['┃', '│'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn deletion_dialog_names_file_and_hidden_items() {
    let mut tui = TuiHarness::listed();
    tui.open_other(&file("Parcel"));
    tui.keys("enter esc H / c a p e enter G");
    let named = format!("To be deleted of file {}: ", main_file().short());
    let hidden = "3 of them hidden by the filter.";
    tui.keys("D");
    assert!(to_visible(&tui).contains(&named) && to_visible(&tui).contains(hidden), "{}", tui.screen());
    tui.keys("esc");
    tui.size(50, 12);
    tui.keys("D");
    assert!(to_visible(&tui).contains(&named), "{}", tui.screen());
}

#[test]
fn open_view_survives_deletion_of_other_reports() {
    let mut tui = TuiHarness::listed();
    tui.open_other(&file("Parcel"));
    tui.keys("enter enter tab tab j f esc J tab tab z");
    let before = tui.screen();
    assert!(before.contains("file 1 of 2"), "{before}");
    // One that is not looked at.
    tui.keys("H / D r o i d enter D y esc esc");
    let screen = tui.screen();
    assert_eq!(screen, before.replace("6 of 6", "5 of 6"), "{screen}");
    // The one that is looked at.
    tui.keys("H / C A P E enter D y esc esc");
    let screen = tui.screen();
    assert!(screen.contains("file 1 of 2") && screen.contains("open · 1 request"), "{screen}");
}

#[test]
fn bulk_deletion_is_not_confirmed_by_lowercase_y() {
    let mut tui = TuiHarness::listed();
    for ask in ["H X", "D esc P 0 enter"] {
        tui.later(60);
        tui.keys(ask);
        assert!(tui.screen().contains("Y yes, delete all of it"), "{ask}: {}", tui.screen());
        tui.keys("y");
        let screen = tui.screen();
        assert!(screen.contains("y does not confirm") && screen.contains("Stored · 4 items"), "{ask}: {screen}");
    }
    tui.keys("D y");
    assert!(tui.screen().contains("Stored · 3 items"), "one is one: {}", tui.screen());
    tui.keys("X Y");
    assert!(tui.screen().contains("The store is empty."), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 1);
}
