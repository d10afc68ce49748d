//! The config: its file, its variables and its flags; and the folders of the program.

mod layers;
mod settings;
mod tables;

pub use layers::{ConfigMistake, Effective, Overrides, SettingOrigin};
pub use settings::{SETTINGS, Setting, TEMPLATE};
pub use tables::{EntitlementTable, LookTable};

use crate::app::Keymap;
use crate::app::scan::follow::Pace;
use crate::environment::variable;
use crate::files;
use crate::log::Level;
use crate::quota::{Budget, Entitlements};
use crate::service::credential::{Configured, Credential, CredentialError};
use crate::service::profile::Profile;
use directories::{BaseDirs, ProjectDirs};
use jiff::SignedDuration;
use layers::Layers;
use secrecy::SecretString;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tables::{BudgetTable, FollowTable, KeyTable, LimitTable, StoreKeep, StoreTable};

/// The longest config file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Named as the config file, it means none.
const NULL_DEVICE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Text of at most this many bytes cannot be a key, and is quoted.
const SHORTEST_KEY: usize = 4;

/// The settings in effect.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Each setting with its origin, for `config show`.
    #[serde(skip)]
    effective: Vec<Effective>,
    /// Whether nothing is to be sent.
    pub offline: bool,
    pub log_level: Level,
    /// Name of the profile to use; `virustotal` unless set.
    profile: Option<String>,
    api_key: Option<SecretString>,
    /// A command that prints the key.
    api_key_command: Option<String>,
    profiles: BTreeMap<String, Profile>,
    /// What the user has bought.
    entitlements: EntitlementTable,
    budget: BudgetTable,
    limits: LimitTable,
    store: StoreTable,
    pub look: LookTable,
    /// How a scan is followed.
    follow: FollowTable,
    /// Keys by the names of their commands.
    keys: KeyTable,
    #[serde(skip)]
    pub keymap: Keymap,
}

/// Why the config cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("there is no home folder: set HOME to a path that begins at the root")]
    NoHome,
    #[error("{FILE_VARIABLE} names {}, and there is no such file; behaview config init makes it", crate::text::path(.0))]
    Missing(PathBuf),
    #[error("{} is a link that leads nowhere, so what the config file says is not known: mend the link, or remove it", crate::text::path(.0))]
    Dangling(PathBuf),
    #[error("{} cannot be read: {why}", crate::text::path(.path))]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("{}, line {line}: {message}. behaview config check names every mistake", crate::text::path(.path))]
    Invalid { path: PathBuf, line: usize, message: String },
    #[error("{} holds the key, or how to get it, and is open to others: run chmod 600 on it", crate::text::path(.0))]
    Exposed(PathBuf),
    #[error("{0}: {1}")]
    Override(SettingOrigin, String),
    #[error("there is no setting {0}{1}; behaview config show names them all")]
    UnknownSetting(String, String),
    #[error(
        "{0} is never given as a flag: others on this machine could read it. Set it in the config file, or by a variable"
    )]
    SecretFlag(&'static str),
    #[error("there is no profile {0}; the config file's are: {1}")]
    UnknownProfile(String, String),
    #[error(
        "a profile is named by the key, or has it in its name, which is shown and written down: give it another name, and take another \
         key if it may have been seen"
    )]
    KeyAsName,
}

impl Config {
    /// Reads the config file alone; a file that is not there says nothing.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::load(path, &Overrides::default(), |_| None)
    }

    /// Reads the config file, with variables laid over it, and flags over them.
    pub fn load(
        path: &Path,
        overrides: &Overrides,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let text = text(path)?;
        let invalid =
            |ConfigMistake { line, words }| ConfigError::Invalid { path: path.to_owned(), line, message: words };
        let (mistakes, table) = layers::sort_out(&text);
        if let Some(first) = mistakes.into_iter().next() {
            return Err(invalid(first));
        }
        let layers = Layers::of_file(&text, table);
        // A key that others can read is no secret; a command that others can write is theirs.
        if layers.line_of_key().is_some() && files::is_open_to_others(path) {
            return Err(ConfigError::Exposed(path.to_owned()));
        }
        let layers = layers.cover(overrides, variable)?;
        let config = layers.read().map_err(|error| invalid(layers::finding(&text, &error)))?;
        let keymap = config.keys.read().map_err(|mistakes| {
            let named = mistakes.into_iter().map(|(command, words)| (layers.origin(&format!("keys.{command}")), words));
            match named.min() {
                Some((SettingOrigin::File(line), words)) => invalid(ConfigMistake { line, words }),
                Some((origin, words)) => ConfigError::Override(origin, words),
                None => invalid(ConfigMistake { line: 1, words: String::new() }),
            }
        })?;
        Ok(Self { effective: layers.effective(), keymap, ..config })
    }

    /// Everything that is wrong in a config file, in the order of its lines.
    pub fn check(path: &Path) -> Result<Vec<ConfigMistake>, ConfigError> {
        let text = text(path)?;
        let (mut found, table) = layers::sort_out(&text);
        let layers = Layers::of_file(&text, table);
        let Ok(config) = layers.read() else { return Ok(found) };
        if let Err(error) = config.profile(None) {
            found.push(ConfigMistake { line: layers.line("profile").unwrap_or(1), words: error.to_string() });
        }
        for (name, profile) in &config.profiles {
            let profile = Profile { name: masked(name).to_owned(), ..profile.clone() };
            for error in profile.mistakes() {
                let line = layers.line(&format!("profiles.{name}.{}", error.setting));
                found.push(ConfigMistake { line: line.unwrap_or(1), words: error.to_string() });
            }
        }
        for (command, words) in config.keys.read().err().unwrap_or_default() {
            found.push(ConfigMistake { line: layers.line(&format!("keys.{command}")).unwrap_or(1), words });
        }
        if let Some(line) = layers.line_of_key().filter(|_| files::is_open_to_others(path)) {
            let words = "others may read or change the file, and the key, or how to get it, stands here: chmod 600 it";
            found.push(ConfigMistake { line, words: words.to_owned() });
        }
        found.sort_by_key(|finding| finding.line);
        Ok(found)
    }

    /// Every setting with its value and who says so; secrets are left out, wherever they stand.
    pub fn effective(&self) -> Vec<Effective> {
        let has_key = self.key_finder();
        self.effective.iter().map(|setting| setting.without(&has_key)).collect()
    }

    /// Finds out whether a text contains a key of [`Self::known_keys`].
    fn key_finder(&self) -> impl Fn(&str) -> bool + use<> {
        let keys = self.known_keys();
        move |text| keys.iter().any(|key| key.is_in(text.as_bytes()))
    }

    /// Every key in variables and files; `api_key_command` is not run.
    pub fn known_keys(&self) -> Vec<Credential> {
        let configured = Configured { key: self.api_key.clone(), command: None };
        let home = BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Credential::all_known(variable, &configured, home.as_deref())
    }

    /// Where the file, a variable or a flag says what the key is; nothing is run for it.
    pub fn key_place(&self) -> Option<&'static str> {
        let command = self.api_key_command.as_ref().map(|_| "api_key_command, which was not run now");
        self.api_key.as_ref().map(|_| "api_key in the config file").or(command)
    }

    /// The profile of this name, or the one that the file chooses.
    pub fn profile(&self, name: Option<&str>) -> Result<Profile, ConfigError> {
        let builtin = Profile::default();
        let name = name.or(self.profile.as_deref()).unwrap_or(&builtin.name).to_owned();
        let has_key = self.key_finder();
        match self.profiles.get(&name) {
            _ if has_key(&name) => Err(ConfigError::KeyAsName),
            Some(profile) => Ok(Profile { name, ..profile.clone() }),
            None if name == builtin.name => Ok(builtin),
            None => {
                let known = self.profiles.keys().filter(|name| !has_key(name)).cloned().collect::<Vec<_>>().join(", ");
                Err(ConfigError::UnknownProfile(format!("`{}`", masked(&name)), known))
            }
        }
    }

    /// What the user has bought, as far as the file says.
    pub fn entitlements(&self) -> Entitlements {
        self.entitlements.entitlements()
    }

    /// What may be spent.
    pub fn budget(&self) -> Budget {
        let per_minute = self.limits.per_minute.map(|limit| u64::from(limit.get()));
        Budget { session: self.budget.session, daily: self.budget.daily, per_minute }
    }

    /// Whether nothing of the reports is kept on disk.
    pub fn keeps_nothing(&self) -> bool {
        self.store.keep == StoreKeep::Nothing
    }

    /// How many days answers are kept; none for ever.
    pub fn keeps_days(&self) -> Option<u32> {
        self.store.days.map(|days| u32::try_from(days).unwrap_or(u32::MAX))
    }

    /// How many bytes of answers are kept; none for all.
    pub fn keeps_bytes(&self) -> Option<u64> {
        self.store.megabytes.map(|megabytes| megabytes.saturating_mul(1_000_000))
    }

    /// How a scan is followed.
    pub fn pace(&self) -> Pace {
        let interval = SignedDuration::from_secs(self.follow.interval.get().into());
        Pace { interval, most: self.follow.looks.get().into() }
    }

    /// The price above which the app asks for a confirmation.
    pub fn confirm_above(&self) -> Option<u64> {
        self.budget.confirm_above
    }

    /// The key, from the first place that has one.
    pub fn credential(&self) -> Result<Option<Credential>, CredentialError> {
        let configured = Configured { key: self.api_key.clone(), command: self.api_key_command.clone() };
        let home = BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Credential::find(variable, &configured, home.as_deref())
    }
}

fn text(path: &Path) -> Result<String, ConfigError> {
    match files::read_text(path, LONGEST) {
        Ok(text) => Ok(text),
        // The null device means no config file.
        Err(_) if path == Path::new(NULL_DEVICE) => Ok(String::new()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(why) => Err(ConfigError::Unreadable { path: path.to_owned(), why }),
    }
}

/// A name as it was written, if it is a plain word or one of the settings' own: a key may be anywhere by mistake. Text as
/// short as these is none.
fn masked(written: &str) -> &str {
    let is_plain = written.len() <= 24 && written.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-');
    let is_own = || SETTINGS.iter().any(|setting| setting.name.split('.').any(|part| part == written));
    if is_plain || written.len() <= SHORTEST_KEY || is_own() { written } else { "…" }
}

/// A parser's message without its quotes from the file, unless they may be shown. The expected part is the parser's own.
fn without_values(message: &str) -> String {
    let (found, expected) = message.rfind(", expected ").map_or((message, ""), |at| message.split_at(at));
    let is_quote = |c: char| matches!(c, '`' | '"');
    // The quoted text may contain quotes: all between the first and the last is of the file.
    let quoted = found.find(is_quote).zip(found.rfind(is_quote)).filter(|(first, last)| first < last);
    let parts =
        quoted.and_then(|(first, last)| Some((found.get(..=first)?, found.get(first + 1..last)?, found.get(last..)?)));
    let digits = |text: &str| text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect::<String>();
    let found = match parts {
        Some((before, written, behind)) => format!("{}{}{}", digits(before), masked(written), digits(behind)),
        None => digits(found),
    };
    found + expected
}

/// Name of the config file in its folder.
pub const FILE: &str = "config.toml";

/// Variable that names another config file.
pub const FILE_VARIABLE: &str = "BEHAVIEW_CONFIG";

/// Where this program keeps things, by the conventions of the system.
#[derive(Debug, Clone)]
pub struct Folders {
    pub config: PathBuf,
    /// Folder of records, reports and other responses.
    pub store: PathBuf,
    /// Folder of things that can be made again.
    pub cache: PathBuf,
    /// Folder of logs and of the state file.
    pub state: PathBuf,
}

impl Folders {
    /// The folders of this user.
    pub fn find() -> Result<Self, ConfigError> {
        let folders = ProjectDirs::from("", "", "behaview").ok_or(ConfigError::NoHome)?;
        let state = folders.state_dir().unwrap_or_else(|| folders.data_local_dir());
        let kept = [folders.config_dir(), folders.data_dir(), folders.cache_dir(), state];
        if kept.iter().any(|path| path.is_relative()) {
            return Err(ConfigError::NoHome);
        }
        Ok(Self {
            config: std::env::var_os(FILE_VARIABLE)
                .filter(|path| !path.is_empty())
                .map_or_else(|| folders.config_dir().join(FILE), PathBuf::from),
            store: folders.data_dir().to_owned(),
            cache: folders.cache_dir().to_owned(),
            state: state.to_owned(),
        })
    }

    /// The config file as it is read: where the variable names it, it is there.
    pub fn to_read(&self) -> Result<&Path, ConfigError> {
        let is_named = std::env::var_os(FILE_VARIABLE).is_some_and(|named| *named == *self.config);
        let is_missing = || self.config.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        let leads_nowhere = |part: &&Path| part.is_symlink() && !part.exists();
        match self.config.ancestors().find(leads_nowhere) {
            _ if is_named && is_missing() => Err(ConfigError::Missing(self.config.clone())),
            Some(link) => Err(ConfigError::Dangling(link.to_owned())),
            None => Ok(&self.config),
        }
    }

    /// Folder of logs.
    pub fn logs(&self) -> PathBuf {
        self.state.join("log")
    }

    pub fn state_file(&self) -> PathBuf {
        self.state.join(crate::state::FILE)
    }
}

#[cfg(test)]
mod tests;
