//! The ledger: every paid call is written down before it is sent, and settled after.
//!
//! ```text
//! reserved ──> charged n        an answer came
//!          ├─> free             an answer came that is known to cost nothing
//!          ├─> unsent           nothing left this machine
//!          └─> unknown ──> charged n, free      anything else counts as charged until the service's counters say otherwise
//! ```
//! A program that is killed leaves `reserved` behind, which becomes unknown with the next call where its file beside the database says
//! that it is over, and counts as charged too: the ledger can be too careful, never too low.
//! An entry that is not what was written counts at the highest price that it tells of, and is named.

mod spent;

use super::calls::{self, Call, Left, Sign};
use super::database::Store;
use super::entry::{ABANDONED, LedgerEntry, State};
use super::error::StoreError;
use super::keep::digest;
use super::seal;
use crate::quota::{Budget, OverBudget, Period, Price};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use spent::{sums_in, sums_of_session, together};
use std::path::Path;

pub use spent::Whose;

/// How near in time a call of another program's counts as under way where no lock tells, in minutes.
pub const NEAR: u64 = 10;

/// What came of a call that nobody waits for any more.
const LEFT: &str = "its program ended before the answer came";

/// What is written down before a call is sent.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub at: Timestamp,
    /// Which run of the program.
    pub session: &'a str,
    pub profile: &'a str,
    /// What was asked, in words that are safe to show.
    pub what: &'a str,
    /// What tells another program that the same is under way, if it is not to be asked twice.
    pub key: Option<&'a [u8]>,
    /// Whose key asks which service, by a digest: under how many names they stand in the config, it is paid for once.
    pub owner: Option<i64>,
    /// What it is to cost.
    pub price: &'a Price,
    /// Whose counters it is charged to.
    pub account: Option<&'a str>,
    pub budget: Budget,
}

/// What became of the wish to write down a call.
#[derive(Debug)]
pub enum Reserved {
    /// It is written down, and may be sent.
    Entry(Call),
    /// Another program has the same under way.
    UnderWayElsewhere,
    /// The same was asked a short time ago, and nothing tells whether somebody still waits for it.
    MayBeUnderWay,
    /// It would go beyond a budget.
    OverBudget(OverBudget),
}

/// What came of a call.
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
    /// Writes down a call before it is sent, unless another program asks the same or the budget is too small.
    pub fn reserve(&self, entry: &Entry<'_>) -> Result<Reserved, StoreError> {
        let (what, key) = self.told(entry.price.operation.name(), entry.what, entry.key);
        let asked = entry.key;
        self.with(|connection| {
            // Nobody else writes between the check and the entry, so two programs cannot spend the same rest of a budget.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let entry = &Entry { what: &what, key: key.as_deref(), ..*entry };
            if let Some(asked) = asked_elsewhere(&transaction, self.path(), entry, asked)? {
                return Ok(Ok(asked));
            }
            if let Some(over) = over_budget(&transaction, entry)? {
                return Ok(Ok(Reserved::OverBudget(over)));
            }
            let left = tidy(&transaction, self.path(), entry.at)?;
            insert(&transaction, entry)?;
            let id = transaction.last_insert_rowid();
            seal::entries(&transaction, "id = ?1", &[&id])?;
            // What would be paid for could not be kept.
            self.reach().check_room(&transaction)?;
            let call = match Call::begin(self.path(), id) {
                Ok(call) => call,
                Err(why) => return Ok(Err(StoreError::NoCall { path: calls::file_of(self.path(), id), why })),
            };
            transaction.commit()?;
            left.iter().for_each(Left::remove);
            // From here on it is in the database itself, whatever becomes of the log beside it.
            let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            Ok(Ok(Reserved::Entry(call)))
        })?
    }

    /// Writes down what came of a call.
    pub fn settle(&self, call: Call, settlement: Settlement, outcome: &str, now: Timestamp) -> Result<(), StoreError> {
        let (state, settled) = settlement.columns();
        let outcome = self.told_outcome(state, outcome);
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let found = state_of(&transaction, call.entry)?;
            transaction.execute(
                "UPDATE ledger SET state = ?1, settled = ?2, settled_at = ?3, outcome = ?4 WHERE id = ?5",
                params![state, settled, now.as_millisecond(), outcome, call.entry],
            )?;
            // One that was damaged meanwhile stays so: what else it says is not what was written.
            if found != Some(State::Damaged) {
                seal::entries(&transaction, "id = ?1", &[&call.entry])?;
            }
            transaction.commit()
        })?;
        call.end();
        Ok(())
    }

    /// The numbers of the entries that are not what was written, of every profile.
    pub fn damaged_entries(&self) -> Result<Vec<i64>, StoreError> {
        self.read(damaged)
    }
}

fn damaged(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut select = connection.prepare(&format!("SELECT {}, seal FROM ledger", seal::ENTRY))?;
    let (mut rows, mut damaged) = (select.query([])?, Vec::new());
    while let Some(row) = rows.next()? {
        let entry = LedgerEntry::read(row)?;
        if entry.state == State::Damaged {
            damaged.push(entry.number);
        }
    }
    Ok(damaged)
}

/// Whether another program has the same under way, or may have; one that keeps nothing knows the key by its digest.
fn asked_elsewhere(
    connection: &Connection,
    store: &Path,
    entry: &Entry<'_>,
    key: Option<&[u8]>,
) -> rusqlite::Result<Option<Reserved>> {
    let mut select = connection.prepare_cached(
        "SELECT id, at FROM ledger
         WHERE (profile = ?1 OR owner = ?5) AND key IN (?2, ?4) AND state = 'reserved' AND session <> ?3",
    )?;
    let values = params![entry.profile, key, entry.session, key.map(digest), entry.owner];
    let (mut rows, mut asked) = (select.query(values)?, None);
    while let Some(row) = rows.next()? {
        let is_near = |at: i64| at.abs_diff(entry.at.as_millisecond()) <= NEAR * 60_000;
        match calls::sign(store, row.get(0)?) {
            Sign::UnderWay => return Ok(Some(Reserved::UnderWayElsewhere)),
            Sign::Unknown if is_near(row.get(1)?) => asked = Some(Reserved::MayBeUnderWay),
            Sign::Unknown | Sign::Over => {}
        }
    }
    Ok(asked)
}

/// The state of an entry; none where there is none.
fn state_of(transaction: &Transaction<'_>, entry: i64) -> rusqlite::Result<Option<State>> {
    let mut select = transaction.prepare_cached(&format!("SELECT {}, seal FROM ledger WHERE id = ?1", seal::ENTRY))?;
    Ok(select.query_row([entry], LedgerEntry::read).optional()?.map(|entry| entry.state))
}

/// Writes down that nobody waits for the calls of programs that were killed, and removes what they left; gives what may only be
/// removed once that is on disk.
fn tidy(transaction: &Transaction<'_>, store: &Path, now: Timestamp) -> rusqlite::Result<Vec<Left>> {
    let mut kept = Vec::new();
    for left in calls::left(store) {
        // One that is not what was written stays as it is.
        if state_of(transaction, left.entry)? == Some(State::Reserved) {
            transaction.execute(
                "UPDATE ledger SET state = 'unknown', settled_at = MIN(at + ?1, MAX(at, ?2)), outcome = ?3
                 WHERE id = ?4",
                params![
                    i64::try_from(ABANDONED.as_millis()).unwrap_or(i64::MAX),
                    now.as_millisecond(),
                    LEFT,
                    left.entry
                ],
            )?;
            seal::entries(transaction, "id = ?1", &[&left.entry])?;
            kept.push(left);
        } else {
            left.remove();
        }
    }
    Ok(kept)
}

/// Compares the careful sums of this run and of this day with the budget.
fn over_budget(transaction: &Transaction<'_>, entry: &Entry<'_>) -> rusqlite::Result<Option<OverBudget>> {
    if !entry.budget.is_set() {
        return Ok(None);
    }
    let session = sums_of_session(transaction, entry.session).map(together)?;
    let today = together(sums_in(transaction, (entry.profile, entry.owner), Period::Daily, entry.at)?);
    Ok(entry.budget.exceeded(entry.price, session, today))
}

fn insert(transaction: &Transaction<'_>, entry: &Entry<'_>) -> rusqlite::Result<usize> {
    let units = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    transaction.execute(
        "INSERT INTO ledger (at, session, profile, operation, what, key, unit, predicted_min, predicted_max, account, state, owner)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'reserved', ?11)",
        params![
            entry.at.as_millisecond(),
            entry.session,
            entry.profile,
            entry.price.operation.name(),
            entry.what,
            entry.key,
            entry.price.unit.name(),
            units(entry.price.units.min()),
            entry.price.units.max().map(units),
            entry.account,
            entry.owner,
        ],
    )
}

#[cfg(test)]
mod tests;
