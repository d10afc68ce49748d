//! What is known of quota: the service's counters, what this session has spent, what the user has bought.

use crate::quota::{Balances, Entitlements, Holder, Limit, Price, Spent, Unit, Usage};
use crate::request::Request;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The figures that prices and what is left are told from.
#[derive(Debug, Default)]
pub struct Figures {
    /// What the service's counters say.
    pub balances: Option<Balances>,
    /// Why they are not known, if they were asked for.
    pub failure: Option<String>,
    /// What was used by day and endpoint, once somebody has looked at it.
    pub usage: Option<Usage>,
    /// What the user has bought, as far as it is known.
    pub entitlements: Entitlements,
    /// Units that this session has spent.
    pub spent: Spent,
    /// How often the counters confirmed and contradicted the price of each operation.
    pub record: BTreeMap<String, (u64, u64)>,
    /// Whether the analyst asked for the counters, and is told when they are there.
    announces_balances: bool,
    /// The same for what was used.
    announces_usage: bool,
    /// Whether something was paid while the counters were on their way: what they say may be from before.
    are_outrun: bool,
}

impl Figures {
    /// Notes that the analyst asks this, and is to be told when it is answered; other questions have places of their own.
    pub(super) fn await_answer(&mut self, request: &Request) {
        self.announces_balances |= *request == Request::Quotas;
        self.announces_usage |= matches!(request, Request::Usage { .. });
    }

    /// Notes that something was paid while the counters are on their way.
    pub(super) fn outrun(&mut self) {
        self.are_outrun = true;
    }

    /// Takes the word that the counters which have come may be from before something that was paid, if it was given.
    pub(super) fn take_outrun(&mut self) -> bool {
        std::mem::take(&mut self.are_outrun)
    }

    /// Takes the analyst's wish to be told the counters, if there is one.
    pub(super) fn take_balances_awaited(&mut self) -> bool {
        std::mem::take(&mut self.announces_balances)
    }

    /// Takes the analyst's wish to be told what was used, if there is one.
    pub(super) fn take_usage_awaited(&mut self) -> bool {
        std::mem::take(&mut self.announces_usage)
    }

    /// Takes in what the counters say, and what they let know of what was bought.
    pub(super) fn take_balances(&mut self, balances: Balances) {
        self.entitlements = self.entitlements.updated(Entitlements::from_balances(&balances));
        (self.balances, self.failure) = (Some(balances), None);
    }

    /// The limit on requests that leaves a holder the least.
    #[must_use]
    pub fn scarcest(&self, holder: Holder) -> Option<Limit> {
        self.left_of(Unit::Request, holder)
    }

    fn left_of(&self, unit: Unit, holder: Holder) -> Option<Limit> {
        self.balances.as_ref().and_then(|balances| balances.scarcest(unit, holder))
    }

    /// When a spent quota is full again, if the service's counters leave nothing for this price.
    #[must_use]
    pub fn spent_until(&self, price: &Price, now: Timestamp) -> Option<String> {
        let limits = [Holder::User, Holder::Group].map(|holder| self.left_of(price.unit, holder));
        let empty = limits.into_iter().flatten().find(|limit| limit.remaining == 0).filter(|_| !price.is_free())?;
        Some(empty.period.reset_words(now))
    }
}
