//! The address and content of a request.

use super::submission::ScanOption;
use crate::report::identifier::Sha256;
use crate::text::Untrusted;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::borrow::Cow;
use std::path::PathBuf;

/// Characters of a path segment or parameter that are not encoded (RFC 3986, unreserved).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The address of a request below the root of a service, with its parameters and upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Determines the path prefix and the position of the key.
    pub version: Version,
    pub method: Method,
    /// Path below the prefix, percent-encoded.
    pub path: String,
    /// Unencoded parameters: in the address for GET, in the body for POST.
    pub parameters: Vec<(Cow<'static, str>, String)>,
    pub upload: Option<Upload>,
    /// The upload address, if the service named one; then the path is unused.
    pub to: Option<UploadAddress>,
}

/// A file that is uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The file on this machine.
    pub path: PathBuf,
    /// Expected hash and length. A file that has changed is not sent; if it changes during the
    /// upload, the upload stops.
    pub file: Option<(Sha256, u64)>,
    /// Its largest size in bytes.
    pub limit: UploadLimit,
}

/// The limit of the installation that applies to an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadLimit {
    Direct,
    /// The limit of an upload address that the service named.
    Large,
}

/// An address that the service named for one upload. It permits uploads, so it is never shown.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UploadAddress(Untrusted);

impl UploadAddress {
    /// An address as the service wrote it.
    pub fn new(text: Untrusted) -> Self {
        Self(text)
    }

    /// The address, for the client that sends the file.
    pub fn expose(&self) -> &Untrusted {
        &self.0
    }
}

impl std::fmt::Debug for UploadAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UploadAddress(…)")
    }
}

/// A version of the API (specification §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// The key is a parameter.
    V2,
    /// The key is a header.
    V3,
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the method of its name")]
pub enum Method {
    Get,
    Post,
    Delete,
}

impl Address {
    pub(super) fn new(version: Version, method: Method, path: String) -> Self {
        Self { version, method, path, parameters: Vec::new(), upload: None, to: None }
    }

    pub(super) fn get(path: String) -> Self {
        Self::new(Version::V3, Method::Get, path)
    }

    pub(super) fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }
}

/// The user and the names of the installation that sends the request.
pub trait Asker {
    /// The `{id}` in `/users/{id}/…`: the user's name, or the key in its place. The service accepts
    /// either; an address with the key is a secret.
    fn user(&self) -> &str;

    /// Maximum number of items per list page.
    fn page_size(&self) -> u8 {
        40
    }

    /// The field name of a private scan's option.
    fn field(&self, option: ScanOption) -> String {
        option.field().to_owned()
    }
}

/// Encodes bytes as a path segment.
pub(crate) fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ENCODED).to_string()
}
