//! What a terminal shows, and what it is to show next: what differs is written.

use super::print::{Print, Printer, WIDEST};
use crate::report::ranges::join;
use crate::view::Picture;
use ratatui::backend::{Backend, ClearType};
use ratatui::buffer::Cell;
use ratatui::layout::Size;
use std::ops::Range;
use std::slice::from_ref;

/// What a terminal is to show.
pub trait Frame {
    /// Adds the columns in which a row, counted from the top, may look otherwise than in the frame before it, in order.
    fn changes(&self, row: u16, found: &mut Vec<Range<u16>>);

    /// Adds the columns in which a row, counted from the top, may look otherwise than blank, in order.
    fn covered(&self, row: u16, found: &mut Vec<Range<u16>>);

    /// Gives a row its look in columns that are blank.
    fn fill(&self, row: u16, within: &[Range<u16>], cells: &mut [Cell]);
}

impl Frame for Picture {
    fn changes(&self, row: u16, found: &mut Vec<Range<u16>>) {
        Self::changes(self, row, found);
    }

    fn covered(&self, row: u16, found: &mut Vec<Range<u16>>) {
        Self::covered(self, row, found);
    }

    fn fill(&self, row: u16, within: &[Range<u16>], cells: &mut [Cell]) {
        Self::fill(self, row, within, cells);
    }
}

/// A terminal with its cells. Unlike the library's own, it is told what may have changed, may be gone at the end, and compares
/// by prints of cells: comparing cell with cell was half of what a key took.
pub struct Surface<B> {
    backend: B,
    /// As large as this was drawn last.
    size: Size,
    /// What it shows, row by row.
    shown: Vec<Print>,
    /// Cells of the row that is drawn, and its prints; kept for their room.
    cells: Vec<Cell>,
    wanted: Vec<Print>,
    /// The columns of the row that are to be written; kept for its room.
    changed: Vec<u16>,
    printer: Printer,
    /// Whether it shows what was drawn: its cells are cut when its size changes, even if it has the same again when that is heard.
    is_trusted: bool,
}

impl<B: Backend> Surface<B> {
    /// A terminal that may show anything yet: not each has a screen for programs beside that of the shell.
    #[must_use]
    pub fn new(backend: B) -> Self {
        let (shown, cells, wanted) = (Vec::new(), Vec::new(), Vec::new());
        let (changed, printer) = (Vec::new(), Printer::default());
        Self { backend, size: Size::ZERO, shown, cells, wanted, changed, printer, is_trusted: false }
    }

    /// What is written to.
    #[must_use]
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// What is written to, to be changed.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Its columns and rows right now.
    ///
    /// # Errors
    /// When it does not say.
    pub fn size(&self) -> Result<Size, B::Error> {
        self.backend.size()
    }

    /// What it shows can no longer be relied on: the next frame wipes it, and is written whole.
    pub fn distrust(&mut self) {
        self.is_trusted = false;
    }

    /// Shows a frame of this size in place of the one that it was given last.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn draw(&mut self, size: Size, frame: &impl Frame) -> Result<(), B::Error> {
        if self.size != size {
            self.is_trusted = false;
            self.size = size;
            self.shown = vec![Print::BLANK; usize::from(size.width) * usize::from(size.height)];
        }
        // Until all is written nobody knows what it shows.
        let was_trusted = std::mem::replace(&mut self.is_trusted, false);
        if !was_trusted {
            self.shown.fill(Print::BLANK);
            self.backend.clear_region(ClearType::All)?;
        }
        let mut columns = Vec::new();
        for row in 0..size.height {
            columns.clear();
            if was_trusted {
                frame.changes(row, &mut columns);
            } else {
                frame.covered(row, &mut columns);
            }
            if !columns.is_empty() {
                self.draw_row(row, &columns, frame)?;
            }
        }
        self.backend.hide_cursor()?;
        self.backend.flush()?;
        self.is_trusted = true;
        Ok(())
    }

    /// Draws a row in these columns.
    fn draw_row(&mut self, row: u16, columns: &[Range<u16>], frame: &impl Frame) -> Result<(), B::Error> {
        let width = usize::from(self.size.width);
        let start = usize::from(row) * width;
        let Some(shown) = self.shown.get_mut(start..start + width) else { return Ok(()) };
        self.wanted.clear();
        self.wanted.extend_from_slice(shown);
        self.cells.resize(width, Cell::EMPTY);
        let places = || columns.iter().map(|columns| usize::from(columns.start)..usize::from(columns.end).min(width));
        for place in places() {
            self.cells.get_mut(place).into_iter().flatten().for_each(Cell::reset);
        }
        frame.fill(row, columns, &mut self.cells);
        for place in places() {
            let (wanted, cells) = (self.wanted.get_mut(place.clone()), self.cells.get(place));
            let pairs = wanted.into_iter().flatten().zip(cells.into_iter().flatten());
            pairs.for_each(|(wanted, cell)| *wanted = self.printer.print(cell));
        }
        self.changed.clear();
        for columns in around(columns, self.size.width) {
            changes(columns, shown, &self.wanted, &mut self.changed);
        }
        // A wide letter that was there may have stood over more than is drawn.
        let is_drawn = |x: &u16| columns.iter().any(|columns| columns.contains(x));
        if !self.changed.iter().all(is_drawn) {
            return self.draw_row(row, from_ref(&(0..self.size.width)), frame);
        }
        let changed = self.changed.iter().filter_map(|x| Some((*x, row, self.cells.get(usize::from(*x))?)));
        self.backend.draw(changed)?;
        shown.copy_from_slice(&self.wanted);
        Ok(())
    }
}

/// The columns that may have changed, and as many around them as a wide letter can stand over.
fn around(columns: &[Range<u16>], width: u16) -> Vec<Range<u16>> {
    let wider =
        |changed: &Range<u16>| changed.start.saturating_sub(WIDEST)..changed.end.saturating_add(WIDEST).min(width);
    let mut around = columns.iter().map(wider).collect();
    join(&mut around);
    around
}

/// Adds the columns of a row that are to be written among some, where the first is shown and the second is wanted. What stands
/// under a wide letter is not; what a wide letter stood over is, whatever is there.
fn changes(among: Range<u16>, shown: &[Print], wanted: &[Print], found: &mut Vec<u16>) {
    let (mut covered, mut bared) = (0, 0);
    let place = usize::from(among.start)..usize::from(among.end);
    let (shown, wanted) = (shown.get(place.clone()).unwrap_or_default(), wanted.get(place).unwrap_or_default());
    for (x, (shown, wanted)) in among.zip(shown.iter().zip(wanted)) {
        let differs = shown != wanted || x < bared;
        if !differs && !wanted.is_wide() {
            continue;
        }
        if differs {
            bared = bared.max(x.saturating_add(shown.columns()));
        }
        if x >= covered {
            covered = x.saturating_add(wanted.columns());
            found.extend(differs.then_some(x));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::painter::Painter;
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Style};

    const AREA: Rect = Rect { x: 0, y: 0, width: 24, height: 3 };

    /// Words at their places; a wide letter leaves the cells that it covers blank.
    fn picture() -> impl Strategy<Value = Vec<(u16, u16, &'static str, Color)>> {
        let words =
            prop::sample::select(vec!["a", "bc", "   ", "é", "世界", "x│世", "👍", "e\u{301}\u{302}\u{303}\u{304}"]);
        let colour = prop::sample::select(vec![Color::Reset, Color::Red, Color::Indexed(120)]);
        prop::collection::vec((0..AREA.width, 0..AREA.height, words, colour), 0..20)
    }

    fn paint(words: &[(u16, u16, &str, Color)], to: &mut Buffer) {
        words.iter().for_each(|(x, y, word, colour)| to.set_string(*x, *y, word, Style::new().bg(*colour)));
        for row in to.content.chunks_mut(usize::from(AREA.width)) {
            let mut covered = 0;
            for (x, cell) in row.iter_mut().enumerate() {
                if x < covered {
                    cell.reset();
                } else {
                    covered = x + unicode_width::UnicodeWidthStr::width(cell.symbol());
                }
            }
        }
    }

    /// A frame, and the one before it, if what differs is to be drawn alone.
    struct Cells<'a>(&'a Buffer, Option<&'a Buffer>);

    impl Frame for Cells<'_> {
        fn changes(&self, row: u16, found: &mut Vec<Range<u16>>) {
            let Some(before) = self.1 else { return found.push(0..AREA.width) };
            let cells = row_of(before, row).iter().zip(row_of(self.0, row)).zip(0..);
            found.extend(cells.filter(|((last, next), _)| last != next).map(|(_, x)| x..x + 1));
        }

        fn covered(&self, row: u16, found: &mut Vec<Range<u16>>) {
            let cells = row_of(self.0, row).iter().zip(0..);
            found.extend(cells.filter(|(cell, _)| **cell != Cell::default()).map(|(_, x)| x..x + 1));
        }

        fn fill(&self, row: u16, within: &[Range<u16>], cells: &mut [Cell]) {
            for x in within.iter().cloned().flatten().map(usize::from) {
                cells[x] = row_of(self.0, row)[x].clone();
            }
        }
    }

    fn row_of(cells: &Buffer, row: u16) -> &[Cell] {
        cells.content.chunks(AREA.width.into()).nth(row.into()).unwrap()
    }

    /// Draws a frame, whatever was there before.
    fn draw(surface: &mut Surface<Painter<&mut Vec<u8>>>, cells: &Buffer) {
        surface.draw(AREA.as_size(), &Cells(cells, None)).unwrap();
    }

    #[test]
    fn the_first_frame_leaves_nothing_of_what_a_shell_has_written() {
        let (mut written, mut cells) = (b"\x1b[41m$ make\r\nall of it went well".to_vec(), Buffer::empty(AREA));
        cells.set_string(3, 1, "frame", Style::new());
        let mut alone = Vec::new();
        draw(&mut Surface::new(Painter::new(&mut alone)), &cells);
        draw(&mut Surface::new(Painter::new(&mut written)), &cells);
        assert_eq!(screen(&written), screen(&alone));
        assert!(screen(&alone).concat().contains('f'));
    }

    /// What a terminal shows after some bytes.
    fn screen(bytes: &[u8]) -> Vec<String> {
        let mut parser = vt100::Parser::new(AREA.height.try_into().unwrap(), AREA.width.try_into().unwrap(), 0);
        parser.process(bytes);
        let cell = |(y, x)| {
            let cell = parser.screen().cell(y, x).unwrap();
            let letter = if cell.has_contents() { cell.contents() } else { " " };
            format!("{letter:?} {:?}", (!cell.is_wide_continuation()).then(|| cell.bgcolor()))
        };
        (0..AREA.height).flat_map(|y| (0..AREA.width).map(move |x| (y, x))).map(cell).collect()
    }

    proptest! {
        #[test]
        fn what_was_there_before_leaves_nothing_behind(before in picture(), after in picture()) {
            let drawn = |pictures: &[&Vec<_>]| {
                let mut written = Vec::new();
                let mut surface = Surface::new(Painter::new(&mut written));
                let mut last = Buffer::empty(AREA);
                for words in pictures {
                    let mut cells = Buffer::empty(AREA);
                    paint(words, &mut cells);
                    surface.draw(AREA.as_size(), &Cells(&cells, Some(&last))).unwrap();
                    last = cells;
                }
                drop(surface);
                screen(&written)
            };
            prop_assert_eq!(drawn(&[&before, &after]), drawn(&[&after]));
        }
    }
}
