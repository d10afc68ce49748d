//! Finishes a call that was sent: stores and reads its answer, and settles its ledger entry.

use super::arriving::GatheredAnswer;
use super::reading::{self, read_stored};
use super::{Answer, Gateway, GatewayError};
use crate::log::Level;
use crate::quota::{Privileges, Settled};
use crate::request::Request;
use crate::service::error::ServiceError;
use crate::store::{Call, NewAnswer, State, StoreError, Whose};
use jiff::Timestamp;

impl Gateway {
    /// Settles a call, unless it was free. If the settlement cannot be written, the entry stays
    /// reserved, which counts as charged.
    pub(super) async fn settle(&self, call: Option<Call>, settlement: (State, Option<u64>), outcome: &str) {
        let Some(call) = call else { return };
        let (outcome, now) = (outcome.to_owned(), self.now());
        let settled = self.work(move |store| store.settle(call, settlement, &outcome, now)).await;
        if let Err(why) = settled.and_then(|settled| settled.map_err(GatewayError::Ledger)) {
            self.log.write(Level::Error, "not settled", &[("why", &why)]);
        }
    }

    /// Stores the bytes of an answer, then reads them.
    pub(super) async fn take(
        &self,
        request: &Request,
        received: Timestamp,
        gathered: GatheredAnswer,
    ) -> Result<Result<Answer, ServiceError>, GatewayError> {
        let (service, profile) = (self.service().to_owned(), self.profile().to_owned());
        let (request, owner) = (request.clone(), self.client.owner());
        if let Some(refusal) = reading::refusal(&gathered.body, received) {
            return Ok(Err(ServiceError::Refused(refusal)));
        }
        self.work(move |store| {
            let GatheredAnswer { body, index, remark } = gathered;
            let remark = remark.map(str::to_owned);
            let Some(key) = request.holding_key() else {
                reading::check(&request, &body)?;
                if request == Request::User
                    && let Ok(user) = serde_json::from_slice(&body)
                {
                    let whose = Whose { profile: &profile, service: &service, owner };
                    let noted = store.note_privileges(whose, Privileges::of_user(&user, received));
                    let unkept = noted.err().map(|why| unkept_words(&why));
                    return Ok(Answer { received, body, unkept: unkept.or(remark) });
                }
                return Ok(Answer { received, body, unkept: remark });
            };
            let new = NewAnswer { service: &service, profile: &profile, key: &key, received, bytes: &body };
            let unkept = match store.keep(&new) {
                Ok(()) => read_stored(store, &request, &new, &body, index)?,
                Err(error) => {
                    reading::read(&request, &body, index)?;
                    Some(unkept_words(&error))
                }
            };
            Ok(Answer { received, body, unkept: unkept.or(remark) })
        })
        .await
    }
}

/// Why an answer is not stored, in words that follow its name.
pub(super) fn unkept_words(error: &StoreError) -> String {
    format!("could not be kept, so asking again costs again: {error}")
}

/// The settlement of a call for the ledger.
pub(super) fn settlement(settled: Settled, taken: &Result<Answer, ServiceError>) -> (State, Option<u64>) {
    match (settled, taken) {
        (Settled::Exactly(units), Ok(_)) => (State::Charged, Some(units)),
        (Settled::Exactly(0), Err(error)) if !error.may_be_charged() => (State::Unsent, Some(0)),
        (Settled::Exactly(0), Err(_)) => (State::Free, Some(0)),
        _ => (State::Unknown, None),
    }
}
