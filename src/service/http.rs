//! The HTTP client of a profile: its redirects, retries, proxies and certificates; the timeout of a
//! call; and the decoder of a response. reqwest itself would drop all but the first member of a gzip
//! stream.

use super::error::{SILENT, ServiceError, reason};
use super::profile::{LONGEST_CERTIFICATES, PROXY_OF_SYSTEM, Profile, is_proxy};
use crate::environment::variable;
use flate2::write::GzDecoder;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, Response, Url};
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;
use tokio::time::timeout;

const X_TOOL: HeaderName = HeaderName::from_static("x-tool");

/// Builds the client without redirects (the key belongs to one host), without a proxy unless
/// configured, and without retries (each may cost).
pub(super) fn build(profile: &Profile, root: &Url) -> Result<reqwest::Client, ServiceError> {
    // An error means that a provider is installed already, which is equivalent.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let unusable = |error: reqwest::Error| ServiceError::Unreachable(reason(&error));
    let builder = reqwest::Client::builder()
        .user_agent(concat!("behaview/", env!("CARGO_PKG_VERSION")))
        .default_headers(HeaderMap::from_iter([
            (X_TOOL, HeaderValue::from_static("behaview")),
            (ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
        ]))
        // `ContentDecoder` decodes responses where their bytes are counted.
        .no_gzip()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(profile.connect_timeout));
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
    /// The route of a profile's calls to its root. Unencrypted calls stay on this machine.
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

    /// The route as text without an address, which may contain a password.
    pub fn words(&self) -> String {
        match self {
            Self::Direct => "directly".to_owned(),
            Self::Proxy(_) => "by way of a proxy".to_owned(),
            Self::OfSystem(name, _) => format!("by way of the proxy of {name}, but for what NO_PROXY names"),
        }
    }
}

/// Variables with a proxy for encrypted calls; the first one set wins.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

fn with_proxy(builder: ClientBuilder, profile: &Profile, root: &Url) -> Result<ClientBuilder, ServiceError> {
    let (address, exceptions) = match ProxyRoute::of(profile, root)? {
        ProxyRoute::Direct => return Ok(builder),
        ProxyRoute::Proxy(address) => (address, None),
        ProxyRoute::OfSystem(_, address) => {
            let listed = ["NO_PROXY", "no_proxy"].iter().find_map(|name| variable(name));
            (address, listed.and_then(|listed| NoProxy::from_string(&listed)))
        }
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

/// Maximum timeout in seconds: a profile may set more than a clock can represent.
const LONGEST: u64 = 7 * 24 * 3600;

/// Waits for the next step of a call; a service that is silent for these seconds has lost it.
pub(super) async fn until_silent<T>(seconds: u64, next: impl Future<Output = T>) -> Result<T, ServiceError> {
    let silence = Duration::from_secs(seconds.clamp(1, LONGEST));
    timeout(silence, next).await.map_err(|_| ServiceError::Lost(SILENT.to_owned()))
}

/// Compressed bytes decoded per step; they may expand a thousandfold.
const AT_ONCE: usize = 8 * 1024;

const GZIP: [&[u8]; 2] = [b"gzip", b"x-gzip"];

const FIRST: u8 = 0x1f;

/// Decodes the bytes of an answer.
pub(super) enum ContentDecoder {
    None,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    /// Behind the last gzip member: what is there is no part of the answer.
    Ended,
    /// The label is not trusted: the first byte decides.
    Unlabelled,
}

impl ContentDecoder {
    fn gzip() -> Self {
        Self::Gzip(Box::new(GzDecoder::new(Vec::new())))
    }

    /// The decoder for the headers of a response: a proxy may have unpacked it and left the label.
    /// Other encodings were not asked for, and are passed on as they are.
    pub(super) fn of(response: &Response) -> Self {
        let is_gzip = |one: &&[u8]| GZIP.iter().any(|known| one.eq_ignore_ascii_case(known));
        match encodings(response).as_slice() {
            [] if response.status().is_success() => Self::None,
            [] => Self::Unlabelled,
            all if all.iter().all(is_gzip) => Self::Unlabelled,
            _ => Self::None,
        }
    }

    /// The length of an answer, unless it is encoded: `Content-Length` counts encoded bytes.
    pub(super) fn length_of(response: &Response) -> Option<u64> {
        response.content_length().filter(|_| !response.headers().contains_key(CONTENT_ENCODING))
    }

    pub(super) fn at_once(&self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Gzip(_) | Self::Unlabelled | Self::Ended => AT_ONCE,
        }
    }

    pub(super) fn take<'a>(&mut self, piece: &'a [u8]) -> Result<Cow<'a, [u8]>, ServiceError> {
        if let (Self::Unlabelled, Some(first)) = (&self, piece.first()) {
            *self = if *first == FIRST { Self::gzip() } else { Self::None };
        }
        match self {
            Self::None | Self::Unlabelled => Ok(Cow::Borrowed(piece)),
            Self::Gzip(_) | Self::Ended => self.unpack(piece).map(Cow::Owned).map_err(|_| damaged()),
        }
    }

    /// Unpacks one gzip member after another, up to bytes that do not begin one.
    fn unpack(&mut self, mut piece: &[u8]) -> io::Result<Vec<u8>> {
        let mut unpacked = Vec::new();
        while let Self::Gzip(gzip) = self {
            let taken = gzip.write(piece)?;
            piece = piece.get(taken..).unwrap_or_default();
            gzip.flush()?;
            unpacked.append(gzip.get_mut());
            match piece.first() {
                None => break,
                Some(_) if taken > 0 => {}
                Some(first) => {
                    gzip.try_finish()?;
                    *self = if *first == FIRST { Self::gzip() } else { Self::Ended };
                }
            }
        }
        Ok(unpacked)
    }

    pub(super) fn end(self) -> Result<Vec<u8>, ServiceError> {
        match self {
            Self::Gzip(gzip) => gzip.finish().map_err(|_| damaged()),
            Self::None | Self::Unlabelled | Self::Ended => Ok(Vec::new()),
        }
    }
}

/// The encodings of an answer, in the order in which they were applied.
fn encodings(response: &Response) -> Vec<&[u8]> {
    let values = response.headers().get_all(CONTENT_ENCODING).iter();
    let words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii));
    words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case(b"identity")).collect()
}

fn damaged() -> ServiceError {
    ServiceError::Lost("it was packed, and is damaged or was cut short".to_owned())
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
        let (mut decoder, mut all) = (ContentDecoder::gzip(), Vec::new());
        for piece in bytes.chunks(step) {
            all.extend_from_slice(&decoder.take(piece)?);
        }
        all.extend(decoder.end()?);
        Ok(all)
    }

    #[test]
    fn every_gzip_member_is_decoded_however_it_comes() {
        let (one, two) = (packed(b"one, "), packed(&b"two ".repeat(30_000)));
        let whole = [&b"one, "[..], &b"two ".repeat(30_000)].concat();
        for step in [1, 7, 10, 1_000_000] {
            assert!(decoded(&[&one[..], &two].concat(), step).unwrap() == whole, "{step}");
            for cut in [1, 9, two.len() - 1] {
                assert!(decoded(&[&one[..], &two[..two.len() - cut]].concat(), step).is_err(), "{step}: {cut}");
            }
            assert!(decoded(b"no such thing", step).is_err());
            assert!(decoded(&[&one[..], &two, b"\n\0 behind it \x1f\x8b"].concat(), step).unwrap() == whole, "{step}");
        }
    }
}
