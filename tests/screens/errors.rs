//! Errors: a message in its place says what happened, what it cost, and which key to press.

use crate::faults::arm;
use crate::harness::{TuiHarness, main_file, options};
use crate::screen;
use behaview::demo::{Endpoint, ListContent, Options};
use behaview::quota::SpentUnits;

/// The screen after listing the main file with a fault armed.
fn listing(fault: &str) -> TuiHarness {
    let mut tui = TuiHarness::at(main_file(), options());
    arm(tui.demo.as_ref().unwrap(), fault);
    tui.keys("enter");
    tui
}

macro_rules! goes_wrong {
    ($($name:ident: $fault:literal)*) => {$(
        #[test]
        fn $name() {
            let tui = listing($fault);
            insta::assert_snapshot!(concat!("wrong_", stringify!($name)), tui.beside_list());
            assert_eq!(tui.calls(Endpoint::List), 1);
        }
    )*};
}

goes_wrong! {
    wrong_key: "list:401-wrong*1"
    not_found: "list:404*1"
    quota_spent: "list:429-quota*1"
    too_many_requests: "list:429-rate-seconds*1"
    too_many_requests_as_a_page: "list:429-html*1"
    service_down: "list:503*1"
    web_page: "list:portal*1"
    not_json: "list:not-json*1"
    empty: "list:empty*1"
    cut_short: "list:cut=700*1"
    cut_short_without_length: "list:cut-bare=700*1"
    wrong_type: "list:string*1"
    for_another_file: "list:stranger*1"
    one_of_another_file: "list:mixed*1"
    lost: "list:lost*1"
    redirected: "list:redirect=http://127.0.0.1:9/*1"
}

#[test]
fn no_licence() {
    let mut tui = TuiHarness::at(main_file(), Options { licence: false, ..options() });
    insta::assert_snapshot!("wrong_no_licence", tui.beside_list());
    tui.keys("enter");
    insta::assert_snapshot!("wrong_no_licence_pressed", tui.beside_list());
    assert_eq!(tui.calls(Endpoint::List), 0);
}

#[test]
fn no_network() {
    let mut tui = TuiHarness::unreachable();
    tui.open(&main_file());
    tui.keys("enter");
    insta::assert_snapshot!("wrong_no_network", tui.beside_list());
    assert_eq!(tui.spent(), SpentUnits::default());
}

#[test]
fn failed_report_does_not_affect_others() {
    let mut tui = TuiHarness::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    tui.keys("enter");
    arm(tui.demo.as_ref().unwrap(), "behaviour:stranger*1");
    tui.keys("enter");
    insta::assert_snapshot!("wrong_report_for_another", tui.beside_list());
    tui.keys("j enter");
    assert!(tui.screen().contains("1 Processes"), "{}", tui.screen());
}

#[test]
fn failed_refetch_preserves_the_stored_report() {
    let mut tui = TuiHarness::listed();
    arm(tui.demo.as_ref().unwrap(), "behaviour:404*1");
    tui.keys("enter r");
    screen!("wrong_refetch", tui);
}

#[test]
fn repeating_pages_are_not_continued() {
    let mut tui = TuiHarness::at(main_file(), options());
    arm(tui.demo.as_ref().unwrap(), "list:cursor-same");
    tui.keys("enter G enter G enter G enter G enter");
    screen!("wrong_circle", tui);
    assert!(tui.calls(Endpoint::List) <= 3, "{}", tui.calls(Endpoint::List));
}

#[test]
fn unknown_counters_do_not_stop_work() {
    let mut tui = TuiHarness::faulty("quotas:503");
    assert!(tui.screen().contains("left: ? (b fetches, 0)"), "{}", tui.screen());
    tui.open(&main_file());
    tui.keys("enter");
    insta::assert_snapshot!("wrong_counters", tui.screen());
    tui.size(60, 20);
    assert!(tui.screen().contains("left: ? (b fetches, 0)"), "{}", tui.screen());
}

#[test]
fn refused_quota_is_shown_until_a_call_succeeds() {
    let mut tui = listing("list:429-quota*1");
    assert!(
        tui.screen().contains("refused as spent (b rereads) left: you 240 this hour, 500 today"),
        "{}",
        tui.screen()
    );
    tui.keys("b esc");
    tui.assert_shows("refused as spent");
    tui.keys("enter");
    tui.assert_gone("refused as spent");
}

#[test]
fn paid_calls_wait_until_the_retry_time() {
    let mut tui = listing("list:429-rate-seconds*1");
    assert!(tui.screen().contains("wait 2 min: enter list sandboxes"), "{}", tui.screen());
    tui.keys("W y");
    assert_eq!(tui.calls(Endpoint::List), 1, "agreed to or not");
    tui.keys("esc");
    tui.keys("enter");
    assert!(tui.screen().contains("Nothing was sent: wait 2 min."), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::List), 1);
    assert!(tui.session.model.is_waiting(), "ticks come until it ends");
    tui.later(121);
    assert!(tui.screen().contains("1 request: enter list sandboxes"), "{}", tui.screen());
    assert!(!tui.session.model.is_waiting());
    // The gateway, whose clock stands still here, keeps the same pause.
    tui.sql("UPDATE ledger SET outcome = NULL");
    tui.keys("enter");
    assert_eq!(tui.calls(Endpoint::List), 2);
}

#[test]
fn stalled_call_is_cancelled_by_key() {
    let mut tui = TuiHarness::at(main_file(), options());
    arm(tui.demo.as_ref().unwrap(), "list:stall=64*1");
    tui.press("enter");
    // Until the service has the call there is nothing to give up.
    while tui.paid_calls() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    tui.keys("ctrl-x");
    insta::assert_snapshot!("cancelled", tui.screen());
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn a_service_that_repeats_the_key_shows_asterisks() {
    let key = "c0ffee11".repeat(8);
    let mut tui = TuiHarness::with_key(crate::key_echo::begin(&key), &key);
    let masked = |tui: &TuiHarness, wanted: &str| {
        let screen = tui.screen();
        assert!(!screen.to_ascii_lowercase().contains("c0ffee11"), "{screen}");
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    };
    tui.open(&main_file());
    tui.keys("enter");
    masked(&tui, "tool --key ****************");
    tui.keys("r");
    masked(&tui, "tool --key ****************");
    assert_eq!(tui.spent().total(), 2, "both are paid for, and here");
    for keys in ["tab z enter", "esc esc 0", "L", "esc B", "esc H", "esc I", "esc C"] {
        tui.keys(keys);
        masked(&tui, "");
    }
}
