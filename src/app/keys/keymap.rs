//! Which keys do which command: as the table says, unless the analyst's config says otherwise.
//!
//! A key that the config gives to a command must be free wherever that command works. Commands that share a key in the table
//! itself never apply at the same moment (`enter` does one thing in the list and another in a pane), so they may go on sharing one.

use crate::app::{Command, Key, Model, Place, Screen};
use crate::text::words_in_rows_cut;
use std::collections::BTreeMap;

pub const NONE: &str = "none";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keymap {
    changed: BTreeMap<&'static str, Vec<Key>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<'a> {
    pub command: &'a str,
    pub keys: Vec<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Which of the changes, from 0.
    pub change: usize,
    pub words: String,
}

impl Keymap {
    pub fn read(changes: &[Change<'_>]) -> Result<Self, Vec<Mistake>> {
        let mut map = Self::default();
        let mut mistakes = Vec::new();
        let mut named = Vec::new();
        for (number, change) in changes.iter().enumerate() {
            match read(change) {
                Ok((command, keys)) => {
                    map.changed.insert(command.name, keys);
                    named.push((number, command));
                }
                Err(words) => mistakes.push(Mistake { change: number, words }),
            }
        }
        let clash =
            |(change, command): (usize, &'static Command)| map.clash(command).map(|words| Mistake { change, words });
        mistakes.extend(named.into_iter().filter_map(clash));
        mistakes.sort_by_key(|mistake| mistake.change);
        if mistakes.is_empty() { Ok(map) } else { Err(mistakes) }
    }

    pub fn of(&self, command: &Command) -> &[Key] {
        self.changed.get(command.name).map_or(command.keys, Vec::as_slice)
    }

    /// The commands of a key, in the order of the table; first those with unchanged keys.
    pub(in crate::app) fn having(&self, key: Key) -> impl Iterator<Item = &'static Command> {
        let has_key = move |command: &&Command| command.keys.contains(&key);
        let usual = Command::all().filter(has_key).filter(|command| !self.changed.contains_key(command.name));
        let changed = self.changed.iter().filter(move |(_, keys)| keys.contains(&key));
        usual.chain(changed.filter_map(|(name, _)| Command::named(name)))
    }

    pub fn words(&self, command: &Command) -> String {
        self.of(command).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    fn clash(&self, command: &'static Command) -> Option<String> {
        let keys = self.of(command);
        if keys.is_empty() && command.name == "quit" {
            return Some("quit needs a key".to_owned());
        }
        if command.name == "confirm" && keys != command.keys {
            return Some("confirm has the keys that each question names".to_owned());
        }
        let dead = |key: &&Key| command.place.each().all(|place| place.types(**key));
        if let Some(key) = keys.iter().find(dead) {
            return Some(format!("{key} is typed as a letter wherever {} works", command.name));
        }
        let others = || Command::all().filter(|other| other.name != command.name && !share(command, other));
        keys.iter().find_map(|key| {
            let other = others().find(|other| self.of(other).contains(key) && meet(command, other, *key).is_some())?;
            let place = meet(command, other, *key)?;
            Some(format!("{key} does {} already, {}; give that another key, too", other.name, place.words()))
        })
    }
}

/// Whether two commands have a key in common in the table, and so never apply at the same moment.
fn share(one: &Command, other: &Command) -> bool {
    one.keys.iter().any(|key| other.keys.contains(key))
}

/// A place at which two commands would both have this key.
fn meet(one: &Command, other: &Command, key: Key) -> Option<Place> {
    one.place.each().find(|place| other.place.contains(*place) && !place.types(key))
}

fn read(change: &Change<'_>) -> Result<(&'static Command, Vec<Key>), String> {
    let unknown = || match similar(change.command).as_slice() {
        [] => format!("no command is called `{}`; `behaview keys` names them all", change.command),
        some => format!("no command is called `{}`; perhaps {}", change.command, some.join(", ")),
    };
    let command = Command::named(change.command).ok_or_else(unknown)?;
    let key = |name: &&str| name.parse::<Key>().map_err(|error| format!("`{name}`: {error}"));
    let names = change.keys.iter().filter(|name| **name != NONE);
    let mut keys: Vec<Key> = names.map(key).collect::<Result<_, _>>()?;
    let mut seen = Vec::new();
    keys.retain(|key| {
        let is_new = !seen.contains(key);
        seen.push(*key);
        is_new
    });
    Ok((command, keys))
}

/// Names of commands that begin or end alike.
fn similar(name: &str) -> Vec<&'static str> {
    let alike = |known: &&str| {
        let (start, end) = (name.get(..3).unwrap_or(name), name.get(name.len().saturating_sub(4)..).unwrap_or(name));
        !name.is_empty() && (known.starts_with(start) || known.ends_with(end))
    };
    Command::all().map(|command| command.name).filter(alike).take(4).collect()
}

impl Model {
    /// The key that does a command right here: not one that is typed as a letter, nor one that means another command here.
    pub fn key_of(&self, command: &Command) -> Option<Key> {
        let works = |key: &&Key| Command::of(**key, self).is_some_and(|found| found.name == command.name);
        self.settings.keys.of(command).iter().find(works).copied()
    }

    /// How messages name the way to a command: its first key, or its name in the palette.
    pub fn way_to(&self, name: &'static str) -> String {
        let first = Command::named(name).and_then(|command| self.settings.keys.of(command).first());
        first.map_or_else(|| format!("`{name}`"), ToString::to_string)
    }
}

fn most(height: u16) -> usize {
    usize::from(height / 5).clamp(2, 4)
}

impl Model {
    /// Why a key does nothing here; none where a line is typed, for other keys have never meant anything there.
    pub(in crate::app) fn off_words(&self, key: Key) -> Option<String> {
        let place = self.place();
        if place.has_line() || place.types(key) || self.is_quitting {
            return None;
        }
        let known: Vec<_> = self.settings.keys.having(key).collect();
        let here = known.iter().filter(|command| command.place.contains(place));
        let missing: Vec<_> = here.filter_map(|command| Some((command.name, command.when.missing(self)?))).collect();
        // Of many none is the one that was meant.
        Some(match (missing.as_slice(), known.as_slice()) {
            ([("back", _)], _) if self.screen == Screen::File && !self.is_document() => {
                let (other, quit) = (self.way_to("other-file"), self.way_to("quit"));
                format!("{key} goes back no further than to the file: {other} leaves it for another, {quit} quits.")
            }
            ([_] | [_, _], _) => {
                let needs: Vec<_> = missing.iter().map(|(_, what)| *what).collect();
                format!("{key} does nothing now: it needs {}.", needs.join(", or "))
            }
            ([], [command]) => {
                format!("{key} does nothing here: it works {}.", command.place.words())
            }
            _ => format!("{key} does nothing here; {} shows the keys that do.", self.way_to("help")),
        })
    }

    /// The message to the user in rows; none in plain mode.
    pub fn message(&self) -> Vec<String> {
        let Some(notice) = self.notice.as_ref().filter(|_| !self.settings.is_plain) else { return Vec::new() };
        let columns = usize::from(self.size.width.saturating_sub(2)).max(10);
        words_in_rows_cut(&notice.text, columns, most(self.size.height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(changes: &[(&str, &[&str])]) -> Result<Keymap, Vec<Mistake>> {
        let changes: Vec<_> = changes.iter().map(|(command, keys)| Change { command, keys: keys.to_vec() }).collect();
        Keymap::read(&changes)
    }

    fn mistake(changes: &[(&str, &[&str])]) -> String {
        read(changes).unwrap_err().into_iter().map(|found| format!("{}: {}\n", found.change, found.words)).collect()
    }

    #[test]
    fn keys_are_given_and_taken_away() {
        let map = read(&[("zoom", &["f11", "alt-z", "f11"]), ("planner", &["none"])]).unwrap();
        let words = |name| map.words(Command::named(name).unwrap());
        assert_eq!((words("zoom"), words("planner"), words("help")), ("f11 alt-z".into(), String::new(), "?".into()));
    }

    #[test]
    fn what_is_wrong_is_said_of_each_change() {
        let all = mistake(&[("zooom", &["x"]), ("zoom", &["hyper-x"]), ("refresh", &["R"])]);
        assert!(all.contains("0: no command is called `zooom`; perhaps zoom"), "{all}");
        assert!(all.contains("1: `hyper-x`: there is no key of this name"), "{all}");
        assert!(all.contains("2: R does refresh-list already, in the list of sandboxes"), "{all}");
        assert!(mistake(&[("quit", &["none"])]).contains("quit needs a key"));
        assert!(mistake(&[("confirm", &["x"])]).contains("each question names"));
        assert!(mistake(&[("choose", &["x"])]).contains("typed as a letter"));
        assert!(mistake(&[("zoom", &["1"])]).contains("pane-processes already"));
    }

    #[test]
    fn commands_that_never_meet_share_a_key_and_two_can_change_places() {
        read(&[("open", &["f9"]), ("whole-row", &["f9"]), ("next-page", &["f9"])]).unwrap();
        read(&[("refresh", &["R"]), ("refresh-list", &["r"])]).unwrap();
    }
}
