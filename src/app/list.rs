//! The list of a file's sandboxes: its entries, page after page, and the report of each.

use super::finder::Filter;
use super::message::{Failure, HeldPage, HeldReport, Here, Opening};
use super::panes::PaneState;
use super::scroll::Scroll;
use crate::report::body::Body;
use crate::report::identifier::{Identifier, Parts, Sha256};
use crate::report::page::{Page, PageEntry};
use crate::report::rules::Marks;
use crate::report::{Imported, Indicators, Pane, Report, verdict};
use crate::request::{Listing, Request};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The sandboxes of one file, or the reports of one opened document.
#[derive(Debug)]
pub struct List {
    /// Where it comes from.
    pub origin: Origin,
    /// The sandboxes in the order of the pages.
    pub entries: Vec<Entry>,
    /// What comes after the last entry.
    pub next: Next,
    /// When the first page came; none while no page is there.
    pub since: Option<Timestamp>,
    /// How many there are over all pages, if the service says so.
    pub total: Option<u64>,
    /// Entries that gave no identifier and cannot be asked for.
    pub nameless: usize,
    /// Cursor and window.
    pub scroll: Scroll,
    /// The last call for a page failed so.
    pub failure: Option<Failure>,
    /// Words of pages that were asked for: a service that repeats one would be paid for ever.
    used_cursors: Vec<Untrusted>,
}

/// Where a list comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The service, by the file's hash.
    Service(Sha256),
    /// A document that was opened, by its name: no network, no key, no prices.
    Document(String),
}

/// What comes after the last entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing: this is all.
    Nothing,
    /// A page that has not been asked for; the word is none for the first page.
    Page(Option<Untrusted>),
    /// The next page's word was used before: the service goes in circles.
    Circle,
    /// There are more pages, and no way to them.
    Lost,
}

/// One sandbox.
#[derive(Debug)]
pub struct Entry {
    /// What the report is asked for by; none for a report that does not say.
    pub identifier: Option<Identifier>,
    /// The identifier by its parts.
    pub parts: Option<Parts>,
    /// Its report.
    pub report: Remote,
    /// The last call for the report failed so.
    pub failure: Option<Failure>,
    /// The report as it is looked at.
    pub open: Option<OpenReport>,
    /// Where the report came from, if not from the service.
    pub imported: Option<Imported>,
    /// What the sandbox holds the file to be, as far as it is known.
    pub verdict: Option<Untrusted>,
    /// The filters of a report that was open until a newer one came, for the panes of that.
    filters: BTreeMap<Pane, Filter>,
}

/// Whether a report is there.
#[derive(Debug, Clone)]
pub enum Remote {
    /// It has not been paid for.
    NotHeld,
    /// It is here.
    Here(Here),
}

/// A report that is looked at.
#[derive(Debug)]
pub struct OpenReport {
    /// Which opening.
    pub opening: Opening,
    /// The report, as far as it is indexed.
    pub report: Report,
    /// How many bytes have been read of a report that is still coming; none for one that is here.
    pub coming: Option<u64>,
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
    #[must_use]
    pub fn new(opening: Opening, body: Body, folded: &[u32]) -> Self {
        let tree = PaneState::folded(folded);
        let panes = if folded.is_empty() { BTreeMap::new() } else { BTreeMap::from([(Pane::Processes, tree)]) };
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
    fn is_unfinished(&self) -> bool {
        self.unreadable.is_none() && self.coming.is_none() && !self.report.index.is_complete
    }

    /// The filters of its panes, to be sought in another report.
    fn into_filters(self) -> impl Iterator<Item = (Pane, Filter)> {
        self.panes.into_iter().filter_map(|(pane, state)| Some((pane, state.filter?.anew())))
    }

    /// How many rows a pane shows.
    #[must_use]
    pub fn count(&self, pane: Pane) -> usize {
        self.panes.get(&pane).map_or_else(|| self.report.count(pane), |state| state.count(&self.report, pane))
    }
}

impl Next {
    /// What comes after a page with this word, if it has one.
    fn behind(cursor: Option<Untrusted>, is_lost: bool) -> Self {
        match cursor {
            Some(cursor) => Self::Page(Some(cursor)),
            None if is_lost => Self::Lost,
            None => Self::Nothing,
        }
    }
}

impl Entry {
    /// A sandbox whose report is not held.
    #[must_use]
    pub fn new(identifier: Option<Identifier>) -> Self {
        let parts = identifier.as_ref().map(Identifier::parts);
        let (imported, verdict, filters) = (None, None, BTreeMap::new());
        Self { identifier, parts, report: Remote::NotHeld, failure: None, open: None, imported, verdict, filters }
    }

    /// The report's bytes, if they are here.
    #[must_use]
    pub fn here(&self) -> Option<&Here> {
        match &self.report {
            Remote::Here(here) => Some(here),
            Remote::NotHeld => None,
        }
    }

    /// Takes a report that came. What was open before is closed: it may be an older one.
    pub fn take(&mut self, here: Here) {
        self.verdict = verdict::of_short(&here.body);
        self.report = Remote::Here(here);
        self.failure = None;
        self.close_if(|_| true);
        self.imported = None;
    }

    /// Closes the report if it is like this, and says whether it was; its filters are kept for when it is opened again.
    fn close_if(&mut self, is_it: fn(&OpenReport) -> bool) -> bool {
        let closed = self.open.take_if(|open| is_it(open));
        let is_closed = closed.is_some();
        self.filters.extend(closed.into_iter().flat_map(OpenReport::into_filters));
        is_closed
    }

    /// Opens the report if it is here and not open yet; these rows of its process tree are folded. Gives what is to be read.
    pub(super) fn open(&mut self, opening: Opening, folded: &[u32]) -> Option<Body> {
        let body = self.here().filter(|_| self.open.is_none())?.body.clone();
        let mut open = OpenReport::new(opening, body.clone(), folded);
        for (pane, filter) in std::mem::take(&mut self.filters) {
            let state = open.panes.entry(pane).or_default();
            let before = (state.folds.clone(), state.scroll);
            state.filter = Some(Filter { before, ..filter });
        }
        self.open = Some(open);
        Some(body)
    }
}

impl List {
    fn new(origin: Origin, entries: Vec<Entry>, next: Next) -> Self {
        let (since, total, nameless, scroll) = (None, None, 0, Scroll::default());
        let (failure, used_cursors) = (None, Vec::new());
        Self { origin, entries, next, since, total, nameless, scroll, failure, used_cursors }
    }

    /// A list of which nothing is known.
    #[must_use]
    pub fn unasked(file: Sha256) -> Self {
        Self::new(Origin::Service(file), Vec::new(), Next::Page(None))
    }

    /// The reports of a document that was opened.
    #[must_use]
    pub fn document(name: String, entries: Vec<Entry>) -> Self {
        Self::new(Origin::Document(name), entries, Next::Nothing)
    }

    /// The file, where the list comes from the service.
    #[must_use]
    pub fn file(&self) -> Option<&Sha256> {
        match &self.origin {
            Origin::Service(file) => Some(file),
            Origin::Document(_) => None,
        }
    }

    /// Rows of the list: the entries, and one for what comes after them.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len() + usize::from(!self.is_all())
    }

    fn is_all(&self) -> bool {
        self.next == Next::Nothing && (!self.entries.is_empty() || matches!(self.origin, Origin::Document(_)))
    }

    /// The chosen sandbox; none where the row after the entries is chosen.
    #[must_use]
    pub fn chosen(&self) -> Option<&Entry> {
        self.entries.get(self.scroll.cursor)
    }

    /// The chosen sandbox, to be changed.
    pub fn chosen_mut(&mut self) -> Option<&mut Entry> {
        self.entries.get_mut(self.scroll.cursor)
    }

    /// Closes reports that were moved past before they were read to their end; says whether there was one.
    pub(super) fn leave_unfinished(&mut self) -> bool {
        let chosen = self.scroll.cursor;
        let others = self.entries.iter_mut().enumerate().filter(|(place, _)| *place != chosen);
        others.filter_map(|(_, entry)| entry.close_if(OpenReport::is_unfinished).then_some(())).count() > 0
    }

    /// Closes reports that nobody goes on reading: their panes begin anew when they are looked at again.
    pub(super) fn close_unfinished(&mut self) {
        self.entries.iter_mut().for_each(|entry| _ = entry.close_if(OpenReport::is_unfinished));
    }

    /// The sandbox of this identifier.
    pub fn entry_mut(&mut self, identifier: &Identifier) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.identifier.as_ref() == Some(identifier))
    }

    /// The report of this opening.
    pub fn opened_mut(&mut self, opening: Opening) -> Option<&mut OpenReport> {
        self.entries.iter_mut().filter_map(|entry| entry.open.as_mut()).find(|open| open.opening == opening)
    }

    /// The question for the next page; none where there is none.
    #[must_use]
    pub fn next_page(&self, listing: Listing) -> Option<Request> {
        let file = self.file()?.clone();
        match &self.next {
            Next::Page(cursor) => Some(Request::Behaviours { file, listing, cursor: cursor.clone() }),
            Next::Nothing | Next::Circle | Next::Lost => None,
        }
    }

    /// The question for the first page once more.
    #[must_use]
    pub fn first_page(&self, listing: Listing) -> Option<Request> {
        let file = self.file()?.clone();
        self.since?;
        Some(Request::Behaviours { file, listing, cursor: None })
    }

    /// Takes a page that was asked for with this word. A first page begins the list anew; what is open stays open.
    pub fn take_page(&mut self, cursor: Option<&Untrusted>, held: HeldPage) {
        let HeldPage { received, page, .. } = held;
        self.nameless += page.nameless;
        self.total = page.count.or(self.total);
        if cursor.is_none() {
            return self.begin_anew(page, received);
        }
        let listed = self.entries.len();
        self.add(page.entries, received, &mut HashMap::new());
        let is_new = self.entries.len() > listed;
        self.used_cursors.extend(cursor.cloned());
        self.next = match page.cursor {
            Some(next) if self.used_cursors.contains(&next) || !is_new => Next::Circle,
            next => Next::behind(next, page.is_lost),
        };
    }

    /// Takes a first page. Where it leads to the same second page as before, later pages stay as they are.
    fn begin_anew(&mut self, page: Page, received: Timestamp) {
        let before = std::mem::take(&mut self.entries);
        let order: Vec<_> = before.iter().filter_map(|entry| entry.identifier.clone()).collect();
        let mut before: HashMap<_, _> = before.into_iter().filter_map(|e| Some((e.identifier.clone()?, e))).collect();
        self.since = Some(received);
        self.nameless = page.nameless;
        self.add(page.entries, received, &mut before);
        let stays = page.cursor.is_some() && self.used_cursors.first() == page.cursor.as_ref();
        // A report that is held stays, though the service lists it no more.
        let rest = order.iter().filter_map(|identifier| before.remove(identifier));
        self.entries.extend(rest.filter(|old| stays || old.here().is_some()));
        if !stays {
            self.used_cursors.clear();
            self.next = Next::behind(page.cursor, page.is_lost);
        }
    }

    /// Adds a page's entries; those that are listed already are passed over.
    fn add(&mut self, entries: Vec<PageEntry>, received: Timestamp, before: &mut HashMap<Identifier, Entry>) {
        let mut known: HashSet<_> = self.entries.iter().filter_map(|entry| entry.identifier.clone()).collect();
        for entry in entries {
            if !known.insert(entry.identifier.clone()) {
                continue;
            }
            let mut row = before.remove(&entry.identifier).unwrap_or_else(|| Entry::new(Some(entry.identifier)));
            if let Some(body) = entry.report {
                row.take(Here { received, body, unkept: None });
            }
            self.entries.push(row);
        }
    }

    /// Takes what is held: pages, one after another, and reports.
    pub fn take_recalled(&mut self, pages: Vec<HeldPage>, reports: Vec<HeldReport>) {
        for page in pages {
            let cursor = match &self.next {
                Next::Page(cursor) => cursor.clone(),
                Next::Nothing | Next::Circle | Next::Lost => break,
            };
            self.take_page(cursor.as_ref(), page);
        }
        self.take_all_held(reports);
    }

    /// Takes the reports that are held, where they are newer than what their page brought along.
    pub fn take_all_held(&mut self, reports: Vec<HeldReport>) {
        let named = |(place, entry): (usize, &Entry)| Some((entry.identifier.clone()?, place));
        let places: HashMap<_, _> = self.entries.iter().enumerate().filter_map(named).collect();
        for held in reports {
            match places.get(&held.identifier).and_then(|place| self.entries.get_mut(*place)) {
                Some(entry) => entry.take_newer(&held),
                None => {
                    let mut entry = Entry::new(Some(held.identifier.clone()));
                    entry.take_newer(&held);
                    self.entries.push(entry);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(json: &str) -> HeldPage {
        let body = Body::in_memory(json.as_bytes().to_vec());
        HeldPage { received: Timestamp::UNIX_EPOCH, page: Page::of(&body).unwrap(), unkept: None }
    }

    fn names(list: &List) -> Vec<String> {
        list.entries.iter().map(|e| e.identifier.as_ref().unwrap().text().visible().to_string()).collect()
    }

    fn list() -> List {
        List::unasked(Sha256::parse(&"ab".repeat(32)).unwrap())
    }

    #[test]
    fn pages_add_up_and_repeats_are_passed_over() {
        let mut list = list();
        list.take_page(None, page(r#"{"data":[{"id":"a"},{"id":"b"}],"meta":{"cursor":"2"}}"#));
        list.take_page(Some(&"2".into()), page(r#"{"data":[{"id":"b"},{"id":"c"}],"meta":{"cursor":"3"}}"#));
        assert_eq!(names(&list), ["a", "b", "c"]);
        assert_eq!(list.count(), 4);
        list.take_page(Some(&"3".into()), page(r#"{"data":[]}"#));
        assert_eq!((list.next.clone(), list.count()), (Next::Nothing, 3));
    }

    #[test]
    fn a_refreshed_first_page_keeps_the_pages_behind_it() {
        let mut list = list();
        let first = r#"{"data":[{"id":"a"}],"meta":{"cursor":"2"}}"#;
        list.take_page(None, page(first));
        list.take_page(Some(&"2".into()), page(r#"{"data":[{"id":"b"}]}"#));
        list.take_page(None, page(first));
        assert_eq!((names(&list), list.next.clone()), (vec!["a".to_owned(), "b".to_owned()], Next::Nothing));
    }

    #[test]
    fn a_service_that_goes_in_circles_is_not_followed() {
        let mut list = list();
        list.take_page(None, page(r#"{"data":[{"id":"a"}],"meta":{"cursor":"x"}}"#));
        list.take_page(Some(&"x".into()), page(r#"{"data":[{"id":"b"}],"meta":{"cursor":"y"}}"#));
        list.take_page(Some(&"y".into()), page(r#"{"data":[{"id":"c"}],"meta":{"cursor":"x"}}"#));
        assert_eq!(list.next, Next::Circle);
        assert_eq!(list.next_page(Listing::Reports), None);
    }

    #[test]
    fn a_word_that_is_too_long_leads_nowhere_and_is_not_the_end() {
        let mut list = list();
        let long = "x".repeat(2_000_000);
        list.take_page(None, page(&format!(r#"{{"data":[{{"id":"a"}}],"meta":{{"cursor":"{long}"}}}}"#)));
        assert_eq!((list.next.clone(), list.next_page(Listing::Reports)), (Next::Lost, None));
    }

    #[test]
    fn a_page_with_nothing_new_is_a_circle_too() {
        let mut list = list();
        list.take_page(None, page(r#"{"data":[{"id":"a"}],"meta":{"cursor":"x"}}"#));
        list.take_page(Some(&"x".into()), page(r#"{"data":[{"id":"a"}],"meta":{"cursor":"y"}}"#));
        assert_eq!(list.next, Next::Circle);
    }

    #[test]
    fn a_refreshed_list_loses_no_report() {
        let mut list = list();
        list.take_page(None, page(r#"{"data":[{"id":"a","attributes":{"tags":["x"]}},{"id":"b"}]}"#));
        list.take_page(None, page(r#"{"data":[{"id":"c"}]}"#));
        assert_eq!(names(&list), ["c", "a"]);
        assert!(list.entries[1].here().is_some());
    }
}
