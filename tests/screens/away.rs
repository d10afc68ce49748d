//! Taking away: copies, indicators, files, downloads.

use crate::faults::arm;
use crate::screen;
use crate::stage::{Stage, file, options};
use behaview::app::{PANES, Place, TerminalEvent};
use behaview::demo::Endpoint;
use behaview::report::Pane;
use std::path::PathBuf;

/// Types a path into the line that asks for one, in place of what stands there.
fn type_path(stage: &mut Stage, path: &str) {
    while stage.session.model.place() == Place::Choice {
        stage.keys("up");
    }
    if !stage.screen().contains("Typing replaces the name") {
        stage.press("ctrl-u");
    }
    stage.session.take(TerminalEvent::Paste(path.to_owned()));
    stage.keys("enter");
}

fn place(stage: &Stage, name: &str) -> PathBuf {
    stage.folder.path().join(name)
}

#[test]
fn what_is_copied_is_one_line_without_teeth() {
    let mut stage = Stage::listed();
    stage.keys("y");
    assert!(stage.copied().ends_with("_CAPE Sandbox-1794474845"));
    stage.keys("ctrl-y");
    assert_eq!(stage.copied(), crate::stage::main_file().to_string());
    stage.keys("enter 5 y");
    screen!("away_copied", stage);
    assert_eq!(stage.copied(), "gate[.]lumen[.]example");
    stage.keys("3 ctrl-y");
    let row = stage.copied();
    assert!(
        row.starts_with(r"set HKCU\Software\Microsoft\Windows\CurrentVersion\Run\LumenUpdate = rundll32.exe"),
        "{row}"
    );
    stage.keys("2 ctrl-p");
    let all = stage.copied();
    assert!(all.contains("CALLS_WMI · CHECKS_USER_INPUT · CREATES_SCHEDULED_TASK · "), "{all}");
    stage.keys("3 enter");
    screen!("away_values", stage);
    stage.keys("tab y");
    assert!(stage.copied().starts_with("rundll32.exe"));
}

#[test]
fn no_string_of_the_hostile_reports_is_copied_as_it_is() {
    let mut stage = Stage::at(file("Unfriendly"), options());
    stage.keys("enter enter");
    let mut copies = 0;
    for (command, pane) in PANES.iter().zip(Pane::ALL) {
        stage.keys(&command.keys[0].to_string());
        let model = &stage.session.model;
        for _ in 0..model.pane_state(pane).count(&model.open().unwrap().report, pane) {
            stage.press("y");
            if stage.session.model.notice.as_ref().is_some_and(|notice| !notice.is_problem) {
                let copied = stage.copied();
                assert!(!copied.chars().any(char::is_control), "{copied:?}");
                assert!(!copied.contains("://"), "{copied:?}");
                copies += 1;
            }
            stage.press("j");
        }
    }
    assert!(copies > 50, "{copies}");
}

#[test]
fn raw_text_is_copied_after_one_yes() {
    let mut stage = Stage::at(file("Unfriendly"), options());
    stage.keys("enter enter 2 Y");
    screen!("away_raw", stage);
    stage.keys("y");
    assert!(stage.copied().contains('\u{1b}'));
    stage.keys("j Y");
    assert_eq!(stage.copied(), "TWO\nLINES");
}

#[test]
fn indicators_lead_to_their_rows() {
    let mut stage = Stage::listed();
    stage.keys("enter i");
    screen!("away_indicators", stage);
    stage.keys("tab } } }");
    screen!("away_indicators_hosts", stage);
    stage.keys("y");
    assert_eq!(stage.copied(), "gate[.]lumen[.]example");
    stage.keys("{ { ctrl-p");
    let copied = stage.copied();
    assert!(copied.matches(" · ").count() == 6 && !copied.contains("cdn"), "{copied}");
    stage.keys("} } enter j enter");
    screen!("away_indicator_row", stage);
    stage.keys("esc esc v");
    assert!(stage.screen().contains("Indicators · Lynxbox · host · 4 of"), "{}", stage.screen());
    stage.keys("j");
    assert!(stage.screen().contains("┃ not to block: no finding of high or medium"), "{}", stage.screen());
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn a_process_that_is_folded_away_is_unfolded_for_its_indicator() {
    let mut stage = Stage::listed();
    stage.keys("enter - i } } } } } } enter enter");
    let screen = stage.screen();
    assert!(screen.contains("━ 1 Processes") && screen.contains(" 2/"), "{screen}");
    stage.keys("y");
    assert_eq!(stage.copied(), "statement_setup.tmp");
}

#[test]
fn a_report_is_written_to_a_file_and_never_over_one_without_a_yes() {
    let mut stage = Stage::listed();
    stage.keys("enter 5 x");
    screen!("away_export", stage);
    stage.keys("right");
    screen!("away_export_pane", stage);
    let path = place(&stage, "net.csv");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(stage.screen().contains(" rows, readable by you alone"), "{}", stage.screen());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("gate.lumen.example") && !written.contains("registry"));
    std::fs::write(&path, "precious").unwrap();
    stage.keys("x");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(stage.screen().contains("y yes, write over it · esc no"), "{}", stage.screen());
    stage.keys("esc esc");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    stage.keys("x");
    type_path(&mut stage, path.to_str().unwrap());
    stage.keys("y");
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"hash\",\"57874b32c259"));
    assert_eq!(stage.paid_calls(), 1);
}

#[test]
fn what_a_filtered_pane_shows_is_written_by_itself() {
    let mut stage = Stage::listed();
    stage.keys("enter 4 x right");
    assert!(stage.screen().contains("‹ pane files ›"), "all of it is shown: {}", stage.screen());
    stage.keys("esc / s t a g e enter x");
    assert!(stage.screen().contains("‹ 4 rows shown in pane files ›"), "{}", stage.screen());
    assert!(stage.screen().contains("57874b32c259-CAPE-Sandbox-files-shown.csv"), "{}", stage.screen());
    let path = place(&stage, "shown.jsonl");
    type_path(&mut stage, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    let rows: Vec<_> = written.lines().filter(|line| line.contains("stage.js")).collect();
    assert_eq!((rows.len(), written.contains("settings.bin")), (4, false), "{written}");
    stage.keys("x");
    let path = place(&stage, "shown.json");
    type_path(&mut stage, path.to_str().unwrap());
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let attributes = written["data"]["attributes"].as_object().unwrap();
    let rows = attributes.values().map(|rows| rows.as_array().unwrap().len());
    assert_eq!(rows.sum::<usize>(), 4, "{written}");
}

#[test]
fn a_row_and_a_value_are_written_as_they_are_copied() {
    let mut stage = Stage::listed();
    stage.keys("enter 3 x right right");
    screen!("away_row", stage);
    let path = place(&stage, "row.txt");
    type_path(&mut stage, path.to_str().unwrap());
    let key = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\LumenUpdate";
    let row = std::fs::read_to_string(&path).unwrap();
    assert!(row.starts_with(&format!("set {key} = rundll32.exe")) && row.lines().count() == 1, "{row}");
    stage.keys("x l l l h l");
    assert!(stage.screen().contains(r"‹ value HKCU\Software"), "{}", stage.screen());
    let path = place(&stage, "value.csv");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(stage.screen().contains("a value is written as txt"), "{}", stage.screen());
    let path = place(&stage, "value.txt");
    type_path(&mut stage, path.to_str().unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{key}\n"));
    stage.keys("enter tab x j right");
    let path = place(&stage, "raw.txt");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("rundll32.exe \"C:"));
    stage.keys("esc x right right");
    let path = place(&stage, "row.json");
    type_path(&mut stage, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains(r#""attributes":{"registry_keys_set":[{"key":"HKCU\\Software"#), "{written}");
    assert!(written.contains("LumenUpdate") && !written.contains("DailyStatement"), "{written}");
}

#[test]
fn what_cannot_be_written_says_why() {
    let mut stage = Stage::listed();
    stage.keys("enter x");
    let path = place(&stage, "no/such/folder.csv");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(stage.screen().contains("there is no folder"), "{}", stage.screen());
    assert!(!stage.screen().contains(".behaview-"), "{}", stage.screen());
    stage.keys("esc i x");
    let path = place(&stage, "i.json");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(stage.screen().contains("json writes whole reports, panes and rows only"), "{}", stage.screen());
    let path = place(&stage, "indicators.stix.json");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("{\"type\":\"bundle\""));
}

#[test]
fn an_artefact_is_paid_once_and_written_where_it_is_said() {
    let mut stage = Stage::listed();
    stage.keys("enter d $");
    assert!(stage.screen().contains("download · 1 request"), "{}", stage.screen());
    stage.keys("esc");
    screen!("away_downloads", stage);
    stage.keys("enter");
    assert_eq!((stage.paid_calls(), stage.calls(Endpoint::Artefact)), (2, 1));
    screen!("away_downloaded", stage);
    stage.keys("enter");
    assert!(stage.screen().contains("57874b32c259-CAPE-Sandbox.html"), "{}", stage.screen());
    let path = place(&stage, "page.html");
    type_path(&mut stage, path.to_str().unwrap());
    assert!(std::fs::read_to_string(&path).unwrap().contains("made-up"));
    stage.keys("esc d enter esc esc");
    assert_eq!(stage.calls(Endpoint::Artefact), 1);
}

#[test]
fn an_artefact_that_does_not_come_whole_is_gone_on_with() {
    let mut stage = Stage::listed();
    arm(stage.demo.as_ref().unwrap(), "artefact:cut=5000000*1");
    stage.keys("enter d G enter");
    screen!("away_download_lost", stage);
    stage.keys("enter");
    assert!(stage.screen().contains("6.3 MB"), "{}", stage.screen());
    assert_eq!(stage.calls(Endpoint::Artefact), 2);
}

#[test]
fn what_is_written_of_indicators_is_the_kind_that_is_shown_unless_another_part_is_chosen() {
    let mut stage = Stage::listed();
    stage.keys("enter i } x");
    assert!(stage.screen().contains("‹ indicators to block ›"), "{}", stage.screen());
    assert!(stage.screen().contains("57874b32c259-all-to-block.stix.json"), "{}", stage.screen());
    let path = place(&stage, "block.txt");
    type_path(&mut stage, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.lines().count() == 7 && written.contains("\ngate[.]lumen[.]example\n"), "{written}");
    stage.keys("{ v x");
    assert!(stage.screen().contains("‹ all indicators ›"), "{}", stage.screen());
    let path = place(&stage, "all.txt");
    type_path(&mut stage, path.to_str().unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 40);
    // A filter leaves what is shown: it is written so, in other formats as well.
    stage.keys("/ l u m e n enter x");
    let screen = stage.screen();
    assert!(screen.contains("‹ 14 indicators as listed ›") && screen.contains("-indicators-listed."), "{screen}");
    let path = place(&stage, "listed.txt");
    type_path(&mut stage, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.lines().count() == 14 && written.lines().all(|line| line.contains("umen")), "{written}");
    stage.keys("x left");
    assert!(stage.screen().contains("‹ indicators to block ›"), "{}", stage.screen());
}

#[test]
fn the_export_box_remembers_its_scope_and_takes_a_paste_as_the_name() {
    let mut stage = Stage::listed();
    stage.keys("i } x down");
    assert!(stage.screen().contains("‹ all sandboxes ›"), "{}", stage.screen());
    stage.keys("right");
    let path = place(&stage, "block.stix.json");
    stage.session.take(TerminalEvent::Paste(path.display().to_string()));
    stage.session.take(TerminalEvent::KeyInput("enter".parse().unwrap(), 0));
    stage.rest();
    assert!(stage.screen().contains("enter came together with other keys: nothing was written"), "{}", stage.screen());
    stage.keys("enter");
    let screen = stage.screen();
    assert!(screen.contains("3 indicators in 7 STIX objects (with observables and analyses)"), "{screen}");
    assert!(path.exists() && screen.contains("Indicators · CAPE Sandbox · "), "the list follows the box:\n{screen}");
    // A letter that is no key of a choice is typed as well.
    stage.keys("x down / t");
    assert!(stage.screen().contains("/t▏") && stage.screen().contains("  this sandbox"), "{}", stage.screen());
}

#[test]
fn every_row_that_names_an_indicator_can_be_gone_to() {
    let mut stage = Stage::listed();
    stage.keys("enter i v j j j j j j");
    let chosen = |stage: &Stage| stage.screen().lines().rfind(|line| line.contains('›')).unwrap_or_default().to_owned();
    assert!(chosen(&stage).contains("stage.js") && chosen(&stage).contains("+5"), "{}", stage.screen());
    stage.keys("enter");
    screen!("away_indicator_rows", stage);
    stage.keys("j enter");
    assert!(chosen(&stage).contains("wscript.exe  3316"), "{}", stage.screen());
    stage.keys("esc");
    stage.assert_shows("Rows that name it");
    stage.keys("esc");
    assert!(stage.screen().contains("all 40") && chosen(&stage).contains("+5"), "{}", stage.screen());
    stage.keys("g j enter");
    stage.assert_gone("Rows that name it");
}

#[test]
fn what_deserves_a_look_is_written_as_it_is_listed() {
    let mut stage = Stage::listed();
    stage.keys("enter ! v / s t a r t s space a t enter x");
    let screen = stage.screen();
    assert!(screen.contains("‹ findings as listed, ") && screen.contains("-findings-listed.csv"), "{screen}");
    let path = place(&stage, "n.csv");
    type_path(&mut stage, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written.lines().filter(|line| line.contains("\"high\",\"Starts at logon. ")).count(), 3, "{written}");
    assert!(written.lines().skip(1).all(|line| line.contains("\"high\",\"")), "{written}");
}
