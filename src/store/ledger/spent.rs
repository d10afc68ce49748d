//! What was spent, by the careful sums that budgets are compared with.

use crate::quota::{Period, Spent, Unit};
use crate::store::entry::{LedgerEntry, State};
use crate::store::{Store, StoreError, seal};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, params};
use std::collections::BTreeMap;

/// Who asks: the name of a profile, and the digest of its service and key. Where no key is read, that of what it asked last tells.
pub type Whose<'a> = (&'a str, Option<i64>);

impl Store {
    /// What was spent with a profile, or with another of the same service and key, in the period (UTC) that holds a moment, by the
    /// careful sum that budgets are compared with.
    pub fn spent_in(&self, whose: Whose<'_>, period: Period, now: Timestamp) -> Result<Spent, StoreError> {
        self.read(|connection| sums_in(connection, whose, period, now)).map(together)
    }

    /// The same, each unit by itself.
    pub fn spent_in_by_unit(
        &self,
        whose: Whose<'_>,
        period: Period,
        now: Timestamp,
    ) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.read(|connection| sums_in(connection, whose, period, now))
    }

    /// What a session has spent.
    pub fn spent(&self, session: &str) -> Result<Spent, StoreError> {
        self.spent_by_unit(session).map(together)
    }

    /// What it has spent of each unit, without the entries of what it has under way. An entry that is still reserved though its call is over counts: what
    /// came of it could not be written down.
    pub fn settled(&self, session: &str, under_way: &[i64]) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        let is_over = |entry: &LedgerEntry, _| entry.session == session && !under_way.contains(&entry.number);
        self.read(|connection| sums(connection, "session = ?1", [session], is_over))
    }

    /// What a session has spent of each unit; what a damaged entry was counted in is taken for a request.
    pub fn spent_by_unit(&self, session: &str) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.read(|connection| sums_of_session(connection, session))
    }
}

pub(super) fn together(sums: BTreeMap<Unit, Spent>) -> Spent {
    sums.into_values().sum()
}

pub(super) fn sums_of_session(connection: &Connection, session: &str) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    sums(connection, "session = ?1", [session], |entry, _| entry.session == session)
}

pub(super) fn sums_in(
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
        "SELECT {}, seal FROM ledger WHERE id >= (SELECT MIN(id) FROM ledger WHERE {since})",
        seal::ENTRY
    ))?;
    let (mut rows, mut sums) = (select.query(values)?, BTreeMap::new());
    while let Some(row) = rows.next()? {
        let entry = LedgerEntry::read(row)?;
        if entry.state != State::Damaged && !fits(&entry, row.get_ref("owner")?.as_i64().ok()) {
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
