//! Shows what other stored reports add to one: prevalence, holders of a value, twins, next sandbox.

use crate::app::overlays::{FindingRow, PickerRow, PickerRows, RowPicker, Target, TextRow};
use crate::app::{Job, JobNumber, Model, Overlay, StoreJob, Ticket};
use crate::prevalence::{Prevalence, SandboxYield, StableBuildHasher, Twin, ValueHolder};
use crate::report::compare::ValueHashes;
use crate::report::identifier::Sha256;
use crate::report::{Identifier, Report, RowPlace};
use crate::text::count;
use std::collections::HashSet;

/// What twins have in common.
pub const NEARLY_THE_SAME: &str = "did nearly the same";

/// Work on the index of values, beside the loop.
#[derive(Debug)]
pub enum ValueJob {
    /// Indexes stored reports that are new, of one file or of all, and forgets deleted ones.
    Index(Option<Sha256>),
    Count(Ticket, Report, RowPlace, ReportOrigin),
    FindTwins(Ticket, Report, ReportOrigin),
    FindHolders(Ticket, PivotSubject, ReportOrigin),
}

#[derive(Debug)]
pub enum ValueEvent {
    Indexed(Vec<SandboxYield>),
    /// The findings of an opened report are noted.
    Noted(Vec<SandboxYield>),
    Counted(JobNumber, Vec<CountedValue>),
    TwinsFound(JobNumber, Vec<Twin>),
    HoldersFound(JobNumber, Vec<HolderGroup>),
}

/// The file and the sandbox from which others are looked for.
#[derive(Debug, Clone)]
pub struct ReportOrigin {
    pub file: Option<Sha256>,
    pub identifier: Identifier,
}

/// What other stored files may have as well.
#[derive(Debug)]
pub enum PivotSubject {
    Row(Report, RowPlace),
    /// A value by its kind.
    Value(String, ValueHashes),
    /// The report as a whole: files that did nearly the same.
    Twins(Report),
}

/// A value of a row with its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedValue {
    pub kind: String,
    pub prevalence: Prevalence,
}

/// Reports of other files that have a value, each with its description, and whether this profile
/// can open it.
#[derive(Debug)]
pub struct HolderGroup {
    pub head: String,
    pub label: String,
    /// The number of files that have it: too many are not listed.
    pub files: usize,
    pub holders: Vec<(ValueHolder, String, bool)>,
}

/// What the model knows from other stored reports.
#[derive(Debug, Default)]
pub struct StoredValues {
    /// The open report, which the following is about.
    report: Option<JobNumber>,
    /// The chosen row, and the job that counts it.
    row: Option<RowPlace>,
    counting: Job,
    counted: Vec<CountedValue>,
    /// The job that finds twins; `None` until the report is complete.
    finding: Option<Job>,
    twins: Vec<Twin>,
    yields: Vec<SandboxYield>,
    /// The pivot that was asked for last, until the next key.
    pub(super) pivot: Option<Job>,
}

impl StoredValues {
    /// Returns how common the chosen row is; `None` for any other row.
    pub fn label(&self, place: RowPlace, key: &str) -> Option<String> {
        let counted = self.counted.first().filter(|_| self.row == Some(place))?;
        let label = counted.prevalence.label()?;
        Some(if counted.prevalence.files > 1 { format!("{label} ({key} lists them)") } else { label })
    }

    /// Returns the same for each value of the row.
    pub(super) fn remarks(&self, place: RowPlace) -> Vec<TextRow> {
        let counted = self.counted.iter().filter(|_| self.row == Some(place));
        let remark = |value: &CountedValue| Some(TextRow { head: value.kind.clone(), text: value.prevalence.label()? });
        counted.filter_map(remark).collect()
    }

    /// Returns the files that did nearly what the open report tells; `None` if there is none.
    pub fn twins_label(&self, key: &str) -> Option<String> {
        let last = self.twins.iter().map(|twin| twin.holder.received).max()?;
        let files = count(self.twins.len() as u64, "file");
        Some(format!("{NEARLY_THE_SAME}: {files}, {} ({key} lists them)", last.strftime("%-d %B")))
    }

    /// Returns what the sandbox of an entry usually brings.
    pub fn usual(&self, entry: &Identifier) -> Option<&SandboxYield> {
        let sandbox = entry.parts().sandbox;
        self.yields.iter().find(|usual| usual.sandbox == sandbox)
    }
}

/// Returns the sandbox of the shown list that is not stored and usually brings most.
pub fn best_next(model: &Model) -> Option<(&Identifier, &SandboxYield)> {
    let entries = model.list()?.entries.iter().filter(|entry| entry.report().is_none());
    let usual =
        entries.filter_map(|entry| entry.identifier.as_ref()).filter_map(|id| Some((id, model.values.usual(id)?)));
    // Of equal ones, the first of the list.
    usual.rev().max_by_key(|(_, usual)| usual.rank())
}

/// Explains why a sandbox that is not stored is the best to open next, or what it usually brings.
pub fn why_next(model: &Model, entry: &Identifier) -> Option<String> {
    let usual = model.values.usual(entry)?;
    let best = best_next(model).filter(|(best, _)| *best == entry);
    let best = best.map_or("", |_| "best to open next: of the sandboxes that are not stored it usually brings most · ");
    Some(format!("{best}{} (median of {})", usual.label(), count(usual.reports as u64, "stored report")))
}

/// Counts the chosen row, and finds the twins of the open report, once each.
pub(super) fn follow(model: &mut Model) {
    let number = model.open().map(|open| open.job.number());
    if number != model.values.report {
        let StoredValues { yields, pivot, .. } = std::mem::take(&mut model.values);
        model.values = StoredValues { report: number, yields, pivot, ..StoredValues::default() };
    }
    let Some(open) = model.open().filter(|open| open.report.index.is_complete && !model.is_document()) else { return };
    let report = open.report.clone();
    let Some(origin) = origin(model) else { return };
    let row = model.files.current_row().map(|(_, place)| place);
    if let Some(place) = row.filter(|_| row != model.values.row) {
        let values = &mut model.values;
        (values.row, values.counting) = (row, Job::default());
        values.counted.clear();
        let ticket = values.counting.ticket();
        model.emit(StoreJob::Values(ValueJob::Count(ticket, report.clone(), place, origin.clone())));
    }
    if model.values.finding.is_none() {
        let ticket = model.values.finding.insert(Job::default()).ticket();
        model.emit(StoreJob::Values(ValueJob::FindTwins(ticket, report, origin)));
    }
}

fn origin(model: &Model) -> Option<ReportOrigin> {
    let identifier = model.chosen()?.identifier.clone()?;
    Some(ReportOrigin { file: model.file().cloned(), identifier })
}

pub(super) fn on_event(model: &mut Model, event: ValueEvent) {
    match event {
        ValueEvent::Indexed(yields) => {
            // The chosen row and the twins are counted again.
            (model.values.row, model.values.finding) = (None, None);
            model.values.yields = yields;
        }
        ValueEvent::Noted(yields) => model.values.yields = yields,
        ValueEvent::Counted(job, counted) if model.values.counting.is(job) => model.values.counted = counted,
        ValueEvent::TwinsFound(job, twins) if model.values.finding.as_ref().is_some_and(|finding| finding.is(job)) => {
            model.values.twins = twins;
        }
        ValueEvent::HoldersFound(job, groups) if model.values.pivot.as_ref().is_some_and(|pivot| pivot.is(job)) => {
            model.values.pivot = None;
            show_holders(model, groups);
        }
        ValueEvent::Counted(..) | ValueEvent::TwinsFound(..) | ValueEvent::HoldersFound(..) => {}
    }
}

/// Returns the start of a pivot: the chosen row, finding, indicator, or report in the list.
pub(super) fn subject(model: &Model) -> Option<(PivotSubject, ReportOrigin)> {
    let origin = origin(model).filter(|_| !model.is_document())?;
    let subject = match model.overlays.top() {
        Some(Overlay::Findings(list)) => {
            let finding = list.chosen().and_then(FindingRow::finding)?;
            PivotSubject::Value(finding.pane.short().to_owned(), finding.value?)
        }
        Some(Overlay::Indicators(list)) => {
            let found = &list.chosen()?.first.indicator;
            PivotSubject::Value(found.kind.name().to_owned(), found.hashes(&StableBuildHasher))
        }
        None | Some(Overlay::Detail(_)) => {
            let open = model.open().filter(|open| open.report.index.is_complete)?;
            match (model.focused(), model.files.current_row()) {
                (None, _) => PivotSubject::Twins(open.report.clone()),
                (Some(_), row) => PivotSubject::Row(open.report.clone(), row?.1),
            }
        }
        _ => return None,
    };
    Some((subject, origin))
}

pub(super) fn pivot(model: &mut Model) {
    let Some((subject, origin)) = subject(model) else { return };
    let job = Job::default();
    let ticket = job.ticket();
    model.values.pivot = Some(job);
    model.emit(StoreJob::Values(ValueJob::FindHolders(ticket, subject, origin)));
}

/// Lists the stored reports of other files that have a value.
fn show_holders(model: &mut Model, groups: Vec<HolderGroup>) {
    if groups.iter().all(|group| group.holders.is_empty()) {
        return model.say(match groups.first() {
            None => "Nothing in this row can be looked for in other files.".to_owned(),
            Some(group) if group.head == NEARLY_THE_SAME => format!("No other stored file {NEARLY_THE_SAME}."),
            Some(_) => match groups.iter().find(|group| group.files > 1) {
                Some(group) => format!("The files that have it cannot be listed: {}.", group.label),
                None => "No other stored file has it.".to_owned(),
            },
        });
    }
    let mut rows = Vec::new();
    let mut known = HashSet::new();
    let mut reports = HashSet::new();
    for group in groups.into_iter().filter(|group| !group.holders.is_empty()) {
        let here: Vec<_> = group.holders.iter().map(|(holder, ..)| holder.identifier.clone()).collect();
        reports.extend(here.iter().cloned());
        // A row and its indicator are in the same reports.
        if !known.insert(here) {
            continue;
        }
        rows.push(PickerRow::text(group.head, group.label));
        rows.extend(group.holders.into_iter().map(|(holder, about, is_open)| {
            let file = holder.file.as_ref().map_or_else(|| "?".to_owned(), Sha256::short);
            let name = holder.file.as_ref().and_then(|file| model.start.name_of(file));
            let name = name.map(|name| format!("{} · ", name.visible_cut(40))).unwrap_or_default();
            let place = Some(holder.place).filter(|_| about.is_empty());
            let target = Target { file: holder.file, identifier: Some(holder.identifier.clone()), entry: 0, place };
            let sandbox = holder.identifier.parts().sandbox.visible_cut(40);
            let about = if about.is_empty() { about } else { format!(" · {about}") };
            let when = crate::text::moment(holder.received);
            PickerRow {
                target: Some(target).filter(|_| is_open),
                ..PickerRow::text(format!("  {file}"), format!("{name}{sandbox} · stored {when}{about}"))
            }
        }));
    }
    let title = format!("Pivot: {}", count(reports.len() as u64, "other stored report"));
    model.overlays.put(RowPicker::new(PickerRows::new(title, rows)));
}
