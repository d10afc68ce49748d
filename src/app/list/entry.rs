//! One sandbox of a list, and its report as it is looked at.

use crate::app::find::Filter;
use crate::app::panes::PaneState;
use crate::app::{Failure, HeldReport, Here, Opening};
use crate::report::body::Body;
use crate::report::identifier::{Identifier, Parts};
use crate::report::page::is_abstract;
use crate::report::rules::Marks;
use crate::report::{Imported, Indicators, Pane, Report};
use crate::request::Request;
use crate::text::Untrusted;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
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

    pub(super) fn let_go(&mut self) {
        *self = Self::new(self.identifier.take());
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

/// The sandboxes of a list.
#[derive(Debug, Default)]
pub(super) struct Entries {
    all: Vec<Entry>,
    places: HashMap<Identifier, usize>,
    /// Places of those that were given out to be changed: no others can have a report that is open.
    touched: BTreeSet<usize>,
    tally: OnceCell<EntryTally>,
}

#[derive(Debug)]
struct EntryTally {
    /// The questions for the reports that are not here.
    missing: Arc<[Request]>,
    held: usize,
}

impl Entries {
    /// These; of several with the same identifier the first one is found by it.
    pub(super) fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut all = Self::default();
        entries.into_iter().for_each(|entry| all.push(entry));
        all
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.tally.take();
        if let Some(identifier) = entry.identifier.clone() {
            self.places.entry(identifier).or_insert(self.all.len());
        }
        if entry.open.is_some() {
            self.touched.insert(self.all.len());
        }
        self.all.push(entry);
    }

    /// All of them, to be put in another order.
    pub(super) fn into_all(self) -> Vec<Entry> {
        self.all
    }

    pub(super) fn all(&self) -> &[Entry] {
        &self.all
    }

    /// One of them, to be changed in anything but whether its report is here.
    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Entry> {
        self.touched.insert(place);
        self.all.get_mut(place)
    }

    /// Those with a report that is open, with their places.
    pub(super) fn opened_mut(&mut self) -> impl Iterator<Item = (usize, &mut Entry)> {
        let all = &self.all;
        self.touched.retain(|place| all.get(*place).is_some_and(|entry| entry.open.is_some()));
        let mut rest = self.all.iter_mut();
        self.touched.iter().scan(0, move |next, place| {
            let skipped = place - *next;
            *next = place + 1;
            rest.nth(skipped).map(|entry| (*place, entry))
        })
    }

    pub(super) fn place_of(&self, identifier: &Identifier) -> Option<usize> {
        self.places.get(identifier).copied()
    }

    /// Changes one that may get its report by that.
    pub(super) fn change<T>(&mut self, place: usize, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.tally.take();
        self.get_mut(place).map(change)
    }

    /// The questions for the reports that are not here.
    pub(super) fn missing(&self) -> &Arc<[Request]> {
        &self.tally().missing
    }

    pub(super) fn held(&self) -> usize {
        self.tally().held
    }

    fn tally(&self) -> &EntryTally {
        self.tally.get_or_init(|| {
            let missing = self.all.iter().filter(|entry| entry.here().is_none());
            let question = |entry: &Entry| Some(Request::Behaviour { identifier: entry.identifier.clone()? });
            let held = self.all.iter().filter(|entry| entry.here().is_some()).count();
            EntryTally { missing: missing.filter_map(question).collect(), held }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::list::OpenReport;
    use crate::app::message::{HeldReport, Here, Opening};
    use crate::report::body::Body;
    use jiff::Timestamp;

    fn identifier(number: usize) -> Identifier {
        Identifier::new(format!("sandbox-{number}").as_str().into()).unwrap()
    }

    fn held(number: usize) -> HeldReport {
        let body = Body::in_memory(b"{}".to_vec());
        let here = Here::new(Timestamp::UNIX_EPOCH, body, None);
        HeldReport { identifier: identifier(number), here, imported: None }
    }

    #[test]
    fn what_a_frame_asks_of_all_sandboxes_is_worked_out_once() {
        let mut entries = Entries::new((0..30_000).map(|number| Entry::new(Some(identifier(number)))));
        let first = Arc::clone(entries.missing());
        entries.get_mut(7).unwrap().failure = None;
        assert!(Arc::ptr_eq(&first, entries.missing()), "nothing of it has changed");
        entries.change(29_999, |entry| entry.take_newer(&held(29_999)));
        assert_eq!((first.len(), entries.missing().len(), entries.held()), (30_000, 29_999, 1));
        entries.push(Entry::new(Some(identifier(30_000))));
        assert_eq!((entries.missing().len(), entries.place_of(&identifier(30_000))), (30_000, Some(30_000)));
    }

    #[test]
    fn sandboxes_with_an_open_report_are_known_by_their_places() {
        let mut entries = Entries::new((0..9).map(|number| Entry::new(Some(identifier(number)))));
        for place in [7, 2, 4] {
            let open = OpenReport::new(Opening(place as u64), Body::in_memory(b"{}".to_vec()), &[]);
            entries.get_mut(place).unwrap().open = Some(open);
        }
        entries.get_mut(4).unwrap().open = None;
        let known: Vec<_> =
            entries.opened_mut().map(|(place, entry)| (place, entry.open.as_ref().unwrap().opening)).collect();
        assert_eq!(known, [(2, Opening(2)), (7, Opening(7))]);
    }

    #[test]
    fn of_two_with_one_identifier_the_first_is_found() {
        let entries =
            Entries::new([Entry::new(None), Entry::new(Some(identifier(1))), Entry::new(Some(identifier(1)))]);
        assert_eq!(entries.place_of(&identifier(1)), Some(1));
    }
}
