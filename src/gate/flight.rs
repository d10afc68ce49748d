//! What is under way in this run: the same is not sent twice, and each can be given up.

use super::{Gate, GateError};
use crate::request::Request;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A request that is under way.
pub(super) struct Flight {
    given_up: Arc<Notify>,
    /// What tells that another request would do the same.
    claim: Option<Vec<u8>>,
    /// What the ledger says of it, once that is written down.
    pub(super) entry: Option<i64>,
}

/// Forgets that a request is under way, however its future ends.
pub(super) struct UnderWay<'a> {
    gate: &'a Gate,
    request: &'a Request,
    pub(super) given_up: Arc<Notify>,
}

impl UnderWay<'_> {
    /// Notes what the ledger says of it.
    pub(super) fn is_written(&self, entry: i64) {
        if let Some(flight) = self.gate.calls().get_mut(self.request) {
            flight.entry = Some(entry);
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.gate.calls().remove(self.request);
    }
}

impl Gate {
    /// Ends the wait for an answer that is under way; what was sent may have been charged, and counts so.
    pub fn give_up(&self, request: &Request) {
        if let Some(flight) = self.calls().get(request) {
            flight.given_up.notify_one();
        }
    }

    /// The calls that are under way, each with the way to give it up.
    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<Request, Flight>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request, unless it is under way, or another that does the same.
    pub(super) fn enter<'a>(&'a self, request: &'a Request, claim: Option<Vec<u8>>) -> Result<UnderWay<'a>, GateError> {
        let mut under_way = self.calls();
        let is_same = |flight: &Flight| claim.is_some() && flight.claim == claim;
        if under_way.contains_key(request) || under_way.values().any(is_same) {
            return Err(GateError::UnderWay);
        }
        let given_up = Arc::new(Notify::new());
        under_way.insert(request.clone(), Flight { given_up: Arc::clone(&given_up), claim, entry: None });
        Ok(UnderWay { gate: self, request, given_up })
    }
}
