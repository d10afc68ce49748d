//! The cells that are drawn into, with the look they are drawn in.

use super::line::rect;
use super::theme::{Look, Meaning};
use crate::app::Area;
use crate::text;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::widgets::{Block, Clear, Widget};

/// Borders where only ASCII can be shown.
const ASCII: border::Set<'_> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// The same for what has the focus.
const ASCII_FOCUS: border::Set<'_> =
    border::Set { vertical_left: "#", vertical_right: "#", horizontal_top: "=", horizontal_bottom: "=", ..ASCII };

/// Cells, and how a meaning looks in them.
pub(super) struct Canvas<'a> {
    cells: &'a mut Buffer,
    look: Look,
    /// The whole screen.
    pub(super) area: Rect,
    /// Whether what is drawn has the keys, or something stands over it.
    pub(super) has_keys: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(cells: &'a mut Buffer, look: Look) -> Self {
        let area = cells.area;
        Self { cells, look, area, has_keys: true }
    }

    /// The style of a meaning.
    pub(super) fn style(&self, meaning: Meaning) -> Style {
        self.look.style(meaning)
    }

    /// Gives cells a style, under those of what is written into them.
    pub(super) fn set_style(&mut self, area: Rect, style: Style) {
        self.cells.set_style(area.intersection(self.area), style);
    }

    /// Writes one grapheme of this width; our own signs as the terminal can show them.
    pub(super) fn put(&mut self, x: u16, y: u16, grapheme: &str, width: usize, style: Style) {
        let Some(cell) = self.cells.cell_mut((x, y)) else { return };
        cell.set_symbol(&text::own(grapheme)).set_style(style);
        let further = u16::try_from(width).map_or(0, |width| width.saturating_sub(1));
        for x in (x.saturating_add(1)..).take(further.into()) {
            self.cells.cell_mut((x, y)).map(Cell::reset);
        }
    }

    /// Empties an area.
    pub(super) fn clear(&mut self, area: Area) {
        Clear.render(rect(area).intersection(self.area), self.cells);
    }

    /// Draws a border.
    pub(super) fn border(&mut self, area: Area, has_focus: bool) {
        let meaning = if has_focus { Meaning::Focus } else { Meaning::Frame };
        let set = match (text::is_ascii(), has_focus) {
            (false, false) => border::ROUNDED,
            (false, true) => border::THICK,
            (true, false) => ASCII,
            (true, true) => ASCII_FOCUS,
        };
        let block = Block::bordered().border_set(set).border_style(self.look.style(meaning));
        block.render(rect(area).intersection(self.area), self.cells);
    }
}
