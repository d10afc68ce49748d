//! Files that were opened, for the start screen.

use super::error::StoreError;
use super::format::moment;
use super::records::Store;
use super::shelf::{IMPORTED, folder_of};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::{PendingScan, Recent};
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::params;
use std::collections::BTreeSet;

impl Store {
    /// Records that a file was opened, unless the store is read-only. Without a name, the recorded
    /// one stays.
    pub fn note_file(
        &self,
        service: &str,
        file: &Sha256,
        name: Option<&str>,
        opened: Timestamp,
    ) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO file (service, sha256, name, opened) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET opened = excluded.opened, name = COALESCE(excluded.name, name)",
                params![service, file.as_str(), name, opened.as_millisecond()],
            )
        })
        .map(|_| ())
    }

    /// Files that were opened, the last one first.
    pub fn recent_files(&self, service: &str, most: u32) -> Result<Vec<Recent>, StoreError> {
        let found = self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT sha256, name, opened, (SELECT COUNT(*) FROM note n WHERE n.file = f.sha256), scan, scan_since
                 FROM file f WHERE service = ?1 ORDER BY opened DESC LIMIT ?2",
            )?;
            let found = select.query_map(params![service, most], |row| {
                let name = row.get::<_, Option<String>>(1)?.map(Untrusted::from);
                let (opened, notes) = (moment(row.get(2)?), row.get::<_, u32>(3)?.into());
                let scan = pending(row.get(4)?, row.get(5)?);
                let file = Sha256::parse(&row.get::<_, String>(0)?);
                Ok(file.map(|file| Recent { file, name, opened, reports: 0, notes, scan }))
            })?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let recent = found.into_iter().flatten();
        recent.map(|recent| Ok(Recent { reports: self.count_reports(service, &recent.file)?, ..recent })).collect()
    }

    /// How many reports of a file are stored, fetched or imported.
    fn count_reports(&self, service: &str, file: &Sha256) -> Result<u64, StoreError> {
        let mut reports = BTreeSet::new();
        for of in [service, IMPORTED] {
            let names = self.shelf.names(&folder_of(of, Some(file))).map_err(|why| self.file_error(why))?;
            let last = |name: &String| name.rsplit('/').next().map(str::to_owned);
            reports.extend(names.iter().filter_map(last).filter(|name| name.starts_with("behaviour-")));
        }
        Ok(reports.len() as u64)
    }

    /// Adds a file of which a report was imported to the opened files.
    pub(super) fn note_import(&self, service: &str, file: &Sha256, now: Timestamp) -> Result<(), StoreError> {
        let insert = "INSERT INTO file (service, sha256, opened) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        self.write(|transaction| transaction.execute(insert, params![service, file.as_str(), now.as_millisecond()]))
            .map(|_| ())
    }

    /// Records a scan of a file that is in progress, or that none is any more, unless the store is
    /// read-only.
    pub fn note_scan(&self, service: &str, file: &Sha256, scan: Option<&PendingScan>) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        let identifier = scan.and_then(|scan| scan.identifier.as_ref()).map(|identifier| identifier.as_bytes());
        let since = scan.map(|scan| scan.since.as_millisecond());
        self.write(|connection| match since {
            None => connection.execute(
                "UPDATE file SET scan = NULL, scan_since = NULL WHERE service = ?1 AND sha256 = ?2",
                params![service, file.as_str()],
            ),
            Some(since) => connection.execute(
                "INSERT INTO file (service, sha256, opened, scan, scan_since) VALUES (?1, ?2, ?4, ?3, ?4)
                 ON CONFLICT DO UPDATE SET scan = excluded.scan, scan_since = excluded.scan_since",
                params![service, file.as_str(), identifier, since],
            ),
        })
        .map(|_| ())
    }

    /// The scan of a file whose end has not been seen.
    pub fn pending_scan(&self, service: &str, file: &Sha256) -> Result<Option<PendingScan>, StoreError> {
        self.read(|connection| {
            let mut select =
                connection.prepare_cached("SELECT scan, scan_since FROM file WHERE service = ?1 AND sha256 = ?2")?;
            let mut rows = select.query(params![service, file.as_str()])?;
            let row = rows.next()?;
            row.map(|row| Ok(pending(row.get(0)?, row.get(1)?))).transpose().map(Option::flatten)
        })
    }
}

fn pending(identifier: Option<Vec<u8>>, since: Option<i64>) -> Option<PendingScan> {
    let identifier = identifier.and_then(|bytes| Identifier::new(Untrusted::from(bytes)));
    since.map(|since| PendingScan { identifier, since: moment(since) })
}
