//! What is drawn in a row of the screen, in order: a few strokes, which are sooner compared than the cells that they fill.

use super::glyph::{Brush, Glyphs};
use super::theme::Meaning;
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

    /// Writes a row, each tone with its brush.
    pub(super) fn write(&self, to: &mut Glyphs, brush: &impl Fn(Tone) -> Brush) {
        self.write_from(0, u16::MAX, to, brush);
    }

    /// Writes into so many columns from one on; what has no room there is not written.
    fn write_from(&self, first: u16, columns: u16, to: &mut Glyphs, brush: &impl Fn(Tone) -> Brush) {
        let (mut letters, mut kept) = (self.letters.as_str(), self.kept.iter());
        for stroke in &self.strokes {
            let (own, rest) = letters.split_at_checked(stroke.ink.bytes()).unwrap_or((letters, ""));
            letters = rest;
            let kept = if stroke.ink == Ink::Kept { kept.next().and_then(Kept::strokes) } else { None };
            if stroke.x.saturating_add(stroke.columns) > columns {
                continue;
            }
            let x = first.saturating_add(stroke.x);
            match kept {
                Some(kept) => kept.write_from(x, stroke.columns, to, brush),
                None => stroke.write(x, own, to, brush),
            }
        }
    }
}

impl Stroke {
    /// Writes it with its letters, as if it began with this column.
    fn write(&self, x: u16, letters: &str, to: &mut Glyphs, brush: impl Fn(Tone) -> Brush) {
        let columns = usize::from(x)..usize::from(x) + usize::from(self.columns);
        match self.ink {
            Ink::Plain(_) => to.plain(columns, letters, brush(self.tone)),
            Ink::Grapheme(_) => to.grapheme(columns, letters, brush(self.tone)),
            Ink::Repeated(_) => to.repeated(columns, letters, brush(self.tone)),
            Ink::Tone => to.tone(columns, brush(self.tone)),
            Ink::Blank => to.blank(columns),
            Ink::Kept => {}
        }
    }
}
