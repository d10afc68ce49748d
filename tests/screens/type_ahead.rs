//! What is typed where nothing can be: it pays for nothing, and no question takes it for a yes.

use crate::harness::TuiHarness;
use behaview::demo::Endpoint;
use behaview::runtime::RunExit;

#[test]
fn dialog_is_declined_by_any_unlisted_key() {
    let mut tui = TuiHarness::listed();
    tui.assert_shows("? help");
    for (question, other, words) in [
        ("E", "v", "v does not confirm: nothing was done, the dialog is closed."),
        ("H X", "a", "a does not confirm"),
        ("esc H D", "tab", "tab does not confirm"),
        ("esc 2 Y", "?", "? does not confirm"),
    ] {
        tui.keys(question);
        tui.assert_shows("Are you sure?");
        // The bar names what answers alone.
        tui.assert_gone("? help");
        tui.keys(other);
        tui.assert_gone("Are you sure?");
        tui.assert_shows(words);
        tui.assert_shows("? help");
    }
    assert_eq!((tui.calls(Endpoint::PrivateDelete), tui.paid_calls()), (0, 1));
}

#[test]
fn typing_after_a_disabled_key_has_no_effect() {
    let mut tui = TuiHarness::listed();
    // Each letter has its price on the screen: slow typing is as harmless as fast typing.
    for (typed, refused) in [
        ("/ E Y", "Y may be typed text: a letter before it did nothing."),
        ("/ E v e r y", "y does nothing now"),
        ("F H / D y", ""),
        ("a G / R", "R may"),
        ("a G / R u n", "n does nothing here"),
        ("/ ~ R", "R may be typed text: a letter before it did nothing. Nothing was done. esc first, then R again."),
        ("/ z enter", "enter may be typed text: a letter before it did nothing. Nothing was done. Press it again."),
    ] {
        tui.keys("G").keys(typed);
        let says = |tui: &TuiHarness| tui.screen().contains(refused);
        assert!(says(&tui), "{typed}: {}", tui.screen());
        tui.keys("esc esc esc");
    }
    assert_eq!((tui.calls(Endpoint::PrivateDelete), tui.paid_calls()), (0, 1));
    tui.keys("G / end enter");
    assert_eq!(tui.paid_calls(), 2, "a key that is no letter ends them: {}", tui.screen());
    tui.keys("Z E q");
    assert!(tui.session.exit.is_none() && tui.screen().contains("nothing was done, the dialog is closed"));
    tui.keys("Z q");
    assert_eq!((tui.session.exit, tui.paid_calls()), (Some(RunExit::Done), 2));
}

#[test]
fn indicators_are_searched() {
    let mut tui = TuiHarness::listed();
    tui.keys("i / l u m e n");
    let screen = tui.screen();
    assert!(screen.contains("lumen") && screen.contains(" of "), "{screen}");
    tui.keys("enter }");
    crate::screen!("indicators_sought", tui);
    tui.keys("/ z z z z enter enter");
    tui.assert_shows("no match");
    tui.keys("/ esc");
    tui.assert_gone("no match");
}

#[test]
fn findings_and_compared_items_can_be_copied() {
    let mut tui = TuiHarness::listed();
    tui.keys("! enter j y");
    let value = tui.copied();
    tui.keys("ctrl-y");
    let row = tui.copied();
    assert!(row.starts_with("high · ") && row.contains(&value), "{row:?} {value:?}");
    assert!(row.contains(" · seen by CAPE Sandbox"), "{row:?}");
    tui.keys("esc c y");
    let value = tui.copied();
    tui.keys("ctrl-y");
    let row = tui.copied();
    assert!(row.starts_with("seen by ") && row.contains(" of 4: ") && row.contains(&value), "{row:?} {value:?}");
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn unevaluated_sandboxes_are_named_with_findings() {
    let mut tui = TuiHarness::listed();
    tui.keys("! v");
    tui.assert_shows("v all sandboxes");
    tui.keys("esc !");
    assert!(tui.screen().contains("v all sandboxes"), "the choice is kept:\n{}", tui.screen());
    tui.keys("v");
    let screen = tui.screen();
    assert!(screen.contains("Findings · 4 sandboxes, not all · "), "{screen}");
    assert!(screen.contains("v this sandbox"), "{screen}");
    tui.assert_gone("v all sandboxes");
}
