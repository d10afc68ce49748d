//! Prices before keys, one payment for one answer, and what is held for ever after.

use crate::faults::arm;
use crate::harness::{TuiHarness, file, identifiers, main_file, options, public};
use crate::screen;
use behaview::app::commands::Command;
use behaview::app::{Message, TerminalEvent};
use behaview::demo::{Endpoint, Options};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn a_price_is_explained_by_its_rule() {
    let mut tui = TuiHarness::listed();
    tui.keys("G $");
    screen!("price_explained", tui);
}

#[test]
fn help_names_the_keys_that_apply_with_their_prices() {
    let mut tui = TuiHarness::listed();
    tui.keys("?");
    screen!("help_in_list", tui);
    tui.keys("esc enter ?");
    screen!("help_in_pane", tui);
}

#[test]
fn stored_report_opens_offline_with_its_age() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter enter");
    assert_eq!(tui.paid_calls(), 2);
    let mut tui = tui.restart_without_service();
    tui.later(3 * 3600);
    tui.open(&main_file());
    insta::assert_snapshot!("stored_without_service", tui.screen());
    tui.keys("enter");
    assert!(tui.screen().contains("RUNTIME_MODULES"), "{}", tui.screen());
}

#[test]
fn a_double_enter_sends_one_request() {
    let mut tui = TuiHarness::at(main_file(), Options { delay: Duration::from_millis(100), ..identifiers() });
    tui.press("enter");
    tui.press("enter");
    tui.rest();
    assert_eq!(tui.calls(Endpoint::List), 1);
    tui.press("enter");
    tui.press("enter");
    tui.press("enter");
    tui.rest();
    assert_eq!((tui.calls(Endpoint::Behaviour), tui.paid_calls()), (1, 2));
    assert!(tui.screen().contains("spent this session: 2"), "{}", tui.screen());
}

#[test]
fn refetching_is_priced_and_sent_once_more() {
    let mut tui = TuiHarness::listed();
    tui.keys("r");
    assert_eq!((tui.calls(Endpoint::Behaviour), tui.paid_calls()), (1, 2));
    tui.keys("R");
    assert_eq!((tui.calls(Endpoint::List), tui.paid_calls()), (2, 3));
    assert!(tui.screen().contains("Sandboxes 4 of 6"));
}

#[test]
fn the_session_and_the_service_count_the_same() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter enter esc j enter esc j enter f");
    tui.open(&file("Parcel"));
    tui.keys("enter");
    let used = tui.demo.as_ref().unwrap().used().user.daily;
    assert_eq!(tui.spent().charged, used);
    assert_eq!(used, 5);
}

#[test]
fn call_in_flight_is_shown_and_ui_stays_usable() {
    let mut tui = TuiHarness::at(main_file(), Options { delay: Duration::from_millis(400), ..identifiers() });
    tui.keys("enter");
    tui.press("enter");
    tui.later(3);
    insta::assert_snapshot!("waiting_for_report", tui.screen());
    tui.press("j");
    tui.later(1);
    assert!(tui.screen().contains("This report is not stored"), "{}", tui.screen());
    tui.press("k");
    tui.rest();
    assert!(tui.screen().contains("RUNTIME_MODULES"), "{}", tui.screen());
}

#[test]
fn quitting_waits_for_a_paid_answer_and_then_ends() {
    let mut tui = TuiHarness::at(main_file(), Options { delay: Duration::from_millis(200), ..identifiers() });
    tui.press("enter");
    tui.press("q");
    tui.session.draw().unwrap();
    insta::assert_snapshot!("quit_waits", tui.screen());
    assert_eq!(tui.session.exit, None);
    tui.rest();
    assert!(tui.session.exit.is_some(), "{}", tui.screen());
    let mut tui = tui.restart_without_service();
    tui.open(&main_file());
    assert!(tui.screen().contains("CAPE Sandbox"), "{}", tui.screen());
}

#[test]
fn quitting_twice_leaves_at_once() {
    let mut tui = TuiHarness::at(main_file(), Options { delay: Duration::from_millis(300), ..identifiers() });
    tui.press("enter");
    tui.press("q");
    tui.press("q");
    assert!(tui.session.exit.is_some(), "{}", tui.screen());
    tui.rest();
}

#[test]
fn the_counters_are_shown_with_bars_and_countdowns() {
    let mut tui = TuiHarness::listed();
    tui.keys("b");
    screen!("counters", tui);
    tui.size(80, 24);
    screen!("counters_80x24", tui);
    tui.size(120, 40);
    assert_eq!(tui.paid_calls(), 1);
    tui.demo.as_ref().unwrap().colleague_spends(5_000);
    tui.keys("esc b");
    assert!(tui.screen().contains("17,481 of 30,000 · 12,519 left"), "{}", tui.screen());
}

#[test]
fn spent_quota_is_shown_before_sending() {
    let mut options = options();
    options.user_limits.daily = 1;
    let mut tui = TuiHarness::at(main_file(), options);
    tui.keys("enter r");
    insta::assert_snapshot!("quota_spent_before", tui.screen());
    assert_eq!(tui.calls(Endpoint::Behaviour), 0);
    tui.keys("$");
    let screen = tui.screen();
    assert!(!screen.contains("0 now, then 1 request") && !screen.contains("0 now, then 1 to"), "{screen}");
    assert!(screen.contains("quota spent until"), "{screen}");
    let downloads = "d             artifacts · 0; what it leads to: quota spent until 00:00 UTC";
    assert!(screen.contains(downloads), "the way to what is barred is open: {screen}");
}

#[test]
fn batch_beyond_the_quota_is_confirmed_first() {
    let mut options = identifiers();
    options.user_limits.daily = 3;
    let mut tui = TuiHarness::at(main_file(), options);
    tui.keys("enter A");
    let words = "Opening all costs 4 requests, and only 2 left today: what comes after those fails";
    assert!(tui.screen().contains(words), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::Behaviour), 0);
    tui.keys("esc A y");
    assert!(tui.calls(Endpoint::Behaviour) > 0, "{}", tui.screen());
}

#[test]
fn opening_all_shows_the_total_first() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter G enter g");
    assert!(tui.screen().contains("6 requests: A open all"), "{}", tui.screen());
    tui.keys("A");
    let screen = tui.screen();
    assert!(screen.contains("Opening all costs 6 requests."), "{screen}");
    assert_eq!(tui.calls(Endpoint::Behaviour), 0);
    tui.keys("y");
    insta::assert_snapshot!("all_opened", tui.screen());
    assert_eq!((tui.calls(Endpoint::Behaviour), tui.spent().charged), (6, 8));
}

#[test]
fn the_first_failure_stops_opening_all() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter enter esc");
    arm(tui.demo.as_ref().unwrap(), "behaviour:429-quota*1");
    tui.keys("A");
    insta::assert_snapshot!("all_stopped", tui.screen());
    assert_eq!(tui.calls(Endpoint::Behaviour), 2);
}

#[test]
fn opening_all_can_be_stopped() {
    let mut tui = TuiHarness::at(main_file(), Options { delay: Duration::from_millis(100), ..identifiers() });
    tui.keys("enter");
    tui.press("A");
    tui.drawn().press("y");
    tui.drawn().press("s");
    tui.rest();
    assert_eq!(tui.calls(Endpoint::Behaviour), 1);
    assert!(tui.screen().contains("1 of 4 requested"), "{}", tui.screen());
    // While the last one is on its way, it is not here.
    tui.keys("esc").press("A");
    tui.drawn().press("y");
    tui.until("3 of 3");
    tui.session.take(Message::Tick);
    let done = "All 3 reports are here.";
    assert!(!tui.screen().contains(done), "{}", tui.screen());
    tui.until(done);
    assert!(tui.session.model.calls.is_empty() && tui.screen().contains(", 495 of 500 today"), "{}", tui.screen());
}

#[test]
fn the_ledger_shows_predicted_settled_and_counted() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter enter esc");
    arm(tui.demo.as_ref().unwrap(), "behaviour:lost*1");
    tui.keys("r L");
    screen!("ledger", tui);
    tui.keys("esc $");
    screen!("price_confirmed", tui);
}

#[test]
fn cost_above_the_limit_requires_confirmation() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    tui.confirm_above(2);
    tui.keys("A");
    screen!("confirm_all", tui);
    assert_eq!(tui.calls(Endpoint::Behaviour), 0);
    tui.keys("esc enter esc");
    assert_eq!(tui.calls(Endpoint::Behaviour), 1);
    tui.keys("A y");
    assert_eq!(tui.calls(Endpoint::Behaviour), 4);
    tui.confirm_above(0);
    tui.keys("g r");
    assert_eq!(tui.calls(Endpoint::Behaviour), 4);
    tui.keys("y");
    assert_eq!(tui.calls(Endpoint::Behaviour), 5);
}

#[test]
fn repeated_quit_signals_await_a_paid_response() {
    let mut tui = TuiHarness::at(main_file(), Options { delay: Duration::from_millis(200), ..identifiers() });
    tui.press("enter");
    for _ in 0..3 {
        tui.session.take(TerminalEvent::Quit);
    }
    assert_eq!(tui.session.exit, None);
    tui.rest();
    assert!(tui.session.exit.is_some(), "{}", tui.screen());
    let mut tui = TuiHarness::at(main_file(), Options { delay: Duration::from_millis(200), ..identifiers() });
    tui.press("enter");
    tui.session.take(TerminalEvent::QuitNow);
    // What is given up is written down before the end.
    tui.rest();
    assert!(tui.session.exit.is_some(), "{}", tui.screen());
}

#[test]
fn key_pressed_before_its_price_does_not_pay() {
    let mut tui = TuiHarness::at(main_file(), options());
    let enter = |frame| TerminalEvent::KeyInput("enter".parse().unwrap(), frame);
    tui.session.take(enter(0));
    tui.rest();
    assert!(tui.screen().contains("enter came before its price was on the screen"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
    // What costs nothing needs no such care.
    tui.session.take(TerminalEvent::KeyInput("$".parse().unwrap(), 0));
    tui.rest();
    let of_page = tui.session.frame.load(Ordering::SeqCst);
    assert!(!tui.screen().contains("1 request: enter"), "{}", tui.screen());
    tui.keys("esc");
    // Now it is on the screen; this frame showed a page in its place.
    tui.session.take(enter(of_page));
    tui.rest();
    assert!(tui.screen().contains("enter came before its price was on the screen"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
    tui.session.take(enter(tui.session.frame.load(Ordering::SeqCst)));
    tui.rest();
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn over_budget_price_is_marked_before_its_key() {
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.keys("enter");
    tui.budget(3);
    tui.assert_shows("1 request: enter open  R relist");
    tui.assert_shows("4 requests, over budget: A");
    let paid = tui.paid_calls();
    tui.keys("A");
    assert!(tui.screen().contains("Nothing was sent: 4 requests, over budget."), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), paid);
    tui.budget(1);
    for (width, words) in [(120, "1 request, over budget: enter open"), (42, "over budget: enter")] {
        let screen = tui.size(width, 24).screen();
        assert!(screen.contains(words), "{screen}");
    }
    tui.size(120, 40).keys("$");
    let screen = tui.screen();
    assert!(screen.contains("open · 1 request, over budget"), "{screen}");
    assert!(screen.contains("This run may spend 1: 1 spent, or may be."), "{screen}");
    // What the budget allows, or what asks for nothing, is not marked.
    assert!(screen.contains("counters · 0\u{20}") && !screen.contains("counters · 0, over"), "{screen}");
}

#[test]
fn confirmed_keys_show_their_later_price() {
    let mut tui = TuiHarness::listed();
    let priced = [
        ("W", "watch", "1 to 20 requests"),
        ("U", "submit", "1 scan"),
        ("E", "delete", "1 request"),
        ("d", "artifacts", "1 request"),
    ];
    tui.keys("$");
    for (key, label, price) in priced {
        let words = format!("{key:<14}{label} · 0 now, then {price}");
        assert!(tui.screen().contains(&words), "{words}\n{}", tui.screen());
    }
    tui.size(120, 100).keys("esc ?");
    for (_, _, price) in priced {
        let words = format!("0 now, then {price}");
        assert!(tui.screen().contains(&words), "{words}\n{}", tui.screen());
    }
    assert_eq!(tui.paid_calls(), 1);
}

/// Checks that each command that may cost now has its price in the bar, or counts there, and its
/// price in the prices. What the next press spends and Enter's price are never only counted, nor do
/// they displace free keys. Removes the commands from those unseen.
fn assert_priced(tui: &mut TuiHarness, unseen: &mut BTreeSet<&'static str>) {
    for (width, height) in [(200, 55), (120, 40), (100, 30), (80, 24), (60, 15), (40, 10)] {
        tui.size(width, height);
        let (screen, model) = (tui.screen(), &tui.session.model);
        let bar = format!("{} ", screen.lines().rev().nth(1).unwrap());
        let is_shown = |key: &behaview::app::Key| bar.contains(&format!(" {key} "));
        let costs = |command: &Command| command.can_cost() && !model.key_price(command).is_free();
        let (priced, free): (Vec<_>, Vec<_>) = Command::applying(model).partition(|(_, command)| costs(command));
        for (_, command) in priced.iter().filter(|(key, _)| is_shown(key)) {
            let tag = model.key_price(command);
            let words = tag.label();
            let price = words.trim_start_matches("0 now, ");
            let brief = price.replace("requests", "req").replace("request", "req");
            let is_priced = |price: &str| bar.contains(&format!("{price}:"));
            assert!(is_priced(price) || width < 60 && is_priced(&brief), "{} at {width}: {bar}", command.name);
            unseen.remove(command.name);
        }
        let counted =
            bar.split_once(" +").map_or(0, |(_, after)| after.split([' ', ':']).next().unwrap().parse().unwrap_or(0));
        let shown = priced.iter().filter(|(key, _)| is_shown(key)).count();
        assert_eq!(shown + counted, priced.len(), "at {width}: {bar}");
        let must = |key: &behaview::app::Key, command: &Command| {
            key.to_string() == "enter" || model.key_price(command).paid_plan().is_some()
        };
        assert!(priced.iter().all(|(key, command)| !must(key, command) || is_shown(key)), "at {width}: {bar}");
        let main: Vec<_> = free.iter().filter(|(_, command)| (1..=4).contains(&command.rank)).collect();
        assert!(
            main.iter().filter(|(key, _)| is_shown(key)).count() >= main.len().min(5) || width < 60,
            "{width}: {bar}"
        );
        assert!(bar.contains("free: ") || main.is_empty() || width < 60, "at {width}: {bar}");
    }
    tui.size(120, 40);
}

#[test]
fn every_command_that_may_cost_is_priced_in_the_bar() {
    let mut unseen: BTreeSet<_> = Command::all().filter(|command| command.can_cost()).map(|known| known.name).collect();
    let mut after = |tui: &mut TuiHarness, keys: &[&str]| {
        for keys in keys {
            tui.keys(keys);
            assert_priced(tui, &mut unseen);
        }
    };
    let mut tui = TuiHarness::new(options());
    after(&mut tui, &["esc", "M", "enter"]);
    tui.keys("esc");
    tui.open(&main_file());
    after(&mut tui, &["g", "enter", "E", "esc", "G", "g", "enter", "d"]);
    let mut tui = TuiHarness::at(main_file(), identifiers());
    tui.confirm_above(2);
    after(&mut tui, &["enter", "A"]);
    let mut tui = TuiHarness::at(main_file(), options());
    tui.confirm_above(19);
    after(&mut tui, &["W"]);
    let mut tui = TuiHarness::listed();
    after(&mut tui, &["H #", "esc esc"]);
    tui.type_question("v3-file", &public()[0]);
    after(&mut tui, &["left", "enter esc"]);
    tui.confirm_above(0);
    after(&mut tui, &["ctrl-a"]);
    for largest in [100_000, 1000] {
        let mut tui = TuiHarness::listed();
        tui.session.model.service.upload_direct = largest;
        let path = tui.sample("sample.bin", 2000);
        tui.keys("U");
        tui.session.take(TerminalEvent::Paste(path));
        tui.confirm_above(0);
        after(&mut tui, &["enter", "enter"]);
    }
    // These two ask for nothing that costs.
    assert_eq!(unseen, BTreeSet::from(["counters", "usage"]));
}
