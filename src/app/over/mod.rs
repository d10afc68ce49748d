//! The stack of what stands over the screen: the last thing put there has the keys, and going back leads to the one below it.

pub mod answer;
pub mod artefacts;
pub mod detail;
pub mod form;
pub mod held;
pub mod indicators;
pub mod list_view;
pub mod marks;
pub mod notes;
pub mod overlay;
pub mod palette;
pub mod sheet;
pub mod spots;
pub(super) mod timeline;

use super::spending::prompt::Prompt;
use overlay::Overlay;

/// What stands over the screen, the lowest first.
#[derive(Debug, Default)]
pub struct Over {
    all: Vec<Overlay>,
    /// How often something was put there or taken away.
    changes: u64,
}

impl Over {
    /// The one that has the keys.
    pub fn top(&self) -> Option<&Overlay> {
        self.all.last()
    }

    pub(super) fn top_mut(&mut self) -> Option<&mut Overlay> {
        self.all.last_mut()
    }

    /// All of them, the lowest first.
    pub fn all(&self) -> &[Overlay] {
        &self.all
    }

    pub(super) fn all_mut(&mut self) -> &mut [Overlay] {
        &mut self.all
    }

    /// The question on top that waits for a yes, by a number that no other question has.
    pub(super) fn question(&self) -> Option<u64> {
        matches!(self.top(), Some(Overlay::Confirm(_))).then_some(self.changes)
    }

    /// Whether nothing stands over the screen.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The highest that is wanted, be it on top or not.
    pub(super) fn find<'a, T>(&'a self, pick: fn(&'a Overlay) -> Option<&'a T>) -> Option<&'a T> {
        self.all.iter().rev().find_map(pick)
    }

    /// The same, to be changed.
    pub(super) fn find_mut<'a, T>(&'a mut self, pick: fn(&'a mut Overlay) -> Option<&'a mut T>) -> Option<&'a mut T> {
        self.all.iter_mut().rev().find_map(pick)
    }

    /// Puts one over the others.
    pub(super) fn put(&mut self, overlay: Overlay) {
        self.changes += 1;
        self.all.push(overlay);
    }

    /// Takes the top one away: the one below it has the keys again.
    pub(super) fn close(&mut self) -> Option<Overlay> {
        self.changes += 1;
        self.all.pop()
    }

    /// Takes the top one away if it is a question that waits for a yes; says whether it was.
    pub(super) fn close_question(&mut self) -> bool {
        self.changes += 1;
        self.all.pop_if(|top| matches!(top, Overlay::Confirm(_))).is_some()
    }

    /// Takes the top one away if it is the line of the question that is meant.
    pub(super) fn close_prompt(&mut self, is_meant: impl Fn(&Prompt) -> bool) {
        self.changes += 1;
        self.all.pop_if(|top| matches!(top, Overlay::Prompt(prompt) if is_meant(prompt)));
    }

    /// Takes all away but these.
    pub(super) fn keep(&mut self, is_kept: fn(&Overlay) -> bool) {
        self.changes += 1;
        self.all.retain(is_kept);
    }

    /// Takes all of them away.
    pub(super) fn clear(&mut self) -> Vec<Overlay> {
        self.changes += 1;
        std::mem::take(&mut self.all)
    }
}
