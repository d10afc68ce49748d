//! Ad-hoc requests: found in the palette, priced while typed, with responses as trees.

use crate::faults::arm;
use crate::harness::{TuiHarness, options, public};
use crate::screen;
use behaview::app::TerminalEvent;
use behaview::demo::Endpoint;

/// The start screen with the line of a question open, and this pasted into it.
fn typed(name: &str, text: &str) -> TuiHarness {
    let mut tui = TuiHarness::new(options());
    tui.type_question(name, text);
    tui
}

#[test]
fn palette_finds_commands_and_requests() {
    let mut tui = TuiHarness::listed();
    tui.keys(":");
    screen!("palette", tui);
    tui.keys("v 2 space s u b");
    screen!("palette_typed", tui);
    tui.keys("esc : p r i c i n g enter");
    tui.assert_shows("8.1.2  One API call takes one request");
    // The bar's word for it.
    tui.keys("esc : r e l i s t enter");
    assert_eq!(tui.calls(Endpoint::List), 2);
}

#[test]
fn hashes_are_priced_each_before_the_request() {
    let mut tui = typed("v2-file-report", &format!("{} {} {}", public()[0], public()[1], "ab".repeat(32)));
    screen!("asking_reports", tui);
    assert!(tui.screen().contains("3 requests"), "{}", tui.screen());
    tui.keys("enter");
    screen!("asking_reports_answered", tui);
    assert_eq!(tui.spent().charged, 3);
    assert_eq!(tui.demo.as_ref().unwrap().used().user.daily, 3);
}

#[test]
fn stored_hashes_are_not_paid_after_confirmation() {
    let mut tui = typed("v2-file-report", &public()[0]);
    tui.keys("enter esc esc");
    tui.confirm_above(1);
    tui.type_question("v2-file-report", &public()[..3].join(" "));
    tui.keys("enter");
    assert!(tui.screen().contains("costs 2 requests"), "{}", tui.screen());
    tui.keys("y");
    assert_eq!(tui.demo.as_ref().unwrap().used().user.daily, 3);
    assert_eq!(tui.spent().charged, 3);
}

#[test]
fn submissions_are_priced_by_the_response() {
    let mut tui = typed("v2-file-submissions", &format!("{}, {}", public()[0], public()[1]));
    assert!(tui.screen().contains("1 request per submission"), "{}", tui.screen());
    tui.keys("enter y - + j j");
    screen!("asking_submissions_answered", tui);
    let used = tui.demo.as_ref().unwrap().used().user.daily;
    assert_eq!(tui.spent().charged, used);
    assert!(used > 1, "{used}");
}

#[test]
fn stored_response_is_free_and_can_be_refreshed() {
    let mut tui = typed("v3-file", &public()[0]);
    tui.keys("enter esc");
    assert!(tui.screen().contains("0, stored since"), "{}", tui.screen());
    tui.keys("enter esc");
    assert_eq!(tui.calls(Endpoint::File), 1);
    tui.keys("ctrl-a");
    assert_eq!(tui.calls(Endpoint::File), 2);
}

#[test]
fn an_analysis_that_does_not_exist_costs_nothing() {
    let mut tui = typed("v3-analysis", "no-such-analysis");
    assert!(tui.screen().contains("0 or 1 request"), "{}", tui.screen());
    tui.keys("enter");
    screen!("asking_analysis_unknown", tui);
    assert_eq!(tui.spent().total(), 0);
    assert_eq!(tui.demo.as_ref().unwrap().used().user.daily, 0);
}

#[test]
fn public_request_is_confirmed_first() {
    let mut tui = typed("v3-rescan", &public()[0]);
    tui.keys("enter");
    screen!("asking_rescan_confirm", tui);
    assert_eq!(tui.calls(Endpoint::Rescan), 0);
    tui.keys("esc");
    assert_eq!(tui.calls(Endpoint::Rescan), 0);
    tui.keys("enter y");
    assert_eq!(tui.calls(Endpoint::Rescan), 1);
    assert_eq!(tui.spent().charged, 1);
}

#[test]
fn file_is_uploaded_after_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a new file.bin");
    std::fs::write(&path, "never seen before").unwrap();
    let mut tui = typed("v2-file-scan", path.to_str().unwrap());
    tui.keys("enter y");
    assert_eq!(tui.calls(Endpoint::V2Scan), 1);
    assert!(tui.screen().contains("scan_id"), "{}", tui.screen());
    assert_eq!(tui.demo.as_ref().unwrap().used().user.daily, 0);
}

#[test]
fn failure_is_shown_in_the_request_line() {
    let mut tui = typed("v3-file", &public()[0]);
    arm(tui.demo.as_ref().unwrap(), "file:503*1");
    tui.keys("enter");
    screen!("asking_failed", tui);
    tui.keys("enter");
    assert_eq!(tui.calls(Endpoint::File), 2);
}

#[test]
fn planner_shows_the_remainder_without_requests() {
    let mut tui = TuiHarness::new(options());
    tui.keys("p");
    for key in "v2-file-report 237".chars() {
        tui.press(&if key == ' ' { "space".to_owned() } else { key.to_string() });
    }
    tui.keys("enter");
    for key in "private-behaviour 9".chars() {
        tui.press(&if key == ' ' { "space".to_owned() } else { key.to_string() });
    }
    tui.rest();
    screen!("planner", tui);
    assert_eq!(tui.paid_calls(), 0);
}

#[test]
fn a_plan_takes_the_number_of_hashes_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.txt");
    std::fs::write(&list, format!("{}\n{}\n", "ab".repeat(32), "ab".repeat(32))).unwrap();
    let mut tui = TuiHarness::new(options());
    tui.keys("p");
    tui.session.take(TerminalEvent::Paste(format!("v2-file-report @{}", list.display())));
    tui.keys("enter");
    assert!(tui.screen().contains("2 hashes · 2 requests"), "{}", tui.screen());
    assert!(tui.screen().contains("1 of them repeated"), "{}", tui.screen());
    tui.keys("enter");
    assert!(tui.screen().contains("planned"), "{}", tui.screen());
    tui.session.take(TerminalEvent::Paste(format!("v2-file-report @{}", folder.path().display())));
    tui.keys("enter");
    assert!(tui.screen().contains("cannot be counted: it is not a regular file"), "{}", tui.screen());
}

#[test]
fn usage_chart_is_updated_by_paid_calls() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter r esc : u s a g e enter");
    screen!("usage", tui);
    tui.assert_shows("Usage, in requests by day");
    assert_eq!(tui.calls(Endpoint::Usage), 1);
    assert_eq!(tui.spent().charged, 2);
    tui.keys("esc r");
    assert_eq!(tui.calls(Endpoint::Usage), 2, "what was looked at is kept fresh");
    tui.assert_gone("Usage, in requests by day");
    tui.keys("u");
    assert!(tui.screen().contains("private_file_behaviours 2"), "{}", tui.screen());
}

#[test]
fn entitlements_are_shown_without_the_key() {
    let mut tui = TuiHarness::new(options());
    tui.keys(": v 3 - u s e r enter enter");
    assert!(tui.screen().contains("Premium API:"), "{}", tui.screen());
    assert!(!tui.screen().contains(tui.demo.as_ref().unwrap().key()));
    assert_eq!((tui.calls(Endpoint::User), tui.spent().charged), (1, 1));
}

#[test]
fn planner_scrolls_to_its_end_on_a_small_screen() {
    let mut tui = TuiHarness::new(options());
    tui.size(60, 14).keys("p");
    for operation in ["v2-file-report 237", "private-scan 2", "retrohunt --jobs=3", "v3-file 2 --after-new-upload"] {
        tui.session.take(TerminalEvent::Paste(operation.to_owned()));
        tui.keys("enter");
    }
    tui.rest();
    let first = tui.screen();
    assert!(first.contains("in all") && !first.contains("v2-file-report · 237"), "{first}");
    for _ in 0..40 {
        tui.keys("down");
    }
    let last = tui.screen();
    assert!(last.contains("v2-file-report · 237 hashes") && last.contains("┃ > ▏"), "{last}");
    tui.keys("v");
    assert!(tui.screen().contains("unknown operation v"), "{}", tui.screen());
}
