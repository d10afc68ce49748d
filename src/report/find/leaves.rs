//! The leaves of a row: every string, number and word of it, and the names that are data.
//!
//! The field names of a record that the table knows are the format's own words, and are no leaves; every other name is.

use crate::report::index::Form;
use crate::report::json::{Event, Raw, Scanner};
use crate::report::{Body, Report};
use std::io;
use std::ops::Range;

/// Most bytes of a row that are searched.
const LARGEST_ROW: u64 = 64 * 1024 * 1024;

impl Report {
    /// Visits the text of a row's leaves as written, between the quotes; stops at the first that `is_sought`, and says so.
    pub(super) fn has_leaf(
        &self,
        section: usize,
        row: usize,
        near: Near<'_>,
        is_sought: &mut impl FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        let Some(found) = self.section(section) else { return Ok(false) };
        let range = self.extent(section, row);
        let mut visit =
            Visit { are_names_data: found.attribute.is_none(), depth: 0, has_ended: false, is_found: false };
        near.with(&self.body, range, &mut |bytes| visit.read(bytes, found.form, is_sought))?;
        if let (Some(tail), false) = (self.tail(section, row), visit.is_found) {
            near.with(&self.body, tail, &mut |bytes| {
                visit = Visit { depth: 0, has_ended: false, ..visit };
                visit.read(&[b"{", bytes].concat(), found.form, is_sought);
            })?;
        }
        Ok(visit.is_found)
    }
}

/// Bytes of a body that are at hand, with the offset of the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near<'a> {
    pub(super) at: u64,
    pub(super) bytes: &'a [u8],
}

impl<'a> Near<'a> {
    /// The bytes of a range, if they are all at hand.
    pub(super) fn get(self, range: &Range<u64>) -> Option<&'a [u8]> {
        let start = usize::try_from(range.start.checked_sub(self.at)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(self.at)?).ok()?;
        self.bytes.get(start..end)
    }

    fn with(self, body: &Body, range: Range<u64>, read: &mut impl FnMut(&[u8])) -> io::Result<()> {
        match self.get(&range) {
            Some(bytes) => read(bytes),
            None => read(&body.window(range.start..range.end.min(range.start.saturating_add(LARGEST_ROW)))?),
        }
        Ok(())
    }
}

/// A walk through one value.
#[derive(Clone, Copy)]
struct Visit {
    are_names_data: bool,
    depth: usize,
    has_ended: bool,
    is_found: bool,
}

impl Visit {
    fn read(&mut self, bytes: &[u8], form: Form, is_sought: &mut impl FnMut(&[u8]) -> bool) {
        // A row that is a member begins with its name.
        let mut before_value = usize::from(matches!(form, Form::Object | Form::Loose));
        let mut scanner = Scanner::default();
        scanner.feed(bytes, &mut |at, event| {
            if self.has_ended || self.is_found {
                return;
            }
            match event {
                Event::Open { .. } => self.depth += 1,
                Event::Close => self.depth = self.depth.saturating_sub(1),
                Event::Name(name) => self.is_found = (self.are_names_data || self.depth > 1) && is_sought(name),
                Event::Text | Event::Word => {
                    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                    self.is_found = is_sought(Raw::new(rest).content());
                }
            }
            let is_value = !matches!(event, Event::Open { .. } | Event::Name(_)) && self.depth == 0;
            self.has_ended = is_value && before_value == 0;
            before_value -= usize::from(is_value && before_value > 0);
        });
    }
}
