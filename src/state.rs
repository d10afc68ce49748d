//! What the program remembers of its last run. Nobody writes it by hand, so it is no part of the config.
//!
//! Files that were opened are in the store, beside what is held of them.

use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Name of the file in the state folder.
pub const FILE: &str = "state.json";

/// How the screen was left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Sizes that were set by hand, in columns or rows, by the name of what has them.
    pub sizes: BTreeMap<String, u16>,
    /// Names of what was folded.
    pub folded: BTreeSet<String>,
}

impl State {
    /// Reads the state. A file that cannot be used is set aside, and the words say so: a screen that has forgotten how it
    /// was left is worth more than none.
    #[must_use]
    pub fn read(path: &Path) -> (Self, Option<String>) {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (Self::default(), None),
            Err(error) => return (Self::default(), Some(format!("{} cannot be read: {error}", path.display()))),
        };
        match serde_json::from_slice(&bytes) {
            Ok(state) => (state, None),
            Err(_) => (Self::default(), Some(set_aside(path))),
        }
    }

    /// Writes the state, for the owner's eyes only.
    ///
    /// # Errors
    /// What the system said; then what was there is still there.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        files::replace(path, &serde_json::to_vec_pretty(self)?)
    }
}

/// Gives a damaged file another name; says what became of it.
fn set_aside(path: &Path) -> String {
    let aside = path.with_extension("damaged");
    match std::fs::rename(path, &aside) {
        Ok(()) => format!("The state file was damaged; it is set aside as {}.", aside.display()),
        Err(error) => format!("{} is damaged, and cannot be set aside: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_damaged_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join(FILE);
        assert_eq!(State::read(&path), (State::default(), None));
        let state = State { sizes: [("list".to_owned(), 30)].into(), folded: ["tags".to_owned()].into() };
        state.write(&path).unwrap();
        assert_eq!(State::read(&path), (state, None));
        std::fs::write(&path, "{\"sizes\": 7}").unwrap();
        let (read, words) = State::read(&path);
        assert!(read == State::default() && words.unwrap().contains("damaged"));
        assert!(!path.exists() && path.with_extension("damaged").exists());
    }

    #[test]
    fn a_newer_programs_state_is_read_as_far_as_it_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, r#"{"sizes": {"list": 9}, "new": true}"#).unwrap();
        assert_eq!(State::read(&path).0.sizes["list"], 9);
    }
}
