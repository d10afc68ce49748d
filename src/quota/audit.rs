//! Predicted against counted: what the service's counter says of the calls that were made between two looks at it.
//!
//! ```text
//!      look A          our calls          quiet      look B
//! ───────┼──────────────■────■─■─────────────────────────┼──────> time
//!   counter: 7                                       counter: 10      it rose by 3
//! ```
//! A counter of the user's also counts other programs and machines with the same key, so it can rise by more than this
//! program's calls cost, and never by less. A rise that the certain charges explain to the last unit therefore leaves
//! nothing for the unsure ones: they were free, and what is written down adds up to what was counted, be the prices right or
//! not. A rise below the certain charges lowers them: a price was too high. Where anything is in doubt there is no verdict:
//! a call under way during a look, a period that ended in between, a clock that was set, another key.

use super::{Holder, Period, Unit};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// How long a counter may lag behind, and clocks may differ: a look says something final only after so much quiet.
pub const QUIET: SignedDuration = SignedDuration::from_mins(5);

/// One side of a counter, as a look found it.
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

/// A look at the counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub asked: Timestamp,
    /// When the answer was here.
    pub received: Timestamp,
    /// Which user's counters they are.
    pub account: String,
    /// Number of the last call that was written down when it was asked for.
    pub after: i64,
    pub readings: Vec<Reading>,
}

/// What a call is known to have cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    Certain(u64),
    /// Up to this much, or nothing; none where no limit is known.
    Unsure(Option<u64>),
}

/// A call of this program that may have been charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number; they grow with time, whatever the clock does.
    pub number: i64,
    /// When it was written down, which is before it was sent.
    pub from: Timestamp,
    /// When it was over, or surely is.
    pub until: Timestamp,
    /// Whose counters it was charged to; none if that is not known.
    pub account: Option<String>,
    pub operation: String,
    pub charge: Charge,
}

/// The time between two looks, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// When the first look was here.
    pub since: Timestamp,
    /// When the second was asked for.
    pub until: Timestamp,
    /// Units by which the user's counter rose.
    pub rose: u64,
    /// Units that calls in this time cost for certain.
    pub certain: u64,
    /// Units that others may have cost at most; none where no limit is known.
    pub unsure: Option<u64>,
    pub account: String,
    /// Whether it decides: the second look came so late that it surely counts all of them, and the counter was seen to
    /// count this program's calls.
    pub is_final: bool,
    /// This program's calls in this time.
    pub calls: Vec<Counted>,
}

/// A call of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub number: i64,
    pub operation: String,
    /// Whether it is not known what it cost.
    pub is_unsure: bool,
    /// Whether nobody knows what it cost at most.
    pub is_open: bool,
}

impl Counted {
    fn of(call: &Call) -> Self {
        let is_unsure = matches!(call.charge, Charge::Unsure(_));
        let is_open = call.charge == Charge::Unsure(None);
        Self { number: call.number, operation: call.operation.clone(), is_unsure, is_open }
    }
}

/// What a window says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The counter rose by what the calls cost.
    Confirmed,
    /// The unsure calls cost nothing.
    Free,
    /// The unsure calls cost all that they could; those without a known limit this much together, or less.
    Charged(Option<u64>),
    /// The counter rose by less than the calls are thought to have cost.
    Contradicted,
    /// Nothing for certain: others may have used the same key, or the counter may lag.
    Unclear,
}

/// How often an operation's price was compared with the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Record {
    /// Calls in windows where the counter rose by just the predicted units.
    pub confirmed: u64,
    /// Calls in windows where it rose by less.
    pub contradicted: u64,
    /// Calls in windows that say nothing: the counter rose by more, or may lag.
    pub unclear: u64,
}

impl Window {
    /// What the window says.
    pub fn finding(&self) -> Finding {
        let unsure = self.calls.iter().filter(|call| call.is_unsure).count();
        let rest = self.rose.checked_sub(self.certain);
        match (rest, self.unsure) {
            (Some(0), _) if unsure == 0 => Finding::Confirmed,
            _ if !self.is_final => Finding::Unclear,
            (Some(0), _) => Finding::Free,
            (Some(rest), Some(all)) if unsure > 0 && rest == all => Finding::Charged(None),
            (Some(rest), None) => Finding::Charged(Some(rest)),
            (None, _) => Finding::Contradicted,
            _ => Finding::Unclear,
        }
    }

    /// The same in words.
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

/// The windows from each look to the next, for one unit; looks that fall into a call of this program's are passed over.
///
/// `looks` are in the order in which they were written down, `calls` in that of their numbers; both are one profile's.
pub fn windows(looks: &[Look], calls: &[Call], unit: Unit) -> Vec<Window> {
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

/// The windows that decide: each ends at a look after some quiet, and begins at any look since the quiet one before.
///
/// The app looks after each paid call, too soon to decide; so windows that end late reach back over such looks.
pub fn final_windows(looks: &[Look], calls: &[Call], unit: Unit) -> Vec<Window> {
    let proven = proven(&windows(looks, calls, unit));
    let mut found = Vec::new();
    for looks in by_account(looks, &Border::new(calls)).values() {
        let mut firsts: Vec<&Place<'_>> = Vec::new();
        for second in looks {
            if second.is_quiet {
                // The shortest comes first: it holds the least of what others did.
                found.extend(firsts.drain(..).rev().filter_map(|first| window(first, second, calls, unit)));
            }
            firsts.push(second);
        }
    }
    found.retain(|window| proven.contains(&window.account) || counts(window));
    found
}

/// Accounts whose counter was seen to count a call of this program's. Another, say of another user, decides nothing.
fn proven(windows: &[Window]) -> BTreeSet<String> {
    windows.iter().filter(|window| counts(window)).map(|window| window.account.clone()).collect()
}

fn counts(window: &Window) -> bool {
    window.certain > 0 && window.rose == window.certain
}

/// Looks that no call falls into, by account.
fn by_account<'a>(looks: &'a [Look], border: &Border<'_>) -> BTreeMap<&'a str, Vec<Place<'a>>> {
    let mut found: BTreeMap<&str, Vec<Place<'_>>> = BTreeMap::new();
    for look in looks {
        found.entry(&look.account).or_default().extend(border.place(look));
    }
    found
}

/// How often each operation's price was compared with the counters, by its name.
pub fn record(windows: &[Window]) -> BTreeMap<String, Record> {
    let mut record: BTreeMap<String, Record> = BTreeMap::new();
    for window in windows {
        let Some(first) = window.calls.first() else { continue };
        let is_one_kind = window.calls.iter().all(|call| call.operation == first.operation);
        for call in &window.calls {
            let of = record.entry(call.operation.clone()).or_default();
            match window.finding() {
                Finding::Confirmed | Finding::Free if !call.is_unsure => of.confirmed += 1,
                // Of several operations nobody knows which is priced too high.
                Finding::Contradicted if is_one_kind && !call.is_unsure => of.contradicted += 1,
                _ => of.unclear += 1,
            }
        }
    }
    record
}

fn window(first: &Place<'_>, second: &Place<'_>, calls: &[Call], unit: Unit) -> Option<Window> {
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

/// By how much the user's counters rose; none unless all that span the time agree.
fn rise(first: &Look, second: &Look, unit: Unit) -> Option<u64> {
    let mut rises = unit.periods().iter().filter(|period| spans(**period, first, second)).filter_map(|period| {
        let (before, after) = (first.used(unit, *period)?, second.used(unit, *period)?);
        Some(after.checked_sub(before))
    });
    let rise = rises.next()??;
    rises.all(|other| other == Some(rise)).then_some(rise)
}

/// Whether one period holds both looks, with some room for clocks that differ.
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

/// A look, and where it stands among the calls.
struct Place<'a> {
    look: &'a Look,
    /// How many calls were over before it.
    calls: usize,
    /// Whether the last of them was over some time before.
    is_quiet: bool,
}

/// Knows at each place among the calls when all before it were over, and when the first after it began.
struct Border<'a> {
    calls: &'a [Call],
    over: Vec<Timestamp>,
    begin: Vec<Timestamp>,
}

impl<'a> Border<'a> {
    fn new(calls: &'a [Call]) -> Self {
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

    /// Where a look stands; none if a call was under way, or if numbers and clock disagree.
    fn place<'l>(&self, look: &'l Look) -> Option<Place<'l>> {
        let calls = self.calls.partition_point(|call| call.number <= look.after);
        let (over, begin) = (*self.over.get(calls)?, *self.begin.get(calls)?);
        let is_quiet = over.duration_until(look.asked) >= QUIET;
        (over < look.asked && begin > look.received).then_some(Place { look, calls, is_quiet })
    }
}

#[cfg(test)]
mod tests;
