//! Spending by scripts: dry runs, runs without calls, several at once, identifiers from a pipe.

use crate::harness::{self, CliHarness, errors, json, main_file, text};
use crate::store::places_of;
use behaview::demo::Demo;
use serde_json::{Deserializer, Value};
use std::process::Output;

fn piped(cli: &CliHarness, arguments: &[&str], input: &str) -> Output {
    harness::piped(&mut cli.command(arguments), input)
}

fn several(output: &Output) -> Vec<Value> {
    Deserializer::from_slice(&output.stdout).into_iter().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_dry_run_prints_prices_and_sends_nothing() {
    let cli = CliHarness::new();
    let run = |arguments: &[&str]| {
        // Without a key: what sends nothing needs none.
        cli.command(arguments).env_remove("VT_APIKEY").output().unwrap()
    };
    let file = main_file();
    let list = run(&["list", "--dry-run", "--all", &file]);
    assert!(list.status.success() && text(&list).contains("In all: at least 1 request"), "{list:?}");
    assert!(text(&list).contains("Each further page costs the same"));
    let report = format!("{file}_Box-1795168800");
    let other = format!("{report}1");
    let show = json(&run(&["show", "--dry-run", "--json", &report, &other, &report]));
    assert_eq!((show["calls"].as_array().unwrap().len(), &show["totals"][0]["max"]), (2, &Value::from(2)));
    let call = run(&["api", "--dry-run", "v2-file-report", &file, &"ab".repeat(16)]);
    assert!(text(&call).contains("2 requests"), "{call:?}");
    let public = run(&["api", "--dry-run", "v3-rescan", &file]);
    assert!(public.status.success(), "a dry run makes nothing public: {public:?}");
    let over = run(&["show", "--dry-run", "--max-cost", "1", &report, &other]);
    assert_eq!((over.status.code(), over.stdout.is_empty()), (Some(11), false), "{over:?}");
    cli.configure("[entitlements]\nprivate_scanning = false\n");
    assert_eq!(run(&["list", "--dry-run", &file]).status.code(), Some(4));
    assert_eq!(cli.demo.seen().len(), 0);
}

#[test]
fn invalid_identifier_is_not_requested() {
    let cli = CliHarness::new();
    let file = main_file();
    let halves = [format!("{file}_CAPE"), "Sandbox-1794474845".to_owned()];
    for arguments in [&["show", &halves[0], &halves[1]][..], &["show", "src"], &["export", "nothing"], &["show", "."]] {
        cli.fails(arguments, 2, &[]);
    }
    assert!(errors(&cli.run(&["show", &halves[1]])).contains("nothing was sent. Quote one with a blank"));
    assert_eq!(cli.demo.seen().len(), 0);
    // What a list brings is the service's, whatever its shape.
    assert_eq!(piped(&cli, &["show", "-"], "odd\n").status.code(), Some(5));
    assert_eq!(cli.demo.seen().len(), 1);
}

#[test]
fn key_typed_as_a_hash_is_never_sent_or_stored() {
    let cli = CliHarness::new();
    let run = |key: &str, words: &[&str], input: &str| harness::piped(cli.command(words).env("VT_APIKEY", key), input);
    let (key, file) = ("0123456789abcdef".repeat(4), main_file());
    let [report, named] = [format!("{key}_Box-1794474845"), format!("{file}_{key}-1794474845")];
    let other = key.replace('f', "g");
    let upper = key.to_uppercase();
    for (key, arguments) in [
        (&key, &["list", &key][..]),
        (&key, &["list", &upper]),
        (&key, &["show", &report]),
        (&key, &["show", &named]),
        (&key, &["watch", &key]),
        (&key, &["api", "v3-file", &key]),
        (&key, &["api", "v2-file-report", &file, &key]),
        (&key, &["--plain", &key]),
        (&other, &["list", &other]),
        (&other, &["show", &other]),
        (&other, &["compare", &other]),
    ] {
        let output = run(key, arguments, "");
        let message = errors(&output) + &text(&output);
        assert!(output.status.code() == Some(2) && !message.to_lowercase().contains(key), "{arguments:?}: {output:?}");
    }
    for arguments in [["list", "-"], ["show", "-"], ["export", "-"]] {
        let typed = if arguments[0] == "list" { &key } else { &report };
        let output = run(&key, &arguments, typed);
        let message = errors(&output) + &text(&output);
        assert!(!output.status.success() && !message.contains(&key), "{arguments:?}: {output:?}");
    }
    assert_eq!(cli.demo.seen().len(), 0);
    assert!(places_of(&[key, other], cli.home.path()).is_empty());
}

#[test]
fn dry_run_shows_stored_reports_as_free() {
    let cli = CliHarness::new();
    let listed = json(&cli.run(&["list", &main_file()]));
    let id = listed["sandboxes"][0]["id"].as_str().unwrap();
    let dry = json(&cli.run(&["show", "--dry-run", "--json", id]));
    assert_eq!((&dry["calls"][0]["stored"], &dry["calls"][0]["price"]), (&Value::Bool(true), &Value::Null));
    assert_eq!(json(&cli.run(&["show", "--dry-run", "--json", "--refresh", id]))["totals"][0]["max"], 1);
    assert_eq!(cli.demo.seen().len(), 1);
    let set = ["api", "v2-file-report", &"a".repeat(64), &"b".repeat(64), "--dry-run"];
    assert!(cli.run(&set[..4]).status.success());
    assert!(String::from_utf8_lossy(&cli.run(&set).stdout).contains("0, stored        v2 reports of 2 files"));
}

#[test]
fn dry_run_counts_the_spending_of_the_day() {
    let cli = CliHarness::new();
    cli.configure("[budget]\ndaily = 2\n");
    let [one, two] = ["a", "b"].map(|name| format!("{}_{name}-1795168800", main_file()));
    let dry = || cli.run(&["show", "--dry-run", &one, &two]).status.code();
    assert_eq!(dry(), Some(0));
    assert!(cli.run(&["list", &main_file()]).status.success());
    assert_eq!(dry(), Some(11), "the list has cost one of the two");
    assert_eq!(cli.paid(), 1);
    assert!(cli.run(&["api", "--dry-run", "v3-quotas", "--set", "budget.daily=0"]).status.success());
    cli.fails(&["list", &main_file(), "--set", "page_size=41"], 14, &["page_size must be 1 to 40"]);
}

#[test]
fn repeated_input_is_paid_once() {
    let cli = CliHarness::new();
    let (file, loud) = (main_file(), main_file().to_uppercase());
    assert!(cli.run(&["list", "--refresh", &file, &loud, &file]).status.success());
    assert_eq!(cli.paid(), 1);
    let again = piped(&cli, &["list", "--refresh", "-"], &format!("{loud}\n{file}\n"));
    assert!(again.status.success(), "{again:?}");
    assert_eq!(cli.paid(), 2);
}

#[test]
fn offline_shows_stored_reports_and_sends_nothing() {
    let cli = CliHarness::new();
    cli.fails(&["list", "--offline", &main_file()], 13, &["not stored"]);
    assert_eq!(cli.demo.seen().len(), 0);
    let listed = json(&cli.run(&["list", &main_file()]));
    let id = listed["sandboxes"][0]["id"].as_str().unwrap();
    cli.configure("[entitlements]\n");
    for variable in ["BEHAVIEW_OFFLINE", "BEHAVIEW_NOTHING"] {
        let flag = if variable == "BEHAVIEW_OFFLINE" { vec!["show", id] } else { vec!["show", "--offline", id] };
        let mut command = cli.command(&flag);
        // Nothing that prints a key is run.
        let output = command.env(variable, "true").env_remove("VT_APIKEY").output().unwrap();
        assert_eq!(json(&output)["data"]["id"], id);
    }
    cli.fails(&["show", "--offline", "--refresh", id], 13, &[]);
    let rest = cli.run(&["list", "--offline", "--all", &main_file()]);
    assert_eq!(
        (rest.status.code(), &several(&rest)[0]["more"]),
        (Some(13), &Value::Bool(true)),
        "what is held is printed"
    );
    assert_eq!(cli.demo.seen().len(), 1);
}

#[test]
fn identifiers_come_from_standard_input() {
    let cli = CliHarness::new();
    let files: Vec<_> = Demo::files().into_iter().take(2).map(|file| file.sha256).collect();
    let listed = piped(&cli, &["list", "--format", "ids", "-"], &format!("# both\n{}\n\n{}\r\n", files[0], files[1]));
    let ids = text(&listed);
    assert!(listed.status.success() && ids.lines().count() > 4, "{listed:?}");
    assert!(ids.lines().any(|id| id.starts_with(&files[1])));
    let shown = piped(&cli, &["show", "-"], &ids);
    let reports = several(&shown);
    assert_eq!(reports.len(), ids.lines().count());
    assert!(reports.iter().zip(ids.lines()).all(|(report, id)| report["data"]["id"] == id));
    let lines = piped(&cli, &["list", "--format", "jsonl", "-"], &files[0]);
    assert!(text(&lines).lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["file"] == files[0].as_str()));
    let columns = text(&cli.run(&["list", "--format", "text", &files[0]]));
    assert!(columns.starts_with("sandbox ") && columns.contains("--all fetches"), "{columns}");
    let report = text(&cli.run(&["show", ids.lines().next().unwrap()]));
    assert_eq!(several(&piped(&cli, &["show", "-"], &report))[0]["data"]["id"], ids.lines().next().unwrap());
    assert_eq!(piped(&cli, &["show", "-"], "").status.code(), Some(2));
    let call = piped(&cli, &["api", "v2-file-report", "-"], &format!("{}\n{}\n", "ab".repeat(16), "cd".repeat(16)));
    assert!(errors(&call).contains("charged: 2"), "{call:?}");
}

#[test]
fn partial_success_has_its_own_exit_code() {
    let cli = CliHarness::new();
    let (there, gone) = (main_file(), "ab".repeat(32));
    let output = cli.fails(&["list", &gone, &there], 12, &[]);
    assert!(errors(&output).contains("does not have it") && errors(&output).contains("1 of 2 are there"), "{output:?}");
    assert_eq!(several(&output).len(), 1);
    let none = cli.run(&["list", &gone, &"cd".repeat(32)]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(5), 0), "{none:?}");
    let cli = CliHarness::faulty("503");
    let down = cli.run(&["list", &there, &gone]);
    assert_eq!((down.status.code(), cli.demo.seen().len()), (Some(8), 1), "what fails for all is tried once: {down:?}");
}

#[test]
fn vt_format_has_the_official_cli_shape() {
    let cli = CliHarness::new();
    let ids = text(&cli.run(&["list", "--format", "ids", &main_file()]));
    let ids: Vec<_> = ids.lines().collect();
    let flat = json(&cli.run(&["show", "--format", "vt", ids[0], ids[1]]));
    assert_eq!(flat.as_array().unwrap().len(), 2);
    let nested = json(&cli.run(&["show", ids[0]]));
    assert_eq!((&flat[0]["_id"], &flat[0]["_type"]), (&nested["data"]["id"], &nested["data"]["type"]));
    for (name, value) in nested["data"]["attributes"].as_object().unwrap() {
        assert_eq!(&flat[0][name], value, "{name}");
    }
    let related = r#"{"data":{"id":"a","type":"t","attributes":{ },"relationships":{"one":{"data":{"id":"b"}},"many":{"data":[{"id":"c"}]}}}}"#;
    let flat = json(&piped(&cli, &["show", "--format", "vt", "-"], related));
    assert_eq!(flat, serde_json::json!([{"_id": "a", "_type": "t", "one": "b", "many": ["c"]}]));
}
