//! An analyst's notes on reports and on the items in them.

use super::identifier::{Identifier, Sha256};
use super::rows::{Report, Row, RowPlace};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Maximum of bytes of an item's text that identify it; the rest is ignored.
const MAX_ITEM_BYTES: usize = 4096;

/// Maximum length of a note, in bytes.
pub const LONGEST: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub about: NoteSubject,
    /// The file of the report, if known.
    pub file: Option<Sha256>,
    /// The text. It may be pasted, so it is untrusted.
    pub text: Untrusted,
    /// When it was last written; of a colleague's note, when it was shared.
    pub written: Timestamp,
    /// The colleague who wrote it; `None` for the user.
    pub author: Option<Untrusted>,
}

impl Note {
    /// Returns the text, of a colleague's note with the name and the time.
    pub fn label(&self) -> Untrusted {
        self.author.as_ref().map_or_else(|| self.text.clone(), |author| self.quoted(&author.visible_cut(40)).into())
    }

    /// Quotes the text, so that no text can look like a second note.
    fn quoted(&self, author: &dyn Display) -> String {
        let text = self.text.visible().to_string().replace(['“', '”'], "\"");
        format!("“{text}” ({author}, {})", self.written.strftime("%F %R"))
    }

    /// Returns one note with the texts of all.
    fn joined(notes: Vec<Self>) -> Option<Self> {
        let quoted = |note: &Self| note.author.as_ref().map_or_else(|| note.quoted(&"you"), |_| note.label().unicode());
        let text = match notes.as_slice() {
            [note] => note.label(),
            several => several.iter().map(quoted).collect::<Vec<_>>().join(" · ").into(),
        };
        let first = notes.into_iter().next()?;
        Some(Self { text, ..first })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoteSubject {
    pub identifier: Identifier,
    /// The item in it; `None` for the report itself.
    pub item: Option<Item>,
}

/// An item in a report, identified by its text, so that it is found in the report fetched again.
///
/// Rows of an attribute with the same text are one item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// The attribute that lists it.
    pub attribute: Untrusted,
    /// Its text as a pane shows it; the first 4 KiB.
    pub text: Untrusted,
}

impl Item {
    pub fn new(attribute: Untrusted, text: &[u8]) -> Self {
        Self { attribute, text: Untrusted::from(distinctive_part(text)) }
    }
}

fn distinctive_part(text: &[u8]) -> &[u8] {
    text.get(..MAX_ITEM_BYTES).unwrap_or(text)
}

impl NoteSubject {
    pub fn report(identifier: Identifier) -> Self {
        Self { identifier, item: None }
    }
}

/// The notes on one report and on the items in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    whole: Option<Note>,
    items: BTreeMap<Item, Note>,
}

impl Notes {
    pub fn on_report(&self) -> Option<&Note> {
        self.whole.as_ref()
    }

    pub fn on_item(&self, item: &Item) -> Option<&Note> {
        self.items.get(item)
    }

    /// Returns the note on a row that has been decoded.
    pub fn on_row(&self, report: &Report, section: usize, row: &Row) -> Option<&Note> {
        // Most reports have no notes, so their rows are not decoded.
        if self.items.is_empty() { None } else { self.on_item(&report.item(section, row)?) }
    }

    /// Returns every note on an item, with the item, in its order.
    pub fn items(&self) -> impl Iterator<Item = (&Item, &Note)> {
        self.items.iter()
    }
}

/// Notes of several persons on the same become one that has all of them.
impl FromIterator<Note> for Notes {
    fn from_iter<I: IntoIterator<Item = Note>>(notes: I) -> Self {
        let mut items = BTreeMap::<_, Vec<Note>>::new();
        notes.into_iter().for_each(|note| items.entry(note.about.item.clone()).or_default().push(note));
        let mut all = Self::default();
        for (item, notes) in items {
            match (Note::joined(notes), item) {
                (Some(note), Some(item)) => drop(all.items.insert(item, note)),
                (note, _) => all.whole = note,
            }
        }
        all
    }
}

impl Report {
    /// Returns the first row that shows an item; `None` if the report no longer has it.
    pub fn find_item(&self, item: &Item) -> Option<RowPlace> {
        let sections = (0..).zip(&self.index.sections).filter(|(_, section)| section.name == item.attribute);
        let mut text = Vec::new();
        let mut rows = sections.flat_map(|(section, _)| self.each_row(section));
        let found = rows.find(|row| {
            text.clear();
            row.decoded().push_text(&mut text);
            distinctive_part(&text) == item.text.as_bytes()
        });
        found.map(|row| row.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_found_where_its_text_first_stands() {
        let json = r#"{"tags":["A","B","A"],"registry_keys_set":[{"key":"K","value":"V"}],"odd":7,
            "processes_tree":[{"children":[{"name":"b","process_id":2}],"name":"a","process_id":1}]}"#;
        let report = Report::of_json(json);
        let mut count = 0;
        for (section, found) in report.index.sections.iter().enumerate() {
            for row in 0..found.len() {
                let item = report.item(section, &report.row(section, row)).unwrap();
                let first = if row == 2 { 0 } else { row };
                assert_eq!(report.find_item(&item), Some(RowPlace { section, row: first }), "{item:?}");
                count += 1;
            }
        }
        assert_eq!(count, 7);
        assert_eq!(report.find_item(&Item::new(Untrusted::from("tags"), b"C")), None);
    }
}
