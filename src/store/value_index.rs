//! The index of values: a SQLite database with the sorted hashes of each report; adds, forgets.

use crate::prevalence::{ReportFigures, StableBuildHasher, ValueHolder};
use crate::report::identifier::Sha256;
use crate::report::{Identifier, RowPlace};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A report belongs to a file by its SHA-256; one without is a file of its own. The key of `value`
/// is the number of a range of hashes, then the report's: a lookup reads neighbouring ranges.
const SCHEMA: &str = "
DROP TABLE IF EXISTS report;
DROP TABLE IF EXISTS value;
CREATE TABLE report (
    id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, stamp INTEGER NOT NULL, service TEXT NOT NULL,
    profile TEXT NOT NULL, identifier BLOB NOT NULL, file TEXT NOT NULL, sandbox BLOB NOT NULL, received INTEGER NOT NULL,
    processes INTEGER NOT NULL, network INTEGER NOT NULL, has_capture INTEGER NOT NULL, findings INTEGER
);
CREATE TABLE value (id INTEGER PRIMARY KEY, hashes BLOB NOT NULL, places BLOB NOT NULL);";

/// The bits of a hash that are the number of its range.
const RANGE_BITS: u32 = 4;

/// The bits of the key of `value` that are the report's number.
const REPORT_BITS: u32 = 32;
pub(super) const REPORT: i64 = (1 << REPORT_BITS) - 1;

/// How long a write waits for that of another program.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The values of all stored reports.
pub struct ValueIndex(Mutex<Connection>);

#[derive(Debug)]
pub(super) struct IndexedReport {
    /// Its name in the store.
    pub(super) place: String,
    /// Differs once another report is in its place.
    pub(super) stamp: i64,
    pub(super) of: ValueHolder,
    pub(super) figures: ReportFigures,
    /// The hash of each value, sorted, with its row; of a perhaps incomplete list without.
    pub(super) values: Vec<(u64, RowPlace)>,
}

impl ValueIndex {
    /// Opens the index in a file, or in memory; one of another version is emptied.
    pub(super) fn open(path: Option<&Path>) -> rusqlite::Result<Self> {
        let connection = path.map_or_else(Connection::open_in_memory, Connection::open)?;
        connection.busy_timeout(WRITE_TIMEOUT)?;
        // It can be made again, so power may fail. Deleted reports leave no hash behind.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = TRUE; PRAGMA cache_size = -32768",
        )?;
        // The normal form depends on the table of attributes, and may change with the program.
        let version = (env!("CARGO_PKG_VERSION"), SCHEMA, include_str!("../../assets/attributes.tsv"));
        let version = StableBuildHasher.hash_one(version) as u32 as i32;
        let found: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found != version {
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {version}; COMMIT"))?;
        }
        Ok(Self(Mutex::new(connection)))
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the indexed reports below a folder by place, each with its stamp.
    pub(super) fn indexed(&self, folder: &str) -> rusqlite::Result<HashMap<String, i64>> {
        let connection = self.connection();
        // `0` follows `/`.
        let mut select =
            connection.prepare_cached("SELECT place, stamp FROM report WHERE place BETWEEN ?1 || '/' AND ?1 || '0'")?;
        select.query_map([folder], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// Forgets the reports at these places, and leaves no hash of theirs on disk.
    pub(super) fn forget<'a>(&self, places: impl IntoIterator<Item = &'a String>) -> rusqlite::Result<()> {
        self.write(|transaction| {
            let mut select = transaction.prepare_cached("DELETE FROM report WHERE place = ?1")?;
            places.into_iter().try_for_each(|place| select.execute([place]).map(drop))?;
            transaction.execute("DELETE FROM value WHERE id & ?1 NOT IN (SELECT id FROM report)", [REPORT]).map(drop)
        })?;
        let is_busy = self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        let busy = || rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None);
        if is_busy { Err(busy()) } else { Ok(()) }
    }

    /// Adds reports that are still stored, without those that another program has added.
    pub(super) fn add(
        &self,
        reports: &[IndexedReport],
        is_stored: impl Fn(&IndexedReport) -> bool,
    ) -> rusqlite::Result<()> {
        self.write(|transaction| {
            let mut insert = transaction.prepare_cached(
                "INSERT OR IGNORE INTO report (place, stamp, service, profile, identifier, file, sandbox, received,
                 processes, network, has_capture) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?;
            let mut value = transaction.prepare_cached("INSERT INTO value (id, hashes, places) VALUES (?1, ?2, ?3)")?;
            // A deletion waits for this transaction before it forgets.
            for IndexedReport { place, stamp, of, figures, values } in reports.iter().filter(|report| is_stored(report))
            {
                let added = insert.execute(params![
                    place,
                    stamp,
                    of.service,
                    of.profile,
                    of.identifier.as_bytes(),
                    of.file.as_ref().map_or(place.as_str(), Sha256::as_str),
                    of.identifier.parts().sandbox.as_bytes(),
                    of.received.as_millisecond(),
                    figures.processes,
                    figures.network,
                    figures.has_capture,
                ])?;
                let id = transaction.last_insert_rowid();
                for values in values.chunk_by(|one, other| first_key(one.0) == first_key(other.0)).filter(|_| added > 0)
                {
                    let hashes: Vec<_> = values.iter().flat_map(|(hash, _)| hash.to_be_bytes()).collect();
                    let places: Vec<_> = values.iter().flat_map(|(_, place)| number_of(*place).to_be_bytes()).collect();
                    let first = values.first().map_or(0, |(hash, _)| first_key(*hash));
                    value.execute(params![first | id, hashes, places])?;
                }
            }
            Ok(())
        })
    }

    /// Records how many findings a report has.
    pub(super) fn note_findings(&self, identifier: &Identifier, findings: usize) -> rusqlite::Result<()> {
        let update = "UPDATE report SET findings = ?2 WHERE identifier = ?1";
        self.connection().execute(update, params![identifier.as_bytes(), findings as i64]).map(drop)
    }

    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// Returns the key of a hash's range, without a report.
pub(super) fn first_key(hash: u64) -> i64 {
    ((hash >> (u64::BITS - RANGE_BITS)) as i64) << REPORT_BITS
}

/// Returns a row's place in one number; a report has less than 2^32 rows.
fn number_of(place: RowPlace) -> u64 {
    ((place.section as u64) << 32) | place.row as u64
}
