//! Stores readings of the free quota details beside the ledger, to compare predicted with counted
//! costs.

use super::flight::GivenUp;
use super::{Gateway, GatewayError};
use crate::log::Level;
use crate::quota::audit::{Look, Reading};
use crate::quota::{Balances, Entitlements, Holder, NO_LICENCE, Period, Unit};
use crate::report::Body;
use crate::request::{Quote, Request};
use crate::store::{Store, Whose};
use jiff::Timestamp;
use std::sync::{MutexGuard, PoisonError};

/// The stored counters: those of the unit that calls are counted in, over periods with a documented
/// end.
const KEPT: [(Unit, Period); 2] = [(Unit::Request, Period::Daily), (Unit::Request, Period::Monthly)];

impl Gateway {
    /// Starts a reading of the counters, before it is requested; `None` if it cannot be compared
    /// with the ledger.
    pub(super) async fn begin_look(&self) -> Option<Look> {
        let (account, asked) = (self.client.account()?, self.now());
        let after = self.work(|store| store.last_entry()).await.ok()?.ok()?;
        Some(Look { asked, received: asked, account, after, readings: Vec::new() })
    }

    /// Reads the counters before a call that needs a licence, once in a run, and before one that may
    /// cost more than a request: if its answer is lost, only the readings before and after it show
    /// its cost.
    pub(super) async fn look_before(&self, quote: &Quote) -> Result<(), GatewayError> {
        let is_known = self.shown().is_some();
        // No budget allows a call without a known limit.
        let may_cost_more = quote.price().units.max().map_or(!self.budget.is_set(), |most| most > 1);
        // This machine's clock alone opens no new day of the budget.
        let needs_date = self.budget.daily.is_some() && !quote.price().is_free() && !self.knows_day();
        if may_cost_more || needs_date || quote.needs_licence() && !is_known {
            self.read_counters().await;
        }
        let licence = self.shown().as_ref().and_then(|shown| shown.private_scanning.held());
        match licence {
            Some(false) if quote.needs_licence() => Err(GatewayError::NotEntitled(NO_LICENCE)),
            _ => Ok(()),
        }
    }

    /// Reads the counters. A reading that fails explains nothing.
    pub(super) async fn read_counters(&self) {
        let Some(look) = self.begin_look().await else { return };
        if let Ok(reply) = self.gather(&Request::Quotas, &|_| {}, &GivenUp::default()).await {
            self.note_look(look, self.now(), &reply.body).await;
        }
    }

    /// What the counters of this run show of the user's entitlements.
    fn shown(&self) -> MutexGuard<'_, Option<Entitlements>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a reading of the counters, and settles the entries that it explains. A reading that
    /// cannot be stored explains nothing.
    pub(super) async fn note_look(&self, mut look: Look, received: Timestamp, answer: &Body) {
        let Some(balances) = Balances::parse(answer).ok() else { return };
        *self.shown() = Some(Entitlements::from_balances(&balances));
        look.received = received;
        look.readings = readings(&balances);
        let (profile, service) = (self.profile().to_owned(), self.service().to_owned());
        let (session, owner) = (self.session.clone(), self.client.owner());
        let note = move |store: &Store| {
            store.note_look(Whose { profile: &profile, service: &service, owner }, &session, &look)
        };
        let noted = self.work(note).await;
        if let Err(why) = noted.and_then(|noted| noted.map_err(GatewayError::Ledger)) {
            self.log.write(Level::Error, "look not noted", &[("why", &why)]);
        }
    }
}

fn readings(balances: &Balances) -> Vec<Reading> {
    let mut readings = Vec::new();
    for (unit, period) in KEPT {
        for holder in [Holder::User, Holder::Group] {
            let side = balances.counter(unit, period).and_then(|counter| counter.side(holder));
            let reading = side.map(|side| Reading { unit, period, holder, used: side.used, allowed: side.allowed });
            readings.extend(reading);
        }
    }
    readings
}
