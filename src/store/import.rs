//! What somebody exported, held as if it had been fetched: decided by what is held at that moment, whoever imports the same.

use super::blocks::{self, BLOCK, Shelf};
use super::brought::Brought;
use super::database::Store;
use super::error::StoreError;
use super::held::AnswerId;
use super::{numbers, recent, seal};
use crate::report::Imported;
use jiff::Timestamp;
use rusqlite::{Connection, params};

/// What others had written into the store at a moment: the same again, where none of them has written since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written(i64);

/// What somebody exported, to be held.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// The profile that it is held with.
    pub profile: &'a str,
    /// What it is held under.
    pub key: &'a [u8],
    /// When it is imported.
    pub now: Timestamp,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Where it comes from.
    pub from: &'a Imported,
    /// The reports in it.
    pub reports: &'a [Brought],
    /// What others had written when it was looked at what is held.
    pub seen: Written,
}

impl Store {
    /// What others have written until now.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn written(&self) -> Result<Written, StoreError> {
        self.with(|connection| written(connection))
    }

    /// Holds a report that somebody exported, or a page of them; none where others have written since it was looked at what is held,
    /// which is to be looked at again.
    ///
    /// # Errors
    /// When it cannot be written whole; then nothing of it is.
    pub fn import(&self, import: &Import<'_>) -> Result<Option<AnswerId>, StoreError> {
        let Import { profile, key, now, bytes, from, reports, seen } = *import;
        self.reach().with_room(|transaction| {
            if written(transaction)? != seen {
                return Ok(None);
            }
            let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            let insert = format!(
                "INSERT INTO answer (id, profile, key, received, length, block, usable, imported_from, imported_by)
                 VALUES ({}, ?1, ?2, ?3, ?4, ?5, 1, ?6, ?7)",
                numbers::next("answer")
            );
            let (from, by, block) = (from.from.as_bytes(), from.by.as_bytes(), BLOCK as i64);
            transaction.execute(&insert, params![profile, key, now.as_millisecond(), length, block, from, by])?;
            let answer = AnswerId(transaction.last_insert_rowid());
            blocks::write(transaction, Shelf::Answer(answer), 0, bytes)?;
            for report in reports {
                report.insert(transaction, profile, answer)?;
                if let Some(file) = &report.file {
                    recent::note_import(transaction, profile, file, now)?;
                }
            }
            seal::renew(transaction, answer)?;
            Ok(Some(answer))
        })
    }
}

fn written(connection: &Connection) -> rusqlite::Result<Written> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0)).map(Written)
}
