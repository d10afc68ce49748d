//! A request as received: its path in segments, its parameters from query and form, and its uploaded file.

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, RANGE};
use hyper::{HeaderMap, Request};
use memchr::memmem;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::answers::Answer;
use super::reports::digest;

/// The largest request body read, in bytes; the service sends larger files to an address that it hands out.
const MAX_BODY: usize = 33 << 20;

/// The largest body read at such an address, in bytes.
const MAX_LARGE_BODY: usize = 651 << 20;

/// A request, taken apart but not yet understood.
#[derive(Debug)]
pub(super) struct DemoCall {
    pub method: String,
    /// Path and query as sent: it may hold the key.
    pub target: String,
    pub segments: Vec<String>,
    /// The parameters of the query, then those of the body.
    pub parameters: Vec<(String, String)>,
    pub header_key: Option<String>,
    pub range: Option<String>,
    pub takes_gzip: bool,
    pub upload: Option<UploadedFile>,
}

/// A file that was uploaded, of which only this much is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UploadedFile {
    pub sha256: String,
    pub name: String,
    pub size: u64,
}

impl DemoCall {
    /// Reads a request to its end. The second part is the error of its body, if it has one.
    pub async fn read(request: Request<Incoming>) -> (DemoCall, Result<(), Answer>) {
        let (head, body) = request.into_parts();
        let mut call = DemoCall {
            method: head.method.to_string(),
            target: String::new(),
            segments: Vec::new(),
            parameters: Vec::new(),
            header_key: header(&head.headers, "x-apikey"),
            range: header(&head.headers, RANGE.as_str()),
            takes_gzip: header(&head.headers, ACCEPT_ENCODING.as_str()).is_some_and(|value| value.contains("gzip")),
            upload: None,
        };
        call.aim(head.uri.to_string());
        let content_type = header(&head.headers, CONTENT_TYPE.as_str()).unwrap_or_default();
        let read = call.read_body(&content_type, body).await;
        (call, read)
    }

    /// Takes path and query from an address.
    pub fn aim(&mut self, target: String) {
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        self.segments = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
        self.parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        self.target = target;
    }

    /// The values of one parameter, in the order sent.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().filter(move |(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    pub fn value<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.values(name).next()
    }

    /// The file in the request.
    pub fn upload(&self) -> Result<&UploadedFile, Answer> {
        self.upload.as_ref().ok_or_else(|| Answer::error(400, "BadRequestError", "no file in the request"))
    }

    async fn read_body(&mut self, content_type: &str, body: Incoming) -> Result<(), Answer> {
        let is_large = self.segments.first().is_some_and(|first| first == "large");
        let bytes = Limited::new(body, if is_large { MAX_LARGE_BODY } else { MAX_BODY }).collect().await;
        let bytes = bytes.map_err(|error| Answer::error(400, "BadRequestError", error.to_string()))?.to_bytes();
        if content_type.starts_with("application/x-www-form-urlencoded") {
            self.parameters.extend(form_urlencoded::parse(&bytes).into_owned());
        } else if let Some((_, boundary)) = content_type.split_once("boundary=") {
            self.read_parts(boundary.trim_matches('"'), &bytes)
                .ok_or_else(|| Answer::error(400, "BadRequestError", "incomplete multipart body"))?;
        }
        Ok(())
    }

    /// Reads `multipart/form-data` (RFC 7578); `None` where it ends too soon.
    fn read_parts(&mut self, boundary: &str, body: &[u8]) -> Option<()> {
        let delimiter = format!("\r\n--{boundary}");
        let mut rest = body.strip_prefix(delimiter.trim_start().as_bytes())?;
        while !rest.starts_with(b"--") {
            let end = memmem::find(rest, delimiter.as_bytes())?;
            let (part, after) = rest.split_at_checked(end)?;
            rest = after.get(delimiter.len()..)?;
            let head_end = memmem::find(part, b"\r\n\r\n")?;
            let head = String::from_utf8_lossy(part.get(..head_end)?);
            let value = part.get(head_end + 4..)?;
            match quoted(&head, "; filename=\"") {
                Some(name) => {
                    self.upload = Some(UploadedFile { sha256: digest(value), name, size: value.len() as u64 })
                }
                None => {
                    let value = String::from_utf8_lossy(value).into_owned();
                    self.parameters.push((quoted(&head, "; name=\"").unwrap_or_default(), value));
                }
            }
        }
        Some(())
    }
}

/// A quoted parameter of a header, as sent.
fn quoted(head: &str, opening: &str) -> Option<String> {
    head.split_once(opening)?.1.split_once('"').map(|(value, _)| value.to_owned())
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}
