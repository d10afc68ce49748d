//! The address and content of a request: parameters, an upload, the options of a scan.

use crate::report::identifier::Sha256;
use crate::text::{Untrusted, names};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Encodes all but the unreserved characters of RFC 3986 in a path segment or parameter.
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
}

/// A file that a request sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    pub path: PathBuf,
    /// Expected hash and length: a file that has changed is not sent, or its upload stops.
    pub file: Option<(Sha256, u64)>,
    /// The upload address, if the service named one; then the path is unused.
    pub to: Option<UploadAddress>,
}

/// The limit of the installation that applies to an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadLimit {
    Direct,
    /// The limit of an upload address that the service named.
    Large,
}

/// A value that is sent, and never shown.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Secret<T>(T);

/// The password of an archive or a document.
pub type Password = Secret<String>;

/// An address that the service named for one upload. It is secret, because it permits uploads.
pub type UploadAddress = Secret<Untrusted>;

impl<T> Secret<T> {
    /// Returns the value to send it, never to show it.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl UploadAddress {
    pub fn new(text: Untrusted) -> Self {
        Self(text)
    }
}

impl Password {
    /// Creates a password; `None` if the text is empty.
    pub fn new(text: String) -> Option<Self> {
        (!text.is_empty()).then_some(Self(text))
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Delete,
}

impl Address {
    pub(super) fn new(version: Version, method: Method, path: String) -> Self {
        Self { version, method, path, parameters: Vec::new(), upload: None }
    }

    pub(super) fn get(path: String) -> Self {
        Self::new(Version::V3, Method::Get, path)
    }

    pub(super) fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    pub(super) fn with_cursor(self, cursor: Option<&Untrusted>) -> Self {
        match cursor {
            Some(cursor) => self.with("cursor", String::from_utf8_lossy(cursor.as_bytes())),
            None => self,
        }
    }
}

/// The user, and the settings of the installation that the request is sent to.
#[derive(Debug, Default)]
pub struct RequestContext<'a> {
    /// The `{id}` in `/users/{id}/…`: the user's name, or the key, which makes addresses secret.
    pub user: &'a str,
    pub page_size: u8,
    /// The field names of a private scan's options, where they differ from the public service's.
    pub fields: BTreeMap<ScanOption, String>,
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ENCODED).to_string()
}

const REGIONS: [&str; 4] = ["US", "CA", "EU", "GB"];

/// A file to scan: path, hash, size in bytes, and options.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Submission {
    pub path: PathBuf,
    /// The SHA-256 of its bytes, which identifies it from then on.
    pub file: Sha256,
    pub size: u64,
    pub options: ScanOptions,
    /// When it was sent before without a response, if known.
    pub sent: Option<Timestamp>,
}

/// The options of a scan, each with its value as it is sent; the installation has defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScanOptions {
    values: BTreeMap<ScanOption, String>,
    password: Option<Password>,
}

names! {
    /// Options in the order of the form, each with its field at the public service.
    #[derive(serde::Deserialize)]
    ScanOption field {
        Sandbox "sandbox" "interaction_sandbox",
        Internet "internet" "enable_internet",
        Retention "retention" "retention_period_days",
        CommandLine "command_line" "command_line",
        Password "password" "password",
        Region "region" "storage_region",
        InterceptTls "intercept_tls" "intercept_tls",
        Locale "locale" "locale",
        InteractionTimeout "interaction_timeout" "interaction_timeout",
        DisableSandbox "disable_sandbox" "disable_sandbox",
    }
}

impl ScanOption {
    /// Returns typed text as it is sent, or why it is no value of the option.
    pub fn parse(self, typed: &str) -> Result<String, String> {
        let plain = typed.trim();
        let within = |range: RangeInclusive<u16>| plain.parse().is_ok_and(|number| range.contains(&number));
        match self {
            // A blank may be part of a password.
            Self::Password => return Ok(typed.to_owned()),
            _ if plain.is_empty() => return Err("it is empty; without the option the service decides".to_owned()),
            Self::Internet | Self::InterceptTls | Self::DisableSandbox => {
                return match plain.to_ascii_lowercase().as_str() {
                    "y" | "yes" | "true" | "on" => Ok("true".to_owned()),
                    "n" | "no" | "false" | "off" => Ok("false".to_owned()),
                    _ => Err(format!("{} is yes or no", self.name().replace('_', " "))),
                };
            }
            Self::Retention if !within(1..=28) => {
                return Err("the service stores a file for 1 to 28 days".to_owned());
            }
            Self::InteractionTimeout if !within(60..=1800) => {
                return Err("an interactive run takes 60 to 1800 seconds".to_owned());
            }
            Self::Region => {
                let region = plain.to_ascii_uppercase();
                let unknown = || format!("the regions are {}", REGIONS.join(", "));
                return if REGIONS.contains(&region.as_str()) { Ok(region) } else { Err(unknown()) };
            }
            Self::Locale if !plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) => {
                return Err("a locale is such as EN_US".to_owned());
            }
            _ => {}
        }
        Ok(plain.to_owned())
    }
}

impl Submission {
    /// Returns the file's name in visible form, at most 60 columns.
    pub fn name(&self) -> String {
        crate::text::path(self.path.file_name().unwrap_or_default()).cut(60).to_string()
    }

    /// Returns the file and its options without the password; identifies a duplicate scan.
    pub(super) fn claim(&self) -> String {
        let options: Vec<_> = self.options.values.iter().map(|(option, value)| (option.field(), value)).collect();
        format!("{}{options:?}", Self::claims_of(&self.file))
    }

    /// Returns the file of a claim, and the days that the service stores it, if they were chosen.
    pub fn of_claim(claim: &[u8]) -> Option<(Sha256, Option<u8>)> {
        let claim = std::str::from_utf8(claim).ok()?.strip_prefix("private-scan ")?;
        let (file, options) = claim.split_once(' ')?;
        let option = format!("({:?}, \"", ScanOption::Retention.field());
        let days = options.split_once(&option).and_then(|(_, rest)| rest.split('"').next()?.parse().ok());
        Some((Sha256::parse(file)?, days))
    }

    /// Returns the prefix of the claims of all submissions of a file.
    pub fn claims_of(file: &Sha256) -> String {
        format!("private-scan {file} ")
    }
}

impl ScanOptions {
    /// Sets an option to typed text, if it is a value of it; without text the installation decides.
    pub fn set(&mut self, option: ScanOption, typed: &str) -> Result<(), String> {
        match option {
            ScanOption::Password => self.password = Password::new(typed.to_owned()),
            _ if typed.trim().is_empty() => {}
            _ => drop(self.values.insert(option, option.parse(typed)?)),
        }
        Ok(())
    }

    /// Returns the options with a password, which is in none of their texts.
    pub fn with_password(self, password: Option<Password>) -> Self {
        Self { password, ..self }
    }

    pub(super) fn password(&self) -> Option<&Password> {
        self.password.as_ref()
    }

    pub(super) fn has_internet(&self) -> bool {
        self.values.get(&ScanOption::Internet).is_some_and(|value| value == "true")
    }

    /// Returns the options that are set, each with its value as it is sent.
    pub(super) fn values(&self) -> BTreeMap<ScanOption, &str> {
        let password = self.password.iter().map(|password| (ScanOption::Password, password.0.as_str()));
        self.values.iter().map(|(option, value)| (*option, value.as_str())).chain(password).collect()
    }
}
