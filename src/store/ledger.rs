//! The ledger: every paid call is written down before it is sent, and settled after.
//!
//! ```text
//! reserved ──> charged n        an answer came
//!          ├─> unsent           nothing left this machine
//!          └─> unknown          anything else: counts as charged until the service's counters say otherwise
//! ```
//! A program that is killed leaves `reserved` behind, which counts as charged too: the ledger can be too careful, never too low.

use super::database::{Store, StoreError};
use super::held::moment;
use crate::quota::Price;
use jiff::Timestamp;
use rusqlite::{TransactionBehavior, params};

/// How long another program's call counts as under way, in milliseconds: a little longer than a silent service is given.
const UNDER_WAY: i64 = 75_000;

/// Number of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerId(i64);

/// Whether a call may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// It is written down under this number.
    Here(LedgerId),
    /// Another program has asked the same, and counts as waiting for it until then.
    Elsewhere {
        /// When it counts as waiting no more.
        until: Timestamp,
    },
}

/// What is written down before a call is sent.
#[derive(Debug)]
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
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It was answered, and cost this many units.
    Charged(u64),
    /// Nothing was sent, so nothing was charged.
    Unsent,
    /// It may have been charged: it counts at its highest price.
    Unknown,
}

/// Units that a run of the program has spent, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Units of calls that were answered.
    pub charged: u64,
    /// Units of calls that may have been charged: under way, lost, refused.
    pub unsure: u64,
}

impl Spent {
    /// The careful sum.
    #[must_use]
    pub fn total(self) -> u64 {
        self.charged.saturating_add(self.unsure)
    }
}

impl Settlement {
    fn columns(self) -> (&'static str, Option<i64>) {
        match self {
            Self::Charged(units) => ("charged", Some(i64::try_from(units).unwrap_or(i64::MAX))),
            Self::Unsent => ("unsent", Some(0)),
            Self::Unknown => ("unknown", None),
        }
    }
}

impl Store {
    /// Writes down a call before it is sent, unless another program has asked the same a moment ago.
    ///
    /// # Errors
    /// When it cannot be written; then the call must not be sent.
    pub fn reserve(&self, entry: &Entry<'_>) -> Result<Reserved, StoreError> {
        let units = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let at = entry.at.as_millisecond();
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let asked: Option<i64> = transaction.query_row(
                "SELECT MAX(at) FROM ledger WHERE profile = ?1 AND key = ?2 AND state = 'reserved'
                 AND session <> ?3 AND at BETWEEN ?4 AND ?5",
                params![entry.profile, entry.key, entry.session, at - UNDER_WAY, at + UNDER_WAY],
                |row| row.get(0),
            )?;
            if let Some(asked) = asked {
                return Ok(Reserved::Elsewhere { until: moment(asked + UNDER_WAY) });
            }
            transaction.execute(
                "INSERT INTO ledger (at, session, profile, operation, what, key, unit, predicted_min, predicted_max, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'reserved')",
                params![
                    at,
                    entry.session,
                    entry.profile,
                    entry.price.operation.name(),
                    entry.what,
                    entry.key,
                    entry.price.unit.name(),
                    units(entry.price.units.min()),
                    entry.price.units.max().map(units),
                ],
            )?;
            let id = LedgerId(transaction.last_insert_rowid());
            transaction.commit()?;
            Ok(Reserved::Here(id))
        })
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
        self.with(|connection| {
            connection.execute(
                "UPDATE ledger SET state = ?1, settled = ?2, settled_at = ?3, outcome = ?4 WHERE id = ?5",
                params![state, settled, now.as_millisecond(), outcome, id.0],
            )
        })
        .map(|_| ())
    }

    /// What a session has spent.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent(&self, session: &str) -> Result<Spent, StoreError> {
        self.with(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT COALESCE(SUM(CASE WHEN state = 'charged' THEN settled END), 0),
                        COALESCE(SUM(CASE WHEN state IN ('reserved', 'unknown') THEN COALESCE(predicted_max, predicted_min, 1) END), 0)
                 FROM ledger WHERE session = ?1",
            )?;
            let units = |n: i64| u64::try_from(n).unwrap_or(0);
            select.query_row([session], |row| Ok(Spent { charged: units(row.get(0)?), unsure: units(row.get(1)?) }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{Entitlements, Kind, Operation, price};

    #[test]
    fn what_is_not_known_counts_as_charged() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let price = price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default());
        let now = Timestamp::UNIX_EPOCH;
        let entry = |session, at| Entry { at, session, profile: "p", what: "w", key: Some(b"k"), price: &price };
        let reserve = |session, at| match store.reserve(&entry(session, at)).unwrap() {
            Reserved::Here(id) => Some(id),
            Reserved::Elsewhere { .. } => None,
        };
        let ids: Vec<_> = (0..4).filter_map(|_| reserve("s", now)).collect();
        assert_eq!(reserve("another program", now), None);
        assert!(reserve("much later", now + jiff::SignedDuration::from_mins(2)).is_some());
        assert_eq!(store.spent("s").unwrap(), Spent { charged: 0, unsure: 4 });
        store.settle(ids[0], Settlement::Charged(1), "200", now).unwrap();
        store.settle(ids[1], Settlement::Unsent, "refused", now).unwrap();
        store.settle(ids[2], Settlement::Unknown, "lost", now).unwrap();
        assert_eq!(store.spent("s").unwrap(), Spent { charged: 1, unsure: 2 });
        assert_eq!(store.spent("other").unwrap().total(), 0);
    }
}
