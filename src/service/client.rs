//! Sends one request, once, to one host, and brings its answer back whole or says why not.

use super::credential::Credential;
use super::error::{Refusal, ServiceError};
use super::profile::{PROXY_OF_SYSTEM, Profile, ProfileError};
use crate::request::{Address, Asker, Method, Request, Version};
use crate::text::Untrusted;
use reqwest::header::{DATE, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::multipart::{Form, Part};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, RequestBuilder, Response, Url};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// Longest answer that is taken, in bytes.
pub const LONGEST_ANSWER: u64 = 1 << 30;

/// Longest quota details that are taken, in bytes.
const LONGEST_QUOTAS: u64 = 1 << 20;

/// Largest file that is uploaded in one call, in bytes.
const LARGEST_UPLOAD: u64 = 32 * 1024 * 1024;

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
    /// How far this machine's clock was behind the service's at its first answer, in seconds.
    behind: OnceLock<i64>,
}

/// How much of an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Bytes so far, decompressed.
    pub bytes: u64,
    /// Bytes in all, where the service announced them.
    pub total: Option<u64>,
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
        Ok(Self { profile, root, header, credential, http: OnceLock::new(), behind: OnceLock::new() })
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

    /// Sends a request, once; gives the answer's bytes, decompressed. Each piece that comes is told to `progress`.
    ///
    /// # Errors
    /// Says whether the request may have been counted: see [`ServiceError::may_be_charged`].
    pub async fn send(
        &self,
        request: &Request,
        progress: &(dyn Fn(Received) + Send + Sync),
    ) -> Result<Vec<u8>, ServiceError> {
        let response = self.call(request)?.send().await.map_err(|error| not_sent_or_lost(&error))?;
        self.note_time(&response);
        let status = response.status();
        if status.is_success() {
            let limit = if *request == Request::Quotas { LONGEST_QUOTAS } else { LONGEST_ANSWER };
            return body(response, limit, progress).await;
        }
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let words = body(response, LONGEST_ERROR, &|_| {}).await.unwrap_or_default();
        let mut refusal = Refusal::of(status.as_u16(), header.as_deref(), &words, jiff::Timestamp::now());
        let key = self.credential.as_ref().map(Credential::expose).unwrap_or_default();
        refusal.message = refusal.message.and_then(|message| without(key, message));
        Err(ServiceError::Refused(refusal))
    }

    /// How far this machine's clock is behind the service's, in seconds; none before an answer that told the time.
    #[must_use]
    pub fn behind(&self) -> Option<i64> {
        self.behind.get().copied()
    }

    fn note_time(&self, response: &Response) {
        let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        if let Some(theirs) = date.and_then(|date| parser.parse_timestamp(date).ok()) {
            let _ = self.behind.set(theirs.as_second() - jiff::Timestamp::now().as_second());
        }
    }

    /// The call as it goes over the wire: where the key goes depends on the version (specification §5, §9).
    fn call(&self, request: &Request) -> Result<RequestBuilder, ServiceError> {
        let key = self.credential.as_ref().ok_or(ServiceError::NoKey)?.expose();
        let address = request.address(&User(self));
        let (url, http) = (self.url(&address), self.http()?);
        let mut parameters = address.parameters;
        if address.version == Version::V2 {
            parameters.push(("apikey", key.to_owned()));
        }
        let call = match (address.method, &address.upload) {
            (Method::Get, _) => http.get(url).query(&parameters),
            (Method::Post, None) if parameters.is_empty() => http.post(url),
            (Method::Post, None) => http.post(url).form(&parameters),
            (Method::Post, Some(path)) => http.post(url).multipart(form(parameters, path)?),
        };
        if address.version == Version::V2 {
            return Ok(call);
        }
        let mut header = HeaderValue::from_str(key).map_err(|_| ServiceError::NoKey)?;
        header.set_sensitive(true);
        Ok(call.header(&self.header, header))
    }

    /// A name for the user at this service whose counters are shown, which tells one from another and says nothing of the key.
    #[must_use]
    pub fn account(&self) -> Option<String> {
        let key = self.credential.as_ref()?.expose();
        let user = self.profile.user.as_deref().unwrap_or_default();
        let mut hash = Sha256::new_with_prefix("behaview account");
        for part in [self.root.as_str(), user, key] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        Some(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }

    fn url(&self, address: &Address) -> Url {
        let prefix = match address.version {
            Version::V2 => &self.profile.v2_prefix,
            Version::V3 => &self.profile.v3_prefix,
        };
        let mut url = self.root.clone();
        url.set_path(&format!("{}{prefix}{}", url.path().trim_end_matches('/'), address.path));
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

/// No redirects (the key belongs to one host), no proxy unless asked for, no retries (each may cost).
fn build(profile: &Profile, root: &Url) -> Result<reqwest::Client, ServiceError> {
    // An error says that a provider is there already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unusable = |error: reqwest::Error| ServiceError::Unreachable(reason(&error));
    let builder = reqwest::Client::builder()
        .user_agent(concat!("behaview/", env!("CARGO_PKG_VERSION")))
        .default_headers(
            [(HeaderName::from_static("x-tool"), HeaderValue::from_static("behaview"))].into_iter().collect(),
        )
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(profile.connect_timeout))
        .read_timeout(Duration::from_secs(profile.timeout));
    let builder = with_proxy(builder.no_proxy(), profile, root).map_err(unusable)?;
    with_certificates(builder, profile)?.build().map_err(unusable)
}

/// What is not encrypted stays on this machine.
fn with_proxy(builder: ClientBuilder, profile: &Profile, root: &Url) -> reqwest::Result<ClientBuilder> {
    let system = || ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].into_iter().find_map(variable);
    let (address, exceptions) = match profile.proxy.as_deref() {
        Some(PROXY_OF_SYSTEM) => (system(), NoProxy::from_env()),
        address => (address.map(str::to_owned), None),
    };
    match address {
        Some(address) if root.scheme() == "https" => Ok(builder.proxy(Proxy::all(address)?.no_proxy(exceptions))),
        _ => Ok(builder),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn with_certificates(builder: ClientBuilder, profile: &Profile) -> Result<ClientBuilder, ServiceError> {
    let Some(path) = &profile.ca_file else { return Ok(builder) };
    let unusable = |why: String| ServiceError::Unreachable(format!("the certificates of ca_file: {why}"));
    let bytes = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&bytes).map_err(|error| unusable(reason(&error)))?;
    if certificates.is_empty() {
        return Err(unusable("there are none in it".to_owned()));
    }
    Ok(builder.tls_certs_merge(certificates))
}

/// Parameters and a file in one body.
fn form(parameters: Vec<(&'static str, String)>, path: &Path) -> Result<Form, ServiceError> {
    let unsendable = |why: String| ServiceError::Unsendable(why);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let size = std::fs::metadata(path).map_err(|error| unsendable(error.to_string()))?.len();
    if size > LARGEST_UPLOAD {
        return Err(unsendable(format!("it is larger than {}", crate::text::bytes(LARGEST_UPLOAD))));
    }
    let bytes = std::fs::read(path).map_err(|error| unsendable(error.to_string()))?;
    let form = parameters.into_iter().fold(Form::new(), |form, (name, value)| form.text(name, value));
    Ok(form.part("file", Part::bytes(bytes).file_name(name)))
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

/// A "no" may quote the request, and with it the key, as it is or as it stands in an address; it is shown nowhere.
fn without(key: &str, message: Untrusted) -> Option<Untrusted> {
    let encoded = percent_encoding::percent_encode(key.as_bytes(), percent_encoding::NON_ALPHANUMERIC).to_string();
    let text = String::from_utf8_lossy(message.as_bytes()).to_ascii_lowercase();
    let is_quoted = [key, &encoded].into_iter().any(|form| text.contains(&form.to_ascii_lowercase()));
    (!is_quoted).then_some(message)
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
        Untrusted::from(cause.to_string()).visible_cut(120).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_quote_the_key_in_any_form_are_not_shown() {
        let key = "q3Zk9/Tb+Wm2Lr==";
        for words in ["no user q3Zk9/Tb+Wm2Lr==", "no /users/q3Zk9%2FTb%2BWm2Lr%3D%3D/x", "NO Q3ZK9/TB+WM2LR=="] {
            assert_eq!(without(key, Untrusted::from(words)), None, "{words}");
        }
        assert!(without(key, Untrusted::from("no such user")).is_some());
    }
}
