//! The rows of a section one after another, read in long stretches: for what looks at every row.

use super::index::{Form, Section};
use super::json::Raw;
use super::rows::{PREVIEW, Piece, Report, Row, WHOLE_ROW};
use std::io;

/// How many bytes are read at once.
const STRETCH: u64 = 256 * 1024;

/// How many rows' starts are read at once.
const AT_ONCE: usize = 4096;

impl Report {
    /// Hands every row's bytes to `look`, up to 8 MiB of each, with its number; stops early when `look` says false.
    ///
    /// The bytes of a process end where its first child begins.
    ///
    /// # Errors
    /// When the body cannot be read.
    pub fn each_row(&self, section: usize, mut look: impl FnMut(usize, &[u8]) -> bool) -> io::Result<()> {
        let Some(found) = self.section(section) else { return Ok(()) };
        let (mut room, mut stretch, mut first) = (Vec::new(), &[][..], 0_u64);
        let mut extents = Extents { section: found, from: 0, starts: Vec::new() };
        for row in 0..found.len() {
            let Some((start, end)) = extents.of(row)? else { break };
            let Some(end) = end else {
                if !look(row, &self.open_ended(start)?) {
                    break;
                }
                continue;
            };
            if start < first || end > first + stretch.len() as u64 {
                stretch = self.body.look(start..end.max(start + STRETCH).min(start + WHOLE_ROW), &mut room)?;
                first = start;
            }
            let at = |offset: u64| usize::try_from(offset - first).unwrap_or(usize::MAX).min(stretch.len());
            if !look(row, stretch.get(at(start)..at(end)).unwrap_or_default()) {
                break;
            }
        }
        Ok(())
    }

    /// Adds a row's text as its pane shows it, from its bytes.
    pub(super) fn row_text(&self, section: usize, row: usize, bytes: &[u8], out: &mut Vec<u8>) {
        push_text(&self.row_from(section, row, bytes), out);
    }

    /// Adds a row's text as its pane shows it.
    pub(super) fn text_of(&self, section: usize, row: usize, out: &mut Vec<u8>) {
        push_text(&self.row(section, row), out);
    }

    /// A process's name as it is written.
    #[must_use]
    pub fn process_name(&self, section: usize, row: usize) -> Vec<u8> {
        let first = self.row(section, row).pieces.into_iter().next();
        match first {
            Some(Piece::Value(name)) => name.as_bytes().to_vec(),
            _ => Vec::new(),
        }
    }

    /// A row of which it is not noted where it ends: nearly all are short.
    fn open_ended(&self, start: u64) -> io::Result<Vec<u8>> {
        let bytes = self.body.window(start..start + PREVIEW)?;
        let is_whole = (bytes.len() as u64) < PREVIEW || Raw::new(&bytes).bytes().len() < bytes.len() / 2;
        if is_whole { Ok(bytes) } else { self.body.window(start..start + WHOLE_ROW) }
    }
}

/// Where the rows of a section begin and end, asked for one after another.
struct Extents<'a> {
    section: &'a Section,
    /// The row of the first start that is at hand.
    from: usize,
    starts: Vec<u32>,
}

impl Extents<'_> {
    /// Where a row begins, and where it ends at the latest; none where that is not noted.
    fn of(&mut self, row: usize) -> io::Result<Option<(u64, Option<u64>)>> {
        let Some(start) = self.start(row)? else { return Ok(None) };
        let end = match (self.section.form, self.start(row + 1)?) {
            (Form::Scalar | Form::Loose, None) => None,
            (_, Some(next)) => Some(next),
            (_, None) => self.section.end().map(u64::from),
        };
        Ok(Some((start, end.map(|end| end.clamp(start, start + WHOLE_ROW)))))
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

fn push_text(row: &Row, out: &mut Vec<u8>) {
    for piece in &row.pieces {
        match piece {
            Piece::Value(text) | Piece::Detail(text) => out.extend_from_slice(text.as_bytes()),
            Piece::Own(words) => out.extend_from_slice(words.as_bytes()),
        }
    }
}
