//! What an analyst wrote about a report, or about one thing in it.

use super::identifier::{Identifier, Sha256};
use crate::text::Untrusted;
use jiff::Timestamp;

/// Bytes of an item's text that tell it from others; the rest of a longer one does not count.
const TELLING: usize = 4096;

/// The longest note that is taken, in bytes.
pub const LONGEST: usize = 4096;

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub about: About,
    /// The file whose report it is, if that is known.
    pub file: Option<Sha256>,
    /// The words: typed or pasted, and so not to be trusted more than anything pasted.
    pub text: Untrusted,
    /// When they were written last.
    pub written: Timestamp,
}

/// What a note is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct About {
    /// The report.
    pub identifier: Identifier,
    /// The thing in it; none for the report itself.
    pub item: Option<Item>,
}

/// A thing in a report, by what it says and not by its place: fetched again, the report has it still, wherever it stands.
///
/// Rows of an attribute that read the same are one item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// The attribute that lists it.
    pub attribute: Untrusted,
    /// Its text as a pane shows it; the first 4 KiB.
    pub text: Untrusted,
}

impl Item {
    /// The item of an attribute with this text.
    #[must_use]
    pub fn new(attribute: Untrusted, text: &[u8]) -> Self {
        Self { attribute, text: Untrusted::from(text.get(..TELLING).unwrap_or(text)) }
    }
}

impl About {
    /// A report as a whole.
    #[must_use]
    pub fn report(identifier: Identifier) -> Self {
        Self { identifier, item: None }
    }
}
