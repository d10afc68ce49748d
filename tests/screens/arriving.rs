//! Reports during a download: what arrived is shown, and paid for once, or is not stored at all.

use crate::above_bar;
use crate::faults::arm;
use crate::harness::{TuiHarness, main_file, options};
use behaview::demo::{ListContent, Options};

/// The main file's first report is asked for, and stops after so many bytes.
fn stalled_after(bytes: u32) -> TuiHarness {
    let mut tui = TuiHarness::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    tui.keys("enter");
    arm(tui.demo.as_ref().unwrap(), &format!("behaviour:stall={bytes}*1"));
    tui.press("enter");
    tui
}

#[test]
fn what_has_come_is_shown_and_keys_work_in_it() {
    let mut tui = stalled_after(9_000);
    tui.until("9.0 kB");
    tui.until("setup.tmp");
    tui.press("j");
    tui.press("/");
    "cmd".chars().for_each(|letter| tui.press(&letter.to_string()));
    tui.until("cmd.exe");
    tui.press("esc");
    above_bar!("arriving", tui.drawn());
    assert_eq!(tui.paid_calls(), 2);
}

#[test]
fn what_did_not_come_whole_is_not_stored() {
    let mut tui = stalled_after(9_000);
    tui.until("setup.tmp");
    tui.keys("ctrl-x");
    above_bar!("arriving_cancelled", tui);
    let mut tui = tui.restart_without_service();
    tui.open(&main_file());
    assert!(!tui.screen().contains("setup.tmp"), "{}", tui.screen());
}

#[test]
fn the_place_in_a_report_stays_when_the_rest_has_come() {
    let drip = "behaviour:drip=40000*1";
    let mut tui = TuiHarness::at(main_file(), Options { listing: ListContent::Identifiers, ..options() });
    tui.keys("enter");
    arm(tui.demo.as_ref().unwrap(), drip);
    tui.press("enter");
    tui.until("setup.tmp");
    tui.press("j");
    tui.press("j");
    tui.rest();
    above_bar!("arrived", tui);
}
