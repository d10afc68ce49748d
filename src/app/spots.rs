//! A list of rows to go to: where an item was seen, what deserves a look, what names a process.

use super::list::List;
use super::message::Effect;
use super::model::{Focus, Model, Screen};
use super::overlay::Overlay;
use super::panes::{Move, Scroll};
use crate::report::Place;
use crate::report::Row;
use crate::report::identifier::{Identifier, Sha256};
use std::borrow::Cow;

/// Rows to go to.
#[derive(Debug)]
pub struct Spots {
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
    /// The row; none for the report itself.
    pub place: Option<Place>,
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

impl Spots {
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
    pub(super) fn go_to_spot(&mut self) -> Vec<Effect> {
        let Some(target) = (match &self.overlay {
            Some(Overlay::Spots(spots)) => spots.chosen().cloned(),
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
        let is_elsewhere = target.file.as_ref().is_some_and(|file| self.file() != Some(file));
        // What is open beside it is here already, and is not recalled.
        let is_aside = |file: &Sha256| self.list_of(file).is_some_and(|list| !list.entries.is_empty());
        let is_here = !is_elsewhere || target.file.as_ref().is_some_and(is_aside);
        let mut effects = match &target.file {
            // Nothing is done where it is open already, but that it is brought to the screen.
            Some(file) if is_elsewhere || self.screen == Screen::Start => self.open_file(file.clone()),
            _ => Vec::new(),
        };
        let is_chosen = self.list.as_ref().is_some_and(|list| entry_of(list, &target) == Some(list.scroll.cursor));
        self.bound_for = Some(target);
        if is_here {
            self.is_zoomed &= is_chosen;
            effects.extend(self.go_on());
        }
        effects
    }

    /// Goes on towards a row, after its file's reports were found: first its report is chosen, then the row.
    pub(super) fn go_on(&mut self) -> Vec<Effect> {
        let Some(target) = self.bound_for.clone() else { return Vec::new() };
        let chosen = self.list.as_ref().map(|list| (entry_of(list, &target), list.scroll.cursor));
        let effects = match chosen {
            Some((Some(entry), cursor)) if entry != cursor || target.place.is_none() => self.choose_entry(entry),
            Some((Some(_), _)) => self.show_chosen(),
            Some((None, _)) | None => {
                self.bound_for = None;
                self.warn("That report is not held any more.");
                self.show_chosen()
            }
        };
        self.arrive();
        effects
    }

    /// Chooses a sandbox by its place in the list.
    fn choose_entry(&mut self, entry: usize) -> Vec<Effect> {
        self.focus = Focus::List;
        let height = self.height();
        let Some(list) = &mut self.list else { return Vec::new() };
        let count = list.count();
        list.scroll.go(Move::First, count, height);
        list.scroll.go(Move::Down(entry), count, height);
        self.show_chosen()
    }

    /// Puts the cursor on the row that it is bound for, once that has been found.
    pub(super) fn arrive(&mut self) {
        let Some(target) = self.bound_for.clone() else { return };
        let is_its_file = target.file.is_none() || target.file.as_ref() == self.file();
        let is_chosen = self.list.as_ref().is_some_and(|list| entry_of(list, &target) == Some(list.scroll.cursor));
        if !is_its_file || !is_chosen {
            return;
        }
        let Some(place) = target.place else {
            self.bound_for = None;
            return;
        };
        let Some(report) = self.open().map(|open| &open.report) else { return };
        let is_found = report.section(place.section).is_some_and(|section| section.len() > place.row);
        if is_found || report.index.is_complete {
            self.bound_for = None;
        }
        if is_found {
            self.show_row(place);
        }
    }
}

/// Place of a target's report in a list; none for one that is not in it.
fn entry_of(list: &List, target: &Target) -> Option<usize> {
    match &target.identifier {
        Some(identifier) => list.entries.iter().position(|entry| entry.identifier.as_ref() == Some(identifier)),
        None => Some(target.entry).filter(|entry| *entry < list.entries.len()),
    }
}
