//! Limits that the user sets: beyond them nothing is sent.

use super::{Price, Unit};
use std::fmt;

/// What may be spent at most, in units; none is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// By one run of the program.
    pub session: Option<u64>,
    /// In one day (UTC), by every run with this profile.
    pub daily: Option<u64>,
}

/// What a budget is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// One run of the program.
    Session,
    /// One day (UTC).
    Day,
}

/// A call that would go beyond a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// Which budget.
    pub span: Span,
    /// How much it allows.
    pub limit: u64,
    /// How much of it is spent, or may be.
    pub spent: u64,
    /// What the call would cost at most; none if nobody knows.
    pub worst: Option<u64>,
    /// What that is counted in.
    pub unit: Unit,
}

impl Budget {
    /// The same with one more limit for a run: the lower one holds.
    #[must_use]
    pub fn at_most(self, session: Option<u64>) -> Self {
        Self { session: [self.session, session].into_iter().flatten().min(), ..self }
    }

    /// Whether there is a limit at all.
    #[must_use]
    pub fn is_set(self) -> bool {
        self.session.or(self.daily).is_some()
    }

    /// The budget that a call at this price would exceed at worst, after what was spent; careful sums, in units.
    #[must_use]
    pub fn exceeded(self, price: &Price, session: u64, today: u64) -> Option<OverBudget> {
        let worst = price.units.max();
        let limits = [(Span::Session, self.session, session), (Span::Day, self.daily, today)];
        let over = |spent: u64, limit: u64| worst.is_none_or(|worst| spent.saturating_add(worst) > limit);
        limits.into_iter().find_map(|(span, limit, spent)| {
            limit.filter(|limit| over(spent, *limit)).map(|limit| OverBudget {
                span,
                limit,
                spent,
                worst,
                unit: price.unit,
            })
        })
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worst {
            Some(worst) => write!(f, "over the budget: it would cost {}", self.unit.count(worst))?,
            None => f.write_str("over the budget: nobody knows what it costs at most")?,
        }
        let whose = match self.span {
            Span::Session => "this run may spend",
            Span::Day => "may be spent today (UTC)",
        };
        write!(f, ", and {} of the {} that {whose} are spent or may be", self.spent, self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{Entitlements, Kind, Operation, price};

    #[test]
    fn the_dearest_outcome_must_fit() {
        let of = |kind| price(&Operation::once(kind), &Entitlements::default());
        let (one, open) = (of(Kind::PrivateBehaviour), of(Kind::V2FileSubmissions));
        let budget = Budget { session: Some(3), daily: Some(5) };
        assert_eq!(budget.exceeded(&one, 2, 4), None);
        let words = |price, session, today| budget.exceeded(price, session, today).unwrap().to_string();
        let run =
            "over the budget: it would cost 1 request, and 3 of the 3 that this run may spend are spent or may be";
        assert_eq!(words(&one, 3, 0), run);
        assert!(words(&one, 0, 5).contains("5 of the 5 that may be spent today"));
        assert!(words(&open, 0, 0).contains("nobody knows"));
        assert_eq!(Budget::default().exceeded(&open, u64::MAX, u64::MAX), None);
        assert_eq!(budget.at_most(Some(1)).session, Some(1));
        assert_eq!(budget.at_most(Some(9)).session, Some(3));
    }
}
