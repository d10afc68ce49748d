//! Stores readings of the free quota details beside the ledger, to compare predicted with counted
//! costs.

use super::flight::GivenUp;
use super::{Gateway, GatewayError};
use crate::log::Level;
use crate::quota::audit::{Look, Reading};
use crate::quota::{Balances, Holder, Period, Unit};
use crate::report::Body;
use crate::request::Request;
use crate::store::{Store, Whose};
use jiff::Timestamp;

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

    /// Reads the counters before a call without a known limit: if its answer is lost, only the
    /// readings before and after it show its cost. A reading that fails explains nothing.
    pub(super) async fn look_before(&self) {
        let Some(look) = self.begin_look().await else { return };
        if let Ok(reply) = self.gather(&Request::Quotas, &|_| {}, &GivenUp::default()).await {
            self.note_look(look, self.now(), &reply.body).await;
        }
    }

    /// Stores a reading of the counters, and settles the entries that it explains. A reading that
    /// cannot be stored explains nothing.
    pub(super) async fn note_look(&self, mut look: Look, received: Timestamp, answer: &Body) {
        let Some(balances) = Balances::parse(answer).ok() else { return };
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
