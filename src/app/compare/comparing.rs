//! The controller of a comparison: its columns, its view, and the price of missing reports.

use crate::app::compare::{Compare, MatrixColumn, OtherFile, OtherFiles, cut};
use crate::app::files::OpenFile;
use crate::app::over::pieces_in_rows;
use crate::app::{HeldPage, HeldReport, List, Model, ReportJob, SearchJob, StoreJob};
use crate::report::compare::{ComparedItem, MOST_COLUMNS, Matrix};
use crate::report::identifier::Sha256;
use crate::report::{Pane, Recent};
use crate::text::thousands;
use std::sync::Arc;

impl Model {
    /// The comparison that is looked at, be something over it or not.
    pub fn comparing(&self) -> Option<&Compare> {
        self.over.find::<Compare>()
    }

    pub(super) fn comparing_mut(&mut self) -> Option<&mut Compare> {
        self.over.find_mut::<Compare>()
    }

    /// Compares the file's sandboxes; a comparison that was left for one of its rows comes back as it was.
    pub(in crate::app) fn compare(&mut self) {
        let number = self.next_number();
        let Some(OpenFile { list, compared, .. }) = self.files.shown_mut() else { return };
        let compare = compared.take().unwrap_or_else(|| Compare::new(number, MatrixColumn::of(list, 0)));
        let is_awaited = compare.columns.iter().all(|column| column.side == 0);
        let other = compare.other.clone().filter(|_| is_awaited);
        self.over.put(compare);
        self.settle();
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
        let columns = self.comparing().zip(list).map(|(compare, list)| compare.columns_of(list)).unwrap_or_default();
        let more = list.is_some_and(List::has_more_pages);
        let number = self.next_number();
        let Some(compare) = self.comparing_mut() else { return };
        compare.has_more_pages[0] = more;
        let here = compare.columns.get(compare.here).cloned();
        let before = std::mem::take(&mut compare.columns);
        compare.columns = columns.into_iter().chain(before.iter().filter(|column| column.side == 1).cloned()).collect();
        compare.left_out = cut(&mut compare.columns);
        if before.len() != compare.columns.len() || !before.iter().zip(&compare.columns).all(|(was, is)| was.is_of(is))
        {
            compare.forget_matrix();
        }
        compare.choose(here.as_ref());
        compare.number = number;
        let matrix = matrix_of(compare);
        self.emit(matrix);
    }

    pub(in crate::app) fn compare_without(&mut self) {
        self.with_over(Compare::leave_out);
        self.compare_anew()
    }

    pub(in crate::app) fn compare_every(&mut self) {
        self.with_over(Compare::bring_back);
        self.compare_anew()
    }

    /// Takes in what each report saw. Reports that cannot be read are left out of it: what the others saw is worth more.
    pub(in crate::app) fn compared(&mut self, number: u64, result: Result<Arc<Matrix>, String>) {
        let Some(compare) = self.comparing_mut().filter(|compare| compare.number == number) else { return };
        match result {
            Ok(matrix) => (compare.matrix, compare.failure) = (Some(matrix), None),
            Err(why) => {
                compare.failure = Some(why);
                compare.forget_matrix();
            }
        }
        compare.found = None;
        compare.refresh();
        self.settle_over();
        self.sift()
    }

    pub(in crate::app) fn sifted(&mut self, number: u64, sought: &str, found: Vec<u32>) {
        if let Some(compare) = self.comparing_mut().filter(|c| c.number == number && c.filter.typed == sought) {
            compare.found = Some(found);
            compare.refresh();
            self.settle_over();
        }
    }

    pub(in crate::app) fn sift(&mut self) {
        let Some(compare) = self.comparing_mut() else { return };
        if compare.filter.typed.is_empty() {
            compare.found = None;
            compare.refresh();
            self.settle_over();
            return;
        }
        let (number, sought) = (compare.number, compare.filter.typed.clone());
        if let Some(matrix) = compare.matrix.clone() {
            self.emit(SearchJob::Comparison { number, matrix, sought });
        }
    }

    pub fn compare_head(&self, compare: &Compare) -> Vec<String> {
        let counts = compare.matrix.as_ref().map(|matrix| matrix.counts(compare.pane));
        let legend = compare.columns.iter().enumerate().map(|(n, column)| {
            let chosen = if n == compare.here { "▸" } else { "" };
            let file = if compare.other.is_some() { if column.side == 0 { "this: " } else { "other: " } } else { "" };
            let name = column.words();
            let count = counts.as_ref().and_then(|counts| counts.get(n)).copied().unwrap_or(0);
            let state = if column.is_compared() { thousands(count as u64) } else { "not held".to_owned() };
            format!("{chosen}{} {file}{name} {state}", n + 1)
        });
        let mut remarks: Vec<_> = self.compare_missing(compare).collect();
        if compare.has_more_pages.contains(&true) {
            remarks.push("further sandboxes on pages that were not listed".to_owned());
        }
        if !compare.without.is_empty() {
            let names: Vec<_> = compare.without.iter().map(MatrixColumn::words).collect();
            remarks.push(format!("without {}: {} brings back", names.join(", "), self.way_to("compare-every")));
        }
        if compare.left_out > 0 {
            remarks
                .push(format!("{} left out: {MOST_COLUMNS} are compared at most", thousands(compare.left_out as u64)));
        }
        let differs = |item: &ComparedItem| item.other != 0 && compare.pane.is_none_or(|pane| pane == item.pane);
        if compare.matrix.as_ref().is_some_and(|matrix| matrix.items().iter().any(differs)) {
            remarks.push("≠ tells something else, or less, than the first that saw it".to_owned());
        }
        if compare.matrix.as_ref().is_some_and(|matrix| matrix.has_cut_lists()) {
            remarks.push("? may be missing from a list that was perhaps cut by the service".to_owned());
        }
        let columns = usize::from(self.overlay_room().width).max(20);
        let most = usize::from(self.overlay_room().height / 3).max(1);
        // Remarks come before the legend: where both do not fit, that is cut.
        let remarks = pieces_in_rows(&remarks, columns);
        let mut rows = pieces_in_rows(&legend.collect::<Vec<_>>(), columns);
        rows.truncate(most.saturating_sub(remarks.len()).max(1));
        rows.extend(remarks);
        rows.truncate(most);
        rows
    }

    fn compare_missing(&self, compare: &Compare) -> impl Iterator<Item = String> {
        let is_missing = |side| compare.columns.iter().any(|c| c.side == side && c.body.is_none());
        let mine =
            is_missing(0).then(|| format!("{} fetches the missing: {}", self.way_to("open-all"), self.missing_price()));
        let other = is_missing(1).then(|| "the other file's missing are fetched from its own list".to_owned());
        mine.into_iter().chain(other)
    }

    pub(in crate::app) fn compare_where(&mut self) {
        if let Some(spots) = self.comparing().and_then(Compare::spots) {
            self.over.put(spots);
        }
    }

    /// Shows the items of one pane only; where that is done already, those of all.
    pub(in crate::app) fn compare_in(&mut self, pane: Pane) {
        self.with_over(|compare: &mut Compare| {
            compare.pane = Some(pane).filter(|pane| compare.pane != Some(*pane));
            compare.refresh();
        })
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
        if let Some(compare) = self.comparing_mut() {
            compare.other = Some(file.clone());
            compare.has_more_pages[1] = false;
            compare.forget_matrix();
        }
        self.emit(StoreJob::LoadCompareFile(file));
    }

    pub(in crate::app) fn recalled_beside(&mut self, file: &Sha256, pages: Vec<HeldPage>, reports: Vec<HeldReport>) {
        let mut list = List::unasked(file.clone());
        list.take_recalled(pages, reports);
        let Some(compare) = self.comparing_mut().filter(|compare| compare.other.as_ref() == Some(file)) else {
            return;
        };
        compare.columns.retain(|column| column.side == 0);
        compare.without.retain(|column| column.side == 0);
        compare.columns.extend(MatrixColumn::of(&list, 1));
        compare.has_more_pages[1] = list.has_more_pages();
        self.compare_anew()
    }

    pub fn can_compare(&self) -> bool {
        self.list().is_some_and(|list| list.held() > 0)
    }
}

fn matrix_of(compare: &Compare) -> ReportJob {
    let bodies = compare.columns.iter().map(|column| column.body.clone()).collect();
    ReportJob::Compare { number: compare.number, bodies }
}
