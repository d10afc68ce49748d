//! Taking away: copies, indicators, files, downloads.

use crate::faults::arm;
use crate::harness::{TuiHarness, file, options};
use crate::screen;
use behaview::app::{KeyContext, PANES, TerminalEvent};
use behaview::demo::Endpoint;
use behaview::report::Pane;
use std::path::PathBuf;

/// Types a path into the line that asks for one, in place of what stands there.
fn type_path(tui: &mut TuiHarness, path: &str) {
    while tui.session.model.key_context() == KeyContext::Choice {
        tui.keys("up");
    }
    if !tui.screen().contains("Typing replaces the name") {
        tui.press("ctrl-u");
    }
    tui.session.take(TerminalEvent::Paste(path.to_owned()));
    tui.keys("enter");
}

fn place(tui: &TuiHarness, name: &str) -> PathBuf {
    tui.folder.path().join(name)
}

#[test]
fn comparison_is_exported_as_a_difference_layer() {
    let mut tui = TuiHarness::listed();
    tui.keys("c l x");
    tui.assert_shows("techniques of Zenbox against the other 3");
    let screen = tui.screen();
    assert!(
        screen.contains("Format    navigator") && screen.contains("57874b32c259-all-difference.navigator.json"),
        "{screen}"
    );
    assert!(!screen.contains("Scope"), "{screen}");
    let path = place(&tui, "layer.navigator.json");
    type_path(&mut tui, path.to_str().unwrap());
    tui.assert_shows(" techniques, readable by you alone");
    assert!(std::fs::read_to_string(path).unwrap().contains("only in Zenbox"));
}

#[test]
fn copied_text_is_one_defanged_line() {
    let mut tui = TuiHarness::listed();
    tui.keys("y");
    assert!(tui.copied().ends_with("_CAPE Sandbox-1794474845"));
    tui.keys("ctrl-y");
    assert_eq!(tui.copied(), crate::harness::main_file().to_string());
    tui.keys("enter 5 y");
    screen!("copied", tui);
    assert_eq!(tui.copied(), "gate[.]lumen[.]example");
    tui.keys("3 ctrl-y");
    let row = tui.copied();
    assert!(
        row.starts_with(r"set HKCU\Software\Microsoft\Windows\CurrentVersion\Run\LumenUpdate = rundll32.exe"),
        "{row}"
    );
    tui.keys("2 ctrl-p");
    let all = tui.copied();
    assert!(all.contains("CALLS_WMI · CHECKS_USER_INPUT · CREATES_SCHEDULED_TASK · "), "{all}");
    tui.keys("3 enter");
    screen!("values", tui);
    tui.keys("tab y");
    assert!(tui.copied().starts_with("rundll32.exe"));
}

#[test]
fn hostile_text_is_never_copied_raw() {
    let mut tui = TuiHarness::at(file("Unfriendly"), options());
    tui.keys("enter enter");
    let mut copies = 0;
    for (command, pane) in PANES.iter().zip(Pane::ALL) {
        tui.keys(&command.keys[0].to_string());
        let model = &tui.session.model;
        for _ in 0..model.pane_state(pane).count(&model.open().unwrap().report, pane) {
            tui.press("y");
            if tui.session.model.notice.as_ref().is_some_and(|notice| !notice.is_problem) {
                let copied = tui.copied();
                assert!(!copied.chars().any(char::is_control), "{copied:?}");
                assert!(!copied.contains("://"), "{copied:?}");
                copies += 1;
            }
            tui.press("j");
        }
    }
    assert!(copies > 50, "{copies}");
}

#[test]
fn raw_text_is_copied_after_one_confirmation() {
    let mut tui = TuiHarness::at(file("Unfriendly"), options());
    tui.keys("enter enter 2 Y");
    screen!("raw", tui);
    tui.keys("y");
    assert!(tui.copied().contains('\u{1b}'));
    tui.keys("j Y");
    assert_eq!(tui.copied(), "TWO\nLINES");
}

#[test]
fn indicators_lead_to_their_rows() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter i");
    screen!("indicators", tui);
    tui.keys("tab } } }");
    screen!("indicators_hosts", tui);
    tui.keys("y");
    assert_eq!(tui.copied(), "gate[.]lumen[.]example");
    tui.keys("{ { ctrl-p");
    let copied = tui.copied();
    assert!(copied.matches(" · ").count() == 6 && !copied.contains("cdn"), "{copied}");
    tui.keys("} } enter j enter");
    screen!("indicator_row", tui);
    tui.keys("esc esc v");
    assert!(tui.screen().contains("Indicators · Lynxbox · host · 4 of"), "{}", tui.screen());
    tui.keys("j");
    assert!(tui.screen().contains("┃ not to block: no finding of high or medium"), "{}", tui.screen());
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn folded_process_is_unfolded_for_its_indicator() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter - i } } } } } } enter enter");
    let screen = tui.screen();
    assert!(screen.contains("━ 1 Processes") && screen.contains(" 2/"), "{screen}");
    tui.keys("y");
    assert_eq!(tui.copied(), "statement_setup.tmp");
}

#[test]
fn export_overwrites_only_after_confirmation() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 5 x");
    screen!("form", tui);
    tui.keys("right");
    screen!("form_pane", tui);
    let path = place(&tui, "net.csv");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(tui.screen().contains(" rows, readable by you alone"), "{}", tui.screen());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("gate.lumen.example") && !written.contains("registry"));
    std::fs::write(&path, "precious").unwrap();
    tui.keys("x");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(tui.screen().contains("y yes, write over it · esc no"), "{}", tui.screen());
    tui.keys("esc esc");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    tui.keys("x");
    type_path(&mut tui, path.to_str().unwrap());
    tui.keys("y");
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"hash\",\"57874b32c259"));
    assert_eq!(tui.paid_calls(), 1);
}

#[test]
fn filtered_rows_are_exported_alone() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 4 x right");
    assert!(tui.screen().contains("‹ pane files ›"), "all of it is shown: {}", tui.screen());
    tui.keys("esc / s t a g e enter x");
    assert!(tui.screen().contains("‹ 4 rows shown in pane files ›"), "{}", tui.screen());
    assert!(tui.screen().contains("57874b32c259-CAPE-Sandbox-files-shown.csv"), "{}", tui.screen());
    let path = place(&tui, "shown.jsonl");
    type_path(&mut tui, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    let rows: Vec<_> = written.lines().filter(|line| line.contains("stage.js")).collect();
    assert_eq!((rows.len(), written.contains("settings.bin")), (4, false), "{written}");
    tui.keys("x");
    let path = place(&tui, "shown.json");
    type_path(&mut tui, path.to_str().unwrap());
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let attributes = written["data"]["attributes"].as_object().unwrap();
    let rows = attributes.values().map(|rows| rows.as_array().unwrap().len());
    assert_eq!(rows.sum::<usize>(), 4, "{written}");
}

#[test]
fn a_row_and_a_value_are_written_as_they_are_copied() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter 3 x right right");
    screen!("row", tui);
    let path = place(&tui, "row.txt");
    type_path(&mut tui, path.to_str().unwrap());
    let key = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\LumenUpdate";
    let row = std::fs::read_to_string(&path).unwrap();
    assert!(row.starts_with(&format!("set {key} = rundll32.exe")) && row.lines().count() == 1, "{row}");
    tui.keys("x l l l h l");
    assert!(tui.screen().contains(r"‹ value HKCU\Software"), "{}", tui.screen());
    let path = place(&tui, "value.csv");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(tui.screen().contains("a value is written as txt"), "{}", tui.screen());
    let path = place(&tui, "value.txt");
    type_path(&mut tui, path.to_str().unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{key}\n"));
    tui.keys("enter tab x j right");
    let path = place(&tui, "raw.txt");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("rundll32.exe \"C:"));
    tui.keys("esc x right right");
    let path = place(&tui, "row.json");
    type_path(&mut tui, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains(r#""attributes":{"registry_keys_set":[{"key":"HKCU\\Software"#), "{written}");
    assert!(written.contains("LumenUpdate") && !written.contains("DailyStatement"), "{written}");
}

#[test]
fn failed_export_names_the_reason() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter x");
    let path = place(&tui, "no/such/folder.csv");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(tui.screen().contains("there is no folder"), "{}", tui.screen());
    assert!(!tui.screen().contains(".behaview-"), "{}", tui.screen());
    tui.keys("esc i x");
    let path = place(&tui, "i.json");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(tui.screen().contains("json writes whole reports, panes and rows only"), "{}", tui.screen());
    let path = place(&tui, "indicators.stix.json");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("{\"type\":\"bundle\""));
}

#[test]
fn artifact_is_paid_once_and_saved_as_named() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter d $");
    assert!(tui.screen().contains("download · 1 request"), "{}", tui.screen());
    tui.keys("esc");
    screen!("artifacts", tui);
    tui.keys("enter");
    assert_eq!((tui.paid_calls(), tui.calls(Endpoint::Artifact)), (2, 1));
    screen!("artifact_stored", tui);
    tui.keys("enter");
    assert!(tui.screen().contains("57874b32c259-CAPE-Sandbox.html"), "{}", tui.screen());
    let path = place(&tui, "page.html");
    type_path(&mut tui, path.to_str().unwrap());
    assert!(std::fs::read_to_string(&path).unwrap().contains("made-up"));
    tui.keys("esc d enter esc esc");
    assert_eq!(tui.calls(Endpoint::Artifact), 1);
}

#[test]
fn interrupted_artifact_is_resumed() {
    let mut tui = TuiHarness::listed();
    arm(tui.demo.as_ref().unwrap(), "artifact:cut=5000000*1");
    tui.keys("enter d G enter");
    screen!("artifact_lost", tui);
    tui.keys("enter");
    assert!(tui.screen().contains("6.3 MB"), "{}", tui.screen());
    assert_eq!(tui.calls(Endpoint::Artifact), 2);
}

#[test]
fn indicator_export_defaults_to_the_shown_kind() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter i } x");
    assert!(tui.screen().contains("‹ indicators to block ›"), "{}", tui.screen());
    assert!(tui.screen().contains("57874b32c259-all-to-block.stix.json"), "{}", tui.screen());
    let path = place(&tui, "block.txt");
    type_path(&mut tui, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.lines().count() == 7 && written.contains("\ngate[.]lumen[.]example\n"), "{written}");
    tui.keys("{ v x");
    assert!(tui.screen().contains("‹ all indicators ›"), "{}", tui.screen());
    let path = place(&tui, "all.txt");
    type_path(&mut tui, path.to_str().unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 40);
    // A filter leaves what is shown: it is written so, in other formats as well.
    tui.keys("/ l u m e n enter x");
    let screen = tui.screen();
    assert!(screen.contains("‹ 14 indicators as listed ›") && screen.contains("-indicators-listed."), "{screen}");
    let path = place(&tui, "listed.txt");
    type_path(&mut tui, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.lines().count() == 14 && written.lines().all(|line| line.contains("umen")), "{written}");
    tui.keys("x left");
    assert!(tui.screen().contains("‹ indicators to block ›"), "{}", tui.screen());
}

#[test]
fn export_dialog_stores_scope_and_accepts_a_paste() {
    let mut tui = TuiHarness::listed();
    tui.keys("i } x down");
    assert!(tui.screen().contains("‹ all sandboxes ›"), "{}", tui.screen());
    tui.keys("right");
    let path = place(&tui, "block.stix.json");
    tui.session.take(TerminalEvent::Paste(path.display().to_string()));
    tui.session.take(TerminalEvent::KeyInput("enter".parse().unwrap(), 0));
    tui.rest();
    assert!(tui.screen().contains("enter came together with other keys: nothing was written"), "{}", tui.screen());
    tui.keys("enter");
    let screen = tui.screen();
    assert!(screen.contains("3 indicators in 7 STIX objects (with observables and analyses)"), "{screen}");
    assert!(path.exists() && screen.contains("Indicators · CAPE Sandbox · "), "the list follows the box:\n{screen}");
    // A letter that is no key of a choice is typed as well.
    tui.keys("x down / t");
    assert!(tui.screen().contains("/t▏") && tui.screen().contains("  this sandbox"), "{}", tui.screen());
}

#[test]
fn every_row_of_an_indicator_can_be_opened() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter i v j j j j j j");
    let chosen =
        |tui: &TuiHarness| tui.screen().lines().rfind(|line| line.contains('›')).unwrap_or_default().to_owned();
    assert!(chosen(&tui).contains("stage.js") && chosen(&tui).contains("+5"), "{}", tui.screen());
    tui.keys("enter");
    screen!("indicator_rows", tui);
    tui.keys("j enter");
    assert!(chosen(&tui).contains("wscript.exe  3316"), "{}", tui.screen());
    tui.keys("esc");
    tui.assert_shows("Rows with the indicator");
    tui.keys("esc");
    assert!(tui.screen().contains("all 40") && chosen(&tui).contains("+5"), "{}", tui.screen());
    tui.keys("g j enter");
    tui.assert_gone("Rows with the indicator");
}

#[test]
fn findings_are_exported_as_listed() {
    let mut tui = TuiHarness::listed();
    tui.keys("enter ! v / s t a r t s space a t enter x");
    let screen = tui.screen();
    assert!(screen.contains("‹ findings as listed, ") && screen.contains("-findings-listed.csv"), "{screen}");
    let path = place(&tui, "n.csv");
    type_path(&mut tui, path.to_str().unwrap());
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written.lines().filter(|line| line.contains("\"high\",\"Starts at logon. ")).count(), 3, "{written}");
    assert!(written.lines().skip(1).all(|line| line.contains("\"high\",\"")), "{written}");
}
