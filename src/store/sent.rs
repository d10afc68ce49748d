//! Requests that were sent and not answered: they may have arrived, and sending them again may cost
//! twice.

use super::calls;
use super::entry::{LedgerEntry, State};
use super::error::StoreError;
use super::ledger::digest;
use super::records::Store;
use super::spent::Whose;
use crate::quota::Uploads;
use crate::request::PUBLIC_UPLOAD;
use jiff::Timestamp;
use rusqlite::{Row, params};

/// The outcome of a call that was answered, as it is written into the ledger.
pub const ANSWERED: &str = "answered";

impl Store {
    /// The files that were uploaded by the public API, and whether the counters showed that they
    /// were new.
    pub fn uploads(&self, whose: Whose<'_>) -> Result<Uploads, StoreError> {
        let select = "SELECT substr(key, length(?4) + 1), state = 'free' AND outcome = ?3 FROM ledger
                      WHERE substr(key, 1, length(?4)) = ?4 AND state IN ('free', 'unknown', 'reserved')
                      AND (owner = ?1 OR ?1 IS NULL AND service = ?2) ORDER BY 2";
        let values = params![whose.owner, whose.service, ANSWERED, PUBLIC_UPLOAD.as_bytes()];
        self.read(|connection| {
            let mut select = connection.prepare_cached(select)?;
            let row =
                |row: &Row<'_>| Ok((String::from_utf8_lossy(row.get_ref(0)?.as_blob()?).into_owned(), row.get(1)?));
            select.query_map(values, row)?.collect()
        })
    }

    /// When the last scan with this claim, or with a claim that starts with `start`, was sent to a
    /// service, if no response came and no program waits for one. The ledger entry `except` is
    /// ignored.
    ///
    /// Entries that were lost with damaged records may concern any file.
    pub fn unanswered(
        &self,
        whose: Whose<'_>,
        (start, claim): (&[u8], &[u8]),
        except: Option<i64>,
    ) -> Result<Option<Timestamp>, StoreError> {
        // If nothing is kept, the ledger contains only the digest of a claim.
        let select = "SELECT * FROM ledger WHERE state <> 'unsent' AND id IS NOT ?4
                      AND (profile = '' OR (owner = ?5 OR ?5 IS NULL AND service = ?1)
                           AND (substr(key, 1, length(?2)) = ?2 OR key = ?3)) ORDER BY id DESC LIMIT 1";
        self.read(|connection| {
            let mut select = connection.prepare_cached(select)?;
            let mut rows = select.query(params![whose.service, start, digest(claim), except, whose.owner])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let (entry, lock) = (LedgerEntry::read(row)?, row.get::<_, String>("lock")?);
            let is_unsure = match entry.state {
                State::Unknown => true,
                State::Reserved => !calls::is_in_flight(self.folder(), &lock),
                State::Charged | State::Free | State::Unsent => false,
            };
            Ok(is_unsure.then_some(entry.at))
        })
    }
}
