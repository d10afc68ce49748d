//! What the screen is to show: the strokes of each row. A row whose strokes are those of the frame before looks as it did.

use super::canvas::Canvas;
use super::glyph::Glyphs;
use super::memo::{Key, Memo};
use super::screen;
use super::strokes::{Block, Mark, Strokes};
use super::theme::{Brushes, Look};
use crate::app::{Area, Model};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use std::rc::Rc;

/// The screen as it is to be.
#[derive(Debug, Default)]
pub struct Picture {
    size: Size,
    look: Option<Look>,
    brushes: Brushes,
    rows: Vec<Row>,
    memo: Memo,
}

/// A row of the screen.
#[derive(Debug, Default)]
struct Row {
    strokes: Strokes,
    /// Those of the frame before, if it had the same size and look.
    before: Option<Strokes>,
}

impl Row {
    /// Begins the next frame.
    fn turn(&mut self) {
        let mut room = self.before.take().unwrap_or_default();
        room.clear();
        self.before = Some(std::mem::replace(&mut self.strokes, room));
    }
}

impl Picture {
    /// Draws the model in a look.
    pub fn draw(&mut self, size: Size, look: Look, model: &Model) {
        if (self.size, self.look) == (size, Some(look)) {
            self.rows.iter_mut().for_each(Row::turn);
        } else {
            (self.look, self.brushes) = (Some(look), Brushes::of(look));
            self.wipe(size);
        }
        self.memo.turn();
        screen::draw(&mut Canvas::new(self), model);
    }

    /// Nothing, of this size.
    pub(super) fn wipe(&mut self, size: Size) {
        self.size = size;
        self.rows.clear();
        self.rows.resize_with(size.height.into(), Row::default);
    }

    /// Its columns and rows.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// Whether a row, counted from the top, may look otherwise than in the frame before.
    #[must_use]
    pub fn is_changed(&self, row: u16) -> bool {
        self.rows.get(usize::from(row)).is_some_and(|row| row.before.as_ref() != Some(&row.strokes))
    }

    /// Writes a row, counted from the top; an empty one below the last.
    pub fn write(&self, row: u16, to: &mut Glyphs) {
        to.begin(self.size.width);
        if let Some(row) = self.rows.get(usize::from(row)) {
            row.strokes.write(to, &|tone| self.brushes.of_tone(tone));
        }
    }

    /// All of its cells.
    #[must_use]
    pub fn cells(&self) -> Buffer {
        let (mut cells, mut glyphs) = (Buffer::empty(Rect::from((Position::ORIGIN, self.size))), Glyphs::default());
        for (row, y) in cells.content.chunks_mut(usize::from(self.size.width).max(1)).zip(0..) {
            self.write(y, &mut glyphs);
            row.iter_mut().zip(0..).for_each(|(cell, x)| *cell = glyphs.cell(x));
        }
        cells
    }

    /// The strokes of a row, counted from the top, to be added to; none below the last.
    pub(super) fn row(&mut self, row: u16) -> Option<&mut Strokes> {
        self.rows.get_mut(usize::from(row)).map(|row| &mut row.strokes)
    }

    /// Draws in an area what was drawn under this key before; says whether anything was.
    pub(super) fn recall(&mut self, key: &Key, area: Area) -> bool {
        let known = self.memo.recall(key).map(Rc::clone);
        known.map(|known| self.again(&known, area)).is_some()
    }

    fn again(&mut self, block: &Block, area: Area) {
        let rows = self.rows.iter_mut().skip(area.y.into());
        rows.zip(0..block.len()).for_each(|(row, at)| row.strokes.again(area.x, area.width, block, at));
    }

    /// How far the rows of an area have come.
    pub(super) fn marks(&self, area: Area) -> Vec<Mark> {
        self.rows_of(area).map(|row| row.strokes.mark()).collect()
    }

    /// Keeps what was drawn in an area since its rows had come so far.
    pub(super) fn keep(&mut self, key: Key, area: Area, marks: &[Mark]) {
        let drawn = self.rows_of(area).zip(marks).map(|(row, mark)| row.strokes.since(*mark, area.x));
        let Some(drawn) = drawn.collect() else { return };
        let rows = self.rows.iter_mut().skip(area.y.into());
        rows.zip(marks).for_each(|(row, mark)| row.strokes.take_back(*mark));
        let block = self.memo.keep(key, drawn);
        self.again(&block, area);
    }

    fn rows_of(&self, area: Area) -> impl Iterator<Item = &Row> {
        self.rows.iter().skip(area.y.into()).take(area.height.into())
    }
}
