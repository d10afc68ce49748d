//! Files that were opened, for the start screen.

use super::connection::unless_busy;
use super::database::Store;
use super::error::StoreError;
use super::held::moment;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{PendingScan, Recent};
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::{Connection, params};

impl Store {
    /// Notes that a file was opened at a moment, where anything can be noted; a name that was noted before stays where
    /// none is given.
    pub fn note_file(
        &self,
        profile: &str,
        file: &Sha256,
        name: Option<&str>,
        opened: Timestamp,
    ) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        let note = |connection: &mut Connection| {
            connection.execute(
                "INSERT INTO file (profile, sha256, name, opened) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET opened = excluded.opened, name = COALESCE(excluded.name, name)",
                params![profile, file.as_str(), name, opened.as_millisecond()],
            )
        };
        // That it was looked at is not worth waiting for whoever writes; a name comes once.
        self.with(|connection| match name {
            Some(_) => note(connection).map(Some),
            None => unless_busy(connection, note),
        })
        .map(|_| ())
    }

    /// Files that were opened, the last one first.
    pub fn recent_files(&self, profile: &str, most: u32) -> Result<Vec<Recent>, StoreError> {
        self.read(|connection| {
            // A limit that is a parameter makes the database prepare the question twice.
            let mut select = connection.prepare_cached(&format!(
                "SELECT sha256, name, opened, (SELECT COUNT(DISTINCT identifier) FROM report r
                                               WHERE r.profile = f.profile AND r.file = f.sha256),
                        (SELECT COUNT(*) FROM note n WHERE n.profile = f.profile AND n.file = f.sha256),
                        scan, scan_since
                 FROM file f WHERE profile = ?1 ORDER BY opened DESC LIMIT {most}"
            ))?;
            let mut rows = select.query(params![profile])?;
            let mut files = Vec::new();
            while let Some(row) = rows.next()? {
                let name = row.get::<_, Option<String>>(1)?.map(Untrusted::from);
                let (opened, reports) = (moment(row.get(2)?), row.get::<_, u32>(3)?.into());
                let notes = row.get::<_, u32>(4)?.into();
                let scan = pending(row.get(5)?, row.get(6)?);
                let file = Sha256::parse(&row.get::<_, String>(0)?);
                files.extend(file.map(|file| Recent { file, name, opened, reports, notes, scan }));
            }
            Ok(files)
        })
    }

    /// Notes that a scan of a file is under way since a moment, where anything can be noted; or that none is any more.
    pub fn note_scan(&self, profile: &str, file: &Sha256, scan: Option<&PendingScan>) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        let identifier = scan.and_then(|scan| scan.identifier.as_ref()).map(|identifier| identifier.as_bytes());
        let since = scan.map(|scan| scan.since.as_millisecond());
        self.with(|connection| match since {
            None => connection.execute(
                "UPDATE file SET scan = NULL, scan_since = NULL WHERE profile = ?1 AND sha256 = ?2",
                params![profile, file.as_str()],
            ),
            Some(since) => connection.execute(
                "INSERT INTO file (profile, sha256, opened, scan, scan_since) VALUES (?1, ?2, ?4, ?3, ?4)
                 ON CONFLICT DO UPDATE SET scan = excluded.scan, scan_since = excluded.scan_since",
                params![profile, file.as_str(), identifier, since],
            ),
        })
        .map(|_| ())
    }

    /// The scan of a file whose end has not been seen.
    pub fn pending_scan(&self, profile: &str, file: &Sha256) -> Result<Option<PendingScan>, StoreError> {
        self.read(|connection| {
            let mut select =
                connection.prepare_cached("SELECT scan, scan_since FROM file WHERE profile = ?1 AND sha256 = ?2")?;
            let mut rows = select.query(params![profile, file.as_str()])?;
            let row = rows.next()?;
            row.map(|row| Ok(pending(row.get(0)?, row.get(1)?))).transpose().map(Option::flatten)
        })
    }
}

/// Notes a file of which a report was imported: whoever looks for it looks among those that were opened.
pub(super) fn note_import(
    connection: &Connection,
    profile: &str,
    file: &Sha256,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO file (profile, sha256, opened) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    connection.execute(insert, params![profile, file.as_str(), now.as_millisecond()]).map(|_| ())
}

fn pending(identifier: Option<Vec<u8>>, since: Option<i64>) -> Option<PendingScan> {
    let identifier = identifier.and_then(|bytes| Identifier::new(Untrusted::from(bytes)));
    since.map(|since| PendingScan { identifier, since: moment(since) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Imported;
    use crate::store::{Brought, Import};

    #[test]
    fn a_scan_is_pending_until_its_end_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let file = Sha256::parse(&"ab".repeat(32)).unwrap();
        let scan = |identifier: Option<&str>, since| PendingScan {
            identifier: identifier.and_then(|text| Identifier::new(Untrusted::from(text))),
            since: Timestamp::from_second(since).unwrap(),
        };
        assert_eq!(store.pending_scan("p", &file).unwrap(), None);
        store.note_scan("p", &file, Some(&scan(None, 5))).unwrap();
        store.note_file("p", &file, Some("a.exe"), Timestamp::from_second(9).unwrap()).unwrap();
        assert_eq!(store.pending_scan("p", &file).unwrap(), Some(scan(None, 5)));
        store.note_scan("p", &file, Some(&scan(Some("=scan 1"), 7))).unwrap();
        assert_eq!(store.recent_files("p", 9).unwrap()[0].scan, Some(scan(Some("=scan 1"), 7)));
        assert_eq!(store.pending_scan("another", &file).unwrap(), None);
        store.note_scan("p", &file, None).unwrap();
        assert_eq!(store.pending_scan("p", &file).unwrap(), None);
        assert_eq!(store.recent_files("p", 9).unwrap().len(), 1);
    }

    #[test]
    fn what_was_imported_is_among_the_files_and_is_not_said_to_be_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.db")).unwrap();
        let file = Sha256::parse(&"a".repeat(64)).unwrap();
        let identifier = Identifier::typed(&format!("{file}_Box-1700000000")).unwrap();
        let import = |second: i64| {
            let from = Imported { from: Untrusted::from("a.json"), by: Untrusted::from("ann") };
            let at = Timestamp::from_second(second).unwrap();
            let reports = [Brought::whole(identifier.clone(), 2)];
            let (profile, key, bytes) = ("p", b"behaviour x", b"{}");
            let seen = store.standing(profile, key, &reports).unwrap();
            store
                .import(&Import { profile, key, now: at, bytes, from: &from, reports: &reports, seen })
                .unwrap()
                .unwrap();
        };
        import(9);
        import(10);
        let recent = store.recent_files("p", 10).unwrap();
        assert_eq!((recent.len(), &recent[0].file, recent[0].reports), (1, &file, 1));
        assert_eq!(recent[0].opened.as_second(), 9);
    }
}
