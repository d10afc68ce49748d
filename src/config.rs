//! The config file, and the folders of config, data and state.

mod keys;
mod look;

use crate::app::Keymap;
use crate::quota::{Budget, Entitlement, Entitlements};
use crate::service::credential::{Configured, Credential, CredentialError};
use crate::service::profile::Profile;
use directories::{BaseDirs, ProjectDirs};
use keys::Keys;
pub use look::Look;
use secrecy::SecretString;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the config file in its folder.
pub const FILE: &str = "config.toml";

/// Name of the store in the data folder.
const STORE: &str = "behaview.db";

/// Where this program keeps things, by the conventions of the system.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The config file.
    pub config: PathBuf,
    /// The store.
    pub store: PathBuf,
    /// Folder of things that can be made again.
    pub cache: PathBuf,
    /// Folder of logs.
    pub state: PathBuf,
}

/// What the config file says.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Name of the profile to use; `virustotal` unless set.
    profile: Option<String>,
    /// The key.
    api_key: Option<SecretString>,
    /// A command that prints the key.
    api_key_command: Option<String>,
    /// Services by name.
    profiles: BTreeMap<String, Profile>,
    /// What the user has bought.
    entitlements: SetByHand,
    /// What may be spent.
    budget: Limits,
    /// What is wanted of the screen.
    look: Look,
    /// Keys by the names of their commands.
    keys: Keys,
    /// The same, understood.
    #[serde(skip)]
    keymap: Keymap,
}

/// What may be spent, in units; what is left out has no limit.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    session: Option<u64>,
    daily: Option<u64>,
    /// What costs more is asked about first.
    confirm_above: Option<u64>,
}

/// What the user has bought, set by hand; what is left out is read from the service or stays unknown.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SetByHand {
    premium_api: Option<bool>,
    premium_intelligence: Option<bool>,
    private_scanning: Option<bool>,
}

/// Why the config cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The system has no home folder.
    #[error("there is no home folder: set HOME")]
    NoHome,
    /// The file is there and cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no config. The line is named, not quoted: it may hold the key.
    #[error("{path}, line {line}: {message}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// No profile of this name.
    #[error("there is no profile {0}; the config file's are: {1}")]
    UnknownProfile(String, String),
}

impl Folders {
    /// The folders of this user.
    ///
    /// # Errors
    /// When the system has no home folder.
    pub fn find() -> Result<Self, ConfigError> {
        let folders = ProjectDirs::from("", "", "behaview").ok_or(ConfigError::NoHome)?;
        let state = folders.state_dir().unwrap_or_else(|| folders.data_local_dir());
        Ok(Self {
            config: folders.config_dir().join(FILE),
            store: folders.data_dir().join(STORE),
            cache: folders.cache_dir().to_owned(),
            state: state.to_owned(),
        })
    }
}

impl Config {
    /// Reads the config file; a file that is not there says nothing.
    ///
    /// # Errors
    /// When it cannot be read, or is no config.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
        };
        let invalid = |line, message| ConfigError::Invalid { path: path.to_owned(), line, message };
        let config: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            invalid(before.matches('\n').count() + 1, without_values(error.message()))
        })?;
        let keymap = config.keys.read(&text).map_err(|mistakes| {
            let (line, words) = mistakes.into_iter().next().unwrap_or((1, String::new()));
            invalid(line, words)
        })?;
        Ok(Self { keymap, ..config })
    }

    /// What is wanted of the screen.
    #[must_use]
    pub fn look(&self) -> Look {
        self.look
    }

    /// Which keys do which command.
    #[must_use]
    pub fn keymap(&self) -> Keymap {
        self.keymap.clone()
    }

    /// The profile of this name, or the one that the file chooses.
    ///
    /// # Errors
    /// When there is none of the name.
    pub fn profile(&self, name: Option<&str>) -> Result<Profile, ConfigError> {
        let builtin = Profile::default();
        let name = name.or(self.profile.as_deref()).unwrap_or(&builtin.name).to_owned();
        match self.profiles.get(&name) {
            Some(profile) => Ok(Profile { name, ..profile.clone() }),
            None if name == builtin.name => Ok(builtin),
            None => {
                let known = self.profiles.keys().cloned().collect::<Vec<_>>().join(", ");
                Err(ConfigError::UnknownProfile(without_values(&format!("`{name}`")), known))
            }
        }
    }

    /// What the user has bought, as far as the file says.
    #[must_use]
    pub fn entitlements(&self) -> Entitlements {
        let by_hand = |held: Option<bool>| held.map_or(Entitlement::Unknown, Entitlement::by_hand);
        Entitlements {
            premium_api: by_hand(self.entitlements.premium_api),
            premium_intelligence: by_hand(self.entitlements.premium_intelligence),
            private_scanning: by_hand(self.entitlements.private_scanning),
            group: Entitlement::Unknown,
        }
    }

    /// What may be spent.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget { session: self.budget.session, daily: self.budget.daily }
    }

    /// The price above which the app wants a yes; none where it wants none.
    #[must_use]
    pub fn confirm_above(&self) -> Option<u64> {
        self.budget.confirm_above
    }

    /// The key, from the first place that has one.
    ///
    /// # Errors
    /// When that place has nothing usable.
    pub fn credential(&self) -> Result<Option<Credential>, CredentialError> {
        let configured = Configured { key: self.api_key.clone(), command: self.api_key_command.clone() };
        let home = BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Credential::find(|name| std::env::var(name).ok(), &configured, home.as_deref())
    }
}

/// A message without what it quotes of the file, unless that is a plain word: a key may stand anywhere by mistake.
fn without_values(message: &str) -> String {
    let is_plain =
        |quoted: &str| quoted.len() <= 24 && quoted.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-');
    let mut shown = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(['`', '"']) {
        let quote = if rest.get(start..).is_some_and(|rest| rest.starts_with('`')) { '`' } else { '"' };
        shown += rest.get(..=start).unwrap_or_default();
        rest = rest.get(start + 1..).unwrap_or_default();
        let end = rest.find(quote).unwrap_or(rest.len());
        let quoted = rest.get(..end).unwrap_or_default();
        shown += if is_plain(quoted) { quoted } else { "…" };
        rest = rest.get(end..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(quote) {
            shown.push(quote);
            rest = after;
        }
    }
    let rest: String = rest.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
    shown + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, text).unwrap();
        Config::read(&path)
    }

    #[test]
    fn a_mistake_is_named_by_its_line_and_no_secret_is_shown() {
        let error = read("api_key = \"topsecret\"\nprofiel = \"x\"\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("profiel") && !error.contains("topsecret"), "{error}");
        for text in [
            "api_key = 123456789012345678\n",
            "5ecretK3y = \"x\"\n",
            "profiles = \"5ecretK3y\"\n",
            "[profiles.x]\nlisting = \"5ecretK3y\"\n",
            "[entitlements]\npremium_api = \"5ecretK3y\"\n",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(!error.contains("5ecretK3y") && !error.contains("123456789"), "{error}");
        }
        let error = read("api_key = topsecret\n").unwrap_err().to_string();
        assert!(error.contains("line 1") && !error.contains("topsecret"), "{error}");
    }

    #[test]
    fn entitlements_are_set_by_hand_and_what_is_left_out_is_unknown() {
        let entitled = read("[entitlements]\npremium_api = true\nprivate_scanning = false\n").unwrap().entitlements();
        assert_eq!(entitled.premium_api, Entitlement::by_hand(true));
        assert_eq!(entitled.private_scanning, Entitlement::by_hand(false));
        assert_eq!(entitled.premium_intelligence, Entitlement::Unknown);
        assert_eq!(read("").unwrap().entitlements(), Entitlements::default());
        let error = read("[entitlements]\npremium = true\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("premium"), "{error}");
        assert!(read("[entitlements]\npremium_api = \"yes\"\n").is_err());
    }

    #[test]
    fn a_budget_has_two_limits_and_no_other_word() {
        assert_eq!(read("[budget]\ndaily = 5\n").unwrap().budget(), Budget { session: None, daily: Some(5) });
        assert_eq!(read("").unwrap().budget(), Budget::default());
        for wrong in ["dayly = 5", "daily = -1", "daily = \"5\""] {
            assert!(read(&format!("[budget]\n{wrong}\n")).unwrap_err().to_string().contains("line 2"), "{wrong}");
        }
    }

    #[test]
    fn a_key_that_cannot_be_given_is_named_by_its_line() {
        let keymap = read("[keys]\nzoom = [\"f11\", \"Z\"]\nplanner = \"none\"\n").unwrap().keymap();
        let words = |name| keymap.words(crate::app::Command::named(name).unwrap());
        assert_eq!((words("zoom"), words("planner")), ("f11 Z".to_owned(), String::new()));
        for (text, line, wanted) in [
            ("[keys]\nhelp = \"f1\"\nzooom = \"Z\"\n", 3, "perhaps zoom"),
            ("[keys]\nhelp = \"hyper-h\"\n", 2, "there is no key of this name"),
            ("profile = \"x\"\n[keys]\n\nhelp = \"f1\"\nrefresh = \"R\"\n", 5, "does refresh-list already"),
            ("[keys]\nhelp = 5\n", 2, "a key such as"),
            ("[keys]\n\"5ecretK3y\" = \"5ecretK3y\"\n", 2, "no command"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line}:")) && error.contains(wanted), "{error}");
            assert!(!error.contains("5ecretK3y"), "{error}");
        }
    }

    #[test]
    fn a_look_has_a_theme_of_a_known_name() {
        let look = read("[look]\ntheme = \"light\"\nascii = true\n").unwrap().look();
        assert_eq!((look.theme, look.ascii, look.plain), (Some(crate::view::Theme::Light), true, false));
        assert_eq!(read("[look]\ntheme = \"auto\"\n").unwrap().look().theme, None);
        let error = read("[look]\n\ntheme = \"pink\"\n").unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("contrast") && !error.contains("pink"), "{error}");
    }

    #[test]
    fn profiles_are_found_by_name() {
        let config =
            read("profile = \"lab\"\n[profiles.lab]\nroot = \"https://lab.example\"\nheader = \"x-key\"\n").unwrap();
        let profile = config.profile(None).unwrap();
        assert_eq!(
            (profile.name.as_str(), profile.header.as_str(), profile.v3_prefix.as_str()),
            ("lab", "x-key", "/api/v3")
        );
        assert_eq!(config.profile(Some("virustotal")).unwrap(), Profile::default());
        assert!(config.profile(Some("nope")).is_err());
        assert!(Config::read(Path::new("/nonexistent/config.toml")).is_ok());
    }
}
