//! What the user allows to be spent, and what is known here to be spent of it: so the bar can say beforehand what the gate, which
//! decides by the ledger, would refuse.

use crate::quota::{Budget, Period, Spent};
use crate::text::thousands;
use jiff::Timestamp;

/// The budget, and what others have spent of it.
#[derive(Debug, Default)]
pub struct Allowance {
    budget: Budget,
    /// What all runs had spent of the day when it was counted.
    before: Spent,
    /// What this run had spent by then.
    until_then: Spent,
    counted: Timestamp,
}

impl Allowance {
    /// A budget of which all runs of this day have spent so much, before this one has spent anything.
    pub fn new(budget: Budget, today: Spent, now: Timestamp) -> Self {
        Self { budget, before: today, until_then: Spent::default(), counted: now }
    }

    /// Begins a new day, if one has begun: what this run spent before it is of another day's budget.
    pub(in crate::app) fn turn(&mut self, session: Spent, now: Timestamp) {
        if Period::Daily.is_renewed(self.counted, now) {
            *self = Self { budget: self.budget, before: Spent::default(), until_then: session, counted: now };
        }
    }

    /// Whether the budget allows so much at worst, after what this run has spent.
    pub(super) fn allows(&self, worst: Option<u64>, session: Spent) -> bool {
        self.budget.allows(worst, session, self.today(session))
    }

    fn today(&self, session: Spent) -> Spent {
        self.before.and(session.without(self.until_then))
    }

    /// What may be spent, and what is spent of it, in words; none where there is no limit.
    pub(in crate::app) fn words(&self, session: Spent) -> Option<String> {
        let limits =
            [("This run", self.budget.session, session), ("All runs today", self.budget.daily, self.today(session))];
        let words = limits.into_iter().filter_map(|(who, limit, spent)| {
            let most = if spent.is_open { "at least " } else { "" };
            let (limit, spent) = (thousands(limit?), thousands(spent.total()));
            Some(format!("{who} may spend {limit}: {most}{spent} spent, or may be."))
        });
        let words: Vec<_> = words.collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charged(charged: u64) -> Spent {
        Spent { charged, ..Spent::default() }
    }

    #[test]
    fn a_new_day_has_its_budget_whole_and_a_run_does_not() {
        let evening: Timestamp = "2026-11-20T23:50:00Z".parse().unwrap();
        let mut daily = Allowance::new(Budget { session: None, daily: Some(5) }, charged(3), evening);
        let allows = |allowance: &Allowance, spent| allowance.allows(Some(1), charged(spent));
        assert!(allows(&daily, 1) && !allows(&daily, 2));
        let morning = "2026-11-21T00:10:00Z".parse().unwrap();
        daily.turn(charged(2), morning);
        assert!(allows(&daily, 6) && !allows(&daily, 7));
        let mut session = Allowance::new(Budget { session: Some(2), daily: None }, charged(3), evening);
        session.turn(charged(2), morning);
        assert!(allows(&session, 1) && !allows(&session, 2));
    }
}
