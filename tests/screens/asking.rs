//! Every other question of the specification: found in the palette, priced as it is typed, answered as a tree.

use crate::faults::arm;
use crate::screen;
use crate::stage::{Stage, options, public};
use behaview::app::TerminalEvent;
use behaview::demo::Endpoint;

/// The start screen with the line of a question open, and this pasted into it.
fn typed(name: &str, text: &str) -> Stage {
    let mut stage = Stage::new(options());
    stage.type_question(name, text);
    stage
}

#[test]
fn the_palette_finds_commands_and_questions() {
    let mut stage = Stage::listed();
    stage.keys(":");
    screen!("palette", stage);
    stage.keys("v 2 space s u b");
    screen!("palette_typed", stage);
    // The bar's word for it.
    stage.keys("esc : r e l i s t enter");
    assert_eq!(stage.calls(Endpoint::List), 2);
}

#[test]
fn a_list_of_hashes_is_priced_one_for_each_before_it_is_asked() {
    let mut stage = typed("v2-file-report", &format!("{} {} {}", public()[0], public()[1], "ab".repeat(32)));
    screen!("asking_reports", stage);
    assert!(stage.screen().contains("3 requests"), "{}", stage.screen());
    stage.keys("enter");
    screen!("asking_reports_answered", stage);
    assert_eq!(stage.spent().charged, 3);
    assert_eq!(stage.demo.as_ref().unwrap().used().user.daily, 3);
}

#[test]
fn hashes_that_are_stored_are_not_paid_again_after_a_yes() {
    let mut stage = typed("v2-file-report", &public()[0]);
    stage.keys("enter esc esc");
    stage.confirm_above(1);
    stage.type_question("v2-file-report", &public()[..3].join(" "));
    stage.keys("enter");
    assert!(stage.screen().contains("costs 2 requests"), "{}", stage.screen());
    stage.keys("y");
    assert_eq!(stage.demo.as_ref().unwrap().used().user.daily, 3);
    assert_eq!(stage.spent().charged, 3);
}

#[test]
fn submissions_are_priced_by_what_comes_back() {
    let mut stage = typed("v2-file-submissions", &format!("{}, {}", public()[0], public()[1]));
    assert!(stage.screen().contains("1 request per submission"), "{}", stage.screen());
    stage.keys("enter y - + j j");
    screen!("asking_submissions_answered", stage);
    let used = stage.demo.as_ref().unwrap().used().user.daily;
    assert_eq!(stage.spent().charged, used);
    assert!(used > 1, "{used}");
}

#[test]
fn an_answer_that_is_held_costs_nothing_and_can_be_asked_anew() {
    let mut stage = typed("v3-file", &public()[0]);
    stage.keys("enter esc");
    assert!(stage.screen().contains("0, stored since"), "{}", stage.screen());
    stage.keys("enter esc");
    assert_eq!(stage.calls(Endpoint::File), 1);
    stage.keys("ctrl-a");
    assert_eq!(stage.calls(Endpoint::File), 2);
}

#[test]
fn an_analysis_that_does_not_exist_costs_nothing() {
    let mut stage = typed("v3-analysis", "no-such-analysis");
    assert!(stage.screen().contains("0 or 1 request"), "{}", stage.screen());
    stage.keys("enter");
    screen!("asking_analysis_unknown", stage);
    assert_eq!(stage.spent().total(), 0);
    assert_eq!(stage.demo.as_ref().unwrap().used().user.daily, 0);
}

#[test]
fn what_becomes_public_asks_first() {
    let mut stage = typed("v3-rescan", &public()[0]);
    stage.keys("enter");
    screen!("asking_rescan_confirm", stage);
    assert_eq!(stage.calls(Endpoint::Rescan), 0);
    stage.keys("esc");
    assert_eq!(stage.calls(Endpoint::Rescan), 0);
    stage.keys("enter y");
    assert_eq!(stage.calls(Endpoint::Rescan), 1);
    assert_eq!(stage.spent().charged, 1);
}

#[test]
fn a_file_is_uploaded_after_a_yes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a new file.bin");
    std::fs::write(&path, "never seen before").unwrap();
    let mut stage = typed("v2-file-scan", path.to_str().unwrap());
    stage.keys("enter y");
    assert_eq!(stage.calls(Endpoint::V2Scan), 1);
    assert!(stage.screen().contains("scan_id"), "{}", stage.screen());
    assert_eq!(stage.demo.as_ref().unwrap().used().user.daily, 0);
}

#[test]
fn a_failure_is_told_in_the_line_of_the_question() {
    let mut stage = typed("v3-file", &public()[0]);
    arm(stage.demo.as_ref().unwrap(), "file:503*1");
    stage.keys("enter");
    screen!("asking_failed", stage);
    stage.keys("enter");
    assert_eq!(stage.calls(Endpoint::File), 2);
}

#[test]
fn a_plan_says_what_it_would_leave_before_anything_is_asked() {
    let mut stage = Stage::new(options());
    stage.keys("p");
    for key in "v2-file-report 237".chars() {
        stage.press(&if key == ' ' { "space".to_owned() } else { key.to_string() });
    }
    stage.keys("enter");
    for key in "private-behaviour 9".chars() {
        stage.press(&if key == ' ' { "space".to_owned() } else { key.to_string() });
    }
    stage.rest();
    screen!("planner", stage);
    assert_eq!(stage.paid_calls(), 0);
}

#[test]
fn a_plan_takes_the_number_of_hashes_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.txt");
    std::fs::write(&list, format!("{}\n{}\n", "ab".repeat(32), "ab".repeat(32))).unwrap();
    let mut stage = Stage::new(options());
    stage.keys("p");
    stage.session.take(TerminalEvent::Paste(format!("v2-file-report @{}", list.display())));
    stage.keys("enter");
    assert!(stage.screen().contains("2 hashes · 2 requests"), "{}", stage.screen());
    assert!(stage.screen().contains("1 of them repeated"), "{}", stage.screen());
    stage.keys("enter");
    assert!(stage.screen().contains("planned"), "{}", stage.screen());
    stage.session.take(TerminalEvent::Paste(format!("v2-file-report @{}", folder.path().display())));
    stage.keys("enter");
    assert!(stage.screen().contains("cannot be counted: it is not a regular file"), "{}", stage.screen());
}

#[test]
fn usage_is_a_chart_by_day_and_endpoint_that_follows_paid_work() {
    let mut stage = Stage::listed();
    stage.keys("enter r esc : u s a g e enter");
    screen!("usage", stage);
    stage.assert_shows("Usage, in requests by day");
    assert_eq!(stage.calls(Endpoint::Usage), 1);
    assert_eq!(stage.spent().charged, 2);
    stage.keys("esc r");
    assert_eq!(stage.calls(Endpoint::Usage), 2, "what was looked at is kept fresh");
    stage.assert_gone("Usage, in requests by day");
    stage.keys("u");
    assert!(stage.screen().contains("private_file_behaviours 2"), "{}", stage.screen());
}

#[test]
fn what_the_user_has_bought_is_read_and_the_key_in_the_answer_is_shown_nowhere() {
    let mut stage = Stage::new(options());
    stage.keys(": v 3 - u s e r enter enter");
    assert!(stage.screen().contains("Premium API:"), "{}", stage.screen());
    assert!(!stage.screen().contains(stage.demo.as_ref().unwrap().key()));
    assert_eq!((stage.calls(Endpoint::User), stage.spent().charged), (1, 1));
}

#[test]
fn a_plan_is_read_to_its_end_where_there_is_little_room() {
    let mut stage = Stage::new(options());
    stage.size(60, 14).keys("p");
    for operation in ["v2-file-report 237", "private-scan 2", "retrohunt --jobs=3", "v3-file 2 --after-new-upload"] {
        stage.session.take(TerminalEvent::Paste(operation.to_owned()));
        stage.keys("enter");
    }
    stage.rest();
    let first = stage.screen();
    assert!(first.contains("in all") && !first.contains("v2-file-report · 237"), "{first}");
    for _ in 0..40 {
        stage.keys("down");
    }
    let last = stage.screen();
    assert!(last.contains("v2-file-report · 237 hashes") && last.contains("┃ > ▏"), "{last}");
    stage.keys("v");
    assert!(stage.screen().contains("no operation is called v"), "{}", stage.screen());
}
