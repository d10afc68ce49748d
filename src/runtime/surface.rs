//! What a terminal shows, and what it is to show next: a frame is drawn whole, and what differs is written.

use super::print::{Print, Printer};
use ratatui::backend::{Backend, ClearType};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};

/// A terminal with its cells. Unlike the library's own, it asks for its size once a frame, may be gone at the end, and compares
/// by prints of them: comparing cell with cell was half of what a key took.
pub struct Surface<B> {
    backend: B,
    /// What it is to show next.
    next: Buffer,
    /// What it shows, and what it is to show.
    shown: Vec<Print>,
    wanted: Vec<Print>,
    printer: Printer,
    /// Whether it shows what was drawn: its cells are cut when its size changes, even if it has the same again when that is heard.
    is_trusted: bool,
}

impl<B: Backend> Surface<B> {
    /// A terminal that shows nothing yet.
    #[must_use]
    pub fn new(backend: B) -> Self {
        let (next, printer) = (Buffer::default(), Printer::default());
        Self { backend, next, shown: Vec::new(), wanted: Vec::new(), printer, is_trusted: true }
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

    /// Shows what is painted in place of what it shows.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn draw(&mut self, area: Rect, paint: impl FnOnce(&mut Buffer)) -> Result<(), B::Error> {
        if self.next.area == area {
            self.next.reset();
        } else {
            self.is_trusted &= self.next.area.is_empty();
            self.next = Buffer::empty(area);
            self.shown = vec![Print::BLANK; self.next.content.len()];
            self.wanted.clone_from(&self.shown);
        }
        if !std::mem::replace(&mut self.is_trusted, true) {
            self.shown.fill(Print::BLANK);
            self.backend.clear_region(ClearType::All)?;
        }
        paint(&mut self.next);
        for (wanted, cell) in self.wanted.iter_mut().zip(&self.next.content) {
            *wanted = self.printer.print(cell);
        }
        self.backend.draw(changes(&self.shown, &self.wanted, &self.next))?;
        self.backend.hide_cursor()?;
        std::mem::swap(&mut self.shown, &mut self.wanted);
        self.backend.flush()
    }
}

/// The cells that are to be written, where the first is shown and the second is wanted.
fn changes<'a>(
    shown: &'a [Print],
    wanted: &'a [Print],
    next: &'a Buffer,
) -> impl Iterator<Item = (u16, u16, &'a Cell)> {
    let columns = usize::from(next.area.width).max(1);
    let rows = shown.chunks(columns).zip(wanted.chunks(columns)).zip(next.content.chunks(columns));
    let changed = (next.area.y..).zip(rows).filter(|(_, ((shown, wanted), _))| shown != wanted);
    changed.flat_map(|(y, ((shown, wanted), cells))| {
        (next.area.x..)
            .zip(cells)
            .zip(are_changed(shown, wanted))
            .filter(|(_, is)| *is)
            .map(move |((x, cell), _)| (x, y, cell))
    })
}

/// For each cell of a row whether it is to be written. What stands under a wide letter is not; what a wide letter stood over is,
/// whatever is there.
fn are_changed(shown: &[Print], wanted: &[Print]) -> impl Iterator<Item = bool> {
    let (mut covered, mut bared) = (0, 0);
    (0..).zip(shown.iter().zip(wanted)).map(move |(at, (shown, wanted))| {
        let differs = shown != wanted || at < bared;
        if differs {
            bared = bared.max(at + shown.columns());
        }
        let is_seen = at >= covered;
        if is_seen {
            covered = at + wanted.columns();
        }
        is_seen && differs
    })
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
                    surface.draw(AREA, |cells| paint(words, cells)).unwrap();
                }
                drop(surface);
                screen(&written)
            };
            prop_assert_eq!(drawn(&[&before, &after]), drawn(&[&after]));
        }
    }
}
