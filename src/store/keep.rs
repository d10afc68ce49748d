//! Keeping nothing of the reports on disk: what is held lives in memory and ends with the program; the ledger stays on disk.
//!
//! Every table but those of the ledger gets a twin in memory, which hides it; so everything else works as it always does.

use super::database::Store;
use super::error::StoreError;
use super::schema::{self, Object};
use crate::order;
use crate::text::{bytes, count};
use rusqlite::Connection;
use sha2::{Digest, Sha256};

/// What of the answers is kept on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// All of them: what was paid for once is never paid for again.
    #[default]
    Everything,
    /// None of them: they are held until the program ends.
    Nothing,
}

/// The tables that tell nothing of what a report says.
const LEDGER: [&str; 3] = ["ledger", "counters", "service"];

/// Bytes of a digest that tell one question from another in the ledger's words.
const TOLD: usize = 4;

/// Hides every table but the ledger's behind an empty one in memory.
pub(super) fn in_memory(connection: &Connection) -> rusqlite::Result<()> {
    let mut found = schema::objects(connection)?;
    // An index wants its table there.
    order::sort_by_key(&mut found, |object| object.kind != "table");
    for Object { kind, name, table, sql, .. } in found {
        let Some(sql) = sql.filter(|_| !table.starts_with("sqlite_") && !LEDGER.contains(&table.as_str())) else {
            continue;
        };
        let twin = match kind.as_str() {
            "table" => sql.replacen("CREATE TABLE ", "CREATE TEMP TABLE ", 1),
            "index" => sql.replacen(&format!("INDEX {name}"), &format!("INDEX temp.{name}"), 1),
            _ => continue,
        };
        connection.execute_batch(&twin)?;
    }
    Ok(())
}

/// What of reports is on disk, in words, where there is anything.
fn on_disk(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let number =
        |sql: &str| connection.query_row(sql, [], |row| row.get(0)).map(|n: i64| u64::try_from(n).unwrap_or(0));
    let size = number("SELECT COALESCE(SUM(length), 0) FROM main.answer")?;
    let mut words = Vec::new();
    for (table, one) in [("answer", "answer"), ("note", "note"), ("file", "earlier file")] {
        match (number(&format!("SELECT COUNT(*) FROM main.{table}"))?, table) {
            (0, _) => {}
            (some, "answer") => words.push(format!("{} ({})", count(some, one), bytes(size))),
            (some, _) => words.push(count(some, one)),
        }
    }
    Ok((!words.is_empty()).then(|| words.join(", ")))
}

impl Store {
    /// The words and the key under which the ledger knows a question: no more than digests, where nothing is kept.
    pub(super) fn told(&self, operation: &str, what: &str, key: Option<&[u8]>) -> (String, Option<Vec<u8>>) {
        match (self.keeps(), key) {
            (Keep::Everything, key) => (what.to_owned(), key.map(<[u8]>::to_vec)),
            (Keep::Nothing, None) => (operation.to_owned(), None),
            (Keep::Nothing, Some(key)) => {
                let digest = digest(key);
                let told = crate::text::hex(digest.get(..TOLD).unwrap_or(&digest));
                (format!("{operation} #{told}"), Some(digest))
            }
        }
    }

    /// What came of a call, as the ledger tells it: the service's own words may name a file.
    pub(super) fn told_outcome<'a>(&self, state: &'a str, outcome: &'a str) -> &'a str {
        match self.keeps() {
            Keep::Everything => outcome,
            Keep::Nothing => state,
        }
    }
}

/// What a key is in the ledger of a program that keeps nothing; others have it as it is.
pub(super) fn digest(key: &[u8]) -> Vec<u8> {
    Sha256::digest(key).to_vec()
}

/// Refuses to begin where reports are on disk though none are to be.
pub(super) fn check(connection: &Connection, path: &std::path::Path) -> Result<(), StoreError> {
    let database = |why| StoreError::Database { path: path.to_owned(), why };
    match on_disk(connection).map_err(database)? {
        None => Ok(()),
        Some(what) => Err(StoreError::StillHolds { path: path.to_owned(), what }),
    }
}
