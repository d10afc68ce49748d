//! Files that are open beside each other: what belongs to one goes aside with it, and comes back as it was left.

use crate::above_bar;
use crate::faults::arm;
use crate::stage::{Stage, file, identifiers, main_file, options};
use behaview::app::{Response, ServiceEvent, TerminalEvent};
use behaview::demo::Endpoint;
use behaview::report::Body;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::request::Request;
use jiff::Timestamp;

/// The main file and, beside it, another, both listed; the main file is shown.
fn two() -> Stage {
    let mut stage = Stage::listed();
    stage.open_other(&file("Parcel"));
    stage.keys("enter K");
    stage
}

/// The row under the cursor; the last one, as what stands over the screen stands at its end.
pub fn chosen(stage: &Stage) -> String {
    let screen = stage.screen();
    screen.lines().rfind(|line| line.contains('›')).unwrap_or_default().to_owned()
}

/// Presses keys one after another, and takes nothing in meanwhile.
fn press(stage: &mut Stage, keys: &str) {
    keys.split(' ').for_each(|key| stage.press(key));
}

#[test]
fn files_stand_beside_each_other_and_keep_their_place() {
    let mut stage = Stage::listed();
    stage.keys("j enter 3 j j");
    let left = stage.screen();
    stage.keys("f");
    stage.open(&file("Parcel"));
    stage.keys("enter j");
    above_bar!("files_second", stage);
    let second = stage.screen();
    let paid = stage.paid_calls();
    stage.keys("J");
    let back = stage.screen();
    let body = |screen: &str| screen.lines().skip(1).take(36).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&back), body(&left).into_iter().collect::<Vec<_>>(), "{back}");
    stage.keys("K");
    assert_eq!(body(&stage.screen()), body(&second));
    assert_eq!(stage.paid_calls(), paid, "what is held costs nothing");
    stage.keys("J");
    stage.assert_shows("file 1 of 2");
    stage.keys("K Q");
    stage.assert_shows(&main_file().short());
    stage.assert_gone("file 1 of");
}

#[test]
fn hashes_that_are_pasted_together_are_opened_together() {
    let mut stage = Stage::new(options());
    stage.session.take(TerminalEvent::Paste(format!("{}\n{}, {}", main_file(), file("Parcel"), file("Busy"))));
    stage.rest();
    assert!(stage.screen().contains("Pasted: 3 files,"), "{}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains(&format!("{} · file 1 of 3", main_file().short())), "{}", stage.screen());
    stage.keys("J J");
    assert!(stage.screen().contains(&format!("{} · file 3 of 3", file("Busy").short())), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
}

#[test]
fn an_answer_for_a_file_that_is_not_shown_finds_its_place() {
    let mut stage = Stage::new(options());
    stage.open(&main_file());
    stage.press("enter");
    stage.press("f");
    stage.session.take(TerminalEvent::Paste(file("Parcel").to_string()));
    stage.press("enter");
    stage.rest();
    assert!(stage.screen().contains("Nothing is stored of this file"), "{}", stage.screen());
    stage.keys("J");
    assert!(stage.screen().contains("Sandboxes 4 of 6"), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::List), 1);
}

#[test]
fn the_way_back_to_a_list_belongs_to_its_file() {
    // Down to a row that is a place.
    for (list, down) in [("! enter", 1), ("i", 1), ("F l u m e n", 4)] {
        let mut stage = two();
        stage.keys(list).keys(&["down"; 5][..down].join(" "));
        let left = chosen(&stage);
        stage.keys("enter");
        let row = stage.screen();
        stage.keys("J");
        let other = stage.screen();
        assert!(!other.contains("esc back to"), "{other}");
        stage.keys("esc");
        assert!(stage.session.model.over.is_empty(), "{}", stage.screen());
        stage.keys("K");
        assert_eq!(stage.screen(), row, "{list}");
        stage.keys("esc");
        assert_eq!(chosen(&stage), left, "{list}");
        stage.keys("enter Q esc");
        assert!(stage.session.model.over.is_empty(), "{}", stage.screen());
    }
}

#[test]
fn a_report_that_is_read_to_its_end_while_its_file_is_not_shown_is_judged() {
    let mut stage = two();
    press(&mut stage, "j J");
    stage.rest();
    stage.keys("K !");
    assert!(stage.screen().contains("Findings"), "{}", stage.screen());
}

#[test]
fn a_list_that_fails_while_its_file_is_not_shown_says_so_there() {
    let mut stage = Stage::at(main_file(), options());
    stage.open_other(&file("Parcel"));
    stage.keys("K");
    arm(stage.demo.as_ref().unwrap(), "list:503*1");
    press(&mut stage, "enter J");
    stage.rest();
    stage.keys("K");
    assert!(stage.screen().contains("! listing failed"), "{}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains("Sandboxes 4 of 6"), "{}", stage.screen());
}

#[test]
fn what_comes_of_a_report_while_its_file_is_not_shown_is_there() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    stage.open_other(&file("Parcel"));
    stage.keys("K");
    arm(stage.demo.as_ref().unwrap(), "behaviour:stall=9000*1");
    press(&mut stage, "enter J");
    // The title tells of the call, whichever file is shown.
    stage.until("9.0 kB");
    stage.press("K");
    stage.until("setup.tmp");
}

#[test]
fn opening_all_reports_of_a_file_ends_when_it_is_closed() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    press(&mut stage, "A y Q");
    stage.rest();
    for _ in 0..6 {
        stage.later(70);
        stage.rest();
    }
    assert_eq!(stage.calls(Endpoint::Behaviour), 1);
    let words = "The file was closed. 1 of 4 were asked for, nothing further is sent.";
    assert!(stage.screen().contains(words), "{}", stage.screen());
}

/// The main file and another, which is shown, both of which list the same report; nothing of it is held.
fn listed_twice() -> Stage {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    let identifier = stage.session.model.list().unwrap().entries[0].identifier.clone().unwrap();
    stage.open_other(&file("Parcel"));
    list_by_identifier(&mut stage, &identifier);
    stage
}

/// Lists this report as one of the second file's: an identifier need not say which file it is of.
fn list_by_identifier(stage: &mut Stage, identifier: &Identifier) {
    let listed = format!(r#"{{"data":[{{"type":"private_file_behaviour","id":"{}"}}]}}"#, identifier.text().visible());
    let page = Page::of(&Body::in_memory(listed.into_bytes())).unwrap();
    let request =
        Request::Behaviours { file: file("Parcel"), listing: stage.session.model.service.listing, cursor: None };
    let page = Response::Page(page, Timestamp::UNIX_EPOCH, None);
    stage.session.take(ServiceEvent::Ended(request, Ok(page)));
    stage.rest();
}

#[test]
fn a_report_that_two_files_list_is_there_in_both() {
    let mut stage = listed_twice();
    let paid = stage.paid_calls();
    stage.assert_shows("is not stored");
    stage.keys("enter");
    stage.assert_shows("Processes");
    stage.assert_gone("is not stored");
    stage.keys("K");
    assert!(stage.screen().contains("● "), "{}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains("Processes"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), paid + 1);
}

#[test]
fn a_file_that_is_closed_for_another_is_named() {
    let mut stage = Stage::listed();
    let closed = "Closed to make room, as at most 20 files are open at once: ";
    for number in 1..20 {
        stage.open_other(&Sha256::parse(&format!("{number:064x}")).unwrap());
        assert!(!stage.screen().contains(closed), "{}", stage.screen());
    }
    stage.open_other(&file("Parcel"));
    stage.assert_shows(&format!("{closed}{}.", main_file().short()));
}

#[test]
fn a_filter_stays_where_its_report_comes_while_another_file_is_shown() {
    let mut stage = listed_twice();
    arm(stage.demo.as_ref().unwrap(), "behaviour:drip=40000*1");
    press(&mut stage, "K enter");
    stage.until("setup.tmp");
    press(&mut stage, "4 / s t a g e enter J");
    stage.rest();
    stage.keys("K");
    assert!(stage.screen().contains("of 22 · /stage"), "{}", stage.screen());
    // Fetched once more from the other file, and left before it is read to its end.
    stage.keys("J r");
    press(&mut stage, "K J K");
    stage.rest();
    assert!(stage.screen().contains("of 22 · /stage"), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::Behaviour), 2);
}
