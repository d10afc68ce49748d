//! A database that is damaged as a whole: it is set aside under a new name, and what can be read of it is carried over.

mod heads;
pub(super) mod page_one;
mod rows;
mod ways;

use super::database::StoreError;
use super::folder::{all_files, beside, create};
use super::seal;
use super::used::{self, Use, Wait};
use crate::files;
use crate::text::count;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ending of the file that says that the database was found damaged: the next start sets it aside. Once that has begun it says
/// where to, so that a start that was killed, or met a full disk, is gone on with.
pub(super) const MARK: &str = "-damaged";

/// The longest such file that says anything, in bytes.
const LONGEST_MARK: u64 = 20;

/// What became of a damaged database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// Where it is now.
    pub aside: PathBuf,
    /// Entries of the ledger that were carried over.
    pub entries: u64,
    /// Whether the ledger was read from its first entry to its last.
    pub is_ledger_whole: bool,
    /// Answers that were carried over.
    pub answers: u64,
    /// Answers and reports that do not count as held any more, because what the store said of them was damaged.
    pub left_out: u64,
}

impl Salvaged {
    /// What the user must know of it.
    #[must_use]
    pub fn words(&self) -> String {
        let ledger = if self.is_ledger_whole {
            format!("Its ledger was saved: {}.", count(self.entries, "call"))
        } else {
            format!(
                "Of its ledger {} were saved, and some may be lost: budgets count only what was saved; behaview quota shows what the service counted.",
                count(self.entries, "call")
            )
        };
        let aside = crate::text::Untrusted::from(self.aside.to_string_lossy().into_owned()).visible();
        let answers = count(self.answers, "answer");
        let lost = match self.left_out {
            0 => String::new(),
            left_out => format!(" Not held any more, because it was damaged: {}.", count(left_out, "entry")),
        };
        format!("The store was damaged, and was set aside as {aside}. {ledger} Saved with it: {answers}.{lost}")
    }
}

/// Whether the database said that it is damaged; or a row has what no row can have, or the schema is none of ours.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    const SCHEMA: [&str; 4] = ["no such table", "no such column", "duplicate column name", "already exists"];
    let is_code = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase));
    let is_value = matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
    );
    let words = error.to_string();
    is_code || is_value || SCHEMA.iter().any(|part| words.contains(part))
}

/// Whether the system failed, such as a disk that is full or failing.
pub(super) fn is_of_system(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
}

/// Notes that the database is damaged, for the next start.
pub(super) fn mark(path: &Path) {
    // Where even that cannot be written, the next error says so again.
    let _ = create(&beside(path, MARK));
}

/// Whether the database was found to be damaged before.
pub(super) fn is_marked(path: &Path) -> bool {
    beside(path, MARK).exists()
}

/// Sets a damaged database aside, makes a new one, and carries over what can be read.
///
/// One program does so at a time, and none while another has it open; one that waited finds the new one.
pub(super) fn anew(
    path: &Path,
    open: impl Fn() -> rusqlite::Result<Connection>,
    wait: Wait<'_>,
) -> Result<(Connection, Option<Salvaged>), StoreError> {
    let failed = |why| StoreError::File { path: path.to_owned(), why };
    let database = |why| StoreError::Database { path: path.to_owned(), why };
    let Some(_alone) = used::alone(path).map_err(failed)? else {
        // What another program writes from here on must not go to what is set aside: a start without it mends it.
        let _waited = Use::begin(path, wait)?;
        return match open() {
            Err(error) if is_damage(&error) => Err(StoreError::DamagedInUse(path.to_owned())),
            opened => opened.map(|connection| (connection, None)).map_err(database),
        };
    };
    if !is_marked(path)
        && let Ok(connection) = open()
    {
        return Ok((connection, None));
    }
    let aside = match begun(path) {
        Some(aside) if is_new(&open).map_err(database)? => aside,
        _ => set_aside(path).map_err(failed)?,
    };
    let old = readable(&aside).map_err(|error| match error.downcast() {
        Ok(why) => database(why),
        Err(other) => failed(std::io::Error::other(other)),
    })?;
    let mut connection = open().map_err(database)?;
    let salvaged = carry_over(&aside, old.as_ref(), &mut connection).map_err(database)?;
    // From here on the new one is used; the mark is of the old one.
    let _ = std::fs::remove_file(beside(path, MARK));
    Ok((connection, Some(salvaged)))
}

/// Where an earlier start has set the database aside, if it did not come to its end.
fn begun(path: &Path) -> Option<PathBuf> {
    let number: u64 = files::read_text(&beside(path, MARK), LONGEST_MARK).ok()?.parse().ok()?;
    Some(beside(path, &format!("{MARK}-{number}"))).filter(|aside| aside.exists())
}

/// Whether nothing was carried over to the new database, which is done as a whole or not at all, nor written to it since.
fn is_new(open: &impl Fn() -> rusqlite::Result<Connection>) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM ledger) OR EXISTS (SELECT 1 FROM answer) OR EXISTS (SELECT 1 FROM note)";
    match open().and_then(|new| new.query_row(any, [], |row| row.get::<_, bool>(0))) {
        Err(error) if is_damage(&error) => Ok(false),
        found => found.map(|any| !any),
    }
}

fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let place = |number: &u64| beside(path, &format!("{MARK}-{number}"));
    let number = (1..).find(|number| !place(number).exists()).ok_or(std::io::ErrorKind::AlreadyExists)?;
    let aside = place(&number);
    let mut mark = create(&beside(path, MARK))?;
    mark.set_len(0)?;
    mark.write_all(number.to_string().as_bytes())?;
    for (file, ending) in all_files(path) {
        match std::fs::rename(&file, beside(&aside, ending)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}

fn carry_over(aside: &Path, old: Option<&Connection>, new: &mut Connection) -> rusqlite::Result<Salvaged> {
    let mut salvaged =
        Salvaged { aside: aside.to_owned(), entries: 0, is_ledger_whole: false, answers: 0, left_out: 0 };
    let Some(old) = old else { return Ok(salvaged) };
    let transaction = new.transaction()?;
    // Rows come in any order.
    transaction.pragma_update(None, "defer_foreign_keys", true)?;
    for table in tables(&transaction)? {
        let (count, is_whole) = carry_table(old, &transaction, &table)?;
        match table.as_str() {
            // Another tree in its place can be read to its end as well; its indexes know of other entries then.
            "ledger" => (salvaged.entries, salvaged.is_ledger_whole) = (count, is_whole && is_as_indexed(old, &table)),
            "answer" => salvaged.answers = count,
            _ => {}
        }
    }
    let is_sealed = |table| columns(old, table).is_ok_and(|columns| columns.iter().any(|column| column == "seal"));
    if is_sealed("answer") {
        salvaged.left_out = seal::leave_out_what_is_broken(&transaction)?;
    } else {
        seal::all_held(&transaction)?;
    }
    if !is_sealed("ledger") {
        seal::entries(&transaction, "TRUE", &[])?;
    }
    leave_out_what_is_cut(&transaction)?;
    transaction.commit()?;
    Ok(salvaged)
}

/// The database that was set aside, so that its tables can be read by name; none where nothing of it can be.
///
/// # Errors
/// What the system or the database said: a full disk is no reason to carry over less than there is.
fn readable(aside: &Path) -> anyhow::Result<Option<Connection>> {
    page_one::mend_head(aside)?;
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || Connection::open_with_flags(aside, access).ok();
    let is_sound = open().as_ref().map_or(Ok(true), page_one::is_sound)?;
    if !is_sound {
        page_one::mend(aside)?;
    }
    heads::mend(aside)?;
    ways::mend(aside)?;
    Ok(open())
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select =
        connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?;
    let names = select.query_map([], |row| row.get(0))?;
    names.collect()
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut select = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = select.query_map([table], |row| row.get(0))?;
    names.collect()
}

/// Carries over the rows of a table from both ends, as far as they can be read; says how many, and whether that is all.
fn carry_table(old: &Connection, new: &Connection, table: &str) -> rusqlite::Result<(u64, bool)> {
    let Ok(known) = columns(old, table) else { return Ok((0, false)) };
    let kinds = kinds(new, table)?;
    let columns: Vec<_> = columns(new, table)?.into_iter().filter(|column| known.contains(column)).collect();
    if columns.is_empty() {
        return Ok((0, false));
    }
    let fits = |values: &[Value]| {
        let each = columns.iter().zip(values.iter().skip(1));
        each.into_iter().all(|(column, value)| kinds.get(column).is_none_or(|kind| kind.takes(value)))
    };
    let (mut carried, mut is_whole, mut odd) = (0, false, 0_u64);
    let (names, places) = (columns.join(", "), vec!["?"; columns.len() + 1].join(", "));
    let mut insert = new.prepare(&format!("INSERT OR IGNORE INTO {table} (rowid, {names}) VALUES ({places})"))?;
    for order in ["ASC", "DESC"] {
        let Ok(mut select) = old.prepare(&format!("SELECT rowid, {names} FROM {table} ORDER BY rowid {order}")) else {
            return Ok((carried, false));
        };
        let Ok(mut rows) = select.query([]) else { return Ok((carried, false)) };
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let values =
                        (0..=columns.len()).map(|n| row.get::<_, Value>(n)).collect::<rusqlite::Result<Vec<_>>>();
                    // A row that cannot be read, or not be kept, costs itself.
                    let values = values.ok().filter(|values| fits(values));
                    odd += u64::from(values.is_none());
                    let kept = values.and_then(|values| insert.execute(params_from_iter(values)).ok());
                    carried += kept.unwrap_or(0) as u64;
                }
                Ok(None) => {
                    is_whole = order == "ASC";
                    break;
                }
                Err(_) => break,
            }
        }
        if is_whole {
            break;
        }
    }
    Ok((carried, is_whole && odd == 0))
}

/// Whether the database finds nothing wrong with a table beside its indexes.
fn is_as_indexed(connection: &Connection, table: &str) -> bool {
    let check = format!("PRAGMA integrity_check({table})");
    connection.query_row(&check, [], |row| row.get::<_, String>(0)).is_ok_and(|words| words == "ok")
}

/// What a column takes.
struct Kind {
    name: String,
    takes_nothing: bool,
}

impl Kind {
    fn takes(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.takes_nothing,
            Value::Integer(_) => self.name == "INTEGER",
            Value::Text(_) => self.name == "TEXT",
            Value::Blob(_) => self.name == "BLOB",
            Value::Real(_) => false,
        }
    }
}

fn kinds(connection: &Connection, table: &str) -> rusqlite::Result<HashMap<String, Kind>> {
    let mut select = connection.prepare("SELECT name, type, \"notnull\" = 0 FROM pragma_table_info(?1)")?;
    let kinds =
        select.query_map([table], |row| Ok((row.get(0)?, Kind { name: row.get(1)?, takes_nothing: row.get(2)? })))?;
    kinds.collect()
}

/// Answers whose bytes were not carried over whole do not count as held, nor do reports without an answer.
fn leave_out_what_is_cut(new: &Connection) -> rusqlite::Result<()> {
    new.execute_batch(
        "UPDATE answer SET usable = 0 WHERE length > 0 AND (SELECT COUNT(*) FROM block b WHERE b.answer = answer.id)
             < (length + block - 1) / block;
         DELETE FROM report WHERE answer NOT IN (SELECT id FROM answer WHERE usable IS NOT 0);
         DELETE FROM block WHERE answer NOT IN (SELECT id FROM answer)",
    )
}
