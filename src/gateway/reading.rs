//! Reads a stored answer: checks it against its request, finds its reports, and derives the outcome
//! of the call.

use super::{Answer, about};
use crate::quota::Outcome;
use crate::report::analysis::{submitted, upload_address};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::json::{Kind, Raw};
use crate::report::page::{Page, PageError, is_behaviour};
use crate::report::{Analysis, Body, Index, Report};
use crate::request::{Artefact, Request};
use crate::service::error::{LONGEST_ERROR, Refusal, ServiceError, Unusable};
use crate::store::{NewAnswer, PageReport, Store};
use jiff::Timestamp;

/// Number of leading bytes by which the type of a body is recognized.
const LOOK: usize = 512;

/// Magic number of gzip (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The outcome of a call, by which the rules settle its price.
pub(super) fn outcome(request: &Request, taken: &Result<Answer, ServiceError>) -> Outcome {
    match (request, taken) {
        (Request::V2Submissions { files }, Ok(answer)) => {
            submissions(&answer.body, files.len()).map_or(Outcome::Answered, Outcome::Items)
        }
        (Request::Analysis { .. }, Ok(_)) => Outcome::Existed(true),
        // An invalid identifier (specification 8.3, fifth case) is malformed or not found.
        (Request::Analysis { .. }, Err(ServiceError::Refused(refusal))) if refusal.is_invalid => {
            Outcome::Existed(false)
        }
        (_, Ok(_)) => Outcome::Answered,
        (_, Err(error)) if !error.may_be_charged() => Outcome::Unsent,
        (_, Err(ServiceError::Refused(_) | ServiceError::Unusable(_))) => Outcome::Failed,
        (_, Err(_)) => Outcome::Unknown,
    }
}

/// The error in an answer whose status reports success, if any. Such an answer is not stored.
pub(super) fn refusal(body: &Body, now: Timestamp) -> Option<Refusal> {
    let bytes = (body.len() as u64 <= LONGEST_ERROR).then_some(&**body)?;
    Refusal::in_answer(bytes, now)
}

/// Number of submissions that an answer returns, over all requested files (specification §8.2).
/// `None` if the answer lacks the number for a file, or gives it twice.
fn submissions(body: &Body, files: usize) -> Option<u64> {
    let bytes = &**body;
    let answer = Raw::new(bytes.trim_ascii_end());
    let of = |file: Raw<'_>| {
        let only = |wanted: &[u8]| {
            let mut found = file.members().filter(|(name, _)| name.as_bytes() == wanted).map(|(_, value)| value);
            (found.next(), found.next().is_some())
        };
        match (only(b"submissions"), only(b"response_code")) {
            ((Some(found), false), _) if found.kind() == Kind::Array => Some(found.elements().count() as u64),
            // A hash that the service does not know has no submissions to return.
            ((None, _), (Some(code), false)) if code.bytes() == b"0" => Some(0),
            _ => None,
        }
    };
    let each: Vec<_> = if answer.kind() == Kind::Array { answer.elements().collect() } else { vec![answer] };
    let is_of_all = each.len() >= files.max(1) && answer.bytes().len() == answer.length_to_end();
    each.into_iter().map(of).sum::<Option<u64>>().filter(|_| is_of_all)
}

/// Indexes an answer, unless its index is known already.
fn index_of(body: &Body, index: Option<Index>) -> Index {
    index.unwrap_or_else(|| Index::of(body))
}

/// Reads an answer whose bytes are stored, and moves it to its place, or to the quarantine if it
/// does not answer its request. Returns a remark if the store could not record this: the answer is
/// read again at the next request for it.
pub(super) fn read_stored(
    store: &Store,
    request: &Request,
    new: &NewAnswer<'_>,
    body: &Body,
    index: Option<Index>,
) -> Result<Option<String>, ServiceError> {
    let parts = about::by_hash(request, body).unwrap_or_default();
    match read(request, body, index) {
        Ok(reports) => Ok(store
            .accept(new, &reports, &parts)
            .err()
            .map(|why| format!("could not be noted as read, so it is read again when it is next wanted: {why}"))),
        Err(error) => {
            // An answer that cannot be moved is read again at the next request for it.
            let _ = store.reject(new, &parts);
            Err(error)
        }
    }
}

/// Checks an answer that is not stored, such as the result of an action, against its request.
pub(super) fn check(request: &Request, body: &Body) -> Result<(), ServiceError> {
    let says = |fits: &dyn Fn(&[u8]) -> bool| fits(body);
    let (is_fit, what) = match request {
        Request::PrivateScan { .. } => (says(&|bytes| submitted(bytes).is_some()), "a scan that has begun"),
        Request::UploadAddress => (says(&|bytes| upload_address(bytes).is_some()), "an address to upload to"),
        Request::PrivateAnalysis { identifier } => {
            (says(&|bytes| Analysis::of(bytes).is_some_and(|scan| scan.identifier == *identifier)), "that scan")
        }
        Request::PrivateAnalyses { .. } => (
            says(&|bytes| Raw::new(bytes).member("data").is_some_and(|data| data.kind() == Kind::Array)),
            "the file's scans",
        ),
        // These answers have no required content, so a web page would pass for one.
        Request::PrivateDelete { .. }
        | Request::Quotas
        | Request::Usage { .. }
        | Request::User
        | Request::V2Scan { .. }
        | Request::Rescan { .. } => (!looks_like_a_page(body), "an answer of the service's"),
        _ => return Ok(()),
    };
    match is_fit {
        true => about::check(request, body),
        false if looks_like_a_page(body) => Err(ServiceError::Unusable(Unusable::WebPage)),
        false => Err(ServiceError::Unusable(Unusable::Silent(what))),
    }
}

/// Checks a body against its request, and returns the reports in it.
pub(super) fn read(request: &Request, body: &Body, index: Option<Index>) -> Result<Vec<PageReport>, ServiceError> {
    let unusable = |why: Unusable| Err(ServiceError::Unusable(why));
    if let Request::Artefact { artefact, .. } = request {
        return is_artifact(*artefact, body).map(|()| Vec::new());
    }
    let index = index_of(body, index);
    if !index.is_json {
        return Err(other_than_json(body));
    }
    if index.is_cut {
        return unusable(Unusable::Cut);
    }
    match request {
        Request::Behaviours { file, .. } => {
            let page = page_of(body, file)?;
            Ok(PageReport::of_page(page, file))
        }
        Request::Behaviour { identifier } => {
            let report = Report::new(body.clone(), index);
            is_report(&report, identifier).map_err(ServiceError::Unusable)?;
            let (identifier, file) = (identifier.clone(), identifier.parts().file);
            Ok(vec![PageReport { identifier, file, range: 0..body.len() }])
        }
        _ => about::check(request, body).map(|()| Vec::new()),
    }
}

/// Checks that a body is an artifact of a sandbox, and not the response of something in between.
fn is_artifact(artifact: Artefact, body: &Body) -> Result<(), ServiceError> {
    let why = match () {
        () if body.is_empty() => Unusable::Cut,
        () if artifact != Artefact::Html && is_page(body) => Unusable::WebPage,
        () if Raw::new(body).member("error").is_some() => Unusable::NoFile,
        () => return Ok(()),
    };
    Err(ServiceError::Unusable(why))
}

fn is_report(report: &Report, wanted: &Identifier) -> Result<(), Unusable> {
    let is_behaviour = report.kind().is_none_or(|kind| is_behaviour(&kind));
    match report.identifier() {
        Some(found) if found == *wanted && is_behaviour => Ok(()),
        Some(found) if is_behaviour => Err(Unusable::Foreign(found.text().clone())),
        _ => Err(Unusable::WrongType("a behaviour report")),
    }
}

fn page_of(body: &Body, file: &Sha256) -> Result<Page, ServiceError> {
    let unusable = ServiceError::Unusable;
    // A document may be a bare array of reports; the service's lists come in an envelope.
    if body.window(0..LOOK).trim_ascii_start().starts_with(b"[") {
        return Err(unusable(Unusable::WrongType("a list of sandboxes")));
    }
    let page = Page::of(body).map_err(|error| match error {
        PageError::Cut => unusable(Unusable::Cut),
        PageError::NotJson => other_than_json(body),
        PageError::NotAList => unusable(Unusable::WrongType("a list of sandboxes")),
    })?;
    let first = page.entries.first().map(|entry| entry.identifier.text().clone());
    let page = page.without_others(file);
    match first {
        Some(foreign) if page.entries.is_empty() => Err(unusable(Unusable::Foreign(foreign))),
        None if page.others > 0 => Err(unusable(Unusable::WrongType("a list of sandboxes"))),
        _ => Ok(page),
    }
}

/// The error for a body that is not JSON.
fn other_than_json(body: &Body) -> ServiceError {
    ServiceError::Unusable(match body.window(0..LOOK) {
        start if is_page(start) => Unusable::WebPage,
        start if start.starts_with(&GZIP) => Unusable::Unsaid,
        start if start.trim_ascii().is_empty() => Unusable::Empty,
        _ => Unusable::NotJson,
    })
}

fn looks_like_a_page(body: &Body) -> bool {
    is_page(body.window(0..LOOK))
}

/// Whether bytes start like a web page. HTML further inside may be part of a capture.
fn is_page(bytes: &[u8]) -> bool {
    let start = bytes.get(..LOOK.min(bytes.len())).unwrap_or_default().to_ascii_lowercase();
    let mut rest = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    for (begin, end) in [("<?xml", "?>"), ("<!--", "-->")] {
        let behind = memchr::memmem::find(rest, end.as_bytes()).filter(|_| rest.starts_with(begin.as_bytes()));
        rest = behind.and_then(|at| rest.get(at + end.len()..)).unwrap_or(rest).trim_ascii_start();
    }
    ["<html", "<!doctype html", "<head", "<title", "<body", "<!--"].iter().any(|mark| rest.starts_with(mark.as_bytes()))
}
