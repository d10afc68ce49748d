//! `behaview files`: what the group has, each page paid once.

use crate::harness::{CliHarness, errors, json, main_file, text};
use behaview::demo::Options;

#[test]
fn group_lists_are_paid_once_and_refreshed_on_demand() {
    let cli = CliHarness::new();
    let paid = cli.paid();
    let dry = cli.run(&["files", "--all", "--dry-run"]);
    assert!(text(&dry).contains("private files of the group") && cli.paid() == paid, "{dry:?}");
    let first = cli.run(&["files"]);
    assert!(errors(&first).contains("There are more pages: --all fetches them"), "{first:?}");
    assert_eq!((json(&first)["more"].as_bool(), json(&first)["entries"].as_array().unwrap().len()), (Some(true), 4));
    assert_eq!((&json(&cli.run(&["files"]))["entries"], cli.paid()), (&json(&first)["entries"], paid + 1));
    cli.fails(&["files", "--all", "--max-cost", "0"], 11, &[]);
    let all = json(&cli.run(&["files", "--all"]));
    let entries = all["entries"].as_array().unwrap();
    assert_eq!(
        (entries.len(), all["total"].as_u64(), all["more"].as_bool(), cli.paid()),
        (7, Some(7), Some(false), paid + 2)
    );
    let main = entries.iter().find(|entry| entry["file"] == main_file().as_str()).unwrap();
    assert_eq!(
        (main["name"].as_str(), main["bytes"].as_u64()),
        (Some("Quarterly statement viewer.exe"), Some(2_381_824))
    );
    assert!(main["expires_at"].is_string() && main["status"].is_null(), "{main}");
    // The second page belongs to the list before.
    let again = json(&cli.run(&["files", "--refresh"]));
    assert_eq!((again["entries"].as_array().unwrap().len(), cli.paid()), (4, paid + 3));
    let offline = cli.fails(&["files", "--offline", "--all"], 13, &[]);
    assert!(text(&offline).contains("Busy installer.exe") && cli.paid() == paid + 3, "{offline:?}");
}

#[test]
fn analyses_name_file_and_status() {
    let cli = CliHarness::with(Options { page: 40, ..Options::default() });
    let path = cli.home.path().join("sample.bin");
    std::fs::write(&path, b"not much of a program").unwrap();
    let submitted = json(&cli.run(&["submit", path.to_str().unwrap()]));
    let found = json(&cli.run(&["files", "--analyses"]));
    let entries = found["entries"].as_array().unwrap();
    assert_eq!((&entries[0]["analysis"], &entries[0]["file"]), (&submitted["scan"], &submitted["file"]));
    assert_eq!((entries[0]["status"].as_str(), entries[1]["status"].as_str()), (Some("running"), Some("done")));
    assert_eq!((entries.len(), cli.demo.seen().last().unwrap().path.contains("order=date-")), (8, true));
}
