//! The index of values: an SQLite database with the hashes of each report, sorted.

use crate::prevalence::{Prevalence, ReportFigures, SandboxYield, StableBuildHasher, ValueHolder};
use crate::report::compare::{EVERY_LIST, ReportValue};
use crate::report::identifier::Sha256;
use crate::report::{Identifier, RowPlace};
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
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
const REPORT: i64 = (1 << REPORT_BITS) - 1;

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

/// The files and sandboxes of the indexed reports, as numbers.
#[derive(Default)]
pub(super) struct ReportTable {
    /// By report: its file and its sandbox.
    pub(super) of: HashMap<i64, (usize, usize)>,
    files: usize,
    sandboxes: HashMap<Vec<u8>, usize>,
}

impl ReportTable {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut table = Self::default();
        let mut files = HashMap::<String, usize>::new();
        let mut select = connection.prepare_cached("SELECT id, file, sandbox FROM report")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let next = files.len();
            let file = *files.entry(row.get(1)?).or_insert(next);
            let next = table.sandboxes.len();
            let sandbox = *table.sandboxes.entry(row.get(2)?).or_insert(next);
            table.of.insert(row.get(0)?, (file, sandbox));
        }
        table.files = files.len();
        Ok(table)
    }

    /// Returns the number of a sandbox, and of its files.
    pub(super) fn sandbox(&self, name: &Untrusted) -> Option<(usize, usize)> {
        let number = *self.sandboxes.get(name.as_bytes())?;
        let files: HashSet<_> = self.of.values().filter(|of| of.1 == number).map(|of| of.0).collect();
        Some((number, files.len()))
    }
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

    /// Counts values, each by its hash and that of its list, as a sandbox sees them.
    pub fn prevalence(&self, values: &[(u64, u64)], sandbox: &Untrusted) -> rusqlite::Result<Vec<Prevalence>> {
        let connection = self.connection();
        let table = ReportTable::read(&connection)?;
        let here = table.sandbox(sandbox);
        let hashes = values.iter().flat_map(|(hash, list)| [*hash, *list]).chain([EVERY_LIST]);
        let mut reports = HashMap::new();
        each_value(&connection, hashes.collect(), |hash, found| drop(reports.insert(hash, found)))?;
        let of = |hash: u64| reports.get(&hash).into_iter().flatten().filter_map(|id| table.of.get(id));
        let count = |(hash, list): &(u64, u64)| {
            let seen: HashSet<_> = of(*hash).map(|(file, _)| file).collect();
            let is_here = |sandbox: &usize| here.is_some_and(|(number, _)| number == *sandbox);
            let seen_here: HashSet<_> =
                of(*hash).filter(|(_, sandbox)| is_here(sandbox)).map(|(file, _)| file).collect();
            let perhaps = of(*list).chain(of(EVERY_LIST)).map(|(file, _)| file);
            let unlisted: HashSet<_> = perhaps.filter(|file| !seen.contains(file)).collect();
            Prevalence {
                files: seen.len(),
                of_files: table.files,
                in_sandbox: seen_here.len(),
                of_sandbox: here.map_or(0, |(_, files)| files),
                perhaps_unlisted: unlisted.len(),
                is_of_team: false,
            }
        };
        Ok(values.iter().map(count).collect())
    }

    /// Returns the reports that have a value, newest first, at most `most` of them.
    pub fn holders(&self, hash: u64, most: usize) -> rusqlite::Result<Vec<ValueHolder>> {
        let connection = self.connection();
        let mut select = connection.prepare_cached(
            "SELECT report.identifier, file, received, service, profile, hashes, places FROM value JOIN report
             ON report.id = value.id & ?3 WHERE value.id BETWEEN ?1 AND ?2",
        )?;
        let first = first_key(hash);
        let mut rows = select.query([first, first | REPORT, REPORT])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let Ok(at) = numbers(row, 5)?.binary_search(&hash.to_be_bytes()) else { continue };
            let place = numbers(row, 6)?.get(at).map_or(0, |place| u64::from_be_bytes(*place));
            found.extend(holder(row, place)?);
        }
        found.sort_by_key(|holder| Reverse(holder.received));
        found.truncate(most);
        Ok(found)
    }

    /// Returns what each sandbox brought in its stored reports.
    pub fn yields(&self) -> rusqlite::Result<Vec<SandboxYield>> {
        let connection = self.connection();
        let mut select =
            connection.prepare_cached("SELECT sandbox, processes, network, has_capture, findings FROM report")?;
        let mut by_sandbox = HashMap::<Vec<u8>, Vec<ReportFigures>>::new();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            by_sandbox.entry(row.get(0)?).or_default().push(ReportFigures {
                processes: row.get(1)?,
                network: row.get(2)?,
                has_capture: row.get(3)?,
                findings: row.get(4)?,
            });
        }
        Ok(by_sandbox.into_iter().map(|(name, all)| SandboxYield::of(Untrusted::from(name), &all)).collect())
    }
}

/// Calls `found` for each of these hashes with the reports that have it.
pub(super) fn each_value(
    connection: &Connection,
    mut hashes: Vec<u64>,
    mut found: impl FnMut(u64, Vec<i64>),
) -> rusqlite::Result<()> {
    hashes.sort();
    hashes.dedup();
    let mut select = connection.prepare_cached("SELECT id & ?3, hashes FROM value WHERE id BETWEEN ?1 AND ?2")?;
    for wanted in hashes.chunk_by(|one, other| first_key(*one) == first_key(*other)) {
        let first = wanted.first().map_or(0, |hash| first_key(*hash));
        let mut reports = vec![Vec::new(); wanted.len()];
        let mut rows = select.query([first, first | REPORT, REPORT])?;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            let mut all = numbers(row, 1)?;
            for (wanted, reports) in wanted.iter().zip(&mut reports) {
                all = all.get(all.partition_point(|hash| hash < &wanted.to_be_bytes())..).unwrap_or_default();
                if all.first() == Some(&wanted.to_be_bytes()) {
                    reports.push(id);
                }
            }
        }
        wanted.iter().zip(reports).for_each(|(hash, reports)| found(*hash, reports));
    }
    Ok(())
}

/// Returns a column of numbers, in the order of their bytes.
fn numbers<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [[u8; 8]]> {
    Ok(row.get_ref(column)?.as_blob()?.as_chunks().0)
}

/// Returns the key of a hash's range, without a report.
fn first_key(hash: u64) -> i64 {
    ((hash >> (u64::BITS - RANGE_BITS)) as i64) << REPORT_BITS
}

/// Reads columns `identifier, file, received, service, profile`, and a row as a number.
pub(super) fn holder(row: &Row<'_>, place: u64) -> rusqlite::Result<Option<ValueHolder>> {
    let Some(identifier) = Identifier::new(Untrusted::from(row.get::<_, Vec<u8>>(0)?)) else { return Ok(None) };
    Ok(Some(ValueHolder {
        file: Sha256::parse(&row.get::<_, String>(1)?),
        identifier,
        received: Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(),
        service: row.get(3)?,
        profile: row.get(4)?,
        place: RowPlace { section: (place >> 32) as usize, row: (place & 0xffff_ffff) as usize },
        person: None,
    }))
}

/// Returns a row's place in one number; a report has less than 2^32 rows.
fn number_of(place: RowPlace) -> u64 {
    ((place.section as u64) << 32) | place.row as u64
}

/// The hashes of a value and of its list, as [`ValueIndex::prevalence`] takes them.
impl From<&ReportValue> for (u64, u64) {
    fn from(value: &ReportValue) -> Self {
        (value.hash, value.list)
    }
}

#[cfg(test)]
mod tests;
