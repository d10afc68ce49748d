//! The HTTP client of a profile: what it follows, retries and trusts.

use super::error::ServiceError;
use super::failure::reason;
use super::profile::{LONGEST_CERTIFICATES, PROXY_OF_SYSTEM, Profile};
use crate::environment::variable;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy, Url};
use std::time::Duration;

/// No redirects (the key belongs to one host), no proxy unless asked for, no retries (each may cost).
pub(super) fn build(profile: &Profile, root: &Url) -> Result<reqwest::Client, ServiceError> {
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
        .connect_timeout(Duration::from_secs(profile.connect_timeout));
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
