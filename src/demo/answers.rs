//! The shapes of answers: envelopes, collections and error bodies.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use serde_json::{Value, json};

/// Sets a member of a JSON object.
pub(super) fn set(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value.into());
    }
}

/// An answer, before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

/// What a call is answered with: what it asked for, or an error body.
pub(super) type AnswerResult = Result<Answer, Answer>;

impl Answer {
    /// A body of the given type with status 200.
    pub fn new(content_type: &str, body: impl Into<Bytes>) -> Self {
        Answer { status: 200, headers: vec![("content-type", content_type.to_owned())], body: body.into() }
    }

    pub fn json(text: impl Into<Bytes>) -> Self {
        Answer::new("application/json", text)
    }

    /// An error as the service words it.
    pub fn error(status: u16, code: &str, message: impl Into<String>) -> Self {
        let body = json!({ "error": { "code": code, "message": message.into() } });
        Answer::json(body.to_string()).with_status(status)
    }

    pub fn with_status(self, status: u16) -> Self {
        Answer { status, ..self }
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn not_found(what: &str, id: &str) -> Self {
        Answer::error(404, "NotFoundError", format!("{what} \"{id}\" not found"))
    }

    pub(super) fn bad_argument(message: impl Into<String>) -> Self {
        Answer::error(400, "InvalidArgumentError", message)
    }

    /// `{"data":{"id","type","links","attributes"}}`
    pub(super) fn object(kind: &str, id: &str, link: &str, attributes: &Value) -> Self {
        let data = json!({ "id": id, "type": kind, "links": { "self": link }, "attributes": attributes });
        Answer::json(json!({ "data": data }).to_string())
    }

    /// The same answer, compressed if it is JSON that was asked for; errors come as they are.
    pub(super) fn gzipped(mut self) -> Self {
        let is_json = self.headers.iter().any(|(_, value)| value == "application/json");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        if (200..300).contains(&self.status) && is_json && encoder.write_all(&self.body).is_ok() {
            self.body = encoder.finish().unwrap_or_default().into();
            return self.with_header("content-encoding", "gzip");
        }
        self
    }
}
