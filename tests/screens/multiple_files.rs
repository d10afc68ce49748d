//! Several open files: the state of each is left with it, and returns as it was.

use crate::above_bar;
use crate::faults::arm;
use crate::harness::{TuiHarness, file, identifiers, main_file, options};
use behaview::app::{Response, ServiceEvent, TerminalEvent};
use behaview::demo::Endpoint;
use behaview::report::Body;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::request::Request;
use jiff::Timestamp;

/// The main file and, beside it, another, both listed; the main file is shown.
fn two() -> TuiHarness {
    let mut tui = TuiHarness::listed();
    tui.open_other(&file("Parcel"));
    tui.keys("enter K");
    tui
}

/// The row under the cursor; the last one, as what stands over the screen stands at its end.
pub fn chosen(tui: &TuiHarness) -> String {
    let screen = tui.screen();
    screen.lines().rfind(|line| line.contains('›')).unwrap_or_default().to_owned()
}

/// Presses keys one after another, and takes nothing in meanwhile.
fn press(tui: &mut TuiHarness, keys: &str) {
    keys.split(' ').for_each(|key| tui.press(key));
}

#[test]
fn open_files_preserve_their_positions() {
    let mut tui = TuiHarness::listed();
    tui.keys("j enter 3 j j");
    let left = tui.screen();
    tui.keys("f");
    tui.open(&file("Parcel"));
    tui.keys("enter j");
    above_bar!("files_second", tui);
    let second = tui.screen();
    let paid = tui.paid_calls();
    tui.keys("J");
    let back = tui.screen();
    let body = |screen: &str| screen.lines().skip(1).take(36).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&back), body(&left).into_iter().collect::<Vec<_>>(), "{back}");
    tui.keys("K");
    assert_eq!(body(&tui.screen()), body(&second));
    assert_eq!(tui.paid_calls(), paid, "what is held costs nothing");
    tui.keys("J");
    tui.assert_shows("file 1 of 2");
    tui.keys("K Q");
    tui.assert_shows(&main_file().short());
    tui.assert_gone("file 1 of");
}

#[test]
fn pasted_hashes_are_ranked_and_opened_in_turn() {
    let mut tui = TuiHarness::new(options());
    tui.session.take(TerminalEvent::Paste(format!("{}\n{}, {}", main_file(), file("Parcel"), file("Busy"))));
    tui.rest();
    tui.assert_shows("Triage · 3 files");
    tui.keys("enter");
    assert!(!tui.screen().contains("file 1 of"), "{}", tui.screen());
    tui.keys("esc down enter J");
    assert!(tui.screen().contains("file 1 of 2"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
}

#[test]
fn response_reaches_its_file_while_hidden() {
    let mut tui = TuiHarness::new(options());
    tui.open(&main_file());
    tui.press("enter");
    tui.press("f");
    tui.session.take(TerminalEvent::Paste(file("Parcel").to_string()));
    tui.press("enter");
    tui.rest();
    assert!(tui.screen().contains("Nothing is stored of this file"), "{}", tui.screen());
    tui.keys("J");
    assert!(tui.screen().contains("Sandboxes 4 of 6"), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::List), 1);
}

#[test]
fn back_stack_belongs_to_its_file() {
    // Down to a row that is a place.
    for (list, down) in [("! enter", 1), ("i", 1), ("F l u m e n", 4)] {
        let mut tui = two();
        tui.keys(list).keys(&["down"; 5][..down].join(" "));
        let left = chosen(&tui);
        tui.keys("enter");
        let row = tui.screen();
        tui.keys("J");
        let other = tui.screen();
        assert!(!other.contains("esc back to"), "{other}");
        tui.keys("esc");
        assert!(tui.session.model.overlays.is_empty(), "{}", tui.screen());
        tui.keys("K");
        assert_eq!(tui.screen(), row, "{list}");
        tui.keys("esc");
        assert_eq!(chosen(&tui), left, "{list}");
        tui.keys("enter Q esc");
        assert!(tui.session.model.overlays.is_empty(), "{}", tui.screen());
    }
}

#[test]
fn report_loaded_while_hidden_is_evaluated() {
    let mut tui = two();
    press(&mut tui, "j J");
    tui.rest();
    tui.keys("K !");
    assert!(tui.screen().contains("Findings"), "{}", tui.screen());
}

#[test]
fn list_failure_of_a_hidden_file_is_shown_there() {
    let mut tui = TuiHarness::at(main_file(), options());
    tui.open_other(&file("Parcel"));
    tui.keys("K");
    arm(tui.demo.as_ref().unwrap(), "list:503*1");
    press(&mut tui, "enter J");
    tui.rest();
    tui.keys("K");
    assert!(tui.screen().contains("! listing failed"), "{}", tui.screen());
    tui.keys("enter");
    assert!(tui.screen().contains("Sandboxes 4 of 6"), "{}", tui.screen());
}

#[test]
fn partial_report_of_a_hidden_file_is_shown() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    tui.open_other(&file("Parcel"));
    tui.keys("K");
    arm(tui.demo.as_ref().unwrap(), "behaviour:stall=9000*1");
    press(&mut tui, "enter J");
    // The title tells of the call, whichever file is shown.
    tui.until("9.0 kB");
    tui.press("K");
    tui.until("setup.tmp");
}

#[test]
fn opening_all_stops_when_its_file_is_closed() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    press(&mut tui, "A y Q");
    tui.rest();
    for _ in 0..6 {
        tui.later(70);
        tui.rest();
    }
    assert_eq!(tui.calls(Endpoint::Behaviour), 1);
    let words = "The file was closed. 1 of 4 requested, nothing further is sent.";
    assert!(tui.screen().contains(words), "{}", tui.screen());
}

/// The main file and another, shown one, which list the same report; none of it is stored.
fn listed_twice() -> TuiHarness {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    let identifier = tui.session.model.list().unwrap().entries[0].identifier.clone().unwrap();
    tui.open_other(&file("Parcel"));
    list_by_identifier(&mut tui, &identifier);
    tui
}

/// Lists this report as one of the second file's: an identifier need not say which file it is of.
fn list_by_identifier(tui: &mut TuiHarness, identifier: &Identifier) {
    let listed = format!(r#"{{"data":[{{"type":"private_file_behaviour","id":"{}"}}]}}"#, identifier.text().visible());
    let page = Page::of(&Body::in_memory(listed.into_bytes())).unwrap();
    let request =
        Request::Behaviours { file: file("Parcel"), listing: tui.session.model.service.listing, cursor: None };
    let page = Response::Page(page, Timestamp::UNIX_EPOCH, None);
    tui.session.take(ServiceEvent::Ended(request, Ok(page)));
    tui.rest();
}

#[test]
fn a_report_that_two_files_list_is_there_in_both() {
    let mut tui = listed_twice();
    let paid = tui.paid_calls();
    tui.assert_shows("is not stored");
    tui.keys("enter");
    tui.assert_shows("Processes");
    tui.assert_gone("is not stored");
    tui.keys("K");
    assert!(tui.screen().contains("● "), "{}", tui.screen());
    tui.keys("enter");
    assert!(tui.screen().contains("Processes"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), paid + 1);
}

#[test]
fn a_file_that_is_closed_for_another_is_named() {
    let mut tui = TuiHarness::listed();
    let closed = "Closed to make room, as at most 20 files are open at once: ";
    for number in 1..20 {
        tui.open_other(&Sha256::parse(&format!("{number:064x}")).unwrap());
        assert!(!tui.screen().contains(closed), "{}", tui.screen());
    }
    tui.open_other(&file("Parcel"));
    tui.assert_shows(&format!("{closed}{}.", main_file().short()));
}

#[test]
fn filter_survives_a_report_loaded_while_hidden() {
    let mut tui = listed_twice();
    arm(tui.demo.as_ref().unwrap(), "behaviour:drip=40000*1");
    press(&mut tui, "K enter");
    tui.until("setup.tmp");
    press(&mut tui, "4 / s t a g e enter J");
    tui.rest();
    tui.keys("K");
    assert!(tui.screen().contains("of 22 · /stage"), "{}", tui.screen());
    // Fetched once more from the other file, and left before it is read to its end.
    tui.keys("J r");
    press(&mut tui, "K J K");
    tui.rest();
    assert!(tui.screen().contains("of 22 · /stage"), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::Behaviour), 2);
}
