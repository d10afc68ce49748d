//! `behaview cost`: every row of its table, plans, balances, entitlements, mistakes.

use crate::harness::{CliHarness, behaview, errors, json, run, squeezed, text};
use behaview::quota::{Kind, RULES};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

/// Runs `behaview cost` with a line of arguments that hold no blanks.
fn cost(line: &str) -> std::process::Output {
    let arguments: Vec<_> = std::iter::once("cost").chain(line.split_whitespace()).collect();
    run(&arguments, "")
}

fn price(line: &str) -> Value {
    json(&cost(&format!("{line} --json")))
}

#[test]
fn every_row_of_the_table_has_its_price() {
    for row in include_str!("prices.tsv").lines() {
        let [line, rule, pool, units, basis] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let units: Value = serde_json::from_str(units).unwrap();
        let units = if units.is_number() { json!({"min": units, "max": units}) } else { units };
        let found = price(line);
        let wanted = json!([line.split(' ').next(), rule, pool, units, basis, true]);
        let got = ["operation", "rule", "pool", "units", "basis", "allowed"].map(|key| found[key].clone());
        assert_eq!(json!(got), wanted, "{line}");
    }
}

#[test]
fn price_json_has_exactly_these_members() {
    let found = price("v2-file-report --hashes 2");
    let why = "Rule 8.2.1: A v2 file report for a list of hashes takes one request for each hash. It takes 2 requests \
               from the API quota of user and group (8.1.1). This price is documented.";
    let wanted = json!({
        "operation": "v2-file-report", "rule": "8.2.1", "pool": "api", "unit": "request", "units": {"min": 2, "max": 2},
        "holders": ["user", "group"], "basis": "documented", "allowed": true, "explanation": why,
    });
    assert_eq!(found, wanted);
    assert_eq!(price("v3-quotas")["holders"], json!([]));
}

#[test]
fn every_operation_is_priced_by_its_name() {
    for kind in Kind::ALL {
        let found = price(kind.name());
        assert_eq!((&found["operation"], &found["allowed"]), (&json!(kind.name()), &json!(true)));
    }
}

#[test]
fn every_rule_is_listed() {
    let rows = price("rules");
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), RULES.len());
    for (row, rule) in rows.iter().zip(&RULES) {
        let mut members: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        assert_eq!(members, ["basis", "number", "operations", "pool", "text"]);
        assert_eq!((&row["number"], &row["text"]), (&json!(rule.number), &json!(rule.text)));
    }
    assert_eq!(rows[3]["operations"], json!(["v2-file-report"]));
    let shown = text(&cost("rules"));
    assert!(shown.starts_with("8.1.1  A group shares its quota"), "{shown}");
    assert!(shown.contains("private scan quota · documented · private-scan"), "{shown}");
}

#[test]
fn price_text_names_rule_pool_owners_and_basis() {
    let shown = squeezed(&text(&cost("v3-analysis")));
    let wanted = "Fetch an analysis by its identifier: 1 call\n\
                  price 0 or 1 request\n\
                  Rule 8.3.5: Asking for an analysis by an invalid identifier takes nothing.\n\
                  It takes 0 or 1 request from the API quota of user and group (8.1.1).\n\
                  Nothing if the identifier is invalid: a 400 or 404 with the service's own code.\n\
                  This price is documented.\n";
    assert_eq!(shown, wanted);
    let shown = squeezed(&text(&cost("v2-file-submissions")));
    assert!(shown.contains("It takes 1 request for each submission that is returned from the API quota"), "{shown}");
    let shown = squeezed(&text(&cost("v3-feed")));
    assert!(shown.contains("price 0\n") && shown.contains("It takes no quota.\n"), "{shown}");
    let shown = squeezed(&text(&cost("private-behaviour")));
    assert!(shown.contains("\nSection 8 of the service's consumption rules is silent on private endpoints"), "{shown}");
    assert!(shown.contains("This price is assumed, not documented.\n"), "{shown}");
}

#[test]
fn operation_without_entitlement_is_refused() {
    for (line, reason) in [
        ("v3-search --premium-api no --premium-intelligence no", "neither premium API nor premium intelligence"),
        ("web-search --premium-intelligence no", "no premium intelligence"),
        ("private-behaviours --private-scanning no", "no private scanning licence"),
    ] {
        let output = cost(line);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        assert!(text(&output).contains(&format!(": refused: {reason}\n")), "{output:?}");
        assert_eq!(errors(&output), "behaview: it is refused\n");
        let output = cost(&format!("{line} --json"));
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&found["allowed"], &found["units"]), (&json!(false), &json!({"min": 0, "max": 0})));
        assert!(errors(&output).ends_with(&format!("refused: {reason}\n")), "{output:?}");
    }
}

#[test]
fn hashes_from_file_or_stdin_include_repeats() {
    let (one, two) = ("ab".repeat(32), "cd".repeat(16));
    let list = format!("{one}\n{two}, {one}\n");
    let output = run(&["cost", "v2-file-report", "--hashes-from", "-", "--json"], &list);
    assert_eq!(json(&output)["units"]["max"], 3);
    assert_eq!(errors(&output), "behaview: 1 of 3 hashes are repeated; each is counted\n");
    let (_folder, path) = file(&list);
    let listed = run(&["cost", "v2-file-report", "--hashes-from", path.to_str().unwrap(), "--json"], "");
    assert_eq!(json(&listed)["units"]["max"], 3);
    let item = format!("v2-file-report --hashes-from '{}'", path.display());
    assert_eq!(json(&run(&["cost", "plan", &item, "--json"], ""))["totals"][0]["min"], 3);
}

#[test]
fn lines_without_a_hash_are_named() {
    let list = format!("{}\nnonsense\n\n{}\n", "ab".repeat(32), "ab".repeat(31));
    let output = run(&["cost", "v2-file-report", "--hashes-from", "-"], &list);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
    let words = "behaview: -: no MD5, SHA-1 or SHA-256: line 2 (nonsense), line 4 (";
    assert!(errors(&output).starts_with(words), "{output:?}");
}

#[test]
fn a_plan_adds_its_items_up() {
    let items = ["private-behaviours --calls 3", "v2-file-report --hashes 600", "livehunt-rules"];
    let output = run(&["cost", "plan", items[0], items[1], items[2], "--json"], "");
    let found = json(&output);
    let totals = json!([{"unit": "request", "min": 603, "max": 603}, {"unit": "rule", "min": 1, "max": 1}]);
    assert_eq!((&found["totals"], &found["fit"]), (&totals, &json!("unknown")));
    let rules: Vec<_> = found["prices"].as_array().unwrap().iter().map(|price| price["rule"].clone()).collect();
    assert_eq!(rules, ["8.1.2", "8.2.1", "8.5.1"]);
    let shown = squeezed(&text(&run(&["cost", "plan", items[0], items[1], items[2]], "")));
    assert!(shown.contains("v2-file-report 600 hashes 600 requests 8.2.1 api user and group documented\n"), "{shown}");
    assert!(shown.ends_with("\n3 operations: 603 requests and 1 rule\n"), "{shown}");
}

#[test]
fn entitlements_hold_for_a_whole_plan() {
    let plan = ["cost", "plan", "v3-search", "v3-search --calls 2", "--premium-api", "yes", "--json"];
    let found = json(&run(&plan, ""));
    assert_eq!((&found["prices"][0]["rule"], &found["prices"][1]["rule"]), (&json!("8.3.2"), &json!("8.3.2")));
    let refused = run(&["cost", "plan", "v3-file", "private-scan", "--private-scanning", "no"], "");
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(text(&refused).ends_with("refused: no private scanning licence\n"), "{refused:?}");
}

/// A file with this text, in a folder that ends with the test.
fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a file");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// A saved quota answer: so much left today to the user and to the group, and so much a minute.
fn saved(user: u64, group: u64, minute: Option<u64>) -> (TempDir, PathBuf) {
    let side = |left: u64| json!({"allowed": left + 402, "used": 402});
    let mut data = json!({"api_requests_daily": {"user": side(user), "group": side(group)}});
    if let Some(allowed) = minute {
        data["api_requests_minute"] = json!({"user": {"allowed": allowed, "used": 0}});
    }
    file(&json!({"data": data}).to_string())
}

fn with_balances(arguments: &[&str], saved: &(TempDir, PathBuf)) -> std::process::Output {
    let path = saved.1.to_str().unwrap();
    run(&[&["cost"], arguments, &["--balances-from", path]].concat(), "")
}

#[test]
fn exit_code_shows_fit_in_saved_balances() {
    let report = ["v2-file-report", "--hashes", "600"];
    for (balances, code, words) in [
        (saved(600, 9_000, None), 0, "600 hashes: fits; 0 requests left to the user today\n"),
        (saved(598, 9_000, None), 10, "600 hashes: 2 requests more than are left to the user today; complete after "),
        (saved(9_000, 599, None), 10, "600 hashes: 1 request more than are left to the group today; "),
        (saved(9_000, 9_000, Some(60)), 0, "600 hashes: fits at 60 a minute: about 10 minutes\n"),
    ] {
        let output = with_balances(&report, &balances);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(text(&output).contains(words), "{output:?}");
        let told = if code == 0 { "" } else { "behaview: it does not fit now, or not for certain\n" };
        assert_eq!(errors(&output), told);
    }
    let limited = [&report[..], &["--set", "limits.per_minute=4"]].concat();
    assert!(text(&with_balances(&limited, &saved(600, 9_000, None))).contains("fits at 4 a minute: about 150 minutes"));
}

#[test]
fn remaining_quota_is_shown_for_user_and_group() {
    let shown = squeezed(&text(&with_balances(&["v2-file-report", "--hashes", "600"], &saved(598, 9_000, None))));
    assert!(shown.contains("user today request 598 1,000 0 2 short "), "{shown}");
    assert!(shown.contains("group today request 9,000 9,402 8,400 fits "), "{shown}");
}

#[test]
fn shortage_of_a_range_is_a_range() {
    let output = with_balances(&["plan", "v2-file-report --hashes 900", "v3-analysis"], &saved(500, 9_000, None));
    let shown = squeezed(&text(&output));
    assert!(shown.contains("400 or 401 short"), "{shown}");
    assert!(shown.contains("400 or 401 requests more than are left to the user today; complete after "), "{shown}");
}

#[test]
fn plan_json_has_its_limits() {
    let balances = saved(598, 9_000, None);
    let output = with_balances(&["plan", "v3-file", "v2-file-report --hashes 600", "--json"], &balances);
    assert_eq!(output.status.code(), Some(10), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["fits"], &found["fit"]), (&json!(false), &json!("short")));
    let limit = &found["limits"][0];
    let got = ["holder", "period", "remaining", "at_worst", "fit"].map(|key| limit[key].clone());
    assert_eq!(json!(got), json!(["user", "daily", 598, 0, "short"]));
    assert_eq!(limit["short"], json!({"min": 3, "max": 3}));
    assert!(errors(&output).contains("3 requests more than are left to the user today"), "{output:?}");
    // A single operation keeps its form; the exit code still tells.
    let output = with_balances(&["v2-file-report", "--hashes", "600", "--json"], &balances);
    assert_eq!(output.status.code(), Some(10), "{output:?}");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap().as_object().unwrap().len(), 9);
}

#[test]
fn uncertain_fit_has_the_exit_code_of_no_fit() {
    let balances = saved(598, 9_000, None);
    for (operation, words) in [
        ("v2-file-submissions", "fits if it takes no more than the 598 requests left to the user today"),
        ("retrohunt", "the remaining jobs are not known"),
    ] {
        let output = with_balances(&[operation], &balances);
        assert_eq!(output.status.code(), Some(10), "{output:?}");
        assert!(text(&output).contains(words), "{output:?}");
    }
    let free = with_balances(&["v3-feed"], &balances);
    assert!(free.status.success() && text(&free).ends_with(": free\n"), "{free:?}");
}

#[test]
fn balances_imply_entitlements_unless_overridden() {
    let zero = r#"{"data":{"private_scans_monthly":{"user":{"allowed":0,"used":0}},"api_requests_daily":{"user":{"allowed":9,"used":0}}}}"#;
    let no_licence = file(zero);
    assert_eq!(with_balances(&["private-behaviours"], &no_licence).status.code(), Some(4));
    let by_hand = with_balances(&["private-behaviours", "--private-scanning", "yes"], &no_licence);
    assert!(by_hand.status.success(), "{by_hand:?}");
    // No counter has a group's side: the user alone is charged.
    assert!(squeezed(&text(&by_hand)).contains("from the API quota of user (8.1.1)"), "{by_hand:?}");
}

#[test]
fn invalid_saved_balances_are_refused() {
    for text in ["<html>", "{}", "[]", r#"{"data":{}}"#, r#"{"error":{"code":"x","data":1}}"#] {
        let output = with_balances(&["v3-file"], &file(text));
        assert_eq!(output.status.code(), Some(9), "{text} {output:?}");
        assert!(output.stdout.is_empty());
    }
    let output = cost("v3-file --balances-from /nonexistent/file");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn balances_are_fetched_only_on_demand_for_free() {
    let cli = CliHarness::new();
    assert!(cli.run(&["cost", "v2-file-report", "--hashes", "600"]).status.success());
    assert_eq!(cli.demo.seen().len(), 0);
    let fits = cli.run(&["cost", "v2-file-report", "--hashes", "240", "--balances"]);
    assert!(fits.status.success(), "{fits:?}");
    assert!(text(&fits).contains("240 hashes: fits; 0 requests left to the user this hour"), "{fits:?}");
    assert_eq!(errors(&fits), "behaview: nothing was charged\n");
    let short = cli.fails(&["cost", "v2-file-report", "--hashes", "502", "--balances", "--json"], 10, &[]);
    // In the last hour before midnight UTC nothing is short any longer: the next hour is a new day.
    assert!(errors(&short).contains("502 hashes: 262 requests more than are left to the user this hour"), "{short:?}");
    assert!(!errors(&short).contains("[log"), "it is an answer, and the log says no more of it: {short:?}");
    assert_eq!((cli.demo.seen().len(), cli.paid()), (2, 0));
}

#[test]
fn config_entitlements_are_overridden_by_options() {
    let cli = CliHarness::new();
    cli.configure("[entitlements]\npremium_api = true\nprivate_scanning = false\n");
    cli.fails(&["list", &crate::harness::main_file()], 4, &["nothing was sent: no private scanning licence"]);
    assert_eq!(cli.demo.seen().len(), 0);
    let search = |more: &[&str]| json(&cli.run(&[&["cost", "v3-search", "--json"], more].concat()));
    assert_eq!(search(&[])["rule"], "8.3.2");
    assert_eq!(search(&["--premium-api", "no"])["rule"], "8.3.1");
    assert!(cli.run(&["api", "v3-user"]).status.success());
    assert!(search(&[])["explanation"].as_str().unwrap().contains("The user object was read 20"));
    assert!(text(&cli.run(&["config", "show"])).contains("private scanning: not known. The user object was read 20"));
    // The service says that there is a licence; the hand settles it.
    assert_eq!(cli.run(&["cost", "private-behaviour", "--balances"]).status.code(), Some(4));
}

#[test]
fn invalid_arguments_are_named() {
    for (arguments, words) in [
        (
            &["v3-file", "--hashes", "3", "--known", "yes"][..],
            "v3-file does not take --hashes; it takes --calls N, --after-new-upload",
        ),
        (&["private-behaviour", "--after-new-upload"], "does not take --after-new-upload; it takes --calls N"),
        (&["v3-fil"], "a similar value exists: 'v3-file'"),
        (&["v3-file", "--calls", "-1"], "unexpected argument '-1'"),
        (&["v3-file", "--calls", "18446744073709551616"], "18446744073709551616 is more than 1,000,000,000"),
        (&["v3-file", "--calls", "1000000001"], "'--calls <N>': 1000000001 is more than 1,000,000,000"),
        (&["plan", "v3-file", "v3-file --calls 18446744073709551615"], "item 2 of the plan, \"v3-file --calls 184"),
        (&["v2-file-submissions", "--submissions", "4,x"], "x is not a number"),
        (
            &["v2-file-scan", "--known", "maybe"],
            "invalid value 'maybe' for '--known <yes|no>': maybe is neither yes nor no",
        ),
        (&["v2-file-report", "--hashes", "1", "--hashes-from", "-"], "this number is given twice"),
        (&["v3-file", "--balances", "--balances-from", "-"], "cannot be used with"),
        (&["v2-file-report", "--hashes-from", "-", "--balances-from", "-"], "read once only"),
        (&["v2-file-report", "--hashes-from", "/nonexistent/file"], "/nonexistent/file cannot be opened"),
        (&["v3-file", "v3-file"], "behaview cost plan"),
        (&["v3-file", "3", "--calls", "4"], "this number is given twice"),
        (&["v3-analysis", "3"], "v3-analysis does not take 3; it takes --exists yes|no"),
        (&["plan"], "a plan has items"),
        (&["plan", "--calls", "3", "v3-file"], "--calls: in a plan the numbers belong into its items"),
        (&["plan", "v3-file", "v3-fil"], "item 2 of the plan, \"v3-fil\": unknown operation"),
        (&["plan", "v3-file --jobs 1"], "item 1 of the plan, \"v3-file --jobs 1\": v3-file does not take --jobs"),
        (&["plan", "v3-file --json"], "v3-file does not take --json"),
        (&["plan", "v2-file-report --hashes-from 'a"], "a quotation mark is not closed"),
        (&["rules", "--calls", "1"], "rules takes --json"),
    ] {
        let output = run(&[&["cost"], arguments].concat(), "");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?} {output:?}");
        assert!(errors(&output).contains(words), "{arguments:?} {output:?}");
    }
}

#[test]
fn operation_arguments_equal_those_in_a_plan() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("h.txt"), "ab".repeat(32)).unwrap();
    let cost = |words: Vec<&str>| {
        let output = behaview(home.path()).args(["cost"]).args(words).arg("--json").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        json(&output)
    };
    for (bare, whole) in [
        ("v2-file-report 1,600", "v2-file-report --hashes 1600"),
        ("v2-file-report --hashes 1,600", "v2-file-report --hashes 1600"),
        ("v3-file --calls=3", "v3-file --calls 3"),
        ("v3-file 3 --after-new-upload", "v3-file --calls 3 --after-new-upload"),
        ("graph-public 2 --calls 7", "graph-public --graphs 2 --calls 7"),
        ("private-behaviours 3", "private-behaviours --calls 3"),
        ("v2-file-submissions 4,6", "v2-file-submissions --submissions 4,6"),
        ("livehunt-rules 3 inactive", "livehunt-rules --rules 3 --active no"),
        ("v2-file-report @~/h.txt", "v2-file-report --hashes 1"),
        ("v2-file-report --hashes-from ~/h.txt --after-new-upload", "v2-file-report 1 --after-new-upload"),
    ] {
        assert_eq!(cost(vec!["plan", bare]), cost(vec!["plan", whole]), "{bare}");
        assert_eq!(cost(bare.split(' ').collect()), cost(whole.split(' ').collect()), "{bare}");
    }
}

#[test]
fn per_item_price_names_the_option_to_fix_it() {
    let shown = squeezed(&text(&cost("graph-public 7")));
    assert!(shown.starts_with("Create public graphs: 7 graphs\nprice 1 request per "));
    assert!(shown.contains("\nexactly graph-public with --calls N: Calls: each page, pivot"), "{shown}");
    assert!(
        squeezed(&text(&cost("v2-file-submissions")))
            .contains("\nexactly v2-file-submissions with --submissions N,...: ")
    );
    assert!(!text(&cost("graph-public 7 --calls 2")).contains("exactly"));
    // In a plan with the same words, once for each operation.
    let plan = squeezed(&text(&run(&["cost", "plan", "graph-public 3", "graph-public 2", "v3-feed"], "")));
    assert_eq!(plan.matches("\nexactly graph-public with --calls N: Calls: each page, pivot").count(), 1, "{plan}");
    assert!(plan.contains(": 0 or more requests"), "{plan}");
}
