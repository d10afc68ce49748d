//! What deserves a look: marks in the rows, why in the detail, a list of them all, noise that is hidden.

use crate::screen;
use crate::stage::{Stage, file, options};
use behaview::app::TerminalEvent;

#[test]
fn what_deserves_a_look_is_listed_and_leads_there() {
    let mut stage = Stage::listed();
    stage.keys("enter !");
    screen!("notable_list", stage);
    stage.keys("enter");
    screen!("notable_unfolded", stage);
    stage.keys("j enter");
    screen!("notable_arrived", stage);
    stage.keys("enter");
    screen!("notable_why", stage);
    // From the row that is shown whole, to other lists and back.
    for (keys, words) in [("!", "Findings · "), ("c", "Compare · "), ("i", "Indicators · "), ("d", "Downloads")] {
        stage.keys(keys);
        assert!(stage.screen().contains(words), "{keys}: {}", stage.screen());
        stage.keys("esc");
        stage.assert_shows("processes_created · row ");
    }
    stage.keys("! / r u n d l l enter G enter esc esc esc");
    // The cursor left the row that was shown whole.
    stage.assert_gone("· row ");
    stage.keys("enter f");
    assert!(stage.screen().contains("SHA-256"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn findings_wait_for_the_rules_fold_sideways_and_show_one_pane() {
    let mut stage = Stage::listed();
    stage.session.model.rules = None;
    stage.keys("! j k");
    let list = |stage: &Stage| stage.screen().lines().filter(|line| line.contains('┃')).collect::<Vec<_>>().join("\n");
    let folded = list(&stage);
    assert!(folded.contains("▸ Creates a scheduled task") && !folded.contains("schtasks.exe"), "{folded}");
    let unfolded = list(stage.keys("l"));
    assert!(unfolded.contains("▾ Creates a scheduled task") && unfolded.contains("schtasks.exe"), "{unfolded}");
    // It stays so while one goes to the row and comes back, by either key.
    for back in ["esc", "!"] {
        stage.keys("j enter").keys(back).keys("h");
        assert_eq!(list(&stage), unfolded);
    }
    let registry = stage.keys("esc ! 3").screen();
    assert!(registry.contains("Findings · Registry only") && registry.contains("LumenUpdate"), "{registry}");
    assert!(!registry.contains("Creates a scheduled task"), "{registry}");
    stage.keys("x");
    let offered = offered(&stage);
    assert!(registry.contains(&format!(" {offered} of ")), "{offered}: {registry}");
    for (keys, sign) in [("esc 3 +", '▸'), ("-", '▾')] {
        assert!(!list(stage.keys(keys)).contains(sign), "{keys}: {}", list(&stage));
    }
}

#[test]
fn rows_that_name_an_indicator_are_shown_by_pane() {
    let mut stage = Stage::listed();
    stage.keys("i / l u m e n 3 2 enter enter");
    let all = stage.screen();
    assert!(all.contains("Rows that name it") && all.contains(" Registry "), "{all}");
    let files = stage.keys("4").screen();
    assert!(files.contains("Rows that name it · Files only · ") && !files.contains("· Registry "), "{files}");
    stage.keys("esc 4");
    assert!(stage.screen().contains("4 does nothing now: it needs"), "{}", stage.screen());
}

#[test]
fn noise_is_hidden_and_counted() {
    let mut stage = Stage::listed();
    stage.keys("enter 7 ~");
    screen!("noise_hidden", stage);
    stage.keys("~");
    screen!("noise_shown", stage);
}

#[test]
fn other_kinds_of_reports_are_marked_too() {
    let mut stage = Stage::at(file("Parcel"), options());
    stage.keys("enter enter !");
    screen!("notable_android", stage);
    let mut stage = Stage::at(file("Unfriendly"), options());
    stage.keys("enter enter !");
    screen!("notable_hostile", stage);
    let mut stage = Stage::at(file("Blank"), options());
    stage.keys("enter enter ! v");
    assert!(stage.screen().contains("No rule marks a row"), "{}", stage.screen());
}

#[test]
fn what_survives_a_reboot_is_found_among_what_deserves_a_look() {
    let mut stage = Stage::listed();
    stage.keys("enter ! v /");
    assert!(stage.screen().contains("such as persistence"), "{}", stage.screen());
    for key in "persistence".chars() {
        stage.keys(&key.to_string());
    }
    let screen = stage.screen();
    for found in ["Starts at logon", "Creates a scheduled task", "Registers a scheduled task", "T1547.001", "of 43"] {
        assert!(screen.contains(found), "{found}\n{screen}");
    }
    assert!(!screen.contains("Encoded PowerShell") && !screen.contains("Drops a program"), "{screen}");
}

#[test]
fn what_deserves_a_look_in_all_held_reports_is_written_whole() {
    let mut stage = Stage::listed();
    stage.keys("enter ! x");
    let offered = offered(&stage);
    assert!(stage.screen().contains("all sandboxes    4 stored reports"), "{}", stage.screen());
    let written = write(&mut stage, "all.csv");
    assert_eq!(rows_of(&written), offered, "{written}");
    for (sandbox, row) in
        [("CAPE", "LumenUpdate"), ("Quiet", "DemoBackup"), ("Lynxbox", "Network rules raised an alarm")]
    {
        let holds = |line: &str| line.contains(sandbox) && line.contains(row);
        assert!(written.lines().any(holds), "{sandbox}: {row}\n{written}");
    }
    stage.keys("enter j x right");
    assert!(stage.screen().contains("‹ value"), "{}", stage.screen());
}

/// How many rows the line that is asked for says it will write.
fn offered(stage: &Stage) -> usize {
    let screen = stage.screen();
    let words = screen.split_once("findings as listed, ").and_then(|(_, rest)| rest.split_once(" rows ›"));
    words.and_then(|(count, _)| count.parse().ok()).unwrap_or_else(|| panic!("{screen}"))
}

/// Writes what is offered under this name, and reads it back.
fn write(stage: &mut Stage, name: &str) -> String {
    let path = stage.folder.path().join(name);
    stage.keys("up");
    stage.session.take(TerminalEvent::Paste(path.to_str().unwrap().to_owned()));
    stage.keys("enter");
    std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", stage.screen()))
}

/// How many rows of reports a table has: it has a line a value, and those of one row stand together.
fn rows_of(table: &str) -> usize {
    let mut rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').take(7).collect()).collect();
    rows.dedup();
    rows.len()
}

#[test]
fn at_eighty_columns_the_chosen_row_is_told_whole_below_the_list() {
    let mut stage = Stage::listed();
    stage.size(80, 24).keys("enter ! v / s c h t a s k s enter");
    let shown = stage.screen();
    let whole = "CAPE Sandbox: Creates a scheduled task: schtasks.exe /create /tn";
    assert!(shown.contains(whole) && shown.contains("\\Lumen\\DailyStatement /sc daily /st 09:20 /f"), "{shown}");
    stage.keys("G");
    assert!(
        shown.lines().count() == stage.screen().lines().count() && stage.screen().contains('›'),
        "{}",
        stage.screen()
    );
}
