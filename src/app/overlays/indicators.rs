//! Overlay lists of indicators and artifacts.

use crate::app::export_form::ExportForm;
use crate::app::find::in_circle;
use crate::app::overlays::{ListSource, ListView, PickerRow, PickerRows, RowPicker, Scope, Target};
use crate::app::panes::Scroll;
use crate::app::{Failure, Job, JobNumber, KeyContext, ListEntry, Model, Overlay, ReportJob, Size};
pub use crate::export::Part;
use crate::export::file;
use crate::prevalence::{Prevalence, StableBuildHasher};
use crate::report::identifier::Identifier;
use crate::report::indicators::MergedIndicator;
use crate::report::{Report, RowPlace, Section};
use crate::request::{Artifact, Request};
use crate::text::{Untrusted, count, wrap};
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;

pub const TO_BLOCK: &str = "to block";

const NAME_COLUMNS: usize = 16;

/// Indicators of several reports, each once, the reports, and prevalences by indicator hash.
pub(crate) type MergedIndicators = (Vec<MergedIndicator>, Vec<Report>, HashMap<u64, Prevalence>);

pub type IndicatorList = ListView<FoundIndicators>;

/// The indicators of the covered reports, without duplicates.
#[derive(Debug, Default)]
pub struct FoundIndicators {
    pub(crate) scope: Scope,
    /// The visible part: all, those to block, or those of one kind.
    pub what: Part,
    /// The parts, each with its number of indicators.
    pub choices: Vec<(Part, usize)>,
    found: Vec<MergedIndicator>,
    /// The sandbox and the jump target of each report.
    pub sandboxes: Vec<(Untrusted, Target)>,
    /// The same reports, once all of them have been searched.
    reports: Vec<Report>,
    prevalence: HashMap<u64, Prevalence>,
    job: Job,
}

/// Screen rows from which some describe the chosen indicator.
const TALL_ROWS: u16 = 14;

impl FoundIndicators {
    pub fn is_complete(&self) -> bool {
        self.reports.len() == self.sandboxes.len()
    }

    /// Returns the number of reports that could not be read completely.
    pub fn unread(&self) -> usize {
        self.reports.iter().filter(|report| !report.is_sound()).count()
    }

    /// Returns the number of lists that the service may have cut.
    pub fn cut_lists(&self) -> u64 {
        self.reports.iter().map(|report| report.cut_lists(None).count() as u64).sum()
    }

    /// Returns how common an indicator is among stored files.
    pub fn prevalence(&self, found: &MergedIndicator) -> Prevalence {
        let is_counted = !self.prevalence.is_empty();
        let hash = is_counted.then(|| found.first.indicator.hashes(&StableBuildHasher).value);
        hash.and_then(|hash| self.prevalence.get(&hash)).copied().unwrap_or_default()
    }

    pub fn section(&self, report: usize, place: RowPlace) -> Option<&Section> {
        self.reports.get(report)?.section(place.section)
    }

    fn picker_rows(&self, found: &MergedIndicator) -> Vec<PickerRow> {
        let mut picker_rows = Vec::new();
        for sighting in found.sightings() {
            let Some((report, (name, target))) =
                self.reports.get(sighting.report).zip(self.sandboxes.get(sighting.report))
            else {
                continue;
            };
            let is_one = self.sandboxes.len() == 1;
            let seen_by = if is_one { String::new() } else { format!("{} · ", name.visible_cut(NAME_COLUMNS)) };
            picker_rows.extend(sighting.indicator.places.iter().filter_map(|place| {
                let pane = report.section(place.section)?.pane();
                let target = Target { place: Some(*place), ..target.clone() };
                let row = report.row(place.section, place.row);
                Some(PickerRow {
                    pane: Some(pane),
                    ..PickerRow::row(format!("{seen_by}{}", pane.short()), row, target)
                })
            }));
        }
        let more = found.seen().saturating_sub(picker_rows.len() as u64);
        picker_rows.extend((more > 0).then(|| PickerRow::text("", format!("and {} more", count(more, "row")))));
        picker_rows
    }
}

/// Counts all, those to block, and those of each kind; in one pass for millions.
fn choices(found: &[MergedIndicator]) -> Vec<(Part, usize)> {
    let to_block = found.iter().filter(|found| found.is_to_block()).count();
    let mut choices = vec![(Part::Indicators, found.len()), (Part::ToBlock, to_block)];
    let kinds = found.chunk_by(|one, other| one.kind() == other.kind());
    choices.extend(kinds.filter_map(|kind| Some((Part::OfKind(kind.first()?.kind()), kind.len()))));
    choices.retain(|(what, count)| *count > 0 || *what == Part::Indicators);
    choices
}

impl ListSource for FoundIndicators {
    type Row = MergedIndicator;

    const PLACES: (KeyContext, KeyContext) = (KeyContext::FilterLine, KeyContext::Rows);

    fn rows(&self) -> &[MergedIndicator] {
        &self.found
    }

    fn arrange(&self, mut found: Vec<u32>, _: bool) -> Vec<u32> {
        found.retain(|number| self.found.get(*number as usize).is_some_and(|found| self.what.has(found)));
        found
    }

    fn text(found: &MergedIndicator) -> String {
        let to_block = if found.is_to_block() { TO_BLOCK } else { "" };
        // Skips rendering for rows that do not match: there may be hundreds of thousands.
        format!("{} {to_block} {}", found.kind().name(), String::from_utf8_lossy(found.value().as_bytes()))
    }

    /// Returns the kinds and an empty row; below, where the chosen indicator was seen.
    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (2, if room.height >= TALL_ROWS { 2 } else { 0 })
    }
}

impl IndicatorList {
    pub(crate) fn listed(&self) -> Part {
        if !self.is_filtered() {
            return self.source.what.clone();
        }
        Part::Listed(Arc::new(self.shown(0).map(|found| (found.kind(), found.value().clone())).collect()))
    }

    pub(crate) fn step(&mut self, forward: bool) {
        let choices = &self.source.choices;
        let here = choices.iter().position(|(what, _)| *what == self.source.what).unwrap_or(0);
        let next = in_circle(here, choices.len(), forward).next().and_then(|at| choices.get(at));
        if let Some((what, _)) = next.cloned() {
            self.change(|source| source.what = what);
            self.scroll = Scroll::default();
        }
    }
}

pub type ArtifactList = ListView<SandboxArtifacts>;

/// The artifacts of one sandbox, stored or not.
#[derive(Debug)]
pub struct SandboxArtifacts {
    /// The artifacts, each with when it was stored.
    pub(crate) rows: Vec<(Artifact, Option<Timestamp>)>,
    pub failure: Option<Failure>,
    identifier: Identifier,
}

impl SandboxArtifacts {
    pub fn request(&self, artifact: Artifact) -> Request {
        Request::Artifact { identifier: self.identifier.clone(), artifact }
    }

    pub(crate) fn requests(&self) -> impl Iterator<Item = Request> + '_ {
        self.rows.iter().map(|(artifact, _)| self.request(*artifact))
    }

    fn failure_rows(&self, columns: usize) -> usize {
        self.failure.as_ref().map_or(0, |failure| wrap(&failure.label(), columns).len())
    }
}

impl ListSource for SandboxArtifacts {
    type Row = (Artifact, Option<Timestamp>);

    fn rows(&self) -> &[Self::Row] {
        &self.rows
    }

    fn text((artifact, _): &Self::Row) -> String {
        artifact.label().to_owned()
    }

    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (0, self.failure_rows(room.width.into()))
    }

    fn height(&self, columns: usize) -> usize {
        self.rows.len() + self.failure_rows(columns)
    }
}

impl Model {
    /// Searches the covered reports, for the open list or for a new one.
    pub(crate) fn find_indicators(&mut self) {
        let mut sandboxes = Vec::new();
        let mut sources = Vec::new();
        let is_whole = |entry: &ListEntry| entry.report().is_some_and(|report| report.body.is_whole());
        for (entry, found) in self.covered().filter(|(_, entry)| is_whole(entry)) {
            let name = found.name().or_else(|| found.document.clone()).unwrap_or_default();
            sandboxes.push((name, Target { file: None, identifier: found.identifier.clone(), entry, place: None }));
            sources.extend(self.source_of(found));
        }
        if sources.is_empty() {
            return self.say("The report is still arriving: press the key again once it is stored.");
        }
        let scope = self.scope();
        let rules = self.rules_or_file();
        let job = Job::default();
        let ticket = job.ticket();
        let what = self.overlays.top_as::<IndicatorList>().map_or(Part::Indicators, |list| list.source.what.clone());
        let source = FoundIndicators { scope, what, sandboxes, job, ..FoundIndicators::default() };
        match self.overlays.top_as_mut::<IndicatorList>() {
            Some(list) => list.change(|before| *before = source),
            None => self.overlays.put(IndicatorList::new(source)),
        }
        self.emit(ReportJob::FindIndicators(ticket, sources, rules));
    }

    pub(crate) fn on_indicators_found(&mut self, job: JobNumber, result: Result<MergedIndicators, String>) {
        let Some(list) = self.overlays.find_mut::<IndicatorList>().filter(|list| list.source.job.is(job)) else {
            return;
        };
        match result {
            Ok((found, reports, prevalence)) => list.change(|source| {
                source.choices = choices(&found);
                if !source.choices.iter().any(|(what, _)| *what == source.what) {
                    source.what = Part::Indicators;
                }
                (source.found, source.reports, source.prevalence) = (found, reports, prevalence);
            }),
            Err(why) => {
                self.overlays.close();
                self.warn(format!("The indicators could not be found: {why}"));
            }
        }
    }

    /// Goes to the row with the chosen indicator, or lists several.
    pub(crate) fn go_to_indicator(&mut self) {
        let list = self.overlays.top_as::<IndicatorList>();
        let Some(picker_rows) = list.and_then(|list| Some(list.source.picker_rows(list.chosen()?))) else { return };
        match picker_rows.as_slice() {
            [] => self.say("The indicator is the file itself: no row names it."),
            [PickerRow { target: Some(target), .. }] => {
                let target = target.clone();
                self.leave_list_for(|m| m.go_to(target))
            }
            _ => self.overlays.put(RowPicker::new(PickerRows::new("Rows with the indicator", picker_rows))),
        }
    }

    pub(crate) fn claimed_artifacts(&self) -> impl Iterator<Item = Artifact> {
        let report = self.open().map(|open| &open.report);
        let is_claimed =
            move |artifact: &Artifact| report.is_some_and(|report| artifact.is_beside(report) == Some(true));
        Artifact::ALL.into_iter().filter(is_claimed)
    }

    pub(crate) fn chosen_artifact(&self) -> Option<Request> {
        let list = self.overlays.top_as::<ArtifactList>()?;
        list.chosen().map(|(artifact, _)| list.source.request(*artifact))
    }

    pub(crate) fn is_chosen_artifact_stored(&self) -> bool {
        self.overlays.top_as::<ArtifactList>().and_then(|list| list.chosen()).is_some_and(|(_, since)| since.is_some())
    }

    pub(crate) fn show_artifacts(&mut self) {
        let Some(identifier) = self.chosen().and_then(|entry| entry.identifier.clone()) else { return };
        let rows: Vec<_> = self.claimed_artifacts().map(|artifact| (artifact, None)).collect();
        self.overlays.put(ArtifactList::new(SandboxArtifacts { rows, failure: None, identifier }));
        self.check_store()
    }

    pub(crate) fn artifact_stored(&mut self, request: &Request, since: Option<Timestamp>) {
        let Request::Artifact { artifact, .. } = request else { return };
        let rows = self.artifacts_of_request(request).into_iter().flat_map(|list| &mut list.source.rows);
        rows.filter(|(row, _)| row == artifact).for_each(|row| row.1 = since);
    }

    pub(crate) fn on_artifact(&mut self, request: &Request, received: Timestamp, length: u64) {
        let Request::Artifact { artifact, .. } = request else { return };
        self.artifact_stored(request, Some(received));
        self.artifacts_of_request(request).into_iter().for_each(|list| list.source.failure = None);
        let length = crate::text::bytes(length);
        let way = match self.overlays.top() {
            Some(Overlay::SandboxArtifacts(_)) => format!("{} writes it to a file", self.key_label("download")),
            _ => format!("{} shows it, to be written to a file", self.key_label("artifacts")),
        };
        self.say(format!("Stored: {}, {length}. {way}.", artifact.label()));
    }

    pub(crate) fn artifacts_of_request(&mut self, request: &Request) -> Option<&mut ArtifactList> {
        let is_asked = |list: &&mut ArtifactList| list.source.requests().any(|asked| asked == *request);
        self.overlays.top_as_mut::<ArtifactList>().filter(is_asked)
    }

    pub(crate) fn save_artifact(&mut self) {
        if let Some(request) = self.chosen_artifact()
            && let Request::Artifact { identifier, artifact } = &request
        {
            let name = file::name(Some(identifier), None, artifact.extension());
            self.overlays.put(ExportForm::stored(request, name));
        }
    }
}
