//! The known quota: the service's counters, this session's spending, entitlements, the budget.

use crate::app::spending::Tag;
use crate::app::spending::counters::when;
use crate::quota::{Balances, Budget, Entitlements, Holder, Limit, Period, Price, Spent, Unit, Usage};
use crate::request::Request;
use crate::text::thousands;
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a holder has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemainingQuota {
    /// Of which limit, and how much.
    pub limit: Limit,
    /// Whether it was renewed since the counters were asked for: what others have used since is not known.
    pub is_at_most: bool,
}

/// The figures behind prices and remaining quota.
#[derive(Debug, Default)]
pub struct Figures {
    /// What the service's counters say.
    pub balances: Option<Balances>,
    /// When they were asked for: a period that has begun since is not counted in them.
    asked: Option<Timestamp>,
    /// Why they are not known, if they were asked for.
    pub failure: Option<String>,
    /// Whether the service refused the last call that costs something because the quota is spent.
    pub says_spent: bool,
    /// Until when the service refuses paid calls.
    pub wait_until: Option<Timestamp>,
    /// Usage by day and endpoint, once the user has asked for it.
    pub usage: Option<Usage>,
    /// What the user has bought, as far as it is known.
    pub entitlements: Entitlements,
    /// What this session has spent of each unit.
    pub spent: BTreeMap<Unit, Spent>,
    /// What the user allows to be spent.
    pub allowance: Allowance,
    /// How often the counters confirmed and contradicted the price of each operation.
    pub record: BTreeMap<String, (u64, u64)>,
    /// Whether the user asked for the counters, and sees them when they arrive.
    pub(in crate::app) announces_balances: bool,
    /// The same for usage.
    pub(in crate::app) announces_usage: bool,
    /// Whether something was paid while the counters were on their way: what they say may be from before.
    pub(in crate::app) are_outrun: bool,
}

impl Figures {
    /// Records that the user waits for this; other requests have places of their own.
    pub(in crate::app) fn await_answer(&mut self, request: &Request) {
        self.announces_balances |= *request == Request::Quotas;
        self.announces_usage |= matches!(request, Request::Usage { .. });
    }

    /// Takes the counters, and the entitlements that follow from them.
    pub(in crate::app) fn take_balances(&mut self, balances: Balances, asked: Timestamp) {
        self.entitlements = self.entitlements.updated(Entitlements::from_balances(&balances));
        (self.balances, self.asked, self.failure) = (Some(balances), Some(asked), None);
    }

    /// What the counters are known to leave now: those that were renewed since they were asked for are full, at most.
    pub fn balances_now(&self, now: Timestamp) -> Option<Cow<'_, Balances>> {
        let balances = self.balances.as_ref()?;
        Some(balances.as_of(now, self.asked.unwrap_or(now)))
    }

    /// The limit on this unit that leaves a holder the least.
    pub fn scarcest(&self, unit: Unit, holder: Holder, now: Timestamp) -> Option<RemainingQuota> {
        let limit = self.balances_now(now)?.scarcest(unit, holder)?;
        Some(self.left_of(limit, now))
    }

    /// Every limit on this unit, the shortest period first, the user before the group.
    pub fn left(&self, unit: Unit, now: Timestamp) -> Vec<RemainingQuota> {
        let limits = self.balances_now(now).map(|balances| balances.limits(unit)).unwrap_or_default();
        limits.into_iter().map(|limit| self.left_of(limit, now)).collect()
    }

    fn left_of(&self, limit: Limit, now: Timestamp) -> RemainingQuota {
        RemainingQuota { limit, is_at_most: self.asked.is_some_and(|asked| limit.period.is_renewed(asked, now)) }
    }

    /// The limit that is used up, if the service's counters leave nothing for this price.
    pub fn used_up(&self, price: &Price, now: Timestamp) -> Option<Limit> {
        let limits = [Holder::User, Holder::Group].map(|holder| self.scarcest(price.unit, holder, now));
        let mut limits = limits.into_iter().flatten().map(|left| left.limit).filter(|_| !price.is_free());
        limits.find(|limit| limit.remaining == 0)
    }

    /// Until when the service refuses paid calls, if that is in the future.
    pub fn waits(&self, now: Timestamp) -> Option<Timestamp> {
        self.wait_until.filter(|until| *until > now)
    }

    /// What prevents a paid call now: the quota is spent, or the service refuses.
    pub fn bar(&self, price: &Price, now: Timestamp) -> Option<Tag> {
        let spent = self.used_up(price, now).map(|limit| Tag::Spent(limit.period.reset_words(now)));
        let wait = || self.waits(now).filter(|_| !price.is_free());
        spent.or_else(|| Some(Tag::Wait(format!("{} UTC", when(wait()?, now)))))
    }
}

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

    /// The budget and its use in words; none without a limit.
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
        let mut daily = Allowance::new(Budget { daily: Some(5), ..Budget::default() }, charged(3), evening);
        let allows = |allowance: &Allowance, spent| allowance.allows(Some(1), charged(spent));
        assert!(allows(&daily, 1) && !allows(&daily, 2));
        let morning = "2026-11-21T00:10:00Z".parse().unwrap();
        daily.turn(charged(2), morning);
        assert!(allows(&daily, 6) && !allows(&daily, 7));
        let mut session = Allowance::new(Budget { session: Some(2), ..Budget::default() }, charged(3), evening);
        session.turn(charged(2), morning);
        assert!(allows(&session, 1) && !allows(&session, 2));
    }
}
