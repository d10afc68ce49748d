//! A report that is still coming: what has come of it is looked at like any other, but nothing of it is held yet.

use super::effect::Effect;
use super::files::OpenFile;
use super::list::{Entry, OpenReport};
use super::message::{Here, Opening};
use super::model::{Focus, Model};
use crate::report::body::Body;
use crate::report::identifier::Identifier;
use crate::report::index::Batch;
use crate::request::Request;
use std::ops::Range;

impl OpenReport {
    /// Adds what came next, if it goes on where the last part ended.
    fn add(&mut self, body: Body, read: Range<u64>, batch: Batch) {
        if self.coming == Some(read.start) {
            self.coming = Some(read.end);
            self.report.body = body;
            self.absorb(batch);
        }
    }

    /// Adds rows that were found.
    pub(super) fn absorb(&mut self, batch: Batch) {
        self.report.absorb(batch);
        for (pane, state) in &mut self.panes {
            if state.folds.any() || !state.sieve().is_open() {
                state.refresh(&self.report, *pane);
            }
        }
    }

    /// Goes over to the bytes that are held, where every row of them has come already; says whether that is so.
    fn settle(&mut self, here: &Here) -> bool {
        let is_whole = self.coming == Some(here.body.len()) && self.report.index.is_complete;
        if is_whole {
            (self.coming, self.report.body) = (None, here.body.clone());
        }
        is_whole
    }
}

impl Entry {
    /// Takes a report that has come whole. It stays open if it is looked at; an older one that was open is closed.
    pub(super) fn take_arrived(&mut self, here: Here, is_chosen: bool) -> Option<Opening> {
        let open = self.open.take_if(|open| is_chosen && open.settle(&here));
        self.take(here);
        self.open = open;
        self.open.as_ref().map(|open| open.opening)
    }

    /// Lets go of what came of a report that did not come whole; says whether there was anything.
    pub(super) fn forget_arriving(&mut self) -> bool {
        self.open.take_if(|open| open.coming.is_some()).is_some()
    }
}

impl OpenFile {
    /// Goes back from what was looked at of a report that did not come whole.
    pub(super) fn turn_back(&mut self) {
        if self.focus != Focus::List && self.open().is_none() {
            (self.focus, self.is_zoomed) = (Focus::List, false);
        }
    }
}

impl Model {
    /// Shows rows of a report that is still coming. One that is held already stays until the new one is whole.
    pub(super) fn arriving(&mut self, request: &Request, body: Body, read: Range<u64>, batch: Batch) -> Vec<Effect> {
        let opening = self.next_opening();
        let Request::Behaviour { identifier } = request else { return Vec::new() };
        self.calls.receive(request, body.len(), None);
        let is_first = read.start == 0;
        let Some(entry) = self.entry_mut(identifier) else { return Vec::new() };
        if entry.here().is_some() {
            return Vec::new();
        }
        if is_first {
            entry.open = Some(OpenReport { coming: Some(0), ..OpenReport::new(opening, body.clone(), &[]) });
        }
        let Some(open) = &mut entry.open else { return Vec::new() };
        open.add(body, read, batch);
        let opening = open.opening;
        if is_first {
            self.turn_to(identifier);
        }
        self.seek_further(opening)
    }

    /// Goes from the list into a report that was asked for there, unless the analyst has gone elsewhere.
    pub(super) fn turn_to(&mut self, identifier: &Identifier) {
        let is_chosen = self.chosen().is_some_and(|chosen| chosen.identifier.as_ref() == Some(identifier));
        if is_chosen && self.batch.is_none() && self.focus() == Focus::List && self.over.is_empty() {
            self.enter_group();
        }
    }
}
