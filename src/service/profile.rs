//! A service profile: the settings that differ between installations of the service.

use crate::files;
use crate::request::{Listing, ScanOption, UploadLimit};
use reqwest::Url;
use reqwest::header::HeaderName;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Maximum size of a certificate file, in bytes.
pub(super) const LONGEST_CERTIFICATES: u64 = 64 << 20;

/// The address of a service and the settings of its API.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The name by which the user selects it.
    #[serde(skip)]
    pub name: String,
    /// Scheme, host and port, such as `https://www.virustotal.com`.
    pub root: String,
    /// Path before every operation of API v3.
    pub v3_prefix: String,
    /// Path before every operation of API v2.
    pub v2_prefix: String,
    /// Header that carries the key in API v3.
    pub header: String,
    /// The user's name at the service; without it, addresses contain the key instead.
    pub user: Option<String>,
    /// Whether responses are shared with the team, if the config has one.
    pub share: bool,
    pub listing: Listing,
    /// Maximum number of items per list page, from 1: each page costs a call.
    pub page_size: u8,
    /// The proxy: `env` for the system's variables, or an address; `None` for a direct connection.
    ///
    /// Unencrypted calls to a service on this machine never use a proxy.
    pub proxy: Option<String>,
    /// Certificates (PEM) that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    pub connect_timeout_s: u64,
    /// Maximum silence of the service before and within a response.
    pub timeout_s: u64,
    /// Maximum size of a response after decompression; it may need five times as much memory.
    pub max_response_mib: u64,
    /// Largest file that is uploaded within one call.
    pub direct_upload_limit_mib: u64,
    /// Largest file that is uploaded at all.
    pub max_upload_mib: u64,
    /// Another host for large files, `https://files.example`, which never gets the key.
    pub upload_host: Option<String>,
    /// The field names of a private scan's options, where they differ from the public service's.
    pub fields: BTreeMap<ScanOption, String>,
}

/// The value of `proxy` that selects the proxy of the system's variables.
pub(crate) const PROXY_OF_SYSTEM: &str = "env";

impl Default for Profile {
    fn default() -> Self {
        Self {
            name: "virustotal".to_owned(),
            root: "https://www.virustotal.com".to_owned(),
            v3_prefix: "/api/v3".to_owned(),
            v2_prefix: "/vtapi/v2".to_owned(),
            header: "x-apikey".to_owned(),
            user: None,
            share: true,
            listing: Listing::Reports,
            page_size: 40,
            proxy: None,
            ca_file: None,
            connect_timeout_s: 10,
            timeout_s: 60,
            max_response_mib: 1024,
            direct_upload_limit_mib: 32,
            max_upload_mib: 650,
            upload_host: None,
            fields: BTreeMap::new(),
        }
    }
}

/// Why a profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("profile {name}: {setting} {why}")]
pub struct ProfileError {
    name: String,
    pub setting: &'static str,
    why: &'static str,
}

const NO_ROOT: &str = "is not an address such as \"https://host\"";
const IN_THE_CLEAR: &str = "must be https; http is accepted for this machine (127.0.0.1) only";
const NO_HEADER: &str = "is not a header name that is free to carry the key";
const NO_USER: &str = "is empty, or . or .., which leads elsewhere in an address; leave it out where it is not known";
const NO_UPLOAD_HOST: &str = "is not an address for uploads, such as \"https://host\"";
const NO_PROXY: &str = "is not an address such as \"http://host:3128\", or \"env\"";
const NO_CERTIFICATE: &str = "cannot be read, or holds no certificate (PEM)";
const NO_TIME: &str = "must be a second at least";

impl Profile {
    /// Returns the profile of the embedded service, with the paths of the specification (§4.2, §9).
    pub fn demo(root: String, user: String) -> Self {
        let user = Some(user);
        Self { name: "demo".to_owned(), root, v2_prefix: "/svcapi/v2".to_owned(), user, ..Self::default() }
    }

    /// Parses the root; an error if a key must not be sent there.
    pub fn check(&self) -> Result<Url, ProfileError> {
        self.mistakes().into_iter().next().map_or_else(|| self.address(), Err)
    }

    /// Returns the address that identifies the service, however host and port are spelled.
    pub fn place(&self) -> String {
        // A service with an invalid root cannot have been called.
        self.check().map_or_else(|_| self.root.clone(), |url| undotted(url).into())
    }

    /// Returns every invalid setting.
    pub fn mistakes(&self) -> Vec<ProfileError> {
        let holds_certificate = |path: &PathBuf| {
            let start = b"-----BEGIN CERTIFICATE-----";
            files::read(path, LONGEST_CERTIFICATES).is_ok_and(|bytes| memchr::memmem::find(&bytes, start).is_some())
        };
        let is_way = |proxy: &str| proxy == PROXY_OF_SYSTEM || is_proxy(proxy);
        let checks = [
            ("header", NO_HEADER, is_free(&self.header)),
            ("user", NO_USER, self.user.as_deref().is_none_or(|user| !matches!(user, "" | "." | ".."))),
            ("proxy", NO_PROXY, self.proxy.as_deref().is_none_or(is_way)),
            ("upload_host", NO_UPLOAD_HOST, self.upload_host.as_deref().is_none_or(|host| encrypted(host).is_ok())),
            ("ca_file", NO_CERTIFICATE, self.ca_file.as_ref().is_none_or(holds_certificate)),
            ("page_size", "must be 1 to 40: the service gives 40 at most", (1..=40).contains(&self.page_size)),
            ("connect_timeout_s", NO_TIME, self.connect_timeout_s > 0),
            ("timeout_s", NO_TIME, self.timeout_s > 0),
            ("max_response_mib", "must be 1 at least", self.max_response_mib > 0),
        ];
        let wrong = checks.into_iter().filter(|(_, _, is_right)| !is_right);
        let wrong = wrong.map(|(setting, why, _)| self.error(setting, why));
        self.address().err().into_iter().chain(wrong).collect()
    }

    fn error(&self, setting: &'static str, why: &'static str) -> ProfileError {
        ProfileError { name: self.name.clone(), setting, why }
    }

    fn address(&self) -> Result<Url, ProfileError> {
        encrypted(&self.root).map_err(|why| self.error("root", why))
    }

    /// Returns the largest file that may be uploaded, in bytes.
    pub fn largest(&self, limit: UploadLimit) -> u64 {
        let mebibytes = match limit {
            UploadLimit::Direct => self.direct_upload_limit_mib,
            UploadLimit::Large => self.max_upload_mib,
        };
        mebibytes.saturating_mul(1 << 20)
    }

    /// Returns the limit for a file of this many bytes; `None` if the file exceeds both.
    pub fn fitting(&self, size: u64) -> Option<UploadLimit> {
        [UploadLimit::Direct, UploadLimit::Large].into_iter().find(|limit| size <= self.largest(*limit))
    }

    /// Returns the size of the largest file that is uploaded, in bytes.
    pub fn largest_upload(&self) -> u64 {
        self.largest(UploadLimit::Direct).max(self.largest(UploadLimit::Large))
    }
}

/// Removes the dot that may end a host's name (RFC 1034 §3.1); the host is the same.
pub(super) fn undotted(mut url: Url) -> Url {
    if let Some(host) = url.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned) {
        // A host that is invalid without its dot stays unchanged.
        let _ = url.set_host(Some(&host));
    }
    url
}

/// Returns whether a header can carry the key: its name is valid and has no other meaning.
fn is_free(header: &str) -> bool {
    const TAKEN: &str = "accept accept-encoding connection content-length content-type expect host if-range range te \
                         trailer transfer-encoding upgrade user-agent";
    let is_taken = |name: HeaderName| TAKEN.split(' ').any(|taken| taken == name.as_str());
    HeaderName::try_from(header).is_ok_and(|name| !is_taken(name))
}

/// Parses an address that is encrypted or on this machine.
pub(super) fn encrypted(address: &str) -> Result<Url, &'static str> {
    let is_bare = |url: &Url| {
        let has_user = !url.username().is_empty() || url.password().is_some();
        url.has_host() && !has_user && url.query().is_none() && url.fragment().is_none()
    };
    let url = Url::parse(address).ok().filter(is_bare).ok_or(NO_ROOT)?;
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    let is_loopback = host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback());
    if url.scheme() == "https" || url.scheme() == "http" && is_loopback { Ok(url) } else { Err(IN_THE_CLEAR) }
}

pub(super) fn is_proxy(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(root: &str) -> Result<Url, ProfileError> {
        Profile { root: root.to_owned(), ..Profile::default() }.check()
    }

    #[test]
    fn the_key_travels_encrypted_or_not_at_all() {
        for root in ["https://www.virustotal.com", "http://127.0.0.1:80", "http://[::1]:8080", "http://localhost:1"] {
            assert!(check(root).is_ok(), "{root}");
        }
        for root in [
            "http://example.com",
            "http://127.0.0.1.example.com",
            "ftp://127.0.0.1",
            "",
            "https://",
            "https://u@h",
            "https://:p@h",
            "localhost:1",
            "https://h/?x=1",
            "https://h/#x",
        ] {
            assert!(check(root).is_err(), "{root}");
        }
    }

    #[test]
    fn a_service_is_one_however_its_host_is_spelled() {
        let place = |root: &str| Profile { root: root.to_owned(), ..Profile::default() }.place();
        for root in
            ["https://SCAN.example", "HTTPS://Scan.Example:443/", "https://scan.example.", "https://scan.example.:443"]
        {
            assert_eq!(place(root), "https://scan.example/", "{root}");
        }
        for root in ["http://LOCALHOST:80", "http://localhost", "http://LocalHost:80/"] {
            assert_eq!(place(root), "http://localhost/", "{root}");
        }
        assert_ne!(place("https://scan.example:444"), place("https://scan.example"));
    }

    #[test]
    fn the_key_goes_in_a_header_that_says_nothing_else() {
        let check = |header: &str| Profile { header: header.to_owned(), ..sound() }.check().is_ok();
        assert!(check("x-apikey") && check("Authorization"));
        assert!(!["Host", "content-length", "Range", "a b", ""].into_iter().any(check));
    }

    #[test]
    fn a_user_whose_name_leads_elsewhere_is_refused() {
        let check = |user: &str| Profile { user: Some(user.to_owned()), ..sound() }.check().is_ok();
        assert!(check("spellman") && check("..."));
        assert!(![".", "..", ""].into_iter().any(check));
    }

    fn sound() -> Profile {
        Profile { root: "https://example.com".to_owned(), ..Profile::default() }
    }
}
