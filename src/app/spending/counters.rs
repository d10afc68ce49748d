//! Counters, usage by day, ledger and sums of what calls cost: in rows for commands and the app.

use crate::app::overlays::{ListSource, ListView, TextPage, TextRow, paragraph};
use crate::app::{Model, Size};
use crate::quota::audit::LedgerEntry;
use crate::quota::{
    Balance, Balances, CallCost, CostGrouping, CostSum, Counter, Holder, MINUTE_LIMIT, Period, Pool, Projection,
    SpentUnits, Unit, Units, UnparsedPart, Usage, in_units,
};
use crate::text::{Untrusted, lasting, thousands};
use jiff::Timestamp;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

const BAR_WIDTH: usize = 20;

/// The heading of the [rows](CountersView::rows) of known counters.
pub const KNOWN_HEADING: [&str; 7] = ["pool", "counts", "holder", ">used", ">allowed", ">left", ">%"];

/// The heading of the rows of other counters.
pub const OTHERS_HEADING: [&str; 7] = ["other counters", "", "holder", ">used", ">allowed", ">left", ">%"];

/// The service's counters at a given time.
#[derive(Serialize)]
pub struct CountersView<'a> {
    /// Known counters first, by unit and period.
    counters: Vec<CounterView<'a>>,
    unparsed: &'a [UnparsedPart],
    pub projections: Vec<Projection>,
}

#[derive(Serialize)]
struct CounterView<'a> {
    name: &'a str,
    /// The next five fields are `None` for an unknown counter.
    pool: Option<Pool>,
    unit: Option<Unit>,
    period: Option<Period>,
    resets_at: Option<Timestamp>,
    #[serde(rename = "reset_assumed")]
    reset_is_assumed: Option<bool>,
    user: Option<SideView<'a>>,
    group: Option<SideView<'a>>,
    /// The time of the reset: "00:00 UTC, in 14 h 21 min".
    #[serde(skip)]
    resets: String,
}

#[derive(Serialize)]
struct SideView<'a> {
    #[serde(flatten)]
    balance: &'a Balance,
    remaining: u64,
    percent_used: Option<u64>,
    /// Whether it limits anything: a user's zero does not if the group has an allowance.
    limits: bool,
}

impl<'a> CountersView<'a> {
    pub fn new(balances: &'a Balances, now: Timestamp) -> Self {
        let mut counters: Vec<_> = balances.counters.iter().collect();
        // Counters of requests come first, then those of private scanning.
        let is_private = |counter: &Counter| counter.name.starts_with("private");
        counters.sort_by_key(|counter| (counter.meaning.is_none(), counter.meaning, !is_private(counter)));
        let counters = counters.into_iter().map(|counter| CounterView::new(counter, now)).collect();
        let projections = Holder::ALL.into_iter().filter_map(|holder| Projection::new(balances, holder, now)).collect();
        Self { counters, unparsed: &balances.unparsed, projections }
    }

    /// Returns the cells of each side of each counter, for [`KNOWN_HEADING`] or [`OTHERS_HEADING`].
    pub fn rows(&self, is_known: bool) -> impl Iterator<Item = [String; 7]> {
        let counters = self.counters.iter().filter(move |counter| counter.unit.is_some() == is_known);
        counters.flat_map(|counter| counter.sides().map(|(holder, side)| counter.cells(holder, side)))
    }

    /// Returns the end of each period of the counters.
    pub fn resets(&self) -> impl Iterator<Item = [String; 2]> {
        let periods = self.counters.iter().filter_map(|counter| Some((counter.period?, &counter.resets)));
        periods.collect::<BTreeMap<_, _>>().into_iter().map(|(period, resets)| [period.noun().into(), resets.clone()])
    }

    /// Returns remarks beside the rows, in sentences.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let groups = self.counters.iter().filter_map(|counter| counter.group.as_ref());
        let lenders: BTreeSet<_> = groups.clone().filter_map(|side| side.balance.inherited_from.as_ref()).collect();
        let lenders = lenders.into_iter().map(|from| format!("The group's limits are those of {}.", safe(from)));
        let none = "The service shows no group: only the user is charged.".to_owned();
        let is_alone = groups.count() == 0;
        let taught = self.counters.iter().any(|counter| counter.name == MINUTE_LIMIT);
        let taught = taught.then(|| "The limit of requests/minute is as set, or as a refusal taught.".to_owned());
        let projections = self.projections.iter().map(|projection| format!("{projection}."));
        lenders.chain(is_alone.then_some(none)).chain(taught).chain(projections).chain(unparsed(self.unparsed))
    }
}

impl<'a> CounterView<'a> {
    fn new(counter: &'a Counter, now: Timestamp) -> Self {
        let side = |holder: Holder| {
            let balance = counter.side(holder)?;
            let limits = counter.limit(holder).is_some();
            Some(SideView { balance, remaining: balance.remaining(), percent_used: balance.percent_used(), limits })
        };
        let (unit, period) = counter.meaning.unzip();
        Self {
            name: &counter.name,
            pool: unit.map(Unit::pool),
            unit,
            period,
            resets_at: period.map(|period| period.next_reset(now)),
            reset_is_assumed: period.map(Period::reset_is_assumed),
            user: side(Holder::User),
            group: side(Holder::Group),
            resets: period.map(|period| resets(period, now)).unwrap_or_default(),
        }
    }

    fn sides(&self) -> impl Iterator<Item = (Holder, &SideView<'a>)> {
        let sides = [(Holder::User, &self.user), (Holder::Group, &self.group)];
        sides.into_iter().filter_map(|(holder, side)| Some((holder, side.as_ref()?)))
    }

    fn cells(&self, holder: Holder, side: &SideView<'_>) -> [String; 7] {
        let [used, allowed, left] = side.quota_state();
        let counts = self.unit.zip(self.period).map(|(unit, period)| format!("{}/{}", unit.plural(), period.noun()));
        let (allowed, left) = match side.excess() {
            _ if !side.limits => ("group's".to_owned(), "-".to_owned()),
            _ if side.balance.is_practically_unlimited() => ("no limit".to_owned(), "-".to_owned()),
            0 => (allowed, left),
            excess => (allowed, format!("-{}", thousands(excess))),
        };
        [
            self.pool.map_or_else(|| safe(self.name), |pool| pool.name().to_owned()),
            counts.unwrap_or_default(),
            holder.name().to_owned(),
            used,
            allowed,
            left,
            side.percent_used.map_or_else(|| "-".to_owned(), |percent| percent.to_string()),
        ]
    }

    /// Returns the counter as the app shows it: its unit, then a bar for each side.
    fn paragraphs(&self) -> Vec<TextRow> {
        let title = match (self.unit, self.period) {
            (Some(unit), Some(period)) => format!("{} {} · resets {}", unit.plural(), period.current(), self.resets),
            _ => safe(self.name),
        };
        let sides = self.sides().map(|(holder, side)| {
            let [used, allowed, left] = side.quota_state();
            let bar = |percent: u64| {
                let full = percent.min(100) as usize * BAR_WIDTH / 100;
                "█".repeat(full) + &"░".repeat(BAR_WIDTH - full)
            };
            let share = side.percent_used.map_or_else(
                || format!("{used} used"),
                |percent| format!("{} {percent:>3} % · {used} of {allowed} · {left} left", bar(percent)),
            );
            paragraph(holder.name(), [share, side.remarks()].join(" · ").trim_end_matches(" · "))
        });
        [paragraph("", title)].into_iter().chain(sides).chain([paragraph("", "")]).collect()
    }
}

impl SideView<'_> {
    fn quota_state(&self) -> [String; 3] {
        [self.balance.used, self.balance.allowed, self.remaining].map(thousands)
    }

    fn excess(&self) -> u64 {
        self.balance.used.saturating_sub(self.balance.allowed)
    }

    fn remarks(&self) -> String {
        let excess = self.excess();
        let remarks = [
            (!self.limits).then(|| "draws on the group's".to_owned()),
            (self.limits && excess > 0).then(|| format!("{} more than allowed", thousands(excess))),
            self.balance.is_practically_unlimited().then(|| "no limit in practice".to_owned()),
        ];
        remarks.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn resets(period: Period, now: Timestamp) -> String {
    let about = if period.reset_is_assumed() { "about " } else { "" };
    let wait = u64::try_from(period.until_reset(now).as_secs()).unwrap_or_default();
    format!("{about}{}, in {}", period.reset_label(now), lasting(wait))
}

fn safe(name: &str) -> String {
    Untrusted::from(name).visible_cut(60).to_string()
}

fn unparsed(parts: &[UnparsedPart]) -> impl Iterator<Item = String> {
    parts.iter().map(|UnparsedPart { name, why }| format!("unparsed: {}: {why}", safe(name)))
}

/// Lists usage by day, then in all: requests by endpoint, the highest count first, and their sum.
pub fn usage_rows(usage: &Usage) -> Vec<(String, Vec<(String, u64)>)> {
    let days = usage.daily.iter().map(|(day, endpoints)| {
        (day.to_string(), endpoints.iter().map(|(name, count)| (name.as_str(), *count)).collect())
    });
    let counted = |(day, endpoints): (String, BTreeMap<&str, u64>)| {
        let all = endpoints.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let mut counts: Vec<_> = endpoints.into_iter().map(|(name, count)| (safe(name), count)).collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        counts.push(("(in all)".to_owned(), all));
        (day, counts)
    };
    days.chain([("total".to_owned(), usage.by_endpoint())]).map(counted).collect()
}

/// Inconsistencies of the usage, in sentences.
pub fn usage_remarks(usage: &Usage) -> impl Iterator<Item = String> {
    let differ = usage.disagreements().into_iter().map(|(endpoint, total, sum)| {
        format!("unparsed: {}: the days add up to {sum}, the service's total is {total}", safe(endpoint))
    });
    differ.chain(unparsed(&usage.unparsed))
}

/// Maximum entries that the app shows, the latest.
pub const MAX_ENTRIES: usize = 500;

/// The heading of the [cells](LedgerEntry::cells); narrow screens drop columns with `-` first.
pub const LEDGER_HEADING: [&str; 8] =
    ["time (UTC)", "-operation", "what", "predicted", "settled", "state", "outcome", "-counters"];

impl LedgerEntry {
    /// Returns the cells of the entry; empty for an unknown value.
    pub fn cells(&self) -> [String; 8] {
        let predicted = Units { min: self.predicted_min, max: self.predicted_max };
        let predicted = Unit::named(&self.unit).map_or_else(|| predicted.to_string(), |unit| predicted.label(unit));
        [
            self.at.strftime("%F %T").to_string(),
            self.operation.clone(),
            self.what.clone(),
            predicted,
            self.settled.map(thousands).unwrap_or_default(),
            self.state.name().to_owned(),
            self.outcome.clone().unwrap_or_default(),
            self.counted.clone().unwrap_or_default(),
        ]
    }

    fn paragraph(&self, now: Timestamp) -> TextRow {
        let [_, _, what, predicted, settled, state, outcome, counters] = self.cells();
        let settled = format!("{state} {settled}").trim_end().to_owned();
        let parts = [what, format!("predicted {predicted}"), settled, outcome, counters];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let is_today = Period::Daily.meets(now, self.at, self.at);
        let time = self.at.strftime(if is_today { "%H:%M:%S" } else { "%m-%d %H:%M" });
        paragraph(&time.to_string(), parts.join(" · "))
    }
}

/// The ledger as the app shows it: its last entries; sums by session, day and month.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerPage {
    pub rows: Vec<LedgerEntry>,
    /// Units spent in each of these periods.
    pub sums: [(&'static str, BTreeMap<Unit, SpentUnits>); 3],
    /// Entries before the visible ones.
    pub older: u64,
}

impl TextPage {
    pub(crate) fn counters(balances: &Balances, now: Timestamp) -> Self {
        let view = CountersView::new(balances, now);
        let mut paragraphs: Vec<_> = view.counters.iter().flat_map(CounterView::paragraphs).collect();
        paragraphs.extend(view.remarks().map(|words| paragraph("", words)));
        Self::new("Quota counters", paragraphs)
    }

    /// Shows usage in all, then the last day first: a bar a day, and the endpoints with most calls.
    pub(crate) fn usage(usage: &Usage) -> Self {
        let most = usage.daily.keys().map(|day| usage.on(*day)).max().unwrap_or(0).max(1);
        let day = |(day, mut counts): (String, Vec<(String, u64)>)| {
            let all = counts.pop().map_or(0, |(_, all)| all);
            let length = usize::try_from(u128::from(all) * BAR_WIDTH as u128 / u128::from(most)).unwrap_or(BAR_WIDTH);
            let bar = "█".repeat(length.clamp(usize::from(all > 0), BAR_WIDTH));
            let named = counts.iter().map(|(name, count)| format!(" · {name} {}", thousands(*count)));
            paragraph(&day, format!("{bar} {}{}", thousands(all), named.collect::<String>()))
        };
        let mut paragraphs: Vec<_> = usage_rows(usage).into_iter().rev().map(day).collect();
        if usage.daily.is_empty() {
            paragraphs = vec![paragraph("", "Nothing was used in these days.")];
        }
        paragraphs.extend(usage_remarks(usage).map(|words| paragraph("", words)));
        Self::new("Usage, in requests by day", paragraphs)
    }

    /// Returns the ledger, the latest entry first, below the sums of this session, day and month.
    pub(crate) fn ledger(page: &LedgerPage, now: Timestamp) -> Self {
        let sums = page.sums.iter().map(|(time, spent)| format!("{time} {}", in_units(spent)));
        let mut paragraphs = vec![paragraph("spent", sums.collect::<Vec<_>>().join(" · ")), paragraph("", "")];
        paragraphs.extend(page.rows.iter().rev().map(|row| row.paragraph(now)));
        if page.rows.is_empty() {
            paragraphs.push(paragraph("", "No call has been sent yet."));
        }
        if page.older > 0 {
            let older = thousands(page.older);
            paragraphs.push(paragraph("", format!("{older} older entries: behaview ledger --all")));
        }
        Self::new("The ledger: predicted, settled, counted; times in UTC", paragraphs)
    }
}

pub type CostView = ListView<CostRows>;

#[derive(Debug)]
pub struct CostRows(Vec<(CostGrouping, CostSum)>);

impl ListSource for CostRows {
    type Row = (CostGrouping, CostSum);

    fn rows(&self) -> &[Self::Row] {
        &self.0
    }

    fn text((by, sum): &Self::Row) -> String {
        format!("{} {}", by.name(), sum.cells().join(" "))
    }

    fn beside(&self, _: Size, _: &Model) -> (usize, usize) {
        (1, 3)
    }
}

/// Shows what calls cost, unless the user is typing.
pub(crate) fn show_costs(model: &mut Model, costs: &[CallCost]) {
    let sums = CostGrouping::ALL.into_iter().flat_map(|by| by.sum(costs).into_iter().map(move |sum| (by, sum)));
    if !model.key_context().has_line() {
        model.overlays.put(CostView::new(CostRows(sums.collect())));
    }
}
