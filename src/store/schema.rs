//! The schema, in the steps that brought it here.

use super::{error, seal};
use rusqlite::Connection;

/// Each step brings the schema of the step before to its own; the number of steps taken is the schema's version.
const STEPS: &[&str] =
    &[FIRST, COUNTERS, INDEXES, NOTES, SEALS, SCANS, SEALED_LEDGER, ANNOUNCED, VERSIONS, SERVICES, USES, SEALED_OWNER];

/// The newest version that this program knows.
pub(super) const NEWEST: usize = STEPS.len();

/// The version from which on what is held is sealed.
const SEALED: usize = 5;

/// The version from which on the ledger is.
const LEDGER_SEALED: usize = 7;

/// Of an answer, `usable` says by now what its note here does not: 2 where a part of it is here, 3 where it is a page that a newer one
/// took the place of, whose reports are held. What is written in a step stays as it is: databases are compared with it.
pub(super) const FIRST: &str = "
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

/// What analysts wrote, and where a report came from if not from the service.
const NOTES: &str = "
CREATE TABLE note (
    profile TEXT NOT NULL,
    identifier BLOB NOT NULL,
    -- attribute and item are empty for a note on the report as a whole
    is_item INTEGER NOT NULL,
    attribute BLOB NOT NULL,
    item BLOB NOT NULL,
    file TEXT,
    text BLOB NOT NULL,
    written INTEGER NOT NULL,
    PRIMARY KEY (profile, identifier, is_item, attribute, item)
);
CREATE INDEX note_by_file ON note (profile, file);
CREATE INDEX counters_by_call ON counters (profile, after);
-- NULL: it came from the service
ALTER TABLE answer ADD COLUMN imported_from BLOB;
ALTER TABLE answer ADD COLUMN imported_by BLOB;
";

/// What tells a damaged row from a sound one, and a call that is under way from one whose program was killed.
const SEALS: &str = "
-- NULL: written by an earlier version
ALTER TABLE answer ADD COLUMN seal INTEGER;
ALTER TABLE block ADD COLUMN seal INTEGER;
ALTER TABLE index_block ADD COLUMN seal INTEGER;
ALTER TABLE report ADD COLUMN seal INTEGER;
-- when a call said last that it is under way: locks say so now, and nobody writes this any more
ALTER TABLE ledger ADD COLUMN alive INTEGER;
";

/// Scans whose end nobody here has seen.
const SCANS: &str = "
-- what the service calls it; NULL: that is not known
ALTER TABLE file ADD COLUMN scan BLOB;
-- since when it is known; NULL: there is none
ALTER TABLE file ADD COLUMN scan_since INTEGER;
";

/// What tells a damaged entry of the ledger from a sound one.
const SEALED_LEDGER: &str = "ALTER TABLE ledger ADD COLUMN seal INTEGER";

/// How many bytes the service said an answer has that did not come whole.
const ANNOUNCED: &str = "
-- NULL: it said nothing
ALTER TABLE answer ADD COLUMN announced INTEGER;
";

/// Which version of it the service said an answer is of that did not come whole.
const VERSIONS: &str = "
-- NULL: it said nothing
ALTER TABLE answer ADD COLUMN version TEXT;
";

/// Which address the name of a profile stands for.
const SERVICES: &str = "
CREATE TABLE service (
    profile TEXT NOT NULL,
    root TEXT NOT NULL,
    -- what comes from there has this in the place of its profile
    held_as TEXT NOT NULL,
    PRIMARY KEY (profile, root)
);
";

/// The days that the store was used on, and whose question is under way.
const USES: &str = "
CREATE TABLE used (
    -- since 1970
    day INTEGER PRIMARY KEY,
    -- when on that day first
    at INTEGER NOT NULL
);
-- a digest of the service and the key, whatever profile they have
ALTER TABLE ledger ADD COLUMN owner INTEGER;
";

/// The seal of an entry covers whose key asked: an earlier version would take each new one for damaged, and is kept away by an index
/// that it does not know. What that has sealed is believed as before.
const SEALED_OWNER: &str = "
CREATE INDEX ledger_by_owner ON ledger (owner, at);
";

/// A table or an index, as the database tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    /// Whether it is a table or an index.
    pub(super) kind: String,
    pub(super) name: String,
    /// The table that it is, or belongs to.
    pub(super) table: String,
    /// The SQL that made it; none where a table's own words ask for it.
    pub(super) sql: Option<String>,
    /// The page where its tree begins.
    pub(super) page: i64,
}

impl Object {
    /// Whether this is the other one, wherever its tree begins.
    pub(super) fn is_elsewhere(&self, other: &Self) -> bool {
        *self == Self { page: self.page, ..other.clone() }
    }
}

/// What a database consists of.
pub(super) fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut select = connection.prepare("SELECT type, name, tbl_name, sql, rootpage FROM main.sqlite_master")?;
    let objects = select.query_map([], |row| {
        let (kind, name, table) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Object { kind, name, table, sql: row.get(3)?, page: row.get(4)? })
    })?;
    objects.collect()
}

/// An empty database, as it was after so many steps.
pub(super) fn after(steps: usize) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    take(&connection, steps)?;
    Ok(connection)
}

/// Takes so many steps in an empty database.
pub(super) fn take(connection: &Connection, steps: usize) -> rusqlite::Result<()> {
    STEPS.iter().take(steps).try_for_each(|step| connection.execute_batch(step))
}

/// The version of the schema.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    usize::try_from(found).map_err(|_| error::damaged(&format!("its schema cannot be {found}")))
}

/// Takes the steps that are missing, all or none. A newer program's schema is left alone.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for step in STEPS.iter().skip(found) {
        transaction.execute_batch(step)?;
    }
    if found < SEALED {
        seal::all_held(&transaction)?;
    }
    if found < LEDGER_SEALED {
        seal::entries(&transaction, "TRUE", &[])?;
    }
    if found < STEPS.len() {
        transaction.pragma_update(None, "user_version", i64::try_from(STEPS.len()).unwrap_or(i64::MAX))?;
    }
    transaction.commit()
}
