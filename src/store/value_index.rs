//! The index of values: an SQLite database of hashes, each with the reports that have it.

use crate::prevalence::{Prevalence, ReportFigures, SandboxYield, StableKeys, ValueHolder};
use crate::report::compare::values::{EVERY_LIST, ReportValue};
use crate::report::identifier::Sha256;
use crate::report::rules::Rules;
use crate::report::{Cancel, Identifier, Report, RowPlace};
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A report belongs to a file by its SHA-256; one without is a file of its own.
const SCHEMA: &str = "
DROP TABLE IF EXISTS report;
DROP TABLE IF EXISTS value;
CREATE TABLE report (
    id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, stamp INTEGER NOT NULL, service TEXT NOT NULL,
    profile TEXT NOT NULL, identifier BLOB NOT NULL, file TEXT NOT NULL, sandbox BLOB NOT NULL, received INTEGER NOT NULL,
    processes INTEGER NOT NULL, network INTEGER NOT NULL, has_capture INTEGER NOT NULL, findings INTEGER
);
CREATE TABLE value (
    hash INTEGER NOT NULL, report INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (hash, report)
) WITHOUT ROWID;";

/// How long a write waits for that of another program.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The values of all stored reports.
pub struct ValueIndex(Mutex<Connection>);

/// What the index has of a report.
#[derive(Debug, Clone)]
pub(super) struct IndexedReport {
    /// Its name in the store.
    place: String,
    /// Differs once another report is in its place.
    stamp: i64,
    service: String,
    profile: String,
    identifier: Identifier,
    file: Option<Sha256>,
    received: Timestamp,
    figures: ReportFigures,
    /// The hash of each value, sorted, with its row; those of lists that may be incomplete have no row.
    values: Vec<(u64, Option<RowPlace>)>,
}

impl IndexedReport {
    /// Takes the values of a report; `of` has the rest. Without rules its findings are not counted.
    pub(super) fn read(
        of: ValueHolder,
        (place, stamp): (String, i64),
        report: &Report,
        rules: Option<&Rules>,
        cancel: &Cancel,
    ) -> io::Result<Self> {
        let found = report.values_of(None, &StableKeys, cancel)?;
        let incomplete = report.incomplete_lists(&StableKeys);
        let found = found.into_iter().map(|value| (value.hash, Some(value.place)));
        let mut values: Vec<_> = found.chain(incomplete.into_iter().map(|list| (list, None))).collect();
        // Sorted hashes are near each other on the pages of the index.
        values.sort();
        values.dedup_by_key(|(hash, _)| *hash);
        let ValueHolder { file, identifier, received, service, profile, .. } = of;
        let figures = ReportFigures::of(report, rules, cancel)?;
        Ok(Self { place, stamp, service, profile, identifier, file, received, figures, values })
    }
}

/// The files and sandboxes of the indexed reports, as numbers.
#[derive(Default)]
pub(super) struct ReportTable {
    /// By report: its file and its sandbox.
    pub(super) of: HashMap<i64, (usize, usize)>,
    pub(super) files: usize,
    sandboxes: HashMap<Vec<u8>, usize>,
    /// By sandbox: the number of its files.
    files_of: Vec<usize>,
}

impl ReportTable {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut table = Self::default();
        let mut files = HashMap::<String, usize>::new();
        let mut pairs = HashSet::new();
        let mut select = connection.prepare_cached("SELECT id, file, sandbox FROM report")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let next = files.len();
            let file = *files.entry(row.get(1)?).or_insert(next);
            let next = table.sandboxes.len();
            let sandbox = *table.sandboxes.entry(row.get(2)?).or_insert(next);
            table.files_of.resize(table.sandboxes.len(), 0);
            if pairs.insert((file, sandbox)) {
                table.files_of.get_mut(sandbox).into_iter().for_each(|count| *count += 1);
            }
            table.of.insert(row.get(0)?, (file, sandbox));
        }
        table.files = files.len();
        Ok(table)
    }

    /// The number of a sandbox, and of its files.
    pub(super) fn sandbox(&self, name: &Untrusted) -> Option<(usize, usize)> {
        let number = *self.sandboxes.get(name.as_bytes())?;
        Some((number, *self.files_of.get(number)?))
    }
}

impl ValueIndex {
    /// Opens the index in a file, or in memory; one of another version is emptied.
    pub(super) fn open(path: Option<&Path>) -> rusqlite::Result<Self> {
        let connection = path.map_or_else(Connection::open_in_memory, Connection::open)?;
        connection.busy_timeout(WRITE_TIMEOUT)?;
        // It can be made again, so it need not survive a loss of power. Deleted reports leave no hash behind.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = TRUE; PRAGMA cache_size = -32768",
        )?;
        // The normal form depends on the table of attributes, and may change with the program.
        let version = (env!("CARGO_PKG_VERSION"), SCHEMA, include_str!("../../assets/attributes.tsv"));
        let version = StableKeys.hash_one(version) as u32 as i32;
        let found: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found != version {
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {version}; COMMIT"))?;
        }
        Ok(Self(Mutex::new(connection)))
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The indexed reports by place, each with its stamp.
    pub(super) fn indexed(&self) -> rusqlite::Result<HashMap<String, i64>> {
        let connection = self.connection();
        let mut select = connection.prepare_cached("SELECT place, stamp FROM report")?;
        select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// Forgets the reports at these places, and leaves no hash of theirs on disk.
    pub(super) fn forget<'a>(&self, places: impl IntoIterator<Item = &'a String>) -> rusqlite::Result<()> {
        self.write(|transaction| {
            let mut select = transaction.prepare_cached("DELETE FROM report WHERE place = ?1")?;
            places.into_iter().try_for_each(|place| select.execute([place]).map(drop))?;
            transaction.execute("DELETE FROM value WHERE report NOT IN (SELECT id FROM report)", []).map(drop)
        })?;
        self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    /// Adds reports, without those that another program has added.
    pub(super) fn add(&self, reports: &[IndexedReport]) -> rusqlite::Result<()> {
        self.write(|transaction| {
            let mut insert = transaction.prepare_cached(
                "INSERT OR IGNORE INTO report (place, stamp, service, profile, identifier, file, sandbox, received,
                 processes, network, has_capture, findings) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?;
            let mut value =
                transaction.prepare_cached("INSERT INTO value (hash, report, place) VALUES (?1, ?2, ?3)")?;
            for report in reports {
                let ReportFigures { processes, network, has_capture, findings } = report.figures;
                let added = insert.execute(params![
                    report.place,
                    report.stamp,
                    report.service,
                    report.profile,
                    report.identifier.as_bytes(),
                    report.file.as_ref().map_or(report.place.as_str(), Sha256::as_str),
                    report.identifier.parts().sandbox.as_bytes(),
                    report.received.as_millisecond(),
                    processes,
                    network,
                    has_capture,
                    findings,
                ])?;
                let id = transaction.last_insert_rowid();
                for (hash, place) in report.values.iter().filter(|_| added > 0) {
                    value.execute(params![hash.cast_signed(), id, place.map_or(-1, number_of)])?;
                }
            }
            Ok(())
        })
    }

    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// The prevalence of values, each as its hash and that of its list, as a sandbox sees it.
    pub fn prevalence(&self, values: &[(u64, u64)], sandbox: &Untrusted) -> rusqlite::Result<Vec<Prevalence>> {
        let connection = self.connection();
        let table = ReportTable::read(&connection)?;
        let here = table.sandbox(sandbox);
        let mut lists = HashMap::<u64, Vec<i64>>::new();
        let cut = reports_with(&connection, EVERY_LIST)?;
        let count = |(hash, list): &(u64, u64)| {
            let perhaps = match lists.get(list) {
                Some(found) => found,
                None => lists.entry(*list).or_insert(reports_with(&connection, *list)?),
            };
            let mut is_seen = vec![false; table.files];
            let mut is_seen_here = is_seen.clone();
            for (file, sandbox) in reports_with(&connection, *hash)?.iter().filter_map(|id| table.of.get(id)) {
                is_seen.get_mut(*file).into_iter().for_each(|seen| *seen = true);
                if here.is_some_and(|(number, _)| number == *sandbox) {
                    is_seen_here.get_mut(*file).into_iter().for_each(|seen| *seen = true);
                }
            }
            let files = perhaps.iter().chain(&cut).filter_map(|id| table.of.get(id)).map(|(file, _)| *file);
            let unlisted: HashSet<_> = files.filter(|file| is_seen.get(*file) == Some(&false)).collect();
            let all = |seen: &[bool]| seen.iter().filter(|seen| **seen).count();
            Ok(Prevalence {
                files: all(&is_seen),
                of_files: table.files,
                in_sandbox: all(&is_seen_here),
                of_sandbox: here.map_or(0, |(_, files)| files),
                perhaps_unlisted: unlisted.len(),
            })
        };
        values.iter().map(count).collect()
    }

    /// The reports that have a value, newest first, at most `most` of them.
    pub fn holders(&self, hash: u64, most: usize) -> rusqlite::Result<Vec<ValueHolder>> {
        let connection = self.connection();
        let mut select = connection.prepare_cached(
            "SELECT report.identifier, file, received, service, profile, value.place FROM value JOIN report
             ON report.id = value.report WHERE hash = ?1 AND value.place >= 0 ORDER BY received DESC, report.id LIMIT ?2",
        )?;
        let found: Vec<_> =
            select.query_map(params![hash.cast_signed(), most as i64], holder)?.collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// What each sandbox brought in its stored reports.
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

/// The reports that have a value, or a list that may be incomplete.
pub(super) fn reports_with(connection: &Connection, hash: u64) -> rusqlite::Result<Vec<i64>> {
    let mut select = connection.prepare_cached("SELECT report FROM value WHERE hash = ?1")?;
    select.query_map([hash.cast_signed()], |row| row.get(0))?.collect()
}

/// A report of columns `identifier, file, received, service, profile, place`.
pub(super) fn holder(row: &Row<'_>) -> rusqlite::Result<Option<ValueHolder>> {
    let place: i64 = row.get(5)?;
    let Some(identifier) = Identifier::new(Untrusted::from(row.get::<_, Vec<u8>>(0)?)) else { return Ok(None) };
    Ok(Some(ValueHolder {
        file: Sha256::parse(&row.get::<_, String>(1)?),
        identifier,
        received: Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(),
        service: row.get(3)?,
        profile: row.get(4)?,
        place: RowPlace { section: (place >> 32) as usize, row: (place & 0xffff_ffff) as usize },
    }))
}

/// A row's place in one number; a report has less than 2^32 rows.
fn number_of(place: RowPlace) -> i64 {
    ((place.section as i64) << 32) | place.row as i64
}

/// The hashes of a value and of its list, as [`ValueIndex::prevalence`] takes them.
impl From<&ReportValue> for (u64, u64) {
    fn from(value: &ReportValue) -> Self {
        (value.hash, value.list)
    }
}

#[cfg(test)]
mod tests;
