//! What a terminal shows, and what it is to show next: what differs is written.

use super::print::{Print, Printer};
use ratatui::backend::{Backend, ClearType};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::ops::Range;

/// A terminal with its cells. Unlike the library's own, it is told what may have changed, may be gone at the end, and compares
/// by prints of cells: comparing cell with cell was half of what a key took.
pub struct Surface<B> {
    backend: B,
    /// As large as this was drawn last.
    area: Rect,
    /// What it shows, and what it is to show: the same between two frames.
    shown: Vec<Print>,
    wanted: Vec<Print>,
    printer: Printer,
    /// The cells that are written for a frame; kept for its room.
    changed: Vec<(u16, u16)>,
    /// Whether it shows what was drawn: its cells are cut when its size changes, even if it has the same again when that is heard.
    is_trusted: bool,
}

impl<B: Backend> Surface<B> {
    /// A terminal that shows nothing yet.
    #[must_use]
    pub fn new(backend: B) -> Self {
        let (shown, wanted, changed, printer) = (Vec::new(), Vec::new(), Vec::new(), Printer::default());
        Self { backend, area: Rect::ZERO, shown, wanted, printer, changed, is_trusted: true }
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

    /// The whole of it, as large as it is right now.
    ///
    /// # Errors
    /// When it does not say.
    pub fn area(&self) -> Result<Rect, B::Error> {
        self.backend.size().map(|size| Rect::from((Position::ORIGIN, size)))
    }

    /// What it shows can no longer be relied on: the next frame wipes it, and is written whole.
    pub fn distrust(&mut self) {
        self.is_trusted = false;
    }

    /// Shows these cells in place of what it shows. All but the `fresh` ones, which are in order, are those that it was given
    /// last.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn draw(&mut self, cells: &Buffer, fresh: impl Iterator<Item = Range<usize>>) -> Result<(), B::Error> {
        if self.area != cells.area {
            self.is_trusted &= self.shown.is_empty();
            self.area = cells.area;
            self.shown = vec![Print::BLANK; cells.content.len()];
            self.wanted.clone_from(&self.shown);
        }
        let width = usize::from(self.area.width).max(1);
        // Until all is written nobody knows what it shows.
        let mut rows: Vec<u16> = match std::mem::replace(&mut self.is_trusted, false) {
            true => Vec::new(),
            false => {
                self.shown.fill(Print::BLANK);
                self.backend.clear_region(ClearType::All)?;
                (0..self.area.height).collect()
            }
        };
        for place in fresh {
            let row = u16::try_from(place.start / width).unwrap_or(u16::MAX);
            if self.print(cells, place) && rows.last().is_none_or(|last| *last < row) {
                rows.push(row);
            }
        }
        self.changed.clear();
        for y in rows {
            let row = usize::from(y) * width..(usize::from(y) + 1) * width;
            if let (Some(shown), Some(wanted)) = (self.shown.get_mut(row.clone()), self.wanted.get(row)) {
                changes(shown, wanted, y, &mut self.changed);
                shown.copy_from_slice(wanted);
            }
        }
        let changed = self.changed.iter().filter_map(|(x, y)| Some((*x, *y, cells.cell((*x, *y))?)));
        self.backend.draw(changed)?;
        self.backend.hide_cursor()?;
        self.backend.flush()?;
        self.is_trusted = true;
        Ok(())
    }

    /// Takes the prints of cells; says whether they differ from what is shown.
    fn print(&mut self, cells: &Buffer, place: Range<usize>) -> bool {
        let (Some(cells), Some(shown)) = (cells.content.get(place.clone()), self.shown.get(place.clone())) else {
            return false;
        };
        let mut is_changed = false;
        for ((wanted, cell), shown) in self.wanted.get_mut(place).into_iter().flatten().zip(cells).zip(shown) {
            *wanted = self.printer.print(cell);
            is_changed |= wanted != shown;
        }
        is_changed
    }
}

/// The cells of a row that are to be written, where the first is shown and the second is wanted. What stands under a wide letter
/// is not; what a wide letter stood over is, whatever is there.
fn changes(shown: &[Print], wanted: &[Print], y: u16, found: &mut Vec<(u16, u16)>) {
    let (mut covered, mut bared) = (0, 0);
    for (x, (shown, wanted)) in (0..).zip(shown.iter().zip(wanted)) {
        let differs = shown != wanted || x < bared;
        if !differs && !wanted.is_wide() {
            continue;
        }
        if differs {
            bared = bared.max(x + shown.columns());
        }
        if x >= covered {
            covered = x + wanted.columns();
            if differs {
                found.push((x, y));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::painter::Painter;
    use proptest::prelude::*;
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
                    let rows = (0..cells.content.len()).step_by(AREA.width.into());
                    surface.draw(&cells, rows.map(|start| start..start + usize::from(AREA.width))).unwrap();
                }
                drop(surface);
                screen(&written)
            };
            prop_assert_eq!(drawn(&[&before, &after]), drawn(&[&after]));
        }
    }
}
