//! `behaview search`: over everything that is held, over what is named, over documents; at no cost.

use crate::harness::{CliHarness, behaview, main_file, text};
use serde_json::Value;

/// A desk that holds the first page of the main file's reports.
fn holding() -> CliHarness {
    let cli = CliHarness::new();
    assert!(cli.run(&["list", &main_file()]).status.success());
    cli
}

fn lines(output: &std::process::Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    text(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn stored_reports_are_searched_at_no_cost() {
    let cli = holding();
    let paid = cli.paid();
    let found = lines(&cli.run(&["search", r"CURRENTVERSION\run", "--json"]));
    assert!(!found.is_empty());
    for hit in &found {
        assert_eq!(hit["file"], main_file().as_str());
        assert!(hit["id"].as_str().unwrap().starts_with(&main_file()));
    }
    let is_there = |hit: &Value| hit["text"].as_str().unwrap().to_lowercase().contains(r"currentversion\run");
    assert!(found.iter().filter(|hit| hit["pane"] == "registry").all(is_there), "{found:?}");
    let plain = text(&cli.run(&["search", r"currentversion\run"]));
    assert_eq!(plain.lines().count(), found.len());
    cli.fails(&["search", r"CURRENTVERSION\run", "--case-sensitive"], 5, &["no hit in 4 reports"]);
    assert_eq!(cli.paid(), paid);
}

#[test]
fn panes_files_and_reports_narrow_a_search() {
    let cli = holding();
    let all = lines(&cli.run(&["search", "--regex", r"\.(exe|dll)\b", "--json"]));
    let files = lines(&cli.run(&["search", "--regex", r"\.(exe|dll)\b", "--json", "--pane", "files"]));
    assert!(files.len() < all.len() && files.iter().all(|hit| hit["pane"] == "files"), "{files:?}");
    let id = all[0]["id"].as_str().unwrap();
    let one = lines(&cli.run(&["search", "--regex", r"\.(exe|dll)\b", "--json", id]));
    assert!(one.iter().all(|hit| hit["id"] == id) && one.len() < all.len());
    let file = lines(&cli.run(&["search", "--regex", r"\.(exe|dll)\b", "--json", &main_file()]));
    assert_eq!(file.len(), all.len());
    for arguments in [&["search", "x", "--pane", "nowhere"][..], &["search", "--regex", "a(b"], &["search", ""]] {
        assert_eq!(cli.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
    cli.fails(&["search", "x", &"ab".repeat(32)], 5, &["nothing is stored of"]);
}

#[test]
fn documents_are_searched_without_key_and_escaped() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("report.json");
    std::fs::write(&path, r#"{"tags":["\u001b[2JNEEDLE"],"files_opened":["C:\\needle\\x","other"]}"#).unwrap();
    let run = |more: &[&str]| behaview(home.path()).args(["search", "Needle"]).args(more).arg(&path).output().unwrap();
    let plain = text(&run(&[]));
    assert_eq!(plain, "report.json  Tags  \\x1b[2JNEEDLE\nreport.json  Files  opened  C:\\needle\\x\n");
    assert_eq!(lines(&run(&["--json"])).len(), 2);
}

#[test]
fn json_output_is_ascii_and_equivalent() {
    let home = tempfile::tempdir().unwrap();
    let (path, hostile) = (home.path().join("report.json"), "needle\u{7f}\u{9b}31m\u{202e}gpj.exe\u{200b}\u{e0041}");
    std::fs::write(&path, serde_json::json!({ "tags": [hostile] }).to_string()).unwrap();
    let found = behaview(home.path()).args(["search", "needle", "--json"]).arg(&path).output().unwrap();
    assert!(text(&found).chars().all(|shown| shown == '\n' || matches!(shown, ' '..='~')), "{found:?}");
    assert_eq!(lines(&found)[0]["text"], hostile);
}
