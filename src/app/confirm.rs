//! A question that waits for a clear yes.

use super::overlay::{SMALL, Stands};
use super::place::Place;
use super::saving::Save;
use crate::report::Purge;
use crate::report::identifier::Sha256;
use crate::request::Request;

/// Something that waits for a clear yes: it makes something public, costs more than is let pass without, or may do harm.
#[derive(Debug)]
pub struct Confirm {
    /// What is done.
    pub what: Confirmed,
    /// Why a yes is wanted.
    pub why: String,
}

impl Confirmed {
    /// What a yes does, in words, and the command that is that yes.
    #[must_use]
    pub fn yes(&self) -> (&'static str, &'static str) {
        match self {
            Self::One(_) => ("sends it", "confirm"),
            Self::All => ("sends it", "confirm-all"),
            Self::Raw => ("copies it", "confirm-copy"),
            Self::Replace(_) => ("writes over it", "save-over"),
            Self::NoNote => ("deletes it", "confirm-no-note"),
            Self::Purge(_) => ("deletes it", "confirm-purge"),
            Self::Large => ("sends it", "confirm-large"),
            Self::Follow => ("follows it", "confirm-follow"),
            Self::AtService(_) => ("deletes all of it", "confirm-delete-all"),
        }
    }
}

impl Stands for Confirm {
    fn place(&self) -> Place {
        Place::Confirm
    }

    fn height(&self) -> usize {
        SMALL
    }
}

/// What a yes does.
#[derive(Debug)]
pub enum Confirmed {
    /// One question is sent.
    One(Request),
    /// Every report of the list that is not held.
    All,
    /// Nothing: text is copied as it is.
    Raw,
    /// Nothing: a file is written over.
    Replace(Save),
    /// Nothing is sent: the note whose line was emptied is deleted.
    NoNote,
    /// Nothing is sent: what is held is deleted.
    Purge(Purge),
    /// The large file of the form behind it is sent.
    Large,
    /// The scan of a file is followed that has reports already.
    Follow,
    /// A file is deleted at the service, in one way or another.
    AtService(Sha256),
}
