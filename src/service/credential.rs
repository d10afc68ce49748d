//! Finds the key, and wraps it in a type that never shows it.

use crate::environment::Variables;
use crate::files::{self, is_open_to_others};
use secrecy::{ExposeSecret, SecretString};
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
pub(super) const MIN_KEY: usize = 16;

/// The API key and where it was found; it has no readable form.
#[derive(Debug, Clone)]
pub struct Credential {
    key: SecretString,
    source: KeySource,
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

    pub fn source(&self) -> &KeySource {
        &self.source
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

#[cfg(test)]
mod tests {
    use super::*;

    type Configured = (Option<SecretString>, Option<String>);

    fn find(
        set: &[(&str, &str)],
        configured: &Configured,
        home: Option<&Path>,
    ) -> Result<Option<Credential>, CredentialError> {
        let get = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        Credential::find(&get, configured.0.as_ref(), configured.1.as_deref(), home)
    }

    #[cfg(unix)]
    #[test]
    fn places_are_tried_in_the_documented_order() {
        let home = tempfile::tempdir().unwrap();
        let official = home.path().join(OFFICIAL_FILE);
        std::fs::write(&official, "apikey=\"official\"\nproxy=\"\"\n").unwrap();
        let set_mode = |mode| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&official, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(0o600);
        let mut configured = (Some("config".into()), Some("echo command; echo more".to_owned()));
        let mut set: Vec<_> = VARIABLES.iter().map(|name| (*name, *name)).collect();
        while !set.is_empty() {
            let found = find(&set, &configured, Some(home.path())).unwrap().unwrap();
            assert_eq!(found.expose(), set[0].1);
            set.remove(0);
        }
        let next = |configured: &Configured| find(&[], configured, Some(home.path())).unwrap().unwrap();
        assert_eq!(next(&configured).expose(), "config");
        configured.0 = None;
        assert_eq!(next(&configured).expose(), "command");
        configured.1 = None;
        assert_eq!((next(&configured).expose(), next(&configured).source()), ("official", &KeySource::OfficialFile));
        assert!(find(&[], &configured, None).unwrap().is_none());
        for mode in [0o640, 0o604, 0o660, 0o601] {
            set_mode(mode);
            assert!(matches!(find(&[], &configured, Some(home.path())), Err(CredentialError::Exposed(_))), "{mode:o}");
        }
    }

    #[test]
    fn the_official_file_is_read_in_all_its_forms() {
        let home = tempfile::tempdir().unwrap();
        let of = |text: &str| {
            crate::files::replace(&home.path().join(OFFICIAL_FILE), text.as_bytes()).unwrap();
            find(&[], &Configured::default(), Some(home.path())).map(|found| found.map(|key| key.expose().to_owned()))
        };
        for text in [
            "apikey=\"abc\"\n",
            "apikey = 'abc'",
            "\u{feff}# made by hand\r\nAPIKey = \"\"\"abc\"\"\"\r\nproxy = \"http://h\"\r\n",
            "proxy = \"\"\n\"apikey\" = \"abc\"\n[other]\napikey = \"no\"\n",
        ] {
            assert_eq!(of(text).unwrap().as_deref(), Some("abc"), "{text}");
        }
        assert_eq!(of("proxy = \"http://h\"\n").unwrap(), None);
        for text in ["apikey = abc\n", "apikey = 5ecret\n", "apikey = 12345678\n", "apikey = \"\"\n", "apikey: abc\n"] {
            let error = of(text).unwrap_err().to_string();
            assert!(!error.contains("abc") && !error.contains("5ecret") && !error.contains("1234"), "{error}");
        }
    }

    #[test]
    fn a_bad_key_is_named_by_its_place_and_never_shown() {
        let error = find(&[("VT_API_KEY", "sec ret")], &Configured::default(), None).unwrap_err();
        assert!(error.to_string().contains("VT_API_KEY") && !error.to_string().contains("sec"));
        let found = Credential::new("secret", KeySource::Config).unwrap();
        assert!(!format!("{found:?}").contains("secret"));
        let failing = (None, Some("exit 3".to_owned()));
        assert!(matches!(find(&[], &failing, None), Err(CredentialError::CommandFailed(_))));
    }
}
