//! Records of the user's work: notes, also those to be shared, opened files, scans, privileges.

use super::Result;
use super::ledger::Payer;
use super::outbox::machine;
use super::records::Store;
use super::report_files::moment;
use crate::quota::Entitlements;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::note::Notes;
use crate::report::{Item, Note, NoteSubject, PendingScan, RecentFile};
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Params, Row, params, params_from_iter};

/// The columns that every table of notes has.
const NOTE_COLUMNS: &str = "identifier, is_item, attribute, item, file, text";

/// A note that is to be shared, by its number in this store. One without text deletes the earlier.
pub type UnsharedNote = (i64, Note);

impl Store {
    /// Writes a note, or replaces one whose text is `known`; returns whether it did. Any other note
    /// in its place was written meanwhile by another program, and stays.
    pub fn write_note(&self, note: &Note, known: Option<&Untrusted>) -> Result<bool> {
        let known = known.map(|known| known.as_bytes().to_vec());
        let values = note_values(note, [note.written.as_millisecond().into(), known.into()]);
        let insert = "INSERT INTO note (identifier, is_item, attribute, item, file, text, written)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                      ON CONFLICT DO UPDATE
                          SET text = excluded.text, written = excluded.written, file = COALESCE(file, excluded.file)
                          WHERE text IN (?8, excluded.text)";
        Ok(self.write(|transaction| transaction.execute(insert, values))? > 0)
    }

    /// Deletes a note if its text is `known`; returns whether none is left in its place.
    pub fn delete_note(&self, about: &NoteSubject, known: &Untrusted) -> Result<bool> {
        let (is_item, attribute, item) = item_columns(about);
        let identifier = about.identifier.as_bytes();
        let which = "FROM note WHERE identifier = ?1 AND is_item = ?2 AND attribute = ?3 AND item = ?4";
        self.write(|connection| {
            let delete = format!("DELETE {which} AND text = ?5");
            connection.execute(&delete, params![identifier, is_item, attribute, item, known.as_bytes()])?;
            let mut left = connection.prepare(&format!("SELECT 1 {which}"))?;
            Ok(!left.exists(params![identifier, is_item, attribute, item])?)
        })
    }

    /// Returns all notes, those of colleagues after the user's, the one written last first.
    pub fn notes(&self) -> Result<Vec<Note>> {
        self.select_notes("TRUE", [])
    }

    /// Returns the notes on one report and on the items in it.
    pub fn notes_on(&self, identifier: &Identifier) -> Result<Notes> {
        let found = self.select_notes("identifier = ?1", [identifier.as_bytes()])?;
        Ok(found.into_iter().collect())
    }

    fn select_notes(&self, which: &str, values: impl Params) -> Result<Vec<Note>> {
        let select = format!(
            "SELECT * FROM (SELECT {NOTE_COLUMNS}, written, NULL AS person, rowid AS number FROM note
                 UNION ALL SELECT {NOTE_COLUMNS}, written, person, rowid FROM team_note)
             WHERE {which} ORDER BY person IS NOT NULL, written DESC, number DESC"
        );
        let notes: Vec<_> =
            self.read(|connection| connection.prepare(&select)?.query_map(values, note_of)?.collect())?;
        Ok(notes.into_iter().flatten().collect())
    }

    /// Records that a note is to be shared; one without text, that a shared one is deleted.
    pub fn record_unshared_note(&self, service: &str, note: &Note, session: &str) -> Result<()> {
        let values = note_values(note, [service.to_owned().into()]);
        // A deletion says what the note was about: nothing is said of one that was never shared.
        let insert = "INSERT INTO shared_note (identifier, is_item, attribute, item, file, text, service)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?6 <> x'' OR EXISTS (SELECT 1 FROM shared_note
                 WHERE identifier = ?1 AND is_item = ?2 AND attribute = ?3 AND item = ?4 AND service = ?7)";
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
            for note in notes {
                let author = note.author.as_ref().map(Untrusted::unicode);
                insert.execute(note_values(note, [note.written.as_millisecond().into(), author.into()]))?;
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Records that a file was opened. Without a name, the recorded one stays.
    pub fn record_file(&self, service: &str, file: &Sha256, name: Option<&str>, opened: Timestamp) -> Result<()> {
        let insert = "INSERT INTO file (service, sha256, name, opened) VALUES (?1, ?2, ?3, ?4)
                      ON CONFLICT DO UPDATE SET opened = excluded.opened, name = COALESCE(excluded.name, name)";
        let values = params![service, file.as_str(), name, opened.as_millisecond()];
        self.write(|transaction| transaction.execute(insert, values)).map(drop)
    }

    /// Records a scan of a file in progress; `None` if it has ended.
    pub fn record_scan(&self, service: &str, file: &Sha256, scan: Option<&PendingScan>) -> Result<()> {
        let identifier = scan.and_then(|scan| scan.identifier.as_ref()).map(|identifier| identifier.as_bytes());
        let since = scan.map(|scan| scan.since.as_millisecond());
        let write = match since {
            None => "UPDATE file SET scan = ?3, scan_since = ?4 WHERE service = ?1 AND sha256 = ?2",
            Some(_) => {
                "INSERT INTO file (service, sha256, opened, scan, scan_since) VALUES (?1, ?2, ?4, ?3, ?4)
                 ON CONFLICT DO UPDATE SET scan = excluded.scan, scan_since = excluded.scan_since"
            }
        };
        let values = params![service, file.as_str(), identifier, since];
        self.write(|transaction| transaction.execute(write, values)).map(drop)
    }

    /// Returns the scan of a file whose end has not been seen.
    pub fn pending_scan(&self, service: &str, file: &Sha256) -> Result<Option<PendingScan>> {
        let select = "SELECT scan, scan_since FROM file WHERE service = ?1 AND sha256 = ?2";
        let values = [service, file.as_str()];
        let found = self.read(|connection| connection.query_row(select, values, |row| pending(row, 0)).optional())?;
        Ok(found.flatten())
    }

    /// Files that were opened, the last one first.
    pub fn recent_files(&self, service: &str, most: u32) -> Result<Vec<RecentFile>> {
        let select =
            "SELECT sha256, name, opened, (SELECT COUNT(*) FROM note n WHERE n.file = f.sha256), scan, scan_since
                      FROM file f WHERE service = ?1 ORDER BY opened DESC LIMIT ?2";
        let read = |row: &Row<'_>| {
            let name = row.get::<_, Option<String>>(1)?.map(Untrusted::from);
            let opened = moment(row.get(2)?);
            let notes = row.get::<_, u32>(3)?.into();
            let file = Sha256::parse(&row.get::<_, String>(0)?);
            let scan = pending(row, 4)?;
            Ok(file.map(|file| RecentFile { file, name, opened, reports: 0, notes, scan, expires: None }))
        };
        let found: Vec<Option<RecentFile>> =
            self.read(|connection| connection.prepare(select)?.query_map(params![service, most], read)?.collect())?;
        let expirations = self.expirations(service)?;
        let count = |recent: RecentFile| {
            let reports = self.reports(service, &recent.file)?.len() as u64;
            let expires = expirations.get(&recent.file).copied();
            Ok(RecentFile { reports, expires, ..recent })
        };
        found.into_iter().flatten().map(count).collect()
    }

    /// Records the privileges of a user, because the call for them is paid.
    pub fn note_privileges(&self, payer: Payer<'_>, found: &Entitlements) -> Result<()> {
        let premium_api = found.premium_api.is_granted();
        let premium_intelligence = found.premium_intelligence.is_granted();
        let at = found.user_read.map(Timestamp::as_millisecond);
        let insert =
            "INSERT OR REPLACE INTO privileges (profile, service, owner, premium_api, premium_intelligence, at)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values = params![payer.profile, payer.service, payer.key_digest, premium_api, premium_intelligence, at];
        self.write(|transaction| transaction.execute(insert, values)).map(drop)
    }

    /// Returns the entitlements from the privileges that were read last with this profile or key.
    pub fn privileges(&self, payer: Payer<'_>) -> Result<Entitlements> {
        let select = "SELECT premium_api, premium_intelligence, at FROM privileges
                      WHERE service = ?2 AND (profile = ?1 OR owner = ?3) AND (?3 IS NULL OR owner IS ?3)
                      ORDER BY at DESC LIMIT 1";
        let values = params![payer.profile, payer.service, payer.key_digest];
        let read = |row: &Row<'_>| Ok(Entitlements::from_privileges(row.get(0)?, row.get(1)?, moment(row.get(2)?)));
        let found = self.read(|connection| connection.query_row(select, values, read).optional())?;
        Ok(found.unwrap_or_default())
    }
}

/// Returns the values of [`NOTE_COLUMNS`], and of more columns.
fn note_values<const N: usize>(note: &Note, more: [Value; N]) -> impl Params {
    let (is_item, attribute, item) = item_columns(&note.about);
    let file = note.file.as_ref().map(Sha256::to_string);
    let [identifier, attribute, item, text] =
        [note.about.identifier.as_bytes(), attribute, item, note.text.as_bytes()].map(|bytes| bytes.to_vec().into());
    params_from_iter([identifier, is_item.into(), attribute, item, file.into(), text].into_iter().chain(more))
}

/// Reads a note, when it was written and by whom; `None` without a valid identifier.
fn note_of(row: &Row<'_>) -> rusqlite::Result<Option<Note>> {
    let Some(identifier) = Identifier::new(text(row, 0)?) else { return Ok(None) };
    let item = Item { attribute: text(row, 2)?, text: text(row, 3)? };
    let about = NoteSubject { identifier, item: row.get(1).map(|is_item: bool| is_item.then_some(item))? };
    let file = row.get::<_, Option<String>>(4)?.and_then(|file| Sha256::parse(&file));
    let author = row.get::<_, Option<String>>(7)?.map(Untrusted::from);
    Ok(Some(Note { about, file, text: text(row, 5)?, written: moment(row.get(6)?), author }))
}

/// Returns the columns that identify what a note is about; empty for a report as a whole.
fn item_columns(about: &NoteSubject) -> (bool, &[u8], &[u8]) {
    about.item.as_ref().map_or((false, b"", b""), |item| (true, item.attribute.as_bytes(), item.text.as_bytes()))
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Untrusted> {
    row.get::<_, Vec<u8>>(column).map(Untrusted::from)
}

fn pending(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<PendingScan>> {
    let identifier = row.get::<_, Option<Vec<u8>>>(column)?.map(Untrusted::from).and_then(Identifier::new);
    let since: Option<i64> = row.get(column + 1)?;
    Ok(since.map(|since| PendingScan { identifier, since: moment(since) }))
}
