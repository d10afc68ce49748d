//! Reads answers from the store, including those that an earlier run left unread.

use super::{Gateway, reading};
use crate::report::Body;
use crate::report::identifier::{FileHash, Sha256};
use crate::request::Request;
use crate::service::error::NOT_FOUND;
use crate::store::{Answer, NewAnswer, StoreError};
use jiff::{SignedDuration, Timestamp};

/// How long a 404 is remembered.
const MISSING: SignedDuration = SignedDuration::from_hours(1);

/// A paid answer that is in quarantine, while no other is stored in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quarantined {
    pub received: Timestamp,
    /// Description of the answer, in words before and after that moment.
    what: [&'static str; 2],
}

impl Quarantined {
    /// The warning that is shown before the request is sent again.
    pub fn words(self) -> String {
        let ([before, after], when) = (self.what, self.received.strftime("%F %R UTC"));
        format!("{before} of {when}{after} is in quarantine, because it is damaged or of no use; behaview held has it")
    }
}

impl Gateway {
    /// The quarantined answer to a request, if no other is stored.
    pub fn quarantined(&self, request: &Request) -> Result<Option<Quarantined>, StoreError> {
        let Some(key) = request.holding_key() else { return Ok(None) };
        let own = self.store.quarantined(self.service(), &key)?;
        let own = own.map(|received| Quarantined { received, what: ["its answer", ""] });
        match request {
            Request::Behaviour { identifier } if own.is_none() => {
                let of_file = identifier.parts().file.map(|file| self.list_quarantined(&file)).transpose()?;
                Ok(of_file.flatten().map(|list| Quarantined { what: ["a list", " that may have it"], ..list }))
            }
            _ => Ok(own),
        }
    }

    /// A message if the service answered the request with 404 within the last hour, and that is its
    /// latest outcome.
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

    /// The list of a file's sandboxes, or a page of it, that is in quarantine.
    pub fn list_quarantined(&self, file: &Sha256) -> Result<Option<Quarantined>, StoreError> {
        let found = self.store.list_quarantined(self.service(), file)?;
        Ok(found.map(|received| Quarantined { received, what: ["the list of its sandboxes", ""] }))
    }

    /// The stored answer, which costs nothing.
    ///
    /// An answer that was received but not read, because its program was killed, is read now.
    pub fn held(&self, request: &Request) -> Result<Option<Answer>, StoreError> {
        let Some(key) = request.holding_key() else { return Ok(None) };
        if let Some(unread) = self.read_incoming(request, &key)? {
            return Ok(Some(unread));
        }
        let Request::Behaviour { identifier } = request else {
            let own = self.store.answer(self.service(), &key)?;
            return Ok(own.or(self.stored_by_hash(request)?));
        };
        let Some(report) = self.store.report(self.service(), identifier)? else { return Ok(None) };
        // A damaged report does not count as stored; another copy of it may be sound.
        match report.body() {
            Ok(body) => Ok(Some(Answer { received: report.received, body, unkept: None })),
            Err(_) => self.store.answer(self.service(), &key),
        }
    }

    /// The answer about several hashes, joined from the stored answers about each. Its time is that
    /// of the oldest.
    fn stored_by_hash(&self, request: &Request) -> Result<Option<Answer>, StoreError> {
        let Some(parts) = request.by_hash() else { return Ok(None) };
        let mut found = Vec::new();
        for (_, part) in parts {
            let Some(answer) = self.held(&part)? else { return Ok(None) };
            found.push(answer);
        }
        let received = found.iter().map(|answer| answer.received).min().unwrap_or_default();
        let bodies: Vec<&[u8]> = found.iter().map(|answer| &*answer.body).collect();
        let body = Body::in_memory([b"[".as_slice(), &bodies.join(&b","[..]), b"]"].concat());
        Ok(Some(Answer { received, body, unkept: None }))
    }

    /// For a request about several hashes, those without a stored answer; `None` if that is all of
    /// them.
    pub fn missing_hashes(&self, request: &Request) -> Result<Option<Vec<FileHash>>, StoreError> {
        let Some(parts) = request.by_hash() else { return Ok(None) };
        let (all, mut missing) = (parts.len(), Vec::new());
        for (file, part) in parts {
            if self.held(&part)?.is_none() {
                missing.push(file);
            }
        }
        Ok(Some(missing).filter(|missing| missing.len() < all))
    }

    /// Reads the answers of this service that a killed program left unread: until then their
    /// reports cannot be found.
    pub fn read_unread(&self) -> Result<(), StoreError> {
        for key in self.store.unread(self.service())? {
            if let Some(request) = Request::of_holding_key(&key) {
                self.read_incoming(&request, &key)?;
            }
        }
        Ok(())
    }

    /// Reads an answer that was received and never read. Returns it if the store could not record
    /// that.
    fn read_incoming(&self, request: &Request, key: &[u8]) -> Result<Option<Answer>, StoreError> {
        let Some((profile, received, bytes)) = self.store.incoming(self.service(), key)? else { return Ok(None) };
        let body = Body::in_memory(bytes);
        let new = NewAnswer { service: self.service(), profile: &profile, key, received, bytes: &body };
        let read = reading::read_stored(&self.store, request, &new, &body, None);
        Ok(read.ok().flatten().map(|_| Answer { received, body, unkept: None }))
    }
}
