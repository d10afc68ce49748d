//! Connections to the database's file: to one that is there or a new one, brought to the newest schema.

use super::error::{StoreError, is_full};
use super::mapped;
use super::salvage::{self, Salvaged, page_one};
use super::schema::{NEWEST, migrate, version};
use super::spare;
use super::used::{self, Wait};
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// Pages in the log from which on it is taken over into the database with the next write.
const LOG_PAGES: u32 = 16;

/// What a writer remembers of the database, in kibibytes.
const CACHE_KIB: i64 = 512;

/// Bytes that the log keeps for what is written next.
pub(super) const LOG_BYTES: u64 = 64 * 1024;

/// How long a write waits for another program's.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// How long between two looks whether the other program has done.
const LOOK: Duration = Duration::from_millis(20);

/// After so many looks it is said what is waited for: most often it takes less.
const UNSAID: i32 = 40;

/// Told of a write that waits for another program's; set where there is somebody to tell.
static TELL: OnceLock<fn(&str)> = OnceLock::new();

/// From now on it is said of a wait that is not short that it is one.
pub fn tell_of_waits(tell: fn(&str)) {
    // Only the first counts; there is one.
    let _ = TELL.set(tell);
}

/// Has what this connection writes wait for other programs.
fn be_patient(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(|looks| {
        if let (UNSAID, Some(tell)) = (looks, TELL.get()) {
            tell("another program is writing to the store; what is to be written there waits for it, 15 s at most");
        }
        std::thread::sleep(LOOK);
        LOOK * looks.unsigned_abs() < PATIENCE
    }))
}

/// Does what is given up where another program is writing.
pub(super) fn unless_busy<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    connection.busy_timeout(LOOK)?;
    let done = work(connection);
    be_patient(connection)?;
    match done {
        Err(why) if why.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        done => done.map(Some),
    }
}

/// A connection to a database that is sound, with what became of one that was not.
pub(super) fn opened(path: &Path, wait: Wait<'_>) -> Result<(Connection, Option<Salvaged>), StoreError> {
    used::check_index(path)?;
    let up = || match prepared(path) {
        // What is held is looked at where nothing is free, and deleted.
        Err(why) if is_full(&why) && spare::give_to_open(path) => prepared(path),
        prepared => prepared,
    };
    // To open what has lost all is to fill it.
    if salvage::is_marked(path) && salvage::is_short(path) {
        return salvage::anew(path, up, wait);
    }
    match up() {
        Err(error) if salvage::is_damage(&error) => salvage::anew(path, up, wait),
        Ok(connection) if salvage::is_marked(path) || page_one::is_damaged(&connection) => {
            drop(connection);
            salvage::mark(path);
            salvage::anew(path, up, wait)
        }
        Err(why) if salvage::is_marked(path) => {
            Err(StoreError::NotMended { path: path.to_owned(), why: why.to_string() })
        }
        other => other
            .map(|connection| (connection, None))
            .map_err(|why| StoreError::Database { path: path.to_owned(), why }),
    }
}

/// A connection to a database at the newest schema.
fn prepared(path: &Path) -> rusqlite::Result<Connection> {
    mapped::check(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
    if version(&connection)? < NEWEST {
        // A new file can give pages back; it must be told before its first page is written, and every telling is a write.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        migrate(&mut connection)?;
    }
    mapped::take(path);
    Ok(connection)
}

/// A connection that may write, to the file that is there or, with `more`, to a new one.
pub(super) fn connect(path: &Path, more: OpenFlags) -> rusqlite::Result<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let mut connection = Connection::open_with_flags(path, access)?;
    be_patient(&mut connection)?;
    // The ledger must be on disk before the request is on the wire; what is purged is gone from the file, not only from the index.
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = TRUE; PRAGMA secure_delete = TRUE; PRAGMA temp_store = MEMORY",
    )?;
    // The blocks of an answer go by once: to remember them is to have them twice.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // What is in the log is in the way where nothing is free: it stays short.
    connection
        .execute_batch(&format!("PRAGMA wal_autocheckpoint = {LOG_PAGES}; PRAGMA journal_size_limit = {LOG_BYTES}"))?;
    Ok(connection)
}

/// The rows that a question finds, each as it is read; the question is made ready once for every time that it is asked.
pub(super) fn rows<T>(
    connection: &Connection,
    select: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut select = connection.prepare_cached(select)?;
    select.query_map(values, read)?.collect()
}

/// Takes the log over into the database, and empties it; says whether it is empty, for another program may be reading. That one
/// is waited for so long.
pub(super) fn empty_log(connection: &mut Connection, patience: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(patience)?;
    // A temporary store of what is never kept has no such file.
    let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    be_patient(connection)?;
    Ok(is_busy? == 0)
}

/// A connection to a database of the newest schema that may only be read; none where there is none, or it cannot be.
pub(super) fn to_read(path: &Path) -> Option<Connection> {
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let is_ready = |connection: &Connection| version(connection).is_ok_and(|found| found >= NEWEST);
    let quoted = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    // Where nothing may be written beside it nobody else writes either, and it is read as it stands.
    ["mode=ro", "immutable=1"].iter().find_map(|how| {
        let mut connection = Connection::open_with_flags(format!("file:{quoted}?{how}"), access).ok()?;
        be_patient(&mut connection).ok()?;
        Some(connection).filter(is_ready)
    })
}
