//! Sends one request, once, to one host, and brings its answer back whole or says why not.

use super::content_encoding::Packing;
use super::credential::Credential;
use super::error::{LONGEST_ADDRESS, LONGEST_ERROR, Reason, Refusal, ServiceError, not_sent_or_lost, reason};
use super::head::{is_framed, range_of, version_of};
use super::http::{Patience, build};
use super::profile::{Profile, ProfileError, USUAL_PREFIX, undotted};
use super::redact::Redactor;
use crate::request::{Address, Asker, Method, Password, Request, ScanOption, Version};
use crate::text::Untrusted;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, DATE, HeaderName, HeaderValue, IF_RANGE, RANGE, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::OnceLock;

/// Longest artefact of a length that nobody has announced, in bytes.
const LONGEST_UNANNOUNCED: u64 = 1 << 30;

/// Longest artefact that is taken, in bytes.
const LARGEST_ARTEFACT: u64 = 64 << 30;

/// Longest answer that is taken where a few words are expected, in bytes.
const LONGEST_WORDS: u64 = 1 << 20;

/// One service, spoken to as one user.
pub struct Client {
    pub(super) profile: Profile,
    pub(super) root: Url,
    header: HeaderName,
    credential: Option<Credential>,
    pub(super) redactor: Redactor,
    /// Made at the first call: certificates take longer to load than a first screen to draw.
    http: OnceLock<reqwest::Client>,
    /// How far this machine's clock was behind the service's at its first answer, in seconds.
    behind: OnceLock<i64>,
}

/// Where the pieces of an answer go.
pub trait Sink: Send {
    /// Told once, before the first piece: where the pieces begin, how long the whole is, and what tells this version of it from
    /// another.
    fn begin(&mut self, start: u64, total: Option<u64>, version: Option<String>) -> Taken<'_>;

    /// The next piece.
    fn take<'a>(&'a mut self, piece: &'a [u8]) -> Taken<'a>;

    /// Told, before any answer, how many bytes of a file have gone, and how many there are.
    fn sent(&mut self, _sent: u64, _total: u64) {}
}

/// Whether a piece could be put away.
pub type Taken<'a> = Pin<Box<dyn Future<Output = Result<(), ServiceError>> + Send + 'a>>;

struct User<'a>(&'a Client);

impl Asker for User<'_> {
    fn user(&self) -> &str {
        let key = self.0.credential.as_ref().map(Credential::expose);
        self.0.profile.user.as_deref().or(key).unwrap_or_default()
    }

    fn page_size(&self) -> u8 {
        self.0.profile.page_size
    }

    fn field(&self, option: ScanOption) -> String {
        self.0.profile.field(option).to_owned()
    }
}

impl Client {
    /// A client for a profile; nothing is sent or loaded yet.
    pub fn new(profile: Profile, credential: Option<Credential>) -> Result<Self, ProfileError> {
        let root = profile.check()?;
        let header = profile.header_name()?;
        let redactor = credential.as_ref().map(|key| Redactor::new(key.expose())).unwrap_or_default();
        let (http, behind) = (OnceLock::new(), OnceLock::new());
        Ok(Self { profile, root, header, credential, redactor, http, behind })
    }

    /// The profile it speaks to.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The address that tells the service from others.
    pub fn root(&self) -> String {
        self.profile.place()
    }

    /// Where the key comes from, if there is one.
    pub fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Sends a request, once; hands over the answer's bytes, decompressed, as they come. Says whether the service called it a part,
    /// which nobody had asked for.
    pub async fn send(&self, request: &Request, sink: &mut dyn Sink) -> Result<bool, ServiceError> {
        let address = request.address(&User(self));
        let patience = Patience::new(&self.profile, 0);
        let mut response = match &address.upload {
            Some(upload) => self.upload(&address, upload, sink).await?,
            None => {
                let call = self.call(&address)?;
                patience.wait(0, call.send()).await?.map_err(|error| not_sent_or_lost(&error))?
            }
        };
        self.note_time(&response);
        // API v2 answers so where the quota is spent.
        let is_spent = address.version == Version::V2 && response.status() == StatusCode::NO_CONTENT;
        if is_spent || !response.status().is_success() {
            return Err(self.refused(response, &patience, request).await);
        }
        let limit = self.longest(request);
        let length = Packing::length_of(&response);
        if length.is_some_and(|length| length > limit) {
            return Err(ServiceError::TooLong(limit));
        }
        sink.begin(0, length, None).await?;
        let is_part = response.status() == StatusCode::PARTIAL_CONTENT;
        self.take_in(&mut response, 0, limit, &patience, sink).await.map(|_| is_part)
    }

    /// Fetches what may be large, once, from this byte on, of this version; hands over each piece as it comes.
    ///
    /// The service may answer from the beginning all the same; `begin` is told where the pieces begin and how long the whole is, and
    /// says whether they are wanted. Says whether the end was seen to be the end: without any announcement, a connection that is
    /// cut looks like one that is done.
    pub async fn fetch(
        &self,
        request: &Request,
        (from, version): (u64, Option<&str>),
        sink: &mut dyn Sink,
    ) -> Result<bool, ServiceError> {
        let call =
            self.call(&request.address(&User(self)))?.header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let call = if from > 0 { call.header(RANGE, format!("bytes={from}-")) } else { call };
        let call = match version.filter(|_| from > 0) {
            Some(version) => call.header(IF_RANGE, version),
            None => call,
        };
        let patience = Patience::new(&self.profile, 0);
        let mut response = patience.wait(0, call.send()).await?.map_err(|error| not_sent_or_lost(&error))?;
        self.note_time(&response);
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response, &patience, request).await);
        }
        let is_part = status == StatusCode::PARTIAL_CONTENT;
        let (start, total) = match range_of(&response).filter(|_| is_part) {
            // A part of what is packed cannot be unpacked, and its place is one among packed bytes.
            Some(_) if Packing::is_of(&response) => return Err(Packing::named(&response)),
            Some(range) => range,
            None if is_part && from > 0 => {
                return Err(ServiceError::Lost("the service calls it a part, and does not say which".to_owned()));
            }
            // How long a part is says nothing of the whole.
            None => (0, Packing::length_of(&response).filter(|_| !is_part)),
        };
        // An answer of a length that nobody has announced may be one without an end.
        let limit = if total.is_some() { LARGEST_ARTEFACT } else { LONGEST_UNANNOUNCED };
        if total.is_some_and(|total| total > limit) {
            return Err(ServiceError::TooLong(limit));
        }
        // Of a part of something of unknown length, framing tells the part's own end only.
        let is_announced = total.is_some() || !is_part && is_framed(&response);
        // It is kept and sent back as it is: one that repeats the key is none.
        let version = version_of(&response).filter(|version| !self.redactor.is_in(version.as_bytes()));
        sink.begin(start, total, version).await?;
        let come = self.take_in(&mut response, start, limit, &patience, sink).await?;
        match total {
            Some(total) if total != come => Err(ServiceError::Lost(format!("it ended after {come} of {total} bytes"))),
            _ => Ok(is_announced),
        }
    }

    /// Hands over the pieces of an answer, the first of which begins at this byte, with the key redacted; gives where the last ends.
    async fn take_in(
        &self,
        response: &mut Response,
        start: u64,
        limit: u64,
        patience: &Patience,
        sink: &mut dyn Sink,
    ) -> Result<u64, ServiceError> {
        let mut packing = Packing::of(response)?;
        let (mut come, mut redacted) = (start, self.redactor.stream());
        let after = |come: u64, more: &[u8]| {
            let come = come + more.len() as u64;
            if come > limit { Err(ServiceError::TooLong(limit)) } else { Ok(come) }
        };
        let lost = |error| ServiceError::Lost(reason(&error));
        while let Some(piece) = patience.wait(come - start, response.chunk()).await?.map_err(lost)? {
            for some in piece.chunks(packing.at_once()) {
                let some = packing.take(some)?;
                come = after(come, &some)?;
                sink.take(&redacted.take(&some)).await?;
            }
        }
        let last = packing.end()?;
        come = after(come, &last)?;
        sink.take(&redacted.take(&last)).await?;
        sink.take(&redacted.end()).await?;
        Ok(come)
    }

    /// Longest answer that is taken, in bytes: a few kilobytes may unpack to any number of them.
    fn longest(&self, request: &Request) -> u64 {
        match request {
            Request::Quotas
            | Request::User
            | Request::UploadAddress
            | Request::PrivateScan { .. }
            | Request::PrivateDelete { .. }
            | Request::V2Scan { .. }
            | Request::Rescan { .. } => LONGEST_WORDS,
            _ => self.profile.largest_answer.saturating_mul(1 << 20),
        }
    }

    /// The service's own "no", without the key, and without words that repeat a password that went along: they are logged.
    async fn refused(&self, mut response: Response, patience: &Patience, request: &Request) -> ServiceError {
        let status = response.status();
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut words = Vec::new();
        if self.take_in(&mut response, 0, LONGEST_ERROR, patience, &mut words).await.is_err() {
            words.clear();
        }
        let mut refusal = Refusal::of(status.as_u16(), header.as_deref(), &words, crate::clock::now());
        if request.address(&User(self)).upload.is_some() && refusal.is_of_password() {
            refusal.reason = Reason::WrongPassword;
        }
        if let Some(password) = request.password().map(Password::expose).filter(|password| !password.is_empty()) {
            let repeats = |words: &Untrusted| memchr::memmem::find(words.as_bytes(), password.as_bytes()).is_some();
            refusal.message = refusal.message.filter(|message| !repeats(message));
        }
        ServiceError::Refused(refusal)
    }

    /// Whether a text that somebody typed is the key, or holds it: pasted in the place of a hash it looks like one.
    pub fn has_key(&self, text: &[u8]) -> bool {
        self.credential.as_ref().is_some_and(|key| key.is_in(text))
    }

    /// Whether a request names the key where it has no business: everywhere but in the path of the user's own counters (specification
    /// §5).
    pub fn tells_key(&self, request: &Request) -> bool {
        if matches!(request, Request::User | Request::Quotas | Request::Usage { .. }) {
            return false;
        }
        let address = request.address(&User(self));
        let path: Vec<u8> = percent_encoding::percent_decode_str(&address.path).collect();
        // A cursor that was the key is redacted by now: what is left of it leads nowhere, and would be paid for.
        let is_key = |(name, value): &(Cow<'static, str>, String)| {
            self.has_key(value.as_bytes()) || name == "cursor" && self.redactor.has_redacted(value.as_bytes())
        };
        self.has_key(&path) || address.parameters.iter().any(is_key)
    }

    /// How far this machine's clock is behind the service's, in seconds; none before an answer that told the time.
    pub fn behind(&self) -> Option<i64> {
        self.behind.get().copied()
    }

    fn note_time(&self, response: &Response) {
        let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        if let Some(theirs) = date.and_then(|date| parser.parse_timestamp(date).ok()) {
            let _ = self.behind.set(theirs.as_second() - crate::clock::now().as_second());
        }
    }

    /// The call as it goes over the wire: where the key goes depends on the version (specification §5, §9).
    fn call(&self, address: &Address) -> Result<RequestBuilder, ServiceError> {
        let (url, http, parameters) = (self.url(address), self.http()?, self.parameters(address)?);
        if length(&url, address.method, &parameters) > LONGEST_ADDRESS {
            return Err(ServiceError::LongAddress);
        }
        let call = match address.method {
            Method::Get => http.get(url).query(&parameters),
            Method::Delete => http.delete(url).query(&parameters),
            // Some front ends answer 411 to a POST without a length (RFC 9110, section 8.6).
            Method::Post if parameters.is_empty() => http.post(url).header(CONTENT_LENGTH, 0),
            Method::Post => http.post(url).form(&parameters),
        };
        self.with_key(address, call)
    }

    /// The parameters, with the key where it is one of them.
    pub(super) fn parameters(&self, address: &Address) -> Result<Vec<(Cow<'static, str>, String)>, ServiceError> {
        let key = self.credential.as_ref().ok_or(ServiceError::NoKey)?.expose();
        let mut parameters = address.parameters.clone();
        if address.version == Version::V2 {
            parameters.push(("apikey".into(), key.to_owned()));
        }
        Ok(parameters)
    }

    /// The call with the key in its header, where it goes there.
    pub(super) fn with_key(&self, address: &Address, call: RequestBuilder) -> Result<RequestBuilder, ServiceError> {
        if address.version == Version::V2 {
            return Ok(call);
        }
        let key = self.credential.as_ref().ok_or(ServiceError::NoKey)?.expose();
        let mut header = HeaderValue::from_str(key).map_err(|_| ServiceError::NoKey)?;
        header.set_sensitive(true);
        Ok(call.header(&self.header, header))
    }

    /// A name for the user at this service whose counters are shown, which tells one from another and says nothing of the key.
    pub fn account(&self) -> Option<String> {
        let user = self.profile.user.as_deref().unwrap_or_default();
        self.digest("behaview account", &[user]).map(crate::text::hex)
    }

    /// Whose key asks which service, whatever the profile calls them: a number that says nothing of the key.
    pub fn owner(&self) -> Option<i64> {
        self.digest("behaview owner", &[]).map(i64::from_le_bytes)
    }

    /// The first bytes of a digest of the service, the key and what else tells: too few to know a key by. The service is known by the
    /// address that calls go to, of which root and prefix may be spelled in several ways.
    fn digest(&self, of: &str, more: &[&str]) -> Option<[u8; 8]> {
        let key = self.credential.as_ref()?.expose();
        let base = undotted(self.base(Version::V3));
        let base = base.as_str().trim_end_matches('/');
        // Where the usual prefix ends it, the root alone tells: what was noted under that is known by it.
        let usual = base.strip_suffix(USUAL_PREFIX).map(|root| format!("{root}/"));
        let mut hash = Sha256::new_with_prefix(of);
        for part in std::iter::once(&usual.as_deref().unwrap_or(base)).chain(more).chain([&key]) {
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

    /// The address that the operations of a version stand below, without doubled slashes.
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

/// Bytes that are gathered in one piece.
impl Sink for Vec<u8> {
    fn begin(&mut self, _: u64, _: Option<u64>, _: Option<String>) -> Taken<'_> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn take<'a>(&'a mut self, piece: &'a [u8]) -> Taken<'a> {
        self.extend_from_slice(piece);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// The length of an address with those parameters that go into it.
fn length(url: &Url, method: Method, parameters: &[(Cow<'static, str>, String)]) -> u64 {
    let mut whole = url.clone();
    if method != Method::Post {
        whole.query_pairs_mut().extend_pairs(parameters);
    }
    whole.as_str().len() as u64
}
