//! What is drawn in a row of the screen, in order: a few strokes, which are sooner compared than the cells that they fill.

use super::theme::Meaning;
use crate::report::ranges::join;
use ratatui::buffer::Cell;
use ratatui::style::Style;
use std::ops::Range;
use std::rc::Rc;

/// What letters mean: how they look is for a theme to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tone {
    pub(super) meaning: Meaning,
    /// The meaning of the whole row that they stand in, if it has one.
    pub(super) base: Option<Meaning>,
    /// Whether nothing shines through of what stood there before.
    pub(super) is_opaque: bool,
}

impl From<Meaning> for Tone {
    fn from(meaning: Meaning) -> Self {
        Self { meaning, base: None, is_opaque: false }
    }
}

/// The strokes of a row. Two rows with the same strokes look the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Strokes {
    strokes: Vec<Stroke>,
    /// The letters of all strokes, one after the other.
    letters: String,
    /// What was drawn in an earlier frame and stands here, one after the other.
    kept: Vec<Kept>,
}

/// Rows that were drawn, to be drawn again as they are.
pub(super) type Block = Rc<[Strokes]>;

/// A row of what was drawn in an earlier frame: the same is seen to be the same at once.
#[derive(Debug, Clone)]
struct Kept {
    block: Block,
    row: usize,
}

impl Kept {
    fn strokes(&self) -> Option<&Strokes> {
        self.block.get(self.row)
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.block, &other.block) && self.row == other.row || self.strokes() == other.strokes()
    }
}

impl Eq for Kept {}

/// One stroke: columns that are changed alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stroke {
    /// The first column.
    x: u16,
    columns: u16,
    tone: Tone,
    ink: Ink,
}

/// What a stroke leaves in its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ink {
    /// Letters of one column each, in so many bytes.
    Plain(u32),
    /// One grapheme of so many bytes over all columns.
    Grapheme(u32),
    /// One sign of so many bytes in each column.
    Repeated(u32),
    /// Nothing.
    Blank,
    /// What is there, in another tone.
    Tone,
    /// The strokes that were kept, from this column on.
    Kept,
}

impl Ink {
    fn bytes(self) -> usize {
        match self {
            Self::Plain(bytes) | Self::Grapheme(bytes) | Self::Repeated(bytes) => {
                usize::try_from(bytes).unwrap_or(usize::MAX)
            }
            Self::Blank | Self::Tone | Self::Kept => 0,
        }
    }
}

/// How far a row had come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    strokes: usize,
    bytes: usize,
    kept: usize,
}

impl Strokes {
    /// Letters of one column each, of which there are so many.
    pub(super) fn plain(&mut self, x: u16, columns: u16, letters: &str, tone: Tone) {
        if let Ok(bytes) = u32::try_from(letters.len()) {
            self.push(Stroke { x, columns, tone, ink: Ink::Plain(bytes) }, letters);
        }
    }

    /// A grapheme over so many columns.
    pub(super) fn grapheme(&mut self, x: u16, columns: u16, grapheme: &str, tone: Tone) {
        if let Ok(bytes) = u32::try_from(grapheme.len()) {
            self.push(Stroke { x, columns, tone, ink: Ink::Grapheme(bytes) }, grapheme);
        }
    }

    /// A sign in each of so many columns.
    pub(super) fn repeated(&mut self, x: u16, columns: u16, sign: &str, tone: Tone) {
        if let Ok(bytes) = u32::try_from(sign.len()) {
            self.push(Stroke { x, columns, tone, ink: Ink::Repeated(bytes) }, sign);
        }
    }

    /// Nothing in so many columns.
    pub(super) fn blank(&mut self, x: u16, columns: u16) {
        self.push(Stroke { x, columns, tone: Meaning::Text.into(), ink: Ink::Blank }, "");
    }

    /// A tone over what is there.
    pub(super) fn tone(&mut self, x: u16, columns: u16, tone: Tone) {
        self.push(Stroke { x, columns, tone, ink: Ink::Tone }, "");
    }

    fn push(&mut self, stroke: Stroke, letters: &str) {
        if stroke.columns > 0 {
            self.strokes.push(stroke);
            self.letters.push_str(letters);
        }
    }

    /// Leaves a row without strokes.
    pub(super) fn clear(&mut self) {
        self.strokes.clear();
        self.letters.clear();
        self.kept.clear();
    }

    /// How far this has come.
    pub(super) fn mark(&self) -> Mark {
        Mark { strokes: self.strokes.len(), bytes: self.letters.len(), kept: self.kept.len() }
    }

    /// What was drawn since, as if its columns began with this one; nothing where a stroke begins before it.
    pub(super) fn since(&self, mark: Mark, x: u16) -> Option<Self> {
        let strokes = self.strokes.get(mark.strokes..)?.iter();
        let strokes = strokes.map(|stroke| Some(Stroke { x: stroke.x.checked_sub(x)?, ..*stroke }));
        let (letters, kept) = (self.letters.get(mark.bytes..)?.to_owned(), self.kept.get(mark.kept..)?.to_vec());
        Some(Self { strokes: strokes.collect::<Option<_>>()?, letters, kept })
    }

    /// Takes back what was drawn since.
    pub(super) fn take_back(&mut self, mark: Mark) {
        self.strokes.truncate(mark.strokes);
        self.letters.truncate(mark.bytes);
        self.kept.truncate(mark.kept);
    }

    /// A row of what was kept, in the columns that it was drawn in or as many others.
    pub(super) fn again(&mut self, x: u16, columns: u16, block: &Block, row: usize) {
        self.strokes.push(Stroke { x, columns, tone: Meaning::Text.into(), ink: Ink::Kept });
        self.kept.push(Kept { block: Rc::clone(block), row });
    }

    /// Each stroke with what it draws.
    fn each(&self) -> impl Iterator<Item = Drawn<'_>> {
        let (mut letters, mut kept) = (self.letters.as_str(), self.kept.iter());
        self.strokes.iter().map(move |stroke| {
            let (own, rest) = letters.split_at_checked(stroke.ink.bytes()).unwrap_or((letters, ""));
            letters = rest;
            (stroke, own, if stroke.ink == Ink::Kept { kept.next() } else { None })
        })
    }

    /// The columns in which a row may look otherwise than with other strokes, in order: those of the strokes that only one of
    /// them has.
    pub(super) fn changes(&self, before: &Self, found: &mut Vec<Range<u16>>) {
        if self == before {
            return;
        }
        if self.strokes.len() == before.strokes.len() {
            let pairs = self.each().zip(before.each()).filter(|(one, other)| one != other);
            pairs.for_each(|(one, other)| {
                differences(&laid_out([one].into_iter()), &laid_out([other].into_iter()), found)
            });
        } else {
            differences(&laid_out(self.each()), &laid_out(before.each()), found);
        }
        join(found);
    }

    /// Adds the columns of a row that anything is drawn in, in order.
    pub(super) fn covered(&self, found: &mut Vec<Range<u16>>) {
        found.extend(laid_out(self.each()).iter().map(|(stroke, _)| stroke.range()));
        join(found);
    }

    /// Fills the cells of a row, which are blank in these columns, where each tone has this style. Cells in other columns come to
    /// be anything.
    pub(super) fn fill(&self, cells: &mut [Cell], within: &[Range<u16>], style: &impl Fn(Tone) -> Style) {
        self.fill_from(0, cells, within, style);
    }

    /// The same for cells that begin with this column of the row.
    fn fill_from(&self, first: u16, cells: &mut [Cell], within: &[Range<u16>], style: &impl Fn(Tone) -> Style) {
        for (stroke, letters, kept) in self.each() {
            let (start, end) = (first.saturating_add(stroke.x), first.saturating_add(stroke.range().end));
            if !within.iter().any(|columns| start < columns.end && columns.start < end) {
                continue;
            }
            let Some(cells) = cells.get_mut(usize::from(stroke.x)..usize::from(stroke.range().end)) else { continue };
            match kept.and_then(Kept::strokes) {
                Some(kept) => kept.fill_from(start, cells, within, style),
                None => stroke.ink.fill(letters, cells, style(stroke.tone)),
            }
        }
    }
}

/// A stroke, its letters, and what it keeps.
type Drawn<'a> = (&'a Stroke, &'a str, Option<&'a Kept>);

/// A stroke that keeps nothing, and its letters.
type Laid<'a> = (Stroke, &'a str);

/// Strokes that a row has mostly.
const USUAL: usize = 32;

/// Strokes, with those of what was kept in its place: a pane that is drawn as it was differs from one that is drawn row by row in
/// little more than its border.
fn laid_out<'a>(mut strokes: impl Iterator<Item = Drawn<'a>>) -> Vec<Laid<'a>> {
    let mut all = Vec::with_capacity(USUAL);
    lay_out(&mut strokes, (0, u16::MAX), &mut all);
    all
}

/// Lays strokes out in so many columns from one on; what has no room there is not drawn.
fn lay_out<'a>(strokes: &mut dyn Iterator<Item = Drawn<'a>>, (first, columns): (u16, u16), all: &mut Vec<Laid<'a>>) {
    for (stroke, letters, kept) in strokes.filter(|(stroke, _, _)| stroke.range().end <= columns) {
        let x = first.saturating_add(stroke.x);
        match kept.and_then(Kept::strokes) {
            Some(kept) => lay_out(&mut kept.each(), (x, stroke.columns), all),
            None => all.push((Stroke { x, ..*stroke }, letters)),
        }
    }
}

/// Adds the columns of the strokes that only one of the two has.
fn differences(one: &[Laid<'_>], other: &[Laid<'_>], found: &mut Vec<Range<u16>>) {
    if one.len() == other.len() {
        let pairs = one.iter().zip(other).filter(|(one, other)| one != other);
        found.extend(pairs.flat_map(|(one, other)| [one.0.range(), other.0.range()]));
        return;
    }
    let alike = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (one.get(alike..).unwrap_or_default(), other.get(alike..).unwrap_or_default());
    let alike = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let all = [one, other].into_iter().flat_map(|some| some.iter().rev().skip(alike));
    found.extend(all.map(|(stroke, _)| stroke.range()));
}

impl Stroke {
    /// Its columns.
    fn range(&self) -> Range<u16> {
        self.x..self.x.saturating_add(self.columns)
    }
}

impl Ink {
    fn fill(self, letters: &str, cells: &mut [Cell], style: Style) {
        match self {
            Self::Plain(_) => {
                for (cell, letter) in cells.iter_mut().zip(letters.chars()) {
                    cell.set_char(letter).set_style(style);
                }
            }
            Self::Grapheme(_) => {
                let Some((cell, covered)) = cells.split_first_mut() else { return };
                cell.set_symbol(letters).set_style(style);
                covered.iter_mut().for_each(Cell::reset);
            }
            Self::Repeated(_) => {
                let mut sign = Cell::default();
                sign.set_symbol(letters).set_style(style);
                cells.fill(sign);
            }
            Self::Blank => cells.iter_mut().for_each(Cell::reset),
            Self::Kept => {}
            Self::Tone => cells.iter_mut().for_each(|cell| {
                cell.set_style(style);
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::{Depth, Look, Styles, Theme};
    use proptest::prelude::*;
    use std::slice::from_ref;

    const COLUMNS: u16 = 24;

    fn strokes() -> impl Strategy<Value = Strokes> {
        let tone = (prop::sample::select(Meaning::ALL.to_vec()), any::<bool>());
        let tone = tone.prop_map(|(meaning, is_opaque)| Tone { is_opaque, ..meaning.into() });
        let stroke = (0..COLUMNS - 4, 0..6_u8, prop::sample::select(vec!["a", "é─", "abc"]), tone);
        prop::collection::vec(stroke, 0..8).prop_map(|all| {
            let mut drawn = Strokes::default();
            for (x, kind, text, tone) in all {
                let columns = u16::try_from(text.chars().count()).unwrap();
                match kind {
                    0 => drawn.plain(x, columns, text, tone),
                    1 => drawn.grapheme(x, 2, "世", tone),
                    2 => drawn.repeated(x, 3, "│", tone),
                    3 => drawn.blank(x, 4),
                    4 => drawn.tone(x, 4, tone),
                    _ => {
                        let mark = drawn.mark();
                        drawn.plain(x, columns, text, tone);
                        let block = Block::from([drawn.since(mark, x).unwrap()]);
                        drawn.take_back(mark);
                        drawn.again(x, 4, &block, 0);
                    }
                }
            }
            drawn
        })
    }

    fn fill(strokes: &Strokes, within: &[Range<u16>], cells: &mut [Cell]) {
        let styles = Styles::of(Look { theme: Theme::Dark, depth: Depth::True });
        strokes.fill(cells, within, &|tone| styles.of_tone(tone));
    }

    proptest! {
        #[test]
        fn outside_of_what_is_covered_a_row_is_blank(strokes in strokes()) {
            let (whole, mut found) = (0..COLUMNS, Vec::new());
            let mut cells = vec![Cell::EMPTY; COLUMNS.into()];
            fill(&strokes, from_ref(&whole), &mut cells);
            strokes.covered(&mut found);
            for x in whole.filter(|x| !found.iter().any(|columns| columns.contains(x))) {
                prop_assert_eq!(&cells[usize::from(x)], &Cell::EMPTY, "{}: {:?}", x, found);
            }
        }

        #[test]
        fn outside_of_what_has_changed_a_row_looks_as_before(before in strokes(), after in strokes()) {
            let whole = 0..COLUMNS;
            let row = |strokes: &Strokes| {
                let mut cells = vec![Cell::EMPTY; COLUMNS.into()];
                fill(strokes, from_ref(&whole), &mut cells);
                cells
            };
            let (mut found, mut cells, wanted) = (Vec::new(), row(&before), row(&after));
            after.changes(&before, &mut found);
            let mut drawn = vec![Cell::EMPTY; COLUMNS.into()];
            fill(&after, &found, &mut drawn);
            for x in found.iter().cloned().flatten().map(usize::from) {
                cells[x] = drawn[x].clone();
            }
            prop_assert_eq!(cells, wanted, "{:?}", found);
        }
    }
}
