//! A comparison of a file's sandboxes, or of two files: its columns and the visible items.

pub(super) mod comparing;

use crate::app::over::{ListFilter, ListSource, ListView, OverlayScreen, RowPicker, RowWindow, Spot, Spots, Target};
use crate::app::panes::{PANES, Scroll};
use crate::app::{List, Place, Size};
use crate::report::compare::{ComparedItem, MOST_COLUMNS, Matrix};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{self, Body, Pane, Recent, Report, Row};
use crate::text::Untrusted;
use std::sync::Arc;

pub use crate::report::compare::Only;

/// Places of an item in one report that are listed.
const MOST_TIMES: usize = 50;

#[derive(Debug)]
pub struct Compare {
    /// Which comparison: an answer to an earlier one is passed over.
    pub number: u64,
    pub columns: Vec<MatrixColumn>,
    pub matrix: Option<Arc<Matrix>>,
    pub failure: Option<String>,
    /// The other file, where two are compared.
    pub other: Option<Sha256>,
    /// The pane whose items are shown; none for all.
    pub pane: Option<Pane>,
    pub only: Only,
    /// The column that "here" means.
    pub here: usize,
    pub shown: Vec<u32>,
    pub scroll: Scroll,
    pub filter: ListFilter,
    /// Of this file and the other: whether further sandboxes may be on pages that were not fetched.
    pub has_more_pages: [bool; 2],
    /// Sandboxes beyond those that can be compared at once.
    pub left_out: usize,
    pub(super) found: Option<Vec<u32>>,
    /// Columns that the analyst left out.
    pub(super) without: Vec<MatrixColumn>,
}

#[derive(Debug, Clone)]
pub struct MatrixColumn {
    pub name: Untrusted,
    pub document: Option<Untrusted>,
    /// The file's number: 0, or 1 for the other file.
    pub side: usize,
    pub identifier: Option<Identifier>,
    /// Its place in the list.
    pub entry: usize,
    pub body: Option<Body>,
}

pub type OtherFile = ListView<OtherFiles>;

#[derive(Debug)]
pub struct OtherFiles(pub Vec<Recent>);

impl ListSource for OtherFiles {
    type Row = Recent;

    fn rows(&self) -> &[Recent] {
        &self.0
    }

    fn text(file: &Recent, _: Option<&Report>) -> String {
        let name = file.name.as_ref().map(|name| name.visible().to_string()).unwrap_or_default();
        format!("{} {name}", file.file)
    }

    fn height(&self, _: usize) -> usize {
        self.0.len()
    }
}

impl MatrixColumn {
    pub(super) fn of(list: &List, side: usize) -> Vec<Self> {
        let column = |(entry, found): (usize, &super::list::ListEntry)| Self {
            name: found
                .parts
                .as_ref()
                .map_or_else(|| Untrusted::from("(no identifier)"), |parts| parts.sandbox.clone()),
            document: found.document.clone(),
            side,
            identifier: found.identifier.clone(),
            entry,
            body: found.here().map(|here| here.body.clone()),
        };
        list.entries().iter().enumerate().map(column).collect()
    }

    pub fn is_compared(&self) -> bool {
        self.body.is_some()
    }

    pub(super) fn words(&self) -> String {
        let document = self.document.as_ref().map(|document| format!(" ({})", document.visible_cut(32)));
        format!("{}{}", self.name.visible_cut(24), document.unwrap_or_default())
    }

    pub(super) fn is_of(&self, other: &Self) -> bool {
        (self.side, &self.identifier) == (other.side, &other.identifier)
            && (self.identifier.is_some() || self.entry == other.entry)
    }
}

impl Only {
    pub fn words(self, here: &str) -> String {
        match self {
            Self::Any => "everything".to_owned(),
            Self::All => "seen in all".to_owned(),
            Self::Some => "not alike in all".to_owned(),
            Self::Here => format!("only in {here}"),
            Self::NotHere => format!("not in {here}"),
        }
    }
}

/// Leaves out what cannot be compared at once; says how many.
pub(crate) fn cut<T>(columns: &mut Vec<T>) -> usize {
    columns.split_off(MOST_COLUMNS.min(columns.len())).len()
}

/// The columns that are compared: each stored sandbox by itself, or each file as a whole.
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
    pub(super) fn new(number: u64, columns: Vec<MatrixColumn>) -> Self {
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
            filter: ListFilter::default(),
            has_more_pages: [false; 2],
            left_out: 0,
            found: None,
            without: Vec::new(),
        }
    }

    fn sides(&self) -> Vec<u64> {
        let columns: Vec<_> = self.columns.iter().map(|column| (column.side, column.is_compared())).collect();
        sides(&columns)
    }

    pub fn here_words(&self) -> String {
        let name = self.columns.get(self.here).map(|column| column.name.visible_cut(30).to_string());
        match (&self.other, self.columns.get(self.here).map(|column| column.side)) {
            (Some(_), Some(0)) => "this file".to_owned(),
            (Some(other), _) => other.short(),
            (None, _) => format!("{} {}", self.here + 1, name.unwrap_or_default()),
        }
    }

    /// Finds the shown items again, the cursor as near to its item as can be.
    pub(super) fn refresh(&mut self) {
        let Some(matrix) = &self.matrix else { return };
        let chosen = self.shown.get(self.scroll.cursor).copied();
        self.shown = matrix.select(self.pane, self.only, &self.sides(), self.here);
        if let Some(found) = &self.found {
            self.shown.retain(|item| found.binary_search(item).is_ok());
        }
        let near = chosen.map_or(0, |chosen| self.shown.partition_point(|item| *item < chosen));
        self.scroll = Scroll { cursor: near.min(self.shown.len().saturating_sub(1)), top: self.scroll.top };
    }

    /// Shows other items; the same filter twice shows everything again.
    pub(super) fn show(&mut self, only: Only) {
        self.only = if self.only == only { Only::Any } else { only };
        self.refresh();
    }

    pub(super) fn step_column(&mut self, forward: bool) {
        let count = self.columns.len();
        let steps = (1..=count).map(|n| if forward { self.here + n } else { self.here + count * 2 - n } % count.max(1));
        let held = |column: &usize| self.columns.get(*column).is_some_and(MatrixColumn::is_compared);
        self.here = steps.into_iter().find(held).unwrap_or(self.here);
        self.refresh();
    }

    pub(super) fn can_leave_out(&self) -> bool {
        let others = self.sides().into_iter().filter(|bits| bits & !(1 << self.here) != 0);
        self.columns.get(self.here).is_some_and(MatrixColumn::is_compared) && others.count() > 1
    }

    pub(super) fn leave_out(&mut self) {
        let left = self.here;
        self.step_column(true);
        if left < self.columns.len() {
            self.without.push(self.columns.remove(left));
        }
        if self.here > left {
            self.here -= 1;
        }
        self.forget_matrix();
    }

    pub(super) fn bring_back(&mut self) {
        let here = self.columns.get(self.here).cloned();
        self.columns.append(&mut self.without);
        self.columns.sort_by_key(|column| (column.side, column.entry));
        self.choose(here.as_ref());
        self.forget_matrix();
    }

    pub(super) fn choose(&mut self, column: Option<&MatrixColumn>) {
        let now = column.and_then(|column| self.columns.iter().position(|now| now.is_of(column)));
        self.here = now.unwrap_or(self.here);
    }

    /// Shows no item until there is another matrix: the marks of this one are those of other columns.
    pub(super) fn forget_matrix(&mut self) {
        self.matrix = None;
        self.shown.clear();
    }

    pub(super) fn columns_of(&self, list: &List) -> Vec<MatrixColumn> {
        let is_left_out = |column: &MatrixColumn| self.without.iter().any(|without| without.is_of(column));
        MatrixColumn::of(list, 0).into_iter().filter(|column| !is_left_out(column)).collect()
    }

    /// Shows the items of the next pane that has any; after the last, those of all.
    pub(super) fn step_pane(&mut self, forward: bool) {
        let Some(matrix) = &self.matrix else { return };
        let with_items =
            PANES.iter().map(|info| info.pane).filter(|pane| matrix.items().iter().any(|i| i.pane == *pane));
        let all: Vec<Option<Pane>> = [None].into_iter().chain(with_items.map(Some)).collect();
        let at = all.iter().position(|pane| *pane == self.pane).unwrap_or(0);
        let step = if forward { 1 } else { all.len() - 1 };
        self.pane = all.get((at + step) % all.len()).copied().flatten();
        self.refresh();
    }

    fn chosen_item(&self) -> Option<(&Matrix, usize, &ComparedItem)> {
        let (matrix, number) = (self.matrix.as_deref()?, *self.shown.get(self.scroll.cursor)? as usize);
        Some((matrix, number, matrix.items().get(number)?))
    }

    pub(super) fn chosen_row(&self) -> Option<(Pane, Row)> {
        self.chosen_item().map(|(matrix, _, item)| (item.pane, matrix.row(item)))
    }

    pub(super) fn seen_words(&self) -> Option<String> {
        let (_, _, item) = self.chosen_item()?;
        let held = || self.columns.iter().enumerate().filter(|(_, column)| column.is_compared());
        let names = |bits: u64| -> Vec<String> {
            let of = held().filter(|(n, _)| bits >> n & 1 == 1);
            of.map(|(_, column)| column.name.visible_cut(24).to_string()).collect()
        };
        let (saw, other) = (names(item.seen), names(item.other));
        let other = if other.is_empty() { String::new() } else { format!("; told otherwise by {}", other.join(", ")) };
        Some(format!("seen by {} of {}: {}{other}", saw.len(), held().count(), saw.join(", ")))
    }

    pub(super) fn spots(&self) -> Option<Spots> {
        let (matrix, number, item) = self.chosen_item()?;
        let mut spots = Vec::new();
        for (n, column) in self.columns.iter().enumerate() {
            let head = format!("{} {}", n + 1, column.words());
            if !column.is_compared() {
                spots.push(Spot::words(format!("? {head}"), "not held"));
            } else if item.seen >> n & 1 == 0 {
                let is_cut = matrix.is_perhaps_unlisted(item, n);
                let words = if is_cut { "not listed, perhaps cut by the service" } else { "not seen" };
                spots.push(Spot::words(format!("{} {head}", if is_cut { '?' } else { '·' }), words));
            }
            for (section, row) in matrix.places(number, n, MOST_TIMES) {
                let file = self.other.clone().filter(|_| column.side == 1);
                let place = report::Place { section, row };
                let target =
                    Target { file, identifier: column.identifier.clone(), entry: column.entry, place: Some(place) };
                let sign = if item.other >> n & 1 == 1 { '≠' } else { '●' };
                spots.push(Spot::row(format!("{sign} {head}"), matrix.row_of(n, section, row), target));
            }
        }
        Some(Spots::new(RowPicker::new("Where it was seen", spots)))
    }
}

impl OverlayScreen for Compare {
    fn place(&self) -> Place {
        if self.filter.is_typing { Place::SoughtLine } else { Place::Compare }
    }

    fn choice(&self, _: Size) -> Option<RowWindow> {
        Some(RowWindow { scroll: self.scroll, count: self.shown.len(), ..RowWindow::default() })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn sought(&mut self) -> Option<&mut ListFilter> {
        Some(&mut self.filter)
    }
}
