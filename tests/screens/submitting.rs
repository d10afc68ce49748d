//! A scan that is watched; a file that is submitted, and one that is deleted.

use crate::faults::arm;
use crate::harness::{TuiHarness, file, main_file, options};
use crate::screen;
use behaview::app::TerminalEvent;
use behaview::demo::{Endpoint, Options};

/// Opens the form, and fills it in: each field with what is typed into it.
fn fill(tui: &mut TuiHarness, fields: &[&str]) {
    tui.keys("U");
    for (number, text) in fields.iter().enumerate() {
        if number > 0 {
            tui.keys("tab");
        }
        tui.session.take(TerminalEvent::Paste((*text).to_owned()));
    }
}

/// What is shown without the path of the folder, which differs at every run.
fn screen_of(tui: &TuiHarness) -> String {
    let path = tui.folder.path().join("sample.bin");
    let path = path.to_str().unwrap();
    let blanks = " ".repeat(path.len().saturating_sub("/…/sample.bin".chars().count()));
    tui.shown().replace(path, &format!("/…/sample.bin{blanks}"))
}

/// A stage whose form holds a file that has been looked at.
fn looked_at(fields: &[&str]) -> TuiHarness {
    let mut tui = TuiHarness::listed();
    let path = tui.sample("sample.bin", 40_000);
    let fields: Vec<_> = std::iter::once(path.as_str()).chain(fields.iter().copied()).collect();
    fill(&mut tui, &fields);
    tui.keys("enter");
    tui
}

#[test]
fn form_shows_its_cost_before_sending() {
    let mut tui = looked_at(&["", "no", "7", "", "hunter2"]);
    let shown = screen_of(&tui);
    assert!(!shown.contains("hunter2"), "{shown}");
    insta::assert_snapshot!("submit_form", shown);
    // What is left of what it takes, and of nothing else.
    let bar = tui.screen().lines().last().unwrap().to_owned();
    assert!(bar.starts_with(" scans left: you 47 ") && !bar.contains("this hour"), "{bar}");
    assert_eq!(tui.calls(Endpoint::Scan), 0);
    tui.size(80, 24);
    insta::assert_snapshot!("submit_form_80x24", screen_of(&tui));
    tui.size(40, 10);
    insta::assert_snapshot!("submit_form_40x10", screen_of(&tui).lines().skip(1).collect::<Vec<_>>().join("\n"));
}

#[test]
fn invalid_form_is_reported_and_not_sent() {
    let mut tui = TuiHarness::listed();
    fill(&mut tui, &["/nowhere/at all", "", "perhaps"]);
    tui.keys("enter");
    screen!("submit_wrong_option", tui);
    tui.keys("ctrl-u enter");
    assert!(tui.screen().contains("No such file"), "{}", tui.screen());
    tui.session.model.service.upload_largest = 10;
    let path = tui.sample("sample.bin", 11);
    tui.keys("esc");
    fill(&mut tui, &[&path]);
    tui.keys("enter");
    assert!(tui.screen().contains("files up to 10 B"), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::Scan), 0);
}

#[test]
fn over_budget_watch_is_refused_with_advice() {
    let mut tui = looked_at(&[]);
    tui.keys("enter");
    tui.budget(10);
    let paid = tui.paid_calls();
    tui.keys("W");
    let screen = tui.screen();
    let refused = "over budget. `behaview config show` says what sets the budget.";
    assert!(screen.contains(refused), "{screen}");
    assert_eq!(tui.paid_calls(), paid);
}

#[test]
fn submitted_file_is_opened_and_can_be_watched() {
    let mut tui = looked_at(&[]);
    tui.keys("enter");
    assert_eq!(tui.demo.as_ref().unwrap().submitted().len(), 1);
    assert!(tui.screen().contains(": 1 request, 1 scan"), "{}", tui.screen());
    screen!("submit_done", tui);
    let shown = tui.screen();
    assert!(shown.lines().next().unwrap().contains("sample.bin"), "its name stands in the title: {shown}");
    assert!(
        shown.contains("there may be nothing to list yet") && shown.contains("W watches the scan until"),
        "{shown}"
    );
    tui.keys("W y");
    screen!("watch_begun", tui);
    tui.keys("W");
    screen!("watch_page", tui);
    assert!(tui.screen().contains("s stops") && tui.screen().contains(" s stop "), "{}", tui.screen());
    tui.keys("esc");
    let looks = tui.calls(Endpoint::PrivateAnalysis);
    tui.later(29);
    tui.rest();
    assert_eq!(tui.calls(Endpoint::PrivateAnalysis), looks, "nothing is asked before its time");
    for _ in 0..6 {
        tui.later(31);
        tui.rest();
    }
    screen!("watch_done", tui);
    assert_eq!(tui.calls(Endpoint::PrivateAnalysis), 4);
    let paid = tui.paid_calls();
    tui.later(300);
    tui.rest();
    assert_eq!(tui.paid_calls(), paid, "what is done is not looked at any more");
}

#[test]
fn next_poll_price_includes_the_list() {
    let mut tui = looked_at(&[]);
    tui.keys("enter W y");
    let paid = tui.paid_calls();
    let next = "1 request, +1 a page once a sandbox reported";
    assert!(tui.screen().contains(next) && tui.screen().contains("at most 19 more"), "{}", tui.screen());
    // The panel tells the same.
    tui.keys("W");
    let panel = "in 30 s · 1 request, +1 a page once a sandbox reported; s stops";
    assert!(tui.screen().contains(panel), "{}", tui.screen());
    tui.later(31);
    tui.rest();
    assert_eq!(tui.paid_calls(), paid + 2);
    assert!(tui.screen().contains("3 made, at most 17 more"), "{}", tui.screen());
}

#[test]
fn pending_scan_is_offered_by_the_next_run() {
    let mut tui = looked_at(&[]);
    tui.keys("enter W y");
    let (paid, looks) = (tui.paid_calls(), tui.calls(Endpoint::PrivateAnalysis));
    let mut tui = tui.restart();
    screen!("scan_pending_start", tui);
    tui.assert_shows("scan not seen to its end");
    tui.keys("down enter");
    screen!("scan_pending_offered", tui);
    tui.later(300);
    tui.rest();
    assert_eq!(tui.paid_calls(), paid, "nothing is asked without a key");
    tui.keys("W y");
    assert_eq!(tui.calls(Endpoint::PrivateAnalyses), 0, "its scan is known and need not be looked for");
    assert_eq!(tui.calls(Endpoint::PrivateAnalysis), looks + 1);
    for _ in 0..6 {
        tui.later(31);
        tui.rest();
    }
    assert!(tui.screen().contains("is done"), "{}", tui.screen());
    let tui = tui.restart();
    tui.assert_gone("not seen to its end");
}

#[test]
fn abandoned_scan_is_not_offered_again() {
    let mut tui = looked_at(&[]);
    tui.keys("enter W y");
    let mut tui = tui.restart();
    tui.assert_shows("not seen to its end");
    tui.keys("down enter W y s");
    let tui = tui.restart();
    tui.assert_gone("not seen to its end");
    let mut tui = looked_at(&[]);
    tui.keys("enter");
    tui.later(4 * 24 * 3600);
    let tui = tui.restart();
    tui.assert_gone("not seen to its end");
}

#[test]
fn unfetched_reports_are_offered_after_their_scan() {
    let mut tui = looked_at(&[]);
    tui.session.model.service.listing = behaview::request::Listing::Identifiers;
    tui.keys("enter W y");
    for _ in 0..6 {
        tui.later(31);
        tui.rest();
    }
    assert!(tui.screen().contains("A opens the 3 reports, for 3 requests."), "{}", tui.screen());
}

#[test]
fn watching_is_confirmed_stopped_and_limited() {
    let mut tui = TuiHarness::at(file("Still in the queue"), options());
    assert!(tui.screen().contains("1 to 20 requests: W watch"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
    tui.keys("W");
    assert!(tui.screen().contains("Watching its scan costs 1 to 20 requests."), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 0);
    tui.keys("y s");
    screen!("watch_stopped", tui);
    let paid = tui.paid_calls();
    tui.later(100);
    tui.rest();
    assert_eq!(tui.paid_calls(), paid);
    tui.session.model.settings.pace.most = 2;
    tui.keys("W y");
    for _ in 0..4 {
        tui.later(31);
        tui.rest();
    }
    assert_eq!(tui.paid_calls(), paid + 2);
    assert!(tui.screen().contains("used up"), "{}", tui.screen());
}

#[test]
fn watched_scan_is_shown_with_cost_everywhere() {
    let mut tui = TuiHarness::at(file("Still in the queue"), options());
    tui.keys("W y");
    tui.rest();
    assert!(tui.screen().contains("calls left, 1 request so far"), "{}", tui.screen());
    // Another file in front, the start screen, something over the screen: it goes on, and says so.
    tui.open_other(&main_file());
    let title = |tui: &TuiHarness| tui.screen().lines().next().unwrap().to_owned();
    assert!(title(&tui).contains("◷ watching 1 file, 1 request so far"), "{}", tui.screen());
    tui.later(31);
    tui.rest();
    tui.keys("H");
    assert!(title(&tui).contains("2 requests so far"), "{}", tui.screen());
    for (width, height, words) in [(80, 24, "2 requests so far"), (40, 10, "◷ 2 req"), (120, 40, "2 requests")] {
        tui.size(width, height);
        assert!(title(&tui).contains(words), "{}", tui.screen());
    }
}

#[test]
fn watching_a_listed_scan_is_confirmed_first() {
    let mut tui = TuiHarness::listed();
    let paid = tui.paid_calls();
    tui.keys("W");
    screen!("watch_asked", tui);
    tui.assert_shows("yes, watch");
    tui.keys("esc");
    assert_eq!(tui.paid_calls(), paid);
    tui.keys("W y");
    assert!(tui.paid_calls() > paid, "{}", tui.screen());
    tui.assert_gone("yes, watch");
}

#[test]
fn watching_continues_when_the_clock_is_set_back() {
    let mut tui = TuiHarness::at(file("Still in the queue"), options());
    tui.keys("W y");
    tui.rest();
    let paid = tui.paid_calls();
    tui.later(-3600);
    tui.later(31);
    tui.rest();
    assert_eq!(tui.paid_calls(), paid + 1, "{}", tui.screen());
}

#[test]
fn failed_poll_ends_the_watch() {
    let mut tui = TuiHarness::at(file("Still in the queue"), options());
    arm(tui.demo.as_ref().unwrap(), "private-analyses:503*9");
    tui.keys("W y");
    assert!(tui.screen().contains("Stopped watching"), "{}", tui.screen());
    let paid = tui.paid_calls();
    tui.later(100);
    tui.rest();
    assert_eq!(tui.paid_calls(), paid);
}

#[test]
fn internet_access_requires_confirmation() {
    let mut tui = looked_at(&["", "yes"]);
    tui.keys("enter");
    insta::assert_snapshot!("submit_internet", screen_of(&tui));
    tui.keys("esc");
    assert_eq!(tui.calls(Endpoint::Scan), 0);
    tui.keys("enter y");
    assert_eq!(tui.calls(Endpoint::Scan), 1);
}

#[test]
fn large_file_is_sent_to_an_upload_url() {
    let mut tui = TuiHarness::listed();
    tui.session.model.service.upload_direct = 1000;
    let path = tui.sample("sample.bin", 2000);
    fill(&mut tui, &[&path, ""]);
    tui.keys("enter");
    insta::assert_snapshot!("submit_large", screen_of(&tui));
    tui.keys("enter");
    assert_eq!((tui.calls(Endpoint::UploadUrl), tui.calls(Endpoint::Scan)), (1, 1));
    assert_eq!(tui.demo.as_ref().unwrap().submitted()[0].size, 2000);
}

#[test]
fn lost_upload_is_not_repeated_automatically() {
    let mut tui = looked_at(&[]);
    arm(tui.demo.as_ref().unwrap(), "scan:lost*1");
    tui.keys("enter tab");
    insta::assert_snapshot!("submit_lost", screen_of(&tui));
    tui.later(100);
    tui.rest();
    assert_eq!(tui.calls(Endpoint::Scan), 1);
    // What it says to do: the file stands first, and the look says that the upload has not arrived.
    tui.keys("esc f");
    screen!("submit_lost_offered", tui);
    tui.keys("down enter");
    assert!(tui.screen().contains("had not ended"), "{}", tui.screen());
    tui.keys("W y");
    assert_eq!((tui.calls(Endpoint::PrivateAnalyses), tui.calls(Endpoint::Scan)), (1, 1));
}

#[test]
fn unconfirmed_upload_is_named_on_each_inspection() {
    let mut tui = TuiHarness::listed();
    let path = tui.sample("sample.bin", 40);
    fill(&mut tui, &[&path]);
    arm(tui.demo.as_ref().unwrap(), "scan:lost*1");
    tui.keys("enter enter");
    assert_eq!(tui.calls(Endpoint::Scan), 1);
    let notice = "uploaded already on";
    // The failure stands first; whatever is typed next, that it may have arrived stays.
    tui.keys("tab x ctrl-u");
    assert!(tui.screen().contains(notice), "{}", tui.screen());
    tui.keys("esc");
    fill(&mut tui, &[&path]);
    tui.keys("enter");
    assert!(tui.screen().contains(notice) && tui.calls(Endpoint::Scan) == 1);
    // And the key that sends a file asks first.
    tui.keys("enter");
    assert!(tui.screen().contains("it may have arrived,"), "{}", tui.screen());
    tui.keys("esc");
    assert_eq!(tui.calls(Endpoint::Scan), 1);
    tui.keys("enter y");
    assert_eq!(tui.calls(Endpoint::Scan), 2);
}

#[test]
fn changed_file_is_inspected_and_priced_again() {
    let mut tui = looked_at(&[]);
    std::fs::write(tui.folder.path().join("sample.bin"), vec![b'y'; 40_000]).unwrap();
    tui.keys("enter");
    insta::assert_snapshot!("submit_changed", screen_of(&tui));
    assert_eq!(tui.calls(Endpoint::Scan), 0, "a file of one piece is seen to be another before anything is sent");
    tui.keys("enter");
    assert!(tui.screen().contains("1 scan: enter submit it"), "{}", tui.screen());
    tui.keys("enter");
    let sent = tui.demo.as_ref().unwrap().submitted();
    assert_eq!((sent.len(), sent[0].size, tui.calls(Endpoint::Scan)), (1, 40_000, 1));
}

#[test]
fn upload_url_of_a_changed_file_is_not_paid() {
    for (then, why) in [(Some(b'y'), "has changed"), (None, "No such file")] {
        let mut tui = TuiHarness::listed();
        tui.session.model.service.upload_direct = 1000;
        let path = tui.sample("sample.bin", 2000);
        fill(&mut tui, &[&path]);
        tui.keys("enter");
        match then {
            Some(byte) => std::fs::write(&path, vec![byte; 2000]).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        tui.keys("enter");
        assert_eq!(tui.calls(Endpoint::UploadUrl), 0);
        let shown = tui.screen();
        assert!(shown.contains("Nothing was sent") && shown.contains(why), "{shown}");
        std::fs::write(&path, vec![b'z'; 3000]).unwrap();
        tui.keys("enter enter");
        assert_eq!((tui.calls(Endpoint::UploadUrl), tui.calls(Endpoint::Scan)), (1, 1));
        assert_eq!(tui.demo.as_ref().unwrap().submitted()[0].size, 3000);
    }
}

#[test]
fn service_deletion_names_the_loss() {
    let mut tui = TuiHarness::listed();
    tui.keys("E");
    screen!("delete_at_service", tui);
    tui.keys("v");
    assert_eq!(tui.calls(Endpoint::PrivateDelete), 0);
    tui.keys("E y");
    assert_eq!(tui.calls(Endpoint::PrivateDelete), 1);
    assert!(tui.screen().contains("The file alone is deleted at the service"), "{}", tui.screen());
    let mut tui = TuiHarness::at(main_file(), Options { licence: false, ..options() });
    tui.keys("b esc E Y");
    assert_eq!(tui.calls(Endpoint::PrivateDelete), 0, "{}", tui.screen());
}

#[test]
fn watching_stops_when_its_file_is_closed() {
    let mut tui = looked_at(&[]);
    tui.keys("enter");
    tui.open_other(&main_file());
    tui.keys("enter K W y");
    tui.assert_shows("poll in");
    tui.keys("Q");
    tui.assert_gone("poll in");
    let paid = tui.paid_calls();
    for _ in 0..6 {
        tui.later(31);
        tui.rest();
    }
    assert_eq!(tui.paid_calls(), paid);
}

#[test]
fn price_explanation_names_the_remaining_quota() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter $");
    let screen = tui.screen();
    assert!(screen.contains("The user has 239 of 240 left this hour."), "{screen}");
    assert!(screen.contains("Of scans: The user has 47 of 50 left this month."), "{screen}");
}
