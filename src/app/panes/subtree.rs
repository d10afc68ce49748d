//! One process with everything below it; its parent; and where else the report names what a row is about.

use crate::app::find::finder::{Finder, Quest};
use crate::app::model::Model;
use crate::app::over::overlay::Overlay;
use crate::report::tree::Depths;
use crate::report::{Pane, Piece, Place, RowSet};

impl Model {
    /// Shows only the process under the cursor and those below it; where that is done already, the whole tree again. What a filter
    /// seeks it goes on seeking, there or in all of the tree.
    pub(in crate::app) fn isolate(&mut self) {
        let height = self.height();
        self.with_tree(|state, report| {
            let is_alone = state.is_subtree();
            let here = state.place(report, Pane::Processes, state.scroll.cursor);
            let subtree = report.tree().zip(here).filter(|((section, _), place)| *section == place.section);
            let rows = match subtree {
                _ if is_alone => None,
                Some(((section, tree), place)) => Some(subtree_of(section, place.row, tree.depths())),
                None => return,
            };
            state.sift(report, Pane::Processes, |sieve| sieve.isolate(rows));
            let count = state.count(report, Pane::Processes);
            state.scroll.settle(count, height);
        });
    }

    /// Whether the cursor is on a process of the tree.
    pub(in crate::app) fn is_on_process(&self) -> bool {
        let tree = self.open().and_then(|open| open.report.tree()).map(|(section, _)| section);
        self.place_here().is_some_and(|here| Some(here.section) == tree)
    }

    /// Goes to the process that started the one under the cursor.
    pub(in crate::app) fn go_to_parent(&mut self) {
        if let Some(parent) = self.parent_process() {
            self.over.clear();
            self.show_row(parent);
        }
    }

    /// The process that started the one under the cursor; none for a root, and elsewhere.
    pub fn parent_process(&self) -> Option<Place> {
        let (open, state) = (self.open().filter(|_| self.views_row())?, self.pane_state(Pane::Processes));
        let here = state.place(&open.report, self.focused()?, state.scroll.cursor)?;
        let (section, tree) = open.report.tree().filter(|(section, _)| *section == here.section)?;
        tree.depths().parent(here.row).map(|row| Place { section, row })
    }

    /// Finds in all panes what the row under the cursor is about: a process or a file by its name, anything else as it stands. Of
    /// several processes of one name, what names another's number is none of this one.
    pub(in crate::app) fn find_named(&mut self) {
        let Some(name) = self.named() else { return };
        let quest = Quest { typed: name, ..Quest::default() };
        let process = self.namesake();
        let mut finder = Finder::of(quest, false);
        finder.process = process;
        self.over.put(Overlay::Finder(finder));
        self.seek_hits()
    }

    fn named(&self) -> Option<String> {
        let (pane, open) = self.focused().zip(self.open())?;
        let state = self.pane_state(pane);
        let shown = state.shown(&open.report, pane, state.scroll.cursor)?;
        let is_value = |piece: &Piece| match piece {
            Piece::Value(text) => Some(String::from_utf8_lossy(text.as_bytes()).into_owned()),
            Piece::Detail(_) | Piece::Own(_) => None,
        };
        let value = shown.row.pieces.iter().find_map(is_value)?;
        let is_path = shown.branch.is_some() || pane == Pane::Files;
        let name = if is_path { value.rsplit(['\\', '/']).next() } else { None };
        Some(name.filter(|name| !name.is_empty()).unwrap_or(&value).to_owned())
    }
}

/// A process and all that it started, directly or not.
fn subtree_of(section: usize, row: usize, depths: &Depths) -> RowSet {
    (row..depths.end_of(row)).filter_map(|row| Some((section, u32::try_from(row).ok()?))).collect()
}
