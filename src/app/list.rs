//! The list of a file's sandboxes: its entries, its pages, and the open reports.

use crate::app::find::Filter;
use crate::app::find::controller::SearchEnd;
use crate::app::layout::PaneNeed;
use crate::app::message::DocumentReports;
use crate::app::panes::{PaneState, Scroll, preferred_columns};
use crate::app::{Failure, Job, JobNumber, LoadedFile, LoadedReport, ReportJob, SearchJob};
use crate::report::body::Body;
use crate::report::find::SearchScope;
use crate::report::identifier::{Identifier, IdentifierParts, Sha256};
use crate::report::index::Batch;
use crate::report::page::{Page, PageEnd, PageEntry, is_abstract};
use crate::report::rules::{Marks, Rules, Severity};
use crate::report::{Attribute, Pane, Report, Row, RowPlace, RowSet, Section};
use crate::request::{Listing, Request};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// The sandboxes of one file, or the reports of one document.
#[derive(Debug, Default)]
pub struct List {
    pub origin: ListOrigin,
    pub entries: Vec<ListEntry>,
    /// The index of each identifier; the first of duplicates.
    places: HashMap<Identifier, usize>,
    pub next: Next,
    /// When the first page was received; `None` before.
    pub(crate) since: Option<Timestamp>,
    /// The number of entries on all pages, if the service gives it.
    pub total: Option<u64>,
    pub scroll: Scroll,
    pub failure: Option<Failure>,
    /// Cursors of requested pages: a service that repeats a cursor would cost calls without end.
    used_cursors: Vec<Untrusted>,
}

/// The source of a list's reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListOrigin {
    Service(Sha256),
    /// A document by its name: no network, no key, no prices.
    Document(String),
}

impl Default for ListOrigin {
    fn default() -> Self {
        Self::Document(String::new())
    }
}

/// What follows the last entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Next {
    #[default]
    Nothing,
    /// A page not yet requested; the first page has no cursor.
    Page(Option<Untrusted>),
    /// An unreachable page: its cursor is absent, unusable or a repeated one.
    Lost,
}

impl Next {
    pub(super) fn behind(end: PageEnd, is_used: impl Fn(&Untrusted) -> bool) -> Self {
        match end.cursor {
            Some(cursor) if is_used(&cursor) => Self::Lost,
            Some(cursor) => Self::Page(Some(cursor)),
            None if end.is_lost => Self::Lost,
            None => Self::Nothing,
        }
    }

    /// Returns the request for the page that follows; `None` at the end.
    pub(super) fn request(&self, make: impl FnOnce(Option<Untrusted>) -> Request) -> Option<Request> {
        if let Self::Page(cursor) = self { Some(make(cursor.clone())) } else { None }
    }
}

impl List {
    /// Returns the list of a file before its first page.
    pub fn not_requested(file: Sha256) -> Self {
        Self { origin: ListOrigin::Service(file), next: Next::Page(None), ..Self::default() }
    }

    pub(crate) fn document(name: String, entries: Vec<ListEntry>) -> Self {
        let mut list = Self { origin: ListOrigin::Document(name), ..Self::default() };
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }

    /// Replaces the first report of a partly read document by all of them; the first stays open.
    pub(super) fn take_document(&mut self, reports: DocumentReports) {
        for (at, (identifier, report)) in reports.into_iter().enumerate() {
            match self.entries.first_mut().filter(|first| at == 0 && first.identifier == identifier) {
                Some(first) => first.report = Some(report),
                None => self.push(ListEntry::with(identifier, report)),
            }
        }
    }

    fn push(&mut self, entry: ListEntry) {
        if let Some(identifier) = entry.identifier.clone() {
            self.places.entry(identifier).or_insert(self.entries.len());
        }
        self.entries.push(entry);
    }

    pub fn file(&self) -> Option<&Sha256> {
        match &self.origin {
            ListOrigin::Service(file) => Some(file),
            ListOrigin::Document(_) => None,
        }
    }

    pub(crate) fn is_single(&self) -> bool {
        self.file().is_none() && self.entries.len() == 1
    }

    pub(crate) fn place_of(&self, identifier: &Identifier) -> Option<usize> {
        self.places.get(identifier).copied()
    }

    /// Returns the number of stored reports.
    pub fn stored(&self) -> usize {
        self.entries.iter().filter(|entry| entry.report().is_some()).count()
    }

    /// Returns rows of the list: the entries, and one for what follows them.
    pub fn count(&self) -> usize {
        let is_empty = self.entries.is_empty() && self.file().is_some();
        self.entries.len() + usize::from(self.next != Next::Nothing || is_empty)
    }

    /// Returns the chosen sandbox; `None` on the row after the entries.
    pub fn chosen(&self) -> Option<&ListEntry> {
        self.entries.get(self.scroll.cursor)
    }

    pub(crate) fn chosen_mut(&mut self) -> Option<&mut ListEntry> {
        self.entries.get_mut(self.scroll.cursor)
    }

    /// Closes other reports that are not fully indexed.
    pub(super) fn leave_unfinished(&mut self) {
        let chosen = self.scroll.cursor;
        let others = self.entries.iter_mut().enumerate().filter(|(place, _)| *place != chosen);
        let stored = others.filter(|(_, entry)| entry.report().is_some());
        stored.for_each(|(_, entry)| entry.close_if(|open| !open.report.index.is_complete));
    }

    pub(crate) fn entry_mut(&mut self, identifier: &Identifier) -> Option<&mut ListEntry> {
        let place = self.place_of(identifier)?;
        self.entries.get_mut(place)
    }

    /// Returns whether a page follows, even one that cannot be requested.
    pub fn has_more_pages(&self) -> bool {
        matches!(self.next, Next::Page(_) | Next::Lost)
    }

    /// Returns the request for the page after the last loaded one; `None` at the end.
    pub fn next_page(&self, listing: Listing) -> Option<Request> {
        let file = self.file()?.clone();
        self.next.request(|cursor| Request::Behaviours { file, listing, cursor })
    }

    pub(crate) fn first_page(&self, listing: Listing) -> Option<Request> {
        let file = self.file()?.clone();
        self.since?;
        Some(Request::Behaviours { file, listing, cursor: None })
    }

    /// Adds the page of this cursor. A first page replaces the list; open reports stay open.
    pub(crate) fn take_page(&mut self, cursor: Option<&Untrusted>, page: Page, at: Timestamp, unkept: Option<String>) {
        let total = self.total;
        self.total = page.end.count.or(total);
        if cursor.is_none() {
            return self.replace_pages(page, at, unkept, total);
        }
        self.add(page.entries, at, unkept, &mut HashMap::new());
        self.used_cursors.extend(cursor.cloned());
        self.next = Next::behind(page.end, |cursor| self.used_cursors.contains(cursor));
    }

    /// Replaces the list by a first page; an unchanged first page retains later pages.
    fn replace_pages(&mut self, page: Page, received: Timestamp, unkept: Option<String>, total: Option<u64>) {
        let chosen = self.entries.get(self.scroll.cursor).and_then(|entry| entry.identifier.clone());
        let before = std::mem::take(&mut self.entries);
        self.places.clear();
        let order: Vec<_> = before.iter().filter_map(|entry| entry.identifier.clone()).collect();
        let mut before: HashMap<_, _> = before.into_iter().filter_map(|e| Some((e.identifier.clone()?, e))).collect();
        let is_same = page.entries.iter().zip(&order).all(|(entry, before)| entry.identifier == *before);
        let stays = page.end.cursor.is_some()
            && self.used_cursors.first() == page.end.cursor.as_ref()
            && self.total == total
            && is_same
            && page.entries.len() <= order.len();
        self.since = Some(received);
        self.add(page.entries, received, unkept, &mut before);
        // A stored report stays although the service no longer lists it.
        let rest = order.iter().filter_map(|identifier| before.remove(identifier));
        rest.filter(|old| stays || old.report().is_some()).for_each(|old| self.push(old));
        if !stays {
            self.used_cursors.clear();
            self.next = Next::behind(page.end, |_| false);
        }
        // The panes still show their previous reports.
        if let Some(place) = chosen.and_then(|identifier| self.place_of(&identifier)) {
            self.scroll.cursor = place;
        }
    }

    /// Adds a page's entries; skips those already listed.
    fn add(
        &mut self,
        entries: Vec<PageEntry>,
        received: Timestamp,
        unkept: Option<String>,
        before: &mut HashMap<Identifier, ListEntry>,
    ) {
        for entry in entries {
            if self.place_of(&entry.identifier).is_some() {
                continue;
            }
            let mut row = before.remove(&entry.identifier).unwrap_or_else(|| ListEntry::new(Some(entry.identifier)));
            let is_less = |body: &Body| row.report().is_some_and(|known| is_abstract(body, known.body.so_far()));
            if let Some(body) = entry.report.filter(|body| !is_less(body)) {
                let unkept = unkept.clone();
                row.take(LoadedReport { received, body, unkept, verdict: entry.verdict, ..LoadedReport::default() });
            }
            self.push(row);
        }
    }

    pub fn take_loaded(&mut self, loaded: LoadedFile) {
        for (received, page) in loaded.pages {
            let cursor = match &self.next {
                Next::Page(cursor) => cursor.clone(),
                Next::Nothing | Next::Lost => break,
            };
            self.take_page(cursor.as_ref(), page, received, None);
        }
        // Stored reports replace older ones from their page.
        for (identifier, report) in loaded.reports {
            match self.entry_mut(&identifier) {
                Some(entry) => entry.replace_if_newer(&report),
                None => self.push(ListEntry::with(Some(identifier), report)),
            }
        }
        for (identifier, why) in loaded.absent {
            self.entry_mut(&identifier).into_iter().for_each(|entry| entry.failure = Some(Failure::new(why.clone())));
        }
    }

    /// Drops reports no longer stored, except those never stored; returns whether there were any.
    pub(super) fn drop_deleted(&mut self, stored: &HashSet<&Identifier>) -> bool {
        let is_gone = |entry: &&mut ListEntry| {
            let is_kept = entry.report().is_some_and(|report| report.unkept.is_none());
            is_kept && entry.identifier.as_ref().is_some_and(|identifier| !stored.contains(identifier))
        };
        self.entries.iter_mut().filter(is_gone).map(|entry| *entry = ListEntry::new(entry.identifier.take())).count()
            > 0
    }

    /// Takes a whole report. One that is open since its download began stays open: returns its job.
    pub(super) fn set_report(&mut self, identifier: &Identifier, report: &LoadedReport) -> Option<JobNumber> {
        let is_chosen = self.place_of(identifier) == Some(self.scroll.cursor);
        let entry = self.entry_mut(identifier)?;
        let open = if is_chosen && entry.report.is_none() { entry.open.take() } else { None };
        entry.take(report.clone());
        entry.open = open;
        entry.open.as_ref().map(|open| open.job.number())
    }
}

/// One sandbox of the list, with its report if loaded.
#[derive(Debug, Default)]
pub struct ListEntry {
    /// The identifier of the report's request; `None` for a report without one.
    pub identifier: Option<Identifier>,
    pub parts: Option<IdentifierParts>,
    /// `None` before it is fetched.
    report: Option<LoadedReport>,
    pub failure: Option<Failure>,
    pub(crate) open: Option<OpenReport>,
    /// The name of its document, if several are open.
    pub document: Option<Untrusted>,
    /// The pane filters of the replaced report, for the newer one.
    filters: BTreeMap<Pane, Filter>,
}

/// A report in memory, with the state of its panes.
#[derive(Debug)]
pub struct OpenReport {
    /// The job of all work on this report, which identifies it.
    pub(crate) job: Job,
    pub report: Report,
    pub panes: BTreeMap<Pane, PaneState>,
    pub marks: Option<Arc<Marks>>,
    columns: OnceLock<[u16; Pane::ALL.len()]>,
}

impl OpenReport {
    /// Creates a report without an index; the rows of its process tree in `folded` are folded.
    pub(crate) fn new(body: Body, folded: &[u32]) -> Self {
        let tree = PaneState::folded(folded);
        let panes = if folded.is_empty() { BTreeMap::new() } else { [(Pane::Processes, tree)].into_iter().collect() };
        Self { job: Job::default(), report: Report::unread(body), panes, marks: None, columns: OnceLock::new() }
    }

    /// Returns the number of a pane's rows, including those that the program adds.
    pub fn count(&self, pane: Pane) -> usize {
        self.report.count(pane) + self.panes.get(&pane).map_or(0, |state| state.own_rows().len())
    }

    /// Returns the row at a place of a pane; a technique's row includes the rules that found it.
    pub fn row(&self, state: &PaneState, place: RowPlace) -> Row {
        if let Some((_, row)) = state.own_row(place) {
            return row.clone();
        }
        let mut row = self.report.row(place.section, place.row);
        let is_technique = |section: &Section| section.attribute.is_some_and(Attribute::is_technique);
        let marks = self.marks.as_deref().filter(|_| self.report.section(place.section).is_some_and(is_technique));
        marks.into_iter().flat_map(|marks| &marks.techniques).for_each(|technique| technique.credit(&mut row));
        row
    }

    /// Returns the severity by which rules mark a row of the report.
    pub fn mark(&self, rules: &Rules, place: RowPlace) -> Option<Severity> {
        let marks = self.marks.as_ref()?;
        let rule = marks.rule(place.section, place.row).and_then(|rule| rules.rule(rule)).map(|rule| rule.severity);
        rule.or_else(|| marks.noise.contains(place.section, place.row).then_some(Severity::Noise))
    }

    /// Returns the size that a pane needs; column widths are final once all rows are indexed.
    pub(super) fn need(&self, pane: Pane) -> PaneNeed {
        let columns = || Pane::ALL.map(|pane| preferred_columns(&self.report, pane));
        let known = self.report.index.is_complete.then(|| self.columns.get_or_init(columns));
        let columns = known.and_then(|known| known.get(pane as usize)).copied().unwrap_or(0);
        PaneNeed { pane, rows: self.count(pane), columns }
    }

    /// Restarts a pane's filter; an empty filter shows all rows.
    pub(super) fn restart_search(&mut self, pane: Pane) -> Option<SearchJob> {
        let state = self.panes.get_mut(&pane)?;
        let filter = state.filter.as_mut()?;
        if filter.query.update_pattern() {
            filter.searched_bytes = 0;
            return self.start_search(pane);
        }
        if filter.query.typed.is_empty() {
            state.restore_rows(&self.report, pane);
        }
        None
    }

    /// Starts the search of those rows that a pane's filter has not reached.
    fn start_search(&mut self, pane: Pane) -> Option<SearchJob> {
        let report = self.report.clone();
        let filter = self.panes.get_mut(&pane)?.filter.as_mut()?;
        let pattern = filter.query.pattern.clone()?;
        let scope = SearchScope { pane: Some(pane), from: filter.searched_bytes };
        filter.searched_bytes = report.searchable();
        let ticket = filter.query.begin();
        filter.query.search.iter_mut().for_each(|run| run.is_new = scope.from == 0);
        Some(SearchJob::Filter(ticket, report, pattern, scope))
    }

    /// Continues the filters after more of the report was indexed.
    pub(super) fn continue_search(&mut self) -> Vec<SearchJob> {
        let reaches = self.report.searchable();
        let is_behind = |filter: &Filter| {
            !filter.query.is_running() && filter.query.pattern.is_some() && filter.searched_bytes < reaches
        };
        let panes = self.panes.iter().filter(|(_, state)| state.filter.as_ref().is_some_and(is_behind));
        let behind: Vec<_> = panes.map(|(pane, _)| *pane).collect();
        behind.into_iter().filter_map(|pane| self.start_search(pane)).collect()
    }

    /// Shows the matches of a pane's filter; returns jobs that continue it.
    pub(super) fn take_found(&mut self, job: JobNumber, rows: RowSet, ended: SearchEnd) -> Vec<SearchJob> {
        if let Some((pane, state)) = self.panes.iter_mut().find(|(_, state)| state.runs(job)) {
            state.take_found(&self.report, *pane, job, rows);
            let query = state.filter.as_mut().map(|filter| &mut filter.query);
            if let Some((query, end)) = query.zip(ended) {
                query.search = None;
                query.problem = end.err().or(query.problem.take());
            }
        }
        self.continue_search()
    }

    pub(crate) fn absorb(&mut self, batch: Batch) {
        self.report.absorb(batch);
        for (pane, state) in &mut self.panes {
            if state.folds.any() || !state.row_filter.is_open() {
                state.refresh(&self.report, *pane);
            }
        }
    }
}

impl ListEntry {
    pub(crate) fn new(identifier: Option<Identifier>) -> Self {
        Self { parts: identifier.as_ref().map(Identifier::parts), identifier, ..Self::default() }
    }

    pub(crate) fn with(identifier: Option<Identifier>, report: LoadedReport) -> Self {
        Self { report: Some(report), ..Self::new(identifier) }
    }

    pub fn report(&self) -> Option<&LoadedReport> {
        self.report.as_ref()
    }

    pub(crate) fn name(&self) -> Option<Untrusted> {
        self.parts.as_ref().map(|parts| parts.sandbox.clone())
    }

    pub(super) fn opens(&self, job: JobNumber) -> bool {
        self.open.as_ref().is_some_and(|open| open.job.is(job))
    }

    /// Takes a received report, and closes the open one, which may be older.
    fn take(&mut self, report: LoadedReport) {
        self.report = Some(report);
        self.failure = None;
        self.close_if(|_| true);
    }

    /// Takes a stored report unless the entry has a newer one.
    pub(super) fn replace_if_newer(&mut self, report: &LoadedReport) {
        let is_newer = |known: &LoadedReport| {
            known.received < report.received || is_abstract(known.body.so_far(), report.body.so_far())
        };
        if self.report().is_none_or(is_newer) {
            self.take(report.clone());
        }
    }

    /// Takes the verdict of a report that was listed during its download.
    pub(super) fn take_verdict(&mut self, verdict: Option<&Untrusted>) {
        self.report.iter_mut().for_each(|report| report.verdict = verdict.cloned());
    }

    /// Closes the report if it passes the test; saves its filters for the next time.
    pub(super) fn close_if(&mut self, is_it: fn(&OpenReport) -> bool) {
        let closed = self.open.take_if(|open| is_it(open));
        let panes = closed.into_iter().flat_map(|open| open.panes);
        self.filters.extend(panes.filter_map(|(pane, state)| Some((pane, state.filter?.restarted()))));
    }

    /// Opens a stored report unless it is open; see [`Self::show`].
    pub(crate) fn open(&mut self, folded: &[u32]) -> Option<ReportJob> {
        let body = self.report().filter(|_| self.open.is_none())?.body.clone();
        Some(self.show(body, folded))
    }

    /// Shows a report, whole or partial, with these tree rows folded; returns its indexing job.
    pub(crate) fn show(&mut self, body: Body, folded: &[u32]) -> ReportJob {
        let mut open = OpenReport::new(body.clone(), folded);
        for (pane, filter) in std::mem::take(&mut self.filters) {
            let state = open.panes.entry(pane).or_default();
            state.filter = Some(Filter { unfiltered: state.before(&open.report, pane), ..filter });
        }
        let ticket = self.open.insert(open).job.ticket();
        ReportJob::Index(ticket, body)
    }
}

#[cfg(test)]
mod tests;
