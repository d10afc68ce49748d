//! The rows of one piece that hold what is sought: compared where they stand, or by their leaves decoded.

use super::anchor::{Candidate, Scan};
use super::glance::{Around, Walk};
use super::leaves::Near;
use super::pattern::{Clue, Kind, Pattern, Scratch, Words};
use crate::report::index::Form;
use crate::report::json::Raw;
use crate::report::{Report, RowSet};
use regex::bytes::Regex;
use std::borrow::Cow;
use std::io;
use std::ops::Range;

/// Bytes that are read past a piece, so that what stands over its end is whole.
const OVER: u64 = 1024;

/// Where fewer than one row in so many can be a hit, these are looked at one by one.
const SPARSE: usize = 6;

/// So few rows of a piece are read by themselves.
const FEW: usize = 24;

/// A report and what is sought in it.
pub(super) struct Work<'a> {
    pub(super) report: &'a Report,
    pub(super) pattern: &'a Pattern,
    /// The only rows that can be hits, where that is known.
    pub(super) within: Option<&'a RowSet>,
    /// Offsets of the first rows of the sections that are searched, with the sections' numbers, in the order of the body.
    pub(super) firsts: Vec<(u64, usize)>,
    /// The sections whose rows all have it in the word beside them.
    pub(super) told: Vec<usize>,
}

/// The rows of a section that begin in a piece.
struct Stretch<'a> {
    section: usize,
    form: Form,
    /// Whether every name in it is data.
    are_names_data: bool,
    /// The first of the rows.
    row: usize,
    starts: Cow<'a, [u32]>,
    /// Offset after the last of them.
    end: u64,
    /// The only ones that can be hits, if they are few.
    few: Option<&'a [u32]>,
}

impl Stretch<'_> {
    /// The bytes that a row begins in, if it is one of these.
    fn range(&self, row: usize) -> Option<Range<u64>> {
        let at = row.checked_sub(self.row)?;
        let start = self.starts.get(at).copied().map(u64::from)?;
        let end = self.starts.get(at + 1).map_or(self.end, |next| u64::from(*next));
        Some(start..end.max(start))
    }
}

impl<'a> Work<'a> {
    /// The rows of a piece that are hits; `room` is for its bytes.
    pub(super) fn piece(&self, piece: Range<u64>, room: &mut Vec<u8>) -> io::Result<RowSet> {
        let stretches = self.stretches(&piece).collect::<io::Result<Vec<_>>>()?;
        let mut found = RowSet::default();
        let few: Option<usize> = stretches.iter().map(|stretch| stretch.few.map(<[u32]>::len)).sum();
        let bytes = match few {
            Some(0) => return Ok(found),
            Some(1..FEW) => &[],
            _ => self.report.body.look(piece.start..piece.end.saturating_add(OVER), room)?,
        };
        let near = Near { at: piece.start, bytes };
        let mut sought = Sought { work: self, near, scratch: Scratch::default(), walk: Walk::default() };
        for stretch in &stretches {
            if self.told.contains(&stretch.section) {
                found.append(stretch.section, &self.all(stretch));
                continue;
            }
            match (stretch.few, self.pattern.kind()) {
                (Some(rows), _) => {
                    let rows = rows.iter().map(|row| *row as usize);
                    sought.each(stretch, rows, &mut found)?;
                }
                (None, Kind::Words(words)) => {
                    let trail = |bytes| Trail::Anchors(Scan::new(&words.anchor, bytes));
                    sought.on_trail(stretch, trail, Some(words), &mut found)?;
                }
                (None, Kind::Expression(_, Some(clue))) => {
                    let trail = |bytes| match &**clue {
                        Clue::Anchor(anchor) => Trail::Anchors(Scan::new(anchor, bytes)),
                        Clue::Written(expression) => Trail::Written(expression, bytes),
                    };
                    sought.on_trail(stretch, trail, None, &mut found)?;
                }
                (None, Kind::Expression(_, None)) => {
                    sought.each(stretch, stretch.row..stretch.row + stretch.starts.len(), &mut found)?;
                }
            }
        }
        Ok(found)
    }

    /// Every row of a stretch that can be a hit.
    fn all(&self, stretch: &Stretch<'_>) -> Vec<u32> {
        let rows = stretch.row..stretch.row + stretch.starts.len();
        match self.within {
            Some(within) => between(within.rows(stretch.section), &rows).to_vec(),
            None => rows.map(number).collect(),
        }
    }

    /// The rows that begin in a piece.
    fn stretches(&self, piece: &Range<u64>) -> impl Iterator<Item = io::Result<Stretch<'a>>> {
        let (report, within) = (self.report, self.within);
        let first = self.firsts.partition_point(|(at, _)| *at <= piece.start).saturating_sub(1);
        let inside = self.firsts.iter().skip(first).take_while(|(at, _)| *at < piece.end);
        inside.filter_map(move |(_, number)| {
            let (section, end) = (report.section(*number)?, report.section_end(*number));
            let rows = section.row_from(piece.start)..section.row_from(piece.end);
            let end = section.start(rows.end).map_or(end, u64::from);
            let few = within.map(|within| between(within.rows(*number), &rows));
            let few = few.filter(|few| few.len().saturating_mul(SPARSE) <= rows.len());
            let (form, are_names_data, row) = (section.form, section.attribute.is_none(), rows.start);
            let stretch = |starts| Stretch { section: *number, form, are_names_data, row, starts, end, few };
            (!rows.is_empty()).then(|| section.starts(rows.clone()).map(stretch))
        })
    }
}

/// Those of some rows in order that lie in a range.
fn between<'a>(sorted: &'a [u32], rows: &Range<usize>) -> &'a [u32] {
    let place = |row: usize| sorted.partition_point(|known| (*known as usize) < row);
    sorted.get(place(rows.start)..place(rows.end)).unwrap_or_default()
}

/// A walk along what leads to rows that may be hits.
enum Trail<'a> {
    Anchors(Scan<'a>),
    Written(&'a Regex, &'a [u8]),
}

impl Trail<'_> {
    /// The next clue from `from` on.
    ///
    /// A match is told by where the first of them ends: no row between has one.
    fn next(&mut self, from: usize) -> Option<Candidate> {
        match self {
            Self::Anchors(scan) => scan.next(from),
            Self::Written(expression, bytes) if from < bytes.len() => {
                let end = expression.shortest_match_at(bytes, from)?;
                Some(Candidate { at: end.saturating_sub(1).max(from), is_plain: false })
            }
            Self::Written(..) => None,
        }
    }
}

struct Sought<'a> {
    work: &'a Work<'a>,
    near: Near<'a>,
    scratch: Scratch,
    walk: Walk,
}

impl<'a> Sought<'a> {
    /// Looks at the rows that a trail leads to; words are compared where their anchor stands, if they can be.
    fn on_trail(
        &mut self,
        stretch: &Stretch<'_>,
        trail: impl FnOnce(&'a [u8]) -> Trail<'a>,
        words: Option<&Words>,
        found: &mut RowSet,
    ) -> io::Result<()> {
        let (near, starts) = (self.near, &*stretch.starts);
        let offset = |at: u64| usize::try_from(at.saturating_sub(near.at)).unwrap_or(usize::MAX);
        let start_of = |row: usize| offset(starts.get(row).map_or(stretch.end, |start| u64::from(*start)));
        let mut whole = starts.len();
        let goes_on = start_of(whole) > near.bytes.len();
        // A last row that goes on past what is at hand is taken by itself.
        whole -= usize::from(goes_on);
        let bytes = near.bytes.get(..start_of(whole)).unwrap_or_default();
        let (mut hits, mut above) = (Vec::new(), Vec::new());
        let (mut row, mut start, mut end) = (0, start_of(0), start_of(1));
        let (mut from, mut trail) = (start, trail(bytes));
        while let Some(candidate) = trail.next(from) {
            while end <= candidate.at {
                row += 1;
                (start, end) = (end, start_of(row + 1));
            }
            let glance = words.and_then(|words| self.glance(stretch, words, candidate, start, bytes));
            if glance == Some(false) {
                from = candidate.at + 1;
                continue;
            }
            if stretch.form == Form::Processes {
                self.look_above(stretch, row, &mut above);
            }
            if glance == Some(true) || self.check(stretch, stretch.row + row)? {
                hits.push(number(stretch.row + row));
            }
            from = end;
        }
        if goes_on {
            if stretch.form == Form::Processes {
                self.look_above(stretch, whole, &mut above);
            }
            if self.check(stretch, stretch.row + whole)? {
                hits.push(number(stretch.row + whole));
            }
        }
        found.append(stretch.section, &hits);
        self.each(stretch, above, found)
    }

    /// Adds the processes above a row that go on after it: they are to be looked at as well.
    fn look_above(&self, stretch: &Stretch<'_>, row: usize, above: &mut Vec<usize>) {
        let row = stretch.row + row;
        let Some((tree, range)) = self.work.report.section(stretch.section).zip(stretch.range(row)) else { return };
        // Only where a subtree ends something goes on.
        let depth = |row: usize| tree.depths().get(row).unwrap_or(0);
        let ending = usize::from(depth(row).saturating_sub(depth(row + 1)));
        let mut ancestor = row;
        for _ in 0..ending {
            let Some(process) = tree.depths().parent(ancestor) else { break };
            let goes_on = tree.tail(process).is_some_and(|tail| range.contains(&u64::from(tail)));
            above.extend(goes_on.then_some(process));
            ancestor = process;
        }
    }

    /// Whether a candidate in the row that begins at `start` is a hit, as far as can be told without decoding.
    #[inline(always)]
    fn glance(
        &mut self,
        stretch: &Stretch<'_>,
        words: &Words,
        candidate: Candidate,
        start: usize,
        bytes: &[u8],
    ) -> Option<bool> {
        let text = match (candidate.is_plain, stretch.form, bytes.get(start)?) {
            // What may stand between two rows tells nothing by itself.
            (true, Form::Array, b'"') if !words.may_stand_between => start + 1,
            (true, Form::Array | Form::Processes, b'{' | b'[') if !stretch.are_names_data => {
                match self.walk.around(bytes, start, candidate.at) {
                    Around::Text(text) => text,
                    Around::Name => return Some(false),
                    Around::Unsure => return None,
                }
            }
            _ => return None,
        };
        words.stand_at(bytes, text, candidate.at, self.work.pattern.how().is_case_sensitive)
    }

    /// Adds those rows of a section that are hits, by their leaves.
    fn each(
        &mut self,
        stretch: &Stretch<'_>,
        rows: impl IntoIterator<Item = usize>,
        found: &mut RowSet,
    ) -> io::Result<()> {
        for row in rows {
            if self.check(stretch, row)? {
                found.insert(stretch.section, number(row));
            }
        }
        Ok(())
    }

    /// Whether a row of a section is a hit, by its leaves.
    fn check(&mut self, stretch: &Stretch<'_>, row: usize) -> io::Result<bool> {
        let (report, pattern, scratch) = (self.work.report, self.work.pattern, &mut self.scratch);
        // Most rows are a string by itself.
        if stretch.form == Form::Array
            && let Some(bytes) = stretch.range(row).and_then(|range| self.near.get(&range))
            && bytes.first() == Some(&b'"')
        {
            return Ok(pattern.is_match_in_json(Raw::new(bytes).content_alone(), scratch));
        }
        report.has_leaf(stretch.section, row, self.near, &mut |leaf| pattern.is_match_in_json(leaf, scratch))
    }
}

fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
