//! What stands over the screen: one thing at a time, those behind it waiting.

use super::answer::AnswerTree;
use super::artefacts::ArtefactList;
use super::detail::Detail;
use super::held::HeldScreen;
use super::indicators::IndicatorList;
use super::layout::Size;
use super::notes::NoteForm;
use super::palette::{Confirm, Palette, Prompt};
use super::panes::Move;
use super::planner::Planner;
use super::saving::SaveForm;
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
    /// What others can look for.
    Indicators(IndicatorList),
    /// What can be downloaded.
    Artefacts(ArtefactList),
    /// The path of a file is typed.
    Save(SaveForm),
    /// A note is typed.
    Note(NoteForm),
    /// Everything that is held.
    Held(HeldScreen),
    /// An age in days is typed, to delete what is older.
    Age(String),
}

/// Rows that the line which is typed into takes, the empty one below it included.
const TYPED: usize = 2;

impl Overlay {
    /// Moves among its rows, in so much room.
    pub(super) fn go(&mut self, movement: Move, room: Size) {
        let rows = usize::from(room.height);
        match self {
            Self::Sheet(sheet) => sheet.go(movement, rows),
            Self::Detail(detail) => detail.go(movement, rows),
            Self::Palette(palette) => palette.go(movement, rows.saturating_sub(TYPED)),
            Self::Answer(answer) => answer.go(movement, rows),
            Self::Indicators(list) => list.go(movement, rows.saturating_sub(TYPED)),
            Self::Artefacts(list) => list.go(movement, rows),
            Self::Held(held) => held.go(movement, rows),
            Self::Prompt(_) | Self::Confirm(_) | Self::Planner(_) | Self::Save(_) | Self::Note(_) | Self::Age(_) => {}
        }
    }

    /// Lays it out again for another room.
    pub(super) fn fit(&mut self, room: Size) {
        match self {
            Self::Detail(detail) => detail.fit(room.width.into()),
            Self::Sheet(sheet) => sheet.fit(room.width.into()),
            Self::Palette(_)
            | Self::Answer(_)
            | Self::Prompt(_)
            | Self::Confirm(_)
            | Self::Planner(_)
            | Self::Indicators(_)
            | Self::Artefacts(_)
            | Self::Save(_)
            | Self::Held(_)
            | Self::Age(_)
            | Self::Note(_) => {}
        }
        self.go(Move::Up(0), room);
    }
}
