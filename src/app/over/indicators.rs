//! What a report leads to, as lists over the screen: indicators, which others can look for, and artifacts, which are fetched at a price.

use crate::app::away::SaveForm;
use crate::app::find::in_circle;
use crate::app::over::{ListSource, ListView, RowPicker, Scope, Spot, Spots, Target};
use crate::app::panes::Scroll;
use crate::app::{Failure, Job, JobNumber, ListEntry, Model, Overlay, Place as KeyPlace, ReportJob, Size};
pub use crate::export::What;
use crate::export::file;
use crate::report::identifier::Identifier;
use crate::report::indicators::MergedIndicator;
use crate::report::{Place, Report, Section};
use crate::request::{Artefact, Request};
use crate::text::{Untrusted, count, words_in_rows};
use jiff::Timestamp;
use std::sync::Arc;

pub const TO_BLOCK: &str = "to block";

/// Columns of a sandbox's name.
const NAME: usize = 16;

/// The indicators of several reports, each once, and the reports.
pub type Merged = (Vec<MergedIndicator>, Vec<Report>);

pub type IndicatorList = ListView<FoundIndicators>;

/// The indicators of the reports that the scope covers, each once.
#[derive(Debug, Default)]
pub struct FoundIndicators {
    pub scope: Scope,
    /// Those that are shown: all, those to block, or those of one kind.
    pub what: What,
    /// What can be shown, and how many indicators that are.
    pub choices: Vec<(What, usize)>,
    found: Vec<MergedIndicator>,
    /// The sandbox of each report, and the way to it.
    pub sandboxes: Vec<(Untrusted, Target)>,
    /// The same reports, once all of them have been searched.
    reports: Vec<Report>,
    job: Job,
}

/// Screen rows from which on some are spared for the chosen indicator.
const TALL: u16 = 14;

impl FoundIndicators {
    pub fn is_complete(&self) -> bool {
        self.reports.len() == self.sandboxes.len()
    }

    /// How many of the reports could not be read to their ends.
    pub fn unread(&self) -> usize {
        self.reports.iter().filter(|report| !report.is_sound()).count()
    }

    pub fn section(&self, report: usize, place: Place) -> Option<&Section> {
        self.reports.get(report)?.section(place.section)
    }

    fn spots(&self, found: &MergedIndicator) -> Vec<Spot> {
        let mut spots = Vec::new();
        for sighting in found.sightings() {
            let Some((report, (name, target))) =
                self.reports.get(sighting.report).zip(self.sandboxes.get(sighting.report))
            else {
                continue;
            };
            let is_one = self.sandboxes.len() == 1;
            let seen_by = if is_one { String::new() } else { format!("{} · ", name.visible_cut(NAME)) };
            spots.extend(sighting.indicator.places.iter().filter_map(|place| {
                let pane = report.section(place.section)?.pane();
                let target = Target { place: Some(*place), ..target.clone() };
                let row = report.row(place.section, place.row);
                Some(Spot { pane: Some(pane), ..Spot::row(format!("{seen_by}{}", pane.short()), row, target) })
            }));
        }
        let more = found.seen().saturating_sub(spots.len() as u64);
        spots.extend((more > 0).then(|| Spot::words("", format!("and {} more", count(more, "row")))));
        spots
    }
}

/// Counts all, those to block, and those of each kind, where there are any; in one pass, for there may be millions.
fn choices(found: &[MergedIndicator]) -> Vec<(What, usize)> {
    let to_block = found.iter().filter(|found| found.is_to_block()).count();
    let mut choices = vec![(What::Indicators, found.len()), (What::ToBlock, to_block)];
    let kinds = found.chunk_by(|one, other| one.kind() == other.kind());
    choices.extend(kinds.filter_map(|kind| Some((What::OfKind(kind.first()?.kind()), kind.len()))));
    choices.retain(|(what, count)| *count > 0 || *what == What::Indicators);
    choices
}

impl ListSource for FoundIndicators {
    type Row = MergedIndicator;

    const PLACES: (KeyPlace, KeyPlace) = (KeyPlace::SoughtLine, KeyPlace::Rows);

    fn rows(&self) -> &[MergedIndicator] {
        &self.found
    }

    fn arrange(&self, mut found: Vec<u32>, _: bool) -> Vec<u32> {
        found.retain(|number| self.found.get(*number as usize).is_some_and(|found| self.what.has(found)));
        found
    }

    fn text(found: &MergedIndicator) -> String {
        let to_block = if found.is_to_block() { TO_BLOCK } else { "" };
        // There may be hundreds of thousands: none is made visible only to be passed over.
        format!("{} {to_block} {}", found.kind().name(), String::from_utf8_lossy(found.value().as_bytes()))
    }

    /// The kinds and an empty row; below where the chosen one was seen.
    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (2, if room.height >= TALL { 2 } else { 0 })
    }
}

impl IndicatorList {
    /// What it shows, to be written to a file.
    pub(in crate::app) fn listed(&self) -> What {
        if !self.is_filtered() {
            return self.source.what.clone();
        }
        What::Listed(Arc::new(self.shown(0).map(|found| (found.kind(), found.value().clone())).collect()))
    }

    pub fn step(&mut self, forward: bool) {
        let choices = &self.source.choices;
        let here = choices.iter().position(|(what, _)| *what == self.source.what).unwrap_or(0);
        let next = in_circle(here, choices.len(), forward).next().and_then(|at| choices.get(at));
        if let Some((what, _)) = next.cloned() {
            self.change(|source| source.what = what);
            self.scroll = Scroll::default();
        }
    }
}

impl Model {
    /// Searches the reports that the scope covers, for the list that is open or for a new one.
    pub(in crate::app) fn find_indicators(&mut self) {
        let (mut sandboxes, mut sources) = (Vec::new(), Vec::new());
        let is_whole = |entry: &ListEntry| entry.report().is_some_and(|report| report.body.is_whole());
        for (entry, found) in self.covered().filter(|(_, entry)| is_whole(entry)) {
            let name = found.name().or_else(|| found.document.clone()).unwrap_or_default();
            let target = Target { file: None, identifier: found.identifier.clone(), entry, place: None };
            sandboxes.push((name, target));
            sources.extend(self.source_of(found));
        }
        if sources.is_empty() {
            return self.say("The report is still coming: press it again once it is here.");
        }
        let (scope, rules, job) = (self.scope(), self.rules_or_file(), Job::default());
        let ticket = job.ticket();
        let what = self.over.top_as::<IndicatorList>().map_or(What::Indicators, |list| list.source.what.clone());
        let source = FoundIndicators { scope, what, sandboxes, job, ..FoundIndicators::default() };
        match self.over.top_as_mut::<IndicatorList>() {
            Some(list) => list.change(|before| *before = source),
            None => self.over.put(IndicatorList::new(source)),
        }
        self.emit(ReportJob::FindIndicators(ticket, sources, rules));
    }

    /// Shows the indicators that were found, in the list that waits for them.
    pub(in crate::app) fn indicated(&mut self, job: JobNumber, result: Result<Merged, String>) {
        let Some(list) = self.over.find_mut::<IndicatorList>().filter(|list| list.source.job.is(job)) else { return };
        match result {
            Ok((found, reports)) => list.change(|source| {
                source.choices = choices(&found);
                if !source.choices.iter().any(|(what, _)| *what == source.what) {
                    source.what = What::Indicators;
                }
                (source.found, source.reports) = (found, reports);
            }),
            Err(why) => {
                self.over.close();
                return self.warn(format!("The indicators could not be found: {why}"));
            }
        }
        let scope = list.source.scope;
        self.say_not_covered(scope);
    }

    /// Goes to the row that names the chosen indicator; where there are several, lists them.
    pub(in crate::app) fn go_to_indicator(&mut self) {
        let list = self.over.top_as::<IndicatorList>();
        let Some(spots) = list.and_then(|list| Some(list.source.spots(list.chosen()?))) else { return };
        match spots.as_slice() {
            [] => self.say("It is the file itself: no row names it."),
            [Spot { target: Some(target), .. }] => self.leave_list_for(target.clone()),
            _ => self.over.put(Spots::new(RowPicker::new("Rows that name it", spots))),
        }
    }
}

pub type ArtefactList = ListView<Artefacts>;

#[derive(Debug)]
pub struct Artefacts {
    /// Each with since when it is stored, if it is.
    pub rows: Vec<(Artefact, Option<Timestamp>)>,
    pub failure: Option<Failure>,
    identifier: Identifier,
}

impl Artefacts {
    pub fn request(&self, artefact: Artefact) -> Request {
        Request::Artefact { identifier: self.identifier.clone(), artefact }
    }

    pub(in crate::app) fn requests(&self) -> impl Iterator<Item = Request> + '_ {
        self.rows.iter().map(|(artefact, _)| self.request(*artefact))
    }

    fn failure_rows(&self, columns: usize) -> usize {
        self.failure.as_ref().map_or(0, |failure| words_in_rows(&failure.words(), columns).len())
    }
}

impl ListSource for Artefacts {
    type Row = (Artefact, Option<Timestamp>);

    fn rows(&self) -> &[Self::Row] {
        &self.rows
    }

    fn text((artefact, _): &Self::Row) -> String {
        artefact.words().to_owned()
    }

    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (0, self.failure_rows(room.width.into()))
    }

    fn height(&self, columns: usize) -> usize {
        self.rows.len() + self.failure_rows(columns)
    }
}

impl Model {
    pub(in crate::app) fn claimed_artefacts(&self) -> impl Iterator<Item = Artefact> {
        let report = self.open().map(|open| &open.report);
        let is_claimed =
            move |artefact: &Artefact| report.is_some_and(|report| artefact.is_beside(report) == Some(true));
        Artefact::ALL.into_iter().filter(is_claimed)
    }

    pub(in crate::app) fn chosen_artefact(&self) -> Option<Request> {
        let list = self.over.top_as::<ArtefactList>()?;
        list.chosen().map(|(artefact, _)| list.source.request(*artefact))
    }

    pub(in crate::app) fn is_chosen_artefact_held(&self) -> bool {
        let chosen = self.over.top_as::<ArtefactList>().and_then(|list| list.chosen());
        chosen.is_some_and(|(_, since)| since.is_some())
    }

    pub(in crate::app) fn show_artefacts(&mut self) {
        let Some(identifier) = self.chosen().and_then(|entry| entry.identifier.clone()) else { return };
        let rows: Vec<_> = self.claimed_artefacts().map(|artefact| (artefact, None)).collect();
        let list = ArtefactList::new(Artefacts { rows, failure: None, identifier });
        self.over.put(list);
        self.look_up()
    }

    pub(in crate::app) fn artefact_held(&mut self, request: &Request, since: Option<Timestamp>) {
        let Request::Artefact { artefact, .. } = request else { return };
        let rows = self.artefacts_asking(request).into_iter().flat_map(|list| &mut list.source.rows);
        rows.filter(|(row, _)| row == artefact).for_each(|row| row.1 = since);
    }

    pub(in crate::app) fn on_artefact(&mut self, request: &Request, received: Timestamp, length: u64) {
        let Request::Artefact { artefact, .. } = request else { return };
        self.artefact_held(request, Some(received));
        self.artefacts_asking(request).into_iter().for_each(|list| list.source.failure = None);
        let length = crate::text::bytes(length);
        let way = match self.over.top() {
            Some(Overlay::Artefacts(_)) => format!("{} writes it to a file", self.way_to("download")),
            _ => format!("{} shows it, to be written to a file", self.way_to("artifacts")),
        };
        self.say(format!("Stored: {}, {length}. {way}.", artefact.words()));
    }

    pub(in crate::app) fn artefacts_asking(&mut self, request: &Request) -> Option<&mut ArtefactList> {
        let is_asked = |list: &&mut ArtefactList| list.source.requests().any(|asked| asked == *request);
        self.over.top_as_mut::<ArtefactList>().filter(is_asked)
    }

    pub(in crate::app) fn save_artefact(&mut self) {
        if let Some(request) = self.chosen_artefact()
            && let Request::Artefact { identifier, artefact } = &request
        {
            let name = file::name(Some(identifier), None, artefact.extension());
            self.over.put(SaveForm::held(request, name));
        }
    }
}
