//! Lists of files: the group's private files and analyses, page by page; and the triage of several
//! files: what is stored of each, and the price of what is missing.

use crate::app::files::ReturnPoint;
use crate::app::list::Next;
use crate::app::overlays::{ListSource, ListView, OverlayKind};
use crate::app::spending::{Consent, KeyChoice};
use crate::app::{Job, JobNumber, Model, ReportJob, Size};
use crate::quota::{Entitlements, Plan};
use crate::report::analysis::Progress;
use crate::report::identifier::Sha256;
use crate::report::{GroupEntry, GroupPage, PendingScan};
use crate::request::{GroupList, Request};
use crate::text::{Untrusted, count};
use crate::triage::{TriagedFile, rank};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::slice::from_ref;

/// An order of the rows: its name, and the sort key of an entry.
type GroupOrder = (&'static str, fn(&GroupEntry) -> (bool, i64));

const ORDERS: [GroupOrder; 3] = [
    ("as listed", |_| (false, 0)),
    ("first to expire first", |entry| (entry.expires.is_none(), entry.expires.map_or(0, Timestamp::as_second))),
    ("newest first", |entry| (entry.at.is_none(), entry.at.map_or(0, |at| -at.as_second()))),
];

pub type GroupView = ListView<GroupRows>;

/// The stored pages of a list of the group.
#[derive(Debug)]
pub struct GroupRows {
    pub list: GroupList,
    /// The entries as listed; `None` stands for the page after them.
    rows: Vec<Option<GroupEntry>>,
    pub next: Next,
    /// When the first page was received; `None` before.
    pub since: Option<Timestamp>,
    /// Number of entries on all pages, if the service gives it.
    pub total: Option<u64>,
    /// Number of stored reports by file.
    pub reports: HashMap<Sha256, u64>,
    /// Cursors of these pages: a service that repeats a cursor would cost calls without end.
    used_cursors: HashSet<Untrusted>,
    order: usize,
}

impl GroupRows {
    fn new(list: GroupList, reports: HashMap<Sha256, u64>) -> Self {
        let rows = vec![None];
        let next = Next::Page(None);
        let used_cursors = HashSet::new();
        Self { list, rows, next, since: None, total: None, reports, used_cursors, order: 0 }
    }

    fn order(&self) -> GroupOrder {
        ORDERS.get(self.order % ORDERS.len()).copied().unwrap_or(("", |_| (false, 0)))
    }

    pub fn order_name(&self) -> &'static str {
        self.order().0
    }

    /// Returns the request for the page after these; `None` at the end.
    pub fn next_page(&self) -> Option<Request> {
        self.next.request(|cursor| Request::GroupList { list: self.list, cursor })
    }

    /// Adds the page of this cursor; a first page replaces the list.
    fn take_page(&mut self, cursor: Option<&Untrusted>, page: GroupPage, received: Timestamp) {
        self.rows.retain(Option::is_some);
        if cursor.is_none() {
            (self.since, self.total) = (Some(received), page.end.count);
            self.rows.clear();
            self.used_cursors.clear();
        }
        self.used_cursors.extend(cursor.cloned());
        let listed: HashSet<_> = self.rows.iter().flatten().cloned().collect();
        self.rows.extend(page.entries.into_iter().filter(|entry| !listed.contains(entry)).map(Some));
        self.next = Next::behind(page.end, |cursor| self.used_cursors.contains(cursor));
        self.rows.extend((self.next != Next::Nothing).then_some(None));
    }
}

impl ListSource for GroupRows {
    type Row = Option<GroupEntry>;

    fn rows(&self) -> &[Self::Row] {
        &self.rows
    }

    fn text(entry: &Self::Row) -> String {
        let Some(entry) = entry else { return String::new() };
        let file = entry.file.as_ref().map(ToString::to_string).unwrap_or_default();
        let texts = [&entry.name, &entry.kind].into_iter().flatten().map(|text| text.visible().to_string());
        let status = entry.scan.as_ref().map(|(_, progress)| progress.label());
        [file].into_iter().chain(texts).chain(status).collect::<Vec<_>>().join(" ")
    }

    /// Sorts the entries; the row of the next page is last, whatever filters them.
    fn arrange(&self, mut found: Vec<u32>, _: bool) -> Vec<u32> {
        let entry = |number: &u32| self.rows.get(*number as usize).and_then(Option::as_ref);
        found.retain(|number| entry(number).is_some());
        found.sort_by_key(|number| entry(number).map(self.order().1));
        let next = self.rows.iter().position(Option::is_none);
        found.into_iter().chain(next.and_then(|next| next.try_into().ok())).collect()
    }

    /// Returns the heading's row; and those below, with details of the chosen entry.
    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (1, if room.height < 10 { 2 } else { 3 })
    }
}

/// Shows the stored pages of a list of the group.
pub(crate) fn show(
    model: &mut Model,
    list: GroupList,
    pages: Vec<(Timestamp, GroupPage)>,
    reports: HashMap<Sha256, u64>,
) {
    let mut rows = GroupRows::new(list, reports);
    for (received, page) in pages {
        let Next::Page(cursor) = rows.next.clone() else { break };
        rows.take_page(cursor.as_ref(), page, received);
    }
    let has_line = model.key_context().has_line();
    match model.overlays.top_as_mut::<GroupView>() {
        Some(view) if view.source.list == list => {
            view.change(|before| *before = GroupRows { order: before.order, ..rows });
        }
        _ if has_line => {}
        _ => model.overlays.put(GroupView::new(rows)),
    }
}

/// Adds a page that the service sent to the open list.
pub(crate) fn on_page(
    model: &mut Model,
    list: GroupList,
    cursor: Option<&Untrusted>,
    (page, received): (GroupPage, Timestamp),
) {
    if page.others > 0 {
        model.warn(format!("Left out of the list: {} of another type.", count(page.others as u64, "entry")));
    }
    match model.overlays.find_mut::<GroupView>().filter(|view| view.source.list == list) {
        Some(view) => view.change(|rows| rows.take_page(cursor, page, received)),
        None => model.say(format!("Stored: {} of the group. Opening the list shows them for free.", list.label())),
    }
}

/// Returns the chosen entry of a list of the group.
pub(crate) fn chosen(model: &Model) -> Option<&GroupEntry> {
    model.overlays.top_as::<GroupView>()?.chosen()?.as_ref()
}

/// Returns the files of the shown entries, if a list of the group is on top.
pub(crate) fn shown_files(model: &Model) -> Option<Vec<Sha256>> {
    let view = model.overlays.top_as::<GroupView>()?;
    Some(view.shown(0).flatten().filter_map(|entry| entry.file.clone()).collect())
}

/// Returns the request of the chosen row, if it is that of the next page.
pub(crate) fn next_page(model: &Model) -> Option<Request> {
    let view = model.overlays.top_as::<GroupView>()?;
    view.chosen().filter(|row| row.is_none()).and_then(|_| view.source.next_page())
}

/// Returns the request that lists once more.
pub(crate) fn first_page(model: &Model) -> Option<Request> {
    let rows = &model.overlays.top_as::<GroupView>()?.source;
    rows.since.map(|_| Request::GroupList { list: rows.list, cursor: None })
}

pub(crate) fn sort(model: &mut Model) {
    model.overlays.change_top(|view: &mut GroupView| view.change(|rows| rows.order += 1));
}

/// Opens the chosen file, and offers to watch a running analysis; back returns to the list.
pub(crate) fn open_chosen(model: &mut Model) {
    let Some(GroupEntry { file: Some(file), scan, at, .. }) = chosen(model).cloned() else { return };
    model.leave_list_for(|m| m.open_files(from_ref(&file)));
    let Some((identifier, progress)) = scan.filter(|(_, progress)| *progress != Progress::Done) else { return };
    let pending = PendingScan { identifier: Some(identifier), since: at.unwrap_or(model.now) };
    if model.follows.recall(&file, Some(pending), model.now) {
        let follow = model.key_label("watch");
        let price = model.follow_price();
        model.say(format!("Its analysis was {} when it was listed. {follow} watches it: {price}.", progress.label()));
    }
}

pub type TriageList = ListView<TriagedFiles>;

/// Files as they are evaluated, ranked.
#[derive(Debug, Default)]
pub struct TriagedFiles {
    rows: Vec<TriagedFile>,
    /// The number of files that it will have; `None` before the store is read.
    pub of: Option<usize>,
    /// The price of everything that is missing.
    pub total: String,
    job: Job,
}

impl ListSource for TriagedFiles {
    type Row = TriagedFile;

    fn rows(&self) -> &[TriagedFile] {
        &self.rows
    }

    fn text(file: &TriagedFile) -> String {
        let labels = file.labels.iter().map(|label| label.visible().to_string()).collect::<Vec<_>>().join(" ");
        format!("{} {} {labels} {}", file.file, file.verdict.name(), file.top.join(" "))
    }

    /// The heading; an empty row, and details of the chosen file.
    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (1, if room.height < 10 { 3 } else { 4 })
    }
}

impl TriageList {
    /// Takes evaluated files in the place of earlier ones; a moved cursor stays on its file.
    fn take(&mut self, found: Vec<TriagedFile>, of: usize, entitled: &Entitlements) {
        let chosen = self.chosen().filter(|_| self.scroll.cursor > 0).map(|chosen| chosen.file.clone());
        self.change(|all| {
            all.rows.retain(|row| found.iter().all(|new| new.file != row.file));
            all.rows.extend(found);
            rank(&mut all.rows);
            all.of = all.of.max(Some(of));
            let missing = all.rows.iter().flat_map(|file| &file.missing).map(Request::operation);
            let least = if all.rows.iter().any(TriagedFile::is_open) { "at least " } else { "" };
            all.total = format!("{least}{}", Plan::of(missing, entitled));
        });
        let place = chosen.and_then(|chosen| self.shown(0).position(|row| row.file == chosen));
        self.scroll.cursor = place.unwrap_or(self.scroll.cursor);
    }
}

/// The triage on the screen, or the one that was left for one of its files.
fn triage_list(model: &mut Model) -> Option<&mut TriageList> {
    let left = model.files.returns_mut().filter_map(|left| match left {
        ReturnPoint::List(_, _, overlays) => overlays.iter_mut().find_map(TriageList::of_mut),
        ReturnPoint::Finder => None,
    });
    model.overlays.all.iter_mut().rev().filter_map(TriageList::of_mut).chain(left).next()
}

/// Ranks these files, or all stored ones.
pub(crate) fn triage(model: &mut Model, files: Option<Vec<Sha256>>) {
    let list = TriageList::new(TriagedFiles::default());
    let ticket = list.source.job.ticket();
    model.overlays.put(list);
    let rules = model.rules_or_file();
    model.emit(ReportJob::Triage(ticket, files, rules));
}

/// Evaluates a file of the triage again after a response about it; all files after the last one,
/// as each may be alike to those that came later.
pub(crate) fn triage_again(model: &mut Model, file: Option<&Sha256>) {
    let Some(TriagedFiles { rows, job, .. }) = triage_list(model).map(|list| &list.source) else { return };
    let files = rows.iter().map(|row| row.file.clone()).filter(|known| file.is_none_or(|file| file == known));
    let files: Vec<_> = files.collect();
    if !files.is_empty() {
        let ticket = job.ticket();
        let rules = model.rules_or_file();
        model.emit(ReportJob::Triage(ticket, Some(files), rules));
    }
}

pub(crate) fn on_triaged(model: &mut Model, job: JobNumber, found: Vec<TriagedFile>, of: usize) {
    let entitled = model.quota_state.entitlements.clone();
    if let Some(list) = triage_list(model).filter(|list| list.source.job.is(job)) {
        list.take(found, of, &entitled);
    }
}

pub(crate) fn open_triaged(model: &mut Model) {
    let Some(file) = model.overlays.top_as::<TriageList>().and_then(|list| list.chosen()) else { return };
    let file = file.file.clone();
    model.leave_list_for(|m| m.open_files(&[file]));
}

/// Returns the cheapest missing questions of the shown files: unread lists, else reports.
pub(crate) fn cheapest(model: &Model) -> Vec<Request> {
    let mut known = HashSet::new();
    let files = model.overlays.top_as::<TriageList>().into_iter().flat_map(|list| list.shown(0));
    let mut requests: Vec<_> = files.flat_map(|file| &file.missing).filter(|request| known.insert(*request)).collect();
    let is_list = |request: &&Request| matches!(request, Request::Behaviours { .. });
    if requests.iter().any(is_list) {
        requests.retain(is_list);
    }
    requests.into_iter().cloned().collect()
}

pub(crate) fn price_of_cheapest(model: &Model) -> Plan {
    model.quota_state.price_of_reports(&cheapest(model))
}

/// Asks before it requests the cheapest of what is missing, one after another.
pub(crate) fn confirm_fetch(model: &mut Model) {
    let requests = cheapest(model);
    let what = if requests.iter().all(|one| matches!(one, Request::Behaviours { .. })) { "list" } else { "report" };
    let why = format!("To be requested: {}, for {}.", count(requests.len() as u64, what), price_of_cheapest(model));
    model.confirm_first(why, [KeyChoice::yes_to_all("yes, request all", Consent::OpenAll(requests))]);
}
