//! The state of the screen between two runs: sizes set by hand, and folds.

use crate::app::{Model, Sizes};
use crate::report::{Identifier, Pane};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Reports whose folds are remembered at most; those that were left first are forgotten first.
const REPORTS: usize = 100;

/// Folded rows that are remembered of one report at most.
const ROWS: usize = 10_000;

/// How the screen was left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    pub sizes: Sizes,
    /// Folds by report, the last one at the end.
    folded: Vec<Folded>,
}

/// The folds of one report's process tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Folded {
    /// A digest of the report, so that a deletion leaves no name behind.
    report: String,
    rows: Vec<u32>,
}

impl Remembered {
    /// The rows of a report's process tree that were folded.
    pub(super) fn rows(&self, report: &Identifier) -> &[u32] {
        let name = name(report);
        self.folded.iter().find(|folded| folded.report == name).map_or(&[], |folded| &folded.rows)
    }

    fn note(&mut self, report: &Identifier, mut rows: Vec<u32>) {
        let name = name(report);
        self.folded.retain(|folded| folded.report != name);
        if !rows.is_empty() {
            rows.truncate(ROWS);
            self.folded.push(Folded { report: name, rows });
        }
        let surplus = self.folded.len().saturating_sub(REPORTS);
        self.folded.drain(..surplus);
    }
}

fn name(report: &Identifier) -> String {
    Sha256::digest(report.text().as_bytes()).get(..12).map(crate::text::hex).unwrap_or_default()
}

impl Model {
    /// Leaves the screen as it was left.
    pub fn resume(&mut self, remembered: Remembered) {
        self.sizes = remembered.sizes;
        self.remembered = remembered;
    }

    /// How the screen is left now.
    pub fn remember(&mut self) -> Remembered {
        self.note_folds();
        self.remembered.sizes = self.sizes;
        self.remembered.clone()
    }

    /// Records the folds of open reports before they close.
    pub(super) fn note_folds(&mut self) {
        for entry in self.files.shown().into_iter().flat_map(|file| file.list.entries()) {
            let Some((report, open)) = entry.identifier.as_ref().zip(entry.open.as_ref()) else { continue };
            if let (Some(state), Some((_, tree))) = (open.panes.get(&Pane::Processes), open.report.tree()) {
                self.remembered.note(report, state.folds().folded(tree.depths()));
            }
        }
    }
}
