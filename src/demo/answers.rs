//! The shapes of answers: envelopes, collections and error bodies.

use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::pieces::Pieces;

/// An answer, ready to be sent or damaged.
pub(super) type Answer = Response<Pieces>;

/// Why a call was not answered with what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: u16,
    pub code: &'static str,
    pub message: String,
    /// The `Retry-After` header, as sent.
    pub retry_after: Option<String>,
}

impl Refusal {
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Refusal { status, code, message: message.into(), retry_after: None }
    }

    pub fn not_found(what: &str, id: &str) -> Self {
        Refusal::new(404, "NotFoundError", format!("{what} \"{id}\" not found"))
    }

    pub fn bad_argument(message: impl Into<String>) -> Self {
        Refusal::new(400, "InvalidArgumentError", message)
    }

    pub fn after(self, retry_after: impl Into<String>) -> Self {
        Refusal { retry_after: Some(retry_after.into()), ..self }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Answer {
        let body = json!({ "error": { "code": refusal.code, "message": refusal.message } });
        let mut answer = with_status(refusal.status, json(&body));
        if let Some(value) = refusal.retry_after.and_then(|value| HeaderValue::from_str(&value).ok()) {
            answer.headers_mut().insert(hyper::header::RETRY_AFTER, value);
        }
        answer
    }
}

/// A body of the given type with status 200.
pub(super) fn typed(content_type: &'static str, body: Pieces) -> Answer {
    with_header(CONTENT_TYPE, HeaderValue::from_static(content_type), Response::new(body))
}

pub(super) fn json(value: &Value) -> Answer {
    json_text(value.to_string())
}

pub(super) fn json_text(text: impl Into<hyper::body::Bytes>) -> Answer {
    typed("application/json", Pieces::whole(text))
}

pub(super) fn html(text: &'static str) -> Answer {
    typed("text/html; charset=utf-8", Pieces::whole(text))
}

pub(super) fn with_status(status: u16, mut answer: Answer) -> Answer {
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    answer
}

pub(super) fn with_header(name: HeaderName, value: HeaderValue, mut answer: Answer) -> Answer {
    answer.headers_mut().insert(name, value);
    answer
}

/// `{"data":{"id","type","links","attributes"}}`
pub(super) fn object(kind: &str, id: &str, link: &str, attributes: &Value) -> Answer {
    json(&json!({ "data": { "id": id, "type": kind, "links": { "self": link }, "attributes": attributes } }))
}
