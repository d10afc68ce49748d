//! Lists that are left for one of their rows, and the way back; what a key says that does nothing.

use crate::harness::{TuiHarness, file, main_file};
use crate::multiple_files::chosen;
use crate::screen;

#[test]
fn going_back_restores_the_list_and_its_row() {
    let mut tui = TuiHarness::listed();
    for list in ["! / c a l l s space s e v e r e enter", "i tab tab", "F l u m e n", "c enter", "S l u m e n"] {
        tui.keys(list).keys("down down down");
        let before = chosen(&tui);
        tui.keys("enter");
        assert_ne!(chosen(&tui), before, "{list} leads to the row");
        tui.keys("esc");
        assert_eq!(chosen(&tui), before, "{list} comes back as it was");
        tui.keys("esc esc esc esc").keys("enter");
    }
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn bar_names_the_target_of_going_back() {
    let mut tui = TuiHarness::listed();
    tui.keys("!");
    tui.assert_shows("━ Findings · ");
    tui.keys("enter j enter");
    screen!("returning_at_the_row", tui);
    tui.size(200, 55);
    tui.keys("z esc");
    assert!(tui.screen().contains("esc back to the list"), "the pane is small again first:\n{}", tui.screen());
    tui.keys("esc esc");
    tui.assert_gone("Findings");
}

#[test]
fn matches_in_all_stored_reports_are_stepped_through() {
    let mut tui = TuiHarness::listed();
    tui.open_other(&file("Parcel"));
    tui.keys("enter esc f").open(&main_file());
    tui.keys("S s t a t e m e n t down down enter");
    assert!(tui.screen().contains(" hit 2 of "), "{}", tui.screen());
    let first = tui.screen();
    tui.keys("n n");
    assert!(tui.screen().contains(" hit 4 of "), "{}", tui.screen());
    assert_ne!(tui.screen(), first);
    tui.keys("N N");
    assert_eq!(tui.screen(), first);
    // Round about, and so through every report.
    tui.keys("N N");
    screen!("returning_last_hit", tui);
    tui.keys("esc");
    assert!(tui.screen().contains("Search all stored reports"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 2);
}

#[test]
fn disabled_key_names_the_reason() {
    let mut tui = TuiHarness::listed();
    for (keys, words) in [
        ("w", "w does nothing here: it works in a comparison."),
        ("A", "A does nothing now: it needs reports of the list that are not stored."),
        ("Z", "Z does nothing here; ? shows the keys that do."),
        ("n", "n does nothing now: it needs a filter or a search."),
        ("esc", "esc goes back no further than to the file: f leaves it for another, q quits."),
        ("m enter", "enter does nothing now: it needs a row."),
        ("0 ^", "^ does nothing now: it needs a process that another one started, or a row that names a process"),
    ] {
        tui.keys(keys);
        tui.assert_shows(words);
    }
    tui.keys("down");
    tui.assert_gone("does nothing");
    tui.keys("H D enter");
    assert!(tui.screen().contains("enter does not confirm"), "{}", tui.screen());
    tui.keys("esc");
    tui.keys("/ f5");
    tui.assert_gone("does nothing");
}

#[test]
fn findings_of_all_sandboxes_are_searched() {
    let mut tui = TuiHarness::listed();
    tui.keys("! v / t a s k");
    screen!("findings_filtered", tui);
    tui.keys("enter v");
    screen!("findings_of_all_sandboxes", tui);
    tui.size(40, 10);
    screen!("findings_of_all_sandboxes_40x10", tui);
    tui.size(120, 40);
    tui.keys("/ ctrl-u s e r v i c e enter G enter");
    assert!(tui.screen().contains("Quiet Harbour"), "{}", tui.screen());
    tui.keys("esc v");
    assert!(tui.screen().contains("Quiet Harbour") && tui.screen().contains("Findings · "));
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn dropped_file_leads_to_its_process_and_parent() {
    let mut tui = TuiHarness::listed();
    tui.keys("4 j enter");
    assert!(tui.screen().contains("process_name: wscript.exe"), "{}", tui.screen());
    tui.keys("^");
    assert!(chosen(&tui).contains("wscript.exe  3316"), "{}", tui.screen());
    tui.keys("enter");
    screen!("process_whole", tui);
    tui.keys("^");
    assert!(chosen(&tui).contains("cmd.exe  2884"), "{}", tui.screen());
}

#[test]
fn a_message_takes_a_row_of_its_own() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter G y");
    screen!("message_in_a_row_of_its_own", tui);
    tui.size(40, 10);
    screen!("message_in_a_row_of_its_own_40x10", tui);
}
