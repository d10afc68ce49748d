//! The ledger: every paid call is written down before it is sent, and settled after.
//!
//! ```text
//! reserved ──> charged n        an answer came
//!          ├─> free             an answer came that is known to cost nothing
//!          ├─> unsent           nothing left this machine
//!          └─> unknown ──> charged n, free      anything else counts as charged until the service's counters say otherwise
//! ```
//! A program that is killed leaves `reserved` behind, which counts as charged too: the ledger can be too careful, never too low.
//! An entry that is not what was written counts at the highest price that it tells of, and is named.

use super::database::{Store, StoreError};
use super::entry::{LedgerEntry, State};
use super::held::moment;
use super::seal;
use crate::quota::{Budget, OverBudget, Period, Price, Spent, Unit};
use jiff::Timestamp;
use rusqlite::{Connection, Params, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long another program's call counts as under way after it last said so, in milliseconds.
const UNDER_WAY: i64 = 75_000;

/// How often a call that takes its time is to say that it is under way.
pub const BEAT: Duration = Duration::from_secs(20);

/// Number of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerId(pub(super) i64);

/// What is written down before a call is sent.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// When.
    pub at: Timestamp,
    /// Which run of the program.
    pub session: &'a str,
    /// Which service.
    pub profile: &'a str,
    /// What was asked, in words that are safe to show.
    pub what: &'a str,
    /// What its answer is held under, if it is; tells another program that the same is under way.
    pub key: Option<&'a [u8]>,
    /// What it is to cost.
    pub price: &'a Price,
    /// Whose counters it is charged to.
    pub account: Option<&'a str>,
    /// What may be spent.
    pub budget: Budget,
}

/// What became of the wish to write down a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// It is written down, and may be sent.
    Entry(LedgerId),
    /// Another program has asked the same a moment ago.
    UnderWayElsewhere {
        /// When the other program counts as waiting no more.
        until: Timestamp,
    },
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
    ///
    /// # Errors
    /// When it cannot be written; then the call must not be sent.
    pub fn reserve(&self, entry: &Entry<'_>) -> Result<Reserved, StoreError> {
        let (what, key) = self.told(entry.price.operation.name(), entry.what, entry.key);
        self.with(|connection| {
            // Nobody else writes between the check and the entry, so two programs cannot spend the same rest of a budget.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let entry = &Entry { what: &what, key: key.as_deref(), ..*entry };
            if let Some(asked) = asked_elsewhere(&transaction, entry)? {
                transaction.commit()?;
                return Ok(Reserved::UnderWayElsewhere { until: moment(asked + UNDER_WAY) });
            }
            if let Some(over) = over_budget(&transaction, entry)? {
                return Ok(Reserved::OverBudget(over));
            }
            insert(&transaction, entry)?;
            let id = transaction.last_insert_rowid();
            seal::entries(&transaction, "id = ?1", &[&id])?;
            transaction.commit()?;
            Ok(Reserved::Entry(LedgerId(id)))
        })
    }

    /// Notes that a call is still under way, so that no other program asks the same.
    ///
    /// # Errors
    /// When it cannot be written: then another program may ask the same after a while.
    pub fn still_under_way(&self, id: LedgerId, now: Timestamp) -> Result<(), StoreError> {
        self.with(|connection| {
            connection.execute("UPDATE ledger SET alive = ?1 WHERE id = ?2", params![now.as_millisecond(), id.0])
        })
        .map(|_| ())
    }

    /// Writes down what came of a call.
    ///
    /// # Errors
    /// When it cannot be written; the entry then stays reserved, which counts as charged.
    pub fn settle(
        &self,
        id: LedgerId,
        settlement: Settlement,
        outcome: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (state, settled) = settlement.columns();
        let outcome = self.told_outcome(state, outcome);
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "UPDATE ledger SET state = ?1, settled = ?2, settled_at = ?3, outcome = ?4 WHERE id = ?5",
                params![state, settled, now.as_millisecond(), outcome, id.0],
            )?;
            seal::entries(&transaction, "id = ?1", &[&id.0])?;
            transaction.commit()
        })
    }

    /// The numbers of the entries that are not what was written, of every profile.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn damaged_entries(&self) -> Result<Vec<i64>, StoreError> {
        self.read(damaged)
    }

    /// What was spent with a profile since a moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent_since(&self, profile: &str, since: Timestamp) -> Result<Spent, StoreError> {
        let values = params![profile, since.as_millisecond()];
        self.read(|connection| sum(connection, "profile = ?1 AND at >= ?2", values))
    }

    /// What was spent with a profile in the day (UTC) of a moment, by the careful sum that budgets are compared with.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent_today(&self, profile: &str, now: Timestamp) -> Result<Spent, StoreError> {
        self.with(|connection| sum_of_day(connection, profile, now))
    }

    /// What a session has spent.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent(&self, session: &str) -> Result<Spent, StoreError> {
        self.read(|connection| sum(connection, "session = ?1", [session]))
    }

    /// What a session has spent of each unit; what a damaged entry was counted in is taken for a request.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent_by_unit(&self, session: &str) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.read(|connection| sums(connection, "session = ?1", ALWAYS, [session]))
    }
}

/// The condition that every entry fulfils.
const ALWAYS: &str = "TRUE";

/// The sum of the entries for which a condition holds, whatever they are counted in.
fn sum(connection: &Connection, condition: &str, values: impl Params) -> rusqlite::Result<Spent> {
    Ok(together(sums(connection, condition, ALWAYS, values)?))
}

fn together(sums: BTreeMap<Unit, Spent>) -> Spent {
    sums.into_values().fold(Spent::default(), Spent::and)
}

/// The sums of the entries for which two conditions hold: where they begin, and where they end. What has no known limit counts as
/// one, and leaves its sum open.
///
/// When, by whom and for which profile a damaged entry was written cannot be believed either: each one since the first entry
/// that fulfils the first condition does as well.
fn sums(
    connection: &Connection,
    since: &str,
    until: &str,
    values: impl Params,
) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT {}, seal, {since} AND {until} FROM ledger WHERE id >= (SELECT MIN(id) FROM ledger WHERE {since})",
        seal::ENTRY
    ))?;
    let (mut rows, mut sums) = (select.query(values)?, BTreeMap::new());
    while let Some(row) = rows.next()? {
        let entry = LedgerEntry::read(row)?;
        let fits = row.get_ref(seal::ENTRY_COLUMNS + 1)?.as_i64() == Ok(1);
        if !fits && entry.state != State::Damaged {
            continue;
        }
        let spent: &mut Spent = sums.entry(Unit::named(&entry.unit).unwrap_or(Unit::Request)).or_default();
        match entry.certain() {
            Some(units) => spent.charged = spent.charged.saturating_add(units),
            None => {
                spent.unsure = spent.unsure.saturating_add(entry.careful());
                spent.is_open |= entry.is_open();
            }
        }
    }
    Ok(sums)
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

/// When another program that has the same under way said so last.
///
/// Between two signs of life the clock may be set back, or clocks may differ. A sign from the future counts as given now: if its
/// program lives it gives another one soon, and if it was killed its call is over in a while, however far ahead its clock was.
fn asked_elsewhere(transaction: &Transaction<'_>, entry: &Entry<'_>) -> rusqlite::Result<Option<i64>> {
    let now = entry.at.as_millisecond();
    let same = "profile = ?1 AND key = ?2 AND state = 'reserved' AND session <> ?3";
    transaction.execute(
        &format!("UPDATE ledger SET alive = ?4 WHERE {same} AND COALESCE(alive, at) > ?4"),
        params![entry.profile, entry.key, entry.session, now],
    )?;
    transaction.query_row(
        &format!("SELECT MAX(COALESCE(alive, at)) FROM ledger WHERE {same} AND COALESCE(alive, at) >= ?4"),
        params![entry.profile, entry.key, entry.session, now.saturating_sub(UNDER_WAY)],
        |row| row.get(0),
    )
}

/// Compares the careful sums of this run and of this day with the budget.
fn over_budget(transaction: &Transaction<'_>, entry: &Entry<'_>) -> rusqlite::Result<Option<OverBudget>> {
    if !entry.budget.is_set() {
        return Ok(None);
    }
    let session = sum(transaction, "session = ?1", [entry.session])?;
    let today = sum_of_day(transaction, entry.profile, entry.at)?;
    Ok(entry.budget.exceeded(entry.price, session, today))
}

/// A call that began yesterday and was answered today may be on today's bill. What was spent under a clock that was ahead is on
/// the bill of its own day.
fn sum_of_day(connection: &Connection, profile: &str, now: Timestamp) -> rusqlite::Result<Spent> {
    let since = "profile = ?1 AND MAX(at, COALESCE(settled_at, at)) >= ?2";
    // The last instant of all belongs to the last day.
    let until = "MIN(at, COALESCE(settled_at, at)) <= ?3";
    let (began, ends) = (Period::Daily.began(now), Period::Daily.next_reset(now));
    let values = params![profile, began.as_millisecond(), ends.as_millisecond()];
    sums(connection, since, until, values).map(together)
}

fn insert(transaction: &Transaction<'_>, entry: &Entry<'_>) -> rusqlite::Result<usize> {
    let units = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    transaction.execute(
        "INSERT INTO ledger (at, session, profile, operation, what, key, unit, predicted_min, predicted_max, account, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'reserved')",
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
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{Entitlements, Kind, Operation, price};

    /// What a flipped bit, or somebody, may make of an entry that was charged.
    const DAMAGES: [&str; 9] = [
        "state = 'chbrged'",
        "settled = -1",
        "settled = 'x'",
        "settled = 0",
        "state = 'free', settled = 0",
        "session = 't'",
        "predicted_max = 0, settled = 0",
        "seal = seal + 1",
        "seal = NULL",
    ];

    #[test]
    fn what_is_not_known_counts_as_charged() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let price = price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default());
        let now = Timestamp::UNIX_EPOCH;
        let budget = Budget::default();
        let entry = |session, at| Entry {
            at,
            session,
            profile: "p",
            what: "w",
            key: Some(b"k"),
            price: &price,
            account: None,
            budget,
        };
        let reserve = |session, at| match store.reserve(&entry(session, at)).unwrap() {
            Reserved::Entry(id) => Some(id),
            _ => None,
        };
        let ids: Vec<_> = (0..4).map(|_| reserve("s", now).unwrap()).collect();
        assert_eq!(reserve("another program", now), None);
        let later = now + jiff::SignedDuration::from_mins(2);
        store.still_under_way(ids[3], now + jiff::SignedDuration::from_secs(90)).unwrap();
        assert_eq!(reserve("much later", later), None, "one of them is still under way");
        let later = later + jiff::SignedDuration::from_mins(1);
        assert!(reserve("much later", later).is_some());
        let daily = Budget { daily: Some(5), ..budget };
        let over = store.reserve(&Entry { budget: daily, key: None, ..entry("a third", later) }).unwrap();
        assert!(matches!(over, Reserved::OverBudget(OverBudget { spent: Some(5), limit: 5, .. })), "{over:?}");
        let tomorrow = now + jiff::SignedDuration::from_hours(24);
        let next = store.reserve(&Entry { budget: daily, key: None, ..entry("a third", tomorrow) }).unwrap();
        assert!(matches!(next, Reserved::Entry(_)), "{next:?}");
        assert_eq!(store.spent("s").unwrap(), Spent { unsure: 4, ..Spent::default() });
        store.settle(ids[1], Settlement::Charged(1), "200", now).unwrap();
        store.settle(ids[0], Settlement::Unsent, "refused", now).unwrap();
        store.settle(ids[2], Settlement::Unknown, "lost", now).unwrap();
        assert_eq!(store.spent("s").unwrap(), Spent { charged: 1, unsure: 2, is_open: false });
        assert_eq!(store.spent("other").unwrap().total(), 0);
        // A row that is not what was written counts at its highest price, wherever and whenever it says that it belongs.
        assert_eq!(store.damaged_entries().unwrap(), [0_i64; 0]);
        for damage in DAMAGES {
            let found = store.with(|c| {
                c.execute_batch(&format!("SAVEPOINT sound; UPDATE ledger SET {damage} WHERE id = 2"))?;
                let found = (sum(c, "session = ?1", ["s"])?, super::damaged(c)?);
                c.execute_batch("ROLLBACK TO sound; RELEASE sound")?;
                Ok(found)
            });
            let (spent, damaged) = found.unwrap();
            assert_eq!(spent, Spent { charged: 0, unsure: 3, is_open: false }, "{damage}");
            assert_eq!(damaged, [2], "{damage}");
        }
    }
}
