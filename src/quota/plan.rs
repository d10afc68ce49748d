//! Adds up several operations and compares them with the quota left in each period.

use super::{Balances, Entitlements, Kind, Limit, Numbers, Operation, Period, Price, Unit, Units, price};
use crate::text::{count, names, thousands};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::fmt;

/// Operations planned together, each with its price.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    pub prices: Vec<Price>,
}

names! {
    /// Whether a plan fits, from best to worst.
    Fit label {
        Fits "fits" "fits",
        /// It fits if spread over some minutes.
        Paced "paced" "fits, paced",
        /// It fits if its price turns out low enough.
        Perhaps "perhaps" "perhaps",
        /// The remaining quota is unknown, at least in part.
        Unknown "unknown" "not known",
        /// It exceeds the remaining quota.
        Short "short" "too much",
        /// The user is not entitled to a part of it.
        Refused "refused" "refused",
    }
}

/// A plan compared with one limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForecastLine {
    pub unit: Unit,
    pub(crate) needed: Units,
    /// The limit: its holder, its period and the units left now.
    #[serde(flatten)]
    pub limit: Limit,
    pub(crate) at_best: u64,
    /// Units left at worst; `None` if unknown.
    pub(crate) at_worst: Option<u64>,
    pub short: Units,
    pub resets_at: Timestamp,
    /// Whether the time of the reset is a guess.
    #[serde(rename = "reset_assumed")]
    pub reset_is_assumed: bool,
    /// When the last unit fits this limit alone, at the lowest price; `None` after ten years.
    pub(crate) ready_at: Option<Timestamp>,
    pub fit: Fit,
}

/// The units of one kind that a plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UnitTotal {
    pub(crate) unit: Unit,
    #[serde(flatten)]
    pub(crate) units: Units,
}

/// A plan compared with every limit; its JSON form is that of `behaview cost`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// Whether the whole plan can be carried out, within some minutes at most.
    pub fits: bool,
    /// The worst fit of its lines.
    pub fit: Fit,
    /// One line: "600 hashes: 2 more than are left today; complete after 2026-11-21 00:00 UTC".
    pub summary: String,
    pub(crate) totals: Vec<UnitTotal>,
    /// Every limit that the plan counts against: by unit, the shortest period first.
    #[serde(rename = "limits")]
    pub lines: Vec<ForecastLine>,
    #[serde(flatten)]
    pub plan: Plan,
}

impl Plan {
    /// Returns the plan of these operations, priced for these entitlements.
    pub fn of(operations: impl IntoIterator<Item = Operation>, entitled: &Entitlements) -> Self {
        Self { prices: operations.into_iter().map(|operation| price(&operation, entitled)).collect() }
    }

    /// Returns the plan to fetch `count` reports.
    pub fn of_reports(count: usize, entitled: &Entitlements) -> Self {
        let numbers = Numbers { calls: count as u64, ..Numbers::default() };
        Self::of([Operation { kind: Kind::PrivateBehaviour, numbers }], entitled)
    }

    /// Returns the units that the plan takes; omits units with a total of zero.
    pub(crate) fn totals(&self) -> Vec<UnitTotal> {
        let totals = Unit::ALL.map(|unit| UnitTotal { unit, units: self.total(unit, |_| true) });
        totals.into_iter().filter(|total| total.units != Units::NOTHING).collect()
    }

    fn total(&self, unit: Unit, counts: impl Fn(&Price) -> bool) -> Units {
        let prices = self.prices.iter().filter(|price| price.verdict.unit == unit && counts(price));
        prices.map(|price| price.verdict.units).fold(Units::NOTHING, Units::plus)
    }

    pub fn refusal(&self) -> Option<&'static str> {
        self.prices.iter().find_map(|price| price.verdict.refusal)
    }

    /// Counts the planned items: "600 hashes", "3 rules and 1 job", "7 operations".
    pub fn label(&self) -> String {
        match self.prices.as_slice() {
            [] => "nothing".to_owned(),
            [one] => one.operation.label(),
            [one, two] => format!("{} and {}", one.operation.label(), two.operation.label()),
            more => format!("{} operations", more.len()),
        }
    }

    /// Returns the units of all kinds that it takes at most; `None` if unknown.
    pub fn worst(&self) -> Option<u64> {
        self.prices.iter().try_fold(0_u64, |sum, price| sum.checked_add(price.verdict.units.max?))
    }

    /// Compares the plan with the quota left at `now`.
    pub fn forecast(self, balances: &Balances, now: Timestamp) -> Forecast {
        let totals = self.totals();
        let limits = |unit: Unit| balances.limits(unit).into_iter().map(move |limit| (unit, limit));
        let lines = totals.iter().flat_map(|total| limits(total.unit));
        let needed = |unit, holder| self.total(unit, |price| price.charged.contains(&holder));
        let lines = lines.map(|(unit, limit)| ForecastLine::new(unit, needed(unit, limit.holder), limit, now));
        let lines: Vec<_> = lines.filter(|line| line.needed != Units::NOTHING).collect();
        let may_have_succeeded =
            |unit: Unit| balances.is_unsure_of(unit) || !lines.iter().any(|line| line.unit == unit);
        let unknown = totals.iter().any(|total| may_have_succeeded(total.unit)).then_some(Fit::Unknown);
        let refused = self.refusal().map(|_| Fit::Refused);
        let fits = lines.iter().map(|line| line.fit).chain(unknown).chain(refused);
        let fit = fits.max().unwrap_or(Fit::Fits);
        let mut forecast = Forecast { fits: fit <= Fit::Paced, fit, summary: String::new(), totals, lines, plan: self };
        forecast.summary = format!("{}: {}", forecast.plan.label(), forecast.verdict(now));
        forecast
    }
}

/// The price in words: "600 requests and 3 rules", "0", "refused: no private scanning licence".
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.prices.as_slice(), self.refusal()) {
            (_, Some(reason)) => write!(f, "refused: {reason}"),
            ([one], None) => f.write_str(&one.short()),
            _ => {
                let sums: Vec<_> = self.totals().iter().map(|total| total.units.label(total.unit)).collect();
                if sums.is_empty() { f.write_str("0") } else { f.write_str(&sums.join(" and ")) }
            }
        }
    }
}

impl ForecastLine {
    fn new(unit: Unit, needed: Units, limit: Limit, now: Timestamp) -> Self {
        let short = needed.beyond(limit.remaining);
        let fit = match short {
            Units::NOTHING => Fit::Fits,
            _ if limit.period == Period::Minute && limit.allowed > 0 => Fit::Paced,
            Units { min: 0, .. } => Fit::Perhaps,
            _ => Fit::Short,
        };
        Self {
            unit,
            needed,
            limit,
            at_best: limit.remaining.saturating_sub(needed.min),
            at_worst: needed.max.map(|max| limit.remaining.saturating_sub(max)),
            short,
            resets_at: limit.period.next_reset(now),
            reset_is_assumed: limit.period.reset_is_assumed(),
            ready_at: ready_at([&limit], needed.min, now),
            fit,
        }
    }

    /// Returns the units left afterwards, at worst and also at best if they differ.
    pub fn after_label(&self) -> String {
        match self.at_worst {
            Some(worst) => Units { min: worst, max: Some(self.at_best) }.to_string(),
            None => format!("at most {}", thousands(self.at_best)),
        }
    }

    /// Returns whether it fits, and the missing units if it certainly does not.
    pub fn fit_label(&self) -> String {
        match self.fit {
            Fit::Short => format!("{} short", self.short),
            fit => fit.label().to_owned(),
        }
    }

    /// Returns the limit as the end of a sentence: "left to the group today".
    fn left_label(&self) -> String {
        format!("left to the {} {}", self.limit.holder.name(), self.limit.period.current())
    }
}

impl Forecast {
    /// Returns whether it fits, and the limits that decide.
    fn verdict(&self, now: Timestamp) -> String {
        if let Some(reason) = self.plan.refusal() {
            return format!("refused: {reason}");
        }
        if self.totals.is_empty() {
            return "free".to_owned();
        }
        let worst = self.lines.iter().filter(|line| line.fit == self.fit);
        let binding = worst.min_by_key(|line| (line.at_worst, line.limit.remaining));
        match (self.fit, binding) {
            (Fit::Paced, Some(line)) => {
                let allowed = line.limit.allowed;
                let needed = line.needed.max.unwrap_or(line.needed.min);
                format!("fits at {} a minute: about {}", thousands(allowed), count(needed.div_ceil(allowed), "minute"))
            }
            (Fit::Perhaps, Some(line)) => {
                let left = line.unit.count(line.limit.remaining);
                format!("fits if it takes no more than the {left} {}", line.left_label())
            }
            (Fit::Fits, Some(line)) => {
                format!("fits; {} {}", line.unit.count(line.at_worst.unwrap_or(line.at_best)), line.left_label())
            }
            _ => {
                let parts: Vec<_> = self.totals.iter().filter_map(|total| self.short_label(*total, now)).collect();
                if parts.is_empty() { "the remaining quota is not known".to_owned() } else { parts.join("; ") }
            }
        }
    }

    /// Names missing units by limit, and when the last of them fits all limits of the unit.
    fn short_label(&self, UnitTotal { unit, units: needed }: UnitTotal, now: Timestamp) -> Option<String> {
        let lines = || self.lines.iter().filter(|line| line.unit == unit);
        let short = || lines().filter(|line| line.fit == Fit::Short);
        if lines().next().is_none() {
            return Some(format!("the remaining {} are not known", unit.plural()));
        }
        let parts = short().map(|line| format!("{} more than are {}", line.short.label(unit), line.left_label()));
        let parts = Some(parts.collect::<Vec<_>>().join(", ")).filter(|parts| !parts.is_empty())?;
        let ready = ready_at(lines().map(|line| &line.limit), needed.max.unwrap_or(needed.min), now);
        let about = if short().all(|line| line.reset_is_assumed) { "about " } else { "" };
        Some(match ready {
            Some(at) => format!("{parts}; complete after {about}{}", crate::text::moment(at)),
            None => format!("{parts}; not complete within 10 years"),
        })
    }
}

/// How far ahead a plan is computed.
const HORIZON: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);

/// Returns when the last unit fits all limits, if spent as they allow; `None` after ten years.
fn ready_at<'a>(limits: impl IntoIterator<Item = &'a Limit>, mut needed: u64, now: Timestamp) -> Option<Timestamp> {
    let (short, long): (Vec<&Limit>, Vec<_>) = limits.into_iter().partition(|limit| limit.period == Period::Minute);
    let a_minute = short.iter().map(|limit| limit.allowed).min().unwrap_or(u64::MAX);
    let mut this_minute = short.iter().map(|limit| limit.remaining).min().unwrap_or(u64::MAX);
    let mut left: Vec<_> = long.iter().map(|limit| (limit.period, limit.allowed, limit.remaining)).collect();
    let step = left.iter().map(|(period, ..)| *period).min().unwrap_or(Period::Monthly);
    let mut at = now;
    while now.duration_until(at) < HORIZON {
        let minute = Period::Minute.began(at);
        let next = step.next_reset(at);
        let later_minutes = u64::try_from(minute.duration_until(next).as_mins() - 1).unwrap_or(0);
        let paced = this_minute.saturating_add(a_minute.saturating_mul(later_minutes));
        let fits = left.iter().map(|(.., left)| *left).min().unwrap_or(u64::MAX).min(paced);
        if needed <= fits {
            let minutes = needed.saturating_sub(this_minute).div_ceil(a_minute.max(1));
            let wait = SignedDuration::from_mins(i64::try_from(minutes).ok()?);
            return if minutes == 0 { Some(at) } else { minute.checked_add(wait).ok() };
        }
        needed -= fits;
        this_minute = a_minute;
        for (period, allowed, left) in &mut left {
            *left = if period.is_renewed(at, next) { *allowed } else { *left - fits };
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests;
