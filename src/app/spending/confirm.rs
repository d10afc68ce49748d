//! A question that waits for a clear yes.

use super::questions::Questions;
use crate::app::away::saving::Save;
use crate::app::keys::place::Place;
use crate::app::model::Model;
use crate::app::over::overlay::{Overlay, SMALL, Stands};
use crate::report::identifier::Sha256;
use crate::report::{Doomed, Holding, Purge};
use crate::request::{Request, Submission};
use crate::text::words_in_rows;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;

/// Rows that the keys of a question take where there is little room.
const KEYS: usize = 2;

/// Something that waits for a clear yes: it makes something public, costs more than is let pass without, or may do harm.
#[derive(Debug)]
pub struct Confirm {
    pub what: Confirmed,
    /// Why a yes is wanted.
    pub why: String,
}

impl Confirm {
    /// Its keys, and what each does, in so many columns.
    pub fn keys(&self, model: &Model, columns: usize) -> Vec<String> {
        let (does, command) = self.what.yes();
        let does = match &self.what {
            Confirmed::AtService(_) => format!("{does}, {} the file alone", model.way_to("confirm-delete-file")),
            _ => does.to_owned(),
        };
        words_in_rows(&format!("{} {does}, {} does not.", model.way_to(command), model.way_to("back")), columns)
    }
}

impl Model {
    /// Whether the question that has the keys can be answered: its keys are on the screen, and some of its words.
    pub fn can_answer(&self) -> bool {
        let Some(overlay @ Overlay::Confirm(confirm)) = self.over.top() else { return true };
        let rows = overlay.area(self.layout().content).inside().height;
        let columns = usize::from(self.overlay_room().width).max(10);
        self.size.is_enough() && confirm.keys(self, columns).len() < usize::from(rows)
    }
}

impl Confirmed {
    /// Whether a yes to it is a yes to this question.
    pub fn agrees_to(&self, request: &Request) -> bool {
        match (self, request) {
            (Self::One(asked), request) => asked == request,
            (Self::AtService(file), Request::PrivateDelete { file: deleted, .. }) => file == deleted,
            _ => false,
        }
    }

    /// What a yes does, in words, and the command that is that yes.
    pub fn yes(&self) -> (&'static str, &'static str) {
        match self {
            Self::One(_) => ("sends it", "confirm"),
            Self::All(_) => ("sends it", "confirm-all"),
            Self::Raw => ("copies it", "confirm-copy"),
            Self::Replace(_) => ("writes over it", "save-over"),
            Self::NoNote => ("deletes it", "confirm-no-note"),
            Self::Purge(doomed) if doomed.is_of_several() => ("deletes all of it", "confirm-purge-all"),
            Self::Purge(_) => ("deletes it", "confirm-purge"),
            Self::Large(_) => ("sends it", "confirm-large"),
            Self::Follow => ("follows it", "confirm-follow"),
            Self::AtService(_) => ("deletes all of it", "confirm-delete-all"),
        }
    }
}

impl Stands for Confirm {
    fn place(&self) -> Place {
        Place::Confirm
    }

    /// All of its words, and its keys.
    fn height(&self, columns: usize) -> usize {
        (words_in_rows(&self.why, columns).len() + KEYS).max(SMALL)
    }
}

/// What is to be deleted, and what the question named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub what: Purge,
    /// What goes with it, as it was counted.
    pub things: Vec<Holding>,
    /// How many notes go with it.
    pub notes: u64,
}

impl Deletion {
    /// What is deleted of all that is stored.
    pub fn of(what: Purge, held: &[Holding]) -> Self {
        let Doomed { things, notes, .. } = Doomed::of(from_ref(&what), held, None);
        Self { things: things.into_iter().cloned().collect(), notes, what }
    }

    /// Whether nothing would be deleted.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }

    /// Whether more than one thing goes: what is pressed without looking is no yes to that.
    pub fn is_of_several(&self) -> bool {
        self.things.len() > 1
    }

    /// How many bytes go, as received.
    pub fn bytes(&self) -> u64 {
        self.things.iter().map(|thing| thing.bytes).fold(0, u64::saturating_add)
    }

    /// Whether these are the same things with as many notes.
    pub fn is_still(&self, held: &[Holding]) -> bool {
        let (things, left) = (self.things.iter().collect(), Vec::new());
        let asked = Doomed { things, left, noted: BTreeSet::new(), notes: self.notes };
        asked.named() == Doomed::of(from_ref(&self.what), held, None).named()
    }
}

/// What a yes does.
#[derive(Debug)]
pub enum Confirmed {
    One(Request),
    /// These reports, which are not held.
    All(Questions),
    /// Nothing: text is copied as it is.
    Raw,
    /// Nothing: a file is written over.
    Replace(Save),
    /// Nothing is sent: the note whose line was emptied is deleted.
    NoNote,
    /// Nothing is sent: what is held is deleted.
    Purge(Deletion),
    /// This large file is sent.
    Large(Arc<Submission>),
    /// The scan of a file is followed that has reports already.
    Follow,
    /// A file is deleted at the service, in one way or another.
    AtService(Sha256),
}
