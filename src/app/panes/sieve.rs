//! Which rows of a pane are let through, and in which order: all, or those of one subtree, of these what a filter found, and of those
//! what nothing hides.

use crate::report::{Order, RowSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lets some of a pane's rows through.
#[derive(Debug, Clone, Default)]
pub struct Sieve {
    /// Rows that a filter found; none while nothing is filtered.
    found: Option<Arc<RowSet>>,
    /// The rows of the subtree that stands alone; none while all do.
    alone: Option<Arc<RowSet>>,
    hidden: Option<Arc<RowSet>>,
    /// The visible rows, of sections with invisible ones.
    kept: Option<Arc<RowSet>>,
    /// The order of rows, of sections that have one of their own.
    order: Option<Arc<Order>>,
    /// The visible rows of such a section, in its order.
    arranged: BTreeMap<usize, Vec<u32>>,
}

static NONE: RowSet = RowSet::EMPTY;

impl Sieve {
    /// Shows nothing but these rows; none shows all again. `Sieve::refresh` makes it so.
    pub fn find(&mut self, found: Option<RowSet>) {
        self.found = found.map(Arc::new);
    }

    /// Lets a subtree stand alone, whatever is found in it; none lets all rows in again. `Sieve::refresh` makes it so.
    pub fn isolate(&mut self, alone: Option<RowSet>) {
        self.alone = alone.map(Arc::new);
    }

    /// Adds to the rows that are shown. `Sieve::refresh` makes it so.
    pub fn find_more(&mut self, more: &RowSet) {
        // `kept` may share this set, which would be copied.
        self.kept = None;
        Arc::make_mut(self.found.get_or_insert_default()).extend(more);
    }

    /// Hides a row no more. `Sieve::refresh` makes it so.
    pub fn show(&mut self, section: usize, row: usize) {
        if let (Some(hidden), Ok(row)) = (&mut self.hidden, u32::try_from(row)) {
            Arc::make_mut(hidden).remove(section, row);
        }
    }

    /// Hides these rows, and no others. `Sieve::refresh` makes it so.
    pub fn hide(&mut self, hidden: RowSet) {
        self.hidden = Some(hidden).filter(|hidden| !hidden.is_empty()).map(Arc::new);
    }

    /// Shows rows in this order. `Sieve::refresh` makes it so.
    pub fn arrange(&mut self, order: Arc<Order>) {
        self.order = Some(order);
    }

    /// The rows that a filter found; none while nothing is filtered.
    pub fn found(&self) -> Option<&Arc<RowSet>> {
        self.found.as_ref()
    }

    /// The rows of the subtree that stands alone; none while all do.
    pub fn alone(&self) -> Option<&RowSet> {
        self.alone.as_deref()
    }

    /// Whether a row is in the subtree that stands alone, or none does.
    pub(super) fn lone_has(&self, section: usize, row: usize) -> bool {
        self.alone().is_none_or(|alone| alone.contains(section, row))
    }

    /// The rows that are hidden, be they found or not.
    pub fn hidden(&self) -> &RowSet {
        self.hidden.as_deref().unwrap_or(&NONE)
    }

    fn kept(&self) -> &RowSet {
        self.kept.as_deref().unwrap_or(&NONE)
    }

    pub fn is_open(&self) -> bool {
        !self.is_narrowed() && self.hidden.is_none()
    }

    fn is_narrowed(&self) -> bool {
        self.found.is_some() || self.alone.is_some()
    }

    /// The rows that a filter and a subtree leave; none while there is neither.
    fn left(&self) -> Option<Arc<RowSet>> {
        match (&self.found, &self.alone) {
            (Some(found), Some(alone)) => Some(Arc::new(found.intersection(alone))),
            (one, other) => one.as_ref().or(other.as_ref()).map(Arc::clone),
        }
    }

    /// Computes the visible rows of these sections, each with its number of rows.
    pub(super) fn refresh(&mut self, sections: impl Iterator<Item = (usize, usize)>) {
        self.kept = match (self.left(), &self.hidden) {
            (left, None) => left,
            (Some(left), Some(hidden)) => {
                let places = left.sections().flat_map(|(section, rows)| rows.iter().map(move |row| (section, *row)));
                Some(Arc::new(without(places, hidden)))
            }
            (None, Some(hidden)) => {
                let sections = sections.filter(|(section, _)| !hidden.rows(*section).is_empty());
                let places =
                    sections.flat_map(|(section, length)| (0_u32..).take(length).map(move |row| (section, row)));
                Some(Arc::new(without(places, hidden)))
            }
        };
        let Some(order) = &self.order else { return };
        let kept = order.sections().filter_map(|section| Some((section, self.rows(section)?.to_vec())));
        self.arranged = kept
            .map(|(section, mut rows)| {
                rows.sort_by_key(|row| order.position(section, *row as usize));
                (section, rows)
            })
            .collect();
    }

    /// The rows of a section that are let through; none where all are.
    pub fn rows(&self, section: usize) -> Option<&[u32]> {
        let is_all = !self.is_narrowed() && self.hidden().rows(section).is_empty();
        (!is_all).then(|| self.kept().rows(section))
    }

    pub fn lets_through(&self, section: usize, row: usize) -> bool {
        self.rows(section).is_none() || self.kept().contains(section, row)
    }

    /// The row that comes at this place among those of its section that are let through.
    pub(super) fn row(&self, section: usize, position: usize) -> usize {
        match (self.arranged.get(&section).map(Vec::as_slice).or_else(|| self.rows(section)), &self.order) {
            (Some(rows), _) => rows.get(position).map_or(position, |row| *row as usize),
            (None, Some(order)) => order.row(section, position),
            (None, None) => position,
        }
    }

    /// The place of a row among all of its section.
    pub(super) fn rank(&self, section: usize, row: usize) -> usize {
        self.order.as_ref().map_or(row, |order| order.position(section, row))
    }

    /// The place of a row, or of the last one before it, among those of its section that are let through.
    pub(super) fn position(&self, section: usize, row: usize) -> usize {
        let position = |row: usize| self.rank(section, row);
        let rows = self.arranged.get(&section).map(Vec::as_slice).or_else(|| self.rows(section));
        let before = |rows: &[u32]| rows.partition_point(|found| position(*found as usize) <= position(row));
        rows.map_or_else(|| position(row), |rows| before(rows).saturating_sub(1))
    }
}

fn without(places: impl Iterator<Item = (usize, u32)>, hidden: &RowSet) -> RowSet {
    places.filter(|(section, row)| hidden.rows(*section).binary_search(row).is_err()).collect()
}
