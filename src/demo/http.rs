//! Reads HTTP requests, builds responses, and serves them by hyper or, for one response, a hook.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::form_urlencoded;

use super::Writer;
use super::reports::digest;
use super::service::DemoService;

/// Maximum size of a request body, in bytes; larger files are sent to an upload address.
const MAX_BODY: usize = 33 << 20;

/// Maximum size of a body at an upload address, in bytes.
const MAX_LARGE_BODY: usize = 651 << 20;

/// A parsed request whose operation is not known yet.
#[derive(Debug, Default)]
pub(super) struct DemoCall {
    pub(crate) method: String,
    /// Path and query as sent; they may contain the key.
    pub(crate) target: String,
    pub(crate) segments: Vec<String>,
    /// The parameters of the query, then those of the body.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) header_key: Option<String>,
    pub(crate) takes_gzip: bool,
    pub(crate) upload: Option<SubmittedFile>,
    /// The response to a body that cannot be read.
    pub(crate) bad_body: Option<DemoResponse>,
}

/// An uploaded file, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmittedFile {
    pub sha256: String,
    pub name: String,
    pub size: u64,
    /// The other fields of a private scan.
    pub fields: Vec<(String, String)>,
}

impl DemoCall {
    /// Reads a request to its end.
    pub(crate) async fn read(request: Request<Incoming>) -> DemoCall {
        let (head, body) = request.into_parts();
        let header =
            |name: &str| head.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let mut call = DemoCall {
            method: head.method.to_string(),
            header_key: header("x-apikey"),
            takes_gzip: header("accept-encoding").is_some_and(|value| value.contains("gzip")),
            ..DemoCall::default()
        };
        call.aim(head.uri.to_string());
        let is_large = call.segments.first().is_some_and(|first| first == "large");
        let bad = |words: String| Some(DemoResponse::error(400, "BadRequestError", words));
        let bytes = match Limited::new(body, if is_large { MAX_LARGE_BODY } else { MAX_BODY }).collect().await {
            Ok(bytes) => bytes.to_bytes(),
            Err(error) => return DemoCall { bad_body: bad(error.to_string()), ..call },
        };
        let content_type = header("content-type").unwrap_or_default();
        if content_type.starts_with("application/x-www-form-urlencoded") {
            call.parameters.extend(form_urlencoded::parse(&bytes).into_owned());
        } else if let Some((_, boundary)) = content_type.split_once("boundary=")
            && call.read_parts(boundary.trim_matches('"'), &bytes).is_none()
        {
            call.bad_body = bad("incomplete multipart body".to_owned());
        }
        call
    }

    /// Sets path and query from an address.
    pub(crate) fn aim(&mut self, target: String) {
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        self.segments = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
        self.parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        self.target = target;
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn upload(&self) -> Result<&SubmittedFile, DemoResponse> {
        self.upload.as_ref().ok_or_else(|| DemoResponse::error(400, "BadRequestError", "no file in the request"))
    }

    /// Reads `multipart/form-data` (RFC 7578); `None` if it is truncated.
    fn read_parts(&mut self, boundary: &str, body: &[u8]) -> Option<()> {
        let delimiter = format!("\r\n--{boundary}");
        let mut rest = body.strip_prefix(delimiter.trim_start().as_bytes())?;
        while !rest.starts_with(b"--") {
            let (part, after) = rest.split_at_checked(memmem::find(rest, delimiter.as_bytes())?)?;
            rest = after.get(delimiter.len()..)?;
            let head_end = memmem::find(part, b"\r\n\r\n")?;
            let head = String::from_utf8_lossy(part.get(..head_end)?);
            let value = part.get(head_end + 4..)?;
            match quoted(&head, "; filename=\"") {
                Some(name) => {
                    let size = value.len() as u64;
                    self.upload = Some(SubmittedFile { sha256: digest(value), name, size, fields: Vec::new() });
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

fn quoted(head: &str, opening: &str) -> Option<String> {
    head.split_once(opening)?.1.split_once('"').map(|(value, _)| value.to_owned())
}

pub(super) fn set(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value.into());
    }
}

/// A response before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemoResponse {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

/// The response to a call: data, or an error body.
pub(super) type DemoResult = Result<DemoResponse, DemoResponse>;

impl DemoResponse {
    pub fn new(content_type: &str, body: impl Into<Bytes>) -> Self {
        DemoResponse { status: 200, headers: vec![("content-type", content_type.to_owned())], body: body.into() }
    }

    pub fn json(text: impl Into<Bytes>) -> Self {
        DemoResponse::new("application/json", text)
    }

    /// Returns an error in the service's format.
    pub fn error(status: u16, code: &str, message: impl Into<String>) -> Self {
        let body = json!({ "error": { "code": code, "message": message.into() } });
        DemoResponse::json(body.to_string()).with_status(status)
    }

    pub fn with_status(self, status: u16) -> Self {
        DemoResponse { status, ..self }
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn not_found(what: &str, id: &str) -> Self {
        DemoResponse::error(404, "NotFoundError", format!("{what} \"{id}\" not found"))
    }

    pub(super) fn bad_argument(message: impl Into<String>) -> Self {
        DemoResponse::error(400, "InvalidArgumentError", message)
    }

    /// `{"data":{"id","type","links","attributes"}}`; an analysis that has begun has no attributes.
    pub(super) fn object(kind: &str, id: &str, link: &str, attributes: Option<Value>) -> Self {
        let mut data = json!({ "id": id, "type": kind, "links": { "self": link } });
        attributes.into_iter().for_each(|attributes| set(&mut data, "attributes", attributes));
        DemoResponse::json(json!({ "data": data }).to_string())
    }

    /// Returns the same response, compressed if it is JSON and not an error.
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

/// Accepts connections until it is dropped, which closes them all.
pub(super) async fn accept(listener: TcpListener, service: Arc<DemoService>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(connections.spawn(converse(stream, Arc::clone(&service)))),
            // Probably out of file descriptors; the service will close some.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// A response that a hook writes, passed from the handler to its connection.
type ResponseSlot = Mutex<Option<(Writer, DemoResponse)>>;

async fn converse(stream: TcpStream, service: Arc<DemoService>) {
    let slot: Arc<ResponseSlot> = Arc::default();
    let handler = service_fn(|request| handle(request, Arc::clone(&service), Arc::clone(&slot)));
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), handler);
    // The client sees an error itself; only a response of a hook remains to be written.
    let _ = (&mut connection).await;
    let written = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((write, reply)) = written {
        let _ = write(connection.into_parts().io.into_inner(), reply).await;
    }
}

/// Responds to a request. An error makes hyper release the connection without writing anything.
async fn handle(
    request: Request<Incoming>,
    service: Arc<DemoService>,
    slot: Arc<ResponseSlot>,
) -> io::Result<Response<Full<Bytes>>> {
    let (reply, writer) = service.reply(DemoCall::read(request).await).await;
    if let Some(writer) = writer {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((writer, reply));
        return Err(io::Error::other("a hook writes the response"));
    }
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Full::new(reply.body)).map_err(io::Error::other)
}
