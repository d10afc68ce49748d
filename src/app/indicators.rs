//! What others can look for in a report, as a list over the screen: all, or one kind.

use super::key::Key;
use super::layout::Size;
use super::overlay::{Rows, Stands, TYPED};
use super::place::Place;
use super::scroll::Scroll;
use super::sought::SoughtLine;
use crate::report::indicators::Kind;
use crate::report::{Indicator, Indicators, Report};
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
    /// Cursor and window.
    pub scroll: Scroll,
}

impl IndicatorList {
    /// All of them.
    #[must_use]
    pub fn new(found: Arc<Indicators>) -> Self {
        Self { found, line: SoughtLine::default(), holding: None, kind: None, scroll: Scroll::default() }
    }

    /// Those of the kind.
    fn of_kind(&self) -> &[Indicator] {
        self.kind.map_or(self.found.all(), |kind| self.found.of_kind(kind))
    }

    /// How many are shown.
    #[must_use]
    pub fn count(&self) -> usize {
        self.holding.as_ref().map_or(self.of_kind().len(), Vec::len)
    }

    /// How many there are of the kind, be they shown or not.
    #[must_use]
    pub fn all(&self) -> usize {
        self.of_kind().len()
    }

    /// One that is shown, by its place.
    #[must_use]
    pub fn at(&self, position: usize) -> Option<&Indicator> {
        let number = self.holding.as_ref().map_or(Some(position), |holding| holding.get(position).copied());
        self.of_kind().get(number?)
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
        self.scroll = Scroll::default();
    }

    /// Each kind that there is, with how many there are.
    #[must_use]
    pub fn kinds(&self) -> Vec<(Kind, usize)> {
        let counted = Kind::ALL.into_iter().map(|kind| (kind, self.found.of_kind(kind).len()));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    /// The chosen one.
    #[must_use]
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

    fn press(&mut self, key: Key, most: usize) -> bool {
        self.line.press(key, most)
    }

    fn sought(&mut self) -> Option<&mut SoughtLine> {
        Some(&mut self.line)
    }

    fn sift(&mut self, _: Option<&Report>) {
        self.choose_shown();
    }
}
