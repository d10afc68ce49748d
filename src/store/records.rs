//! The database of records: opened, checked, copied daily, and restored from the copy if damaged.

use super::ledger::{entries, note_lost};
use super::report_files::{REPORTS, ReportFiles, UNREAD, leftovers, lock_folder, sync};
use super::value_index::ValueIndex;
use super::values::value_files;
use super::{Result, StoreError};
use crate::files;
use crate::text::count;
use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SCHEMA: i64 = 2;

/// How long a write waits for that of another program.
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);

const COPY_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The tables of calls: `owner` is a digest of service and API key. Rows of one reading of the
/// counters share the number `look`, and come `after` an entry of the ledger.
const CALLS: &str = "
CREATE TABLE IF NOT EXISTS ledger (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, session TEXT NOT NULL, profile TEXT NOT NULL,
    service TEXT NOT NULL, operation TEXT NOT NULL, what TEXT NOT NULL, key BLOB, unit TEXT NOT NULL,
    predicted_min INTEGER NOT NULL, predicted_max INTEGER, account TEXT, owner INTEGER, lock TEXT NOT NULL,
    state TEXT NOT NULL, settled INTEGER, settled_at INTEGER, outcome TEXT, counted TEXT, checksum INTEGER
);
CREATE TABLE IF NOT EXISTS counters (
    look INTEGER NOT NULL, asked INTEGER NOT NULL, at INTEGER NOT NULL, session TEXT NOT NULL,
    profile TEXT NOT NULL, service TEXT NOT NULL, account TEXT NOT NULL, after INTEGER NOT NULL,
    unit TEXT NOT NULL, period TEXT NOT NULL, holder TEXT NOT NULL, used INTEGER NOT NULL,
    allowed INTEGER NOT NULL, checksum INTEGER
);
CREATE TABLE IF NOT EXISTS privileges (
    profile TEXT NOT NULL, service TEXT NOT NULL, owner INTEGER, premium_api INTEGER,
    premium_intelligence INTEGER, at INTEGER NOT NULL, PRIMARY KEY (profile, service, owner)
);";

/// The tables of opened files and of notes; a note on a report as a whole has an empty item. Notes
/// of colleagues are copies; in `shared_note`, an own text waits until it is shared.
const WORK: &str = "
CREATE TABLE IF NOT EXISTS file (
    service TEXT NOT NULL, sha256 TEXT NOT NULL, opened INTEGER NOT NULL, name TEXT, scan BLOB,
    scan_since INTEGER, PRIMARY KEY (service, sha256)
);
CREATE TABLE IF NOT EXISTS note (
    identifier BLOB NOT NULL, is_item INTEGER NOT NULL, attribute BLOB NOT NULL, item BLOB NOT NULL,
    file TEXT, text BLOB NOT NULL, written INTEGER NOT NULL,
    PRIMARY KEY (identifier, is_item, attribute, item)
);
CREATE TABLE IF NOT EXISTS team_note (
    identifier BLOB NOT NULL, is_item INTEGER NOT NULL, attribute BLOB NOT NULL, item BLOB NOT NULL,
    file TEXT, text BLOB NOT NULL, written INTEGER NOT NULL, person TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS shared_note (
    number INTEGER PRIMARY KEY AUTOINCREMENT, service TEXT NOT NULL, identifier BLOB NOT NULL,
    is_item INTEGER NOT NULL, attribute BLOB NOT NULL, item BLOB NOT NULL, file TEXT, text BLOB
);";

/// All data on disk, in one folder.
pub struct Store {
    records: Mutex<Connection>,
    pub folder: PathBuf,
    pub(super) report_files: Arc<ReportFiles>,
    pub(super) values: Mutex<Option<Arc<ValueIndex>>>,
    /// Locked while the index is filled.
    pub(super) indexing: Mutex<()>,
    /// Whether responses are on disk, as the ledger is; else in memory until the program ends.
    pub is_persistent: bool,
    /// A message about damaged records and their replacement, if any.
    pub notice: Option<String>,
}

impl Store {
    /// Opens the store in a folder, and creates both if they do not exist.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_with(folder, true)
    }

    /// Opens or creates a store; one that is not persistent is refused if responses are on disk.
    pub fn open_with(folder: &Path, is_persistent: bool) -> Result<Self> {
        let _lock = prepare(folder)?;
        let (connection, notice) = restored(folder)?;
        let report_files = if is_persistent {
            ReportFiles::Folder(folder.to_owned())
        } else {
            check_empty(&connection, folder)?;
            let work = WORK.replace("CREATE TABLE", "CREATE TEMP TABLE");
            let failed = |why| StoreError::Database { path: database(folder), why };
            connection.execute_batch(&work).map_err(failed)?;
            ReportFiles::Memory(Mutex::default())
        };
        let records = Mutex::new(connection);
        let report_files = Arc::new(report_files);
        let (values, indexing) = Default::default();
        let store = Self { records, folder: folder.to_owned(), report_files, values, indexing, is_persistent, notice };
        if !is_persistent {
            store.remove_values();
        }
        Ok(store)
    }

    pub fn path(&self) -> PathBuf {
        database(&self.folder)
    }

    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection()).map_err(|why| StoreError::Database { path: self.path(), why })
    }

    /// Runs a transaction during which no other program writes.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        let mut connection = self.connection();
        let written = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        written().map_err(|why| StoreError::Database { path: self.path(), why })
    }

    /// Copies the records now, so that no older copy contains deleted data.
    pub(super) fn copy(&self) -> Result<()> {
        self.stored(lock_folder(&self.folder).and_then(|_lock| make_copy(&self.connection(), &self.folder)))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn database(folder: &Path) -> PathBuf {
    folder.join("records.db")
}

fn copy(folder: &Path) -> PathBuf {
    folder.join("records.copy.db")
}

/// Restricts the folder to the user, and waits for another program that is opening the store.
fn prepare(folder: &Path) -> Result<File> {
    if folder.is_symlink() {
        return Err(StoreError::NoFile(folder.to_owned()));
    }
    let failed = |why| StoreError::File { path: folder.to_owned(), why };
    files::own_folder(folder).map_err(failed)?;
    let records = [database(folder), copy(folder), folder.join("records.db-journal"), folder.join("records.lock")];
    for path in records.into_iter().chain(value_files(folder)) {
        if path.is_symlink() || files::is_special(&path) {
            return Err(StoreError::NoFile(path));
        } else if files::is_open_to_others(&path) {
            files::set_mode(&path, 0o600).map_err(failed)?;
        }
    }
    lock_folder(folder).map_err(failed)
}

/// Opens the records. A message reports that damaged or lost ones were replaced by the last copy.
fn restored(folder: &Path) -> Result<(Connection, Option<String>)> {
    let path = database(folder);
    let is_lost = is_empty(&path) && (copied_at(folder).is_some() || folder.join(REPORTS).exists());
    let mut found = if is_lost { None } else { checked(&path)? };
    let mut notice = None;
    if found.is_none() {
        notice = Some(restore_records(folder)?);
        found = checked(&path)?;
    }
    let connection = found.ok_or_else(|| StoreError::File { path, why: io::ErrorKind::InvalidData.into() })?;
    let age = copied_at(folder).map(|at| Timestamp::now().duration_since(at));
    if age.is_none_or(|age| age.is_negative() || age.unsigned_abs() >= COPY_INTERVAL) {
        // A copy that fails is retried at the next start.
        let _ = make_copy(&connection, folder);
    }
    Ok((connection, notice))
}

/// Replaces damaged records with the last sound copy or new ones. These get an open entry before
/// they are moved into place, so a kill at any step cannot make the ledger too low.
fn restore_records(folder: &Path) -> Result<String> {
    let path = database(folder);
    let now = crate::clock::now();
    let failed = |why| StoreError::File { path: path.clone(), why };
    let new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let when = copied_at(folder).filter(|_| fs::copy(copy(folder), new.path()).is_ok());
    let copied = when.and_then(|when| Some((checked(new.path()).ok()??, when)));
    let (connection, source) = match copied {
        Some((connection, when)) => (connection, format!("the copy of {} is used", crate::text::moment(when))),
        None => {
            new.as_file().set_len(0).map_err(failed)?;
            let made = checked(new.path())?.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
            (made, "no copy is sound, so new records were created".to_owned())
        }
    };
    note_lost(&connection, now).map_err(|why| StoreError::Database { path: path.clone(), why })?;
    drop(connection);
    let name = format!("records.damaged-{}.db", now.strftime("%Y%m%dT%H%M%S%3fZ"));
    // SQLite would roll the journal back into the new database.
    let _ = fs::rename(folder.join("records.db-journal"), folder.join(format!("{name}-journal")));
    let mut kept = String::new();
    if !is_empty(&path) {
        files::set_mode(&path, 0o600).map_err(failed)?;
        fs::copy(&path, folder.join(&name)).map_err(failed)?;
        kept = format!(" and are kept as {name}");
    }
    new.as_file().sync_all().map_err(failed)?;
    new.persist(&path).map_err(|error| failed(error.error))?;
    sync(folder).map_err(failed)?;
    Ok(format!(
        "The records (ledger, notes, earlier files) were damaged{kept}; {source}. One open entry in the ledger represents \
         calls that may be missing. Stored reports are not affected."
    ))
}

fn is_empty(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |about| about.len() == 0)
}

/// Opens the database, if it is sound; an empty file gets the schema.
fn checked(path: &Path) -> Result<Option<Connection>> {
    let is_new = is_empty(path);
    if is_new {
        files::append(path).map_err(|why| StoreError::File { path: path.to_owned(), why })?;
    }
    let open = || {
        let connection = connect(path)?;
        // Version 1 had no privileges, and older programs know no notes of a team.
        let has_team_notes = !is_new && connection.table_exists(None, "shared_note")?;
        if is_new || version(&connection)? == 1 || version(&connection)? == SCHEMA && !has_team_notes {
            let schema = format!("BEGIN IMMEDIATE; {CALLS} {WORK} PRAGMA user_version = {SCHEMA}; COMMIT");
            connection.execute_batch(&schema)?;
        }
        let found = version(&connection)?;
        let is_sound = found > SCHEMA || is_sound(&connection)?;
        Ok((found, is_sound.then_some(connection)))
    };
    match open() {
        Ok((found, Some(_))) if found > SCHEMA => Err(StoreError::Newer { path: path.into(), found, known: SCHEMA }),
        Ok((_, connection)) => Ok(connection),
        Err(why) if is_damage(&why) => Ok(None),
        Err(why) => Err(StoreError::Database { path: path.to_owned(), why }),
    }
}

/// Returns whether an error means damage, and not a refusal by the system or a program.
pub(super) fn is_damage(why: &rusqlite::Error) -> bool {
    use ErrorCode::*;
    let Some(code) = why.sqlite_error_code() else { return !matches!(why, rusqlite::Error::ToSqlConversionFailure(_)) };
    let refusals =
        [CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, PermissionDenied, ReadOnly, SystemIoFailure];
    !refusals.contains(&code)
}

/// Returns whether the pages, the columns of the ledger and the checksums are intact.
fn is_sound(connection: &Connection) -> rusqlite::Result<bool> {
    let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    let _ = entries(connection, "LIMIT 1", [])?;
    Ok(check == "ok" && has_sound_rows(connection, "ledger")? && has_sound_rows(connection, "counters")?)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, access)?;
    connection.busy_timeout(WRITE_TIMEOUT)?;
    // An entry must be on disk before its call: EXTRA also syncs the rollback journal's removal.
    connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA secure_delete = TRUE; PRAGMA temp_store = MEMORY")?;
    Ok(connection)
}

fn copied_at(folder: &Path) -> Option<Timestamp> {
    fs::metadata(copy(folder)).ok()?.modified().ok()?.try_into().ok()
}

fn make_copy(connection: &Connection, folder: &Path) -> io::Result<()> {
    // The file has mode 0600 before it has any content.
    let new = tempfile::NamedTempFile::new_in(folder)?;
    connection.execute("VACUUM INTO ?1", [new.path().to_string_lossy()]).map_err(io::Error::other)?;
    new.as_file().sync_all()?;
    new.persist(copy(folder)).map_err(|error| error.error)?;
    sync(folder)
}

/// Refuses to start if report data is on disk although the configuration forbids it.
fn check_empty(connection: &Connection, folder: &Path) -> Result<()> {
    let path = database(folder);
    let rows = "SELECT (SELECT COUNT(*) FROM note) + (SELECT COUNT(*) FROM file)";
    let rows = connection.query_row(rows, [], |row| row.get::<_, u32>(0));
    let mut found = rows.map(u64::from).map_err(|why| StoreError::Database { path: path.clone(), why })?;
    let report_files = ReportFiles::Folder(folder.to_owned());
    let files =
        || Ok(report_files.names(REPORTS)?.len() + report_files.names(UNREAD)?.len() + leftovers(folder)?.len());
    found += files().map_err(|why| StoreError::File { path: path.clone(), why })? as u64;
    if found == 0 { Ok(()) } else { Err(StoreError::NotEmpty { path, what: count(found, "entry") }) }
}

/// Writes the checksum of a row into its last column, within the transaction that changed it.
/// SQLite detects a page with a damaged structure, but not a changed digit.
pub(super) fn write_checksum(connection: &Connection, table: &str, row: i64) -> rusqlite::Result<()> {
    let select = format!("SELECT * FROM {table} WHERE rowid = ?1");
    let sum = connection.prepare_cached(&select)?.query_row([row], |row| checksums(row).map(|(sum, _)| sum))?;
    let update = format!("UPDATE {table} SET checksum = ?1 WHERE rowid = ?2");
    connection.prepare_cached(&update)?.execute(params![sum, row]).map(drop)
}

fn has_sound_rows(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let mut select = connection.prepare(&format!("SELECT * FROM {table}"))?;
    let mut rows = select.query_map([], checksums)?;
    rows.try_fold(true, |is_sound, row| row.map(|(sum, written)| is_sound && written == Some(sum)))
}

fn checksums(row: &Row<'_>) -> rusqlite::Result<(i64, Option<i64>)> {
    let last = row.as_ref().column_count().saturating_sub(1);
    let mut hash = Sha256::new();
    for column in 0..last {
        let value = row.get_ref(column)?;
        let bytes = match value {
            ValueRef::Null => Vec::new(),
            ValueRef::Integer(number) => number.to_le_bytes().to_vec(),
            ValueRef::Real(number) => number.to_le_bytes().to_vec(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        };
        hash.update([value.data_type() as u8]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    let sum = hash.finalize().first_chunk().copied().map_or(0, i64::from_le_bytes);
    Ok((sum, row.get_ref(last)?.as_i64().ok()))
}

#[cfg(test)]
mod tests;
