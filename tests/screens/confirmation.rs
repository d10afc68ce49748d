//! Confirmations: each answers one question, and a price that was seen allows one call.

use crate::harness::{TuiHarness, file, identifiers, main_file, options, public};
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
fn minute(tui: &mut TuiHarness) {
    let model = &mut tui.session.model;
    model.quota_state.wait_until = Some(model.now + SignedDuration::from_secs(60));
}

/// A stage on which one report of four has been opened, and the next is a minute away.
fn opening_all() -> TuiHarness {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    tui.press("A");
    tui.drawn().press("y");
    minute(&mut tui);
    tui.rest();
    assert_eq!(tui.calls(Endpoint::Behaviour), 1, "{}", tui.screen());
    tui
}

/// A form with an inspected large file and a text about internet access, the chosen field.
fn large(internet: &str) -> TuiHarness {
    let mut tui = TuiHarness::at(main_file(), slow(options()));
    tui.session.model.service.upload_direct = 1000;
    let path = tui.sample("one.bin", 2000);
    tui.keys("U");
    tui.session.take(TerminalEvent::Paste(path));
    if !internet.is_empty() {
        tui.keys("tab tab");
        tui.session.take(TerminalEvent::Paste(internet.to_owned()));
    }
    tui.keys("enter");
    assert!(tui.session.model.large_scan().is_some(), "{}", tui.screen());
    tui
}

#[test]
fn other_requests_are_confirmed_during_a_batch() {
    let mut tui = opening_all();
    tui.type_question("v3-rescan", &public()[0]);
    tui.keys("enter");
    tui.assert_shows("Are you sure?");
    assert_eq!(tui.calls(Endpoint::Rescan), 0);
    tui.session.model.quota_state.wait_until = None;
    tui.keys("y");
    assert_eq!(tui.calls(Endpoint::Rescan), 1);
    let mut tui = opening_all();
    tui.confirm_above(0);
    tui.type_question("v3-file", &public()[0]);
    tui.keys("enter");
    tui.assert_shows("Are you sure?");
    assert_eq!(tui.calls(Endpoint::File), 0);
    tui.keys("esc esc");
    tui.later(61);
    tui.rest();
    assert_eq!(tui.calls(Endpoint::Behaviour), 4, "what was agreed to together wants no further yes");
}

#[test]
fn dialog_stays_until_it_is_answered() {
    let mut tui = opening_all();
    tui.keys("E");
    tui.later(61);
    tui.rest();
    assert_eq!(tui.calls(Endpoint::Behaviour), 4);
    tui.assert_shows("Are you sure?");
    tui.keys("esc");
    tui.assert_gone("Are you sure?");
}

#[test]
fn opening_all_opens_the_confirmed_reports() {
    let mut tui = TuiHarness::at(main_file(), slow(identifiers()));
    tui.keys("enter");
    tui.confirm_above(2);
    tui.keys("G");
    tui.press("enter");
    tui.press("A");
    tui.rest();
    assert!(tui.screen().contains("Opening all costs 4 requests."), "{}", tui.screen());
    tui.keys("y");
    assert_eq!(tui.calls(Endpoint::Behaviour), 4, "{}", tui.screen());
}

#[test]
fn other_large_file_than_confirmed_is_not_uploaded() {
    let mut tui = large("");
    let other = tui.sample("other.bin", 3000);
    tui.press("enter");
    tui.until("an address to upload to");
    tui.press("esc");
    tui.press("U");
    tui.session.take(TerminalEvent::Paste(other));
    tui.press("enter");
    while tui.session.model.large_scan().is_none() {
        tui.drawn();
    }
    let screen = tui.screen();
    assert!(
        screen.contains("submits it once another file has its address") || screen.contains("was closed"),
        "{screen}"
    );
    tui.rest();
    let submitted = tui.demo.as_ref().unwrap().submitted();
    assert!(submitted.is_empty(), "{submitted:?}");
    assert!(tui.screen().contains("The form was closed: nothing was uploaded"), "{}", tui.screen());
    assert!(tui.screen().contains("other.bin"), "{}", tui.screen());
}

#[test]
fn confirmed_form_is_sent_despite_later_edits() {
    let mut tui = large("no");
    for key in ["enter", "backspace", "backspace"] {
        tui.press(key);
    }
    tui.session.take(TerminalEvent::Paste("yes".to_owned()));
    tui.rest();
    let submitted = tui.demo.as_ref().unwrap().submitted();
    assert_eq!(submitted.len(), 1, "{}", tui.screen());
    let told: Vec<_> = submitted[0].fields.iter().map(|(_, value)| value.as_str()).collect();
    assert!(told.contains(&"false") && !told.contains(&"true"), "{told:?}");
    let mut tui = large("");
    tui.press("enter");
    tui.session.take(TerminalEvent::Paste("x".to_owned()));
    tui.rest();
    assert_eq!(tui.demo.as_ref().unwrap().submitted()[0].size, 2000, "{}", tui.screen());
}

#[test]
fn confirm_limit_applies_to_the_sum_of_calls() {
    let mut tui = large("");
    tui.confirm_above(1);
    tui.keys("enter");
    assert!(tui.screen().contains("costs 1 request and 1 scan."), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::UploadUrl), 0);
    tui.keys("esc");
    tui.confirm_above(2);
    tui.keys("enter");
    assert_eq!(tui.demo.as_ref().unwrap().submitted().len(), 1, "{}", tui.screen());
}

/// Takes the licence for private scanning away.
fn without_licence(tui: &mut TuiHarness) {
    let private_scanning = Entitlement::by_hand(false);
    tui.session.model.quota_state.entitlements = Entitlements { private_scanning, ..Entitlements::default() };
}

#[test]
fn unavailable_calls_have_one_refusal_message() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    tui.confirm_above(2);
    let seen = tui.paid_calls();
    tui.keys("A");
    tui.assert_shows("Are you sure?");
    tui.keys("esc");
    without_licence(&mut tui);
    let refused = |tui: &TuiHarness| {
        tui.assert_gone("Are you sure?");
        tui.assert_shows("Nothing was sent: ");
        tui.assert_shows(" $ explains.");
    };
    tui.keys("A");
    refused(&tui);
    tui.keys("R");
    refused(&tui);
    assert_eq!(tui.paid_calls(), seen);
    let mut tui = TuiHarness::without_key();
    tui.open(&main_file());
    tui.keys("W");
    assert!(tui.screen().contains("Nothing was sent: no API key."), "{}", tui.screen());
}

#[test]
fn deleted_stored_response_is_not_requested() {
    let mut tui = TuiHarness::new(options());
    tui.type_question("v3-file", &public()[0]);
    tui.keys("enter esc");
    tui.assert_shows("0, stored since");
    tui.confirm_above(0);
    tui.delete_stored("");
    tui.keys("enter");
    assert_eq!(tui.calls(Endpoint::File), 1);
    tui.assert_shows("Nothing was sent: the stored response was deleted");
    tui.assert_gone("0, stored since");
    tui.assert_shows("1 request: enter send");
    tui.keys("enter");
    tui.assert_shows("Are you sure?");
    assert_eq!(tui.calls(Endpoint::File), 1);
}

/// Types keys in sequence, all read while the frame on the screen was the last one drawn.
fn type_ahead(tui: &mut TuiHarness, keys: &[&str]) {
    let frame = tui.session.frame.load(Ordering::SeqCst);
    for key in keys {
        tui.session.take(TerminalEvent::KeyInput(key.parse().unwrap(), frame));
    }
    tui.rest();
}

#[test]
fn shown_price_is_valid_for_its_file_only() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.open_other(&file("Parcel"));
    type_ahead(&mut tui, &["J", "W"]);
    assert!(tui.screen().contains("W came before its price was on the screen"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
    let missing = |tui: &TuiHarness| {
        let model = &tui.session.model;
        model.files.missing_reports(&model.calls).len()
    };
    tui.keys("enter enter esc j enter esc");
    let here = missing(&tui);
    tui.keys("J enter");
    assert_eq!((here, missing(&tui)), (2, 2), "the same price for another file");
    type_ahead(&mut tui, &["J", "A"]);
    assert!(tui.screen().contains("A came before its price was on the screen"), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::Behaviour), 2);
    type_ahead(&mut tui, &["A"]);
    assert_eq!(tui.calls(Endpoint::Behaviour), 4);
}

#[test]
fn confirmation_needs_a_dialog_already_shown() {
    // What asks, and what would answer: about what is held, and about the service.
    for (place, keys, question) in [
        ("H", ["X", "Y"], "Are you sure?"),
        ("home", ["E", "Y"], "esc no"),
        ("home", ["E", "y"], "esc no"),
        ("home", ["r", "y"], "costs 1 request."),
    ] {
        let mut tui = TuiHarness::listed();
        tui.confirm_above(0);
        tui.keys(place);
        let calls = |tui: &TuiHarness| tui.demo.as_ref().unwrap().seen().len();
        let (screen, before) = (tui.screen(), calls(&tui));
        let assert_asked = |tui: &TuiHarness| {
            let words = format!("{} came before the confirmation was drawn", keys[1]);
            assert!(tui.screen().contains(&words) && tui.screen().contains(question), "{}", tui.screen());
            assert_eq!(calls(tui), before, "{keys:?}");
        };
        type_ahead(&mut tui, &keys);
        assert_asked(&tui);
        tui.keys("esc");
        assert_eq!(tui.screen(), screen, "{keys:?}");
        type_ahead(&mut tui, &keys[..1]);
        // A question asked again is another one, whose price must be seen first.
        if keys[0] != "r" {
            type_ahead(&mut tui, &["esc", keys[0], keys[1]]);
            assert_asked(&tui);
        }
        tui.assert_shows(question);
        type_ahead(&mut tui, &keys[1..]);
        tui.assert_gone(question);
    }
}

#[test]
fn batch_waits_for_the_next_minute() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    minute(&mut tui);
    tui.later(58);
    assert!(tui.screen().contains("wait 2 s: enter open  R relist  A open all"), "{}", tui.screen());
    // A key whose price is not shown begins nothing that would be sent later.
    tui.keys("A");
    assert!(tui.screen().contains("Nothing was sent: wait 2 s."), "{}", tui.screen());
    tui.later(2);
    tui.rest();
    assert_eq!(tui.calls(Endpoint::Behaviour), 0);
    tui.press("A");
    tui.drawn().press("y");
    minute(&mut tui);
    for (seconds, calls) in [(0, 1), (59, 1), (1, 4)] {
        tui.later(seconds);
        tui.rest();
        assert_eq!(tui.calls(Endpoint::Behaviour), calls, "{}", tui.screen());
    }
}

#[test]
fn dialog_keys_are_visible_at_every_usable_size() {
    let mut tui = TuiHarness::listed();
    tui.keys("E");
    for (width, height) in [(40, 10), (60, 10), (40, 24), (120, 40)] {
        tui.size(width, height);
        let screen = tui.screen();
        assert!(screen.contains("esc no"), "{screen}");
        assert_eq!(screen.contains('…') && !screen.contains("either way"), height == 10, "{screen}");
    }
    tui.size(39, 10).keys("Y");
    assert_eq!(tui.calls(Endpoint::PrivateDelete), 0);
    tui.size(40, 10).keys("y");
    assert_eq!(tui.calls(Endpoint::PrivateDelete), 1, "{}", tui.screen());
}
