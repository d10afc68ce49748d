//! How the screen was left: read at the start, written at the end if it has changed.

use crate::app::{Model, Remembered};
use crate::config::{Config, Folders};
use crate::runtime::Ended;
use crate::state;
use std::io::Write;
use std::path::PathBuf;

/// The file that remembers it, and what that said at the start.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// None where nothing is to be kept.
    path: Option<PathBuf>,
    before: Remembered,
}

impl Left {
    /// Where it is remembered, as folders and config say.
    pub(super) fn of(folders: &Folders, config: &Config) -> Self {
        Self { path: (!config.keeps_nothing()).then(|| folders.state_file()), before: Remembered::default() }
    }

    /// Brings the screen back as it was left, and says what went wrong with that.
    pub(super) fn resume(&mut self, model: &mut Model) -> Option<String> {
        let (remembered, remark) = state::read(self.path.as_deref()?);
        self.before = remembered.clone();
        model.resume(remembered);
        remark
    }

    /// Remembers how the screen is left now.
    pub(super) fn note(self, ended: &Ended) {
        let Some(path) = self.path.filter(|_| ended.remembered != self.before) else { return };
        if let Err(error) = state::write(&ended.remembered, &path) {
            let _ = writeln!(std::io::stderr(), "behaview: how the screen was left cannot be remembered: {error}");
        }
    }
}
