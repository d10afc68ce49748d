//! `[keys]`: which keys the analyst gives to which command, and what of it cannot be.

use super::masked;
use crate::app::Keymap;
use crate::app::keys::keymap::{Change, Mistake};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The table as it is written: names of commands, with a key's name or several.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Keys(BTreeMap<String, Names>);

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a key such as \"ctrl-x\", several of them in brackets, or \"none\"")]
enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    fn each(&self) -> Vec<&str> {
        match self {
            Self::One(name) => vec![name],
            Self::Several(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

impl Keys {
    /// The keys as changed, or what is wrong with which command's, without what stands there: it may be a secret.
    pub(super) fn read(&self) -> Result<Keymap, Vec<(String, String)>> {
        let changes: Vec<_> = self.0.iter().map(|(command, names)| Change { command, keys: names.each() }).collect();
        let command = |change: usize| changes.get(change).map_or_else(String::new, |change| change.command.to_owned());
        // Only what was written is left out: the other words are the program's own.
        let quoted = |written: &str| format!("`{written}`");
        let shown = |change: Option<&Change<'_>>, words: &str| {
            let written = change.into_iter().flat_map(|change| std::iter::once(&change.command).chain(&change.keys));
            written.fold(words.to_owned(), |words, written| words.replace(&quoted(written), &quoted(masked(written))))
        };
        Keymap::read(&changes).map_err(|mistakes| {
            let told =
                |mistake: &Mistake| (command(mistake.change), shown(changes.get(mistake.change), &mistake.words));
            mistakes.iter().map(told).collect()
        })
    }
}
