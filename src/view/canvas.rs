//! The cells that are drawn into, with the look they are drawn in.

use super::line::rect;
use super::memo::RowKey;
use super::picture::Picture;
use super::theme::{Look, Meaning};
use crate::app::Area;
use crate::text;
use ratatui::buffer::Cell;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::border;
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
    picture: &'a mut Picture,
    /// How each meaning looks: asked for every piece of a frame, and worked out once.
    styles: [Style; Meaning::ALL.len()],
    /// The whole screen.
    pub(super) area: Rect,
    /// Whether what is drawn has the keys, or something stands over it.
    pub(super) has_keys: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(picture: &'a mut Picture, look: Look) -> Self {
        let area = picture.cells().area;
        Self { picture, styles: Meaning::ALL.map(|meaning| look.style(meaning)), area, has_keys: true }
    }

    /// Whether a row of a pane stands at its place already. Where it does not, its place is blank.
    pub(super) fn recall(&mut self, key: Option<&RowKey>, area: Area, row: u16) -> bool {
        stretch(self.area, area, row).is_some_and(|place| self.picture.recall(key, place))
    }

    /// Keeps a row of a pane that has just been drawn.
    pub(super) fn remember(&mut self, key: RowKey, area: Area, row: u16) {
        if let Some(place) = stretch(self.area, area, row) {
            self.picture.keep(key, place);
        }
    }

    /// Columns of a row of the screen, to be written to; none where a part of them lies outside.
    fn cells(&mut self, x: u16, y: u16, width: u16) -> &mut [Cell] {
        let place = stretch(self.area, Area { x, y, width, height: 1 }, 0);
        place.and_then(|place| self.picture.cells_mut(place)).unwrap_or_default()
    }

    /// The cells of an area as far as it is on the screen, row by row.
    fn each(&mut self, area: Rect, change: impl Fn(&mut Cell)) {
        let Rect { x, y, width, height } = area.intersection(self.area);
        (y..y + height).for_each(|y| self.cells(x, y, width).iter_mut().for_each(&change));
    }

    /// The style of a meaning.
    pub(super) fn style(&self, meaning: Meaning) -> Style {
        self.styles.get(meaning as usize).copied().unwrap_or_default()
    }

    /// Gives cells a style, under those of what is written into them.
    pub(super) fn set_style(&mut self, area: Rect, style: Style) {
        self.each(area, |cell| {
            cell.set_style(style);
        });
    }

    /// Writes one grapheme of this width; our own signs as the terminal can show them.
    pub(super) fn put(&mut self, x: u16, y: u16, grapheme: &str, width: usize, style: Style) {
        let columns = u16::try_from(width).unwrap_or(u16::MAX).clamp(1, self.area.right().saturating_sub(x).max(1));
        let Some((cell, covered)) = self.cells(x, y, columns).split_first_mut() else { return };
        cell.set_symbol(&text::own(grapheme)).set_style(style);
        covered.iter_mut().for_each(Cell::reset);
    }

    /// Writes letters of one byte and one column each, all of which have room.
    pub(super) fn put_plain(&mut self, x: u16, y: u16, letters: &str, style: Style) {
        let cells = self.cells(x, y, u16::try_from(letters.len()).unwrap_or(u16::MAX));
        for (cell, letter) in cells.iter_mut().zip(letters.chars()) {
            cell.set_char(letter).set_style(style);
        }
    }

    /// Empties an area.
    pub(super) fn clear(&mut self, area: Area) {
        self.each(rect(area), Cell::reset);
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
        let (left, right) = (cell(set.vertical_left), cell(set.vertical_right));
        let (top, bottom) = (y, (y + height).saturating_sub(1));
        for y in top + 1..bottom {
            self.cells(x, y, 1).fill(left.clone());
            self.cells(x + width - 1, y, 1).fill(right.clone());
        }
        let ends = [
            (bottom, set.bottom_left, set.horizontal_bottom, set.bottom_right),
            (top, set.top_left, set.horizontal_top, set.top_right),
        ];
        for (y, left, between, right) in ends {
            let cells = self.cells(x, y, if height > 0 { width } else { 0 });
            cells.fill(cell(between));
            cells.last_mut().into_iter().for_each(|last| *last = cell(right));
            cells.first_mut().into_iter().for_each(|first| *first = cell(left));
        }
    }
}

/// Where the cells of a row of an area lie among those of the whole screen; none where a part of it lies outside.
fn stretch(whole: Rect, area: Area, row: u16) -> Option<Range<usize>> {
    let (x, y) = (area.x.checked_sub(whole.x)?, area.y.checked_add(row)?.checked_sub(whole.y)?);
    let end = usize::from(x) + usize::from(area.width);
    let above = usize::from(y) * usize::from(whole.width);
    (y < whole.height && end <= usize::from(whole.width)).then_some(above + usize::from(x)..above + end)
}
