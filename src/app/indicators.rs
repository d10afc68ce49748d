//! What others can look for in a report, as a list over the screen: all, or one kind.

use super::layout::Size;
use super::overlay::{Rows, Stands, TYPED};
use super::place::Place;
use super::scroll::Scroll;
use crate::report::indicators::Kind;
use crate::report::{Indicator, Indicators};
use std::sync::Arc;

/// The indicators of a report.
#[derive(Debug)]
pub struct IndicatorList {
    found: Arc<Indicators>,
    /// The kind that is shown; all where there is none.
    pub kind: Option<Kind>,
    /// Cursor and window.
    pub scroll: Scroll,
}

impl IndicatorList {
    /// All of them.
    #[must_use]
    pub fn new(found: Arc<Indicators>) -> Self {
        Self { found, kind: None, scroll: Scroll::default() }
    }

    /// Those that are shown.
    #[must_use]
    pub fn shown(&self) -> &[Indicator] {
        self.kind.map_or(self.found.all(), |kind| self.found.of_kind(kind))
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
        self.shown().get(self.scroll.cursor)
    }

    /// Shows the next kind, or the one before; all of them stand between the last and the first.
    pub fn step(&mut self, forward: bool) {
        let kinds: Vec<_> = std::iter::once(None).chain(self.kinds().into_iter().map(|(kind, _)| Some(kind))).collect();
        let here = kinds.iter().position(|kind| *kind == self.kind).unwrap_or(0);
        let step = if forward { 1 } else { kinds.len() - 1 };
        self.kind = kinds.get((here + step) % kinds.len()).copied().flatten();
        self.scroll = Scroll::default();
    }
}

impl Stands for IndicatorList {
    fn place(&self) -> Place {
        Place::Indicators
    }

    fn choice(&self, _: Size) -> Option<Rows> {
        Some(Rows { scroll: self.scroll, count: self.shown().len(), above: TYPED, below: 0 })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }
}
