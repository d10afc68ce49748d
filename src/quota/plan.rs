//! Adds up several operations and compares them with the quota left in each period.

use super::{Allowed, Balances, Entitlements, Holder, Limit, Operation, Period, Price, Unit, Units, price};
use crate::text::plural;
use jiff::Timestamp;
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// One operation of a plan and its price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedItem {
    pub operation: Operation,
    pub price: Price,
}

/// Operations planned together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    items: Vec<PlannedItem>,
}

/// The units that a plan takes in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The lower end.
    pub min: u64,
    /// The upper end; `None` if unknown.
    pub max: Option<u64>,
}

impl Total {
    /// No units.
    pub const NOTHING: Self = Self { min: 0, max: Some(0) };

    /// The sum of both. A sum beyond `u64` becomes "at least the maximum".
    pub fn plus(self, other: Self) -> Self {
        let max = self.max.zip(other.max);
        Self { min: self.min.saturating_add(other.min), max: max.and_then(|(one, two)| one.checked_add(two)) }
    }

    /// See [`Units::words`].
    pub fn words(self, unit: Unit) -> String {
        self.units().words(unit)
    }

    fn units(self) -> Units {
        let Self { min, max } = self;
        if max == Some(min) { Units::Exact(min) } else { Units::Range { min, max, why: "" } }
    }

    /// See [`Units::brief`].
    pub fn brief(self, unit: Unit) -> String {
        self.units().brief(unit)
    }

    /// The number alone: "660", "660 or 661", "at least 660".
    fn number(self) -> String {
        self.units().to_string()
    }

    /// The number with a noun: "3 or 4 hours".
    fn named(self, noun: &str) -> String {
        let is_one = self.max.unwrap_or(self.min) == 1;
        format!("{} {}", self.number(), if is_one { noun.to_owned() } else { plural(noun) })
    }

    fn map(self, change: impl Fn(u64) -> u64) -> Self {
        Self { min: change(self.min), max: self.max.map(change) }
    }

    /// The excess over `remaining`, at best and at worst.
    fn beyond(self, remaining: u64) -> Self {
        self.map(|n| n.saturating_sub(remaining))
    }
}

/// Whether a plan fits, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    Fits,
    /// It fits if spread over some minutes.
    Paced,
    /// It fits if its price turns out low enough.
    Perhaps,
    /// The remaining quota is unknown, at least in part.
    Unknown,
    /// It exceeds the remaining quota.
    Short,
    /// The user is not entitled to a part of it.
    Refused,
}

/// A plan compared with one limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForecastLine {
    pub unit: Unit,
    /// The units that the plan takes of this limit.
    pub needed: Total,
    /// The limit: its holder, its period and the units left now.
    #[serde(flatten)]
    pub limit: Limit,
    /// Units left at best.
    pub at_best: u64,
    /// Units left at worst; `None` if unknown.
    pub at_worst: Option<u64>,
    pub short: Total,
    /// The next reset of the limit.
    pub resets_at: Timestamp,
    /// Whether the time of the reset is a guess.
    pub reset_is_assumed: bool,
    /// When the last unit fits within this limit alone, at the lowest price of the plan; `None`
    /// after more than ten years.
    pub ready_at: Option<Timestamp>,
    /// Whether the plan fits within this limit.
    pub fit: Fit,
}

/// A plan compared with the balances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The worst fit of its lines.
    pub fit: Fit,
    /// A summary in one line: "600 hashes: 2 more than are left today; the last 2 fit after 00:00
    /// UTC".
    pub words: String,
    /// The units that the plan takes.
    pub totals: Vec<(Unit, Total)>,
    /// Every limit that the plan counts against: by unit, the shortest period first.
    pub lines: Vec<ForecastLine>,
    pub prices: Vec<Price>,
}

impl Plan {
    /// An empty plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// A plan of one operation.
    pub fn of(operation: Operation, entitled: &Entitlements) -> Self {
        let mut plan = Self::new();
        plan.add(operation, entitled);
        plan
    }

    /// Adds an operation, priced for these entitlements.
    pub fn add(&mut self, operation: Operation, entitled: &Entitlements) {
        let price = price(&operation, entitled);
        self.items.push(PlannedItem { operation, price });
    }

    /// Merges both plans.
    pub fn plus(mut self, other: Self) -> Self {
        self.items.extend(other.items);
        self
    }

    /// The planned operations, in the order in which they were added.
    pub fn items(&self) -> &[PlannedItem] {
        &self.items
    }

    /// The units that the plan takes; omits units with a total of zero.
    pub fn totals(&self) -> Vec<(Unit, Total)> {
        let totals = Unit::ALL.map(|unit| (unit, self.total(unit, |_| true)));
        let taken = |(_, total): &(Unit, Total)| *total != Total::NOTHING;
        totals.into_iter().filter(taken).collect()
    }

    /// The units of one kind that the plan takes from one holder.
    pub fn total_of(&self, unit: Unit, holder: Holder) -> Total {
        self.total(unit, |price| price.charged.contains(&holder))
    }

    fn total(&self, unit: Unit, counts: impl Fn(&Price) -> bool) -> Total {
        let prices = self.items.iter().map(|item| &item.price);
        prices
            .filter(|price| price.unit == unit && counts(price))
            .map(|price| Total { min: price.units.min(), max: price.units.max() })
            .fold(Total::NOTHING, Total::plus)
    }

    /// The first reason why a part of the plan is refused.
    pub fn refusal(&self) -> Option<&'static str> {
        self.items.iter().find_map(|item| match item.price.allowed {
            Allowed::Refused(reason) => Some(reason),
            Allowed::Allowed => None,
        })
    }

    /// The number of items planned, with their noun: "600 hashes", "3 rules and 1 job", "7
    /// operations".
    pub fn words(&self) -> String {
        let words: Vec<_> = self.items.iter().map(|item| item.operation.words()).collect();
        match words.as_slice() {
            [] => "nothing".to_owned(),
            [one] => one.clone(),
            [one, two] => format!("{one} and {two}"),
            more => format!("{} operations", more.len()),
        }
    }

    /// Compares the plan with the quota left at `now`.
    pub fn forecast(&self, balances: &Balances, now: Timestamp) -> Forecast {
        let totals = self.totals();
        let lines: Vec<_> = totals.iter().flat_map(|(unit, _)| self.lines(*unit, balances, now)).collect();
        let unsure = |unit: &Unit| balances.is_unsure_of(*unit) || !lines.iter().any(|line| line.unit == *unit);
        let fits = lines.iter().map(|line| line.fit);
        let unknown = totals.iter().any(|(unit, _)| unsure(unit)).then_some(Fit::Unknown);
        let refused = self.refusal().map(|_| Fit::Refused);
        let mut forecast = Forecast {
            fit: fits.chain(unknown).chain(refused).max().unwrap_or(Fit::Fits),
            words: String::new(),
            totals,
            lines,
            prices: self.items.iter().map(|item| item.price.clone()).collect(),
        };
        forecast.words = format!("{}: {}", self.words(), forecast.verdict(self.refusal(), now));
        forecast
    }

    fn lines(&self, unit: Unit, balances: &Balances, now: Timestamp) -> Vec<ForecastLine> {
        let limits = balances.limits(unit).into_iter();
        limits
            .map(|limit| ForecastLine::new(unit, self.total_of(unit, limit.holder), limit, now))
            .filter(|line| line.needed != Total::NOTHING)
            .collect()
    }
}

impl ForecastLine {
    fn new(unit: Unit, needed: Total, limit: Limit, now: Timestamp) -> Self {
        let after = limit.after(needed.min, needed.max);
        let short = needed.beyond(limit.remaining);
        let can_be_paced = limit.period == Period::Minute && limit.allowed > 0;
        let fit = match short {
            Total::NOTHING => Fit::Fits,
            _ if can_be_paced => Fit::Paced,
            Total { min: 0, .. } => Fit::Perhaps,
            _ => Fit::Short,
        };
        Self {
            unit,
            needed,
            limit,
            at_best: after.at_best,
            at_worst: after.at_worst,
            short,
            resets_at: limit.period.next_reset(now),
            reset_is_assumed: limit.period.reset_is_assumed(),
            ready_at: ready_at(std::iter::once(&limit), needed.min, now),
            fit,
        }
    }

    /// The limit as the end of a sentence: "are left today", "are left to the group today".
    fn left_words(&self) -> String {
        let current = self.limit.period.current();
        match self.limit.holder {
            Holder::User => format!("are left {current}"),
            Holder::Group => format!("are left to the group {current}"),
        }
    }

    /// The next reset of the limit, as text.
    fn reset_words(&self, now: Timestamp) -> String {
        let about = if self.reset_is_assumed { "about " } else { "" };
        format!("{about}{}", self.limit.period.reset_words(now))
    }
}

impl Forecast {
    /// Whether the whole plan can be carried out, within some minutes at most.
    pub fn fits(&self) -> bool {
        self.fit <= Fit::Paced
    }

    /// The line that decides. Among the lines with the worst fit it is the one that takes longest
    /// to recover or, if none is certainly short, the one with the least left.
    pub fn binding(&self) -> Option<&ForecastLine> {
        let worst = self.lines.iter().map(|line| line.fit).max()?;
        if worst == Fit::Short {
            return self.longest_wall(None);
        }
        let lines = self.lines.iter().filter(|line| line.fit == worst);
        lines.min_by_key(|line| (line.at_worst, line.limit.remaining))
    }

    /// The short line that takes longest to recover, of one unit or of any.
    fn longest_wall(&self, unit: Option<Unit>) -> Option<&ForecastLine> {
        let is_wall = |line: &&ForecastLine| line.fit == Fit::Short && unit.is_none_or(|unit| line.unit == unit);
        let walls = self.lines.iter().filter(is_wall);
        walls.max_by_key(|line| (line.ready_at.is_none(), line.ready_at, line.limit.period, line.short.min))
    }

    /// The units whose remaining quota is unknown, if that of others is known.
    fn unknown_words(&self) -> Option<String> {
        let units = self.totals.iter().map(|(unit, _)| *unit);
        let unknown: Vec<_> = units.filter(|unit| self.lines.iter().all(|line| line.unit != *unit)).collect();
        let is_of_some = !unknown.is_empty() && unknown.len() < self.totals.len();
        let unknown: Vec<_> = unknown.into_iter().map(Unit::plural).collect();
        is_of_some.then(|| format!("how many {} are left is not known", unknown.join(" and ")))
    }

    /// A limit that is exhausted before the deciding one, and so stops the plan first.
    fn first_wall(&self, binding: &ForecastLine) -> Option<&ForecastLine> {
        let walls = self.lines.iter().filter(|line| line.unit == binding.unit && line.fit == Fit::Short);
        let first = walls.min_by_key(|line| line.limit.remaining)?;
        (first.limit.remaining < binding.limit.remaining).then_some(first)
    }

    /// When the last of `needed` units fits within all limits of the unit; `None` after more than
    /// ten years.
    pub(super) fn ready_at(&self, unit: Unit, needed: u64, now: Timestamp) -> Option<Timestamp> {
        ready_at(self.lines.iter().filter(|line| line.unit == unit).map(|line| &line.limit), needed, now)
    }
}

/// The JSON form: whether it fits, the totals, every limit, every price.
impl Serialize for Forecast {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct OfUnit {
            unit: Unit,
            #[serde(flatten)]
            total: Total,
        }
        let totals = self.totals.iter();
        let totals: Vec<_> = totals.map(|&(unit, total)| OfUnit { unit, total }).collect();
        let mut forecast = serializer.serialize_struct("Forecast", 6)?;
        forecast.serialize_field("fits", &self.fits())?;
        forecast.serialize_field("fit", &self.fit)?;
        forecast.serialize_field("words", &self.words)?;
        forecast.serialize_field("totals", &totals)?;
        forecast.serialize_field("limits", &self.lines)?;
        forecast.serialize_field("prices", &self.prices)?;
        forecast.end()
    }
}

mod wait;
mod words;

use wait::ready_at;

#[cfg(test)]
mod tests;
