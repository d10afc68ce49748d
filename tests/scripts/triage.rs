//! `behaview triage`: many files side by side, priced before anything is sent.

use crate::harness::{CliHarness, errors, main_file, text};
use serde_json::Value;

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
    assert!(text(&look).contains("3 files; what is missing costs 3 requests in all: --fetch requests 3 lists first."));
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
    assert!(text(&again).contains("not found") && text(&again).contains("--fetch=reports requests it"));
    assert!(cli.run(&["triage", "--fetch=reports", ticket]).status.success());
    assert_eq!(cli.paid(), paid + 1);
    let table = text(&cli.run(&["triage", "--offline", "--format", "md", ticket]));
    assert!(table.contains("| `57874b32") && table.contains("| 6 of 6 |"), "{table}");
    let csv = text(&cli.run(&["triage", "--offline", "--format", "csv", ticket]));
    assert!(csv.starts_with("\"file\",\"verdict\"") && csv.lines().count() == 4, "{csv}");
    assert_eq!(cli.run(&["triage", "no hash"]).status.code(), Some(2));
}
