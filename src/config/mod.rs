//! The config: its file, its variables and its flags; and the folders of the program.

mod layers;

pub use layers::{ConfigProblem, EffectiveSetting, SETTINGS, Setting, SettingOrigin, TEMPLATE};

use crate::app::Keymap;
use crate::app::scan::PollPace;
use crate::environment::{Variables, variable};
use crate::files;
use crate::log::Level;
use crate::quota::{Budget, Entitlement, Entitlements};
use crate::service::credential::{Credential, CredentialError};
use crate::service::profile::Profile;
use crate::team::{QUESTION_TIMEOUT, Team, TeamError, TeamSettings, UnreachablePolicy};
use crate::view::Theme;
use clap::Args;
use clap::builder::BoolishValueParser;
use directories::{BaseDirs, ProjectDirs};
use jiff::SignedDuration;
use layers::{Layers, masked};
use secrecy::{ExposeSecret, SecretString};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MAX_FILE_BYTES: u64 = 1 << 20;

/// As the path of the config file, it means no file.
const NULL_DEVICE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// The settings of a run, from flags, variables and the config file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Each setting with its origin, for `config show`.
    #[serde(skip)]
    effective: Vec<EffectiveSetting>,
    pub offline: bool,
    pub log_level: Level,
    /// Name of the profile to use; `virustotal` unless set.
    profile: Option<String>,
    /// Tag of the calls in the ledger.
    pub project: Option<String>,
    api_key: Option<SecretString>,
    api_key_command: Option<String>,
    profiles: BTreeMap<String, Profile>,
    pub entitlements: EntitlementTable,
    pub budget: BudgetTable,
    limits: LimitTable,
    pub store: StoreTable,
    team: TeamTable,
    pub ui: UiTable,
    watch: WatchTable,
    keys: BTreeMap<String, KeyNames>,
    #[serde(skip)]
    pub keymap: Keymap,
}

/// How often a watched scan is polled, and how often at most.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WatchTable {
    interval_s: Option<NonZeroU32>,
    max_polls: Option<NonZeroU32>,
}

/// Which responses are stored, and for how long; without limits, forever.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreTable {
    /// Whether responses are stored on disk; unless set, they are.
    persist: Option<bool>,
    /// Older responses are deleted at the start of the app, and after a command that was charged.
    pub max_age_days: Option<NonZeroU32>,
    /// The oldest responses are deleted then, down to this size.
    pub max_size_mib: Option<NonZeroU32>,
}

/// The database in which a group shares its responses.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TeamTable {
    url: Option<SecretString>,
    ca_file: Option<PathBuf>,
    unreachable: UnreachablePolicy,
    timeout_ms: Option<NonZeroU32>,
}

/// Limits of spending, in units.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetTable {
    session: Option<u64>,
    daily: Option<u64>,
    /// A call that may cost more needs confirmation.
    pub confirm_above: Option<u64>,
}

/// Limits of the service that none of its counters shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitTable {
    per_minute: Option<NonZeroU32>,
}

// The user's entitlements by config or option. No doc comment: clap would show it as help.
#[derive(Debug, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Entitlements, else from the config file or the balances")]
pub struct EntitlementTable {
    /// Premium API
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    premium_api: Option<bool>,
    /// Premium intelligence
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    premium_intelligence: Option<bool>,
    /// A private scanning licence
    #[arg(long, value_name = "yes|no", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    private_scanning: Option<bool>,
}

impl EntitlementTable {
    pub fn known(&self) -> Entitlements {
        let by_hand = |stored: Option<bool>| stored.map(Entitlement::by_hand).unwrap_or_default();
        Entitlements {
            premium_api: by_hand(self.premium_api),
            premium_intelligence: by_hand(self.premium_intelligence),
            private_scanning: by_hand(self.private_scanning),
            ..Entitlements::default()
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UiTable {
    /// The theme; unless set, the one that fits `COLORFGBG`, else dark.
    #[serde(deserialize_with = "theme")]
    pub theme: Option<Theme>,
    /// Whether only ASCII is shown.
    pub ascii: bool,
    /// Whether the program uses the mouse.
    pub mouse: bool,
    /// Whether the app prints lines instead of drawing.
    pub plain: bool,
}

fn theme<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Theme>, D::Error> {
    let name = String::deserialize(from)?;
    let theme = Theme::named(&name);
    if theme.is_none() && name != "auto" {
        let wanted = format!("one of `{}`", Theme::names().collect::<Vec<_>>().join("`, `"));
        return Err(D::Error::invalid_value(Unexpected::Other("not the name of a theme"), &&*wanted));
    }
    Ok(theme)
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a key such as \"ctrl-x\", several of them in brackets, or \"none\"")]
enum KeyNames {
    One(String),
    Several(Vec<String>),
}

impl KeyNames {
    fn each(&self) -> Vec<&str> {
        match self {
            Self::One(name) => vec![name],
            Self::Several(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("no home folder: set HOME to a path that begins at the root")]
    NoHome,
    #[error("{FILE_VARIABLE} names {}, which does not exist; behaview config init makes it", crate::text::path(.0))]
    Missing(PathBuf),
    #[error("{} is a dangling link, so the config file cannot be read: repair the link, or remove it", crate::text::path(.0))]
    Dangling(PathBuf),
    #[error("{} cannot be read: {why}", crate::text::path(.path))]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("{}, line {line}: {message}. behaview config check names every mistake", crate::text::path(.path))]
    Invalid { path: PathBuf, line: usize, message: String },
    #[error("{} contains the key, its command or a password, and others can read it: run chmod 600 on it", crate::text::path(.0))]
    Exposed(PathBuf),
    #[error("{0}: {1}")]
    Override(SettingOrigin, String),
    #[error("unknown setting {0}{1}; behaview config show names them all")]
    UnknownSetting(String, String),
    #[error(
        "{0} cannot be a flag, which others on this machine could read: set it in the config file, or by a variable"
    )]
    SecretFlag(&'static str),
    #[error("unknown profile {0}; the config file's are: {1}")]
    UnknownProfile(String, String),
    #[error(
        "a profile is named by the key, but its name is shown and stored: rename the profile, and replace the key \
         if others may have seen it"
    )]
    KeyAsName,
}

impl Config {
    /// Reads the config file, overridden by variables and flags; a missing file counts as empty.
    pub fn load(path: &Path, flags: &[(String, String)], variable: Variables<'_>) -> Result<Self, ConfigError> {
        let text = text(path)?;
        let invalid = |ConfigProblem { line, message }| ConfigError::Invalid { path: path.to_owned(), line, message };
        let (mistakes, mut layers) = Layers::of_file(&text);
        if let Some(first) = mistakes.into_iter().next() {
            return Err(invalid(first));
        }
        // Others could read the key, or replace the command that prints it.
        if layers.line_of_key().is_some() && files::is_open_to_others(path) {
            return Err(ConfigError::Exposed(path.to_owned()));
        }
        layers.cover(flags, variable)?;
        let config = layers.read().map_err(|error| invalid(layers::finding(&text, &error)))?;
        let keymap = config.read_keys().map_err(|mistakes| {
            let named =
                mistakes.into_iter().map(|(command, message)| (layers.origin(&format!("keys.{command}")), message));
            match named.min().unwrap_or((SettingOrigin::Default, String::new())) {
                (SettingOrigin::File { line }, message) => invalid(ConfigProblem { line, message }),
                (origin, message) => ConfigError::Override(origin, message),
            }
        })?;
        Ok(Self { effective: layers.effective(), keymap, ..config })
    }

    /// Returns all mistakes in a config file, in the order of its lines.
    pub fn check(path: &Path) -> Result<Vec<ConfigProblem>, ConfigError> {
        let (mut found, layers) = Layers::of_file(&text(path)?);
        let Ok(config) = layers.read() else { return Ok(found) };
        let mut add = |name: &str, message: String| {
            let line = if let SettingOrigin::File { line } = layers.origin(name) { line } else { 1 };
            found.push(ConfigProblem { line, message });
        };
        if let Err(error) = config.profile() {
            add("profile", error.to_string());
        }
        if let Err(error) = config.team() {
            add("team.url", error.to_string());
        }
        for (name, profile) in &config.profiles {
            let profile = Profile { name: masked(name).to_owned(), ..profile.clone() };
            let mistakes = profile.mistakes();
            mistakes.iter().for_each(|error| add(&format!("profiles.{name}.{}", error.setting), error.to_string()));
        }
        for (command, message) in config.read_keys().err().unwrap_or_default() {
            add(&format!("keys.{command}"), message);
        }
        if let Some(line) = layers.line_of_key().filter(|_| files::is_open_to_others(path)) {
            let message =
                "the key, its command or a password is in this file, and others may read or change it: run chmod 600";
            found.push(ConfigProblem { line, message: message.to_owned() });
        }
        found.sort_by_key(|finding| finding.line);
        Ok(found)
    }

    /// Returns changed keys, or mistakes by command, without values, which may be secrets.
    fn read_keys(&self) -> Result<Keymap, Vec<(String, String)>> {
        let changes: Vec<_> = self.keys.iter().map(|(command, keys)| (command.as_str(), keys.each())).collect();
        Keymap::read(&changes).map_err(|mistakes| {
            // Only quotes from the file are masked; the other text is the program's own.
            let mask = |(command, message): (&str, String)| {
                let keys = self.keys.get(command).map(KeyNames::each).unwrap_or_default();
                let message = std::iter::once(command).chain(keys).fold(message, |message, written| {
                    message.replace(&format!("`{written}`"), &format!("`{}`", masked(written)))
                });
                (command.to_owned(), message)
            };
            mistakes.into_iter().map(mask).collect()
        })
    }

    /// Returns every setting with its value and origin, without keys.
    pub fn effective(&self) -> Vec<EffectiveSetting> {
        let has_key = self.key_finder();
        let part = |part: &str| if has_key(part) { "…".to_owned() } else { part.to_owned() };
        let shown = |setting: &EffectiveSetting| {
            let EffectiveSetting { name, value, .. } = setting;
            let name = name.split('.').map(part).collect::<Vec<_>>().join(".");
            let name = if has_key(&name) { "…".to_owned() } else { name };
            let value = value.clone().map(|value| if has_key(&value) { "(the key, not shown)".into() } else { value });
            EffectiveSetting { name, value, ..setting.clone() }
        };
        self.effective.iter().map(shown).collect()
    }

    /// Tests whether a text contains one of [`Self::known_keys`].
    fn key_finder(&self) -> impl Fn(&str) -> bool + use<> {
        let keys = self.known_keys();
        move |text| keys.iter().any(|key| key.is_in(text.as_bytes()))
    }

    /// Returns every key in variables and files; `api_key_command` is not run.
    pub fn known_keys(&self) -> Vec<Credential> {
        Credential::all_known(&variable, self.api_key.as_ref(), home().as_deref())
    }

    /// Returns the setting with the key, or with its command, which is not run.
    pub fn key_place(&self) -> Option<&'static str> {
        let command = self.api_key_command.as_ref().map(|_| "api_key_command, which was not run now");
        self.api_key.as_ref().map(|_| "api_key in the config file").or(command)
    }

    /// Returns the profile in use; an error if the config lacks its name, or the name is the key.
    pub fn profile(&self) -> Result<Profile, ConfigError> {
        let builtin = Profile::default();
        let name = self.profile.as_ref().unwrap_or(&builtin.name).clone();
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

    pub fn budget(&self) -> Budget {
        Budget { session: self.budget.session, daily: self.budget.daily }
    }

    /// Returns the service's limit of requests in 60 seconds.
    pub fn per_minute(&self) -> Option<u64> {
        self.limits.per_minute.map(|limit| u64::from(limit.get()))
    }

    /// Returns whether responses are stored on disk, not in memory only.
    pub fn is_persistent(&self) -> bool {
        self.store.persist != Some(false)
    }

    /// Returns the team store, not connected yet; `None` if the config has none.
    pub fn team(&self) -> Result<Option<Team>, TeamError> {
        let TeamTable { url, ca_file, unreachable, timeout_ms } = &self.team;
        let timeout = timeout_ms.map_or(QUESTION_TIMEOUT, |ms| Duration::from_millis(ms.get().into()));
        let team = |url: &SecretString| {
            let url = url.expose_secret();
            let ca_file = ca_file.clone();
            Team::new(TeamSettings { url, ca_file, unreachable: *unreachable, timeout }, &variable, home().as_deref())
        };
        url.as_ref().map(team).transpose()
    }

    pub fn pace(&self) -> PollPace {
        let usual = PollPace::default();
        let WatchTable { interval_s, max_polls } = self.watch;
        PollPace {
            interval: interval_s.map_or(usual.interval, |seconds| SignedDuration::from_secs(seconds.get().into())),
            most: max_polls.map_or(usual.most, |polls| polls.get().into()),
        }
    }

    /// Returns the key, from the first place that has one.
    pub fn credential(&self) -> Result<Option<Credential>, CredentialError> {
        Credential::find(&variable, self.api_key.as_ref(), self.api_key_command.as_deref(), home().as_deref())
    }
}

/// Returns the user's home folder.
pub fn home() -> Option<PathBuf> {
    BaseDirs::new().map(|dirs| dirs.home_dir().to_owned())
}

fn text(path: &Path) -> Result<String, ConfigError> {
    match files::read_text(path, MAX_FILE_BYTES) {
        Ok(text) => Ok(text),
        // The null device means no config file.
        Err(_) if path == Path::new(NULL_DEVICE) => Ok(String::new()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(String::new()),
        Err(why) => Err(ConfigError::Unreadable { path: path.to_owned(), why }),
    }
}

pub(crate) const FILE: &str = "config.toml";

/// Variable that names another config file.
pub(crate) const FILE_VARIABLE: &str = "BEHAVIEW_CONFIG";

/// The program's folders, by the conventions of the system.
#[derive(Debug, Clone)]
pub struct Folders {
    pub config: PathBuf,
    pub store: PathBuf,
    pub cache: PathBuf,
    /// Folder of logs and of the state file.
    pub(crate) state: PathBuf,
}

impl Folders {
    /// Returns the folders of the platform, or of the variables; an error without a home.
    pub fn find() -> Result<Self, ConfigError> {
        let folders = ProjectDirs::from("", "", "behaview").ok_or(ConfigError::NoHome)?;
        let state = folders.state_dir().unwrap_or_else(|| folders.data_local_dir());
        let all = [folders.config_dir(), folders.data_local_dir(), folders.cache_dir(), state];
        if all.iter().any(|path| path.is_relative()) {
            return Err(ConfigError::NoHome);
        }
        Ok(Self {
            config: std::env::var_os(FILE_VARIABLE)
                .filter(|path| !path.is_empty())
                .map_or_else(|| folders.config_dir().join(FILE), PathBuf::from),
            store: folders.data_local_dir().to_owned(),
            cache: folders.cache_dir().to_owned(),
            state: state.to_owned(),
        })
    }

    /// Returns the config file; fails if the variable names a missing file, or a link dangles.
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

    pub fn logs(&self) -> PathBuf {
        self.state.join("log")
    }

    pub fn state_file(&self) -> PathBuf {
        self.state.join("state.json")
    }
}

#[cfg(test)]
mod tests;
