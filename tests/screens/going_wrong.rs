//! Everything that goes wrong: a message in its place that says what happened, what it cost and which key to press next.

use crate::faults::arm;
use crate::screen;
use crate::stage::{Stage, main_file, options};
use behaview::demo::{Endpoint, ListContent, Options};
use behaview::quota::Spent;

/// The screen after listing the main file with a fault armed.
fn listing(fault: &str) -> Stage {
    let mut stage = Stage::at(main_file(), options());
    arm(stage.demo.as_ref().unwrap(), fault);
    stage.keys("enter");
    stage
}

macro_rules! goes_wrong {
    ($($name:ident: $fault:literal)*) => {$(
        #[test]
        fn $name() {
            let stage = listing($fault);
            insta::assert_snapshot!(concat!("wrong_", stringify!($name)), stage.beside_list());
            assert_eq!(stage.calls(Endpoint::List), 1);
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
    let mut stage = Stage::at(main_file(), Options { licence: false, ..options() });
    insta::assert_snapshot!("wrong_no_licence", stage.beside_list());
    stage.keys("enter");
    insta::assert_snapshot!("wrong_no_licence_pressed", stage.beside_list());
    assert_eq!(stage.calls(Endpoint::List), 0);
}

#[test]
fn no_network() {
    let mut stage = Stage::unreachable();
    stage.open(&main_file());
    stage.keys("enter");
    insta::assert_snapshot!("wrong_no_network", stage.beside_list());
    assert_eq!(stage.spent(), Spent::default());
}

#[test]
fn a_report_that_fails_leaves_the_others_alone() {
    let mut stage = Stage::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    stage.keys("enter");
    arm(stage.demo.as_ref().unwrap(), "behaviour:stranger*1");
    stage.keys("enter");
    insta::assert_snapshot!("wrong_report_for_another", stage.beside_list());
    stage.keys("j enter");
    assert!(stage.screen().contains("1 Processes"), "{}", stage.screen());
}

#[test]
fn a_failed_refetch_keeps_what_is_held() {
    let mut stage = Stage::listed();
    arm(stage.demo.as_ref().unwrap(), "behaviour:404*1");
    stage.keys("enter r");
    screen!("wrong_refetch", stage);
}

#[test]
fn a_service_that_goes_in_circles_is_left() {
    let mut stage = Stage::at(main_file(), options());
    arm(stage.demo.as_ref().unwrap(), "list:cursor-same");
    stage.keys("enter G enter G enter G enter G enter");
    screen!("wrong_circle", stage);
    assert!(stage.calls(Endpoint::List) <= 3, "{}", stage.calls(Endpoint::List));
}

#[test]
fn unknown_counters_do_not_stop_work() {
    let mut stage = Stage::faulty("quotas:503");
    assert!(stage.screen().contains("left: ? (b asks, 0)"), "{}", stage.screen());
    stage.open(&main_file());
    stage.keys("enter");
    insta::assert_snapshot!("wrong_counters", stage.screen());
    stage.size(60, 20);
    assert!(stage.screen().contains("left: ? (b asks, 0)"), "{}", stage.screen());
}

#[test]
fn a_quota_that_is_spent_by_the_services_word_and_not_by_its_counters_is_told_until_a_call_is_answered() {
    let mut stage = listing("list:429-quota*1");
    assert!(stage.screen().contains("refused as spent (b rereads) left today: you 500"), "{}", stage.screen());
    stage.keys("b esc");
    stage.assert_shows("refused as spent");
    stage.keys("enter");
    stage.assert_gone("refused as spent");
}

#[test]
fn until_the_time_that_a_refusal_names_nothing_paid_is_sent_and_the_wait_ends_by_itself() {
    let mut stage = listing("list:429-rate-seconds*1");
    assert!(stage.screen().contains("wait 2 min: enter list sandboxes"), "{}", stage.screen());
    stage.keys("W y");
    assert_eq!(stage.calls(Endpoint::List), 1, "agreed to or not");
    stage.keys("esc");
    stage.keys("enter");
    assert!(stage.screen().contains("Nothing was sent: wait 2 min."), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::List), 1);
    assert!(stage.session.model.is_waiting(), "ticks come until it ends");
    stage.later(121);
    assert!(stage.screen().contains("1 request: enter list sandboxes"), "{}", stage.screen());
    assert!(!stage.session.model.is_waiting());
    // The gateway, whose clock stands still here, keeps the same pause.
    stage.sql("UPDATE ledger SET outcome = NULL");
    stage.keys("enter");
    assert_eq!(stage.calls(Endpoint::List), 2);
}

#[test]
fn an_answer_that_does_not_come_is_given_up_by_key() {
    let mut stage = Stage::at(main_file(), options());
    arm(stage.demo.as_ref().unwrap(), "list:stall=64*1");
    stage.press("enter");
    // Until the service has the call there is nothing to give up.
    while stage.paid_calls() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    stage.keys("ctrl-x");
    insta::assert_snapshot!("given_up", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn a_service_that_repeats_the_key_shows_asterisks() {
    let key = "c0ffee11".repeat(8);
    let mut stage = Stage::with_key(crate::parrot::begin(&key), &key);
    let masked = |stage: &Stage, wanted: &str| {
        let screen = stage.screen();
        assert!(!screen.to_ascii_lowercase().contains("c0ffee11"), "{screen}");
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    };
    stage.open(&main_file());
    stage.keys("enter");
    masked(&stage, "tool --key ****************");
    stage.keys("r");
    masked(&stage, "tool --key ****************");
    assert_eq!(stage.spent().total(), 2, "both are paid for, and here");
    for keys in ["tab z enter", "esc esc 0", "L", "esc B", "esc H", "esc I", "esc C"] {
        stage.keys(keys);
        masked(&stage, "");
    }
}
