//! The database file: made owner-only, opened by several programs at once, brought to the newest schema.

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Each step brings the schema of the step before to its own; the number of steps taken is the schema's version.
const STEPS: &[&str] = &[FIRST, COUNTERS, INDEXES];

const FIRST: &str = "
CREATE TABLE answer (
    id INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    key BLOB NOT NULL,
    received INTEGER NOT NULL,
    length INTEGER NOT NULL,
    -- NULL: not read yet; 1: it answers its question; 0: set aside
    usable INTEGER
);
CREATE INDEX answer_by_key ON answer (profile, key, received);
CREATE TABLE block (
    answer INTEGER NOT NULL REFERENCES answer (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (answer, number)
);
CREATE TABLE report (
    profile TEXT NOT NULL,
    identifier BLOB NOT NULL,
    file TEXT,
    answer INTEGER NOT NULL REFERENCES answer (id) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    after INTEGER NOT NULL,
    received INTEGER NOT NULL
);
CREATE INDEX report_by_identifier ON report (profile, identifier, received);
CREATE INDEX report_by_file ON report (profile, file, received);
CREATE TABLE file (
    profile TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    opened INTEGER NOT NULL,
    name TEXT,
    PRIMARY KEY (profile, sha256)
);
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    profile TEXT NOT NULL,
    operation TEXT NOT NULL,
    what TEXT NOT NULL,
    key BLOB,
    unit TEXT NOT NULL,
    predicted_min INTEGER NOT NULL,
    predicted_max INTEGER,
    state TEXT NOT NULL,
    settled INTEGER,
    settled_at INTEGER,
    outcome TEXT
);
CREATE INDEX ledger_by_session ON ledger (session);
CREATE INDEX ledger_by_time ON ledger (at);
CREATE INDEX ledger_by_key ON ledger (profile, key) WHERE state = 'reserved';
";

/// Looks at the service's counters, and what they said of each call.
const COUNTERS: &str = "
CREATE TABLE counters (
    -- rows of one look share its number
    look INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    at INTEGER NOT NULL,
    session TEXT NOT NULL,
    profile TEXT NOT NULL,
    account TEXT NOT NULL,
    -- the last entry of the ledger when it was asked for
    after INTEGER NOT NULL,
    unit TEXT NOT NULL,
    period TEXT NOT NULL,
    holder TEXT NOT NULL,
    used INTEGER NOT NULL,
    allowed INTEGER NOT NULL
);
CREATE INDEX counters_by_look ON counters (profile, look);
ALTER TABLE ledger ADD COLUMN account TEXT;
ALTER TABLE ledger ADD COLUMN counted TEXT;
CREATE INDEX ledger_by_profile ON ledger (profile, at);
";

/// Where the rows of held reports start, so that opening one does not read it whole.
const INDEXES: &str = "
-- bytes of each of an answer's blocks before compression
ALTER TABLE answer ADD COLUMN block INTEGER NOT NULL DEFAULT 262144;
CREATE TABLE row_index (
    -- never used again, so that a program that reads one does not meet another
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    answer INTEGER NOT NULL REFERENCES answer (id) ON DELETE CASCADE,
    -- the part of the answer's bytes that it is of
    first INTEGER NOT NULL,
    after INTEGER NOT NULL,
    head BLOB NOT NULL,
    length INTEGER NOT NULL,
    UNIQUE (answer, first, after)
);
CREATE TABLE index_block (
    row_index INTEGER NOT NULL REFERENCES row_index (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (row_index, number)
);
";

/// How long a write waits for another program's.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why the store could not do something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database said no.
    #[error("the store at {path}: {source}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What the database said.
        source: rusqlite::Error,
    },
    /// The file or its folder said no.
    #[error("the store at {path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A newer program has written it.
    #[error(
        "the store at {path} was written by a newer behaview (schema {found}); this one knows schema {known}: update it, or choose another data folder"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema's version.
        found: usize,
        /// The newest version this program knows.
        known: usize,
    },
    /// The path goes through a link.
    #[error("the store at {0} is a link, which is not followed: remove it, or choose another data folder")]
    Link(PathBuf),
}

/// Everything that is kept on disk: one SQLite file.
pub struct Store {
    reach: Reach,
}

/// The way to the database. Clones share its connections.
#[derive(Clone)]
pub(super) struct Reach(Arc<Connections>);

struct Connections {
    path: PathBuf,
    writer: Mutex<Connection>,
    /// Only reads, so that a reader never waits for a writer; made when something held is first looked at.
    reader: OnceLock<Mutex<Connection>>,
}

impl Reach {
    /// Does something with the database, one at a time.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut connection = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|source| self.failed(source))
    }

    /// The connection that only reads.
    pub(super) fn reader(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        let reader = match self.0.reader.get() {
            Some(reader) => reader,
            None => {
                let made = connect(&self.0.path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|e| self.failed(e))?;
                self.0.reader.get_or_init(|| Mutex::new(made))
            }
        };
        Ok(reader.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn failed(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.0.path.clone(), source }
    }
}

impl Store {
    /// Opens the store at this path, making it and its folder if they are not there.
    ///
    /// # Errors
    /// When the file cannot be made, opened or brought to the newest schema, or is a newer program's.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        make_private(path).map_err(|source| StoreError::File { path: path.to_owned(), source })?;
        if path.is_symlink() {
            return Err(StoreError::Link(path.to_owned()));
        }
        let database = |source| StoreError::Database { path: path.to_owned(), source };
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(database)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(database)?;
        // The ledger must be on disk before the request is on the wire.
        connection.pragma_update(None, "synchronous", "FULL").map_err(database)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(database)?;
        // What is purged is gone from the file, not only from the index.
        connection.pragma_update(None, "secure_delete", true).map_err(database)?;
        let found = migrate(&mut connection).map_err(database)?;
        if found > STEPS.len() {
            return Err(StoreError::Newer { path: path.to_owned(), found, known: STEPS.len() });
        }
        let (path, writer, reader) = (path.to_owned(), Mutex::new(connection), OnceLock::new());
        Ok(Self { reach: Reach(Arc::new(Connections { path, writer, reader })) })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.reach.0.path
    }

    /// Does something with the database, one at a time.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.reach.with(work)
    }

    /// The way to the database, for what outlives the store.
    pub(super) fn reach(&self) -> Reach {
        self.reach.clone()
    }
}

fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Takes the steps that are missing, all or none; says which version was found.
fn migrate(connection: &mut Connection) -> rusqlite::Result<usize> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let found = usize::try_from(found).unwrap_or(usize::MAX);
    for step in STEPS.iter().skip(found) {
        transaction.execute_batch(step)?;
    }
    if found < STEPS.len() {
        transaction.pragma_update(None, "user_version", i64::try_from(STEPS.len()).unwrap_or(i64::MAX))?;
    }
    transaction.commit()?;
    Ok(found)
}

/// Makes the folder and the file, for the owner's eyes only, whatever the umask says.
fn make_private(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if !path.is_symlink() {
        options.open(path)?;
    }
    Ok(())
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_store_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        drop(Store::open(&path).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
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
