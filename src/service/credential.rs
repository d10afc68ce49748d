//! Finds the key, wraps it in a type that never shows it, and redacts it in each response as its
//! bytes arrive, so later code cannot store or show it.
//!
//! A response repeats the key as it was sent: in a header, a parameter or an address. So an
//! occurrence is the key in any case: plain, JSON-escaped, percent-encoded, or in base64 of UTF-8
//! or UTF-16 (PowerShell). An asterisk replaces each byte: offsets stay the same.

use crate::environment::Variables;
use crate::files::{self, is_open_to_others};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use regex::bytes::Regex;
use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Environment variables that may contain the key; the first one set wins.
pub const VARIABLES: [&str; 5] = ["BEHAVIEW_API_KEY", "VT_API_KEY", "VTCLI_APIKEY", "VT_APIKEY", "VIRUSTOTAL_API_KEY"];

/// File of the service's official command line, below the home directory.
pub(crate) const OFFICIAL_FILE: &str = ".vt.toml";

/// Explains in two sentences how to get a key for this address, and where to put it.
pub fn key_help(root: &str) -> [String; 2] {
    let [first, others @ ..] = VARIABLES;
    let others = others.join(", ");
    [
        format!("For a key, sign in at {root}: your menu has \"API key\"."),
        format!(
            "Then set {first}, or api_key in the file that behaview config init makes. Read, too: {others}, ~/{OFFICIAL_FILE}."
        ),
    ]
}

const MAX_OUTPUT_BYTES: u64 = 64 * 1024;
const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_KEY_BYTES: usize = 512;

/// Minimum length of a key to be treated as a secret; a shorter one may be an ordinary word.
const MIN_KEY: usize = 16;

const MASK: u8 = b'*';

/// Maximum length of a character of the key: `%`, and two digits, each of them JSON-escaped.
const MAX_SPELLING_BYTES: usize = 18;

/// The API key and where it was found; it has no readable form.
#[derive(Debug, Clone)]
pub struct Credential {
    key: SecretString,
    pub source: KeySource,
}

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    Variable(&'static str),
    /// `api_key` of the config file.
    Config,
    /// `api_key_command` of the config file.
    Command,
    OfficialFile,
    Demo,
}

/// Why a key that was found cannot be used. The messages never contain the key.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    #[error(
        "the key from {0} is empty, too long, or contains a blank or another character that keys do not have; correct it"
    )]
    Malformed(KeySource),
    #[error("api_key_command could not be run: {0}")]
    Command(std::io::Error),
    #[error("api_key_command ended with {0}; run it by hand to see why")]
    CommandFailed(std::process::ExitStatus),
    #[error("{} contains a key and others can read it: run chmod 600 on it, and consider replacing the key", crate::text::path(.0))]
    Exposed(PathBuf),
    #[error("~/{OFFICIAL_FILE} cannot be read: {0}")]
    OfficialFile(String),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::Config => f.write_str("api_key in the config file"),
            Self::Command => f.write_str("api_key_command"),
            Self::OfficialFile => write!(f, "~/{OFFICIAL_FILE}"),
            Self::Demo => f.write_str("the demo service"),
        }
    }
}

impl Credential {
    /// Checks that a key can be the value of a header.
    pub fn new(key: &str, source: KeySource) -> Result<Self, CredentialError> {
        let key = key.trim();
        if key.is_empty() || key.len() > MAX_KEY_BYTES || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CredentialError::Malformed(source));
        }
        Ok(Self { key: SecretString::from(key), source })
    }

    /// Finds the key in the documented places, in their documented order.
    pub fn find(
        variable: Variables<'_>,
        key: Option<&SecretString>,
        command: Option<&str>,
        home: Option<&Path>,
    ) -> Result<Option<Self>, CredentialError> {
        let set = |name| Some((variable(name).filter(|key| !key.is_empty())?, KeySource::Variable(name)));
        let config = || key.map(|key| (key.expose_secret().to_owned(), KeySource::Config));
        let found = match (VARIABLES.into_iter().find_map(set).or_else(config), command) {
            (Some(found), _) => Some(found),
            (None, Some(command)) => Some((run(command)?, KeySource::Command)),
            (None, None) => home.map(official_key).transpose()?.flatten().map(|key| (key, KeySource::OfficialFile)),
        };
        found.map(|(key, source)| Self::new(&key, source)).transpose()
    }

    /// Finds every key without running a command: keys that are not used are secrets too.
    pub fn all_known(variable: Variables<'_>, key: Option<&SecretString>, home: Option<&Path>) -> Vec<Self> {
        let variables = VARIABLES.into_iter().filter_map(|name| Some((variable(name)?, KeySource::Variable(name))));
        let config = key.map(|key| (key.expose_secret().to_owned(), KeySource::Config));
        let official = home.and_then(|home| official_key(home).ok().flatten());
        let all = variables.chain(config).chain(official.map(|key| (key, KeySource::OfficialFile)));
        all.filter_map(|(key, source)| Self::new(&key, source).ok()).collect()
    }

    /// Returns the key, for the one header and the one kind of address that contain it.
    pub(super) fn expose(&self) -> &str {
        self.key.expose_secret()
    }

    /// Returns whether a text contains the key, ignoring case; false for short keys, perhaps words.
    pub fn is_in(&self, text: &[u8]) -> bool {
        let key = self.expose().to_ascii_lowercase();
        key.len() >= MIN_KEY && memchr::memmem::find(&text.to_ascii_lowercase(), key.as_bytes()).is_some()
    }
}

/// Runs a command in the shell: its standard output is the key, its prompts go to the terminal.
fn run(command: &str) -> Result<String, CredentialError> {
    let mut shell = Command::new(if cfg!(windows) { "cmd" } else { "sh" });
    // cmd removes the outer quotes, and reads those in the command by its own rules.
    #[cfg(windows)]
    std::os::windows::process::CommandExt::raw_arg(&mut shell, format!("/S /C \"{command}\""));
    #[cfg(not(windows))]
    shell.args(["-c", command]);
    let mut child = shell.stdout(Stdio::piped()).spawn().map_err(CredentialError::Command)?;
    let mut text = Vec::new();
    if let Some(output) = child.stdout.take() {
        // Closes the pipe of a command that prints endlessly.
        output.take(MAX_OUTPUT_BYTES).read_to_end(&mut text).map_err(CredentialError::Command)?;
    }
    let status = child.wait().map_err(CredentialError::Command)?;
    if !status.success() {
        return Err(CredentialError::CommandFailed(status));
    }
    let text = String::from_utf8(text).unwrap_or_default();
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Returns the official command line's key: `apikey`, in any case, among its settings.
fn official_key(home: &Path) -> Result<Option<String>, CredentialError> {
    let text = match files::read_text(&home.join(OFFICIAL_FILE), MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CredentialError::OfficialFile(error.to_string())),
    };
    if is_open_to_others(&home.join(OFFICIAL_FILE)) {
        return Err(CredentialError::Exposed(home.join(OFFICIAL_FILE)));
    }
    // The parser's own message could quote the line with the key.
    let unusable = |why: &str| CredentialError::OfficialFile(why.to_owned());
    let text = text.trim_start_matches('\u{feff}');
    let settings: toml::Table = toml::from_str(text).map_err(|_| unusable("it is not TOML"))?;
    let key = settings.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("apikey")).map(|(_, value)| value);
    match key {
        None => Ok(None),
        Some(toml::Value::String(key)) => Ok(Some(key)),
        Some(_) => Err(unusable("apikey is not a string; put it in quotation marks")),
    }
}

/// The forms of the key that are searched for.
#[derive(Default)]
pub(super) struct Redactor {
    key: Vec<u8>,
    spellings: Option<Regex>,
    /// Characters of an occurrence other than letters and digits.
    signs: Vec<u8>,
}

impl Redactor {
    /// Creates a redactor for a key; it ignores a short key, which may be any word.
    pub(super) fn new(key: &str) -> Self {
        if key.len() < MIN_KEY {
            return Self::default();
        }
        let spelled: String = key.bytes().map(spelling).collect();
        let wide: Vec<u8> = key.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let encoded = [base64_forms(key.as_bytes()), base64_forms(&wide)].concat();
        let all = Regex::new(&format!("(?-u)(?i:{spelled})|{}", encoded.join("|")));
        let spellings = all.or_else(|_| Regex::new(&regex::escape(key))).ok();
        Self { key: key.into(), spellings, signs: [key.as_bytes(), b"\\%+/-_="].concat() }
    }

    /// Returns whether a key seems to have been redacted in a text.
    pub(super) fn has_redacted(&self, text: &[u8]) -> bool {
        !self.key.is_empty() && text.windows(MIN_KEY).any(|bytes| bytes.iter().all(|byte| *byte == MASK))
    }

    /// Returns a whole text without the key.
    pub(super) fn redact(&self, text: &[u8]) -> Vec<u8> {
        let mut stream = self.stream();
        [stream.take(text), stream.end()].concat()
    }

    pub(super) fn stream(&self) -> RedactedStream<'_> {
        RedactedStream { redactor: self, pending: Vec::new() }
    }

    fn mask(&self, text: &mut [u8]) {
        let found = self.spellings.iter().flat_map(|all| all.find_iter(text)).map(|found| found.range());
        for range in found.collect::<Vec<_>>() {
            text.get_mut(range).unwrap_or_default().fill(MASK);
        }
    }
}

/// Returns a text with these keys replaced by asterisks, as in responses.
pub fn without_keys<'a>(keys: &[Credential], text: &'a [u8]) -> Cow<'a, [u8]> {
    let whole = keys.iter().fold(text.to_vec(), |text, key| Redactor::new(key.expose()).redact(&text));
    if whole == text { Cow::Borrowed(text) } else { Cow::Owned(whole) }
}

pub(super) struct RedactedStream<'r> {
    redactor: &'r Redactor,
    /// The end of the received bytes, where an occurrence may begin.
    pending: Vec<u8>,
}

impl RedactedStream<'_> {
    /// Returns the bytes that are final after this piece.
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.pending);
        text.extend_from_slice(piece);
        self.redactor.mask(&mut text);
        let begin = text.len().saturating_sub(self.redactor.key.len() * MAX_SPELLING_BYTES);
        let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && !self.redactor.signs.contains(byte);
        let end = text.get(begin..).unwrap_or_default().iter().rposition(ends).map_or(0, |at| at + 1);
        self.pending = text.split_off(begin + end);
        text
    }

    /// Returns the pending bytes after the last piece; redacts a start of the key cut off there.
    pub(super) fn end(mut self) -> Vec<u8> {
        let key = &self.redactor.key;
        let is_cut = |start: &[u8]| self.pending.to_ascii_lowercase().ends_with(&start.to_ascii_lowercase());
        let cut = (MIN_KEY..key.len()).rev().find(|length| key.get(..*length).is_some_and(is_cut));
        let begin = self.pending.len() - cut.unwrap_or(0);
        self.pending.get_mut(begin..).unwrap_or_default().fill(MASK);
        self.pending
    }
}

/// Returns a character as responses spell it, as a pattern.
fn spelling(byte: u8) -> String {
    let encoded = |byte: u8| format!("%{byte:02x}").bytes().map(json_spelling).collect::<String>();
    let small = encoded(byte.to_ascii_lowercase());
    let capital = encoded(byte.to_ascii_uppercase());
    format!("(?:{}|{small}|{capital})", json_spelling(byte))
}

fn json_spelling(byte: u8) -> String {
    let small = byte.to_ascii_lowercase();
    let capital = byte.to_ascii_uppercase();
    let escape = if b"\"\\/".contains(&byte) { r"\\?" } else { "" };
    format!(r"(?:{escape}{}|\\u00(?:{small:02x}|{capital:02x}))", regex::escape(&char::from(byte).to_string()))
}

/// Returns base64 characters that depend on the key alone, at each offset, in both alphabets.
fn base64_forms(key: &[u8]) -> Vec<String> {
    let forms = (0..3).flat_map(|offset| {
        let bytes = [vec![0; offset], key.to_vec()].concat();
        let own = (offset * 8).div_ceil(6)..bytes.len() * 8 / 6;
        [BASE64_STANDARD.encode(&bytes), BASE64_URL_SAFE.encode(&bytes)]
            .map(|text| regex::escape(text.get(own.clone()).unwrap_or_default()))
    });
    forms.collect()
}

#[cfg(test)]
mod tests;
