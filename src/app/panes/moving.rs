//! The cursor and the window of rows; moves through rows, panes and groups, by keys and the mouse.
//! The mouse never spends: a press chooses, the wheel scrolls, a border can be dragged.

use crate::app::find::{HitList, SearchQuery};
use crate::app::overlays::{PickerRow, PickerRows, RowPicker, Target};
use crate::app::panes::{FoldStep, Tab, facts};
use crate::app::{Layout, Model, Overlay, Screen, Sizes};
use crate::report::{Pane, Report, RowPlace};

/// The scroll position of a list and its cursor, which is always in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scroll {
    pub cursor: usize,
    pub top: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Up(usize),
    Down(usize),
    /// Like `Up` and `Down`, and the window moves along with the cursor.
    PageUp(usize),
    PageDown(usize),
    First,
    Last,
}

impl Scroll {
    /// Moves among `count` rows with `height` of them visible.
    pub(crate) fn go(&mut self, movement: Move, count: usize, height: usize) {
        let last = count.saturating_sub(1);
        self.cursor = match movement {
            Move::Up(rows) | Move::PageUp(rows) => self.cursor.saturating_sub(rows),
            Move::Down(rows) | Move::PageDown(rows) => self.cursor.saturating_add(rows).min(last),
            Move::First => 0,
            Move::Last => last,
        };
        match movement {
            Move::Up(1) | Move::Down(1) => self.scroll_half_page(count, height),
            Move::PageUp(rows) => self.top = self.top.saturating_sub(rows),
            Move::PageDown(rows) => self.top = self.top.saturating_add(rows).min(count.saturating_sub(height)),
            _ => {}
        }
        self.clamp(count, height);
    }

    /// Scrolls half a page at an end of the window: rows are still between two scrolls.
    fn scroll_half_page(&mut self, count: usize, height: usize) {
        let shown = self.top..self.top.saturating_add(height.max(1));
        if !shown.contains(&self.cursor) {
            self.top = self.cursor.saturating_sub(height / 2).min(count.saturating_sub(height));
        }
    }

    /// Stays on the row with this number, or moves to the nearest in `shown` (sorted).
    pub(crate) fn stay_on(&mut self, number: u32, shown: &[u32]) {
        let after = shown.partition_point(|shown| *shown < number);
        let around = shown.iter().enumerate().skip(after.saturating_sub(1)).take(2);
        self.cursor = around.min_by_key(|(_, shown)| shown.abs_diff(number)).map_or(0, |(place, _)| place);
    }

    /// Clamps cursor and window after rows or height have changed.
    pub(crate) fn clamp(&mut self, count: usize, height: usize) {
        self.cursor = self.cursor.min(count.saturating_sub(1));
        let height = height.max(1);
        let highest = self.cursor.saturating_sub(height - 1);
        self.top = self.top.clamp(highest, self.cursor).min(count.saturating_sub(height).max(highest));
    }
}

/// Returns the top of a window after a movement; it shows no row past the last.
pub(crate) fn scrolled(top: usize, movement: Move, count: usize, height: usize) -> usize {
    // In a window of one row, the cursor moves with the window.
    let mut scroll = Scroll { cursor: top, top };
    scroll.go(movement, count.saturating_sub(height) + 1, 1);
    scroll.cursor
}

fn way(from: usize, to: usize) -> Move {
    if to < from { Move::Up(from - to) } else { Move::Down(to - from) }
}

const WHEEL_ROWS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MouseInput {
    pub x: u16,
    pub y: u16,
    pub kind: MouseKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseKind {
    Press,
    Drag,
    Release,
    ScrollUp,
    ScrollDown,
}

impl Model {
    pub(crate) fn go(&mut self, movement: Move) {
        let height = self.height();
        let room = self.overlay_room();
        let rows = self.rows_over();
        if let Some(overlay) = self.overlays.top_mut() {
            return overlay.screen_mut().go(movement, room, rows);
        }
        if self.screen == Screen::Start {
            let count = self.start.recent.len();
            let height = usize::from(self.size.height.saturating_sub(14)).max(1);
            return self.start.scroll.go(movement, count, height);
        }
        match self.focused() {
            None => {
                if let Some(file) = self.files.shown_mut() {
                    file.left = None;
                    file.go_in_list(movement, height);
                }
                self.show_chosen()
            }
            Some(pane) => {
                self.files.with_pane(pane, |state, report| state.go(report, pane, movement, height));
            }
        }
    }

    /// Moves to a row of the focused list or pane, from 0; scrolls as little as possible.
    pub fn go_to_row(&mut self, row: usize) {
        let movement = match (self.overlays.top(), self.screen, self.focused()) {
            (Some(_), ..) => way(self.rows_over().map_or(0, |rows| rows.scroll.cursor), row),
            (None, Screen::Start, _) => way(self.start.scroll.cursor, row),
            (None, Screen::File, None) => way(self.list().map_or(0, |list| list.scroll.cursor), row),
            (None, Screen::File, Some(pane)) => way(self.pane_state(pane).scroll.cursor, row),
        };
        self.go(movement)
    }

    /// Moves by a page less one row, which stays visible for orientation.
    pub(crate) fn go_page(&mut self, direction: fn(usize) -> Move) {
        let room = self.overlay_room();
        let height = match self.overlays.is_empty() {
            true => self.height(),
            false => self.rows_over().map_or(room.height.into(), |rows| rows.height(room)),
        };
        self.go(direction(height.saturating_sub(1).max(1)))
    }

    /// Clamps all cursors after sizes or places have changed.
    pub(crate) fn clamp_cursors(&mut self) {
        let height = self.height();
        if self.focused().is_none()
            && let Some(list) = self.files.list_mut()
        {
            list.scroll.clamp(list.count(), height);
        }
        for (pane, area) in self.layout().panes {
            let height = usize::from(area.inside().height);
            self.files.with_pane(pane, |state, report| state.scroll.clamp(state.count(report, pane), height));
        }
        let room = self.overlay_room();
        let windows: Vec<_> = self.overlays.all.iter().map(|overlay| overlay.screen().choice(room, self)).collect();
        self.overlays.all.iter_mut().zip(windows).for_each(|(overlay, rows)| overlay.screen_mut().fit(room, rows));
    }

    pub(crate) fn go_to_pane(&mut self, pane: Pane) {
        match self.overlays.top_mut() {
            Some(Overlay::ComparisonList(list)) => {
                list.change(|found| found.set_pane(Some(pane).filter(|pane| found.pane != Some(*pane))))
            }
            Some(Overlay::HitList(list)) => list.show_pane(pane),
            Some(Overlay::Findings(list)) => list.show_pane(pane),
            Some(Overlay::RowPicker(list)) => list.show_pane(pane),
            _ => self.files.focus_pane(pane),
        }
    }

    pub(crate) fn resize(&mut self, change: impl FnOnce(&mut Sizes, &Layout)) {
        let layout = self.layout();
        change(&mut self.sizes, &layout);
    }

    /// Scrolls to a row and puts the cursor on it; unhides it if folded or filtered out.
    pub(crate) fn show_row(&mut self, place: RowPlace) {
        let Some(pane) = self.open().and_then(|open| Some(open.report.section(place.section)?.pane())) else { return };
        self.files.focus_pane(pane);
        let height = self.height();
        self.files.with_pane(pane, |state, report| state.show(report, pane, place, height));
    }

    /// Folds or unfolds a response's or pane's tree; scrolls others sideways; enters a report.
    pub(crate) fn fold(&mut self, step: FoldStep) {
        let focused = self.focused();
        match (self.overlays.top_mut(), focused) {
            (Some(Overlay::Response(response)), _) => response.fold(step),
            (Some(Overlay::Findings(list)), _) => {
                list.fold(step);
                self.files.shown_mut().into_iter().for_each(|file| file.unfolded.clone_from(&list.source.unfolded));
            }
            (Some(Overlay::Indicators(list)), _) => list.step(step == FoldStep::Right),
            (Some(Overlay::ComparisonList(list)), _) => {
                list.change(|compare| compare.step_column(step == FoldStep::Right))
            }
            (None, None) => self.files.step_pane(true),
            (None, Some(_)) => self.files.with_focused(|state, report, pane| state.fold(report, pane, step)),
            (Some(_), _) => {}
        }
    }

    /// Returns the open report and the row under the cursor, if visible.
    pub(crate) fn row_in_sight(&self) -> Option<(&Report, RowPlace)> {
        self.files.current_row().filter(|_| self.overlays.shows_row())
    }

    /// Goes to the process that the row under the cursor names, or lists several candidates.
    pub(crate) fn go_to_process(&mut self) {
        let Some((report, place)) = self.row_in_sight() else { return };
        match facts::named_by(report, place).as_slice() {
            [] => self.say("The process tree has no process that the row names."),
            [place] => {
                self.overlays.all.clear();
                self.show_row(*place);
            }
            several => {
                let entry = self.list().map_or(0, |list| list.scroll.cursor);
                let identifier = self.chosen().and_then(|entry| entry.identifier.clone());
                let picker_rows = several.iter().map(|place| {
                    let target = Target { file: None, identifier: identifier.clone(), entry, place: Some(*place) };
                    // A shared heading would not distinguish them.
                    let head = facts::distinguishing_fact(report, *place)
                        .unwrap_or_else(|| Pane::Processes.short().to_owned());
                    PickerRow::row(head, report.row(place.section, place.row), target)
                });
                let picker_rows = picker_rows.collect();
                self.overlays.put(RowPicker::new(PickerRows::new("Processes that the row may name", picker_rows)));
            }
        }
    }

    /// Searches all panes for the row's subject; a process's number excludes others of its name.
    pub(crate) fn find_named(&mut self) {
        let Some((report, place)) = self.files.current_row() else { return };
        let Some(typed) = facts::subject(report, place) else { return };
        let process = facts::ambiguous_process(report, place);
        let mut finder = HitList::of(SearchQuery { typed: typed.into(), ..SearchQuery::default() }, false);
        finder.source.process = process;
        self.overlays.put(finder);
        self.search_hits()
    }

    pub(crate) fn point(&mut self, pointer: MouseInput) {
        match pointer.kind {
            MouseKind::Press => {
                // A press removes the message after its target is resolved.
                let before = self.notice.clone();
                self.press_at(pointer);
                self.notice.take_if(|notice| Some(&*notice) == before.as_ref() && !self.is_quitting);
            }
            MouseKind::Drag => {
                if let Some(edge) = self.dragged {
                    self.sizes.drag(edge, &self.layout(), pointer.x, pointer.y);
                }
            }
            MouseKind::Release => self.dragged = None,
            MouseKind::ScrollUp => self.wheel(pointer, Move::Up(WHEEL_ROWS)),
            MouseKind::ScrollDown => self.wheel(pointer, Move::Down(WHEEL_ROWS)),
        }
    }

    fn press_at(&mut self, at: MouseInput) {
        if let Some(overlay) = self.overlays.top() {
            let area = overlay.area(&self.layout());
            let room = self.overlay_room();
            let row = self.rows_over().and_then(|rows| rows.at(area.row_at(at.x, at.y)?, room));
            return match row {
                Some(row) => self.go_to_row(row),
                None if area.contains(at.x, at.y) => {}
                None => self.go_back(),
            };
        }
        if self.screen == Screen::Start {
            return;
        }
        self.dragged = self.layout().edges.iter().find(|(_, cells)| cells.contains(at.x, at.y)).map(|(edge, _)| *edge);
        if self.dragged.is_none() {
            self.choose_at(at);
        }
    }

    fn choose_at(&mut self, at: MouseInput) {
        let layout = self.layout();
        if let Some(tab) = Tab::all(self, layout.tabs).into_iter().find(|tab| tab.area.contains(at.x, at.y)) {
            return self.go_to_pane(tab.pane);
        }
        if let Some(area) = layout.list.filter(|area| area.contains(at.x, at.y)) {
            self.files.focus_list();
            let height = self.list_row_height();
            let top = self.list().map_or(0, |list| list.scroll.top);
            if let Some(row) = area.row_at(at.x, at.y) {
                self.go_to_row(top + row / height);
            }
            return;
        }
        let found = layout.panes.into_iter().find(|(_, area)| area.contains(at.x, at.y));
        let Some((pane, area)) = found.filter(|_| self.open().is_some()) else { return };
        self.files.focus_pane(pane);
        let top = self.pane_state(pane).scroll.top;
        if let Some(row) = area.row_at(at.x, at.y) {
            self.go_to_row(top + row);
        }
    }

    fn wheel(&mut self, at: MouseInput, movement: Move) {
        let layout = self.layout();
        let pane = layout.panes.iter().find(|(_, area)| area.contains(at.x, at.y)).map(|(pane, area)| (*pane, *area));
        match pane.filter(|_| self.overlays.is_empty() && self.screen == Screen::File) {
            Some((pane, area)) => {
                let height = area.inside().height.into();
                self.files.with_pane(pane, |state, report| state.go(report, pane, movement, height));
            }
            None => self.go(movement),
        }
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
