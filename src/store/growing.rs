//! Answers that are kept while they come: what is there of one survives a lost connection and a killed program, and is not paid
//! for again.

use super::blocks::{self, BLOCK, Shelf};
use super::database::{Store, StoreError};
use super::held::{AnswerId, Lengths};
use crate::report::Body;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

/// An answer of which a part is here. In the table its `usable` is 2: no question finds it before it is whole.
#[derive(Debug, Clone)]
pub struct Growing {
    /// Its number.
    pub id: AnswerId,
    /// The bytes that are here.
    pub body: Body,
}

impl Store {
    /// What is here of an answer that did not come whole; none where nothing is.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn growing(&self, profile: &str, key: &[u8]) -> Result<Option<Growing>, StoreError> {
        let found = self.read(|connection| {
            let select = "SELECT id, length, block FROM answer WHERE profile = ?1 AND key = ?2 AND usable = 2
                 ORDER BY id DESC LIMIT 1";
            connection
                .query_row(select, params![profile, key], |row| Ok((row.get(0)?, Lengths::read(row, 1)?)))
                .optional()
        })?;
        Ok(found.map(|(id, lengths)| Growing { id: AnswerId(id), body: self.body(AnswerId(id), lengths) }))
    }

    /// Begins an answer of which nothing is here yet.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin_growing(&self, profile: &str, key: &[u8], now: Timestamp) -> Result<AnswerId, StoreError> {
        self.with(|connection| {
            connection.execute(
                "INSERT INTO answer (profile, key, received, length, usable, block) VALUES (?1, ?2, ?3, 0, 2, ?4)",
                params![profile, key, now.as_millisecond(), BLOCK as i64],
            )?;
            Ok(AnswerId(connection.last_insert_rowid()))
        })
    }

    /// Keeps further bytes of an answer, from a byte on where a block begins; what stood there is written over.
    ///
    /// # Errors
    /// When they cannot be written whole; then nothing of them is.
    pub fn grow(&self, id: AnswerId, from: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.with(|connection| {
            let transaction = connection.transaction()?;
            let length = i64::try_from(from.saturating_add(bytes.len() as u64)).unwrap_or(i64::MAX);
            let update = "UPDATE answer SET length = ?1 WHERE id = ?2 AND usable = 2";
            // What was deleted meanwhile stays deleted.
            if transaction.execute(update, params![length, id.0])? == 0 {
                return Err(rusqlite::Error::QueryReturnedNoRows);
            }
            blocks::write(&transaction, Shelf::Answer(id), from / BLOCK as u64, bytes)?;
            transaction.commit()
        })
    }

    /// Notes that an answer is whole: from now on it is held.
    ///
    /// # Errors
    /// When it cannot be written; then it goes on growing.
    pub fn grown(&self, id: AnswerId, now: Timestamp) -> Result<(), StoreError> {
        self.with(|connection| {
            connection.execute(
                "UPDATE answer SET usable = 1, received = ?1 WHERE id = ?2 AND usable = 2",
                params![now.as_millisecond(), id.0],
            )
        })
        .map(|_| ())
    }
}
