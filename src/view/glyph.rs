//! What a cell of the screen shows, in two numbers: rows are written in them, and compared with those of the frame before, in a
//! fraction of the time that the library's cells take.

use foldhash::quality::RandomState;
use ratatui::buffer::{Cell, CellWidth};
use ratatui::style::{Color, Modifier, Style};
use std::hash::BuildHasher;
use std::ops::Range;

/// What a cell shows. Two that are equal look the same, but for letters of more than seven bytes (a letter with a heap of marks
/// on it): those are told apart by a hash that nobody outside can foresee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyph {
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
const STYLE: u64 = (1 << STYLE_BITS) - 1;
const COLOUR: u64 = (1 << COLOUR_BITS) - 1;

/// Columns of the widest letter.
const WIDEST: u16 = 7;

impl Glyph {
    /// What a terminal shows where nothing has been written.
    pub const BLANK: Self = Self { letter: b' ' as u64, look: 1 << STYLE_BITS };

    /// Columns that it takes.
    #[must_use]
    pub fn columns(self) -> u16 {
        u16::try_from(self.look >> STYLE_BITS).unwrap_or(1)
    }

    /// Whether its letter is a blank.
    #[must_use]
    pub fn is_blank(self) -> bool {
        self.letter == Self::BLANK.letter
    }

    /// Its colours and modifiers.
    #[must_use]
    pub fn shade(self) -> Shade {
        Shade(self.look & STYLE)
    }

    /// Whether it takes more columns than one.
    #[must_use]
    pub fn is_wide(self) -> bool {
        self.look >= 2 << STYLE_BITS
    }

    /// Writes a letter of so many columns over it.
    fn write(&mut self, letter: u64, columns: u64, brush: Brush) {
        let style = self.look & STYLE & brush.kept | brush.set;
        *self = Self { letter, look: columns << STYLE_BITS | style };
    }
}

/// The colours and modifiers of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shade(u64);

impl Shade {
    /// The terminal's own.
    pub const PLAIN: Self = Self(0);

    /// The colour of the letter.
    #[must_use]
    pub fn front(self) -> Color {
        colour(self.0 & COLOUR)
    }

    /// The colour of what is behind it.
    #[must_use]
    pub fn back(self) -> Color {
        colour(self.0 >> COLOUR_BITS & COLOUR)
    }

    /// How the letter is set.
    #[must_use]
    pub fn modifier(self) -> Modifier {
        Modifier::from_bits_truncate(u16::try_from(self.0 >> (2 * COLOUR_BITS)).unwrap_or_default())
    }

    /// The same in the terminal's own colours.
    #[must_use]
    pub fn without_colours(self) -> Self {
        Self(self.0 >> (2 * COLOUR_BITS) << (2 * COLOUR_BITS))
    }
}

/// What a style makes of the look of a cell: what it keeps of it, and what it sets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brush {
    kept: u64,
    set: u64,
}

impl From<Style> for Brush {
    fn from(style: Style) -> Self {
        let modifiers = |modifier: Modifier| u64::from(modifier.bits()) << (2 * COLOUR_BITS);
        let removed = modifiers(style.sub_modifier);
        let mut brush = Self { kept: STYLE & !removed, set: modifiers(style.add_modifier) & !removed };
        for (shift, wanted) in [(0, style.fg), (COLOUR_BITS, style.bg)] {
            if let Some(wanted) = wanted {
                brush.kept &= !(COLOUR << shift);
                brush.set |= bits(wanted) << shift;
            }
        }
        brush
    }
}

/// A row that is written, glyph by glyph; kept for its room from one to the next.
#[derive(Debug, Default)]
pub struct Glyphs {
    row: Vec<Glyph>,
    /// Letters that are hashed, each with its first column, in the order in which they were written.
    long: Vec<(usize, String)>,
    /// How long letters are hashed.
    hasher: RandomState,
    /// The last letter that is no ASCII, and its columns: most of them are borders, one like the other.
    last: (u64, u64),
}

impl Glyphs {
    /// Begins a row of so many columns, in which nothing is written.
    pub(super) fn begin(&mut self, columns: u16) {
        self.row.clear();
        self.row.resize(columns.into(), Glyph::BLANK);
        self.long.clear();
    }

    /// The row as it was written, a glyph a column.
    #[must_use]
    pub fn row(&self) -> &[Glyph] {
        &self.row
    }

    /// Adds the letter of a column, which has this glyph; says whether it is one of ASCII.
    pub fn push_letter(&self, column: u16, glyph: Glyph, to: &mut Vec<u8>) -> bool {
        match u8::try_from(glyph.letter) {
            Ok(ascii) => to.push(ascii),
            Err(_) if glyph.letter >= HASHED => {
                let written = self.long.iter().rfind(|(at, _)| *at == usize::from(column));
                to.extend_from_slice(written.map(|(_, letter)| letter.as_bytes()).unwrap_or(b"?"));
            }
            Err(_) => {
                let unused = glyph.letter.leading_zeros() as usize / 8;
                to.extend_from_slice(glyph.letter.to_be_bytes().get(unused..).unwrap_or_default());
            }
        }
        glyph.letter < 0x80
    }

    /// What is in a column, as the library has it; blank where there is none.
    #[must_use]
    pub fn cell(&self, column: u16) -> Cell {
        let (mut cell, mut letter) = (Cell::default(), Vec::new());
        if let Some(glyph) = self.row.get(usize::from(column)) {
            self.push_letter(column, *glyph, &mut letter);
            cell.set_symbol(str::from_utf8(&letter).unwrap_or("?"));
            let shade = glyph.shade();
            (cell.fg, cell.bg, cell.modifier) = (shade.front(), shade.back(), shade.modifier());
        }
        cell
    }

    /// Letters of one column each, as many as there are columns.
    pub(super) fn plain(&mut self, columns: Range<usize>, letters: &str, brush: Brush) {
        let cells = self.row.get_mut(columns).unwrap_or_default().iter_mut();
        if letters.is_ascii() {
            cells.zip(letters.as_bytes()).for_each(|(cell, letter)| cell.write((*letter).into(), 1, brush));
        } else {
            let number = |letter: char| number(letter.encode_utf8(&mut [0; 4]));
            cells.zip(letters.chars()).for_each(|(cell, letter)| cell.write(number(letter), 1, brush));
        }
    }

    /// One grapheme over all of these columns.
    pub(super) fn grapheme(&mut self, columns: Range<usize>, grapheme: &str, brush: Brush) {
        let (first, is_long) = (columns.start, grapheme.len() >= 8);
        let (letter, width) = match grapheme.len() {
            1 => (number(grapheme), 1),
            _ if is_long => self.with_columns(HASHED | self.hasher.hash_one(grapheme) >> 8, grapheme),
            _ => self.with_columns(number(grapheme), grapheme),
        };
        let Some((cell, covered)) = self.row.get_mut(columns).and_then(|cells| cells.split_first_mut()) else { return };
        cell.write(letter, width, brush);
        covered.fill(Glyph::BLANK);
        if is_long {
            self.long.push((first, grapheme.to_owned()));
        }
    }

    /// A sign in each of these columns, over nothing that was there.
    pub(super) fn repeated(&mut self, columns: Range<usize>, sign: &str, brush: Brush) {
        let mut glyph = Glyph::BLANK;
        glyph.write(number(sign), 1, brush);
        self.row.get_mut(columns).into_iter().for_each(|cells| cells.fill(glyph));
    }

    /// Nothing.
    pub(super) fn blank(&mut self, columns: Range<usize>) {
        self.row.get_mut(columns).into_iter().for_each(|cells| cells.fill(Glyph::BLANK));
    }

    /// What is there, in another tone.
    pub(super) fn tone(&mut self, columns: Range<usize>, brush: Brush) {
        let cells = self.row.get_mut(columns).into_iter().flatten();
        cells.for_each(|cell| cell.write(cell.letter, cell.look >> STYLE_BITS, brush));
    }

    fn with_columns(&mut self, letter: u64, grapheme: &str) -> (u64, u64) {
        if self.last.0 != letter {
            self.last = (letter, grapheme.cell_width().clamp(1, WIDEST).into());
        }
        self.last
    }
}

/// Up to seven bytes as a number.
fn number(letter: &str) -> u64 {
    letter.bytes().fold(0, |number, byte| number << 8 | u64::from(byte))
}

/// The colours that have names, by their numbers.
const NAMED: [Color; 17] = [
    Color::Reset,
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

const INDEXED: u64 = 1 << 8;
const RGB: u64 = 1 << 24;

fn bits(colour: Color) -> u64 {
    match colour {
        Color::Indexed(index) => INDEXED | u64::from(index),
        Color::Rgb(red, green, blue) => RGB | u64::from(u32::from_be_bytes([0, red, green, blue])),
        named => (0..).zip(NAMED).find(|(_, colour)| *colour == named).map_or(0, |(number, _)| number),
    }
}

fn colour(bits: u64) -> Color {
    let [.., first, red, green, blue] = bits.to_be_bytes();
    match (first, green) {
        (1, _) => Color::Rgb(red, green, blue),
        (_, 1) => Color::Indexed(blue),
        _ => NAMED.get(usize::from(blue)).copied().unwrap_or_default(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Glyphs {
        /// Writes cells of the library, beginning a row.
        pub(crate) fn copy(&mut self, cells: &[Cell]) {
            self.begin(u16::try_from(cells.len()).unwrap());
            for (at, cell) in cells.iter().enumerate() {
                let columns = at..at + usize::from(cell.cell_width().max(1)).min(cells.len() - at);
                if cell.symbol() != " " || *cell != Cell::default() {
                    self.grapheme(columns, cell.symbol(), cell.style().into());
                }
            }
        }
    }

    const COLUMNS: usize = 12;

    fn style() -> impl Strategy<Value = Style> {
        let colour = || {
            prop::option::of(prop_oneof![
                prop::sample::select(NAMED.to_vec()),
                any::<u8>().prop_map(Color::Indexed),
                any::<(u8, u8, u8)>().prop_map(|(red, green, blue)| Color::Rgb(red, green, blue)),
                (0..3_u8).prop_map(|blue| Color::Rgb(0, 0, blue)),
            ])
        };
        let modifier = || any::<u16>().prop_map(Modifier::from_bits_truncate);
        (colour(), colour(), modifier(), modifier()).prop_map(|(fg, bg, more, less)| Style {
            fg,
            bg,
            add_modifier: more,
            sub_modifier: less,
            ..Style::default()
        })
    }

    /// What is written into the library's cells by its own means, and as glyphs.
    fn write(kind: u8, place: Range<usize>, grapheme: &str, style: Style, cells: &mut [Cell], glyphs: &mut Glyphs) {
        let (written, brush) = (&mut cells[place.clone()], Brush::from(style));
        match kind {
            0 => {
                for (cell, letter) in written.iter_mut().zip("ab─é".chars()) {
                    cell.set_char(letter).set_style(style);
                }
                glyphs.plain(place, "ab─é", brush);
            }
            1 => {
                let (first, covered) = written.split_first_mut().unwrap();
                first.set_symbol(grapheme).set_style(style);
                covered.iter_mut().for_each(Cell::reset);
                glyphs.grapheme(place, grapheme, brush);
            }
            2 => {
                written.iter_mut().for_each(|cell| {
                    cell.reset();
                    cell.set_symbol("│").set_style(style);
                });
                glyphs.repeated(place, "│", brush);
            }
            3 => {
                written.iter_mut().for_each(Cell::reset);
                glyphs.blank(place);
            }
            _ => {
                for cell in written {
                    cell.set_style(style);
                }
                glyphs.tone(place, brush);
            }
        }
    }

    const GRAPHEMES: [&str; 9] =
        ["a", " ", "é", "─", "世", "ｱﾞ", "e\u{301}\u{302}", "e\u{301}\u{302}\u{303}\u{304}", "👩‍👩‍👧"];

    proptest! {
        #[test]
        fn a_row_is_what_the_library_makes_of_it(
            strokes in prop::collection::vec(
                (0..5_u8, 0..COLUMNS - 4, 1..4_usize, prop::sample::select(GRAPHEMES.to_vec()), style()), 0..12),
        ) {
            let (mut glyphs, mut cells) = (Glyphs::default(), vec![Cell::default(); COLUMNS]);
            glyphs.begin(u16::try_from(COLUMNS).unwrap());
            for (kind, start, length, grapheme, style) in strokes {
                write(kind, start..start + length, grapheme, style, &mut cells, &mut glyphs);
            }
            for (x, cell) in (0..).zip(&cells) {
                prop_assert_eq!(&glyphs.cell(x), cell, "column {}", x);
                prop_assert_eq!(glyphs.row()[usize::from(x)].columns(), cell.cell_width().max(1));
            }
        }

        #[test]
        fn two_glyphs_are_the_same_where_their_cells_look_the_same(
            one in (prop::sample::select(GRAPHEMES.to_vec()), style()),
            other in (prop::sample::select(GRAPHEMES.to_vec()), style()),
        ) {
            let mut glyphs = Glyphs::default();
            glyphs.begin(2);
            glyphs.grapheme(0..1, one.0, one.1.into());
            glyphs.grapheme(1..2, other.0, other.1.into());
            prop_assert_eq!(glyphs.row()[0] == glyphs.row()[1], glyphs.cell(0) == glyphs.cell(1));
        }
    }

    #[test]
    fn a_blank_is_a_cell_that_nothing_was_written_in() {
        let mut glyphs = Glyphs::default();
        glyphs.begin(1);
        assert_eq!((glyphs.cell(0), glyphs.cell(1)), (Cell::default(), Cell::default()));
    }
}
