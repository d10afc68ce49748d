//! A file for a private scan, and the options of the scan.

use crate::report::identifier::Sha256;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// Maximum retention of a private file, in days.
pub const LONGEST_RETENTION: u8 = 28;

/// A file for a private scan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Submission {
    /// The file on this machine.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, which identifies it from then on.
    pub file: Sha256,
    pub size: u64,
    /// The options of the scan.
    pub options: ScanOptions,
    /// When it was sent before without a response, if known.
    pub sent: Option<Timestamp>,
}

/// The options of a scan; the installation has defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScanOptions {
    /// The sandbox that runs it.
    pub sandbox: Option<String>,
    /// Whether the sandbox has internet access.
    pub internet: Option<bool>,
    /// Days that the file and its reports are kept, at most [`LONGEST_RETENTION`].
    pub retention: Option<u8>,
    /// The command line of the run.
    pub command_line: Option<String>,
    /// The password of the file.
    pub password: Option<Password>,
}

/// The password of an archive or a document. It is never shown.
#[derive(Clone)]
pub struct Password(SecretString);

/// An option of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanOption {
    /// The sandbox that runs it.
    Sandbox,
    /// Whether the sandbox has internet access.
    Internet,
    /// Retention in days.
    Retention,
    /// The command line of the run.
    CommandLine,
    /// The password of the file.
    Password,
}

impl Submission {
    /// The file's name, to be shown.
    pub fn name(&self) -> String {
        crate::text::path(self.path.file_name().unwrap_or_default()).cut(60).to_string()
    }

    /// The file and its options without the password; identifies a duplicate scan.
    pub(super) fn claim(&self) -> String {
        let options = ScanOptions { password: None, ..self.options.clone() };
        let told: Vec<_> = options.values().map(|(option, value)| (option.field(), value)).collect();
        format!("{}{told:?}", Self::claims_of(&self.file))
    }

    /// The prefix of the claims of all submissions of a file.
    pub fn claims_of(file: &Sha256) -> String {
        format!("private-scan {file} ")
    }
}

impl ScanOptions {
    /// The options that are set, each with its value as it is sent.
    pub fn values(&self) -> impl Iterator<Item = (ScanOption, String)> + '_ {
        ScanOption::ALL.into_iter().filter_map(|option| Some((option, self.value(option)?)))
    }

    fn value(&self, option: ScanOption) -> Option<String> {
        match option {
            ScanOption::Sandbox => self.sandbox.clone(),
            ScanOption::Internet => self.internet.map(|is_on| is_on.to_string()),
            ScanOption::Retention => self.retention.map(|days| days.to_string()),
            ScanOption::CommandLine => self.command_line.clone(),
            ScanOption::Password => self.password.as_ref().map(|password| password.0.expose_secret().to_owned()),
        }
    }
}

impl ScanOption {
    /// All options, in the order in which they are requested from the user.
    pub const ALL: [Self; 5] = [Self::Sandbox, Self::Internet, Self::Retention, Self::CommandLine, Self::Password];

    /// The field name at the public service.
    pub fn field(self) -> &'static str {
        match self {
            Self::Sandbox => "interaction_sandbox",
            Self::Internet => "enable_internet",
            Self::Retention => "retention_period_days",
            Self::CommandLine => "command_line",
            Self::Password => "password",
        }
    }
}

impl Password {
    /// Creates a password; `None` if the text is empty.
    pub fn new(text: String) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.into()))
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(…)")
    }
}

impl PartialEq for Password {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl Eq for Password {}

impl Hash for Password {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expose().hash(state);
    }
}

impl PartialOrd for Password {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Password {
    fn cmp(&self, other: &Self) -> Ordering {
        self.expose().cmp(other.expose())
    }
}
