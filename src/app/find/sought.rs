//! The line of a list that says which of its rows are shown, and the line that takes what is typed where nothing can be.

use crate::app::Command;
use crate::app::keys::key::Key;
use crate::app::keys::typing::type_into;
use crate::app::model::Model;
use crate::app::over::form::{Form, FormSource};
use crate::app::over::overlay::Overlay;

/// What is sought among the rows of a list.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    pub typed: String,
    /// Whether keys go into it.
    pub is_typing: bool,
}

impl ListFilter {
    /// The rows that it takes above those of the list.
    pub fn rows(&self) -> usize {
        usize::from(self.is_typing || !self.typed.is_empty())
    }

    /// Whether a row that says this in small letters holds every word that is typed.
    pub fn is_in(&self, text: &str) -> bool {
        self.typed.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }

    pub(in crate::app) fn press(&mut self, key: Key, most: usize) -> bool {
        self.is_typing && type_into(&mut self.typed, key, most)
    }
}

/// Commands that open a line to type into: whoever presses the key of one goes on with words.
const OPEN_A_LINE: [&str; 6] = ["filter", "find", "find-from-list", "find-held", "palette", "note"];

/// A form that is typed into where nothing can be: what follows a key that is off would act as keys otherwise.
pub type IdleLine = Form<TypeAheadGuard>;

/// Why nothing can be typed.
#[derive(Debug)]
pub struct TypeAheadGuard {
    pub why: String,
}

impl FormSource for TypeAheadGuard {}

impl Model {
    /// Takes a key that means nothing here: one that opens a line elsewhere opens one that does nothing, of the others it is said.
    pub(in crate::app) fn take_off_key(&mut self, key: Key) {
        let opens = |command: &'static Command| OPEN_A_LINE.contains(&command.name);
        let Some(why) = self.off_words(key) else { return };
        if self.settings.keys.having(key).any(opens) {
            self.over.put(Overlay::Idle(IdleLine::with_fields(TypeAheadGuard { why }, 1)));
        } else {
            self.say(why);
        }
    }

    /// Begins to type what is sought in the list that has the keys, or ends it; what was found stays.
    pub(in crate::app) fn seek_in_list(&mut self, is_typing: bool) {
        if let Some(line) = self.over.top_mut().and_then(Overlay::sought_mut) {
            line.is_typing = is_typing;
        }
        self.settle_over();
    }

    /// Shows every row of the list again.
    pub(in crate::app) fn drop_sought(&mut self) {
        if let Some(line) = self.over.top_mut().and_then(Overlay::sought_mut) {
            *line = ListFilter::default();
        }
        self.sift_list()
    }

    /// Shows the rows of the list that hold every word that is typed.
    pub(in crate::app) fn sift_list(&mut self) {
        if let Some(Overlay::Compare(_)) = self.over.top() {
            return self.sift();
        }
        let report = self.open().map(|open| open.report.clone());
        if let Some(list) = self.over.top_mut() {
            list.sift(report.as_ref());
        }
        self.settle_over();
    }
}
