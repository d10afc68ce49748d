//! The notes that are exported with a report, each at its row.

use super::What;
use super::opened::OpenedReport;
use crate::report::note::Item;
use crate::report::{Indicator, Note, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The notes on the exported part of a report.
pub(super) struct ExportNotes<'a> {
    /// On the report as a whole.
    pub(super) whole: Option<&'a Note>,
    rows: BTreeMap<Place, &'a Note>,
    /// On what the report does not have any more.
    pub(super) lost: Vec<(&'a Item, &'a Note)>,
}

impl<'a> ExportNotes<'a> {
    /// Finds the rows that there are notes on; a row by itself takes its own note along, and everything takes all.
    pub(super) fn of(opened: &OpenedReport<'a>) -> io::Result<Self> {
        let (job, source, report) = (opened.job, opened.source, &opened.report);
        let whole = source.notes.on_report().filter(|_| !matches!(job.what, What::Row(_)));
        let (mut rows, mut found) = (BTreeMap::new(), BTreeSet::new());
        for (number, section) in report.index.sections.iter().enumerate() {
            let wanted = opened.rows(number).unwrap_or_default();
            if wanted.len() == 0 || !source.notes.items().any(|(item, _)| item.attribute == section.name) {
                continue;
            }
            for row in report.each_row(number).take(wanted.end()) {
                job.cancel.check()?;
                let item = report.item(number, &row.decoded());
                let note = item.as_ref().and_then(|item| source.notes.on_item(item));
                if let Some(note) = note.filter(|_| wanted.contains(row.place.row)) {
                    rows.insert(row.place, note);
                    found.extend(item);
                }
            }
        }
        let is_all = job.what == What::All || job.what.is_indicators();
        let lost = source.notes.items().filter(|(item, _)| is_all && !found.contains(*item));
        Ok(Self { whole, rows, lost: lost.collect() })
    }

    /// The note on a row.
    pub(super) fn at(&self, place: Place) -> Option<&'a Note> {
        self.rows.get(&place).copied()
    }

    /// Each note on an item that the report has, once, with the first row that it is on.
    pub(super) fn on_rows(&self) -> impl Iterator<Item = (Place, &'a Note)> {
        let mut known = BTreeSet::new();
        self.rows.iter().filter(move |(_, note)| known.insert(&note.about)).map(|(place, note)| (*place, *note))
    }

    /// The notes on an indicator's own rows, each once: a row that only names it is about something else.
    pub(super) fn about(&self, indicator: &Indicator) -> Vec<&'a Note> {
        let mut notes: Vec<&Note> = Vec::new();
        for note in indicator.own.iter().filter_map(|place| self.at(*place)) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}
