//! One sandbox of a list, and its report as it is looked at.

use crate::app::find::Filter;
use crate::app::panes::PaneState;
use crate::app::{Failure, HeldReport, Here, Opening};
use crate::report::body::Body;
use crate::report::identifier::{Identifier, Parts};
use crate::report::page::is_abstract;
use crate::report::rules::Marks;
use crate::report::{Imported, Indicators, Pane, Report};
use crate::text::Untrusted;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
pub struct Entry {
    /// What the report is asked for by; none for a report that does not say.
    pub identifier: Option<Identifier>,
    /// The identifier by its parts.
    pub parts: Option<Parts>,
    /// Its report; none while that has not been paid for.
    here: Option<Here>,
    /// The last call for the report failed so.
    pub failure: Option<Failure>,
    /// The report as it is looked at.
    pub open: Option<OpenReport>,
    /// Where the report came from, if not from the service.
    pub imported: Option<Imported>,
    /// The name of the document that it is of, where several are open.
    pub document: Option<Untrusted>,
    /// What the sandbox holds the file to be, as far as it is known.
    pub verdict: Option<Untrusted>,
    /// The filters of a report that was open until a newer one came, for the panes of that.
    filters: BTreeMap<Pane, Filter>,
}

#[derive(Debug)]
pub struct OpenReport {
    pub opening: Opening,
    /// The report, as far as it is indexed.
    pub report: Report,
    /// How many bytes have been read of a report that is still coming; none for one that is here.
    pub coming: Option<usize>,
    /// Why it cannot be read, if so.
    pub unreadable: Option<String>,
    /// How each pane is looked at.
    pub panes: BTreeMap<Pane, PaneState>,
    /// What others can look for, once it has been asked for.
    pub indicators: Option<Arc<Indicators>>,
    /// What the rules make of it, once they have been applied.
    pub marks: Option<Arc<Marks>>,
}

impl OpenReport {
    /// A report of which nothing is indexed yet; these rows of its process tree are folded.
    pub fn new(opening: Opening, body: Body, folded: &[u32]) -> Self {
        let tree = PaneState::folded(folded);
        let panes = if folded.is_empty() { BTreeMap::new() } else { [(Pane::Processes, tree)].into_iter().collect() };
        Self {
            opening,
            report: Report::unread(body),
            coming: None,
            unreadable: None,
            panes,
            indicators: None,
            marks: None,
        }
    }

    /// Whether its bytes are here, and not all of them have been read.
    pub(super) fn is_unfinished(&self) -> bool {
        self.unreadable.is_none() && self.coming.is_none() && !self.report.index.is_complete
    }

    /// The filters of its panes, to be sought in another report.
    fn into_filters(self) -> impl Iterator<Item = (Pane, Filter)> {
        self.panes.into_iter().filter_map(|(pane, state)| Some((pane, state.filter?.anew())))
    }

    pub fn count(&self, pane: Pane) -> usize {
        self.panes.get(&pane).map_or_else(|| self.report.count(pane), |state| state.count(&self.report, pane))
    }
}

impl Entry {
    pub fn new(identifier: Option<Identifier>) -> Self {
        let parts = identifier.as_ref().map(Identifier::parts);
        let (imported, document, verdict, filters) = (None, None, None, BTreeMap::new());
        Self { identifier, parts, here: None, failure: None, open: None, imported, document, verdict, filters }
    }

    /// A sandbox whose report is here.
    pub fn with(identifier: Option<Identifier>, here: Here) -> Self {
        let mut entry = Self::new(identifier);
        entry.take(here);
        entry
    }

    /// The same, of a document that others are open with.
    pub(in crate::app) fn of_document(self, document: Option<Untrusted>) -> Self {
        Self { document, ..self }
    }

    /// The report's bytes, if they are here.
    pub fn here(&self) -> Option<&Here> {
        self.here.as_ref()
    }

    /// Takes a received report, and closes the open one, which may be older.
    fn take(&mut self, here: Here) {
        self.verdict.clone_from(&here.verdict);
        self.here = Some(here);
        self.failure = None;
        self.close_if(|_| true);
        self.imported = None;
    }

    /// Takes a report that has come whole. It stays open if it is looked at; an older one that was open is closed.
    pub(super) fn take_arrived(&mut self, here: Here, is_chosen: bool) -> Option<Opening> {
        let open = self.open.take_if(|open| is_chosen && open.settle(&here));
        self.take(here);
        self.open = open;
        self.open.as_ref().map(|open| open.opening)
    }

    /// Its report, where that is here.
    pub(in crate::app) fn held(&self) -> Option<HeldReport> {
        let (identifier, here) = (self.identifier.clone()?, self.here()?.clone());
        Some(HeldReport { identifier, here, imported: self.imported.clone() })
    }

    /// Takes a stored report unless the entry has a newer one;
    pub(super) fn take_newer(&mut self, held: &HeldReport) {
        let is_newer = |here: &Here| here.received < held.here.received || is_abstract(&here.body, &held.here.body);
        if self.here().is_none_or(is_newer) {
            self.take(held.here.clone());
            self.imported.clone_from(&held.imported);
        }
    }

    /// Closes the report if it is like this, and says whether it was; its filters are kept for when it is opened again.
    pub(super) fn close_if(&mut self, is_it: fn(&OpenReport) -> bool) -> bool {
        let closed = self.open.take_if(|open| is_it(open));
        let is_closed = closed.is_some();
        self.filters.extend(closed.into_iter().flat_map(OpenReport::into_filters));
        is_closed
    }

    /// Opens a stored report with these rows of its tree folded; returns the bytes to index.
    pub(in crate::app) fn open(&mut self, opening: Opening, folded: &[u32]) -> Option<Body> {
        let body = self.here().filter(|_| self.open.is_none())?.body.clone();
        let mut open = OpenReport::new(opening, body.clone(), folded);
        for (pane, filter) in std::mem::take(&mut self.filters) {
            let state = open.panes.entry(pane).or_default();
            let before = state.before(&open.report, pane);
            state.filter = Some(Filter { before, ..filter });
        }
        self.open = Some(open);
        Some(body)
    }
}
