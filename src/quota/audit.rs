//! Reconciles predicted with counted units: compares the calls made between two readings of a
//! counter with its rise.
//!
//! ```text
//!      look A          our calls          quiet      look B
//! ───────┼──────────────■────■─■─────────────────────────┼──────> time
//!   counter: 7                                       counter: 10      it rose by 3
//! ```
//! A user's counter also counts other programs and machines with the same key. So it can rise by
//! more than this program's calls cost, but never by less. If the certain charges explain the rise
//! exactly, the unsure calls were free; the recorded cost then equals the counted cost, whether or
//! not the prices are right. A rise below the certain charges lowers them: a price was too high.
//! Doubtful cases get no verdict: a call in flight during a reading, a period that ended between
//! the readings, a clock that was changed, another key.

use super::{Holder, Period, Unit};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum lag of a counter and difference between clocks. A reading is final only after this much
/// time without calls.
pub const QUIET: SignedDuration = SignedDuration::from_mins(5);

/// Time after a call before the counters may lower what it cost by its answer: they may lag for
/// longer than a few minutes.
const LATE: SignedDuration = SignedDuration::from_mins(60);

/// One holder's side of a counter, as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub unit: Unit,
    pub period: Period,
    pub holder: Holder,
    /// Units used in the period.
    pub used: u64,
    /// Units allowed in the period.
    pub allowed: u64,
}

/// One reading of the counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub asked: Timestamp,
    /// When the response was received.
    pub received: Timestamp,
    /// The user whose counters these are.
    pub account: String,
    /// Number of the last call that was recorded before this reading was requested.
    pub after: i64,
    pub readings: Vec<Reading>,
}

/// The known cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    Certain(u64),
    /// Up to this much, possibly nothing; `None` if no limit is known.
    Unsure(Option<u64>),
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
    pub operation: String,
    pub charge: Charge,
}

/// The time between two readings, with its calls and the counter's rise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// When the first reading was received.
    pub since: Timestamp,
    /// When the second reading was requested.
    pub until: Timestamp,
    /// Units by which the user's counter rose.
    pub rose: u64,
    /// Units that calls in this window certainly cost.
    pub certain: u64,
    /// Maximum units of the unsure calls; `None` if no limit is known.
    pub unsure: Option<u64>,
    pub account: String,
    /// Whether this window decides: the second reading is late enough to include all of its calls,
    /// and the counter is known to count this program's calls.
    pub is_final: bool,
    /// This program's calls in this window.
    pub calls: Vec<Counted>,
}

/// A call of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub number: i64,
    pub operation: String,
    /// Whether its cost is uncertain.
    pub is_unsure: bool,
}

impl Counted {
    fn of(call: &AuditedCall) -> Self {
        let is_unsure = matches!(call.charge, Charge::Unsure(_));
        Self { number: call.number, operation: call.operation.clone(), is_unsure }
    }
}

/// The result of a window.
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

/// How often an operation's price was compared with the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PriceRecord {
    /// Calls in windows where the counter rose by exactly the predicted units.
    pub confirmed: u64,
    /// Calls in windows where it rose by less.
    pub contradicted: u64,
    /// Calls in windows without a result: the counter rose by more, or may lag.
    pub unclear: u64,
}

impl Window {
    /// The result of this window.
    pub fn finding(&self) -> Finding {
        let unsure = self.calls.iter().filter(|call| call.is_unsure).count();
        let rest = self.rose.checked_sub(self.certain);
        match (rest, self.unsure) {
            (Some(0), _) if unsure == 0 => Finding::Confirmed,
            _ if !self.is_final => Finding::Unclear,
            (Some(0), _) => Finding::Free,
            (Some(rest), Some(all)) if unsure > 0 && rest == all => Finding::Charged(None),
            // Which of several calls cost the rest is not known, and another window may hold only some of them.
            (Some(rest), None) if unsure == 1 => Finding::Charged(Some(rest)),
            (None, _) => Finding::Contradicted,
            _ => Finding::Unclear,
        }
    }

    /// The result as text.
    pub fn words(&self) -> String {
        let (rose, mine) = (self.rose, self.certain);
        let rest = rose.saturating_sub(mine);
        let counter =
            if rose == 0 { "the counter did not rise".to_owned() } else { format!("the counter rose by {rose}") };
        match self.finding() {
            Finding::Confirmed => match self.calls.len() as u64 {
                0 | 1 => format!("{counter}, as predicted"),
                calls => format!("{counter} for {calls} calls together, as predicted"),
            },
            Finding::Free => format!("{counter}: what was not known cost nothing"),
            Finding::Charged(_) => format!("{counter}, certain are {mine}: what was not known counts as charged"),
            _ if rose < mine => {
                let lag = if self.is_final { "" } else { ", or the counter lags" };
                format!("{counter}, this program accounts for {mine}: a price is too high{lag}")
            }
            _ if rest == 0 => counter,
            _ => format!(
                "{counter}, this program accounts for {mine}: {rest} by others with the same key, or by calls whose outcome is not known"
            ),
        }
    }
}

/// The windows between consecutive readings, for one unit. Skips readings during a call of this
/// program.
///
/// `looks` are in the order in which they were recorded, `calls` in the order of their numbers.
/// Both belong to one profile.
pub fn windows(looks: &[Look], calls: &[AuditedCall], unit: Unit) -> Vec<Window> {
    let mut found = Vec::new();
    for looks in by_account(looks, &Border::new(calls)).values() {
        let pairs = looks.iter().zip(looks.iter().skip(1));
        found.extend(pairs.filter_map(|(first, second)| window(first, second, calls, unit)));
    }
    let proven = proven(&found);
    found.iter_mut().for_each(|window| window.is_final &= proven.contains(&window.account));
    found.sort_by_key(|window| window.until);
    found
}

/// The windows that decide. Each ends at a reading after a quiet time, and begins at any reading
/// since the previous quiet one.
///
/// The app reads the counters after each paid call, too soon for a final result. So a window with a
/// late end reaches back over such readings.
pub fn final_windows(looks: &[Look], calls: &[AuditedCall], unit: Unit) -> Vec<Window> {
    let proven = proven(&windows(looks, calls, unit));
    let mut found = Vec::new();
    for looks in by_account(looks, &Border::new(calls)).values() {
        let mut firsts: Vec<&LookPosition<'_>> = Vec::new();
        for second in looks {
            if second.is_quiet {
                // The shortest window comes first: it contains the fewest calls of others.
                found.extend(firsts.drain(..).rev().filter_map(|first| window(first, second, calls, unit)));
            }
            firsts.push(second);
        }
    }
    found.retain(|window| proven.contains(&window.account) || counts(window));
    found.retain(|window| window.finding() != Finding::Contradicted || is_lasting(window, looks, calls, unit));
    found
}

/// Whether the last reading, long after the calls of a window, still shows fewer units than they
/// cost. A counter that lagged has caught up by then.
fn is_lasting(window: &Window, looks: &[Look], calls: &[AuditedCall], unit: Unit) -> bool {
    let by_account = by_account(looks, &Border::new(calls));
    let Some(looks) = by_account.get(&*window.account) else { return false };
    let first = looks.iter().find(|first| first.look.received == window.since);
    let last = looks.last().filter(|last| window.until.duration_until(last.look.asked) >= LATE);
    let whole = first.zip(last).and_then(|(first, last)| self::window(first, last, calls, unit));
    whole.is_some_and(|whole| whole.rose < whole.certain)
}

/// Accounts whose counter has counted a call of this program. Other accounts, such as another
/// user's, decide nothing.
fn proven(windows: &[Window]) -> BTreeSet<String> {
    windows.iter().filter(|window| counts(window)).map(|window| window.account.clone()).collect()
}

fn counts(window: &Window) -> bool {
    window.certain > 0 && window.rose == window.certain
}

/// Readings outside all calls, by account.
fn by_account<'a>(looks: &'a [Look], border: &Border<'_>) -> BTreeMap<&'a str, Vec<LookPosition<'a>>> {
    let mut found: BTreeMap<&str, Vec<LookPosition<'_>>> = BTreeMap::new();
    for look in looks {
        found.entry(&look.account).or_default().extend(border.place(look));
    }
    found
}

/// How often each operation's price was compared with the counters, by its name.
pub fn record(windows: &[Window]) -> BTreeMap<String, PriceRecord> {
    let mut record: BTreeMap<String, PriceRecord> = BTreeMap::new();
    for window in windows {
        let Some(first) = window.calls.first() else { continue };
        let is_one_kind = window.calls.iter().all(|call| call.operation == first.operation);
        for call in &window.calls {
            let of = record.entry(call.operation.clone()).or_default();
            match window.finding() {
                Finding::Confirmed | Finding::Free if !call.is_unsure => of.confirmed += 1,
                // With several operations it is unknown which one is priced too high.
                Finding::Contradicted if is_one_kind && !call.is_unsure => of.contradicted += 1,
                _ => of.unclear += 1,
            }
        }
    }
    record
}

fn window(first: &LookPosition<'_>, second: &LookPosition<'_>, calls: &[AuditedCall], unit: Unit) -> Option<Window> {
    let between = calls.get(first.calls..second.calls)?;
    let (is_quiet, first, second) = (second.is_quiet, first.look, second.look);
    if between.iter().any(|call| call.account.as_deref() != Some(&*first.account)) {
        return None;
    }
    let (mut certain, mut unsure) = (0_u64, Some(0_u64));
    for call in between {
        match call.charge {
            Charge::Certain(units) => certain = certain.saturating_add(units),
            Charge::Unsure(most) => unsure = unsure.zip(most).map(|(sum, most)| sum.saturating_add(most)),
        }
    }
    Some(Window {
        since: first.received,
        until: second.asked,
        rose: rise(first, second, unit)?,
        certain,
        unsure,
        account: first.account.clone(),
        is_final: is_quiet || between.is_empty(),
        calls: between.iter().map(Counted::of).collect(),
    })
}

/// By how much the user's counters rose; `None` unless all counters that span the time agree.
fn rise(first: &Look, second: &Look, unit: Unit) -> Option<u64> {
    let mut rises = unit.periods().iter().filter(|period| spans(**period, first, second)).filter_map(|period| {
        let (before, after) = (first.used(unit, *period)?, second.used(unit, *period)?);
        Some(after.checked_sub(before))
    });
    let rise = rises.next()??;
    rises.all(|other| other == Some(rise)).then_some(rise)
}

/// Whether both readings lie in one period, with a margin for different clocks.
fn spans(period: Period, first: &Look, second: &Look) -> bool {
    let before = first.asked.checked_sub(QUIET);
    let after = second.received.checked_add(QUIET);
    let is_one = |(before, after)| period.next_reset(before) == period.next_reset(after);
    !period.reset_is_assumed() && before.ok().zip(after.ok()).is_some_and(is_one)
}

impl Look {
    fn used(&self, unit: Unit, period: Period) -> Option<u64> {
        let wanted = (unit, period, Holder::User);
        self.readings.iter().find(|found| (found.unit, found.period, found.holder) == wanted).map(|found| found.used)
    }
}

/// A reading and its position among the calls.
struct LookPosition<'a> {
    look: &'a Look,
    /// How many calls ended before it.
    calls: usize,
    /// Whether the last of them ended long enough before it.
    is_quiet: bool,
}

/// Finds, for each position among the calls, when all earlier calls had ended and when the next one
/// began.
struct Border<'a> {
    calls: &'a [AuditedCall],
    over: Vec<Timestamp>,
    begin: Vec<Timestamp>,
}

impl<'a> Border<'a> {
    fn new(calls: &'a [AuditedCall]) -> Self {
        let mut over = vec![Timestamp::MIN];
        for call in calls {
            over.extend(over.last().map(|last| call.until.max(*last)));
        }
        let mut begin = vec![Timestamp::MAX];
        for call in calls.iter().rev() {
            begin.extend(begin.last().map(|first| call.from.min(*first)));
        }
        begin.reverse();
        Self { calls, over, begin }
    }

    /// The position of a reading; `None` if a call was in flight, or if numbers and clock disagree.
    fn place<'l>(&self, look: &'l Look) -> Option<LookPosition<'l>> {
        let calls = self.calls.partition_point(|call| call.number <= look.after);
        let (over, begin) = (*self.over.get(calls)?, *self.begin.get(calls)?);
        let is_quiet = over.duration_until(look.asked) >= QUIET;
        (over < look.asked && begin > look.received).then_some(LookPosition { look, calls, is_quiet })
    }
}

#[cfg(test)]
mod tests;
