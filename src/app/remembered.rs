//! What is remembered of the screen from one run to the next: sizes that were set by hand, and what was folded.

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
    /// Sizes that were set by hand.
    pub sizes: Sizes,
    /// What was folded, the report that was left last at the end.
    folded: Vec<Folded>,
}

/// What was folded of one report's process tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Folded {
    /// Which report: a digest, so that what is deleted from the store leaves no name behind.
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

    /// Notes what is folded of the reports that are open, before they are let go.
    pub(super) fn note_folds(&mut self) {
        for entry in self.files.shown().into_iter().flat_map(|file| file.list.entries()) {
            let Some((report, open)) = entry.identifier.as_ref().zip(entry.open.as_ref()) else { continue };
            if let (Some(state), Some((_, tree))) = (open.panes.get(&Pane::Processes), open.report.tree()) {
                self.remembered.note(report, state.folds().folded(tree.depths()));
            }
        }
    }
}
