//! `behaview quota` and `behaview usage`: the service's own counters.

use crate::harness::{CliHarness, errors, json, main_file, squeezed, text};
use behaview::demo::{Options, PeriodAmounts};
use serde_json::json;

#[test]
fn quota_shows_user_and_group_at_no_cost() {
    let cli = CliHarness::with(Options { now: Some(1_795_168_800), ..Options::default() });
    json(&cli.run(&["list", &main_file()]));
    let output = cli.run(&["quota"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(errors(&output), "behaview: nothing was charged\n");
    let shown = squeezed(&text(&output));
    for words in [
        "pool counts holder used allowed left %\n",
        "api requests/day user 1 500 499 0\n",
        "api requests/day group 12,481 30,000 17,519 41\n",
        "graph graphs/month group 21 20 -1 105\n",
        "intelligence searches/month user 12 group's - -\n",
        "\nperiod resets\nminute about ",
        "\nday 00:00 UTC, in ",
        "\nother counters holder used allowed left %\ncases_creation_monthly user 0 20 20 0\n",
        "The group's limits are those of demo_response_team.\n",
        "user: 1 of 10,000 requests this month, ",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    let shown = text(&output);
    let mut lines = shown.lines().filter(|line| !line.contains(" a day, "));
    assert!(lines.all(|line| line.chars().count() <= 80), "{shown}");
    assert_eq!(cli.paid(), 1);
}

#[test]
fn quota_json_has_every_counter() {
    let cli = CliHarness::new();
    let found = json(&cli.run(&["quota", "--json"]));
    let counters = found["counters"].as_array().unwrap();
    let of = |name: &str| counters.iter().find(|counter| counter["name"] == name).unwrap();
    let daily = of("api_requests_daily");
    let got = ["pool", "unit", "period", "reset_assumed"].map(|key| daily[key].clone());
    assert_eq!(json!(got), json!(["api", "request", "daily", false]));
    let user = json!({"allowed": 500, "used": 0, "remaining": 500, "percent_used": 0, "limits": true});
    assert_eq!(daily["user"], user);
    assert_eq!(daily["group"]["inherited_from"], "demo_response_team");
    assert!(daily["resets_at"].as_str().unwrap().ends_with("T00:00:00Z"));
    assert_eq!(of("intelligence_searches_monthly")["user"]["limits"], false);
    assert_eq!(of("collections_creation_monthly")["period"], json!(null));
    assert_eq!(found["unparsed"], json!([]));
}

#[test]
fn absent_limit_is_shown_as_no_limit() {
    let user_limits = PeriodAmounts { minute: 120, hourly: 60_000_000_000, daily: 500, monthly: 10_000 };
    let cli = CliHarness::with(Options { user_limits, ..Options::default() });
    let shown = squeezed(&text(&cli.run(&["quota"])));
    assert!(shown.contains("api requests/hour user 0 no limit - 0\n"), "{shown}");
}

#[test]
fn usage_lists_day_and_endpoint_at_no_cost() {
    let cli = CliHarness::new();
    let empty = cli.run(&["usage"]);
    assert_eq!(squeezed(&text(&empty)), "day endpoint requests\ntotal (in all) 0\n", "{empty:?}");
    let id = json(&cli.run(&["list", "--all", &main_file()]))["sandboxes"][0]["id"].as_str().unwrap().to_owned();
    json(&cli.run(&["show", "--refresh", &id]));
    let output = cli.run(&["usage", "--days", "2"]);
    assert_eq!(errors(&output), "behaview: nothing was charged\n");
    let shown = squeezed(&text(&output));
    assert!(shown.contains(" private_file_behaviours 1\n"), "{shown}");
    assert!(shown.ends_with("total (in all) 3\n") && !shown.contains('█'), "{shown}");
    let found = json(&cli.run(&["usage", "--json"]));
    assert_eq!(found["total"]["private_file_behaviours"], 1);
    assert_eq!(cli.paid(), 3);
}

#[test]
fn usage_is_requested_by_thirty_days() {
    let cli = CliHarness::new();
    for (days, calls) in [("1", 1), ("30", 1), ("31", 2), ("60", 2)] {
        let before = cli.demo.seen().len();
        let found = json(&cli.run(&["usage", "--json", "--days", days]));
        let day = |key: &str| found[key].as_str().unwrap().parse::<jiff::civil::Date>().unwrap();
        let (first, last) = (day("first"), day("last"));
        assert_eq!((last - first).get_days() + 1, days.parse::<i32>().unwrap());
        let asked: Vec<_> = cli.demo.seen().into_iter().skip(before).map(|seen| seen.path).collect();
        assert_eq!(asked.len(), calls, "{asked:?}");
        assert!(asked[0].ends_with(&last.strftime("&end_date=%Y%m%d").to_string()), "{asked:?}");
        let start = first.strftime("?start_date=%Y%m%d&").to_string();
        assert!(asked.last().unwrap().contains(&start) && asked[0].contains("/api_usage?"), "{asked:?}");
    }
    for days in ["0", "61", "x"] {
        assert_eq!(cli.run(&["usage", "--days", days]).status.code(), Some(2));
    }
}

#[test]
fn month_is_summed_stated_and_warned_of() {
    let cli = CliHarness::new();
    for (project, refresh) in [("case 1", ""), ("=a|<b>", "--refresh")] {
        let file = main_file();
        let arguments = ["list", &file, refresh];
        let arguments = if refresh.is_empty() { &arguments[..2] } else { &arguments };
        assert!(cli.command(arguments).env("BEHAVIEW_PROJECT", project).output().unwrap().status.success());
    }
    let by = |what: &str| json(&cli.run(&["quota", "--by", what, "--json"]));
    let sum = |name: &str| json!({"name": name, "unit": "request", "calls": 1, "counts_as": 1, "saved": 0});
    let projects = by("project");
    let sums = projects["sums"].as_array().unwrap();
    assert!(sums.len() == 2 && sums.contains(&sum("case 1")) && sums.contains(&sum("=a|<b>")), "{projects}");
    assert_eq!(
        by("operation")["sums"],
        json!([{"name": "private-behaviours", "unit": "request", "calls": 2, "counts_as": 2, "saved": 0}])
    );
    assert_eq!((&by("file")["sums"][0]["name"], &by("file")["sums"][0]["calls"]), (&json!(main_file()), &json!(2)));
    let shown = squeezed(&text(&cli.run(&["quota", "--by", "user"])));
    assert!(shown.contains("this machine 2 2 0 request") && shown.contains("group: "), "{shown}");
    assert!(shown.contains("The service counts the same for the user."), "{shown}");
    // The service counts a group for its administrators, at an assumed price.
    for (operation, member) in [("v3-group-usage", "daily"), ("v3-group-users", "demo-analyst")] {
        let price = json(&cli.run(&["api", operation, "demo_response_team", "--dry-run", "--json"]));
        assert_eq!(price["calls"][0]["price"]["basis"], "assumed", "{price}");
        let paid = cli.paid();
        let counted = json(&cli.run(&["api", operation, "demo_response_team"]));
        assert!(counted["data"][member] != json!(null) && cli.paid() == paid + 1, "{counted}");
    }
    // A statement asks no service, and no text in it is markup.
    let requests = cli.demo.seen().len();
    let state = |format: &str| text(&cli.run(&["quota", "--statement", format]));
    for (format, words) in [
        ("md", &["# Statement of 20", "| `=a\\x7c<b>` | 1 | 1 | 0 | `request` |", "| `20"][..]),
        ("csv", &["\"by\",\"name\"", "\"project\",\"'=a|<b>\",\"1\",\"1\",\"0\",\"request\"\r\n"]),
        ("html", &["<h1>Statement of 20", "<td>=a|&lt;b&gt;</td>", "default-src 'none'"]),
    ] {
        let stated = state(format);
        assert!(words.iter().all(|word| stated.contains(word)) && !stated.contains("x<b>"), "{stated}");
    }
    assert!(!text(&cli.run(&["quota", "--statement", "md", "--month", "2020-02"])).contains("case"));
    assert_eq!(cli.demo.seen().len(), requests);
    for (percent, code) in [("41", 6), ("200", 0), ("x", 2)] {
        let warned = cli.run(&["quota", "--warn-at", percent]);
        assert_eq!(warned.status.code(), Some(code), "{warned:?}");
        assert_eq!(errors(&warned).contains("% of the group's requests today are used"), code == 6, "{warned:?}");
    }
    assert_eq!(cli.run(&["quota", "--statement", "md", "--month", "now"]).status.code(), Some(2));
}

#[test]
fn failed_quota_and_usage_have_common_exit_codes() {
    for (fault, code) in [("401-wrong", 3), ("429-rate", 7), ("503", 8), ("not-json", 9)] {
        let cli = CliHarness::faulty(fault);
        for command in ["quota", "usage"] {
            let output = cli.run(&[command]);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{fault} {output:?}");
            assert!(!errors(&output).contains(&cli.key));
        }
        assert_eq!(cli.paid(), 0);
    }
}

#[test]
fn login_page_is_reported_alike_by_every_command() {
    let words = "it is a web page: something between here and the service may want a login";
    let main = main_file();
    for arguments in [&["quota"][..], &["usage"], &["api", "v3-user"], &["list", &main], &["doctor", "--online"]] {
        let cli = CliHarness::faulty("portal");
        let output = cli.run(arguments);
        let printed = errors(&output) + &text(&output);
        assert_eq!(output.status.code(), Some(9), "{output:?}");
        assert!(printed.contains(words) && !printed.contains("the words before"), "{arguments:?}: {printed}");
    }
}
