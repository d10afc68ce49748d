//! Spending, by the conservative sums that budgets are compared with.

use super::entry::LedgerEntry;
use super::error::StoreError;
use super::records::Store;
use crate::quota::{Period, Spent, Unit};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// Identifies the sender of calls: a profile with its service, or the digest of service and key,
/// which several profiles may share. If no key is read, the digest of the profile's last call
/// counts.
#[derive(Debug, Clone, Copy)]
pub struct Whose<'a> {
    pub profile: &'a str,
    pub service: &'a str,
    pub owner: Option<i64>,
}

impl Store {
    /// Spending with a profile, or with another of the same service and key, in the period (UTC)
    /// that contains `now`. It is the conservative sum that budgets are compared with.
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

    /// What a session has spent of each unit, without its calls in flight. An entry that is still
    /// reserved though its call is over counts: its outcome could not be written.
    pub fn settled(&self, session: &str, in_flight: &[i64]) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.read(|connection| sums(connection, session, |entry| !in_flight.contains(&entry.number)))
    }

    /// What a session has spent of each unit.
    pub fn spent_by_unit(&self, session: &str) -> Result<BTreeMap<Unit, Spent>, StoreError> {
        self.read(|connection| sums_of_session(connection, session))
    }
}

pub(super) fn together(sums: BTreeMap<Unit, Spent>) -> Spent {
    sums.into_values().sum()
}

pub(super) fn sums_of_session(connection: &Connection, session: &str) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    sums(connection, session, |_| true)
}

pub(super) fn sums_in(
    connection: &Connection,
    whose: Whose<'_>,
    period: Period,
    now: Timestamp,
) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    let mut sums = BTreeMap::new();
    let entries = entries_since(connection, whose, period.began(now))?;
    entries.iter().filter(|entry| entry.is_in(period, now)).for_each(|entry| add(&mut sums, entry));
    Ok(sums)
}

/// The entries of a sender that were not over before a moment, oldest first.
pub(super) fn entries_since(
    connection: &Connection,
    whose: Whose<'_>,
    since: Timestamp,
) -> rusqlite::Result<Vec<LedgerEntry>> {
    let Whose { profile, service, owner } = whose;
    let last = "SELECT owner FROM ledger WHERE profile = ?1 AND service = ?2 AND owner IS NOT NULL
                ORDER BY id DESC LIMIT 1";
    let owner = match owner {
        None => connection.prepare_cached(last)?.query_row([profile, service], |row| row.get(0)).optional()?,
        owner => owner,
    };
    let mut select = connection.prepare_cached(
        "SELECT * FROM ledger WHERE (profile = ?1 AND service = ?2 OR owner = ?3 OR profile = '')
         AND MAX(at, COALESCE(settled_at, at)) >= ?4 ORDER BY id",
    )?;
    let found = select.query_map(params![profile, service, owner, since.as_millisecond()], LedgerEntry::read)?;
    found.collect()
}

/// The sums of a session's entries that a condition selects.
fn sums(
    connection: &Connection,
    session: &str,
    fits: impl Fn(&LedgerEntry) -> bool,
) -> rusqlite::Result<BTreeMap<Unit, Spent>> {
    let mut select = connection.prepare_cached("SELECT * FROM ledger WHERE session = ?1")?;
    let mut sums = BTreeMap::new();
    for entry in select.query_map([session], LedgerEntry::read)? {
        let entry = entry?;
        if fits(&entry) {
            add(&mut sums, &entry);
        }
    }
    Ok(sums)
}

/// Adds the units of an entry. One without a known limit counts as one unit, and leaves its sum
/// open.
fn add(sums: &mut BTreeMap<Unit, Spent>, entry: &LedgerEntry) {
    let spent = sums.entry(Unit::named(&entry.unit).unwrap_or(Unit::Request)).or_default();
    match entry.certain() {
        Some(units) => spent.charged = spent.charged.saturating_add(units),
        None => {
            spent.unsure = spent.unsure.saturating_add(entry.careful());
            spent.is_open |= entry.is_open();
        }
    }
}
