//! The limit of requests a minute (specification 8.1.3), by which calls are paced.

use super::entry::LedgerEntry;
use super::error::StoreError;
use super::ledger::NewEntry;
use super::records::Store;
use super::spent::{Whose, entries_since};
use crate::quota::Unit;
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

/// Start of the outcome of a call that was refused because of its rate.
pub const TOO_FAST: &str = "too fast: ";

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// How long a refusal limits the calls after it: a colleague's burst may have caused it.
const TAUGHT_FOR: SignedDuration = SignedDuration::from_hours(1);

impl Store {
    /// The most requests that the service accepts in 60 seconds, as the refusals of the last hour
    /// teach; `None` without one.
    pub fn taught_limit(&self, whose: Whose<'_>, now: Timestamp) -> Result<Option<u64>, StoreError> {
        self.read(|connection| taught(connection, whose, now))
    }

    /// The requests of the last 60 seconds, by the sum that budgets are compared with.
    pub fn spent_last_minute(&self, whose: Whose<'_>, now: Timestamp) -> Result<u64, StoreError> {
        let recent = self.read(|connection| requests(connection, whose, now, MINUTE))?;
        Ok(recent.iter().map(LedgerEntry::careful).sum())
    }
}

/// When the limit allows this call, if not now.
///
/// The start of the service's minute is not documented, so calls are counted over the last 60
/// seconds.
pub(super) fn wait(connection: &Connection, entry: &NewEntry<'_>) -> rusqlite::Result<Option<Timestamp>> {
    let price = entry.price;
    if price.is_free() || price.unit != Unit::Request {
        return Ok(None);
    }
    let limit = match entry.budget.per_minute {
        Some(limit) => limit,
        None => match taught(connection, entry.whose, entry.at)? {
            Some(limit) => limit,
            None => return Ok(None),
        },
    };
    // A call without a known maximum counts as one, and one above the limit waits for a whole minute.
    let mut left = limit.saturating_sub(price.units.max().unwrap_or(1).min(limit));
    let recent = requests(connection, entry.whose, entry.at, MINUTE)?;
    let over = recent.iter().rev().find(|recent| match left.checked_sub(recent.careful()) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    });
    Ok(over.map(|over| over.at.checked_add(MINUTE).unwrap_or(Timestamp::MAX)))
}

/// The smallest limit that the refusals of the last hour show.
///
/// The service accepted the requests of the 60 seconds before a refusal, and not those of the
/// refused call in addition: the middle is taken. A single request that was refused after none
/// shows nothing, because others caused it.
fn taught(connection: &Connection, whose: Whose<'_>, now: Timestamp) -> rusqlite::Result<Option<u64>> {
    let entries = requests(connection, whose, now, TAUGHT_FOR)?;
    let is_refused = |entry: &&LedgerEntry| entry.outcome.as_deref().is_some_and(|text| text.starts_with(TOO_FAST));
    let limit_of = |refused: &LedgerEntry| {
        let before = entries.iter().filter(|entry| {
            entry.number < refused.number && refused.at.duration_since(entry.at) < MINUTE && !is_refused(entry)
        });
        let accepted = before.map(LedgerEntry::careful).sum::<u64>();
        accepted.saturating_add(refused.predicted_max.unwrap_or(1) / 2)
    };
    Ok(entries.iter().filter(is_refused).map(limit_of).filter(|limit| *limit > 0).min())
}

/// The calls of a time before `now` that are counted in requests, oldest first.
fn requests(
    connection: &Connection,
    whose: Whose<'_>,
    now: Timestamp,
    time: SignedDuration,
) -> rusqlite::Result<Vec<LedgerEntry>> {
    let since = now.checked_sub(time).unwrap_or(Timestamp::MIN);
    let mut entries = entries_since(connection, whose, since)?;
    entries.retain(|entry| entry.unit == Unit::Request.name() && entry.at > since && entry.at <= now);
    Ok(entries)
}
