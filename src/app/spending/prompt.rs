//! The form of a question whose words are typed.

use super::asks::Ask;
use crate::app::over::form::{Form, FormSource};
use crate::app::over::overlay::SMALL;
use crate::request::Request;
use jiff::Timestamp;

/// A form for the words of a question.
pub type Prompt = Form<TypedQuestion>;

/// A question whose words are typed.
#[derive(Debug)]
pub struct TypedQuestion {
    pub ask: &'static Ask,
    /// Since when the answer to what is typed is stored, as far as it has been looked up.
    pub held: Option<(Request, Timestamp)>,
}

impl Prompt {
    /// An empty form; one without a line where nothing has to be typed.
    pub fn of(ask: &'static Ask) -> Self {
        Self::with_fields(TypedQuestion { ask, held: None }, usize::from(!ask.input.is_empty()))
    }

    /// The question, or what is missing.
    pub fn request(&self, now: Timestamp) -> Result<Request, String> {
        (self.source.ask.make)(self.text(), now)
    }

    pub fn asks(&self, request: &Request, now: Timestamp) -> bool {
        self.request(now).is_ok_and(|asked| asked == *request)
    }

    /// Since when the answer is stored.
    pub fn held_since(&self, now: Timestamp) -> Option<Timestamp> {
        let request = self.request(now).ok()?;
        self.source.held.as_ref().filter(|(held, _)| *held == request).map(|(_, since)| *since)
    }
}

impl FormSource for TypedQuestion {
    /// Room for the line, and for all that a failure says.
    fn height(form: &Prompt, columns: usize) -> usize {
        form.failure.as_ref().map_or(0, |failure| failure.rows(columns) + 1).max(SMALL)
    }
}
