//! What was agreed to, and nothing else: a yes is a yes to one question, a price that was seen to one thing.

use crate::stage::{Stage, file, identifiers, main_file, options, public};
use behaview::app::TerminalEvent;
use behaview::demo::{Endpoint, Options};
use behaview::quota::{Entitlement, Entitlements};
use jiff::SignedDuration;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn slow(options: Options) -> Options {
    Options { delay: Duration::from_millis(300), ..options }
}

/// A minute in which no further call is sent.
fn minute(stage: &mut Stage) {
    let model = &mut stage.session.model;
    model.figures.wait_until = Some(model.now + SignedDuration::from_secs(60));
}

/// A stage on which one report of four has been opened, and the next is a minute away.
fn opening_all() -> Stage {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    stage.press("A");
    stage.drawn().press("y");
    minute(&mut stage);
    stage.rest();
    assert_eq!(stage.calls(Endpoint::Behaviour), 1, "{}", stage.screen());
    stage
}

/// A form with a large file that has been looked at, and with words about internet access; the field with these is chosen last.
fn large(internet: &str) -> Stage {
    let mut stage = Stage::at(main_file(), slow(options()));
    stage.session.model.service.upload_direct = 1000;
    let path = stage.sample("one.bin", 2000);
    stage.keys("U");
    stage.session.take(TerminalEvent::Paste(path));
    if !internet.is_empty() {
        stage.keys("tab tab");
        stage.session.take(TerminalEvent::Paste(internet.to_owned()));
    }
    stage.keys("enter");
    assert!(stage.session.model.large_scan().is_some(), "{}", stage.screen());
    stage
}

#[test]
fn while_all_is_opened_every_other_question_wants_its_yes() {
    let mut stage = opening_all();
    stage.type_question("v3-rescan", &public()[0]);
    stage.keys("enter");
    stage.assert_shows("Are you sure?");
    assert_eq!(stage.calls(Endpoint::Rescan), 0);
    stage.session.model.figures.wait_until = None;
    stage.keys("y");
    assert_eq!(stage.calls(Endpoint::Rescan), 1);
    let mut stage = opening_all();
    stage.confirm_above(0);
    stage.type_question("v3-file", &public()[0]);
    stage.keys("enter");
    stage.assert_shows("Are you sure?");
    assert_eq!(stage.calls(Endpoint::File), 0);
    stage.keys("esc esc");
    stage.later(61);
    stage.rest();
    assert_eq!(stage.calls(Endpoint::Behaviour), 4, "what was agreed to together wants no further yes");
}

#[test]
fn a_question_stays_until_it_is_answered() {
    let mut stage = opening_all();
    stage.keys("E");
    stage.later(61);
    stage.rest();
    assert_eq!(stage.calls(Endpoint::Behaviour), 4);
    stage.assert_shows("Are you sure?");
    stage.keys("esc");
    stage.assert_gone("Are you sure?");
}

#[test]
fn opening_all_opens_what_the_question_named() {
    let mut stage = Stage::at(main_file(), slow(identifiers()));
    stage.keys("enter");
    stage.confirm_above(2);
    stage.keys("G");
    stage.press("enter");
    stage.press("A");
    stage.rest();
    assert!(stage.screen().contains("Opening all costs 4 requests."), "{}", stage.screen());
    stage.keys("y");
    assert_eq!(stage.calls(Endpoint::Behaviour), 4, "{}", stage.screen());
}

#[test]
fn another_large_file_than_the_one_agreed_to_is_not_uploaded() {
    let mut stage = large("");
    let other = stage.sample("other.bin", 3000);
    stage.press("enter");
    stage.until("an address to upload to");
    stage.press("esc");
    stage.press("U");
    stage.session.take(TerminalEvent::Paste(other));
    stage.press("enter");
    while stage.session.model.large_scan().is_none() {
        stage.drawn();
    }
    let screen = stage.screen();
    assert!(
        screen.contains("submits it once another file has its address") || screen.contains("was closed"),
        "{screen}"
    );
    stage.rest();
    let submitted = stage.demo.as_ref().unwrap().submitted();
    assert!(submitted.is_empty(), "{submitted:?}");
    assert!(stage.screen().contains("The form was closed: nothing was uploaded"), "{}", stage.screen());
    assert!(stage.screen().contains("other.bin"), "{}", stage.screen());
}

#[test]
fn a_form_stays_as_it_was_agreed_to_while_its_address_is_under_way() {
    let mut stage = large("no");
    for key in ["enter", "backspace", "backspace"] {
        stage.press(key);
    }
    stage.session.take(TerminalEvent::Paste("yes".to_owned()));
    stage.rest();
    let submitted = stage.demo.as_ref().unwrap().submitted();
    assert_eq!(submitted.len(), 1, "{}", stage.screen());
    let told: Vec<_> = submitted[0].fields.iter().map(|(_, value)| value.as_str()).collect();
    assert!(told.contains(&"false") && !told.contains(&"true"), "{told:?}");
    let mut stage = large("");
    stage.press("enter");
    stage.session.take(TerminalEvent::Paste("x".to_owned()));
    stage.rest();
    assert_eq!(stage.demo.as_ref().unwrap().submitted()[0].size, 2000, "{}", stage.screen());
}

#[test]
fn what_takes_several_calls_is_dear_by_what_they_cost_together() {
    let mut stage = large("");
    stage.confirm_above(1);
    stage.keys("enter");
    assert!(stage.screen().contains("costs 1 request and 1 scan."), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::UploadUrl), 0);
    stage.keys("esc");
    stage.confirm_above(2);
    stage.keys("enter");
    assert_eq!(stage.demo.as_ref().unwrap().submitted().len(), 1, "{}", stage.screen());
}

/// Takes the licence for private scanning away.
fn without_licence(stage: &mut Stage) {
    let private_scanning = Entitlement::by_hand(false);
    stage.session.model.figures.entitlements = Entitlements { private_scanning, ..Entitlements::default() };
}

#[test]
fn what_cannot_be_sent_is_refused_in_the_same_words_everywhere() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    stage.confirm_above(2);
    let seen = stage.paid_calls();
    stage.keys("A");
    stage.assert_shows("Are you sure?");
    stage.keys("esc");
    without_licence(&mut stage);
    let refused = |stage: &Stage| {
        stage.assert_gone("Are you sure?");
        stage.assert_shows("Nothing was sent: ");
        stage.assert_shows(" $ explains.");
    };
    stage.keys("A");
    refused(&stage);
    stage.keys("R");
    refused(&stage);
    assert_eq!(stage.paid_calls(), seen);
    let mut stage = Stage::without_key();
    stage.open(&main_file());
    stage.keys("W");
    assert!(stage.screen().contains("Nothing was sent: no API key."), "{}", stage.screen());
}

#[test]
fn what_was_shown_as_held_is_never_asked_for() {
    let mut stage = Stage::new(options());
    stage.type_question("v3-file", &public()[0]);
    stage.keys("enter esc");
    stage.assert_shows("0, stored since");
    stage.confirm_above(0);
    stage.delete_stored("");
    stage.keys("enter");
    assert_eq!(stage.calls(Endpoint::File), 1);
    stage.assert_shows("Nothing was sent: the answer was stored, and is gone");
    stage.assert_gone("0, stored since");
    stage.assert_shows("1 request: enter ask");
    stage.keys("enter");
    stage.assert_shows("Are you sure?");
    assert_eq!(stage.calls(Endpoint::File), 1);
}

/// Types keys one after another, all of them read when the frame that is on the screen was the last one drawn.
fn type_ahead(stage: &mut Stage, keys: &[&str]) {
    let frame = stage.session.frame.load(Ordering::SeqCst);
    for key in keys {
        stage.session.take(TerminalEvent::KeyInput(key.parse().unwrap(), frame));
    }
    stage.rest();
}

#[test]
fn a_price_that_was_seen_is_for_the_file_that_was_seen() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.open_other(&file("Parcel"));
    type_ahead(&mut stage, &["J", "W"]);
    assert!(stage.screen().contains("W came before its price was on the screen"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
    let missing = |stage: &Stage| {
        let model = &stage.session.model;
        model.files.missing_reports(&model.calls).len()
    };
    stage.keys("enter enter esc j enter esc");
    let here = missing(&stage);
    stage.keys("J enter");
    assert_eq!((here, missing(&stage)), (2, 2), "the same price for another file");
    type_ahead(&mut stage, &["J", "A"]);
    assert!(stage.screen().contains("A came before its price was on the screen"), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::Behaviour), 2);
    type_ahead(&mut stage, &["A"]);
    assert_eq!(stage.calls(Endpoint::Behaviour), 4);
}

#[test]
fn a_yes_is_one_to_a_question_that_stood_there() {
    // What asks, and what would answer: about what is held, and about the service.
    for (place, keys, question) in [
        ("H", ["X", "Y"], "Are you sure?"),
        ("home", ["E", "Y"], "esc no"),
        ("home", ["E", "y"], "esc no"),
        ("home", ["r", "y"], "costs 1 request."),
    ] {
        let mut stage = Stage::listed();
        stage.confirm_above(0);
        stage.keys(place);
        let calls = |stage: &Stage| stage.demo.as_ref().unwrap().seen().len();
        let (screen, before) = (stage.screen(), calls(&stage));
        let assert_asked = |stage: &Stage| {
            let words = format!("{} came before the question was on the screen", keys[1]);
            assert!(stage.screen().contains(&words) && stage.screen().contains(question), "{}", stage.screen());
            assert_eq!(calls(stage), before, "{keys:?}");
        };
        type_ahead(&mut stage, &keys);
        assert_asked(&stage);
        stage.keys("esc");
        assert_eq!(stage.screen(), screen, "{keys:?}");
        type_ahead(&mut stage, &keys[..1]);
        // One that is taken back and asked again is another one; what has a price wants to be seen with it first.
        if keys[0] != "r" {
            type_ahead(&mut stage, &["esc", keys[0], keys[1]]);
            assert_asked(&stage);
        }
        stage.assert_shows(question);
        type_ahead(&mut stage, &keys[1..]);
        stage.assert_gone(question);
    }
}

#[test]
fn what_is_asked_bit_by_bit_waits_for_the_next_minute() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    minute(&mut stage);
    stage.later(58);
    assert!(stage.screen().contains("wait 2 s: enter open  R relist  A open all"), "{}", stage.screen());
    // A key whose price is not shown begins nothing that would be sent later.
    stage.keys("A");
    assert!(stage.screen().contains("Nothing was sent: wait 2 s."), "{}", stage.screen());
    stage.later(2);
    stage.rest();
    assert_eq!(stage.calls(Endpoint::Behaviour), 0);
    stage.press("A");
    stage.drawn().press("y");
    minute(&mut stage);
    for (seconds, calls) in [(0, 1), (59, 1), (1, 4)] {
        stage.later(seconds);
        stage.rest();
        assert_eq!(stage.calls(Endpoint::Behaviour), calls, "{}", stage.screen());
    }
}

#[test]
fn the_keys_of_a_question_are_on_the_screen_wherever_it_can_be_answered() {
    let mut stage = Stage::listed();
    stage.keys("E");
    for (width, height) in [(40, 10), (60, 10), (40, 24), (120, 40)] {
        stage.size(width, height);
        let screen = stage.screen();
        assert!(screen.contains("esc no"), "{screen}");
        assert_eq!(screen.contains('…') && !screen.contains("either way"), height == 10, "{screen}");
    }
    stage.size(39, 10).keys("Y");
    assert_eq!(stage.calls(Endpoint::PrivateDelete), 0);
    stage.size(40, 10).keys("y");
    assert_eq!(stage.calls(Endpoint::PrivateDelete), 1, "{}", stage.screen());
}
