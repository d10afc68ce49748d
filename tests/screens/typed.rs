//! What is typed where nothing can be: it pays for nothing, and no question takes it for a yes.

use crate::stage::Stage;
use behaview::demo::Endpoint;
use behaview::runtime::Exit;

#[test]
fn a_question_is_closed_as_no_by_any_key_that_is_not_its_own() {
    let mut stage = Stage::listed();
    stage.assert_shows("? help");
    for (question, other, words) in [
        ("E", "v", "v does not answer the question: it is closed, and nothing was done."),
        ("H X", "a", "a does not answer"),
        ("esc H D", "tab", "tab does not answer"),
        ("esc 2 Y", "?", "? does not answer"),
    ] {
        stage.keys(question);
        stage.assert_shows("Are you sure?");
        // The bar names what answers alone.
        stage.assert_gone("? help");
        stage.keys(other);
        stage.assert_gone("Are you sure?");
        stage.assert_shows(words);
        stage.assert_shows("? help");
    }
    assert_eq!((stage.calls(Endpoint::PrivateDelete), stage.paid_calls()), (0, 1));
}

#[test]
fn what_is_typed_after_a_key_that_is_off_deletes_and_pays_nothing() {
    let mut stage = Stage::listed();
    // Each letter finds its price on the screen: what was typed slowly is as harmless as what was typed at once.
    for (typed, refused) in [
        ("/ E Y", "Y may belong to words: a letter before it did nothing."),
        ("/ E v e r y", "y does nothing now"),
        ("F H / D y", ""),
        ("a G / R", "R may"),
        ("a G / R u n", "n does nothing here"),
        ("/ ~ R", "R may belong to words: a letter before it did nothing. Nothing was done. esc first, then R again."),
        ("/ z enter", "enter may belong to words: a letter before it did nothing. Nothing was done. Press it again."),
    ] {
        stage.keys("G").keys(typed);
        let says = |stage: &Stage| stage.screen().contains(refused);
        assert!(says(&stage), "{typed}: {}", stage.screen());
        stage.keys("esc esc esc");
    }
    assert_eq!((stage.calls(Endpoint::PrivateDelete), stage.paid_calls()), (0, 1));
    stage.keys("G / end enter");
    assert_eq!(stage.paid_calls(), 2, "a key that is no letter ends them: {}", stage.screen());
    stage.keys("Z E q");
    assert!(stage.session.exit.is_none() && stage.screen().contains("it is closed, and nothing was done"));
    stage.keys("Z q");
    assert_eq!((stage.session.exit, stage.paid_calls()), (Some(Exit::Done), 2));
}

#[test]
fn indicators_are_sought_in() {
    let mut stage = Stage::listed();
    stage.keys("i / l u m e n");
    let screen = stage.screen();
    assert!(screen.contains("lumen") && screen.contains(" of "), "{screen}");
    stage.keys("enter }");
    crate::screen!("indicators_sought", stage);
    stage.keys("/ z z z z enter enter");
    stage.assert_shows("no match");
    stage.keys("/ esc");
    stage.assert_gone("no match");
}

#[test]
fn rows_that_deserve_a_look_and_items_of_a_comparison_can_be_copied() {
    let mut stage = Stage::listed();
    stage.keys("! enter j y");
    let value = stage.copied();
    stage.keys("ctrl-y");
    let row = stage.copied();
    assert!(row.starts_with("high · ") && row.contains(&value), "{row:?} {value:?}");
    assert!(row.contains(" · seen by CAPE Sandbox"), "{row:?}");
    stage.keys("esc c y");
    let value = stage.copied();
    stage.keys("ctrl-y");
    let row = stage.copied();
    assert!(row.starts_with("seen by ") && row.contains(" of 4: ") && row.contains(&value), "{row:?} {value:?}");
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn what_is_not_judged_is_said_beside_what_deserves_a_look_in_all() {
    let mut stage = Stage::listed();
    stage.keys("! v");
    stage.assert_shows("v all sandboxes");
    stage.keys("esc !");
    assert!(stage.screen().contains("v all sandboxes"), "the choice is kept:\n{}", stage.screen());
    stage.keys("v");
    let screen = stage.screen();
    assert!(screen.contains("all 4 stored sandboxes · "), "{screen}");
    assert!(screen.contains("Not in it: further sandboxes on pages that were not listed."), "{screen}");
    assert!(screen.contains("v this sandbox"), "{screen}");
    stage.assert_gone("v all sandboxes");
}
