//! Row checksums, in the last column: SQLite detects a page with a damaged structure, but not a
//! changed digit.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use sha2::{Digest, Sha256};

/// Writes the checksum of a row, within the transaction that changed it.
pub(super) fn write(connection: &Connection, table: &str, row: i64) -> rusqlite::Result<()> {
    let select = format!("SELECT * FROM {table} WHERE rowid = ?1");
    let sum = connection.prepare_cached(&select)?.query_row([row], |row| of(row).map(|(sum, _)| sum))?;
    let update = format!("UPDATE {table} SET checksum = ?1 WHERE rowid = ?2");
    connection.prepare_cached(&update)?.execute(params![sum, row]).map(|_| ())
}

/// Whether the checksum of each row of a table matches.
pub(super) fn is_sound(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let mut select = connection.prepare(&format!("SELECT * FROM {table}"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (sum, written) = of(row)?;
        if written != Some(sum) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The computed checksum of a row, and the stored one.
fn of(row: &Row<'_>) -> rusqlite::Result<(i64, Option<i64>)> {
    let last = row.as_ref().column_count().saturating_sub(1);
    let mut hash = Sha256::new();
    for column in 0..last {
        let mut add = |kind: u8, bytes: &[u8]| {
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        match row.get_ref(column)? {
            ValueRef::Null => add(0, b""),
            ValueRef::Integer(number) => add(1, &number.to_le_bytes()),
            ValueRef::Real(number) => add(2, &number.to_le_bytes()),
            ValueRef::Text(text) => add(3, text),
            ValueRef::Blob(bytes) => add(4, bytes),
        }
    }
    let sum = hash.finalize().first_chunk().copied().map_or(0, i64::from_le_bytes);
    Ok((sum, row.get_ref(last)?.as_i64().ok()))
}
