//! Rows of which one is chosen, over the screen: a filter line, a cursor, and what each kind of list adds to these.

use super::overlay::{Rows, Stands};
use crate::app::find::sought::ListFilter;
use crate::app::keys::place::Place;
use crate::app::layout::Size;
use crate::app::panes::scroll::Scroll;
use crate::report::Report;

/// What a list is of.
pub trait ListSource {
    type Row;

    /// All rows, shown or not.
    fn rows(&self) -> &[Self::Row];

    /// What a row is filtered by; rows of the open report are read in it.
    fn text(row: &Self::Row, open: Option<&Report>) -> String;

    /// The row that is chosen first.
    fn first(&self) -> usize {
        0
    }

    /// Screen rows above and below those of the list, in so much room.
    fn beside(&self, _: Size) -> (usize, usize) {
        (0, 0)
    }

    /// Screen rows that it fills in so many columns, without its filter line.
    fn height(&self, _: usize) -> usize {
        usize::MAX
    }
}

/// Rows of which one is chosen.
#[derive(Debug)]
pub struct ListView<S> {
    pub source: S,
    pub scroll: Scroll,
    pub filter: ListFilter,
    /// The rows that are shown, by their number.
    shown: Vec<usize>,
    /// What each row is filtered by, once something is typed: reading all rows at each key takes too long.
    texts: Vec<String>,
}

impl<S: ListSource> ListView<S> {
    pub fn new(source: S) -> Self {
        let shown = (0..source.rows().len()).collect();
        let scroll = Scroll { cursor: source.first(), top: 0 };
        Self { source, scroll, filter: ListFilter::default(), shown, texts: Vec::new() }
    }

    pub fn chosen(&self) -> Option<&S::Row> {
        self.source.rows().get(*self.shown.get(self.scroll.cursor)?)
    }

    /// The rows that are shown.
    pub fn shown(&self) -> impl Iterator<Item = &S::Row> {
        self.shown.iter().filter_map(|number| self.source.rows().get(*number))
    }

    /// How many rows are shown, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.source.rows().len())
    }

    /// Changes what the list is of; the cursor keeps its place.
    pub fn change(&mut self, open: Option<&Report>, change: impl FnOnce(&mut S)) {
        change(&mut self.source);
        self.texts.clear();
        self.apply_filter(open);
    }

    fn apply_filter(&mut self, open: Option<&Report>) {
        let rows = self.source.rows();
        if self.filter.typed.is_empty() {
            self.shown = (0..rows.len()).collect();
            return;
        }
        if self.texts.len() != rows.len() {
            self.texts = rows.iter().map(|row| S::text(row, open).to_lowercase()).collect();
        }
        let matches = |(_, text): &(usize, &String)| self.filter.is_in(text);
        self.shown = self.texts.iter().enumerate().filter(matches).map(|(number, _)| number).collect();
    }

    /// The rows among what stands above and below them, in so much room.
    pub fn rows(&self, room: Size) -> Rows {
        let filter = self.filter.rows();
        let left = Size { height: room.height.saturating_sub(u16::try_from(filter).unwrap_or(0)), ..room };
        let (above, below) = self.source.beside(left);
        Rows { scroll: self.scroll, count: self.shown.len(), above: filter + above, below }
    }
}

impl<S: ListSource> Stands for ListView<S> {
    fn place(&self) -> Place {
        if self.filter.is_typing { Place::SoughtLine } else { Place::Picker }
    }

    fn height(&self, columns: usize) -> usize {
        self.source.height(columns).saturating_add(self.filter.rows())
    }

    fn choice(&self, room: Size) -> Option<Rows> {
        Some(self.rows(room))
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn sought(&mut self) -> Option<&mut ListFilter> {
        Some(&mut self.filter)
    }

    fn sift(&mut self, open: Option<&Report>) {
        let chosen = self.shown.get(self.scroll.cursor).copied();
        self.apply_filter(open);
        chosen.into_iter().for_each(|chosen| self.scroll.stay_on(chosen, &self.shown));
    }
}
