//! The HTTP client of a profile: its redirects, retries, proxies and certificates.

use super::error::{ServiceError, reason};
use super::profile::{LONGEST_CERTIFICATES, PROXY_OF_SYSTEM, Profile, is_proxy};
use crate::environment::variable;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, Url};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The header that names the calling program.
const X_TOOL: HeaderName = HeaderName::from_static("x-tool");

/// The variable with a certificate file that replaces the system's certificates.
const CERTIFICATES_OF_SYSTEM: &str = "SSL_CERT_FILE";

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
    check_system_certificates()?;
    with_certificates(builder, profile)?.build().map_err(unusable)
}

/// The route of a profile's calls.
pub enum ProxyRoute {
    Direct,
    /// Through the proxy of the profile.
    Proxy(String),
    /// Through the proxy in this variable, except for the hosts of `NO_PROXY`.
    OfSystem(&'static str, String),
}

impl ProxyRoute {
    /// The route of a profile's calls to its root. Unencrypted calls stay on this machine.
    pub fn of(profile: &Profile, root: &Url) -> Result<Self, ServiceError> {
        let system = || PROXY_VARIABLES.into_iter().find_map(|name| Some((name, variable(name)?)));
        match profile.proxy.as_deref().filter(|_| root.scheme() == "https") {
            None => Ok(Self::Direct),
            Some(PROXY_OF_SYSTEM) => match system() {
                None => Ok(Self::Direct),
                Some((name, address)) if is_proxy_or_host(&address) => Ok(Self::OfSystem(name, address)),
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

/// Whether a variable contains a usable proxy; a host without a scheme is accepted.
fn is_proxy_or_host(address: &str) -> bool {
    is_proxy(address) || !address.contains("://") && is_proxy(&format!("http://{address}"))
}

fn with_proxy(builder: ClientBuilder, profile: &Profile, root: &Url) -> Result<ClientBuilder, ServiceError> {
    let (address, exceptions) = match ProxyRoute::of(profile, root)? {
        ProxyRoute::Direct => return Ok(builder),
        ProxyRoute::Proxy(address) => (address, None),
        ProxyRoute::OfSystem(_, address) => (address, exceptions(root)),
    };
    let proxy = Proxy::all(address).map_err(|error| ServiceError::Unreachable(reason(&error)))?;
    Ok(builder.proxy(proxy.no_proxy(exceptions)))
}

/// The hosts in `NO_PROXY`. An entry with a port applies if the service has that port.
fn exceptions(root: &Url) -> Option<NoProxy> {
    let listed = ["NO_PROXY", "no_proxy"].iter().find_map(|name| variable(name))?;
    NoProxy::from_string(&without_ports(&listed, root.port_or_known_default()))
}

fn without_ports(listed: &str, of_root: Option<u16>) -> String {
    let host = |one: &str| {
        let (host, port) = one.rsplit_once(':').unwrap_or((one, ""));
        // In an address with colons, the port follows a bracket.
        match port.parse::<u16>() {
            Ok(port) if !host.contains(':') || host.ends_with(']') => {
                let host = host.trim_start_matches('[').trim_end_matches(']');
                (Some(port) == of_root).then(|| host.to_owned())
            }
            _ => Some(one.to_owned()),
        }
    };
    listed.split(',').map(str::trim).filter_map(host).collect::<Vec<_>>().join(",")
}

/// Rejects a certificate file that is too long or not a regular file, which may be endless.
fn check_system_certificates() -> Result<(), ServiceError> {
    let Some(path) = variable(CERTIFICATES_OF_SYSTEM).map(PathBuf::from) else { return Ok(()) };
    let unusable = |why: &dyn std::fmt::Display| {
        Err(ServiceError::Unreachable(format!("the certificates of {CERTIFICATES_OF_SYSTEM}: {why}")))
    };
    match std::fs::metadata(&path) {
        Ok(about) if !about.is_file() => unusable(&"it is no ordinary file"),
        Ok(about) if about.len() > LONGEST_CERTIFICATES => unusable(&"it is too long"),
        // A missing file is accepted: the system may have other certificates.
        _ => Ok(()),
    }
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

/// The timeout of one response.
pub(super) struct CallTimeout {
    begun: Instant,
    silence: Duration,
    whole: Duration,
    slowest: u64,
    sent: u64,
}

impl CallTimeout {
    /// Starts the timeout of a request with this many bytes.
    pub(super) fn new(profile: &Profile, sent: u64) -> Self {
        let seconds = |seconds: u64| Duration::from_secs(seconds.clamp(1, LONGEST));
        let (silence, whole) = (seconds(profile.timeout), seconds(profile.patience));
        Self { begun: Instant::now(), silence, whole, slowest: profile.slowest, sent }
    }

    /// Waits for the next piece of a response, after this many bytes were received.
    pub(super) async fn wait<T>(&self, received: u64, next: impl Future<Output = T>) -> Result<T, ServiceError> {
        let silent = Instant::now() + self.silence + self.earned(if received == 0 { self.sent } else { 0 });
        let late = self.begun + self.whole + self.earned(received.saturating_add(self.sent));
        let lost = |_| {
            let too_slow = late < silent;
            let words =
                if too_slow { "it came too slowly and was given up" } else { "the service was silent for too long" };
            ServiceError::Lost(words.to_owned())
        };
        timeout_at(silent.min(late), next).await.map_err(lost)
    }

    /// The additional time for this many bytes.
    fn earned(&self, bytes: u64) -> Duration {
        Duration::from_secs(bytes.checked_div(self.slowest).unwrap_or(0).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_with_a_port_is_meant_for_that_port() {
        let listed = "a.example:8443, b.example:9000,.c.example,10.0.0.0/8,[2001:db8::1]:8443,2001:db8::2,*";
        let of = |port| without_ports(listed, Some(port));
        assert_eq!(of(8443), "a.example,.c.example,10.0.0.0/8,2001:db8::1,2001:db8::2,*");
        assert_eq!(of(443), ".c.example,10.0.0.0/8,2001:db8::2,*");
    }
}
