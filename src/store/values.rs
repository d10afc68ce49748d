//! The index of the values of all stored reports: filled from them, and forgotten with them.

use super::records::{Store, is_damage};
use super::report_files::{REPORTS, folder_of, moment, place};
use super::reports::identifier_of;
use super::value_index::{IndexedReport, ValueIndex};
use super::{Result, StoreError};
use crate::prevalence::{ReportFigures, StableBuildHasher, ValueHolder};
use crate::report::identifier::Sha256;
use crate::report::work::{CONCURRENT_REPORTS, in_rounds};
use crate::report::{Body, Cancel, Identifier, Report, RowPlace};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

/// Reports that are added to the index in one transaction.
const BATCH: usize = 32;

/// Returns the files of the index; the first is the database.
pub(super) fn value_files(folder: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| folder.join(format!("values.db{ending}")))
}

impl Store {
    /// Adds every stored report that the index lacks, and forgets those that are no longer stored.
    pub fn index_values(&self, cancel: &Cancel) -> Result<()> {
        self.with_values(|index| self.catch_up(index, REPORTS, Some(cancel)))
    }

    /// Indexes reports of one file, or of those whose identifiers name none, alone.
    pub fn index_file(&self, service: &str, file: Option<&Sha256>) -> Result<()> {
        self.with_values(|index| self.catch_up(index, &folder_of(service, file), Some(&Cancel::default())))
    }

    /// Records how many findings a stored report has, for what its sandbox usually brings.
    pub fn note_findings(&self, service: &str, identifier: &Identifier, findings: usize) -> Result<()> {
        // The report may be new.
        self.index_file(service, identifier.parts().file.as_ref())?;
        self.with_values(|index| index.note_findings(identifier, findings))
    }

    /// Returns the hashes of a stored report's values; `None` if it is none, or gone or damaged.
    pub fn values_of_report(&self, service: &str, key: &[u8]) -> Option<(ValueHolder, Vec<u64>)> {
        identifier_of(key)?;
        let found = self.read_values(&(0, place(service, key)), &Cancel::default())?;
        Some((found.of, found.values.into_iter().map(|(hash, _)| hash).collect()))
    }

    /// Forgets the values of reports no longer stored, and leaves none of their hashes on disk.
    pub(super) fn forget_values(&self) -> Result<()> {
        let [path, ..] = value_files(&self.folder);
        if self.lock_values().is_none() && !path.exists() {
            return Ok(());
        }
        self.with_values(|index| self.catch_up(index, REPORTS, None))
    }

    /// Reads the index; one that is damaged is made again.
    pub fn with_values<T>(&self, work: impl Fn(&ValueIndex) -> rusqlite::Result<T>) -> Result<T> {
        let attempt = || work(&*self.open_values()?);
        let done = attempt().or_else(|why| {
            if !is_damage(&why) {
                return Err(why);
            }
            self.remove_values();
            self.open_values().and_then(|index| self.catch_up(&index, REPORTS, Some(&Cancel::default())))?;
            attempt()
        });
        done.map_err(|why| StoreError::Database { path: self.folder.join("values.db"), why })
    }

    /// Removes the index from the disk.
    pub(super) fn remove_values(&self) {
        *self.lock_values() = None;
        value_files(&self.folder).iter().for_each(|path| drop(fs::remove_file(path)));
    }

    fn lock_values(&self) -> MutexGuard<'_, Option<Arc<ValueIndex>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_values(&self) -> rusqlite::Result<Arc<ValueIndex>> {
        let mut values = self.lock_values();
        if let Some(index) = &*values {
            return Ok(Arc::clone(index));
        }
        let [path, ..] = value_files(&self.folder);
        if self.is_persistent {
            // The file has mode 0600 before it has any content.
            crate::files::append(&path).map_err(|why| rusqlite::Error::ToSqlConversionFailure(Box::new(why)))?;
        }
        let index = Arc::new(ValueIndex::open(self.is_persistent.then_some(path.as_path()))?);
        Ok(Arc::clone(values.insert(index)))
    }

    /// Compares the index with names and stamps of reports in a folder; adds none without `cancel`.
    fn catch_up(&self, index: &ValueIndex, folder: &str, cancel: Option<&Cancel>) -> rusqlite::Result<()> {
        let _one = self.indexing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = index.indexed(folder)?;
        let names = self.report_files.names(folder);
        let names = names.map_err(|why| rusqlite::Error::ToSqlConversionFailure(Box::new(why)))?;
        let reports = names.into_iter().filter(|name| name.contains("/behaviour-"));
        let stamped = reports.filter_map(|name| Some((self.report_files.stamp(&name)?, name)));
        let is_new = |(stamp, name): &(i64, String)| {
            let is_known = known.get(name) == Some(stamp);
            if is_known {
                known.remove(name);
            }
            !is_known
        };
        let new: Vec<_> = stamped.filter(is_new).collect();
        if !known.is_empty() || cancel.is_none() {
            index.forget(known.keys())?;
        }
        let Some(cancel) = cancel.filter(|_| !new.is_empty()) else { return Ok(()) };
        for batch in new.chunks(BATCH) {
            let mut read = Vec::new();
            in_rounds(batch, CONCURRENT_REPORTS, |new| self.read_values(new, cancel), &mut |report| {
                read.extend(report);
                if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            index.add(&read, |report| self.report_files.stamp(&report.place) == Some(report.stamp))?;
            if cancel.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// Reads a stored report's values; `None` if it is gone or damaged, or when cancelled.
    fn read_values(&self, (stamp, name): &(i64, String), cancel: &Cancel) -> Option<IndexedReport> {
        let (header, bytes) = self.report_files.load(name).ok()??;
        let identifier = identifier_of(&header.key.bytes())?;
        let of = ValueHolder {
            file: header.file().or_else(|| identifier.parts().file),
            identifier,
            received: moment(header.received),
            service: name.split('/').nth(1)?.to_owned(),
            profile: header.profile,
            place: RowPlace::default(),
            person: None,
        };
        let report = Report::open(&Body::in_memory(bytes));
        let values = indexed_values(&report, cancel).ok()?;
        Some(IndexedReport { place: name.clone(), stamp: *stamp, of, figures: ReportFigures::of(&report), values })
    }
}

/// Hashes a report's values with their rows, and its lists that may be incomplete; sorts them.
pub(super) fn indexed_values(report: &Report, cancel: &Cancel) -> io::Result<Vec<(u64, RowPlace)>> {
    let found =
        report.values_of(None, &StableBuildHasher, cancel)?.into_iter().map(|value| (value.hashes.value, value.place));
    let incomplete = report.incomplete_lists(&StableBuildHasher).into_iter().map(|list| (list, RowPlace::default()));
    let mut values: Vec<_> = found.chain(incomplete).collect();
    values.sort();
    values.dedup_by_key(|(hash, _)| *hash);
    Ok(values)
}
