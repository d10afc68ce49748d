//! What the group has at the service: each page at its price once, stored ones for nothing.

use crate::harness::{TuiHarness, main_file, options};
use behaview::demo::{DemoResponse, Endpoint};

#[test]
fn private_files_are_paged_sorted_opened_and_stored() {
    let mut tui = TuiHarness::new(options());
    tui.size(120, 30);
    tui.keys("M");
    tui.assert_shows("+ first page · 1 request");
    assert_eq!(tui.calls(Endpoint::GroupFiles), 0, "opening the list sends nothing");
    tui.keys("enter");
    insta::assert_snapshot!("group_files", tui.shown());
    tui.keys("G");
    tui.assert_shows("+ next page · 1 request");
    tui.keys("enter G");
    assert_eq!(tui.calls(Endpoint::GroupFiles), 2);
    tui.assert_gone("next page");
    tui.keys("O g");
    tui.assert_shows("first to expire first");
    insta::assert_snapshot!("group_files_by_expiry", tui.shown());
    tui.keys("#");
    tui.assert_shows("Triage · 7 files");
    tui.keys("esc / p a r c e l enter enter");
    tui.assert_shows("bd7beb79…e704");
    tui.keys("enter esc");
    tui.assert_shows("Group's private files · 1 of 7 entries");
    tui.assert_shows("in 10d      2");

    let mut tui = tui.restart();
    tui.later(3 * 3600);
    tui.assert_shows("expires in 9d");
    tui.keys("M");
    tui.assert_shows("7 entries of 7 listed · listed 3h ago");
    assert_eq!(tui.calls(Endpoint::GroupFiles), 2);
    tui.keys("R");
    tui.assert_shows("4 entries of 7 listed");
    tui.keys("G");
    tui.assert_shows("+ next page · 1 request");
    assert_eq!((tui.calls(Endpoint::GroupFiles), tui.spent().total()), (3, 4));
    tui.keys("esc");
    tui.open(&main_file());
    tui.keys("enter H");
    tui.assert_shows("in 19d");
}

#[test]
fn running_analysis_is_offered_to_be_watched() {
    let mut tui = TuiHarness::new(options());
    tui.size(120, 30);
    // It began an hour ago: an older one has failed.
    tui.demo.as_ref().unwrap().intercept(Box::new(|_, change| {
        let later = |body: &[u8]| String::from_utf8_lossy(body).replace("1794474845", "1795165200");
        change.reply = Some(Box::new(move |reply| DemoResponse { body: later(&reply.body).into(), ..reply }));
    }));
    tui.keys("M enter esc I enter G enter");
    insta::assert_snapshot!("group_analyses", tui.shown());
    tui.keys("/ r u n n i n g enter enter");
    tui.assert_shows("Its analysis was running when it was listed. W watches it: 1 to 20 requests.");
    assert_eq!((tui.calls(Endpoint::GroupAnalyses), tui.paid_calls()), (2, 3));
    tui.keys("W y");
    assert_eq!(tui.calls(Endpoint::PrivateAnalysis), 1, "its identifier is known");
}

#[test]
fn failed_page_is_told_and_costs_what_it_says() {
    let mut tui = TuiHarness::unreachable();
    tui.keys("M enter");
    tui.assert_shows("+ first page · 1 request");
    tui.assert_shows("It cost nothing. Check the network");
}
