//! What stands over the screen: one thing at a time, those behind it waiting.

use super::answer::AnswerTree;
use super::detail::Detail;
use super::layout::Size;
use super::palette::{Confirm, Palette, Prompt};
use super::panes::Move;
use super::planner::Planner;
use super::sheet::Sheet;

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
    /// A plan is made.
    Planner(Planner),
}

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
            Self::Prompt(_) | Self::Confirm(_) | Self::Planner(_) => {}
        }
    }

    /// Lays it out again for another room.
    pub(super) fn fit(&mut self, room: Size) {
        match self {
            Self::Detail(detail) => detail.fit(room.width.into()),
            Self::Sheet(sheet) => sheet.fit(room.width.into()),
            Self::Palette(_) | Self::Answer(_) | Self::Prompt(_) | Self::Confirm(_) | Self::Planner(_) => {}
        }
        self.go(Move::Up(0), room);
    }
}
