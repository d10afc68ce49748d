//! What a terminal shows, and what it is to show next: what differs is written.

use crate::view::{Glyph, Glyphs, Picture};
use ratatui::backend::Backend;
use ratatui::layout::Size;

/// What a terminal is to show.
pub trait Frame {
    /// Whether a row, counted from the top, may look otherwise than in the frame before it.
    fn is_changed(&self, row: u16) -> bool;

    /// Writes a row, counted from the top.
    fn write(&self, row: u16, to: &mut Glyphs);
}

impl Frame for Picture {
    fn is_changed(&self, row: u16) -> bool {
        Self::is_changed(self, row)
    }

    fn write(&self, row: u16, to: &mut Glyphs) {
        Self::write(self, row, to);
    }
}

/// A terminal that glyphs are written to.
pub trait Paintable {
    /// Why it cannot be written to.
    type Error: std::error::Error;

    /// Its columns and rows right now.
    ///
    /// # Errors
    /// When it does not say.
    fn size(&self) -> Result<Size, Self::Error>;

    /// Wipes all of it.
    ///
    /// # Errors
    /// When it cannot be written to.
    fn wipe(&mut self) -> Result<(), Self::Error>;

    /// Writes what a row, counted from the top, has in these columns, which are in order.
    ///
    /// # Errors
    /// When it cannot be written to.
    fn paint(&mut self, row: u16, columns: &[u16], glyphs: &Glyphs) -> Result<(), Self::Error>;

    /// Shows what was painted, without a cursor.
    ///
    /// # Errors
    /// When it cannot be written to.
    fn show(&mut self) -> Result<(), Self::Error>;
}

/// The library's terminals take cells.
impl<B: Backend> Paintable for B {
    type Error = B::Error;

    fn size(&self) -> Result<Size, B::Error> {
        Backend::size(self)
    }

    fn wipe(&mut self) -> Result<(), B::Error> {
        self.clear()
    }

    fn paint(&mut self, row: u16, columns: &[u16], glyphs: &Glyphs) -> Result<(), B::Error> {
        let cells: Vec<_> = columns.iter().map(|x| (*x, glyphs.cell(*x))).collect();
        self.draw(cells.iter().map(|(x, cell)| (*x, row, cell)))
    }

    fn show(&mut self) -> Result<(), B::Error> {
        self.hide_cursor()?;
        self.flush()
    }
}

/// A terminal with its cells. Unlike the library's own, it is told which rows may have changed, may be gone at the end, and compares
/// glyphs: comparing cell with cell was half of what a key took.
pub struct Surface<B> {
    backend: B,
    /// As large as this was drawn last.
    size: Size,
    /// What it shows, row by row.
    shown: Vec<Glyph>,
    /// The row that is drawn, and its columns that are to be written: kept for their room.
    wanted: Glyphs,
    changed: Vec<u16>,
    /// Whether it shows what was drawn: its cells are cut when its size changes, even if it has the same again when that is heard.
    is_trusted: bool,
}

impl<B: Paintable> Surface<B> {
    /// A terminal that may show anything yet: not each has a screen for programs beside that of the shell.
    #[must_use]
    pub fn new(backend: B) -> Self {
        let (shown, wanted, changed) = (Vec::new(), Glyphs::default(), Vec::new());
        Self { backend, size: Size::ZERO, shown, wanted, changed, is_trusted: false }
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
            self.shown = vec![Glyph::BLANK; usize::from(size.width) * usize::from(size.height)];
        }
        // Until all is written nobody knows what it shows.
        let was_trusted = std::mem::replace(&mut self.is_trusted, false);
        if !was_trusted {
            self.shown.fill(Glyph::BLANK);
            self.backend.wipe()?;
        }
        for row in (0..size.height).filter(|row| !was_trusted || frame.is_changed(*row)) {
            frame.write(row, &mut self.wanted);
            self.compare(row);
            if !self.changed.is_empty() {
                self.backend.paint(row, &self.changed, &self.wanted)?;
            }
        }
        self.backend.show()?;
        self.is_trusted = true;
        Ok(())
    }

    /// Finds what is to be written of the row that is wanted. What stands under a wide letter is not; what a wide letter stood over
    /// is, whatever is there.
    fn compare(&mut self, row: u16) {
        let width = usize::from(self.size.width);
        let start = usize::from(row) * width;
        let shown = self.shown.get_mut(start..start + width).unwrap_or_default();
        let (mut covered, mut bared) = (0, 0);
        self.changed.clear();
        for (x, (shown, wanted)) in shown.iter_mut().zip(self.wanted.row()).enumerate() {
            let differs = *shown != *wanted || x < bared;
            if !differs && !wanted.is_wide() {
                continue;
            }
            if differs {
                bared = bared.max(x + usize::from(shown.columns()));
            }
            if x >= covered {
                covered = x + usize::from(wanted.columns());
                self.changed.extend(u16::try_from(x).ok().filter(|_| differs));
            }
            *shown = *wanted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::painter::Painter;
    use proptest::prelude::*;
    use ratatui::buffer::{Buffer, Cell};
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
        fn is_changed(&self, row: u16) -> bool {
            self.1.is_none_or(|before| row_of(before, row) != row_of(self.0, row))
        }

        fn write(&self, row: u16, to: &mut Glyphs) {
            to.copy(row_of(self.0, row));
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
