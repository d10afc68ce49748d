//! What the screen is to show: cells that stay from one frame to the next where nothing has changed.
//!
//! A frame is drawn over the one before. A row of a pane stays where it is as long as all that it is drawn from is the same; every
//! other cell is blank when a frame begins. What has stayed must be asked for: where a frame leaves a row out, or writes over it
//! before it comes to it, the frame is drawn once more, on blank cells. So a frame never depends on the one before it.

use super::canvas::Canvas;
use super::memo::{Memo, RowKey};
use super::screen;
use super::theme::Look;
use crate::app::Model;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use std::ops::Range;

/// The screen as it is to be.
#[derive(Debug, Default)]
pub struct Picture {
    cells: Buffer,
    memo: Memo,
    /// For each row of the screen what stands in it by its key, from left to right.
    rows: Vec<Vec<Stretch>>,
    /// Whether something was written over that was not asked for yet.
    is_spoilt: bool,
}

/// Cells in a row of the screen that a row of a pane stands in.
#[derive(Debug)]
struct Stretch {
    cells: Range<usize>,
    key: RowKey,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is of the frame before, and has not been asked for.
    Waits,
    /// It is of the frame before, and of this one.
    Stays,
    /// It came with this frame.
    New,
}

impl Picture {
    /// Draws the model in a look.
    pub fn draw(&mut self, area: Rect, look: Look, model: &Model) {
        let is_known = self.memo.turn(look) && self.cells.area == area;
        if is_known {
            self.begin()
        } else {
            self.wipe(area)
        }
        screen::draw(&mut Canvas::new(self, look), model);
        if !self.is_whole() {
            self.wipe(area);
            screen::draw(&mut Canvas::new(self, look), model);
        }
    }

    /// The cells.
    #[must_use]
    pub fn cells(&self) -> &Buffer {
        &self.cells
    }

    /// Where the cells lie that are not those of the frame before; in order, each within a row.
    pub fn fresh(&self) -> impl Iterator<Item = Range<usize>> {
        let width = self.width();
        let rows = self.rows.iter().zip((0..).step_by(width));
        rows.flat_map(move |(row, start)| {
            let stays = row.iter().filter(|stretch| stretch.state == State::Stays).map(|stretch| &stretch.cells);
            gaps(start..start + width, stays)
        })
    }

    /// Blank cells, of which nothing is known.
    pub(super) fn wipe(&mut self, area: Rect) {
        if self.cells.area == area {
            self.cells.reset()
        } else {
            self.cells = Buffer::empty(area)
        }
        self.rows.clear();
        self.rows.resize_with(area.height.into(), Vec::new);
        self.is_spoilt = false;
    }

    /// Blanks what does not stand there by a key.
    fn begin(&mut self) {
        let width = self.width();
        for (row, start) in self.rows.iter_mut().zip((0..).step_by(width)) {
            row.iter_mut().for_each(|stretch| stretch.state = State::Waits);
            for gap in gaps(start..start + width, row.iter().map(|stretch| &stretch.cells)) {
                blank(&mut self.cells, gap);
            }
        }
        self.is_spoilt = false;
    }

    /// Whether all that has stayed was asked for.
    fn is_whole(&self) -> bool {
        !self.is_spoilt && self.rows.iter().flatten().all(|stretch| stretch.state != State::Waits)
    }

    fn width(&self) -> usize {
        usize::from(self.cells.area.width).max(1)
    }

    /// Whether a row of a pane stands at its place, as it was drawn in the frame before or in an earlier one; where it does not, its
    /// place is blank. A row without a key is always drawn.
    pub(super) fn recall(&mut self, key: Option<&RowKey>, place: Range<usize>) -> bool {
        if self.stays(key, &place) {
            return true;
        }
        let known = key.and_then(|key| Some((key, self.memo.recall(key)?)));
        let cells = self.cells.content.get_mut(place.clone());
        let Some(((key, known), cells)) = known.zip(cells).filter(|((_, known), cells)| known.len() == cells.len())
        else {
            return false;
        };
        cells.clone_from_slice(known);
        self.stand(key.clone(), place);
        true
    }

    /// Whether this row stands at its place already; another one goes.
    fn stays(&mut self, key: Option<&RowKey>, place: &Range<usize>) -> bool {
        let width = self.width();
        let Some(row) = self.rows.get_mut(place.start / width) else { return false };
        let Some(at) = row.iter().position(|stretch| stretch.cells == *place) else {
            self.touch(place);
            return false;
        };
        if let Some(stretch) = row.get_mut(at).filter(|stretch| Some(&stretch.key) == key) {
            if stretch.state == State::Waits {
                stretch.state = State::Stays;
            }
            self.memo.see(&stretch.key);
            return true;
        }
        row.remove(at);
        blank(&mut self.cells, place.clone());
        false
    }

    /// Keeps a row of a pane that has just been drawn.
    pub(super) fn keep(&mut self, key: RowKey, place: Range<usize>) {
        // What was written over the frame before is no row.
        if let Some(cells) = self.cells.content.get(place.clone()).filter(|_| !self.is_spoilt) {
            self.memo.keep(key.clone(), cells);
            self.stand(key, place);
        }
    }

    fn stand(&mut self, key: RowKey, cells: Range<usize>) {
        self.touch(&cells);
        let width = self.width();
        if let Some(row) = self.rows.get_mut(cells.start / width) {
            let at = row.partition_point(|stretch| stretch.cells.start < cells.start);
            row.insert(at, Stretch { cells, key, state: State::New });
        }
    }

    /// The cells of a row of the screen, to be written to.
    pub(super) fn cells_mut(&mut self, place: Range<usize>) -> Option<&mut [Cell]> {
        self.touch(&place);
        self.cells.content.get_mut(place)
    }

    /// What is written over stands there no longer.
    fn touch(&mut self, place: &Range<usize>) {
        let width = self.width();
        let Some(row) = self.rows.get_mut(place.start / width) else { return };
        row.retain(|stretch| {
            let is_apart = stretch.cells.end <= place.start || place.end <= stretch.cells.start;
            self.is_spoilt |= !is_apart && stretch.state == State::Waits;
            is_apart
        });
    }
}

fn blank(cells: &mut Buffer, place: Range<usize>) {
    cells.content.get_mut(place).into_iter().flatten().for_each(Cell::reset);
}

/// What of a stretch of cells lies beside others, which are in order.
fn gaps<'a>(whole: Range<usize>, others: impl Iterator<Item = &'a Range<usize>>) -> impl Iterator<Item = Range<usize>> {
    let end = whole.end;
    let starts_and_ends = others.map(|other| (other.start, other.end)).chain([(end, end)]);
    let gaps = starts_and_ends.scan(whole.start, |at, (start, end)| {
        let gap = *at..start;
        *at = end;
        Some(gap)
    });
    gaps.filter(|gap| !gap.is_empty())
}
