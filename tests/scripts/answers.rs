//! Unexpected responses, and those in unusual forms: how they are read, and the messages.

use crate::faults::arm;
use crate::harness::{CliHarness, FakeService, errors, json, main_file, text};
use behaview::demo::Endpoint;
use std::process::Output;

/// A service that answers by path with headers and a body; returns the setting to reach it.
fn service(answer: impl Fn(&str) -> (String, Vec<u8>) + Send + 'static) -> String {
    let answer = move |path: &str| {
        let (headers, body) = answer(path);
        ("200 OK", headers, body)
    };
    FakeService::new(answer).set
}

fn plain(body: &str) -> (String, Vec<u8>) {
    (String::new(), body.as_bytes().to_vec())
}

/// A list of one report, whose type is this.
fn list_of(kind: &str) -> String {
    format!(
        r#"{{"data":[{{"id":"{0}_Box-1794474845","type":"{kind}","attributes":{{"tags":["A"]}}}},{{"id":"{0}_Sane-1794474845","type":"file_behaviour","attributes":{{"tags":["B"]}}}}]}}"#,
        main_file()
    )
}

#[test]
fn entry_of_another_type_is_left_out_and_named() {
    let cli = CliHarness::new();
    let set = service(|_| plain(&list_of("file")));
    let output = cli.run(&["list", &main_file(), "--set", &set]);
    assert!(
        errors(&output).contains("Left out of the list: 1 entry of another type than a behaviour report."),
        "{output:?}"
    );
    let ids: Vec<_> = json(&output)["sandboxes"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, [format!("{}_Sane-1794474845", main_file())]);
    cli.fails(&["show", "--offline", &format!("{}_Box-1794474845", main_file()), "--set", &set], 13, &[]);
}

#[test]
fn sparser_list_does_not_hide_a_stored_report() {
    let cli = CliHarness::new();
    let id = format!("{}_Box-1794474845", main_file());
    let entry = |tags: &str| {
        let attributes = format!(r#"{{"tags":[{tags}]}}"#);
        format!(
            r#"{{"id":"{}_Box-1794474845","type":"private_file_behaviour","attributes":{attributes}}}"#,
            main_file()
        )
    };
    let set = service(move |path| {
        let whole = entry(&vec![r#""SEEN""#; 200].join(","));
        let is_report = path.ends_with("1794474845");
        plain(&if is_report { format!(r#"{{"data":{whole}}}"#) } else { format!(r#"{{"data":[{}]}}"#, entry("")) })
    });
    assert!(cli.run(&["show", &id, "--set", &set]).status.success());
    assert!(cli.run(&["list", "--refresh", &main_file(), "--set", &set]).status.success());
    let shown = cli.run(&["show", "--offline", &id, "--set", &set]);
    assert!(text(&shown).contains("SEEN"), "{shown:?}");
}

fn watch(cli: &CliHarness, set: &str) -> Output {
    cli.run(&["watch", "--scan", "scan-1", "--interval", "1", "--max-polls", "4", &main_file(), "--set", set])
}

#[test]
fn a_scan_that_is_done_without_a_report_is_no_success() {
    let cli = CliHarness::new();
    let set = service(|path| {
        let scan = r#"{"data":{"id":"scan-1","type":"private_analysis","attributes":{"status":"completed"}}}"#;
        plain(if path.contains("/analyses/") { scan } else { r#"{"data":[]}"# })
    });
    let output = watch(&cli, &set);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(errors(&output).contains("the scan is done, and no report of it is listed"), "{output:?}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["done"], &found["calls_made"]), (&true.into(), &2.into()));
    let one = ["watch", "--scan", "scan-1", "--max-polls", "1", &main_file(), "--set", &set];
    let output = cli.fails(&one, 12, &["the scan is done, its list is incomplete, and its polls are used up"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["done"], &found["status"]), (&false.into(), &"listing".into()));
}

#[test]
fn concurrent_watchers_share_paid_polls() {
    let cli = CliHarness::new();
    let path = cli.home.path().join("sample.bin");
    std::fs::write(&path, b"not much of a program").unwrap();
    let submitted = json(&cli.run(&["submit", path.to_str().unwrap()]));
    let file = submitted["file"].as_str().unwrap();
    arm(&cli.demo, "delay=700");
    let watch = || cli.command(&["watch", "--interval", "1", file]).stdout(std::process::Stdio::piped()).spawn();
    let all: Vec<_> = (0..3).map(|_| watch().unwrap()).collect();
    let ended: Vec<_> = all.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    assert!(ended.iter().all(|output| json(output)["done"] == true), "{ended:?}");
    let calls = |endpoint| cli.demo.seen().iter().filter(|call| call.endpoint == Some(endpoint)).count();
    // A page of the list that one has got since another looked is as good for that one.
    let told: Vec<_> = ended.iter().map(|output| json(output)["calls_made"].as_u64().unwrap()).collect();
    let (looks, pages) = (calls(Endpoint::PrivateAnalysis), calls(Endpoint::List));
    assert_eq!(told.iter().sum::<u64>(), (looks + pages) as u64);
    assert!(looks < 12, "each alone would take four looks: {told:?}, {looks}, {pages}");
}

#[test]
fn unknown_content_encoding_is_quarantined() {
    let cli = CliHarness::new();
    let set = service(|_| ("content-encoding: br\r\n".to_owned(), b"\x0b\x02\x80".to_vec()));
    cli.fails(&["list", &main_file(), "--set", &set], 9, &["it is not JSON", "stay in the store, unread"]);
}

#[test]
fn invalid_proxy_variable_is_refused_unsent() {
    let cli = CliHarness::new();
    cli.configure("proxy = \"env\"\n");
    // Nobody listens there: what went directly would say so in other words.
    let root = ["--set", "root=https://127.0.0.1:9"];
    let run = |arguments: &[&str], variable: &str| {
        cli.command(&[arguments, &root].concat()).env("HTTPS_PROXY", variable).output().unwrap()
    };
    for variable in ["socks5://127.0.0.1:1", "ftp://user:hidden1@h:1", "http://"] {
        let refused = run(&["list", &main_file()], variable);
        assert_eq!(refused.status.code(), Some(8), "{variable}: {refused:?}");
        let printed = errors(&refused);
        assert!(
            printed.contains("HTTPS_PROXY names none that can be used") && !printed.contains("hidden1"),
            "{printed}"
        );
        let doctor = run(&["doctor"], variable);
        assert!(doctor.status.code() != Some(0), "{doctor:?}");
        assert!(text(&doctor).contains("HTTPS_PROXY names none") && !text(&doctor).contains("hidden1"), "{doctor:?}");
    }
    let doctor = run(&["doctor"], "127.0.0.1:1");
    assert!(text(&doctor).contains("by way of the proxy of HTTPS_PROXY"), "{doctor:?}");
}
