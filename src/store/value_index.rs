//! The index of the values of stored reports, in SQLite: filled from them, and forgotten with them.

use super::records::{Store, is_damage};
use super::report_files::{REPORTS, folder_of, moment, place};
use super::reports::identifier_of;
use super::{Result, StoreError};
use crate::prevalence::{Prevalence, ReportFigures, SandboxYield, StableBuildHasher, Twin, ValueHolder};
use crate::report::compare::{EVERY_LIST, ReportValue};
use crate::report::identifier::Sha256;
use crate::report::work::in_rounds;
use crate::report::{Body, Cancel, Identifier, Report, RowPlace};
use crate::text::Untrusted;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fs, io};

/// A report belongs to a file by its SHA-256; one without is a file of its own. The hashes of each
/// report are sorted, and the places of their rows are in the same order.
const SCHEMA: &str = "
DROP TABLE IF EXISTS report;
DROP TABLE IF EXISTS value;
CREATE TABLE report (
    id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, stamp INTEGER NOT NULL, service TEXT NOT NULL,
    profile TEXT NOT NULL, identifier BLOB NOT NULL, file TEXT NOT NULL, sandbox BLOB NOT NULL, received INTEGER NOT NULL,
    processes INTEGER NOT NULL, network INTEGER NOT NULL, has_capture INTEGER NOT NULL, findings INTEGER
);
CREATE TABLE value (id INTEGER PRIMARY KEY, hashes BLOB NOT NULL, places BLOB NOT NULL);";

/// Reports that are added to the index in one transaction.
const BATCH: usize = 32;

/// Reports that are read concurrently.
const CONCURRENT_REPORTS: usize = 2;

/// Part of a report's values that a twin shares, in per cent: names that a sample invents differ.
const TWIN_PERCENT: usize = 60;

/// The number of shared values below which a likeness may be chance.
const FEWEST_SHARED: usize = 5;

/// Most values of a report that are compared: the first ones of a large report show its likeness.
const MAX_VALUES: usize = 20_000;

/// How long a write waits for that of another program.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The values of all stored reports.
pub struct ValueIndex(Mutex<Connection>);

#[derive(Debug)]
struct IndexedReport {
    /// Its name in the store.
    place: String,
    /// Differs once another report is in its place.
    stamp: i64,
    of: ValueHolder,
    figures: ReportFigures,
    /// The hash of each value, sorted, with its row; of a perhaps incomplete list without.
    values: Vec<(u64, RowPlace)>,
}

/// The files and sandboxes of the indexed reports, as numbers.
#[derive(Default)]
struct ReportTable {
    /// By report: its file and its sandbox.
    of: HashMap<i64, (usize, usize)>,
    files: usize,
    sandboxes: HashMap<Vec<u8>, usize>,
}

impl ReportTable {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
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
    fn sandbox(&self, name: &Untrusted) -> Option<(usize, usize)> {
        let number = *self.sandboxes.get(name.as_bytes())?;
        let files: HashSet<_> = self.of.values().filter(|of| of.1 == number).map(|of| of.0).collect();
        Some((number, files.len()))
    }

    /// Counts the values that each report of a sandbox shares, of those that at most half of the
    /// sandbox's files have; and the latter. Each of `values` is given by the reports that have it.
    fn shared<'a>(
        &self,
        values: impl Iterator<Item = &'a [i64]>,
        (sandbox, files): (usize, usize),
    ) -> (HashMap<i64, usize>, usize) {
        let mut shared = HashMap::new();
        let mut of = 0;
        // Of two files both may have everything that is usual.
        let most = if files > 2 { (files / 2).max(2) } else { 0 };
        for reports in values {
            let here = || reports.iter().filter_map(|id| Some((id, self.of.get(id).filter(|of| of.1 == sandbox)?.0)));
            if here().map(|(_, file)| file).collect::<HashSet<_>>().len() <= most {
                of += 1;
                here().for_each(|(id, _)| *shared.entry(*id).or_default() += 1);
            }
        }
        (shared, of)
    }
}

impl ValueIndex {
    /// Opens the index in a file, or in memory; one of another version is emptied.
    fn open(path: Option<&Path>) -> rusqlite::Result<Self> {
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

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the indexed reports below a folder by place, each with its stamp.
    fn indexed(&self, folder: &str) -> rusqlite::Result<HashMap<String, i64>> {
        let connection = self.connection();
        // `0` follows `/`.
        let mut select =
            connection.prepare_cached("SELECT place, stamp FROM report WHERE place BETWEEN ?1 || '/' AND ?1 || '0'")?;
        select.query_map([folder], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// Forgets the reports at these places, and leaves no hash of theirs on disk.
    fn forget<'a>(&self, places: impl IntoIterator<Item = &'a String>) -> rusqlite::Result<()> {
        self.write(|transaction| {
            let mut select = transaction.prepare_cached("DELETE FROM report WHERE place = ?1")?;
            places.into_iter().try_for_each(|place| select.execute([place]).map(drop))?;
            transaction.execute("DELETE FROM value WHERE id NOT IN (SELECT id FROM report)", []).map(drop)
        })?;
        let is_busy = self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        let busy = || rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None);
        if is_busy { Err(busy()) } else { Ok(()) }
    }

    /// Adds reports that are still stored, without those that another program has added.
    fn add(&self, reports: &[IndexedReport], is_stored: impl Fn(&IndexedReport) -> bool) -> rusqlite::Result<()> {
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
                if added > 0 {
                    let hashes: Vec<_> = values.iter().flat_map(|(hash, _)| hash.to_be_bytes()).collect();
                    let places: Vec<_> = values.iter().flat_map(|(_, place)| number_of(*place).to_be_bytes()).collect();
                    value.execute(params![transaction.last_insert_rowid(), hashes, places])?;
                }
            }
            Ok(())
        })
    }

    /// Records how many findings a report has.
    fn note_findings(&self, identifier: &Identifier, findings: usize) -> rusqlite::Result<()> {
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
        let reports = find_reports(&connection, hashes.collect())?;
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
            "SELECT identifier, file, received, service, profile, hashes, places FROM value JOIN report USING (id)",
        )?;
        let mut rows = select.query([])?;
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

    /// Returns other files with a report of the same `behash`, or with most of the unusual values
    /// in the same sandbox; the likest first, each file once.
    pub fn twins(
        &self,
        values: &[ReportValue],
        behash: Option<u64>,
        (file, identifier): (Option<&Sha256>, &Identifier),
    ) -> rusqlite::Result<Vec<Twin>> {
        let connection = self.connection();
        let table = ReportTable::read(&connection)?;
        let hashes: HashSet<_> = values.iter().map(|value| value.hash).take(MAX_VALUES).collect();
        let reports = find_reports(&connection, hashes.iter().copied().chain(behash).collect())?;
        let of = |hash: &u64| reports.get(hash).map(Vec::as_slice).unwrap_or_default();
        let mut found: BTreeMap<_, _> = behash.iter().flat_map(of).map(|id| (*id, (0, 0, true))).collect();
        if let Some(sandbox) = table.sandbox(&identifier.parts().sandbox) {
            let (shared, of) = table.shared(hashes.iter().map(of), sandbox);
            let is_alike = |shared: usize| shared >= FEWEST_SHARED && shared * 100 >= of * TWIN_PERCENT;
            for (id, shared) in shared.into_iter().filter(|(_, shared)| is_alike(*shared)) {
                let twin = found.entry(id).or_default();
                (twin.0, twin.1) = (shared, of);
            }
        }
        let mut twins = Vec::new();
        let mut select = connection.prepare_cached(
            "SELECT identifier, file, received, service, profile FROM report WHERE id = ?1 AND file IS NOT ?2",
        )?;
        for (id, (shared, of, has_same_behash)) in found {
            let mut rows = select.query((id, file.map(Sha256::as_str)))?;
            let holder = rows.next()?.map(|row| holder(row, 0)).transpose()?.flatten();
            let other = holder.filter(|holder| holder.identifier != *identifier);
            twins.extend(other.map(|holder| Twin { holder, shared, of, has_same_behash }));
        }
        twins.sort_by_key(|twin| Reverse((twin.has_same_behash, twin.shared, twin.holder.received)));
        let mut known = HashSet::new();
        twins.retain(|twin| twin.holder.file.clone().is_some_and(|file| known.insert(file)));
        Ok(twins)
    }
}

/// Returns the reports that have each of these hashes.
fn find_reports(connection: &Connection, mut hashes: Vec<u64>) -> rusqlite::Result<HashMap<u64, Vec<i64>>> {
    hashes.sort();
    hashes.dedup();
    let mut reports = vec![Vec::new(); hashes.len()];
    let mut select = connection.prepare_cached("SELECT id, hashes FROM value ORDER BY id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let mut all = numbers(row, 1)?;
        for (hash, reports) in hashes.iter().zip(&mut reports) {
            all = all.get(all.partition_point(|other| other < &hash.to_be_bytes())..).unwrap_or_default();
            if all.first() == Some(&hash.to_be_bytes()) {
                reports.push(id);
            }
        }
    }
    Ok(hashes.into_iter().zip(reports).collect())
}

/// Returns a column of numbers, in the order of their bytes.
fn numbers<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [[u8; 8]]> {
    Ok(row.get_ref(column)?.as_blob()?.as_chunks().0)
}

/// Reads columns `identifier, file, received, service, profile`, and a row as a number.
fn holder(row: &Row<'_>, place: u64) -> rusqlite::Result<Option<ValueHolder>> {
    let Some(identifier) = Identifier::new(Untrusted::from(row.get::<_, Vec<u8>>(0)?)) else { return Ok(None) };
    Ok(Some(ValueHolder {
        file: Sha256::parse(&row.get::<_, String>(1)?),
        identifier,
        received: moment(row.get(2)?),
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

/// Returns the files of the index; the first is the database.
pub(super) fn value_files(folder: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| folder.join(format!("values.db{ending}")))
}

impl Store {
    /// Adds every stored report that the index lacks, and forgets those that are no longer stored.
    pub fn index_values(&self, cancel: &Cancel) -> Result<()> {
        self.with_values(|index| self.catch_up(index, REPORTS, Some(cancel)))
    }

    /// Indexes reports of one file, or of those whose identifiers name none, alone.
    pub fn index_file(&self, service: &str, file: Option<&Sha256>) -> Result<()> {
        self.with_values(|index| self.catch_up(index, &folder_of(service, file), Some(&Cancel::default())))
    }

    /// Records how many findings a stored report has, for what its sandbox usually brings.
    pub fn note_findings(&self, service: &str, identifier: &Identifier, findings: usize) -> Result<()> {
        // The report may be new.
        self.index_file(service, identifier.parts().file.as_ref())?;
        self.with_values(|index| index.note_findings(identifier, findings))
    }

    /// Returns the hashes of a stored report's values; `None` if it is none, or gone or damaged.
    pub fn values_of_report(&self, service: &str, key: &[u8]) -> Option<(ValueHolder, Vec<u64>)> {
        identifier_of(key)?;
        let found = self.read_values(&(0, place(service, key)), &Cancel::default())?;
        Some((found.of, found.values.into_iter().map(|(hash, _)| hash).collect()))
    }

    /// Forgets the values of reports no longer stored, and leaves none of their hashes on disk.
    pub(super) fn forget_values(&self) -> Result<()> {
        let [path, ..] = value_files(&self.folder);
        if self.lock_values().is_none() && !path.exists() {
            return Ok(());
        }
        self.with_values(|index| self.catch_up(index, REPORTS, None))
    }

    /// Reads the index; one that is damaged is made again.
    pub fn with_values<T>(&self, work: impl Fn(&ValueIndex) -> rusqlite::Result<T>) -> Result<T> {
        let attempt = || work(&*self.open_values()?);
        let done = attempt().or_else(|why| {
            if !is_damage(&why) {
                return Err(why);
            }
            self.remove_values();
            self.open_values().and_then(|index| self.catch_up(&index, REPORTS, Some(&Cancel::default())))?;
            attempt()
        });
        done.map_err(|why| StoreError::Database { path: self.folder.join("values.db"), why })
    }

    /// Removes the index from the disk.
    pub(super) fn remove_values(&self) {
        *self.lock_values() = None;
        value_files(&self.folder).iter().for_each(|path| drop(fs::remove_file(path)));
    }

    fn lock_values(&self) -> MutexGuard<'_, Option<Arc<ValueIndex>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_values(&self) -> rusqlite::Result<Arc<ValueIndex>> {
        let mut values = self.lock_values();
        if let Some(index) = &*values {
            return Ok(Arc::clone(index));
        }
        let [path, ..] = value_files(&self.folder);
        if self.is_persistent {
            // The file has mode 0600 before it has any content.
            crate::files::append(&path).map_err(|why| rusqlite::Error::ToSqlConversionFailure(Box::new(why)))?;
        }
        let index = Arc::new(ValueIndex::open(self.is_persistent.then_some(path.as_path()))?);
        Ok(Arc::clone(values.insert(index)))
    }

    /// Compares the index with names and stamps of reports in a folder; adds none without `cancel`.
    fn catch_up(&self, index: &ValueIndex, folder: &str, cancel: Option<&Cancel>) -> rusqlite::Result<()> {
        let _one = self.indexing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = index.indexed(folder)?;
        let Ok(names) = self.report_files.names(folder) else { return Ok(()) };
        let reports = names.into_iter().filter(|name| name.contains("/behaviour-"));
        let stamped = reports.filter_map(|name| Some((self.report_files.stamp(&name)?, name)));
        let is_new = |(stamp, name): &(i64, String)| {
            let is_known = known.get(name) == Some(stamp);
            if is_known {
                known.remove(name);
            }
            !is_known
        };
        let new: Vec<_> = stamped.filter(is_new).collect();
        if !known.is_empty() || cancel.is_none() {
            index.forget(known.keys())?;
        }
        let Some(cancel) = cancel.filter(|_| !new.is_empty()) else { return Ok(()) };
        for batch in new.chunks(BATCH) {
            let mut read = Vec::new();
            in_rounds(batch, CONCURRENT_REPORTS, |new| self.read_values(new, cancel), &mut |report| {
                read.extend(report);
                if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            index.add(&read, |report| self.report_files.stamp(&report.place) == Some(report.stamp))?;
            if cancel.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// Reads a stored report's values; `None` if it is gone or damaged, or when cancelled.
    fn read_values(&self, (stamp, name): &(i64, String), cancel: &Cancel) -> Option<IndexedReport> {
        let (header, bytes) = self.report_files.load(name).ok()??;
        let identifier = identifier_of(&header.key.bytes())?;
        let of = ValueHolder {
            file: header.file().or_else(|| identifier.parts().file),
            identifier,
            received: moment(header.received),
            service: name.split('/').nth(1)?.to_owned(),
            profile: header.profile,
            place: RowPlace::default(),
            person: None,
        };
        let report = Report::open(&Body::in_memory(bytes));
        let values = indexed_values(&report, cancel).ok()?;
        Some(IndexedReport { place: name.clone(), stamp: *stamp, of, figures: ReportFigures::of(&report), values })
    }
}

/// Hashes a report's values with their rows, and its lists that may be incomplete; sorts them.
fn indexed_values(report: &Report, cancel: &Cancel) -> io::Result<Vec<(u64, RowPlace)>> {
    let found = report.values_of(None, &StableBuildHasher, cancel)?.into_iter().map(|value| (value.hash, value.place));
    let incomplete = report.incomplete_lists(&StableBuildHasher).into_iter().map(|list| (list, RowPlace::default()));
    let mut values: Vec<_> = found.chain(incomplete).collect();
    values.sort();
    values.dedup_by_key(|(hash, _)| *hash);
    Ok(values)
}

#[cfg(test)]
mod tests;
