//! Which sandbox saw what, for scripts: from held reports only.

use crate::harness::{CliHarness, behaview, errors, json, main_file, run, text};
use serde_json::Value;

#[test]
fn stored_reports_are_compared_without_requests() {
    let cli = CliHarness::new();
    cli.fails(&["compare", &main_file()], 5, &["behaview list"]);
    assert!(cli.demo.seen().is_empty());
    cli.run(&["list", &main_file()]);
    let asked = cli.demo.seen().len();
    let all = json(&cli.run(&["compare", &main_file(), "--json", "--pane", "registry"]));
    let columns = all["columns"].as_array().unwrap();
    assert_eq!((columns.len(), &all["more"]), (4, &Value::Bool(true)));
    let items = all["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["pane"] == "registry"));
    let counted = items.iter().filter(|item| item["seen"].as_array().unwrap().contains(&Value::from(1))).count();
    assert_eq!(columns[0]["items_seen"], counted);
    let here = json(&cli.run(&["compare", &main_file(), "--json", "--only", "here", "--sandbox", "cape"]));
    let is_its_own = |item: &Value| item["seen"] == Value::from(vec![1]) || item["differs"] == true;
    assert!(here["items"].as_array().unwrap().iter().all(is_its_own));
    let lines = text(&cli.run(&["compare", &main_file(), "--only", "some"]));
    assert!(lines.contains("CAPE Sandbox") && lines.contains("further sandboxes"), "{lines}");
    let techniques = text(&cli.run(&["compare", &main_file(), "--pane", "techniques"]));
    assert!(techniques.contains("◇·◇·  ATT&CK") && techniques.contains("T1564.003"), "{techniques}");
    assert_eq!(cli.demo.seen().len(), asked);
}

#[test]
fn unstored_reports_are_named_with_their_price() {
    let cli = CliHarness::with(behaview::demo::Options {
        listing: behaview::demo::ListContent::Identifiers,
        ..Default::default()
    });
    cli.run(&["list", &main_file()]);
    let nothing = cli.run(&["compare", &main_file()]);
    assert!(errors(&nothing).contains("4 requests"), "{nothing:?}");
    let id = json(&cli.run(&["list", &main_file()]))["sandboxes"][0]["id"].as_str().unwrap().to_owned();
    cli.run(&["show", &id]);
    let found = json(&cli.run(&["compare", &main_file(), "--json"]));
    assert_eq!([&found["columns"][0]["stored"], &found["columns"][1]["stored"]], [true, false]);
    assert_eq!(found["missing_price"]["units"]["max"], 3);
    let unknown = cli.fails(&["compare", &main_file(), "--only", "not-here", "--sandbox", "2"], 5, &[]);
    let printed = errors(&unknown);
    assert!(printed.contains("behaview show ") && printed.contains("fetches it: 1 request"), "{printed}");
    assert!(cli.run(&["compare", &main_file(), "--only", "not-here", "--sandbox", "1"]).status.success());
    cli.fails(&["compare", &main_file(), "--only", "all", "--pane", "mobile"], 0, &["nothing is left: no item"]);
}

#[test]
fn a_saved_page_is_compared_without_any_service() {
    let page = r#"{"data":[{"id":"a","attributes":{"tags":["X","Y"]}},{"id":"b","attributes":{"tags":["y"]}}]}"#;
    let found = json(&run(&["compare", "-", "--json", "--only", "all"], page));
    assert_eq!(found["items"][0]["text"], "Y");
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    let wrong = run(&["compare", "-", "--pane", "nope"], page);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(errors(&wrong).contains("registry"), "{wrong:?}");
    let home = tempfile::tempdir().unwrap();
    let two = behaview(home.path()).args(["compare", &main_file(), "--with", "x"]).output().unwrap();
    assert_eq!(two.status.code(), Some(2), "{two:?}");
}

#[test]
fn saved_reports_are_compared_with_each_other() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str, tag: &str| {
        let path = home.path().join(name);
        std::fs::write(&path, format!(r#"{{"tags":["{tag}","BOTH"]}}"#)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, two) = (path("one.json", "ONE"), path("two.json", "TWO"));
    let output = behaview(home.path()).args(["compare", &one, &two, "--json"]).output().unwrap();
    let compared = json(&output);
    let columns = compared["columns"].as_array().unwrap().iter().map(|column| column["document"].as_str().unwrap());
    assert_eq!(columns.collect::<Vec<_>>(), ["one.json", "two.json"]);
    let seen = |item: &str| {
        let found = compared["items"].as_array().unwrap().iter().find(|found| found["text"] == item);
        found.unwrap()["seen"].clone()
    };
    assert_eq!([seen("ONE"), seen("TWO"), seen("BOTH")], [serde_json::json!([1]), [2].into(), [1, 2].into()]);
    // One that is no report is named, and the others are used.
    for command in [&["show"][..], &["search", "ONE"], &["export", "--format", "json"], &["compare"]] {
        let bad = behaview(home.path()).args(command).args(["Cargo.toml", "/nonexistent.json", &one]).output().unwrap();
        assert!(bad.status.code() == Some(12) && text(&bad).contains("ONE"), "{command:?} {bad:?}");
    }
    // A document and a file of the service's: one way out, whichever comes first.
    let file = main_file();
    for arguments in [vec![one.as_str(), "--with", &file], vec![&one, &file], vec![&file, &one]] {
        let output = behaview(home.path()).arg("compare").args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&output).contains("behaview compare one.json two.json"), "{output:?}");
    }
}

#[test]
fn differing_values_are_marked_and_shown_for_each() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str, value: &str, ip: &str| {
        let path = home.path().join(name);
        let set = format!(r#"{{"key":"HKCU\\Run\\X","value":"{value}"}}"#);
        let dns = format!(r#"{{"hostname":"h.example","resolved_ips":[{ip}]}}"#);
        std::fs::write(&path, format!(r#"{{"tags":["A"],"registry_keys_set":[{set}],"dns_lookups":[{dns}]}}"#))
            .unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, two) = (path("one.json", "good.exe", r#""1","2""#), path("two.json", "evil.exe", r#""2","1""#));
    let compare = |more: &[&str]| behaview(home.path()).args(["compare", &one, &two]).args(more).output().unwrap();
    let found = json(&compare(&["--json", "--only", "some"]));
    let details = serde_json::json!([{"number": 1, "texts": [r"HKCU\Run\X = good.exe"]}, {"number": 2, "texts": [r"HKCU\Run\X = evil.exe"]}]);
    assert_eq!((found["items"].as_array().unwrap().len(), &found["items"][0]["details"]), (1, &details));
    assert_eq!(found["items"][0]["differs"], true);
    let all = json(&compare(&["--json", "--pane", "network"]));
    assert_eq!((&all["items"][0]["differs"], all["items"][0].get("details")), (&Value::Bool(false), None));
    let lines = text(&compare(&[]));
    assert!(lines.contains("●≠  Registry") && lines.contains("●●  Network"), "{lines}");
    assert!(lines.contains("≠  differs from the first"), "{lines}");
    let ascii = text(&compare(&["--set", "ui.ascii=true"]));
    assert!(ascii.is_ascii() && ascii.contains("*!  Registry") && ascii.contains("h.example > 1, 2"), "{ascii}");
    let here = text(&compare(&["--only", "here", "--sandbox", "2"]));
    assert!(here.contains(r" 2  HKCU\Run\X = evil.exe") && !here.contains("●●"), "{here}");
    assert!(!text(&compare(&["--pane", "tags"])).contains('≠'));
}
