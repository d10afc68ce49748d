//! What others can look for in a report, as a list over the screen: all, or one kind.

use crate::app::over::{ListSource, ListView, RowPicker, Shows, Spot, Spots, TYPED, Target};
use crate::app::panes::Scroll;
use crate::app::{Model, Opening, ReportJob, Size};
use crate::report::indicators::Kind;
use crate::report::{self, Indicator, Indicators, Report};
use crate::text::count;
use std::sync::Arc;

pub type IndicatorList = ListView<FoundIndicators>;

#[derive(Debug)]
pub struct FoundIndicators {
    found: Arc<Indicators>,
    /// The kind that is shown; all where there is none.
    pub kind: Option<Kind>,
}

impl FoundIndicators {
    /// Each kind that there is, with how many there are.
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
    fn beside(&self, _: Size) -> (usize, usize) {
        (TYPED, 0)
    }
}

impl IndicatorList {
    /// Shows the next kind, or the one before; all of them stand between the last and the first.
    pub fn step(&mut self, forward: bool) {
        let kinds = self.source.kinds().into_iter().map(|(kind, _)| Some(kind));
        let kinds: Vec<_> = std::iter::once(None).chain(kinds).collect();
        let here = kinds.iter().position(|kind| *kind == self.source.kind).unwrap_or(0);
        let step = if forward { 1 } else { kinds.len() - 1 };
        let kind = kinds.get((here + step) % kinds.len()).copied().flatten();
        self.change(None, |source| source.kind = kind);
        self.scroll = Scroll::default();
    }
}

impl Model {
    pub(in crate::app) fn find_indicators(&mut self) {
        let Some(open) = self.open() else { return };
        let (opening, report, marks) = (open.opening, open.report.clone(), open.marks.clone());
        let parts = self.chosen().and_then(|entry| entry.parts.as_ref());
        let sample = parts.and_then(|parts| parts.file.clone());
        if open.coming.is_some() {
            self.say("The report is still coming: press it again once it is here.");
            return;
        }
        if open.indicators.is_some() {
            return self.show_indicators(opening);
        }
        self.say("Looking for indicators …");
        self.emit(ReportJob::FindIndicators { opening, report, sample, rules: self.rules.clone(), marks });
    }

    /// Shows the indicators of an opening that is still the chosen one.
    pub(in crate::app) fn show_indicators(&mut self, opening: Opening) {
        let Some(open) = self.open().filter(|open| open.opening == opening) else { return };
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

    /// Rows of the open report to go to, as far as they are kept, and how many more there are.
    pub(in crate::app) fn spots_at(&self, places: &[report::Place], seen: u64) -> Vec<Spot> {
        let entry = self.list().map_or(0, |list| list.scroll.cursor);
        let identifier = self.chosen().and_then(|entry| entry.identifier.clone());
        let report = self.open().map(|open| &open.report);
        let spot = |place: &report::Place| {
            let pane = report?.section(place.section)?.pane();
            let target = Target { file: None, identifier: identifier.clone(), entry, place: Some(*place) };
            let head = crate::app::panes::info(pane).map_or("", |info| info.short);
            Some(Spot { shows: Shows::Open(*place), target: Some(target), ..Spot::words(head, "") })
        };
        let more = seen.saturating_sub(places.len() as u64);
        let more = (more > 0).then(|| Spot::words("", format!("and {} more", count(more, "row"))));
        places.iter().filter_map(spot).chain(more).collect()
    }
}
