//! The database file: made owner-only, opened by several programs at once, brought to the newest schema.

use super::connection::{LOG_BYTES, connect, empty_log, opened, to_read};
use super::error::{StoreError, is_full};
use super::folder;
use super::keep::{self, Keep};
use super::salvage::{self, Salvaged};
use super::schema::{NEWEST, version};
use super::spare::Spare;
use super::used::{self, Use, Wait};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Everything that is kept on disk: one SQLite file.
pub struct Store {
    reach: Reach,
    salvaged: Option<Salvaged>,
    is_read_only: bool,
}

/// The way to the database. Clones share its connections.
#[derive(Clone)]
pub(super) struct Reach(Arc<Connections>);

struct Connections {
    path: PathBuf,
    /// Only reads, so that a reader never waits for a writer.
    reader: Mutex<Connection>,
    /// Made when something is first written: what is held is looked at without.
    writer: OnceLock<Mutex<Connection>>,
    /// What of the answers is kept on disk.
    keep: Keep,
    /// Room to delete with; none where nothing is kept, or nothing may be written.
    spare: Option<Spare>,
    /// Keeps others from setting it aside, and knows which file was opened; none where it is only read. It ends last.
    used: Option<Use>,
}

impl Drop for Connections {
    fn drop(&mut self) {
        // What is in a log that was removed is taken over into the database at the end, but not over what others wrote since.
        if self.used.as_ref().is_some_and(|used| used.is_log_replaced(&self.path)) {
            for connection in [Some(&self.reader), self.writer.get()].into_iter().flatten() {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            }
        }
    }
}

impl Reach {
    /// Writes to the database, one at a time.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        // What goes to a file that is deleted or set aside is found by nobody later, though nothing fails.
        if self.0.used.as_ref().is_some_and(|used| used.is_replaced(&self.0.path)) {
            return Err(StoreError::Replaced(self.0.path.clone()));
        }
        let mut connection = self.writer()?.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|why| self.failed(why))
    }

    /// Reads from the database, whoever writes meanwhile.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        work(&self.reader()).map_err(|why| self.failed(why))
    }

    /// What is found by an index; or without one where that finds nothing. To ask the service again costs more than a second
    /// look, and an index that is damaged may lead nowhere and say nothing.
    pub(super) fn look_up<T>(
        &self,
        look: impl Fn(&Connection, &str) -> rusqlite::Result<Vec<T>>,
    ) -> Result<Vec<T>, StoreError> {
        let by_index = |connection: &Connection| look(connection, "");
        let without = |connection: &Connection| look(connection, "NOT INDEXED");
        let found = self.read(by_index)?;
        if !found.is_empty() || self.read(without)?.is_empty() {
            return Ok(found);
        }
        let (by_index, found) = self.read(|connection| {
            // What another program wrote between the two is seen by both now.
            let moment = connection.unchecked_transaction()?;
            Ok((by_index(&moment)?, without(&moment)?))
        })?;
        if by_index.is_empty() && !found.is_empty() {
            // The next start mends it.
            salvage::mark(&self.0.path);
        }
        Ok(found)
    }

    /// Writes what may be long, whole or not at all: only where there is room to take it over from the log, and to delete with.
    pub(super) fn with_room<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let done = self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            self.check_room(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
        // What could not be shortened is in the way of the next write, and not of this one.
        let _ = self.shorten_log();
        done
    }

    /// Refuses what a transaction has written where there is no room to take it over from the log, and to delete with.
    pub(super) fn check_room(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        self.0.spare.as_ref().map_or(Ok(()), |spare| spare.check(transaction))
    }

    /// Gives back the disk that a long write has taken twice, in the database and in its log, or only there.
    ///
    /// Where another program is reading, the next such write does it.
    pub(super) fn shorten_log(&self) -> Result<(), StoreError> {
        let log = folder::beside(&self.0.path, folder::LOG);
        if std::fs::metadata(log).map_or(0, |about| about.len()) <= LOG_BYTES {
            return Ok(());
        }
        let empty = || self.with(|connection| empty_log(connection, Duration::ZERO)).map(|_| ());
        match (empty(), &self.0.spare) {
            (Err(StoreError::Database { why, .. }), Some(spare)) if is_full(&why) => spare.lend(empty),
            (done, _) => done,
        }
    }

    /// The connection that only reads.
    pub(super) fn reader(&self) -> MutexGuard<'_, Connection> {
        self.0.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that writes.
    fn writer(&self) -> Result<&Mutex<Connection>, StoreError> {
        match (self.0.keep, self.0.writer.get()) {
            // What is held in memory is seen by nobody else.
            (Keep::Nothing, _) => Ok(&self.0.reader),
            (Keep::Everything, Some(writer)) => Ok(writer),
            (Keep::Everything, None) => {
                folder::check(&self.0.path)?;
                let made = connect(&self.0.path, OpenFlags::empty()).map_err(|why| self.failed(why))?;
                Ok(self.0.writer.get_or_init(|| Mutex::new(made)))
            }
        }
    }

    /// Notes that a row is not what was written: the next start sets the database aside.
    pub(super) fn damaged(&self, what: &str) -> StoreError {
        salvage::mark(&self.0.path);
        StoreError::Damaged { path: self.0.path.clone(), what: what.to_owned() }
    }

    /// An error's words; a database that says that it is damaged is set aside at the next start.
    fn failed(&self, why: rusqlite::Error) -> StoreError {
        if salvage::is_damage(&why) {
            salvage::mark(&self.0.path);
        }
        StoreError::Database { path: self.0.path.clone(), why }
    }
}

impl Store {
    /// Opens the store at this path, making it and its folder if they are not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_keeping(path, Keep::Everything, &|_| ControlFlow::Continue(()))
    }

    /// Opens the store, to keep this much of the answers on disk. A damaged one is set aside, and salvaged; who waits for another
    /// program that does so is told.
    pub fn open_keeping(path: &Path, keep: Keep, wait: Wait<'_>) -> Result<Self, StoreError> {
        let was_emptied = salvage::was_emptied(path);
        match folder::prepare(path) {
            Err(StoreError::File { path, why }) if keep == Keep::Everything && is_refusal(&why) => {
                return Self::open_to_read(path.clone(), StoreError::File { path, why });
            }
            prepared => prepared?,
        }
        if was_emptied {
            salvage::mark(path);
        }
        let mut became = None;
        let (connection, used) = loop {
            let file = used::identity(path);
            let (connection, salvaged) = match opened(path, wait) {
                // Its folder takes no log.
                Err(StoreError::Database { path, why }) if keep == Keep::Everything && is_only_read(&why) => {
                    return Self::open_to_read(path.clone(), StoreError::Database { path, why });
                }
                opened => opened?,
            };
            became = salvaged.or(became);
            let used = Use::begin(path, wait)?;
            // Before it was used another program may have set it aside, or this one.
            if used.is_of(file) {
                break (connection, used);
            }
        };
        Self::on(path.to_owned(), keep, (connection, became), Some(used))
    }

    /// The store where nothing can be written: what was paid for can be read all the same, and nothing can be asked.
    fn open_to_read(path: PathBuf, why: StoreError) -> Result<Self, StoreError> {
        let connection = to_read(&path).ok_or(why)?;
        Self::on(path, Keep::Everything, (connection, None), None).map(|store| Self { is_read_only: true, ..store })
    }

    /// The store on a connection that is open.
    fn on(
        path: PathBuf,
        keep: Keep,
        (connection, salvaged): (Connection, Option<Salvaged>),
        used: Option<Use>,
    ) -> Result<Self, StoreError> {
        let database = |why| StoreError::Database { path: path.clone(), why };
        let found = version(&connection).map_err(database)?;
        if found > NEWEST {
            return Err(StoreError::Newer { path, found, known: NEWEST });
        }
        if keep == Keep::Nothing {
            keep::check(&connection, &path)?;
            keep::in_memory(&connection).map_err(database)?;
        }
        let spare = used.as_ref().filter(|_| keep == Keep::Everything).map(|_| Spare::keep(&path));
        let (reader, writer) = (Mutex::new(connection), OnceLock::new());
        let reach = Reach(Arc::new(Connections { path, reader, writer, keep, spare, used }));
        Ok(Self { reach, salvaged, is_read_only: false })
    }

    /// Whether it may only be read: what is held is served, and nothing is written, so nothing is asked.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// What of the answers is kept on disk.
    pub fn keeps(&self) -> Keep {
        self.reach.0.keep
    }

    /// What became of a damaged store that was found in this one's place.
    pub fn salvaged(&self) -> Option<&Salvaged> {
        self.salvaged.as_ref()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.reach.0.path
    }

    /// What the database finds wrong with its own file, and how many entries of its ledger are not what was written; nothing
    /// where it is sound.
    pub fn damages(&self) -> Result<Vec<String>, StoreError> {
        let mut damages: Vec<_> = self.read(|connection| {
            let mut found = connection.prepare("PRAGMA integrity_check(5)")?;
            let rows = found.query_map([], |row| row.get::<_, String>(0))?;
            rows.filter(|row| row.as_deref() != Ok("ok")).collect()
        })?;
        let entries = self.damaged_entries()?.len() as u64;
        if entries > 0 {
            let entries = crate::text::count(entries, "entry");
            damages.push(format!("not what was written, and counted at the highest price: {entries} of the ledger"));
        }
        Ok(damages)
    }

    /// Writes to the database, one at a time.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.reach.with(work)
    }

    /// Reads from the database, whoever writes meanwhile.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.reach.read(work)
    }

    /// Room to delete with, where any is kept.
    pub(super) fn spare(&self) -> Option<&Spare> {
        self.reach.0.spare.as_ref()
    }

    /// The way to the database, for what outlives the store.
    pub(super) fn reach(&self) -> Reach {
        self.reach.clone()
    }
}

/// Whether the database can be read and not written.
fn is_only_read(why: &rusqlite::Error) -> bool {
    matches!(why.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// Whether the system refuses to have something written, rather than fails to.
fn is_refusal(why: &std::io::Error) -> bool {
    matches!(why.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::super::schema::FIRST;
    use super::*;
    use crate::report::{Body, Index};

    #[test]
    fn a_newer_store_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        drop(Store::open(&path).unwrap());
        let newer = "ALTER TABLE note ADD COLUMN colour TEXT; PRAGMA user_version = 99";
        Connection::open(&path).unwrap().execute_batch(newer).unwrap();
        assert!(matches!(Store::open(&path), Err(StoreError::Newer { found: 99, .. })));
    }

    #[test]
    fn an_older_store_is_brought_up_and_keeps_its_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(FIRST).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        let insert = "INSERT INTO ledger (at, session, profile, operation, what, unit, predicted_min, state)
                      VALUES (1, 's', 'p', 'o', 'w', 'request', 1, 'reserved')";
        old.execute(insert, []).unwrap();
        drop(old);
        for _ in 0..2 {
            assert_eq!(Store::open(&path).unwrap().spent("s").unwrap().unsure, 1);
        }
    }

    #[test]
    fn a_large_write_and_the_end_leave_no_log_behind() {
        let folder = tempfile::tempdir().unwrap();
        let log =
            |folder: &tempfile::TempDir| std::fs::metadata(folder.path().join("behaview.db-wal")).map(|m| m.len());
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let bytes: Vec<u8> = (0..2_000_000_u32).flat_map(|n| n.wrapping_mul(0x9e37_79b1).to_le_bytes()).collect();
        store.keep("p", b"key", jiff::Timestamp::UNIX_EPOCH, &Body::in_memory(bytes)).unwrap();
        assert_eq!(log(&folder).unwrap(), 0);
        let held = store.answer("p", b"key").unwrap().unwrap();
        assert_eq!(held.body.window(0..4).unwrap(), [0; 4]);
        let rows = format!(r#"{{"data":{{"attributes":{{"files_opened":[{}7]}}}}}}"#, "7,".repeat(1_100_000));
        store.keep("p", b"rows", jiff::Timestamp::UNIX_EPOCH, &Body::in_memory(rows.into_bytes())).unwrap();
        let rows = store.answer("p", b"rows").unwrap().unwrap().body;
        Index::of(&rows).unwrap().keep(&rows).unwrap();
        assert_eq!(log(&folder).unwrap(), 0);
        store.set_aside(held.id).unwrap();
        assert!(log(&folder).unwrap() > 0);
        drop((store, held, rows));
        assert!(log(&folder).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_the_owners_and_links_are_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/behaview.db");
        drop(Store::open(&path).unwrap());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let link = folder.path().join("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(Store::open(&link), Err(StoreError::Link(_))));
    }
}
