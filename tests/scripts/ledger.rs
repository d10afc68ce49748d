//! `behaview ledger` and `--max-cost`: what was asked and what it cost, budgets that hold, and a program that is killed.

use crate::harness::{Desk, errors, json, main_file, squeezed, text};
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A report of the main file, as its list names it.
fn report() -> String {
    format!("{}_CAPE Sandbox-1794474845", main_file())
}

fn ledger(desk: &Desk, more: &[&str]) -> Value {
    json(&desk.run(&[&["ledger", "--json"], more].concat()))
}

/// Changes the ledger behind the program's back.
fn meddle(desk: &Desk, sql: &str) {
    rusqlite::Connection::open(crate::store::records(desk)).unwrap().execute_batch(sql).unwrap();
}

/// Changes the ledger as the program would, with the checksum of each row.
fn rewrite(desk: &Desk, sql: &str) {
    use sha2::{Digest, Sha256};
    meddle(desk, sql);
    let database = rusqlite::Connection::open(crate::store::records(desk)).unwrap();
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
fn the_ledger_tells_what_was_asked_and_what_it_cost() {
    let desk = Desk::faulty("behaviour:503*1");
    assert!(text(&desk.run(&["ledger", "--all"])).starts_with("Nothing was asked"));
    json(&desk.run(&["list", &main_file()]));
    assert_eq!(desk.run(&["show", "--refresh", &report()]).status.code(), Some(8));
    let shown = squeezed(&text(&desk.run(&["ledger", "--all"])));
    for words in [
        "time (UTC) operation what predicted settled state outcome counters\n",
        " private-behaviour report by CAPE Sandbox of 57874b32…938c 1 request - unknown the service is unavailable",
        "sandboxes of 57874b32…938c 1 request 1 charged answered -\n",
        "counts state calls counts as\nrequest charged 1 1\nrequest unknown 1 1\n",
        "no reading of the counters before and after these calls",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    assert_eq!(desk.demo.seen().len(), 2, "the ledger asks nobody");
}

#[test]
fn predicted_stands_beside_counted() {
    let desk = Desk::new();
    for arguments in [&["quota"][..], &["list", "--all", &main_file()], &["quota"]] {
        assert!(desk.run(arguments).status.success());
    }
    let shown = text(&desk.run(&["ledger", "--all"]));
    assert!(shown.ends_with(": the counter rose by 2 for 2 calls together, as predicted\n"), "{shown}");
    assert_eq!(shown.matches("for 2 calls together, as predicted\n").count(), 3, "{shown}");
    let found = ledger(&desk, &["--all"]);
    let compared = ["counted", "certain", "unsure"].map(|key| found["compared"][key].clone());
    assert_eq!(json!(compared), json!([2, 2, 0]));
    assert_eq!(found["entries"][0]["counted"], "the counter rose by 2 for 2 calls together, as predicted");
    assert_eq!(
        found["totals"],
        json!([{"unit": "request", "state": "charged", "calls": 2, "counts_as": 2, "at_least": false}])
    );
    assert!(desk.run(&["show", "--refresh", &report()]).status.success());
    let later = text(&desk.run(&["ledger", "--all"]));
    let rest = ": 2 of 3 calls: the counter rose by 2 for 2 calls together, as predicted. The rest once behaview quota";
    assert!(later.contains(rest), "{later}");
}

#[test]
fn sessions_days_months_and_everything() {
    let desk = Desk::new();
    json(&desk.run(&["list", "--all", &main_file()]));
    json(&desk.run(&["show", "--refresh", &report()]));
    let days = |days: i32, id| {
        let by = i64::from(days) * 86_400_000;
        rewrite(&desk, &format!("UPDATE ledger SET at = at + {by}, settled_at = settled_at + {by} WHERE id = {id}"));
    };
    let count = |time: &[&str]| ledger(&desk, time)["entries"].as_array().unwrap().len();
    let counts = || [&[][..], &["--today"], &["--month"], &["--all"], &["--session"]].map(count);
    // Long ago, and under a clock that was ahead.
    for by in [-20, 20] {
        days(2 * by, 1);
        assert_eq!(counts(), [2, 2, 2, 3, 1], "{by}");
        days(-2 * by, 1);
        assert_eq!(counts(), [3, 3, 3, 3, 1]);
    }
    assert_eq!(ledger(&desk, &["--session"])["entries"][0]["operation"], "private-behaviour");
    for wrong in [&["ledger", "--today", "--all"][..], &["ledger", "--json", "--format", "csv"], &["ledger", "x"]] {
        assert_eq!(desk.run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_forms_for_other_programs_have_the_same_columns_and_compute_nothing() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    json(&desk.run(&["show", "--refresh", &report()]));
    let hostile =
        "UPDATE ledger SET what = '=cmd|''/c calc''!A1' || char(27) || '[2J', outcome = 'a \"b\", c' WHERE id = 1";
    rewrite(&desk, hostile);
    let csv = text(&desk.run(&["ledger", "--all", "--format", "csv"]));
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains(r#","'=cmd|'/c calc'!A1\x1b[2J","#), "{csv}");
    assert!(lines[1].contains(r#","a ""b"", c","#), "{csv}");
    let jsonl = text(&desk.run(&["ledger", "--all", "--format", "jsonl"]));
    let entries: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(entries), ledger(&desk, &["--all"])["entries"]);
    let mut columns: Vec<_> = lines[0].split(',').map(|name| name.trim_matches('"')).collect();
    columns.sort_unstable();
    let mut members: Vec<_> = entries[0].as_object().unwrap().keys().collect();
    members.sort_unstable();
    assert_eq!(columns, members);
    assert!(!(text(&desk.run(&["ledger", "--all"])) + &csv + &jsonl).contains('\u{1b}'));
}

#[test]
fn nothing_is_sent_beyond_the_budget() {
    let desk = Desk::new();
    let none = desk.run(&["list", &main_file(), "--max-cost", "0"]);
    let wanted =
        "nothing was sent: over the budget: it may cost 1 request, and 0 of the 0 that this run may spend is left";
    assert!((none.status.code(), none.stdout.len()) == (Some(11), 0) && errors(&none).contains(wanted), "{none:?}");
    assert_eq!(desk.demo.seen().len(), 0);
    desk.fails(&["list", &main_file(), "--all", "--max-cost", "1"], 11, &["charged: 1"]);
    assert_eq!(desk.paid(), 1);
    assert!(desk.run(&["list", &main_file(), "--max-cost", "0"]).status.success(), "what is held costs nothing");
    let show = desk.run(&["show", &report(), "--refresh", "--max-cost", "0"]);
    assert_eq!((show.status.code(), desk.paid()), (Some(11), 1));
    assert!(desk.run(&["show", &report(), "--refresh", "--max-cost", "1"]).status.success());
}

#[test]
fn the_config_sets_budgets_for_a_run_and_a_day() {
    let desk = Desk::new();
    desk.configure("[budget]\nsession = 1\ndaily = 2\n");
    let list = |desk: &Desk, more: &[&str]| desk.run(&[&["list", "--refresh", &main_file()], more].concat());
    let both = list(&desk, &["--all", "--max-cost", "9"]);
    assert!(both.status.code() == Some(11) && errors(&both).contains("0 of the 1 that this run may spend"), "{both:?}");
    assert!(list(&desk, &[]).status.success());
    let third = list(&desk, &[]);
    assert!(
        third.status.code() == Some(11) && errors(&third).contains("0 of the 2 that may be spent today"),
        "{third:?}"
    );
    assert_eq!(desk.paid(), 2);
    desk.configure("weekly = 3\n");
    assert_eq!(list(&desk, &[]).status.code(), Some(14));
}

/// Killed with its call at the service: nothing tidies up after it.
#[test]
fn a_call_whose_program_is_killed_stays_in_the_ledger_and_counts() {
    let desk = Desk::faulty("behaviour:delay=600000*1");
    let mut child = desk.command(&["show", &report()]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_a_call(&desk, &mut child);
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    let found = ledger(&desk, &["--all"]);
    let entry = ["operation", "state", "settled", "counts_as"].map(|key| found["entries"][0][key].clone());
    assert_eq!(json!(entry), json!(["private-behaviour", "reserved", null, 1]));
    assert_eq!(
        found["totals"],
        json!([{"unit": "request", "state": "reserved", "calls": 1, "counts_as": 1, "at_least": false}])
    );
    assert_eq!(desk.demo.used().user.daily, 1);
    desk.configure("[budget]\ndaily = 1\n");
    assert_eq!(desk.run(&["list", &main_file()]).status.code(), Some(11), "what is reserved counts");
}

fn wait_for_a_call(desk: &Desk, child: &mut Child) {
    let start = Instant::now();
    while desk.demo.seen().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(30) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn what_cannot_be_settled_or_noted_is_logged() {
    let desk = Desk::new();
    json(&desk.run(&["list", &main_file()]));
    let stuck = |what: &str| format!("BEGIN SELECT RAISE(ABORT, '{what} is stuck'); END;");
    meddle(
        &desk,
        &format!(
            "CREATE TRIGGER a BEFORE UPDATE OF state ON ledger {} CREATE TRIGGER b BEFORE INSERT ON counters {}",
            stuck("the ledger"),
            stuck("the look")
        ),
    );
    assert!(desk.run(&["show", "--refresh", &report()]).status.success());
    assert!(desk.run(&["quota"]).status.success());
    let log = desk.home.path().join(".local/state/behaview/log/behaview.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("not settled") && log.contains("the ledger is stuck"), "{log}");
    assert!(log.contains("counters not recorded") && log.contains("the look is stuck"), "{log}");
}
