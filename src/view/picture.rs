//! What the screen is to show: the strokes of each row. A row whose strokes are those of the frame before looks as it did.

use super::canvas::Canvas;
use super::memo::{Key, Memo};
use super::screen;
use super::strokes::{Block, Mark, Strokes};
use super::theme::{Look, Styles};
use crate::app::{Area, Model};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use std::ops::Range;
use std::rc::Rc;
use std::slice::from_ref;

/// The screen as it is to be.
#[derive(Debug, Default)]
pub struct Picture {
    size: Size,
    look: Option<Look>,
    styles: Styles,
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
            (self.look, self.styles) = (Some(look), Styles::of(look));
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

    /// Adds the columns in which a row, counted from the top, may look otherwise than in the frame before, in order.
    pub fn changes(&self, row: u16, found: &mut Vec<Range<u16>>) {
        match self.rows.get(usize::from(row)) {
            Some(Row { strokes, before: Some(before) }) => strokes.changes(before, found),
            Some(Row { before: None, .. }) => found.push(0..self.size.width),
            None => {}
        }
    }

    /// Adds the columns in which a row, counted from the top, is not blank, in order.
    pub fn covered(&self, row: u16, found: &mut Vec<Range<u16>>) {
        self.rows.get(usize::from(row)).into_iter().for_each(|row| row.strokes.covered(found));
    }

    /// Fills cells of a row, counted from the top, that are blank in these columns, with what it shows there. What comes to stand
    /// in other columns is not meant to be looked at.
    pub fn fill(&self, row: u16, within: &[Range<u16>], cells: &mut [Cell]) {
        if let Some(row) = self.rows.get(usize::from(row)) {
            row.strokes.fill(cells, within, &|tone| self.styles.of_tone(tone));
        }
    }

    /// All of its cells.
    #[must_use]
    pub fn cells(&self) -> Buffer {
        let mut cells = Buffer::empty(Rect::from((Position::ORIGIN, self.size)));
        let (width, whole) = (usize::from(self.size.width).max(1), 0..self.size.width);
        cells.content.chunks_mut(width).zip(0..).for_each(|(cells, row)| self.fill(row, from_ref(&whole), cells));
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
