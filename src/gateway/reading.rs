//! Receives a response into memory, handing over the bytes of a report while they arrive; checks it
//! against its request, finds its reports, and derives the call's outcome.
//!
//! Bytes before the end are only displayed: a response counts once it is stored and read whole.

use super::{Flight, Gateway, OnProgress, StoredResponse};
use crate::quota::{Outcome, Units};
use crate::report::analysis::{submitted, upload_address};
use crate::report::body::{BodyFiller, LARGE};
use crate::report::identifier::{FileHash, Sha256};
use crate::report::json::{Kind, Raw, is_valid};
use crate::report::page::{Page, is_behaviour};
use crate::report::{Analysis, Body, GroupPage, Index, Report};
use crate::request::{Artifact, Request};
use crate::service::client::Sink;
use crate::service::error::{InvalidResponse, ServiceError, has_error};
use crate::store::{NewResponse, ResponsePart, Store};
use jiff::Timestamp;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const PROGRESS_INTERVAL: Duration = Duration::from_millis(60);

/// Number of leading bytes that identify the type of a body.
const SNIFFED_BYTES: usize = 512;

/// An element of API v2 has at least one of these members.
const V2_MEMBERS: [&str; 5] = ["response_code", "submissions", "resource", "sha256", "md5"];

/// Progress of a response.
#[derive(Debug, Clone)]
pub enum Received {
    /// More bytes of the response or, during an upload, of the file.
    Bytes {
        /// So far, decompressed.
        bytes: u64,
        total: Option<u64>,
    },
    /// A report whose first bytes have arrived; the others follow in this body.
    Begun(Body),
    /// Nothing is sent yet: the limit of requests a minute allows it at this moment.
    NotBefore(Timestamp),
    /// A message about the team store, for the user.
    Notice(String),
}

impl Gateway {
    /// Sends a request and receives its response.
    pub(super) async fn gather(&self, request: &Request, flight: Flight<'_>) -> Result<Body, ServiceError> {
        let Flight { progress, cancel, .. } = flight;
        let gatherer = Gatherer { gateway: self, progress, arrived: Mutex::default() };
        let mut sink = &gatherer;
        let mut sending = pin!(self.client.send(request, &mut sink));
        if cancel.is_cancelled() {
            return Err(ServiceError::Unsent);
        }
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ServiceError::Cancelled),
                sent = &mut sending => {
                    sent?;
                    break;
                }
                () = tokio::time::sleep(PROGRESS_INTERVAL) => {
                    gatherer.report();
                    if matches!(request, Request::Behaviour { .. }) {
                        gatherer.show();
                    }
                }
            }
        }
        gatherer.report();
        let Arrived { bytes, rest, .. } = std::mem::take(&mut *gatherer.arrived());
        Ok(match rest {
            Some(rest) => rest.finish(bytes),
            None => Body::in_memory(bytes),
        })
    }
}

/// Joins the chunks of a response, and reports progress.
struct Gatherer<'a> {
    gateway: &'a Gateway,
    progress: OnProgress<'a>,
    arrived: Mutex<Arrived>,
}

#[derive(Default)]
struct Arrived {
    bytes: Vec<u8>,
    total: Option<u64>,
    /// Sent bytes of an upload and its length, more telling than its short response.
    sent: Option<(u64, u64)>,
    /// The progress that was reported last.
    reported: (u64, Option<u64>),
    /// How many bytes were handed over, and the body that takes the others.
    shown: usize,
    rest: Option<BodyFiller>,
}

impl Gatherer<'_> {
    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) {
        let mut arrived = self.arrived();
        let sent = arrived.sent.map(|(bytes, total)| (bytes, Some(total)));
        let now = sent.unwrap_or((arrived.bytes.len() as u64, arrived.total));
        if std::mem::replace(&mut arrived.reported, now) != now {
            (self.progress)(Received::Bytes { bytes: now.0, total: now.1 });
        }
    }

    /// Hands over a copy of all received bytes; large reports have to grow by an eighth first.
    fn show(&self) {
        let mut arrived = self.arrived();
        let Arrived { bytes, shown, rest, .. } = &mut *arrived;
        if bytes.len() - *shown <= shown.saturating_sub(LARGE as usize) / 8 {
            return;
        }
        *shown = bytes.len();
        match rest {
            Some(rest) => rest.grow(bytes.clone()),
            None => {
                let (body, begun) = Body::begun(bytes.clone());
                *rest = Some(begun);
                (self.progress)(Received::Begun(body));
            }
        }
    }
}

impl Sink for &Gatherer<'_> {
    fn note_date(&mut self, date: Timestamp) {
        self.gateway.note_date(date);
    }

    fn begin(&mut self, total: Option<u64>) {
        self.arrived().total = total;
        self.report();
    }

    fn take(&mut self, chunk: &[u8]) {
        self.arrived().bytes.extend_from_slice(chunk);
    }

    fn sent(&mut self, bytes: u64, total: u64) {
        self.arrived().sent = Some((bytes, total));
        self.report();
    }
}

/// Returns the outcome of a call, from which the rules derive its cost.
pub(super) fn outcome(request: &Request, taken: &Result<StoredResponse, ServiceError>) -> Outcome {
    match (request, taken) {
        (Request::V2Submissions { .. }, Ok(response)) => Outcome::Items(submissions(&response.body)),
        (Request::Analysis { .. }, Ok(_)) => Outcome::Existed(true),
        // An invalid identifier (specification 8.3, fifth case) is malformed or not found.
        (Request::Analysis { .. }, Err(ServiceError::Refused(why))) if why.is_invalid => Outcome::Existed(false),
        (_, Ok(_)) => Outcome::Received,
        (_, Err(error)) if !error.may_be_charged() => Outcome::Unsent,
        (_, Err(ServiceError::Refused(_) | ServiceError::Unusable(_))) => Outcome::Failed,
        (_, Err(_)) => Outcome::Unknown,
    }
}

/// Counts the submissions returned (§8.2); no maximum if the number is missing, or given twice.
fn submissions(body: &[u8]) -> Units {
    let response = Raw::new(body.trim_ascii_end());
    let of = |file: &Raw<'_>| {
        let all = |wanted: &[u8]| {
            let members = file.members().filter(|(name, value)| name.as_bytes() == wanted && value.bytes() != b"null");
            members.map(|(_, value)| value).collect::<Vec<_>>()
        };
        match (&*all(b"submissions"), &*all(b"response_code")) {
            ([found], _) if found.kind() == Kind::Array => Some(found.elements().count() as u64),
            // A hash that is unknown to the service, or in its queue, has no submissions to return.
            ([], [code]) if matches!(code.content(), b"0" | b"-2") => Some(0),
            _ => None,
        }
    };
    let each: Vec<_> = response.each().iter().map(of).collect();
    let is_whole = !each.is_empty() && response.bytes().len() == response.length_to_end();
    let max = each.iter().copied().sum::<Option<u64>>().filter(|_| is_whole);
    Units { min: each.into_iter().flatten().sum(), max }
}

/// The remark on a response that is not stored, because it is not final.
pub(super) const PENDING: &str = "is not final, so it is not stored: a later request costs again";

/// Returns whether all is unfinished: files queued for a scan (-2 of API v2), running analyses.
pub(super) fn is_pending(request: &Request, body: &Body) -> bool {
    match request {
        Request::V2Reports { .. } | Request::V2Submissions { .. } => {
            let is_queued = |file: &Raw<'_>| file.member("response_code").is_some_and(|code| code.content() == b"-2");
            let files = Raw::new(body).each();
            !files.is_empty() && files.iter().all(is_queued)
        }
        Request::Analysis { .. } => {
            let status = || Raw::new(body).member("data")?.member("attributes")?.member("status");
            status().is_some_and(|status| status.text().as_bytes() != b"completed")
        }
        _ => false,
    }
}

/// Returns the remark on a response that is broken JSON; it was read tolerantly.
pub(super) fn defect(request: &Request, body: &Body) -> Option<&'static str> {
    let is_sound = body.is_empty() || matches!(request, Request::Artifact { .. }) || is_valid(body);
    (!is_sound).then_some("is not valid JSON, and was read as far as possible")
}

/// Reads a stored response and moves it to its place if usable; returns a remark if that failed.
pub(super) fn read_stored(
    store: &Store,
    request: &Request,
    new: &NewResponse<'_>,
    body: &Body,
) -> Result<Option<String>, ServiceError> {
    let read = find_parts(request, body);
    // A response that cannot be moved is read again at the next request for it.
    let why = read.as_ref().ok().and_then(|parts| store.move_read(new, parts, true).err());
    let remark = |why| format!("could not be recorded as read, so it is read again at the next request: {why}");
    read.map(|_| why.map(remark))
}

/// Checks a body against its request; returns the parts that are stored separately.
pub fn find_parts(request: &Request, body: &Body) -> Result<Vec<ResponsePart>, ServiceError> {
    let unusable = |why: InvalidResponse| Err(ServiceError::Unusable(why));
    if let Request::Artifact { artifact, .. } = request {
        // A proxy may have answered.
        return match () {
            () if body.is_empty() => unusable(InvalidResponse::Cut),
            () if *artifact != Artifact::Html && is_page(body) => unusable(InvalidResponse::WebPage),
            () => Ok(Vec::new()),
        };
    }
    let index = Index::of(body);
    if !index.is_json {
        return Err(other_than_json(body));
    }
    if index.is_cut {
        return unusable(InvalidResponse::Cut);
    }
    match request {
        Request::Behaviours { file, .. } => Ok(ResponsePart::of_page(page_of(body, file)?, file)),
        Request::Behaviour { identifier } => {
            let report = Report::new(body.clone(), index);
            let is_behaviour = report.kind().is_none_or(|kind| is_behaviour(&kind));
            match report.identifier() {
                _ if has_error(body) => unusable(InvalidResponse::Error),
                Some(found) if found == *identifier && is_behaviour => {
                    Ok(vec![ResponsePart::report(&found, identifier.parts().file, 0..body.len())])
                }
                Some(found) if is_behaviour => unusable(InvalidResponse::Foreign(found.text().clone())),
                _ => unusable(InvalidResponse::WrongType("a behaviour report")),
            }
        }
        _ => check(request, body).map(|()| Vec::new()),
    }
}

fn page_of(body: &Body, file: &Sha256) -> Result<Page, ServiceError> {
    let unusable = ServiceError::Unusable;
    // A document may be a bare array of reports; the service's lists come in an envelope.
    if body.window(0..SNIFFED_BYTES).trim_ascii_start().starts_with(b"[") {
        return Err(unusable(InvalidResponse::WrongType("a list of sandboxes")));
    }
    let page = Page::of(body).map_err(|_| unusable(InvalidResponse::WrongType("a list of sandboxes")))?;
    let first = page.entries.first().map(|entry| entry.identifier.text().clone());
    let page = page.without_others(file);
    match first {
        Some(foreign) if page.entries.is_empty() => Err(unusable(InvalidResponse::Foreign(foreign))),
        None if page.others > 0 => Err(unusable(InvalidResponse::WrongType("a list of sandboxes"))),
        _ => Ok(page),
    }
}

fn other_than_json(body: &Body) -> ServiceError {
    ServiceError::Unusable(match body.window(0..SNIFFED_BYTES) {
        start if is_page(start) => InvalidResponse::WebPage,
        start if start.trim_ascii().is_empty() => InvalidResponse::Empty,
        _ => InvalidResponse::NotJson,
    })
}

/// Returns whether bytes start like markup; HTML further inside may be part of a capture.
fn is_page(bytes: &[u8]) -> bool {
    let start = bytes.get(..SNIFFED_BYTES.min(bytes.len())).unwrap_or_default().to_ascii_lowercase();
    let rest = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    let marks = ["<html", "<!doctype html", "<head", "<title", "<body", "<!--", "<?xml"];
    marks.iter().any(|mark| rest.starts_with(mark.as_bytes()))
}

/// Returns whether a response names only this file: no other hash of this length.
fn is_about(file: &FileHash, response: Raw<'_>) -> bool {
    let data = response.member("data");
    let objects = response.each().into_iter().chain(data).chain(data.and_then(|data| data.member("attributes")));
    let named = objects.flat_map(|one| ["id", "resource", "md5", "sha1", "sha256"].map(|name| one.member(name)));
    let mut hashes = named.flatten().filter_map(|named| FileHash::parse(&named.text().unicode()));
    hashes.all(|named| named == *file || named.as_str().len() != file.as_str().len())
}

/// Checks that a response has the requested type and subject, and no error.
pub(super) fn check(request: &Request, body: &Body) -> Result<(), ServiceError> {
    let response = Raw::new(body);
    let data = response.member("data");
    let is_list = data.is_some_and(|data| data.kind() == Kind::Array);
    let is_object = |types: &[&str]| {
        let of_type = |found: Raw<'_>| types.iter().any(|known| found.text().as_bytes() == known.as_bytes());
        data.is_some_and(|data| data.member("id").is_some() && data.member("type").is_none_or(of_type))
    };
    let (is_fit, what) = match request {
        Request::File { file } => (is_object(&["file"]) && is_about(file, response), "the file object of that hash"),
        Request::Analysis { identifier } => (
            submitted(body).as_ref() == Some(identifier) && is_object(&["analysis", "private_analysis"]),
            "that analysis",
        ),
        Request::FileAnalyses { .. } => (is_list, "a list of analyses"),
        // Each hash has a request of its own.
        Request::V2Reports { files } | Request::V2Submissions { files } => {
            let is_asked = files.iter().all(|file| is_about(file, response));
            let is_of_v2 = |one: &Raw<'_>| V2_MEMBERS.iter().any(|name| one.member(name).is_some());
            let each = response.each();
            (is_asked && !each.is_empty() && each.iter().all(is_of_v2), "a response of API v2 about that hash")
        }
        Request::PrivateScan { .. } => (submitted(body).is_some(), "a scan that has begun"),
        Request::UploadAddress => (upload_address(body).is_some(), "an address to upload to"),
        Request::PrivateAnalysis { identifier } => {
            (Analysis::of(body).is_some_and(|scan| scan.identifier == *identifier), "that scan")
        }
        Request::PrivateAnalyses { .. } => (is_list, "the file's scans"),
        Request::GroupList { .. } => {
            (GroupPage::of(body).is_ok_and(|page| page.others == 0 || !page.entries.is_empty()), "a list of the group")
        }
        Request::PrivateDelete { .. } => {
            let has_error = |of: Raw<'_>| ["error", "errors"].iter().any(|name| of.member(name).is_some());
            let is_failed = has_error(response) || data.is_some_and(has_error);
            (response.kind() == Kind::Object && !is_failed || body.trim_ascii().is_empty(), "a deletion")
        }
        // These responses have no required content, so a web page would be accepted.
        _ => (!is_page(body), "a response of the service"),
    };
    if !is_fit || has_error(body) {
        return Err(ServiceError::Unusable(match request.storage_key() {
            Some(_) if has_error(body) => InvalidResponse::Error,
            Some(_) => InvalidResponse::WrongType(what),
            None if is_page(body) => InvalidResponse::WebPage,
            None => InvalidResponse::Silent(what),
        }));
    }
    Ok(())
}
