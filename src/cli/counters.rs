//! `behaview quota` and `behaview usage`: the service's own counters. Both calls are free.

use super::output::{Table, print_json, print_text};
use super::query::{get, runtime, say_cost, send};
use super::{CliError, Common, FailureKind, Setup, setup};
use crate::quota::{
    Balance, Balances, Counter, Holder, MINUTE_LIMIT, Period, Pool, SetAside, Unit, Usage as UsageDetails,
};
use crate::request::Request;
use crate::text::{Untrusted, thousands};
use clap::Args;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  behaview quota --json")]
pub(super) struct QuotaArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The output of `quota --json`.
#[derive(Serialize)]
struct QuotaOutput<'a> {
    counters: Vec<CounterOutput<'a>>,
    /// Parts of the response that could not be parsed.
    odd: &'a [SetAside],
}

#[derive(Serialize)]
struct CounterOutput<'a> {
    name: &'a str,
    /// The next five fields are `None` for an unknown counter.
    pool: Option<Pool>,
    unit: Option<Unit>,
    period: Option<Period>,
    resets_at: Option<Timestamp>,
    reset_is_assumed: Option<bool>,
    user: Option<SideOutput<'a>>,
    group: Option<SideOutput<'a>>,
}

#[derive(Serialize)]
struct SideOutput<'a> {
    #[serde(flatten)]
    balance: &'a Balance,
    remaining: u64,
    percent_used: Option<u64>,
    /// Whether it limits anything: a user's zero does not if the group has an allowance.
    limits: bool,
}

impl QuotaArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let balances = ask_balances(&setup(common)?)?;
        let (counters, now) = (sorted(&balances), crate::clock::now());
        if self.json {
            let counters = counters.into_iter().map(|counter| counter_output(counter, now)).collect();
            return print_json(&QuotaOutput { counters, odd: balances.set_aside() });
        }
        print_text(&quota_text(&balances, &counters, now))
    }
}

/// Requests the counters from the service.
pub(super) fn ask_balances(setup: &Setup) -> anyhow::Result<Balances> {
    let balances = read_balances(&send(setup, &Request::Quotas, true)?.body)?;
    Ok(balances.with_minute_limit(setup.gateway.minute_limit()?))
}

/// Parses a response to the quota call, fresh or saved.
pub(super) fn read_balances(answer: &[u8]) -> Result<Balances, CliError> {
    let balances = Balances::parse(answer).ok().filter(|read| !read.counters().is_empty());
    balances.ok_or_else(|| FailureKind::BadAnswer.error("that is no answer to the quota call"))
}

/// Sorts the counters: those with a known meaning come first, by unit and period.
fn sorted(balances: &Balances) -> Vec<&Counter> {
    let mut counters: Vec<_> = balances.counters().iter().collect();
    counters.sort_by_key(|counter| (counter.meaning.is_none(), counter.meaning));
    counters
}

fn counter_output(counter: &Counter, now: Timestamp) -> CounterOutput<'_> {
    let side = |holder: Holder| {
        let balance = counter.side(holder)?;
        let limits = counter.limit(holder).is_some();
        Some(SideOutput { balance, remaining: balance.remaining(), percent_used: balance.percent_used(), limits })
    };
    let (unit, period) = counter.meaning.unzip();
    CounterOutput {
        name: &counter.name,
        pool: unit.map(Unit::pool),
        unit,
        period,
        resets_at: period.map(|period| period.next_reset(now)),
        reset_is_assumed: period.map(Period::reset_is_assumed),
        user: side(Holder::User),
        group: side(Holder::Group),
    }
}

fn quota_text(balances: &Balances, counters: &[&Counter], now: Timestamp) -> String {
    let heading = ["pool", "counts", "period", "whose", "used", "allowed", "left", "used %", "resets", "remarks"];
    let mut table = Table::new(&heading, &[4, 5, 6, 7]);
    for counter in counters {
        for holder in [Holder::User, Holder::Group] {
            if let Some(balance) = counter.side(holder) {
                table.row(cells(counter, holder, balance, now));
            }
        }
    }
    let mut text = table.to_string();
    if !balances.has(Holder::Group) {
        text += "\nThe service shows no group: only the user is charged.\n";
    }
    for SetAside { name, why } in balances.set_aside() {
        text += &format!("\nodd: {}: {why}", Untrusted::from(name.as_str()).visible());
    }
    if balances.set_aside().is_empty() { text } else { text + "\n" }
}

fn cells(counter: &Counter, holder: Holder, balance: &Balance, now: Timestamp) -> Vec<String> {
    let (pool, unit, period, resets) = match counter.meaning {
        Some((unit, period)) => (unit.pool().name(), unit.plural(), period.noun(), resets(period, now)),
        None => ("other", Untrusted::from(counter.name.as_str()).visible_cut(40).to_string(), "", String::new()),
    };
    let percent = balance.percent_used().map_or_else(|| "-".to_owned(), |percent| format!("{percent} %"));
    let mut cells = vec![pool.to_owned(), unit, period.to_owned(), holder.name().to_owned()];
    cells.extend([balance.used, balance.allowed, balance.remaining()].map(thousands));
    cells.extend([percent, resets, remarks(counter, holder, balance)]);
    cells
}

fn remarks(counter: &Counter, holder: Holder, balance: &Balance) -> String {
    let mut remarks = Vec::new();
    if counter.name == MINUTE_LIMIT {
        remarks.push("as set, or as a refusal taught".to_owned());
    }
    if counter.limit(holder).is_none() {
        remarks.push("draws on the group's".to_owned());
    } else if balance.excess() > 0 {
        remarks.push(format!("{} more than allowed", thousands(balance.excess())));
    }
    if balance.is_practically_unlimited() {
        remarks.push("no limit in practice".to_owned());
    }
    if let Some(group) = &balance.inherited_from {
        remarks.push(format!("from {}", Untrusted::from(group.as_str()).visible_cut(60)));
    }
    remarks.join(", ")
}

/// The reset as text: "00:00 UTC, in 14 h 21 min".
fn resets(period: Period, now: Timestamp) -> String {
    let about = if period.reset_is_assumed() { "about " } else { "" };
    format!("{about}{}, in {}", period.reset_words(now), length(period.until_reset(now)))
}

/// A duration in its two largest units.
fn length(time: SignedDuration) -> String {
    let (days, hours, minutes) = (time.as_hours() / 24, time.as_hours() % 24, time.as_mins() % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{} s", time.as_secs()),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// Maximum number of days per call.
const A_CALL: u8 = 30;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  behaview usage --days 7")]
pub(super) struct UsageArgs {
    /// Days up to today, which began at 00:00 UTC; the service keeps 60
    #[arg(long, value_name = "N", default_value_t = A_CALL, value_parser = clap::value_parser!(u8).range(1..=60))]
    days: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The output of `usage --json`.
#[derive(Serialize)]
struct UsageOutput<'a> {
    first: Date,
    last: Date,
    #[serde(flatten)]
    usage: &'a UsageDetails,
}

impl UsageArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let setup = setup(common)?;
        let today = setup.gateway.now().to_zoned(TimeZone::UTC).date();
        let usage = ask_usage(&setup, self.days, today)?;
        if self.json {
            return print_json(&UsageOutput { first: before(today, self.days - 1), last: today, usage: &usage });
        }
        print_text(&usage_text(&usage))
    }
}

/// Requests this many days, up to 30 per call.
fn ask_usage(setup: &Setup, days: u8, today: Date) -> anyhow::Result<UsageDetails> {
    let (runtime, mut usage) = (runtime()?, UsageDetails::default());
    for (first, last) in spans(days, today) {
        let got = runtime.block_on(get(setup, &Request::Usage { first, last }, true))?;
        usage = usage.plus(read_usage(&got.body)?);
    }
    say_cost(&setup.gateway)?;
    Ok(usage)
}

fn read_usage(answer: &[u8]) -> Result<UsageDetails, CliError> {
    let usage = UsageDetails::parse(answer).ok();
    // Days without calls are omitted, but both parts of the response must exist.
    let usage = usage.filter(|usage| usage.set_aside.len() < 2 || !usage.daily.is_empty() || !usage.total.is_empty());
    usage.ok_or_else(|| FailureKind::BadAnswer.error("the answer is no usage details"))
}

/// The first and last day of each call, the latest call first.
fn spans(days: u8, today: Date) -> Vec<(Date, Date)> {
    let starts = (0..days).step_by(A_CALL.into());
    starts.map(|after| (before(today, days.min(after + A_CALL) - 1), before(today, after))).collect()
}

fn before(day: Date, days: u8) -> Date {
    day.saturating_sub(i64::from(days).days())
}

fn usage_text(usage: &UsageDetails) -> String {
    let mut table = Table::new(&["day", "endpoint", "requests"], &[2]);
    for (day, endpoints) in &usage.daily {
        let named = endpoints.iter().map(|(endpoint, count)| (endpoint.as_str(), *count)).collect();
        usage_rows(&mut table, &day.to_string(), &named, usage.on(*day));
    }
    let sums = usage.by_endpoint();
    let all = sums.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    usage_rows(&mut table, "total", &sums, all);
    let mut text = table.to_string();
    for (endpoint, total, sum) in usage.disagreements() {
        let endpoint = Untrusted::from(endpoint).visible();
        text += &format!("odd: {endpoint}: the days add up to {sum}, the service's total is {total}\n");
    }
    for SetAside { name, why } in &usage.set_aside {
        text += &format!("odd: {}: {why}\n", Untrusted::from(name.as_str()).visible());
    }
    text
}

/// Adds the rows of a day's endpoints and of their sum.
fn usage_rows(table: &mut Table, day: &str, endpoints: &BTreeMap<&str, u64>, all: u64) {
    for (endpoint, count) in endpoints {
        let endpoint = Untrusted::from(*endpoint).visible_cut(60).to_string();
        table.row([day.to_owned(), endpoint, thousands(*count)]);
    }
    table.row([day.to_owned(), "(in all)".to_owned(), thousands(all)]);
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
            "api_requests_daily": {"user": side(10, 13, "\u{1b}[2Jred"), "group": side(60_000_000_000, 1, "red")},
            "intelligence_searches_monthly": {"user": side(0, 12, "red"), "group": side(1000, 12, "red")},
            "private_scans_monthly": {"user": {"allowed": -1, "used": 0}},
            "new\u{202e}counter": {"user": {"allowed": 3, "used": 1}},
        }}));
        let now = "2026-11-20T09:38:50Z".parse().unwrap();
        let shown = quota_text(&balances, &sorted(&balances), now);
        for words in [
            "13       10    0  130 %  00:00 UTC, in 14 h 21 min",
            r"3 more than allowed, from \x1b[2Jred",
            "no limit in practice",
            "draws on the group's",
            r"new\u{202e}counter",
            "odd: private_scans_monthly/user: not two whole numbers",
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
             odd: files: the days add up to 21, the service's total is 22\n";
        assert_eq!(usage_text(&usage), wanted);
    }
}
