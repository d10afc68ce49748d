//! The rows of one piece that hold what is sought: compared where they stand, or by their leaves decoded.

use super::anchor::{Anchor, Candidate};
use super::leaves::Near;
use super::pattern::{Kind, Pattern, Scratch, Words};
use crate::report::index::Form;
use crate::report::json::Raw;
use crate::report::{Report, RowSet};
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
}

/// The rows of a section that begin in a piece.
struct Stretch<'a> {
    section: usize,
    form: Form,
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
        let mut sought = Sought { work: self, near, scratch: Scratch::default() };
        for stretch in &stretches {
            match (stretch.few, self.pattern.kind()) {
                (Some(rows), _) => {
                    let rows = rows.iter().map(|row| *row as usize);
                    sought.each(stretch, rows, &mut found)?;
                }
                (None, Kind::Words(words)) => sought.near_anchors(stretch, &words.anchor, Some(words), &mut found)?,
                (None, Kind::Expression(_, Some(anchor))) => sought.near_anchors(stretch, anchor, None, &mut found)?,
                (None, Kind::Expression(_, None)) => {
                    sought.each(stretch, stretch.row..stretch.row + stretch.starts.len(), &mut found)?;
                }
            }
        }
        Ok(found)
    }

    /// The rows that begin in a piece.
    fn stretches(&self, piece: &Range<u64>) -> impl Iterator<Item = io::Result<Stretch<'a>>> {
        let (report, within) = (self.report, self.within);
        let first = self.firsts.partition_point(|(at, _)| *at <= piece.start).saturating_sub(1);
        let inside = self.firsts.iter().skip(first).take_while(|(at, _)| *at < piece.end);
        inside.filter_map(move |(_, number)| {
            let (section, end) = (report.section(*number)?, report.section_end(*number));
            let from = |at: u64| at.checked_sub(1).and_then(|before| section.row_at(before)).map_or(0, |row| row + 1);
            let rows = from(piece.start)..from(piece.end);
            let end = section.start(rows.end).map_or(end, u64::from);
            let few = within.map(|within| between(within.rows(*number), &rows));
            let few = few.filter(|few| few.len().saturating_mul(SPARSE) <= rows.len());
            let stretch = |starts| Stretch { section: *number, form: section.form, row: rows.start, starts, end, few };
            (!rows.is_empty()).then(|| section.starts(rows.clone()).map(stretch))
        })
    }
}

/// Those of some rows in order that lie in a range.
fn between<'a>(sorted: &'a [u32], rows: &Range<usize>) -> &'a [u32] {
    let place = |row: usize| sorted.partition_point(|known| (*known as usize) < row);
    sorted.get(place(rows.start)..place(rows.end)).unwrap_or_default()
}

struct Sought<'a> {
    work: &'a Work<'a>,
    near: Near<'a>,
    scratch: Scratch,
}

impl Sought<'_> {
    /// Looks at the rows that an anchor stands in; words are compared where they stand, if they can be.
    fn near_anchors(
        &mut self,
        stretch: &Stretch<'_>,
        anchor: &Anchor,
        words: Option<&Words>,
        found: &mut RowSet,
    ) -> io::Result<()> {
        let near = self.near;
        let offset = |at: u64| usize::try_from(at.saturating_sub(near.at)).unwrap_or(usize::MAX);
        let start_of = |row: usize| offset(stretch.starts.get(row).map_or(stretch.end, |start| u64::from(*start)));
        let mut whole = stretch.starts.len();
        let goes_on = start_of(whole) > near.bytes.len();
        // A last row that goes on past what is at hand is taken by itself.
        whole -= usize::from(goes_on);
        let bytes = near.bytes.get(..start_of(whole)).unwrap_or_default();
        let (mut hits, mut above) = (Vec::new(), Vec::new());
        let (mut from, mut row) = (start_of(0), 0);
        while let Some(candidate) = anchor.find(bytes, from) {
            while start_of(row + 1) <= candidate.at {
                row += 1;
            }
            let is_hit = match words.and_then(|words| self.glance(stretch, words, candidate, row, bytes)) {
                Some(false) => {
                    from = candidate.at + 1;
                    continue;
                }
                Some(true) => true,
                None => self.is_hit(stretch, row, &mut above)?,
            };
            hits.extend(is_hit.then(|| number(stretch.row + row)));
            from = start_of(row + 1);
        }
        if goes_on && self.is_hit(stretch, whole, &mut above)? {
            hits.push(number(stretch.row + whole));
        }
        found.append(stretch.section, &hits);
        self.each(stretch, above, found)
    }

    /// Whether a row is a hit, by its leaves; the processes above it that go on after it are to be looked at as well.
    fn is_hit(&mut self, stretch: &Stretch<'_>, row: usize, above: &mut Vec<usize>) -> io::Result<bool> {
        let row = stretch.row + row;
        let tree = self.work.report.section(stretch.section).filter(|_| stretch.form == Form::Processes);
        if let Some((tree, range)) = tree.zip(stretch.range(row)) {
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
        self.check(stretch, row)
    }

    /// Whether a candidate is a hit, as far as can be told without decoding.
    fn glance(
        &self,
        stretch: &Stretch<'_>,
        words: &Words,
        candidate: Candidate,
        row: usize,
        bytes: &[u8],
    ) -> Option<bool> {
        let start = u64::from(*stretch.starts.get(row)?).checked_sub(self.near.at)?;
        let start = usize::try_from(start).ok()?;
        let is_string = stretch.form == Form::Array && bytes.get(start) == Some(&b'"');
        let is_inside = words.encoded.first().is_some_and(|first| !b" ,:[]{}".contains(first));
        if !(is_string && is_inside && candidate.is_plain) {
            return None;
        }
        let at = candidate.at.checked_sub(words.anchor.offset).filter(|at| *at > start)?;
        let is_case_sensitive = self.work.pattern.how().is_case_sensitive;
        // From the anchor outwards: up to the first difference both are written alike.
        for place in (0..words.anchor.offset).rev().chain(words.anchor.offset..words.encoded.len()) {
            let (byte, wanted) = (bytes.get(at + place)?, words.encoded.get(place)?);
            let is_equal = if is_case_sensitive { byte == wanted } else { byte.to_ascii_lowercase() == *wanted };
            if !is_equal {
                return is_another(bytes, at + place, *wanted).then_some(false);
            }
        }
        is_between_escapes(bytes.get(start..at)?).then_some(true)
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
            return Ok(pattern.is_match_in_json(Raw::new(bytes).content(), scratch));
        }
        report.has_leaf(stretch.section, row, self.near, &mut |leaf| pattern.is_match_in_json(leaf, scratch))
    }
}

fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

/// Whether the byte here is for certain the end of another character than the one that is wanted, and not of the same one
/// written otherwise: such a way begins with a backslash, or is no ASCII.
fn is_another(bytes: &[u8], at: usize, wanted: u8) -> bool {
    let back = |steps: usize| at.checked_sub(steps).and_then(|at| bytes.get(at));
    let is_escape = back(1) == Some(&b'\\') || back(5) == Some(&b'\\') && back(4) == Some(&b'u');
    let is_plain = |byte: u8| byte.is_ascii() && byte != b'\\';
    back(0).is_some_and(|byte| is_plain(*byte)) && is_plain(wanted) && !is_escape
}

/// Whether what comes after these bytes of a string is the begin of a character, and not the inside of an escape.
fn is_between_escapes(before: &[u8]) -> bool {
    let near = before.get(before.len().saturating_sub(5)..).unwrap_or_default();
    let Some(back) = near.iter().rev().position(|byte| *byte == b'\\') else { return true };
    let backslash = before.len() - back;
    let run = before.get(..backslash).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count();
    run % 2 == 0 || back > 0 && before.get(backslash) != Some(&b'u')
}
