//! What is drawn on.

use super::line::rect;
use super::memo::Key;
use super::picture::Picture;
use super::strokes::{Strokes, Tone};
use super::theme::Meaning;
use crate::app::Area;
use crate::text;
use ratatui::layout::{Position, Rect};
use ratatui::symbols::border;

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

/// A picture that is drawn.
pub(super) struct Canvas<'a> {
    picture: &'a mut Picture,
    /// The whole screen.
    pub(super) area: Rect,
    /// Whether what is drawn has the keys, or something stands over it.
    pub(super) has_keys: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(picture: &'a mut Picture) -> Self {
        let area = Rect::from((Position::ORIGIN, picture.size()));
        Self { picture, area, has_keys: true }
    }

    /// Draws in an area: as was drawn before under this key, or by `draw`, which is remembered.
    pub(super) fn remembered(&mut self, key: Key, area: Area, draw: impl FnOnce(&mut Self)) {
        if self.picture.recall(&key, area) {
            return;
        }
        let marks = self.picture.marks(area);
        draw(self);
        self.picture.keep(key, area, &marks);
    }

    /// The rows of an area as far as they are on the screen, each with its first column and its columns.
    fn each(&mut self, area: Rect, mut change: impl FnMut(&mut Strokes, u16, u16)) {
        let Rect { x, y, width, height } = area.intersection(self.area);
        for y in y..y + height {
            self.picture.row(y).into_iter().for_each(|row| change(row, x, width));
        }
    }

    /// Gives cells a tone, under those of what is written into them later.
    pub(super) fn set_tone(&mut self, area: Rect, tone: Tone) {
        self.each(area, |row, x, columns| row.tone(x, columns, tone));
    }

    /// Writes one grapheme of this width; our own signs as the terminal can show them.
    pub(super) fn put(&mut self, x: u16, y: u16, grapheme: &str, width: usize, tone: Tone) {
        let columns = u16::try_from(width).unwrap_or(u16::MAX).max(1);
        if let Some(row) = self.picture.row(y) {
            row.grapheme(x, columns, &text::own(grapheme), tone);
        }
    }

    /// Writes letters of one column each, of which there are so many; our own signs as the terminal can show them.
    pub(super) fn put_plain(&mut self, x: u16, y: u16, letters: &str, columns: u16, tone: Tone) {
        if let Some(row) = self.picture.row(y) {
            row.plain(x, columns, &text::own(letters), tone);
        }
    }

    /// Empties an area.
    pub(super) fn clear(&mut self, area: Area) {
        self.each(rect(area), Strokes::blank);
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
        let (tone, Rect { x, y, width, height }) = (meaning.into(), rect(area).intersection(self.area));
        let (top, bottom) = (y, (y + height).saturating_sub(1));
        for y in y..y + height {
            let Some(row) = self.picture.row(y) else { return };
            let (left, between, right) = match y {
                _ if y == top => (set.top_left, Some(set.horizontal_top), set.top_right),
                _ if y == bottom => (set.bottom_left, Some(set.horizontal_bottom), set.bottom_right),
                _ => (set.vertical_left, None, set.vertical_right),
            };
            row.repeated(x, width.min(1), &text::own(left), tone);
            if let Some(between) = between {
                row.repeated(x + 1, width.saturating_sub(2), &text::own(between), tone);
            }
            row.repeated(x + width.saturating_sub(1), u16::from(width > 1), &text::own(right), tone);
        }
    }
}
