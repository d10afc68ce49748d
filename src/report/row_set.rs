//! Sets of a report's rows, and the order in which its rows are shown.

use super::json::Raw;
use super::rows::severity_rank;
use super::{Cancel, Cancelled, Report, RowPlace, attack};
use std::collections::BTreeMap;

/// A set of rows: for each section of the index its rows in order, four bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowSet(BTreeMap<usize, Vec<u32>>);

impl RowSet {
    /// Adds a row if it is missing; rows in the order of a section are appended in constant time.
    pub fn insert(&mut self, section: usize, row: u32) {
        let rows = self.0.entry(section).or_default();
        if rows.last().is_none_or(|last| *last < row) {
            rows.push(row);
        } else if let Err(at) = rows.binary_search(&row) {
            rows.insert(at, row);
        }
    }

    pub fn append(&mut self, section: usize, more: &[u32]) {
        more.iter().for_each(|row| self.insert(section, *row));
    }

    pub fn remove(&mut self, section: usize, row: u32) {
        self.0.get_mut(&section).into_iter().for_each(|rows| rows.retain(|other| *other != row));
    }

    pub fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|(section, more)| self.append(*section, more));
    }

    pub fn rows(&self, section: usize) -> &[u32] {
        self.0.get(&section).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn sections(&self) -> impl Iterator<Item = (usize, &[u32])> {
        self.0.iter().map(|(section, rows)| (*section, rows.as_slice()))
    }

    pub fn contains(&self, section: usize, row: usize) -> bool {
        u32::try_from(row).is_ok_and(|row| self.rows(section).binary_search(&row).is_ok())
    }

    pub fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.values().all(Vec::is_empty)
    }
}

impl FromIterator<(usize, u32)> for RowSet {
    fn from_iter<I: IntoIterator<Item = (usize, u32)>>(places: I) -> Self {
        let mut set = Self::default();
        places.into_iter().for_each(|(section, row)| set.insert(section, row));
        set
    }
}

/// Sections with sorted rows: techniques by tactic, then by severity, then in the report's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order(BTreeMap<usize, Vec<u32>>);

impl Order {
    /// Sorts a report's sections, without those that have no severity or are sorted already.
    pub(crate) fn of(report: &Report, cancel: &Cancel) -> Result<Self, Cancelled> {
        let mut order = Self::default();
        for (number, section) in report.index.sections.iter().enumerate() {
            cancel.check()?;
            let ranks = (0..section.len()).map_while(|row| report.rank(number, row));
            let mut ranked: Vec<_> = ranks.zip(0_u32..).collect();
            if ranked.is_sorted() {
                continue;
            }
            ranked.sort();
            let mut positions: Vec<_> = ranked.into_iter().map(|(_, row)| row).zip(0..).collect();
            positions.sort();
            order.0.insert(number, positions.into_iter().map(|(_, position)| position).collect());
        }
        Ok(order)
    }

    pub fn sections(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.keys().copied()
    }

    pub fn position(&self, section: usize, row: usize) -> usize {
        let found = self.0.get(&section).and_then(|positions| positions.get(row));
        found.map_or(row, |position| *position as usize)
    }
}

impl Report {
    /// Returns a row's sort key: its tactic, then severity; `None` if the report's order stays.
    pub(crate) fn rank(&self, section: usize, row: usize) -> Option<(Option<usize>, usize)> {
        let attribute = self.section(section)?.attribute?;
        let severity = attribute.severity()?;
        let bytes = self.row_bytes_of(RowPlace { section, row }).bytes;
        let technique = self.section(section)?.technique(bytes);
        let raw = Raw::new(technique.as_deref().unwrap_or(bytes));
        let text = |name| raw.member(name).map(Raw::text).unwrap_or_default();
        Some((attribute.is_technique().then(|| attack::rank(&text("id"))), severity_rank(text(severity))))
    }
}
