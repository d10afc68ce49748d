//! Writes the cells that have changed in as few bytes as it takes, and nothing where none has.

use super::surface::Paintable;
use crate::view::{Glyph, Glyphs, Shade};
use crossterm::style::Colored;
use ratatui::layout::Size;
use ratatui::style::{Color, Modifier};
use std::io::{self, Write};

/// Each modifier with its number in a style sequence.
const MODIFIERS: [(Modifier, u16); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// Blanks that are written sooner than wiped.
const WORTH_ERASING: usize = 9;

/// Hides the cursor.
const HIDE_CURSOR: &[u8] = b"\x1b[?25l";

/// Wipes the screen: without the first part what is wiped takes the colour that somebody else may have written with last.
const WIPE: &[u8] = b"\x1b[0m\x1b[2J";

/// The largest screen that is drawn on: a terminal may say that it has any size, and each cell takes memory.
const LARGEST: Size = Size { width: 2_000, height: 1_000 };

/// A terminal that is drawn on by glyphs.
pub struct Painter<W: Write> {
    terminal: W,
    has_colours: bool,
    is_cursor_hidden: bool,
    /// What is to be written, where it leaves the cursor, and with which shade.
    frame: Vec<u8>,
    pen: Option<Pen>,
    shade: Shade,
}

/// Columns and rows of the terminal, as many as are drawn on.
///
/// # Errors
/// When the terminal does not say.
pub(super) fn size() -> io::Result<(u16, u16)> {
    let (width, height) = output_size().map_or_else(crossterm::terminal::size, Ok)?;
    Ok((width.min(LARGEST.width), height.min(LARGEST.height)))
}

/// The size of the terminal that is written to. Every frame asks: a change may come before the signal that says so.
#[cfg(unix)]
fn output_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some((size.ws_col, size.ws_row))
}

#[cfg(not(unix))]
fn output_size() -> Option<(u16, u16)> {
    None
}

impl<W: Write> Painter<W> {
    /// Draws on what `terminal` leads to; without colours where the user wants none.
    #[must_use]
    pub fn new(terminal: W) -> Self {
        let has_colours = !Colored::ansi_color_disabled_memoized();
        let (frame, pen, shade) = (Vec::new(), None, Shade::PLAIN);
        Self { terminal, has_colours, is_cursor_hidden: false, frame, pen, shade }
    }

    fn shade_of(&self, glyph: Glyph) -> Shade {
        if self.has_colours { glyph.shade() } else { glyph.shade().without_colours() }
    }

    fn is_empty(&self, glyph: Glyph) -> bool {
        glyph.is_blank() && self.shade_of(glyph) == Shade::PLAIN
    }

    /// Moves to a cell; says whether it is sure to be there.
    fn go(&mut self, x: u16, y: u16) -> bool {
        match self.pen {
            // Most cells stand behind the one before.
            Some(pen) if (pen.x, pen.y) == (x, y) => return pen.is_sure,
            pen => Pen::go(pen, x, y, &mut self.frame),
        }
        true
    }

    /// Writes with this shade from now on.
    fn take(&mut self, shade: Shade) {
        if self.shade != shade {
            change(self.shade, shade, &mut self.frame);
            self.shade = shade;
        }
    }

    /// Begins a frame on a terminal of which nothing is known.
    fn forget(&mut self) {
        self.frame.clear();
        (self.pen, self.shade) = (None, Shade::PLAIN);
    }
}

/// Where the terminal's cursor stands, and how surely: a terminal may give a letter another width than we do.
#[derive(Debug, Clone, Copy)]
struct Pen {
    x: u16,
    y: u16,
    is_sure: bool,
}

impl Pen {
    /// Moves to another cell.
    fn go(pen: Option<Self>, x: u16, y: u16, to: &mut Vec<u8>) {
        match pen {
            Some(pen) if pen.is_sure && pen.y == y && x == pen.x + 1 => to.extend_from_slice(b"\x1b[C"),
            Some(pen) if pen.is_sure && pen.y == y && x > pen.x => sequence(&[x - pen.x], b'C', to),
            // The first column needs no number.
            _ if x == 0 => sequence(&[y.saturating_add(1)], b'H', to),
            _ => sequence(&[y.saturating_add(1), x.saturating_add(1)], b'H', to),
        }
    }
}

/// Adds a control sequence with its numbers.
fn sequence(numbers: &[u16], end: u8, to: &mut Vec<u8>) {
    to.extend_from_slice(b"\x1b[");
    numbers.iter().for_each(|number| digits(*number, to));
    finish(end, to);
}

/// Adds a number with what stands behind it.
fn digits(number: u16, to: &mut Vec<u8>) {
    decimal(number, to);
    to.push(b';');
}

fn decimal(number: u16, to: &mut Vec<u8>) {
    if number >= 10 {
        decimal(number / 10, to);
    }
    let last = number % 10;
    to.push(b'0' + last as u8);
}

/// Ends a control sequence after its last number.
fn finish(end: u8, to: &mut Vec<u8>) {
    if to.last() == Some(&b';') {
        to.pop();
    }
    to.push(end);
}

/// Brings the terminal from one shade to another, in one sequence.
fn change(from: Shade, shade: Shade, to: &mut Vec<u8>) {
    to.extend_from_slice(b"\x1b[");
    // What goes away takes everything with it.
    let is_more = shade.modifier().contains(from.modifier());
    let from = if is_more { from } else { Shade::PLAIN };
    if !is_more && shade != Shade::PLAIN {
        digits(0, to);
    }
    let more = shade.modifier().difference(from.modifier());
    if !more.is_empty() {
        let more = MODIFIERS.iter().filter(|(modifier, _)| more.contains(*modifier));
        more.for_each(|(_, number)| digits(*number, to));
    }
    if shade.front() != from.front() {
        colour(shade.front(), 30, to);
    }
    if shade.back() != from.back() {
        colour(shade.back(), 40, to);
    }
    finish(b'm', to);
}

/// Adds a colour's numbers; `base` is 30 for letters and 40 for what is behind them.
fn colour(colour: Color, base: u16, to: &mut Vec<u8>) {
    let number = match colour {
        Color::Reset => 9,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 60,
        Color::LightRed => 61,
        Color::LightGreen => 62,
        Color::LightYellow => 63,
        Color::LightBlue => 64,
        Color::LightMagenta => 65,
        Color::LightCyan => 66,
        Color::White => 67,
        Color::Indexed(index) => {
            return [base + 8, 5, index.into()].into_iter().for_each(|number| digits(number, to));
        }
        Color::Rgb(red, green, blue) => {
            let numbers = [base + 8, 2, red.into(), green.into(), blue.into()];
            return numbers.into_iter().for_each(|number| digits(number, to));
        }
    };
    digits(base + number, to);
}

impl<W: Write> Paintable for Painter<W> {
    type Error = io::Error;

    fn size(&self) -> io::Result<Size> {
        size().map(|(width, height)| Size { width, height })
    }

    fn wipe(&mut self) -> io::Result<()> {
        self.forget();
        self.frame.extend_from_slice(WIPE);
        Ok(())
    }

    fn paint(&mut self, row: u16, mut columns: &[u16], glyphs: &Glyphs) -> io::Result<()> {
        let glyph = |x: u16| glyphs.row().get(usize::from(x)).copied().unwrap_or(Glyph::BLANK);
        while let Some(x) = columns.first().copied() {
            let first = glyph(x);
            let was_sure = self.go(x, row);
            self.take(self.shade_of(first));
            let meets = |(column, x): &(&u16, u16)| **column == *x && self.is_empty(glyph(*x));
            let blanks = if self.is_empty(first) { columns.iter().zip(x..).take_while(meets).count() } else { 0 };
            columns = columns.get(blanks.max(1)..).unwrap_or_default();
            if blanks > WORTH_ERASING {
                // Wipes them without moving.
                sequence(&[u16::try_from(blanks).unwrap_or(u16::MAX)], b'X', &mut self.frame);
                self.pen = Some(Pen { x, y: row, is_sure: was_sure });
                continue;
            }
            let is_ascii = glyphs.push_letter(x, first, &mut self.frame);
            (1..blanks).for_each(|_| self.frame.push(b' '));
            let x = x.saturating_add(u16::try_from(blanks.max(1)).unwrap_or(u16::MAX));
            self.pen = Some(Pen { x, y: row, is_sure: was_sure && is_ascii });
        }
        Ok(())
    }

    /// Writes all that belongs to the frame at once: each write wakes whoever reads.
    fn show(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_cursor_hidden, true) {
            self.frame.extend_from_slice(HIDE_CURSOR);
        }
        self.take(Shade::PLAIN);
        let written = self.terminal.write_all(&self.frame);
        self.forget();
        written?;
        self.terminal.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::backend::{Backend, CrosstermBackend};
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    const AREA: Rect = Rect { x: 0, y: 0, width: 30, height: 4 };

    /// Draws what changed between two pictures, on a terminal whose cursor is hidden.
    fn bytes(before: &Buffer, after: &Buffer) -> Vec<u8> {
        let (mut written, mut glyphs) = (Vec::new(), Glyphs::default());
        let mut painter = Painter::new(&mut written);
        (painter.has_colours, painter.is_cursor_hidden) = (true, true);
        let changed = before.diff(after);
        for (row, cells) in (0..).zip(after.content.chunks(AREA.width.into())) {
            let columns: Vec<u16> = changed.iter().filter(|(_, y, _)| *y == row).map(|(x, _, _)| *x).collect();
            glyphs.copy(cells);
            painter.paint(row, &columns, &glyphs).unwrap();
        }
        painter.show().unwrap();
        drop(painter);
        written
    }

    #[test]
    fn nothing_is_written_where_nothing_has_changed() {
        let mut picture = Buffer::empty(AREA);
        picture.set_string(2, 1, "word", Style::new().fg(Color::Red));
        assert!(bytes(&picture, &picture.clone()).is_empty());
    }

    #[test]
    fn a_change_is_written_in_few_bytes() {
        let before = Buffer::empty(AREA);
        let mut after = before.clone();
        after.set_string(2, 1, "a", Style::new().fg(Color::Red).add_modifier(Modifier::DIM));
        after.set_string(5, 1, "b", Style::new().fg(Color::Red).add_modifier(Modifier::DIM | Modifier::BOLD));
        after.set_string(6, 1, "c", Style::new());
        assert_eq!(bytes(&before, &after).escape_ascii().to_string(), r"\x1b[2;3H\x1b[2;31ma\x1b[2C\x1b[1mb\x1b[mc");
    }

    fn picture() -> impl Strategy<Value = Buffer> {
        // Bold and dim at once are told apart by no terminal of the tests.
        let weights = [Modifier::empty(), Modifier::BOLD, Modifier::DIM];
        let marks = [Modifier::empty(), Modifier::REVERSED, Modifier::UNDERLINED];
        let colours = [Color::Reset, Color::Red, Color::White, Color::Indexed(120), Color::Rgb(1, 2, 3)];
        let style = (
            prop::sample::select(colours.to_vec()),
            prop::sample::select(colours.to_vec()),
            prop::sample::select(weights.to_vec()),
            prop::sample::select(marks.to_vec()),
        );
        let words = prop::sample::select(vec!["a", "bc", " ", "é", "世界", "x│y"]);
        prop::collection::vec((0..AREA.width, 0..AREA.height, words, style), 0..20).prop_map(|words| {
            let mut buffer = Buffer::empty(AREA);
            for (x, y, word, (fg, bg, one, two)) in words {
                buffer.set_string(
                    x,
                    y,
                    word,
                    Style::new().fg(fg).bg(bg).remove_modifier(Modifier::all()).add_modifier(one | two),
                );
            }
            buffer
        })
    }

    /// What a terminal shows after some bytes.
    fn shown(bytes: &[u8]) -> Vec<String> {
        let mut parser = vt100::Parser::new(AREA.height.try_into().unwrap(), AREA.width.try_into().unwrap(), 0);
        parser.process(bytes);
        let screen = parser.screen();
        let cell = |y, x| {
            let cell = screen.cell(y, x).unwrap();
            let marks = [cell.bold(), cell.dim(), cell.inverse(), cell.underline()];
            let letter = if cell.contents().is_empty() { " " } else { cell.contents() };
            format!("{letter:?} {:?} {:?} {marks:?}", cell.fgcolor(), cell.bgcolor())
        };
        (0..AREA.height).flat_map(|y| (0..AREA.width).map(move |x| (y, x))).map(|(y, x)| cell(y, x)).collect()
    }

    proptest! {
        #[test]
        fn fewer_bytes_show_the_same(before in picture(), after in picture()) {
            let blank = Buffer::empty(AREA);
            let few = [bytes(&blank, &before), bytes(&before, &after)].concat();
            let mut many = Vec::new();
            let mut plain = CrosstermBackend::new(&mut many);
            plain.draw(blank.diff(&before).into_iter()).unwrap();
            plain.draw(before.diff(&after).into_iter()).unwrap();
            prop_assert!(few.len() <= many.len(), "{} {}", few.escape_ascii(), many.escape_ascii());
            prop_assert_eq!(shown(&few), shown(&many));
        }
    }
}
