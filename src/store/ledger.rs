//! The ledger: every paid call is recorded before it is sent, and settled afterwards.
//!
//! ```text
//! reserved ──> charged n        an answer came
//!          ├─> free             an answer came, known to cost nothing
//!          ├─> unsent           nothing left this machine
//!          └─> unknown ──> charged n, free      others count as charged until counters settle it
//! ```
//! A killed program leaves a `reserved` entry, which becomes unknown with the next call of any
//! program, and counts as charged too: the ledger may overestimate, but never underestimates.

use super::calls::{self, Call};
use super::checksum;
use super::entry::ABANDONED;
use super::error::StoreError;
use super::rate;
use super::records::{Keep, Store};
use super::spent::{Whose, sums_in, sums_of_session, together};
use crate::quota::{Budget, Kind, OverBudget, Period, Price, Unit};
use jiff::Timestamp;
use rusqlite::{Connection, Transaction, params};
use sha2::{Digest, Sha256};

/// Outcome of a call whose program was killed.
const LEFT: &str = "its program ended before the answer came";

/// Profile of the entry for lost entries: it counts with every profile.
pub(super) const LOST: &str = "";

/// A call, as recorded before it is sent.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    pub at: Timestamp,
    /// Identifies the run of the program.
    pub session: &'a str,
    pub whose: Whose<'a>,
    /// Description of the request that is safe to show.
    pub what: &'a str,
    /// Identifies the request across programs, if it must not be in flight twice.
    pub claim: Option<&'a [u8]>,
    /// Its predicted price.
    pub price: &'a Price,
    /// The account whose counters it is charged to.
    pub account: Option<&'a str>,
    pub budget: Budget,
}

/// Result of an attempt to record a call.
#[derive(Debug)]
pub enum Reserved {
    /// It is recorded, and may be sent.
    Entry(Call),
    /// Another program has the same in flight.
    InFlightElsewhere,
    /// It would exceed a budget.
    OverBudget(OverBudget),
    /// The limit of requests a minute allows it at this moment.
    NotBefore(Timestamp),
}

/// How a call ended, for the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It was answered, and cost this many units.
    Charged(u64),
    /// It was answered, and is known to cost nothing.
    Free,
    /// Nothing was sent, so nothing was charged.
    Unsent,
    /// It may have been charged: it counts at its highest price.
    Unknown,
}

impl Settlement {
    fn columns(self) -> (&'static str, Option<i64>) {
        match self {
            Self::Charged(units) => ("charged", Some(i64::try_from(units).unwrap_or(i64::MAX))),
            Self::Free => ("free", Some(0)),
            Self::Unsent => ("unsent", Some(0)),
            Self::Unknown => ("unknown", None),
        }
    }
}

impl Store {
    /// Records a call before it is sent, unless another program has the same in flight or the
    /// budget is too small.
    pub fn reserve(&self, entry: &NewEntry<'_>) -> Result<Reserved, StoreError> {
        let mut call = Ok(None);
        // No other program writes between the check and the entry, so two cannot spend the same
        // remainder of a budget.
        let reserved = self.write(|transaction| {
            if let Some(over) = over_budget(transaction, entry)? {
                return Ok(Some(Reserved::OverBudget(over)));
            }
            if let Some(at) = rate::wait(transaction, entry)? {
                return Ok(Some(Reserved::NotBefore(at)));
            }
            self.tidy(transaction, entry.at)?;
            let next = "SELECT COALESCE(MAX(id), 0) + 1 FROM ledger";
            let id = transaction.query_row(next, [], |row| row.get(0))?;
            let lock = calls::lock_of(entry.whose.service, entry.claim, id);
            call = Call::begin(self.folder(), id, &lock);
            if let Ok(Some(_)) = call {
                self.insert(transaction, entry, id, &lock)?;
            }
            Ok(None)
        })?;
        match (reserved, call) {
            (Some(refused), _) => Ok(refused),
            (None, Ok(Some(call))) => Ok(Reserved::Entry(call)),
            (None, Ok(None)) => Ok(Reserved::InFlightElsewhere),
            (None, Err(why)) => Err(self.file_error(why)),
        }
    }

    /// Records the outcome of a call.
    pub fn settle(&self, call: Call, settlement: Settlement, outcome: &str, now: Timestamp) -> Result<(), StoreError> {
        let (state, settled) = settlement.columns();
        // The service's own words may name a file.
        let outcome = if self.keeps() == Keep::Nothing { state } else { outcome };
        self.write(|transaction| {
            transaction.execute(
                "UPDATE ledger SET state = ?1, settled = ?2, settled_at = ?3, outcome = ?4 WHERE id = ?5",
                params![state, settled, now.as_millisecond(), outcome, call.entry],
            )?;
            checksum::write(transaction, "ledger", call.entry)?;
            call.end();
            Ok(())
        })
    }

    /// Marks the calls of killed programs as unknown.
    fn tidy(&self, transaction: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<()> {
        let mut select = transaction.prepare_cached("SELECT id, lock FROM ledger WHERE state = 'reserved'")?;
        let reserved = select.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        for (id, lock) in reserved.collect::<rusqlite::Result<Vec<_>>>()? {
            if calls::is_in_flight(self.folder(), &lock) {
                continue;
            }
            let abandoned = i64::try_from(ABANDONED.as_millis()).unwrap_or(i64::MAX);
            transaction.execute(
                "UPDATE ledger SET state = 'unknown', settled_at = MIN(at + ?1, MAX(at, ?2)), outcome = ?3
                 WHERE id = ?4",
                params![abandoned, now.as_millisecond(), LEFT, id],
            )?;
            checksum::write(transaction, "ledger", id)?;
        }
        calls::remove_left(self.folder());
        Ok(())
    }

    fn insert(&self, transaction: &Transaction<'_>, entry: &NewEntry<'_>, id: i64, lock: &str) -> rusqlite::Result<()> {
        let units = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let operation = entry.price.operation.name();
        let (what, key) = self.ledger_words(operation, entry.what, entry.claim);
        transaction.execute(
            "INSERT INTO ledger (id, at, session, profile, service, operation, what, key, unit, predicted_min,
                                 predicted_max, account, owner, lock, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'reserved')",
            params![
                id,
                entry.at.as_millisecond(),
                entry.session,
                entry.whose.profile,
                entry.whose.service,
                operation,
                what,
                key,
                entry.price.unit.name(),
                units(entry.price.units.min()),
                entry.price.units.max().map(units),
                entry.account,
                entry.whose.owner,
                lock,
            ],
        )?;
        checksum::write(transaction, "ledger", id)
    }

    /// Description and key of a request in the ledger: only digests if nothing is kept.
    fn ledger_words(&self, operation: &str, what: &str, key: Option<&[u8]>) -> (String, Option<Vec<u8>>) {
        match (self.keeps(), key) {
            (Keep::Everything, key) => (what.to_owned(), key.map(<[u8]>::to_vec)),
            (Keep::Nothing, None) => (operation.to_owned(), None),
            (Keep::Nothing, Some(key)) => {
                let digest = digest(key);
                let shown = crate::text::hex(digest.get(..SHOWN).unwrap_or(&digest));
                (format!("{operation} #{shown}"), Some(digest))
            }
        }
    }
}

/// Bytes of a digest that the ledger shows to distinguish requests.
const SHOWN: usize = 4;

/// The digest that replaces the key of a request in the ledger if nothing is kept.
pub(super) fn digest(key: &[u8]) -> Vec<u8> {
    Sha256::digest(key).to_vec()
}

/// Compares the careful sums of this run and of this day with the budget.
fn over_budget(transaction: &Transaction<'_>, entry: &NewEntry<'_>) -> rusqlite::Result<Option<OverBudget>> {
    if !entry.budget.is_set() {
        return Ok(None);
    }
    let session = sums_of_session(transaction, entry.session).map(together)?;
    let today = together(sums_in(transaction, entry.whose, Period::Daily, entry.at)?);
    Ok(entry.budget.exceeded(entry.price, session, today))
}

/// Records that entries may be lost with damaged records: they may have cost any number of
/// requests.
pub(super) fn note_lost(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute(
        "INSERT INTO ledger (at, session, profile, service, operation, what, unit, predicted_min, lock, state)
         VALUES (?1, '', ?2, '', ?3, 'calls that may be missing: the records were damaged', ?4, 1, '', 'unknown')",
        params![now.as_millisecond(), LOST, Kind::PrivateScan.name(), Unit::Request.name()],
    )?;
    checksum::write(&transaction, "ledger", transaction.last_insert_rowid())?;
    transaction.commit()
}

#[cfg(test)]
mod tests;
