//! Places: where the analyst can be, and so where a command can be done at all.

use crate::app::keys::KeyName;
use crate::app::{Focus, Key, Model, Screen};

/// What becomes of letters in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    /// They are keys: each means a command, or nothing.
    Mean,
    Typed,
    /// They are typed, and seek among rows that are chosen from meanwhile.
    Seek,
}

/// A row a place: its name, the set of it alone where a command is done nowhere else, what becomes of letters there, and where that
/// is, in words that follow "it works".
macro_rules! places {
    ($($(#[$about:meta])* $place:ident $(as $set:ident)?, $letters:ident, $words:literal;)*) => {
        /// Where the analyst is: always in exactly one place.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Place {
            $($(#[$about])* $place,)*
        }

        impl Place {
            pub const ALL: &[Self] = &[$(Self::$place),*];

            /// Where that is, in words that follow "it works".
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$place => $words,)*
                }
            }

            const fn letters(self) -> Letters {
                match self {
                    $(Self::$place => Letters::$letters,)*
                }
            }
        }

        $($(pub(in crate::app) const $set: Places = Places::of(&[Place::$place]);)?)*
    };
}

places! {
    Start as START, Mean, "on the start screen";
    /// The line of a hash, once it has a digit.
    Hash, Typed, "while a SHA-256 is typed";
    List as LIST, Mean, "in the list of sandboxes";
    /// A pane of a report.
    Pane as PANE, Mean, "in panes";
    /// The line of a pane's filter.
    Filter as FILTER, Typed, "while a filter is typed";
    Sheet, Mean, "on a page of words";
    Detail as DETAIL, Mean, "where a row is shown whole";
    /// An answer as a tree.
    Answer as ANSWER, Mean, "in an answer";
    /// The list of keys and commands.
    Palette as PALETTE, Seek, "in this list";
    /// Lines that are typed into.
    Form as FORM, Typed, "in a form";
    Confirm as CONFIRM, Mean, "where a yes is wanted";
    /// Rows of which one is chosen.
    Picker as PICKER, Mean, "in a list over the screen";
    /// The line of a search, with its hits.
    Finder, Seek, "while it is typed what to search for";
    /// The hits of a search that was typed.
    Hits as HITS, Mean, "among the hits of a search";
    /// Sandboxes against each other.
    Compare as COMPARE, Mean, "in a comparison";
    SoughtLine as SOUGHT_LINE, Typed, "while it is typed what to find in a list";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places(u32);

/// Where a file is named.
pub(in crate::app) const NAMED: Places = Places::of(&[Place::Start, Place::Hash]);
/// Where a filter can be taken away.
pub(in crate::app) const FILTERED: Places = Places::of(&[Place::Pane, Place::Filter]);
/// Where words are sought.
pub(in crate::app) const SOUGHT: Places = Places::of(&[Place::Filter, Place::Finder, Place::Hits]);
/// Where there are hits of a search.
pub(in crate::app) const FOUND: Places = Places::of(&[Place::Finder, Place::Hits]);
/// Where there are rows that can be sought among.
pub(in crate::app) const SIFTED: Places = Places::of(&[Place::Picker, Place::Compare]);
/// Where the sandboxes of the file are seen all at once.
pub(in crate::app) const LISTED: Places = Places::of(&[Place::List, Place::Compare]);
/// Where there is a value to copy, and something to write to a file.
pub(in crate::app) const VALUED: Places =
    Places::of(&[Place::List, Place::Pane, Place::Detail, Place::Answer, Place::Picker]);
/// Where there is something to copy.
pub(in crate::app) const COPIED: Places =
    Places::of(&[Place::List, Place::Pane, Place::Detail, Place::Answer, Place::Picker, Place::Compare]);
/// Where there is a row to copy.
pub(in crate::app) const ROW: Places = Places::of(&[Place::List, Place::Pane, Place::Picker, Place::Compare]);
/// Where there are rows that can be copied all at once.
pub(in crate::app) const ROWS: Places = Places::of(&[Place::Pane, Place::Picker]);
/// Where there is a report or a row to write a note on.
pub(in crate::app) const NOTED: Places = Places::of(&[Place::List, Place::Pane, Place::Detail]);
/// Where a row of a report is looked at.
pub(in crate::app) const VIEWED: Places = Places::of(&[Place::Pane, Place::Detail]);
/// Where a pane is gone to, or its items are compared.
pub(in crate::app) const PANED: Places = Places::of(&[Place::List, Place::Pane, Place::Compare]);
/// Where a scan is followed: with the file, and on the page that says how far it is.
pub(in crate::app) const FOLLOWED: Places = Places::of(&[Place::List, Place::Pane, Place::Sheet]);
/// List and panes.
pub(in crate::app) const FILE: Places = Places::of(&[Place::List, Place::Pane]);
/// Wherever no overlay is open.
pub(in crate::app) const OPEN: Places = Places::of(&[Place::Start, Place::List, Place::Pane]);
/// Where a process or a member of an answer can be folded.
pub(in crate::app) const TREE: Places = Places::of(&[Place::Pane, Place::Answer]);
/// Wherever there is something to look at and nothing to type.
pub(in crate::app) const READING: Places = Places::reading();
pub(in crate::app) const EVERYWHERE: Places = Places::of(Place::ALL);

impl Place {
    /// Whether a key is typed here as a letter, and so can mean no command.
    pub fn types(self, key: Key) -> bool {
        match (self, key) {
            (Self::Start, Key::Char(c)) => c.is_ascii_hexdigit(),
            (place, Key::Char(_) | Key::Ctrl('u' | 'w') | Key::Named(KeyName::Backspace)) => place.has_line(),
            _ => false,
        }
    }

    /// Whether there is a line here that takes every letter.
    pub fn has_line(self) -> bool {
        self.letters() != Letters::Mean
    }

    /// Whether typing filters a list whose cursor moves meanwhile.
    pub fn seeks(self) -> bool {
        self.letters() == Letters::Seek
    }
}

impl Places {
    pub const fn of(mut places: &[Place]) -> Self {
        let mut set = 0;
        while let [first, rest @ ..] = places {
            set |= 1 << *first as u32;
            places = rest;
        }
        Self(set)
    }

    /// Those in which letters are keys.
    const fn reading() -> Self {
        let (mut places, mut set) = (Place::ALL, 0);
        while let [first, rest @ ..] = places {
            if matches!(first.letters(), Letters::Mean) {
                set |= 1 << *first as u32;
            }
            places = rest;
        }
        Self(set)
    }

    pub fn contains(self, place: Place) -> bool {
        self.0 & 1 << place as u32 != 0
    }

    pub fn each(self) -> impl Iterator<Item = Place> {
        Place::ALL.iter().copied().filter(move |place| self.contains(*place))
    }

    pub fn words(self) -> String {
        match self {
            EVERYWHERE => return "everywhere".to_owned(),
            READING => return "where nothing is typed".to_owned(),
            OPEN => return "where nothing stands over the screen".to_owned(),
            _ => {}
        }
        let words: Vec<_> = self.each().map(Place::words).collect();
        match words.split_last() {
            Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            _ => words.concat(),
        }
    }
}

impl Model {
    /// Where the analyst is.
    pub fn place(&self) -> Place {
        match (self.over.top(), self.screen, self.focus()) {
            (Some(over), ..) => over.place(),
            (None, Screen::Start, _) if self.start.typed.is_empty() => Place::Start,
            (None, Screen::Start, _) => Place::Hash,
            (None, Screen::File, Focus::List) => Place::List,
            (None, Screen::File, Focus::Pane(_)) if self.is_filtering() => Place::Filter,
            (None, Screen::File, Focus::Pane(_)) => Place::Pane,
        }
    }
}
