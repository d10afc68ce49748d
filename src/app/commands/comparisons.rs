//! Commands and events of a comparison.

use crate::app::compare::{Comparison, ComparisonList, OtherFileList};
use crate::app::overlays::pieces_in_rows;
use crate::app::prevalence::other_file;
use crate::app::{JobNumber, List, LoadedFile, Model, ReportJob, StoreJob};
use crate::report::compare::Matrix;
use crate::report::identifier::Sha256;
use std::sync::Arc;

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
