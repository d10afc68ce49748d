//! A request as received: its path in segments, its parameters from query and form, and what was uploaded.

use http_body_util::{BodyDataStream, BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, RANGE};
use hyper::{Method, Request};
use sha2::{Digest, Sha256};

use super::answers::Refusal;
use super::decode;
use super::reports::hex;

/// The largest request body read, in bytes; the service sends larger files to an address that it hands out.
const LARGEST_BODY: usize = 33 << 20;

/// The largest body read at such an address, in bytes.
const LARGEST_LARGE_BODY: usize = 651 << 20;

/// A request, taken apart but not yet understood.
#[derive(Debug)]
pub(super) struct Asked {
    pub method: Method,
    /// Path and query as sent: it may hold the key.
    pub target: String,
    pub segments: Vec<String>,
    /// The parameters of the query, then those of the body.
    pub parameters: Vec<(String, String)>,
    pub header_key: Option<String>,
    pub range: Option<String>,
    pub takes_gzip: bool,
    pub upload: Option<Upload>,
}

/// A file that was uploaded, of which only this much is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Upload {
    pub sha256: String,
    pub name: String,
    pub size: u64,
}

impl Asked {
    /// Reads a request to its end. The second part says what is wrong with its body, if anything is.
    pub async fn read(request: Request<Incoming>) -> (Asked, Result<(), Refusal>) {
        let (head, body) = request.into_parts();
        let mut asked = Asked {
            method: head.method,
            target: head.uri.to_string(),
            segments: head.uri.path().split('/').filter(|part| !part.is_empty()).map(decode::percent).collect(),
            parameters: decode::pairs(head.uri.query().unwrap_or_default()),
            header_key: header(&head.headers, &HeaderName::from_static("x-apikey")),
            range: header(&head.headers, &RANGE),
            takes_gzip: header(&head.headers, &ACCEPT_ENCODING).is_some_and(|value| value.contains("gzip")),
            upload: None,
        };
        let content_type = header(&head.headers, &CONTENT_TYPE).unwrap_or_default();
        let read = asked.read_body(&content_type, body).await;
        (asked, read)
    }

    /// The values of one parameter, in the order sent.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().filter(move |(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    pub fn value<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.values(name).next()
    }

    async fn read_body(&mut self, content_type: &str, body: Incoming) -> Result<(), Refusal> {
        let is_large = self.segments.first().is_some_and(|first| first == "large");
        let body = Limited::new(body, if is_large { LARGEST_LARGE_BODY } else { LARGEST_BODY });
        if let Ok(boundary) = multer::parse_boundary(content_type) {
            return self.read_parts(boundary, body).await.map_err(|error| bad_body(&error));
        }
        let bytes = body.collect().await.map_err(|error| bad_body(&*error))?.to_bytes();
        if content_type.starts_with("application/x-www-form-urlencoded") {
            self.parameters.extend(decode::pairs(&String::from_utf8_lossy(&bytes)));
        }
        Ok(())
    }

    async fn read_parts(&mut self, boundary: String, body: Limited<Incoming>) -> multer::Result<()> {
        let mut parts = multer::Multipart::new(BodyDataStream::new(body), boundary);
        while let Some(part) = parts.next_field().await? {
            match part.file_name().map(str::to_owned) {
                Some(name) => self.upload = Some(digest(name, part).await?),
                None => {
                    let name = part.name().unwrap_or_default().to_owned();
                    // Its text in whatever charset it names would take the tables of all of them.
                    let value = part.bytes().await?;
                    self.parameters.push((name, String::from_utf8_lossy(&value).into_owned()));
                }
            }
        }
        Ok(())
    }
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn bad_body(error: &dyn std::error::Error) -> Refusal {
    Refusal::new(400, "BadRequestError", error.to_string())
}

async fn digest(name: String, mut part: multer::Field<'_>) -> multer::Result<Upload> {
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(chunk) = part.chunk().await? {
        hash.update(&chunk);
        size += chunk.len() as u64;
    }
    Ok(Upload { sha256: hex(&hash.finalize()), name, size })
}
