//! The database of records: opened, checked, copied once a day, and restored from the copy if
//! damaged.

use super::checksum;
use super::error::{StoreError, is_damage};
use super::ledger::note_lost;
use super::shelf::{INCOMING, QUARANTINE, REPORTS, Shelf, sync};
use crate::files;
use crate::text::count;
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The version of the schema.
const NEWEST: i64 = 2;

/// How long a write waits for another program's.
const PATIENCE: Duration = Duration::from_secs(15);

const COPIED_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// The tables of calls, whose rows end with a checksum.
const LEDGER: &str = "
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    profile TEXT NOT NULL,
    service TEXT NOT NULL,
    operation TEXT NOT NULL,
    what TEXT NOT NULL,
    key BLOB,
    unit TEXT NOT NULL,
    predicted_min INTEGER NOT NULL,
    predicted_max INTEGER,
    account TEXT,
    -- a digest of the service and the API key
    owner INTEGER,
    -- the lock of its call
    lock TEXT NOT NULL,
    state TEXT NOT NULL,
    settled INTEGER,
    settled_at INTEGER,
    outcome TEXT,
    counted TEXT,
    checksum INTEGER
);
CREATE INDEX ledger_by_session ON ledger (session);
CREATE INDEX ledger_by_state ON ledger (state);
-- readings of the service's counters; rows of one reading share its number
CREATE TABLE counters (
    look INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    profile TEXT NOT NULL,
    service TEXT NOT NULL,
    account TEXT NOT NULL,
    -- the last entry of the ledger when it was asked for
    after INTEGER NOT NULL,
    unit TEXT NOT NULL,
    period TEXT NOT NULL,
    holder TEXT NOT NULL,
    used INTEGER NOT NULL,
    allowed INTEGER NOT NULL,
    checksum INTEGER
);
";

/// What the user object said last; version 1 has no such table.
const PRIVILEGES: &str = "
CREATE TABLE privileges (
    profile TEXT NOT NULL,
    service TEXT NOT NULL,
    owner INTEGER,
    premium_api INTEGER,
    premium_intelligence INTEGER,
    at INTEGER NOT NULL,
    PRIMARY KEY (profile, service, owner)
);
";

/// The tables of opened files and of notes.
const WORK: &str = "
CREATE TABLE file (
    service TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    opened INTEGER NOT NULL,
    name TEXT,
    scan BLOB,
    scan_since INTEGER,
    PRIMARY KEY (service, sha256)
);
CREATE TABLE note (
    identifier BLOB NOT NULL,
    -- attribute and item are empty for a note on the report as a whole
    is_item INTEGER NOT NULL,
    attribute BLOB NOT NULL,
    item BLOB NOT NULL,
    file TEXT,
    text BLOB NOT NULL,
    written INTEGER NOT NULL,
    PRIMARY KEY (identifier, is_item, attribute, item)
);
";

/// Which responses are stored on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// All of them, so that the same answer is never paid for twice.
    #[default]
    Everything,
    /// None of them: they are in memory until the program ends. The ledger is on disk.
    Nothing,
}

/// All data on disk, in one folder.
pub struct Store {
    records: Mutex<Connection>,
    folder: PathBuf,
    pub(super) shelf: Arc<Shelf>,
    keep: Keep,
    notice: Option<String>,
    is_read_only: bool,
}

impl Store {
    /// Opens the store in a folder, and creates both if they do not exist.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_keeping(folder, Keep::Everything)
    }

    pub fn open_keeping(folder: &Path, keep: Keep) -> Result<Self, StoreError> {
        let path = database(folder);
        let opened = prepare(folder).and_then(|lock| restored(folder).map(|opened| (opened, lock)));
        let (connection, notice, is_read_only) = match opened {
            Ok(((connection, notice), _lock)) => {
                // SQLite also opens a database that it may not write.
                let is_read_only = connection.is_readonly("main").unwrap_or(true) || !files::may_write_in(folder);
                (connection, notice, is_read_only)
            }
            Err(error) if keep == Keep::Everything && is_refusal(&error) => {
                (read_only(&path).ok_or(error)?, None, true)
            }
            Err(error) => return Err(error),
        };
        let shelf = match keep {
            Keep::Everything => Shelf::Folder(folder.to_owned()),
            Keep::Nothing => {
                check_empty(&connection, folder)?;
                let work = WORK.replace("CREATE TABLE", "CREATE TEMP TABLE");
                connection.execute_batch(&work).map_err(|why| StoreError::Database { path, why })?;
                Shelf::Memory(Mutex::default())
            }
        };
        Ok(Self {
            records: Mutex::new(connection),
            folder: folder.to_owned(),
            shelf: Arc::new(shelf),
            keep,
            notice,
            is_read_only,
        })
    }

    /// Whether the store is read-only, so that no paid request can be sent.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    pub fn keeps(&self) -> Keep {
        self.keep
    }

    /// A message about damaged records and their replacement, if any.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of the records.
    pub fn path(&self) -> PathBuf {
        database(&self.folder)
    }

    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        work(&self.connection()).map_err(|why| self.failed(why))
    }

    /// Runs a transaction during which no other program writes.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let written = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        written().map_err(|why| self.failed(why))
    }

    /// Copies the records now, so that no older copy contains deleted data.
    pub(super) fn copy(&self) -> Result<(), StoreError> {
        make_copy(&self.connection(), &self.folder).map_err(|why| self.file_error(why))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, why: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.path(), why }
    }

    /// The error for a response file that cannot be accessed.
    pub(super) fn file_error(&self, why: io::Error) -> StoreError {
        StoreError::File { path: self.folder.clone(), why }
    }
}

fn database(folder: &Path) -> PathBuf {
    folder.join("records.db")
}

fn copy(folder: &Path) -> PathBuf {
    folder.join("records.copy.db")
}

/// Restricts the folder to the user, and waits for another program that is opening the store.
fn prepare(folder: &Path) -> Result<File, StoreError> {
    if folder.is_symlink() {
        return Err(StoreError::Link(folder.to_owned()));
    }
    let failed = |why| StoreError::File { path: folder.to_owned(), why };
    files::own_folder(folder).map_err(failed)?;
    for path in [database(folder), copy(folder), folder.join("records.db-journal"), folder.join("records.lock")] {
        match () {
            () if path.is_symlink() => return Err(StoreError::Link(path)),
            () if files::is_special(&path) => return Err(StoreError::NoFile(path)),
            () if files::is_open_to_others(&path) => files::set_mode(&path, 0o600).map_err(failed)?,
            () => {}
        }
    }
    let lock = files::append(&folder.join("records.lock")).map_err(failed)?;
    // If locks are unsupported, no other program has one either.
    let _ = lock.lock();
    Ok(lock)
}

/// Opens the records. Damaged ones are renamed and replaced by the last copy; the returned message
/// reports that.
fn restored(folder: &Path) -> Result<(Connection, Option<String>), StoreError> {
    let path = database(folder);
    let is_gone = is_empty(&path) && copied_at(folder).is_some();
    let found = if is_gone { None } else { checked(&path)? };
    let (connection, notice) = match found {
        Some(connection) => (connection, None),
        None => {
            let notice = bring_back(folder)?;
            let why = io::Error::from(io::ErrorKind::InvalidData);
            let connection = checked(&path)?.ok_or(StoreError::File { path, why })?;
            (connection, Some(notice))
        }
    };
    // A copy that fails is retried at the next start.
    let _ = copy_if_due(&connection, folder);
    Ok((connection, notice))
}

/// Replaces damaged records with the last copy or, without a sound copy, with new ones. Either gets
/// an open ledger entry before it is moved into place, so that a kill at any step can only make the
/// ledger overestimate.
fn bring_back(folder: &Path) -> Result<String, StoreError> {
    let (path, now) = (database(folder), crate::clock::now());
    let failed = |why| StoreError::File { path: path.clone(), why };
    let new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let when = copied_at(folder).filter(|_| std::fs::copy(copy(folder), new.path()).is_ok());
    let copied = when.and_then(|when| Some((checked(new.path()).ok()??, when)));
    let (connection, source) = match copied {
        Some((connection, when)) => (connection, format!("the copy of {} is used", crate::text::moment(when))),
        None => {
            new.as_file().set_len(0).map_err(failed)?;
            let made = checked(new.path())?.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
            (made, "there is no sound copy, so they begin again".to_owned())
        }
    };
    note_lost(&connection, now).map_err(|why| StoreError::Database { path: path.clone(), why })?;
    drop(connection);
    let aside = set_aside(folder, now).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    new.persist(&path).map_err(|error| failed(error.error))?;
    sync(folder).map_err(failed)?;
    let aside = aside.map(|name| format!(" and are kept as {name}")).unwrap_or_default();
    Ok(format!(
        "The records (ledger, notes, earlier files) were damaged{aside}; {source}. One open entry in the ledger stands for \
         calls that may be missing. Stored reports are not affected."
    ))
}

fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |about| about.len() == 0)
}

/// Opens the database, if it is sound; an empty file gets the schema.
fn checked(path: &Path) -> Result<Option<Connection>, StoreError> {
    let is_new = is_empty(path);
    if is_new {
        files::append(path).map_err(|why| StoreError::File { path: path.to_owned(), why })?;
    }
    let open = || {
        let mut connection = connect(path)?;
        if is_new {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(&format!("{LEDGER}{PRIVILEGES}{WORK}"))?;
            transaction.pragma_update(None, "user_version", NEWEST)?;
            transaction.commit()?;
        }
        if version(&connection)? == 1 {
            connection
                .execute_batch(&format!("BEGIN IMMEDIATE; {PRIVILEGES} PRAGMA user_version = {NEWEST}; COMMIT"))?;
        }
        let found = version(&connection)?;
        let is_sound = found > NEWEST || is_sound(&connection)?;
        Ok((found, is_sound.then_some(connection)))
    };
    match open() {
        Ok((found, Some(_))) if found > NEWEST => {
            Err(StoreError::Newer { path: path.to_owned(), found, known: NEWEST })
        }
        Ok((_, connection)) => Ok(connection),
        Err(why) if is_damage(&why) => Ok(None),
        Err(why) => Err(StoreError::Database { path: path.to_owned(), why }),
    }
}

/// Whether the database is intact: its pages, its schema, and the checksums of the ledger's tables.
fn is_sound(connection: &Connection) -> rusqlite::Result<bool> {
    let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    let made = Connection::open_in_memory()?;
    made.execute_batch(&format!("{LEDGER}{PRIVILEGES}{WORK}"))?;
    Ok(check == "ok"
        && schema(&made)?.is_subset(&schema(connection)?)
        && checksum::is_sound(connection, "ledger")?
        && checksum::is_sound(connection, "counters")?)
}

fn schema(connection: &Connection) -> rusqlite::Result<BTreeSet<(String, String, Option<String>)>> {
    let mut select = connection.prepare("SELECT name, tbl_name, sql FROM sqlite_master")?;
    select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, access)?;
    connection.busy_timeout(PATIENCE)?;
    // An entry must be on disk before its call is sent: EXTRA also syncs the removal of the
    // rollback journal.
    connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA secure_delete = TRUE; PRAGMA temp_store = MEMORY")?;
    Ok(connection)
}

/// Opens the database if it may not be written.
fn read_only(path: &Path) -> Option<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, access).ok()?;
    connection.busy_timeout(PATIENCE).ok()?;
    Some(connection).filter(|connection| version(connection).is_ok_and(|found| found == NEWEST))
}

fn is_refusal(error: &StoreError) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    match error {
        StoreError::File { why, .. } => matches!(why.kind(), PermissionDenied | ReadOnlyFilesystem),
        StoreError::Database { why, .. } => {
            matches!(why.sqlite_error_code(), Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen))
        }
        _ => false,
    }
}

fn copied_at(folder: &Path) -> Option<Timestamp> {
    std::fs::metadata(copy(folder)).ok()?.modified().ok()?.try_into().ok()
}

/// Copies the records if the last copy is a day old.
fn copy_if_due(connection: &Connection, folder: &Path) -> io::Result<()> {
    let age = std::fs::metadata(copy(folder)).and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
    if age.is_some_and(|age| age < COPIED_EVERY) {
        return Ok(());
    }
    make_copy(connection, folder)
}

fn make_copy(connection: &Connection, folder: &Path) -> io::Result<()> {
    // The file has mode 0600 before it has any content.
    let new = tempfile::NamedTempFile::new_in(folder)?;
    connection.execute("VACUUM INTO ?1", [new.path().to_string_lossy()]).map_err(io::Error::other)?;
    new.as_file().sync_all()?;
    new.persist(copy(folder)).map_err(|error| error.error)?;
    sync(folder)
}

/// Links damaged records to a name with the current time, and returns that name. Their own name
/// stays until the replacement is in place.
fn set_aside(folder: &Path, now: Timestamp) -> io::Result<Option<String>> {
    let (path, journal) = (database(folder), folder.join("records.db-journal"));
    let name = format!("records.damaged-{}.db", now.strftime("%Y%m%dT%H%M%S%3fZ"));
    // SQLite would roll it back into the new database.
    let _ = std::fs::rename(journal, folder.join(format!("{name}-journal")));
    if is_empty(&path) {
        return Ok(None);
    }
    files::set_mode(&path, 0o600)?;
    std::fs::hard_link(&path, folder.join(&name)).or_else(|_| std::fs::copy(&path, folder.join(&name)).map(|_| ()))?;
    Ok(Some(name))
}

/// Refuses to start if report data is on disk although nothing is to be kept.
fn check_empty(connection: &Connection, folder: &Path) -> Result<(), StoreError> {
    let path = database(folder);
    let number = |table: &str| connection.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0));
    let rows = |table: &str| {
        number(table).map_err(|why| StoreError::Database { path: path.clone(), why }).map(|n: u32| u64::from(n))
    };
    let shelf = Shelf::Folder(folder.to_owned());
    let mut files = 0;
    for of in [REPORTS, INCOMING, QUARANTINE] {
        files += shelf.names(of).map_err(|why| StoreError::File { path: path.clone(), why })?.len() as u64;
    }
    let found = [(files, "response"), (rows("note")?, "note"), (rows("file")?, "earlier file")];
    let words: Vec<_> = found.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what)).collect();
    if words.is_empty() { Ok(()) } else { Err(StoreError::NotEmpty { path, what: words.join(", ") }) }
}

#[cfg(test)]
mod tests;
