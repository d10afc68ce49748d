//! What is held, as the gate gives it: read, if a run that ended left it unread.

use super::{Gate, reading};
use crate::report::identifier::Sha256;
use crate::request::Request;
use crate::service::error::{NOT_FOUND, ServiceError};
use crate::store::{HeldAnswer, StoreError};
use jiff::{SignedDuration, Timestamp};

/// How long a 404 is remembered.
const MISSING: SignedDuration = SignedDuration::from_hours(1);

/// An answer that was paid for and lies set aside, in the place of one that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    pub received: Timestamp,
    /// What it is, in words before and after that moment.
    what: [&'static str; 2],
}

impl Aside {
    /// What is said of it before the same is asked again.
    pub fn words(self) -> String {
        let ([before, after], when) = (self.what, self.received.strftime("%F %R UTC"));
        format!("{before} of {when}{after} is set aside, because it is damaged or of no use; behaview held has it")
    }
}

impl Gate {
    /// What lies set aside in the place of an answer that is not held.
    pub fn aside(&self, request: &Request) -> Result<Option<Aside>, StoreError> {
        let Some(key) = request.holding_key() else { return Ok(None) };
        let own = self.store.aside(self.profile(), &key)?.map(|received| Aside { received, what: ["its answer", ""] });
        match request {
            Request::Behaviour { identifier } if own.is_none() => {
                let of_file = identifier.parts().file.map(|file| self.list_aside(&file)).transpose()?;
                Ok(of_file.flatten().map(|aside| Aside { what: ["a list", " that may have it"], ..aside }))
            }
            _ => Ok(own),
        }
    }

    /// What is said of a request that the service answered with 404 within the last hour, and with nothing else since.
    pub fn missing(&self, request: &Request) -> Result<Option<String>, StoreError> {
        let Some(claim) = request.claim() else { return Ok(None) };
        let since = self.now().checked_sub(MISSING).unwrap_or(Timestamp::MIN);
        let last = self.store.last_outcome(self.whose(), &claim, since)?;
        let last = last.filter(|(_, outcome)| outcome.starts_with(NOT_FOUND));
        let words = |at: Timestamp| {
            format!("{}: the service did not have it at {} (404)", request.words(), at.strftime("%R UTC"))
        };
        Ok(last.map(|(at, _)| words(at)))
    }

    /// The list of a file's sandboxes, or a page of it, that lies set aside.
    pub fn list_aside(&self, file: &Sha256) -> Result<Option<Aside>, StoreError> {
        // A page's key is that of the first one with the service's word behind it.
        let listing = self.client.profile().listing;
        let list = Request::Behaviours { file: file.clone(), listing, cursor: None };
        let found = list.holding_key().map(|start| self.store.aside_behind(self.profile(), &start)).transpose()?;
        Ok(found.flatten().map(|received| Aside { received, what: ["the list of its sandboxes", ""] }))
    }

    /// The answer that is held, for nothing.
    ///
    /// One that was kept and never read is read now: what it brings is noted, and where it cannot be used it is set aside, so that
    /// an earlier one is held again, or none.
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
        let mut unread = None;
        while let Some(held) = self.store.answer(self.profile(), &key)? {
            if held.is_read || unread == Some(held.id) {
                return Ok(Some(held));
            }
            // A run that ended between keeping and reading leaves bytes that nobody has looked at. Where they are taken in, they may
            // stand elsewhere from now on.
            match reading::accept(&self.store, self.profile(), request, held.id, &held.body, None) {
                // Otherwise it would be found again for ever, and so would one that cannot be set aside.
                Ok(accepted) if accepted.is_unmarked() => return Ok(Some(held)),
                Ok(_) => {}
                Err(ServiceError::Unusable(_)) => self.store.set_aside(held.id)?,
                // Damage has set it aside by itself; whoever else reads it is told why that cannot be done.
                Err(_) => unread = Some(held.id),
            }
        }
        Ok(None)
    }
}
