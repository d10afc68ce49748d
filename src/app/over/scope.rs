//! Which reports the lists over the screen cover: that of the chosen sandbox, or every stored one of the file.

use crate::app::over::Spots;
use crate::app::{ListEntry, Model, Overlay};
use serde::{Deserialize, Serialize};

/// What findings and indicators cover; the choice is kept for the next start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Sandbox,
    /// Every stored report of the file.
    #[default]
    File,
}

impl Scope {
    pub fn label(self) -> &'static str {
        match self {
            Self::Sandbox => "this sandbox",
            Self::File => "all sandboxes",
        }
    }

    pub fn other(self) -> Self {
        if self == Self::Sandbox { Self::File } else { Self::Sandbox }
    }
}

impl Model {
    /// The scope of new lists: that of the sandbox where no other report is stored.
    pub fn scope(&self) -> Scope {
        if self.held_here().nth(1).is_some() { self.remembered.scope } else { Scope::Sandbox }
    }

    /// The stored reports of the file, with their places in the list.
    pub(in crate::app) fn held_here(&self) -> impl Iterator<Item = (usize, &ListEntry)> {
        let entries = self.list().into_iter().flat_map(|list| list.entries.iter().enumerate());
        entries.filter(|(_, entry)| entry.report().is_some())
    }

    /// Whether the top list follows the scope.
    pub(in crate::app) fn has_scope(&self) -> bool {
        let is_scoped = match self.over.top() {
            Some(Overlay::Spots(list)) => list.source.is_notable(),
            _ => false,
        };
        is_scoped && self.held_here().nth(1).is_some()
    }

    /// Lists what the other scope covers, and keeps that choice.
    pub(in crate::app) fn toggle_scope(&mut self) {
        self.remembered.scope = self.scope().other();
        match self.over.top_mut() {
            Some(Overlay::Spots(_)) if self.remembered.scope == Scope::File => self.reach_held(),
            Some(Overlay::Spots(Spots { filter, .. })) => {
                let filter = std::mem::take(filter);
                self.over.close();
                self.list_notable();
                self.over
                    .find_mut::<Spots>()
                    .into_iter()
                    .zip(Some(filter))
                    .for_each(|(list, filter)| list.filter = filter);
                self.after_typing();
            }
            _ => {}
        }
    }
}
