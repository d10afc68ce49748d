//! What somebody exported, held as if it had been fetched: decided by what is held at that moment, whoever imports the same.

use super::blocks::{self, BLOCK, Shelf};
use super::brought::Brought;
use super::database::Store;
use super::error::StoreError;
use super::held::{AnswerId, PROFILES};
use super::{numbers, recent, seal};
use crate::report::Imported;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

/// What is held at a moment of a question and of reports: the same again where nothing of it came, went or gave way to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing(Vec<(i64, i64)>);

/// What somebody exported, to be held.
#[derive(Debug)]
pub struct Import<'a> {
    /// The profile that it is held with.
    pub profile: &'a str,
    /// What it is held under.
    pub key: &'a [u8],
    pub now: Timestamp,
    pub bytes: &'a [u8],
    pub from: &'a Imported,
    pub reports: &'a [Brought],
    /// What was held of it when it was decided that it is to be held.
    pub seen: Standing,
}

impl Store {
    /// What is held of a question and of reports.
    pub fn standing(&self, profile: &str, key: &[u8], reports: &[Brought]) -> Result<Standing, StoreError> {
        self.with(|connection| standing(connection, profile, key, reports))
    }

    /// Holds a report that somebody exported, or a page of them; none where what is held of it is not what was seen any more, which
    /// is to be looked at again: nobody else writes between that look and this write.
    pub fn import(&self, import: &Import<'_>) -> Result<Option<AnswerId>, StoreError> {
        let Import { profile, key, now, bytes, from, reports, ref seen } = *import;
        self.reach().with_room(|transaction| {
            if standing(transaction, profile, key, reports)? != *seen {
                return Ok(None);
            }
            let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            let insert = format!(
                "INSERT INTO answer (id, profile, key, received, length, block, usable, imported_from, imported_by)
                 VALUES ({}, ?1, ?2, ?3, ?4, ?5, 1, ?6, ?7)",
                numbers::next("answer")
            );
            let (from, by, block) = (from.from.as_bytes(), from.by.as_bytes(), BLOCK as i64);
            transaction.execute(&insert, params![profile, key, now.as_millisecond(), length, block, from, by])?;
            let answer = AnswerId(transaction.last_insert_rowid());
            blocks::write(transaction, Shelf::Answer(answer), 0, bytes)?;
            for report in reports {
                report.insert(transaction, profile, answer)?;
                if let Some(file) = &report.file {
                    recent::note_import(transaction, profile, file, now)?;
                }
            }
            seal::renew(transaction, answer)?;
            Ok(Some(answer))
        })
    }
}

fn standing(connection: &Connection, profile: &str, key: &[u8], reports: &[Brought]) -> rusqlite::Result<Standing> {
    let known = format!("WITH {PROFILES} SELECT COALESCE(MAX(a.id), 0), COUNT(*)");
    let whose =
        "profile IN (SELECT ?1 UNION SELECT name FROM known) AND (a.profile = ?1 OR a.imported_from IS NOT NULL)";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let of_key = format!("{known} FROM answer a WHERE a.{whose} AND a.key = ?2 AND (a.usable IS NULL OR a.usable = 1)");
    let of_report =
        format!("{known} FROM report r JOIN answer a ON a.id = r.answer WHERE r.{whose} AND r.identifier = ?2");
    let mut found = vec![connection.query_row(&of_key, params![profile, key], read)?];
    let mut select = connection.prepare(&of_report)?;
    for report in reports {
        found.push(select.query_row(params![profile, report.identifier.as_bytes()], read)?);
    }
    Ok(Standing(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Body;
    use crate::report::identifier::Identifier;
    use crate::text::Untrusted;

    #[test]
    fn what_the_same_program_holds_between_look_and_import_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let (profile, key, now) = ("p", b"behaviour x", Timestamp::UNIX_EPOCH);
        let reports = [Brought::whole(Identifier::typed("x").unwrap(), 2)];
        let from = Imported { from: Untrusted::from("a.json"), by: Untrusted::from("ann") };
        let seen = store.standing(profile, key, &reports).unwrap();
        // It is fetched meanwhile, through the very connection that imports.
        let fetched = store.keep(profile, key, now, &Body::in_memory(b"[]".to_vec())).unwrap();
        store.accept(profile, fetched, &reports).unwrap();
        let import =
            |seen| store.import(&Import { profile, key, now, bytes: b"{}", from: &from, reports: &reports, seen });
        assert_eq!(import(seen).unwrap(), None);
        let held = store.report(profile, &reports[0].identifier).unwrap().unwrap();
        assert_eq!((held.answer, held.imported), (fetched, None));
        let seen = store.standing(profile, key, &reports).unwrap();
        assert!(import(seen).unwrap().is_some());
    }
}
