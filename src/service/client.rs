//! Sends one request once, to one host, and receives its response completely or returns the error.
//! A file is uploaded in pieces, to an address that is trusted with it.

use super::credential::{Credential, Redactor};
use super::error::{ApiError, LONGEST_ERROR, ServiceError, not_sent_or_lost, parse_date, reason};
use super::http::{ContentDecoder, build, until_silent};
use super::profile::{Profile, ProfileError, encrypted, undotted};
use crate::files;
use crate::report::identifier::Sha256;
use crate::request::{Address, Method, Request, RequestContext, Upload, UploadAddress, UploadLimit, Version};
use crate::text::Untrusted;
use bytes::Bytes;
use http_body_util::channel::Channel;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, DATE, HeaderValue, RETRY_AFTER};
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder, Response, StatusCode, Url};
use sha2::{Digest, Sha256 as Hash};
use std::borrow::Cow;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::OnceLock;

/// Maximum size of an artifact, in bytes: it is received in memory.
const MAX_ARTIFACT_BYTES: u64 = 1 << 30;

/// Maximum size of a response that is expected to be short, in bytes.
const MAX_SHORT_BYTES: u64 = 1 << 20;

/// Received bytes that are decompressed per step; they may expand a thousandfold.
const BYTES_PER_STEP: usize = 16 * 1024;

const PIECE_BYTES: usize = 256 * 1024;
const MAX_WAITING_PIECES: usize = 2;

/// Bytes that the system may still have to send after the last one was written.
const BUFFERED_BYTES: u64 = 4 * 1024 * 1024;

/// Minimum speed at which the system sends them, in bytes per second.
const MIN_BYTES_PER_S: u64 = 1024;

/// Characters that must be encoded in a file name: in the header of a form they would end the name
/// or the header. Browsers percent-encode them, too.
const UNSENDABLE: &AsciiSet = &CONTROLS.add(b'"');

/// The client of one service for one user.
pub struct Client {
    profile: Profile,
    root: Url,
    credential: Option<Credential>,
    redactor: Redactor,
    /// Created at the first call: loading certificates takes longer than drawing the first screen.
    http: OnceLock<reqwest::Client>,
}

/// The destination of a response's bytes.
pub trait Sink: Send {
    /// Called with the service's time after the headers of a response, if they have it.
    fn note_date(&mut self, _date: Timestamp) {}

    /// Called once, before the first piece, with the total length if known.
    fn begin(&mut self, _total: Option<u64>) {}

    fn take(&mut self, piece: &[u8]);

    /// Called before the response, with the bytes of the upload sent so far and their total.
    fn sent(&mut self, _sent: u64, _total: u64) {}
}

impl Client {
    /// Creates a client for a profile; nothing is sent or loaded yet.
    pub fn new(profile: Profile, credential: Option<Credential>) -> Result<Self, ProfileError> {
        let root = profile.check()?;
        let redactor = credential.as_ref().map(|key| Redactor::new(key.expose())).unwrap_or_default();
        Ok(Self { profile, root, credential, redactor, http: OnceLock::new() })
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    fn context(&self) -> RequestContext<'_> {
        let Profile { user, page_size, fields, .. } = &self.profile;
        let key = self.credential.as_ref().map(Credential::expose);
        let user = user.as_deref().or(key).unwrap_or_default();
        RequestContext { user, page_size: *page_size, fields: fields.clone() }
    }

    /// Returns the key of each request; `None` if none was found.
    pub fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Sends a request once and passes on the response's bytes, decompressed, as they arrive.
    pub async fn send(&self, request: &Request, sink: &mut dyn Sink) -> Result<(), ServiceError> {
        let address = request.address(&self.context());
        let is_artifact = matches!(request, Request::Artifact { .. });
        let mut response = match &address.upload {
            Some(upload) => self.upload(&address, upload, sink).await?,
            None => {
                let call = self.call(&address)?;
                // Compression would hide a file's length, which reveals a truncated response.
                let call = if is_artifact { call.header(ACCEPT_ENCODING, "identity") } else { call };
                until_silent(self.profile.timeout_s, call.send()).await?.map_err(|error| not_sent_or_lost(&error))?
            }
        };
        let date = response.headers().get(DATE).and_then(|date| parse_date(date.to_str().ok()?));
        date.into_iter().for_each(|date| sink.note_date(date));
        // API v2 responds with 204 if the quota is spent; a part (206) was not requested.
        let is_spent = address.version == Version::V2 && response.status() == StatusCode::NO_CONTENT;
        if is_spent || response.status() == StatusCode::PARTIAL_CONTENT || !response.status().is_success() {
            return Err(self.refused(response, request).await);
        }
        let length = ContentDecoder::length_of(&response);
        let limit = self.max_bytes(request);
        if length.is_some_and(|length| length > limit) {
            return Err(ServiceError::TooLong(limit));
        }
        sink.begin(length);
        self.receive(&mut response, limit, sink).await
    }

    async fn receive(&self, response: &mut Response, limit: u64, sink: &mut dyn Sink) -> Result<(), ServiceError> {
        let mut decoder = ContentDecoder::of(response);
        let mut received = 0;
        let mut redacted = self.redactor.stream();
        let lost = |error| ServiceError::Lost(reason(&error));
        let mut pass = |bytes: &[u8]| {
            received += bytes.len() as u64;
            if received > limit {
                return Err(ServiceError::TooLong(limit));
            }
            sink.take(&redacted.take(bytes));
            Ok(())
        };
        while let Some(piece) = until_silent(self.profile.timeout_s, response.chunk()).await?.map_err(lost)? {
            for packed in piece.chunks(BYTES_PER_STEP) {
                pass(&decoder.take(packed)?)?;
            }
        }
        pass(&decoder.end()?)?;
        sink.take(&redacted.end());
        Ok(())
    }

    /// Maximum size of a response, in bytes: a few kilobytes can decompress to any size.
    pub fn max_bytes(&self, request: &Request) -> u64 {
        match request {
            Request::Artifact { .. } => MAX_ARTIFACT_BYTES,
            _ if request.storage_key().is_none() => MAX_SHORT_BYTES,
            _ => self.profile.max_response_mib.saturating_mul(1 << 20),
        }
    }

    /// Reads the service's refusal, without the key.
    async fn refused(&self, mut response: Response, request: &Request) -> ServiceError {
        let status = response.status();
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        if self.receive(&mut response, LONGEST_ERROR, &mut body).await.is_err() {
            body.clear();
        }
        let refusal = ApiError::of(status.as_u16(), header.as_deref(), &body, crate::clock::now());
        ServiceError::Refused(refusal.of_request(request))
    }

    /// Returns whether typed text contains the key: a key pasted instead of a hash resembles one.
    pub fn has_key(&self, text: &[u8]) -> bool {
        self.credential.as_ref().is_some_and(|key| key.is_in(text))
    }

    /// Returns whether a request contains the key where it must not: outside of the user's counters
    /// (§5).
    pub fn tells_key(&self, request: &Request) -> bool {
        if matches!(request, Request::User | Request::Quotas | Request::Usage { .. }) {
            return false;
        }
        let address = request.address(&self.context());
        let path: Vec<u8> = percent_decode_str(&address.path).collect();
        // A cursor with the key is redacted by now: it leads nowhere, but would be charged.
        let is_key = |(name, value): &(Cow<'static, str>, String)| {
            self.has_key(value.as_bytes()) || name == "cursor" && self.redactor.has_redacted(value.as_bytes())
        };
        self.has_key(&path) || address.parameters.iter().any(is_key)
    }

    /// Builds the HTTP request; the API version decides where the key goes (§5, §9).
    fn call(&self, address: &Address) -> Result<RequestBuilder, ServiceError> {
        let url = self.url(address);
        let http = self.http()?;
        let parameters = self.parameters(address)?;
        let call = match address.method {
            Method::Get => http.get(url).query(&parameters),
            Method::Delete => http.delete(url).query(&parameters),
            // Some front ends respond with 411 to a POST without a length (RFC 9110, section 8.6).
            Method::Post if parameters.is_empty() => http.post(url).header(CONTENT_LENGTH, 0),
            Method::Post => http.post(url).form(&parameters),
        };
        self.with_key(address, call)
    }

    fn key(&self) -> Result<&str, ServiceError> {
        let key = self.credential.as_ref().map(Credential::expose);
        key.ok_or_else(|| ServiceError::NoApiKey(self.profile.root.clone()))
    }

    fn parameters(&self, address: &Address) -> Result<Vec<(Cow<'static, str>, String)>, ServiceError> {
        let key = self.key()?;
        let mut parameters = address.parameters.clone();
        if address.version == Version::V2 {
            parameters.push(("apikey".into(), key.to_owned()));
        }
        Ok(parameters)
    }

    fn with_key(&self, address: &Address, call: RequestBuilder) -> Result<RequestBuilder, ServiceError> {
        if address.version == Version::V2 {
            return Ok(call);
        }
        let key = self.key()?;
        let mut header = HeaderValue::from_str(key).map_err(|error| ServiceError::Unsendable(error.to_string()))?;
        header.set_sensitive(true);
        Ok(call.header(&self.profile.header, header))
    }

    /// Uploads a file and waits for headers; ends if nothing moves, not because an upload is slow.
    async fn upload(&self, address: &Address, upload: &Upload, sink: &mut dyn Sink) -> Result<Response, ServiceError> {
        let parameters = self.parameters(address)?;
        let call = self.upload_call(address, upload.to.as_ref())?;
        let limit = if upload.to.is_some() { UploadLimit::Large } else { UploadLimit::Direct };
        let mut rest = read(upload, self.profile.largest(limit)).await?;
        let size = rest.len() as u64;
        let (mut pieces, body) = Channel::<Bytes, Infallible>::new(MAX_WAITING_PIECES);
        let mut sending = pin!(call.multipart(form(parameters, &upload.path, body, size)).send());
        sink.sent(0, size);
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            let step = async {
                tokio::select! {
                    biased;
                    answered = &mut sending => Err(answered),
                    // A call that has ended accepts no more pieces; its response has the reason.
                    sent = pieces.send_data(piece) => Ok(sent.is_ok()),
                }
            };
            match until_silent(self.profile.timeout_s, step).await? {
                Ok(true) => sink.sent(size - rest.len() as u64, size),
                Ok(false) => break,
                Err(answered) => return answered.map_err(|error| not_sent_or_lost(&error)),
            }
        }
        drop(pieces);
        let seconds = self.profile.timeout_s.saturating_add(size.min(BUFFERED_BYTES) / MIN_BYTES_PER_S);
        until_silent(seconds, sending).await?.map_err(|error| not_sent_or_lost(&error))
    }

    /// Returns the call without its body. Only the service's own host receives the key.
    fn upload_call(&self, address: &Address, to: Option<&UploadAddress>) -> Result<RequestBuilder, ServiceError> {
        let Some(to) = to else { return self.with_key(address, self.http()?.post(self.url(address))) };
        let (url, is_own) = self.trusted(to)?;
        let call = self.http()?.post(url);
        if is_own { self.with_key(address, call) } else { Ok(call) }
    }

    /// Checks an upload address from the service; returns whether it is on its own host.
    fn trusted(&self, to: &UploadAddress) -> Result<(Url, bool), ServiceError> {
        let text = std::str::from_utf8(to.expose().as_bytes()).unwrap_or_default();
        let foreign = |host: &str| ServiceError::ForeignUpload(Untrusted::from(host));
        // The address contained the key, where proxies can read it.
        if self.redactor.has_redacted(text.as_bytes()) {
            return Err(foreign("an address with your key in it"));
        }
        let url = Url::parse(text).map_err(|_| foreign("no address at all"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(foreign("an address with a name and a password"));
        }
        let is_own = url.origin() == self.root.origin();
        let other = self.profile.upload_host.as_deref().and_then(|host| encrypted(host).ok());
        if is_own || other.is_some_and(|root| root.origin() == url.origin()) {
            return Ok((url, is_own));
        }
        Err(foreign(&format!("{}, which is not its own host", url.origin().ascii_serialization())))
    }

    /// Returns an identifier of the user at this service that does not reveal the key.
    pub fn account(&self) -> Option<String> {
        self.digest("behaview account", &[self.profile.user.as_deref().unwrap_or_default()]).map(crate::text::hex)
    }

    /// Returns a number that identifies key and service without profile name or key.
    pub fn key_digest(&self) -> Option<i64> {
        self.digest("behaview owner", &[]).map(i64::from_le_bytes)
    }

    /// Hashes service, key and more; the first bytes are too few to derive a key from. The address
    /// of its calls identifies the service, because root and prefix have several spellings.
    fn digest(&self, of: &str, more: &[&str]) -> Option<[u8; 8]> {
        let key = self.credential.as_ref()?.expose();
        let base = undotted(self.base(Version::V3));
        let base = base.as_str().trim_end_matches('/');
        let mut hash = Hash::new_with_prefix(of);
        for part in std::iter::once(&base).chain(more).chain([&key]) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.finalize().first_chunk().copied()
    }

    fn url(&self, address: &Address) -> Url {
        let mut url = self.base(address.version);
        url.set_path(&format!("{}{}", url.path().trim_end_matches('/'), address.path));
        url
    }

    /// Returns the base URL of all operations of a version, without doubled slashes.
    fn base(&self, version: Version) -> Url {
        let prefix = match version {
            Version::V2 => &self.profile.v2_prefix,
            Version::V3 => &self.profile.v3_prefix,
        };
        let mut url = self.root.clone();
        let steps = url.path().split('/').chain(prefix.split('/')).filter(|step| !step.is_empty());
        url.set_path(&steps.collect::<Vec<_>>().join("/"));
        url
    }

    fn http(&self) -> Result<&reqwest::Client, ServiceError> {
        if let Some(ready) = self.http.get() {
            return Ok(ready);
        }
        let made = build(&self.profile, &self.root)?;
        Ok(self.http.get_or_init(|| made))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({}, {:?})", self.profile.name, self.credential)
    }
}

impl Sink for Vec<u8> {
    fn take(&mut self, piece: &[u8]) {
        self.extend_from_slice(piece);
    }
}

/// Reads a file completely, so that even if it changes the bytes sent have the hash shown.
async fn read(upload: &Upload, limit: u64) -> Result<Bytes, ServiceError> {
    let path = upload.path.clone();
    let read = tokio::task::spawn_blocking(move || read_hashed(&path, limit)).await;
    let read = read.unwrap_or_else(|error| Err(error.to_string()));
    match read.map_err(ServiceError::Unsendable)? {
        (_, found) if upload.file.as_ref().is_some_and(|seen| *seen != found) => {
            Err(ServiceError::Unsendable("it has changed since it was inspected".to_owned()))
        }
        (bytes, _) => Ok(bytes.into()),
    }
}

/// Returns the hash and the size in bytes of an ordinary file of at most `limit` bytes.
pub fn hash_file(path: &Path, limit: u64) -> Result<(Sha256, u64), String> {
    read_hashed(path, limit).map(|(_, found)| found)
}

fn read_hashed(path: &Path, limit: u64) -> Result<(Vec<u8>, (Sha256, u64)), String> {
    let bytes = files::read(path, limit).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => format!("it is larger than {}", crate::text::bytes(limit)),
        _ => error.to_string(),
    })?;
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    let hash = Sha256::parse(&crate::text::hex(Hash::digest(&bytes))).ok_or("it has no hash")?;
    let size = bytes.len() as u64;
    Ok((bytes, (hash, size)))
}

fn form(fields: Vec<(Cow<'static, str>, String)>, path: &Path, body: Channel<Bytes, Infallible>, size: u64) -> Form {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let name = utf8_percent_encode(&name, UNSENDABLE).to_string();
    let form = fields.into_iter().fold(Form::new(), |form, (name, value)| form.text(name, value));
    form.part("file", Part::stream_with_length(Body::wrap(body), size).file_name(name))
}
