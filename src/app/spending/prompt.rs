//! The line that the words of a question are typed into.

use super::asks::Ask;
use crate::app::keys::key::Key;
use crate::app::keys::place::Place;
use crate::app::keys::typing::type_into;
use crate::app::message::Failure;
use crate::app::over::overlay::{SMALL, Stands};
use crate::request::Request;
use jiff::Timestamp;

/// A question whose words are typed.
#[derive(Debug)]
pub struct Prompt {
    pub ask: &'static Ask,
    pub typed: String,
    /// Since when the answer to what is typed is held, as far as it has been looked up.
    pub held: Option<(Request, Timestamp)>,
    /// The last call failed so.
    pub failure: Option<Failure>,
}

impl Prompt {
    /// An empty line.
    pub fn new(ask: &'static Ask) -> Self {
        Self { ask, typed: String::new(), held: None, failure: None }
    }

    /// The question, or what is missing.
    pub fn request(&self, now: Timestamp) -> Result<Request, String> {
        (self.ask.make)(&self.typed, now)
    }

    pub fn asks(&self, request: &Request, now: Timestamp) -> bool {
        self.request(now).is_ok_and(|asked| asked == *request)
    }

    /// Since when the answer is held.
    pub fn held_since(&self, now: Timestamp) -> Option<Timestamp> {
        let request = self.request(now).ok()?;
        self.held.as_ref().filter(|(held, _)| *held == request).map(|(_, since)| *since)
    }
}

impl Stands for Prompt {
    fn place(&self) -> Place {
        Place::Prompt
    }

    /// Room for the line, and for all that a failure says.
    fn height(&self, columns: usize) -> usize {
        self.failure.as_ref().map_or(0, |failure| failure.rows(columns) + 1).max(SMALL)
    }

    fn press(&mut self, key: Key, most: usize) -> bool {
        self.failure = None;
        type_into(&mut self.typed, key, most)
    }
}
