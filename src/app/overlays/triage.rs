//! The triage of several files: what is stored of each, and the price of what is missing.

use crate::app::files::ReturnPoint;
use crate::app::overlays::{ListSource, ListView, OverlayKind};
use crate::app::spending::{Consent, KeyChoice};
use crate::app::{Job, JobNumber, Model, ReportJob, Size};
use crate::quota::{Entitlements, Plan};
use crate::report::identifier::Sha256;
use crate::request::Request;
use crate::text::count;
use crate::triage::{TriagedFile, rank};
use std::collections::HashSet;

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

impl TriagedFiles {
    /// Returns whether every file is evaluated: before that its price is one of a part.
    pub fn is_complete(&self) -> bool {
        self.of.is_some_and(|of| self.rows.len() >= of)
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
    model.emit(ReportJob::Triage(ticket, files, 0, rules));
}

/// Evaluates a file of the triage again after a response about it; all files after the last one,
/// as each may be alike to those that came later.
pub(crate) fn triage_again(model: &mut Model, file: Option<&Sha256>) {
    let Some(TriagedFiles { rows, of, job, .. }) = triage_list(model).map(|list| &list.source) else { return };
    let files = rows.iter().map(|row| row.file.clone()).filter(|known| file.is_none_or(|file| file == known));
    let files: Vec<_> = files.collect();
    if !files.is_empty() {
        let (ticket, length) = (job.ticket(), of.unwrap_or(rows.len()));
        let rules = model.rules_or_file();
        model.emit(ReportJob::Triage(ticket, Some(files), length, rules));
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
    let list = model.overlays.top_as::<TriageList>().filter(|list| list.source.is_complete());
    let files = list.into_iter().flat_map(|list| list.shown(0));
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
