//! Lists that are left for one of their rows, and the way back; what a key says that does nothing.

use crate::beside::chosen;
use crate::screen;
use crate::stage::{Stage, file, main_file};

#[test]
fn going_back_leads_to_the_list_that_was_left_at_its_row() {
    let mut stage = Stage::listed();
    for list in ["! / c a l l s space s e v e r e enter", "i tab tab", "F l u m e n", "c enter", "S l u m e n"] {
        stage.keys(list).keys("down down down");
        let before = chosen(&stage);
        stage.keys("enter");
        assert_ne!(chosen(&stage), before, "{list} leads to the row");
        stage.keys("esc");
        assert_eq!(chosen(&stage), before, "{list} comes back as it was");
        stage.keys("esc esc esc esc").keys("enter");
    }
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn the_bar_says_where_going_back_leads() {
    let mut stage = Stage::listed();
    stage.keys("!");
    stage.assert_shows("━ Findings · ");
    stage.keys("enter j enter");
    screen!("returning_at_the_row", stage);
    stage.size(200, 55);
    stage.keys("z esc");
    assert!(stage.screen().contains("esc back to the list"), "the pane is small again first:\n{}", stage.screen());
    stage.keys("esc esc");
    stage.assert_gone("Findings");
}

#[test]
fn hits_of_all_held_reports_are_gone_through_one_after_another() {
    let mut stage = Stage::listed();
    stage.open_other(&file("Parcel"));
    stage.keys("enter esc f").open(&main_file());
    stage.keys("S s t a t e m e n t down down enter");
    assert!(stage.screen().contains(" hit 2 of "), "{}", stage.screen());
    let first = stage.screen();
    stage.keys("n n");
    assert!(stage.screen().contains(" hit 4 of "), "{}", stage.screen());
    assert_ne!(stage.screen(), first);
    stage.keys("N N");
    assert_eq!(stage.screen(), first);
    // Round about, and so through every report.
    stage.keys("N N");
    screen!("returning_last_hit", stage);
    stage.keys("esc");
    assert!(stage.screen().contains("Search all stored reports"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 2);
}

#[test]
fn a_key_that_does_nothing_here_says_why() {
    let mut stage = Stage::listed();
    for (keys, words) in [
        ("w", "w does nothing here: it works in a comparison."),
        ("A", "A does nothing now: it needs reports of the list that are not stored."),
        ("Z", "Z does nothing here; ? shows the keys that do."),
        ("n", "n does nothing now: it needs a filter or a search."),
        ("esc", "esc goes back no further than to the file: f leaves it for another, q quits."),
        ("m enter", "enter does nothing now: it needs a row."),
        ("0 ^", "^ does nothing now: it needs a process that another one started, or a row that names a process"),
    ] {
        stage.keys(keys);
        stage.assert_shows(words);
    }
    stage.keys("down");
    stage.assert_gone("does nothing");
    stage.keys("H D enter");
    assert!(stage.screen().contains("enter does not answer the question"), "{}", stage.screen());
    stage.keys("esc");
    stage.keys("/ f5");
    stage.assert_gone("does nothing");
}

#[test]
fn what_deserves_a_look_is_sought_in_and_taken_from_every_held_sandbox() {
    let mut stage = Stage::listed();
    stage.keys("! v / t a s k");
    screen!("notable_sought", stage);
    stage.keys("enter v");
    screen!("notable_of_all_sandboxes", stage);
    stage.size(40, 10);
    screen!("notable_of_all_sandboxes_40x10", stage);
    stage.size(120, 40);
    stage.keys("/ ctrl-u s e r v i c e enter G enter");
    assert!(stage.screen().contains("Quiet Harbour"), "{}", stage.screen());
    stage.keys("esc v");
    assert!(stage.screen().contains("Quiet Harbour") && stage.screen().contains("Findings · "));
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn from_a_file_to_the_process_that_dropped_it_and_what_is_known_of_that() {
    let mut stage = Stage::listed();
    stage.keys("4 j enter");
    assert!(stage.screen().contains("process_name: wscript.exe"), "{}", stage.screen());
    stage.keys("^");
    assert!(chosen(&stage).contains("wscript.exe  3316"), "{}", stage.screen());
    stage.keys("enter");
    screen!("process_whole", stage);
    stage.keys("^");
    assert!(chosen(&stage).contains("cmd.exe  2884"), "{}", stage.screen());
}

#[test]
fn a_message_takes_a_row_of_its_own() {
    let mut stage = Stage::listed();
    stage.keys("enter G y");
    screen!("message_in_a_row_of_its_own", stage);
    stage.size(40, 10);
    screen!("message_in_a_row_of_its_own_40x10", stage);
}
