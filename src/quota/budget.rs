//! Limits set by user and team, beyond which calls are not sent; and who spent what.

use super::audit::LedgerEntry;
use super::{Period, Price, Unit};
use crate::text::{Untrusted, names, thousands};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;

/// A call that may cost more units needs confirmation; the user can set another limit.
pub const CONFIRM_ABOVE: u64 = 3;

/// The spending limits, in units; `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// By one run of the program.
    pub session: Option<u64>,
    /// In one day (UTC), by every run with this profile.
    pub daily: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetPeriod {
    Session,
    Day,
    /// A day or a month of the group.
    Group(Period),
}

/// What the group may spend in a day or a month (UTC), as its lead has set it in the team store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GroupBudget {
    pub period: Period,
    pub limit: u64,
    /// The part of the limit for incidents.
    pub reserve: u64,
    /// By everyone; calls in flight count as their worst price.
    pub spent: u64,
}

/// What the user may permit beyond the team's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamOverride {
    /// To spend the reserve for incidents, in this run.
    Incident,
    /// To send without the team store, until it responds.
    Unreachable,
}

impl GroupBudget {
    /// Returns this budget if calls may exceed it at worst.
    pub fn exceeded(self, unit: Unit, worst: Option<u64>, is_incident: bool) -> Option<OverBudget> {
        let Self { period, limit, reserve, spent } = self;
        let fits = |limit| worst.is_some_and(|worst| worst == 0 || spent.saturating_add(worst) <= limit);
        let reserve = if is_incident { 0 } else { reserve };
        let usual = limit.saturating_sub(reserve);
        let reserve = if fits(limit) { limit.saturating_sub(spent.max(usual)) } else { 0 };
        let over =
            OverBudget { span: BudgetPeriod::Group(period), limit: usual, spent: Some(spent), worst, unit, reserve };
        (!fits(usual)).then_some(over)
    }
}

/// Units spent, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentUnits {
    /// By calls that were answered.
    pub charged: u64,
    /// By calls that may have been charged: in flight, lost, refused.
    pub unsure: u64,
    /// Whether one of these calls has no known maximum, so that it may have cost more.
    pub is_open: bool,
}

impl SpentUnits {
    pub fn and(self, other: Self) -> Self {
        Self {
            charged: self.charged.saturating_add(other.charged),
            unsure: self.unsure.saturating_add(other.unsure),
            is_open: self.is_open || other.is_open,
        }
    }

    /// Returns the difference, at least zero.
    pub fn without(self, part: Self) -> Self {
        Self {
            charged: self.charged.saturating_sub(part.charged),
            unsure: self.unsure.saturating_sub(part.unsure),
            is_open: self.is_open && !part.is_open,
        }
    }

    /// Returns the sum of both fields; a lower bound if it is open.
    pub fn total(self) -> u64 {
        self.charged.saturating_add(self.unsure)
    }

    /// Returns whether the cost of a call is not certain.
    pub fn has_unsure(self) -> bool {
        self.unsure > 0 || self.is_open
    }

    /// Returns the maximum that may have been spent; `None` if unknown.
    pub fn most(self) -> Option<u64> {
        (!self.is_open).then_some(self.total())
    }
}

/// Sums units of all kinds, as budgets count them; messages to the user list each kind separately.
impl Sum for SpentUnits {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::and)
    }
}

/// Written like a price: "1", "1 to 4", "1 or more".
impl fmt::Display for SpentUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&thousands(self.charged))?;
        match (self.is_open, self.unsure) {
            (true, _) => f.write_str(" or more"),
            (false, 0) => Ok(()),
            (false, _) => write!(f, " to {}", thousands(self.total())),
        }
    }
}

/// Returns the units spent, as text: requests by their number alone, other units with their name.
pub fn in_units(spent: &BTreeMap<Unit, SpentUnits>) -> String {
    let each: Vec<_> = spent.iter().filter(|(_, spent)| spent.total() > 0 || spent.is_open).collect();
    let named = |(unit, spent): &(&Unit, &SpentUnits)| match spent.most() {
        Some(1) => format!("{spent} {}", unit.name()),
        _ => format!("{spent} {}", unit.plural()),
    };
    match each.as_slice() {
        [] => "0".to_owned(),
        [(Unit::Request, spent)] => spent.to_string(),
        each => each.iter().map(named).collect::<Vec<_>>().join(", "),
    }
}

/// A call that would exceed a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    pub span: BudgetPeriod,
    pub limit: u64,
    /// Units spent or possibly spent; `None` if unknown.
    pub spent: Option<u64>,
    /// The maximum cost of the call; `None` if unknown.
    pub(crate) worst: Option<u64>,
    pub(crate) unit: Unit,
    /// Units that are left for incidents, if they are enough for the call.
    pub reserve: u64,
}

impl Budget {
    /// Adds another limit per run; the lower one applies.
    pub fn at_most(self, session: Option<u64>) -> Self {
        Self { session: [self.session, session].into_iter().flatten().min(), ..self }
    }

    /// Returns whether any limit of spending is set.
    pub fn is_set(self) -> bool {
        self.session.or(self.daily).is_some()
    }

    /// Returns the budget that this call would exceed at worst, given the units already spent.
    pub fn exceeded(self, price: &Price, session: SpentUnits, today: SpentUnits) -> Option<OverBudget> {
        self.exceeded_by(price.verdict.unit, price.verdict.units.max, session, today)
    }

    /// Returns whether this much may be spent at worst, given the units already spent.
    pub fn allows(self, worst: Option<u64>, session: SpentUnits, today: SpentUnits) -> bool {
        self.exceeded_by(Unit::Request, worst, session, today).is_none()
    }

    fn exceeded_by(self, unit: Unit, worst: Option<u64>, session: SpentUnits, today: SpentUnits) -> Option<OverBudget> {
        let limits = [(BudgetPeriod::Session, self.session, session), (BudgetPeriod::Day, self.daily, today)];
        limits.into_iter().find_map(|(span, limit, spent)| {
            let limit = limit?;
            let spent = spent.most();
            let fits = spent.zip(worst).is_some_and(|(spent, worst)| spent.saturating_add(worst) <= limit);
            (!fits && worst != Some(0)).then_some(OverBudget { span, limit, spent, worst, unit, reserve: 0 })
        })
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worst = self.worst.map_or("an unknown number of units".to_owned(), |worst| self.unit.count(worst));
        let limit = thousands(self.limit);
        let span = match self.span {
            BudgetPeriod::Session => "that this run may spend".to_owned(),
            BudgetPeriod::Day => "that may be spent today (UTC)".to_owned(),
            BudgetPeriod::Group(period) => format!("that the group may spend {} (UTC)", period.current()),
        };
        write!(f, "over the budget: it may cost {worst}, and ")?;
        match self.spent {
            Some(spent) => {
                write!(f, "{} of the {limit} {span} is left", thousands(self.limit.saturating_sub(spent)))?;
                let more = thousands(self.reserve);
                if self.reserve > 0 { write!(f, ", {more} more for incidents") } else { Ok(()) }
            }
            None => write!(
                f,
                "the rest of the {limit} {span} is not known: a response was lost. \
                 `behaview quota` (free), five minutes after it, settles that"
            ),
        }
    }
}

/// What calls of one operation, person, day (UTC), project and file cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallCost {
    pub day: String,
    pub person: Untrusted,
    pub operation: Untrusted,
    /// Empty without one.
    pub project: Untrusted,
    /// The SHA-256 of the file; empty for calls about none.
    pub file: Untrusted,
    pub unit: Untrusted,
    pub calls: u64,
    #[serde(rename = "counts_as")]
    pub charged: u64,
    /// The units that stored responses have saved.
    pub saved: u64,
}

names! {
    CostGrouping { User "user", Project "project", Operation "operation", File "file", Day "day", }
}

/// The sum of costs with one name and unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostSum {
    pub name: Untrusted,
    pub unit: Untrusted,
    pub calls: u64,
    #[serde(rename = "counts_as")]
    pub charged: u64,
    pub saved: u64,
}

impl CostSum {
    /// Returns the cells of a row: name, calls, units spent and saved, unit.
    pub fn cells(&self) -> [String; 5] {
        let [calls, charged, saved] = [self.calls, self.charged, self.saved].map(thousands);
        [self.name.visible_cut(64).to_string(), calls, charged, saved, self.unit.visible_cut(20).to_string()]
    }
}

impl CallCost {
    /// Returns the cost of one call of this machine.
    pub fn of_entry(entry: &LedgerEntry, project: &str) -> Self {
        Self {
            day: entry.at.strftime("%F").to_string(),
            person: Untrusted::from("this machine"),
            operation: Untrusted::from(&*entry.operation),
            project: Untrusted::from(project),
            file: Untrusted::from(entry.file.as_deref().unwrap_or_default()),
            unit: Untrusted::from(&*entry.unit),
            calls: 1,
            charged: entry.counts_as,
            saved: entry.saved(),
        }
    }
}

impl LedgerEntry {
    /// Returns the units that it would have cost, had its response not been stored.
    pub fn saved(&self) -> u64 {
        let why = self.outcome.as_deref().and_then(|outcome| outcome.strip_prefix("not sent: "));
        if why.is_some_and(|why| why.contains("stored")) { self.predicted_max.unwrap_or(1) } else { 0 }
    }
}

impl CostGrouping {
    /// Returns the sums: the last day first, otherwise the highest cost.
    pub fn sum(self, costs: &[CallCost]) -> Vec<CostSum> {
        let mut sums = BTreeMap::new();
        for cost in costs {
            let name = match self {
                Self::User => cost.person.clone(),
                Self::Project => cost.project.clone(),
                Self::File => cost.file.clone(),
                Self::Operation => cost.operation.clone(),
                Self::Day => Untrusted::from(&*cost.day),
            };
            let name = if name.is_empty() { Untrusted::from("(none)") } else { name };
            let empty = CostSum { name: name.clone(), unit: cost.unit.clone(), calls: 0, charged: 0, saved: 0 };
            let sum = sums.entry((name, cost.unit.clone())).or_insert(empty);
            sum.calls = sum.calls.saturating_add(cost.calls);
            sum.charged = sum.charged.saturating_add(cost.charged);
            sum.saved = sum.saved.saturating_add(cost.saved);
        }
        let mut sums: Vec<_> = sums.into_values().rev().collect();
        if self != Self::Day {
            sums.sort_by_key(|sum| Reverse((sum.charged, sum.saved)));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{Entitlements, Kind, Operation, price};

    #[test]
    fn the_dearest_outcome_must_fit() {
        let of = |kind| price(&Operation::once(kind), &Entitlements::default());
        let one = of(Kind::PrivateBehaviour);
        let open = of(Kind::V2FileSubmissions);
        let budget = Budget { session: Some(3), daily: Some(5) };
        let spent = |charged| SpentUnits { charged, ..SpentUnits::default() };
        assert_eq!(budget.exceeded(&one, spent(2), spent(4)), None);
        let words = |price, session, today| budget.exceeded(price, spent(session), spent(today)).unwrap().to_string();
        let run = "over the budget: it may cost 1 request, and 0 of the 3 that this run may spend is left";
        assert_eq!(words(&one, 3, 0), run);
        assert!(words(&one, 0, 5).contains("0 of the 5 that may be spent today"));
        assert!(words(&open, 0, 0).contains("an unknown number of units"));
        assert_eq!(Budget::default().exceeded(&open, spent(u64::MAX), spent(u64::MAX)), None);
        let lost = SpentUnits { is_open: true, ..spent(0) };
        let words = budget.exceeded(&one, lost, lost).unwrap().to_string();
        assert!(words.contains("the rest of the 3 that this run may spend is not known"), "{words}");
        let three = spent(3);
        let two = SpentUnits { unsure: 2, ..spent(0) };
        let maybe = SpentUnits { unsure: 1, ..spent(0) };
        for (requests, scans, words) in [
            (spent(0), spent(0), "0"),
            (three.and(two), spent(0), "3 to 5"),
            (lost.and(three), spent(0), "3 or more"),
            (three, two, "3 requests, 0 to 2 scans"),
            (spent(1).and(maybe), maybe, "1 to 2 requests, 0 to 1 scan"),
            (spent(0), maybe, "0 to 1 scan"),
        ] {
            assert_eq!(in_units(&BTreeMap::from([(Unit::Request, requests), (Unit::Scan, scans)])), words);
        }
        assert_eq!([three, two].into_iter().sum::<SpentUnits>(), SpentUnits { unsure: 2, ..three });
        assert_eq!(budget.at_most(Some(1)).session, Some(1));
        assert_eq!(budget.at_most(Some(9)).session, Some(3));
    }
}
