//! What is under way in this run: the same is not sent twice, and each can be given up.

use super::{Gateway, GatewayError};
use crate::request::Request;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Whether nobody waits any more.
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

    /// Whether that was said already.
    pub(super) fn is_said(&self) -> bool {
        self.is_said.load(Ordering::SeqCst)
    }

    /// Waits until it is said.
    pub(super) async fn said(&self) {
        self.bell.notified().await;
    }
}

/// A request that is under way.
pub(super) struct Flight {
    given_up: Arc<GivenUp>,
    /// What tells that another request would do the same.
    claim: Option<Vec<u8>>,
    /// What the ledger says of it, once that is written down.
    pub(super) entry: Option<i64>,
}

impl Flight {
    fn does(&self, claim: &Option<Vec<u8>>) -> bool {
        claim.is_some() && self.claim == *claim
    }
}

/// Forgets that a request is under way, however its future ends.
pub(super) struct UnderWay<'a> {
    gateway: &'a Gateway,
    request: &'a Request,
    pub(super) given_up: Arc<GivenUp>,
}

impl UnderWay<'_> {
    /// Claims what is known only once the request was looked at, unless another does the same.
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

    /// Notes what the ledger says of it.
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
    /// Ends the wait for an answer that is under way; what was sent may have been charged, and counts so. Before that nothing is.
    pub fn give_up(&self, request: &Request) {
        if let Some(flight) = self.calls().get(request) {
            flight.given_up.say();
        }
    }

    /// The calls that are under way, each with the way to give it up.
    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<Request, Flight>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request, unless it is under way.
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
