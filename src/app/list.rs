//! The list of a file's sandboxes: its entries, page after page, and the report of each.

mod entry;

use crate::app::panes::Scroll;
use crate::app::{Failure, HeldPage, HeldReport, Here, Opening};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::page::{Page, PageEntry, is_abstract};
use crate::request::{Listing, Request};
use crate::text::Untrusted;
pub use entry::{Entry, OpenReport};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};

/// The sandboxes of one file, or the reports of one opened document.
#[derive(Debug)]
pub struct List {
    pub origin: ListOrigin,
    /// The sandboxes in the order of the pages.
    entries: Vec<Entry>,
    /// Where each identifier is found; of several entries with the same one the first.
    places: HashMap<Identifier, usize>,
    /// What comes after the last entry.
    pub next: Next,
    /// When the first page came; none while no page is there.
    pub since: Option<Timestamp>,
    /// How many there are over all pages, if the service says so.
    pub total: Option<u64>,
    pub scroll: Scroll,
    /// The last call for a page failed so.
    pub failure: Option<Failure>,
    /// Words of pages that were asked for: a service that repeats one would be paid for ever.
    used_cursors: Vec<Untrusted>,
}

/// Where a list comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListOrigin {
    /// The service, by the file's hash.
    Service(Sha256),
    /// A document that was opened, by its name: no network, no key, no prices.
    Document(String),
}

/// What comes after the last entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Nothing,
    /// A page that has not been asked for; the word is none for the first page.
    Page(Option<Untrusted>),
    /// The next page's word was used before: the service goes in circles.
    Circle,
    /// There are more pages, and no way to them.
    Lost,
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

impl List {
    fn new(origin: ListOrigin, next: Next) -> Self {
        Self {
            origin,
            entries: Vec::new(),
            places: HashMap::new(),
            next,
            since: None,
            total: None,
            scroll: Scroll::default(),
            failure: None,
            used_cursors: Vec::new(),
        }
    }

    /// A list of which nothing is known.
    pub fn unasked(file: Sha256) -> Self {
        Self::new(ListOrigin::Service(file), Next::Page(None))
    }

    /// The reports of a document that was opened.
    pub fn document(name: String, entries: Vec<Entry>) -> Self {
        let mut list = Self::new(ListOrigin::Document(name), Next::Nothing);
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }

    fn push(&mut self, entry: Entry) {
        if let Some(identifier) = entry.identifier.clone() {
            self.places.entry(identifier).or_insert(self.entries.len());
        }
        self.entries.push(entry);
    }

    /// The file, where the list comes from the service.
    pub fn file(&self) -> Option<&Sha256> {
        match &self.origin {
            ListOrigin::Service(file) => Some(file),
            ListOrigin::Document(_) => None,
        }
    }

    /// The sandboxes in the order of the pages.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The sandboxes whose report is open.
    pub(super) fn open_entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().filter(|entry| entry.open.is_some())
    }

    pub(super) fn opened_mut(&mut self, opening: Opening) -> Option<&mut OpenReport> {
        self.open_entries_mut().filter_map(|entry| entry.open.as_mut()).find(|open| open.opening == opening)
    }

    /// Where the sandbox of this identifier stands.
    pub fn place_of(&self, identifier: &Identifier) -> Option<usize> {
        self.places.get(identifier).copied()
    }

    pub fn held(&self) -> usize {
        self.entries.iter().filter(|entry| entry.here().is_some()).count()
    }

    /// Rows of the list: the entries, and one for what comes after them.
    pub fn count(&self) -> usize {
        self.entries().len() + usize::from(!self.is_all())
    }

    fn is_all(&self) -> bool {
        self.next == Next::Nothing && (!self.entries().is_empty() || matches!(self.origin, ListOrigin::Document(_)))
    }

    /// The chosen sandbox; none where the row after the entries is chosen.
    pub fn chosen(&self) -> Option<&Entry> {
        self.entries().get(self.scroll.cursor)
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

    /// Closes reports whose reading has stopped: their panes start afresh.
    pub(super) fn close_unfinished(&mut self) {
        self.open_entries_mut().for_each(|entry| _ = entry.close_if(OpenReport::is_unfinished));
    }

    pub fn entry_mut(&mut self, identifier: &Identifier) -> Option<&mut Entry> {
        let place = self.place_of(identifier)?;
        self.entries.get_mut(place)
    }

    /// Whether further sandboxes may be on pages that were not listed.
    pub fn has_more_pages(&self) -> bool {
        matches!(self.next, Next::Page(_) | Next::Lost)
    }

    /// The question for the next page; none where there is none.
    pub fn next_page(&self, listing: Listing) -> Option<Request> {
        let file = self.file()?.clone();
        match &self.next {
            Next::Page(cursor) => Some(Request::Behaviours { file, listing, cursor: cursor.clone() }),
            Next::Nothing | Next::Circle | Next::Lost => None,
        }
    }

    /// The question for the first page once more.
    pub fn first_page(&self, listing: Listing) -> Option<Request> {
        let file = self.file()?.clone();
        self.since?;
        Some(Request::Behaviours { file, listing, cursor: None })
    }

    /// Takes the page of this cursor. A first page replaces the list; open reports stay open.
    pub fn take_page(&mut self, cursor: Option<&Untrusted>, held: HeldPage) {
        let HeldPage { received, page, unkept } = held;
        let total = self.total;
        self.total = page.count.or(total);
        if cursor.is_none() {
            return self.begin_anew(page, received, unkept, total);
        }
        let listed = self.entries().len();
        self.add(page.entries, received, unkept, &mut HashMap::new());
        let is_new = self.entries().len() > listed;
        self.used_cursors.extend(cursor.cloned());
        self.next = match page.cursor {
            Some(next) if self.used_cursors.contains(&next) || !is_new => Next::Circle,
            next => Next::behind(next, page.is_lost),
        };
    }

    /// Takes a first page. Where it is the same as before, later pages stay as they are: the service's word for the next one alone
    /// says nothing, for it may be a number.
    fn begin_anew(&mut self, page: Page, received: Timestamp, unkept: Option<String>, total: Option<u64>) {
        let chosen = self.entries().get(self.scroll.cursor).and_then(|entry| entry.identifier.clone());
        let before = std::mem::take(&mut self.entries);
        self.places.clear();
        let order: Vec<_> = before.iter().filter_map(|entry| entry.identifier.clone()).collect();
        let mut before: HashMap<_, _> = before.into_iter().filter_map(|e| Some((e.identifier.clone()?, e))).collect();
        let is_same = page.entries.iter().zip(&order).all(|(entry, before)| entry.identifier == *before);
        let stays = page.cursor.is_some()
            && self.used_cursors.first() == page.cursor.as_ref()
            && self.total == total
            && is_same
            && page.entries.len() <= order.len();
        self.since = Some(received);
        self.add(page.entries, received, unkept, &mut before);
        // A stored report stays, though the service lists it no more.
        let rest = order.iter().filter_map(|identifier| before.remove(identifier));
        rest.filter(|old| stays || old.here().is_some()).for_each(|old| self.push(old));
        if !stays {
            self.used_cursors.clear();
            self.next = Next::behind(page.cursor, page.is_lost);
        }
        // The panes go on showing what they showed.
        if let Some(place) = chosen.and_then(|identifier| self.place_of(&identifier)) {
            self.scroll.cursor = place;
        }
    }

    /// Adds a page's entries; those that are listed already are passed over.
    fn add(
        &mut self,
        entries: Vec<PageEntry>,
        received: Timestamp,
        unkept: Option<String>,
        before: &mut HashMap<Identifier, Entry>,
    ) {
        for entry in entries {
            if self.place_of(&entry.identifier).is_some() {
                continue;
            }
            let mut row = before.remove(&entry.identifier).unwrap_or_else(|| Entry::new(Some(entry.identifier)));
            let is_less = |body: &crate::report::Body| row.here().is_some_and(|here| is_abstract(body, &here.body));
            if let Some(body) = entry.report.filter(|body| !is_less(body)) {
                let (unkept, verdict) = (unkept.clone(), entry.verdict);
                row.take_arrived(Here { received, body, unkept, verdict }, false);
            }
            self.push(row);
        }
    }

    /// Takes stored pages in order, and stored reports.
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

    /// Takes stored reports, where they are newer than those of their page.
    pub fn take_all_held(&mut self, reports: Vec<HeldReport>) {
        for held in reports {
            if !self.take_newer(&held) {
                let mut entry = Entry::new(Some(held.identifier.clone()));
                entry.take_newer(&held);
                self.push(entry);
            }
        }
    }

    /// Takes a stored report unless the entry has a newer one; says whether it is listed.
    pub(super) fn take_newer(&mut self, held: &HeldReport) -> bool {
        self.entry_mut(&held.identifier).map(|entry| entry.take_newer(held)).is_some()
    }

    /// Lets go of the reports that are here and not among these; says whether there was one. What could not be kept is here alone.
    pub(super) fn let_go(&mut self, held: &HashSet<&Identifier>) -> bool {
        let is_gone = |entry: &&mut Entry| {
            let is_kept = entry.here().is_some_and(|here| here.unkept.is_none());
            is_kept && entry.identifier.as_ref().is_some_and(|identifier| !held.contains(identifier))
        };
        self.entries.iter_mut().filter(is_gone).map(|entry| *entry = Entry::new(entry.identifier.take())).count() > 0
    }

    /// Takes a whole report; returns the opening that continues to show it.
    pub(super) fn take_arrived(&mut self, identifier: &Identifier, here: &Here) -> Option<Opening> {
        let is_chosen = self.place_of(identifier) == Some(self.scroll.cursor);
        self.entry_mut(identifier)?.take_arrived(here.clone(), is_chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::body::Body;

    fn page(json: &str) -> HeldPage {
        let body = Body::in_memory(json.as_bytes().to_vec());
        HeldPage { received: Timestamp::UNIX_EPOCH, page: Page::of(&body).unwrap(), unkept: None }
    }

    fn names(list: &List) -> Vec<String> {
        list.entries().iter().map(|e| e.identifier.as_ref().unwrap().text().visible().to_string()).collect()
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
    fn a_refreshed_list_stays_on_the_sandbox_that_was_chosen() {
        let mut list = list();
        list.take_page(None, page(r#"{"data":[{"id":"a"},{"id":"b"}]}"#));
        list.scroll.cursor = 1;
        list.take_page(None, page(r#"{"data":[{"id":"c"},{"id":"b"},{"id":"a"}]}"#));
        assert_eq!((names(&list), list.scroll.cursor), (["c", "b", "a"].map(str::to_owned).to_vec(), 1));
        list.take_page(None, page(r#"{"data":[{"id":"b"},{"id":"c"}]}"#));
        assert_eq!(list.scroll.cursor, 0);
    }

    #[test]
    fn a_refreshed_list_loses_no_report() {
        let mut list = list();
        list.take_page(None, page(r#"{"data":[{"id":"a","attributes":{"tags":["x"]}},{"id":"b"}]}"#));
        list.take_page(None, page(r#"{"data":[{"id":"c"}]}"#));
        assert_eq!(names(&list), ["c", "a"]);
        assert!(list.entries()[1].here().is_some());
    }

    #[test]
    fn a_report_of_a_page_that_could_not_be_kept_stays_when_what_is_held_goes() {
        let mut list = list();
        let lost = page(r#"{"data":[{"id":"a","attributes":{"tags":["x"]}}]}"#);
        list.take_page(None, HeldPage { unkept: Some("could not be kept".to_owned()), ..lost });
        assert!(!list.let_go(&HashSet::new()) && list.entries()[0].here().is_some());
    }
}
