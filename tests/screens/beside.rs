//! Files that are open beside each other: what belongs to one goes aside with it, and comes back as it was left.

use crate::faults::arm;
use crate::screen;
use crate::stage::{Stage, file, identifiers, main_file, options};
use behaview::app::message::{HeldPage, Here};
use behaview::app::{Overlay, Response, ServiceEvent, TerminalEvent};
use behaview::demo::Endpoint;
use behaview::report::Body;
use behaview::report::identifier::{Identifier, Sha256};
use behaview::report::page::Page;
use behaview::request::Request;
use jiff::Timestamp;
use std::time::Duration;

/// The main file and, beside it, another, both listed; the main file is shown.
fn two() -> Stage {
    let mut stage = Stage::listed();
    stage.open_other(&file("Parcel"));
    stage.keys("enter K");
    stage
}

/// The row of the screen that has the cursor.
fn chosen(stage: &Stage) -> String {
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
    screen!("files_second", stage);
    let second = stage.screen();
    let paid = stage.paid_calls();
    stage.keys("J");
    let back = stage.screen();
    let body = |screen: &str| screen.lines().skip(1).take(36).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&back), body(&left).into_iter().collect::<Vec<_>>(), "{back}");
    stage.keys("K");
    assert_eq!(body(&stage.screen()), body(&second));
    assert_eq!(stage.paid_calls(), paid, "what is held costs nothing");
    stage.keys("Q");
    assert!(
        stage.screen().contains(&main_file().short()) && !stage.screen().contains("file 1 of"),
        "{}",
        stage.screen()
    );
}

#[test]
fn hashes_that_are_pasted_together_are_opened_together() {
    let mut stage = Stage::new(options());
    stage.session.take(TerminalEvent::Paste(format!("{}\n{}, {}", main_file(), file("Parcel"), file("Busy"))));
    stage.rest();
    assert!(stage.screen().contains("Pasted: 3 files."), "{}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains(&format!("{} · file 1 of 3", main_file().short())), "{}", stage.screen());
    stage.keys("J J");
    assert!(stage.screen().contains(&format!("{} · file 3 of 3", file("Busy").short())), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
}

#[test]
fn an_answer_for_a_file_that_is_not_shown_finds_its_place() {
    let mut stage = Stage::new(options());
    stage.session.model_mut();
    stage.open(&main_file());
    stage.press("enter");
    stage.press("f");
    stage.session.take(TerminalEvent::Paste(file("Parcel").to_string()));
    stage.press("enter");
    stage.rest();
    assert!(stage.screen().contains("Nothing is held of this file"), "{}", stage.screen());
    stage.keys("J");
    assert!(stage.screen().contains("Sandboxes 4 of 6"), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::List), 1);
}

#[test]
fn the_way_back_to_a_list_belongs_to_its_file() {
    // Down to a row that is a place.
    for (list, down) in [("!", 5), ("i", 5), ("F l u m e n", 4)] {
        let mut stage = two();
        stage.keys(list).keys(&["down"; 5][..down].join(" "));
        let left = chosen(&stage);
        stage.keys("enter");
        let row = stage.screen();
        stage.keys("J");
        let other = stage.screen();
        assert!(!other.contains("esc back to"), "{other}");
        stage.keys("esc");
        assert!(stage.session.model().over.is_empty(), "{}", stage.screen());
        stage.keys("K");
        assert_eq!(stage.screen(), row, "{list}");
        stage.keys("esc");
        assert_eq!(chosen(&stage), left, "{list}");
        stage.keys("enter Q esc");
        assert!(stage.session.model().over.is_empty(), "{}", stage.screen());
    }
}

#[test]
fn the_hits_of_a_search_belong_to_the_file_whose_report_was_searched() {
    let mut stage = two();
    stage.keys("F c m d enter");
    let hit = stage.screen();
    assert!(hit.contains("hit 1 of"), "{hit}");
    stage.keys("J F ctrl-u p a y l o a d enter");
    let second = stage.screen();
    assert!(second.contains("hit 1 of"), "{second}");
    stage.keys("K");
    assert_eq!(stage.screen(), hit);
    stage.keys("esc");
    assert!(stage.screen().contains("Find in all panes") && stage.screen().contains("cmd"), "{}", stage.screen());
    stage.keys("esc J");
    assert_eq!(stage.screen(), second);
    stage.keys("n");
    assert!(stage.screen().contains("hit 2 of"), "{}", stage.screen());
}

#[test]
fn a_report_is_searched_for_the_words_of_last_time_whichever_file_it_is_of() {
    let mut stage = two();
    stage.keys("F h t t p enter J F");
    assert!(stage.screen().contains("http") && stage.screen().contains("Find in all panes"), "{}", stage.screen());
}

#[test]
fn a_filter_finds_its_rows_while_its_file_is_not_shown() {
    let mut stage = two();
    stage.keys("4");
    press(&mut stage, "/ q q z z enter J");
    stage.rest();
    stage.keys("K");
    let screen = stage.screen();
    assert!(screen.contains(" /qqzz") && !screen.contains(r"C:…\stage.js"), "{screen}");
}

#[test]
fn a_report_that_is_read_to_its_end_while_its_file_is_not_shown_is_judged() {
    let mut stage = two();
    press(&mut stage, "j J");
    stage.rest();
    stage.keys("K !");
    assert!(stage.screen().contains("What deserves a look"), "{}", stage.screen());
}

#[test]
fn a_report_is_judged_though_another_has_been_opened_since() {
    let mut stage = Stage::listed();
    stage.press("j");
    // It is known whole, and to be judged after a frame.
    while !stage.session.model().open().is_some_and(|open| open.report.index.is_complete) {
        stage.session.run_until_idle(Duration::ZERO).unwrap();
    }
    stage.press("j");
    stage.rest();
    stage.keys("k !");
    assert!(stage.screen().contains("What deserves a look"), "{}", stage.screen());
}

#[test]
fn a_file_that_is_opened_begins_at_its_first_panes() {
    let mut stage = Stage::listed();
    stage.keys("] ] esc");
    stage.open_other(&file("Parcel"));
    stage.keys("enter");
    assert!(stage.screen().contains(" 2 Tags "), "{}", stage.screen());
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
fn noise_is_hidden_in_every_report_that_is_open() {
    let mut stage = two();
    stage.keys("7 ~ 7");
    let hidden = stage.screen();
    stage.keys("J ~ K");
    assert_ne!(stage.screen(), hidden);
    stage.keys("J ~ K");
    assert_eq!(stage.screen(), hidden);
}

#[test]
fn going_back_from_a_row_of_the_other_file_leads_to_the_comparison() {
    let mut stage = Stage::listed();
    stage.open_other(&file("Unfriendly"));
    stage.keys("enter c w enter");
    let compared = stage.screen();
    assert!(compared.contains("other: "), "{compared}");
    stage.keys("l l l u enter");
    let list = stage.screen();
    stage.keys("enter");
    assert!(stage.screen().contains("57874b32"), "{}", stage.screen());
    stage.keys("esc");
    let body = |screen: &str| screen.lines().skip(1).take(36).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&stage.screen()), body(&list));
    assert!(stage.screen().contains("· file 2 of 2 ·"), "{}", stage.screen());
}

#[test]
fn a_comparison_that_was_left_before_it_was_there_is_made_again() {
    let mut stage = Stage::listed();
    press(&mut stage, "c esc");
    stage.rest();
    stage.keys("c");
    assert!(stage.screen().contains("203 of 203 items"), "{}", stage.screen());
}

#[test]
fn opening_all_reports_of_a_file_ends_when_it_is_closed() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    press(&mut stage, "A Q");
    stage.rest();
    for _ in 0..6 {
        stage.later(70);
        stage.rest();
    }
    assert_eq!(stage.calls(Endpoint::Behaviour), 1);
    let words = "The file was closed. 1 of 4 were asked for, nothing further is sent.";
    assert!(stage.screen().contains(words), "{}", stage.screen());
}

#[test]
fn a_file_that_is_opened_once_more_is_read_to_its_end() {
    let mut stage = two();
    press(&mut stage, "j J f");
    stage.session.take(TerminalEvent::Paste(main_file().to_string()));
    stage.press("enter");
    stage.rest();
    assert!(stage.screen().contains(" 1 Processes 1 "), "{}", stage.screen());
}

#[test]
fn a_list_of_a_report_that_came_anew_does_not_come_back() {
    let mut stage = Stage::listed();
    stage.keys("! enter");
    assert!(stage.screen().contains("esc back to the list"), "{}", stage.screen());
    stage.keys("r");
    assert!(!stage.screen().contains("esc back to the list"), "{}", stage.screen());
    stage.keys("esc");
    assert!(stage.session.model().over.is_empty(), "{}", stage.screen());
}

/// The main file and another, which is shown, both of which list the same report; nothing of it is held.
fn listed_twice() -> Stage {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    let identifier = stage.session.model().list().unwrap().entries()[0].identifier.clone().unwrap();
    stage.open_other(&file("Parcel"));
    list_by_identifier(&mut stage, &identifier);
    stage
}

/// Lists this report as one of the second file's: an identifier need not say which file it is of.
fn list_by_identifier(stage: &mut Stage, identifier: &Identifier) {
    let listed = format!(r#"{{"data":[{{"type":"private_file_behaviour","id":"{}"}}]}}"#, identifier.text().visible());
    let page = Page::of(&Body::in_memory(listed.into_bytes())).unwrap();
    let request =
        Request::Behaviours { file: file("Parcel"), listing: stage.session.model().service.listing, cursor: None };
    let page = HeldPage { received: Timestamp::UNIX_EPOCH, page, unkept: None };
    stage.session.take(ServiceEvent::Ended { request, result: Ok(Response::Page(page)) });
    stage.rest();
}

#[test]
fn a_report_that_two_files_list_is_there_in_both() {
    let mut stage = listed_twice();
    let paid = stage.paid_calls();
    stage.keys("enter");
    assert!(stage.screen().contains("Processes") && !stage.screen().contains("is not held"), "{}", stage.screen());
    stage.keys("K");
    assert!(stage.screen().contains("● "), "{}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains("Processes"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), paid + 1);
}

#[test]
fn the_way_back_from_choosing_another_file_is_told_and_goes_back() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 j");
    let before = stage.screen();
    stage.keys("f");
    assert!(stage.screen().contains("esc back"), "{}", stage.screen());
    stage.keys("a b esc");
    assert!(stage.screen().contains("Which file?") && !stage.screen().contains("SHA-256 ab"), "{}", stage.screen());
    stage.keys("esc");
    assert_eq!(stage.screen(), before);
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn a_file_that_is_closed_for_another_is_named() {
    let mut stage = Stage::listed();
    for number in 1..20 {
        stage.open_other(&Sha256::parse(&format!("{number:064x}")).unwrap());
        assert!(!stage.screen().contains("Closed"), "{}", stage.screen());
    }
    stage.open_other(&file("Parcel"));
    let words = format!("Closed to make room, as at most 20 files are open at once: {}.", main_file().short());
    assert!(stage.screen().contains(&words), "{}", stage.screen());
}

#[test]
fn a_report_that_two_files_list_comes_and_fails_in_both() {
    let mut stage = listed_twice();
    arm(stage.demo.as_ref().unwrap(), "behaviour:stall=9000*1");
    stage.press("enter");
    stage.until("9.0 kB");
    assert!(stage.screen().contains("setup.tmp"), "{}", stage.screen());
    stage.press("K");
    stage.drawn();
    assert!(stage.screen().contains("file 1 of 2") && stage.screen().contains("setup.tmp"), "{}", stage.screen());
    stage.keys("ctrl-x");
    let has_failed = |stage: &Stage| !stage.screen().contains("setup.tmp") && stage.screen().contains("! CAPE");
    assert!(has_failed(&stage), "{}", stage.screen());
    stage.keys("J");
    assert!(stage.screen().contains("file 2 of 2") && has_failed(&stage), "{}", stage.screen());
    // To ask again from one of them forgets in both that it failed.
    stage.keys("enter J");
    assert!(!stage.screen().contains("! CAPE") && stage.screen().contains("setup.tmp"), "{}", stage.screen());
}

/// What the list over the screen says of each of its rows.
fn heads(stage: &Stage) -> Vec<String> {
    match stage.session.model().over.top() {
        Some(Overlay::Spots(spots)) => spots.shown().map(|spot| spot.head.to_string()).collect(),
        _ => panic!("{}", stage.screen()),
    }
}

#[test]
fn a_list_of_what_deserves_a_look_is_made_anew_when_its_report_comes_anew() {
    let mut stage = Stage::listed();
    stage.keys("enter !");
    let before = heads(&stage);
    let identifier = stage.session.model().chosen().unwrap().identifier.clone().unwrap();
    let commands = r#""command_executions":["vssadmin.exe delete shadows /all /quiet"]"#;
    let json = format!(r#"{{"data":{{"id":"{}","attributes":{{{commands}}}}}}}"#, identifier.text().visible());
    let here = Here::new(Timestamp::UNIX_EPOCH, Body::in_memory(json.into_bytes()), None);
    stage
        .session
        .take(ServiceEvent::Ended { request: Request::Behaviour { identifier }, result: Ok(Response::Report(here)) });
    stage.rest();
    let after = heads(&stage);
    assert!(!after.is_empty() && after.len() < before.len(), "{after:?}\n{}", stage.screen());
}

#[test]
fn a_note_is_there_in_every_file_that_lists_its_report() {
    let mut stage = listed_twice();
    stage.keys("K a o n e enter J");
    assert!(stage.screen().contains("CAPE Sandbox ✎"), "{}", stage.screen());
    stage.keys("a space t w o enter K a");
    assert!(stage.screen().contains("> one two"), "{}", stage.screen());
    // It stays with the file that it was written with first.
    let mut stage = stage.restart_without_service();
    assert_eq!(stage.screen().matches("✎1").count(), 1, "{}", stage.screen());
    stage.open(&main_file());
    stage.keys("a");
    assert!(stage.screen().contains("> one two"), "{}", stage.screen());
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

#[test]
fn a_report_that_a_list_brings_is_there_in_every_file_that_lists_it() {
    let first = Stage::listed().session.model().list().unwrap().entries()[0].identifier.clone().unwrap();
    let mut stage = Stage::at(file("Parcel"), options());
    list_by_identifier(&mut stage, &first);
    assert!(stage.screen().contains("is not held"), "{}", stage.screen());
    stage.open_other(&main_file());
    stage.keys("enter K");
    assert!(stage.screen().contains("file 1 of 2") && stage.screen().contains("setup.tmp"), "{}", stage.screen());
    // And the other way round: what is here already needs no further call where it is listed.
    stage.keys("Q");
    stage.open_other(&file("Parcel"));
    list_by_identifier(&mut stage, &first);
    assert!(stage.screen().contains("file 2 of 2") && stage.screen().contains("setup.tmp"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}
