//! Reconciles predicted with counted units: calls between two readings of a counter with its rise.
//!
//! ```text
//!    reading A         our calls          quiet    reading B
//! ───────┼──────────────■────■─■─────────────────────────┼──────> time
//!   counter: 7                                       counter: 10      it rose by 3
//! ```
//! Other programs and machines with the same key count too: a user's counter can rise by more than
//! this program's calls cost, never by less. If the certain charges explain the rise exactly, the
//! unsure calls were free, and the recorded cost equals the counted one even if prices are wrong. A
//! lower rise lowers the certain charges: a price was too high. A higher rise raises a call that
//! counts as less than its price, or as nothing, even if others may be the cause: the counter
//! lagged, or a price was too low. No verdict: with a call in flight during a reading, with a
//! period's end, a changed clock or another key between the readings.

use super::{Holder, Period, State, Unit, Units};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum lag of a counter and difference of clocks: a reading is final after this quiet time.
pub const QUIET: SignedDuration = SignedDuration::from_mins(5);

/// Time until a counter may lower the cost that a response showed: it may lag for many minutes.
const MAX_LAG: SignedDuration = SignedDuration::from_mins(60);

/// A call in the ledger; its text is safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerEntry {
    #[serde(skip)]
    pub number: i64,
    /// When it was recorded, just before it was sent.
    #[serde(rename = "recorded_at")]
    pub at: Timestamp,
    pub session: String,
    pub operation: String,
    #[serde(rename = "request")]
    pub what: String,
    pub unit: String,
    pub predicted_min: u64,
    /// `None` if no limit was known.
    pub predicted_max: Option<u64>,
    /// `None` until it is known.
    pub settled: Option<u64>,
    /// The units counted for it: never less than it may have cost.
    pub counts_as: u64,
    /// Whether it may have cost more than that: no limit was known, and the response was lost.
    pub at_least: bool,
    pub state: State,
    pub outcome: Option<String>,
    /// Evidence from the service's counters.
    #[serde(rename = "evidence")]
    pub counted: Option<String>,
    /// For a call of a killed program, the latest time to which a program waits.
    #[serde(skip)]
    pub settled_at: Option<Timestamp>,
    #[serde(skip)]
    pub account: Option<String>,
    /// The name of its lock while it is in flight.
    #[serde(skip)]
    pub lock: String,
    /// The SHA-256 of the file that it was about.
    #[serde(skip)]
    pub file: Option<String>,
}

/// One holder's side of a counter, as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterReading {
    pub unit: Unit,
    pub period: Period,
    pub holder: Holder,
    pub used: u64,
    pub allowed: u64,
}

/// One reading of the counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaSnapshot {
    pub sent: Timestamp,
    pub received: Timestamp,
    /// The user whose counters these are.
    pub account: String,
    /// Number of the last call that was recorded before this reading was requested.
    pub after: i64,
    pub readings: Vec<CounterReading>,
}

/// A call of this program that may have been charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedCall {
    /// Its number. Numbers grow with time, even if the clock is changed.
    pub number: i64,
    /// When it was recorded, which is before it was sent.
    pub from: Timestamp,
    /// When it ended, or the latest time at which it can have ended.
    pub until: Timestamp,
    /// The account that was charged, if known.
    pub account: Option<String>,
    /// Its known cost; a range if it is uncertain, then possibly nothing.
    pub charge: Units,
    /// The maximum that it may have cost regardless of its outcome; at least one.
    pub max_charge: u64,
}

/// The time between two readings, with its calls and the counter's rise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub since: Timestamp,
    pub until: Timestamp,
    /// Units by which the user's counter rose.
    pub rose: u64,
    /// Units that calls in this window certainly cost.
    pub certain: u64,
    /// Maximum units of the unsure calls; `None` if no limit is known.
    pub unsure: Option<u64>,
    pub(crate) account: String,
    /// Whether it decides: it ends late enough, and the counter is known to count these calls.
    pub(crate) is_final: bool,
    /// This program's calls in this window.
    pub calls: Vec<AuditedCall>,
}

/// What two readings prove about the calls between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The counter rose by the cost of the calls.
    Confirmed,
    /// The unsure calls cost nothing.
    Free,
    /// The unsure calls cost their maximum; the only one, if it has no known limit, cost this much.
    Charged(Option<u64>),
    /// The counter rose by less than the assumed cost of the calls.
    Contradicted,
    /// No certain result: others may have used the same key, or the counter may lag.
    Unclear,
}

impl AuditedCall {
    pub fn is_uncertain(&self) -> bool {
        self.charge.exact().is_none()
    }
}

impl Window {
    pub fn finding(&self) -> Finding {
        let unsure = self.calls.iter().filter(|call| call.is_uncertain()).count();
        let rest = self.rose.checked_sub(self.certain);
        match (rest, self.unsure) {
            (Some(0), _) if unsure == 0 => Finding::Confirmed,
            _ if !self.is_final => Finding::Unclear,
            (Some(0), _) => Finding::Free,
            (Some(rest), Some(all)) if unsure > 0 && rest == all => Finding::Charged(None),
            // Any of several calls may have cost the rest; another window may have just one.
            (Some(rest), None) if unsure == 1 => Finding::Charged(Some(rest)),
            (None, _) => Finding::Contradicted,
            _ => Finding::Unclear,
        }
    }

    pub fn label(&self) -> String {
        let rose = match self.rose {
            0 => "the counter did not rise".to_owned(),
            rose => format!("the counter rose by {rose}"),
        };
        let predicted = format!("{rose}, this program accounts for {}", self.certain);
        match self.finding() {
            Finding::Confirmed if self.calls.len() < 2 => format!("{rose}, as predicted"),
            Finding::Confirmed => format!("{rose} for {} calls together, as predicted", self.calls.len()),
            Finding::Free => format!("{rose}: the unsure calls cost nothing"),
            Finding::Charged(_) => format!("{predicted}: the unsure calls count as charged"),
            Finding::Contradicted => format!("{predicted}: a price is too high"),
            Finding::Unclear if self.rose == self.certain => rose,
            Finding::Unclear => {
                format!("{predicted}: others use the same key, an outcome is not known, or the counter lags")
            }
        }
    }
}

/// Returns the windows between consecutive readings of the requests, except readings during a call.
///
/// `snapshots` are in the order in which they were recorded, `calls` in the order of their numbers.
/// Both belong to one profile.
pub fn windows(snapshots: &[QuotaSnapshot], calls: &[AuditedCall]) -> Vec<Window> {
    let mut found = Vec::new();
    for positions in by_account(snapshots, calls).values() {
        let pairs = positions.iter().zip(positions.iter().skip(1));
        found.extend(pairs.filter_map(|(first, second)| window(first, second, calls)));
    }
    let proven = proven(&found);
    found.iter_mut().for_each(|window| window.is_final &= proven.contains(&window.account));
    found.sort_by_key(|window| window.until);
    found
}

/// Joins the windows around the calls `first` to `last`, and later ones while the counter lags.
pub fn around(windows: &[Window], first: Timestamp, last: Timestamp) -> Option<Window> {
    let mut windows = windows.iter().filter(|window| window.until >= first);
    let mut whole = windows.next().filter(|window| window.since <= last)?.clone();
    for window in windows {
        if window.since > last && whole.rose >= whole.certain {
            break;
        }
        whole.until = whole.until.max(window.until);
        whole.rose = whole.rose.saturating_add(window.rose);
        whole.certain = whole.certain.saturating_add(window.certain);
        whole.unsure = whole.unsure.zip(window.unsure).map(|(one, other)| one.saturating_add(other));
        whole.is_final &= window.is_final;
        whole.calls.extend_from_slice(&window.calls);
    }
    Some(whole)
}

/// Returns the windows that decide: from any reading since a quiet one to the next quiet one.
///
/// The app reads the counters after each paid call, too soon for a final result. So a window with a
/// late end reaches back over such readings.
pub fn final_windows(snapshots: &[QuotaSnapshot], calls: &[AuditedCall]) -> Vec<Window> {
    let proven = proven(&windows(snapshots, calls));
    let mut found = Vec::new();
    for positions in by_account(snapshots, calls).values() {
        let mut firsts: Vec<&SnapshotPosition<'_>> = Vec::new();
        for second in positions {
            if second.is_quiet {
                // The shortest window comes first: it contains the fewest calls of others.
                found.extend(firsts.drain(..).rev().filter_map(|first| window(first, second, calls)));
            }
            firsts.push(second);
        }
    }
    found.retain(|window| proven.contains(&window.account) || counts(window));
    found.retain(|window| window.finding() != Finding::Contradicted || is_lasting(window, snapshots, calls));
    found
}

/// Returns each call's evidence by number: the next deciding finding, or else the next open one.
pub fn evidence(snapshots: &[QuotaSnapshot], calls: &[AuditedCall]) -> BTreeMap<i64, String> {
    let mut windows: Vec<_> = final_windows(snapshots, calls).into_iter().rev().collect();
    windows.extend(self::windows(snapshots, calls));
    // The map keeps the last finding of a call.
    windows.sort_by_key(|window| window.finding() != Finding::Unclear);
    let evidence = |window: &Window| {
        let label = window.label();
        window.calls.iter().map(move |call| (call.number, label.clone())).collect::<Vec<_>>()
    };
    windows.iter().flat_map(evidence).collect()
}

/// Returns whether the last reading, long after a window's calls, still shows fewer units than they
/// cost. A counter that lagged has caught up with them by then, if not with later calls.
fn is_lasting(window: &Window, snapshots: &[QuotaSnapshot], calls: &[AuditedCall]) -> bool {
    let by_account = by_account(snapshots, calls);
    let Some(positions) = by_account.get(&*window.account) else { return false };
    let first = positions.iter().find(|first| first.reading.received == window.since);
    let last = positions.last().filter(|last| window.until.duration_until(last.reading.sent) >= MAX_LAG);
    let whole = first.zip(last).and_then(|(first, last)| self::window(first, last, calls));
    whole.is_some_and(|whole| whole.rose < window.certain)
}

/// Returns the accounts whose counter has counted a call of this program; others prove nothing.
fn proven(windows: &[Window]) -> BTreeSet<String> {
    windows.iter().filter(|window| counts(window)).map(|window| window.account.clone()).collect()
}

fn counts(window: &Window) -> bool {
    window.certain > 0 && window.rose == window.certain
}

/// Readings outside all calls, by account.
fn by_account<'a>(all: &'a [QuotaSnapshot], calls: &[AuditedCall]) -> BTreeMap<&'a str, Vec<SnapshotPosition<'a>>> {
    // For each position among the calls: when all earlier ones had ended, when the next one began.
    let mut over = vec![Timestamp::MIN];
    let mut begin = vec![Timestamp::MAX];
    for call in calls {
        over.extend(over.last().map(|last| call.until.max(*last)));
    }
    for call in calls.iter().rev() {
        begin.extend(begin.last().map(|first| call.from.min(*first)));
    }
    begin.reverse();
    let mut found: BTreeMap<&str, Vec<SnapshotPosition<'_>>> = BTreeMap::new();
    for reading in all {
        let calls = calls.partition_point(|call| call.number <= reading.after);
        let Some((over, begin)) = over.get(calls).zip(begin.get(calls)) else { continue };
        let positions = found.entry(&reading.account).or_default();
        // Otherwise a call was in flight, or numbers and clock disagree.
        if *over < reading.sent && *begin > reading.received {
            positions.push(SnapshotPosition { reading, calls, is_quiet: over.duration_until(reading.sent) >= QUIET });
        }
    }
    found
}

fn window(first: &SnapshotPosition<'_>, second: &SnapshotPosition<'_>, calls: &[AuditedCall]) -> Option<Window> {
    let between = calls.get(first.calls..second.calls)?;
    let is_quiet = second.is_quiet;
    let first = first.reading;
    let second = second.reading;
    if between.iter().any(|call| call.account.as_deref() != Some(&*first.account)) {
        return None;
    }
    let mut certain = 0_u64;
    let mut unsure = Some(0_u64);
    for call in between {
        let Units { min, max } = call.charge;
        certain = certain.saturating_add(min);
        unsure = unsure.zip(max).map(|(sum, max)| sum.saturating_add(max.saturating_sub(min)));
    }
    Some(Window {
        since: first.received,
        until: second.sent,
        rose: rise(first, second)?,
        certain,
        unsure,
        account: first.account.clone(),
        is_final: is_quiet || between.is_empty(),
        calls: between.iter().filter(|call| call.charge != Units::NOTHING).cloned().collect(),
    })
}

/// Returns the last call that the counters show to have cost more than settled: number, cost and
/// evidence. A rise more than an hour after a call is not caused by it.
pub fn too_low(snapshots: &[QuotaSnapshot], calls: &[AuditedCall]) -> Option<(i64, u64, String)> {
    let by_account = by_account(snapshots, calls);
    let mut pairs = by_account.values().flat_map(|positions| (0..calls.len()).rev().map(move |at| (positions, at)));
    pairs.find_map(|(positions, at)| {
        let call = calls.get(at)?;
        let settled = call.charge.exact().filter(|settled| *settled < call.max_charge)?;
        let first = positions.iter().rfind(|position| position.calls <= at)?;
        let is_late = |late: &SnapshotPosition<'_>| call.until.duration_until(late.reading.sent) >= MAX_LAG;
        let mut later = positions.iter().filter(|later| later.calls > at && later.is_quiet);
        let second = later.clone().find(|later| is_late(later)).or_else(|| later.next_back())?;
        let window = window(first, second, calls)?;
        let rest = window.rose.checked_sub(window.certain.checked_add(window.unsure?)?).filter(|rest| *rest > 0)?;
        let rose = window.rose;
        let certain = window.certain;
        let evidence =
            format!("the counter rose by {rose}, this program accounted for {certain}: it counts as charged");
        Some((call.number, settled.saturating_add(rest).min(call.max_charge), evidence))
    })
}

/// Returns the rise of the user's counters; `None` unless all counters that span the time agree.
fn rise(first: &QuotaSnapshot, second: &QuotaSnapshot) -> Option<u64> {
    let mut rises =
        Unit::Request.periods().iter().filter(|period| spans(**period, first, second)).filter_map(|period| {
            let before = first.used(*period)?;
            let after = second.used(*period)?;
            Some(after.checked_sub(before))
        });
    let rise = rises.next()??;
    rises.all(|other| other == Some(rise)).then_some(rise)
}

/// Returns whether both readings are in one period, with a margin for different clocks.
fn spans(period: Period, first: &QuotaSnapshot, second: &QuotaSnapshot) -> bool {
    let before = first.sent.checked_sub(QUIET);
    let after = second.received.checked_add(QUIET);
    let is_one = |(before, after)| period.next_reset(before) == period.next_reset(after);
    !period.reset_is_assumed() && before.ok().zip(after.ok()).is_some_and(is_one)
}

impl QuotaSnapshot {
    fn used(&self, period: Period) -> Option<u64> {
        let wanted = (Unit::Request, period, Holder::User);
        self.readings.iter().find(|found| (found.unit, found.period, found.holder) == wanted).map(|found| found.used)
    }
}

struct SnapshotPosition<'a> {
    reading: &'a QuotaSnapshot,
    /// How many calls ended before it.
    calls: usize,
    /// Whether the last of them ended long enough before it.
    is_quiet: bool,
}

#[cfg(test)]
mod tests;
