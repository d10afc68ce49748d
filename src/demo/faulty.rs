//! The answers that faults put in the place of sound ones.

use std::iter;

use flate2::{Compress, Compression, FlushCompress};
use hyper::body::Bytes;
use hyper::header::{CONTENT_ENCODING, HeaderValue, LOCATION};
use jiff::ToSpan;
use jiff::civil::DateTime;

use super::FaultKind;
use super::answers::{self, Answer, Refusal};
use super::pieces::Pieces;

const PORTAL: &str = "<!doctype html><title>Guest network</title><p>Please accept the terms of use to go on.</p>";
const TOO_MANY: &str = "<title>429</title>429 Too Many Requests";

/// The answer of a fault that replaces it, if this one does.
pub(super) fn answer(kind: &FaultKind, now: DateTime) -> Option<Answer> {
    refusal(kind, now).map(Answer::from).or_else(|| odd_answer(kind))
}

fn refusal(kind: &FaultKind, now: DateTime) -> Option<Refusal> {
    let too_many = || Refusal::new(429, "TooManyRequestsError", "More than 120 requests within a minute");
    Some(match kind {
        FaultKind::KeyMissing => Refusal::new(401, "AuthenticationRequiredError", "X-Apikey header is missing"),
        FaultKind::KeyWrong => Refusal::new(401, "WrongCredentialsError", "Wrong API key"),
        FaultKind::UserInactive => Refusal::new(401, "UserNotActiveError", "User is not active"),
        FaultKind::Forbidden => {
            Refusal::new(403, "ForbiddenError", "You are not authorized to perform the requested operation")
        }
        FaultKind::NotFound => Refusal::new(404, "NotFoundError", "The requested resource was not found"),
        FaultKind::AlreadyExists => Refusal::new(409, "AlreadyExistsError", "Resource already exists"),
        FaultKind::FailedDependency => {
            Refusal::new(424, "FailedDependencyError", "The request depended on another request that failed")
        }
        FaultKind::QuotaExceeded => Refusal::new(429, "QuotaExceededError", "Quota exceeded"),
        FaultKind::RateLimited => too_many(),
        FaultKind::RateLimitedSeconds => too_many().after("120"),
        FaultKind::RateLimitedDate => too_many().after(http_date(now.saturating_add(90.seconds()))),
        FaultKind::RateLimitedNonsense => too_many().after("soon, perhaps -1"),
        FaultKind::BadRequest => Refusal::new(400, "BadRequestError", "Bad request"),
        FaultKind::InvalidArgument => Refusal::bad_argument("Invalid argument"),
        FaultKind::NotAvailableYet => Refusal::new(400, "NotAvailableYet", "The resource is not available yet"),
        FaultKind::Transient => Refusal::new(503, "TransientError", "Transient error, try again later"),
        FaultKind::DeadlineExceeded => Refusal::new(504, "DeadlineExceededError", "Deadline exceeded"),
        _ => return None,
    })
}

fn odd_answer(kind: &FaultKind) -> Option<Answer> {
    Some(match kind {
        FaultKind::RateLimitedHtml => answers::with_status(429, answers::html(TOO_MANY)),
        FaultKind::Portal => answers::html(PORTAL),
        FaultKind::Empty => answers::json_text(""),
        FaultKind::NotJson => answers::json_text("{\"data\": {\"id\": oops"),
        FaultKind::Array => answers::json_text("[1, 2, 3]"),
        FaultKind::Number => answers::json_text("42"),
        FaultKind::Text => answers::json_text("\"data\""),
        FaultKind::Null => answers::json_text("null"),
        FaultKind::Redirect(address) => redirect(address),
        FaultKind::GzipBomb => gzip_claimed(answers::typed("application/json", Pieces::made(bomb()))),
        FaultKind::EndlessBody => answers::typed("application/json", Pieces::made(endless_json())),
        _ => return None,
    })
}

fn http_date(time: DateTime) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn redirect(address: &str) -> Answer {
    let location = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    answers::with_header(LOCATION, location, answers::with_status(302, answers::html("")))
}

/// Marks an answer as gzip, whatever its body is.
pub(super) fn gzip_claimed(answer: Answer) -> Answer {
    answers::with_header(CONTENT_ENCODING, HeaderValue::from_static("gzip"), answer)
}

/// A gzip stream that unpacks to 4 GiB of white space: one compressed block, sent 256 times.
///
/// It has no checksum at its end, which whoever reads that far may find out.
fn bomb() -> impl Iterator<Item = Bytes> {
    const HEADER: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    iter::once(Bytes::from_static(HEADER)).chain(iter::repeat_n(blank_block(), 256))
}

/// 16 MiB of spaces, deflated and flushed so that copies of it can follow each other.
fn blank_block() -> Bytes {
    let mut block = Vec::with_capacity(64 << 10);
    let blanks = vec![b' '; 16 << 20];
    match Compress::new(Compression::best(), false).compress_vec(&blanks, &mut block, FlushCompress::Sync) {
        Ok(_) => block.into(),
        Err(_) => Bytes::new(),
    }
}

fn endless_json() -> impl Iterator<Item = Bytes> {
    iter::once(Bytes::from_static(b"{\"data\":{\"attributes\":{\"tags\":[\""))
        .chain(iter::repeat(Bytes::from(vec![b'A'; 1 << 16])))
}
