//! What a terminal shows, and what it is to show next: what differs is written.

use super::print::{Print, Printer};
use ratatui::backend::{Backend, ClearType};
use ratatui::buffer::Cell;
use ratatui::layout::Size;

/// A terminal with its cells. Unlike the library's own, it is told which rows may have changed, may be gone at the end, and compares
/// by prints of cells: comparing cell with cell was half of what a key took.
pub struct Surface<B> {
    backend: B,
    /// As large as this was drawn last.
    size: Size,
    /// What it shows, row by row.
    shown: Vec<Print>,
    /// The row that is drawn, and its prints; kept for their room.
    cells: Vec<Cell>,
    wanted: Vec<Print>,
    printer: Printer,
    /// Whether it shows what was drawn: its cells are cut when its size changes, even if it has the same again when that is heard.
    is_trusted: bool,
}

impl<B: Backend> Surface<B> {
    /// A terminal that shows nothing yet.
    #[must_use]
    pub fn new(backend: B) -> Self {
        let (shown, cells, wanted, printer) = (Vec::new(), Vec::new(), Vec::new(), Printer::default());
        Self { backend, size: Size::ZERO, shown, cells, wanted, printer, is_trusted: true }
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

    /// Shows a frame of this size in place of what it shows. Only rows that are `fresh` may look otherwise than in the frame that
    /// it was given last; `fill` gives blank cells the look of a row, counted from the top.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn draw(
        &mut self,
        size: Size,
        is_fresh: impl Fn(u16) -> bool,
        fill: impl Fn(u16, &mut [Cell]),
    ) -> Result<(), B::Error> {
        if self.size != size {
            self.is_trusted &= self.shown.is_empty();
            self.size = size;
            self.shown = vec![Print::BLANK; usize::from(size.width) * usize::from(size.height)];
        }
        // Until all is written nobody knows what it shows.
        let was_trusted = std::mem::replace(&mut self.is_trusted, false);
        if !was_trusted {
            self.shown.fill(Print::BLANK);
            self.backend.clear_region(ClearType::All)?;
        }
        for row in (0..size.height).filter(|row| !was_trusted || is_fresh(*row)) {
            self.cells.clear();
            self.cells.resize(size.width.into(), Cell::EMPTY);
            fill(row, &mut self.cells);
            self.draw_row(row)?;
        }
        self.backend.hide_cursor()?;
        self.backend.flush()?;
        self.is_trusted = true;
        Ok(())
    }

    /// Draws a row whose cells are ready.
    fn draw_row(&mut self, row: u16) -> Result<(), B::Error> {
        self.wanted.clear();
        self.wanted.extend(self.cells.iter().map(|cell| self.printer.print(cell)));
        let start = usize::from(row) * self.wanted.len();
        let Some(shown) = self.shown.get_mut(start..start + self.wanted.len()) else { return Ok(()) };
        let changed = changes(shown, &self.wanted);
        let changed = changed.filter_map(|x| Some((x, row, self.cells.get(usize::from(x))?)));
        self.backend.draw(changed)?;
        shown.copy_from_slice(&self.wanted);
        Ok(())
    }
}

/// The columns of a row that are to be written, where the first is shown and the second is wanted. What stands under a wide
/// letter is not; what a wide letter stood over is, whatever is there.
fn changes(shown: &[Print], wanted: &[Print]) -> impl Iterator<Item = u16> {
    let (mut covered, mut bared) = (0, 0);
    let is_changed = move |(x, (shown, wanted)): (u16, (&Print, &Print))| {
        let differs = shown != wanted || x < bared;
        if !differs && !wanted.is_wide() {
            return None;
        }
        if differs {
            bared = bared.max(x.saturating_add(shown.columns()));
        }
        if x < covered {
            return None;
        }
        covered = x.saturating_add(wanted.columns());
        differs.then_some(x)
    };
    (0..).zip(shown.iter().zip(wanted)).filter_map(is_changed)
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
                for words in pictures {
                    let mut cells = Buffer::empty(AREA);
                    paint(words, &mut cells);
                    let row = |row| cells.content.chunks(AREA.width.into()).nth(usize::from(row)).unwrap();
                    surface.draw(AREA.as_size(), |_| true, |y, cells| cells.clone_from_slice(row(y))).unwrap();
                }
                drop(surface);
                screen(&written)
            };
            prop_assert_eq!(drawn(&[&before, &after]), drawn(&[&after]));
        }
    }
}
