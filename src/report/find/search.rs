//! Searches a report's rows: in pieces, several at a time, the first pieces small so that the first hits come at once.

use super::pattern::{Pattern, Scratch};
use super::sought::Work;
use crate::order;
use crate::report::fan_out::in_order;
use crate::report::{Pane, Report, RowSet, Section};
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Bytes of the first pieces, and of those that follow.
const FIRST_PIECES: u64 = 128 * 1024;
const PIECES: u64 = 1024 * 1024;

/// How many pieces are small.
const SMALL: u64 = 8;

/// Where is searched.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub pane: Option<Pane>,
    /// Only from this offset of the body on.
    pub from: u64,
    /// The only rows that can be hits, where that is known: those that hold a part of what is sought.
    pub within: Option<Arc<RowSet>>,
}

/// Searches a report on some threads, and hands each batch of rows to `sink` in the order of the body; it says whether to go on.
pub fn search(
    report: &Report,
    pattern: &Pattern,
    scope: Scope,
    threads: usize,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) -> io::Result<()> {
    let within = scope.within.as_deref();
    let firsts = firsts(report, scope.pane);
    let mut scratch = Scratch::default();
    let is_told =
        |number: &usize| report.section(*number).is_some_and(|found| pattern.is_in(&found.label(), &mut scratch));
    let told = firsts.iter().map(|(_, number)| *number).filter(is_told).collect();
    let work = Work { report, pattern, within, firsts, told };
    let end =
        work.firsts.iter().map(|(_, section)| report.section_end(*section)).max().unwrap_or(0).min(report.searchable());
    let start = work.firsts.first().map_or(0, |(first, _)| *first).max(scope.from);
    let pieces = Pieces { start, end };
    let threads = if pieces.get(1).is_some() { threads } else { 1 };
    let all = (0..).map_while(|number| pieces.get(number));
    let mut result = Ok(());
    in_order(threads, all, |piece, room| work.piece(piece, room), &mut |found| match found {
        Ok(found) => sink(found),
        Err(error) => {
            result = Err(error);
            ControlFlow::Break(())
        }
    });
    result
}

/// The pieces of what is searched.
#[derive(Clone, Copy)]
struct Pieces {
    start: u64,
    end: u64,
}

impl Pieces {
    fn get(self, number: u64) -> Option<Range<u64>> {
        let (small, large) = (number.min(SMALL), number.saturating_sub(SMALL));
        let start = self.start.saturating_add(small * FIRST_PIECES).saturating_add(large.saturating_mul(PIECES));
        let length = if number < SMALL { FIRST_PIECES } else { PIECES };
        (start < self.end).then(|| start..start.saturating_add(length).min(self.end))
    }
}

/// Offsets of the first rows of the sections that are searched, with the sections' numbers, in the order of the body.
fn firsts(report: &Report, pane: Option<Pane>) -> Vec<(u64, usize)> {
    let wanted = |section: &Section| pane.is_none_or(|pane| section.pane() == pane);
    let sections = (0..).zip(&report.index.sections).filter(|(_, section)| wanted(section));
    let mut firsts: Vec<_> = sections.filter_map(|(n, section)| Some((u64::from(section.start(0)?), n))).collect();
    order::sort(&mut firsts);
    firsts
}
