//! Compares reports: a matrix of items and reports, one bit each.
//!
//! ```text
//! bodies ── a thread each ──> hashes of keys ── one after another ──> items ── sort ──> Matrix
//! ```
//! It stores hashes alone, four bytes a row and forty an item; item text is decoded when shown.

mod identity;

use super::attack;
use super::attributes::{ATTRIBUTES, Attribute, Pane};
use super::body::Body;
use super::command_line;
use super::index::Section;
use super::rows::{Piece, Report, Row, RowBytes};
use super::rules::Rules;
use super::work::{Cancel, Cancelled, in_rounds};
use crate::text::{Untrusted, names};
use foldhash::quality::RandomState;
use identity::EqualityRule;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

pub use identity::{EVERY_LIST, ReportValue, ValueHashes, ValueKind};

/// Maximum number of compared reports: a bit each.
pub const MAX_COLUMNS: usize = 64;

/// Items against reports.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    columns: Vec<Option<Column>>,
    items: Vec<ComparedItem>,
    /// By an item's column, section and row: techniques only rules find, by report number.
    techniques: HashMap<(u8, u32, u32), Vec<(usize, Row)>>,
}

#[derive(Debug, Clone)]
struct Column {
    report: Report,
    /// Sections that are compared, in pane order, with the number of their first row in `items`.
    sections: Vec<(usize, usize)>,
    /// The item of each row, section after section; empty until joined with the other reports.
    items: Vec<u32>,
}

/// One item that at least one report saw.
#[derive(Debug, Clone, Copy)]
pub struct ComparedItem {
    /// A bit for each report that saw it, the first report's lowest.
    pub seen: u64,
    /// A bit for each report whose rows differ from those of the first report that saw it.
    pub other: u64,
    pub pane: Pane,
    /// Place of its attribute among the rows of all panes.
    order: u16,
    column: u8,
    /// Whether it was seen more than once, in one report or in several.
    is_shared: bool,
    section: u32,
    row: u32,
}

impl ComparedItem {
    /// Creates an item that no report is known to have seen.
    fn new(pane: Pane, order: u16, column: u8, section: u32, row: u32) -> Self {
        Self { seen: 0, other: 0, pane, order, column, is_shared: false, section, row }
    }
}

names! {
    /// Selects items by the reports that saw them.
    #[derive(Default)]
    SeenFilter {
        #[default]
        Any "any",
        /// Items that every side saw.
        All "all",
        /// Items that some sides saw and others did not, or whose details differ.
        Some "some",
        /// Items that only the side here saw, or for which it has details that no other side has.
        Here "here",
        /// Items that the side here lacks, or for which it lacks details of another side.
        NotHere "not-here",
    }
}

/// The column of items that rules alone find.
const BY_RULES: u8 = u8::MAX;

/// The sign's meaning where a report may have seen an item that its list, perhaps cut, lacks.
pub const NOT_LISTED: &str = "not listed, perhaps cut by the service";

/// The sign of a technique that rules alone find in a report.
pub const BY_RULES_SIGN: &str = "◇";

impl SeenFilter {
    /// Returns whether an item is selected: `sides` are bits of groups, `here` a report's number.
    fn wants(self, item: &ComparedItem, sides: &[u64], here: usize) -> bool {
        let ComparedItem { seen, other, .. } = *item;
        // Whether `these` have details that `rest` lacks, if both saw it.
        let has_more = |these: u64, rest: u64| these & other != 0 || rest & !other == 0;
        let is_everywhere = || sides.iter().all(|side| seen & side != 0);
        let here = || sides.iter().copied().find(|side| side >> here & 1 == 1).unwrap_or(0);
        match self {
            Self::Any => true,
            Self::All => is_everywhere(),
            Self::Some => other != 0 || !is_everywhere(),
            Self::Here => seen & here() != 0 && has_more(seen & here(), seen & !here()),
            Self::NotHere => seen & here() == 0 || seen & !here() != 0 && has_more(seen & !here(), seen & here()),
        }
    }
}

/// One report's column, and for each row the hash of its key and the hash of its other fields.
type HashedReport = (Column, Vec<(u64, u64)>);

impl Matrix {
    /// Compares reports up to [`MAX_COLUMNS`]; one that is not stored has a column without marks.
    pub fn of(bodies: &[Option<Body>]) -> Self {
        let keys = RandomState::default();
        let mut joined = JoinedReports::default();
        let bodies = bodies.get(..MAX_COLUMNS).unwrap_or(bodies);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        in_rounds(bodies, threads, |body| body.as_ref().map(|body| hash(body, &keys)), &mut |hashed| {
            joined.add(hashed);
            ControlFlow::Continue(())
        });
        joined.matrix.sorted()
    }

    pub fn items(&self) -> &[ComparedItem] {
        &self.items
    }

    /// Adds to each report the techniques that only its findings name, as one item each.
    pub fn with_techniques(mut self, rules: &Rules, cancel: &Cancel) -> Result<Self, Cancelled> {
        let of =
            |item: &ComparedItem| self.column(item.column.into())?.report.section(item.section as usize)?.attribute;
        let named = (0_usize..).zip(&self.items).filter(|(_, item)| of(item).is_some_and(Attribute::is_technique));
        let mut known: BTreeMap<_, _> = named.filter_map(|(at, item)| Some((id_of(&self.row(item))?, at))).collect();
        let first = known.values().min().and_then(|at| self.items.get(*at));
        let order = first.map_or(u16::MAX, |item| item.order);
        for (number, column) in self.columns.iter().enumerate().filter_map(|(n, column)| Some((n, column.as_ref()?))) {
            let marks = rules.evaluate(&column.report, cancel)?;
            for technique in marks.techniques.iter().filter(|technique| !technique.is_named) {
                let next = self.items.len();
                let at = *known.entry(technique.id.clone()).or_insert(next);
                if at == next {
                    let row = u32::try_from(next).unwrap_or(u32::MAX);
                    self.items.push(ComparedItem::new(Pane::Techniques, order, BY_RULES, 0, row));
                }
                let Some(item) = self.items.get_mut(at) else { continue };
                item.seen |= 1 << number;
                let key = (item.column, item.section, item.row);
                self.techniques.entry(key).or_default().push((number, technique.row()));
            }
        }
        Ok(self.sorted())
    }

    /// Returns the technique that only rules find in a report, or in any.
    pub fn technique(&self, item: &ComparedItem, column: Option<usize>) -> Option<&Row> {
        let item = Some(item).filter(|item| item.pane == Pane::Techniques)?;
        let mut seen = self.techniques.get(&(item.column, item.section, item.row))?.iter();
        seen.find(|(found, _)| column.is_none_or(|column| column == *found)).map(|(_, row)| row)
    }

    pub fn has_techniques(&self) -> bool {
        !self.techniques.is_empty()
    }

    /// Returns the sign for how a report saw an item.
    pub fn sign(&self, item: &ComparedItem, column: usize) -> &'static str {
        let is = |bits: u64| bits >> column & 1 == 1;
        match self.column(column) {
            Some(_) if is(item.other) => "≠",
            Some(_) if self.technique(item, Some(column)).is_some() => BY_RULES_SIGN,
            Some(_) if is(item.seen) => "●",
            Some(_) if !self.is_perhaps_unlisted(item, column) => "·",
            _ => "?",
        }
    }

    /// Returns an item's row from the first report with it; [`ComparedItem::other`] marks those
    /// that differ. A process's row omits identifier, time and, for several, arguments.
    pub fn row(&self, item: &ComparedItem) -> Row {
        let by_rules = || self.technique(item, None).cloned().unwrap_or_default();
        let Some(Column { report, .. }) = self.column(item.column.into()) else { return by_rules() };
        let mut row = report.row(item.section as usize, item.row as usize);
        let is_process = report.tree().is_some_and(|(section, _)| section == item.section as usize);
        if is_process {
            row.pieces.truncate(1);
        }
        if let Some(Piece::Value(name)) = row.pieces.first_mut().filter(|_| is_process && item.is_shared) {
            let program = Untrusted::from(command_line::split(name.as_bytes()).0);
            *name = program;
        }
        row
    }

    pub fn row_of(&self, column: usize, section: usize, row: usize) -> Row {
        self.column(column).map(|column| column.report.row(section, row)).unwrap_or_default()
    }

    /// Returns whether an item may be in a list's cut part; if only rules find it, in any list's.
    pub fn is_perhaps_unlisted(&self, item: &ComparedItem, column: usize) -> bool {
        let is_cut = |(section, _): &(usize, usize), report: &Report| {
            let is_its = |found: &Section| item.column == BY_RULES || order(found) == item.order;
            report.section(*section).is_some_and(|found| found.is_perhaps_cut() && is_its(found))
        };
        let found = self.column(column).filter(|_| item.seen >> column & 1 == 0);
        found.is_some_and(|found| {
            !found.report.is_sound() || found.sections.iter().any(|section| is_cut(section, &found.report))
        })
    }

    /// Returns the number of reports that could not be read to their ends.
    pub fn unread(&self) -> usize {
        self.columns.iter().flatten().filter(|column| !column.report.is_sound()).count()
    }

    /// Returns the lists of a report, of one pane or of all, that the service may have cut.
    pub fn cut_lists(&self, column: usize, pane: Option<Pane>) -> impl Iterator<Item = &Section> {
        self.column(column).into_iter().flat_map(move |column| column.report.cut_lists(pane))
    }

    /// Where a report saw an item: section and row, at most `most` of them.
    pub fn places(&self, item: usize, column: usize, most: usize) -> Vec<(usize, usize)> {
        let Some(column) = self.column(column) else { return Vec::new() };
        let rows = column.items.iter().enumerate().filter(|(_, found)| **found as usize == item);
        let place = |(at, _): (usize, &u32)| {
            let section = column.sections.partition_point(|(_, first)| *first <= at).checked_sub(1)?;
            column.sections.get(section).map(|(section, first)| (*section, at - first))
        };
        rows.take(most).filter_map(place).collect()
    }

    /// Counts the items that each column saw.
    pub fn counts(&self, pane: Option<Pane>) -> Vec<usize> {
        let mut counts = vec![0; self.columns.len()];
        for item in self.items.iter().filter(|item| pane.is_none_or(|pane| pane == item.pane)) {
            for (column, count) in counts.iter_mut().enumerate() {
                *count += usize::from(item.seen >> column & 1 == 1);
            }
        }
        counts
    }

    /// Selects items of a pane, or of all, by the reports that saw them.
    pub fn select(&self, pane: Option<Pane>, only: SeenFilter, sides: &[u64], here: usize) -> Vec<u32> {
        let wanted = |item: &ComparedItem| pane.is_none_or(|pane| pane == item.pane) && only.wants(item, sides, here);
        (0..).zip(&self.items).filter(|(_, item)| wanted(item)).map(|(n, _)| n).collect()
    }

    /// Finds items of these columns, or with `pattern` in text or pane's name, ignoring case.
    pub fn find(&self, pattern: &[u8], columns: u64, cancel: &Cancel) -> Result<Vec<u32>, Cancelled> {
        let pattern = pattern.to_ascii_lowercase();
        let is_in = |text: &[u8]| memchr::memmem::find(text, &pattern).is_some();
        let by_name = |item: &ComparedItem| {
            item.seen & columns != 0
                || is_in(item.pane.title().to_ascii_lowercase().as_bytes())
                || self.technique(item, None).is_some_and(|row| is_in(&row.text().to_ascii_lowercase()))
        };
        let named = (0..).zip(&self.items).filter(|(_, item)| by_name(item));
        let mut found: Vec<_> = named.map(|(number, _)| number).collect();
        let mut text = Vec::new();
        self.each_row(cancel, &mut |number, place, row| {
            let Some(item) = self.items.get(place as usize) else { return };
            let is_first = (item.section as usize, item.row as usize) == (row.place.section, row.place.row);
            if item.column == number && is_first || item.other != 0 {
                text.clear();
                row.in_line().push_text(&mut text);
                text.make_ascii_lowercase();
                if is_in(&text) {
                    found.push(place);
                }
            }
        })?;
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Calls `look` with each row of items whose details differ: item number, report number, row.
    pub fn each_of_differing(&self, look: &mut dyn FnMut(u32, usize, Row)) {
        // It is never cancelled.
        let _ = self.each_row(&Cancel::default(), &mut |number, item, row| {
            if self.items.get(item as usize).is_some_and(|item| item.other != 0) {
                look(item, number.into(), row.decoded());
            }
        });
    }

    /// Calls `look` with every row, its report's number and its item's number.
    fn each_row(&self, cancel: &Cancel, look: &mut dyn FnMut(u8, u32, RowBytes<'_>)) -> Result<(), Cancelled> {
        for (number, column) in (0_u8..).zip(&self.columns) {
            let Some(column) = column else { continue };
            for (section, first) in &column.sections {
                cancel.check()?;
                for row in column.report.each_row(*section) {
                    look(number, column.items.get(first + row.place.row).copied().unwrap_or(u32::MAX), row);
                }
            }
        }
        Ok(())
    }

    /// Sorts by pane and attribute; within one by tactic and severity, or in the reports' order.
    fn sorted(mut self) -> Self {
        let mut sorted: Vec<_> = (0_u32..).zip(std::mem::take(&mut self.items)).collect();
        sorted.sort_by_key(|(_, item)| item.order);
        let rank = |(_, item): &(u32, ComparedItem)| match self.column(item.column.into()) {
            Some(column) => column.report.rank(item.section as usize, item.row as usize),
            None => Some((id_of(self.technique(item, None)?).as_ref().map(attack::rank), usize::MAX)),
        };
        let alike = sorted.chunk_by_mut(|(_, one), (_, other)| one.order == other.order);
        let ranked = alike.filter(|alike| alike.first().and_then(rank).is_some());
        ranked.for_each(|alike| alike.sort_by_cached_key(rank));
        let mut places = vec![u32::MAX; sorted.len()];
        for (place, (before, _)) in (0..).zip(&sorted) {
            places.get_mut(*before as usize).into_iter().for_each(|slot| *slot = place);
        }
        for item in self.columns.iter_mut().flatten().flat_map(|column| &mut column.items) {
            *item = places.get(*item as usize).copied().unwrap_or(u32::MAX);
        }
        self.items = sorted.into_iter().map(|(_, item)| item).collect();
        self
    }

    fn column(&self, column: usize) -> Option<&Column> {
        self.columns.get(column).and_then(Option::as_ref)
    }
}

fn hash(body: &Body, keys: &RandomState) -> HashedReport {
    let report = Report::open(body);
    let mut sections = Vec::new();
    let mut hashes = Vec::new();
    let mut room = Vec::new();
    for section in Pane::ALL.into_iter().flat_map(|pane| report.sections(pane)) {
        let way = report.section(section).and_then(|found| EqualityRule::of(found, report.registry, keys));
        let Some(way) = way else { continue };
        sections.push((section, hashes.len()));
        for row in report.each_row(section) {
            hashes.push(way.hash(&way.bytes_of(&row), &mut room));
        }
    }
    (Column { report, sections, items: Vec::new() }, hashes)
}

#[derive(Default)]
struct JoinedReports {
    matrix: Matrix,
    /// For each item, the sum of the detail hashes from the first report that saw it.
    details: Vec<u64>,
    by_hash: HashMap<u64, u32, RandomState>,
}

impl JoinedReports {
    fn add(&mut self, hashed: Option<HashedReport>) {
        let number = u8::try_from(self.matrix.columns.len()).unwrap_or(u8::MAX);
        let column = hashed.map(|(mut column, hashes)| {
            if self.by_hash.is_empty() {
                // Most items are seen by every report.
                self.by_hash.reserve(hashes.len());
            }
            self.find_items(number, &mut column, &hashes);
            self.compare_with_first(number, &column.items, &hashes);
            column
        });
        self.matrix.columns.push(column);
    }

    /// Finds the item of each row, or adds a new one.
    fn find_items(&mut self, number: u8, column: &mut Column, hashes: &[(u64, u64)]) {
        let items = &mut self.matrix.items;
        let mut hashes = hashes.iter();
        for (section, _) in &column.sections {
            let Some(found) = column.report.section(*section) else { continue };
            let section = u32::try_from(*section).unwrap_or(u32::MAX);
            for (row, (hash, _)) in (0..).zip(hashes.by_ref().take(found.len())) {
                let next = u32::try_from(items.len()).unwrap_or(u32::MAX);
                let place = *self.by_hash.entry(*hash).or_insert(next);
                if place == next {
                    items.push(ComparedItem::new(found.pane(), order(found), number, section, row));
                }
                if let Some(item) = items.get_mut(place as usize) {
                    item.is_shared = item.seen != 0;
                    item.seen |= 1 << number;
                }
                column.items.push(place);
            }
        }
    }

    /// Marks items whose details differ from the first report's, whatever order and repetition.
    fn compare_with_first(&mut self, number: u8, rows: &[u32], hashes: &[(u64, u64)]) {
        let mut known = HashSet::with_hasher(RandomState::default());
        let mut details = vec![0_u64; self.matrix.items.len()];
        for (item, (key, tells)) in rows.iter().zip(hashes).filter(|(_, (_, tells))| *tells != 0) {
            if let Some(sum) = details.get_mut(*item as usize)
                && known.insert(key ^ tells)
            {
                *sum = sum.wrapping_add(*tells);
            }
        }
        // Items that this report is the first to see: later reports are compared with it.
        self.details.extend_from_slice(details.get(self.details.len()..).unwrap_or_default());
        for item in rows {
            let at = *item as usize;
            if let Some(item) = self.matrix.items.get_mut(at).filter(|_| self.details.get(at) != details.get(at)) {
                item.other |= 1 << number;
            }
        }
    }
}

/// Place of a section's attribute among those of all panes.
fn order(section: &Section) -> u16 {
    u16::try_from(section.pane() as usize * (ATTRIBUTES.len() + 1) + section.rank()).unwrap_or(u16::MAX)
}

fn id_of(row: &Row) -> Option<Untrusted> {
    let id = row.pieces.iter().find_map(Piece::value)?;
    Some(Untrusted::from(id.as_bytes().trim_ascii()))
}

#[cfg(test)]
mod tests;
