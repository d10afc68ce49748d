//! The frame's buffer with the look that it is drawn in: rooms of the view write tones, the canvas writes cells.

use super::line::rect;
use super::theme::{Look, Meaning, Tone};
use crate::app::Area;
use crate::text;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::widgets::{Block, Clear, Widget};

/// Borders where the terminal shows ASCII only.
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

/// The same for the pane that has the focus.
const ASCII_FOCUS: border::Set<'_> =
    border::Set { vertical_left: "#", vertical_right: "#", horizontal_top: "=", horizontal_bottom: "=", ..ASCII };

/// A buffer that is drawn on.
pub(super) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    look: Look,
    pub(super) area: Rect,
    /// Whether what is drawn receives the keys; false below an overlay.
    pub(super) has_keys: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, look: Look) -> Self {
        let area = buffer.area;
        Self { buffer, look, area, has_keys: true }
    }

    /// Gives cells a tone, under the tones of text that is written into them later.
    pub(super) fn set_tone(&mut self, area: Rect, tone: Tone) {
        self.buffer.set_style(area, self.look.tone(tone));
    }

    /// Writes one grapheme of this width; own signs as the terminal can show them.
    pub(super) fn put(&mut self, x: u16, y: u16, grapheme: &str, width: usize, tone: Tone) {
        let (style, end) = (self.look.tone(tone), x.saturating_add(u16::try_from(width).unwrap_or(u16::MAX)));
        // A grapheme that the buffer has no room for would cover cells of the next row.
        if end <= self.area.right() {
            self.write(x, y, |cell| cell.set_symbol(&text::own(grapheme)), style);
            for covered in x + 1..end {
                self.buffer.cell_mut((covered, y)).into_iter().for_each(Cell::reset);
            }
        }
    }

    /// Writes letters of one column each; own signs as the terminal can show them.
    pub(super) fn put_plain(&mut self, x: u16, y: u16, letters: &str, tone: Tone) {
        let style = self.look.tone(tone);
        for (x, letter) in (x..self.area.right()).zip(text::own(letters).chars()) {
            self.write(x, y, |cell| cell.set_char(letter), style);
        }
    }

    fn write(&mut self, x: u16, y: u16, set: impl FnOnce(&mut Cell) -> &mut Cell, style: Style) {
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            set(cell).set_style(style);
        }
    }

    pub(super) fn clear(&mut self, area: Area) {
        Clear.render(rect(area).intersection(self.area), self.buffer);
    }

    pub(super) fn border(&mut self, area: Area, has_focus: bool) {
        let meaning = if has_focus { Meaning::Focus } else { Meaning::Frame };
        let set = match (text::is_ascii(), has_focus) {
            (false, false) => border::ROUNDED,
            (false, true) => border::THICK,
            (true, false) => ASCII,
            (true, true) => ASCII_FOCUS,
        };
        let style = Style::reset().patch(self.look.style(meaning));
        Block::bordered().border_set(set).border_style(style).render(rect(area), self.buffer);
    }
}
