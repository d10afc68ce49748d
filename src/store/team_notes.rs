//! Notes of a team: the user's that are to be shared, and copies of those of colleagues.

use super::Result;
use super::outbox::machine;
use super::records::Store;
use super::work::{NOTE_COLUMNS, item_columns, note_of};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Note, NoteSubject};
use rusqlite::params;

/// A note that is to be shared, by its number in this store. One without text deletes the earlier.
pub type UnsharedNote = (i64, Note);

impl Store {
    /// Records that a note is to be shared; one without text, that a shared one is deleted.
    pub fn record_unshared_note(&self, service: &str, note: &Note, session: &str) -> Result<()> {
        let (is_item, attribute, item) = item_columns(&note.about);
        let identifier = note.about.identifier.as_bytes();
        let file = note.file.as_ref().map(Sha256::as_str);
        let values = params![service, identifier, is_item, attribute, item, file, note.text.as_bytes()];
        // A deletion says what the note was about: nothing is said of one that was never shared.
        let insert = "INSERT INTO shared_note (service, identifier, is_item, attribute, item, file, text)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?7 <> x'' OR EXISTS (SELECT 1 FROM shared_note
                 WHERE service = ?1 AND identifier = ?2 AND is_item = ?3 AND attribute = ?4 AND item = ?5)";
        self.with_outbox(|transaction| {
            machine(transaction, session)?;
            transaction.execute(insert, values).map(drop)
        })
    }

    /// Returns the notes that are still to be shared, oldest first, and this store's name.
    pub fn unshared_notes(&self, service: &str, session: &str) -> Result<(String, Vec<UnsharedNote>)> {
        let select = format!(
            "SELECT {NOTE_COLUMNS}, 0 AS written, NULL AS person, number FROM shared_note
             WHERE service = ?1 AND text IS NOT NULL ORDER BY number LIMIT 100"
        );
        self.with_outbox(|transaction| {
            let machine = machine(transaction, session)?;
            let mut select = transaction.prepare(&select)?;
            let rows = select.query_map([service], |row| Ok((row.get(8)?, note_of(row)?)))?;
            let rows: Vec<(i64, _)> = rows.collect::<rusqlite::Result<_>>()?;
            Ok((machine, rows.into_iter().filter_map(|(number, note)| Some((number, note?))).collect()))
        })
    }

    /// Records that a note is shared, or cannot be; its text is not stored twice.
    pub fn record_shared_note(&self, number: i64) -> Result<()> {
        let update = "UPDATE shared_note SET text = NULL WHERE number = ?1";
        self.write(|transaction| transaction.execute(update, [number]).map(drop))
    }

    /// Replaces the copies of colleagues' notes on these reports; returns whether they differ.
    pub fn replace_team_notes(&self, reports: &[Identifier], notes: &[Note]) -> Result<bool> {
        let stored = self.notes()?.into_iter().filter(|note| note.author.is_some());
        let stored: Vec<_> = stored.filter(|note| reports.contains(&note.about.identifier)).collect();
        if stored.len() == notes.len() && stored.iter().all(|note| notes.contains(note)) {
            return Ok(false);
        }
        self.write(|transaction| {
            let mut delete = transaction.prepare("DELETE FROM team_note WHERE identifier = ?1")?;
            reports.iter().try_for_each(|report| delete.execute([report.as_bytes()]).map(drop))?;
            let insert = format!(
                "INSERT INTO team_note ({NOTE_COLUMNS}, written, person) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
            );
            let mut insert = transaction.prepare(&insert)?;
            for Note { about, file, text, written, author } in notes {
                let (is_item, attribute, item) = item_columns(about);
                let NoteSubject { identifier, .. } = about;
                let file = file.as_ref().map(Sha256::as_str);
                let author = author.as_ref().map(|author| author.unicode());
                let written = written.as_millisecond();
                let text = text.as_bytes();
                insert.execute(params![
                    identifier.as_bytes(),
                    is_item,
                    attribute,
                    item,
                    file,
                    text,
                    written,
                    author
                ])?;
            }
            Ok(())
        })?;
        Ok(true)
    }
}
