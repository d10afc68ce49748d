//! Files that are open beside each other: one is shown, the others keep their place.

use super::compare::Compare;
use super::effect::Effect;
use super::list::{Entry, List, OpenReport};
use super::message::{Failure, Opening};
use super::model::{Focus, Model, Screen};
use super::notes::FileNotes;
use crate::report::identifier::{Identifier, Sha256};

/// The most files that are open at once; the one that was opened first is closed for another.
const MOST: usize = 20;

/// A file that is open and not shown, as it was left.
#[derive(Debug)]
pub struct Aside {
    list: List,
    notes: FileNotes,
    focus: Focus,
    group: usize,
    is_zoomed: bool,
    failure: Option<Failure>,
    compared: Option<Box<Compare>>,
}

/// The files that are open and not shown, in the order in which all were opened.
#[derive(Debug, Default)]
pub struct Files {
    aside: Vec<Aside>,
    /// Where the one that is shown stands among them.
    shown: usize,
}

impl Files {
    /// How many are open beside the one that is shown.
    #[must_use]
    pub fn beside(&self) -> usize {
        self.aside.len()
    }

    fn lists(&mut self) -> impl Iterator<Item = &mut List> {
        self.aside.iter_mut().map(|aside| &mut aside.list)
    }
}

impl Model {
    /// Which of the open files is shown, from 1, and how many there are; none where there is one alone.
    #[must_use]
    pub fn file_number(&self) -> Option<(usize, usize)> {
        let beside = self.files.beside();
        (beside > 0).then_some((self.files.shown + 1, beside + 1))
    }

    /// Shows the file so many places further, round and round.
    pub(super) fn step_file(&mut self, by: isize) -> Vec<Effect> {
        let count = self.files.beside() + 1;
        let Some(target) = self.files.shown.checked_add_signed(by.rem_euclid(count.cast_signed())) else {
            return Vec::new();
        };
        self.show_file(target % count)
    }

    /// Shows the file at this place among all that are open, as it was left.
    fn show_file(&mut self, place: usize) -> Vec<Effect> {
        if place != self.files.shown {
            self.note_folds();
            let Some(list) = self.list.take() else { return Vec::new() };
            let left = self.leave(list);
            let at = self.files.shown.min(self.files.aside.len());
            self.files.aside.insert(at, left);
            self.take_back(place);
        }
        self.screen = Screen::File;
        self.settle();
        self.show_chosen()
    }

    /// The state of the file that is shown, to be kept.
    fn leave(&mut self, list: List) -> Aside {
        self.over.clear();
        self.bound_for = None;
        Aside {
            list,
            notes: std::mem::take(&mut self.notes),
            focus: std::mem::replace(&mut self.focus, Focus::List),
            group: self.group,
            is_zoomed: std::mem::take(&mut self.is_zoomed),
            failure: self.list_failure.take(),
            compared: self.compared.take(),
        }
    }

    /// Shows the file at this place among all, which are aside.
    fn take_back(&mut self, place: usize) {
        if place >= self.files.aside.len() {
            return;
        }
        let Aside { mut list, notes, focus, group, is_zoomed, failure, compared } = self.files.aside.remove(place);
        list.close_unfinished();
        self.files.shown = place;
        (self.list, self.notes, self.list_failure, self.compared) = (Some(list), notes, failure, compared);
        (self.focus, self.group, self.is_zoomed) = (focus, group, is_zoomed);
    }

    /// Opens a file beside those that are open, or goes back to it where it is open already; says whether it is new.
    pub(super) fn open_beside(&mut self, file: &Sha256) -> bool {
        if self.file() == Some(file) {
            return false;
        }
        let all = self.files.aside.iter().position(|aside| aside.list.file() == Some(file));
        // Those behind the one that is shown stand one place further among all.
        let place = all.map(|place| if place >= self.files.shown && self.list.is_some() { place + 1 } else { place });
        if let Some(place) = place {
            self.show_file(place);
            return false;
        }
        self.note_folds();
        if let Some(list) = self.list.take_if(|list| list.file().is_some()) {
            let left = self.leave(list);
            let at = self.files.shown.min(self.files.aside.len());
            self.files.aside.insert(at, left);
        }
        if self.files.aside.len() >= MOST {
            self.files.aside.remove(0);
        }
        self.files.shown = self.files.aside.len();
        true
    }

    /// Opens files beside each other, and shows the first of them.
    pub fn open_files(&mut self, files: Vec<Sha256>) -> Vec<Effect> {
        let first = files.first().cloned();
        let mut effects: Vec<Effect> = files.into_iter().flat_map(|file| self.open_file(file)).collect();
        effects.extend(first.map(|file| self.open_file(file)).unwrap_or_default());
        effects
    }

    /// Closes the file that is shown, and shows another that is open; the start screen where there is none.
    pub(super) fn close_file(&mut self) -> Vec<Effect> {
        let file = self.file().cloned();
        self.follows.retain(|follow| Some(&follow.file) != file.as_ref());
        self.note_folds();
        let Some(list) = self.list.take() else { return Vec::new() };
        drop(self.leave(list));
        if self.files.aside.is_empty() {
            return self.leave_file();
        }
        let place = self.files.shown.min(self.files.aside.len() - 1);
        self.take_back(place);
        self.settle();
        self.show_chosen()
    }

    /// The list of a file that is open.
    pub(super) fn list_of_mut(&mut self, file: &Sha256) -> Option<&mut List> {
        self.list.iter_mut().chain(self.files.lists()).find(|list| list.file() == Some(file))
    }

    /// The list of a file that is open.
    pub(super) fn list_of(&self, file: &Sha256) -> Option<&List> {
        self.list.iter().chain(self.files.aside.iter().map(|aside| &aside.list)).find(|list| list.file() == Some(file))
    }

    /// A sandbox of any file that is open.
    pub(super) fn entry_mut(&mut self, identifier: &Identifier) -> Option<&mut Entry> {
        self.list.iter_mut().chain(self.files.lists()).find_map(|list| list.entry_mut(identifier))
    }

    /// A report that is open, be its file shown or not.
    pub(super) fn opened_mut(&mut self, opening: Opening) -> Option<&mut OpenReport> {
        self.list.iter_mut().chain(self.files.lists()).find_map(|list| list.opened_mut(opening))
    }

    /// The notes of a file that is open and not shown.
    pub(super) fn notes_aside(&mut self, file: &Sha256) -> Option<&mut FileNotes> {
        let aside = self.files.aside.iter_mut().find(|aside| aside.list.file() == Some(file));
        aside.map(|aside| &mut aside.notes)
    }
}
