//! Makes a profile's HTTP client (redirects, proxies, certificates); times out, decodes responses.

use super::error::{SILENT, ServiceError, reason};
use super::profile::{LONGEST_CERTIFICATES, PROXY_OF_SYSTEM, Profile, is_proxy};
use crate::environment::variable;
use flate2::write::MultiGzDecoder;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, Response, Url};
use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;
use tokio::time::timeout;

/// Builds the client without redirects (the key belongs to one host), without a proxy unless
/// configured, and without retries (each may cost).
pub(super) fn build(profile: &Profile, root: &Url) -> Result<reqwest::Client, ServiceError> {
    // An error means that a provider is installed already, which is equivalent.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unusable = |error: reqwest::Error| ServiceError::Unreachable(reason(&error));
    let builder = reqwest::Client::builder()
        .user_agent(concat!("behaview/", env!("CARGO_PKG_VERSION")))
        .default_headers(HeaderMap::from_iter([
            (HeaderName::from_static("x-tool"), HeaderValue::from_static("behaview")),
            (ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
        ]))
        // reqwest would lose a plain response that is labelled gzip; `ContentDecoder` does not.
        .no_gzip()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(profile.connect_timeout_s));
    let builder = with_proxy(builder.no_proxy(), profile, root)?;
    // Unencrypted calls to this machine need no certificates.
    if root.scheme() != "https" && profile.upload_host.is_none() {
        return builder.tls_certs_only([]).build().map_err(unusable);
    }
    with_certificates(builder, profile)?.build().map_err(unusable)
}

/// The route of a profile's calls.
pub enum ProxyRoute {
    Direct,
    Proxy(String),
    /// Through the proxy in this variable, except for the hosts of `NO_PROXY`.
    OfSystem(&'static str, String),
}

impl ProxyRoute {
    /// Returns the route of a profile's calls to its root. Unencrypted calls stay on this machine.
    pub fn of(profile: &Profile, root: &Url) -> Result<Self, ServiceError> {
        // A host without a scheme is accepted.
        let is_usable =
            |address: &str| is_proxy(address) || !address.contains("://") && is_proxy(&format!("http://{address}"));
        let system = || PROXY_VARIABLES.into_iter().find_map(|name| Some((name, variable(name)?)));
        match profile.proxy.as_deref().filter(|_| root.scheme() == "https") {
            None => Ok(Self::Direct),
            Some(PROXY_OF_SYSTEM) => match system() {
                None => Ok(Self::Direct),
                Some((name, address)) if is_usable(&address) => Ok(Self::OfSystem(name, address)),
                Some((name, _)) => Err(ServiceError::Unreachable(format!(
                    "proxy is \"{PROXY_OF_SYSTEM}\", and {name} names none that can be used: a proxy is http://HOST:PORT or \
                     https://HOST:PORT"
                ))),
            },
            Some(address) => Ok(Self::Proxy(address.to_owned())),
        }
    }

    /// Returns the route as text without an address, which may contain a password.
    pub fn label(&self) -> String {
        match self {
            Self::Direct => "directly".to_owned(),
            Self::Proxy(_) => "by way of a proxy".to_owned(),
            Self::OfSystem(name, _) => format!("by way of the proxy of {name}, except for the hosts in NO_PROXY"),
        }
    }
}

/// Variables with a proxy for encrypted calls; the first one set wins.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

fn with_proxy(builder: ClientBuilder, profile: &Profile, root: &Url) -> Result<ClientBuilder, ServiceError> {
    let (address, exceptions) = match ProxyRoute::of(profile, root)? {
        ProxyRoute::Direct => return Ok(builder),
        ProxyRoute::Proxy(address) => (address, None),
        ProxyRoute::OfSystem(_, address) => (address, NoProxy::from_env()),
    };
    let proxy = Proxy::all(address).map_err(|error| ServiceError::Unreachable(reason(&error)))?;
    Ok(builder.proxy(proxy.no_proxy(exceptions)))
}

fn with_certificates(builder: ClientBuilder, profile: &Profile) -> Result<ClientBuilder, ServiceError> {
    let Some(path) = &profile.ca_file else { return Ok(builder) };
    let unusable = |why: String| ServiceError::Unreachable(format!("the certificates of ca_file: {why}"));
    let bytes = crate::files::read(path, LONGEST_CERTIFICATES).map_err(|error| unusable(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&bytes).map_err(|error| unusable(reason(&error)))?;
    if certificates.is_empty() {
        return Err(unusable("there are none in it".to_owned()));
    }
    Ok(builder.tls_certs_merge(certificates))
}

/// Waits for the next step of a call; fails if the service is silent for this number of `seconds`.
pub(super) async fn until_silent<T>(seconds: u64, next: impl Future<Output = T>) -> Result<T, ServiceError> {
    timeout(Duration::from_secs(seconds), next).await.map_err(|_| ServiceError::Lost(SILENT.to_owned()))
}

pub(super) enum ContentDecoder {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// The first byte decides, as proxies decompress responses and services label plain errors.
    Undecided,
}

impl ContentDecoder {
    pub(super) fn of(response: &Response) -> Self {
        if response.status().is_success() && !is_packed(response) { Self::Plain } else { Self::Undecided }
    }

    /// Returns a response's length, unless compressed: `Content-Length` counts those bytes.
    pub(super) fn length_of(response: &Response) -> Option<u64> {
        response.content_length().filter(|_| !is_packed(response))
    }

    pub(super) fn take<'a>(&mut self, piece: &'a [u8]) -> Result<Cow<'a, [u8]>, ServiceError> {
        if let (Self::Undecided, Some(first)) = (&self, piece.first()) {
            *self = if *first == 0x1f { Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))) } else { Self::Plain };
        }
        let Self::Gzip(gzip) = self else { return Ok(Cow::Borrowed(piece)) };
        gzip.write_all(piece).and_then(|()| gzip.flush()).map_err(|_| damaged())?;
        Ok(Cow::Owned(std::mem::take(gzip.get_mut())))
    }

    pub(super) fn end(self) -> Result<Vec<u8>, ServiceError> {
        match self {
            Self::Gzip(gzip) => gzip.finish().map_err(|_| damaged()),
            Self::Plain | Self::Undecided => Ok(Vec::new()),
        }
    }
}

/// Returns whether a response is labelled as compressed; only gzip was requested.
fn is_packed(response: &Response) -> bool {
    response.headers().get(CONTENT_ENCODING).is_some_and(|label| label != "identity")
}

fn damaged() -> ServiceError {
    ServiceError::Lost("its compressed bytes are damaged or cut short".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(bytes: &[u8], step: usize) -> Result<Vec<u8>, ServiceError> {
        let mut decoder = ContentDecoder::Undecided;
        let mut all = Vec::new();
        for piece in bytes.chunks(step) {
            all.extend_from_slice(&decoder.take(piece)?);
        }
        all.extend(decoder.end()?);
        Ok(all)
    }

    #[test]
    fn every_gzip_member_is_decoded_however_it_comes() {
        let one = packed(b"one, ");
        let two = packed(&b"two ".repeat(30_000));
        let whole = [&b"one, "[..], &b"two ".repeat(30_000)].concat();
        for step in [1, 7, 10, 1_000_000] {
            assert!(decoded(&[&one[..], &two].concat(), step).unwrap() == whole, "{step}");
            for cut in [1, 9, two.len() - 1] {
                assert!(decoded(&[&one[..], &two[..two.len() - cut]].concat(), step).is_err(), "{step}: {cut}");
            }
            assert!(decoded(b"\x1fno such thing", step).is_err());
            assert_eq!(decoded(b"not packed", step).unwrap(), b"not packed", "{step}");
        }
    }
}
