//! The way back: a list that was left for one of its rows comes back as it was left.

use super::effect::Effect;
use super::model::Model;
use super::overlay::Overlay;
use super::spots::Spots;

/// A list that was left for one of its rows.
#[derive(Debug)]
pub(super) enum Left {
    /// The hits of the last search.
    Search,
    /// Where an item of the comparison was seen.
    Comparison(Spots),
    /// Any other.
    List(Box<Overlay>),
}

impl Model {
    /// What the list that was left is called, where going back leads to one.
    #[must_use]
    pub fn way_back(&self) -> Option<&'static str> {
        let is_here = self.overlay.is_none() && !self.is_zoomed && self.filter().is_none();
        let left = self.left.as_ref().filter(|_| is_here)?;
        Some(match left {
            Left::Search => "back to the hits",
            Left::Comparison(_) => "back to the comparison",
            Left::List(over) if matches!(**over, Overlay::Indicators(_)) => "back to the indicators",
            Left::List(_) => "back to the list",
        })
    }

    /// Leaves the list that is over the screen for one of its rows.
    pub(super) fn leave_list(&mut self) -> Option<Left> {
        let over = self.overlay.take()?;
        let behind = std::mem::take(&mut self.behind);
        let comparison = behind.into_iter().find_map(|over| match over {
            Overlay::Compare(compare) => Some(compare),
            _ => None,
        });
        match (over, comparison) {
            (Overlay::Spots(places), Some(compare)) => {
                self.compared = Some(compare);
                Some(Left::Comparison(places))
            }
            (Overlay::Finder(mut finder), _) => {
                finder.choose_hit();
                self.finder = Some(finder);
                Some(Left::Search)
            }
            (over, _) => Some(Left::List(Box::new(over))),
        }
    }

    /// Goes back to the list that was left, at its row.
    pub(super) fn return_to_list(&mut self) {
        match self.left.take() {
            Some(Left::Search) => self.overlay = self.finder.take().map(Overlay::Finder),
            Some(Left::Comparison(places)) => {
                self.behind.extend(self.compared.take().map(Overlay::Compare));
                self.overlay = Some(Overlay::Spots(places));
            }
            Some(Left::List(over)) => self.overlay = Some(*over),
            None => {}
        }
        self.settle();
    }

    /// Keeps a search that was closed: its hits can still be gone through.
    pub(super) fn keep_search(&mut self, closed: Overlay) {
        if let Overlay::Finder(mut finder) = closed {
            finder.quest.run = None;
            self.finder = Some(finder).filter(|finder| finder.chosen().is_some()).or(self.finder.take());
        }
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
        self.left = Some(Left::Search);
        effects
    }

    /// Whether the hits of a search are gone through, one after another.
    #[must_use]
    pub fn goes_through_hits(&self) -> bool {
        self.overlay.is_none() && matches!(self.left, Some(Left::Search))
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
