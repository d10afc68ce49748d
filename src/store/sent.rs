//! What was sent and not answered: it may have arrived, and sending it again may pay for it twice.

use super::calls::{Sign, sign};
use super::database::Store;
use super::error::StoreError;
use super::held::moment;
use super::keep::digest;
use super::ledger::Whose;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

impl Store {
    /// When the last call was sent whose claim begins so, or is this one, if no answer to it came, and nobody waits for one; by this
    /// profile, or by another with the same service and key. Where no key is read, it may be by any of the service at this address. One
    /// entry of the ledger is left out, if that is named.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn unanswered(
        &self,
        (profile, owner): Whose<'_>,
        root: &str,
        (start, claim): (&[u8], &[u8]),
        but: Option<i64>,
    ) -> Result<Option<Timestamp>, StoreError> {
        let select = "SELECT id, at, state IN ('reserved', 'unknown') FROM ledger
                      WHERE (profile = ?1 OR owner = ?4
                             OR ?4 IS NULL AND profile IN (SELECT held_as FROM service WHERE root = ?5)) AND (substr(key, 1, length(?2)) = ?2 OR key = ?3)
                        AND id IS NOT ?6 AND state <> 'unsent'
                      ORDER BY id DESC LIMIT 1";
        // Where nothing is kept, a claim is known by its digest.
        let last = self.read(|connection| {
            let mut select = connection.prepare_cached(select)?;
            let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, bool>(2)?));
            select.query_row(params![profile, start, digest(claim), owner, root, but], read).optional()
        })?;
        let last = last.filter(|(entry, _, is_unsure)| *is_unsure && sign(self.path(), *entry) != Sign::UnderWay);
        Ok(last.map(|(_, at, _)| moment(at)))
    }
}
