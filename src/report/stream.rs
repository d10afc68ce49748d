//! The rows of a section one after another, read in long stretches: for what looks at every row.

use super::index::{Form, Section};
use super::json::Raw;
use super::rows::{PREVIEW, Piece, Report, Row, WHOLE_ROW};
use std::io;

/// How many bytes are read at once.
const STRETCH: u64 = 1024 * 1024;

impl Report {
    /// Hands every row's bytes to `look`, up to 8 MiB of each, with its number; stops early when `look` says false.
    ///
    /// The bytes of a process end where its first child begins.
    ///
    /// # Errors
    /// When the body cannot be read.
    pub fn each_row(&self, section: usize, mut look: impl FnMut(usize, &[u8]) -> bool) -> io::Result<()> {
        let Some(found) = self.section(section) else { return Ok(()) };
        let (mut stretch, mut first) = (Vec::new(), 0_u64);
        for row in 0..found.len() {
            let Some((start, end)) = extent(found, row) else { break };
            let Some(end) = end else {
                if !look(row, &self.open_ended(start)?) {
                    break;
                }
                continue;
            };
            if start < first || end > first + stretch.len() as u64 {
                stretch = self.body.window(start..end.max(start + STRETCH).min(start + WHOLE_ROW))?;
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

/// Where a row begins, and where it ends at the latest; none where that is not noted.
fn extent(section: &Section, row: usize) -> Option<(u64, Option<u64>)> {
    let start = u64::from(section.start(row)?);
    let end = match (section.form, section.start(row + 1)) {
        (Form::Scalar | Form::Loose, None) => None,
        (_, Some(next)) => Some(u64::from(next)),
        (_, None) => section.end().map(u64::from),
    };
    Some((start, end.map(|end| end.clamp(start, start + WHOLE_ROW))))
}

fn push_text(row: &Row, out: &mut Vec<u8>) {
    for piece in &row.pieces {
        match piece {
            Piece::Value(text) | Piece::Detail(text) => out.extend_from_slice(text.as_bytes()),
            Piece::Own(words) => out.extend_from_slice(words.as_bytes()),
        }
    }
}
