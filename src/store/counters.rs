//! Stores readings of the service's counters, settles the ledger's entries by them; reads entries.

use super::Result;
use super::ledger::{Payer, entries, integer};
use super::records::{self, Store};
use super::report_files::moment;
use crate::quota::audit::{self, AuditedCall, CounterReading, Finding, LedgerEntry, QuotaSnapshot, Window};
use crate::quota::{Holder, Period, State, Unit};
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::BTreeMap;

/// Age at which a reading is deleted: it explains no call of this month any more.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(100 * 24);

/// The entries of a profile `?1` at a service `?2`, and the one for lost entries.
const OF_PROFILE: &str = "(profile = ?1 AND service = ?2 OR profile = '')";

impl Store {
    /// Returns the first reading since then of a holder's monthly requests: when, and how many.
    pub fn earlier_use(&self, payer: Payer<'_>, holder: Holder, since: Timestamp) -> Result<Option<(Timestamp, u64)>> {
        let select = "SELECT at, used FROM counters WHERE profile = ?1 AND service = ?2 AND unit = ?3 AND period = ?4
                      AND holder = ?5 AND at >= ?6 ORDER BY look LIMIT 1";
        let unit = Unit::Request.name();
        let period = Period::Monthly.name();
        let values = params![payer.profile, payer.service, unit, period, holder.name(), since.as_millisecond()];
        let read = |row: &Row<'_>| Ok((moment(row.get(0)?), u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0)));
        self.read(|connection| connection.query_row(select, values, read).optional())
    }

    /// Returns the number of the last entry of the ledger, zero for none.
    pub fn last_entry(&self) -> Result<i64> {
        self.read(|connection| connection.query_row("SELECT COALESCE(MAX(id), 0) FROM ledger", [], |row| row.get(0)))
    }

    /// Stores a reading of the counters, and settles the entries that it explains.
    pub fn record_snapshot(&self, payer: Payer<'_>, session: &str, snapshot: &QuotaSnapshot) -> Result<()> {
        self.write(|transaction| {
            write(transaction, payer, session, snapshot)?;
            let audited = || compared(transaction, payer);
            let (_, all) = audited()?;
            // A call settled by one window is certain for others; each is settled and lowered once.
            for _ in 0..2 * all.len() {
                let (snapshots, calls) = audited()?;
                let windows = audit::final_windows(&snapshots, &calls);
                let mut settled = windows.iter().map(|window| settle(transaction, window));
                match settled.find(|settled| !matches!(settled, Ok(0))) {
                    Some(settled) => drop(settled?),
                    None => break,
                }
            }
            // A call lowered and raised again stays so until the next reading: better too high.
            for _ in 0..all.len() {
                let (snapshots, calls) = audited()?;
                let Some((call, units, why)) = audit::too_low(&snapshots, &calls) else { break };
                correct(transaction, call, Some(units), &why)?;
            }
            Ok(())
        })
    }

    /// Returns all entries of a profile, oldest first, each with the evidence from the counters.
    pub fn entries(&self, payer: Payer<'_>) -> Result<Vec<LedgerEntry>> {
        let which = format!("WHERE {OF_PROFILE} ORDER BY id");
        let mut found = self.read(|connection| entries(connection, &which, [payer.profile, payer.service]))?;
        let (snapshots, calls) = self.read(|connection| compared(connection, payer))?;
        let evidence = audit::evidence(&snapshots, &calls);
        for entry in &mut found {
            entry.counted = entry.counted.take().or_else(|| evidence.get(&entry.number).cloned());
        }
        Ok(found)
    }

    /// Returns a profile's calls about a file or report: their key contains its hash or identifier.
    pub fn calls_about(&self, payer: Payer<'_>, subject: &[u8]) -> Result<Vec<LedgerEntry>> {
        let which = format!("WHERE {OF_PROFILE} AND instr(key, ?3) > 0 ORDER BY id");
        self.read(|connection| entries(connection, &which, params![payer.profile, payer.service, subject]))
    }

    /// Predicted and counted costs in the times between readings of the request counters.
    pub fn windows(&self, payer: Payer<'_>) -> Result<Vec<Window>> {
        let (snapshots, calls) = self.read(|connection| compared(connection, payer))?;
        Ok(audit::windows(&snapshots, &calls))
    }
}

/// Writes a reading; between calls only the first of each five minutes and the last one stay.
fn write(connection: &Connection, payer: Payer<'_>, session: &str, snapshot: &QuotaSnapshot) -> rusqlite::Result<()> {
    let number: i64 = connection.query_row("SELECT COALESCE(MAX(look), 0) + 1 FROM counters", [], |row| row.get(0))?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO counters (look, asked, at, session, profile, service, account, after, unit, period, holder, used,
                               allowed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    let sent = snapshot.sent.as_millisecond();
    let at = snapshot.received.as_millisecond();
    for reading in &snapshot.readings {
        insert.execute(params![
            number,
            sent,
            at,
            session,
            payer.profile,
            payer.service,
            snapshot.account,
            snapshot.after,
            reading.unit.name(),
            reading.period.name(),
            reading.holder.name(),
            integer(reading.used),
            integer(reading.allowed)
        ])?;
        records::write_checksum(connection, "counters", connection.last_insert_rowid())?;
    }
    let delete = "DELETE FROM counters WHERE profile = ?1 AND service = ?2 AND (asked < ?6 OR
                  account = ?3 AND after = ?4 AND look < ?5 AND look NOT IN
                      (SELECT MIN(look) FROM counters WHERE profile = ?1 AND service = ?2 AND account = ?3
                       AND after = ?4 GROUP BY asked / 300000))";
    let outdated = sent - MAX_AGE.as_secs() * 1000;
    let values = params![payer.profile, payer.service, snapshot.account, snapshot.after, number, outdated];
    connection.execute(delete, values).map(drop)
}

/// Settles the calls of a window, if its finding allows that; returns their number. A contradiction
/// lowers the cost of all calls if the counter did not rise, otherwise only that of a single call.
fn settle(connection: &Connection, window: &Window) -> rusqlite::Result<usize> {
    let finding = window.finding();
    let units = match finding {
        Finding::Free => Some(0),
        Finding::Charged(units) => units,
        Finding::Contradicted if window.rose == 0 || window.calls.len() == 1 => Some(window.rose),
        _ => return Ok(0),
    };
    let is_settled = |call: &&AuditedCall| call.is_uncertain() || finding == Finding::Contradicted;
    let calls: Vec<_> = window.calls.iter().filter(is_settled).collect();
    calls.iter().try_for_each(|call| correct(connection, call.number, units, &window.label()))?;
    Ok(calls.len())
}

/// Corrects a call's cost by the evidence of the counters: to its maximum if `units` is `None`.
fn correct(connection: &Connection, call: i64, units: Option<u64>, evidence: &str) -> rusqlite::Result<()> {
    let state = if units == Some(0) { State::Free } else { State::Charged };
    let mut update = connection.prepare_cached(
        "UPDATE ledger SET state = ?1, settled = COALESCE(?2, predicted_max), counted = ?3 WHERE id = ?4",
    )?;
    update.execute(params![state.name(), units.map(integer), evidence, call])?;
    records::write_checksum(connection, "ledger", call)
}

/// Returns the readings of the counters, and the calls after the first of them.
fn compared(connection: &Connection, payer: Payer<'_>) -> rusqlite::Result<(Vec<QuotaSnapshot>, Vec<AuditedCall>)> {
    let mut select = connection.prepare_cached(
        "SELECT look, asked, at, account, after, unit, period, holder, used, allowed FROM counters
         WHERE profile = ?1 AND service = ?2 ORDER BY look",
    )?;
    let mut rows = select.query([payer.profile, payer.service])?;
    let mut snapshots = BTreeMap::<i64, QuotaSnapshot>::new();
    while let Some(row) = rows.next()? {
        let sent = moment(row.get(1)?);
        let received = moment(row.get(2)?);
        let found = QuotaSnapshot { sent, received, account: row.get(3)?, after: row.get(4)?, readings: Vec::new() };
        let (unit, period, holder): (String, String, String) = (row.get(5)?, row.get(6)?, row.get(7)?);
        let units = |column| row.get(column).map(|n: i64| u64::try_from(n).unwrap_or(0));
        let used = units(8)?;
        let allowed = units(9)?;
        // Only a newer program knows another counter.
        let known = Unit::named(&unit).zip(Period::named(&period)).zip(Holder::named(&holder));
        let reading = known.map(|((unit, period), holder)| CounterReading { unit, period, holder, used, allowed });
        snapshots.entry(row.get(0)?).or_insert(found).readings.extend(reading);
    }
    let first = snapshots.values().map(|snapshot| snapshot.after).min().unwrap_or(i64::MAX);
    let which = format!("WHERE {OF_PROFILE} AND id > ?3 ORDER BY id");
    let entries = entries(connection, &which, params![payer.profile, payer.service, first])?;
    Ok((snapshots.into_values().collect(), entries.iter().filter_map(LedgerEntry::call).collect()))
}
