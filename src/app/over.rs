//! The stack of what stands over the screen: the last thing put there has the keys, and going back leads to the one below it.

use super::overlay::Overlay;
use super::prompt::Prompt;

/// What stands over the screen, the lowest first.
#[derive(Debug, Default)]
pub struct Over(Vec<Overlay>);

impl Over {
    /// The one that has the keys.
    #[must_use]
    pub fn top(&self) -> Option<&Overlay> {
        self.0.last()
    }

    pub(super) fn top_mut(&mut self) -> Option<&mut Overlay> {
        self.0.last_mut()
    }

    /// All of them, the lowest first.
    #[must_use]
    pub fn all(&self) -> &[Overlay] {
        &self.0
    }

    pub(super) fn all_mut(&mut self) -> &mut [Overlay] {
        &mut self.0
    }

    /// Whether nothing stands over the screen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The highest that is wanted, be it on top or not.
    pub(super) fn find<'a, T>(&'a self, pick: fn(&'a Overlay) -> Option<&'a T>) -> Option<&'a T> {
        self.0.iter().rev().find_map(pick)
    }

    /// The same, to be changed.
    pub(super) fn find_mut<'a, T>(&'a mut self, pick: fn(&'a mut Overlay) -> Option<&'a mut T>) -> Option<&'a mut T> {
        self.0.iter_mut().rev().find_map(pick)
    }

    /// Puts one over the others.
    pub(super) fn put(&mut self, overlay: Overlay) {
        self.0.push(overlay);
    }

    /// Takes the top one away: the one below it has the keys again.
    pub(super) fn close(&mut self) -> Option<Overlay> {
        self.0.pop()
    }

    /// Takes the top one away if it is a question that waits for a yes; says whether it was.
    pub(super) fn close_question(&mut self) -> bool {
        self.0.pop_if(|top| matches!(top, Overlay::Confirm(_))).is_some()
    }

    /// Takes the top one away if it is the line of the question that is meant.
    pub(super) fn close_prompt(&mut self, is_meant: impl Fn(&Prompt) -> bool) {
        self.0.pop_if(|top| matches!(top, Overlay::Prompt(prompt) if is_meant(prompt)));
    }

    /// Takes all of them away.
    pub(super) fn clear(&mut self) -> Vec<Overlay> {
        std::mem::take(&mut self.0)
    }
}
