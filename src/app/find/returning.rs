//! The way back: a list that was left for one of its rows comes back as it was left.

use crate::app::files::OpenFile;
use crate::app::find::Finder;
use crate::app::over::{NotableScope, Spots};
use crate::app::{Model, Opening, Overlay};
use crate::report::identifier::Sha256;

/// A list that was left for one of its rows.
#[derive(Debug)]
pub(in crate::app) enum ReturnPoint {
    /// The hits of the last search.
    Finder,
    /// Where an item of the comparison was seen.
    Compare {
        /// The file whose comparison it is: the row may be of the one that it was compared with. None for a document.
        file: Option<Sha256>,
        spots: Spots,
    },
    Other {
        /// The opening whose rows it shows, where they are those of the report that was open.
        of: Option<Opening>,
        /// The list, above what it was opened from.
        over: Vec<Overlay>,
    },
}

impl Model {
    /// What the list that was left is called, where going back leads to one.
    pub fn way_back(&self) -> Option<&'static str> {
        let is_here = self.over.is_empty() && !self.is_zoomed() && self.filter().is_none();
        let left = self.shown()?.left.as_ref().filter(|left| is_here && self.is_there(left))?;
        Some(match left {
            ReturnPoint::Finder => "back to the hits",
            ReturnPoint::Compare { .. } => "back to the comparison",
            ReturnPoint::Other { over, .. } if matches!(over.last(), Some(Overlay::Indicators(_))) => {
                "back to the indicators"
            }
            ReturnPoint::Other { .. } => "back to the list",
        })
    }

    /// Whether a list that was left can still come back: its file may be closed, its report another.
    fn is_there(&self, left: &ReturnPoint) -> bool {
        match left {
            ReturnPoint::Finder => self.search().is_some(),
            ReturnPoint::Compare { file, .. } => {
                let file = file.as_ref().map_or_else(|| self.shown(), |file| self.files.of(file));
                file.is_some_and(|file| file.compared.is_some())
            }
            ReturnPoint::Other { of, .. } => of.is_none() || *of == self.open().map(|open| open.opening),
        }
    }

    /// Leaves the list that is over the screen for one of its rows.
    pub(in crate::app) fn leave_list(&mut self) -> Option<ReturnPoint> {
        let over = self.over.close()?;
        let mut below = self.over.clear();
        match (over, below.pop()) {
            (Overlay::Spots(spots), Some(Overlay::Compare(compare))) => {
                self.keep_comparison(compare);
                Some(ReturnPoint::Compare { file: self.file().cloned(), spots })
            }
            (Overlay::Finder(mut finder), _) => {
                finder.choose_hit();
                self.keep_search(finder);
                Some(ReturnPoint::Finder)
            }
            (over, next) => {
                let over: Vec<_> = below.into_iter().chain(next).chain([over]).collect();
                let is_of_report = over.iter().any(|over| match over {
                    Overlay::Spots(spots) => spots.source.notable == Some(NotableScope::Open),
                    over => matches!(over, Overlay::Indicators(_)),
                });
                let of = self.open().map(|open| open.opening).filter(|_| is_of_report);
                Some(ReturnPoint::Other { of, over })
            }
        }
    }

    /// Notes which list was left for the row that is shown now.
    pub(in crate::app) fn set_left(&mut self, left: Option<ReturnPoint>) {
        if let Some(file) = self.files.shown_mut() {
            file.left = left;
        }
    }

    /// Goes back to the list that was left, at its row, and to the file that it is of.
    pub(in crate::app) fn return_to_list(&mut self) {
        match self.files.shown_mut().and_then(|file| file.left.take()) {
            Some(ReturnPoint::Finder) => {
                let is_held = self.search().is_some_and(|finder| finder.is_held);
                let finder = self.kept_search(is_held).and_then(Option::take);
                // The user comes back to the hits: the next key is none of the words.
                let hits = finder.map(|finder| Finder { is_typed: false, is_suggested: false, ..finder });
                hits.into_iter().for_each(|hits| self.over.put(hits));
            }
            Some(ReturnPoint::Compare { file, spots }) => {
                file.into_iter().for_each(|file| self.open_file(file));
                let compare = self.files.shown_mut().and_then(|file| file.compared.take());
                compare.into_iter().for_each(|compare| self.over.put(compare));
                self.over.put(spots);
            }
            Some(ReturnPoint::Other { over, .. }) => over.into_iter().for_each(|over| self.over.put(over)),
            None => {}
        }
        self.settle();
    }

    /// The last search with hits here: of the open report, or else of all stored reports.
    pub(super) fn search(&self) -> Option<&Finder> {
        let file = self.shown();
        let here = file.and_then(OpenFile::open).map(|open| open.opening);
        file.and_then(|file| file.finder.as_ref()).filter(|finder| finder.of == here).or(self.finder.as_ref())
    }

    /// Where the last search is kept: with its file, or for all of them.
    pub(super) fn kept_search(&mut self, is_held: bool) -> Option<&mut Option<Finder>> {
        if is_held { Some(&mut self.finder) } else { self.files.shown_mut().map(|file| &mut file.finder) }
    }

    /// Keeps a search that is left or closed: its hits can still be gone through.
    pub(in crate::app) fn keep_search(&mut self, finder: Finder) {
        if finder.chosen().is_none() {
            return;
        }
        if finder.is_held {
            self.prefer_held_search();
        } else {
            self.sought = finder.quest.unsought();
        }
        if let Some(kept) = self.kept_search(finder.is_held) {
            *kept = Some(finder);
        }
    }

    /// Forgets the search of the file that is shown, as another is gone through.
    pub(super) fn prefer_held_search(&mut self) {
        self.files.shown_mut().into_iter().for_each(|file| file.finder = None);
    }

    /// Goes to the next hit or the one before: in a filtered pane, or else of the last search, over reports.
    pub(in crate::app) fn step_hit(&mut self, forward: bool) {
        if self.filter().is_some() {
            self.step_wanted(forward);
            return;
        }
        let is_held = self.search().is_some_and(|finder| finder.is_held);
        let finder = self.kept_search(is_held).and_then(Option::as_mut);
        finder.into_iter().for_each(|finder| finder.step(forward));
        self.go_to_found();
        self.set_left(Some(ReturnPoint::Finder));
    }

    /// Whether the hits of a search are gone through, one after another.
    pub fn goes_through_hits(&self) -> bool {
        self.over.is_empty() && self.shown().is_some_and(|file| matches!(file.left, Some(ReturnPoint::Finder)))
    }

    /// Whether there is a hit to go to with the next key.
    pub fn has_hits(&self) -> bool {
        self.filter().is_some() || self.hit().is_some()
    }

    /// Which hit of the last search is chosen, counted from 1, and how many there are.
    pub fn hit(&self) -> Option<(u64, u64)> {
        let finder = self.search()?;
        finder.chosen()?;
        Some((finder.number(), finder.count()))
    }
}
