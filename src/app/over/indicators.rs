//! What a report leads to, as lists over the screen: indicators, which others can look for, and artifacts, which are fetched at a price.

use crate::app::away::SaveForm;
use crate::app::find::in_circle;
use crate::app::over::{ListSource, ListView, RowPicker, Shows, Spot, Spots};
use crate::app::panes::Scroll;
use crate::app::{Failure, JobNumber, Model, Overlay, ReportJob, Size};
use crate::export::file;
use crate::report::identifier::Identifier;
use crate::report::indicators::Kind;
use crate::report::{self, Indicator, Indicators, Report};
use crate::request::{Artefact, Request};
use crate::text::{count, words_in_rows};
use jiff::Timestamp;
use std::sync::Arc;

pub type IndicatorList = ListView<FoundIndicators>;

#[derive(Debug)]
pub struct FoundIndicators {
    found: Arc<Indicators>,
    /// The kind that is shown; all where there is none.
    pub kind: Option<Kind>,
}

impl FoundIndicators {
    pub fn kinds(&self) -> Vec<(Kind, usize)> {
        let counted = Kind::ALL.into_iter().map(|kind| (kind, self.found.of_kind(kind).len()));
        counted.filter(|(_, count)| *count > 0).collect()
    }
}

impl ListSource for FoundIndicators {
    type Row = Indicator;

    fn rows(&self) -> &[Indicator] {
        self.kind.map_or(self.found.all(), |kind| self.found.of_kind(kind))
    }

    fn text(found: &Indicator, _: Option<&Report>) -> String {
        // There may be hundreds of thousands: none is made visible only to be passed over.
        format!("{} {}", found.kind.name(), String::from_utf8_lossy(found.value.as_bytes()))
    }

    /// The kinds, and an empty row.
    fn beside(&self, _: Size, _: &Model) -> (usize, usize) {
        (2, 0)
    }
}

impl IndicatorList {
    pub fn step(&mut self, forward: bool) {
        let kinds = self.source.kinds().into_iter().map(|(kind, _)| Some(kind));
        let kinds: Vec<_> = std::iter::once(None).chain(kinds).collect();
        let here = kinds.iter().position(|kind| *kind == self.source.kind).unwrap_or(0);
        let kind = in_circle(here, kinds.len(), forward).next().and_then(|at| kinds.get(at).copied()).flatten();
        self.change(None, |source| source.kind = kind);
        self.scroll = Scroll::default();
    }
}

impl Model {
    pub(in crate::app) fn find_indicators(&mut self) {
        let Some(open) = self.open() else { return };
        let (ticket, report, marks) = (open.job.ticket(), open.report.clone(), open.marks.clone());
        let parts = self.chosen().and_then(|entry| entry.parts.as_ref());
        let sample = parts.and_then(|parts| parts.file.clone());
        if open.is_unfinished() {
            self.say("The report is still coming: press it again once it is here.");
            return;
        }
        if open.indicators.is_some() {
            return self.show_indicators(ticket.number);
        }
        self.say("Looking for indicators …");
        self.emit(ReportJob::FindIndicators { ticket, report, sample, rules: self.rules.clone(), marks });
    }

    /// Shows the indicators of an job that is still the chosen one.
    pub(in crate::app) fn show_indicators(&mut self, job: JobNumber) {
        let Some(open) = self.open().filter(|open| open.job.is(job)) else { return };
        let Some(found) = &open.indicators else { return };
        if found.all().is_empty() {
            self.say("The report names no hash, host, address, URL, path, key or mutex.");
            return;
        }
        let list = IndicatorList::new(FoundIndicators { found: Arc::clone(found), kind: None });
        self.notice = None;
        self.over.put(list);
    }

    /// Goes to the row that names the chosen indicator; where there are several, lists them.
    pub(in crate::app) fn go_to_indicator(&mut self) {
        let chosen = self.over.top_as::<IndicatorList>().and_then(|list| list.chosen());
        match chosen.map(|chosen| chosen.places.as_slice()) {
            None => {}
            Some([]) => self.say("It is the file itself: no row names it."),
            Some([place]) => {
                let place = *place;
                let left = self.leave_list();
                self.set_left(left);
                self.show_row(place);
            }
            Some(_) => {
                let spots = chosen.map(|chosen| self.spots_at(&chosen.places, chosen.seen)).unwrap_or_default();
                self.over.put(Spots::new(RowPicker::new("Rows that name it", spots)));
            }
        }
    }

    pub(in crate::app) fn spots_at(&self, places: &[report::Place], seen: u64) -> Vec<Spot> {
        let report = self.open().map(|open| &open.report);
        let spot = |place: &report::Place| {
            let pane = report?.section(place.section)?.pane();
            let target = Some(self.target_here(*place));
            Some(Spot { shows: Shows::Open(*place), target, ..Spot::words(pane.short(), "") })
        };
        let more = seen.saturating_sub(places.len() as u64);
        let more = (more > 0).then(|| Spot::words("", format!("and {} more", count(more, "row"))));
        places.iter().filter_map(spot).chain(more).collect()
    }
}

pub type ArtefactList = ListView<Artefacts>;

/// The artifacts of a report that says that they exist.
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

    fn text((artefact, _): &Self::Row, _: Option<&Report>) -> String {
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
        self.artefact_held(request, Some(received));
        self.artefacts_asking(request).into_iter().for_each(|list| list.source.failure = None);
        let what = match request {
            Request::Artefact { artefact, .. } => artefact.words().to_owned(),
            other => other.words(),
        };
        let length = crate::text::bytes(length);
        let way = match self.over.top() {
            Some(Overlay::Artefacts(_)) => format!("{} writes it to a file", self.way_to("fetch")),
            _ => format!("{} shows it, to be written to a file", self.way_to("artifacts")),
        };
        self.say(format!("Stored: {what}, {length}. {way}."));
    }

    pub(in crate::app) fn artefacts_asking(&mut self, request: &Request) -> Option<&mut ArtefactList> {
        match self.over.top_mut() {
            Some(Overlay::Artefacts(list)) if list.source.requests().any(|asked| asked == *request) => Some(list),
            _ => None,
        }
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
