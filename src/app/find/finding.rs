//! The controller of searches: filters as they are typed, hits and jumps to them, and the way back to lists that were left.

use crate::app::files::{OpenFile, ReturnPoint};
use crate::app::find::{Filter, Finder, HitGroup, HitSource, Quest, in_circle};
use crate::app::over::{FindingList, OverlayKind, Scope, Target};
use crate::app::{JobNumber, Model, Overlay, Screen};
use crate::report::find::How;

pub type SearchEnd = Option<Result<(), String>>;

impl Model {
    pub fn filter(&self) -> Option<&Filter> {
        self.focused().and_then(|pane| self.pane_state(pane).filter.as_ref())
    }

    pub fn is_filtering(&self) -> bool {
        self.screen == Screen::File
            && self.over.is_empty()
            && self.filter().is_some_and(|filter| filter.quest.is_typing)
    }

    /// Begins to type what filters the list or the pane with the keys; from the list of sandboxes, every pane.
    pub(in crate::app) fn begin_filter(&mut self) {
        if !self.over.is_empty() {
            return self.seek_in_list(true);
        }
        if self.focused().is_none() {
            return self.begin_finding(false);
        }
        if let Some((pane, open)) = self.focused().zip(self.files.open_mut()) {
            let state = open.panes.entry(pane).or_default();
            let before = state.before(&open.report, pane);
            let filter = state.filter.get_or_insert_with(|| Filter { before, ..Filter::default() });
            (filter.quest.is_typing, filter.stand_in) = (true, None);
        }
    }

    /// Keeps the filter and gives the keys back; an empty one is none.
    pub(in crate::app) fn keep_filter(&mut self) {
        if !self.over.is_empty() {
            return self.seek_in_list(false);
        }
        if self.filter().is_some_and(|filter| filter.quest.typed.is_empty()) {
            return self.drop_filter();
        }
        if let Some(filter) = self.filter_mut() {
            filter.quest.is_typing = false;
        }
    }

    /// Takes the filter away: everything is as it was before, and the cursor stays on the row that is chosen now.
    pub(in crate::app) fn drop_filter(&mut self) {
        if let Some((pane, open)) = self.focused().zip(self.files.open_mut())
            && let Some(state) = open.panes.get_mut(&pane)
        {
            state.unsift(&open.report, pane);
            state.filter = None;
        }
    }

    pub(in crate::app) fn filter_mut(&mut self) -> Option<&mut Filter> {
        let pane = self.focused()?;
        self.files.open_mut()?.panes.get_mut(&pane)?.filter.as_mut()
    }

    fn quest_mut(&mut self) -> Option<&mut Quest> {
        if self.is_filtering() {
            return self.filter_mut().map(|filter| &mut filter.quest);
        }
        self.over.top_as_mut::<Finder>().map(|finder| &mut finder.filter)
    }

    pub(in crate::app) fn change_how(&mut self, change: fn(&mut How)) {
        if let Some(quest) = self.quest_mut() {
            change(&mut quest.how);
            self.seek()
        }
    }

    /// Searches for the words of the pane's filter or of the hits, after a change.
    pub(in crate::app) fn seek(&mut self) {
        if !self.is_filtering() {
            return self.seek_hits();
        }
        let job = self.focused().zip(self.files.open_mut()).and_then(|(pane, open)| open.seek_anew(pane));
        self.emit_all(job);
    }

    /// Opens the list of hits, with the words of last time.
    pub(in crate::app) fn begin_finding(&mut self, is_held: bool) {
        let earlier = self.kept_search(is_held).and_then(Option::take);
        let words = if is_held { Quest::default() } else { self.sought.unsought() };
        let mut finder = earlier.unwrap_or_else(|| Finder::of(words, is_held));
        finder.filter.begin_typing();
        self.over.put(finder);
        self.seek_hits()
    }

    pub(in crate::app) fn seek_hits(&mut self) {
        let open = self.files.shown().and_then(OpenFile::open);
        let job = self.over.top_as_mut::<Finder>().and_then(|finder| finder.search(open));
        self.emit_all(job);
    }

    pub(in crate::app) fn hits(&mut self, job: JobNumber, found: Vec<HitGroup>, searched: (u64, u64), end: SearchEnd) {
        let over = self.over.find_mut::<Finder>();
        let finders = over.into_iter().chain(&mut self.finder).chain(self.files.finders_mut());
        for finder in finders {
            let Some(run) = finder.filter.run_mut(job) else { continue };
            if std::mem::take(&mut run.is_new) {
                finder.forget_hits();
            }
            finder.add(found);
            finder.source.searched = searched;
            if let Some(end) = end {
                finder.filter.run = None;
                finder.filter.problem = end.err();
            }
            break;
        }
    }

    pub(in crate::app) fn go_to_hit(&mut self) {
        let chosen = self.over.top_as::<Finder>().and_then(|finder| finder.hit());
        let Some(out_of_reach) = chosen.map(|(group, _)| group.of.out_of_reach()) else { return };
        if let Some(why) = out_of_reach {
            return self.warn(why);
        }
        let left = self.leave_list();
        self.go_to_found();
        self.set_left(left);
    }

    pub(super) fn go_to_found(&mut self) {
        let Some((group, hit)) = self.search().and_then(Finder::hit) else { return };
        if let Some(why) = group.of.out_of_reach() {
            return self.warn(why);
        }
        let place = hit.at.map(|(_, place)| place);
        match group.of.clone() {
            HitSource::Pane(_) => {
                let entry = self.list().map_or(0, |list| list.scroll.cursor);
                self.go_to(Target { file: None, identifier: None, entry, place })
            }
            HitSource::Report(file, identifier, _) | HitSource::Notes(file, identifier) => {
                self.go_to(Target { file, identifier: Some(identifier), entry: 0, place });
                self.prefer_held_search();
            }
        }
    }

    pub(super) fn step_wanted(&mut self, forward: bool) {
        let height = self.height();
        let Some((pane, open)) = self.focused().zip(self.files.open_mut()) else { return };
        let Some(state) = open.panes.get_mut(&pane) else { return };
        let (report, count, cursor) = (&open.report, state.count(&open.report, pane), state.scroll.cursor);
        let is_wanted = |at: &usize| state.place(report, pane, *at).is_some_and(|place| state.is_wanted(place));
        let found = in_circle(cursor, count, forward).find(is_wanted);
        state.scroll.cursor = found.unwrap_or(cursor);
        state.scroll.settle(count, height);
        match found {
            Some(found) if found == cursor => self.say("This is the only hit."),
            Some(_) => {}
            None => self.say("Nothing in this pane holds what the filter seeks."),
        }
    }
}

impl Model {
    /// What the list that was left is called, where going back leads to one.
    pub fn way_back(&self) -> Option<&'static str> {
        let is_here = self.over.is_empty() && !self.files.is_zoomed() && self.filter().is_none();
        let left = self.files.shown()?.left.as_ref().filter(|left| is_here && self.is_there(left))?;
        Some(match left {
            ReturnPoint::Finder => "back to the hits",
            ReturnPoint::List(_, _, over) => match over.as_slice() {
                [.., Overlay::Compare(_), _] => "back to the comparison",
                [.., Overlay::Indicators(_)] => "back to the indicators",
                _ => "back to the list",
            },
        })
    }

    /// Whether a list that was left can still come back: its file may be closed, its report another.
    fn is_there(&self, left: &ReturnPoint) -> bool {
        match left {
            ReturnPoint::Finder => self.search().is_some(),
            ReturnPoint::List(file, of, _) => {
                let is_open = file.as_ref().is_none_or(|file| self.files.of(file).is_some());
                is_open && (of.is_none() || *of == self.open().map(|open| open.job.number()))
            }
        }
    }

    /// Brings back a list of this file that was left for one of its rows; returns whether there was one.
    pub(in crate::app) fn return_to<T: OverlayKind>(&mut self) -> bool {
        let left = self.files.shown().and_then(|file| file.left.as_ref()).filter(|left| self.is_there(left));
        let Some(ReturnPoint::List(file, _, over)) = left else { return false };
        let is_it = file.as_ref() == self.file() && over.iter().any(|over| T::of(over).is_some());
        if is_it {
            self.return_to_list();
            while self.over.top_as::<T>().is_none() && self.over.close().is_some() {}
        }
        is_it
    }

    pub(in crate::app) fn leave_list(&mut self) -> Option<ReturnPoint> {
        let over = self.over.close()?;
        let below = std::mem::take(&mut self.over.all);
        if let Overlay::Finder(mut finder) = over {
            finder.choose_hit();
            self.keep_search(finder);
            return Some(ReturnPoint::Finder);
        }
        // A row that is shown whole stays with the cursor, which goes to another.
        let below = below.into_iter().filter(|over| !matches!(over, Overlay::Detail(_)));
        let over: Vec<_> = below.chain([over]).collect();
        let findings = over.iter().find_map(FindingList::of);
        let is_of_report = findings.is_some_and(|list| list.source.scope == Scope::Sandbox);
        let of = self.open().map(|open| open.job.number()).filter(|_| is_of_report);
        Some(ReturnPoint::List(self.file().cloned(), of, over))
    }

    pub(in crate::app) fn set_left(&mut self, left: Option<ReturnPoint>) {
        if let Some(file) = self.files.shown_mut() {
            file.left = left;
        }
    }

    /// Goes back to the list that was left, at its row, and to the file that it is of.
    pub(in crate::app) fn return_to_list(&mut self) {
        match self.files.shown_mut().and_then(|file| file.left.take()) {
            Some(ReturnPoint::Finder) => {
                let is_held = self.search().is_some_and(|finder| finder.source.is_held);
                let finder = self.kept_search(is_held).and_then(Option::take);
                // The user comes back to the hits: the next key is none of the words.
                if let Some(mut finder) = finder {
                    (finder.filter.is_typing, finder.filter.typed.is_suggested) = (false, false);
                    self.over.put(finder);
                }
            }
            Some(ReturnPoint::List(file, _, over)) => {
                let other = file.filter(|file| self.file() != Some(file));
                other.into_iter().for_each(|file| self.open_files(&[file]));
                over.into_iter().for_each(|over| self.over.put(over));
            }
            None => {}
        }
    }

    /// The last search with hits here: of the open report, or else of all stored reports.
    pub(super) fn search(&self) -> Option<&Finder> {
        let file = self.files.shown();
        let here = file.and_then(OpenFile::open).map(|open| open.job.number());
        file.and_then(|file| file.finder.as_ref()).filter(|finder| finder.source.of == here).or(self.finder.as_ref())
    }

    pub(super) fn kept_search(&mut self, is_held: bool) -> Option<&mut Option<Finder>> {
        if is_held { Some(&mut self.finder) } else { self.files.shown_mut().map(|file| &mut file.finder) }
    }

    /// Keeps a search that is left or closed: its hits can still be gone through.
    pub(in crate::app) fn keep_search(&mut self, finder: Finder) {
        if finder.hit().is_none() {
            return;
        }
        if finder.source.is_held {
            self.prefer_held_search();
        } else {
            self.sought = finder.filter.unsought();
        }
        if let Some(kept) = self.kept_search(finder.source.is_held) {
            *kept = Some(finder);
        }
    }

    /// Forgets the search of the file that is shown, as another is gone through.
    pub(super) fn prefer_held_search(&mut self) {
        self.files.shown_mut().into_iter().for_each(|file| file.finder = None);
    }

    /// Goes to the next hit or the one before: in a filtered pane, or else of the last search, over reports.
    pub(in crate::app) fn step_hit(&mut self, forward: bool) {
        if self.filter().is_some() {
            self.step_wanted(forward);
            return;
        }
        let is_held = self.search().is_some_and(|finder| finder.source.is_held);
        let finder = self.kept_search(is_held).and_then(Option::as_mut);
        finder.into_iter().for_each(|finder| finder.step(forward));
        self.go_to_found();
        self.set_left(Some(ReturnPoint::Finder));
    }

    pub fn goes_through_hits(&self) -> bool {
        self.over.is_empty() && self.files.shown().is_some_and(|file| matches!(file.left, Some(ReturnPoint::Finder)))
    }

    pub fn has_hits(&self) -> bool {
        self.filter().is_some() || self.hit().is_some()
    }

    /// Which hit of the last search is chosen, counted from 1, and how many there are.
    pub fn hit(&self) -> Option<(u64, u64)> {
        let finder = self.search()?;
        finder.hit()?;
        Some((finder.number(), finder.source.count()))
    }
}
