//! Calls in flight in this run: no request is sent twice, and each can be cancelled.

use super::{Gateway, GatewayError};
use crate::request::Request;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Cancellation of a call: set once no one waits for its answer.
#[derive(Default)]
pub(super) struct GivenUp {
    is_said: AtomicBool,
    bell: Notify,
}

impl GivenUp {
    fn say(&self) {
        self.is_said.store(true, Ordering::SeqCst);
        self.bell.notify_one();
    }

    /// Whether the call was cancelled.
    pub(super) fn is_said(&self) -> bool {
        self.is_said.load(Ordering::SeqCst)
    }

    /// Waits until the call is cancelled.
    pub(super) async fn said(&self) {
        self.bell.notified().await;
    }
}

/// A call in flight.
pub(super) struct Flight {
    given_up: Arc<GivenUp>,
    /// Identifies the request: another one with the same claim would do the same.
    claim: Option<Vec<u8>>,
    /// Number of its ledger entry, once that is written.
    pub(super) entry: Option<i64>,
}

impl Flight {
    fn does(&self, claim: &Option<Vec<u8>>) -> bool {
        claim.is_some() && self.claim == *claim
    }
}

/// Guard of a call in flight: removes the call when its future ends or is dropped.
pub(super) struct UnderWay<'a> {
    gateway: &'a Gateway,
    request: &'a Request,
    pub(super) given_up: Arc<GivenUp>,
}

impl UnderWay<'_> {
    /// Sets the claim, which may be known only after a file was read, unless another call in flight
    /// has the same one.
    pub(super) fn claim(&self, claim: Option<Vec<u8>>) -> Result<(), GatewayError> {
        let mut under_way = self.gateway.calls();
        let is_same = |(request, flight): (&Request, &Flight)| request != self.request && flight.does(&claim);
        if under_way.iter().any(is_same) {
            return Err(GatewayError::UnderWay);
        }
        if let Some(flight) = under_way.get_mut(self.request) {
            flight.claim = claim;
        }
        Ok(())
    }

    /// Records the number of the call's ledger entry.
    pub(super) fn is_written(&self, entry: i64) {
        if let Some(flight) = self.gateway.calls().get_mut(self.request) {
            flight.entry = Some(entry);
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.gateway.calls().remove(self.request);
    }
}

impl Gateway {
    /// Cancels a call in flight. A request that was sent may have been charged and counts as such;
    /// before that, nothing is charged.
    pub fn give_up(&self, request: &Request) {
        if let Some(flight) = self.calls().get(request) {
            flight.given_up.say();
        }
    }

    /// The calls in flight, by request.
    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<Request, Flight>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a request as in flight, unless it is already.
    pub(super) fn enter<'a>(&'a self, request: &'a Request) -> Result<UnderWay<'a>, GatewayError> {
        let mut under_way = self.calls();
        if under_way.contains_key(request) {
            return Err(GatewayError::UnderWay);
        }
        let given_up = Arc::<GivenUp>::default();
        under_way.insert(request.clone(), Flight { given_up: Arc::clone(&given_up), claim: None, entry: None });
        Ok(UnderWay { gateway: self, request, given_up })
    }
}
