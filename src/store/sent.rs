//! What was sent and not answered: it may have arrived, and sending it again may pay for it twice.

use super::calls;
use super::entry::{LedgerEntry, State};
use super::error::StoreError;
use super::ledger::digest;
use super::records::Store;
use super::spent::Whose;
use jiff::Timestamp;
use rusqlite::params;

impl Store {
    /// When the last scan was sent to a service whose claim begins so, or is this one, if no response to it came, and nobody waits for
    /// one. One entry of the ledger is left out, if that is named.
    ///
    /// What was lost with damaged records may be of any file.
    pub fn unanswered(
        &self,
        whose: Whose<'_>,
        (start, claim): (&[u8], &[u8]),
        except: Option<i64>,
    ) -> Result<Option<Timestamp>, StoreError> {
        // Where nothing is kept, a claim is known by its digest.
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
