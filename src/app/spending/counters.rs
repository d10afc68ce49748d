//! Pages of text on quota: the service's counters, usage by day, the ledger.

use crate::app::over::{Sheet, SheetRow, paragraph};
use crate::quota::{Balance, Balances, Counter, Holder, Period, Spent, Unit, Units, Usage};
use crate::text::{Untrusted, lasting, thousands};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Columns of a bar that shows how much is used.
const BAR: u64 = 20;

impl Sheet {
    pub fn counters(balances: &Balances, now: Timestamp, columns: usize) -> Self {
        let mut counters: Vec<_> = balances.counters.iter().collect();
        // What requests take comes first, then what private scanning has of its own.
        let is_private = |counter: &Counter| counter.name.as_bytes().starts_with(b"private");
        counters.sort_by_key(|counter| (counter.meaning.is_none(), counter.meaning, !is_private(counter)));
        let groups = counters.iter().filter_map(|counter| counter.side(Holder::Group)?.inherited_from.as_ref());
        let lenders: BTreeSet<_> = groups.map(|from| safe(from)).collect();
        let mut paragraphs: Vec<SheetRow> =
            counters.into_iter().flat_map(|counter| counter_rows(counter, now)).collect();
        let limits = |lender: String| paragraph("group", format!("Its limits are those of {lender}."));
        paragraphs.extend(lenders.into_iter().map(limits));
        if !balances.has(Holder::Group) {
            paragraphs.push(paragraph("group", "The service shows no group: only the user is charged."));
        }
        let odd = balances.set_aside.iter();
        paragraphs.extend(odd.map(|odd| paragraph("odd", format!("{}: {}", safe(&odd.name), odd.why))));
        Self::new("What the service's counters say", paragraphs, columns)
    }
}

fn counter_rows(counter: &Counter, now: Timestamp) -> Vec<SheetRow> {
    let title = match counter.meaning {
        Some((unit, period)) => {
            let about = if period.reset_is_assumed() { "about " } else { "" };
            let wait = lasting(u64::try_from(period.until_reset(now).as_secs()).unwrap_or_default());
            let reset = format!("full again in {about}{wait}, {}", period.reset_words(now));
            format!("{} {} · {reset}", unit.plural(), period.current())
        }
        None => safe(&counter.name),
    };
    let mut rows = vec![paragraph("", title)];
    for holder in [Holder::User, Holder::Group] {
        if let Some(balance) = counter.side(holder) {
            rows.push(paragraph(holder.name(), balance_words(balance)));
        }
    }
    rows.push(paragraph("", ""));
    rows
}

fn balance_words(balance: &Balance) -> String {
    let (used, allowed) = (thousands(balance.used), thousands(balance.allowed));
    match balance.percent_used() {
        _ if balance.is_practically_unlimited() => format!("{used} of {allowed} used, no limit in practice"),
        None => format!("{used} used; nothing of its own, it draws on the group's"),
        Some(percent) => {
            let full = usize::try_from((percent * BAR / 100).min(BAR)).unwrap_or(0);
            let bar = "█".repeat(full) + &"░".repeat(usize::try_from(BAR).unwrap_or(0) - full);
            let left = thousands(balance.remaining());
            format!("{bar} {percent:>3} % · {used} of {allowed} · {left} left")
        }
    }
}

fn safe(name: &str) -> String {
    Untrusted::from(name).visible_cut(60).to_string()
}

impl Sheet {
    /// Usage, the last day first: a bar a day, and the endpoints with the most calls.
    pub fn usage(usage: &Usage, columns: usize) -> Self {
        let most = usage.daily.keys().map(|day| usage.on(*day)).max().unwrap_or(0).max(1);
        let days: Vec<_> = usage.daily.iter().rev().collect();
        let rows = days.into_iter().map(|(day, endpoints)| {
            let all = usage.on(*day);
            let length = usize::try_from(u128::from(all) * u128::from(BAR) / u128::from(most)).unwrap_or(0);
            let mut named: Vec<_> = endpoints.iter().collect();
            named.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let named: Vec<_> =
                named.into_iter().map(|(name, count)| format!("{} {}", safe(name), thousands(*count))).collect();
            let bar = "█".repeat(length.max(usize::from(all > 0)));
            paragraph(&day.to_string(), format!("{bar} {} · {}", thousands(all), named.join(" · ")))
        });
        let mut paragraphs: Vec<SheetRow> = rows.collect();
        if paragraphs.is_empty() {
            paragraphs.push(paragraph("", "Nothing was used in these days."));
        }
        let odd = usage.set_aside.iter();
        paragraphs.extend(odd.map(|odd| paragraph("odd", format!("{}: {}", safe(&odd.name), odd.why))));
        Self::new("Usage, in requests by day", paragraphs, columns)
    }
}

/// Entries that are shown: the latest.
pub const SHOWN: usize = 500;

/// The ledger as it is shown: its last entries, and what all of them add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerPage {
    pub lines: Vec<LedgerLine>,
    /// What this session has spent of each unit, carefully.
    pub session: BTreeMap<Unit, Spent>,
    pub today: BTreeMap<Unit, Spent>,
    pub month: BTreeMap<Unit, Spent>,
    /// Entries before those that are shown.
    pub older: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// When it was written down, just before it was sent.
    pub at: Timestamp,
    /// The request, in words that are safe to show.
    pub what: String,
    /// What it is counted in; none where the ledger does not say.
    pub unit: Option<Unit>,
    /// Units that it was to cost at least.
    pub predicted_min: u64,
    /// Units that it was to cost at most; none where no limit was known.
    pub predicted_max: Option<u64>,
    /// What it counts as, carefully.
    pub counts_as: u64,
    /// Whether it may have cost any number of units, so that what it counts as is a least.
    pub is_open: bool,
    pub state: &'static str,
    pub counted: Option<String>,
}

impl Sheet {
    /// The ledger, the latest entry first, below the sums of this session, this day and this month.
    pub fn ledger(page: &LedgerPage, now: Timestamp, columns: usize) -> Self {
        let sums = format!(
            "this session {} · today {} · this month {} (unknown calls count as charged)",
            amounts(&page.session),
            amounts(&page.today),
            amounts(&page.month),
        );
        let mut paragraphs = vec![paragraph("in all", sums), paragraph("", "")];
        paragraphs.extend(page.lines.iter().rev().map(|line| paragraph(&when(line.at, now), words(line))));
        if page.lines.is_empty() {
            paragraphs.push(paragraph("", "Nothing has been asked yet."));
        }
        if page.older > 0 {
            let older = thousands(page.older);
            paragraphs.push(paragraph("", format!("{older} older entries: behaview ledger --all")));
        }
        Self::new("The ledger: predicted, settled, counted; times in UTC", paragraphs, columns)
    }
}

pub(super) fn when(at: Timestamp, now: Timestamp) -> String {
    let is_today = Period::Daily.meets(now, at, at);
    at.strftime(if is_today { "%H:%M:%S" } else { "%m-%d %H:%M" }).to_string()
}

fn words(line: &LedgerLine) -> String {
    let predicted = Units { min: line.predicted_min, max: line.predicted_max };
    let predicted = line.unit.map_or_else(|| predicted.to_string(), |unit| predicted.words(unit));
    let counted = line.counted.as_ref().map(|counted| format!(" · {counted}")).unwrap_or_default();
    let counts_as = units(line.counts_as, line.is_open);
    format!("{} · predicted {predicted} · {} {counts_as}{counted}", line.what, line.state)
}

/// Sums of units, each by itself: a scan is no request.
fn amounts(spent: &BTreeMap<Unit, Spent>) -> String {
    let spent = spent.iter().filter(|(_, spent)| spent.total() > 0 || spent.is_open);
    let words = |(unit, spent): (&Unit, &Spent)| units(spent.total(), spent.is_open).words(*unit);
    let each: Vec<_> = spent.map(words).collect();
    if each.is_empty() { "0".to_owned() } else { each.join(" and ") }
}

fn units(least: u64, is_open: bool) -> Units {
    Units { min: least, max: (!is_open).then_some(least) }
}
