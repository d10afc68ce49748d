//! The comparison of a file's sandboxes, or of two files: what is shown of the matrix, and what is missing from it.

use super::list::{List, Remote};
use super::message::{Effect, HeldPage, HeldReport, Recent};
use super::model::Model;
use super::overlay::Overlay;
use super::panes::{Move, PANES, Scroll};
use super::spots::{Spot, Spots, Target};
use crate::report::Place;
use crate::report::compare::{MOST_COLUMNS, Matrix, Presence};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Body, Pane};
use crate::text::{Untrusted, thousands};
use std::sync::Arc;

/// Times that one report saw one item which are told apart.
const MOST_TIMES: usize = 50;

/// A comparison that is looked at.
#[derive(Debug)]
pub struct Compare {
    /// Which comparison: an answer to an earlier one is passed over.
    pub number: u64,
    /// What is compared.
    pub columns: Vec<Column>,
    /// The matrix, once it is there.
    pub matrix: Option<Arc<Matrix>>,
    /// Why there is none, if so.
    pub failure: Option<String>,
    /// The other file, where two are compared.
    pub other: Option<Sha256>,
    /// The pane whose items are shown; none for all.
    pub pane: Option<Pane>,
    /// Which items are shown by who saw them.
    pub only: Only,
    /// The column that "here" means.
    pub here: usize,
    /// Items of the matrix that are shown, by number.
    pub shown: Vec<u32>,
    /// Cursor and window.
    pub scroll: Scroll,
    /// What is sought.
    pub typed: String,
    /// Whether keys go into it.
    pub is_typing: bool,
    /// Whether further sandboxes may be on pages that were not fetched.
    pub has_more_pages: bool,
    /// Sandboxes beyond those that can be compared at once.
    pub left_out: usize,
    /// Items that hold what is sought; none while nothing is.
    found: Option<Vec<u32>>,
}

/// One sandbox that is compared.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: Untrusted,
    /// The file's number: 0, or 1 for the other file.
    pub side: usize,
    /// What its report is asked for by.
    pub identifier: Option<Identifier>,
    /// Its place in the list.
    pub entry: usize,
    /// Its report, if it is held.
    pub body: Option<Body>,
}

/// Which items are shown by who saw them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Only {
    /// All.
    #[default]
    Any,
    /// Seen in all.
    All,
    /// Seen in some, not in all.
    Some,
    /// Seen only here.
    Here,
    /// Seen elsewhere, not here.
    NotHere,
}

/// Another file to compare with is chosen.
#[derive(Debug)]
pub struct OtherFile {
    /// Files with held reports.
    pub files: Vec<Recent>,
    /// Cursor and window.
    pub scroll: Scroll,
}

impl Column {
    /// The sandboxes of a list, as columns of one side.
    fn of(list: &List, side: usize) -> Vec<Self> {
        let column = |(entry, found): (usize, &super::list::Entry)| Self {
            name: found
                .parts
                .as_ref()
                .map_or_else(|| Untrusted::from("(no identifier)"), |parts| parts.sandbox.clone()),
            side,
            identifier: found.identifier.clone(),
            entry,
            body: found.here().map(|here| here.body.clone()),
        };
        list.entries.iter().enumerate().map(column).collect()
    }
}

impl Only {
    /// In words, about this column.
    #[must_use]
    pub fn words(self, here: &str) -> String {
        match self {
            Self::Any => "everything".to_owned(),
            Self::All => "seen in all".to_owned(),
            Self::Some => "seen in some, not in all".to_owned(),
            Self::Here => format!("only in {here}"),
            Self::NotHere => format!("not in {here}"),
        }
    }
}

/// The columns that are held to each other: each held sandbox by itself, or each file as a whole.
#[must_use]
pub fn sides(columns: &[(usize, bool)]) -> Vec<u64> {
    let is_one_file = columns.iter().all(|(side, _)| *side == 0);
    let mut sides: Vec<(usize, u64)> = Vec::new();
    for (column, (side, _)) in columns.iter().enumerate().take(MOST_COLUMNS).filter(|(_, (_, is_held))| *is_held) {
        let side = if is_one_file { column } else { *side };
        match sides.iter_mut().find(|(known, _)| *known == side) {
            Some((_, bits)) => *bits |= 1 << column,
            None => sides.push((side, 1 << column)),
        }
    }
    sides.into_iter().map(|(_, bits)| bits).collect()
}

impl Compare {
    fn new(number: u64, columns: Vec<Column>, has_more_pages: bool) -> Self {
        let here = columns.iter().position(|column| column.body.is_some()).unwrap_or(0);
        Self {
            number,
            columns,
            matrix: None,
            failure: None,
            other: None,
            pane: None,
            only: Only::Any,
            here,
            shown: Vec::new(),
            scroll: Scroll::default(),
            typed: String::new(),
            is_typing: false,
            has_more_pages,
            left_out: 0,
            found: None,
        }
    }

    fn sides(&self) -> Vec<u64> {
        let columns: Vec<_> = self.columns.iter().map(|column| (column.side, column.body.is_some())).collect();
        sides(&columns)
    }

    /// What the chosen column is called: the file's name for a whole file.
    #[must_use]
    pub fn here_words(&self) -> String {
        let name = self.columns.get(self.here).map(|column| column.name.visible_cut(30).to_string());
        match (&self.other, self.columns.get(self.here).map(|column| column.side)) {
            (Some(_), Some(0)) => "this file".to_owned(),
            (Some(other), _) => other.short(),
            (None, _) => format!("{} {}", self.here + 1, name.unwrap_or_default()),
        }
    }

    fn presence(&self) -> Presence {
        let here = self.sides().into_iter().find(|bits| bits >> self.here & 1 == 1).unwrap_or(0);
        match self.only {
            Only::Any => Presence::Any,
            Only::All => Presence::All,
            Only::Some => Presence::Some,
            Only::Here => Presence::Only(here),
            Only::NotHere => Presence::Without(here),
        }
    }

    /// Finds the shown items again, the cursor as near to its item as can be.
    fn refresh(&mut self) {
        let Some(matrix) = &self.matrix else { return };
        let chosen = self.shown.get(self.scroll.cursor).copied();
        self.shown = matrix.select(self.pane, self.presence(), &self.sides());
        if let Some(found) = &self.found {
            self.shown.retain(|item| found.binary_search(item).is_ok());
        }
        let near = chosen.map_or(0, |chosen| self.shown.partition_point(|item| *item < chosen));
        self.scroll = Scroll { cursor: near.min(self.shown.len().saturating_sub(1)), top: self.scroll.top };
    }

    /// Shows other items; the same filter twice shows everything again.
    fn show(&mut self, only: Only) {
        self.only = if self.only == only { Only::Any } else { only };
        self.refresh();
    }

    /// Chooses the next or previous held column.
    fn step_column(&mut self, forward: bool) {
        let count = self.columns.len();
        let steps = (1..=count).map(|n| if forward { self.here + n } else { self.here + count * 2 - n } % count.max(1));
        let held = |column: &usize| self.columns.get(*column).is_some_and(|column| column.body.is_some());
        self.here = steps.into_iter().find(held).unwrap_or(self.here);
        self.refresh();
    }

    /// Shows the items of the next pane that has any; after the last, those of all.
    fn step_pane(&mut self, forward: bool) {
        let Some(matrix) = &self.matrix else { return };
        let with_items =
            PANES.iter().map(|info| info.pane).filter(|pane| matrix.items().iter().any(|i| i.pane == *pane));
        let all: Vec<Option<Pane>> = [None].into_iter().chain(with_items.map(Some)).collect();
        let at = all.iter().position(|pane| *pane == self.pane).unwrap_or(0);
        let step = if forward { 1 } else { all.len() - 1 };
        self.pane = all.get((at + step) % all.len()).copied().flatten();
        self.refresh();
    }

    /// Moves.
    pub fn go(&mut self, movement: Move, height: usize) {
        self.scroll.go(movement, self.shown.len(), height);
    }

    /// Whether it is of what a list holds right now.
    fn is_current(&self, list: &List) -> bool {
        let now = Column::of(list, 0);
        let mine: Vec<_> = self.columns.iter().filter(|column| column.side == 0).collect();
        let range = |column: &Column| column.body.as_ref().map(Body::range);
        mine.len() == now.len().min(MOST_COLUMNS)
            && mine.iter().zip(&now).all(|(a, b)| a.identifier == b.identifier && range(a) == range(b))
    }

    /// Where the chosen item was seen.
    fn spots(&self) -> Option<Spots> {
        let matrix = self.matrix.as_ref()?;
        let number = *self.shown.get(self.scroll.cursor)? as usize;
        let item = matrix.items().get(number)?;
        let mut spots = Vec::new();
        for (n, column) in self.columns.iter().enumerate() {
            let head = format!("{} {}", n + 1, column.name.visible_cut(24));
            if column.body.is_none() {
                spots.push(Spot::words(format!("? {head}"), "not held"));
            } else if item.seen >> n & 1 == 0 {
                spots.push(Spot::words(format!("· {head}"), "not seen"));
            }
            for (section, row) in matrix.places(number, n, MOST_TIMES) {
                let file = self.other.clone().filter(|_| column.side == 1);
                let place = Place { section, row };
                let target =
                    Target { file, identifier: column.identifier.clone(), entry: column.entry, place: Some(place) };
                spots.push(Spot::row(format!("● {head}"), matrix.row_of(n, section, row), target));
            }
        }
        Some(Spots::new("Where it was seen", spots))
    }
}

impl Model {
    /// The comparison that is looked at.
    #[must_use]
    pub fn comparing(&self) -> Option<&Compare> {
        match &self.overlay {
            Some(Overlay::Compare(compare)) => Some(compare),
            _ => None,
        }
    }

    pub(super) fn comparing_mut(&mut self) -> Option<&mut Compare> {
        match &mut self.overlay {
            Some(Overlay::Compare(compare)) => Some(compare),
            _ => None,
        }
    }

    /// Compares the file's sandboxes; a comparison that was left for one of its rows comes back as it was.
    pub(super) fn compare(&mut self) -> Vec<Effect> {
        let Some(list) = &self.list else { return Vec::new() };
        if let Some(left) = self.compared.take().filter(|left| left.is_current(list)) {
            self.put_over(Overlay::Compare(left));
            self.settle();
            return Vec::new();
        }
        let (columns, more) = (Column::of(list, 0), matches!(list.next, super::list::Next::Page(_)));
        let compare = self.new_comparison(columns, more);
        let effects = self.matrix_of(&compare);
        self.put_over(Overlay::Compare(compare));
        effects
    }

    fn new_comparison(&mut self, mut columns: Vec<Column>, has_more_pages: bool) -> Box<Compare> {
        let left_out = cut(&mut columns);
        Box::new(Compare { left_out, ..Compare::new(self.next_opening().0, columns, has_more_pages) })
    }

    fn matrix_of(&self, compare: &Compare) -> Vec<Effect> {
        let bodies = compare.columns.iter().map(|column| column.body.clone()).collect();
        vec![Effect::Compare { number: compare.number, bodies }]
    }

    /// Compares anew after a report has come, if a comparison is looked at.
    pub(super) fn compare_anew(&mut self) -> Vec<Effect> {
        let columns = self.list.as_ref().map(|list| Column::of(list, 0)).unwrap_or_default();
        let number = self.next_opening().0;
        let Some(compare) = self.comparing_mut() else { return Vec::new() };
        let other = compare.columns.iter().filter(|column| column.side == 1).cloned();
        compare.columns = columns.into_iter().chain(other.collect::<Vec<_>>()).collect();
        compare.left_out = cut(&mut compare.columns);
        compare.number = number;
        let bodies = compare.columns.iter().map(|column| column.body.clone()).collect();
        vec![Effect::Compare { number, bodies }]
    }

    pub(super) fn compared(&mut self, number: u64, result: Result<Arc<Matrix>, String>) -> Vec<Effect> {
        let height = self.compare_rows();
        let Some(compare) = self.comparing_mut().filter(|compare| compare.number == number) else { return Vec::new() };
        match result {
            Ok(matrix) => compare.matrix = Some(matrix),
            Err(why) => compare.failure = Some(why),
        }
        compare.found = None;
        compare.refresh();
        compare.go(Move::Up(0), height);
        self.sift()
    }

    pub(super) fn sifted(&mut self, number: u64, sought: &str, found: Vec<u32>) -> Vec<Effect> {
        let height = self.compare_rows();
        if let Some(compare) = self.comparing_mut().filter(|c| c.number == number && c.typed == sought) {
            compare.found = Some(found);
            compare.refresh();
            compare.go(Move::Up(0), height);
        }
        Vec::new()
    }

    /// Looks for what is typed among the items.
    pub(super) fn sift(&mut self) -> Vec<Effect> {
        let height = self.compare_rows();
        let Some(compare) = self.comparing_mut() else { return Vec::new() };
        if compare.typed.is_empty() {
            compare.found = None;
            compare.refresh();
            compare.go(Move::Up(0), height);
            return Vec::new();
        }
        let (number, sought) = (compare.number, compare.typed.clone());
        compare.matrix.clone().map(|matrix| Effect::Sift { number, matrix, sought }).into_iter().collect()
    }

    /// Rows of the matrix that are shown.
    #[must_use]
    pub fn compare_rows(&self) -> usize {
        let head = self.comparing().map_or(0, |compare| self.compare_head(compare).len() + 1);
        usize::from(self.overlay_room().height).saturating_sub(head).max(1)
    }

    /// The legend in rows: each column's number and name, and what it would cost where it is not held.
    #[must_use]
    pub fn compare_head(&self, compare: &Compare) -> Vec<String> {
        let counts = compare.matrix.as_ref().map(|matrix| matrix.counts(compare.pane));
        let legend = compare.columns.iter().enumerate().map(|(n, column)| {
            let chosen = if n == compare.here { "▸" } else { "" };
            let file = if compare.other.is_some() { if column.side == 0 { "this: " } else { "other: " } } else { "" };
            let name = column.name.visible_cut(24);
            let count = counts.as_ref().and_then(|counts| counts.get(n)).copied().unwrap_or(0);
            let state = if column.body.is_none() { "not held".to_owned() } else { thousands(count as u64) };
            format!("{chosen}{} {file}{name} {state}", n + 1)
        });
        let mut remarks: Vec<_> = self.compare_missing(compare).into_iter().collect();
        if compare.has_more_pages {
            remarks.push("further sandboxes on pages that were not listed".to_owned());
        }
        if compare.left_out > 0 {
            remarks
                .push(format!("{} left out: {MOST_COLUMNS} are compared at most", thousands(compare.left_out as u64)));
        }
        let columns = usize::from(self.overlay_room().width).max(20);
        let most = usize::from(self.overlay_room().height / 3).max(1);
        let legend: Vec<_> = legend.collect();
        let mut rows = wrapped(&[&legend[..], &remarks].concat(), columns);
        if rows.len() > most {
            // What is missing is said, however many columns there are.
            let remarks = wrapped(&remarks, columns);
            rows = wrapped(&legend, columns);
            rows.truncate(most.saturating_sub(remarks.len()).max(1));
            rows.extend(remarks);
            rows.truncate(most);
        }
        rows
    }

    /// What holding the missing columns costs.
    fn compare_missing(&self, compare: &Compare) -> Option<String> {
        let missing = |side| compare.columns.iter().filter(|c| c.side == side && c.body.is_none()).count();
        let mine = (missing(0) > 0).then(|| format!("A fetches the missing: {}", self.missing_price()));
        let other = (missing(1) > 0).then(|| "the other file's missing are fetched from its own list".to_owned());
        match (mine, other) {
            (Some(mine), Some(other)) => Some(format!("{mine}; {other}")),
            (mine, other) => mine.or(other),
        }
    }

    /// Shows where the chosen item was seen.
    pub(super) fn compare_where(&mut self) -> Vec<Effect> {
        if let Some(spots) = self.comparing().and_then(Compare::spots) {
            self.put_over(Overlay::Spots(spots));
        }
        Vec::new()
    }

    /// Changes the comparison that is looked at, and keeps its cursor in sight.
    fn with_comparison(&mut self, change: impl FnOnce(&mut Compare)) -> Vec<Effect> {
        if let Some(compare) = self.comparing_mut() {
            change(compare);
        }
        let height = self.compare_rows();
        if let Some(compare) = self.comparing_mut() {
            compare.go(Move::Up(0), height);
        }
        Vec::new()
    }

    pub(super) fn compare_only(&mut self, only: Only) -> Vec<Effect> {
        self.with_comparison(|compare| compare.show(only))
    }

    pub(super) fn compare_column(&mut self, forward: bool) -> Vec<Effect> {
        self.with_comparison(|compare| compare.step_column(forward))
    }

    pub(super) fn compare_pane(&mut self, forward: bool) -> Vec<Effect> {
        self.with_comparison(|compare| compare.step_pane(forward))
    }

    /// Shows the items of one pane only; where that is done already, those of all.
    pub(super) fn compare_in(&mut self, pane: Pane) -> Vec<Effect> {
        self.with_comparison(|compare| {
            compare.pane = Some(pane).filter(|pane| compare.pane != Some(*pane));
            compare.refresh();
        })
    }

    pub(super) fn compare_find(&mut self) -> Vec<Effect> {
        self.with_comparison(|compare| compare.is_typing = true)
    }

    /// Ends typing; what was found stays.
    pub(super) fn compare_found(&mut self) -> Vec<Effect> {
        self.with_comparison(|compare| compare.is_typing = false)
    }

    /// Offers the other files of which reports are held.
    pub(super) fn compare_with(&mut self) -> Vec<Effect> {
        let files = self.other_files().cloned().collect();
        self.put_over(Overlay::OtherFile(OtherFile { files, scroll: Scroll::default() }));
        Vec::new()
    }

    /// The other files of which reports are held.
    fn other_files(&self) -> impl Iterator<Item = &Recent> {
        self.recent.iter().filter(|recent| recent.reports > 0 && Some(&recent.file) != self.file())
    }

    /// Whether there is another file to compare with.
    pub(super) fn can_compare_files(&self) -> bool {
        !self.is_document() && self.other_files().next().is_some()
    }

    /// Compares with the chosen file.
    pub(super) fn compare_with_chosen(&mut self) -> Vec<Effect> {
        let Some(Overlay::OtherFile(other)) = &self.overlay else { return Vec::new() };
        let Some(file) = other.files.get(other.scroll.cursor).map(|recent| recent.file.clone()) else {
            return Vec::new();
        };
        self.overlay = self.behind.pop();
        if let Some(compare) = self.comparing_mut() {
            compare.other = Some(file.clone());
            compare.matrix = None;
            compare.shown.clear();
        }
        vec![Effect::RecallBeside(file)]
    }

    pub(super) fn recalled_beside(
        &mut self,
        file: &Sha256,
        pages: Vec<HeldPage>,
        reports: Vec<HeldReport>,
    ) -> Vec<Effect> {
        let mut list = List::unasked(file.clone());
        list.take_recalled(pages, reports);
        let Some(compare) = self.comparing_mut().filter(|compare| compare.other.as_ref() == Some(file)) else {
            return Vec::new();
        };
        compare.columns.retain(|column| column.side == 0);
        compare.columns.extend(Column::of(&list, 1));
        self.compare_anew()
    }

    /// Whether some report of the list is here and another could be compared with it.
    #[must_use]
    pub fn can_compare(&self) -> bool {
        let entries = self.list.iter().flat_map(|list| &list.entries);
        entries.filter(|entry| matches!(entry.report, Remote::Here(_))).count() > 0
    }
}

/// Leaves out what cannot be compared at once; says how many.
fn cut(columns: &mut Vec<Column>) -> usize {
    columns.split_off(MOST_COLUMNS.min(columns.len())).len()
}

/// Pieces in rows of at most so many columns, a dot between them.
fn wrapped(pieces: &[String], columns: usize) -> Vec<String> {
    use unicode_width::UnicodeWidthStr;
    let mut rows: Vec<String> = Vec::new();
    for piece in pieces {
        match rows.last_mut() {
            Some(row) if row.width() + piece.width() + 3 <= columns => {
                row.push_str(" · ");
                row.push_str(piece);
            }
            _ => rows.push(piece.clone()),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_a_sandbox_or_a_whole_file() {
        assert_eq!(sides(&[(0, true), (0, false), (0, true)]), [1, 4]);
        assert_eq!(sides(&[(0, true), (0, true), (1, false), (1, true)]), [3, 8]);
    }

    #[test]
    fn a_legend_is_wrapped_between_its_pieces() {
        let pieces = ["1 one".to_owned(), "2 two".to_owned(), "3 three".to_owned()];
        assert_eq!(wrapped(&pieces, 14), ["1 one · 2 two", "3 three"]);
    }
}
