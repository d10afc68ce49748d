//! `behaview triage`: many files side by side, priced before anything is sent.

use crate::harness::{CliHarness, FakeService, errors, json, main_file, piped, text};
use serde_json::Value;
use std::collections::HashSet;

const UNKNOWN: &str = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

#[test]
fn a_ticket_is_ranked_for_one_total() {
    let cli = CliHarness::new();
    let (paid, main) = (cli.paid(), main_file());
    let document = "67b85d5c4bac6f1588ac2a263e4cdf36e8a5852422ff59e69e46a7eb77fb9a00";
    let ticket = cli.home.path().join("ticket.txt");
    let words = format!("{UNKNOWN};{document}\nsee <{}> MD5 {}\n{document}", main.to_uppercase(), "ab".repeat(16));
    std::fs::write(&ticket, words).unwrap();
    let ticket = ticket.to_str().unwrap();
    let look = cli.run(&["triage", ticket]);
    assert!(
        text(&look)
            .contains("3 files; what is missing costs at least 3 requests in all: --fetch requests 3 lists first.")
    );
    assert!(errors(&look).contains("left out 1 MD5 or SHA-1"), "{}", errors(&look));
    let over = cli.run(&["triage", "--fetch", "--max-cost", "2", ticket]);
    assert_eq!((over.status.code(), cli.paid()), (Some(11), paid));

    let fetched = cli.run(&["triage", "--fetch", "--json", ticket]);
    assert_eq!(fetched.status.code(), Some(12), "one of them is unknown: {}", errors(&fetched));
    assert!(errors(&fetched).contains("sends 3 requests, for 3 requests"), "{}", errors(&fetched));
    let found: Value = serde_json::from_str(&text(&fetched)).unwrap();
    let files = found["files"].as_array().unwrap();
    let of = |member: &str| files.iter().map(|file| file[member].clone()).collect::<Vec<_>>();
    assert_eq!(of("file"), [main.as_str(), document, UNKNOWN], "the worst is the first");
    assert_eq!(of("verdict"), ["malicious", "malicious", "unknown"]);
    assert_eq!(of("reports_stored"), [4, 2, 0]);
    assert_eq!(files[0]["top_findings"].as_array().unwrap().len(), 3);
    assert_eq!(found["missing_totals"], serde_json::json!([{"unit": "request", "min": 1, "max": 1}]));

    // What is stored is not requested again, nor what the service has just not had.
    let paid = cli.paid();
    let again = cli.run(&["triage", "--fetch", ticket]);
    assert!(again.status.success() && cli.paid() == paid, "{again:?}");
    assert!(text(&again).contains("unavailable") && text(&again).contains("--fetch=reports requests it"));
    assert!(cli.run(&["triage", "--fetch=reports", ticket]).status.success());
    assert_eq!(cli.paid(), paid + 1);
    let table = text(&cli.run(&["triage", "--offline", "--format", "md", ticket]));
    assert!(table.contains("| `57874b32") && table.contains("| 6 of 6 |"), "{table}");
    let csv = text(&cli.run(&["triage", "--offline", "--format", "csv", ticket]));
    assert!(csv.starts_with("\"file\",\"verdict\"") && csv.lines().count() == 4, "{csv}");
    assert_eq!(cli.run(&["triage", "no hash"]).status.code(), Some(2));
    cli.fails(&["triage"], 2, &["- or --within; all stored: behaview store list --json | behaview triage -"]);
    let stored = text(&cli.run(&["store", "list", "--json"]));
    let all = json(&piped(&mut cli.command(&["triage", "--offline", "--json", "-"]), stored));
    let all: HashSet<_> = all["files"].as_array().unwrap().iter().map(|file| file["file"].to_string()).collect();
    assert_eq!(all, HashSet::from([main.as_str(), document].map(|file| format!("\"{file}\""))));
}

#[test]
fn nothing_is_requested_in_vain_or_twice() {
    let [file, unreadable, other] = ["aa", "bb", "cc"].map(|pair| pair.repeat(32));
    let label = format!("x\\|**bold** {}", "long ".repeat(200));
    let report = serde_json::json!({"data": {"id": "odd-1", "attributes": {"tags": ["T"], "verdict_labels": [label]}}})
        .to_string();
    let answer = move |path: &str| match path {
        path if path.contains("bbbb") => ("200 OK", "", r#"{"data":"x"}"#.to_owned()),
        path if path.contains("cccc") => ("200 OK", "", r#"{"data":[{"id":"odd-1"}]}"#.to_owned()),
        // A page that names itself as the next one.
        path if path.contains("aaaa") => {
            ("200 OK", "", r#"{"data":[{"id":"odd-1"},{"id":"gone-2"}],"meta":{"cursor":"x"}}"#.to_owned())
        }
        path if path.contains("odd-1") => ("200 OK", "", report.clone()),
        _ => ("404 Not Found", "", r#"{"error":{"code":"NotFoundError","message":"no"}}"#.to_owned()),
    };
    let (cli, service) = (CliHarness::new(), FakeService::new(answer));
    cli.configure("listing = \"identifiers\"\n");
    let ticket: Vec<_> = format!("{file} {unreadable} {other}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let run = |arguments: &[&str]| {
        let set = format!("profiles.lab.{}", service.set);
        piped(&mut cli.command(&[&["triage", "--set", &set], arguments, &["-"]].concat()), &ticket)
    };
    let lists = run(&["--fetch"]);
    assert_eq!((lists.status.code(), service.asked().len()), (Some(12), 3), "{lists:?}");
    let over = run(&["--fetch=reports", "--max-cost", "2"]);
    let words = "the budget covers 2 calls of these, the next is over the budget: it may cost 1 request";
    assert!(errors(&over).contains(words), "{over:?}");
    let dry = text(&run(&["--fetch=reports", "--dry-run"]));
    assert!(dry.contains("In all: 3 requests"), "{dry}");
    let reports = run(&["--fetch=reports"]);
    assert!(errors(&reports).contains("sends 3 requests"), "a report of two files is one: {reports:?}");
    assert_eq!((reports.status.code(), service.asked().len()), (Some(12), 6), "{reports:?}");
    let again = run(&["--fetch=reports"]);
    assert_eq!((again.status.code(), service.asked().len()), (Some(0), 6), "{again:?}");
    let table = text(&again);
    assert!(table.contains("1 of 2+") && table.contains("1 of 1") && table.contains("unavailable"), "{table}");
    assert!(
        table.contains("3 files; nothing to request. Left out of 2 files: what the service did not have"),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() < 180), "a label widens no line: {table}");
    let markdown = text(&run(&["--format", "md"]));
    assert!(markdown.contains(r"x\\x7c**bold**") && !markdown.contains(r"\|"), "{markdown}");
}

#[test]
fn an_unread_page_makes_the_price_a_minimum() {
    let file = "aa".repeat(32);
    let [here, gone] = ["Box", "Tub"].map(|sandbox| format!("{file}_{sandbox}-1794474840"));
    let list = serde_json::json!({"data": [{"id": here}, {"id": gone}], "meta": {"cursor": "x"}}).to_string();
    let answer = move |path: &str| match path {
        path if path.contains("/files/") => ("200 OK", "", list.clone()),
        _ => ("404 Not Found", "", r#"{"error":{"code":"NotFoundError","message":"no"}}"#.to_owned()),
    };
    let (cli, service) = (CliHarness::new(), FakeService::new(answer));
    cli.configure("listing = \"identifiers\"\n");
    let set = format!("profiles.lab.{}", service.set);
    let run = |command: &str, argument: &str| cli.run(&[command, "--set", &set, argument]);
    cli.run(&["triage", "--set", &set, "--fetch", &file]);
    assert!(text(&run("triage", &file)).contains("costs at least 3 requests in all"));
    let gone = run("show", &gone);
    assert_eq!(gone.status.code(), Some(5), "{gone:?}");
    let table = text(&run("triage", &file));
    assert!(table.contains("2 requests+") && table.contains("costs at least 2 requests in all"), "{table}");
    assert!(table.contains("Left out of 1 file"), "{table}");
}

#[test]
fn a_list_that_is_lost_makes_the_price_a_minimum() {
    let file = "aa".repeat(32);
    let list = serde_json::json!({
        "data": [{"id": format!("{file}_Box-1794474840")}, {"id": format!("{file}_Tub-1794474840")}],
        "links": {"next": "http://127.0.0.1/x?limit=40"},
    });
    let list = list.to_string();
    let service = FakeService::new(move |_: &str| ("200 OK", "", list.clone()));
    let cli = CliHarness::new();
    cli.configure("listing = \"identifiers\"\n");
    let set = format!("profiles.lab.{}", service.set);
    let table = text(&cli.run(&["triage", "--set", &set, "--fetch", &file]));
    assert!(table.contains("2 requests+") && table.contains("costs at least 2 requests in all"), "{table}");
    cli.fails(&["triage"], 2, &["name a SHA-256"]);
    cli.fails(&["triage", "/dev/null"], 2, &["no SHA-256"]);
}

#[test]
fn fetched_files_are_compared_at_once() {
    let files = ["aa", "bb"].map(|pair| pair.repeat(32));
    for (behash, expected) in [("5ec8", 1), ("", 0)] {
        let answer = move |path: &str| {
            let file = path.split('/').find(|part| part.len() == 64).unwrap_or_default();
            let list = serde_json::json!({"data": [{
                "id": format!("{file}_Box-1794474840"),
                "attributes": {"sandbox_name": "Box", "behash": behash, "tags": ["T"]},
            }]});
            ("200 OK", "", list.to_string())
        };
        let (cli, service) = (CliHarness::new(), FakeService::new(answer));
        let set = format!("profiles.lab.{}", service.set);
        let found = json(&cli.run(&["triage", "--set", &set, "--json", "--fetch=reports", &files[0], &files[1]]));
        let alike: Vec<_> = found["files"].as_array().unwrap().iter().map(|file| file["alike"].clone()).collect();
        assert_eq!(alike, [expected, expected], "{found}");
    }
}

#[test]
fn what_expires_soon_is_saved_for_its_price() {
    let cli = CliHarness::new();
    cli.fails(&["triage", "--within", "3d"], 5, &["behaview files --all lists when each does"]);
    assert!(cli.run(&["files", "--all"]).status.success());
    let soon = json(&cli.run(&["triage", "--within", "3d", "--json"]));
    let times: Vec<_> = soon["files"].as_array().unwrap().iter().map(|file| file["expires_at"].as_str()).collect();
    assert!(times.len() == 4 && times.is_sorted(), "{times:?}");
    cli.fails(&["triage", "--within", "3d", "--fetch=artifacts", "--max-cost", "3"], 11, &[]);

    let main = main_file();
    let save = |scope: &str| cli.run(&["triage", "--within", "28d", "--json", scope, &main]);
    for scope in ["--fetch=reports", "--fetch=reports"] {
        assert!(save(scope).status.success());
    }
    let paid = cli.paid();
    let stored = cli.run(&["triage", "--within", "28d", &main]);
    assert!(text(&stored).contains("3 html, 2 pcap, 1 evtx, 1 memdump"), "{stored:?}");
    let price = "what is missing costs 7 requests in all: --fetch=artifacts requests it";
    assert!(text(&stored).contains("missing with artifacts\n") && text(&stored).contains(price), "{stored:?}");
    for (scope, price) in [("--fetch=artifacts", "7 requests"), ("--fetch=captures", "6 requests")] {
        let dry = cli.run(&["triage", scope, "--dry-run", &main]);
        assert!(text(&dry).contains(price) && cli.paid() == paid, "{dry:?}");
    }
    let saved = json(&save("--fetch=artifacts"));
    assert_eq!((&saved["files"][0]["missing_artifacts"], cli.paid()), (&serde_json::json!({}), paid + 7));
    assert!(saved["missing_totals"].as_array().unwrap().is_empty(), "{saved}");
    assert!(save("--fetch=artifacts").status.success() && cli.paid() == paid + 7);
}
