//! `behaview ledger` and `--max-cost`: calls and their cost, budgets that bind, a killed program.

use crate::harness::{CliHarness, errors, json, main_file, squeezed, text};
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A report of the main file, as its list names it.
fn report() -> String {
    format!("{}_CAPE Sandbox-1794474845", main_file())
}

fn ledger(cli: &CliHarness, more: &[&str]) -> Value {
    json(&cli.run(&[&["ledger", "--json"], more].concat()))
}

/// Changes the ledger behind the program's back.
fn meddle(cli: &CliHarness, sql: &str) {
    rusqlite::Connection::open(crate::store::records(cli)).unwrap().execute_batch(sql).unwrap();
}

/// Changes the ledger as the program would, with the checksum of each row.
fn rewrite(cli: &CliHarness, sql: &str) {
    use sha2::{Digest, Sha256};
    meddle(cli, sql);
    let database = rusqlite::Connection::open(crate::store::records(cli)).unwrap();
    let mut select = database.prepare("SELECT * FROM ledger").unwrap();
    let last = select.column_count() - 1;
    let mut rows = select.query([]).unwrap();
    let mut sums = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let mut hash = Sha256::new();
        for column in 0..last {
            let (kind, bytes) = match row.get_ref(column).unwrap() {
                rusqlite::types::ValueRef::Null => (0, Vec::new()),
                rusqlite::types::ValueRef::Integer(number) => (1, number.to_le_bytes().to_vec()),
                rusqlite::types::ValueRef::Text(text) => (3, text.to_vec()),
                other => (4, other.as_blob().unwrap().to_vec()),
            };
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        sums.push((row.get::<_, i64>(0).unwrap(), i64::from_le_bytes(*hash.finalize().first_chunk().unwrap())));
    }
    for (id, sum) in sums {
        database.execute("UPDATE ledger SET checksum = ?1 WHERE id = ?2", [sum, id]).unwrap();
    }
}

#[test]
fn ledger_lists_requests_and_their_cost() {
    let cli = CliHarness::faulty("behaviour:503*1");
    assert!(text(&cli.run(&["ledger", "--all"])).starts_with("No request was sent"));
    json(&cli.run(&["list", &main_file()]));
    assert_eq!(cli.run(&["show", "--refresh", &report()]).status.code(), Some(8));
    let shown = squeezed(&text(&cli.run(&["ledger", "--all"])));
    for words in [
        "time (UTC) operation what predicted settled state outcome counters\n",
        " private-behaviour report by CAPE Sandbox of 57874b32…938c 1 request - unknown the service is unavailable",
        "sandboxes of 57874b32…938c 1 request 1 charged answered -\n",
        "counts state calls counts as\nrequest charged 1 1\nrequest unknown 1 1\n",
        "no reading of the counters before and after these calls",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    assert_eq!(cli.demo.seen().len(), 2, "the ledger asks nobody");
}

#[test]
fn predicted_cost_is_compared_with_the_counters() {
    let cli = CliHarness::new();
    for arguments in [&["quota"][..], &["list", "--all", &main_file()], &["quota"]] {
        assert!(cli.run(arguments).status.success());
    }
    let shown = text(&cli.run(&["ledger", "--all"]));
    assert!(shown.ends_with(": the counter rose by 2 for 2 calls together, as predicted\n"), "{shown}");
    assert_eq!(shown.matches("for 2 calls together, as predicted\n").count(), 3, "{shown}");
    let found = ledger(&cli, &["--all"]);
    let compared = ["counted", "certain", "unsure"].map(|key| found["compared"][key].clone());
    assert_eq!(json!(compared), json!([2, 2, 0]));
    assert_eq!(found["entries"][0]["evidence"], "the counter rose by 2 for 2 calls together, as predicted");
    assert_eq!(
        found["totals"],
        json!([{"unit": "request", "state": "charged", "calls": 2, "counts_as": 2, "at_least": false}])
    );
    assert!(cli.run(&["show", "--refresh", &report()]).status.success());
    let later = text(&cli.run(&["ledger", "--all"]));
    let rest = ": 2 of 3 calls: the counter rose by 2 for 2 calls together, as predicted. The rest once behaview quota";
    assert!(later.contains(rest), "{later}");
}

#[test]
fn sessions_days_months_and_everything() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", "--all", &main_file()]));
    json(&cli.run(&["show", "--refresh", &report()]));
    let days = |days: i32, id| {
        let by = i64::from(days) * 86_400_000;
        rewrite(&cli, &format!("UPDATE ledger SET at = at + {by}, settled_at = settled_at + {by} WHERE id = {id}"));
    };
    let count = |time: &[&str]| ledger(&cli, time)["entries"].as_array().unwrap().len();
    let counts = || [&[][..], &["--today"], &["--month"], &["--all"], &["--session"]].map(count);
    // Long ago, and under a clock that was ahead.
    for by in [-20, 20] {
        days(2 * by, 1);
        assert_eq!(counts(), [2, 2, 2, 3, 1], "{by}");
        days(-2 * by, 1);
        assert_eq!(counts(), [3, 3, 3, 3, 1]);
    }
    assert_eq!(ledger(&cli, &["--session"])["entries"][0]["operation"], "private-behaviour");
    for wrong in [&["ledger", "--today", "--all"][..], &["ledger", "--json", "--format", "csv"], &["ledger", "x"]] {
        assert_eq!(cli.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn ledger_formats_share_columns_and_run_no_formula() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", &main_file()]));
    json(&cli.run(&["show", "--refresh", &report()]));
    let hostile =
        "UPDATE ledger SET what = '=cmd|''/c calc''!A1' || char(27) || '[2J', outcome = 'a \"b\", c' WHERE id = 1";
    rewrite(&cli, hostile);
    let csv = text(&cli.run(&["ledger", "--all", "--format", "csv"]));
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains(r#","'=cmd|'/c calc'!A1\x1b[2J","#), "{csv}");
    assert!(lines[1].contains(r#","a ""b"", c","#), "{csv}");
    let jsonl = text(&cli.run(&["ledger", "--all", "--format", "jsonl"]));
    let entries: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(entries), ledger(&cli, &["--all"])["entries"]);
    let mut columns: Vec<_> = lines[0].split(',').map(|name| name.trim_matches('"')).collect();
    columns.sort_unstable();
    let mut members: Vec<_> = entries[0].as_object().unwrap().keys().collect();
    members.sort_unstable();
    assert_eq!(columns, members);
    assert!(!(text(&cli.run(&["ledger", "--all"])) + &csv + &jsonl).contains('\u{1b}'));
}

#[test]
fn nothing_is_sent_beyond_the_budget() {
    let cli = CliHarness::new();
    let none = cli.run(&["list", &main_file(), "--max-cost", "0"]);
    let wanted =
        "nothing was sent: over the budget: it may cost 1 request, and 0 of the 0 that this run may spend is left";
    assert!((none.status.code(), none.stdout.len()) == (Some(11), 0) && errors(&none).contains(wanted), "{none:?}");
    assert_eq!(cli.demo.seen().len(), 0);
    cli.fails(&["list", &main_file(), "--all", "--max-cost", "1"], 11, &["charged: 1"]);
    assert_eq!(cli.paid(), 1);
    assert!(cli.run(&["list", &main_file(), "--max-cost", "0"]).status.success(), "what is held costs nothing");
    let show = cli.run(&["show", &report(), "--refresh", "--max-cost", "0"]);
    assert_eq!((show.status.code(), cli.paid()), (Some(11), 1));
    assert!(cli.run(&["show", &report(), "--refresh", "--max-cost", "1"]).status.success());
}

#[test]
fn the_config_sets_budgets_for_a_run_and_a_day() {
    let cli = CliHarness::new();
    cli.configure("[budget]\nsession = 1\ndaily = 2\n");
    let list = |cli: &CliHarness, more: &[&str]| cli.run(&[&["list", "--refresh", &main_file()], more].concat());
    let both = list(&cli, &["--all", "--max-cost", "9"]);
    assert!(both.status.code() == Some(11) && errors(&both).contains("0 of the 1 that this run may spend"), "{both:?}");
    assert!(list(&cli, &[]).status.success());
    let third = list(&cli, &[]);
    assert!(
        third.status.code() == Some(11) && errors(&third).contains("0 of the 2 that may be spent today"),
        "{third:?}"
    );
    assert_eq!(cli.paid(), 2);
    cli.configure("weekly = 3\n");
    assert_eq!(list(&cli, &[]).status.code(), Some(14));
}

/// Killed with its call at the service: nothing tidies up after it.
#[test]
fn call_of_a_killed_program_counts_in_the_ledger() {
    let cli = CliHarness::faulty("behaviour:delay=600000*1");
    let mut child = cli.command(&["show", &report()]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_a_call(&cli, &mut child);
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    let found = ledger(&cli, &["--all"]);
    let entry = ["operation", "state", "settled", "counts_as"].map(|key| found["entries"][0][key].clone());
    assert_eq!(json!(entry), json!(["private-behaviour", "reserved", null, 1]));
    assert_eq!(
        found["totals"],
        json!([{"unit": "request", "state": "reserved", "calls": 1, "counts_as": 1, "at_least": false}])
    );
    assert_eq!(cli.demo.used().user.daily, 1);
    cli.configure("[budget]\ndaily = 1\n");
    assert_eq!(cli.run(&["list", &main_file()]).status.code(), Some(11), "what is reserved counts");
}

fn wait_for_a_call(cli: &CliHarness, child: &mut Child) {
    let start = Instant::now();
    while cli.demo.seen().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(30) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn failed_settlement_is_logged() {
    let cli = CliHarness::new();
    json(&cli.run(&["list", &main_file()]));
    let stuck = |what: &str| format!("BEGIN SELECT RAISE(ABORT, '{what} is stuck'); END;");
    meddle(
        &cli,
        &format!(
            "CREATE TRIGGER a BEFORE UPDATE OF state ON ledger {} CREATE TRIGGER b BEFORE INSERT ON counters {}",
            stuck("the ledger"),
            stuck("the look")
        ),
    );
    assert!(cli.run(&["show", "--refresh", &report()]).status.success());
    assert!(cli.run(&["quota"]).status.success());
    let log = cli.home.path().join(".local/state/behaview/log/behaview.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("not settled") && log.contains("the ledger is stuck"), "{log}");
    assert!(log.contains("counters not recorded") && log.contains("the look is stuck"), "{log}");
}
