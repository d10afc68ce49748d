//! Finds and joins stored responses, even unread ones of a killed program; finds earlier calls.

use super::{Gateway, GatewayError, StoredResponse, find_parts, hash_file};
use crate::report::Body;
use crate::report::identifier::{FileHash, Sha256};
use crate::report::json::Raw;
use crate::request::{Request, Submission, UploadLimit};
use crate::service::error::NOT_FOUND;
use crate::store::StoreError;
use crate::text::{count, moment};
use jiff::{SignedDuration, Timestamp};

/// How long a 404 is remembered.
const MISSING: SignedDuration = SignedDuration::from_hours(1);

impl Gateway {
    /// Warns of an unreadable response to a request, or list of its file, if no other is stored.
    pub fn unreadable(&self, request: &Request) -> Result<Option<String>, StoreError> {
        if let Some(parts) = request.by_hash() {
            return parts.iter().find_map(|(_, part)| self.unreadable(part).transpose()).transpose();
        }
        let Some(key) = request.storage_key() else { return Ok(None) };
        if let Some(why) = self.unreadable_response(request, &key)? {
            return Ok(Some(why));
        }
        let Request::Behaviour { identifier } = request else { return Ok(None) };
        identifier.parts().file.map_or(Ok(None), |file| self.unreadable(&self.list_of(&file)))
    }

    fn unreadable_response(&self, request: &Request, key: &[u8]) -> Result<Option<String>, StoreError> {
        let what = if matches!(request, Request::Behaviours { .. }) { "list of its sandboxes" } else { "response" };
        let received = self.store.unreadable(&self.service, key)?.map(|received| received.strftime("%F %R UTC"));
        Ok(received.map(|when| format!("an unreadable {what} of {when} is in the store: behaview store lists it")))
    }

    /// Explains why the request would be in vain: a 404 within an hour, or an unreadable response.
    pub fn why_useless(&self, request: &Request) -> Result<Option<String>, StoreError> {
        if let Some(why) = self.missing(request)? {
            return Ok(Some(why));
        }
        request.storage_key().map_or(Ok(None), |key| self.unreadable_response(request, &key))
    }

    /// Returns the request for the first page of a file's list.
    pub fn list_of(&self, file: &Sha256) -> Request {
        Request::Behaviours { file: file.clone(), listing: self.client.profile().listing, cursor: None }
    }

    /// Returns a message if the latest outcome of the request, within an hour, is a 404.
    pub fn missing(&self, request: &Request) -> Result<Option<String>, StoreError> {
        let Some(claim) = request.claim() else { return Ok(None) };
        let since = self.now().checked_sub(MISSING).unwrap_or(Timestamp::MIN);
        let last = self.store.last_outcome(self.payer(), &claim, since)?;
        let what = request.label();
        let last = last.filter(|(_, outcome)| outcome.starts_with(NOT_FOUND));
        Ok(last.map(|(at, _)| format!("{what}: the service did not have it at {}", at.strftime("%R UTC"))))
    }

    /// Returns the stored response, also one that a killed program left unread.
    pub fn stored(&self, request: &Request) -> Result<Option<StoredResponse>, StoreError> {
        let Some(key) = request.storage_key() else { return Ok(None) };
        self.read_unread(Request::file_of_key(&key).as_ref())?;
        if let Some(parts) = request.by_hash() {
            let responses = parts.iter().map(|(_, part)| self.stored(part)).collect::<Result<Option<Vec<_>>, _>>()?;
            return Ok(responses.map(|responses| joined(&responses, &[], None)));
        }
        if let Request::Behaviour { identifier } = request {
            let Some(report) = self.store.report(&self.service, identifier)? else { return Ok(None) };
            // A damaged report does not count as stored; another copy of it may be sound.
            if let Ok(body) = report.body() {
                return Ok(Some(StoredResponse::new(report.received, body)));
            }
        }
        let found = self.store.response(&self.service, &key)?;
        // A further page that is older than the first one belongs to an older list.
        if let Request::GroupList { list, cursor: Some(_) } = request {
            let first = self.stored(&Request::GroupList { list: *list, cursor: None })?;
            return Ok(found.filter(|found| first.is_some_and(|first| first.received <= found.received)));
        }
        Ok(found)
    }

    /// Returns the hashes of a request without a readable stored response; `None` if all or none.
    pub fn missing_hashes(&self, request: &Request) -> Option<Vec<FileHash>> {
        let parts = request.by_hash()?;
        let all = parts.len();
        let is_missing = |part: &Request| self.stored(part).ok().flatten().is_none();
        let missing = parts.into_iter().filter(|(_, part)| is_missing(part)).map(|(file, _)| file);
        Some(missing.collect::<Vec<_>>()).filter(|missing| (1..all).contains(&missing.len()))
    }

    /// Reads the responses about a file that a killed program may have left unread.
    pub fn read_unread(&self, file: Option<&Sha256>) -> Result<(), StoreError> {
        self.store.read_again(&self.service, file, |new| {
            find_parts(&Request::of_storage_key(new.key)?, &Body::in_memory(new.bytes.to_vec())).ok()
        })
    }

    /// Returns when the same request was sent without a response, except by this entry: it may have
    /// arrived and been charged. All private scans of a file count as the same.
    pub fn unanswered(&self, request: &Request, except: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
        let Some(claim) = request.claim() else { return Ok(None) };
        let start = match request {
            Request::PrivateScan { submission, .. } => Submission::claims_of(&submission.file).into_bytes(),
            _ => claim.clone(),
        };
        self.store.unanswered(self.payer(), (&start, &claim), except)
    }

    /// Warns if the same was published before without a response.
    pub fn published_before(&self, request: &Request) -> Result<Option<String>, StoreError> {
        let mut request = request.clone();
        // The hash shows whether the file was sent before. An unreadable file fails later.
        if let Request::V2Scan { path, file } = &mut request {
            *file = hash_file(path, self.client.profile().largest(UploadLimit::Direct)).ok();
        }
        let sent = request.publishes().map(|_| self.unanswered(&request, None)).transpose()?.flatten();
        let why = "already: it may have arrived, and been charged. This sends it again.";
        Ok(sent.map(|when| format!("the same was sent on {} {why}", moment(when))))
    }

    /// Refuses to send a file that another program has sent since the user's check.
    pub(super) fn check_unsent(&self, request: &Request, entry: i64) -> Result<(), GatewayError> {
        let Request::PrivateScan { submission, .. } = request else { return Ok(()) };
        let sent = self.unanswered(request, Some(entry))?;
        sent.filter(|_| sent > submission.sent).map_or(Ok(()), |sent| Err(GatewayError::SentBefore(sent)))
    }

    /// Warns if the file was scanned before, or a scan of it is in progress.
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

/// Joins responses about several hashes; the remark names those that are missing, and why.
pub(super) fn joined(responses: &[StoredResponse], missing: &[FileHash], why: Option<&GatewayError>) -> StoredResponse {
    let elements: Vec<_> =
        responses.iter().flat_map(|response| Raw::new(&response.body).each()).map(|one| one.bytes()).collect();
    let body = Body::in_memory([b"[".as_slice(), &elements.join(&b","[..]), b"]"].concat());
    let names: Vec<_> = missing.iter().map(FileHash::as_str).collect();
    let lacks = why.map(|why| format!("lacks {}: {why}", names.join(", ")));
    let remark = lacks.or_else(|| responses.iter().find_map(|response| response.remark.clone()));
    let received = responses.iter().map(|response| response.received).min().unwrap_or_default();
    StoredResponse { received, body, remark, is_partial: !missing.is_empty() }
}
