//! The leaves of a row: every string, number and word of it, and the names that are data.
//!
//! The field names of a record that the table knows are the format's own words, and are no leaves; every other name is.

use super::pattern::Pattern;
use crate::report::Report;
use crate::report::index::{Form, Section};
use crate::report::json::{Event, Kind, Raw, Scanner};
use crate::report::rows::values::split_member;
use crate::text::Untrusted;

/// Matches the rows of a report one after another.
pub(super) struct Matcher<'a> {
    pub(super) report: &'a Report,
    pub(super) pattern: &'a Pattern,
    decoded: Vec<u8>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(report: &'a Report, pattern: &'a Pattern) -> Self {
        Self { report, pattern, decoded: Vec::new() }
    }

    /// Whether a leaf of a row matches.
    pub(super) fn is_hit(&mut self, number: usize, section: &Section, row: usize) -> bool {
        let bytes = self.report.body.window(self.report.extent(number, row));
        let are_names_data = section.attribute.is_none();
        match (section.form, bytes.first()) {
            // Most rows are a string by itself.
            (Form::Array, Some(b'"')) => self.is_match(Raw::new(bytes).content_alone()),
            (Form::Object | Form::Loose, _) => {
                let (name, value) = split_member(bytes);
                self.is_match(name.content()) || self.has_leaf(value.bytes(), are_names_data)
            }
            (Form::Processes, Some(b'{')) => {
                let report = self.report;
                let mut members = report.process_members(number, row, bytes);
                members.any(|(name, value)| match value.kind() {
                    _ if are_names_data && self.is_match(name.content()) => true,
                    Kind::Object | Kind::Array => self.has_leaf(value.bytes(), true),
                    Kind::Text | Kind::Word => self.is_match(value.content()),
                })
            }
            _ => self.has_leaf(Raw::new(bytes).bytes(), are_names_data),
        }
    }

    /// Whether a leaf of a value matches; the names of its own members count where they are data, those further in always.
    fn has_leaf(&mut self, value: &[u8], are_names_data: bool) -> bool {
        let (mut is_found, mut depth) = (false, 0_usize);
        Scanner::default().feed(value, &mut |at, event| match event {
            _ if is_found => {}
            Event::Open { .. } => depth += 1,
            Event::Close => depth = depth.saturating_sub(1),
            Event::Name(name) => is_found = (are_names_data || depth > 1) && self.is_match(name),
            Event::Text | Event::Word { .. } => {
                let rest = usize::try_from(at).ok().and_then(|at| value.get(at..)).unwrap_or_default();
                is_found = self.is_match(Raw::new(rest).content());
            }
        });
        is_found
    }

    /// Whether a text matches that is written as JSON, given without the quotes.
    fn is_match(&mut self, text: &[u8]) -> bool {
        if memchr::memchr(b'\\', text).is_none() {
            return self.pattern.is_match(text);
        }
        self.decoded.clear();
        Untrusted::decode_json(text, &mut self.decoded);
        self.pattern.is_match(&self.decoded)
    }
}
