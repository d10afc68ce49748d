//! What a cell looks like in two numbers: a frame is compared with the one before it by these, in a fraction of the time.

use foldhash::quality::RandomState;
use ratatui::buffer::{Cell, CellWidth};
use ratatui::style::{Color, Modifier};
use std::hash::BuildHasher;

/// The look of a cell. Two cells with the same print look the same, but for letters of more than seven bytes (a letter with a
/// heap of marks on it): those are told apart by a hash that nobody outside can foresee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Print {
    /// The bytes of its letter.
    letter: u64,
    /// Colours of the letter and of what is behind it (25 bits each), modifiers (9 bits), columns (3 bits).
    look: u64,
}

/// The first byte of a letter that is hashed: no text has it.
const HASHED: u64 = 0xff << 56;

const COLOUR_BITS: u32 = 25;
const MODIFIER_BITS: u32 = 9;
const STYLE_BITS: u32 = 2 * COLOUR_BITS + MODIFIER_BITS;

/// Columns of the widest letter.
pub(super) const WIDEST: u16 = 7;

impl Print {
    /// What a terminal shows where nothing has been written.
    pub(super) const BLANK: Self = Self { letter: b' ' as u64, look: 1 << STYLE_BITS };

    /// Columns that it takes.
    pub(super) fn columns(self) -> u16 {
        u16::try_from(self.look >> STYLE_BITS).unwrap_or(1)
    }

    /// Whether it takes more columns than one.
    pub(super) fn is_wide(self) -> bool {
        self.look >= 2 << STYLE_BITS
    }
}

/// Takes the prints of cells.
#[derive(Debug, Default)]
pub(super) struct Printer {
    /// The last style, and what it is in a print: most cells look like the one before.
    style: ((Color, Color, Modifier), u64),
    /// How long letters are hashed.
    long: RandomState,
    /// The last letter that is no ASCII, and its columns: most of them are borders, one like the other.
    last: (u64, u64),
}

impl Printer {
    /// The print of a cell.
    pub(super) fn print(&mut self, cell: &Cell) -> Print {
        let symbol = cell.symbol();
        let (letter, columns) = match symbol.as_bytes() {
            [ascii] => (u64::from(*ascii), 1),
            bytes if bytes.len() < 8 => self.with_columns(number(bytes), symbol),
            _ => self.with_columns(HASHED | self.long.hash_one(symbol) >> 8, symbol),
        };
        Print { letter, look: columns << STYLE_BITS | self.style(cell) }
    }

    fn style(&mut self, cell: &Cell) -> u64 {
        let style = (cell.fg, cell.bg, cell.modifier);
        if self.style.0 != style {
            let (fg, bg, modifier) = (colour(cell.fg), colour(cell.bg), u64::from(cell.modifier.bits()));
            self.style = (style, fg | (bg | modifier << COLOUR_BITS) << COLOUR_BITS);
        }
        self.style.1
    }

    fn with_columns(&mut self, letter: u64, symbol: &str) -> (u64, u64) {
        if self.last.0 != letter {
            self.last = (letter, symbol.cell_width().clamp(1, WIDEST).into());
        }
        self.last
    }
}

/// Up to seven bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn colour(colour: Color) -> u64 {
    match colour {
        Color::Reset => 0,
        Color::Black => 1,
        Color::Red => 2,
        Color::Green => 3,
        Color::Yellow => 4,
        Color::Blue => 5,
        Color::Magenta => 6,
        Color::Cyan => 7,
        Color::Gray => 8,
        Color::DarkGray => 9,
        Color::LightRed => 10,
        Color::LightGreen => 11,
        Color::LightYellow => 12,
        Color::LightBlue => 13,
        Color::LightMagenta => 14,
        Color::LightCyan => 15,
        Color::White => 16,
        Color::Indexed(index) => 0x100 | u64::from(index),
        Color::Rgb(red, green, blue) => 1 << 24 | number(&[red, green, blue]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Style;

    fn cell() -> impl Strategy<Value = Cell> {
        let colour = || {
            prop_oneof![
                prop::sample::select(vec![Color::Reset, Color::Black, Color::Red, Color::LightCyan, Color::White]),
                any::<u8>().prop_map(Color::Indexed),
                any::<(u8, u8, u8)>().prop_map(|(red, green, blue)| Color::Rgb(red, green, blue)),
                (0..3_u8).prop_map(|blue| Color::Rgb(0, 0, blue)),
            ]
        };
        let letters = ["a", " ", "é", "─", "世", "ｱﾞ", "e\u{301}\u{302}", "e\u{301}\u{302}\u{303}\u{304}", "👩‍👩‍👧"];
        let modifier = any::<u16>().prop_map(Modifier::from_bits_truncate);
        (prop::sample::select(letters.to_vec()), colour(), colour(), modifier).prop_map(|(letter, fg, bg, modifier)| {
            let mut cell = Cell::default();
            cell.set_symbol(letter).set_style(Style::new().fg(fg).bg(bg).add_modifier(modifier));
            cell
        })
    }

    proptest! {
        #[test]
        fn two_cells_have_the_same_print_where_they_look_the_same(one in cell(), other in cell()) {
            let mut printer = Printer::default();
            let print = printer.print(&one);
            prop_assert_eq!(print == printer.print(&other), one == other);
            prop_assert_eq!(print, printer.print(&one));
            prop_assert_eq!(print.columns(), one.cell_width().max(1));
            prop_assert_eq!(print.is_wide(), print.columns() > 1);
        }
    }

    #[test]
    fn a_blank_is_a_cell_that_nothing_was_written_in() {
        assert_eq!(Printer::default().print(&Cell::default()), Print::BLANK);
    }
}
