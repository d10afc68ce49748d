//! Files that were opened, for the start screen.

use super::database::{Store, StoreError};
use super::held::moment;
use crate::report::identifier::Sha256;
use crate::text::Untrusted;
use jiff::Timestamp;
use rusqlite::params;

/// A file that was opened before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentFile {
    /// Its hash.
    pub sha256: Sha256,
    /// What it is called, if anybody said so.
    pub name: Option<Untrusted>,
    /// When it was opened last.
    pub opened: Timestamp,
    /// How many of its reports are held.
    pub reports: u64,
    /// How many notes there are on them.
    pub notes: u64,
}

impl Store {
    /// Notes that a file was opened at a moment, where anything can be noted; a name that was noted before stays.
    ///
    /// # Errors
    /// When it cannot be written.
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
        self.with(|connection| {
            connection.execute(
                "INSERT INTO file (profile, sha256, name, opened) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET opened = excluded.opened, name = COALESCE(excluded.name, name)",
                params![profile, file.as_str(), name, opened.as_millisecond()],
            )
        })
        .map(|_| ())
    }

    /// Files that were opened, the last one first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn recent_files(&self, profile: &str, most: u32) -> Result<Vec<RecentFile>, StoreError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT sha256, name, opened, (SELECT COUNT(DISTINCT identifier) FROM report r
                                               WHERE r.profile = f.profile AND r.file = f.sha256),
                        (SELECT COUNT(*) FROM note n WHERE n.profile = f.profile AND n.file = f.sha256)
                 FROM file f WHERE profile = ?1 ORDER BY opened DESC LIMIT ?2",
            )?;
            let mut rows = select.query(params![profile, most])?;
            let mut files = Vec::new();
            while let Some(row) = rows.next()? {
                let name = row.get::<_, Option<String>>(1)?.map(Untrusted::from);
                let (opened, reports) = (moment(row.get(2)?), row.get::<_, u32>(3)?.into());
                let notes = row.get::<_, u32>(4)?.into();
                let sha256 = Sha256::parse(&row.get::<_, String>(0)?);
                files.extend(sha256.map(|sha256| RecentFile { sha256, name, opened, reports, notes }));
            }
            Ok(files)
        })
    }
}
