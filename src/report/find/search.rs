//! Searches a report's rows in batches, several at a time; the first are small, so that the first hits come at once.

use super::leaves::Matcher;
use super::pattern::Pattern;
use crate::report::work::in_rounds;
use crate::report::{Cancel, Pane, Report, RowSet, Section};
use std::ops::{ControlFlow, Range};

/// Bytes of the first batches, and of those that follow.
const FIRST_BATCHES: usize = 128 * 1024;
const BATCHES: usize = 2 * 1024 * 1024;

/// How many batches are small.
const SMALL: usize = 8;

/// Where is searched.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub pane: Option<Pane>,
    /// Only from this offset of the body on.
    pub from: usize,
}

/// Searches a report on some threads, and hands each batch of rows to `sink` in the order of the body; it says whether to go on.
pub fn search(
    report: &Report,
    pattern: &Pattern,
    scope: &Scope,
    threads: usize,
    cancel: &Cancel,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) {
    let sections = Searched::all(report, pattern, scope.pane);
    let start = sections.first().map_or(0, |first| first.start).max(scope.from);
    let end = sections.iter().map(|found| report.section_end(found.number)).max().unwrap_or(0);
    let batches: Vec<_> = batches(start..end.min(report.searchable())).collect();
    let find = |batch: &Range<usize>| rows(report, pattern, &sections, batch, cancel);
    in_rounds(&batches, threads, find, &mut |rows| {
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { sink(rows) }
    });
}

/// The parts of the body that are searched at a time.
fn batches(body: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (mut start, mut number) = (body.start, 0);
    std::iter::from_fn(move || {
        let batch = start..body.end.min(start + if number < SMALL { FIRST_BATCHES } else { BATCHES });
        (start, number) = (batch.end, number + 1);
        (!batch.is_empty()).then_some(batch)
    })
}

/// A section that is searched.
struct Searched<'a> {
    /// Offset of its first row.
    start: usize,
    number: usize,
    section: &'a Section,
    /// Whether the word beside its rows matches: then all of them are hits.
    is_told: bool,
}

impl<'a> Searched<'a> {
    /// The sections that are searched, in the order of the body.
    fn all(report: &'a Report, pattern: &Pattern, pane: Option<Pane>) -> Vec<Self> {
        let sections = (0..).zip(&report.index.sections);
        let found = sections.filter(|(_, section)| pane.is_none_or(|pane| section.pane() == pane));
        let mut all: Vec<_> = found
            .filter_map(|(number, section)| {
                let start = section.start(0)? as usize;
                Some(Self { start, number, section, is_told: pattern.is_in(&section.label()) })
            })
            .collect();
        all.sort_by_key(|found| found.start);
        all
    }
}

/// The rows that begin in a batch and are hits.
fn rows(report: &Report, pattern: &Pattern, all: &[Searched<'_>], batch: &Range<usize>, cancel: &Cancel) -> RowSet {
    let (mut matcher, mut hits) = (Matcher::new(report, pattern), RowSet::default());
    let first = all.partition_point(|found| found.start <= batch.start).saturating_sub(1);
    let inside = all.iter().skip(first).take_while(|found| found.start < batch.end);
    for Searched { number, section, is_told, .. } in inside {
        for row in section.row_from(batch.start)..section.row_from(batch.end) {
            if cancel.is_cancelled() {
                return hits;
            }
            if *is_told || matcher.is_hit(*number, section, row) {
                hits.insert(*number, u32::try_from(row).unwrap_or(u32::MAX));
            }
        }
    }
    hits
}
