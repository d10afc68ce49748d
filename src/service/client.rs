//! Sends one request, once, to one host, and brings its answer back whole or says why not.

use super::credential::Credential;
use super::error::{Refusal, ServiceError};
use super::profile::{Profile, ProfileError};
use crate::request::{Asker, Request};
use reqwest::header::{HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Response, Url};
use std::sync::OnceLock;
use std::time::Duration;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the service may be silent once asked.
const SILENCE: Duration = Duration::from_secs(60);

/// Longest answer that is taken, in bytes.
pub const LONGEST_ANSWER: u64 = 1 << 30;

/// Longest error answer that is read: its words fit in much less.
const LONGEST_ERROR: u64 = 64 * 1024;

/// One service, spoken to as one user.
pub struct Client {
    profile: Profile,
    root: Url,
    header: HeaderName,
    credential: Option<Credential>,
    /// Made at the first call: certificates take longer to load than a first screen to draw.
    http: OnceLock<reqwest::Client>,
}

/// How much of an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Bytes so far, decompressed.
    pub bytes: u64,
    /// Bytes in all, where the service announced them.
    pub total: Option<u64>,
}

/// A whole answer that is no refusal.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The bytes, decompressed.
    pub bytes: Vec<u8>,
}

struct User<'a>(&'a Client);

impl Asker for User<'_> {
    fn user(&self) -> &str {
        let key = self.0.credential.as_ref().map(Credential::expose);
        self.0.profile.user.as_deref().or(key).unwrap_or_default()
    }
}

impl Client {
    /// A client for a profile; nothing is sent or loaded yet.
    ///
    /// # Errors
    /// When the profile cannot be used.
    pub fn new(profile: Profile, credential: Option<Credential>) -> Result<Self, ProfileError> {
        let root = profile.check()?;
        let header =
            HeaderName::try_from(&profile.header).map_err(|_| ProfileError::Header { name: profile.name.clone() })?;
        Ok(Self { profile, root, header, credential, http: OnceLock::new() })
    }

    /// The profile it speaks to.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Where the key comes from, if there is one.
    #[must_use]
    pub fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Sends a request, once. Each piece that comes is told to `progress`.
    ///
    /// # Errors
    /// Says whether the request may have been counted: see [`ServiceError::may_be_charged`].
    pub async fn send(
        &self,
        request: &Request,
        progress: &(dyn Fn(Received) + Send + Sync),
    ) -> Result<Reply, ServiceError> {
        let credential = self.credential.as_ref().ok_or(ServiceError::NoKey)?;
        let mut key = HeaderValue::from_str(credential.expose()).map_err(|_| ServiceError::NoKey)?;
        key.set_sensitive(true);
        let call = self.http()?.get(self.url(request)).header(&self.header, key);
        let response = call.send().await.map_err(|error| not_sent_or_lost(&error))?;
        let status = response.status();
        if status.is_success() {
            let bytes = body(response, LONGEST_ANSWER, progress).await?;
            return Ok(Reply { status: status.as_u16(), bytes });
        }
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let words = body(response, LONGEST_ERROR, &|_| {}).await.unwrap_or_default();
        let refusal = Refusal::of(status.as_u16(), header.as_deref(), &words, jiff::Timestamp::now());
        Err(ServiceError::Refused(refusal))
    }

    fn url(&self, request: &Request) -> Url {
        let address = request.address(&User(self));
        let mut url = self.root.clone();
        url.set_path(&format!("{}{}{}", url.path().trim_end_matches('/'), self.profile.v3_prefix, address.path));
        url.set_query(Some(address.query.as_str()).filter(|query| !query.is_empty()));
        url
    }

    fn http(&self) -> Result<&reqwest::Client, ServiceError> {
        if let Some(ready) = self.http.get() {
            return Ok(ready);
        }
        let made = build().map_err(|error| ServiceError::Unreachable(reason(&error)))?;
        Ok(self.http.get_or_init(|| made))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Client({}, {:?})", self.profile.name, self.credential)
    }
}

/// No redirects (the key belongs to one host), no proxy unless asked for, no retries (each may cost).
fn build() -> reqwest::Result<reqwest::Client> {
    // An error says that a provider is there already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("behaview/", env!("CARGO_PKG_VERSION")))
        .default_headers(
            [(HeaderName::from_static("x-tool"), HeaderValue::from_static("behaview"))].into_iter().collect(),
        )
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .build()
}

async fn body(
    mut response: Response,
    limit: u64,
    progress: &(dyn Fn(Received) + Send + Sync),
) -> Result<Vec<u8>, ServiceError> {
    let total = response.content_length();
    let mut bytes = Vec::new();
    progress(Received { bytes: 0, total });
    while let Some(piece) = response.chunk().await.map_err(|error| ServiceError::Lost(reason(&error)))? {
        bytes.extend_from_slice(&piece);
        if bytes.len() as u64 > limit {
            return Err(ServiceError::TooLong(limit));
        }
        progress(Received { bytes: bytes.len() as u64, total });
    }
    Ok(bytes)
}

/// A connection that was never made has sent nothing; after that anything may have been counted.
fn not_sent_or_lost(error: &reqwest::Error) -> ServiceError {
    if error.is_connect() || error.is_builder() {
        ServiceError::Unreachable(reason(error))
    } else {
        ServiceError::Lost(reason(error))
    }
}

/// The innermost cause, which names no address: an address may hold the key.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the service was silent for too long".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let is_outermost = std::ptr::eq(std::ptr::from_ref(cause).cast::<()>(), std::ptr::from_ref(error).cast::<()>());
    if is_outermost {
        "the connection failed".to_owned()
    } else {
        crate::text::Untrusted::from(cause.to_string()).visible_cut(120).to_string()
    }
}
