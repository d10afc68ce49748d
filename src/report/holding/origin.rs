//! Where a report came from, if not from the service.

use crate::text::Untrusted;

/// A file that a user imported a report from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub from: Untrusted,
    /// The user who imported it.
    pub by: Untrusted,
}

impl Imported {
    /// The same in words that are safe to show.
    pub fn words(&self) -> String {
        let from = self.from.visible_cut(60);
        if self.by.is_empty() { format!("from {from}") } else { format!("from {from} by {}", self.by.visible_cut(30)) }
    }
}
