//! Writes the cells that have changed in as few bytes as it takes, and nothing where none has.

use crossterm::style::Colored;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
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
const WORTH_ERASING: u16 = 9;

/// Hides the cursor.
const HIDE_CURSOR: &str = "\x1b[?25l";

/// Wipes the screen: without the first part what is wiped takes the colour that somebody else may have written with last.
const WIPE: &str = "\x1b[0m\x1b[2J";

/// The largest screen that is drawn on: a terminal may say that it has any size, and each cell takes memory.
const LARGEST: Size = Size { width: 2_000, height: 1_000 };

/// The terminal's own style.
const PLAIN: Look = Look { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

/// A terminal that is drawn on by cells.
pub struct Painter<W: Write> {
    terminal: CrosstermBackend<W>,
    has_colours: bool,
    is_cursor_hidden: bool,
    /// What is to be written, where it leaves the cursor, and with which look.
    frame: String,
    pen: Option<Pen>,
    look: Look,
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

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl<W: Write> Painter<W> {
    /// Draws on what `writer` leads to; without colours where the user wants none.
    #[must_use]
    pub fn new(writer: W) -> Self {
        let has_colours = !Colored::ansi_color_disabled_memoized();
        let terminal = CrosstermBackend::new(writer);
        Self { terminal, has_colours, is_cursor_hidden: false, frame: String::new(), pen: None, look: PLAIN }
    }

    fn look_of(&self, cell: &Cell) -> Look {
        let colour = |colour| if self.has_colours { colour } else { Color::Reset };
        Look { fg: colour(cell.fg), bg: colour(cell.bg), modifier: cell.modifier }
    }

    /// Begins a frame on a terminal of which nothing is known.
    fn forget(&mut self) {
        self.frame.clear();
        (self.pen, self.look) = (None, PLAIN);
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
    /// Moves to a cell.
    fn go(pen: Option<Self>, x: u16, y: u16, to: &mut String) {
        match pen {
            Some(pen) if (pen.x, pen.y) == (x, y) => {}
            Some(pen) if pen.is_sure && pen.y == y && x == pen.x + 1 => to.push_str("\x1b[C"),
            Some(pen) if pen.is_sure && pen.y == y && x > pen.x => sequence(&[x - pen.x], 'C', to),
            // The first column needs no number.
            _ if x == 0 => sequence(&[y.saturating_add(1)], 'H', to),
            _ => sequence(&[y.saturating_add(1), x.saturating_add(1)], 'H', to),
        }
    }
}

/// Adds a control sequence with its numbers.
fn sequence(numbers: &[u16], end: char, to: &mut String) {
    to.push_str("\x1b[");
    numbers.iter().for_each(|number| digits(*number, to));
    finish(end, to);
}

/// Adds a number with what stands behind it.
fn digits(number: u16, to: &mut String) {
    decimal(number, to);
    to.push(';');
}

fn decimal(number: u16, to: &mut String) {
    if number >= 10 {
        decimal(number / 10, to);
    }
    to.extend(char::from_digit(u32::from(number % 10), 10));
}

/// Ends a control sequence after its last number.
fn finish(end: char, to: &mut String) {
    if to.ends_with(';') {
        to.pop();
    }
    to.push(end);
}

/// Brings the terminal from one look to another, in one sequence.
fn change(from: Look, look: Look, to: &mut String) {
    if from == look {
        return;
    }
    to.push_str("\x1b[");
    // What goes away takes everything with it.
    let is_more = look.modifier.contains(from.modifier);
    let from = if is_more { from } else { PLAIN };
    if !is_more && look != PLAIN {
        digits(0, to);
    }
    for (modifier, number) in MODIFIERS {
        if look.modifier.contains(modifier) && !from.modifier.contains(modifier) {
            digits(number, to);
        }
    }
    if look.fg != from.fg {
        colour(look.fg, 30, to);
    }
    if look.bg != from.bg {
        colour(look.bg, 40, to);
    }
    finish('m', to);
}

/// Adds a colour's numbers; `base` is 30 for letters and 40 for what is behind them.
fn colour(colour: Color, base: u16, to: &mut String) {
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

impl<W: Write> Backend for Painter<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let (mut frame, mut pen, mut look) = (std::mem::take(&mut self.frame), self.pen, self.look);
        let mut content = content.peekable();
        while let Some((x, y, cell)) = content.next() {
            Pen::go(pen, x, y, &mut frame);
            let next = self.look_of(cell);
            change(look, next, &mut frame);
            look = next;
            let was_sure = pen.is_none_or(|pen: Pen| pen.is_sure || (pen.x, pen.y) != (x, y));
            let is_blank = |cell: &Cell| cell.symbol() == " " && self.look_of(cell) == PLAIN;
            let mut blanks = u16::from(is_blank(cell));
            while blanks > 0
                && content.next_if(|(at, row, cell)| *row == y && *at == x + blanks && is_blank(cell)).is_some()
            {
                blanks += 1;
            }
            if blanks > WORTH_ERASING {
                // Wipes them without moving.
                sequence(&[blanks], 'X', &mut frame);
                pen = Some(Pen { x, y, is_sure: was_sure });
                continue;
            }
            frame.push_str(if blanks > 0 { " " } else { cell.symbol() });
            (1..blanks).for_each(|_| frame.push(' '));
            let x = x.saturating_add(blanks.max(1));
            pen = Some(Pen { x, y, is_sure: was_sure && cell.symbol().is_ascii() });
        }
        (self.frame, self.pen, self.look) = (frame, pen, look);
        Ok(())
    }

    /// Goes with the frame, as all that belongs to it: each write wakes whoever reads.
    fn hide_cursor(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_cursor_hidden, true) {
            self.frame.push_str(HIDE_CURSOR);
        }
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.is_cursor_hidden = false;
        self.terminal.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.terminal.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.terminal.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.forget();
        self.terminal.clear()
    }

    fn clear_region(&mut self, kind: ClearType) -> io::Result<()> {
        self.forget();
        if kind == ClearType::All {
            self.frame.push_str(WIPE);
            return Ok(());
        }
        self.terminal.clear_region(kind)
    }

    fn append_lines(&mut self, lines: u16) -> io::Result<()> {
        self.terminal.append_lines(lines)
    }

    fn size(&self) -> io::Result<Size> {
        size().map(|(width, height)| Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.terminal.window_size()
    }

    /// Writes what was drawn since the last time.
    fn flush(&mut self) -> io::Result<()> {
        change(self.look, PLAIN, &mut self.frame);
        let written = self.terminal.write_all(self.frame.as_bytes());
        self.forget();
        written?;
        Backend::flush(&mut self.terminal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    const AREA: Rect = Rect { x: 0, y: 0, width: 30, height: 4 };

    /// Draws what changed between two pictures.
    fn bytes(before: &Buffer, after: &Buffer) -> Vec<u8> {
        let mut written = Vec::new();
        let mut painter = Painter::new(&mut written);
        painter.has_colours = true;
        painter.draw(before.diff(after).into_iter()).unwrap();
        Backend::flush(&mut painter).unwrap();
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
