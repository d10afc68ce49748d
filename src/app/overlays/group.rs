//! Lists of files: the group's private files and analyses, page by page.

use crate::app::list::Next;
use crate::app::overlays::{ListSource, ListView};
use crate::app::{Model, Size};
use crate::report::analysis::Progress;
use crate::report::identifier::Sha256;
use crate::report::{GroupEntry, GroupPage, PendingScan};
use crate::request::{GroupList, Request};
use crate::text::{Untrusted, count};
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
