//! A database that is damaged as a whole: it is set aside under a new name, and what can be read of it is carried over.

mod answers;
mod carry;
mod heads;
pub(super) mod page_one;
mod rows;
mod ways;

pub(super) use heads::PAGE;

use super::error::StoreError;
use super::folder::{all_files, beside, create};
use super::spare;
use super::used::{self, Use, Wait};
use crate::files;
use crate::order;
use crate::report::identifier::Identifier;
use crate::text::count;
use rusqlite::{Connection, ErrorCode, OpenFlags};
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
    pub aside: PathBuf,
    /// Entries of the ledger that were carried over.
    pub entries: u64,
    /// Whether the ledger was read from its first entry to its last.
    pub is_ledger_whole: bool,
    /// Answers that were carried over.
    pub answers: u64,
    /// Answers of which only their bytes and their reports were left: where they came from is not known any more.
    pub made_anew: u64,
    /// Answers and reports that do not count as held any more, because what the store said of them was damaged.
    pub left_out: u64,
    /// Imported reports that are held again, but of which only the damaged part said which file they are of.
    pub fileless: Vec<Identifier>,
}

/// Reports that are named to the user; of more the number is told.
const NAMED: usize = 3;

impl Salvaged {
    /// What the user must know of it.
    pub fn words(&self) -> String {
        let ledger = if self.is_ledger_whole {
            format!("Its ledger was saved: {}.", count(self.entries, "call"))
        } else {
            format!(
                "Of its ledger {} were saved, and some may be lost: budgets count only what was saved; behaview quota shows what the service counted.",
                count(self.entries, "call")
            )
        };
        let aside = crate::text::path(&self.aside);
        let answers = count(self.answers, "answer");
        let lost = match self.left_out {
            0 => String::new(),
            left_out => format!(" Not held any more, because it was damaged: {}.", count(left_out, "thing")),
        };
        let (made_anew, fileless) = (self.made_anew_words(), self.fileless_words());
        format!(
            "The store was damaged, and was set aside as {aside}. {ledger} Saved with it: {answers}.{made_anew}{lost}{fileless}"
        )
    }

    fn made_anew_words(&self) -> String {
        if self.made_anew == 0 {
            return String::new();
        }
        let answers = count(self.made_anew, "answer");
        format!(
            " Found again by what is in it: {answers}. Whether the service sent that or somebody imported it is not known any more; \
             it is held with the profile that it was held with."
        )
    }

    fn fileless_words(&self) -> String {
        let named = self.fileless.iter().take(NAMED).map(|identifier| identifier.text().visible_cut(60).to_string());
        let named: Vec<_> = named.collect();
        let more = match self.fileless.len().saturating_sub(NAMED) {
            0 if named.is_empty() => return String::new(),
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let of = named.join(", ") + &more;
        format!(
            " Imported, and not known any more of which file: {of}. behaview import --replace --file SHA256 says it again."
        )
    }
}

/// Whether the database said that it is damaged; or a row has what no row can have, or the schema is none of ours.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    const SCHEMA: [&str; 5] =
        ["no such table", "no such column", "duplicate column name", "already exists", "unsupported file format"];
    let is_code = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase));
    let is_value = matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
    );
    let words = error.to_string();
    is_code || is_value || SCHEMA.iter().any(|part| words.contains(part))
}

/// Whether the system failed, such as a disk that is full or failing, which says nothing of the database.
pub(super) fn is_of_system(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OperationAborted, OperationInterrupted};
    use ErrorCode::{OutOfMemory, PermissionDenied, ReadOnly, SystemIoFailure};
    let of_disk = [DiskFull, SystemIoFailure, CannotOpen, ReadOnly, PermissionDenied];
    let of_moment = [OutOfMemory, DatabaseBusy, DatabaseLocked, OperationAborted, OperationInterrupted];
    error.sqlite_error_code().is_some_and(|code| of_disk.contains(&code) || of_moment.contains(&code))
}

/// Notes that the database is damaged, for the next start.
pub(super) fn mark(path: &Path) {
    // Where even that cannot be written, the next error says so again.
    let _ = create(&beside(path, MARK));
}

/// Whether the database is there, and has lost all that it had: one that was never filled has no spare room beside it.
pub(super) fn was_emptied(path: &Path) -> bool {
    // Another program may fill it right now, and makes the room after that.
    let had_any = spare::file_of(path).exists();
    is_short(path) && (had_any || std::fs::metadata(path).is_ok_and(|about| about.len() > 0))
}

/// Whether the database is there, and too short to be one.
pub(super) fn is_short(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.len() < PAGE as u64)
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
        if begun(path).is_some() {
            // Nothing was carried over yet to what is there.
            let why = "another behaview, which had begun, did not come to its end".to_owned();
            return Err(StoreError::NotMended { path: path.to_owned(), why });
        }
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
    let (connection, salvaged) =
        mended(path, &open).map_err(|why| StoreError::NotMended { path: path.to_owned(), why: why.to_string() })?;
    // From here on the new one is used; the mark is of the old one.
    let _ = std::fs::remove_file(beside(path, MARK));
    Ok((connection, Some(salvaged)))
}

/// A new database with what can be read of the one that was set aside.
fn mended(path: &Path, open: &impl Fn() -> rusqlite::Result<Connection>) -> anyhow::Result<(Connection, Salvaged)> {
    let aside = set_aside(path, open)?;
    let old = readable(&aside)?;
    let mut connection = open()?;
    let salvaged = carry::over(&aside, old.as_ref(), &mut connection)?;
    Ok((connection, salvaged))
}

/// The names of the databases that were set aside.
pub(super) fn asides(path: &Path) -> Vec<String> {
    let start = beside(path, &format!("{MARK}-"));
    let start = start.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|digit| digit.is_ascii_digit());
    let mut found: Vec<_> = names.filter(|name| name.strip_prefix(&start).is_some_and(is_number)).collect();
    order::sort(&mut found);
    found
}

/// Where an earlier start has set the database aside, if it did not come to its end.
fn begun(path: &Path) -> Option<PathBuf> {
    let number: u64 = files::read_text(&beside(path, MARK), LONGEST_MARK).ok()?.parse().ok()?;
    Some(beside(path, &format!("{MARK}-{number}"))).filter(|aside| aside.exists())
}

/// What stands in the place of a database that was set aside.
enum New {
    /// Nothing was carried over to it, which is done as a whole or not at all, nor written to it since.
    Empty,
    Filled,
    Damaged,
}

fn begun_anew(open: &impl Fn() -> rusqlite::Result<Connection>) -> rusqlite::Result<New> {
    let any = "SELECT EXISTS (SELECT 1 FROM ledger) OR EXISTS (SELECT 1 FROM answer) OR EXISTS (SELECT 1 FROM note)";
    match open().and_then(|new| new.query_row(any, [], |row| row.get::<_, bool>(0))) {
        Err(error) if is_damage(&error) => Ok(New::Damaged),
        found => found.map(|any| if any { New::Filled } else { New::Empty }),
    }
}

/// Sets the database aside, or finds where that was done; says where.
fn set_aside(path: &Path, open: &impl Fn() -> rusqlite::Result<Connection>) -> anyhow::Result<PathBuf> {
    let place = |number: &u64| beside(path, &format!("{MARK}-{number}"));
    let taken = || std::io::Error::from(std::io::ErrorKind::AlreadyExists);
    let number = (1..).find(|number| !place(number).exists()).ok_or_else(taken)?;
    let aside = place(&number);
    if let Some(begun) = begun(path) {
        match begun_anew(open)? {
            New::Empty => return Ok(begun),
            // It is not taken for the one that it was to be made from.
            New::Damaged => return Ok(move_away(path, &aside).map(|()| begun)?),
            New::Filled => {}
        }
    }
    let mut mark = create(&beside(path, MARK))?;
    mark.set_len(0)?;
    mark.write_all(number.to_string().as_bytes())?;
    move_away(path, &aside)?;
    Ok(aside)
}

fn move_away(path: &Path, place: &Path) -> std::io::Result<()> {
    for (file, ending) in all_files(path) {
        match std::fs::rename(&file, beside(place, ending)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The database that was set aside, so that its tables can be read by name; none where nothing of it can be.
fn readable(aside: &Path) -> anyhow::Result<Option<Connection>> {
    if is_short(aside) {
        return Ok(None);
    }
    page_one::mend_head(aside)?;
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || match Connection::open_with_flags(aside, access) {
        Err(error) if !is_of_system(&error) => Ok(None),
        opened => opened.map(Some),
    };
    let is_sound = open()?.as_ref().map_or(Ok(true), page_one::is_sound)?;
    if !is_sound {
        page_one::mend(aside)?;
    }
    heads::mend(aside)?;
    ways::mend(aside)?;
    Ok(open()?)
}
