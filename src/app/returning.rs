//! The way back: a list that was left for one of its rows comes back as it was left.

use super::effect::Effect;
use super::finder::Finder;
use super::model::Model;
use super::overlay::Overlay;
use super::spots::Spots;

/// A list that was left for one of its rows.
#[derive(Debug)]
pub(super) enum Left {
    /// The hits of the last search.
    Finder,
    /// Where an item of the comparison was seen.
    Compare(Spots),
    /// Any other.
    Other(Box<Overlay>),
}

impl Model {
    /// What the list that was left is called, where going back leads to one.
    #[must_use]
    pub fn way_back(&self) -> Option<&'static str> {
        let is_here = self.over.is_empty() && !self.is_zoomed && self.filter().is_none();
        let left = self.left.as_ref().filter(|_| is_here)?;
        Some(match left {
            Left::Finder => "back to the hits",
            Left::Compare(_) => "back to the comparison",
            Left::Other(over) if matches!(**over, Overlay::Indicators(_)) => "back to the indicators",
            Left::Other(_) => "back to the list",
        })
    }

    /// Leaves the list that is over the screen for one of its rows.
    pub(super) fn leave_list(&mut self) -> Option<Left> {
        let over = self.over.close()?;
        let comparison = self.over.clear().into_iter().find_map(|over| match over {
            Overlay::Compare(compare) => Some(compare),
            _ => None,
        });
        match (over, comparison) {
            (Overlay::Spots(spots), Some(compare)) => {
                self.compared = Some(compare);
                Some(Left::Compare(spots))
            }
            (Overlay::Finder(mut finder), _) => {
                finder.choose_hit();
                self.finder = Some(finder);
                Some(Left::Finder)
            }
            (over, _) => Some(Left::Other(Box::new(over))),
        }
    }

    /// Goes back to the list that was left, at its row.
    pub(super) fn return_to_list(&mut self) {
        match self.left.take() {
            Some(Left::Finder) => {
                self.finder.take().into_iter().for_each(|finder| self.over.put(Overlay::Finder(finder)))
            }
            Some(Left::Compare(spots)) => {
                self.compared.take().into_iter().for_each(|compare| self.over.put(Overlay::Compare(compare)));
                self.over.put(Overlay::Spots(spots));
            }
            Some(Left::Other(over)) => self.over.put(*over),
            None => {}
        }
        self.settle();
    }

    /// Keeps a search that was closed: its hits can still be gone through.
    pub(super) fn keep_search(&mut self, mut closed: Finder) {
        closed.quest.run = None;
        self.finder = Some(closed).filter(|finder| finder.chosen().is_some()).or(self.finder.take());
    }

    /// Goes to the next hit or the one before: in a filtered pane, or else of the last search, over reports.
    pub(super) fn step_hit(&mut self, forward: bool) -> Vec<Effect> {
        if self.filter().is_some() {
            self.step_wanted(forward);
            return Vec::new();
        }
        if let Some(finder) = &mut self.finder {
            finder.step(forward);
        }
        let effects = self.go_to_found();
        self.left = Some(Left::Finder);
        effects
    }

    /// Whether the hits of a search are gone through, one after another.
    #[must_use]
    pub fn goes_through_hits(&self) -> bool {
        self.over.is_empty() && matches!(self.left, Some(Left::Finder))
    }

    /// Whether there is a hit to go to with the next key.
    #[must_use]
    pub fn has_hits(&self) -> bool {
        self.filter().is_some() || self.hit().is_some()
    }

    /// Which hit of the last search is chosen, counted from 1, and how many there are; none where they are of another report.
    #[must_use]
    pub fn hit(&self) -> Option<(u64, u64)> {
        let here = self.open().map(|open| open.opening);
        let finder = self.finder.as_ref().filter(|finder| finder.is_held || finder.of == here)?;
        finder.chosen()?;
        Some((finder.number(), finder.count()))
    }
}
