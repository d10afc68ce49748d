//! What is held, as the gate gives it: read, if a run that ended left it unread.

use super::{Gate, reading};
use crate::request::Request;
use crate::store::{HeldAnswer, StoreError};

impl Gate {
    /// The answer that is held, for nothing.
    ///
    /// One that was kept and never read is read now: what it brings is noted, and where it cannot be used it is set aside, so that
    /// an earlier one is held again, or none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn held(&self, request: &Request) -> Result<Option<HeldAnswer>, StoreError> {
        // First: what nobody has read yet may be newer than the report that is known.
        let held = self.held_answer(request);
        match request {
            // Read, but not noted as read: no report is known of it yet.
            _ if matches!(&held, Ok(Some(answer)) if !answer.is_read) => held,
            Request::Behaviour { identifier } => match self.store.report(self.profile(), identifier)? {
                Some(report) => Ok(Some(report.into_answer())),
                None => held,
            },
            _ => held,
        }
    }

    /// The answer that is held under a request's own key, read if nobody has read it yet; unread where that cannot be noted.
    fn held_answer(&self, request: &Request) -> Result<Option<HeldAnswer>, StoreError> {
        let Some(key) = request.holding_key() else { return Ok(None) };
        while let Some(held) = self.store.answer(self.profile(), &key)? {
            if held.is_read {
                return Ok(Some(held));
            }
            // A run that ended between keeping and reading leaves bytes that nobody has looked at. Where they are taken in, they may
            // stand elsewhere from now on.
            match reading::accept(&self.store, self.profile(), request, held.id, &held.body, None) {
                // Otherwise it would be found again for ever, and so would one that cannot be set aside.
                Ok(accepted) if accepted.is_unmarked() => return Ok(Some(held)),
                Ok(_) => {}
                Err(_) => self.store.set_aside(held.id)?,
            }
        }
        Ok(None)
    }
}
