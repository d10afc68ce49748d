//! `behaview quota` and `behaview usage`: the service's own counters. Both calls are free.

use super::*;
use crate::quota::{
    Balance, Balances, Counter, Holder, MINUTE_LIMIT, Period, Pool, SetAside, Unit, Usage as UsageDetails,
};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  behaview quota --json")]
pub(super) struct QuotaArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

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
        let (balances, now) = (ask_balances(&setup(common, Spending::default())?)?, crate::clock::now());
        let shown = quota_output(&balances, now);
        print(self.json, &shown, || quota_text(&shown, now))
    }
}

pub(super) fn ask_balances(setup: &Setup) -> anyhow::Result<Balances> {
    let balances = read_balances(&send(setup, &Request::Quotas, true)?.body)?;
    Ok(balances.with_minute_limit(setup.gateway.minute_limit()?))
}

/// Parses a response to the quota call, fresh or saved.
pub(super) fn read_balances(answer: &[u8]) -> Result<Balances, CliError> {
    let balances = Balances::parse(answer).ok().filter(|read| !read.counters.is_empty());
    balances.ok_or_else(|| FailureKind::BadAnswer.error("that is no answer to the quota call"))
}

/// The counters; those with a known meaning come first, by unit and period.
fn quota_output(balances: &Balances, now: Timestamp) -> QuotaOutput<'_> {
    let mut counters: Vec<_> = balances.counters.iter().collect();
    counters.sort_by_key(|counter| (counter.meaning.is_none(), counter.meaning));
    let counters = counters.into_iter().map(|counter| counter_output(counter, now)).collect();
    QuotaOutput { counters, odd: &balances.set_aside }
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

fn quota_text(shown: &QuotaOutput<'_>, now: Timestamp) -> String {
    let heading = ["pool", "counts", "period", "whose", ">used", ">allowed", ">left", ">used %", "resets", "remarks"];
    let sides = shown.counters.iter().flat_map(|counter| {
        let sides = [(Holder::User, &counter.user), (Holder::Group, &counter.group)];
        sides.into_iter().filter_map(move |(holder, side)| Some(cells(counter, holder, side.as_ref()?, now)))
    });
    let mut text = table(heading, sides);
    if shown.counters.iter().all(|counter| counter.group.is_none()) {
        text += "\nThe service shows no group: only the user is charged.\n";
    }
    for SetAside { name, why } in shown.odd {
        text += &format!("odd: {}: {why}\n", Untrusted::from(name.as_str()).visible());
    }
    text
}

fn cells(counter: &CounterOutput<'_>, holder: Holder, side: &SideOutput<'_>, now: Timestamp) -> [String; 10] {
    let (pool, unit, period, resets) = match (counter.unit, counter.period) {
        (Some(unit), Some(period)) => (unit.pool().name(), unit.plural(), period.noun(), resets(period, now)),
        _ => ("other", Untrusted::from(counter.name).visible_cut(40).to_string(), "", String::new()),
    };
    let percent = side.percent_used.map_or_else(|| "-".to_owned(), |percent| format!("{percent} %"));
    let [used, allowed, left] = [side.balance.used, side.balance.allowed, side.remaining].map(thousands);
    let whose = holder.name().to_owned();
    let (pool, period, remarks) = (pool.to_owned(), period.to_owned(), remarks(counter.name, side));
    [pool, unit, period, whose, used, allowed, left, percent, resets, remarks]
}

fn remarks(counter: &str, SideOutput { balance, limits, .. }: &SideOutput<'_>) -> String {
    let excess = balance.used.saturating_sub(balance.allowed);
    let remarks = [
        (counter == MINUTE_LIMIT).then(|| "as set, or as a refusal taught".to_owned()),
        (!limits).then(|| "draws on the group's".to_owned()),
        (*limits && excess > 0).then(|| format!("{} more than allowed", thousands(excess))),
        balance.is_practically_unlimited().then(|| "no limit in practice".to_owned()),
        balance
            .inherited_from
            .as_ref()
            .map(|group| format!("from {}", Untrusted::from(group.as_str()).visible_cut(60))),
    ];
    remarks.into_iter().flatten().collect::<Vec<_>>().join(", ")
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

const DAYS_PER_CALL: u8 = 30;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  behaview usage --days 7")]
pub(super) struct UsageArgs {
    /// Days up to today, which began at 00:00 UTC; the service keeps 60
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
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let setup = setup(common, Spending::default())?;
        let last = setup.gateway.now().to_zoned(TimeZone::UTC).date();
        let before = |days: u8| last.saturating_sub(i64::from(days).days());
        let (runtime, mut usage) = (runtime()?, UsageDetails::default());
        // The latest days come first.
        for after in (0..self.days).step_by(DAYS_PER_CALL.into()) {
            let first = before(self.days.min(after + DAYS_PER_CALL) - 1);
            let request = Request::Usage { first, last: before(after) };
            match runtime.block_on(ask(&setup, &request, true)) {
                Ok(got) => usage = usage.plus(read_usage(&got.body)?),
                Err(error) => return say_cost(&setup.gateway).and(Err(error.into())),
            }
        }
        say_cost(&setup.gateway)?;
        let shown = UsageOutput { first: before(self.days - 1), last, usage: &usage };
        print(self.json, &shown, || usage_text(&usage))
    }
}

fn read_usage(answer: &[u8]) -> Result<UsageDetails, CliError> {
    let usage = UsageDetails::parse(answer).ok();
    // Days without calls are omitted, but both parts of the response must exist.
    let usage = usage.filter(|usage| usage.set_aside.len() < 2 || !usage.daily.is_empty() || !usage.total.is_empty());
    usage.ok_or_else(|| FailureKind::BadAnswer.error("the answer is no usage details"))
}

fn usage_text(usage: &UsageDetails) -> String {
    let sums = usage.by_endpoint();
    let all = sums.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let days = usage.daily.iter().flat_map(|(day, endpoints)| {
        let endpoints = endpoints.iter().map(|(endpoint, count)| (endpoint.as_str(), *count)).collect();
        usage_rows(&day.to_string(), endpoints, usage.on(*day))
    });
    let mut text = table(["day", "endpoint", ">requests"], days.chain(usage_rows("total", sums, all)));
    for (endpoint, total, sum) in usage.disagreements() {
        let endpoint = Untrusted::from(endpoint).visible();
        text += &format!("odd: {endpoint}: the days add up to {sum}, the service's total is {total}\n");
    }
    for SetAside { name, why } in &usage.set_aside {
        text += &format!("odd: {}: {why}\n", Untrusted::from(name.as_str()).visible());
    }
    text
}

fn usage_rows(day: &str, endpoints: BTreeMap<&str, u64>, all: u64) -> Vec<[String; 3]> {
    let named = |(endpoint, count): (&str, u64)| (Untrusted::from(endpoint).visible_cut(60).to_string(), count);
    let rows = endpoints.into_iter().map(named).chain([("(in all)".to_owned(), all)]);
    rows.map(|(endpoint, count)| [day.to_owned(), endpoint, thousands(count)]).collect()
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
        let shown = quota_text(&quota_output(&balances, now), now);
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
