//! `behaview usage`: what was used per day and endpoint, which costs nothing to ask for.

use super::asking::{get, runtime, say_cost};
use super::output::{print_json, print_text};
use super::table::Table;
use super::{CliError, Common, FailureKind, Setup, setup};
use crate::quota;
use crate::request::Request;
use crate::text::{Untrusted, thousands};
use clap::Args;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::IsTerminal;

/// Days that one call brings at most.
const A_CALL: u8 = 30;

/// Columns of the longest bar.
const BAR: u64 = 30;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  behaview usage --days 7")]
pub(super) struct Usage {
    /// Days up to today, which began at 00:00 UTC; the service keeps 60
    #[arg(long, value_name = "N", default_value_t = A_CALL, value_parser = clap::value_parser!(u8).range(1..=60))]
    days: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `usage --json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    first: Date,
    last: Date,
    #[serde(flatten)]
    usage: &'a quota::Usage,
}

impl Usage {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let setup = setup(common)?;
        let today = setup.gate.now().to_zoned(TimeZone::UTC).date();
        let usage = ask(&setup, self.days, today)?;
        if self.json {
            return print_json(&Shown { first: before(today, self.days - 1), last: today, usage: &usage });
        }
        print_text(&text(&usage, std::io::stdout().is_terminal()))
    }
}

/// Asks for so many days, in as many calls as that takes.
fn ask(setup: &Setup, days: u8, today: Date) -> anyhow::Result<quota::Usage> {
    let (runtime, mut usage) = (runtime()?, quota::Usage::default());
    for (first, last) in spans(days, today) {
        let got = runtime.block_on(get(setup, &Request::Usage { first, last }, true))?;
        usage = usage.plus(read(&got.body)?);
    }
    say_cost(&setup.gate)?;
    Ok(usage)
}

fn read(answer: &[u8]) -> Result<quota::Usage, CliError> {
    let usage = quota::Usage::parse(answer).ok();
    // Days without calls are left out, but the two parts are there.
    let usage = usage.filter(|usage| usage.set_aside.len() < 2 || !usage.daily.is_empty() || !usage.total.is_empty());
    usage.ok_or_else(|| FailureKind::BadAnswer.error("the answer is no usage details"))
}

/// First and last days of the calls, the latest call first.
fn spans(days: u8, today: Date) -> Vec<(Date, Date)> {
    let starts = (0..days).step_by(A_CALL.into());
    starts.map(|after| (before(today, days.min(after + A_CALL) - 1), before(today, after))).collect()
}

fn before(day: Date, days: u8) -> Date {
    day.saturating_sub(i64::from(days).days())
}

fn text(usage: &quota::Usage, with_bars: bool) -> String {
    let mut table = Table::new(&["day", "endpoint", "requests", ""], &[2]);
    let most = usage.by_day().map(|(_, count)| count).max().unwrap_or(0);
    for (day, endpoints) in &usage.daily {
        let all = usage.on(*day);
        let bar = if with_bars { bar(all, most) } else { String::new() };
        let named = endpoints.iter().map(|(endpoint, count)| (endpoint.as_str(), *count)).collect();
        rows(&mut table, &day.to_string(), &named, all, bar);
    }
    let sums = usage.by_endpoint();
    let all = sums.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    rows(&mut table, "total", &sums, all, String::new());
    let mut text = table.to_string();
    for (endpoint, total, sum) in usage.disagreements() {
        let endpoint = Untrusted::from(endpoint).visible();
        text += &format!("odd: {endpoint}: the days add up to {sum}, the service's total is {total}\n");
    }
    for quota::SetAside { name, why } in &usage.set_aside {
        text += &format!("odd: {}: {why}\n", Untrusted::from(name.as_str()).visible());
    }
    text
}

/// A day's endpoints, and then all of them.
fn rows(table: &mut Table, day: &str, endpoints: &BTreeMap<&str, u64>, all: u64, bar: String) {
    for (endpoint, count) in endpoints {
        let endpoint = Untrusted::from(*endpoint).visible_cut(60).to_string();
        table.row([day.to_owned(), endpoint, thousands(*count)]);
    }
    table.row([day.to_owned(), "(in all)".to_owned(), thousands(all), bar]);
}

/// A bar as long as the day's share of the busiest day.
fn bar(count: u64, most: u64) -> String {
    let long = (u128::from(count) * u128::from(BAR)).div_ceil(u128::from(most.max(1)));
    "█".repeat(usize::try_from(long).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use serde_json::json;

    #[test]
    fn no_call_asks_for_more_than_thirty_days_and_together_they_leave_none_out() {
        let today = date(2026, 3, 5);
        assert_eq!(spans(1, today), [(today, today)]);
        assert_eq!(spans(30, today), [(date(2026, 2, 4), today)]);
        assert_eq!(spans(31, today), [(date(2026, 2, 4), today), (date(2026, 2, 3), date(2026, 2, 3))]);
        assert_eq!(spans(60, today), [(date(2026, 2, 4), today), (date(2026, 1, 5), date(2026, 2, 3))]);
    }

    #[test]
    fn days_have_endpoints_sums_and_bars() {
        let usage = quota::Usage::read(&json!({"data": {
            "daily": {"2026-11-18": {"files": 1}, "2026-11-19": {"files": 20, "\u{1b}[2J": 40}},
            "total": {"files": 22, "\u{1b}[2J": 40},
        }}));
        let wanted = format!(
            "day         endpoint  requests\n\
             2026-11-18  files            1\n\
             2026-11-18  (in all)         1  █\n\
             2026-11-19  \\x1b[2J         40\n\
             2026-11-19  files           20\n\
             2026-11-19  (in all)        60  {}\n\
             total       \\x1b[2J         40\n\
             total       files           21\n\
             total       (in all)        61\n\
             odd: files: the days add up to 21, the service's total is 22\n",
            "█".repeat(30)
        );
        assert_eq!(text(&usage, true), wanted);
        assert!(!text(&usage, false).contains('█'));
    }
}
