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

use super::calls::{self, Call, Left, Sign};
use super::database::Store;
use super::entry::{ABANDONED, LedgerEntry, State};
use super::error::StoreError;
use super::keep::digest;
use super::seal;
use crate::quota::{Budget, OverBudget, Period, Price, Spent, Unit};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::path::Path;

/// How near in time a call of another program's counts as under way where no lock tells, in minutes.
pub const NEAR: u64 = 10;

/// What came of a call that nobody waits for any more.
const LEFT: &str = "its program ended before the answer came";

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
    /// What tells another program that the same is under way, if it is not to be asked twice.
    pub key: Option<&'a [u8]>,
    /// Whose key asks which service, by a digest: under how many names they stand in the config, it is paid for once.
    pub owner: Option<i64>,
    /// What it is to cost.
    pub price: &'a Price,
    /// Whose counters it is charged to.
    pub account: Option<&'a str>,
    /// What may be spent.
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
    ///
    /// # Errors
    /// When it cannot be written; then the call must not be sent.
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
    ///
    /// # Errors
    /// When it cannot be written; the entry then stays reserved, which counts as charged.
    pub fn settle(&self, call: Call, settlement: Settlement, outcome: &str, now: Timestamp) -> Result<(), StoreError> {
        let (state, settled) = settlement.columns();
        let outcome = self.told_outcome(state, outcome);
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "UPDATE ledger SET state = ?1, settled = ?2, settled_at = ?3, outcome = ?4 WHERE id = ?5",
                params![state, settled, now.as_millisecond(), outcome, call.entry],
            )?;
            seal::entries(&transaction, "id = ?1", &[&call.entry])?;
            transaction.commit()
        })?;
        call.end();
        Ok(())
    }

    /// The numbers of the entries that are not what was written, of every profile.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn damaged_entries(&self) -> Result<Vec<i64>, StoreError> {
        self.read(damaged)
    }

    /// What was spent with a profile, or with another of the same service and key, in the period (UTC) that holds a moment, by the
    /// careful sum that budgets are compared with.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent_in(&self, whose: Whose<'_>, period: Period, now: Timestamp) -> Result<Spent, StoreError> {
        self.read(|connection| sums_in(connection, whose, period, now)).map(together)
    }

    /// The same, each unit by itself.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent_in_by_unit(
        &self,
        whose: Whose<'_>,
        period: Period,
        now: Timestamp,
    ) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.read(|connection| sums_in(connection, whose, period, now))
    }

    /// What a session has spent.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent(&self, session: &str) -> Result<Spent, StoreError> {
        self.spent_by_unit(session).map(together)
    }

    /// What it has spent of each unit, without the entries of what it has under way. An entry that is still reserved though its call is over counts: what
    /// came of it could not be written down.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn settled(&self, session: &str, under_way: &[i64]) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        let is_over = |entry: &LedgerEntry, _| entry.session == session && !under_way.contains(&entry.number);
        self.read(|connection| sums(connection, "session = ?1", [session], is_over))
    }

    /// What a session has spent of each unit; what a damaged entry was counted in is taken for a request.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spent_by_unit(&self, session: &str) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.read(|connection| sums_of_session(connection, session))
    }
}

fn together(sums: BTreeMap<Unit, Spent>) -> Spent {
    sums.into_values().sum()
}

fn sums_of_session(connection: &Connection, session: &str) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    sums(connection, "session = ?1", [session], |entry, _| entry.session == session)
}

/// Who asks: the name of a profile, and the digest of its service and key. Where no key is read, that of what it asked last tells.
pub type Whose<'a> = (&'a str, Option<i64>);

fn sums_in(
    connection: &Connection,
    (profile, owner): Whose<'_>,
    period: Period,
    now: Timestamp,
) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    let last = "SELECT owner FROM ledger WHERE profile = ?1 AND owner IS NOT NULL ORDER BY id DESC LIMIT 1";
    let owner = match owner {
        None => connection.prepare_cached(last)?.query_row([profile], |row| row.get(0)).optional()?,
        owner => owner,
    };
    let since = "(profile = ?1 OR owner = ?3) AND MAX(at, COALESCE(settled_at, at)) >= ?2";
    let values = params![profile, period.began(now).as_millisecond(), owner];
    let is_theirs = |entry: &LedgerEntry, of: Option<i64>| entry.profile == profile || of.is_some() && of == owner;
    sums(connection, since, values, |entry, of| is_theirs(entry, of) && entry.is_in(period, now))
}

/// The sums of the entries that fit, from the first one on for which a condition holds. What has no known limit counts as one, and
/// leaves its sum open.
///
/// When, by whom and for which profile a damaged entry was written cannot be believed either: each one since that first entry
/// counts as well.
fn sums(
    connection: &Connection,
    since: &str,
    values: impl Params,
    fits: impl Fn(&LedgerEntry, Option<i64>) -> bool,
) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT {}, seal, owner FROM ledger WHERE id >= (SELECT MIN(id) FROM ledger WHERE {since})",
        seal::ENTRY
    ))?;
    let (mut rows, mut sums) = (select.query(values)?, BTreeMap::new());
    while let Some(row) = rows.next()? {
        let entry = LedgerEntry::read(row)?;
        if entry.state != State::Damaged && !fits(&entry, row.get_ref(seal::ENTRY_COLUMNS + 1)?.as_i64().ok()) {
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

/// Writes down that nobody waits for the calls of programs that were killed, and removes what they left; gives what may only be
/// removed once that is on disk.
fn tidy(transaction: &Transaction<'_>, store: &Path, now: Timestamp) -> rusqlite::Result<Vec<Left>> {
    let mut select = transaction.prepare_cached(&format!("SELECT {}, seal FROM ledger WHERE id = ?1", seal::ENTRY))?;
    let mut kept = Vec::new();
    for left in calls::left(store) {
        let found = select.query_row([left.entry], LedgerEntry::read).optional()?;
        // One that is not what was written stays as it is.
        if found.is_some_and(|entry| entry.state == State::Reserved) {
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
mod tests {
    use super::*;
    use crate::quota::{Entitlements, Kind, Operation, price};
    use crate::store::Keep;
    use std::ops::ControlFlow;

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

    /// The price of a report.
    fn report() -> Price {
        price(&Operation::once(Kind::PrivateBehaviour), &Entitlements::default())
    }

    /// A question that every program asks alike.
    fn entry<'a>(price: &'a Price, session: &'a str, at: Timestamp) -> Entry<'a> {
        let (profile, key, budget) = ("p", Some(&b"k"[..]), Budget::default());
        Entry { at, session, profile, what: "w", key, owner: None, price, account: None, budget }
    }

    #[test]
    fn whoever_keeps_nothing_asks_nothing_twice_either() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("behaview.db");
        let open = |keep| Store::open_keeping(&path, keep, &|_| ControlFlow::Break(())).unwrap();
        let (keeps, forgets) = (open(Keep::Everything), open(Keep::Nothing));
        let (price, now) = (report(), Timestamp::UNIX_EPOCH);
        for (first, second, profile) in [(&keeps, &forgets, "p"), (&forgets, &keeps, "q")] {
            let asked = first.reserve(&Entry { profile, ..entry(&price, "one", now) }).unwrap();
            assert!(matches!(asked, Reserved::Entry(_)), "{asked:?}");
            let refused = second.reserve(&Entry { profile, ..entry(&price, "another", now) }).unwrap();
            assert!(matches!(refused, Reserved::UnderWayElsewhere), "{refused:?}");
        }
    }

    #[test]
    fn what_was_sent_and_lost_is_known_by_every_name_of_its_service_and_key() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let (price, now, owner) = (report(), Timestamp::UNIX_EPOCH, Some(7));
        let Reserved::Entry(call) = store.reserve(&Entry { owner, ..entry(&price, "s", now) }).unwrap() else {
            panic!("it was to be asked");
        };
        let lost = |profile, owner| store.unanswered((profile, owner), "https://r", b"k", b"k").unwrap();
        assert_eq!(lost("p", owner), None, "it is under way");
        store.settle(call, Settlement::Unknown, "lost", now).unwrap();
        assert_eq!((lost("p", owner), lost("twin", owner), lost("p", None)), (Some(now), Some(now), Some(now)));
        assert_eq!((lost("twin", Some(8)), lost("twin", None)), (None, None));
        // Where no key is read it may be that of any name of the service.
        assert!(store.claim_service("p", "https://r", "p").unwrap());
        assert_eq!((lost("twin", Some(8)), lost("twin", None)), (None, Some(now)));
    }

    #[test]
    fn what_is_not_known_counts_as_charged() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("behaview.db")).unwrap();
        let (price, now, budget) = (report(), Timestamp::UNIX_EPOCH, Budget::default());
        let entry = |session, at| entry(&price, session, at);
        let reserve = |session, at| match store.reserve(&entry(session, at)).unwrap() {
            Reserved::Entry(call) => Some(call),
            _ => None,
        };
        let calls: Vec<_> = (0..4).map(|_| reserve("s", now).unwrap()).collect();
        // Another program asks nothing of it meanwhile, whatever its clock says; nor while but one of them is under way.
        let other = Store::open(store.path()).unwrap();
        for hours in [-1000, -1, 0, 1, 1000] {
            let at = now + jiff::SignedDuration::from_hours(hours);
            let reserved = other.reserve(&entry("another program", at)).unwrap();
            assert!(matches!(reserved, Reserved::UnderWayElsewhere), "{hours}: {reserved:?}");
        }
        let under_way: Vec<_> = calls.iter().map(Call::entry).collect();
        let settled = |under_way: &[i64]| together(store.settled("s", under_way).unwrap()).total();
        assert_eq!((store.spent("s").unwrap().total(), settled(&under_way), settled(&under_way[1..])), (4, 0, 1));
        let [first, second, third, last] = <[Call; 4]>::try_from(calls).unwrap();
        store.settle(first, Settlement::Unsent, "refused", now).unwrap();
        store.settle(second, Settlement::Charged(1), "200", now).unwrap();
        store.settle(third, Settlement::Unknown, "lost", now).unwrap();
        assert!(reserve("another program", now).is_none());
        drop(last);
        assert!(reserve("another program", now).is_some());
        let daily = Budget { daily: Some(4), ..budget };
        let over = store.reserve(&Entry { budget: daily, key: None, ..entry("a third", now) }).unwrap();
        assert!(matches!(over, Reserved::OverBudget(OverBudget { spent: Some(4), limit: 4, .. })), "{over:?}");
        let tomorrow = now + jiff::SignedDuration::from_hours(24);
        let next = store.reserve(&Entry { budget: daily, key: None, ..entry("a third", tomorrow) }).unwrap();
        assert!(matches!(next, Reserved::Entry(_)), "{next:?}");
        assert_eq!(store.spent("s").unwrap(), Spent { charged: 1, unsure: 2, is_open: false });
        assert_eq!(store.spent("other").unwrap().total(), 0);
        // A row that is not what was written counts at its highest price, wherever and whenever it says that it belongs.
        assert_eq!(store.damaged_entries().unwrap(), [0_i64; 0]);
        for damage in DAMAGES {
            let found = store.with(|c| {
                c.execute_batch(&format!("SAVEPOINT sound; UPDATE ledger SET {damage} WHERE id = 2"))?;
                let found = (sums_of_session(c, "s").map(together)?, super::damaged(c)?);
                c.execute_batch("ROLLBACK TO sound; RELEASE sound")?;
                Ok(found)
            });
            let (spent, damaged) = found.unwrap();
            assert_eq!(spent, Spent { charged: 0, unsure: 3, is_open: false }, "{damage}");
            assert_eq!(damaged, [2], "{damage}");
        }
    }
}
