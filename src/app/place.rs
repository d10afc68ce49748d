//! Places: where the analyst can be, and so where a command can be done at all.

use super::key::{Key, Named};
use super::model::{Focus, Model, Screen};
use super::overlay::Overlay;

/// Where the analyst is: always in exactly one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The start screen.
    Start,
    /// The list of sandboxes.
    List,
    /// A pane of a report.
    Pane,
    /// A page of words, or a row whole.
    Page,
    /// An answer as a tree.
    Answer,
    /// The list of keys and commands.
    Finder,
    /// The line that a question is typed into.
    Question,
    /// A question that waits for a yes.
    Confirm,
    /// The planner.
    Planner,
    /// The screen of what is held.
    Held,
    /// The line that a note is typed into.
    Note,
    /// The line that an age is typed into.
    Age,
    /// What others can look for.
    Indicators,
    /// What can be downloaded.
    Artefacts,
    /// The line that the path of a file is typed into.
    Save,
    /// The line of a pane's filter.
    Filter,
    /// The line of a search, with its hits.
    Search,
    /// Sandboxes against each other.
    Matrix,
    /// The line that finds in a comparison.
    MatrixLine,
    /// Another file to compare with.
    OtherFile,
    /// Rows to go to.
    Spots,
    /// The form of a file that is submitted.
    Submit,
    /// The line that finds among them.
    SpotsLine,
}

/// A set of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places(u32);

pub(super) const START: Places = Places::of(&[Place::Start]);
pub(super) const LIST: Places = Places::of(&[Place::List]);
pub(super) const PANE: Places = Places::of(&[Place::Pane]);
pub(super) const ANSWER: Places = Places::of(&[Place::Answer]);
pub(super) const FINDER: Places = Places::of(&[Place::Finder]);
pub(super) const QUESTION: Places = Places::of(&[Place::Question]);
pub(super) const CONFIRM: Places = Places::of(&[Place::Confirm]);
pub(super) const PLANNER: Places = Places::of(&[Place::Planner]);
pub(super) const HELD: Places = Places::of(&[Place::Held]);
pub(super) const NOTE: Places = Places::of(&[Place::Note]);
pub(super) const AGE: Places = Places::of(&[Place::Age]);
pub(super) const PAGE: Places = Places::of(&[Place::Page]);
pub(super) const INDICATORS: Places = Places::of(&[Place::Indicators]);
pub(super) const ARTEFACTS: Places = Places::of(&[Place::Artefacts]);
pub(super) const SAVE: Places = Places::of(&[Place::Save]);
pub(super) const FILTER: Places = Places::of(&[Place::Filter]);
pub(super) const SEARCH: Places = Places::of(&[Place::Search]);
pub(super) const MATRIX: Places = Places::of(&[Place::Matrix]);
pub(super) const MATRIX_LINE: Places = Places::of(&[Place::MatrixLine]);
pub(super) const OTHER_FILE: Places = Places::of(&[Place::OtherFile]);
pub(super) const SPOTS: Places = Places::of(&[Place::Spots]);
pub(super) const SUBMIT: Places = Places::of(&[Place::Submit]);
pub(super) const SPOTS_LINE: Places = Places::of(&[Place::SpotsLine]);
/// Where a filter can be taken away.
pub(super) const FILTERED: Places = Places::of(&[Place::Pane, Place::Filter]);
/// Where words are typed that are sought.
pub(super) const SOUGHT: Places = Places::of(&[Place::Filter, Place::Search]);
/// Where the sandboxes of the file are seen all at once.
pub(super) const LISTED: Places = Places::of(&[Place::List, Place::Matrix]);
/// Where there is a value to copy, and something to write to a file.
pub(super) const VALUED: Places =
    Places::of(&[Place::List, Place::Pane, Place::Page, Place::Answer, Place::Indicators]);
/// Where there are rows that can be copied all at once.
pub(super) const ROWS: Places = Places::of(&[Place::Pane, Place::Indicators]);
/// Where there is a report or a row to write a note on.
pub(super) const NOTED: Places = Places::of(&[Place::List, Place::Pane, Place::Page]);
/// Where a row of a report is looked at.
pub(super) const VIEWED: Places = Places::of(&[Place::Pane, Place::Page]);
/// Where a pane is gone to, or its items are compared.
pub(super) const PANED: Places = Places::of(&[Place::List, Place::Pane, Place::Matrix]);
/// List and panes.
pub(super) const FILE: Places = Places::of(&[Place::List, Place::Pane]);
/// Wherever nothing stands over the screen.
pub(super) const OPEN: Places = Places::of(&[Place::Start, Place::List, Place::Pane]);
/// Where a process or a member of an answer can be folded.
pub(super) const TREE: Places = Places::of(&[Place::Pane, Place::Answer]);
/// Wherever there is something to look at and nothing to type.
pub(super) const READING: Places = Places::of(&[
    Place::Start,
    Place::List,
    Place::Pane,
    Place::Page,
    Place::Answer,
    Place::Confirm,
    Place::Held,
    Place::Indicators,
    Place::Artefacts,
    Place::Matrix,
    Place::OtherFile,
    Place::Spots,
]);
/// Everywhere.
pub(super) const EVERYWHERE: Places = Places::of(&Place::ALL);

impl Place {
    /// Every place.
    pub const ALL: [Self; 23] = [
        Self::Start,
        Self::List,
        Self::Pane,
        Self::Page,
        Self::Answer,
        Self::Finder,
        Self::Question,
        Self::Confirm,
        Self::Planner,
        Self::Held,
        Self::Note,
        Self::Age,
        Self::Indicators,
        Self::Artefacts,
        Self::Save,
        Self::Filter,
        Self::Search,
        Self::Matrix,
        Self::MatrixLine,
        Self::OtherFile,
        Self::Spots,
        Self::Submit,
        Self::SpotsLine,
    ];

    /// Where that is, in words that follow "it works".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Start => "on the start screen",
            Self::List => "in the list of sandboxes",
            Self::Pane => "in a pane",
            Self::Page => "on a page of words",
            Self::Answer => "in an answer",
            Self::Finder => "in this list",
            Self::Question => "while a question is typed",
            Self::Confirm => "where a yes is wanted",
            Self::Planner => "in the planner",
            Self::Held => "on the screen of what is held",
            Self::Note => "while a note is typed",
            Self::Age => "while an age is typed",
            Self::Indicators => "among the indicators",
            Self::Artefacts => "among the downloads",
            Self::Save => "while the path of a file is typed",
            Self::Filter => "while a filter is typed",
            Self::Search => "among the hits of a search",
            Self::Matrix => "in a comparison",
            Self::MatrixLine => "while it is typed what to find in a comparison",
            Self::OtherFile => "where another file is chosen",
            Self::Spots => "in a list of rows",
            Self::Submit => "while a file is submitted",
            Self::SpotsLine => "while it is typed what to find in a list of rows",
        }
    }

    /// Whether a key is typed here as a letter, and so can mean no command.
    #[must_use]
    pub fn types(self, key: Key) -> bool {
        match (self, key) {
            (Self::Start, Key::Char(c)) => c.is_ascii_hexdigit(),
            (place, Key::Char(_) | Key::Ctrl('u') | Key::Named(Named::Backspace)) => place.has_line(),
            _ => false,
        }
    }

    /// Whether there is a line here that takes every letter.
    #[must_use]
    pub fn has_line(self) -> bool {
        let asks = matches!(self, Self::Question | Self::Planner | Self::Note | Self::Age | Self::Save);
        let seeks = matches!(self, Self::Finder | Self::Filter | Self::Search | Self::MatrixLine | Self::SpotsLine);
        asks || seeks || self == Self::Submit
    }
}

impl Places {
    /// The set of these.
    #[must_use]
    pub const fn of(mut places: &[Place]) -> Self {
        let mut set = 0;
        while let [first, rest @ ..] = places {
            set |= 1 << *first as u32;
            places = rest;
        }
        Self(set)
    }

    /// Whether this is one of them.
    #[must_use]
    pub fn contains(self, place: Place) -> bool {
        self.0 & 1 << place as u32 != 0
    }

    /// Each of them.
    pub fn each(self) -> impl Iterator<Item = Place> {
        Place::ALL.into_iter().filter(move |place| self.contains(*place))
    }

    /// Where that is, in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            EVERYWHERE => "everywhere".to_owned(),
            READING => "where nothing is typed".to_owned(),
            OPEN => "where nothing stands over the screen".to_owned(),
            PANED => "in the list of sandboxes, in panes and in a comparison".to_owned(),
            FILE => "in the list of sandboxes and in panes".to_owned(),
            NOTED => "in the list of sandboxes, in panes and where a row is shown whole".to_owned(),
            VALUED => {
                "in the list of sandboxes, in panes, where a row is shown whole, in an answer and among the indicators"
                    .to_owned()
            }
            VIEWED => "in panes and where a row is shown whole".to_owned(),
            _ => self.each().map(Place::words).collect::<Vec<_>>().join(" and "),
        }
    }
}

impl Model {
    /// Where the analyst is.
    #[must_use]
    pub fn place(&self) -> Place {
        match (&self.overlay, self.screen, self.focus) {
            (Some(Overlay::Sheet(_) | Overlay::Detail(_)), ..) => Place::Page,
            (Some(Overlay::Answer(_)), ..) => Place::Answer,
            (Some(Overlay::Palette(_)), ..) => Place::Finder,
            (Some(Overlay::Prompt(_)), ..) => Place::Question,
            (Some(Overlay::Confirm(_)), ..) => Place::Confirm,
            (Some(Overlay::Planner(_)), ..) => Place::Planner,
            (Some(Overlay::Held(_)), ..) => Place::Held,
            (Some(Overlay::Note(_)), ..) => Place::Note,
            (Some(Overlay::Age(_)), ..) => Place::Age,
            (Some(Overlay::Indicators(_)), ..) => Place::Indicators,
            (Some(Overlay::Artefacts(_)), ..) => Place::Artefacts,
            (Some(Overlay::Save(_)), ..) => Place::Save,
            (Some(Overlay::Finder(_)), ..) => Place::Search,
            (Some(Overlay::Compare(compare)), ..) if compare.is_typing => Place::MatrixLine,
            (Some(Overlay::Compare(_)), ..) => Place::Matrix,
            (Some(Overlay::OtherFile(_)), ..) => Place::OtherFile,
            (Some(Overlay::Spots(spots)), ..) if spots.is_typing => Place::SpotsLine,
            (Some(Overlay::Spots(_)), ..) => Place::Spots,
            (Some(Overlay::Submit(_)), ..) => Place::Submit,
            (None, Screen::Start, _) => Place::Start,
            (None, Screen::File, Focus::List) => Place::List,
            (None, Screen::File, Focus::Pane(_)) if self.is_filtering() => Place::Filter,
            (None, Screen::File, Focus::Pane(_)) => Place::Pane,
        }
    }
}
