//! The palette: everything that can be done here, found by typing some of its letters; and the line that a question's words
//! are typed into.

use super::asks::{ASKS, Ask};
use super::commands::Command;
use super::held::Purging;
use super::model::Model;
use super::panes::{Move, Scroll};
use crate::request::Request;
use jiff::Timestamp;

/// Everything that can be done here.
#[derive(Debug)]
pub struct Palette {
    /// What has been typed.
    pub typed: String,
    /// Cursor among the items that match.
    pub scroll: Scroll,
    items: Vec<Item>,
}

/// Something that can be done.
#[derive(Debug, Clone)]
pub struct Item {
    /// What it does.
    pub does: Does,
    /// Its key, where it has one.
    pub key: String,
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub help: &'static str,
    /// Its price; none for what asks the service for nothing.
    pub price: Option<String>,
}

/// What an item does.
#[derive(Debug, Clone, Copy)]
pub enum Does {
    /// Runs a command.
    Command(&'static Command),
    /// Asks for the words of a question.
    Ask(&'static Ask),
}

impl Palette {
    /// What can be done right now.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let commands = Command::applying(model).map(|command| Item {
            does: Does::Command(command),
            key: command.first_key(),
            name: command.name,
            help: command.help,
            price: command.asks().then(|| model.tag(command).words()),
        });
        let asks = ASKS.iter().map(|ask| Item {
            does: Does::Ask(ask),
            key: String::new(),
            name: ask.name,
            help: ask.help,
            price: Some("priced as you type".to_owned()).filter(|_| !ask.input.is_empty()),
        });
        let items = if model.is_document() { commands.collect() } else { commands.chain(asks).collect() };
        Self { typed: String::new(), scroll: Scroll::default(), items }
    }

    /// The items that match what has been typed, the best first.
    #[must_use]
    pub fn matching(&self) -> Vec<&Item> {
        let rated = self.items.iter().filter_map(|item| Some((rate(&self.typed, item)?, item)));
        let mut found: Vec<_> = rated.collect();
        found.sort_by_key(|(rating, _)| *rating);
        found.into_iter().map(|(_, item)| item).collect()
    }

    /// The chosen item.
    #[must_use]
    pub fn chosen(&self) -> Option<&Item> {
        self.matching().get(self.scroll.cursor).copied()
    }

    /// Moves among the items that match.
    pub fn go(&mut self, movement: Move, height: usize) {
        let count = self.matching().len();
        self.scroll.go(movement, count, height);
    }
}

/// How well letters match an item: in its name at once, in its name apart, in its help; none where they do not.
fn rate(typed: &str, item: &Item) -> Option<usize> {
    let (typed, help) = (typed.to_lowercase(), item.help.to_lowercase());
    if typed.is_empty() {
        return Some(0);
    }
    let apart = || is_subsequence(&typed, item.name).then_some(100);
    let in_help = || help.find(&typed).map(|at| 200 + at);
    item.name.find(&typed).or_else(apart).or_else(in_help)
}

fn is_subsequence(letters: &str, text: &str) -> bool {
    let mut rest = text.chars();
    letters.chars().all(|letter| rest.any(|found| found == letter))
}

/// The line that the words of a question are typed into.
#[derive(Debug)]
pub struct Prompt {
    /// The question.
    pub ask: &'static Ask,
    /// What has been typed.
    pub typed: String,
    /// Since when the answer to what is typed is held, as far as it has been looked up.
    pub held: Option<(Request, Timestamp)>,
    /// The last call failed so.
    pub failure: Option<super::message::Failure>,
}

impl Prompt {
    /// An empty line.
    #[must_use]
    pub fn new(ask: &'static Ask) -> Self {
        Self { ask, typed: String::new(), held: None, failure: None }
    }

    /// The question, or what is missing.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn request(&self, now: Timestamp) -> Result<Request, String> {
        (self.ask.make)(&self.typed, now)
    }

    /// Since when the answer is held.
    #[must_use]
    pub fn held_since(&self, now: Timestamp) -> Option<Timestamp> {
        let request = self.request(now).ok()?;
        self.held.as_ref().filter(|(held, _)| *held == request).map(|(_, since)| *since)
    }
}

/// Something that waits for a clear yes: it makes something public, or costs more than is let pass without.
#[derive(Debug)]
pub struct Confirm {
    /// What is asked of the service.
    pub what: Confirmed,
    /// Why a yes is wanted.
    pub why: String,
}

/// What a yes sends.
#[derive(Debug)]
pub enum Confirmed {
    /// One question.
    One(Request),
    /// Every report of the list that is not held.
    All,
    /// Nothing is sent: the note whose line was emptied is deleted.
    NoNote,
    /// Nothing is sent: what is held is deleted.
    Purge(Purging),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::Service;

    #[test]
    fn letters_find_what_is_meant() {
        let model = Model::new(Service { has_key: true, ..Service::default() }, Timestamp::UNIX_EPOCH);
        let mut palette = Palette::of(&model);
        let mut first = |typed: &str| {
            palette.typed = typed.to_owned();
            palette.matching().first().map(|item| item.name)
        };
        assert_eq!(first("resc"), Some("v3-rescan"));
        assert_eq!(first("v2rep"), Some("v2-file-report"));
        assert_eq!(first("Upload a file"), Some("v2-file-scan"));
        assert_eq!(first("zzz"), None);
    }
}
