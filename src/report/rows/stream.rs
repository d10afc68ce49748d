//! Iterates over the rows of a section, for code that reads every row.

use super::records::Place;
use super::{PREVIEW, Report, Row, WHOLE_ROW};
use std::borrow::Cow;

/// A row as it is handed over with all the others.
#[derive(Clone, Copy)]
pub struct RowBytes<'a> {
    report: &'a Report,
    pub place: Place,
    /// Its first bytes, up to 8 MiB of them: of a process those before its first child.
    pub bytes: &'a [u8],
}

impl<'a> RowBytes<'a> {
    /// The row as its pane shows it.
    pub fn decoded(&self) -> Row {
        let shown = self.bytes.get(..PREVIEW).unwrap_or(self.bytes);
        self.report.row_from(self.place.section, self.place.row, shown)
    }

    /// The row in a line, from all that is handed over of it.
    pub fn told(&self) -> Row {
        self.report.row_from(self.place.section, self.place.row, self.bytes)
    }

    /// All that is the row's own, as JSON: a process may go on behind its children.
    pub fn own(&self) -> Cow<'a, [u8]> {
        let section = self.report.section(self.place.section);
        match section.and_then(|section| section.tail(self.place.row)) {
            None => Cow::Borrowed(self.bytes),
            Some(_) => self.report.record(self.place).value,
        }
    }
}

impl Report {
    /// Every row of a section, in order.
    pub fn each_row(&self, section: usize) -> impl Iterator<Item = RowBytes<'_>> {
        let end = self.section_end(section);
        let starts = self.section(section).map_or(&[][..], |found| found.starts());
        let ends = starts.iter().skip(1).map(|next| *next as usize).chain([end]);
        starts.iter().zip(ends).enumerate().map(move |(row, (start, end))| {
            let start = *start as usize;
            let bytes = self.body.window(start..end.min(start + WHOLE_ROW));
            RowBytes { report: self, place: Place { section, row }, bytes }
        })
    }
}
