//! Findings: marks in the rows, reasons in the detail, a list of all, noise that is hidden.

use crate::harness::{TuiHarness, file, options};
use crate::screen;
use behaview::app::TerminalEvent;

#[test]
fn findings_are_listed_and_lead_to_their_rows() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter !");
    screen!("findings_list", tui);
    tui.keys("enter");
    screen!("findings_unfolded", tui);
    tui.keys("j enter");
    screen!("findings_arrived", tui);
    tui.keys("enter");
    screen!("findings_why", tui);
    // From the row that is shown whole, to other lists and back.
    for (keys, words) in [("!", "Findings · "), ("c", "Compare · "), ("i", "Indicators · "), ("d", "Artifacts")] {
        tui.keys(keys);
        assert!(tui.screen().contains(words), "{keys}: {}", tui.screen());
        tui.keys("esc");
        tui.assert_shows("processes_created · row ");
    }
    tui.keys("! / r u n d l l enter G enter esc esc esc");
    // The cursor left the row that was shown whole.
    tui.assert_gone("· row ");
    tui.keys("enter f");
    assert!(tui.screen().contains("SHA-256"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn findings_fold_and_can_be_limited_to_one_pane() {
    let mut tui = TuiHarness::listed();
    tui.session.model.rules = None;
    tui.keys("! j k");
    let list = |tui: &TuiHarness| tui.screen().lines().filter(|line| line.contains('┃')).collect::<Vec<_>>().join("\n");
    let folded = list(&tui);
    assert!(folded.contains("▸ Creates a scheduled task") && !folded.contains("schtasks.exe"), "{folded}");
    let unfolded = list(tui.keys("l"));
    assert!(unfolded.contains("▾ Creates a scheduled task") && unfolded.contains("schtasks.exe"), "{unfolded}");
    // It stays so while one goes to the row and comes back, by either key.
    for back in ["esc", "!"] {
        tui.keys("j enter").keys(back).keys("h");
        assert_eq!(list(&tui), unfolded);
    }
    // The folds outlast the list.
    assert_eq!(list(tui.keys("esc ! j k")), unfolded);
    let registry = tui.keys("esc ! 3").screen();
    assert!(registry.contains("Findings · Registry only") && registry.contains("LumenUpdate"), "{registry}");
    assert!(!registry.contains("Creates a scheduled task"), "{registry}");
    tui.keys("x");
    let offered = offered(&tui);
    assert!(registry.contains(&format!(" {offered} of ")), "{offered}: {registry}");
    for (keys, sign) in [("esc 3 +", '▸'), ("-", '▾')] {
        assert!(!list(tui.keys(keys)).contains(sign), "{keys}: {}", list(&tui));
    }
}

#[test]
fn rows_that_name_an_indicator_are_shown_by_pane() {
    let mut tui = TuiHarness::listed();
    tui.keys("i / l u m e n 3 2 enter enter");
    let all = tui.screen();
    assert!(all.contains("Rows with the indicator") && all.contains(" Registry "), "{all}");
    let files = tui.keys("4").screen();
    assert!(files.contains("Rows with the indicator · Files only · ") && !files.contains("· Registry "), "{files}");
    tui.keys("esc 4");
    assert!(tui.screen().contains("4 does nothing now: it needs"), "{}", tui.screen());
}

#[test]
fn noise_is_hidden_and_counted() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 7 ~");
    screen!("noise_hidden", tui);
    tui.keys("~");
    screen!("noise_shown", tui);
}

#[test]
fn other_kinds_of_reports_are_marked_too() {
    let mut tui = TuiHarness::at(file("Parcel"), options());
    tui.keys("enter enter !");
    screen!("findings_android", tui);
    let mut tui = TuiHarness::at(file("Unfriendly"), options());
    tui.keys("enter enter !");
    screen!("findings_hostile", tui);
    let mut tui = TuiHarness::at(file("Blank"), options());
    tui.keys("enter enter ! v");
    assert!(tui.screen().contains("No rule marks a row"), "{}", tui.screen());
}

#[test]
fn persistence_filter_lists_its_findings() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter ! v /");
    assert!(tui.screen().contains("such as persistence"), "{}", tui.screen());
    for key in "persistence".chars() {
        tui.keys(&key.to_string());
    }
    let screen = tui.screen();
    for found in ["Starts at logon", "Creates a scheduled task", "Registers a scheduled task", "T1547.001", "of 43"] {
        assert!(screen.contains(found), "{found}\n{screen}");
    }
    assert!(!screen.contains("Encoded PowerShell") && !screen.contains("Drops a program"), "{screen}");
}

#[test]
fn findings_of_all_stored_reports_are_exported() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter ! x");
    let offered = offered(&tui);
    assert!(tui.screen().contains("all sandboxes    4 stored reports"), "{}", tui.screen());
    let written = write(&mut tui, "all.csv");
    assert_eq!(rows_of(&written), offered, "{written}");
    for (sandbox, row) in
        [("CAPE", "LumenUpdate"), ("Quiet", "DemoBackup"), ("Lynxbox", "Network rules raised an alarm")]
    {
        let holds = |line: &str| line.contains(sandbox) && line.contains(row);
        assert!(written.lines().any(holds), "{sandbox}: {row}\n{written}");
    }
    tui.keys("enter j x right");
    assert!(tui.screen().contains("‹ value"), "{}", tui.screen());
}

/// How many rows the line that is asked for says it will write.
fn offered(tui: &TuiHarness) -> usize {
    let screen = tui.screen();
    let words = screen.split_once("findings as listed, ").and_then(|(_, rest)| rest.split_once(" rows ›"));
    words.and_then(|(count, _)| count.parse().ok()).unwrap_or_else(|| panic!("{screen}"))
}

/// Writes what is offered under this name, and reads it back.
fn write(tui: &mut TuiHarness, name: &str) -> String {
    let path = tui.folder.path().join(name);
    tui.keys("up");
    tui.session.take(TerminalEvent::Paste(path.to_str().unwrap().to_owned()));
    tui.keys("enter");
    std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", tui.screen()))
}

/// Counts the rows of reports in a table, which has a line a value, those of a row together.
fn rows_of(table: &str) -> usize {
    let mut rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').take(7).collect()).collect();
    rows.dedup();
    rows.len()
}

#[test]
fn selected_finding_is_shown_whole_at_80_columns() {
    let mut tui = TuiHarness::listed();
    tui.size(80, 24).keys("enter ! v / s c h t a s k s enter");
    let shown = tui.screen();
    let whole = "CAPE Sandbox: Creates a scheduled task: schtasks.exe /create /tn";
    assert!(shown.contains(whole) && shown.contains("\\Lumen\\DailyStatement /sc daily /st 09:20 /f"), "{shown}");
    tui.keys("G");
    assert!(shown.lines().count() == tui.screen().lines().count() && tui.screen().contains('›'), "{}", tui.screen());
}
