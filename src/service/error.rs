//! Errors of calls: each describes the failure and the next step.

use crate::report::json::{Kind, Raw};
use crate::request::{Password, Request};
use crate::service::credential::key_help;
use crate::text::Untrusted;
use std::error::Error as _;
use std::time::Duration;

/// Start of the message for a 404; the ledger is searched for this text.
pub const NOT_FOUND: &str = "the service does not have it; it may have expired";

/// Why a response that was not received in time is lost.
pub(super) const SILENT: &str = "the service was silent for too long";

/// Maximum number of bytes read from an error response.
pub const LONGEST_ERROR: u64 = 64 * 1024;

/// Why a call returned no usable response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// With the address of the service, where the user gets a key.
    #[error("there is no key")]
    NoApiKey(String),
    #[error("the service cannot be reached: {0}")]
    Unreachable(String),
    #[error("the service cannot be reached: its certificate is not trusted ({0})")]
    Untrusted(String),
    #[error("it cannot be sent: {0}")]
    Unsendable(String),
    #[error("nothing was uploaded: the service names {}", .0.visible_cut(120))]
    ForeignUpload(Untrusted),
    #[error("the response was lost: {0}")]
    Lost(String),
    #[error("it was cancelled")]
    Cancelled,
    #[error("nothing was sent: it was cancelled before")]
    Unsent,
    #[error("the response was longer than {} and was dropped", crate::text::bytes(*.0))]
    TooLong(u64),
    #[error("{0}")]
    Refused(ApiError),
    #[error("invalid response: {0}")]
    Unusable(InvalidResponse),
}

/// A response in which the service refuses a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    pub reason: ApiErrorKind,
    pub(crate) status: u16,
    pub(crate) message: Option<Untrusted>,
    pub retry_after: Option<Duration>,
    /// Whether the service's error code means that the identifier is invalid or unknown.
    pub is_invalid: bool,
    /// Whether the counters of this run show the licence that the call needs.
    pub has_licence: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiErrorKind {
    /// 401: the key is missing, wrong, or its user not active.
    WrongKey,
    /// 400 or 401 on an upload: the archive is encrypted with another password.
    WrongPassword,
    /// 403: no licence, no role, or a personal cap.
    Forbidden,
    TooLarge,
    NotFound,
    /// 429 with `QuotaExceededError`, or 204 without a body from API v2: the quota is spent.
    QuotaSpent,
    /// Any other 429: too many requests in too short a time.
    TooFast,
    Down,
    /// A redirect, which is never followed: the key belongs to one host.
    Redirected,
    Other,
}

/// Why a complete response cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResponse {
    #[error("it is empty")]
    Empty,
    #[error("it is not JSON")]
    NotJson,
    #[error("it was cut short")]
    Cut,
    #[error("it is JSON, but not {0}")]
    WrongType(&'static str),
    #[error("it does not name {0}")]
    Silent(&'static str),
    #[error("it is a web page: something between here and the service may want a login")]
    WebPage,
    #[error("it is for another report: {}", .0.visible_cut(100))]
    Foreign(Untrusted),
    #[error("it has an error beside its data")]
    Error,
}

impl ServiceError {
    /// Returns whether the service may have counted the call.
    pub fn may_be_charged(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Cancelled | Self::TooLong(_) | Self::Refused(_) | Self::Unusable(_))
    }

    /// Returns whether the service may have the upload: it was sent whole and not refused.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.reason == ApiErrorKind::Down,
            other => other.may_be_charged(),
        }
    }

    /// Advises the user in a sentence.
    pub fn advice(&self) -> String {
        match self {
            Self::Refused(refusal) => return refusal.advice(),
            Self::NoApiKey(root) => return key_help(root).join("\n") + "\nbehaview demo needs no key.",
            Self::Unreachable(_) => "Check the network, and the address in the profile.",
            Self::Untrusted(_) => "If its authority is yours, set ca_file (PEM) in the profile; if not, distrust it.",
            Self::Unsendable(_) => "Check the file.",
            Self::ForeignUpload(_) => "If it may have your files, set upload_host in the profile; it gets no key.",
            Self::Unsent => "",
            Self::Lost(_) | Self::Cancelled => "The service may have counted the call.",
            Self::TooLong(_) => "The service may have counted the call; max_response_mib in the profile is the limit.",
            Self::Unusable(InvalidResponse::WebPage) => {
                "Check the network: something else responds in the service's place. What is stored stays."
            }
            Self::Unusable(InvalidResponse::Silent(_)) => "Nothing of it is stored.",
            Self::Unusable(_) => "Its bytes stay in the store, unread.",
        }
        .to_owned()
    }
}

impl ApiError {
    /// Parses an error response from its status, headers and body.
    pub fn of(status: u16, retry_after: Option<&str>, body: &[u8], now: jiff::Timestamp) -> Self {
        let (code, message) = code_and_message(body);
        let reason = match (status, code.as_deref()) {
            (300..=399, _) => ApiErrorKind::Redirected,
            (401, _) | (200, Some("AuthenticationRequiredError" | "UserNotActiveError" | "WrongCredentialsError")) => {
                ApiErrorKind::WrongKey
            }
            (403, _) | (200, Some("ForbiddenError")) => ApiErrorKind::Forbidden,
            (404, _) | (200, Some("NotFoundError")) => ApiErrorKind::NotFound,
            (413, _) => ApiErrorKind::TooLarge,
            (204, _) | (200 | 429, Some("QuotaExceededError")) => ApiErrorKind::QuotaSpent,
            (429, _) | (200, Some("TooManyRequestsError")) => ApiErrorKind::TooFast,
            (200, Some("TransientError" | "DeadlineExceededError")) => ApiErrorKind::Down,
            (500..=599, _) => ApiErrorKind::Down,
            _ => ApiErrorKind::Other,
        };
        let codes = ["NotFoundError", "BadRequestError", "InvalidArgumentError"];
        let is_invalid = matches!(status, 400 | 404) && code.is_some_and(|code| codes.contains(&&*code));
        let retry_after = retry_after.and_then(|text| wait(text, now));
        Self { reason, status, message, retry_after, is_invalid, has_licence: false }
    }

    /// Returns the error in a response with status 200, as data or attributes; never of API v2.
    pub fn in_body<'a>(body: &'a [u8], now: jiff::Timestamp) -> Option<Self> {
        let inner = |one: Raw<'a>| one.member("data").filter(|data| has(data, "error")).unwrap_or(one);
        let responses: Vec<_> = Raw::new(body).each().into_iter().map(inner).collect();
        let has_content = |one: &Raw<'_>| ["data", "attributes", "response_code"].iter().any(|name| has(one, name));
        let is_error = responses.iter().all(|one| has(one, "error") && !has_content(one));
        responses.first().filter(|_| is_error).map(|first| Self::of(200, None, first.bytes(), now))
    }

    /// Returns the refusal of this request; of an upload, perhaps for the archive's password.
    /// A message that repeats the password is removed, because refusals are logged.
    pub fn of_request(mut self, request: &Request) -> Self {
        let is_upload = matches!(request, Request::PrivateScan { .. } | Request::V2Scan { .. });
        if is_upload && matches!(self.status, 200 | 400 | 401) && self.mentions(&["password"]) {
            self.reason = ApiErrorKind::WrongPassword;
        }
        if let Some(password) = request.password().map(Password::expose).filter(|password| !password.is_empty()) {
            let repeats = |words: &Untrusted| memchr::memmem::find(words.as_bytes(), password.as_bytes()).is_some();
            self.message = self.message.filter(|message| !repeats(message));
        }
        self
    }

    /// Returns whether the message contains one of these lower-case texts; blanks bound words.
    fn mentions(&self, words: &[&str]) -> bool {
        let bytes = self.message.iter().flat_map(|message| message.as_bytes());
        let letters = bytes.map(|byte| if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b' ' });
        let text: Vec<u8> = [b' '].into_iter().chain(letters).chain([b' ']).collect();
        words.iter().any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some())
    }

    /// Advises on a 403, by the reason in the message, if any.
    fn forbidden_advice(&self) -> &'static str {
        if self.mentions(&[" role"]) {
            "Your user lacks a role (USER_ROLE_PRIVATE_SCANNING); the group's administrator can grant it."
        } else if self.mentions(&["quota", " cap ", " caps ", "limit"]) {
            "A personal cap (quota_limits) may be reached; the group's administrator can raise it."
        } else if self.has_licence {
            "The counters show the licence: the role (USER_ROLE_PRIVATE_SCANNING) may be missing, or a personal cap reached."
        } else if self.mentions(&["licens", "licenc"]) {
            "The service says that a licence is missing; `behaview quota` (free) shows whether there is one."
        } else {
            "No licence, no role (USER_ROLE_PRIVATE_SCANNING) or a personal cap; `behaview quota` (free) shows the licence."
        }
    }

    fn advice(&self) -> String {
        let advice =
            if self.reason == ApiErrorKind::Forbidden { self.forbidden_advice() } else { self.reason.label().1 };
        match self.retry_after {
            Some(wait) => format!("{advice} The service says: again in {} s.", wait.as_secs()).trim_start().to_owned(),
            None => advice.to_owned(),
        }
    }
}

impl ApiErrorKind {
    /// Returns the failure, and advice for the user.
    fn label(self) -> (&'static str, &'static str) {
        match self {
            Self::WrongKey => ("the service does not accept the key", "Check the key."),
            Self::WrongPassword => (
                "the archive's password is wrong",
                "Check the archive's password: --ask-password or --password-file. The key is accepted.",
            ),
            Self::Forbidden => ("the service forbids this", ""),
            Self::TooLarge => (
                "the upload is too large for the service",
                "Send less; direct_upload_limit_mib and max_upload_mib in the profile are its limits.",
            ),
            Self::NotFound => (
                NOT_FOUND,
                "Check the hash or identifier. Private files and reports expire: after a day, unless set otherwise.",
            ),
            Self::QuotaSpent => (
                "the quota is spent",
                "The daily quota is full again at 00:00 UTC, the monthly on the 1st. Counters that still leave some may lag behind.",
            ),
            Self::TooFast => ("too many requests in a short time", "Wait before the next call."),
            Self::Down => ("the service is unavailable", "Try later."),
            Self::Redirected => (
                "the service points to another address",
                "Redirects are not followed: check the address in the profile.",
            ),
            Self::Other => ("the service refused", ""),
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.reason.label().0, self.status)?;
        self.message.iter().try_for_each(|message| write!(f, ": {}", message.visible_cut(200)))
    }
}

/// Returns whether an object has a member with content.
fn has(one: &Raw<'_>, name: &str) -> bool {
    one.member(name).is_some_and(|value| !matches!(value.bytes(), b"null" | b"false" | b"\"\"" | b"[]" | b"{}"))
}

/// Returns whether a short response has an error beside its data, or inside it.
pub fn has_error(body: &[u8]) -> bool {
    let response = Raw::new(body);
    let is_error = |data: Raw<'_>| has(&response, "error") || has(&data, "error");
    body.len() as u64 <= LONGEST_ERROR && response.member("data").is_some_and(is_error)
}

/// Code and message of an error body; `None` if the body has another form.
fn code_and_message(body: &[u8]) -> (Option<String>, Option<Untrusted>) {
    let Some(error) = Raw::new(body).each().first().and_then(|one| one.member("error")) else { return (None, None) };
    let code = error.member("code").and_then(|code| String::from_utf8(code.text().as_bytes().to_vec()).ok());
    let message = if error.kind() == Kind::Text { Some(error) } else { error.member("message") };
    (code, message.map(Raw::text))
}

/// Parses `Retry-After`, seconds or a date, at most an hour; `None` if invalid.
fn wait(text: &str, now: jiff::Timestamp) -> Option<Duration> {
    let text = text.trim();
    let seconds = text
        .parse::<u64>()
        .ok()
        .or_else(|| Some(u64::try_from(parse_date(text)?.as_second() - now.as_second()).unwrap_or(0)))?;
    Some(Duration::from_secs(seconds.min(3600)))
}

/// Parses a date of a header (RFC 9110 §5.6.7).
pub(super) fn parse_date(text: &str) -> Option<jiff::Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

/// Distinguishes failed connections, when nothing was sent, from calls perhaps counted.
pub(super) fn not_sent_or_lost(error: &reqwest::Error) -> ServiceError {
    if !error.is_connect() && !error.is_builder() {
        return ServiceError::Lost(reason(error));
    }
    match refused_certificate(error) {
        Some(why) => ServiceError::Untrusted(why),
        None => ServiceError::Unreachable(reason(error)),
    }
}

/// Explains why the service's certificate is not trusted, if that is the cause.
fn refused_certificate(error: &reqwest::Error) -> Option<String> {
    std::iter::successors(error.source(), |&cause| {
        // An I/O error hides its inner error from `source()`.
        let inside = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        inside.map(|inside| inside as &dyn std::error::Error).or_else(|| cause.source())
    })
    .find_map(|cause| match cause.downcast_ref() {
        Some(rustls::Error::InvalidCertificate(why)) => Some(certificate_reason(why)),
        _ => None,
    })
}

fn certificate_reason(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError::{NotValidForName, NotValidForNameContext, UnknownIssuer};
    match why {
        UnknownIssuer => "no authority that this machine knows has signed it".to_owned(),
        NotValidForName | NotValidForNameContext { .. } => "it is for another name".to_owned(),
        other => Untrusted::from(other.to_string()).visible_cut(120).to_string(),
    }
}

/// Returns the innermost cause. It contains no address, because an address may contain the key.
pub(super) fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return SILENT.to_owned();
    }
    std::iter::successors(error.source(), |&cause| cause.source()).last().map_or_else(
        || "the connection failed".to_owned(),
        |cause| Untrusted::from(cause.to_string()).visible_cut(120).to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_seconds_or_dates_or_nothing() {
        let now = "2026-11-20T10:00:00Z".parse().unwrap();
        assert_eq!(wait("120", now), Some(Duration::from_secs(120)));
        assert_eq!(wait("Fri, 20 Nov 2026 10:01:00 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(wait("Fri, 20 Nov 2020 10:01:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(wait("99999999999999", now), Some(Duration::from_secs(3600)));
        for nonsense in ["-1", "soon", "", "99999999999999999999999"] {
            assert_eq!(wait(nonsense, now), None);
        }
    }
}
