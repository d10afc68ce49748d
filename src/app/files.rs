//! The files: recent ones beside the hash line of the start screen; the open ones, of which one is
//! shown and the others keep their whole state; sizes and folds saved between two runs.

use crate::app::find::{HitList, in_circle};
use crate::app::overlays::generic::TextField;
use crate::app::overlays::{Scope, triage};
use crate::app::panes::{Move, OWN, PaneOrder, PaneState, Scroll};
use crate::app::spending::price::Calls;
use crate::app::{Failure, JobNumber, Key, List, ListEntry, LoadedReport, Model, OpenReport, Overlay, Sizes};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Pane, RecentFile, Report, Row, RowPlace};
use crate::request::Request;
use crate::text::{Untrusted, count};
use serde::{Deserialize, Serialize};
use sha2::Digest;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The maximum of open files; opening one more closes the oldest.
pub(super) const MAX_OPEN_FILES: usize = 20;

/// One open file or document: its sandboxes, panes, searches and return point.
#[derive(Debug, Default)]
pub(crate) struct OpenFile {
    pub(crate) list: List,
    /// The focused pane; `None` while the list has the focus.
    pub(crate) focus: Option<Pane>,
    /// The last chosen pane with rows: it selects the visible group while the list has the focus.
    pub(super) last: Option<Pane>,
    /// Whether the screen has room for more panes in the first group.
    is_large: bool,
    pub(crate) is_zoomed: bool,
    /// The last search in one of its reports, left for a hit.
    pub(super) finder: Option<HitList>,
    pub(super) left: Option<ReturnPoint>,
    /// The rules whose rows its list of findings shows.
    pub(super) unfolded: BTreeSet<u16>,
    /// Whether its watched scan has finished.
    pub(super) is_scanned: bool,
}

/// A list that the user left for one of its rows.
#[derive(Debug)]
pub(crate) enum ReturnPoint {
    Finder,
    /// The list's file, the open report if the list covers only that, and the overlays.
    List(Option<Sha256>, Option<JobNumber>, Vec<Overlay>),
}

impl OpenFile {
    pub(crate) fn new(list: List) -> Self {
        Self { list, ..Self::default() }
    }

    pub(crate) fn open(&self) -> Option<&OpenReport> {
        self.list.chosen().and_then(|entry| entry.open.as_ref())
    }

    pub(crate) fn order(&self) -> PaneOrder {
        let whole = self.open().filter(|open| open.report.index.is_complete);
        PaneOrder::of(|pane| whole.is_none_or(|open| open.count(pane) > 0), self.is_large)
    }

    pub(super) fn focus_pane(&mut self, pane: Pane) {
        self.focus = Some(pane);
        self.last = Some(pane).filter(|pane| self.order().group_of(*pane).is_some()).or(self.last);
    }

    /// Moves in the list. Another report never starts at Other, which nearly all of them have.
    pub(super) fn go_in_list(&mut self, movement: Move, height: usize) {
        let before = self.list.scroll.cursor;
        let count = self.list.count();
        self.list.scroll.go(movement, count, height);
        self.last = self.last.filter(|pane| *pane != Pane::Other || self.list.scroll.cursor == before);
    }

    fn drop_deleted(&mut self, stored: &HashSet<&Identifier>) -> bool {
        let is_changed = self.list.drop_deleted(stored);
        if is_changed {
            (self.finder, self.left) = (None, None);
        }
        if self.open().is_none() {
            (self.focus, self.is_zoomed) = (None, false);
        }
        is_changed
    }

    pub(super) fn leave_empty_pane(&mut self, job: JobNumber) {
        let open = self.open().filter(|open| open.job.is(job));
        let is_empty = |pane| open.is_some_and(|open| open.count(pane) == 0);
        if self.focus.is_some_and(is_empty) {
            self.order().first(0).into_iter().for_each(|pane| self.focus_pane(pane));
        }
    }

    pub(super) fn take_failure(&mut self, identifier: &Identifier, failure: &Failure) {
        let Some(entry) = self.list.entry_mut(identifier) else { return };
        entry.failure = Some(failure.clone());
        let is_partial = entry.report().is_none() && entry.open.take().is_some();
        if is_partial && self.open().is_none() {
            (self.focus, self.is_zoomed) = (None, false);
        }
    }
}

/// The open files in the order of opening; one is shown.
#[derive(Debug, Default)]
pub struct OpenFiles {
    all: Vec<OpenFile>,
    is_large: bool,
    /// The index of the shown file.
    pub(super) shown: usize,
}

impl OpenFiles {
    /// Returns the shown file, or the one shown before the start screen.
    pub(crate) fn shown(&self) -> Option<&OpenFile> {
        self.all.get(self.shown)
    }

    pub(super) fn shown_mut(&mut self) -> Option<&mut OpenFile> {
        self.all.get_mut(self.shown)
    }

    pub(super) fn list_mut(&mut self) -> Option<&mut List> {
        self.shown_mut().map(|file| &mut file.list)
    }

    pub(super) fn open_mut(&mut self) -> Option<&mut OpenReport> {
        self.list_mut().and_then(List::chosen_mut).and_then(|entry| entry.open.as_mut())
    }

    pub(super) fn focus_list(&mut self) {
        self.shown_mut().into_iter().for_each(|file| file.focus = None);
    }

    pub(crate) fn focus_pane(&mut self, pane: Pane) {
        self.shown_mut().into_iter().for_each(|file| file.focus_pane(pane));
    }

    pub(super) fn enter_group(&mut self) {
        self.order().first(self.shown_group()).into_iter().for_each(|pane| self.focus_pane(pane));
    }

    pub(super) fn with_pane(&mut self, pane: Pane, change: impl FnOnce(&mut PaneState, &Report)) {
        if let Some(open) = self.open_mut() {
            change(open.panes.entry(pane).or_default(), &open.report);
        }
    }

    pub(super) fn with_focused(&mut self, change: impl FnOnce(&mut PaneState, &Report, Pane)) {
        if let Some(pane) = self.shown().and_then(|file| file.focus) {
            self.with_pane(pane, |state, report| change(state, report, pane));
        }
    }

    pub(super) fn current_row(&self) -> Option<(&Report, RowPlace)> {
        let file = self.shown()?;
        let (pane, OpenReport { report, panes, .. }) = file.focus.zip(file.open())?;
        let state = panes.get(&pane).unwrap_or_else(|| PaneState::untouched());
        let place = state.place(report, pane, state.scroll.cursor);
        place.filter(|place| place.section != OWN).map(|place| (report, place))
    }

    /// Returns the row under the cursor if the program added it.
    pub(crate) fn current_rule_row(&self) -> Option<&Row> {
        let file = self.shown()?;
        let (pane, open) = file.focus.zip(file.open())?;
        let state = open.panes.get(&pane)?;
        state.own_row(state.place(&open.report, pane, state.scroll.cursor)?).map(|(_, row)| row)
    }

    /// Focuses the next or previous pane; from the list, a pane of the report.
    pub(super) fn step_pane(&mut self, forward: bool) {
        match self.shown().and_then(|file| file.focus) {
            None => self.enter_group(),
            Some(pane) => self.focus_pane(self.order().neighbour(pane, forward)),
        }
    }

    pub(super) fn step_group(&mut self, forward: bool) {
        let order = self.order();
        let group = in_circle(self.shown_group(), order.groups(), forward).next().unwrap_or(0);
        let Some(file) = self.shown_mut() else { return };
        file.last = order.first(group);
        file.focus = file.focus.and(file.last);
    }

    pub(crate) fn is_zoomed(&self) -> bool {
        self.shown().is_some_and(|file| file.is_zoomed)
    }

    pub(super) fn zoom(&mut self, is_zoomed: bool) {
        self.shown_mut().into_iter().for_each(|file| file.is_zoomed = is_zoomed);
    }

    pub(crate) fn order(&self) -> PaneOrder {
        self.shown().map_or_else(|| PaneOrder::of(|_| true, false), OpenFile::order)
    }

    /// Returns the visible group of panes: that of the last chosen pane with rows, or the first.
    pub(super) fn shown_group(&self) -> usize {
        let Some(file) = self.shown() else { return 0 };
        let order = file.order();
        [file.focus, file.last].into_iter().flatten().find_map(|pane| order.group_of(pane)).unwrap_or(0)
    }

    /// Returns the shown file's number from 1, and the number of open files; `None` for one file.
    pub fn number(&self) -> Option<(usize, usize)> {
        self.are_several().then_some((self.shown + 1, self.all.len()))
    }

    pub(crate) fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    pub(super) fn open(&mut self, file: OpenFile) {
        self.shown = self.all.len();
        self.all.push(file);
        self.fit(self.is_large);
    }

    /// Sets for all files how many panes the screen has room for.
    pub fn fit(&mut self, is_large: bool) {
        self.is_large = is_large;
        self.all.iter_mut().for_each(|file| file.is_large = is_large);
    }

    /// Returns the index at a distance from the shown file; wraps around.
    pub(super) fn place_at(&self, distance: isize) -> usize {
        let count = self.all.len().max(1);
        let distance = distance.rem_euclid(count.cast_signed());
        self.shown.saturating_add_signed(distance) % count
    }

    pub(super) fn hashes(&self) -> impl Iterator<Item = &Sha256> {
        self.all.iter().filter_map(|open| open.list.file())
    }

    /// Removes a file; if it is the shown one, the next one takes its index.
    pub(super) fn close(&mut self, place: usize) -> Option<OpenFile> {
        let closed = (place < self.all.len()).then(|| self.all.remove(place))?;
        let shown = if place < self.shown { self.shown - 1 } else { self.shown };
        self.shown = shown.min(self.all.len().saturating_sub(1));
        Some(closed)
    }

    pub(super) fn place_of(&self, file: &Sha256) -> Option<usize> {
        self.all.iter().position(|open| open.list.file() == Some(file))
    }

    pub(super) fn of(&self, file: &Sha256) -> Option<&OpenFile> {
        self.all.get(self.place_of(file)?)
    }

    pub(super) fn of_mut(&mut self, file: &Sha256) -> Option<&mut OpenFile> {
        let place = self.place_of(file)?;
        self.all.get_mut(place)
    }

    /// Requests for reports of the shown list that are neither stored nor in flight.
    pub fn missing_reports(&self, calls: &Calls) -> Vec<Request> {
        let missing =
            self.shown().into_iter().flat_map(|file| &file.list.entries).filter(|entry| entry.report().is_none());
        let requests = missing.filter_map(|entry| Some(Request::Behaviour { identifier: entry.identifier.clone()? }));
        requests.filter(|request| !calls.has(request)).collect()
    }

    pub(super) fn listing_mut(&mut self, identifier: &Identifier) -> impl Iterator<Item = &mut OpenFile> {
        self.all.iter_mut().filter(|open| open.list.place_of(identifier).is_some())
    }

    pub(super) fn each_entry_mut(&mut self, identifier: &Identifier) -> impl Iterator<Item = &mut ListEntry> {
        self.all.iter_mut().filter_map(|open| open.list.entry_mut(identifier))
    }

    /// Copies each report to all lists that name it. The user pays for it once.
    pub(super) fn share_reports(&mut self) {
        if !self.are_several() {
            return;
        }
        let mut newest = HashMap::<Identifier, LoadedReport>::new();
        for entry in self.all.iter().filter(|open| open.list.file().is_some()).flat_map(|open| &open.list.entries) {
            let Some((identifier, report)) = entry.identifier.as_ref().zip(entry.report()) else { continue };
            if newest.get(identifier).is_none_or(|known| known.received < report.received) {
                newest.insert(identifier.clone(), report.clone());
            }
        }
        for (identifier, report) in &newest {
            self.each_entry_mut(identifier).for_each(|entry| entry.replace_if_newer(report));
        }
    }

    /// Drops reports that are no longer stored; returns whether there were any.
    pub(super) fn drop_deleted(&mut self, stored: &HashSet<&Identifier>) -> bool {
        self.all.iter_mut().filter_map(|open| open.drop_deleted(stored).then_some(())).count() > 0
    }

    /// Returns the index of a file that lists sandboxes but has nothing stored.
    pub(super) fn emptied(&self, stored: &HashSet<&Sha256>) -> Option<usize> {
        let is_empty = |list: &List| {
            let is_known = !list.entries.is_empty();
            is_known && list.stored() == 0 && list.file().is_some_and(|file| !stored.contains(file))
        };
        self.all.iter().position(|open| is_empty(&open.list))
    }

    pub(super) fn with_opening_mut(&mut self, job: JobNumber) -> Option<&mut OpenFile> {
        self.all.iter_mut().find(|file| file.list.entries.iter().any(|entry| entry.opens(job)))
    }

    pub(super) fn returns_mut(&mut self) -> impl Iterator<Item = &mut ReturnPoint> {
        self.all.iter_mut().filter_map(|open| open.left.as_mut())
    }

    pub(super) fn finders_mut(&mut self) -> impl Iterator<Item = &mut HitList> {
        self.all.iter_mut().filter_map(|open| open.finder.as_mut())
    }

    pub(super) fn entry_of_mut(&mut self, job: JobNumber) -> Option<&mut ListEntry> {
        self.all.iter_mut().flat_map(|file| &mut file.list.entries).find(|entry| entry.opens(job))
    }

    pub(super) fn reports_mut(&mut self) -> impl Iterator<Item = &mut OpenReport> {
        self.all.iter_mut().flat_map(|file| &mut file.list.entries).filter_map(|entry| entry.open.as_mut())
    }

    pub(super) fn opened_mut(&mut self, job: JobNumber) -> Option<&mut OpenReport> {
        self.entry_of_mut(job)?.open.as_mut()
    }
}

/// The screen without a file: the hash line and the recent files.
#[derive(Debug, Default)]
pub struct StartScreen {
    pub typed: TextField,
    pub recent: Vec<RecentFile>,
    pub scroll: Scroll,
}

impl StartScreen {
    /// Returns other files with stored reports.
    pub(super) fn others(&self, shown: Option<&Sha256>) -> impl Iterator<Item = &RecentFile> {
        self.recent.iter().filter(move |recent| recent.reports > 0 && Some(&recent.file) != shown)
    }

    pub fn name_of(&self, file: &Sha256) -> Option<&Untrusted> {
        self.recent.iter().find(|recent| recent.file == *file)?.name.as_ref()
    }
}

const MAX_FOLDED_REPORTS: usize = 100;

const MAX_FOLDED_ROWS: usize = 10_000;

/// View settings that the next run restores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedScreen {
    pub sizes: Sizes,
    pub(crate) scope: Scope,
    /// Folds by report, the latest last.
    folded: Vec<Folded>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Folded {
    /// A digest of the report, so that deletion leaves no name behind.
    report: String,
    rows: Vec<u32>,
}

impl SavedScreen {
    pub(super) fn rows(&self, report: &Identifier) -> &[u32] {
        let name = name(report);
        self.folded.iter().find(|folded| folded.report == name).map_or(&[], |folded| &folded.rows)
    }

    fn note(&mut self, report: &Identifier, mut rows: Vec<u32>) {
        let name = name(report);
        self.folded.retain(|folded| folded.report != name);
        if !rows.is_empty() {
            rows.truncate(MAX_FOLDED_ROWS);
            self.folded.push(Folded { report: name, rows });
        }
        self.folded.drain(..self.folded.len().saturating_sub(MAX_FOLDED_REPORTS));
    }
}

fn name(report: &Identifier) -> String {
    sha2::Sha256::digest(report.text().as_bytes()).get(..12).map(crate::text::hex).unwrap_or_default()
}

impl Model {
    /// Types a key into the hash; other letters run commands only while the line is empty.
    pub(super) fn press_digit(&mut self, key: Key) -> bool {
        let typed = &mut self.start.typed;
        match key {
            Key::Char(c) if c.is_ascii_hexdigit() => {
                if typed.text.len() < Sha256::LENGTH {
                    typed.press(Key::Char(c.to_ascii_lowercase()));
                }
                true
            }
            Key::Char(_) if !typed.is_empty() => {
                let back = self.key_label("back");
                self.warn(format!(
                    "{key} is not a digit of a SHA-256 (0 to 9, a to f), and was left out. {back} empties the line."
                ));
                true
            }
            _ => !typed.is_empty() && typed.press(key),
        }
    }

    /// Types the pasted hash into the line; ranks several.
    pub(super) fn paste_hashes(&mut self, text: &str) {
        let found = text.split(|c: char| !c.is_ascii_hexdigit()).filter_map(Sha256::parse);
        let mut known = HashSet::new();
        let found: Vec<_> = found.filter(|hash| known.insert(hash.clone())).collect();
        match found.as_slice() {
            [] => self.warn(
                "No SHA-256 was pasted (64 hexadecimal digits): the service knows private files by nothing else.",
            ),
            [one] => {
                self.start.typed = one.to_string().into();
                let way = self.key_label("open-chosen");
                self.say(format!("Pasted: 1 file, opened by {way}."));
            }
            _ => triage::triage(self, Some(found)),
        }
    }

    pub(super) fn open_typed(&mut self) {
        let start = &mut self.start;
        let files = match Sha256::parse(&start.typed.text) {
            Some(file) => vec![file],
            None if start.typed.is_empty() => {
                start.recent.get(start.scroll.cursor).map(|recent| recent.file.clone()).into_iter().collect()
            }
            None => {
                let typed = count(start.typed.text.len() as u64, "digit");
                return self.warn(format!("A SHA-256 has 64 hexadecimal digits; {typed} so far."));
            }
        };
        self.open_files(&files)
    }

    pub fn resume(&mut self, remembered: SavedScreen) {
        self.sizes = remembered.sizes;
        self.remembered = remembered;
    }

    /// Returns the state of the screen, to be saved for the next run.
    pub fn remember(&mut self) -> SavedScreen {
        self.record_folds();
        self.remembered.sizes = self.sizes;
        self.remembered.clone()
    }

    /// Records the folds of open reports before they close.
    pub(super) fn record_folds(&mut self) {
        for entry in self.files.shown().into_iter().flat_map(|file| &file.list.entries) {
            let Some((report, open)) = entry.identifier.as_ref().zip(entry.open.as_ref()) else { continue };
            if let (Some(state), Some((_, tree))) = (open.panes.get(&Pane::Processes), open.report.tree()) {
                self.remembered.note(report, state.folds.folded(tree.depths()));
            }
        }
    }
}
