//! What can stand over the screen, and what each such thing says of itself.

use super::answer::AnswerTree;
use super::artefacts::ArtefactList;
use super::detail::Detail;
use super::held::{AgeForm, HeldScreen};
use super::indicators::IndicatorList;
use super::notes::NoteForm;
use super::palette::Palette;
use super::sheet::Sheet;
use super::spots::Spots;
use crate::app::away::saving::SaveForm;
use crate::app::compare::{Compare, OtherFile};
use crate::app::find::finder::Finder;
use crate::app::find::sought::{IdleLine, ListFilter};
use crate::app::keys::key::Key;
use crate::app::keys::place::Place;
use crate::app::keys::typing::{LONGEST_PASTED, LONGEST_TYPED, pasted};
use crate::app::layout::{Area, Size};
use crate::app::model::Model;
use crate::app::panes::scroll::{Move, Scroll};
use crate::app::scan::submit::SubmitForm;
use crate::app::spending::confirm::Confirmation;
use crate::app::spending::planner::Planner;
use crate::app::spending::prompt::Prompt;
use crate::report::Report;
use crate::text::Columns;

/// Something that stands over the screen. What it says of itself it says where it is declared, by its own `Stands`.
#[derive(Debug)]
pub enum Overlay {
    /// Words of our own, row by row: keys, prices, counters, usage, the ledger, how far a scan is.
    Sheet(Sheet),
    Detail(Detail),
    /// Everything that can be done here.
    Palette(Palette),
    /// The words of a question are typed.
    Prompt(Prompt),
    /// A question waits for a yes: for what something costs, tells others, deletes or writes over.
    Confirm(Confirmation),
    Answer(AnswerTree),
    /// Hits over all panes, or over everything that is held.
    Finder(Finder),
    Planner(Planner),
    /// What others can look for.
    Indicators(IndicatorList),
    Artefacts(ArtefactList),
    /// The path of a file is typed.
    Save(SaveForm),
    Compare(Box<Compare>),
    /// Another file to compare with is chosen.
    OtherFile(OtherFile),
    Spots(Spots),
    Note(NoteForm),
    Held(HeldScreen),
    /// An age in days is typed, to delete what is older.
    Age(AgeForm),
    Submit(Box<SubmitForm>),
    /// A line that is typed into where nothing can be.
    Idle(IdleLine),
}

/// The same of whichever it is.
macro_rules! whichever {
    ($overlay:expr, $it:ident => $same:expr) => {
        match $overlay {
            Overlay::Sheet($it) => $same,
            Overlay::Detail($it) => $same,
            Overlay::Palette($it) => $same,
            Overlay::Prompt($it) => $same,
            Overlay::Confirm($it) => $same,
            Overlay::Answer($it) => $same,
            Overlay::Finder($it) => $same,
            Overlay::Planner($it) => $same,
            Overlay::Indicators($it) => $same,
            Overlay::Artefacts($it) => $same,
            Overlay::Save($it) => $same,
            Overlay::Compare($it) => $same,
            Overlay::OtherFile($it) => $same,
            Overlay::Spots($it) => $same,
            Overlay::Note($it) => $same,
            Overlay::Held($it) => $same,
            Overlay::Age($it) => $same,
            Overlay::Submit($it) => $same,
            Overlay::Idle($it) => $same,
        }
    };
}

/// Rows of what asks something.
pub(in crate::app) const SMALL: usize = 6;

/// Rows that the line which is typed into takes, the empty one below it included.
pub(in crate::app) const TYPED: usize = 2;

/// What stands over the screen says of itself.
pub(in crate::app) trait Stands {
    /// Where the analyst is while this has the keys.
    fn place(&self) -> Place;

    /// Rows that it fills in so many columns, its frame not counted: as many as there are, unless it needs fewer.
    fn height(&self, _: usize) -> usize {
        usize::MAX
    }

    /// The rows that are chosen from, in so much room; none where nothing is chosen.
    fn choice(&self, _: Size) -> Option<Rows> {
        None
    }

    /// The cursor among these rows.
    fn scroll(&mut self) -> Option<&mut Scroll> {
        None
    }

    /// Moves, in so much room.
    fn go(&mut self, movement: Move, room: Size) {
        let rows = self.choice(room);
        if let Some((rows, scroll)) = rows.zip(self.scroll()) {
            scroll.go(movement, rows.count, rows.height(room));
        }
    }

    /// Lays it out again for another room.
    fn fit(&mut self, room: Size) {
        self.go(Move::Up(0), room);
    }

    /// What is sought among its rows, where that can be typed.
    fn sought(&mut self) -> Option<&mut ListFilter> {
        None
    }

    /// Shows the rows that hold what is sought, the cursor where it was if that row is one of them; rows of the open report are
    /// read in it.
    fn sift(&mut self, _: Option<&Report>) {}

    /// Types a key into its line of at most so many bytes; says whether it is one that is typed.
    fn press(&mut self, key: Key, most: usize) -> bool {
        self.sought().is_some_and(|line| line.press(key, most))
    }
}

/// Rows of which one is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rows {
    pub scroll: Scroll,
    pub count: usize,
    /// Screen rows above the first that is shown.
    pub above: usize,
    /// Screen rows below the last that is shown.
    pub below: usize,
}

impl Rows {
    /// Screen rows that are left for them.
    pub fn height(&self, room: Size) -> usize {
        usize::from(room.height).saturating_sub(self.above + self.below).max(1)
    }

    /// The row that stands on a screen row inside, in so much room; both are counted from 0.
    pub fn at(&self, row: usize, room: Size) -> Option<usize> {
        let row = row.checked_sub(self.above).filter(|row| *row < self.height(room))?;
        Some(self.scroll.top + row).filter(|row| *row < self.count)
    }
}

impl Overlay {
    /// Where the analyst is while this has the keys.
    pub fn place(&self) -> Place {
        whichever!(self, it => it.place())
    }

    /// Its area: as low as it needs to be, at the bottom, so that what it is about stays in sight.
    pub fn area(&self, content: Area) -> Area {
        let columns = usize::from(content.width).saturating_sub(4).max(10);
        let rows = whichever!(self, it => it.height(columns));
        let height = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2).min(content.height);
        Area { y: content.y + content.height - height, height, ..content }
    }

    fn choice(&self, room: Size) -> Option<Rows> {
        whichever!(self, it => it.choice(room))
    }

    pub(in crate::app) fn go(&mut self, movement: Move, room: Size) {
        whichever!(self, it => it.go(movement, room));
    }

    pub(in crate::app) fn fit(&mut self, room: Size) {
        whichever!(self, it => it.fit(room));
    }

    pub(in crate::app) fn sought_mut(&mut self) -> Option<&mut ListFilter> {
        whichever!(self, it => it.sought())
    }

    pub(in crate::app) fn sift(&mut self, open: Option<&Report>) {
        whichever!(self, it => it.sift(open));
    }

    pub(in crate::app) fn press(&mut self, key: Key) -> bool {
        whichever!(self, it => it.press(key, LONGEST_TYPED))
    }

    pub(in crate::app) fn paste(&mut self, text: &str) {
        for key in pasted(text) {
            whichever!(self, it => it.press(key, LONGEST_PASTED));
        }
    }
}

/// Pieces in rows of at most so many columns, a dot between them.
pub(in crate::app) fn pieces_in_rows(pieces: &[String], columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for piece in pieces {
        match rows.last_mut() {
            Some(row) if row.columns() + piece.columns() + 3 <= columns => {
                row.push_str(" · ");
                row.push_str(piece);
            }
            _ => rows.push(piece.clone()),
        }
    }
    rows
}

impl Model {
    /// Rows and columns inside what stands over the screen.
    pub fn overlay_room(&self) -> Size {
        let content = self.layout().content;
        Size { width: content.width.saturating_sub(4), height: content.height.saturating_sub(2) }
    }

    /// The room that one has for its rows: the legend of a comparison takes some.
    pub(in crate::app) fn room_of(&self, overlay: &Overlay) -> Size {
        let room = self.overlay_room();
        Size { height: room.height.saturating_sub(self.legend_of(overlay)), ..room }
    }

    fn legend_of(&self, overlay: &Overlay) -> u16 {
        match overlay {
            Overlay::Compare(compare) => u16::try_from(self.compare_head(compare).len() + 1).unwrap_or(u16::MAX),
            _ => 0,
        }
    }

    /// The rows of what stands over the screen, if one of them is chosen there.
    pub fn rows_over(&self) -> Option<Rows> {
        let over = self.over.top()?;
        let rows = over.choice(self.room_of(over))?;
        Some(Rows { above: rows.above + usize::from(self.legend_of(over)), ..rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_wrapped_between_their_pieces() {
        let pieces = ["1 one".to_owned(), "2 two".to_owned(), "3 three".to_owned()];
        assert_eq!(pieces_in_rows(&pieces, 14), ["1 one · 2 two", "3 three"]);
    }
}
