//! Prices before keys, one payment for one answer, and what is held for ever after.

use crate::faults::arm;
use crate::screen;
use crate::stage::{Stage, file, identifiers, main_file, options, public};
use behaview::app::commands::Command;
use behaview::app::{Message, TerminalEvent};
use behaview::demo::{Endpoint, Options};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn a_price_is_explained_by_its_rule() {
    let mut stage = Stage::listed();
    stage.keys("G $");
    screen!("price_explained", stage);
}

#[test]
fn help_names_the_keys_that_apply_with_their_prices() {
    let mut stage = Stage::listed();
    stage.keys("?");
    screen!("help_in_list", stage);
    stage.keys("esc enter ?");
    screen!("help_in_pane", stage);
}

#[test]
fn what_is_held_opens_without_the_service_and_says_since_when() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter enter");
    assert_eq!(stage.paid_calls(), 2);
    let mut stage = stage.restart_without_service();
    stage.later(3 * 3600);
    stage.open(&main_file());
    insta::assert_snapshot!("held_without_service", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains("RUNTIME_MODULES"), "{}", stage.screen());
}

#[test]
fn a_double_enter_sends_one_request() {
    let mut stage = Stage::at(main_file(), Options { delay: Duration::from_millis(100), ..identifiers() });
    stage.press("enter");
    stage.press("enter");
    stage.rest();
    assert_eq!(stage.calls(Endpoint::List), 1);
    stage.press("enter");
    stage.press("enter");
    stage.press("enter");
    stage.rest();
    assert_eq!((stage.calls(Endpoint::Behaviour), stage.paid_calls()), (1, 2));
    assert!(stage.screen().contains("spent this session: 2"), "{}", stage.screen());
}

#[test]
fn refetching_is_priced_and_sent_once_more() {
    let mut stage = Stage::listed();
    stage.keys("r");
    assert_eq!((stage.calls(Endpoint::Behaviour), stage.paid_calls()), (1, 2));
    stage.keys("R");
    assert_eq!((stage.calls(Endpoint::List), stage.paid_calls()), (2, 3));
    assert!(stage.screen().contains("Sandboxes 4 of 6"));
}

#[test]
fn the_session_and_the_service_count_the_same() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter enter esc j enter esc j enter f");
    stage.open(&file("Parcel"));
    stage.keys("enter");
    let used = stage.demo.as_ref().unwrap().used().user.daily;
    assert_eq!(stage.spent().charged, used);
    assert_eq!(used, 5);
}

#[test]
fn while_a_call_runs_the_screen_says_so_and_stays_usable() {
    let mut stage = Stage::at(main_file(), Options { delay: Duration::from_millis(400), ..identifiers() });
    stage.keys("enter");
    stage.press("enter");
    stage.later(3);
    insta::assert_snapshot!("waiting_for_report", stage.screen());
    stage.press("j");
    stage.later(1);
    assert!(stage.screen().contains("This report is not stored"), "{}", stage.screen());
    stage.press("k");
    stage.rest();
    assert!(stage.screen().contains("RUNTIME_MODULES"), "{}", stage.screen());
}

#[test]
fn quitting_waits_for_a_paid_answer_and_then_ends() {
    let mut stage = Stage::at(main_file(), Options { delay: Duration::from_millis(200), ..identifiers() });
    stage.press("enter");
    stage.press("q");
    stage.session.draw().unwrap();
    insta::assert_snapshot!("quit_waits", stage.screen());
    assert_eq!(stage.session.exit, None);
    stage.rest();
    assert!(stage.session.exit.is_some());
    let mut stage = stage.restart_without_service();
    stage.open(&main_file());
    assert!(stage.screen().contains("CAPE Sandbox"), "{}", stage.screen());
}

#[test]
fn quitting_twice_leaves_at_once() {
    let mut stage = Stage::at(main_file(), Options { delay: Duration::from_millis(300), ..identifiers() });
    stage.press("enter");
    stage.press("q");
    stage.press("q");
    assert!(stage.session.exit.is_some());
    stage.rest();
}

#[test]
fn the_counters_are_shown_with_bars_and_countdowns() {
    let mut stage = Stage::listed();
    stage.keys("b");
    screen!("counters", stage);
    stage.size(80, 24);
    screen!("counters_80x24", stage);
    stage.size(120, 40);
    assert_eq!(stage.paid_calls(), 1);
    stage.demo.as_ref().unwrap().colleague_spends(5_000);
    stage.keys("esc b");
    assert!(stage.screen().contains("17,481 of 30,000 · 12,519 left"), "{}", stage.screen());
}

#[test]
fn a_spent_quota_is_told_before_anything_is_sent() {
    let mut options = options();
    options.user_limits.daily = 1;
    let mut stage = Stage::at(main_file(), options);
    stage.keys("enter r");
    insta::assert_snapshot!("quota_spent_before", stage.screen());
    assert_eq!(stage.calls(Endpoint::Behaviour), 0);
    stage.keys("$");
    let screen = stage.screen();
    assert!(!screen.contains("0 now, then 1 request") && !screen.contains("0 now, then 1 to"), "{screen}");
    assert!(screen.contains("quota spent until"), "{screen}");
    let downloads = "d             artifacts · 0; what it leads to: quota spent until 00:00 UTC";
    assert!(screen.contains(downloads), "the way to what is barred is open: {screen}");
}

#[test]
fn all_that_is_left_does_not_pay_for_is_asked_about_before_anything_is_sent() {
    let mut options = identifiers();
    options.user_limits.daily = 3;
    let mut stage = Stage::at(main_file(), options);
    stage.keys("enter A");
    let words = "Opening all costs 4 requests, and only 2 left today: what comes after those fails";
    assert!(stage.screen().contains(words), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::Behaviour), 0);
    stage.keys("esc A y");
    assert!(stage.calls(Endpoint::Behaviour) > 0, "{}", stage.screen());
}

#[test]
fn all_reports_are_opened_one_after_another_for_a_total_that_is_said_first() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter G enter g");
    assert!(stage.screen().contains("6 requests: A open all"), "{}", stage.screen());
    stage.keys("A");
    let screen = stage.screen();
    assert!(screen.contains("Opening all costs 6 requests."), "{screen}");
    assert_eq!(stage.calls(Endpoint::Behaviour), 0);
    stage.keys("y");
    insta::assert_snapshot!("all_opened", stage.screen());
    assert_eq!((stage.calls(Endpoint::Behaviour), stage.spent().charged), (6, 8));
}

#[test]
fn the_first_failure_stops_opening_all() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter enter esc");
    arm(stage.demo.as_ref().unwrap(), "behaviour:429-quota*1");
    stage.keys("A");
    insta::assert_snapshot!("all_stopped", stage.screen());
    assert_eq!(stage.calls(Endpoint::Behaviour), 2);
}

#[test]
fn opening_all_can_be_stopped() {
    let mut stage = Stage::at(main_file(), Options { delay: Duration::from_millis(100), ..identifiers() });
    stage.keys("enter");
    stage.press("A");
    stage.drawn().press("y");
    stage.drawn().press("s");
    stage.rest();
    assert_eq!(stage.calls(Endpoint::Behaviour), 1);
    assert!(stage.screen().contains("1 of 4 were asked for"), "{}", stage.screen());
    // While the last one is on its way, it is not here.
    stage.keys("esc").press("A");
    stage.drawn().press("y");
    stage.until("3 of 3");
    stage.session.take(Message::Tick);
    let done = "All 3 reports are here.";
    assert!(!stage.screen().contains(done), "{}", stage.screen());
    stage.until(done);
    assert!(stage.session.model.calls.is_empty() && stage.screen().contains("you 495"), "{}", stage.screen());
}

#[test]
fn the_ledger_shows_predicted_settled_and_counted() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter enter esc");
    arm(stage.demo.as_ref().unwrap(), "behaviour:lost*1");
    stage.keys("r L");
    screen!("ledger", stage);
    stage.keys("esc $");
    screen!("price_confirmed", stage);
}

#[test]
fn what_costs_more_than_is_let_pass_wants_a_yes() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    stage.confirm_above(2);
    stage.keys("A");
    screen!("confirm_all", stage);
    assert_eq!(stage.calls(Endpoint::Behaviour), 0);
    stage.keys("esc enter esc");
    assert_eq!(stage.calls(Endpoint::Behaviour), 1);
    stage.keys("A y");
    assert_eq!(stage.calls(Endpoint::Behaviour), 4);
    stage.confirm_above(0);
    stage.keys("g r");
    assert_eq!(stage.calls(Endpoint::Behaviour), 4);
    stage.keys("y");
    assert_eq!(stage.calls(Endpoint::Behaviour), 5);
}

#[test]
fn several_signs_of_the_same_end_do_not_abandon_a_paid_answer() {
    let mut stage = Stage::at(main_file(), Options { delay: Duration::from_millis(200), ..identifiers() });
    stage.press("enter");
    for _ in 0..3 {
        stage.session.take(TerminalEvent::Quit);
    }
    assert_eq!(stage.session.exit, None);
    stage.rest();
    assert!(stage.session.exit.is_some());
    let mut stage = Stage::at(main_file(), Options { delay: Duration::from_millis(200), ..identifiers() });
    stage.press("enter");
    stage.session.take(TerminalEvent::QuitNow);
    // What is given up is written down before the end.
    stage.rest();
    assert!(stage.session.exit.is_some());
}

#[test]
fn a_key_that_was_pressed_before_its_price_was_shown_does_not_pay() {
    let mut stage = Stage::at(main_file(), options());
    let enter = |frame| TerminalEvent::KeyInput("enter".parse().unwrap(), frame);
    stage.session.take(enter(0));
    stage.rest();
    assert!(stage.screen().contains("enter came before its price was on the screen"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
    // What costs nothing needs no such care.
    stage.session.take(TerminalEvent::KeyInput("?".parse().unwrap(), 0));
    stage.rest();
    stage.keys("esc");
    // Now it is on the screen, from the last frame on; an earlier frame showed help in its place.
    let shown = stage.session.frame.load(Ordering::SeqCst);
    stage.session.take(enter(shown - 1));
    assert_eq!(stage.paid_calls(), 0);
    stage.session.take(enter(shown));
    stage.rest();
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn a_price_beyond_the_budget_says_so_before_its_key_is_pressed() {
    let mut stage = Stage::at(main_file(), identifiers());
    stage.keys("enter");
    stage.budget(3);
    stage.assert_shows("1 request: enter open  R relist");
    stage.assert_shows("4 requests, over budget: A");
    let paid = stage.paid_calls();
    stage.keys("A");
    assert!(stage.screen().contains("Nothing was sent: 4 requests, over budget."), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), paid);
    stage.budget(1);
    for (width, words) in [(120, "1 request, over budget: enter open"), (42, "over budget: enter")] {
        let screen = stage.size(width, 24).screen();
        assert!(screen.contains(words), "{screen}");
    }
    stage.size(120, 40).keys("$");
    let screen = stage.screen();
    assert!(screen.contains("open · 1 request, over budget"), "{screen}");
    assert!(screen.contains("This run may spend 1: 1 spent, or may be."), "{screen}");
    // What the budget allows, or what asks for nothing, is not marked.
    assert!(screen.contains("counters · 0\u{20}") && !screen.contains("counters · 0, over"), "{screen}");
}

#[test]
fn every_key_that_can_cost_is_priced_though_it_asks_first() {
    let mut stage = Stage::listed();
    let priced = [
        ("W", "watch", "1 to 20 requests"),
        ("U", "submit", "1 scan"),
        ("E", "delete", "1 request"),
        ("d", "artifacts", "1 request"),
    ];
    stage.keys("$");
    for (key, label, price) in priced {
        let words = format!("{key:<14}{label} · 0 now, then {price}");
        assert!(stage.screen().contains(&words), "{words}\n{}", stage.screen());
    }
    stage.size(120, 100).keys("esc ?");
    for (_, _, price) in priced {
        let words = format!("0 now, then {price}");
        assert!(stage.screen().contains(&words), "{words}\n{}", stage.screen());
    }
    assert_eq!(stage.paid_calls(), 1);
}

/// Looks for every command that may cost and applies now: with its price in the bar, or counted there, and with its price in
/// the prices. What the next press spends and Enter's price are never only counted, nor do they drive out what is free.
/// Takes its name from those that no stage has shown yet.
fn assert_priced(stage: &mut Stage, unseen: &mut BTreeSet<&'static str>) {
    for (width, height) in [(200, 55), (120, 40), (100, 30), (80, 24), (60, 15), (40, 10)] {
        stage.size(width, height);
        let (screen, model) = (stage.screen(), &stage.session.model);
        let bar = format!("{} ", screen.lines().rev().nth(1).unwrap());
        let is_shown = |key: &behaview::app::Key| bar.contains(&format!(" {key} "));
        let costs = |command: &Command| command.can_cost() && !model.tag(command).is_free();
        let (priced, free): (Vec<_>, Vec<_>) = Command::applying(model).partition(|(_, command)| costs(command));
        for (_, command) in priced.iter().filter(|(key, _)| is_shown(key)) {
            let tag = model.tag(command);
            let words = tag.words();
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
            key.to_string() == "enter" || model.tag(command).spends().is_some()
        };
        assert!(priced.iter().all(|(key, command)| !must(key, command) || is_shown(key)), "at {width}: {bar}");
        let main: Vec<_> = free.iter().filter(|(_, command)| (1..=4).contains(&command.rank)).collect();
        assert!(
            main.iter().filter(|(key, _)| is_shown(key)).count() >= main.len().min(5) || width < 60,
            "{width}: {bar}"
        );
        assert!(bar.contains("free: ") || main.is_empty() || width < 60, "at {width}: {bar}");
    }
    stage.size(120, 40);
}

#[test]
fn every_command_that_may_cost_is_priced_in_the_bar() {
    let mut unseen: BTreeSet<_> = Command::all().filter(|command| command.can_cost()).map(|known| known.name).collect();
    let mut after = |stage: &mut Stage, keys: &[&str]| {
        for keys in keys {
            stage.keys(keys);
            assert_priced(stage, &mut unseen);
        }
    };
    let mut stage = Stage::new(options());
    after(&mut stage, &["esc"]);
    stage.open(&main_file());
    after(&mut stage, &["g", "enter", "E", "esc", "G", "g", "enter", "d"]);
    let mut stage = Stage::at(main_file(), identifiers());
    stage.confirm_above(2);
    after(&mut stage, &["enter", "A"]);
    let mut stage = Stage::at(main_file(), options());
    stage.confirm_above(19);
    after(&mut stage, &["W"]);
    let mut stage = Stage::listed();
    stage.type_question("v3-file", &public()[0]);
    after(&mut stage, &["left", "enter esc"]);
    stage.confirm_above(0);
    after(&mut stage, &["ctrl-a"]);
    for largest in [100_000, 1000] {
        let mut stage = Stage::listed();
        stage.session.model.service.upload_direct = largest;
        let path = stage.sample("sample.bin", 2000);
        stage.keys("U");
        stage.session.take(TerminalEvent::Paste(path));
        stage.confirm_above(0);
        after(&mut stage, &["enter", "enter"]);
    }
    // These two ask for nothing that costs.
    assert_eq!(unseen, BTreeSet::from(["counters", "usage"]));
}
