//! The view of a pane: which of its rows are visible, their order, folds and scroll position.

use crate::app::JobNumber;
use crate::app::find::Filter;
use crate::app::panes::{Move, Scroll};
use crate::report::index::SectionForm;
use crate::report::rules::Severity;
use crate::report::{Depths, Folds, Order, Pane, Report, Row, RowPlace, RowSet, Section};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// The view of one pane of one report.
#[derive(Debug, Default)]
pub struct PaneState {
    pub scroll: Scroll,
    pub shift: usize,
    pub(crate) folds: Folds,
    pub row_filter: RowFilter,
    pub filter: Option<Filter>,
    /// Rows below those of the report, in section [`OWN`]: techniques that only rules found.
    own: Vec<(Severity, Row)>,
}

/// The section of the rows that the program adds to a report.
pub const OWN: usize = usize::MAX;

#[derive(Debug, Clone, Default)]
pub struct Before {
    folds: Folds,
    scroll: Scroll,
    chosen: Option<RowPlace>,
}

static UNTOUCHED: LazyLock<PaneState> = LazyLock::new(PaneState::default);

/// A process's place in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeBranch {
    /// For each depth down to this row's, whether another child follows.
    pub guides: Vec<bool>,
    /// Whether the children are hidden; `None` without children.
    pub children: Option<bool>,
}

/// Rows that are searched for the next child of a guide line.
const MAX_GUIDE_ROWS: usize = 2_000;

/// A fold command on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldStep {
    /// Folds the row, or moves to its parent.
    Left,
    Right,
    Toggle,
    All(bool),
}

impl FoldStep {
    /// Applies the step at a row; the cursor stays if its row is visible.
    pub(crate) fn take(self, folds: &mut Folds, scroll: &mut Scroll, row: usize, depths: &Depths) {
        match self {
            Self::Left if folds.is_folded(row) || !folds.has_children(row, depths) => {
                scroll.cursor = depths.parent(row).map_or(scroll.cursor, |parent| folds.position(parent));
            }
            Self::Toggle => folds.fold(row, !folds.is_folded(row), depths),
            Self::Left => folds.fold(row, true, depths),
            Self::Right => folds.fold(row, false, depths),
            Self::All(fold) => {
                folds.fold_all(fold, depths);
                scroll.cursor = folds.position(row);
            }
        }
    }
}

/// Columns of one sideways step, and the maximum offset.
const SHIFT_COLUMNS: usize = 8;
const MAX_SHIFT_COLUMNS: usize = 100_000;

impl PaneState {
    pub(crate) fn untouched() -> &'static Self {
        &UNTOUCHED
    }

    pub(crate) fn folded(rows: &[u32]) -> Self {
        Self { folds: Folds::of(rows), ..Self::default() }
    }

    pub(crate) fn before(&self, report: &Report, pane: Pane) -> Before {
        Before { folds: self.folds.clone(), scroll: self.scroll, chosen: self.place(report, pane, self.scroll.cursor) }
    }

    /// Counts visible rows: matching ones and their ancestors in the tree, unless folded.
    pub fn count(&self, report: &Report, pane: Pane) -> usize {
        self.sections(report, pane).map(|section| self.section_count(report, section)).sum()
    }

    /// Returns the sections of the report in the pane, and that of its own rows.
    fn sections(&self, report: &Report, pane: Pane) -> impl Iterator<Item = usize> {
        report.sections(pane).into_iter().chain((!self.own.is_empty()).then_some(OWN))
    }

    pub fn own_rows(&self) -> &[(Severity, Row)] {
        &self.own
    }

    /// Returns the row at a place, if the program added it.
    pub fn own_row(&self, place: RowPlace) -> Option<&(Severity, Row)> {
        self.own.get(place.row).filter(|_| place.section == OWN)
    }

    pub(crate) fn set_own(&mut self, report: &Report, pane: Pane, own: Vec<(Severity, Row)>) {
        self.own = own;
        let found = self.own_found();
        self.filter_rows(report, pane, |row_filter| row_filter.found.iter_mut().for_each(|rows| rows.extend(&found)));
    }

    fn own_found(&self) -> RowSet {
        let pattern = self.filter.as_ref().and_then(|filter| filter.query.pattern.as_deref());
        let is_found = |row: &Row| pattern.is_some_and(|pattern| pattern.is_match(&row.text()));
        (0..).zip(&self.own).filter(|(_, (_, row))| is_found(row)).map(|(number, _)| (OWN, number)).collect()
    }

    /// Returns the number of rows that pass the filters, folded ones included.
    pub fn count_passing(&self, report: &Report, pane: Pane) -> usize {
        self.sections(report, pane).map(|section| self.count_passing_in(report, section)).sum()
    }

    /// Counts passing rows before the cursor; `None` on a row that is only an ancestor of others.
    pub fn filtered_before(&self, report: &Report, pane: Pane) -> Option<usize> {
        let here = self.place(report, pane, self.scroll.cursor).filter(|here| self.passes_filter(*here))?;
        let before = self.sections(report, pane).take_while(|section| *section != here.section);
        let before = before.map(|section| self.count_passing_in(report, section)).sum::<usize>();
        Some(before + self.row_filter.position(here.section, here.row))
    }

    /// Returns the visible rows; `None` for all.
    pub(crate) fn shown_rows(&self, report: &Report, pane: Pane) -> Option<RowSet> {
        let row_filter = Some(&self.row_filter).filter(|row_filter| !row_filter.is_open())?;
        let mut shown = RowSet::default();
        for section in report.sections(pane) {
            match row_filter.rows(section) {
                Some(rows) => shown.append(section, rows),
                None => shown.append(section, &(0_u32..).take(self.length(report, section)).collect::<Vec<_>>()),
            }
        }
        Some(shown)
    }

    /// Returns whether only the subtree of a process is shown.
    pub fn is_subtree(&self) -> bool {
        self.row_filter.alone.is_some()
    }

    pub(crate) fn refresh(&mut self, report: &Report, pane: Pane) {
        let lengths = self.sections(report, pane).map(|section| (section, self.length(report, section)));
        let lengths: Vec<_> = lengths.collect();
        self.row_filter.refresh(lengths.iter().copied());
        for (section, _) in lengths {
            if let Some(tree) = report.section(section).filter(|found| found.form == SectionForm::Processes) {
                self.folds.retain(self.row_filter.rows(section), tree.depths());
            }
        }
    }

    fn count_passing_in(&self, report: &Report, section: usize) -> usize {
        self.row_filter.rows(section).map_or_else(|| self.length(report, section), <[u32]>::len)
    }

    fn length(&self, report: &Report, section: usize) -> usize {
        if section == OWN { self.own.len() } else { report.section(section).map_or(0, Section::len) }
    }

    fn section_count(&self, report: &Report, section: usize) -> usize {
        match report.section(section) {
            Some(found) if found.form == SectionForm::Processes => self.folds.len(found.depths()),
            _ => self.count_passing_in(report, section),
        }
    }

    /// Returns the row at a visible position.
    pub fn place(&self, report: &Report, pane: Pane, position: usize) -> Option<RowPlace> {
        self.places(report, pane, position..position.saturating_add(1)).next()
    }

    pub fn places(&self, report: &Report, pane: Pane, positions: Range<usize>) -> impl Iterator<Item = RowPlace> {
        let mut before = 0;
        self.sections(report, pane).flat_map(move |section| {
            let first = before;
            let count = self.section_count(report, section);
            before += count;
            let within = |position: usize| position.saturating_sub(first).min(count);
            let is_tree = report.section(section).is_some_and(|found| found.form == SectionForm::Processes);
            (within(positions.start)..within(positions.end)).map(move |at| {
                let row = if is_tree { self.folds.row(at) } else { self.row_filter.row(section, at) };
                RowPlace { section, row }
            })
        })
    }

    /// Returns the position of a row, or of the nearest visible one before it.
    pub(crate) fn position(&self, report: &Report, pane: Pane, place: RowPlace) -> usize {
        let mut before = 0;
        for section in self.sections(report, pane) {
            let count = self.section_count(report, section);
            if section == place.section && count > 0 {
                let is_tree = report.section(section).is_some_and(|found| found.form == SectionForm::Processes);
                let within =
                    if is_tree { self.folds.position(place.row) } else { self.row_filter.position(section, place.row) };
                return before + within.min(count - 1);
            }
            if section == place.section {
                return before.saturating_sub(1);
            }
            before += count;
        }
        0
    }

    /// Returns the position of a row after removing what hides it: folds, filter, noise, subtree.
    pub(crate) fn reveal(&mut self, report: &Report, pane: Pane, place: RowPlace) -> usize {
        if !self.row_filter.lets_through(place.section, place.row) {
            self.filter = None;
            self.filter_rows(report, pane, |row_filter| {
                row_filter.found = None;
                u32::try_from(place.row).into_iter().for_each(|row| row_filter.hidden.remove(place.section, row));
                row_filter.alone.take_if(|alone| !alone.contains(place.section, place.row));
            });
        }
        self.unfold_to(report, pane, place)
    }

    /// Returns the positions at which sections begin, except the first.
    pub(crate) fn borders(&self, report: &Report, pane: Pane) -> Vec<usize> {
        let counts = self.sections(report, pane).map(|section| self.section_count(report, section));
        let mut at = 0;
        let ends = counts.map(|count| {
            at += count;
            at
        });
        let mut ends: Vec<usize> = ends.filter(|end| *end > 0).collect();
        ends.dedup();
        ends.pop();
        ends
    }

    /// Returns the lines of the tree before a process; `None` for other rows.
    pub fn branch(&self, report: &Report, place: RowPlace) -> Option<TreeBranch> {
        let tree = report.section(place.section).filter(|section| section.form == SectionForm::Processes)?.depths();
        let children = self.folds.has_children(place.row, tree).then(|| self.folds.is_folded(place.row));
        Some(TreeBranch { guides: self.folds.guides(place.row, tree, MAX_GUIDE_ROWS), children })
    }

    /// Returns whether a row is more than an ancestor of visible rows.
    pub fn passes_filter(&self, place: RowPlace) -> bool {
        self.row_filter.lets_through(place.section, place.row)
    }

    /// Moves the cursor among the visible rows.
    pub(crate) fn go(&mut self, report: &Report, pane: Pane, movement: Move, height: usize) {
        self.scroll.go(movement, self.count(report, pane), height);
    }

    /// Puts the cursor on a row; unhides it if folded or filtered out.
    pub(super) fn show(&mut self, report: &Report, pane: Pane, place: RowPlace, height: usize) {
        let position = self.reveal(report, pane, place);
        self.go(report, pane, Move::First, height);
        self.go(report, pane, Move::Down(position), height);
        self.shift = 0;
    }

    /// Returns the first position of the next or previous section, if any.
    pub(crate) fn next_kind(&self, report: &Report, pane: Pane, forward: bool) -> Option<usize> {
        let borders = self.borders(report, pane);
        let cursor = self.scroll.cursor;
        match forward {
            true => borders.into_iter().find(|border| *border > cursor),
            false if borders.is_empty() => None,
            false => [0].into_iter().chain(borders).rfind(|border| *border < cursor),
        }
    }

    /// Moves to the next or previous section; its first row is at the top.
    pub(crate) fn step_kind(&mut self, report: &Report, pane: Pane, forward: bool) {
        if let Some(border) = self.next_kind(report, pane, forward) {
            self.scroll = Scroll { cursor: border, top: border };
        }
    }

    /// Toggles between the chosen process's subtree and the whole tree; a filter stays.
    pub(crate) fn isolate(&mut self, report: &Report, pane: Pane) {
        let here = self.place(report, pane, self.scroll.cursor);
        let tree = report.tree().zip(here).filter(|((section, _), here)| here.section == *section);
        let alone = match (self.is_subtree(), tree) {
            (true, _) => None,
            (false, Some(((section, tree), here))) => {
                let rows = (here.row..tree.depths().end_of(here.row)).filter_map(|row| u32::try_from(row).ok());
                Some(rows.map(|row| (section, row)).collect())
            }
            (false, None) => return,
        };
        self.filter_rows(report, pane, |row_filter| row_filter.alone = alone);
    }

    /// Folds or unfolds the process under the cursor or all of them; scrolls other rows sideways.
    pub(crate) fn fold(&mut self, report: &Report, pane: Pane, step: FoldStep) {
        let here = self.place(report, pane, self.scroll.cursor);
        let tree = report.tree().filter(|_| pane == Pane::Processes);
        let row = here.zip(tree).filter(|(here, (section, _))| here.section == *section).map(|(here, _)| here.row);
        match (tree, row, step) {
            (Some((_, tree)), Some(row), _) => step.take(&mut self.folds, &mut self.scroll, row, tree.depths()),
            (Some((_, tree)), None, FoldStep::All(_)) => {
                step.take(&mut self.folds, &mut self.scroll, 0, tree.depths());
            }
            (_, _, FoldStep::Left) => self.shift = self.shift.saturating_sub(SHIFT_COLUMNS),
            (_, _, FoldStep::Right) => self.shift = self.shift.saturating_add(SHIFT_COLUMNS).min(MAX_SHIFT_COLUMNS),
            (_, _, FoldStep::Toggle | FoldStep::All(_)) => {}
        }
    }

    /// Changes the filters; the cursor stays on its row, or moves to the nearest visible one.
    pub(crate) fn filter_rows(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut RowFilter)) {
        self.update_view(report, pane, |state| change(&mut state.row_filter));
    }

    /// Applies matches of a filter; the first ones unfold the tree so that all are visible.
    pub(crate) fn filter_found(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut RowFilter)) {
        self.update_view(report, pane, |state| {
            if state.row_filter.found.is_none() {
                state.folds = Folds::default();
            }
            change(&mut state.row_filter);
        });
    }

    pub(crate) fn runs(&self, job: JobNumber) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.query.runs(job))
    }

    /// Adds matches of its filter; the first of a search replace those of the last search.
    pub(crate) fn take_found(&mut self, report: &Report, pane: Pane, job: JobNumber, rows: RowSet) {
        let run = self.filter.as_mut().and_then(|filter| filter.query.run_mut(job));
        let is_first = run.is_some_and(|run| std::mem::take(&mut run.is_new));
        let own = self.own_found();
        self.filter_found(report, pane, |row_filter| {
            let found = row_filter.found.take().filter(|_| !is_first).unwrap_or(own);
            row_filter.found.insert(found).extend(&rows);
        });
    }

    /// Restores the view from before the filter; the cursor stays on its row, unfolded.
    pub(crate) fn restore_rows(&mut self, report: &Report, pane: Pane) {
        let Some(before) = self.filter.as_ref().map(|filter| filter.unfiltered.clone()) else { return };
        self.update_view(report, pane, |state| {
            state.folds = before.folds.clone();
            state.row_filter.found = None;
        });
        if self.place(report, pane, self.scroll.cursor) == before.chosen {
            // New rows may have been indexed above.
            let above = before.scroll.cursor.saturating_sub(before.scroll.top);
            self.scroll.top = self.scroll.cursor.saturating_sub(above);
        }
    }

    fn update_view(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut Self)) {
        // Reads the cursor before the change, which may move another row to its position.
        let chosen = self.chosen(report, pane);
        change(self);
        self.refresh(report, pane);
        self.scroll.cursor = chosen.map_or(0, |chosen| self.unfold_to(report, pane, chosen));
        let stands = self.place(report, pane, self.scroll.cursor);
        if let (Some(filter), Some(chosen)) = (&mut self.filter, chosen) {
            filter.substitute = Some((chosen, stands));
        }
    }

    /// Returns the chosen row: that under the cursor, or the one chosen before a filter is typed.
    fn chosen(&self, report: &Report, pane: Pane) -> Option<RowPlace> {
        let here = self.place(report, pane, self.scroll.cursor);
        let unsettled = self.filter.as_ref().filter(|filter| filter.query.is_typing || filter.query.is_running());
        match unsettled.and_then(|filter| filter.substitute) {
            Some((chosen, stands)) if stands == here => Some(chosen),
            _ => here,
        }
    }

    /// Unfolds a row's ancestors; returns its position, or the nearest one if filtered out.
    pub(super) fn unfold_to(&mut self, report: &Report, pane: Pane, place: RowPlace) -> usize {
        if let Some(tree) = report.section(place.section).filter(|found| found.form == SectionForm::Processes) {
            self.folds.reveal(place.row, tree.depths());
        }
        let at = self.position(report, pane, place);
        let rank = |place: RowPlace| self.rank(report, pane, place);
        let distance = |at: usize| Some((rank(self.place(report, pane, at)?).abs_diff(rank(place)), at));
        (at.saturating_sub(1)..=at.saturating_add(1)).filter_map(distance).min().map_or(at, |(_, at)| at)
    }

    /// Returns the position of a row if all rows were visible.
    fn rank(&self, report: &Report, pane: Pane, place: RowPlace) -> usize {
        let before = self.sections(report, pane).take_while(|section| *section != place.section);
        before.map(|n| self.length(report, n)).sum::<usize>() + self.row_filter.rank(place.section, place.row)
    }
}

/// The filters and the order of a pane's rows; changes apply after [`PaneState::refresh`].
#[derive(Debug, Clone, Default)]
pub struct RowFilter {
    /// Rows that match the filter; `None` without a filter.
    pub(crate) found: Option<RowSet>,
    /// The rows of the isolated subtree; `None` for the whole tree.
    pub(crate) alone: Option<RowSet>,
    pub hidden: RowSet,
    pub(crate) order: Option<Arc<Order>>,
    /// The visible rows of sections with hidden or reordered rows.
    shown: BTreeMap<usize, Vec<u32>>,
}

impl RowFilter {
    pub fn is_open(&self) -> bool {
        self.found.is_none() && self.alone.is_none() && self.hidden.is_empty()
    }

    fn refresh(&mut self, sections: impl Iterator<Item = (usize, usize)>) {
        self.shown =
            sections.filter_map(|(section, length)| Some((section, self.narrowed(section, length)?))).collect();
    }

    /// Returns the visible rows of a section; `None` for all in their order.
    fn narrowed(&self, section: usize, length: usize) -> Option<Vec<u32>> {
        let hidden = self.hidden.rows(section);
        let order = self.order.as_ref().filter(|order| order.sections().any(|ordered| ordered == section));
        if self.found.is_none() && self.alone.is_none() && hidden.is_empty() && order.is_none() {
            return None;
        }
        let all = || (0..).take(length).collect();
        let mut rows = self.found.as_ref().or(self.alone.as_ref()).map_or_else(all, |left| left.rows(section).to_vec());
        let alone = self.alone.as_ref().map(|alone| alone.rows(section));
        rows.retain(|row| {
            hidden.binary_search(row).is_err() && alone.is_none_or(|alone| alone.binary_search(row).is_ok())
        });
        if let Some(order) = order {
            rows.sort_by_key(|row| order.position(section, *row as usize));
        }
        Some(rows)
    }

    pub(crate) fn rows(&self, section: usize) -> Option<&[u32]> {
        self.shown.get(&section).map(Vec::as_slice)
    }

    fn lets_through(&self, section: usize, row: usize) -> bool {
        let has = |rows: &Option<RowSet>| rows.as_ref().is_none_or(|rows| rows.contains(section, row));
        has(&self.found) && has(&self.alone) && !self.hidden.contains(section, row)
    }

    fn row(&self, section: usize, position: usize) -> usize {
        let row = self.rows(section).and_then(|rows| rows.get(position));
        row.map_or(position, |row| *row as usize)
    }

    fn rank(&self, section: usize, row: usize) -> usize {
        self.order.as_ref().map_or(row, |order| order.position(section, row))
    }

    fn position(&self, section: usize, row: usize) -> usize {
        let rank = self.rank(section, row);
        let before = |rows: &[u32]| rows.partition_point(|found| self.rank(section, *found as usize) <= rank);
        self.rows(section).map_or(row, |rows| before(rows).saturating_sub(1))
    }
}
