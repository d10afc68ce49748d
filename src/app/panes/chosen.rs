//! The row that is chosen, which stays the chosen one whatever else of its pane is shown.

use super::sieve::Sieve;
use super::{PaneState, length};
use crate::report::index::Form;
use crate::report::{Pane, Place, Report};
use std::sync::Arc;

impl PaneState {
    /// Lets other rows through; the cursor stays on its row, or goes to the nearest that is shown.
    pub fn sift(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut Sieve)) {
        self.look_anew(report, pane, |state| change(Arc::make_mut(&mut state.sieve)));
    }

    /// Shows the rows that a filter found, `change` says how; the first unfold the tree, for all that is found is to be seen.
    pub(in crate::app) fn sift_found(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut Sieve)) {
        self.look_anew(report, pane, |state| {
            if state.sieve.found().is_none() {
                state.folds = Arc::default();
            }
            change(Arc::make_mut(&mut state.sieve));
        });
    }

    /// Shows what stood here before the filter; the cursor stays on its row, and what was folded above that is not.
    pub(in crate::app) fn unsift(&mut self, report: &Report, pane: Pane) {
        let Some(before) = self.filter.as_ref().map(|filter| filter.before.clone()) else { return };
        self.look_anew(report, pane, |state| {
            state.folds = Arc::clone(&before.folds);
            Arc::make_mut(&mut state.sieve).find(None);
        });
        if self.place(report, pane, self.scroll.cursor) == before.chosen {
            // Rows may have come before it since.
            let above = before.scroll.cursor.saturating_sub(before.scroll.top);
            self.scroll.top = self.scroll.cursor.saturating_sub(above);
        }
    }

    /// Changes what is shown, and leaves the cursor on the row that was chosen, or else on the nearest one.
    fn look_anew(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut Self)) {
        // Before the change: afterwards another row stands where the cursor is.
        let chosen = self.chosen(report, pane);
        change(self);
        self.refresh(report, pane);
        self.scroll.cursor = chosen.map_or(0, |chosen| self.bring(report, pane, chosen));
        let stands = self.place(report, pane, self.scroll.cursor);
        if let (Some(filter), Some(chosen)) = (&mut self.filter, chosen) {
            filter.stand_in = Some((chosen, stands));
        }
    }

    /// The row that is chosen: the one under the cursor, or while a filter is typed and finds, the one that this stands for.
    fn chosen(&self, report: &Report, pane: Pane) -> Option<Place> {
        let here = self.place(report, pane, self.scroll.cursor);
        let unsettled = self.filter.as_ref().filter(|filter| filter.is_typed || filter.quest.is_running());
        match unsettled.and_then(|filter| filter.stand_in) {
            Some((chosen, stands)) if stands == here => Some(chosen),
            _ => here,
        }
    }

    /// The position of a row, which is shown though something above it was folded, or of the nearest one where it is filtered out.
    pub(super) fn bring(&mut self, report: &Report, pane: Pane, place: Place) -> usize {
        if let Some(tree) = report.section(place.section).filter(|found| found.form == Form::Processes) {
            self.folds_mut().reveal(place.row, tree.depths());
        }
        let at = self.position(report, pane, place);
        let rank = |place: Place| self.rank(report, pane, place);
        let away = |at: usize| Some((rank(self.place(report, pane, at)?).abs_diff(rank(place)), at));
        let nearest = (at.saturating_sub(1)..=at.saturating_add(1)).filter_map(away).min();
        nearest.map_or(at, |(_, at)| at)
    }

    /// The position at which a row would stand if everything were shown.
    fn rank(&self, report: &Report, pane: Pane, place: Place) -> usize {
        let before = report.sections(pane).into_iter().take_while(|section| *section != place.section);
        before.map(|section| length(report, section)).sum::<usize>() + self.sieve.rank(place.section, place.row)
    }
}
