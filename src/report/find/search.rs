//! Searches a report's rows: in pieces, several at a time, the first pieces small so that the first hits come at once.

use super::pattern::Pattern;
use super::sought::Work;
use crate::report::{Pane, Report, RowSet, Section};
use std::collections::BTreeMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

/// Bytes of the first pieces, and of those that follow.
const FIRST_PIECES: u64 = 128 * 1024;
const PIECES: u64 = 1024 * 1024;

/// How many pieces are small.
const SMALL: u64 = 8;

/// Where is searched.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Only in this pane.
    pub pane: Option<Pane>,
    /// Only from this offset of the body on.
    pub from: u64,
    /// How many threads search; one where it is 0.
    pub threads: usize,
    /// The only rows that can be hits, where that is known: those that hold a part of what is sought.
    pub within: Option<Arc<RowSet>>,
}

/// Searches a report, and hands each batch of rows to `sink` in the order of the body; it says whether to go on.
///
/// # Errors
/// When the body cannot be read.
pub fn search(
    report: &Report,
    pattern: &Pattern,
    scope: Scope,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) -> io::Result<()> {
    let within = scope.within.as_deref();
    let work = Work { report, pattern, within, firsts: firsts(report, scope.pane) };
    let end =
        work.firsts.iter().map(|(_, section)| report.section_end(*section)).max().unwrap_or(0).min(report.searchable());
    let start = work.firsts.first().map_or(0, |(first, _)| *first).max(scope.from);
    let pieces = Pieces { start, end };
    if pieces.get(1).is_none() || scope.threads < 2 {
        let mut room = Vec::new();
        for number in 0.. {
            let Some(piece) = pieces.get(number) else { break };
            if sink(work.piece(piece, &mut room)?).is_break() {
                break;
            }
        }
        return Ok(());
    }
    together(&work, pieces, scope.threads, sink)
}

/// Several threads take one piece after another; what they find is handed over in order.
fn together(
    work: &Work<'_>,
    pieces: Pieces,
    threads: usize,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) -> io::Result<()> {
    let (next, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (outbox, inbox) = mpsc::channel();
        for _ in 0..threads {
            let (outbox, next, is_over) = (outbox.clone(), &next, &is_over);
            scope.spawn(move || {
                let mut room = Vec::new();
                while let (false, number) = (is_over.load(Ordering::Relaxed), next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(piece) = pieces.get(number) else { break };
                    if outbox.send((number, work.piece(piece, &mut room))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(outbox);
        let result = in_order(&inbox, sink);
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

fn in_order(
    inbox: &mpsc::Receiver<(u64, io::Result<RowSet>)>,
    sink: &mut dyn FnMut(RowSet) -> ControlFlow<()>,
) -> io::Result<()> {
    let (mut early, mut wanted) = (BTreeMap::new(), 0);
    for (number, found) in inbox {
        early.insert(number, found?);
        while let Some(found) = early.remove(&wanted) {
            wanted += 1;
            if sink(found).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
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
    firsts.sort_unstable();
    firsts
}
