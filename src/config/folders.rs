//! Where this program keeps things.

use super::ConfigError;
use directories::ProjectDirs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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
    /// Folder of logs, and of what is remembered from one run to the next.
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

    /// What is remembered from one run to the next.
    pub fn state_file(&self) -> PathBuf {
        self.state.join(crate::state::FILE)
    }
}
