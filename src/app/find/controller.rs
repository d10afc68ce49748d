//! The controller of searches: filters as typed, hits, jumps to them, and the return to lists.

use crate::app::files::{OpenFile, ReturnPoint};
use crate::app::find::{Filter, HitGroup, HitList, HitSource, SearchProgress, SearchQuery, in_circle};
use crate::app::overlays::{FindingList, OverlayKind, Scope, Target};
use crate::app::{JobNumber, Model, Overlay};
use crate::report::find::MatchOptions;

pub type SearchEnd = Option<Result<(), String>>;

impl Model {
    /// Starts a filter for the focused list or pane; from the list of sandboxes, for every pane.
    pub(crate) fn begin_filter(&mut self) {
        if !self.overlays.is_empty() {
            return self.filter_list(true);
        }
        if self.focused().is_none() {
            return self.begin_finding(false);
        }
        if let Some((pane, open)) = self.focused().zip(self.files.open_mut()) {
            let state = open.panes.entry(pane).or_default();
            let before = state.before(&open.report, pane);
            let filter = state.filter.get_or_insert_with(|| Filter { unfiltered: before, ..Filter::default() });
            (filter.query.is_typing, filter.substitute) = (true, None);
        }
    }

    /// Applies the filter and ends typing; an empty filter is removed.
    pub(crate) fn apply_filter(&mut self) {
        if !self.overlays.is_empty() {
            return self.filter_list(false);
        }
        if self.filter().is_some_and(|filter| filter.query.typed.is_empty()) {
            return self.drop_filter();
        }
        if let Some(filter) = self.filter_mut() {
            filter.query.is_typing = false;
        }
    }

    /// Removes the filter and restores the view; the cursor stays on the chosen row.
    pub(crate) fn drop_filter(&mut self) {
        if let Some((pane, open)) = self.focused().zip(self.files.open_mut())
            && let Some(state) = open.panes.get_mut(&pane)
        {
            state.restore_rows(&open.report, pane);
            state.filter = None;
        }
    }

    pub(crate) fn filter_mut(&mut self) -> Option<&mut Filter> {
        let pane = self.focused()?;
        self.files.open_mut()?.panes.get_mut(&pane)?.filter.as_mut()
    }

    fn query_mut(&mut self) -> Option<&mut SearchQuery> {
        if self.is_filtering() {
            return self.filter_mut().map(|filter| &mut filter.query);
        }
        self.overlays.top_as_mut::<HitList>().map(|finder| &mut finder.filter)
    }

    pub(crate) fn change_how(&mut self, change: fn(&mut MatchOptions)) {
        if let Some(query) = self.query_mut() {
            change(&mut query.options);
            self.start_search()
        }
    }

    /// Restarts the search of the pane's filter or of the hits.
    pub(crate) fn start_search(&mut self) {
        if !self.is_filtering() {
            return self.search_hits();
        }
        let job = self.focused().zip(self.files.open_mut()).and_then(|(pane, open)| open.restart_search(pane));
        self.emit_all(job);
    }

    /// Opens the list of hits, with the text of the last search.
    pub(crate) fn begin_finding(&mut self, is_stored: bool) {
        let earlier = self.stored_search(is_stored).and_then(Option::take);
        let query = if is_stored { SearchQuery::default() } else { self.pattern.without_results() };
        let mut finder = earlier.unwrap_or_else(|| HitList::of(query, is_stored));
        finder.filter.begin_typing();
        self.overlays.put(finder);
        self.search_hits()
    }

    pub(crate) fn search_hits(&mut self) {
        let open = self.files.shown().and_then(OpenFile::open);
        let job = self.overlays.top_as_mut::<HitList>().and_then(|finder| finder.search(open));
        self.emit_all(job);
    }

    pub(crate) fn hits(&mut self, job: JobNumber, found: Vec<HitGroup>, searched: SearchProgress, end: SearchEnd) {
        let overlay = self.overlays.find_mut::<HitList>();
        let finders = overlay.into_iter().chain(&mut self.finder).chain(self.files.finders_mut());
        for finder in finders {
            let Some(run) = finder.filter.run_mut(job) else { continue };
            if std::mem::take(&mut run.is_new) {
                finder.forget_hits();
            }
            finder.change(|hits| hits.add(found));
            finder.source.searched = searched;
            if let Some(end) = end {
                finder.filter.search = None;
                finder.filter.problem = end.err();
            }
            break;
        }
    }

    pub(crate) fn go_to_hit(&mut self) {
        let chosen = self.overlays.top_as::<HitList>().and_then(|finder| finder.hit());
        let Some(why_unreachable) = chosen.map(|(group, _)| group.source.why_unreachable()) else { return };
        if let Some(why) = why_unreachable {
            return self.warn(why);
        }
        self.leave_list_for(Self::go_to_found);
    }

    pub(super) fn go_to_found(&mut self) {
        let Some((group, hit)) = self.search().and_then(HitList::hit) else { return };
        if let Some(why) = group.source.why_unreachable() {
            return self.warn(why);
        }
        let place = hit.at.map(|(_, place)| place);
        match group.source.clone() {
            HitSource::Pane(_) => {
                let entry = self.list().map_or(0, |list| list.scroll.cursor);
                self.go_to(Target { file: None, identifier: None, entry, place })
            }
            HitSource::Report(file, identifier, _) | HitSource::Notes(file, identifier) => {
                self.go_to(Target { file, identifier: Some(identifier), entry: 0, place });
                self.prefer_stored_search();
            }
        }
    }

    pub(super) fn step_passing(&mut self, forward: bool) {
        let height = self.height();
        let Some((pane, open)) = self.focused().zip(self.files.open_mut()) else { return };
        let Some(state) = open.panes.get_mut(&pane) else { return };
        let report = &open.report;
        let count = state.count(report, pane);
        let cursor = state.scroll.cursor;
        let passes_filter = |at: &usize| state.place(report, pane, *at).is_some_and(|place| state.passes_filter(place));
        let found = in_circle(cursor, count, forward).find(passes_filter);
        state.scroll.cursor = found.unwrap_or(cursor);
        state.scroll.clamp(count, height);
        match found {
            Some(found) if found == cursor => self.say("This is the only hit."),
            Some(_) => {}
            None => self.say("No row of this pane matches the filter."),
        }
    }

    /// Returns the label of the list to return to, if any.
    pub fn return_label(&self) -> Option<&'static str> {
        let is_here = self.overlays.is_empty() && !self.files.is_zoomed() && self.filter().is_none();
        let left = self.files.shown()?.left.as_ref().filter(|left| is_here && self.can_restore(left))?;
        Some(match left {
            ReturnPoint::Finder => "back to the hits",
            ReturnPoint::List(_, _, overlay) => match overlay.as_slice() {
                [.., Overlay::ComparisonList(_), _] => "back to the comparison",
                [.., Overlay::Indicators(_)] => "back to the indicators",
                _ => "back to the list",
            },
        })
    }

    /// Returns whether the list can be restored: its file may be closed, its report replaced.
    fn can_restore(&self, left: &ReturnPoint) -> bool {
        match left {
            ReturnPoint::Finder => self.search().is_some(),
            ReturnPoint::List(file, of, _) => {
                let is_open = file.as_ref().is_none_or(|file| self.files.of(file).is_some());
                is_open && (of.is_none() || *of == self.open().map(|open| open.job.number()))
            }
        }
    }

    /// Restores a list of this file that was left for one of its rows; returns whether it did.
    pub(crate) fn return_to<T: OverlayKind>(&mut self) -> bool {
        let left = self.files.shown().and_then(|file| file.left.as_ref()).filter(|left| self.can_restore(left));
        let Some(ReturnPoint::List(file, _, overlay)) = left else { return false };
        let is_it = file.as_ref() == self.file() && overlay.iter().any(|overlay| T::of(overlay).is_some());
        if is_it {
            self.return_to_list();
            while self.overlays.top_as::<T>().is_none() && self.overlays.close().is_some() {}
        }
        is_it
    }

    pub(crate) fn leave_list(&mut self) -> Option<ReturnPoint> {
        let overlay = self.overlays.close()?;
        let below = std::mem::take(&mut self.overlays.all);
        if let Overlay::HitList(mut finder) = overlay {
            finder.choose_hit();
            self.save_search(finder);
            return Some(ReturnPoint::Finder);
        }
        // Row details belong to the cursor, which moves to another row.
        let below = below.into_iter().filter(|overlay| !matches!(overlay, Overlay::Detail(_)));
        let overlays: Vec<_> = below.chain([overlay]).collect();
        let findings = overlays.iter().find_map(FindingList::of);
        let is_of_report = findings.is_some_and(|list| list.source.scope == Scope::Sandbox);
        let of = self.open().map(|open| open.job.number()).filter(|_| is_of_report);
        Some(ReturnPoint::List(self.file().cloned(), of, overlays))
    }

    pub(crate) fn set_left(&mut self, left: Option<ReturnPoint>) {
        if let Some(file) = self.files.shown_mut() {
            file.left = left;
        }
    }

    /// Returns to the list at its row, and to the list's file.
    pub(crate) fn return_to_list(&mut self) {
        match self.files.shown_mut().and_then(|file| file.left.take()) {
            Some(ReturnPoint::Finder) => {
                let is_stored = self.search().is_some_and(|finder| finder.source.is_of_store);
                let finder = self.stored_search(is_stored).and_then(Option::take);
                // The next key after the return is a command, not text.
                if let Some(mut finder) = finder {
                    (finder.filter.is_typing, finder.filter.typed.is_suggested) = (false, false);
                    self.overlays.put(finder);
                }
            }
            Some(ReturnPoint::List(file, _, overlay)) => {
                let other = file.filter(|file| self.file() != Some(file));
                other.into_iter().for_each(|file| self.open_files(&[file]));
                overlay.into_iter().for_each(|overlay| self.overlays.put(overlay));
                self.check_store();
            }
            None => {}
        }
    }

    /// Returns the last search with hits here: of the open report, or else of all stored reports.
    pub(super) fn search(&self) -> Option<&HitList> {
        let file = self.files.shown();
        let here = file.and_then(OpenFile::open).map(|open| open.job.number());
        file.and_then(|file| file.finder.as_ref())
            .filter(|finder| finder.source.report == here)
            .or(self.finder.as_ref())
    }

    pub(super) fn stored_search(&mut self, is_stored: bool) -> Option<&mut Option<HitList>> {
        if is_stored { Some(&mut self.finder) } else { self.files.shown_mut().map(|file| &mut file.finder) }
    }

    /// Saves a search that is left or closed: its hits can still be stepped through.
    pub(crate) fn save_search(&mut self, finder: HitList) {
        if finder.hit().is_none() {
            return;
        }
        if finder.source.is_of_store {
            self.prefer_stored_search();
        } else {
            self.pattern = finder.filter.without_results();
        }
        if let Some(kept) = self.stored_search(finder.source.is_of_store) {
            *kept = Some(finder);
        }
    }

    /// Drops the search of the shown file, as the user steps through another.
    pub(super) fn prefer_stored_search(&mut self) {
        self.files.shown_mut().into_iter().for_each(|file| file.finder = None);
    }

    /// Moves to the next or previous hit, in a filtered pane or else across reports.
    pub(crate) fn step_hit(&mut self, forward: bool) {
        if self.filter().is_some() {
            return self.step_passing(forward);
        }
        let is_stored = self.search().is_some_and(|finder| finder.source.is_of_store);
        let finder = self.stored_search(is_stored).and_then(Option::as_mut);
        finder.into_iter().for_each(|finder| finder.step(forward));
        self.go_to_found();
        self.set_left(Some(ReturnPoint::Finder));
    }

    pub fn goes_through_hits(&self) -> bool {
        self.overlays.is_empty()
            && self.files.shown().is_some_and(|file| matches!(file.left, Some(ReturnPoint::Finder)))
    }

    pub(crate) fn has_hits(&self) -> bool {
        self.filter().is_some() || self.hit().is_some()
    }

    /// Returns the number of the last search's chosen hit, from 1; the number of hits.
    pub fn hit(&self) -> Option<(u64, u64)> {
        let finder = self.search()?;
        finder.hit()?;
        Some((finder.number(), finder.source.count()))
    }
}
