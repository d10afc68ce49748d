//! The comparison of a file's sandboxes or of two files: columns, filters, rows; commands, events.

use crate::app::find::in_circle;
use crate::app::overlays::generic::{ListSource, ListView};
use crate::app::overlays::picker::{PickerRow, PickerRows, RowPicker, Target};
use crate::app::overlays::pieces_in_rows;
use crate::app::{
    Effect, Job, JobNumber, KeyContext, List, ListEntry, LoadedFile, Model, OpenReport, ReportJob, SearchJob, Size,
    StoreJob,
};
use crate::export::{ExportSource, Part};
use crate::report::attributes::AT_LEAST;
pub use crate::report::compare::SeenFilter;
use crate::report::compare::{BY_RULES_SIGN, ComparedItem, MAX_COLUMNS, Matrix, NOT_LISTED};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::note::Notes;
use crate::report::{self, Body, Pane, RecentFile, Row};
use crate::text::{Untrusted, thousands};
use std::sync::Arc;

/// Times of an item in one report that are listed.
const MAX_TIMES: usize = 50;

pub type ComparisonList = ListView<Comparison>;

/// The stored reports of one or two files, item by item.
#[derive(Debug, Default)]
pub struct Comparison {
    pub(super) job: Job,
    pub columns: Vec<MatrixColumn>,
    pub matrix: Option<Arc<Matrix>>,
    pub other: Option<Sha256>,
    /// The pane whose items are shown; `None` for all.
    pub pane: Option<Pane>,
    pub only: SeenFilter,
    /// The column whose items "only in" and "not in" refer to.
    pub here: usize,
    /// For each of the two files, whether unlisted pages may have more sandboxes.
    pub(crate) has_more_pages: [bool; 2],
    /// Sandboxes beyond the maximum that one comparison takes.
    pub(crate) left_out: usize,
    /// The items that match the filter; `None` without a filter.
    pub(super) found: Option<Vec<u32>>,
    /// The number of the pane's items that each column saw.
    counts: Vec<usize>,
    has_differing: bool,
    /// Columns that the user hid.
    pub(super) without: Vec<MatrixColumn>,
}

/// One report of a comparison, as a column.
#[derive(Debug, Clone)]
pub struct MatrixColumn {
    pub name: Untrusted,
    pub document: Option<Untrusted>,
    /// The index of the column's file: 0, or 1 for the other file.
    pub side: usize,
    pub identifier: Option<Identifier>,
    /// The column's index in its list.
    pub entry: usize,
    pub body: Option<Body>,
}

pub type OtherFileList = ListView<OtherFiles>;

/// The recent files with which the shown file can be compared.
#[derive(Debug)]
pub struct OtherFiles(pub Vec<RecentFile>);

impl ListSource for OtherFiles {
    type Row = RecentFile;

    fn rows(&self) -> &[RecentFile] {
        &self.0
    }

    fn text(file: &RecentFile) -> String {
        let name = file.name.as_ref().map(|name| name.visible().to_string()).unwrap_or_default();
        format!("{} {name}", file.file)
    }

    fn height(&self, _: usize) -> usize {
        self.0.len()
    }
}

impl MatrixColumn {
    /// Returns a column for each sandbox of a file's list.
    pub fn of(list: &List, side: usize) -> Vec<Self> {
        let column = |(entry, found): (usize, &ListEntry)| Self {
            name: found.name().unwrap_or_else(|| Untrusted::from("(no identifier)")),
            document: found.document.clone(),
            side,
            identifier: found.identifier.clone(),
            entry,
            body: found.report().map(|report| report.body.clone()),
        };
        list.entries.iter().enumerate().map(column).collect()
    }

    /// Returns whether its report is stored, and so compared.
    pub fn is_compared(&self) -> bool {
        self.body.is_some()
    }

    pub(super) fn label(&self) -> String {
        let document = self.document.as_ref().map(|document| format!(" ({})", document.visible_cut(32)));
        format!("{}{}", self.name.visible_cut(24), document.unwrap_or_default())
    }

    pub(super) fn is_of(&self, other: &Self) -> bool {
        (self.side, &self.identifier) == (other.side, &other.identifier)
            && (self.identifier.is_some() || self.entry == other.entry)
    }
}

impl SeenFilter {
    pub fn label(self, here: &str) -> String {
        match self {
            Self::Any => "everything".to_owned(),
            Self::All => "seen in all".to_owned(),
            Self::Some => "not alike in all".to_owned(),
            Self::Here => format!("only in {here}"),
            Self::NotHere => format!("not in {here}"),
        }
    }
}

/// Truncates the columns to the maximum of one comparison; returns the number cut off.
pub(crate) fn cut(columns: &mut Vec<MatrixColumn>) -> usize {
    columns.split_off(MAX_COLUMNS.min(columns.len())).len()
}

/// Returns the compared columns as bit sets: each stored sandbox, or all of each file.
pub fn sides(columns: &[MatrixColumn]) -> Vec<u64> {
    let is_one_file = columns.iter().all(|column| column.side == 0);
    let mut sides: Vec<(usize, u64)> = Vec::new();
    for (column, found) in columns.iter().enumerate().take(MAX_COLUMNS).filter(|(_, found)| found.is_compared()) {
        let side = if is_one_file { column } else { found.side };
        match sides.iter_mut().find(|(known, _)| *known == side) {
            Some((_, bits)) => *bits |= 1 << column,
            None => sides.push((side, 1 << column)),
        }
    }
    sides.into_iter().map(|(_, bits)| bits).collect()
}

/// Returns the reports with the techniques of the side here; `None` if no other is compared.
pub fn difference(columns: &[MatrixColumn], here: usize) -> Option<(Vec<ExportSource>, Part)> {
    let (these, others): (Vec<_>, Vec<_>) = sides(columns).into_iter().partition(|side| side >> here & 1 == 1);
    let is_one_file = columns.iter().all(|column| column.side == 0);
    let name = |side: &u64| {
        let column = columns.get(side.trailing_zeros() as usize)?;
        let file = column.identifier.as_ref().and_then(|identifier| identifier.parts().file).map(|file| file.short());
        let document = column.document.as_ref().map(|document| document.visible_cut(40).to_string());
        document.or(file).filter(|_| !is_one_file).or_else(|| Some(column.name.visible_cut(40).into()))
    };
    let there = match others.as_slice() {
        [one] => name(one)?,
        several => format!("the other {}", several.len()),
    };
    let mut sources = Vec::new();
    let mut bits = 0;
    for (number, column) in columns.iter().enumerate() {
        let Some(body) = column.body.clone() else { continue };
        if these.iter().any(|side| side >> number & 1 == 1) {
            bits |= 1_u64 << sources.len();
        }
        let origin = column.document.as_ref().map(|document| document.visible().to_string()).unwrap_or_default();
        let identifier = column.identifier.clone();
        sources.push(ExportSource { body, identifier, file: None, origin, received: None, notes: Notes::default() });
    }
    (!others.is_empty()).then_some((sources, Part::Difference(bits, [these.first().and_then(name)?, there])))
}

/// Returns the letter of a column, from A to BL: digits are the keys of panes.
pub fn column_letter(column: usize) -> String {
    let letter = |n: usize| ('A'..='Z').nth(n % 26);
    (column / 26).checked_sub(1).and_then(letter).into_iter().chain(letter(column)).collect()
}

impl ListSource for Comparison {
    type Row = ComparedItem;

    const PLACES: (KeyContext, KeyContext) = (KeyContext::FilterLine, KeyContext::Compare);

    fn rows(&self) -> &[ComparedItem] {
        self.matrix.as_deref().map_or(&[], Matrix::items)
    }

    fn matching(&self, _: &str) -> Option<Vec<u32>> {
        Some(self.select(self.pane, self.only))
    }

    /// Returns the height of the legend and the width of the column numbers.
    fn beside(&self, _: Size, model: &Model) -> (usize, usize) {
        (model.compare_head(self).len() + 1, 0)
    }

    fn on_typed(list: &mut ComparisonList, _: Option<&OpenReport>) -> Option<Effect> {
        list.find_items().map(Effect::from)
    }
}

impl Comparison {
    fn select(&self, pane: Option<Pane>, only: SeenFilter) -> Vec<u32> {
        let Some(matrix) = &self.matrix else { return Vec::new() };
        let mut shown = matrix.select(pane, only, &self.sides(), self.here);
        shown.retain(|item| self.found.as_ref().is_none_or(|found| found.binary_search(item).is_ok()));
        shown
    }

    /// Returns the numbers of items hidden by the view alone and by the pane alone.
    pub fn hidden(&self) -> [usize; 2] {
        [(self.pane, SeenFilter::Any), (None, self.only)].map(|(pane, only)| self.select(pane, only).len())
    }

    pub(super) fn sides(&self) -> Vec<u64> {
        sides(&self.columns)
    }

    pub fn here_label(&self) -> String {
        let name = self.columns.get(self.here).map(|column| column.name.visible_cut(30).to_string());
        match (&self.other, self.columns.get(self.here).map(|column| column.side)) {
            (Some(_), Some(0)) => "this file".to_owned(),
            (Some(other), _) => other.short(),
            (None, _) => format!("{} {}", column_letter(self.here), name.unwrap_or_default()),
        }
    }

    /// Sets the pane and counts its items once, as there may be a million.
    pub(super) fn set_pane(&mut self, pane: Option<Pane>) {
        self.pane = pane;
        let Some(matrix) = &self.matrix else { return };
        self.counts = matrix.counts(pane);
        let differs = |item: &ComparedItem| item.other != 0 && pane.is_none_or(|pane| pane == item.pane);
        self.has_differing = matrix.items().iter().any(differs);
    }

    /// Switches to the next view: all items, then each narrower choice.
    pub(super) fn step_view(&mut self) {
        self.only = SeenFilter::ALL.into_iter().find(|next| *next > self.only).unwrap_or_default();
    }

    pub(super) fn step_column(&mut self, forward: bool) {
        let stored = |column: &usize| self.columns.get(*column).is_some_and(MatrixColumn::is_compared);
        self.here = in_circle(self.here, self.columns.len(), forward).find(stored).unwrap_or(self.here);
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
        self.matrix = None;
    }

    pub(super) fn bring_back(&mut self) {
        let here = self.columns.get(self.here).cloned();
        self.columns.append(&mut self.without);
        self.columns.sort_by_key(|column| (column.side, column.entry));
        self.choose(here.as_ref());
        self.matrix = None;
    }

    fn choose(&mut self, column: Option<&MatrixColumn>) {
        let now = column.and_then(|column| self.columns.iter().position(|now| now.is_of(column)));
        self.here = now.unwrap_or(self.here);
    }

    /// Rebuilds the columns from the list as it is now, for another comparison.
    pub(super) fn refresh_columns(&mut self, list: Option<&List>) {
        let before = std::mem::take(&mut self.columns);
        let here = before.get(self.here).cloned();
        let is_left_out = |column: &MatrixColumn| self.without.iter().any(|without| without.is_of(column));
        let columns = list.into_iter().flat_map(|list| MatrixColumn::of(list, 0));
        let other = before.iter().filter(|column| column.side == 1).cloned();
        self.columns = columns.filter(|column| !is_left_out(column)).chain(other).collect();
        self.left_out = cut(&mut self.columns);
        self.job = Job::default();
        self.has_more_pages[0] = list.is_some_and(List::has_more_pages);
        self.choose(here.as_ref());
        let is_same = before.len() == self.columns.len();
        if !is_same || !before.iter().zip(&self.columns).all(|(was, is)| was.is_of(is)) {
            // Selections belong to the previous columns.
            self.matrix = None;
        }
    }

    pub(super) fn take(&mut self, matrix: Arc<Matrix>) {
        self.matrix = Some(matrix);
        self.found = None;
        self.set_pane(self.pane);
    }

    pub(super) fn take_other(&mut self, list: &List) {
        self.columns.retain(|column| column.side == 0);
        self.without.retain(|column| column.side == 0);
        self.columns.extend(MatrixColumn::of(list, 1));
        self.has_more_pages[1] = list.has_more_pages();
    }

    pub(super) fn is_missing(&self, side: usize) -> bool {
        self.columns.iter().any(|column| column.side == side && column.body.is_none())
    }

    pub fn stored(&self) -> usize {
        self.columns.iter().filter(|column| column.is_compared()).count()
    }

    /// Returns whether the shown items of a column are from a list that the service may have cut.
    fn has_cut_lists(&self, column: usize) -> bool {
        self.matrix.as_ref().is_some_and(|matrix| matrix.cut_lists(column, self.pane).next().is_some())
    }

    pub(super) fn legend(&self) -> Vec<String> {
        let title = |(n, column): (usize, &MatrixColumn)| {
            let chosen = if n == self.here { "▸" } else { "" };
            let file = match (&self.other, column.side) {
                (None, _) => "",
                (Some(_), 0) => "this: ",
                (Some(_), _) => "other: ",
            };
            let name = column.label();
            let count = self.matrix.as_ref().and(self.counts.get(n)).copied().unwrap_or(0);
            let more = if self.has_cut_lists(n) { AT_LEAST } else { "" };
            let state = if column.is_compared() { thousands(count as u64) + more } else { "not stored".to_owned() };
            format!("{chosen}{} {file}{name} {state}", column_letter(n))
        };
        self.columns.iter().enumerate().map(title).collect()
    }

    /// Returns remarks below the legend; `brings_back` is the key that shows hidden columns.
    pub(super) fn remarks(&self, brings_back: &str) -> impl Iterator<Item = String> {
        let names: Vec<_> = self.without.iter().map(MatrixColumn::label).collect();
        let left_out = thousands(self.left_out as u64);
        let has_cut_lists = (0..self.columns.len()).any(|column| self.has_cut_lists(column));
        let is_shown = self.pane.is_none_or(|pane| pane == Pane::Techniques);
        let has_techniques = is_shown && self.matrix.as_ref().is_some_and(|matrix| matrix.has_techniques());
        let remarks = [
            (self.has_more_pages.contains(&true), "further sandboxes on pages that were not fetched".to_owned()),
            (!names.is_empty(), format!("without {}: {brings_back} brings back", names.join(", "))),
            (self.left_out > 0, format!("{left_out} left out: {MAX_COLUMNS} are compared at most")),
            (self.matrix.is_some(), "● seen, · not seen".to_owned()),
            (self.matrix.is_some() && self.has_differing, "≠ differs from the first that saw it".to_owned()),
            (has_techniques, format!("{BY_RULES_SIGN} by our rules alone")),
            (has_cut_lists, format!("? {NOT_LISTED}")),
        ];
        remarks.into_iter().filter_map(|(is_so, words)| is_so.then_some(words))
    }

    /// Shows the next pane with items; after the last, all panes.
    pub(super) fn step_pane(&mut self, forward: bool) {
        let with_items = Pane::ALL.into_iter().filter(|pane| self.rows().iter().any(|i| i.pane == *pane));
        let all: Vec<Option<Pane>> = [None].into_iter().chain(with_items.map(Some)).collect();
        let at = all.iter().position(|pane| *pane == self.pane).unwrap_or(0);
        self.set_pane(in_circle(at, all.len(), forward).next().and_then(|next| all.get(next).copied()).flatten());
    }
}

impl ComparisonList {
    pub(super) fn of(list: &List) -> Self {
        let columns = MatrixColumn::of(list, 0);
        let here = columns.iter().position(MatrixColumn::is_compared).unwrap_or(0);
        Self::new(Comparison { columns, here, ..Comparison::default() })
    }

    pub(super) fn find_items(&mut self) -> Option<SearchJob> {
        let pattern = self.filter.typed.text.clone();
        let Some(matrix) = self.source.matrix.clone().filter(|_| !pattern.is_empty()) else {
            self.filter.search = None;
            self.change(|compare| compare.found = None);
            return None;
        };
        let name = pattern.to_lowercase();
        let is_named = |column: &MatrixColumn| column.label().to_lowercase().contains(&name);
        let named = (0..).zip(&self.source.columns).filter(|(_, column)| is_named(column));
        let named = named.fold(0, |named, (n, _)| named | 1_u64.unbounded_shl(n));
        Some(SearchJob::Comparison(self.filter.begin(), matrix, pattern, named))
    }

    pub(super) fn chosen_row(&self) -> Option<(Pane, Row)> {
        let (matrix, item) = self.source.matrix.as_deref().zip(self.chosen())?;
        Some((item.pane, matrix.row(item)))
    }

    pub(super) fn seen_label(&self) -> Option<String> {
        let (matrix, item) = self.source.matrix.as_deref().zip(self.chosen())?;
        let stored = || self.source.columns.iter().enumerate().filter(|(_, column)| column.is_compared());
        let names = |bits: u64| -> Vec<String> {
            let of = stored().filter(|(n, _)| bits >> n & 1 == 1);
            let by = |n| matrix.technique(item, Some(n)).map_or("", |_| " (by rule)");
            of.map(|(n, column)| format!("{}{}", column.name.visible_cut(24), by(n))).collect()
        };
        let saw = names(item.seen);
        let other = names(item.other);
        let unlisted = stored().filter(|(n, _)| matrix.is_perhaps_unlisted(item, *n));
        let unlisted = names(unlisted.fold(0, |bits, (n, _)| bits | 1 << n)).join(", ");
        let unlisted = if unlisted.is_empty() { unlisted } else { format!("; {NOT_LISTED}: {unlisted}") };
        let other = if other.is_empty() { String::new() } else { format!("; differs in {}", other.join(", ")) };
        Some(format!("seen by {} of {}: {}{other}{unlisted}", saw.len(), stored().count(), saw.join(", ")))
    }

    pub(super) fn picker_rows(&self) -> Option<RowPicker> {
        let matrix = self.source.matrix.as_deref()?;
        let item = self.chosen()?;
        let number = self.chosen_number()? as usize;
        let mut picker_rows = Vec::new();
        for (n, column) in self.source.columns.iter().enumerate() {
            let head = format!("{} {} {}", matrix.sign(item, n), column_letter(n), column.label());
            let state = match (column.is_compared(), item.seen >> n & 1 == 1) {
                (false, _) => "not stored",
                (true, true) => "",
                (true, false) if matrix.is_perhaps_unlisted(item, n) => NOT_LISTED,
                (true, false) => "not seen",
            };
            let row = matrix.technique(item, Some(n)).cloned();
            if row.is_some() || !state.is_empty() {
                picker_rows.push(PickerRow { row, ..PickerRow::text(head.clone(), state) });
            }
            for (section, row) in matrix.places(number, n, MAX_TIMES) {
                let file = self.source.other.clone().filter(|_| column.side == 1);
                let place = Some(report::RowPlace { section, row });
                let target = Target { file, identifier: column.identifier.clone(), entry: column.entry, place };
                picker_rows.push(PickerRow::row(head.clone(), matrix.row_of(n, section, row), target));
            }
        }
        Some(RowPicker::new(PickerRows::new("Where it was seen", picker_rows)))
    }
}

impl Model {
    /// Changes the open comparison; its cursor stays on its item, or near it.
    pub(crate) fn change_comparison(&mut self, change: impl FnOnce(&mut Comparison)) {
        if let Some(compare) = self.overlays.find_mut::<ComparisonList>() {
            compare.change(change);
        }
    }

    /// Compares the file's sandboxes, or restores a comparison left for a row.
    pub(super) fn compare(&mut self) {
        if !self.return_to::<ComparisonList>() {
            self.list().map(ComparisonList::of).into_iter().for_each(|compare| self.overlays.put(compare));
        }
        self.restart_comparison();
    }

    pub(super) fn compare_other_columns(&mut self, change: fn(&mut Comparison)) {
        self.change_comparison(change);
        self.restart_comparison();
    }

    pub(crate) fn restart_comparison(&mut self) {
        let list = self.files.shown().map(|file| &file.list);
        let Some(compare) = self.overlays.find_mut::<ComparisonList>() else { return };
        compare.change(|compare| compare.refresh_columns(list));
        let bodies = compare.source.columns.iter().map(|column| column.body.clone()).collect();
        let ticket = compare.source.job.ticket();
        self.emit(ReportJob::Compare(ticket, bodies, self.rules_or_file()));
    }

    /// Shows the comparison, without reports that could not be read.
    pub(crate) fn compared(&mut self, job: JobNumber, matrix: Arc<Matrix>) {
        if self.overlays.find::<ComparisonList>().is_some_and(|compare| compare.source.job.is(job)) {
            self.change_comparison(|compare| compare.take(matrix));
            let job = self.overlays.find_mut::<ComparisonList>().and_then(ComparisonList::find_items);
            self.emit_all(job);
        }
    }

    pub(crate) fn comparison_filtered(&mut self, job: JobNumber, found: Vec<u32>) {
        if let Some(compare) = self.overlays.find_mut::<ComparisonList>().filter(|compare| compare.filter.runs(job)) {
            compare.filter.search = None;
            self.change_comparison(|compare| compare.found = Some(found));
        }
    }

    /// Returns the columns with their counts, and remarks.
    pub fn compare_head(&self, compare: &Comparison) -> Vec<String> {
        let mine = compare.is_missing(0).then(|| {
            let price = self.quota_state.price_of_reports(&self.files.missing_reports(&self.calls));
            format!("{} fetches the missing: {price}", self.key_label("open-all"))
        });
        let other = "the other file's missing are fetched from its own list";
        let other = compare.is_missing(1).then(|| other.to_owned());
        let brings_back = self.key_label("show-all");
        let remarks: Vec<_> = mine.into_iter().chain(other).chain(compare.remarks(&brings_back)).collect();
        let room = self.overlay_room();
        let columns = usize::from(room.width).max(20);
        let most = usize::from(room.height / 3).max(1);
        // Remarks come before the legend, which is cut if both do not fit.
        let remarks = pieces_in_rows(&remarks, columns);
        let mut rows = pieces_in_rows(&compare.legend(), columns);
        let of_legend = most.saturating_sub(remarks.len()).max(1);
        let is_cut = rows.len() > of_legend;
        rows.truncate(of_legend);
        rows.last_mut().filter(|_| is_cut).into_iter().for_each(|last| last.push_str(" …"));
        rows.extend(remarks);
        rows.truncate(most);
        rows
    }

    pub(super) fn compare_with_chosen(&mut self) {
        let Some(other) = self.overlays.top_as::<OtherFileList>() else { return };
        let Some(file) = other.chosen().map(|recent| recent.file.clone()) else { return };
        self.overlays.close();
        self.compare_with(file);
    }

    /// Compares the file with that of the chosen row of a pivot.
    pub(super) fn compare_with_other(&mut self) {
        let Some(file) = other_file(self) else { return };
        self.list().map(ComparisonList::of).into_iter().for_each(|compare| self.overlays.put(compare));
        self.compare_with(file);
    }

    fn compare_with(&mut self, file: Sha256) {
        self.change_comparison(|compare| {
            (compare.other, compare.matrix) = (Some(file.clone()), None);
            compare.has_more_pages[1] = false;
        });
        self.emit(StoreJob::LoadCompareFile(file));
    }

    pub(crate) fn take_compare_file(&mut self, file: &Sha256, loaded: LoadedFile) {
        let is_it = |compare: &ComparisonList| compare.source.other.as_ref() == Some(file);
        if !self.overlays.find::<ComparisonList>().is_some_and(is_it) {
            return;
        }
        let mut list = List::not_requested(file.clone());
        list.take_loaded(loaded);
        self.change_comparison(|compare| compare.take_other(&list));
        self.restart_comparison()
    }
}

/// Returns the file of the chosen row of a pivot, if it is another than the shown one.
pub(super) fn other_file(model: &Model) -> Option<Sha256> {
    let target = model.overlays.top_as::<RowPicker>()?.chosen()?.target.as_ref()?;
    target.file.clone().filter(|file| model.file().is_some_and(|own| own != file))
}
