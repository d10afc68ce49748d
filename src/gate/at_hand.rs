//! An artefact that the store has no room for: it was paid for, so it stays in memory until whoever asked has written it elsewhere.

use super::Answer;
use super::came::unkept_words;
use crate::report::{Arriving, Body, body};
use crate::service::error::ServiceError;
use crate::store::StoreError;
use jiff::Timestamp;

/// The most that is held so.
const MOST: u64 = 256 * 1024 * 1024;

/// All of it, and why it is not in the store.
pub(super) struct AtHand {
    bytes: Arriving,
    why: StoreError,
}

impl AtHand {
    /// What the store has up to a byte, which goes on here.
    pub(super) fn behind(kept: Option<&Body>, from: u64, why: StoreError) -> Result<Self, ServiceError> {
        let mut at_hand = Self { bytes: Arriving::default(), why };
        while at_hand.bytes.len() < from {
            let at = at_hand.bytes.len();
            let part = kept.and_then(|kept| kept.window(at..from.min(at + body::WINDOW)).ok());
            match part.filter(|part| !part.is_empty()) {
                Some(part) => at_hand.hold(&part)?,
                None => return Err(ServiceError::Unkept(at_hand.why.to_string())),
            }
        }
        Ok(at_hand)
    }

    /// Adds what came next.
    pub(super) fn hold(&mut self, bytes: &[u8]) -> Result<(), ServiceError> {
        if self.bytes.len() + bytes.len() as u64 > MOST {
            return Err(ServiceError::Unkept(format!("{}; and it is too long for memory", self.why)));
        }
        self.bytes.push(bytes).map_err(|error| ServiceError::Unkept(error.to_string()))
    }

    /// The whole, once it is here.
    pub(super) fn into_answer(self, received: Timestamp) -> Answer {
        Answer { received, body: self.bytes.body(), unkept: Some(unkept_words(&self.why)) }
    }
}
