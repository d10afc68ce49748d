//! The start screen with its hash line and recent files; sizes and folds saved between two runs.

use crate::app::overlays::generic::TextField;
use crate::app::overlays::{Scope, group};
use crate::app::panes::Scroll;
use crate::app::{Key, Model, Sizes};
use crate::report::identifier::Sha256;
use crate::report::{Identifier, Pane, RecentFile};
use crate::text::{Untrusted, count};
use serde::{Deserialize, Serialize};
use sha2::Digest;
use std::collections::HashSet;

/// The screen without a file: the hash line and the recent files.
#[derive(Debug, Default)]
pub struct StartScreen {
    pub typed: TextField,
    pub recent: Vec<RecentFile>,
    pub scroll: Scroll,
}

impl StartScreen {
    /// Returns other files with stored reports.
    pub(super) fn others(&self, shown: Option<&Sha256>) -> impl Iterator<Item = &RecentFile> {
        self.recent.iter().filter(move |recent| recent.reports > 0 && Some(&recent.file) != shown)
    }

    /// Returns the name of a recent file.
    pub fn name_of(&self, file: &Sha256) -> Option<&Untrusted> {
        self.recent.iter().find(|recent| recent.file == *file)?.name.as_ref()
    }
}

const MAX_FOLDED_REPORTS: usize = 100;

const MAX_FOLDED_ROWS: usize = 10_000;

/// View settings that the next run restores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedScreen {
    pub sizes: Sizes,
    pub(crate) scope: Scope,
    /// Folds by report, the latest last.
    folded: Vec<Folded>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Folded {
    /// A digest of the report, so that deletion leaves no name behind.
    report: String,
    rows: Vec<u32>,
}

impl SavedScreen {
    pub(super) fn rows(&self, report: &Identifier) -> &[u32] {
        let name = name(report);
        self.folded.iter().find(|folded| folded.report == name).map_or(&[], |folded| &folded.rows)
    }

    fn note(&mut self, report: &Identifier, mut rows: Vec<u32>) {
        let name = name(report);
        self.folded.retain(|folded| folded.report != name);
        if !rows.is_empty() {
            rows.truncate(MAX_FOLDED_ROWS);
            self.folded.push(Folded { report: name, rows });
        }
        self.folded.drain(..self.folded.len().saturating_sub(MAX_FOLDED_REPORTS));
    }
}

fn name(report: &Identifier) -> String {
    sha2::Sha256::digest(report.text().as_bytes()).get(..12).map(crate::text::hex).unwrap_or_default()
}

impl Model {
    /// Types a key into the hash; other letters run commands only while the line is empty.
    pub(super) fn press_digit(&mut self, key: Key) -> bool {
        let typed = &mut self.start.typed;
        match key {
            Key::Char(c) if c.is_ascii_hexdigit() => {
                if typed.text.len() < Sha256::LENGTH {
                    typed.press(Key::Char(c.to_ascii_lowercase()));
                }
                true
            }
            Key::Char(_) if !typed.is_empty() => {
                let back = self.key_label("back");
                self.warn(format!(
                    "{key} is not a digit of a SHA-256 (0 to 9, a to f), and was left out. {back} empties the line."
                ));
                true
            }
            _ => !typed.is_empty() && typed.press(key),
        }
    }

    /// Types the pasted hash into the line; ranks several.
    pub(super) fn paste_hashes(&mut self, text: &str) {
        let found = text.split(|c: char| !c.is_ascii_hexdigit()).filter_map(Sha256::parse);
        let mut known = HashSet::new();
        let found: Vec<_> = found.filter(|hash| known.insert(hash.clone())).collect();
        match found.as_slice() {
            [] => self.warn(
                "No SHA-256 was pasted (64 hexadecimal digits): the service knows private files by nothing else.",
            ),
            [one] => {
                self.start.typed = one.to_string().into();
                let way = self.key_label("open-chosen");
                self.say(format!("Pasted: 1 file, opened by {way}."));
            }
            _ => group::triage(self, Some(found)),
        }
    }

    pub(super) fn open_typed(&mut self) {
        let start = &mut self.start;
        let files = match Sha256::parse(&start.typed.text) {
            Some(file) => vec![file],
            None if start.typed.is_empty() => {
                start.recent.get(start.scroll.cursor).map(|recent| recent.file.clone()).into_iter().collect()
            }
            None => {
                let typed = count(start.typed.text.len() as u64, "digit");
                return self.warn(format!("A SHA-256 has 64 hexadecimal digits; {typed} so far."));
            }
        };
        self.open_files(&files)
    }

    pub fn resume(&mut self, remembered: SavedScreen) {
        self.sizes = remembered.sizes;
        self.remembered = remembered;
    }

    /// Returns the state of the screen, to be saved for the next run.
    pub fn remember(&mut self) -> SavedScreen {
        self.record_folds();
        self.remembered.sizes = self.sizes;
        self.remembered.clone()
    }

    /// Records the folds of open reports before they close.
    pub(super) fn record_folds(&mut self) {
        for entry in self.files.shown().into_iter().flat_map(|file| &file.list.entries) {
            let Some((report, open)) = entry.identifier.as_ref().zip(entry.open.as_ref()) else { continue };
            if let (Some(state), Some((_, tree))) = (open.panes.get(&Pane::Processes), open.report.tree()) {
                self.remembered.note(report, state.folds.folded(tree.depths()));
            }
        }
    }
}
