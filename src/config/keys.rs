//! `[keys]`: which keys the analyst gives to which command, read with the line of everything that cannot be.

use super::without_values;
use crate::app::Keymap;
use crate::app::keymap::Change;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

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
    /// The keys as changed, or what is wrong in which line of the file's text, without what stands there: it may be a secret.
    pub(super) fn read(&self, text: &str) -> Result<Keymap, Vec<(usize, String)>> {
        let changes: Vec<_> = self.0.iter().map(|(command, names)| Change { command, keys: names.each() }).collect();
        Keymap::read(&changes).map_err(|mistakes| {
            let line = |change: usize| changes.get(change).and_then(|change| line(text, change.command)).unwrap_or(1);
            let mut found: Vec<_> =
                mistakes.iter().map(|mistake| (line(mistake.change), without_values(&mistake.words))).collect();
            found.sort();
            found
        })
    }
}

/// The line of a command in the file's table of keys, from 1.
fn line(text: &str, command: &str) -> Option<usize> {
    let (table, _) = DeTable::parse_recoverable(text);
    let DeValue::Table(keys) = table.get_ref().get("keys")?.get_ref() else { return None };
    let (name, _) = keys.iter().find(|(name, _)| name.get_ref() == command)?;
    Some(text.get(..name.span().start)?.matches('\n').count() + 1)
}
