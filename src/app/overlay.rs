//! What stands over the screen: one thing at a time, those behind it waiting.

use super::answer::AnswerTree;
use super::artefacts::ArtefactList;
use super::compare::{Compare, OtherFile};
use super::detail::Detail;
use super::finder::Finder;
use super::held::HeldScreen;
use super::indicators::IndicatorList;
use super::layout::{Area, Size};
use super::notes::NoteForm;
use super::palette::{Confirm, Palette, Prompt};
use super::panes::Move;
use super::planner::Planner;
use super::saving::SaveForm;
use super::sheet::Sheet;
use super::spots::Spots;
use super::submit::{FIELDS, SubmitForm};

/// What stands over the screen.
#[derive(Debug)]
pub enum Overlay {
    /// Words of our own: the keys or the prices that apply.
    Sheet(Sheet),
    /// One row, whole.
    Detail(Detail),
    /// Everything that can be done here.
    Palette(Palette),
    /// The words of a question are typed.
    Prompt(Prompt),
    /// A question that makes something public waits for a yes.
    Confirm(Confirm),
    /// An answer as a tree.
    Answer(AnswerTree),
    /// Hits over all panes, or over everything that is held.
    Finder(Finder),
    /// A plan is made.
    Planner(Planner),
    /// What others can look for.
    Indicators(IndicatorList),
    /// What can be downloaded.
    Artefacts(ArtefactList),
    /// The path of a file is typed.
    Save(SaveForm),
    /// Sandboxes against each other.
    Compare(Box<Compare>),
    /// Another file to compare with is chosen.
    OtherFile(OtherFile),
    /// Rows to go to.
    Spots(Spots),
    /// A note is typed.
    Note(NoteForm),
    /// Everything that is held.
    Held(HeldScreen),
    /// An age in days is typed, to delete what is older.
    Age(String),
    /// A file is submitted.
    Submit(Box<SubmitForm>),
}

/// The movement from one row to another.
pub(super) fn way(from: usize, to: usize) -> Move {
    if to < from { Move::Up(from - to) } else { Move::Down(to - from) }
}

/// Rows of what asks something.
const SMALL: usize = 6;

/// Rows that the line which is typed into takes, the empty one below it included.
const TYPED: usize = 2;

/// Rows that say all of what is chosen in the palette, where it has this many.
pub const TOLD: u16 = 2;

/// Rows from which on the palette says all of what is chosen.
pub const TALL: usize = 10;

impl Overlay {
    /// Moves among its rows, in so much room.
    pub(super) fn go(&mut self, movement: Move, room: Size) {
        let rows = usize::from(room.height);
        match self {
            Self::Sheet(sheet) => sheet.go(movement, rows),
            Self::Detail(detail) => detail.go(movement, rows),
            Self::Palette(palette) => {
                palette.go(movement, rows.saturating_sub(TYPED + if rows >= TALL { TOLD.into() } else { 0 }))
            }
            Self::Answer(answer) => answer.go(movement, rows),
            Self::Indicators(list) => list.go(movement, rows.saturating_sub(TYPED)),
            Self::Artefacts(list) => list.go(movement, rows),
            Self::Spots(spots) => spots.go(movement, room),
            Self::OtherFile(other) => other.scroll.go(movement, other.files.len(), rows),
            Self::Finder(finder) => finder.go(movement, rows.saturating_sub(TYPED)),
            Self::Held(held) => held.go(movement, rows),
            // Its head takes rows that only the model knows.
            Self::Compare(_) => {}
            Self::Prompt(_) | Self::Confirm(_) | Self::Planner(_) | Self::Save(_) | Self::Note(_) | Self::Age(_) => {}
            Self::Submit(_) => {}
        }
    }

    /// Its place: as low as it needs to be, at the bottom, so that what it is about stays in sight.
    #[must_use]
    pub fn area(&self, content: Area) -> Area {
        let rows = match self {
            Self::Sheet(sheet) => sheet.count(),
            Self::Detail(detail) => detail.count(),
            Self::Palette(_) | Self::Answer(_) | Self::Planner(_) => usize::MAX,
            Self::Indicators(_) | Self::Finder(_) | Self::Compare(_) | Self::Held(_) => usize::MAX,
            Self::Spots(spots) => spots.counts().1.saturating_add(spots.head_rows() + 1),
            Self::OtherFile(other) => other.files.len(),
            Self::Artefacts(list) => list.rows.len() + usize::from(list.failure.is_some()) * 3,
            Self::Save(form) if form.has_parts() => SMALL + 4,
            Self::Prompt(_) | Self::Confirm(_) | Self::Save(_) | Self::Note(_) | Self::Age(_) => SMALL,
            Self::Submit(_) => FIELDS.len() + SMALL - 1,
        };
        let height = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2).min(content.height);
        Area { y: content.y + content.height - height, height, ..content }
    }

    /// The position of the first of its rows that is shown, the rows above it, and how many rows there are in all; none where
    /// rows are not chosen.
    #[must_use]
    pub fn first_row(&self) -> Option<(usize, usize, usize)> {
        match self {
            Self::Palette(palette) => Some((palette.scroll.top, TYPED, palette.matching().len())),
            Self::Answer(answer) => Some((answer.scroll.top, 0, answer.count())),
            Self::Indicators(list) => Some((list.scroll.top, TYPED, list.shown().len())),
            Self::Artefacts(list) => Some((list.scroll.top, 0, list.rows.len())),
            Self::Finder(finder) => Some((finder.scroll.top, TYPED, finder.lines().count())),
            Self::OtherFile(other) => Some((other.scroll.top, 0, other.files.len())),
            Self::Spots(spots) => Some((spots.scroll.top, spots.head_rows(), spots.counts().0)),
            // Below the heading.
            Self::Held(held) => Some((held.scroll.top, 1, held.lines.len())),
            _ => None,
        }
    }

    /// The position of the row that is chosen.
    fn cursor(&self) -> usize {
        match self {
            Self::Palette(palette) => palette.scroll.cursor,
            Self::Answer(answer) => answer.scroll.cursor,
            Self::Indicators(list) => list.scroll.cursor,
            Self::Artefacts(list) => list.scroll.cursor,
            Self::Finder(finder) => finder.scroll.cursor,
            Self::Compare(compare) => compare.scroll.cursor,
            Self::OtherFile(other) => other.scroll.cursor,
            Self::Spots(spots) => spots.scroll.cursor,
            Self::Held(held) => held.scroll.cursor,
            _ => 0,
        }
    }

    /// The movement to a row.
    pub(super) fn way_to(&self, row: usize) -> Move {
        way(self.cursor(), row)
    }

    /// Lays it out again for another room.
    pub(super) fn fit(&mut self, room: Size) {
        match self {
            Self::Detail(detail) => detail.fit(room.width.into()),
            Self::Sheet(sheet) => sheet.fit(room.width.into()),
            Self::Spots(_) | Self::OtherFile(_) | Self::Compare(_) | Self::Palette(_) | Self::Finder(_) => {}
            Self::Answer(_) | Self::Prompt(_) | Self::Confirm(_) | Self::Planner(_) => {}
            Self::Indicators(_) | Self::Artefacts(_) | Self::Save(_) => {}
            Self::Held(_) | Self::Age(_) | Self::Note(_) | Self::Submit(_) => {}
        }
        self.go(Move::Up(0), room);
    }
}
