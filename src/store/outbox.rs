//! The outbox: responses and calls until they are shared with the team; with this machine's name
//! and the projects of runs, which the team gets with the calls.

use super::Result;
use super::ledger::{Payer, entries};
use super::records::Store;
use super::report_files::{ResponseHeader, moment, place};
use super::reports::key_of;
use crate::quota::audit::LedgerEntry;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};
use std::collections::HashMap;

/// Made with the first use: a store without a team and projects has none.
pub(super) const OUTBOX: &str = "
CREATE TABLE IF NOT EXISTS outbox (service TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY (service, key));
CREATE TABLE IF NOT EXISTS machine (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS project (session TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS shared_call (id INTEGER PRIMARY KEY, checksum INTEGER);";

/// Maximum number of calls that are shared at once.
const MAX_CALLS: usize = 500;

/// Calls to share, each with the checksum of its entry.
pub struct UnsharedCalls {
    /// Tells this store's ledger from others of the same person.
    pub machine: String,
    pub calls: Vec<(LedgerEntry, Option<i64>)>,
}

impl Store {
    /// Records that a response of a service is to be shared, as soon as it is stored.
    pub fn record_unshared(&self, service: &str, key: &[u8], session: &str) -> Result<()> {
        let insert = "INSERT OR REPLACE INTO outbox (service, key) VALUES (?1, ?2)";
        self.with_outbox(|transaction| {
            machine(transaction, session)?;
            transaction.execute(insert, params![service, key]).map(drop)
        })
    }

    /// Returns the keys of the responses that are still to be shared, each with its record, oldest
    /// first: of a list page the reports that came with it, then the page.
    pub fn unshared(&self, service: &str) -> Result<Vec<(i64, Vec<u8>)>> {
        let keys = self.with_outbox(|transaction| {
            let mut select = transaction.prepare("SELECT rowid, key FROM outbox WHERE service = ?1 ORDER BY rowid")?;
            let keys = select.query_map([service], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))?;
            keys.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let mut unshared = Vec::new();
        for (record, key) in keys {
            let header = self.stored(self.report_files.header(&place(service, &key)))?;
            let reports = header.as_ref().map(ResponseHeader::report_keys).unwrap_or_default();
            unshared.extend(reports.into_iter().chain([key]).map(|key| (record, key)));
        }
        Ok(unshared)
    }

    /// Records that a response is shared, or cannot be; not one that was received since.
    pub fn forget_unshared(&self, record: i64, key: &[u8]) -> Result<()> {
        let delete = "DELETE FROM outbox WHERE rowid = ?1 AND key = ?2";
        self.with_outbox(|transaction| transaction.execute(delete, params![record, key]).map(drop))
    }

    /// Returns the bytes of a response from the service itself, and when it was received.
    pub fn own_response(&self, service: &str, key: &[u8]) -> Result<Option<(Timestamp, Vec<u8>)>> {
        let found = self.stored(self.report_files.load(&place(service, key)))?;
        Ok(found.map(|(header, bytes)| (moment(header.received), bytes)))
    }

    /// Returns the calls of a profile that the team does not know as they are now, oldest first.
    /// Those of sessions before the first that shares stay on this machine.
    pub fn unshared_calls(&self, payer: Payer<'_>, session: &str) -> Result<UnsharedCalls> {
        self.with_outbox(|transaction| {
            let machine = machine(transaction, session)?;
            let which = format!(
                "WHERE profile = ?1 AND service = ?2 AND state <> 'reserved' AND NOT EXISTS
                 (SELECT 1 FROM shared_call s WHERE s.id = ledger.id AND s.checksum IS ledger.checksum)
                 ORDER BY id LIMIT {MAX_CALLS}"
            );
            let entries = entries(transaction, &which, [payer.profile, payer.service])?;
            let mut select = transaction.prepare("SELECT checksum FROM ledger WHERE id = ?1")?;
            let with_checksum = |entry: LedgerEntry| {
                let checksum = select.query_row([entry.number], |row| row.get(0))?;
                Ok((entry, checksum))
            };
            let calls = entries.into_iter().map(with_checksum).collect::<rusqlite::Result<_>>()?;
            Ok(UnsharedCalls { machine, calls })
        })
    }

    /// Records that the team knows these calls.
    pub fn record_shared_calls(&self, shared: &UnsharedCalls) -> Result<()> {
        self.with_outbox(|transaction| {
            let mut insert = transaction.prepare("INSERT OR REPLACE INTO shared_call VALUES (?1, ?2)")?;
            let mut record = |number: i64, checksum: Option<i64>| insert.execute(params![number, checksum]).map(drop);
            shared.calls.iter().try_for_each(|(entry, checksum)| record(entry.number, *checksum))
        })
    }

    /// Returns the project of each session that has one.
    pub fn projects(&self) -> Result<HashMap<String, String>> {
        self.with_outbox(|transaction| {
            let mut select = transaction.prepare("SELECT session, name FROM project")?;
            select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Returns the name by which the team tells this store's ledger from others of the same person.
    pub fn machine(&self, session: &str) -> Result<String> {
        self.with_outbox(|transaction| machine(transaction, session))
    }

    pub(super) fn with_outbox<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        self.write(|transaction| {
            transaction.execute_batch(OUTBOX)?;
            work(transaction)
        })
    }
}

/// Returns the machine's name; with the first, calls before this session count as shared.
pub(super) fn machine(transaction: &Transaction<'_>, session: &str) -> rusqlite::Result<String> {
    let id = "SELECT id FROM machine";
    if let Some(machine) = transaction.query_row(id, [], |row| row.get(0)).optional()? {
        return Ok(machine);
    }
    let earlier = "INSERT INTO shared_call SELECT id, checksum FROM ledger WHERE session <> ?1";
    transaction.execute(earlier, [session])?;
    transaction.execute("INSERT INTO machine VALUES (lower(hex(randomblob(16))))", [])?;
    transaction.query_row(id, [], |row| row.get(0))
}

impl ResponseHeader {
    /// Returns the keys of the reports that came with a list page.
    fn report_keys(&self) -> Vec<Vec<u8>> {
        self.reports.iter().map(|report| key_of(&report.bytes())).collect()
    }
}
