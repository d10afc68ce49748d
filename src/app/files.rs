//! Files that are open beside each other: one is shown, the others keep their place. What belongs to one of them is kept with it and
//! nowhere else, so that it goes aside and comes back whole.

use crate::app::compare::Compare;
use crate::app::find::Finder;
use crate::app::find::finding::ReturnPoint;
use crate::app::model::OpenDocument;
use crate::app::over::Target;
use crate::app::panes::PaneOrder;
use crate::app::{
    Failure, Focus, List, ListEntry, LoadedReport, Model, OpenReport, Opening, Overlay, Screen, StoreJob,
};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Holding, Pane};
use crate::text::Untrusted;
use std::collections::{HashMap, HashSet};

/// The most files that are open at once; the one that was opened first is closed for another.
const MOST: usize = 20;

#[derive(Debug)]
pub struct OpenFile {
    pub list: List,
    pub focus: Focus,
    /// The group of four panes that is shown.
    pub(super) group: usize,
    pub is_zoomed: bool,
    /// The comparison that was left for one of its rows.
    pub(super) compared: Option<Compare>,
    /// The last search of one of its reports that was left for one of its hits.
    pub(super) finder: Option<Finder>,
    /// The list that was left for one of its rows.
    pub(super) left: Option<ReturnPoint>,
    /// Whether its scan was followed to its end.
    pub(super) is_scanned: bool,
}

impl OpenFile {
    pub fn new(list: List) -> Self {
        Self {
            list,
            focus: Focus::List,
            group: 0,
            is_zoomed: false,
            compared: None,
            finder: None,
            left: None,
            is_scanned: false,
        }
    }

    pub fn open(&self) -> Option<&OpenReport> {
        self.list.chosen().and_then(|entry| entry.open.as_ref())
    }

    pub fn focused(&self) -> Option<Pane> {
        match self.focus {
            Focus::Pane(pane) => Some(pane),
            Focus::List => None,
        }
    }

    pub fn order(&self) -> PaneOrder {
        PaneOrder::of(self.open().map(|open| &open.report).filter(|report| report.index.is_complete))
    }

    /// The group of panes that is shown: that of the pane with the focus, or the one that was left for the list.
    pub(super) fn group_in(&self, order: &PaneOrder) -> usize {
        let focused = self.focused().and_then(|pane| order.group_of(pane));
        focused.unwrap_or_else(|| self.group.min(order.groups().saturating_sub(1)))
    }

    pub(super) fn focus_pane(&mut self, pane: Pane) {
        self.focus = Focus::Pane(pane);
        self.group = self.order().group_of(pane).unwrap_or(self.group);
    }

    /// Lets go of the reports that are here and not among these; says whether there was one.
    fn let_go(&mut self, held: &HashSet<&Identifier>) -> bool {
        let is_changed = self.list.let_go(held);
        if is_changed {
            (self.compared, self.finder, self.left) = (None, None, None);
        }
        if self.open().is_none() {
            (self.focus, self.is_zoomed) = (Focus::List, false);
        }
        is_changed
    }

    pub(super) fn leave_empty_pane(&mut self, opening: Opening) {
        let open = self.open().filter(|open| open.opening == opening);
        let is_empty = |pane| open.is_some_and(|open| open.report.count(pane) == 0);
        if self.focused().is_some_and(is_empty) {
            self.order().first(0).into_iter().for_each(|pane| self.focus_pane(pane));
        }
    }

    pub(super) fn take_failure(&mut self, identifier: &Identifier, failure: &Failure) {
        let Some(entry) = self.list.entry_mut(identifier) else { return };
        entry.failure = Some(failure.clone());
        let is_partial = entry.open.take_if(|open| open.coming.is_some()).is_some();
        if is_partial && self.open().is_none() {
            (self.focus, self.is_zoomed) = (Focus::List, false);
        }
    }
}

#[derive(Debug, Default)]
pub struct OpenFiles {
    all: Vec<OpenFile>,
    shown: usize,
}

impl OpenFiles {
    /// The file that is shown, or was before the start screen.
    pub fn shown(&self) -> Option<&OpenFile> {
        self.all.get(self.shown)
    }

    pub(super) fn shown_mut(&mut self) -> Option<&mut OpenFile> {
        self.all.get_mut(self.shown)
    }

    pub(super) fn list_mut(&mut self) -> Option<&mut List> {
        self.shown_mut().map(|file| &mut file.list)
    }

    pub(super) fn open_mut(&mut self) -> Option<&mut OpenReport> {
        self.list_mut().and_then(List::chosen_mut).and_then(|entry| entry.open.as_mut())
    }

    pub(super) fn focus_list(&mut self) {
        self.shown_mut().into_iter().for_each(|file| file.focus = Focus::List);
    }

    pub fn focus_pane(&mut self, pane: Pane) {
        self.shown_mut().into_iter().for_each(|file| file.focus_pane(pane));
    }

    pub(super) fn enter_group(&mut self) {
        let first = self.order().first(self.shown_group());
        first.into_iter().for_each(|pane| self.focus_pane(pane));
    }

    pub fn is_zoomed(&self) -> bool {
        self.shown().is_some_and(|file| file.is_zoomed)
    }

    pub(super) fn zoom(&mut self, is_zoomed: bool) {
        self.shown_mut().into_iter().for_each(|file| file.is_zoomed = is_zoomed);
    }

    pub fn order(&self) -> PaneOrder {
        self.shown().map_or_else(|| PaneOrder::of(None), OpenFile::order)
    }

    pub(super) fn shown_group(&self) -> usize {
        self.shown().map_or(0, |file| file.group_in(&file.order()))
    }

    /// Which of them is shown, from 1, and how many there are; none where there is one alone.
    pub fn number(&self) -> Option<(usize, usize)> {
        self.are_several().then_some((self.shown + 1, self.all.len()))
    }

    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    pub(super) fn open(&mut self, file: OpenFile) {
        self.shown = self.all.len();
        self.all.push(file);
    }

    /// Takes one away; the one that is shown stays, or the one behind it takes its place.
    fn close(&mut self, place: usize) -> Option<OpenFile> {
        let closed = (place < self.all.len()).then(|| self.all.remove(place))?;
        let shown = if place < self.shown { self.shown - 1 } else { self.shown };
        self.shown = shown.min(self.all.len().saturating_sub(1));
        Some(closed)
    }

    fn place_of(&self, file: &Sha256) -> Option<usize> {
        self.all.iter().position(|open| open.list.file() == Some(file))
    }

    pub(super) fn of(&self, file: &Sha256) -> Option<&OpenFile> {
        self.all.get(self.place_of(file)?)
    }

    pub(super) fn of_mut(&mut self, file: &Sha256) -> Option<&mut OpenFile> {
        let place = self.place_of(file)?;
        self.all.get_mut(place)
    }

    pub(super) fn list_of(&self, file: &Sha256) -> Option<&List> {
        self.of(file).map(|open| &open.list)
    }

    pub(super) fn list_of_mut(&mut self, file: &Sha256) -> Option<&mut List> {
        self.of_mut(file).map(|open| &mut open.list)
    }

    pub(super) fn listing_mut(&mut self, identifier: &Identifier) -> impl Iterator<Item = &mut OpenFile> {
        self.all.iter_mut().filter(|open| open.list.place_of(identifier).is_some())
    }

    pub(super) fn each_entry_mut(&mut self, identifier: &Identifier) -> impl Iterator<Item = &mut ListEntry> {
        self.all.iter_mut().filter_map(|open| open.list.entry_mut(identifier))
    }

    /// Takes each report to all that list it: what one list brings along is not paid for again.
    pub(super) fn share_reports(&mut self) {
        if !self.are_several() {
            return;
        }
        let mut newest = HashMap::<Identifier, LoadedReport>::new();
        for entry in self.asked_lists_mut().flat_map(|list| &list.entries) {
            let Some((identifier, report)) = entry.identifier.as_ref().zip(entry.report()) else { continue };
            if newest.get(identifier).is_none_or(|known| known.received < report.received) {
                newest.insert(identifier.clone(), report.clone());
            }
        }
        for (identifier, report) in &newest {
            self.each_entry_mut(identifier).for_each(|entry| entry.take_newer(report));
        }
    }

    fn asked_lists_mut(&mut self) -> impl Iterator<Item = &mut List> {
        self.all.iter_mut().map(|open| &mut open.list).filter(|list| list.file().is_some())
    }

    pub(super) fn with_opening_mut(&mut self, opening: Opening) -> Option<&mut OpenFile> {
        self.all.iter_mut().find_map(|open| open.list.opened_mut(opening).is_some().then_some(open))
    }

    pub(super) fn finders_mut(&mut self) -> impl Iterator<Item = &mut Finder> {
        self.all.iter_mut().filter_map(|open| open.finder.as_mut())
    }

    pub(super) fn open_entries_mut(&mut self) -> impl Iterator<Item = &mut ListEntry> {
        self.all.iter_mut().flat_map(|open| open.list.open_entries_mut())
    }

    pub(super) fn reports_mut(&mut self) -> impl Iterator<Item = &mut OpenReport> {
        self.open_entries_mut().filter_map(|entry| entry.open.as_mut())
    }

    pub(super) fn opened_mut(&mut self, opening: Opening) -> Option<&mut OpenReport> {
        self.reports_mut().find(|open| open.opening == opening)
    }
}

impl Model {
    pub fn file_name(&self) -> Option<&Untrusted> {
        let file = self.file()?;
        self.start.recent.iter().find(|recent| recent.file == *file)?.name.as_ref()
    }

    /// Shows another file by its distance in the circle of open files.
    pub(super) fn step_file(&mut self, by: isize) {
        let count = self.files.all.len().max(1);
        let target = self.files.shown.checked_add_signed(by.rem_euclid(count.cast_signed()));
        if let Some(target) = target {
            self.show_file(target % count);
        }
    }

    fn show_file(&mut self, place: usize) {
        self.screen = Screen::File;
        if place != self.files.shown {
            self.leave_shown();
            self.files.shown = place;
            self.files.list_mut().into_iter().for_each(List::close_unfinished);
        }
        self.settle();
        self.show_chosen()
    }

    /// Closes the overlays of the file that is shown, as another takes its place.
    fn leave_shown(&mut self) {
        self.note_folds();
        self.over.all.clear();
        self.bound_for = None;
    }

    /// Opens a file from the store alone; an open one is shown as it was left.
    pub fn open_file(&mut self, file: Sha256) {
        self.open_files(vec![file])
    }

    fn open_beside(&mut self, file: Sha256) {
        self.start.typed.clear();
        self.bound_for = None;
        if let Some(place) = self.files.place_of(&file) {
            return self.show_file(place);
        }
        self.screen = Screen::File;
        self.leave_shown();
        if self.is_document() {
            self.close(self.files.shown);
        }
        if self.files.all.len() >= MOST {
            self.close(0);
        }
        self.files.open(OpenFile::new(List::unasked(file.clone())));
        self.emit(StoreJob::LoadFile(file.clone()));
        self.emit(StoreJob::RecordFile(file));
    }

    pub fn open_files(&mut self, files: Vec<Sha256>) {
        let first = files.first().filter(|_| files.len() > 1).cloned();
        let before: Vec<_> = self.files.all.iter().filter_map(|open| open.list.file().cloned()).collect();
        files.into_iter().chain(first).for_each(|file| self.open_beside(file));
        let closed: Vec<_> = before.iter().filter(|file| self.files.of(file).is_none()).map(Sha256::short).collect();
        if !closed.is_empty() {
            self.say(format!("Closed to make room, as at most {MOST} files are open at once: {}.", closed.join(", ")));
        }
    }

    /// Takes what a document has that was shown before all of it was read: as a rule the one report
    /// that it began as.
    pub(super) fn document_read(&mut self, document: OpenDocument, problems: &str) {
        let entry = self.files.list_mut().filter(|list| list.file().is_none()).and_then(List::chosen_mut);
        match (entry, &*document.1) {
            (None, _) | (_, []) => {}
            (Some(entry), [(_, report)]) => entry.take_verdict(report.verdict.as_ref()),
            _ => {
                self.leave_shown();
                self.close(self.files.shown);
                self.open_documents(vec![document]);
            }
        }
        if !problems.is_empty() {
            self.warn(problems.trim_end());
        }
    }

    pub fn open_report(&mut self, file: Sha256, identifier: Identifier) {
        self.go_to(Target { file: Some(file), identifier: Some(identifier), entry: 0, place: None })
    }

    /// Closes the file that is shown, and shows another that is open; the start screen where there is none.
    pub(super) fn close_file(&mut self) {
        self.leave_shown();
        self.close(self.files.shown);
        self.files.list_mut().into_iter().for_each(List::close_unfinished);
        if self.files.all.is_empty() {
            return self.leave_file();
        }
        self.settle();
        self.show_chosen()
    }

    /// Closes the file at this place, with its pending calls.
    fn close(&mut self, place: usize) {
        let closed = self.files.close(place);
        let file = closed.as_ref().and_then(|closed| closed.list.file());
        file.into_iter().for_each(|file| _ = self.follows.end(file));
        if self.batch.as_ref().is_some_and(|batch| batch.file.as_ref() == file) {
            self.stop_batch("The file was closed.");
        }
    }

    /// Drops reports that are not stored any more, and closes files without any.
    pub(super) fn let_go_of_deleted(&mut self, held: &[Holding]) {
        // Imports belong to no service, and are stored for all profiles.
        let ours = || held.iter().filter(|thing| thing.service == self.service.id || thing.is_import());
        let reports: HashSet<_> = ours().filter_map(Holding::report).collect();
        let files: HashSet<_> =
            ours().filter(|thing| thing.is_answer()).filter_map(|thing| thing.file.as_ref()).collect();
        let mut is_changed = false;
        for file in &mut self.files.all {
            is_changed |= file.let_go(&reports);
        }
        let is_empty = |list: &List| {
            let is_known = !list.entries.is_empty();
            is_known && list.stored() == 0 && list.file().is_some_and(|file| !files.contains(file))
        };
        let empty = |files: &OpenFiles| files.all.iter().position(|open| is_empty(&open.list));
        while let Some(place) = empty(&self.files) {
            self.close(place);
            is_changed = true;
        }
        if !is_changed {
            return;
        }
        // Hits and comparisons may quote deleted reports.
        self.finder = None;
        self.bound_for = None;
        self.over.all.retain(|over| matches!(over, Overlay::Held(_)));
        if self.files.all.is_empty() {
            self.screen = Screen::Start;
        }
        self.settle();
        self.show_chosen()
    }
}
