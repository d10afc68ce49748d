//! Reads the ledger: its entries, and the evidence from the service's counters.

use super::checksum;
use super::entry::{LedgerEntry, State};
use super::error::StoreError;
use super::format::moment;
use super::records::Store;
use super::spent::Whose;
use crate::quota::audit::{self, AuditedCall, Finding, Look, PriceRecord, Reading, Window};
use crate::quota::{Holder, Period, Unit};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::BTreeMap;

/// Number of latest calls that are compared with the counters: older ones are settled, or stay as
/// they are.
const COMPARED: u32 = 5_000;

/// Times after the first of several readings with no call in between at which another reading adds
/// information: when the counters are quiet, and when a call that was never settled is over.
const TELLING: [SignedDuration; 2] = [audit::QUIET, SignedDuration::from_mins(65)];

/// The unit whose counters are compared with the ledger.
const COUNTED: Unit = Unit::Request;

impl Store {
    /// The number of the last entry of the ledger, zero for none.
    pub fn last_entry(&self) -> Result<i64, StoreError> {
        self.read(|connection| connection.query_row("SELECT COALESCE(MAX(id), 0) FROM ledger", [], |row| row.get(0)))
    }

    /// Stores a reading of the service's counters, and settles the entries that it explains;
    /// returns their number.
    pub fn note_look(&self, whose: Whose<'_>, session: &str, look: &Look) -> Result<usize, StoreError> {
        self.write(|transaction| {
            write_look(transaction, whose, session, look)?;
            let settled = reconcile(transaction, whose)?;
            forget_looks(transaction, whose, look)?;
            Ok(settled)
        })
    }

    /// When the last call with this claim was sent, if not before `since`, and its outcome, if
    /// known.
    pub fn last_outcome(
        &self,
        whose: Whose<'_>,
        claim: &[u8],
        since: Timestamp,
    ) -> Result<Option<(Timestamp, String)>, StoreError> {
        let select = "SELECT at, outcome FROM ledger WHERE at >= ?1 AND (profile = ?2 AND service = ?5 OR owner = ?3) AND key = ?4
                      ORDER BY id DESC LIMIT 1";
        let values = params![since.as_millisecond(), whose.profile, whose.owner, claim, whose.service];
        let found = |row: &Row<'_>| Ok((moment(row.get(0)?), row.get::<_, Option<String>>(1)?.unwrap_or_default()));
        self.read(|connection| connection.prepare_cached(select)?.query_row(values, found).optional())
    }

    /// All entries of a profile, oldest first, each with the evidence from the counters.
    pub fn entries(&self, whose: Whose<'_>) -> Result<Vec<LedgerEntry>, StoreError> {
        self.latest_entries(whose, u32::MAX)
    }

    /// The last entries of a profile, oldest first, each with the evidence from the counters.
    pub fn latest_entries(&self, whose: Whose<'_>, most: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        self.read(|connection| {
            let mut entries = entries(connection, whose, most)?;
            let windows = windows(connection, whose, &entries)?;
            let said = windows.iter().flat_map(|w| w.calls.iter().map(|call| (call.number, w.words())));
            let said: BTreeMap<_, _> = said.into_iter().collect();
            for entry in &mut entries {
                entry.counted = entry.counted.take().or_else(|| said.get(&entry.number).cloned());
            }
            Ok(entries)
        })
    }

    /// Predicted and counted costs in the times between readings of the request counters.
    pub fn windows(&self, whose: Whose<'_>) -> Result<Vec<Window>, StoreError> {
        self.read(|connection| windows(connection, whose, &entries(connection, whose, u32::MAX)?))
    }

    /// How many entries a profile has.
    pub fn count_entries(&self, whose: Whose<'_>) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM ledger WHERE profile = ?1 AND service = ?2 OR profile = ''";
        let count = self
            .read(|connection| connection.query_row(sql, [whose.profile, whose.service], |row| row.get::<_, i64>(0)))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// How often the counters confirmed and contradicted the price of each operation, by its name,
    /// within the latest calls that are compared.
    pub fn price_record(&self, whose: Whose<'_>) -> Result<BTreeMap<String, PriceRecord>, StoreError> {
        self.read(|connection| {
            let entries = entries(connection, whose, COMPARED)?;
            let mut record = audit::record(&windows(connection, whose, &entries)?);
            for entry in entries.iter().filter(|entry| entry.is_lowered()) {
                record.entry(entry.operation.clone()).or_default().contradicted += 1;
            }
            Ok(record)
        })
    }
}

fn write_look(connection: &Connection, whose: Whose<'_>, session: &str, look: &Look) -> rusqlite::Result<()> {
    let number: i64 = connection.query_row("SELECT COALESCE(MAX(look), 0) + 1 FROM counters", [], |row| row.get(0))?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO counters (look, asked, at, session, profile, service, account, after, unit, period, holder, used,
                               allowed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    let (asked, at) = (look.asked.as_millisecond(), look.received.as_millisecond());
    for reading in &look.readings {
        let (unit, period, holder) = (reading.unit.name(), reading.period.name(), reading.holder.name());
        let units = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let (used, allowed) = (units(reading.used), units(reading.allowed));
        insert.execute(params![
            number,
            asked,
            at,
            session,
            whose.profile,
            whose.service,
            look.account,
            look.after,
            unit,
            period,
            holder,
            used,
            allowed
        ])?;
        checksum::write(connection, "counters", connection.last_insert_rowid())?;
    }
    Ok(())
}

/// Settles what the counters explain: entries of unknown cost, and those that were settled for more
/// than the counter rose by.
fn reconcile(connection: &Connection, whose: Whose<'_>) -> rusqlite::Result<usize> {
    let entries = |connection| entries(connection, whose, COMPARED);
    let looks = looks(connection, whose, before(&entries(connection)?))?;
    let mut changed = 0;
    loop {
        // A call that one window settles is certain for the others.
        let calls = calls(&entries(connection)?);
        let windows = audit::final_windows(&looks, &calls, COUNTED);
        let mut settled = windows.iter().map(|window| settle_window(connection, window));
        match settled.find(|settled| !matches!(settled, Ok(0))) {
            Some(settled) => changed += settled?,
            None => return Ok(changed),
        }
    }
}

/// Settles the calls of a window, if its finding allows that; returns their number.
fn settle_window(connection: &Connection, window: &Window) -> rusqlite::Result<usize> {
    let (state, settled) = match window.finding() {
        Finding::Free => (State::Free, Some(0)),
        Finding::Charged(units) => (State::Charged, units.map(|n| i64::try_from(n).unwrap_or(i64::MAX))),
        Finding::Contradicted => return correct(connection, window),
        _ => return Ok(0),
    };
    let mut settle = connection.prepare_cached(
        "UPDATE ledger SET state = ?1, settled = COALESCE(?2, predicted_max), counted = ?3
         WHERE id = ?4 AND state IN ('reserved', 'unknown')",
    )?;
    let mut changed = 0;
    for call in window.calls.iter().filter(|call| call.is_unsure) {
        changed += settle.execute(params![state.name(), settled, window.words(), call.number])?;
        checksum::write(connection, "ledger", call.number)?;
    }
    Ok(changed)
}

/// Lowers the recorded cost of a window's calls to the rise of the counter: of all calls if it did
/// not rise, otherwise only of a call that is alone in the window.
fn correct(connection: &Connection, window: &Window) -> rusqlite::Result<usize> {
    if window.rose > 0 && window.calls.len() > 1 {
        return Ok(0);
    }
    let state = if window.rose == 0 { State::Free } else { State::Charged };
    let mut update =
        connection.prepare_cached("UPDATE ledger SET state = ?1, settled = ?2, counted = ?3 WHERE id = ?4")?;
    for call in &window.calls {
        let units = i64::try_from(window.rose).unwrap_or(i64::MAX);
        update.execute(params![state.name(), units, window.words(), call.number])?;
        checksum::write(connection, "ledger", call.number)?;
    }
    Ok(window.calls.len())
}

/// Deletes readings that explain nothing any more: of those with no call in between, all except the
/// first, the last and those late enough to add information; and those before the compared calls.
fn forget_looks(connection: &Connection, whose: Whose<'_>, look: &Look) -> rusqlite::Result<()> {
    let [quiet, abandoned] = TELLING.map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
    let mut forget = connection.prepare_cached(
        "WITH found AS (SELECT DISTINCT look, asked FROM counters
                        WHERE profile = ?1 AND service = ?6 AND account = ?2 AND after = ?3),
              placed AS (SELECT look, asked - MIN(asked) OVER () AS since, MIN(look) OVER () AS first, MAX(look) OVER () AS last,
                                LAG(asked) OVER (ORDER BY look) - MIN(asked) OVER () AS before FROM found)
         DELETE FROM counters WHERE look IN (
             SELECT look FROM placed WHERE look NOT IN (first, last)
             AND NOT (since >= ?4 AND before < ?4) AND NOT (since >= ?5 AND before < ?5))",
    )?;
    forget.execute(params![whose.profile, look.account, look.after, quiet, abandoned, whose.service])?;
    let mut forget = connection.prepare_cached(
        "DELETE FROM counters WHERE profile = ?1 AND service = ?3
         AND after < (SELECT id FROM ledger WHERE profile = ?1 AND service = ?3 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
    )?;
    forget.execute(params![whose.profile, COMPARED, whose.service]).map(|_| ())
}

/// The entry that a reading must follow to be of use for these entries.
fn before(entries: &[LedgerEntry]) -> i64 {
    entries.first().map_or(i64::MAX, |first| first.number - 1)
}

fn entries(connection: &Connection, whose: Whose<'_>, most: u32) -> rusqlite::Result<Vec<LedgerEntry>> {
    let select = "SELECT * FROM ledger WHERE profile = ?1 AND service = ?2 OR profile = '' ORDER BY id DESC LIMIT ?3";
    let mut select = connection.prepare_cached(select)?;
    let found = select.query_map(params![whose.profile, whose.service, most], LedgerEntry::read)?;
    let mut entries = found.collect::<rusqlite::Result<Vec<_>>>()?;
    entries.reverse();
    Ok(entries)
}

fn windows(connection: &Connection, whose: Whose<'_>, entries: &[LedgerEntry]) -> rusqlite::Result<Vec<Window>> {
    Ok(audit::windows(&looks(connection, whose, before(entries))?, &calls(entries), COUNTED))
}

/// Calls in the unit whose counters are compared, in the order of their numbers.
fn calls(entries: &[LedgerEntry]) -> Vec<AuditedCall> {
    entries.iter().filter(|entry| entry.unit == COUNTED.name()).filter_map(LedgerEntry::call).collect()
}

/// The readings of the counters, from the last one before these calls on.
fn looks(connection: &Connection, whose: Whose<'_>, before: i64) -> rusqlite::Result<Vec<Look>> {
    let mut select = connection.prepare_cached(
        "SELECT look, asked, at, account, after, unit, period, holder, used, allowed
         FROM counters WHERE profile = ?1 AND service = ?3
         AND after >= (SELECT COALESCE(MAX(after), ?2) FROM counters
                       WHERE profile = ?1 AND service = ?3 AND after <= ?2) ORDER BY look",
    )?;
    let mut rows = select.query(params![whose.profile, before, whose.service])?;
    let (mut looks, mut last) = (Vec::<Look>::new(), None);
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        if last.replace(number) != Some(number) {
            let (asked, received) = (moment(row.get(1)?), moment(row.get(2)?));
            looks.push(Look { asked, received, account: row.get(3)?, after: row.get(4)?, readings: Vec::new() });
        }
        let reading = reading(row)?;
        if let Some(look) = looks.last_mut() {
            look.readings.extend(reading);
        }
    }
    Ok(looks)
}

/// A reading of one counter; `None` if a newer program wrote a counter that this one does not know.
fn reading(row: &Row<'_>) -> rusqlite::Result<Option<Reading>> {
    let (unit, period, holder): (String, String, String) = (row.get(5)?, row.get(6)?, row.get(7)?);
    let units = |n: i64| u64::try_from(n).unwrap_or(0);
    let (used, allowed) = (units(row.get(8)?), units(row.get(9)?));
    let unit = Unit::ALL.into_iter().find(|known| known.name() == unit);
    let period = Period::ALL.into_iter().find(|known| known.name() == period);
    let holder = [Holder::User, Holder::Group].into_iter().find(|known| known.name() == holder);
    let known = unit.zip(period).zip(holder);
    Ok(known.map(|((unit, period), holder)| Reading { unit, period, holder, used, allowed }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    const WHOSE: Whose<'_> = Whose { profile: "p", service: "s", owner: None };

    #[test]
    fn of_looks_with_no_call_between_them_no_more_are_kept_than_can_explain_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let look = |minute: i64, after: i64| {
            let asked = Timestamp::from_second(1_795_168_800 + minute * 60).unwrap();
            let (unit, period, holder) = (Unit::Request, Period::Daily, Holder::User);
            let readings = vec![Reading { unit, period, holder, used: 1, allowed: 9 }];
            Look { asked, received: asked, account: "a".to_owned(), after, readings }
        };
        for minute in 0..100 {
            store.note_look(WHOSE, "s", &look(minute, 0)).unwrap();
        }
        store.note_look(WHOSE, "s", &look(100, 1)).unwrap();
        let kept = |connection: &Connection| {
            let mut select = connection.prepare("SELECT look FROM counters ORDER BY look")?;
            let looks = select.query_map([], |row| row.get(0))?;
            looks.collect::<rusqlite::Result<Vec<i64>>>()
        };
        assert_eq!(store.read(kept).unwrap(), [1, 6, 66, 100, 101]);
    }
}
