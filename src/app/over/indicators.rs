//! What others can look for in a report, as a list over the screen: all, or one kind.

use super::overlay::{Overlay, Rows, Stands, TYPED};
use super::spots::{Shows, Spot, Spots, Target};
use crate::app::effect::Effect;
use crate::app::find::sought::SoughtLine;
use crate::app::keys::place::Place;
use crate::app::layout::Size;
use crate::app::message::Opening;
use crate::app::model::Model;
use crate::app::panes::scroll::Scroll;
use crate::report::indicators::Kind;
use crate::report::{self, Indicator, Indicators, Report};
use crate::text::count;
use std::sync::Arc;

/// The indicators of a report.
#[derive(Debug)]
pub struct IndicatorList {
    found: Arc<Indicators>,
    /// What is sought among them.
    pub line: SoughtLine,
    /// Those of the kind that hold it, by their number; all where nothing is sought.
    holding: Option<Vec<usize>>,
    /// The kind that is shown; all where there is none.
    pub kind: Option<Kind>,
    pub scroll: Scroll,
}

impl IndicatorList {
    pub fn new(found: Arc<Indicators>) -> Self {
        Self { found, line: SoughtLine::default(), holding: None, kind: None, scroll: Scroll::default() }
    }

    fn of_kind(&self) -> &[Indicator] {
        self.kind.map_or(self.found.all(), |kind| self.found.of_kind(kind))
    }

    /// How many are shown.
    pub fn count(&self) -> usize {
        self.holding.as_ref().map_or(self.of_kind().len(), Vec::len)
    }

    /// How many there are of the kind, be they shown or not.
    pub fn all(&self) -> usize {
        self.of_kind().len()
    }

    /// One that is shown, by its place.
    pub fn at(&self, position: usize) -> Option<&Indicator> {
        self.of_kind().get(self.number(position)?)
    }

    /// The number, among those of the kind, of one that is shown.
    fn number(&self, position: usize) -> Option<usize> {
        self.holding.as_ref().map_or(Some(position), |holding| holding.get(position).copied())
    }

    /// Those that are shown, from a place on.
    pub fn shown(&self, from: usize) -> impl Iterator<Item = &Indicator> {
        (from..self.count()).map_while(|position| self.at(position))
    }

    fn choose_shown(&mut self) {
        let holds = |(_, found): &(usize, &Indicator)| {
            // There may be hundreds of thousands: none is made visible only to be passed over.
            self.line.is_in(&format!("{} {}", found.kind.name(), String::from_utf8_lossy(found.value.as_bytes())))
        };
        let holding = || self.of_kind().iter().enumerate().filter(holds).map(|(number, _)| number).collect();
        self.holding = (!self.line.typed.is_empty()).then(holding);
    }

    /// Each kind that there is, with how many there are.
    pub fn kinds(&self) -> Vec<(Kind, usize)> {
        let counted = Kind::ALL.into_iter().map(|kind| (kind, self.found.of_kind(kind).len()));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    pub fn chosen(&self) -> Option<&Indicator> {
        self.at(self.scroll.cursor)
    }

    /// Shows the next kind, or the one before; all of them stand between the last and the first.
    pub fn step(&mut self, forward: bool) {
        let kinds: Vec<_> = std::iter::once(None).chain(self.kinds().into_iter().map(|(kind, _)| Some(kind))).collect();
        let here = kinds.iter().position(|kind| *kind == self.kind).unwrap_or(0);
        let step = if forward { 1 } else { kinds.len() - 1 };
        self.kind = kinds.get((here + step) % kinds.len()).copied().flatten();
        self.choose_shown();
        self.scroll = Scroll::default();
    }
}

impl Stands for IndicatorList {
    fn place(&self) -> Place {
        if self.line.is_typing { Place::SoughtLine } else { Place::Indicators }
    }

    fn choice(&self, _: Size) -> Option<Rows> {
        Some(Rows { scroll: self.scroll, count: self.count(), above: TYPED + self.line.rows(), below: 0 })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn sought(&mut self) -> Option<&mut SoughtLine> {
        Some(&mut self.line)
    }

    fn sift(&mut self, _: Option<&Report>) {
        let chosen = self.number(self.scroll.cursor);
        self.choose_shown();
        match (chosen, &self.holding) {
            (Some(chosen), Some(holding)) => self.scroll.stay_on(chosen, holding),
            (chosen, _) => self.scroll.cursor = chosen.unwrap_or(0),
        }
    }
}

impl Model {
    /// Looks for indicators in the report that is open.
    pub(in crate::app) fn find_indicators(&mut self) -> Vec<Effect> {
        let Some(open) = self.open() else { return Vec::new() };
        let (opening, report, marks) = (open.opening, open.report.clone(), open.marks.clone());
        let parts = self.chosen().and_then(|entry| entry.parts.as_ref());
        let sample = parts.and_then(|parts| parts.file.clone());
        if open.coming.is_some() {
            self.say("The report is still coming: press it again once it is here.");
            return Vec::new();
        }
        if open.indicators.is_some() {
            return self.show_indicators(opening);
        }
        self.say("Looking for indicators …");
        vec![Effect::FindIndicators { opening, report, sample, rules: self.rules.clone(), marks }]
    }

    /// Shows the indicators of an opening that is still the chosen one.
    pub(in crate::app) fn show_indicators(&mut self, opening: Opening) -> Vec<Effect> {
        let Some(open) = self.open().filter(|open| open.opening == opening) else { return Vec::new() };
        let Some(found) = &open.indicators else { return Vec::new() };
        if found.all().is_empty() {
            self.say("The report names no hash, host, address, URL, path, key or mutex.");
            return Vec::new();
        }
        let list = IndicatorList::new(Arc::clone(found));
        self.notice = None;
        self.over.put(Overlay::Indicators(list));
        Vec::new()
    }

    /// Goes to the row that names the chosen indicator; where there are several, lists them.
    pub(in crate::app) fn go_to_indicator(&mut self) -> Vec<Effect> {
        let chosen = match self.over.top() {
            Some(Overlay::Indicators(list)) => list.chosen(),
            _ => None,
        };
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
                self.over.put(Overlay::Spots(Spots::new("Rows that name it", spots)));
            }
        }
        Vec::new()
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
