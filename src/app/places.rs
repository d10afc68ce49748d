//! A list of rows to go to: where an item was seen, what deserves a look, what names a process.

use super::list::List;
use super::message::Effect;
use super::model::{Focus, Model};
use super::overlay::Overlay;
use super::panes::{Move, Scroll};
use crate::report::Place;
use crate::report::Row;
use crate::report::identifier::{Identifier, Sha256};
use std::borrow::Cow;

/// Rows to go to.
#[derive(Debug)]
pub struct Places {
    /// What they have in common.
    pub title: String,
    /// The rows, and words between them.
    pub spots: Vec<Spot>,
    /// Cursor and window.
    pub scroll: Scroll,
    /// Whether more may come.
    pub is_complete: bool,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct Spot {
    /// Our own words before it.
    pub head: Cow<'static, str>,
    /// What it shows.
    pub shows: Shows,
    /// Where it leads; nowhere for mere words.
    pub target: Option<Target>,
}

/// What a spot shows.
#[derive(Debug, Clone)]
pub enum Shows {
    /// Our own words.
    Words(Cow<'static, str>),
    /// A row that has been decoded.
    Row(Row),
    /// A row of the open report, decoded when it is looked at.
    Open(Place),
}

/// A row of a report, be it open or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The file; none for the one that is open.
    pub file: Option<Sha256>,
    /// The report.
    pub identifier: Option<Identifier>,
    /// The report's place in the list, where it has no identifier.
    pub entry: usize,
    /// The row.
    pub place: Place,
}

impl Spot {
    /// Words that lead nowhere.
    #[must_use]
    pub fn words(head: impl Into<Cow<'static, str>>, words: impl Into<Cow<'static, str>>) -> Self {
        Self { head: head.into(), shows: Shows::Words(words.into()), target: None }
    }

    /// A row that has been decoded.
    #[must_use]
    pub fn row(head: impl Into<Cow<'static, str>>, row: Row, target: Target) -> Self {
        Self { head: head.into(), shows: Shows::Row(row), target: Some(target) }
    }
}

impl Places {
    /// A list, the cursor on the first row that leads somewhere.
    #[must_use]
    pub fn new(title: impl Into<String>, spots: Vec<Spot>) -> Self {
        let cursor = spots.iter().position(|spot| spot.target.is_some()).unwrap_or(0);
        Self { title: title.into(), spots, scroll: Scroll { cursor, top: 0 }, is_complete: true }
    }

    /// Moves.
    pub fn go(&mut self, movement: Move, height: usize) {
        self.scroll.go(movement, self.spots.len(), height);
    }

    /// Where the chosen row leads.
    #[must_use]
    pub fn chosen(&self) -> Option<&Target> {
        self.spots.get(self.scroll.cursor)?.target.as_ref()
    }
}

impl Model {
    /// Goes to the chosen row of the list.
    pub(super) fn go_to_place(&mut self) -> Vec<Effect> {
        let Some(target) = (match &self.overlay {
            Some(Overlay::Places(places)) => places.chosen().cloned(),
            _ => None,
        }) else {
            return Vec::new();
        };
        // A comparison comes back with its key.
        for overlay in self.behind.drain(..) {
            if let Overlay::Compare(compare) = overlay {
                self.compared = Some(compare);
            }
        }
        self.overlay = None;
        self.go_to(target)
    }

    /// Goes to a row, be its report open or not, its file the one that is open or another whose reports are held.
    pub(super) fn go_to(&mut self, target: Target) -> Vec<Effect> {
        self.is_zoomed = false;
        let effects = match target.file.clone().filter(|file| self.file() != Some(file)) {
            Some(file) => self.open_file(file),
            None => self.choose_target(&target),
        };
        self.bound_for = Some(target);
        self.arrive();
        effects
    }

    /// Chooses the sandbox that a target is of.
    fn choose_target(&mut self, target: &Target) -> Vec<Effect> {
        self.focus = Focus::List;
        let height = self.height();
        let Some(list) = &mut self.list else { return Vec::new() };
        let entry = entry_of(list, target);
        let count = list.count();
        list.scroll.go(Move::First, count, height);
        list.scroll.go(Move::Down(entry), count, height);
        self.show_chosen()
    }

    /// Goes on towards a row, after its file's reports were found.
    pub(super) fn go_on(&mut self) -> Vec<Effect> {
        let target =
            self.bound_for.clone().filter(|target| target.file.is_none() || target.file.as_ref() == self.file());
        target.map(|target| self.choose_target(&target)).unwrap_or_default()
    }

    /// Puts the cursor on the row that it is bound for, once that has been found.
    pub(super) fn arrive(&mut self) {
        let Some(target) = self.bound_for.clone() else { return };
        let is_its_file = target.file.is_none() || target.file.as_ref() == self.file();
        let is_chosen = self.list.as_ref().is_some_and(|list| entry_of(list, &target) == list.scroll.cursor);
        let place = target.place;
        let found = self.open().and_then(|open| open.report.section(place.section));
        if found.is_none_or(|section| !is_its_file || !is_chosen || section.len() <= place.row) {
            return;
        }
        self.bound_for = None;
        self.show_row(place);
    }
}

/// Place of a target's report in a list.
fn entry_of(list: &List, target: &Target) -> usize {
    let by_name = |identifier: &Identifier| list.entries.iter().position(|e| e.identifier.as_ref() == Some(identifier));
    target.identifier.as_ref().and_then(by_name).unwrap_or(target.entry)
}
