//! A report that is still coming: what has come of it is there to be looked at, and is paid for once, or not held at all.

use crate::above_bar;
use crate::faults::arm;
use crate::stage::{Stage, main_file, options};
use behaview::demo::{ListContent, Options};

/// The main file's first report is asked for, and stops after so many bytes.
fn stalled_after(bytes: u32) -> Stage {
    let mut stage = Stage::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    stage.keys("enter");
    arm(stage.demo.as_ref().unwrap(), &format!("behaviour:stall={bytes}*1"));
    stage.press("enter");
    stage
}

#[test]
fn what_has_come_is_shown_and_keys_work_in_it() {
    let mut stage = stalled_after(9_000);
    stage.until("9.0 kB");
    stage.until("setup.tmp");
    stage.press("j");
    stage.press("/");
    "cmd".chars().for_each(|letter| stage.press(&letter.to_string()));
    stage.until("cmd.exe");
    stage.press("esc");
    above_bar!("arriving", stage.drawn());
    assert_eq!(stage.paid_calls(), 2);
}

#[test]
fn what_did_not_come_whole_is_not_held() {
    let mut stage = stalled_after(9_000);
    stage.until("setup.tmp");
    stage.keys("ctrl-x");
    above_bar!("arriving_given_up", stage);
    let mut stage = stage.restart_without_service();
    stage.open(&main_file());
    assert!(!stage.screen().contains("setup.tmp"), "{}", stage.screen());
}

#[test]
fn the_place_in_a_report_stays_when_the_rest_has_come() {
    let drip = "behaviour:drip=40000*1";
    let mut stage = Stage::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    stage.keys("enter");
    arm(stage.demo.as_ref().unwrap(), drip);
    stage.press("enter");
    stage.until("setup.tmp");
    stage.press("j");
    stage.press("j");
    stage.rest();
    above_bar!("arrived", stage);
}
