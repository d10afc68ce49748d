//! What comes of a call that was sent: its answer is kept and read, or lies aside, and its entry in the ledger is settled.

use super::arriving::Gathered;
use super::{Answer, Gate, GateError, reading};
use crate::log::Level;
use crate::quota::Settled;
use crate::request::Request;
use crate::service::error::ServiceError;
use crate::store::{AnswerId, Call, Settlement, StoreError};
use jiff::Timestamp;

/// What came of a call that was sent.
pub(super) struct Came {
    pub(super) taken: Result<Answer, ServiceError>,
    /// The answer that was set aside because it is of no use, if one was.
    pub(super) aside: Option<AnswerId>,
}

impl From<Result<Answer, ServiceError>> for Came {
    fn from(taken: Result<Answer, ServiceError>) -> Self {
        Self { taken, aside: None }
    }
}

impl Gate {
    /// Ends a call, unless it was a free one. A settlement that cannot be written leaves its entry reserved, which counts as
    /// charged.
    pub(super) async fn settle(&self, call: Option<Call>, settlement: Settlement, outcome: &str) {
        let Some(call) = call else { return };
        let (outcome, now) = (outcome.to_owned(), self.now());
        let settled = self.work(move |store| store.settle(call, settlement, &outcome, now)).await;
        if let Err(why) = settled.and_then(|settled| settled.map_err(GateError::Ledger)) {
            self.log.write(Level::Error, "not settled", &[("why", &why)]);
        }
    }

    /// Keeps the bytes of an answer, then reads them.
    pub(super) async fn take(
        &self,
        request: &Request,
        received: Timestamp,
        gathered: Gathered,
    ) -> Result<Came, GateError> {
        let (profile, request) = (self.profile().to_owned(), request.clone());
        if let Some(refusal) = reading::refusal(&gathered.body, received) {
            return Ok(Err(ServiceError::Refused(refusal)).into());
        }
        let (stays_at_hand, is_part) = (self.stays_at_hand, gathered.is_part);
        let mut came = self
            .work(move |store| {
                let Some(key) = request.holding_key() else {
                    let Gathered { body, .. } = gathered;
                    return reading::check(&request, &body).map(|()| Answer { received, body, unkept: None }).into();
                };
                match store.keep(&profile, &key, received, &gathered.body) {
                    Ok(id) => {
                        let body = stays_at_hand.then(|| gathered.body.clone());
                        let kept = reading::read_kept(store, &profile, &request, id, received, gathered);
                        let taken = kept.map(|answer| Answer { body: body.unwrap_or(answer.body), ..answer });
                        Came { aside: matches!(taken, Err(ServiceError::Unusable(_))).then_some(id), taken }
                    }
                    Err(error) => {
                        let Gathered { body, index, .. } = gathered;
                        let read = reading::read(&request, &body, index);
                        read.map(|_| Answer { received, body, unkept: Some(unkept_words(&error)) }).into()
                    }
                }
            })
            .await?;
        if let (true, Ok(answer)) = (is_part, &mut came.taken) {
            answer
                .unkept
                .get_or_insert_with(|| "is a part by the service's word, though nobody asked for one (206)".to_owned());
        }
        Ok(came)
    }

    /// When an answer to the same came that is of no use either and lies beside one that was just set aside.
    pub(super) async fn aside_before(&self, request: &Request, aside: AnswerId) -> Option<Timestamp> {
        let (profile, key) = (self.profile().to_owned(), request.holding_key()?);
        self.work(move |store| store.aside_before(&profile, &key, aside)).await.ok()?.ok()?
    }
}

/// Why an answer that is here is not held, in words that follow its name.
pub(super) fn unkept_words(error: &StoreError) -> String {
    format!("could not be kept, so asking again costs again: {error}")
}

/// What a call is written down as.
pub(super) fn settlement(settled: Settled, taken: &Result<Answer, ServiceError>) -> Settlement {
    match (settled, taken) {
        (Settled::Exactly(units), Ok(_)) => Settlement::Charged(units),
        (Settled::Exactly(0), Err(error)) if !error.may_be_charged() => Settlement::Unsent,
        (Settled::Exactly(0), Err(_)) => Settlement::Free,
        _ => Settlement::Unknown,
    }
}
