//! A comparison of a file's sandboxes, or of two files: its columns, the visible items, and the price of missing reports.

use crate::app::files::OpenFile;
use crate::app::find::in_circle;
use crate::app::over::{ListSource, ListView, RowPicker, Spot, Spots, Target, pieces_in_rows};
use crate::app::panes::PANES;
use crate::app::{Job, JobNumber, List, ListEntry, LoadedFile, Model, Place, ReportJob, SearchJob, Size, StoreJob};
use crate::report::compare::{ComparedItem, MOST_COLUMNS, Matrix};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{self, Body, Pane, Recent, Report, Row};
use crate::text::{Untrusted, thousands};
use std::sync::Arc;

pub use crate::report::compare::Only;

/// Places of an item in one report that are listed.
const MOST_TIMES: usize = 50;

pub type Compare = ListView<Comparison>;

#[derive(Debug, Default)]
pub struct Comparison {
    pub(super) job: Job,
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
    /// Of this file and the other: whether further sandboxes may be on pages that were not fetched.
    pub has_more_pages: [bool; 2],
    /// Sandboxes beyond those that can be compared at once.
    pub left_out: usize,
    /// The items that hold the words of the filter; none without one.
    found: Option<Vec<u32>>,
    /// How many of the pane's items each column saw.
    counts: Vec<usize>,
    /// Whether an item of the pane differs.
    has_differing: bool,
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
        let column = |(entry, found): (usize, &ListEntry)| Self {
            name: found
                .parts
                .as_ref()
                .map_or_else(|| Untrusted::from("(no identifier)"), |parts| parts.sandbox.clone()),
            document: found.document.clone(),
            side,
            identifier: found.identifier.clone(),
            entry,
            body: found.report().map(|report| report.body.clone()),
        };
        list.entries.iter().enumerate().map(column).collect()
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

impl ListSource for Comparison {
    type Row = ComparedItem;

    const PLACES: (Place, Place) = (Place::SoughtLine, Place::Compare);

    fn rows(&self) -> &[ComparedItem] {
        self.matrix.as_deref().map_or(&[], Matrix::items)
    }

    fn matching(&self, _: &str) -> Option<Vec<u32>> {
        let Some(matrix) = &self.matrix else { return Some(Vec::new()) };
        let mut shown = matrix.select(self.pane, self.only, &self.sides(), self.here);
        if let Some(found) = &self.found {
            shown.retain(|item| found.binary_search(item).is_ok());
        }
        Some(shown)
    }

    /// The legend, and the numbers of the columns.
    fn beside(&self, _: Size, model: &Model) -> (usize, usize) {
        (model.compare_head(self).len() + 1, 0)
    }
}

impl Comparison {
    pub(super) fn sides(&self) -> Vec<u64> {
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

    /// Counts the pane's items once: there may be a million.
    fn set_pane(&mut self, pane: Option<Pane>) {
        self.pane = pane;
        let Some(matrix) = &self.matrix else { return };
        self.counts = matrix.counts(pane);
        let differs = |item: &ComparedItem| item.other != 0 && pane.is_none_or(|pane| pane == item.pane);
        self.has_differing = matrix.items().iter().any(differs);
    }

    /// Shows other items; the same choice twice shows everything again.
    pub(super) fn show(&mut self, only: Only) {
        self.only = if self.only == only { Only::Any } else { only };
    }

    pub(super) fn step_column(&mut self, forward: bool) {
        let held = |column: &usize| self.columns.get(*column).is_some_and(MatrixColumn::is_compared);
        self.here = in_circle(self.here, self.columns.len(), forward).find(held).unwrap_or(self.here);
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

    fn columns_of(&self, list: &List) -> Vec<MatrixColumn> {
        let is_left_out = |column: &MatrixColumn| self.without.iter().any(|without| without.is_of(column));
        MatrixColumn::of(list, 0).into_iter().filter(|column| !is_left_out(column)).collect()
    }

    /// Shows the items of the next pane that has any; after the last, those of all.
    pub(super) fn step_pane(&mut self, forward: bool) {
        let with_items = PANES.iter().map(|info| info.pane).filter(|pane| self.rows().iter().any(|i| i.pane == *pane));
        let all: Vec<Option<Pane>> = [None].into_iter().chain(with_items.map(Some)).collect();
        let at = all.iter().position(|pane| *pane == self.pane).unwrap_or(0);
        let step = if forward { 1 } else { all.len() - 1 };
        self.set_pane(all.get((at + step) % all.len()).copied().flatten());
    }
}

impl Compare {
    pub(super) fn chosen_row(&self) -> Option<(Pane, Row)> {
        let (matrix, item) = self.source.matrix.as_deref().zip(self.chosen())?;
        Some((item.pane, matrix.row(item)))
    }

    pub(super) fn seen_words(&self) -> Option<String> {
        let item = self.chosen()?;
        let held = || self.source.columns.iter().enumerate().filter(|(_, column)| column.is_compared());
        let names = |bits: u64| -> Vec<String> {
            let of = held().filter(|(n, _)| bits >> n & 1 == 1);
            of.map(|(_, column)| column.name.visible_cut(24).to_string()).collect()
        };
        let (saw, other) = (names(item.seen), names(item.other));
        let other = if other.is_empty() { String::new() } else { format!("; differs in {}", other.join(", ")) };
        Some(format!("seen by {} of {}: {}{other}", saw.len(), held().count(), saw.join(", ")))
    }

    pub(super) fn spots(&self) -> Option<Spots> {
        let (matrix, item, number) = (self.source.matrix.as_deref()?, self.chosen()?, self.chosen_number()? as usize);
        let mut spots = Vec::new();
        for (n, column) in self.source.columns.iter().enumerate() {
            let head = format!("{} {}", n + 1, column.words());
            if !column.is_compared() {
                spots.push(Spot::words(format!("? {head}"), "not stored"));
            } else if item.seen >> n & 1 == 0 {
                let is_cut = matrix.is_perhaps_unlisted(item, n);
                let words = if is_cut { "not listed, perhaps cut by the service" } else { "not seen" };
                spots.push(Spot::words(format!("{} {head}", if is_cut { '?' } else { '·' }), words));
            }
            for (section, row) in matrix.places(number, n, MOST_TIMES) {
                let file = self.source.other.clone().filter(|_| column.side == 1);
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

impl Model {
    /// The comparison that is looked at, be something over it or not.
    pub fn comparing(&self) -> Option<&Compare> {
        self.over.find::<Compare>()
    }

    fn comparison_of(&mut self, job: JobNumber) -> Option<&mut Compare> {
        self.over.find_mut::<Compare>().filter(|compare| compare.source.job.is(job))
    }

    /// Changes the comparison that is looked at; its cursor stays on its item, or near it.
    pub(in crate::app) fn change_comparison(&mut self, change: impl FnOnce(&mut Comparison)) {
        if let Some(compare) = self.over.find_mut::<Compare>() {
            compare.change(None, change);
        }
    }

    /// Compares the file's sandboxes; a comparison that was left for one of its rows comes back as it was.
    pub(in crate::app) fn compare(&mut self) {
        let Some(OpenFile { list, compared, .. }) = self.files.shown_mut() else { return };
        let compare = compared.take().unwrap_or_else(|| {
            let columns = MatrixColumn::of(list, 0);
            let here = columns.iter().position(MatrixColumn::is_compared).unwrap_or(0);
            Compare::new(Comparison { columns, here, ..Comparison::default() })
        });
        let is_awaited = compare.source.columns.iter().all(|column| column.side == 0);
        let other = compare.source.other.clone().filter(|_| is_awaited);
        self.over.put(compare);
        match other {
            Some(file) => self.emit(StoreJob::LoadCompareFile(file)),
            None => self.compare_anew(),
        }
    }

    pub(in crate::app) fn keep_comparison(&mut self, compare: Compare) {
        if let Some(file) = self.files.shown_mut() {
            file.compared = Some(compare);
        }
    }

    /// Compares again after a report has arrived, if a comparison is open.
    pub(in crate::app) fn compare_anew(&mut self) {
        let list = self.list();
        let columns =
            self.comparing().zip(list).map(|(compare, list)| compare.source.columns_of(list)).unwrap_or_default();
        let more = list.is_some_and(List::has_more_pages);
        let Some(compare) = self.over.find_mut::<Compare>() else { return };
        compare.change(None, |compare| {
            (compare.has_more_pages[0], compare.job) = (more, Job::default());
            let here = compare.columns.get(compare.here).cloned();
            let before = std::mem::take(&mut compare.columns);
            let other = before.iter().filter(|column| column.side == 1).cloned();
            compare.columns = columns.into_iter().chain(other).collect();
            compare.left_out = cut(&mut compare.columns);
            compare.choose(here.as_ref());
            let is_same = before.len() == compare.columns.len();
            if !is_same || !before.iter().zip(&compare.columns).all(|(was, is)| was.is_of(is)) {
                // The marks are those of other columns.
                compare.matrix = None;
            }
        });
        let ticket = compare.source.job.ticket();
        let bodies = compare.source.columns.iter().map(|column| column.body.clone()).collect();
        self.emit(ReportJob::Compare { ticket, bodies });
    }

    /// Takes in what each report saw. Reports that cannot be read are left out of it: what the others saw is worth more.
    pub(in crate::app) fn compared(&mut self, job: JobNumber, result: Result<Arc<Matrix>, String>) {
        if self.comparison_of(job).is_none() {
            return;
        }
        self.change_comparison(|compare| {
            (compare.matrix, compare.failure) = match result {
                Ok(matrix) => (Some(matrix), None),
                Err(why) => (None, Some(why)),
            };
            compare.found = None;
            compare.set_pane(compare.pane);
        });
        self.filter_comparison()
    }

    pub(in crate::app) fn comparison_filtered(&mut self, job: JobNumber, found: Vec<u32>) {
        if let Some(compare) = self.over.find_mut::<Compare>().filter(|compare| compare.filter.quest.runs(job)) {
            compare.filter.quest.run = None;
            self.change_comparison(|compare| compare.found = Some(found));
        }
    }

    /// Finds the items that hold the words of the comparison's filter, beside the loop.
    pub(in crate::app) fn filter_comparison(&mut self) {
        let Some(Compare { filter, source, .. }) = self.over.find_mut::<Compare>() else { return };
        let sought = filter.quest.typed.clone();
        match source.matrix.clone().filter(|_| !sought.is_empty()) {
            Some(matrix) => {
                let ticket = filter.quest.begin();
                self.emit(SearchJob::Comparison { ticket, matrix, sought })
            }
            None => {
                filter.quest.run = None;
                self.change_comparison(|compare| compare.found = None)
            }
        }
    }

    /// The columns with their counts, and remarks.
    pub fn compare_head(&self, compare: &Comparison) -> Vec<String> {
        let legend = compare.columns.iter().enumerate().map(|(n, column)| {
            let chosen = if n == compare.here { "▸" } else { "" };
            let file = if compare.other.is_some() { if column.side == 0 { "this: " } else { "other: " } } else { "" };
            let name = column.words();
            let count = compare.matrix.as_ref().and(compare.counts.get(n)).copied().unwrap_or(0);
            let state = if column.is_compared() { thousands(count as u64) } else { "not stored".to_owned() };
            format!("{chosen}{} {file}{name} {state}", n + 1)
        });
        let names: Vec<_> = compare.without.iter().map(MatrixColumn::words).collect();
        let left_out = thousands(compare.left_out as u64);
        let remarks = [
            (compare.has_more_pages.contains(&true), "further sandboxes on pages that were not listed".to_owned()),
            (!names.is_empty(), format!("without {}: {} brings back", names.join(", "), self.way_to("compare-every"))),
            (compare.left_out > 0, format!("{left_out} left out: {MOST_COLUMNS} are compared at most")),
            (compare.matrix.is_some() && compare.has_differing, "≠ differs from the first that saw it".to_owned()),
            (
                compare.matrix.as_ref().is_some_and(|matrix| matrix.has_cut_lists()),
                "? may be missing from a list that was perhaps cut by the service".to_owned(),
            ),
        ];
        let remarks = remarks.into_iter().filter_map(|(is_so, words)| is_so.then_some(words));
        let remarks: Vec<_> = self.compare_missing(compare).chain(remarks).collect();
        let room = self.overlay_room();
        let columns = usize::from(room.width).max(20);
        let most = usize::from(room.height / 3).max(1);
        // Remarks come before the legend: where both do not fit, that is cut.
        let remarks = pieces_in_rows(&remarks, columns);
        let mut rows = pieces_in_rows(&legend.collect::<Vec<_>>(), columns);
        let of_legend = most.saturating_sub(remarks.len()).max(1);
        let is_cut = rows.len() > of_legend;
        rows.truncate(of_legend);
        rows.last_mut().filter(|_| is_cut).into_iter().for_each(|last| last.push_str(" …"));
        rows.extend(remarks);
        rows.truncate(most);
        rows
    }

    fn compare_missing(&self, compare: &Comparison) -> impl Iterator<Item = String> {
        let is_missing = |side| compare.columns.iter().any(|c| c.side == side && c.body.is_none());
        let mine = is_missing(0).then(|| {
            let price = self.figures.price_of_reports(self.files.missing_reports(&self.calls).len());
            format!("{} fetches the missing: {price}", self.way_to("open-all"))
        });
        let other = is_missing(1).then(|| "the other file's missing are fetched from its own list".to_owned());
        mine.into_iter().chain(other)
    }

    /// Shows the items of one pane only; where that is done already, those of all.
    pub(in crate::app) fn compare_in(&mut self, pane: Pane) {
        self.change_comparison(|compare| compare.set_pane(Some(pane).filter(|pane| compare.pane != Some(*pane))));
    }

    pub(in crate::app) fn compare_with(&mut self) {
        let files = self.other_files().cloned().collect();
        self.over.put(OtherFile::new(OtherFiles(files)));
    }

    fn other_files(&self) -> impl Iterator<Item = &Recent> {
        self.start.recent.iter().filter(|recent| recent.reports > 0 && Some(&recent.file) != self.file())
    }

    pub(in crate::app) fn can_compare_files(&self) -> bool {
        !self.is_document() && self.other_files().next().is_some()
    }

    pub(in crate::app) fn compare_with_chosen(&mut self) {
        let Some(other) = self.over.top_as::<OtherFile>() else { return };
        let Some(file) = other.chosen().map(|recent| recent.file.clone()) else {
            return;
        };
        self.over.close();
        self.change_comparison(|compare| {
            compare.other = Some(file.clone());
            compare.has_more_pages[1] = false;
            compare.matrix = None;
        });
        self.emit(StoreJob::LoadCompareFile(file));
    }

    pub(in crate::app) fn recalled_beside(&mut self, file: &Sha256, loaded: LoadedFile) {
        let mut list = List::unasked(file.clone());
        list.take_loaded(loaded);
        if self.comparing().is_none_or(|compare| compare.source.other.as_ref() != Some(file)) {
            return;
        }
        self.change_comparison(|compare| {
            compare.columns.retain(|column| column.side == 0);
            compare.without.retain(|column| column.side == 0);
            compare.columns.extend(MatrixColumn::of(&list, 1));
            compare.has_more_pages[1] = list.has_more_pages();
        });
        self.compare_anew()
    }
}
