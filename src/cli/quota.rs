//! `behaview quota`: the service's own counters, which cost nothing to ask for.

use super::asking::{get, runtime, say_cost};
use super::output::{print_json, print_text};
use super::table::Table;
use super::{CliError, Common, FailureKind, Setup, setup};
use crate::quota::{Balance, Balances, Counter, Holder, Period, Pool, SetAside, Unit};
use crate::request::Request;
use crate::text::{Untrusted, thousands};
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  behaview quota --json")]
pub(super) struct Quota {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `quota --json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    counters: Vec<Row<'a>>,
    /// Parts of the answer that could not be read.
    odd: &'a [SetAside],
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    /// These five are none for a counter that nobody has listed yet.
    pool: Option<Pool>,
    unit: Option<Unit>,
    period: Option<Period>,
    resets_at: Option<Timestamp>,
    reset_is_assumed: Option<bool>,
    user: Option<Side<'a>>,
    group: Option<Side<'a>>,
}

#[derive(Serialize)]
struct Side<'a> {
    #[serde(flatten)]
    balance: &'a Balance,
    remaining: u64,
    percent_used: Option<u64>,
    /// Whether it limits anything: a user's zero beside a group's allowance does not.
    limits: bool,
}

impl Quota {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let balances = ask_balances(&setup(common)?)?;
        let (counters, now) = (sorted(&balances), crate::clock::now());
        if self.json {
            let counters = counters.into_iter().map(|counter| row(counter, now)).collect();
            return print_json(&Shown { counters, odd: balances.set_aside() });
        }
        print_text(&text(&balances, &counters, now))
    }
}

/// Asks the service for its counters.
pub(super) fn ask_balances(setup: &Setup) -> anyhow::Result<Balances> {
    let got = runtime()?.block_on(get(setup, &Request::Quotas, true))?;
    say_cost(&setup.gate)?;
    Ok(read_balances(&got.body)?)
}

/// Reads an answer to the quota call, fresh or saved.
pub(super) fn read_balances(answer: &[u8]) -> Result<Balances, CliError> {
    let balances = Balances::parse(answer).ok().filter(|read| !read.counters().is_empty());
    balances.ok_or_else(|| FailureKind::BadAnswer.error("that is no answer to the quota call"))
}

/// Counters whose meaning is known come first, by unit and period.
fn sorted(balances: &Balances) -> Vec<&Counter> {
    let mut counters: Vec<_> = balances.counters().iter().collect();
    counters.sort_by_key(|counter| (counter.meaning.is_none(), counter.meaning));
    counters
}

fn row(counter: &Counter, now: Timestamp) -> Row<'_> {
    let side = |holder: Holder| {
        let balance = counter.side(holder)?;
        let limits = counter.limit(holder).is_some();
        Some(Side { balance, remaining: balance.remaining(), percent_used: balance.percent_used(), limits })
    };
    let (unit, period) = counter.meaning.unzip();
    Row {
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

fn text(balances: &Balances, counters: &[&Counter], now: Timestamp) -> String {
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

/// "00:00 UTC, in 14 h 21 min"
fn resets(period: Period, now: Timestamp) -> String {
    let about = if period.reset_is_assumed() { "about " } else { "" };
    format!("{about}{}, in {}", period.reset_words(now), length(period.until_reset(now)))
}

/// A length of time in its two largest units.
fn length(time: SignedDuration) -> String {
    let (days, hours, minutes) = (time.as_hours() / 24, time.as_hours() % 24, time.as_mins() % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{} s", time.as_secs()),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lengths_of_time_are_short() {
        for (seconds, words) in [(59, "59 s"), (61, "1 min"), (7_260, "2 h 1 min"), (90_000, "1 d 1 h")] {
            assert_eq!(length(SignedDuration::from_secs(seconds)), words);
        }
    }

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
        let shown = text(&balances, &sorted(&balances), now);
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
}
