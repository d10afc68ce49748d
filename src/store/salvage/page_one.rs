//! The first page of a database whose schema is damaged, made anew: what the tables hold stands on other pages.
//!
//! Steps are only ever added to the schema, and SQLite lays the trees of a database that gives pages back side by side in the
//! order in which they were made. So every database of a version has them at the same pages, and a damaged text is not needed.

use super::heads::{OF_INDEXES, OF_TABLES, PAGE};
use super::{is_damage, is_of_system};
use crate::store::schema::{self, NEWEST, Object};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The start of every database of this program, by the format: with a log beside it, in pages of [`PAGE`] bytes.
const HEAD: &[u8] = b"SQLite format 3\0\x10\x00\x02\x02\x00\x40\x20\x20";

/// Where the first page tells of the number of pages, and of the first of those that are free and how many they are.
const PAGES: usize = 28;

/// The first bytes are the same in every database: where they are damaged, they are written anew.
pub(super) fn mend_head(path: &Path) -> io::Result<()> {
    write(path, HEAD)
}

/// What every database of the newest version says of its tables, in one number: as the steps make it, and as it is once it was
/// written anew (`VACUUM`), which puts the tables before their indexes.
const WRITTEN: [u64; 2] = [0xff26_a879_f9b0_0aaf, 0x02a3_e31f_3acd_6343];

/// The last page where a tree of the newest version begins; what a user adds begins behind it.
const LAST: i64 = 31;

/// Whether a database says of its tables what nobody wrote, or that a newer program wrote what this one knows. It costs one
/// small query where it is sound.
///
/// A text that was damaged may be one that can be read all the same, and then nothing is found, and no error is met.
pub(in crate::store) fn is_damaged(connection: &Connection) -> bool {
    let found = digest(connection);
    // A newer program may have come between: the version is looked at afterwards.
    match (schema::version(connection), found) {
        (Ok(version), _) if version > NEWEST => is_sound(connection).unwrap_or(false),
        (Ok(_), Ok(found)) => !WRITTEN.contains(&found) && !is_rearranged(connection),
        (Ok(_), Err(error)) => is_damage(&error),
        (Err(_), _) => false,
    }
}

/// All that a database says of its tables in one number, which is another one when a bit changes.
fn digest(connection: &Connection) -> rusqlite::Result<u64> {
    // FNV-1a.
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let mut select = connection.prepare(
        "SELECT type, name, tbl_name, sql, rootpage FROM main.sqlite_master WHERE rootpage BETWEEN 1 AND ?1",
    )?;
    let (mut rows, mut sum) = (select.query([LAST])?, 0xcbf2_9ce4_8422_2325);
    while let Some(row) = rows.next()? {
        for column in 0..5 {
            sum = match row.get_ref(column)? {
                ValueRef::Text(text) => text.iter().fold(sum, add),
                ValueRef::Integer(page) => page.to_le_bytes().iter().fold(sum, add),
                _ => sum,
            };
            sum = add(sum, &0xff);
        }
    }
    Ok(sum)
}

/// Whether a database has its trees elsewhere and is sound: it was made by the first versions, or arranged by its user.
fn is_rearranged(connection: &Connection) -> bool {
    let (Ok(found), Ok(known)) = (schema::objects(connection), laid_out(NEWEST, false)) else { return false };
    let is_there = |known: &Object| found.iter().any(|found| found.is_elsewhere(known));
    let is_whole = || connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
    known.iter().all(is_there) && is_whole().is_ok_and(|words| words == "ok")
}

/// Whether a database says of its tables what this program once wrote; one that has lost some has the others elsewhere.
pub(super) fn is_sound(connection: &Connection) -> rusqlite::Result<bool> {
    let found = match schema::objects(connection) {
        Err(error) if !is_of_system(&error) => return Ok(false),
        found => found?,
    };
    let layouts = (1..=NEWEST).flat_map(|steps| [false, true].map(|anew| laid_out(steps, anew)));
    Ok(layouts.flatten().any(|known| {
        let is_less = found.len() < known.len();
        let is_known = |found: &Object| {
            known.iter().any(|known| known.is_elsewhere(found) && (is_less || known.page == found.page))
        };
        !found.is_empty() && found.iter().all(is_known)
    }))
}

/// What a database consists of after so many steps, or after it was then written anew.
fn laid_out(steps: usize, anew: bool) -> rusqlite::Result<Vec<Object>> {
    let made = schema::after(steps)?;
    if anew {
        made.execute_batch("VACUUM")?;
    }
    schema::objects(&made)
}

/// Gives a database, which is open nowhere, a first page that says where its tables are and what their columns are called; where
/// nobody knows that, it is left as it is, to be read as far as it goes.
pub(super) fn mend(path: &Path) -> anyhow::Result<()> {
    let version = settled(path)?;
    let Some(alike) = alike(path, version)? else { return Ok(()) };
    let mut page = template(&alike, path.parent().unwrap_or(Path::new(".")))?;
    let pages = u32::try_from(std::fs::metadata(path)?.len() / PAGE as u64)?;
    if let Some(place) = page.get_mut(PAGES..PAGES + 12) {
        // It is only read from here on, and nothing in it is free.
        place.copy_from_slice(&[pages.to_be_bytes(), [0; 4], [0; 4]].concat());
    }
    if let Some(place) = page.get_mut(..HEAD.len()) {
        place.copy_from_slice(HEAD);
    }
    Ok(write(path, &page)?)
}

/// An empty database of a version, whose trees begin at the same pages as those of this file.
fn alike(path: &Path, version: usize) -> anyhow::Result<Option<Connection>> {
    let (made, anew) = (schema::after(version)?, schema::after(version)?);
    anew.execute_batch("VACUUM")?;
    let (fit, fit_anew) = (fitting(path, &made)?, fitting(path, &anew)?);
    let (best, fit) = if fit_anew > fit { (anew, fit_anew) } else { (made, fit) };
    // A few of those pages may be damaged; where many are of another kind they begin elsewhere.
    let is_alike = fit * 4 >= schema::objects(&best)?.len() * 3;
    Ok(is_alike.then_some(best))
}

/// At how many pages where a database has a tree this file has the beginning of one of the same kind.
fn fitting(path: &Path, known: &Connection) -> anyhow::Result<usize> {
    let (mut file, mut fit) = (File::open(path)?, 0);
    for object in schema::objects(known)? {
        let (mut kind, page) = ([0], u64::try_from(object.page)?);
        file.seek(SeekFrom::Start(page.saturating_sub(1) * PAGE as u64))?;
        let kinds = if object.kind == "table" { &OF_TABLES } else { &OF_INDEXES };
        fit += usize::from(file.read_exact(&mut kind).is_ok() && kinds.contains(&kind[0]));
    }
    Ok(fit)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}

/// Takes what is in the log over into the database, which may have the first page in it; gives the version of the schema, or
/// the newest where it says none that can be.
fn settled(path: &Path) -> rusqlite::Result<usize> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let settled = Connection::open_with_flags(path, access).and_then(|connection| {
        // Goes on where the schema cannot be read.
        connection.pragma_update(None, "writable_schema", true)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        schema::version(&connection)
    });
    match settled {
        Err(error) if is_of_system(&error) => Err(error),
        settled => Ok(settled.ok().filter(|version| (1..=NEWEST).contains(version)).unwrap_or(NEWEST)),
    }
}

/// A first page on which the tables of a sound database are, with the names of their columns and little else: all of it must
/// fit. Nothing is written by what it says.
fn template(sound: &Connection, folder: &Path) -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir_in(folder)?;
    let path = folder.path().join("template");
    let made = Connection::open(&path)?;
    made.execute_batch("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")?;
    let mut tables = schema::objects(sound)?;
    tables.retain(|object| object.kind == "table" && !object.name.starts_with("sqlite_"));
    for Object { name, .. } in &tables {
        let mut select = sound.prepare(
            "SELECT name || CASE WHEN pk = 1 AND type = 'INTEGER' THEN ' INTEGER PRIMARY KEY' ELSE '' END
                         || COALESCE(' DEFAULT ' || dflt_value, '') FROM pragma_table_info(?1)",
        )?;
        let columns = select.query_map([name], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
        made.execute_batch(&format!("CREATE TABLE {name} ({})", columns.join(", ")))?;
    }
    made.pragma_update(None, "writable_schema", true)?;
    for Object { name, page, .. } in &tables {
        made.execute("UPDATE sqlite_master SET rootpage = ?1 WHERE name = ?2", (page, name))?;
    }
    drop(made);
    let mut page = vec![0; PAGE];
    File::open(&path)?.read_exact(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn trees_begin_where_they_are_known_to_whatever_was_written_between_the_steps() {
        for steps in 1..=NEWEST {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("behaview.db");
            let old = Connection::open(&path).unwrap();
            old.execute_batch("PRAGMA auto_vacuum = INCREMENTAL").unwrap();
            schema::take(&old, steps).unwrap();
            old.pragma_update(None, "user_version", i64::try_from(steps).unwrap()).unwrap();
            let insert = "INSERT INTO ledger (at, session, profile, operation, what, unit, predicted_min, state)
                          VALUES (1, 's', 'p', 'o', ?1, 'request', 1, 'reserved')";
            for _ in 0..50 {
                old.execute(insert, ["w".repeat(900)]).unwrap();
            }
            drop(old);
            drop(Store::open(&path).unwrap());
            let found = schema::objects(&Connection::open(&path).unwrap()).unwrap();
            assert_eq!(found, schema::objects(&schema::after(NEWEST).unwrap()).unwrap(), "from step {steps}");
            // With nothing of its first page everything is still there.
            std::fs::write(folder.path().join("copy"), std::fs::read(&path).unwrap()).unwrap();
            let copy = folder.path().join("copy");
            write(&copy, &[0xa5; PAGE]).unwrap();
            mend(&copy).unwrap();
            let count = |path: &Path| -> i64 {
                let counted = "SELECT COUNT(*) FROM ledger WHERE length(what) = 900 AND state = 'reserved'";
                Connection::open(path).unwrap().query_row(counted, [], |row| row.get(0)).unwrap()
            };
            assert_eq!((count(&path), count(&copy)), (50, 50), "from step {steps}");
        }
    }

    #[test]
    fn each_step_makes_something_that_the_version_before_does_not_know() {
        // One that made nothing would be taken for a version that is damaged.
        for steps in 1..NEWEST {
            let (before, next) = (schema::after(steps).unwrap(), schema::after(steps + 1).unwrap());
            assert_ne!(schema::objects(&before).unwrap(), schema::objects(&next).unwrap(), "step {}", steps + 1);
        }
    }

    #[test]
    fn what_the_schema_says_is_one_number() {
        let anew = schema::after(NEWEST).unwrap();
        anew.execute_batch("VACUUM").unwrap();
        let made = schema::after(NEWEST).unwrap();
        assert_eq!([&made, &anew].map(|database| digest(database).unwrap()), WRITTEN);
        let last = schema::objects(&made).unwrap().iter().map(|object| object.page).max();
        assert_eq!(last, Some(LAST));
    }

    #[test]
    fn what_a_user_made_of_a_database_is_no_damage() {
        for made in [
            "VACUUM",
            "ANALYZE",
            "CREATE VIEW mine AS SELECT * FROM report; CREATE TABLE my_own (x)",
            "CREATE TABLE my_own (x); VACUUM",
            "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = 0; VACUUM",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("behaview.db");
            let body = crate::report::Body::in_memory(b"bytes".to_vec());
            Store::open(&path).unwrap().keep("p", b"key", jiff::Timestamp::UNIX_EPOCH, &body).unwrap();
            Connection::open(&path).unwrap().execute_batch(made).unwrap();
            let store = Store::open(&path).unwrap();
            assert!(store.salvaged().is_none(), "{made}");
            assert_eq!(store.answer("p", b"key").unwrap().unwrap().body.whole().unwrap(), b"bytes", "{made}");
            drop(store);
            // Nor is more lost when it is damaged later.
            crate::store::salvage::mark(&path);
            let store = Store::open(&path).unwrap();
            assert_eq!(store.salvaged().unwrap().answers, 1, "{made}");
            assert!(store.answer("p", b"key").unwrap().is_some(), "{made}");
        }
    }
}
