//! Notes that colleagues share. Rows are only added, so that no note is overwritten.

use super::{Parameter, Team, TeamError, TeamUpload};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{Item, Note, NoteSubject, note};
use crate::text::Untrusted;
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Maximum of bytes of an identifier, and of an attribute's name, of a shared note.
const MAX_NAME_BYTES: usize = 1024;

const ADD_NOTE: &str = "INSERT INTO behaview.note (service, machine, number, identifier, attribute, item, file, text)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";

/// The last text of each machine on each row, at most 200 of a person; without those of `$3`.
const NOTES: &str = "SELECT identifier, attribute, item, file, text, person,
        (extract(epoch FROM pushed) * 1000)::bigint FROM (
    SELECT *, row_number() OVER (PARTITION BY person ORDER BY id DESC) AS place FROM (
        SELECT DISTINCT ON (person, machine, identifier, attribute, item) * FROM behaview.note
        WHERE service = $1 AND sha256(identifier) IN (SELECT sha256(one) FROM unnest($2) AS one)
            AND (person, machine) <> (session_user::text, $3)
        ORDER BY person, machine, identifier, attribute, item, number DESC
    ) AS latest WHERE octet_length(text) > 0
    ) AS shown WHERE place <= 200 ORDER BY id DESC LIMIT 2000";

impl TeamUpload<'_> {
    /// Adds a note of this machine, any number of times; one without text deletes the earlier.
    pub async fn add_note(&mut self, service: &str, machine: &str, number: i64, note: &Note) -> Result<(), TeamError> {
        if !is_short(note) {
            return Err(TeamError::TooLarge);
        }
        let (identifier, text) = (note.about.identifier.as_bytes(), note.text.as_bytes());
        let item = note.about.item.as_ref();
        let [attribute, item] = [item.map(|item| item.attribute.as_bytes()), item.map(|item| item.text.as_bytes())];
        let file = note.file.as_ref().map(Sha256::as_str);
        let parameters: [Parameter<'_>; 8] = [
            (&service, Type::TEXT),
            (&machine, Type::TEXT),
            (&number, Type::INT8),
            (&identifier, Type::BYTEA),
            (&attribute, Type::BYTEA),
            (&item, Type::BYTEA),
            (&file, Type::TEXT),
            (&text, Type::BYTEA),
        ];
        self.execute(ADD_NOTE, &parameters).await
    }
}

impl Team {
    /// Returns the notes on these reports that others have shared, and the user's other machines.
    pub async fn notes(&self, service: &str, machine: &str, reports: &[Identifier]) -> Result<Vec<Note>, TeamError> {
        let identifiers: Vec<_> = reports.iter().map(Identifier::as_bytes).collect();
        let parameters: [Parameter<'_>; 3] =
            [(&service, Type::TEXT), (&identifiers, Type::BYTEA_ARRAY), (&machine, Type::TEXT)];
        let rows = self.ask_aside(NOTES, &parameters).await?;
        let notes = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(notes
            .into_iter()
            .flatten()
            .filter(|note| is_short(note) && reports.contains(&note.about.identifier))
            .collect())
    }
}

fn read(row: &Row) -> Result<Option<Note>, tokio_postgres::Error> {
    let bytes = |column| row.try_get::<_, Option<Vec<u8>>>(column).map(|bytes| bytes.map(Untrusted::from));
    let Some(identifier) = bytes(0)?.and_then(Identifier::new) else { return Ok(None) };
    let item = bytes(1)?.zip(bytes(2)?).map(|(attribute, text)| Item { attribute, text });
    Ok(Some(Note {
        about: NoteSubject { identifier, item },
        file: row.try_get::<_, Option<String>>(3)?.and_then(|file| Sha256::parse(&file)),
        text: bytes(4)?.unwrap_or_default(),
        author: Some(Untrusted::from(row.try_get::<_, String>(5)?)),
        written: Timestamp::from_millisecond(row.try_get(6)?).unwrap_or_default(),
    }))
}

/// Returns whether a note has at most the bytes that the database accepts.
fn is_short(note: &Note) -> bool {
    let item = note.about.item.as_ref();
    note.text.as_bytes().len() <= note::LONGEST
        && note.about.identifier.as_bytes().len() <= MAX_NAME_BYTES
        && item.is_none_or(|item| {
            item.attribute.as_bytes().len() <= MAX_NAME_BYTES && item.text.as_bytes().len() <= note::LONGEST
        })
}
