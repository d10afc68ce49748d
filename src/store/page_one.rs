//! The first page of a database whose schema is damaged, made anew: what the tables hold stands on other pages.
//!
//! Steps are only ever added to the schema, and SQLite lays the trees of a database that gives pages back side by side in the
//! order in which they were made. So every database of a version has them at the same pages, and a damaged text is not needed.

use super::schema::{self, NEWEST};
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The start of every database of this program, by the format: with a log beside it, in pages of [`PAGE`] bytes.
const HEAD: &[u8] = b"SQLite format 3\0\x10\x00\x02\x02\x00\x40\x20\x20";

/// Bytes of a page.
const PAGE: usize = 4096;

/// Where the first page tells of the number of pages, and of the first of those that are free and how many they are.
const PAGES: usize = 28;

/// The first bytes are the same in every database: where they are damaged, they are written anew.
pub(super) fn mend_head(path: &Path) -> io::Result<()> {
    write(path, HEAD)
}

/// Whether a database says of its tables what this program once wrote; one that has lost some has the others elsewhere.
pub(super) fn is_sound(connection: &Connection) -> bool {
    let Ok(found) = schema::objects(connection) else { return false };
    (1..=NEWEST).filter_map(|steps| schema::objects(&schema::after(steps).ok()?).ok()).any(|known| {
        let is_less = found.len() < known.len();
        let is_known = |(name, sql, page): &schema::Object| {
            known.iter().any(|known| (&known.0, &known.1) == (name, sql) && (is_less || known.2 == *page))
        };
        !found.is_empty() && found.iter().all(is_known)
    })
}

/// Whether a database says that a newer program wrote it, and has nothing that this one does not: its number is damaged.
pub(super) fn is_misnumbered(connection: &Connection) -> bool {
    schema::version(connection).is_ok_and(|version| version > NEWEST) && is_sound(connection)
}

/// Gives a database, which is open nowhere, a first page that says where its tables are and what their columns are called.
///
/// # Errors
/// What the system or the database said; it is no more damaged than it was.
pub(super) fn mend(path: &Path) -> anyhow::Result<()> {
    let version = settled(path);
    let mut page = template(&schema::after(version)?)?;
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

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}

/// Takes what is in the log over into the database, which may have the first page in it; gives the version of the schema, or
/// the newest where it says none that can be.
fn settled(path: &Path) -> usize {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let settled = Connection::open_with_flags(path, access).and_then(|connection| {
        // Goes on where the schema cannot be read.
        connection.pragma_update(None, "writable_schema", true)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        schema::version(&connection)
    });
    settled.ok().filter(|version| (1..=NEWEST).contains(version)).unwrap_or(NEWEST)
}

/// A first page on which the tables of a sound database are, with the names of their columns and little else: all of it must
/// fit. Nothing is written by what it says.
fn template(sound: &Connection) -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("template");
    let made = Connection::open(&path)?;
    made.execute_batch("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")?;
    let objects = schema::objects(sound)?;
    let is_table = |(_, sql, _): &&schema::Object| sql.as_ref().is_some_and(|sql| sql.starts_with("CREATE TABLE"));
    let tables: Vec<_> = objects.iter().filter(is_table).filter(|(name, ..)| !name.starts_with("sqlite_")).collect();
    for (name, ..) in &tables {
        let mut select = sound.prepare(
            "SELECT name || CASE WHEN pk = 1 AND type = 'INTEGER' THEN ' INTEGER PRIMARY KEY' ELSE '' END
                         || COALESCE(' DEFAULT ' || dflt_value, '') FROM pragma_table_info(?1)",
        )?;
        let columns = select.query_map([name], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
        made.execute_batch(&format!("CREATE TABLE {name} ({})", columns.join(", ")))?;
    }
    made.pragma_update(None, "writable_schema", true)?;
    for (name, _, page) in &tables {
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
}
