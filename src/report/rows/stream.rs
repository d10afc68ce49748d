//! The rows of a section one after another, read in long stretches: for what looks at every row.

use super::records::Place;
use super::{PREVIEW, Report, Row, WHOLE_ROW};
use crate::report::index::Section;
use std::borrow::Cow;
use std::io;
use std::ops::Range;

/// How many bytes are read at once.
const STRETCH: u64 = 256 * 1024;

/// How many rows' starts are read at once.
const AT_ONCE: usize = 4096;

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
        let shown = usize::try_from(PREVIEW).unwrap_or(usize::MAX).min(self.bytes.len());
        self.report.row_from(self.place.section, self.place.row, self.bytes.get(..shown).unwrap_or_default())
    }

    /// The row in a line, from all that is handed over of it.
    pub fn told(&self) -> Row {
        self.report.row_from(self.place.section, self.place.row, self.bytes)
    }

    /// All that is the row's own, as JSON: a process may go on behind its children.
    pub fn own(&self) -> io::Result<Cow<'a, [u8]>> {
        let section = self.report.section(self.place.section);
        match section.and_then(|section| section.tail(self.place.row)) {
            None => Ok(Cow::Borrowed(self.bytes)),
            Some(_) => Ok(Cow::Owned(self.report.record(self.place)?.value)),
        }
    }
}

impl Report {
    /// Hands every row to `look`; stops early when `look` says false.
    pub fn each_row(&self, section: usize, mut look: impl FnMut(RowBytes<'_>) -> bool) -> io::Result<()> {
        let Some(found) = self.section(section) else { return Ok(()) };
        let (mut room, mut stretch, mut first) = (Vec::new(), &[][..], 0_u64);
        let mut extents = Extents { section: found, end: self.section_end(section), from: 0, starts: Vec::new() };
        for row in 0..found.len() {
            let Some(Range { start, end }) = extents.of(row)? else { break };
            if start < first || end > first + stretch.len() as u64 {
                stretch = self.body.look(start..end.max(start + STRETCH).min(start + WHOLE_ROW), &mut room)?;
                first = start;
            }
            let at = |offset: u64| usize::try_from(offset - first).unwrap_or(usize::MAX).min(stretch.len());
            let bytes = stretch.get(at(start)..at(end)).unwrap_or_default();
            if !look(RowBytes { report: self, place: Place { section, row }, bytes }) {
                break;
            }
        }
        Ok(())
    }
}

/// Where the rows of a section begin and end, asked for one after another.
struct Extents<'a> {
    section: &'a Section,
    /// Offset after the last row.
    end: u64,
    /// The row of the first start that is at hand.
    from: usize,
    starts: Vec<u32>,
}

impl Extents<'_> {
    /// The bytes that a row begins in, up to 8 MiB, as [`Report::extent`] has them.
    fn of(&mut self, row: usize) -> io::Result<Option<Range<u64>>> {
        let Some(start) = self.start(row)? else { return Ok(None) };
        let end = self.start(row + 1)?.unwrap_or(self.end);
        Ok(Some(start..end.clamp(start, start + WHOLE_ROW)))
    }

    fn start(&mut self, row: usize) -> io::Result<Option<u64>> {
        if row < self.from || row >= self.from + self.starts.len() {
            self.from = row;
            self.starts.clear();
            self.starts.extend_from_slice(&self.section.starts(row..row + AT_ONCE)?);
        }
        Ok(self.starts.get(row - self.from).copied().map(u64::from))
    }
}
