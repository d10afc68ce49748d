//! A scan that is watched; a file that is submitted, and one that is deleted.

use crate::faults::arm;
use crate::screen;
use crate::stage::{Stage, file, main_file, options};
use behaview::app::TerminalEvent;
use behaview::demo::{Endpoint, Options};

/// Opens the form, and fills it in: each field with what is typed into it.
fn fill(stage: &mut Stage, fields: &[&str]) {
    stage.keys("U");
    for (number, text) in fields.iter().enumerate() {
        if number > 0 {
            stage.keys("tab");
        }
        stage.session.take(TerminalEvent::Paste((*text).to_owned()));
    }
}

/// What is shown without the path of the folder, which differs at every run.
fn screen_of(stage: &Stage) -> String {
    let path = stage.folder.path().join("sample.bin");
    let path = path.to_str().unwrap();
    let blanks = " ".repeat(path.len().saturating_sub("/…/sample.bin".chars().count()));
    stage.shown().replace(path, &format!("/…/sample.bin{blanks}"))
}

/// A stage whose form holds a file that has been looked at.
fn looked_at(fields: &[&str]) -> Stage {
    let mut stage = Stage::listed();
    let path = stage.sample("sample.bin", 40_000);
    let fields: Vec<_> = std::iter::once(path.as_str()).chain(fields.iter().copied()).collect();
    fill(&mut stage, &fields);
    stage.keys("enter");
    stage
}

#[test]
fn the_form_says_what_it_costs_before_anything_is_sent() {
    let mut stage = looked_at(&["", "no", "7", "", "hunter2"]);
    let shown = screen_of(&stage);
    assert!(!shown.contains("hunter2"), "{shown}");
    insta::assert_snapshot!("submit_form", shown);
    // What is left of what it takes, and of nothing else.
    let bar = stage.screen().lines().last().unwrap().to_owned();
    assert!(bar.starts_with(" scans left this month: you ") && !bar.contains("this hour"), "{bar}");
    assert_eq!(stage.calls(Endpoint::Scan), 0);
    stage.size(80, 24);
    insta::assert_snapshot!("submit_form_80x24", screen_of(&stage));
    stage.size(40, 10);
    insta::assert_snapshot!("submit_form_40x10", screen_of(&stage).lines().skip(1).collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_is_wrong_with_a_form_is_said_and_nothing_is_sent() {
    let mut stage = Stage::listed();
    fill(&mut stage, &["/nowhere/at all", "", "perhaps"]);
    stage.keys("enter");
    screen!("submit_wrong_option", stage);
    stage.keys("ctrl-u enter");
    assert!(stage.screen().contains("No such file"), "{}", stage.screen());
    stage.session.model.service.upload_largest = 10;
    let path = stage.sample("sample.bin", 11);
    stage.keys("esc");
    fill(&mut stage, &[&path]);
    stage.keys("enter");
    assert!(stage.screen().contains("files up to 10 B"), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::Scan), 0);
}

#[test]
fn a_following_beyond_the_budget_says_what_may_fit() {
    let mut stage = looked_at(&[]);
    stage.keys("enter");
    stage.budget(10);
    let paid = stage.paid_calls();
    stage.keys("W");
    let screen = stage.screen();
    let refused = "over budget. `behaview config show` says what sets the budget.";
    assert!(screen.contains(refused), "{screen}");
    assert_eq!(stage.paid_calls(), paid);
}

#[test]
fn a_submitted_file_is_open_beside_the_others_and_can_be_followed() {
    let mut stage = looked_at(&[]);
    stage.keys("enter");
    assert_eq!(stage.demo.as_ref().unwrap().submitted().len(), 1);
    assert!(stage.screen().contains("spent 1 request, 1 scan"), "{}", stage.screen());
    screen!("submit_done", stage);
    let shown = stage.screen();
    assert!(shown.lines().next().unwrap().contains("sample.bin"), "its name stands in the title: {shown}");
    assert!(
        shown.contains("there may be nothing to list yet") && shown.contains("W watches the scan until"),
        "{shown}"
    );
    stage.keys("W y");
    screen!("follow_begun", stage);
    stage.keys("W");
    screen!("follow_sheet", stage);
    assert!(stage.screen().contains("s stops") && stage.screen().contains(" s stop "), "{}", stage.screen());
    stage.keys("esc");
    let looks = stage.calls(Endpoint::PrivateAnalysis);
    stage.later(29);
    stage.rest();
    assert_eq!(stage.calls(Endpoint::PrivateAnalysis), looks, "nothing is asked before its time");
    for _ in 0..6 {
        stage.later(31);
        stage.rest();
    }
    screen!("follow_done", stage);
    assert_eq!(stage.calls(Endpoint::PrivateAnalysis), 4);
    let paid = stage.paid_calls();
    stage.later(300);
    stage.rest();
    assert_eq!(stage.paid_calls(), paid, "what is done is not looked at any more");
}

#[test]
fn what_the_next_look_may_cost_counts_the_list_that_follows_it() {
    let mut stage = looked_at(&[]);
    stage.keys("enter W y");
    let paid = stage.paid_calls();
    let next = "1 request, +1 a page once a sandbox reported";
    assert!(stage.screen().contains(next) && stage.screen().contains("at most 19 more"), "{}", stage.screen());
    // The panel tells the same.
    stage.keys("W");
    let panel = "in 30 s · 1 request, +1 a page once a sandbox reported; s stops";
    assert!(stage.screen().contains(panel), "{}", stage.screen());
    stage.later(31);
    stage.rest();
    assert_eq!(stage.paid_calls(), paid + 2);
    assert!(stage.screen().contains("3 made, at most 17 more"), "{}", stage.screen());
}

#[test]
fn the_next_run_offers_to_go_on_with_a_scan_and_asks_nothing_by_itself() {
    let mut stage = looked_at(&[]);
    stage.keys("enter W y");
    let (paid, looks) = (stage.paid_calls(), stage.calls(Endpoint::PrivateAnalysis));
    let mut stage = stage.restart();
    screen!("scan_pending_start", stage);
    stage.assert_shows("scan not seen to its end");
    stage.keys("down enter");
    screen!("scan_pending_offered", stage);
    stage.later(300);
    stage.rest();
    assert_eq!(stage.paid_calls(), paid, "nothing is asked without a key");
    stage.keys("W y");
    assert_eq!(stage.calls(Endpoint::PrivateAnalyses), 0, "its scan is known and need not be looked for");
    assert_eq!(stage.calls(Endpoint::PrivateAnalysis), looks + 1);
    for _ in 0..6 {
        stage.later(31);
        stage.rest();
    }
    assert!(stage.screen().contains("is done"), "{}", stage.screen());
    let stage = stage.restart();
    stage.assert_gone("not seen to its end");
}

#[test]
fn a_scan_that_nobody_follows_any_more_is_not_offered_again() {
    let mut stage = looked_at(&[]);
    stage.keys("enter W y");
    let mut stage = stage.restart();
    stage.assert_shows("not seen to its end");
    stage.keys("down enter W y s");
    let stage = stage.restart();
    stage.assert_gone("not seen to its end");
    let mut stage = looked_at(&[]);
    stage.keys("enter");
    stage.later(4 * 24 * 3600);
    let stage = stage.restart();
    stage.assert_gone("not seen to its end");
}

#[test]
fn reports_that_a_list_does_not_bring_along_are_offered_when_their_scan_is_done() {
    let mut stage = looked_at(&[]);
    stage.session.model.service.listing = behaview::request::Listing::Identifiers;
    stage.keys("enter W y");
    for _ in 0..6 {
        stage.later(31);
        stage.rest();
    }
    assert!(stage.screen().contains("A opens the 3 reports, for 3 requests."), "{}", stage.screen());
}

#[test]
fn following_is_agreed_to_stopped_and_limited() {
    let mut stage = Stage::at(file("Still in the queue"), options());
    assert!(stage.screen().contains("1 to 20 requests: W watch"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
    stage.keys("W");
    assert!(stage.screen().contains("Watching its scan costs 1 to 20 requests."), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 0);
    stage.keys("y s");
    screen!("follow_stopped", stage);
    let paid = stage.paid_calls();
    stage.later(100);
    stage.rest();
    assert_eq!(stage.paid_calls(), paid);
    stage.session.model.settings.pace.most = 2;
    stage.keys("W y");
    for _ in 0..4 {
        stage.later(31);
        stage.rest();
    }
    assert_eq!(stage.paid_calls(), paid + 2);
    assert!(stage.screen().contains("used up"), "{}", stage.screen());
}

#[test]
fn what_is_followed_is_said_with_its_cost_on_every_screen() {
    let mut stage = Stage::at(file("Still in the queue"), options());
    stage.keys("W y");
    stage.rest();
    assert!(stage.screen().contains("calls left, 1 request so far"), "{}", stage.screen());
    // Another file in front, the start screen, something over the screen: it goes on, and says so.
    stage.open_other(&main_file());
    let title = |stage: &Stage| stage.screen().lines().next().unwrap().to_owned();
    assert!(title(&stage).contains("◷ watching 1 file, 1 request so far"), "{}", stage.screen());
    stage.later(31);
    stage.rest();
    stage.keys("H");
    assert!(title(&stage).contains("2 requests so far"), "{}", stage.screen());
    for (width, height, words) in [(80, 24, "2 requests so far"), (40, 10, "◷ 2 req"), (120, 40, "2 requests")] {
        stage.size(width, height);
        assert!(title(&stage).contains(words), "{}", stage.screen());
    }
}

#[test]
fn a_scan_whose_reports_are_listed_is_followed_after_a_yes_to_its_price() {
    let mut stage = Stage::listed();
    let paid = stage.paid_calls();
    stage.keys("W");
    screen!("follow_asked", stage);
    stage.assert_shows("yes, watch");
    stage.keys("esc");
    assert_eq!(stage.paid_calls(), paid);
    stage.keys("W y");
    assert!(stage.paid_calls() > paid, "{}", stage.screen());
    stage.assert_gone("yes, watch");
}

#[test]
fn following_goes_on_though_the_clock_is_set_back() {
    let mut stage = Stage::at(file("Still in the queue"), options());
    stage.keys("W y");
    stage.rest();
    let paid = stage.paid_calls();
    stage.later(-3600);
    stage.later(31);
    stage.rest();
    assert_eq!(stage.paid_calls(), paid + 1, "{}", stage.screen());
}

#[test]
fn a_failed_look_ends_the_following() {
    let mut stage = Stage::at(file("Still in the queue"), options());
    arm(stage.demo.as_ref().unwrap(), "private-analyses:503*9");
    stage.keys("W y");
    assert!(stage.screen().contains("Stopped watching"), "{}", stage.screen());
    let paid = stage.paid_calls();
    stage.later(100);
    stage.rest();
    assert_eq!(stage.paid_calls(), paid);
}

#[test]
fn internet_access_wants_a_yes_and_a_no_sends_nothing() {
    let mut stage = looked_at(&["", "yes"]);
    stage.keys("enter");
    insta::assert_snapshot!("submit_internet", screen_of(&stage));
    stage.keys("esc");
    assert_eq!(stage.calls(Endpoint::Scan), 0);
    stage.keys("enter y");
    assert_eq!(stage.calls(Endpoint::Scan), 1);
}

#[test]
fn a_large_file_is_sent_by_way_of_an_address() {
    let mut stage = Stage::listed();
    stage.session.model.service.upload_direct = 1000;
    let path = stage.sample("sample.bin", 2000);
    fill(&mut stage, &[&path, ""]);
    stage.keys("enter");
    insta::assert_snapshot!("submit_large", screen_of(&stage));
    stage.keys("enter");
    assert_eq!((stage.calls(Endpoint::UploadUrl), stage.calls(Endpoint::Scan)), (1, 1));
    assert_eq!(stage.demo.as_ref().unwrap().submitted()[0].size, 2000);
}

#[test]
fn a_lost_upload_stays_in_the_form_and_is_not_sent_again_by_itself() {
    let mut stage = looked_at(&[]);
    arm(stage.demo.as_ref().unwrap(), "scan:lost*1");
    stage.keys("enter tab");
    insta::assert_snapshot!("submit_lost", screen_of(&stage));
    stage.later(100);
    stage.rest();
    assert_eq!(stage.calls(Endpoint::Scan), 1);
    // What it says to do: the file stands first, and the look says that the upload has not arrived.
    stage.keys("esc f");
    screen!("submit_lost_offered", stage);
    stage.keys("down enter");
    assert!(stage.screen().contains("had not ended"), "{}", stage.screen());
    stage.keys("W y");
    assert_eq!((stage.calls(Endpoint::PrivateAnalyses), stage.calls(Endpoint::Scan)), (1, 1));
}

#[test]
fn a_file_that_was_sent_without_an_answer_says_so_wherever_it_is_looked_at_again() {
    let mut stage = Stage::listed();
    let path = stage.sample("sample.bin", 40);
    fill(&mut stage, &[&path]);
    arm(stage.demo.as_ref().unwrap(), "scan:lost*1");
    stage.keys("enter enter");
    assert_eq!(stage.calls(Endpoint::Scan), 1);
    let said = "sent already on";
    // The failure stands first; whatever is typed next, that it may have arrived stays.
    stage.keys("tab x ctrl-u");
    assert!(stage.screen().contains(said), "{}", stage.screen());
    stage.keys("esc");
    fill(&mut stage, &[&path]);
    stage.keys("enter");
    assert!(stage.screen().contains(said) && stage.calls(Endpoint::Scan) == 1);
    // And the key that sends a file asks first.
    stage.keys("enter");
    assert!(stage.screen().contains("it may have arrived,"), "{}", stage.screen());
    stage.keys("esc");
    assert_eq!(stage.calls(Endpoint::Scan), 1);
    stage.keys("enter y");
    assert_eq!(stage.calls(Endpoint::Scan), 2);
}

#[test]
fn a_file_that_has_changed_is_looked_at_again_and_never_sent_at_the_old_price() {
    let mut stage = looked_at(&[]);
    std::fs::write(stage.folder.path().join("sample.bin"), vec![b'y'; 40_000]).unwrap();
    stage.keys("enter");
    insta::assert_snapshot!("submit_changed", screen_of(&stage));
    assert_eq!(stage.calls(Endpoint::Scan), 0, "a file of one piece is seen to be another before anything is sent");
    stage.keys("enter");
    assert!(stage.screen().contains("1 scan: enter submit it"), "{}", stage.screen());
    stage.keys("enter");
    let sent = stage.demo.as_ref().unwrap().submitted();
    assert_eq!((sent.len(), sent[0].size, stage.calls(Endpoint::Scan)), (1, 40_000, 1));
}

#[test]
fn the_address_of_a_large_file_that_is_another_now_is_not_paid() {
    for (then, why) in [(Some(b'y'), "has changed"), (None, "No such file")] {
        let mut stage = Stage::listed();
        stage.session.model.service.upload_direct = 1000;
        let path = stage.sample("sample.bin", 2000);
        fill(&mut stage, &[&path]);
        stage.keys("enter");
        match then {
            Some(byte) => std::fs::write(&path, vec![byte; 2000]).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        stage.keys("enter");
        assert_eq!(stage.calls(Endpoint::UploadUrl), 0);
        let shown = stage.screen();
        assert!(shown.contains("Nothing was sent") && shown.contains(why), "{shown}");
        std::fs::write(&path, vec![b'z'; 3000]).unwrap();
        stage.keys("enter enter");
        assert_eq!((stage.calls(Endpoint::UploadUrl), stage.calls(Endpoint::Scan)), (1, 1));
        assert_eq!(stage.demo.as_ref().unwrap().submitted()[0].size, 3000);
    }
}

#[test]
fn deleting_at_the_service_says_what_is_lost() {
    let mut stage = Stage::listed();
    stage.keys("E");
    screen!("delete_at_service", stage);
    stage.keys("v");
    assert_eq!(stage.calls(Endpoint::PrivateDelete), 0);
    stage.keys("E y");
    assert_eq!(stage.calls(Endpoint::PrivateDelete), 1);
    assert!(stage.screen().contains("The file alone is deleted at the service"), "{}", stage.screen());
    let mut stage = Stage::at(main_file(), Options { licence: false, ..options() });
    stage.keys("b esc E Y");
    assert_eq!(stage.calls(Endpoint::PrivateDelete), 0, "{}", stage.screen());
}

#[test]
fn a_scan_is_followed_no_further_when_its_file_is_closed() {
    let mut stage = looked_at(&[]);
    stage.keys("enter");
    stage.open_other(&main_file());
    stage.keys("enter K W y");
    stage.assert_shows("poll in");
    stage.keys("Q");
    stage.assert_gone("poll in");
    let paid = stage.paid_calls();
    for _ in 0..6 {
        stage.later(31);
        stage.rest();
    }
    assert_eq!(stage.paid_calls(), paid);
}

#[test]
fn why_a_price_is_what_it_is_comes_with_what_is_left_of_each_thing_that_is_spent() {
    let mut stage = Stage::listed();
    stage.keys("enter $");
    let screen = stage.screen();
    assert!(screen.contains("The user has 239 of 240 left this hour."), "{screen}");
    assert!(screen.contains("Of scans: The user has 47 of 50 left this month."), "{screen}");
}
