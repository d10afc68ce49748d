//! What a command is: a key, its words, where it applies, what it asks of the service, what it does.
//!
//! Dispatch, status bar, help, palette and the README's key table all read the table of them. A command reaches the network
//! only by [`Act::Ask`] and [`Act::Each`], whose questions and prices are pure functions of the model: so the price can be
//! shown before the key is pressed.

mod away;
mod compare;
mod context;
mod find;
mod held;
mod moving;
mod over;
mod report;
mod sandboxes;

use super::key::Key;
use super::message::Effect;
use super::model::Model;
use crate::request::Request;

/// Every command, by what it is about. Where two have the same key, the first that applies is meant.
pub static COMMANDS: [&[Command]; 8] = [
    find::COMMANDS,
    sandboxes::COMMANDS,
    report::COMMANDS,
    compare::COMMANDS,
    away::COMMANDS,
    over::COMMANDS,
    held::COMMANDS,
    moving::COMMANDS,
];

/// One command.
pub struct Command {
    /// Name in the palette and the README; unique.
    pub name: &'static str,
    /// The keys that do it.
    pub keys: &'static [Key],
    /// What the bar calls it.
    pub label: &'static str,
    /// What help says of it.
    pub help: &'static str,
    /// How early it comes in the bar, 1 first; 0 for those that everybody knows, or that are looked up.
    pub rank: u8,
    /// Whether it applies right now.
    pub applies: fn(&Model) -> bool,
    /// What it does.
    pub act: Act,
}

/// What a command does.
pub enum Act {
    /// Something that costs nothing.
    Local(fn(&mut Model) -> Vec<Effect>),
    /// Asks the service several questions, one after another: what they cost together, and how they begin.
    Each(fn(&Model) -> String, fn(&mut Model) -> Vec<Effect>),
    /// Asks the service, unless the answer is held.
    Ask {
        /// The question.
        request: fn(&Model) -> Option<Request>,
        /// Whether its answer is held, and serves as well.
        is_held: fn(&Model) -> bool,
        /// What is done with an answer that is held.
        with_held: fn(&mut Model) -> Vec<Effect>,
        /// Whether the service is asked though an answer may be held.
        anew: bool,
    },
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Command({})", self.name)
    }
}

impl Command {
    /// Every command, in the order of the table.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        COMMANDS.iter().copied().flatten()
    }

    /// The command that a key means right now.
    #[must_use]
    pub fn of(key: Key, model: &Model) -> Option<&'static Self> {
        Self::all().find(|command| command.keys.contains(&key) && (command.applies)(model))
    }

    /// Whether it asks the service.
    #[must_use]
    pub fn asks(&self) -> bool {
        !matches!(self.act, Act::Local(_))
    }

    /// The question that it asks right now, if it is one.
    #[must_use]
    pub fn request(&self, model: &Model) -> Option<Request> {
        match &self.act {
            Act::Ask { request, .. } => request(model),
            Act::Local(_) | Act::Each(..) => None,
        }
    }

    /// The key that bar and messages name.
    #[must_use]
    pub fn first_key(&self) -> String {
        self.keys.first().map(ToString::to_string).unwrap_or_default()
    }

    /// The commands that apply right now, those behind a key that an earlier one takes left out.
    pub fn applying(model: &Model) -> impl Iterator<Item = &'static Self> + '_ {
        // Where words are typed, letters are no commands.
        let is_typed = |command: &Self| model.is_seeking() && matches!(command.keys.first(), Some(Key::Char(_)));
        Self::all().filter(move |command| {
            (command.applies)(model)
                && !is_typed(command)
                && command.keys.iter().any(|key| Self::of(*key, model).is_some_and(|c| c.name == command.name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_stand_once_and_pane_keys_are_free() {
        let names: HashSet<_> = Command::all().map(|command| command.name).collect();
        assert_eq!(names.len(), Command::all().count());
        let keys: HashSet<_> = Command::all().flat_map(|command| command.keys).collect();
        for info in &crate::app::PANES {
            assert!(!keys.contains(&info.key) || info.key == Key::Char('t'), "{}", info.key);
        }
    }
}
