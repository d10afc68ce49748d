//! Sends one request once, to one host, and receives its response completely or returns the error.

use super::credential::Credential;
use super::error::{ApiError, LONGEST_ERROR, ServiceError, not_sent_or_lost, parse_date, reason};
use super::http::{ContentDecoder, build, until_silent};
use super::profile::{Profile, ProfileError, undotted};
use super::redact::Redactor;
use crate::request::{Address, Method, Request, RequestContext, Version};
use jiff::Timestamp;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, DATE, HeaderValue, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Maximum size of an artifact, in bytes: it is received in memory.
const MAX_ARTIFACT_BYTES: u64 = 1 << 30;

/// Maximum size of a response that is expected to be short, in bytes.
const MAX_SHORT_BYTES: u64 = 1 << 20;

/// Received bytes that are decompressed per step; they may expand a thousandfold.
const BYTES_PER_STEP: usize = 16 * 1024;

/// The client of one service for one user.
pub struct Client {
    pub(super) profile: Profile,
    pub(super) root: Url,
    credential: Option<Credential>,
    pub(super) redactor: Redactor,
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
        let path: Vec<u8> = percent_encoding::percent_decode_str(&address.path).collect();
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

    pub(super) fn parameters(&self, address: &Address) -> Result<Vec<(Cow<'static, str>, String)>, ServiceError> {
        let key = self.key()?;
        let mut parameters = address.parameters.clone();
        if address.version == Version::V2 {
            parameters.push(("apikey".into(), key.to_owned()));
        }
        Ok(parameters)
    }

    pub(super) fn with_key(&self, address: &Address, call: RequestBuilder) -> Result<RequestBuilder, ServiceError> {
        if address.version == Version::V2 {
            return Ok(call);
        }
        let key = self.key()?;
        let mut header = HeaderValue::from_str(key).map_err(|error| ServiceError::Unsendable(error.to_string()))?;
        header.set_sensitive(true);
        Ok(call.header(&self.profile.header, header))
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
        let mut hash = Sha256::new_with_prefix(of);
        for part in std::iter::once(&base).chain(more).chain([&key]) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.finalize().first_chunk().copied()
    }

    pub(super) fn url(&self, address: &Address) -> Url {
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

    pub(super) fn http(&self) -> Result<&reqwest::Client, ServiceError> {
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
