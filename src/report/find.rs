//! Finds rows by text or label: each row's leaves are decoded and matched, in parallel batches.
//!
//! Field names of a record in the table belong to the format and are not leaves; others are.

use super::index::SectionForm;
use super::json::{Event, Kind, Raw, Scanner};
use super::rows::{Label, split_member};
use super::work::in_rounds;
use super::{Cancel, Pane, Report, RowPlace, RowSet, Section};
use crate::text::Untrusted;
use regex::bytes::{Regex, RegexBuilder};
use std::ops::{ControlFlow, Range};

/// Maximum size of a compiled expression, in bytes.
const MAX_COMPILED: usize = 2 * 1024 * 1024;

/// How a pattern is interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MatchOptions {
    pub is_regex: bool,
    pub is_case_sensitive: bool,
}

/// A search pattern. It is matched against decoded text, not against JSON escapes.
#[derive(Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern; the error says why the text is not a regular expression.
    pub fn new(words: &str, how: MatchOptions) -> Result<Self, String> {
        if words.is_empty() {
            return Err("nothing is typed".to_owned());
        }
        let expression = if how.is_regex { words.to_owned() } else { regex::escape(words) };
        let regex = RegexBuilder::new(&expression)
            .case_insensitive(!how.is_case_sensitive)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_COMPILED)
            .build()
            .map_err(|error| reason(&error))?;
        Ok(Self(regex))
    }

    pub fn is_match(&self, text: &[u8]) -> bool {
        self.0.is_match(text)
    }

    fn is_in(&self, label: &Label) -> bool {
        match label {
            // A pattern that matches the empty text does not find empty labels.
            Label::Known("") => false,
            Label::Known(word) => self.is_match(word.as_bytes()),
            Label::Named(name) => self.is_match(name.as_bytes()),
        }
    }

    /// Returns the byte ranges of its matches in a visible text.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.0.find_iter(text.as_bytes()).map(|found| found.range());
        found.filter(|found| !found.is_empty()).collect()
    }

    fn is_in_row(&self, report: &Report, number: usize, section: &Section, row: usize) -> bool {
        let bytes = report.body.window(report.extent(number, row));
        let are_names_data = section.attribute.is_none();
        match (section.form, bytes.first()) {
            // Most rows are single strings.
            (SectionForm::Array, Some(b'"')) => self.is_in_json(Raw::new(bytes).content_alone()),
            (SectionForm::Object | SectionForm::Loose, _) => {
                let (name, value) = split_member(bytes);
                self.is_in_json(name.content()) || self.is_in_leaf(value.bytes(), are_names_data)
            }
            (SectionForm::Processes, Some(b'{')) => {
                report.own_members(RowPlace { section: number, row }, bytes).any(|(name, value)| match value.kind() {
                    _ if are_names_data && self.is_in_json(name.content()) => true,
                    Kind::Object | Kind::Array => self.is_in_leaf(value.bytes(), true),
                    Kind::Text | Kind::Word => self.is_in_json(value.content()),
                })
            }
            _ => self.is_in_leaf(Raw::new(bytes).bytes(), are_names_data),
        }
    }

    /// Returns whether a leaf matches; nested names always count, its own only if they are data.
    fn is_in_leaf(&self, value: &[u8], are_names_data: bool) -> bool {
        let mut is_found = false;
        let mut depth = 0_usize;
        Scanner::default().feed(value, &mut |at, event| match event {
            _ if is_found => {}
            Event::Open { .. } => depth += 1,
            Event::Close => depth = depth.saturating_sub(1),
            Event::Name(name) => is_found = (are_names_data || depth > 1) && self.is_in_json(name),
            Event::Text | Event::Word { .. } => {
                let rest = usize::try_from(at).ok().and_then(|at| value.get(at..)).unwrap_or_default();
                is_found = self.is_in_json(Raw::new(rest).content());
            }
        });
        is_found
    }

    /// Returns whether it matches a JSON string, given without its quotes.
    fn is_in_json(&self, text: &[u8]) -> bool {
        match memchr::memchr(b'\\', text) {
            None => self.is_match(text),
            Some(_) => self.is_match(Untrusted::from_json(text).as_bytes()),
        }
    }
}

/// Explains why an expression is invalid, in one line and without the expression itself.
fn reason(error: &regex::Error) -> String {
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return "the expression takes too much memory".to_owned();
    }
    let message = error.to_string();
    let last = message.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Bytes of the first batches, which are small so that the first hits are early, and of later ones.
const FIRST_BATCH_BYTES: usize = 128 * 1024;
const BATCH_BYTES: usize = 2 * 1024 * 1024;

const FIRST_BATCHES: usize = 8;

/// The part of a report that is searched.
#[derive(Debug, Clone, Default)]
pub struct SearchScope {
    pub pane: Option<Pane>,
    /// Only from this offset of the body on.
    pub from: usize,
}

/// Searches a report on several threads; `sink` takes the batches in order, and may stop it.
pub fn search(
    report: &Report,
    pattern: &Pattern,
    scope: &SearchScope,
    threads: usize,
    cancel: &Cancel,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) {
    // Offset of the first row, number, section, and whether its label matches: then all are hits.
    let mut sections: Vec<(usize, usize, &Section, bool)> = (0..)
        .zip(&report.index.sections)
        .filter(|(_, section)| scope.pane.is_none_or(|pane| section.pane() == pane))
        .filter_map(|(number, section)| {
            Some((section.start(0)? as usize, number, section, pattern.is_in(&section.label())))
        })
        .collect();
    sections.sort_by_key(|(start, ..)| *start);
    let mut start = sections.first().map_or(0, |first| first.0).max(scope.from);
    let end = sections.iter().map(|(_, number, ..)| report.section_end(*number)).max().unwrap_or(0);
    let end = end.min(report.searchable());
    let mut batches = Vec::new();
    while start < end {
        let batch = start..end.min(start + if batches.len() < FIRST_BATCHES { FIRST_BATCH_BYTES } else { BATCH_BYTES });
        start = batch.end;
        batches.push(batch);
    }
    let find = |batch: &Range<usize>| {
        let mut hits = RowSet::default();
        let first = sections.partition_point(|(start, ..)| *start <= batch.start).saturating_sub(1);
        let inside = sections.iter().skip(first).take_while(|(start, ..)| *start < batch.end);
        for (_, number, section, is_hit) in inside {
            for row in section.row_from(batch.start)..section.row_from(batch.end) {
                if cancel.is_cancelled() {
                    return hits;
                }
                if *is_hit || pattern.is_in_row(report, *number, section, row) {
                    hits.insert(*number, u32::try_from(row).unwrap_or(u32::MAX));
                }
            }
        }
        hits
    };
    in_rounds(&batches, threads, find, &mut |rows| {
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { sink(rows) }
    });
}

#[cfg(test)]
mod tests;
