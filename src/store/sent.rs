//! What was sent and not answered: it may have arrived, and sending it again may pay for it twice.

use super::calls::{Sign, sign};
use super::database::Store;
use super::entry::{LedgerEntry, State};
use super::error::StoreError;
use super::keep::digest;
use super::ledger::Whose;
use super::seal;
use crate::quota::{Kind, Unit};
use crate::report::identifier::Sha256;
use jiff::Timestamp;
use rusqlite::{Connection, params};

/// The profile of an entry that stands for those that were lost with a damaged database: nobody knows whose they were.
const LOST: &str = "";

impl Store {
    /// When the last scan was sent whose claim begins so, or is this one, if no answer to it came, and nobody waits for one; by this
    /// profile, or by another with the same service and key. Where no key is read, it may be by any of the service at this address. One
    /// entry of the ledger is left out, if that is named.
    ///
    /// An entry that is not what was written may be of any file, and so may one that was lost with a damaged database.
    pub fn unanswered(
        &self,
        (profile, owner): Whose<'_>,
        root: &str,
        (start, claim): (&[u8], &[u8]),
        but: Option<i64>,
    ) -> Result<Option<Timestamp>, StoreError> {
        // An index may have lost what the table has. Where nothing is kept, a claim is known by its digest.
        let select = format!(
            "SELECT {}, seal, (profile = ?1 OR owner = ?4
                 OR ?4 IS NULL AND profile IN (SELECT held_as FROM service WHERE root = ?5)) IS TRUE
                 AND (substr(key, 1, length(?2)) = ?2 OR key = ?3) IS TRUE
             FROM ledger NOT INDEXED WHERE id IS NOT ?6 ORDER BY id DESC",
            seal::ENTRY
        );
        self.read(|connection| {
            let mut select = connection.prepare_cached(&select)?;
            let mut rows = select.query(params![profile, start, digest(claim), owner, root, but])?;
            while let Some(row) = rows.next()? {
                let entry = LedgerEntry::read(row)?;
                let is_unsure = match entry.state {
                    State::Damaged if may_be_of(&entry, row.get_ref("key")?.as_bytes().unwrap_or_default(), start) => {
                        true
                    }
                    State::Damaged | State::Unsent => continue,
                    _ if entry.profile == LOST => true,
                    _ if !row.get::<_, bool>(seal::ENTRY_COLUMNS + 1)? => continue,
                    state => {
                        matches!(state, State::Reserved | State::Unknown)
                            && sign(self.path(), entry.number) != Sign::UnderWay
                    }
                };
                return Ok(is_unsure.then_some(entry.at));
            }
            Ok(None)
        })
    }
}

/// Whether a damaged entry may be of a scan whose claim begins so: unless it is of another operation, or its key and its words
/// agree on another file.
fn may_be_of(entry: &LedgerEntry, key: &[u8], start: &[u8]) -> bool {
    let is_scan = Kind::named(&entry.operation).is_none_or(|operation| operation == Kind::PrivateScan);
    let file = |claim: &[u8]| Sha256::parse(std::str::from_utf8(claim).ok()?.split(' ').nth(1)?);
    // As the words name it: of two files that they name alike, nothing tells which one it was.
    let (named, asked) = (file(key).map(|file| file.short()), file(start).map(|file| file.short()));
    let is_others = named != asked && named.is_some_and(|named| entry.what.contains(&named));
    key.starts_with(start) || is_scan && !is_others
}

/// Notes that entries of the ledger may be lost, so that no file counts as never sent.
pub(super) fn note_lost(connection: &Connection) -> rusqlite::Result<()> {
    let insert = "INSERT INTO ledger (at, session, profile, operation, what, unit, predicted_min, state)
                  VALUES (CAST(strftime('%s', 'now') AS INTEGER) * 1000, '', ?1, ?2, 'what was lost with a damaged store', ?3, 0, 'unknown')";
    connection.execute(insert, params![LOST, Kind::PrivateScan.name(), Unit::Scan.name()])?;
    seal::entries(connection, "id = ?1", &[&connection.last_insert_rowid()])
}
