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

impl TriageList {
    /// The cheapest missing questions: lists that are not read, else reports; each once.
    pub(crate) fn cheapest(&self) -> Vec<Request> {
        let mut known = HashSet::new();
        let missing = self.shown(0).flat_map(|file| &file.missing);
        let mut requests: Vec<_> = missing.filter(|request| known.insert(*request)).collect();
        let is_list = |request: &&Request| matches!(request, Request::Behaviours { .. });
        if requests.iter().any(is_list) {
            requests.retain(is_list);
        }
        requests.into_iter().cloned().collect()
    }

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
fn list(model: &mut Model) -> Option<&mut TriageList> {
    let left = model.files.returns_mut().filter_map(|left| match left {
        ReturnPoint::List(_, _, overlays) => overlays.iter_mut().find_map(TriageList::of_mut),
        ReturnPoint::Finder => None,
    });
    model.overlays.all.iter_mut().rev().filter_map(TriageList::of_mut).chain(left).next()
}

/// Ranks these files, or all stored ones.
pub(crate) fn open(model: &mut Model, files: Option<Vec<Sha256>>) {
    let list = TriageList::new(TriagedFiles::default());
    let ticket = list.source.job.ticket();
    model.overlays.put(list);
    let rules = model.rules_or_file();
    model.emit(ReportJob::Triage(ticket, files, rules));
}

/// Evaluates a file of the triage again after a response about it.
pub(crate) fn refresh(model: &mut Model, file: &Sha256) {
    let list = list(model).filter(|list| list.source.rows.iter().any(|row| row.file == *file));
    let Some(ticket) = list.map(|list| list.source.job.ticket()) else { return };
    let rules = model.rules_or_file();
    model.emit(ReportJob::Triage(ticket, Some(vec![file.clone()]), rules));
}

pub(crate) fn on_triaged(model: &mut Model, job: JobNumber, found: Vec<TriagedFile>, of: usize) {
    let entitled = model.quota_state.entitlements.clone();
    if let Some(list) = list(model).filter(|list| list.source.job.is(job)) {
        list.take(found, of, &entitled);
    }
}

pub(crate) fn open_file(model: &mut Model) {
    let Some(file) = model.overlays.top_as::<TriageList>().and_then(|list| list.chosen()) else { return };
    let file = file.file.clone();
    let left = model.leave_list();
    model.open_files(&[file]);
    model.set_left(left);
}

pub(crate) fn cheapest(model: &Model) -> Vec<Request> {
    model.overlays.top_as::<TriageList>().map(TriageList::cheapest).unwrap_or_default()
}

pub(crate) fn price(model: &Model) -> Plan {
    model.quota_state.price_of_reports(&cheapest(model))
}

/// Asks before it requests the cheapest of what is missing, one after another.
pub(crate) fn confirm_fetch(model: &mut Model) {
    let requests = cheapest(model);
    let what = if requests.iter().all(|one| matches!(one, Request::Behaviours { .. })) { "list" } else { "report" };
    let why = format!("To be requested: {}, for {}.", count(requests.len() as u64, what), price(model));
    model.confirm_first(why, [KeyChoice::yes_to_all("yes, request all", Consent::OpenAll(requests))]);
}
