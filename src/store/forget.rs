//! What was written of reports that are deleted, and the files that were opened: what goes with them, and what stays.

use super::database::Store;
use super::error::StoreError;
use crate::report::Purge;
use rusqlite::{Connection, ToSql, params};
use std::collections::BTreeSet;

/// Whether anything stands under a note: a report of its own profile, or anybody's import.
const STANDS: &str = "EXISTS (
    SELECT 1 FROM report r JOIN answer a ON a.id = r.answer
    WHERE r.identifier = CAST(note.identifier AS BLOB) AND (r.profile = note.profile OR a.imported_from IS NOT NULL))";

/// Whether an earlier file is forgotten where what came before a moment is deleted, for one profile or for all. One that was opened
/// less than a day before it is worked on, and stays without its reports; so does one of which a report or a list is still held.
const FORGOTTEN: &str = "opened < ?1 - 86400000 AND (?2 IS NULL OR profile = ?2)
    AND NOT EXISTS (SELECT 1 FROM report r JOIN answer a ON a.id = r.answer
                    WHERE r.profile = file.profile AND r.file = sha256 AND a.received >= ?1)
    AND NOT EXISTS (SELECT 1 FROM answer a, (SELECT 'behaviours ' AS list UNION SELECT 'identifiers ')
                    WHERE a.profile = file.profile AND a.received >= ?1 AND a.usable = 1
                    AND a.key >= CAST(list || sha256 || ' ' AS BLOB) AND a.key < CAST(list || sha256 || '!' AS BLOB))";

impl Store {
    /// How many files that were opened before are forgotten where these are deleted, for one profile or for all of them.
    pub fn forgotten_files(&self, what: &[Purge], profile: Option<&str>) -> Result<u64, StoreError> {
        let count = |connection: &Connection, which: &str, values: &[&dyn ToSql]| {
            let count = format!("SELECT COUNT(*) FROM file WHERE {which}");
            connection.query_row(&count, values, |row| row.get::<_, u32>(0)).map(u64::from)
        };
        self.read(|connection| {
            // What is deleted by its name may be named once for each of its reports.
            let mut named = BTreeSet::new();
            let mut files = 0;
            for what in what {
                files += match what {
                    Purge::Everything => count(connection, "?1 IS NULL OR profile = ?1", params![profile])?,
                    Purge::File { profile, file } if named.insert((profile, file)) => {
                        count(connection, "profile = ?1 AND sha256 = ?2", params![profile, file.as_str()])?
                    }
                    Purge::Before(moment) => count(connection, FORGOTTEN, params![moment.as_millisecond(), profile])?,
                    Purge::File { .. } | Purge::Report { .. } | Purge::Answer(_) | Purge::DownTo(_) => 0,
                };
            }
            Ok(files)
        })
    }
}

/// Whether a note is on this report; whoever edits the database by hand has text there.
const OF_REPORT: &str = "identifier IN (?2, CAST(?2 AS TEXT))";

/// Deletes the notes on what is gone; says how many. They go with their own profile's report, unless another one's import still
/// stands under them: nobody's deleting takes what another profile wrote.
pub(super) fn gone(connection: &Connection, gone: &[&(String, Vec<u8>, bool)]) -> rusqlite::Result<u64> {
    let delete = format!("DELETE FROM note WHERE profile = ?1 AND {OF_REPORT} AND NOT {STANDS}");
    let mut delete = connection.prepare(&delete)?;
    gone.iter()
        .try_fold(0, |notes, (profile, identifier, _)| Ok(notes + delete.execute(params![profile, identifier])? as u64))
}

/// Deletes the notes that are held alone; says how many.
pub(super) fn alone(connection: &Connection, what: &[Purge]) -> rusqlite::Result<u64> {
    let delete = |which: &str, profile: &str, named: &dyn ToSql| {
        let delete = format!("DELETE FROM note WHERE profile = ?1 AND {which} AND NOT {STANDS}");
        connection.execute(&delete, params![profile, named]).map(|notes| notes as u64)
    };
    what.iter().try_fold(0, |notes, what| {
        Ok(notes
            + match what {
                Purge::Report { profile, identifier, .. } => delete(OF_REPORT, profile, &identifier.as_bytes())?,
                Purge::File { profile, file } => delete("file = ?2", profile, &file.as_str())?,
                Purge::Answer(_) | Purge::Before(_) | Purge::DownTo(_) | Purge::Everything => 0,
            })
    })
}

/// Deletes what else there is of what is deleted: all notes, and the files of which nothing is left; says how many notes.
pub(super) fn rest(connection: &Connection, what: &Purge, profile: Option<&str>) -> rusqlite::Result<u64> {
    let mut notes = 0;
    match what {
        Purge::Everything => {
            notes = connection.execute("DELETE FROM note WHERE ?1 IS NULL OR profile = ?1", [profile])?;
            connection.execute("DELETE FROM file WHERE ?1 IS NULL OR profile = ?1", [profile])?;
            connection.execute("DELETE FROM used WHERE ?1 IS NULL", [profile])?;
        }
        Purge::File { profile, file } => {
            let of_file = params![profile, file.as_str()];
            connection.execute("DELETE FROM file WHERE profile = ?1 AND sha256 = ?2", of_file)?;
        }
        Purge::Before(moment) => {
            let opened = format!("DELETE FROM file WHERE {FORGOTTEN}");
            connection.execute(&opened, params![moment.as_millisecond(), profile])?;
        }
        Purge::Report { .. } | Purge::Answer(_) | Purge::DownTo(_) => {}
    }
    Ok(notes as u64)
}
