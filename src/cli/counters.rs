//! `behaview quota` and `behaview usage`: the service's own counters. Both calls are free.

use super::*;
use crate::app::spending::counters::{CountersView, KNOWN_HEADING, OTHERS_HEADING, usage_remarks, usage_rows};
use crate::quota::{Balances, Usage as UsageDetails};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

#[derive(Debug, Args)]
#[command(after_help = examples("quota"))]
pub(super) struct QuotaArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl QuotaArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let balances = fetch_balances(&setup(common, Spending::default())?)?;
        let shown = CountersView::new(&balances, crate::clock::now());
        print(self.json, &shown, || counters_text(&shown))
    }
}

pub(super) fn fetch_balances(setup: &Setup) -> Result<Balances> {
    let balances = read_balances(&send(setup, &Request::Quotas, true)?.body)?;
    Ok(balances.with_minute_limit(setup.gateway.minute_limit()?))
}

/// Parses a response to the quota call, fresh or saved.
pub(super) fn read_balances(response: &[u8]) -> Result<Balances, CliError> {
    Balances::parse(response).map_err(|why| FailureKind::Malformed.error(why))
}

fn counters_text(shown: &CountersView<'_>) -> String {
    let others = shown.rows(false).peekable().peek().map(|_| table(OTHERS_HEADING, shown.rows(false)));
    let others = others.map(|others| format!("\n{others}")).unwrap_or_default();
    let known = table(KNOWN_HEADING, shown.rows(true)) + "\n" + &table(["period", "resets"], shown.resets());
    with_remarks(known + &others, shown.remarks())
}

fn with_remarks(table: String, remarks: impl Iterator<Item = String>) -> String {
    table + &remarks.map(|remark| remark + "\n").collect::<String>()
}

const DAYS_PER_CALL: u8 = 30;

#[derive(Debug, Args)]
#[command(after_help = examples("usage"))]
pub(super) struct UsageArgs {
    /// Days up to today, which began at 00:00 UTC; the service stores 60
    #[arg(long, value_name = "N", default_value_t = DAYS_PER_CALL, value_parser = clap::value_parser!(u8).range(1..=60))]
    days: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct UsageOutput<'a> {
    first: Date,
    last: Date,
    #[serde(flatten)]
    usage: &'a UsageDetails,
}

impl UsageArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let setup = setup(common, Spending::default())?;
        let last = setup.gateway.now().to_zoned(TimeZone::UTC).date();
        let before = |days: u8| last.saturating_sub(i64::from(days).days());
        let runtime = runtime()?;
        let mut usage = UsageDetails::default();
        // The latest days come first.
        for after in (0..self.days).step_by(DAYS_PER_CALL.into()) {
            let first = before(self.days.min(after + DAYS_PER_CALL) - 1);
            let request = Request::Usage { first, last: before(after) };
            match runtime.block_on(fetch(&setup, &request, true)) {
                Ok(got) => {
                    let part = UsageDetails::parse(&got.body).map_err(|why| FailureKind::Malformed.error(why))?;
                    usage = usage.plus(part);
                }
                Err(error) => return print_cost(&setup).and(Err(error.into())),
            }
        }
        print_cost(&setup)?;
        let shown = UsageOutput { first: before(self.days - 1), last, usage: &usage };
        print(self.json, &shown, || usage_text(&usage))
    }
}

fn usage_text(usage: &UsageDetails) -> String {
    let rows = usage_rows(usage).into_iter().flat_map(|(day, counts)| {
        counts.into_iter().map(move |(endpoint, count)| [day.clone(), endpoint, thousands(count)])
    });
    with_remarks(table(["day", "endpoint", ">requests"], rows), usage_remarks(usage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_odd_is_named_and_cannot_touch_a_terminal() {
        let side =
            |allowed: u64, used: u64, from: &str| json!({"allowed": allowed, "used": used, "inherited_from": from});
        let balances = Balances::read(&json!({"data": {
            "api_requests_daily": {"user": side(10, 13, "red"), "group": side(60_000_000_000, 1, "\u{1b}[2Jgroup")},
            "intelligence_searches_monthly": {"user": side(0, 12, "red"), "group": side(1000, 12, "red")},
            "private_scans_monthly": {"user": {"allowed": -1, "used": 0}},
            "new\u{202e}counter": {"user": {"allowed": 3, "used": 1}},
        }}));
        let now = "2026-11-20T09:38:50Z".parse().unwrap();
        let view = CountersView::new(&balances, now);
        let shown = counters_text(&view);
        for words in [
            "13       10    -3  130",
            "day     00:00 UTC, in 14 h 21 min",
            r"The group's limits are those of \x1b[2Jgroup.",
            r"new\u{202e}counter",
            "unparsed: private_scans_monthly/user: not two whole numbers",
        ] {
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(squeezed(&shown).contains(&squeezed(words)), "{words}\n{shown}");
        }
        assert!(!shown.contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn days_have_endpoints_and_sums() {
        let usage = UsageDetails::read(&json!({"data": {
            "daily": {"2026-11-18": {"files": 1}, "2026-11-19": {"files": 20, "\u{1b}[2J": 40}},
            "total": {"files": 22, "\u{1b}[2J": 40},
        }}));
        let wanted = "day         endpoint  requests\n\
             2026-11-18  files            1\n\
             2026-11-18  (in all)         1\n\
             2026-11-19  \\x1b[2J         40\n\
             2026-11-19  files           20\n\
             2026-11-19  (in all)        60\n\
             total       \\x1b[2J         40\n\
             total       files           21\n\
             total       (in all)        61\n\
             unparsed: files: the days add up to 21, the service's total is 22\n";
        assert_eq!(usage_text(&usage), wanted);
    }
}
