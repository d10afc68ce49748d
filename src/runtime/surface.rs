//! What a terminal shows, and what it is to show next: a frame is drawn whole, and what differs is written.

use ratatui::backend::{Backend, ClearType};
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};

/// A terminal with its cells.
pub struct Surface<B> {
    backend: B,
    /// What it shows.
    shown: Buffer,
    /// What it is to show next.
    next: Buffer,
}

impl<B: Backend> Surface<B> {
    /// A terminal that shows nothing yet.
    #[must_use]
    pub fn new(backend: B) -> Self {
        Self { backend, shown: Buffer::default(), next: Buffer::default() }
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

    /// Wipes it: the next frame is written whole.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn clear(&mut self) -> Result<(), B::Error> {
        self.shown.reset();
        self.backend.clear_region(ClearType::All)
    }

    /// Shows what is painted in place of what it shows. Where it has another size than before, nothing that it shows can be
    /// relied on.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn draw(&mut self, area: Rect, paint: impl FnOnce(&mut Buffer)) -> Result<(), B::Error> {
        if self.shown.area != area {
            let is_first = self.shown.area.is_empty();
            self.shown.resize(area);
            self.next.resize(area);
            if !is_first {
                self.clear()?;
            }
        }
        self.next.reset();
        paint(&mut self.next);
        self.backend.draw(changes(&self.shown, &self.next))?;
        self.backend.hide_cursor()?;
        std::mem::swap(&mut self.shown, &mut self.next);
        self.backend.flush()
    }
}

/// The cells that differ between two pictures of one size, row after row. Most rows are the same, which is soon seen.
fn changes<'a>(shown: &'a Buffer, next: &'a Buffer) -> impl Iterator<Item = (u16, u16, &'a Cell)> {
    let columns = usize::from(next.area.width).max(1);
    let rows = (0_u16..).zip(shown.content.chunks(columns).zip(next.content.chunks(columns)));
    let differs =
        |(before, after): (&[Cell], &[Cell])| !before.iter().zip(after).all(|(one, other)| is_same(one, other));
    let changed = rows.filter(move |(_, (before, after))| differs((before, after)));
    changed.flat_map(|(y, (before, after))| {
        let cells = Row { before, after, at: 0, behind: 0, is_bare: false };
        cells.map(move |(x, cell)| (u16::try_from(x).unwrap_or(u16::MAX), y, cell))
    })
}

#[inline(always)]
fn is_same(one: &Cell, other: &Cell) -> bool {
    has_same_symbol(one, other) && one.modifier == other.modifier && one.fg == other.fg && one.bg == other.bg
}

#[inline(always)]
fn has_same_symbol(one: &Cell, other: &Cell) -> bool {
    match (one.symbol().as_bytes(), other.symbol().as_bytes()) {
        // Nearly every letter is one byte.
        ([one], [other]) => one == other,
        (one, other) => one == other,
    }
}

#[inline(always)]
fn columns_of(cell: &Cell) -> usize {
    if cell.symbol().len() == 1 { 1 } else { cell.cell_width().into() }
}

/// What shows on a blank.
const VISIBLE_ON_BLANK: Modifier = Modifier::REVERSED
    .union(Modifier::UNDERLINED)
    .union(Modifier::SLOW_BLINK)
    .union(Modifier::RAPID_BLINK)
    .union(Modifier::CROSSED_OUT);

/// Goes through a row. Behind a letter of two columns stands a blank that is never written, but where a terminal would keep what
/// stood there before.
struct Row<'a> {
    before: &'a [Cell],
    after: &'a [Cell],
    at: usize,
    /// Up to here stands what was, or is, the second half of a letter.
    behind: usize,
    /// Whether the letter before it is gone, so that its colours show wherever nothing is written.
    is_bare: bool,
}

impl<'a> Iterator for Row<'a> {
    type Item = (usize, &'a Cell);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.at;
            let (before, after) = self.before.get(at).zip(self.after.get(at))?;
            let columns = columns_of(after);
            self.at += columns.max(1);
            if at < self.behind {
                self.behind = self.behind.max(self.at);
                if self.is_bare || !has_same_symbol(before, after) {
                    return Some((at, after));
                }
            } else if !is_same(before, after) {
                self.look_behind(at, before, after, columns);
                return Some((at, after));
            }
        }
    }
}

impl Row<'_> {
    /// Finds out whether what stands behind a letter that is written has to be written as well.
    fn look_behind(&mut self, at: usize, before: &Cell, after: &Cell, columns: usize) {
        let was = columns_of(before);
        let shows_behind = before.bg != Color::Reset || before.modifier.intersects(VISIBLE_ON_BLANK);
        if columns > 1 && after.symbol().contains('\u{fe0f}') {
            // Not every terminal gives an emoji that was a letter its second column.
            (self.at, self.behind, self.is_bare) = (at + 1, at + columns, false);
        } else if columns <= 1 && was > columns && shows_behind {
            (self.behind, self.is_bare) = (at + was, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Style;

    const AREA: Rect = Rect { x: 0, y: 0, width: 12, height: 3 };

    fn picture() -> impl Strategy<Value = Buffer> {
        let words = prop::sample::select(vec!["a", "bc", " ", "é", "世界", "x│y", "❤\u{fe0f}", "👩\u{200d}💻"]);
        let colours = prop::sample::select(vec![Color::Reset, Color::Red]);
        let marks = prop::sample::select(vec![Modifier::empty(), Modifier::BOLD, Modifier::REVERSED]);
        let word = (0..AREA.width, 0..AREA.height, words, colours, marks);
        prop::collection::vec(word, 0..20).prop_map(|words| {
            let mut buffer = Buffer::empty(AREA);
            for (x, y, word, colour, marks) in words {
                buffer.set_string(x, y, word, Style::new().bg(colour).add_modifier(marks));
            }
            buffer
        })
    }

    proptest! {
        #[test]
        fn the_same_cells_differ_as_the_library_finds(before in picture(), after in picture()) {
            let found: Vec<_> = changes(&before, &after).collect();
            prop_assert_eq!(found, before.diff(&after));
        }
    }
}
