//! The outbox: keys of responses that are to be shared with the team, until they are.

use super::Result;
use super::records::Store;
use super::report_files::{ResponseHeader, moment, place};
use super::reports::key_of;
use jiff::Timestamp;
use rusqlite::{Transaction, params};

/// Made with the first response that is to be shared: a store without a team has none.
const OUTBOX: &str = "CREATE TABLE IF NOT EXISTS outbox (
    service TEXT NOT NULL, key BLOB NOT NULL, PRIMARY KEY (service, key)
)";

impl Store {
    /// Records that a response of a service, and each report that came with it, is to be shared.
    pub fn record_unshared(&self, service: &str, key: &[u8]) -> Result<()> {
        let header = self.stored(self.report_files.header(&place(service, key)))?;
        let reports = header.as_ref().map(ResponseHeader::report_keys).unwrap_or_default();
        self.with_outbox(|transaction| {
            let mut insert = transaction.prepare("INSERT OR IGNORE INTO outbox (service, key) VALUES (?1, ?2)")?;
            // A list is shared after its reports.
            reports
                .iter()
                .map(Vec::as_slice)
                .chain([key])
                .try_for_each(|key| insert.execute(params![service, key]).map(drop))
        })
    }

    /// Returns the keys of the responses that are still to be shared, oldest first.
    pub fn unshared(&self, service: &str) -> Result<Vec<Vec<u8>>> {
        self.with_outbox(|transaction| {
            let mut select = transaction.prepare("SELECT key FROM outbox WHERE service = ?1 ORDER BY rowid")?;
            select.query_map([service], |row| row.get(0))?.collect()
        })
    }

    /// Records that a response is shared, or cannot be.
    pub fn forget_unshared(&self, service: &str, key: &[u8]) -> Result<()> {
        let delete = "DELETE FROM outbox WHERE service = ?1 AND key = ?2";
        self.with_outbox(|transaction| transaction.execute(delete, params![service, key]).map(drop))
    }

    /// Returns the bytes of a response from the service itself, and when it was received.
    pub fn own_response(&self, service: &str, key: &[u8]) -> Result<Option<(Timestamp, Vec<u8>)>> {
        let found = self.stored(self.report_files.load(&place(service, key)))?;
        Ok(found.map(|(header, bytes)| (moment(header.received), bytes)))
    }

    fn with_outbox<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        self.write(|transaction| {
            transaction.execute(OUTBOX, [])?;
            work(transaction)
        })
    }
}

impl ResponseHeader {
    /// Returns the keys of the reports that came with a list page.
    fn report_keys(&self) -> Vec<Vec<u8>> {
        self.reports.iter().map(|report| key_of(&report.bytes())).collect()
    }
}
