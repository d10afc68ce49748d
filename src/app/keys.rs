//! Keys by name, key contexts, and the map of keys to commands.
//!
//! A key that the config gives to a command must be free in all contexts of that command. Commands
//! of the table may share a key if they never apply together: `enter` in the list and in a pane.

use crate::app::{Command, Model, Screen};
use crate::text::{nearest, wrap_cut};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::str::FromStr;

/// A key, as named in help and config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character, with Shift already applied.
    Char(char),
    Ctrl(char),
    Alt(char),
    F(u8),
    /// Any other key, by the name in the help.
    Named(&'static str),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(' ') => f.write_str("space"),
            Self::Char(c) => write!(f, "{c}"),
            Self::Ctrl(c) => write!(f, "ctrl-{c}"),
            Self::Alt(c) => write!(f, "alt-{c}"),
            Self::F(number) => write!(f, "f{number}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

const UNKNOWN_KEY: &str =
    "unknown key; keys are single characters, ctrl-c, alt-c, f1 and the like, enter, esc, tab, up, pgdn, space …";

impl FromStr for Key {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, &'static str> {
        let is_it = |key: &Self| matches!(key, Self::Named(known) if *known == name);
        if let Some(key) = NAMED_KEYS.into_iter().find(is_it) {
            return Ok(key);
        }
        if let Some(number @ 1..=24) = name.strip_prefix('f').and_then(|number| number.parse().ok()) {
            return Ok(Self::F(number));
        }
        let (rest, with): (_, fn(char) -> Self) = match (name.strip_prefix("ctrl-"), name.strip_prefix("alt-")) {
            (Some(rest), _) => (rest, |c| Self::Ctrl(c.to_ascii_lowercase())),
            (None, Some(rest)) => (rest, Self::Alt),
            (None, None) if name == "space" => (" ", Self::Char),
            (None, None) => (name, Self::Char),
        };
        let mut characters = rest.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) if !c.is_control() => Ok(with(c)),
            _ => Err(UNKNOWN_KEY),
        }
    }
}

pub(crate) const fn key(c: char) -> Key {
    Key::Char(c)
}

pub const ENTER: Key = Key::Named("enter");
pub const ESC: Key = Key::Named("esc");
pub const TAB: Key = Key::Named("tab");
pub const BACK_TAB: Key = Key::Named("shift-tab");
pub const BACKSPACE: Key = Key::Named("backspace");
pub const DELETE: Key = Key::Named("delete");
pub const INSERT: Key = Key::Named("insert");
pub const UP: Key = Key::Named("up");
pub const DOWN: Key = Key::Named("down");
pub const LEFT: Key = Key::Named("left");
pub const RIGHT: Key = Key::Named("right");
pub const HOME: Key = Key::Named("home");
pub const END: Key = Key::Named("end");
pub const PAGE_UP: Key = Key::Named("pgup");
pub const PAGE_DOWN: Key = Key::Named("pgdn");

const NAMED_KEYS: [Key; 15] =
    [ENTER, ESC, TAB, BACK_TAB, BACKSPACE, DELETE, INSERT, UP, DOWN, LEFT, RIGHT, HOME, END, PAGE_UP, PAGE_DOWN];

/// How a context treats letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LetterInput {
    Bound,
    Typed,
    /// Letters are typed, and filter rows whose cursor moves meanwhile.
    Seek,
}

/// A row per context: its name, its set, how it treats letters, and its label after "it works".
macro_rules! key_contexts {
    ($($(#[$about:meta])* $place:ident $(as $set:ident)?, $letters:ident, $label:literal;)*) => {
        /// Where the user is: exactly one context at a time.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum KeyContext {
            $($(#[$about])* $place,)*
        }

        impl KeyContext {
            pub const ALL: &[Self] = &[$(Self::$place),*];

            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$place => $label,)*
                }
            }

            const fn letters(self) -> LetterInput {
                match self {
                    $(Self::$place => LetterInput::$letters,)*
                }
            }
        }

        $($(pub(crate) const $set: KeyContexts = KeyContexts::of(&[KeyContext::$place]);)?)*
    };
}

key_contexts! {
    Start as START, Bound, "on the start screen";
    /// The line of a hash that has at least one digit.
    Hash, Typed, "while a SHA-256 is typed";
    List as LIST, Bound, "in the list of sandboxes";
    Pane as PANE, Bound, "in panes";
    Filter, Typed, "while a filter is typed";
    TextPage, Bound, "on a text page";
    Detail, Bound, "in the details of a row";
    Response, Bound, "in a response";
    Palette, Seek, "in this list";
    Form as FORM, Typed, "in a form";
    /// A line of a form with options instead of text.
    Choice as CHOICE, Bound, "on a choice of a form";
    Confirm as CONFIRM, Bound, "in a confirmation";
    Picker as PICKER, Bound, "in a list over the screen";
    /// Findings, indicators, or rows to go to.
    Rows as ROWS, Bound, "in a list of rows";
    Finder, Seek, "while a search is typed";
    Hits, Bound, "among the hits of a search";
    Compare as COMPARE, Bound, "in a comparison";
    FilterLine, Typed, "while the filter of a list is typed";
}

/// A set of key contexts, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyContexts(u32);

macro_rules! sets {
    ($($(#[$about:meta])* $set:ident: $($place:ident)+;)*) => {
        $($(#[$about])* pub(crate) const $set: KeyContexts = KeyContexts::of(&[$(KeyContext::$place),+]);)*
    };
}

sets! {
    /// Every overlay without a text field or a confirmation.
    OVERLAYS: TextPage Detail Response Picker Rows Hits Compare Choice;
    SOUGHT: Filter Finder Hits;
    /// The palette, and the help while its filter is not edited.
    CHOSEN: Palette Picker;
    FIELDS: Form Choice Detail;
    PANED: List Pane Rows Hits Compare;
    KINDS: Pane Compare Rows;
    COPIED: List Pane Detail Response Rows Compare;
    FILE: List Pane;
    FILE_OR_ROW: List Pane Detail;
    /// Every context without an overlay.
    OPEN: Start List Pane;
    TREE: Pane Response;
    UNFOLDED: Pane Response Compare Rows;
    SIDEWAYS: List Pane Response Compare Rows;
    /// Every context without a text field.
    READING: Start List Pane TextPage Detail Response Choice Confirm Picker Rows Hits Compare;
}

pub(crate) const EVERYWHERE: KeyContexts = KeyContexts::of(KeyContext::ALL);

impl KeyContext {
    /// Returns whether the key is typed as a letter here, and so runs no command.
    pub(crate) fn types(self, key: Key) -> bool {
        match (self, key) {
            (Self::Start, Key::Char(c)) => c.is_ascii_hexdigit(),
            (place, Key::Char(_) | Key::Ctrl('u' | 'w') | BACKSPACE) => place.has_line(),
            _ => false,
        }
    }

    /// Returns whether letters are typed here into a line.
    pub fn has_line(self) -> bool {
        self.letters() != LetterInput::Bound
    }

    /// Returns whether typing filters a list whose cursor moves meanwhile.
    pub fn seeks(self) -> bool {
        self.letters() == LetterInput::Seek
    }
}

impl KeyContexts {
    pub(crate) const fn of(mut key_contexts: &[KeyContext]) -> Self {
        let mut set = 0;
        while let [first, rest @ ..] = key_contexts {
            set |= 1 << *first as u32;
            key_contexts = rest;
        }
        Self(set)
    }

    pub fn contains(self, place: KeyContext) -> bool {
        self.0 & 1 << place as u32 != 0
    }

    pub(crate) fn each(self) -> impl Iterator<Item = KeyContext> {
        KeyContext::ALL.iter().copied().filter(move |place| self.contains(*place))
    }

    pub fn label(self) -> String {
        match self {
            EVERYWHERE => return "everywhere".to_owned(),
            READING => return "where nothing is typed".to_owned(),
            OPEN => return "where no overlay is open".to_owned(),
            _ => {}
        }
        let labels: Vec<_> = self.each().map(KeyContext::label).collect();
        match labels.split_last() {
            Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            _ => labels.concat(),
        }
    }
}

pub(crate) const NONE: &str = "none";

/// The keys of all commands: built-in keys, changed by the config.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keymap {
    changed: BTreeMap<&'static str, Vec<Key>>,
}

impl Keymap {
    /// Applies the config's changes, commands with their keys; returns the mistakes by command.
    pub fn read<'a>(changes: &[(&'a str, Vec<&str>)]) -> Result<Self, Vec<(&'a str, String)>> {
        let mut map = Self::default();
        let mut mistakes = Vec::new();
        for (name, keys) in changes {
            match read(name, keys) {
                Ok((command, keys)) => _ = map.changed.insert(command.name, keys),
                Err(message) => mistakes.push((*name, message)),
            }
        }
        let named = changes.iter().filter(|(name, _)| map.changed.contains_key(name));
        mistakes.extend(named.filter_map(|(name, _)| Some((*name, map.clash(Command::named(name)?)?))));
        if mistakes.is_empty() { Ok(map) } else { Err(mistakes) }
    }

    pub fn of(&self, command: &Command) -> &[Key] {
        self.changed.get(command.name).map_or(command.keys, Vec::as_slice)
    }

    /// Returns the commands of a key in table order; those with unchanged keys first.
    pub(crate) fn having(&self, key: Key) -> impl Iterator<Item = &'static Command> {
        let has_key = move |command: &&Command| command.keys.contains(&key);
        let usual = Command::all().filter(has_key).filter(|command| !self.changed.contains_key(command.name));
        let changed = self.changed.iter().filter(move |(_, keys)| keys.contains(&key));
        usual.chain(changed.filter_map(|(name, _)| Command::named(name)))
    }

    fn clash(&self, command: &'static Command) -> Option<String> {
        let keys = self.of(command);
        if keys.is_empty() && command.name == "quit" {
            return Some("quit needs a key".to_owned());
        }
        if command.name == "confirm" && keys != command.keys {
            return Some("confirm uses the keys that each confirmation shows".to_owned());
        }
        let dead = |key: &&Key| command.contexts.each().all(|place| place.types(**key));
        if let Some(key) = keys.iter().find(dead) {
            return Some(format!("{key} is typed as a letter wherever {} works", command.name));
        }
        // Two commands that share a key in the table never apply together.
        let are_apart = |other: &&Command| !other.keys.iter().any(|key| command.keys.contains(key));
        let others = || Command::all().filter(|other| other.name != command.name).filter(are_apart);
        keys.iter().find_map(|key| {
            let other = others().find(|other| self.of(other).contains(key) && meet(command, other, *key).is_some())?;
            let place = meet(command, other, *key)?;
            Some(format!("{key} does {} already, {}; give that another key, too", other.name, place.label()))
        })
    }
}

/// Returns a context in which two commands would both have this key.
fn meet(one: &Command, other: &Command, key: Key) -> Option<KeyContext> {
    one.contexts.each().find(|place| other.contexts.contains(*place) && !place.types(key))
}

fn read(name: &str, keys: &[&str]) -> Result<(&'static Command, Vec<Key>), String> {
    let unknown = || match nearest(name, Command::all().map(|command| command.name)) {
        None => format!("unknown command `{name}`; see `behaview keys`"),
        Some(near) => format!("unknown command `{name}`; perhaps {near}"),
    };
    let command = Command::named(name).ok_or_else(unknown)?;
    let key = |name: &&str| name.parse::<Key>().map_err(|error| format!("`{name}`: {error}"));
    let mut keys: Vec<Key> = keys.iter().filter(|name| **name != NONE).map(key).collect::<Result<_, _>>()?;
    let mut seen = HashSet::new();
    keys.retain(|key| seen.insert(*key));
    Ok((command, keys))
}

impl Model {
    /// Returns where the user is, which decides what keys do.
    pub fn key_context(&self) -> KeyContext {
        match (self.overlays.top(), self.screen, self.focused()) {
            (Some(overlay), ..) => overlay.key_context(),
            (None, Screen::Start, _) if self.start.typed.is_empty() => KeyContext::Start,
            (None, Screen::Start, _) => KeyContext::Hash,
            (None, Screen::File, None) => KeyContext::List,
            (None, Screen::File, Some(_)) if self.is_filtering() => KeyContext::Filter,
            (None, Screen::File, Some(_)) => KeyContext::Pane,
        }
    }

    /// Returns a command's key here: neither typed text nor taken by another command.
    pub fn key_of(&self, command: &Command) -> Option<Key> {
        let works = |key: &&Key| Command::of(**key, self).is_some_and(|found| found.name == command.name);
        self.settings.keys.of(command).iter().find(works).copied()
    }

    /// Returns a command's label in messages: its first key, or its name in the palette.
    pub fn key_label(&self, name: &'static str) -> String {
        let first = Command::named(name).and_then(|command| self.settings.keys.of(command).first());
        first.map_or_else(|| format!("`{name}`"), ToString::to_string)
    }

    /// Explains why a key does nothing here; `None` in a text field, where it is text.
    pub(crate) fn disabled_reason(&self, key: Key) -> Option<String> {
        let place = self.key_context();
        if place.has_line() || place.types(key) || self.is_quitting {
            return None;
        }
        let known: Vec<_> = self.settings.keys.having(key).collect();
        let here = known.iter().filter(|command| command.contexts.contains(place));
        let missing: Vec<_> = here.filter_map(|command| Some((command.name, command.missing(self)?))).collect();
        // With many disabled commands, the intended one is unknown.
        Some(match (missing.as_slice(), known.as_slice()) {
            ([("back", _)], _) if self.screen == Screen::File && !self.is_document() => {
                let other = self.key_label("open-file");
                let quit = self.key_label("quit");
                format!("{key} goes back no further than to the file: {other} leaves it for another, {quit} quits.")
            }
            ([_] | [_, _], _) => {
                let needs: Vec<_> = missing.iter().map(|(_, what)| *what).collect();
                format!("{key} does nothing now: it needs {}.", needs.join(", or "))
            }
            ([], [command]) => format!("{key} does nothing here: it works {}.", command.contexts.label()),
            _ => format!("{key} does nothing here; {} shows the keys that do.", self.key_label("help")),
        })
    }

    /// Returns the message in rows; empty in plain mode.
    pub fn message(&self) -> Vec<String> {
        let Some(notice) = self.notice.as_ref().filter(|_| !self.settings.is_plain) else { return Vec::new() };
        let columns = usize::from(self.size.width.saturating_sub(4)).max(10);
        wrap_cut(&notice.text, columns, usize::from(self.size.height / 5).clamp(2, 4))
    }
}

#[cfg(test)]
mod tests_names {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        let plain =
            [Key::Char('?'), Key::Char('G'), Key::Ctrl('c'), Key::Char('-'), Key::Alt('X'), Key::F(12), Key::Char('f')];
        for key in NAMED_KEYS.into_iter().chain(plain) {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        assert!("".parse::<Key>().is_err() && "hyper-x".parse::<Key>().is_err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(changes: &[(&'a str, &[&str])]) -> Result<Keymap, Vec<(&'a str, String)>> {
        Keymap::read(&changes.iter().map(|(command, keys)| (*command, keys.to_vec())).collect::<Vec<_>>())
    }

    fn mistake(changes: &[(&str, &[&str])]) -> String {
        read(changes).unwrap_err().into_iter().map(|(command, message)| format!("{command}: {message}\n")).collect()
    }

    #[test]
    fn reading_contexts_have_no_input_line() {
        assert!(KeyContext::ALL.iter().all(|place| READING.contains(*place) != place.has_line()));
    }

    #[test]
    fn keys_are_bound_and_unbound() {
        let map = read(&[("zoom", &["f11", "alt-z", "f11"]), ("planner", &["none"])]).unwrap();
        let keys_label =
            |name| map.of(Command::named(name).unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(
            (keys_label("zoom"), keys_label("planner"), keys_label("help")),
            ("f11 alt-z".into(), String::new(), "?".into())
        );
    }

    #[test]
    fn each_invalid_binding_is_reported() {
        let all = mistake(&[("zooom", &["x"]), ("zoom", &["hyper-x"]), ("refetch", &["R"])]);
        assert!(all.contains("zooom: unknown command `zooom`; perhaps zoom"), "{all}");
        assert!(all.contains("zoom: `hyper-x`: unknown key"), "{all}");
        assert!(all.contains("refetch: R does relist already, in the list of sandboxes"), "{all}");
        assert!(mistake(&[("quit", &["none"])]).contains("quit needs a key"));
        assert!(mistake(&[("confirm", &["x"])]).contains("each confirmation shows"));
        assert!(mistake(&[("apply-filter", &["x"])]).contains("typed as a letter"));
        assert!(mistake(&[("zoom", &["1"])]).contains("pane-processes already"));
    }

    #[test]
    fn keys_may_repeat_in_disjoint_contexts_and_swap() {
        read(&[("open", &["f9"]), ("row-details", &["f9"]), ("next-page", &["f9"])]).unwrap();
        read(&[("refetch", &["R"]), ("relist", &["r"])]).unwrap();
    }
}
