//! Keys by the names that help shows; below them the keymap, places, text input and the mouse.

pub mod keymap;
pub mod place;
pub mod pointer;
pub(super) mod typing;

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character, with Shift already applied.
    Char(char),
    Ctrl(char),
    Alt(char),
    /// A function key, by its number.
    F(u8),
    /// A key that is no character.
    Named(KeyName),
}

/// Keys that are no characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the key of its name")]
pub enum KeyName {
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
}

/// Names of the keys that are no characters, and of the one character that is not seen.
const NAMES: &[(Key, &str)] = &[
    (Key::Named(KeyName::Enter), "enter"),
    (Key::Named(KeyName::Esc), "esc"),
    (Key::Named(KeyName::Tab), "tab"),
    (Key::Named(KeyName::BackTab), "shift-tab"),
    (Key::Named(KeyName::Backspace), "backspace"),
    (Key::Named(KeyName::Delete), "delete"),
    (Key::Named(KeyName::Insert), "insert"),
    (Key::Named(KeyName::Up), "up"),
    (Key::Named(KeyName::Down), "down"),
    (Key::Named(KeyName::Left), "left"),
    (Key::Named(KeyName::Right), "right"),
    (Key::Named(KeyName::Home), "home"),
    (Key::Named(KeyName::End), "end"),
    (Key::Named(KeyName::PageUp), "pgup"),
    (Key::Named(KeyName::PageDown), "pgdn"),
    (Key::Char(' '), "space"),
];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (NAMES.iter().find(|(key, _)| key == self), self) {
            (Some((_, name)), _) => f.write_str(name),
            (None, Self::Ctrl(c)) => write!(f, "ctrl-{c}"),
            (None, Self::Alt(c)) => write!(f, "alt-{c}"),
            (None, Self::F(number)) => write!(f, "f{number}"),
            (None, Self::Char(c)) => write!(f, "{c}"),
            (None, Self::Named(_)) => Ok(()),
        }
    }
}

/// A name that is no key's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no key of this name; keys are single characters, ctrl-c, alt-c, f1 and the like, enter, esc, tab, up, pgdn, space …"
)]
pub struct UnknownKey;

impl FromStr for Key {
    type Err = UnknownKey;

    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        if let Some((key, _)) = NAMES.iter().find(|(_, known)| *known == name) {
            return Ok(*key);
        }
        let function = name.strip_prefix('f').and_then(|number| number.parse().ok());
        if let Some(number @ 1..=24) = function {
            return Ok(Self::F(number));
        }
        let (rest, with): (_, fn(char) -> Self) = match (name.strip_prefix("ctrl-"), name.strip_prefix("alt-")) {
            (Some(rest), _) => (rest, |c| Self::Ctrl(c.to_ascii_lowercase())),
            (None, Some(rest)) => (rest, Self::Alt),
            (None, None) => (name, Self::Char),
        };
        let mut characters = rest.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) if !c.is_control() => Ok(with(c)),
            _ => Err(UnknownKey),
        }
    }
}

pub(in crate::app) const fn key(c: char) -> Key {
    Key::Char(c)
}

pub(in crate::app) const ENTER: Key = Key::Named(KeyName::Enter);
pub(in crate::app) const ESC: Key = Key::Named(KeyName::Esc);
pub(in crate::app) const TAB: Key = Key::Named(KeyName::Tab);
pub(in crate::app) const BACK_TAB: Key = Key::Named(KeyName::BackTab);
pub(in crate::app) const UP: Key = Key::Named(KeyName::Up);
pub(in crate::app) const DOWN: Key = Key::Named(KeyName::Down);
pub(in crate::app) const LEFT: Key = Key::Named(KeyName::Left);
pub(in crate::app) const RIGHT: Key = Key::Named(KeyName::Right);
pub(in crate::app) const HOME: Key = Key::Named(KeyName::Home);
pub(in crate::app) const END: Key = Key::Named(KeyName::End);
pub(in crate::app) const PAGE_UP: Key = Key::Named(KeyName::PageUp);
pub(in crate::app) const PAGE_DOWN: Key = Key::Named(KeyName::PageDown);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        let plain =
            [Key::Char('?'), Key::Char('G'), Key::Ctrl('c'), Key::Char('-'), Key::Alt('X'), Key::F(12), Key::Char('f')];
        for key in NAMES.iter().map(|(key, _)| *key).chain(plain) {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        assert!("".parse::<Key>().is_err() && "hyper-x".parse::<Key>().is_err());
    }
}
