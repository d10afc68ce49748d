//! The mouse: a press chooses, the wheel scrolls, a border can be dragged. The mouse never spends.

use crate::app::panes::{Move, Tab};
use crate::app::{Model, Screen};

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
        self.dragged = self.layout().edge_at(at.x, at.y);
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
