//! A report during its download: it shows like any other, but nothing of it is stored yet.

use crate::app::files::OpenFile;
use crate::app::{Entry, Failure, Focus, Here, Model, OpenReport};
use crate::report::body::Body;
use crate::report::identifier::Identifier;
use crate::report::index::Batch;
use crate::request::Request;
use std::ops::Range;

impl OpenReport {
    /// Adds a part that continues the last one.
    fn add(&mut self, body: Body, read: Range<usize>, batch: Batch) {
        if self.coming == Some(read.start) {
            self.coming = Some(read.end);
            self.report.body = body;
            self.absorb(batch);
        }
    }

    /// Adds rows that were found.
    pub(in crate::app) fn absorb(&mut self, batch: Batch) {
        self.report.absorb(batch);
        for (pane, state) in &mut self.panes {
            if state.folds().any() || !state.sieve().is_open() {
                state.refresh(&self.report, *pane);
            }
        }
    }

    /// Whether every row of these bytes is indexed: then the report stays open.
    pub(in crate::app) fn settle(&mut self, here: &Here) -> bool {
        let is_whole = self.coming == Some(here.body.len()) && self.report.index.is_complete;
        if is_whole {
            self.coming = None;
        }
        is_whole
    }
}

impl Entry {
    /// Drops a partial report; returns whether there was one.
    fn forget_arriving(&mut self) -> bool {
        self.open.take_if(|open| open.coming.is_some()).is_some()
    }
}

impl OpenFile {
    /// Records the failure of a report, and leaves its partial view.
    pub(in crate::app) fn take_failure(&mut self, identifier: &Identifier, failure: &Failure) {
        let Some(entry) = self.list.entry_mut(identifier) else { return };
        entry.failure = Some(failure.clone());
        if entry.forget_arriving() {
            self.turn_back();
        }
    }

    /// Gives the focus to the list where the partial report had it.
    fn turn_back(&mut self) {
        if self.focus != Focus::List && self.open().is_none() {
            (self.focus, self.is_zoomed) = (Focus::List, false);
        }
    }
}

impl Model {
    /// Shows rows of a report during its download, in every file that lists it. A stored one stays until the new one is whole.
    pub(in crate::app) fn arriving(&mut self, request: &Request, body: Body, read: Range<usize>, batch: Batch) {
        let Request::Behaviour { identifier } = request else { return };
        self.calls.receive(request, body.len() as u64, None);
        let is_first = read.start == 0;
        let count = self.files.each_entry_mut(identifier).count();
        let fresh: Vec<_> = (0..count).map(|_| self.next_opening()).collect();
        let mut openings = Vec::new();
        let entries = self.files.each_entry_mut(identifier).zip(fresh);
        for (entry, opening) in entries.filter(|(entry, _)| entry.here().is_none()) {
            if is_first {
                entry.open = Some(OpenReport { coming: Some(0), ..OpenReport::new(opening, body.clone(), &[]) });
            }
            if let Some(open) = &mut entry.open {
                open.add(body.clone(), read.clone(), batch.clone());
                openings.push(open.opening);
            }
        }
        if is_first && !openings.is_empty() {
            self.turn_to(identifier);
        }
        openings.into_iter().for_each(|opening| self.seek_further(opening));
    }

    /// Goes from the list into a report that was asked for there, unless the analyst has gone elsewhere.
    pub(in crate::app) fn turn_to(&mut self, identifier: &Identifier) {
        let is_chosen = self.chosen().is_some_and(|chosen| chosen.identifier.as_ref() == Some(identifier));
        if is_chosen && self.batch.is_none() && self.focus() == Focus::List && self.over.is_empty() {
            self.enter_group();
        }
    }
}
