//! Answers that are kept while they come: what is there of one survives a lost connection and a killed program, and is not paid
//! for again.

use super::blocks::{self, BLOCK, Shelf};
use super::database::Store;
use super::error::StoreError;
use super::held::{AnswerId, Lengths};
use super::numbers;
use super::seal;
use crate::report::Body;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

/// An answer of which a part is here. In the table its `usable` is 2: no question finds it before it is whole.
#[derive(Debug, Clone)]
pub struct Growing {
    pub id: AnswerId,
    /// The bytes that are here.
    pub body: Body,
    /// How many bytes the service said the whole has; none where it never said so.
    pub announced: Option<u64>,
    /// What the service calls this version of it, to tell it from another; none where it never said so.
    pub version: Option<String>,
}

impl Store {
    /// What is here of an answer that did not come whole; none where nothing is.
    pub fn growing(&self, profile: &str, key: &[u8]) -> Result<Option<Growing>, StoreError> {
        let found = self.read(|connection| {
            let select = "SELECT id, length, block, seal, announced, version FROM answer
                 WHERE profile = ?1 AND key = ?2 AND usable = 2 ORDER BY length > 0 DESC, id DESC LIMIT 1";
            let read = |row: &Row<'_>| {
                let answer = seal::Answer { id: row.get(0)?, profile, key, length: row.get(1)?, block: row.get(2)? };
                let is_whole = row.get::<_, Option<i64>>(3)? == Some(answer.seal());
                let announced = row.get::<_, Option<i64>>(4)?.and_then(|length| u64::try_from(length).ok());
                Ok((AnswerId(answer.id), Lengths::read(row, 1)?, announced, row.get(5)?, is_whole))
            };
            connection.query_row(select, params![profile, key], read).optional()
        })?;
        match found {
            Some((id, .., false)) => Err(self.reach().damaged(&format!("answer {}", id.0))),
            found => {
                let growing = |(id, lengths, announced, version, _)| Growing {
                    id,
                    body: self.body(id, lengths),
                    announced,
                    version,
                };
                Ok(found.map(growing))
            }
        }
    }

    /// Begins an answer of which nothing is here yet. A part of another version of it is found until something of this one is.
    pub fn begin_growing(&self, profile: &str, key: &[u8], now: Timestamp) -> Result<AnswerId, StoreError> {
        self.with(|connection| {
            let insert = format!(
                "INSERT INTO answer (id, profile, key, received, length, usable, block) VALUES ({}, ?1, ?2, ?3, 0, 2, ?4)",
                numbers::next("answer")
            );
            connection.execute(&insert, params![profile, key, now.as_millisecond(), BLOCK as i64])?;
            let id = AnswerId(connection.last_insert_rowid());
            seal::renew(connection, id)?;
            Ok(id)
        })
    }

    /// Notes how many bytes the service says the whole has, for an end before that is none, whichever call it comes with; and which
    /// version of it this is, for what comes of another is no rest of it. What it does not say stays as it is.
    pub fn announce(&self, id: AnswerId, length: Option<u64>, version: Option<&str>) -> Result<(), StoreError> {
        let length = length.map(|length| i64::try_from(length).unwrap_or(i64::MAX));
        let update = "UPDATE answer SET announced = COALESCE(?1, announced), version = COALESCE(?2, version)
                      WHERE id = ?3 AND usable = 2";
        self.with(|connection| connection.execute(update, params![length, version, id.0])).map(|_| ())
    }

    /// Keeps further bytes of an answer of which `here` bytes are here, from a byte on where a block begins; what stood there
    /// is written over. Whoever began it earlier and has gone on with it keeps it: an answer has one writer.
    pub fn grow(&self, id: AnswerId, here: u64, from: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let place = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        self.reach()
            .with_room(|transaction| {
                let length = place(from.saturating_add(bytes.len() as u64));
                let update = "UPDATE answer SET length = ?1 WHERE id = ?2 AND usable = 2 AND length = ?3";
                // What was deleted meanwhile stays deleted.
                if transaction.execute(update, params![length, id.0, place(here)])? == 0 {
                    return Ok(false);
                }
                // A part of another version gives way to what stands, and not to what was to be written.
                let others = "UPDATE answer SET usable = 0 WHERE usable = 2 AND id < ?1
                              AND (profile, key) = (SELECT profile, key FROM answer WHERE id = ?1)";
                transaction.execute(others, [id.0])?;
                blocks::write(transaction, Shelf::Answer(id), from / BLOCK as u64, bytes)?;
                seal::renew(transaction, id)?;
                Ok(true)
            })
            .and_then(|is_ours| if is_ours { Ok(()) } else { Err(StoreError::Elsewhere) })
    }

    /// Lets go of an answer of which nothing has come.
    pub fn forget_empty(&self, id: AnswerId) -> Result<(), StoreError> {
        let delete = "DELETE FROM answer WHERE id = ?1 AND usable = 2 AND length = 0";
        self.with(|connection| connection.execute(delete, [id.0])).map(|_| ())
    }

    /// Notes that an answer of so many bytes is whole: from now on it is held.
    pub fn grown(&self, id: AnswerId, length: u64, now: Timestamp) -> Result<(), StoreError> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let done = self.with(|connection| {
            connection.execute(
                "UPDATE answer SET usable = 1, received = ?1 WHERE id = ?2 AND usable = 2 AND length = ?3",
                params![now.as_millisecond(), id.0, length],
            )
        })?;
        if done > 0 { Ok(()) } else { Err(StoreError::Elsewhere) }
    }
}
