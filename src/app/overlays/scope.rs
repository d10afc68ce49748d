//! The reports that overlay lists cover: one of the chosen sandbox, or all stored ones of the file.

use crate::app::{ListEntry, Model, Overlay};
use serde::{Deserialize, Serialize};

/// The scope of findings and indicators; saved for the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Sandbox,
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
    /// Returns the scope of lists; a single stored report leaves no choice.
    pub fn scope(&self) -> Scope {
        match self.chosen().and_then(ListEntry::report) {
            None => Scope::File,
            Some(_) if self.stored_reports().nth(1).is_some() => self.remembered.scope,
            Some(_) => Scope::Sandbox,
        }
    }

    /// Returns the stored reports of the file, with their indices in the list.
    pub(crate) fn stored_reports(&self) -> impl Iterator<Item = (usize, &ListEntry)> {
        let entries = self.list().into_iter().flat_map(|list| list.entries.iter().enumerate());
        entries.filter(|(_, entry)| entry.report().is_some())
    }

    /// Returns the stored reports in the scope, with their indices in the list.
    pub(crate) fn covered(&self) -> impl Iterator<Item = (usize, &ListEntry)> {
        let only = self.list().map(|list| list.scroll.cursor).filter(|_| self.scope() == Scope::Sandbox);
        self.stored_reports().filter(move |(entry, _)| only.is_none_or(|only| only == *entry))
    }

    /// Returns whether the top list is complete; `None` if it does not depend on the scope.
    pub(crate) fn is_listed(&self) -> Option<bool> {
        match self.overlays.top()? {
            Overlay::Findings(list) => Some(list.source.is_complete),
            Overlay::Indicators(list) => Some(list.source.is_complete()),
            _ => None,
        }
    }

    /// Returns whether the top list depends on the scope, and both scopes are available.
    pub(crate) fn has_scope(&self) -> bool {
        let is_stored = self.chosen().is_some_and(|entry| entry.report().is_some());
        self.is_listed().is_some() && is_stored && self.stored_reports().nth(1).is_some()
    }

    /// Switches to the other scope and saves that choice.
    pub(crate) fn toggle_scope(&mut self) {
        self.remembered.scope = self.scope().other();
        self.follow_scope()
    }

    /// Rebuilds the top list if it covers another scope.
    pub(crate) fn follow_scope(&mut self) {
        let scope = self.scope();
        let count = self.covered().count();
        match self.overlays.top() {
            Some(Overlay::Findings(list)) if (list.source.scope, list.source.reports) != (scope, count) => {
                self.find_findings()
            }
            Some(Overlay::Indicators(list)) if list.source.scope != scope => self.find_indicators(),
            _ => {}
        }
    }
}
