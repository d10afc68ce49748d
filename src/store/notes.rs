//! Notes of analysts on reports and on items, stored apart from the reports.

use super::error::StoreError;
use super::format::moment;
use super::records::Store;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::note::Notes;
use crate::report::{About, Item, Note};
use crate::text::Untrusted;
use rusqlite::{Params, Row, params};

impl Store {
    /// Writes a note, and replaces one whose text is `known`: any other note in its place was
    /// written meanwhile, and stays. Returns whether it was written. A note belongs to the file
    /// that it was first written with.
    pub fn write_note(&self, note: &Note, known: Option<&Untrusted>) -> Result<bool, StoreError> {
        let (attribute, item) = item_columns(&note.about);
        let (identifier, file) = (note.about.identifier.as_bytes(), note.file.as_ref().map(Sha256::as_str));
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO note (identifier, is_item, attribute, item, file, text, written)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT DO UPDATE
                     SET text = excluded.text, written = excluded.written, file = COALESCE(file, excluded.file)
                     WHERE text IN (?8, excluded.text)",
                params![
                    identifier,
                    note.about.item.is_some(),
                    attribute,
                    item,
                    file,
                    note.text.as_bytes(),
                    note.written.as_millisecond(),
                    known.map(Untrusted::as_bytes)
                ],
            )
        })
        .map(|written| written > 0)
    }

    /// Deletes a note if its text is `known`; returns whether none is left in its place.
    pub fn delete_note(&self, about: &About, known: &Untrusted) -> Result<bool, StoreError> {
        let (attribute, item) = item_columns(about);
        let which = "identifier = ?1 AND is_item = ?2 AND attribute = ?3 AND item = ?4";
        self.write(|connection| {
            let (identifier, is_item) = (about.identifier.as_bytes(), about.item.is_some());
            let delete = format!("DELETE FROM note WHERE {which} AND text = ?5");
            connection.execute(&delete, params![identifier, is_item, attribute, item, known.as_bytes()])?;
            let mut left = connection.prepare(&format!("SELECT 1 FROM note WHERE {which}"))?;
            Ok(!left.exists(params![identifier, is_item, attribute, item])?)
        })
    }

    /// All notes, the one written last first.
    pub fn notes(&self) -> Result<Vec<Note>, StoreError> {
        self.select_notes("TRUE", [])
    }

    /// The notes on one report and on the items in it.
    pub fn notes_on(&self, identifier: &Identifier) -> Result<Notes, StoreError> {
        let found = self.select_notes("identifier IN (?1, CAST(?1 AS TEXT))", [identifier.as_bytes()])?;
        Ok(found.into_iter().collect())
    }

    fn select_notes(&self, which: &str, values: impl Params) -> Result<Vec<Note>, StoreError> {
        let select = format!(
            "SELECT identifier, is_item, attribute, item, file, text, written FROM note
             WHERE {which} ORDER BY written DESC, rowid DESC"
        );
        let notes = self.read(|connection| {
            let mut select = connection.prepare_cached(&select)?;
            select.query_map(values, read)?.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        Ok(notes.into_iter().flatten().collect())
    }
}

/// The columns that identify an item; empty for a report as a whole.
fn item_columns(about: &About) -> (&[u8], &[u8]) {
    about.item.as_ref().map_or((b"", b""), |item| (item.attribute.as_bytes(), item.text.as_bytes()))
}

/// Text from an analyst: a database that was edited by hand may have TEXT instead of a BLOB.
fn outside(row: &Row<'_>, column: usize) -> rusqlite::Result<Untrusted> {
    let value = row.get_ref(column)?;
    let is_other = |_| rusqlite::Error::InvalidColumnType(column, "of a note".to_owned(), value.data_type());
    value.as_bytes().map(Untrusted::from).map_err(is_other)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<Note>> {
    let Some(identifier) = Identifier::new(outside(row, 0)?) else { return Ok(None) };
    let item = if row.get(1)? { Some(Item { attribute: outside(row, 2)?, text: outside(row, 3)? }) } else { None };
    let file = row.get::<_, Option<String>>(4)?.and_then(|file| Sha256::parse(&file));
    Ok(Some(Note { about: About { identifier, item }, file, text: outside(row, 5)?, written: moment(row.get(6)?) }))
}
