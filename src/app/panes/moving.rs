//! Moving: a cursor among rows and the window of them that is shown; through rows, panes, groups of panes; folding; and keeping every cursor among its rows.

use crate::app::over::{AnswerTree, Detail};
use crate::app::panes::PaneState;
use crate::app::{Focus, Model, Screen};
use crate::report::index::Form;
use crate::report::{Depths, Pane, Place, Report};

/// How far a list is scrolled. The cursor is always among the rows that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scroll {
    pub cursor: usize,
    pub top: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Up(usize),
    Down(usize),
    First,
    Last,
}

impl Scroll {
    /// Moves among `count` rows of which `height` are shown.
    pub fn go(&mut self, movement: Move, count: usize, height: usize) {
        let last = count.saturating_sub(1);
        self.cursor = match movement {
            Move::Up(rows) => self.cursor.saturating_sub(rows),
            Move::Down(rows) => self.cursor.saturating_add(rows).min(last),
            Move::First => 0,
            Move::Last => last,
        };
        if matches!(movement, Move::Up(1) | Move::Down(1)) {
            self.turn(count, height);
        }
        self.settle(count, height);
    }

    /// Turns half a page at an end of the window: between two turns rows stand still to be read.
    fn turn(&mut self, count: usize, height: usize) {
        let shown = self.top..self.top.saturating_add(height.max(1));
        if !shown.contains(&self.cursor) {
            self.top = self.cursor.saturating_sub(height / 2).min(count.saturating_sub(height));
        }
    }

    /// Stays on what has this number, or goes to the nearest of those that are shown now, given in order.
    pub(in crate::app) fn stay_on(&mut self, number: u32, shown: &[u32]) {
        let after = shown.partition_point(|shown| *shown < number);
        let around = shown.iter().enumerate().skip(after.saturating_sub(1)).take(2);
        let nearest = around.min_by_key(|(_, shown)| shown.abs_diff(number));
        self.cursor = nearest.map_or(0, |(place, _)| place);
    }

    /// Brings cursor and window back among the rows, after rows or height have changed.
    pub fn settle(&mut self, count: usize, height: usize) {
        self.cursor = self.cursor.min(count.saturating_sub(1));
        let height = height.max(1);
        let highest = self.cursor.saturating_sub(height - 1);
        self.top = self.top.clamp(highest, self.cursor).min(count.saturating_sub(height).max(highest));
    }
}

fn way(from: usize, to: usize) -> Move {
    if to < from { Move::Up(from - to) } else { Move::Down(to - from) }
}

/// The top of a window after a movement; it shows no row past the last.
pub(in crate::app) fn scrolled(top: usize, movement: Move, count: usize, height: usize) -> usize {
    // A cursor in a window of one row moves as the window itself does.
    let mut scroll = Scroll { cursor: top, top };
    scroll.go(movement, count.saturating_sub(height) + 1, 1);
    scroll.cursor
}

impl Model {
    pub(in crate::app) fn go(&mut self, movement: Move) {
        let height = self.height();
        let (room, rows) = (self.overlay_room(), self.rows_over());
        if let Some(over) = self.over.top_mut() {
            return over.screen_mut().go(movement, room, rows);
        }
        if self.screen == Screen::Start {
            let count = self.start.recent.len();
            self.start.scroll.go(movement, count, usize::from(self.size.height.saturating_sub(14)).max(1));
            return;
        }
        match self.focus() {
            Focus::List => {
                if let Some(file) = self.files.shown_mut() {
                    file.left = None;
                    let count = file.list.count();
                    file.list.scroll.go(movement, count, height);
                }
                self.show_chosen()
            }
            Focus::Pane(pane) => {
                self.with_pane(pane, |state, count| state.scroll.go(movement, count, height));
            }
        }
    }

    /// Goes to a row of what has the focus, from 0; the window moves no further than it has to.
    pub fn go_to_row(&mut self, row: usize) {
        let movement = match (self.over.top(), self.screen, self.focus()) {
            (Some(_), ..) => way(self.rows_over().map_or(0, |rows| rows.scroll.cursor), row),
            (None, Screen::Start, _) => way(self.start.scroll.cursor, row),
            (None, Screen::File, Focus::List) => way(self.list().map_or(0, |list| list.scroll.cursor), row),
            (None, Screen::File, Focus::Pane(pane)) => way(self.pane_state(pane).scroll.cursor, row),
        };
        self.go(movement)
    }

    /// Moves by a page less one row, so that the eye finds its place again.
    pub(in crate::app) fn go_page(&mut self, direction: fn(usize) -> Move) {
        let room = self.overlay_room();
        let height = match self.over.is_empty() {
            true => self.height(),
            false => self.rows_over().map_or(room.height.into(), |rows| rows.height(room)),
        };
        self.go(direction(height.saturating_sub(1).max(1)))
    }

    pub(in crate::app) fn with_pane(&mut self, pane: Pane, change: impl FnOnce(&mut PaneState, usize)) {
        if let Some(open) = self.files.open_mut() {
            let state = open.panes.entry(pane).or_default();
            let count = state.count(&open.report, pane);
            change(state, count);
        }
    }

    /// Brings every cursor back among its rows, after sizes or places have changed.
    pub(in crate::app) fn settle(&mut self) {
        let height = self.height();
        if self.focus() == Focus::List
            && let Some(list) = self.files.list_mut()
        {
            let count = list.count();
            list.scroll.settle(count, height);
        }
        for (pane, area) in self.layout().panes {
            let height = usize::from(area.inside().height);
            self.with_pane(pane, |state, count| state.scroll.settle(count, height));
        }
        self.settle_over();
    }

    pub(in crate::app) fn settle_over(&mut self) {
        let room = self.overlay_room();
        let windows: Vec<_> = self.over.all.iter().map(|over| over.screen().choice(room, self)).collect();
        self.over.all.iter_mut().zip(windows).for_each(|(over, rows)| over.screen_mut().fit(room, rows));
    }

    pub(super) fn go_to_pane(&mut self, pane: Pane) {
        if self.comparing().is_some() {
            return self.compare_in(pane);
        }
        self.files.focus_pane(pane);
        self.settle();
    }

    pub(in crate::app) fn widen_list(&mut self, by: i16) {
        let layout = self.layout();
        self.sizes.widen_list(&layout, by);
        self.settle();
    }

    pub(in crate::app) fn grow_upper(&mut self, by: i16) {
        self.sizes.grow_upper(by);
        self.settle();
    }

    pub(in crate::app) fn step_pane(&mut self, forward: bool) {
        match self.focus() {
            Focus::List => self.files.enter_group(),
            Focus::Pane(pane) => self.files.focus_pane(self.files.order().neighbour(pane, forward)),
        }
        self.settle();
    }

    pub(in crate::app) fn step_group(&mut self, forward: bool) {
        let (order, shown) = (self.files.order(), self.files.shown_group());
        let step = if forward { 1 } else { order.groups().saturating_sub(1) };
        let group = (shown + step) % order.groups().max(1);
        self.files.shown_mut().into_iter().for_each(|file| file.group = group);
        if let (Focus::Pane(_), Some(first)) = (self.focus(), order.first(group)) {
            self.files.focus_pane(first);
        }
        self.settle();
    }

    pub(in crate::app) fn step_kind(&mut self, forward: bool) {
        let height = self.height();
        let Some((pane, open)) = self.focused().zip(self.open()) else { return };
        let state = self.pane_state(pane);
        let mut borders = state.borders(&open.report, pane);
        borders.insert(0, 0);
        let cursor = state.scroll.cursor;
        let found = if forward {
            borders.into_iter().find(|border| *border > cursor)
        } else {
            borders.into_iter().rfind(|border| *border < cursor)
        };
        if let Some(border) = found {
            self.with_pane(pane, |state, count| {
                state.scroll.go(Move::First, count, height);
                state.scroll.go(Move::Down(border), count, height);
                // The kind's first row stands at the top, with its own rows below it.
                state.scroll.top = border;
                state.scroll.settle(count, height);
            });
        }
    }

    /// Brings a row to the screen and puts the cursor on it; what folds or a filter hide is shown again for it.
    pub(in crate::app) fn show_row(&mut self, place: Place) {
        let Some(pane) = self.open().and_then(|open| Some(open.report.section(place.section)?.pane())) else { return };
        self.files.focus_pane(pane);
        let height = self.height();
        if let Some(open) = self.files.open_mut() {
            let state = open.panes.entry(pane).or_default();
            let position = state.reveal(&open.report, pane, place);
            let count = state.count(&open.report, pane);
            state.scroll.go(Move::First, count, height);
            state.scroll.go(Move::Down(position), count, height);
            state.shift = 0;
        }
        self.settle();
    }

    pub(in crate::app) fn step_value(&mut self, forward: bool) {
        let room = usize::from(self.overlay_room().height);
        self.with_over(|detail: &mut Detail| detail.step(forward, room));
    }

    pub(in crate::app) fn go_left(&mut self, columns: usize) {
        if let Some(answer) = self.over.top_as_mut::<AnswerTree>() {
            answer.left();
            self.settle_over();
            return;
        }
        let height = self.height();
        let is_tree = self.with_process(|state, row, depths| {
            if state.folds.has_children(row, depths) && !state.folds.is_folded(row) {
                state.folds.fold(row, depths);
            } else if let Some(parent) = depths.parent(row) {
                state.scroll.cursor = state.folds.position(parent);
                state.scroll.settle(state.folds.len(depths), height);
            }
        });
        if let (false, Some(pane)) = (is_tree, self.focused()) {
            self.with_pane(pane, |state, _| state.shift = state.shift.saturating_sub(columns));
        }
    }

    pub(in crate::app) fn go_right(&mut self, columns: usize) {
        if let Some(answer) = self.over.top_as_mut::<AnswerTree>() {
            answer.right();
            return;
        }
        let Some(pane) = self.focused() else { return self.step_pane(true) };
        if !self.with_process(|state, row, depths| state.folds.unfold(row, depths)) {
            self.with_pane(pane, |state, _| state.shift = state.shift.saturating_add(columns).min(100_000));
        }
    }

    pub(in crate::app) fn toggle_fold(&mut self) {
        if let Some(answer) = self.over.top_as_mut::<AnswerTree>() {
            answer.toggle();
            return;
        }
        self.with_process(|state, row, depths| {
            if state.folds.is_folded(row) { state.folds.unfold(row, depths) } else { state.folds.fold(row, depths) }
        });
    }

    pub(in crate::app) fn fold_all(&mut self, fold: bool) {
        if let Some(answer) = self.over.top_as_mut::<AnswerTree>() {
            answer.fold_all(fold);
            self.settle_over();
            return;
        }
        let height = self.height();
        self.with_tree(|state, report| {
            let Some((number, tree)) = report.tree() else { return };
            let place = state.place(report, Pane::Processes, state.scroll.cursor);
            let row = place.filter(|place| place.section == number).map_or(0, |place| place.row);
            state.folds.fold_all(fold, tree.depths());
            state.scroll.cursor = state.folds.position(row);
            let count = state.count(report, Pane::Processes);
            state.scroll.settle(count, height);
        });
    }

    pub(super) fn with_tree(&mut self, change: impl FnOnce(&mut PaneState, &Report)) {
        if let Some(open) = self.files.open_mut() {
            change(open.panes.entry(Pane::Processes).or_default(), &open.report);
        }
    }

    /// Changes how the process under the cursor is looked at; says whether there is one.
    fn with_process(&mut self, change: impl FnOnce(&mut PaneState, usize, &Depths)) -> bool {
        let mut is_process = false;
        if self.focused() == Some(Pane::Processes) {
            self.with_tree(|state, report| {
                let place = state.place(report, Pane::Processes, state.scroll.cursor);
                let found = place.and_then(|place| Some((place.row, report.section(place.section)?)));
                if let Some((row, section)) = found.filter(|(_, section)| section.form == Form::Processes) {
                    is_process = true;
                    change(state, row, section.depths());
                }
            });
        }
        is_process
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn movement() -> impl Strategy<Value = Move> {
        prop_oneof![
            (0_usize..50).prop_map(Move::Up),
            (0_usize..50).prop_map(Move::Down),
            Just(Move::First),
            Just(Move::Last)
        ]
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_among_the_rows_that_are_shown(
            steps in prop::collection::vec((movement(), 0_usize..100, 0_usize..40), 1..40),
        ) {
            let mut scroll = Scroll::default();
            for (movement, count, height) in steps {
                scroll.go(movement, count, height);
                let shown = scroll.top..scroll.top + height.max(1);
                prop_assert!(shown.contains(&scroll.cursor), "{scroll:?} {shown:?}");
                prop_assert!(scroll.cursor < count.max(1));
                // No rows are left empty while there are rows above.
                prop_assert!(scroll.top == 0 || scroll.top + height.max(1) <= count);
            }
        }
    }
}
