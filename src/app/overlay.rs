//! What stands over the screen: one thing at a time, those behind it waiting.

use super::answer::AnswerTree;
use super::artefacts::ArtefactList;
use super::compare::{Compare, OtherFile};
use super::detail::Detail;
use super::finder::Finder;
use super::held::HeldScreen;
use super::indicators::IndicatorList;
use super::layout::Size;
use super::notes::NoteForm;
use super::palette::{Confirm, Palette, Prompt};
use super::panes::Move;
use super::places::Places;
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
    Places(Places),
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
            Self::Places(places) => places.go(movement, rows),
            Self::OtherFile(other) => other.scroll.go(movement, other.files.len(), rows),
            Self::Finder(finder) => finder.go(movement, rows.saturating_sub(TYPED)),
            Self::Held(held) => held.go(movement, rows),
            // Its head takes rows that only the model knows.
            Self::Compare(_) => {}
            Self::Prompt(_) | Self::Confirm(_) | Self::Planner(_) | Self::Save(_) | Self::Note(_) | Self::Age(_) => {}
        }
    }

    /// Lays it out again for another room.
    pub(super) fn fit(&mut self, room: Size) {
        match self {
            Self::Detail(detail) => detail.fit(room.width.into()),
            Self::Sheet(sheet) => sheet.fit(room.width.into()),
            Self::Places(_) | Self::OtherFile(_) | Self::Compare(_) | Self::Palette(_) | Self::Finder(_) => {}
            Self::Answer(_) | Self::Prompt(_) | Self::Confirm(_) | Self::Planner(_) => {}
            Self::Indicators(_) | Self::Artefacts(_) | Self::Save(_) => {}
            Self::Held(_) | Self::Age(_) | Self::Note(_) => {}
        }
        self.go(Move::Up(0), room);
    }
}
