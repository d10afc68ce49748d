//! Reads answers from the store, including those that an earlier run left unread; imports reports
//! that a colleague exported; and looks for earlier submissions of a file.

use super::{Answer, Gateway, GatewayError, reading};
use crate::files;
use crate::report::identifier::{FileHash, Identifier, Sha256};
use crate::report::{Body, Imported, Report};
use crate::request::{Request, Submission};
use crate::service::error::{NOT_FOUND, ServiceError, Unusable};
use crate::store::{NewAnswer, PageReport, Store, StoreError, bare};
use crate::text::{bytes, count, moment};
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256 as Hash};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Bytes per read of a file to submit.
const PIECE: usize = 256 * 1024;

/// How long a 404 is remembered.
const MISSING: SignedDuration = SignedDuration::from_hours(1);

/// A report to be imported, as if it was fetched: a group pays once for all of its members.
#[derive(Debug)]
pub struct Import<'a> {
    pub body: &'a Body,
    /// If its identifier does not name one.
    pub file: Option<&'a Sha256>,
    pub from: &'a Imported,
    pub now: Timestamp,
    pub replaces: bool,
    /// The service whose start screen shows its file, and the profile that imports.
    pub service: &'a str,
    pub profile: &'a str,
}

/// Outcome of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    Held(Identifier),
    Same(Identifier),
    /// Another report stays, of this origin if it was imported.
    Other(Identifier, Option<Imported>),
}

/// A list page that was imported.
#[derive(Debug)]
pub struct ImportedPage {
    pub request: Request,
    pub reports: Vec<Identifier>,
}

/// Why a report is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("it gives no identifier, so it answers no question")]
    Nameless,
    #[error("its identifier names no file: --file SHA256 says which it is of")]
    Fileless,
    #[error("it is of another file: {0}")]
    OtherFile(Sha256),
    #[error("it is no report: {0}")]
    Unusable(#[from] ServiceError),
    #[error("it is only an identifier: the report did not come with it")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Gateway {
    /// A warning of a quarantined answer to a request, if no other is stored.
    pub fn quarantined(&self, request: &Request) -> Result<Option<String>, StoreError> {
        let Some(key) = request.holding_key() else { return Ok(None) };
        if let Some(received) = self.store.quarantined(&self.service, &key)? {
            return Ok(Some(quarantined("its answer", received)));
        }
        let Request::Behaviour { identifier } = request else { return Ok(None) };
        identifier.parts().file.map_or(Ok(None), |file| self.list_quarantined(&file))
    }

    /// A warning of a list of a file's sandboxes, or a page of it, that is in quarantine.
    pub fn list_quarantined(&self, file: &Sha256) -> Result<Option<String>, StoreError> {
        let found = self.store.list_quarantined(&self.service, file)?;
        Ok(found.map(|received| quarantined("the list of its sandboxes", received)))
    }

    /// A message if the latest outcome of the request, within an hour, is a 404.
    pub fn missing(&self, request: &Request) -> Result<Option<String>, StoreError> {
        let Some(claim) = request.claim() else { return Ok(None) };
        let since = self.now().checked_sub(MISSING).unwrap_or(Timestamp::MIN);
        let last = self.store.last_outcome(self.whose(), &claim, since)?;
        let (what, last) = (request.words(), last.filter(|(_, outcome)| outcome.starts_with(NOT_FOUND)));
        Ok(last.map(|(at, _)| format!("{what}: the service did not have it at {}", at.strftime("%R UTC"))))
    }

    /// The stored answer, which costs nothing.
    ///
    /// An answer that was received but not read, because its program was killed, is read now.
    pub fn held(&self, request: &Request) -> Result<Option<Answer>, StoreError> {
        let Some(key) = request.holding_key() else { return Ok(None) };
        if let Some(unread) = self.read_incoming(request, &key)? {
            return Ok(Some(unread));
        }
        if request.by_hash().is_some() {
            return self.stored_by_hash(request);
        }
        if let Request::Behaviour { identifier } = request {
            let Some(report) = self.store.report(&self.service, identifier)? else { return Ok(None) };
            // A damaged report does not count as stored; another copy of it may be sound.
            if let Ok(body) = report.body() {
                return Ok(Some(Answer { received: report.received, body, unkept: None }));
            }
        }
        self.store.answer(&self.service, &key)
    }

    /// The answer about several hashes, joined from the stored answers about each.
    fn stored_by_hash(&self, request: &Request) -> Result<Option<Answer>, StoreError> {
        let Some(parts) = request.by_hash() else { return Ok(None) };
        let found = parts.iter().map(|(_, part)| self.held(part)).collect::<Result<Option<Vec<_>>, _>>()?;
        Ok(found.map(joined))
    }

    /// For a request about several hashes, those without a stored answer, unless that is all.
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

    /// Reads the answers that a killed program left unread, so that their reports can be found.
    pub fn read_unread(&self) -> Result<(), StoreError> {
        for key in self.store.unread(&self.service)? {
            if let Some(request) = Request::of_holding_key(&key) {
                self.read_incoming(&request, &key)?;
            }
        }
        Ok(())
    }

    /// Reads an answer that was never read. Returns it if the store could not record that.
    fn read_incoming(&self, request: &Request, key: &[u8]) -> Result<Option<Answer>, StoreError> {
        let Some((profile, received, bytes)) = self.store.incoming(&self.service, key)? else { return Ok(None) };
        let body = Body::in_memory(bytes);
        let new = NewAnswer { service: &self.service, profile: &profile, key, received, bytes: &body };
        let read = reading::read_stored(&self.store, request, &new, &body, None);
        Ok(read.ok().flatten().map(|_| Answer { received, body, unkept: None }))
    }

    /// When the same request was sent without an answer, except by this entry: it may have arrived,
    /// and been charged. All private scans of a file count as the same.
    pub fn unanswered(&self, request: &Request, except: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
        let Some(claim) = request.claim() else { return Ok(None) };
        let start = match request {
            Request::PrivateScan { submission, .. } => Submission::claims_of(&submission.file).into_bytes(),
            _ => claim.clone(),
        };
        self.store.unanswered(self.whose(), (&start, &claim), except)
    }

    /// Refuses to send a file that another program has sent since the user's check.
    pub(super) fn check_unsent(&self, request: &Request, entry: i64) -> Result<(), GatewayError> {
        let Request::PrivateScan { submission, .. } = request else { return Ok(()) };
        let sent = self.unanswered(request, Some(entry))?;
        sent.filter(|_| sent > submission.sent).map_or(Ok(()), |sent| Err(GatewayError::SentBefore(sent)))
    }

    /// A warning if the file was scanned before, or a scan of it is in progress.
    pub fn scanned_before(&self, file: &Sha256) -> Result<Option<String>, StoreError> {
        let stored = self.store.reports(&self.service, file)?.len() as u64;
        let scan = self.store.pending_scan(&self.service, file)?;
        let before = match scan.filter(|scan| scan.identifier.is_some() && scan.is_pending(self.now())) {
            Some(scan) => format!("A scan of it was running on {}", moment(scan.since)),
            None if stored > 0 => format!("Scanned before: {} stored", count(stored, "report")),
            None => return Ok(None),
        };
        Ok(Some(format!("{before}. To send it is another scan.")))
    }
}

/// Answers about hashes as one, with the time of the oldest.
pub(super) fn joined(answers: Vec<Answer>) -> Answer {
    let received = answers.iter().map(|answer| answer.received).min().unwrap_or_default();
    let bare = |body: &[u8]| {
        let inner = body.strip_prefix(b"[").and_then(|body| body.strip_suffix(b"]"));
        inner.unwrap_or(body).to_vec()
    };
    let bodies: Vec<_> = answers.iter().map(|answer| bare(answer.body.trim_ascii())).collect();
    let body = Body::in_memory([b"[".as_slice(), &bodies.join(&b","[..]), b"]"].concat());
    Answer { received, body, unkept: answers.into_iter().find_map(|answer| answer.unkept) }
}

fn quarantined(what: &str, received: Timestamp) -> String {
    let when = received.strftime("%F %R UTC");
    format!("{what} of {when} is in quarantine, because it is damaged or of no use; behaview held has it")
}

/// The hash and the size in bytes of an ordinary file of at most `largest` bytes.
pub fn look_at(path: &Path, largest: u64) -> io::Result<(Sha256, u64)> {
    let (file, length) = files::open_ordinary(path)?;
    match length {
        0 => return Err(io::Error::other("it is empty")),
        _ if length > largest => return Err(io::Error::other(format!("it is larger than {}", bytes(largest)))),
        _ => {}
    }
    let (mut hash, mut size) = (Hash::new(), 0_u64);
    // A file that grows as fast as it is read would never end.
    let mut reader = BufReader::with_capacity(PIECE, file.take(length + 1));
    while let piece = reader.fill_buf()?
        && !piece.is_empty()
    {
        hash.update(piece);
        let read = piece.len();
        size += read as u64;
        reader.consume(read);
    }
    if size != length {
        return Err(io::Error::other("it changes while it is read"));
    }
    let digits = crate::text::hex(hash.finalize());
    Sha256::parse(&digits).map(|file| (file, size)).ok_or_else(|| io::Error::other("it has no hash"))
}

/// Imports a report, unless one with its identifier is stored. The same bytes replace nothing, so
/// that the origin of the stored ones is not lost.
pub fn import(store: &Store, import: &Import<'_>) -> Result<ImportOutcome, ImportError> {
    let report = Report::open(import.body);
    let index = &report.index;
    let identifier = report.identifier().ok_or_else(|| match (index.is_json, index.is_cut) {
        (false, _) => ServiceError::Unusable(Unusable::NotJson).into(),
        (true, true) => ServiceError::Unusable(Unusable::Cut).into(),
        (true, false) => ImportError::Nameless,
    })?;
    let request = Request::Behaviour { identifier: identifier.clone() };
    reading::read(&request, import.body, None)?;
    if !index.is_attributed && (index.is_enveloped || !report.has_attribute()) {
        return Err(ImportError::Empty);
    }
    let file = match (identifier.parts().file, import.file) {
        (Some(found), Some(named)) if found != *named => return Err(ImportError::OtherFile(found)),
        (found, named) => found.or(named.cloned()).ok_or(ImportError::Fileless)?,
    };
    let stored = store.report(import.service, &identifier)?;
    // A damaged file has just been moved to the quarantine.
    if let Some((stored, body)) = stored.and_then(|stored| stored.body().ok().map(|body| (stored, body))) {
        match bare(&body) == bare(import.body) {
            true if !import.replaces || stored.file.is_some() => return Ok(ImportOutcome::Same(identifier)),
            false if !import.replaces => return Ok(ImportOutcome::Other(identifier, stored.imported)),
            _ => {}
        }
    }
    let reports = [PageReport { identifier: identifier.clone(), file: Some(file), range: 0..import.body.len() }];
    match import.store(store, &request, &reports)? {
        true => Ok(ImportOutcome::Held(identifier)),
        // Another program has imported one meanwhile.
        false => Ok(ImportOutcome::Other(identifier, None)),
    }
}

/// Imports a list page with its reports, unless it is nameless or a part of it is stored already.
pub fn import_page(store: &Store, import: &Import<'_>) -> Result<Option<ImportedPage>, ImportError> {
    let Some(request) = Request::of_page(import.body) else { return Ok(None) };
    let reports = reading::read(&request, import.body, None)?;
    let key = request.holding_key().unwrap_or_default();
    let mut is_any_stored = store.answer(import.service, &key)?.is_some();
    for report in &reports {
        is_any_stored |= store.report(import.service, &report.identifier)?.is_some();
    }
    if is_any_stored && !import.replaces || !import.store(store, &request, &reports)? {
        return Ok(None);
    }
    let reports = reports.into_iter().map(|report| report.identifier).collect();
    Ok(Some(ImportedPage { request, reports }))
}

impl Import<'_> {
    /// Stores it, unless another program has imported the same; returns whether it was stored.
    fn store(&self, store: &Store, request: &Request, reports: &[PageReport]) -> Result<bool, StoreError> {
        let Self { now: received, from, service, profile, replaces, body: bytes, .. } = *self;
        let key = request.holding_key().unwrap_or_default();
        store.import(service, &NewAnswer { service, profile, key: &key, received, bytes }, from, reports, replaces)
    }
}
