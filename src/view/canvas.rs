//! The cells that are drawn into, with the look they are drawn in.

use super::line::rect;
use super::memo::{Memo, RowKey};
use super::theme::{Look, Meaning};
use crate::app::Area;
use crate::text;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::widgets::{Clear, Widget};
use std::ops::Range;

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
    /// How each meaning looks: asked for every piece of a frame, and worked out once.
    styles: [Style; Meaning::ALL.len()],
    memo: &'a mut Memo,
    /// The whole screen.
    pub(super) area: Rect,
    /// Whether what is drawn has the keys, or something stands over it.
    pub(super) has_keys: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(cells: &'a mut Buffer, look: Look, memo: &'a mut Memo) -> Self {
        let area = cells.area;
        memo.turn(look);
        Self { cells, styles: Meaning::ALL.map(|meaning| look.style(meaning)), memo, area, has_keys: true }
    }

    /// Puts a row where it was drawn in an earlier frame, at this place or another; says whether it was.
    pub(super) fn recall(&mut self, key: &RowKey, area: Area, row: u16) -> bool {
        let Some(place) = stretch(self.area, area, row) else { return false };
        let (Some(known), Some(cells)) = (self.memo.recall(key), self.cells.content.get_mut(place)) else {
            return false;
        };
        let is_whole = known.len() == cells.len();
        if is_whole {
            cells.clone_from_slice(known);
        }
        is_whole
    }

    /// Keeps a row that has just been drawn.
    pub(super) fn remember(&mut self, key: RowKey, area: Area, row: u16) {
        if let Some(cells) = stretch(self.area, area, row).and_then(|place| self.cells.content.get(place)) {
            self.memo.keep(key, cells);
        }
    }

    /// The style of a meaning.
    pub(super) fn style(&self, meaning: Meaning) -> Style {
        self.styles.get(meaning as usize).copied().unwrap_or_default()
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

    /// Writes letters of one byte and one column each, all of which have room.
    pub(super) fn put_plain(&mut self, x: u16, y: u16, letters: &str, style: Style) {
        let row = Area { x, y, width: u16::try_from(letters.len()).unwrap_or(u16::MAX), height: 1 };
        let cells = stretch(self.area, row, 0).and_then(|place| self.cells.content.get_mut(place));
        for (cell, letter) in cells.into_iter().flatten().zip(letters.chars()) {
            cell.set_char(letter).set_style(style);
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
        let (style, Rect { x, y, width, height }) = (self.style(meaning), rect(area).intersection(self.area));
        let cell = |sign: &str| {
            let mut cell = Cell::default();
            cell.set_symbol(&text::own(sign)).set_style(style);
            cell
        };
        let whole = Area { x, y, width, height };
        for row in 0..height {
            let (left, between, right) = match row {
                0 => (set.top_left, Some(set.horizontal_top), set.top_right),
                _ if row + 1 == height => (set.bottom_left, Some(set.horizontal_bottom), set.bottom_right),
                _ => (set.vertical_left, None, set.vertical_right),
            };
            let place = stretch(self.area, whole, row);
            let Some(cells) = place.and_then(|place| self.cells.content.get_mut(place)) else { return };
            between.into_iter().for_each(|between| cells.fill(cell(between)));
            cells.last_mut().into_iter().for_each(|last| *last = cell(right));
            cells.first_mut().into_iter().for_each(|first| *first = cell(left));
        }
    }
}

/// Where the cells of a row of an area lie among those of the whole screen; none where a part of it lies outside.
fn stretch(whole: Rect, area: Area, row: u16) -> Option<Range<usize>> {
    let row = rect(Area { y: area.y.checked_add(row)?, height: 1, ..area });
    let start =
        usize::from(row.y - whole.y.min(row.y)) * usize::from(whole.width) + usize::from(row.x - whole.x.min(row.x));
    (whole.intersection(row) == row).then_some(start..start + usize::from(row.width))
}
