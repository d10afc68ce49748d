//! The ledger: every call is recorded before it is sent, and settled afterwards.
//!
//! ```text
//! reserved ──> charged n        a response was received
//!          ├─> free             a response was received, known to cost nothing
//!          ├─> unsent           nothing left this machine
//!          └─> unknown ──> charged n, free      others count as charged until counters settle it
//! ```
//! A killed program leaves a `reserved` entry, which becomes unknown with the next call of any
//! program, and counts as charged too: the ledger may overestimate, but never underestimates.

use super::Result;
use super::outbox::OUTBOX;
use super::records::{self, Store};
use super::report_files::{digest, moment};
use crate::files;
use crate::quota::audit::{AuditedCall, LedgerEntry};
use crate::quota::{Budget, Kind, OverBudget, Period, Price, Settlement, SpentUnits, State, Unit, Units, Uploads};
use crate::request::{PUBLIC_UPLOAD, Request};
use crate::text::to_visible;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, Params, Row, Transaction, params};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Outcome of a call with a response.
pub const ANSWERED: &str = "answered";

/// Start of the outcome of a call that was refused by the rate limit.
const TOO_FAST: &str = "too fast";

const OF_SESSION: &str = "WHERE session = ?1";

/// Time after which an unsettled call is over: its program was killed.
const ABANDONED: SignedDuration = SignedDuration::from_hours(1);

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// How long a refusal by the rate limit counts as evidence of the limit.
const HOUR: SignedDuration = SignedDuration::from_hours(1);

const CALLS: &str = "calls";

/// The entries that count for a payer `?1` to `?3`: its own, and the one for lost entries. Without
/// a key, those of the key that the profile used last count.
const OF_PAYER: &str = "(profile = ?1 AND service = ?2 OR profile = '' OR owner = COALESCE(?3,
    (SELECT owner FROM ledger WHERE profile = ?1 AND service = ?2 AND owner IS NOT NULL ORDER BY id DESC LIMIT 1)))";

/// Who pays for calls: a profile with its service, or by the digest of service and key.
#[derive(Debug, Clone, Copy)]
pub struct Payer<'a> {
    pub profile: &'a str,
    pub service: &'a str,
    pub key_digest: Option<i64>,
}

/// A call, as recorded before it is sent.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    pub at: Timestamp,
    /// This machine's time, by which pauses are counted.
    pub clock: Timestamp,
    pub session: &'a str,
    pub payer: Payer<'a>,
    /// The request, safe to show.
    pub what: &'a str,
    /// Identifies the request, which must not be in flight twice.
    pub claim: Option<&'a [u8]>,
    pub price: &'a Price,
    /// The account whose counters it is charged to.
    pub account: Option<&'a str>,
    pub budget: Budget,
    /// The tag of this run, by which costs are summed.
    pub project: Option<&'a str>,
    /// Requests in 60 seconds that the service accepts, as configured or learned.
    pub per_minute: Option<u64>,
}

/// A call that is recorded and may be sent. It is in flight until this is dropped.
#[derive(Debug)]
pub struct RecordedCall {
    pub entry: i64,
    /// The locked file of its claim: it is locked and removed only within transactions, so that two
    /// programs never lock different files of the same name.
    path: PathBuf,
    _locked: File,
}

/// Result of an attempt to record a call.
#[derive(Debug)]
pub enum Reserved {
    Entry(RecordedCall),
    InFlight,
    OverBudget(OverBudget),
    /// The limit of requests a minute allows it then.
    NotBefore(Timestamp),
}

impl LedgerEntry {
    /// Returns whether it may belong to the quota period that contains `now`: a call that began
    /// yesterday and was answered today may be charged to either day.
    pub fn is_in(&self, period: Period, now: Timestamp) -> bool {
        let settled = self.settled_at.unwrap_or(self.at);
        period.meets(now, self.at.min(settled), self.at.max(settled))
    }

    fn certain(&self) -> Option<u64> {
        match self.state {
            State::Charged => self.settled,
            State::Free | State::Unsent => Some(0),
            State::Unknown | State::Reserved => None,
        }
    }

    /// Returns, if the rate limit refused it, the end of the pause, if the service named one.
    fn pause(&self) -> Option<Option<Timestamp>> {
        let rest = self.outcome.as_deref()?.strip_prefix(TOO_FAST)?;
        Some(rest.strip_prefix(" until ").and_then(|rest| rest.split_once(": ")?.0.parse().ok()))
    }

    /// Returns the call as input for the audit of the counters; `None` if they do not count it.
    pub(super) fn call(&self) -> Option<AuditedCall> {
        let charge = match self.state {
            State::Charged => Units::exactly(self.counts_as),
            State::Free | State::Unsent => Units::NOTHING,
            State::Unknown | State::Reserved => Units { min: 0, max: self.predicted_max },
        };
        let until = match self.state {
            State::Reserved => self.at.checked_add(ABANDONED).unwrap_or(Timestamp::MAX),
            _ => self.settled_at.unwrap_or(self.at).max(self.at),
        };
        let account = self.account.clone();
        let max_charge = self.predicted_max.unwrap_or(0).max(1);
        let is_counted = self.unit == Unit::Request.name() && self.state != State::Unsent;
        is_counted.then_some(AuditedCall { number: self.number, from: self.at, until, account, charge, max_charge })
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let units = |name: &str| row.get::<_, Option<i64>>(name).map(|n| n.and_then(|n| u64::try_from(n).ok()));
        let text = |name: &str| row.get::<_, String>(name).map(|text| to_visible(text).into());
        let words =
            |name: &str| row.get::<_, Option<String>>(name).map(|words| words.map(|words| to_visible(words).into()));
        let mut entry = Self {
            number: row.get("id")?,
            at: moment(row.get("at")?),
            session: text("session")?,
            operation: text("operation")?,
            what: text("what")?,
            unit: text("unit")?,
            predicted_min: units("predicted_min")?.unwrap_or(0),
            predicted_max: units("predicted_max")?,
            account: row.get("account")?,
            lock: row.get("lock")?,
            // An unknown name counts as unknown, so that no cost is underestimated.
            state: State::named(&row.get::<_, String>("state")?).unwrap_or(State::Unknown),
            settled: units("settled")?,
            settled_at: row.get::<_, Option<i64>>("settled_at")?.map(moment),
            outcome: words("outcome")?,
            counted: words("counted")?,
            file: row.get::<_, Option<Vec<u8>>>("key")?.and_then(|key| Some(Request::file_of_key(&key)?.to_string())),
            counts_as: 0,
            at_least: false,
        };
        let max_charge = entry.predicted_max.unwrap_or(entry.predicted_min.max(1));
        entry.counts_as = entry.certain().unwrap_or(max_charge.max(entry.settled.unwrap_or(0)));
        entry.at_least = entry.certain().is_none() && entry.predicted_max.is_none();
        Ok(entry)
    }
}

impl Store {
    /// Records a call before it is sent, unless the same is in flight or a limit does not allow it.
    pub fn reserve(&self, entry: &NewEntry<'_>) -> Result<Reserved> {
        let mut call = Ok(None);
        // No other program writes between check and entry: two cannot spend the rest of one budget.
        let refused = self.write(|transaction| {
            if entry.budget.is_set() {
                let session = sums(&entries(transaction, OF_SESSION, [entry.session])?).into_values().sum();
                let today = sums(&of_period(transaction, entry.payer, Period::Daily, entry.at)?).into_values().sum();
                if let Some(over) = entry.budget.exceeded(entry.price, session, today) {
                    return Ok(Some(Reserved::OverBudget(over)));
                }
            }
            if let Some(at) = wait(transaction, entry)? {
                return Ok(Some(Reserved::NotBefore(at)));
            }
            self.settle_abandoned(transaction, entry.at)?;
            let next = "SELECT COALESCE(MAX(id), 0) + 1 FROM ledger";
            let id = transaction.query_row(next, [], |row| row.get(0))?;
            call = RecordedCall::begin(&self.folder, id, entry.payer.service, entry.claim);
            match &call {
                Ok(Some(call)) => self.insert(transaction, entry, call).map(|()| None),
                Ok(None) => Ok(Some(Reserved::InFlight)),
                Err(_) => Ok(None),
            }
        })?;
        Ok(refused.or(self.stored(call)?.map(Reserved::Entry)).unwrap_or(Reserved::InFlight))
    }

    /// Records the outcome of a call, and its cost if that is known.
    pub fn settle(&self, call: RecordedCall, settlement: Settlement, outcome: &str, now: Timestamp) -> Result<()> {
        let state = settlement.state;
        let certain = Some(settlement.units.min).filter(|units| *units > 0 || state != State::Unknown);
        // The outcome may quote the service, which may name a file.
        let outcome = if self.is_persistent { outcome } else { state.name() };
        let update = "UPDATE ledger SET state = ?1, settled = ?2, settled_at = ?3, outcome = ?4 WHERE id = ?5";
        self.write(|transaction| {
            let values = params![state.name(), certain.map(integer), now.as_millisecond(), outcome, call.entry];
            transaction.execute(update, values)?;
            records::write_checksum(transaction, "ledger", call.entry)?;
            // Removed while it is locked; a file that remains is removed with the next call.
            let _ = fs::remove_file(&call.path);
            Ok(())
        })
    }

    /// Marks the calls of killed programs as unknown.
    fn settle_abandoned(&self, transaction: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<()> {
        let update = "UPDATE ledger SET state = 'unknown', settled_at = MIN(at + ?1, MAX(at, ?2)),
                      outcome = 'its program ended before the answer came' WHERE id = ?3";
        for entry in entries(transaction, "WHERE state = 'reserved'", [])? {
            if !RecordedCall::is_in_flight(&self.folder, &entry.lock) {
                let values = params![ABANDONED.as_secs() * 1000, now.as_millisecond(), entry.number];
                transaction.execute(update, values)?;
                records::write_checksum(transaction, "ledger", entry.number)?;
            }
        }
        RecordedCall::remove_stale_locks(&self.folder);
        Ok(())
    }

    fn insert(&self, transaction: &Transaction<'_>, entry: &NewEntry<'_>, call: &RecordedCall) -> rusqlite::Result<()> {
        let NewEntry { price, payer, .. } = *entry;
        let operation = price.operation.kind.name();
        let mut what = entry.what.to_owned();
        let mut key = entry.claim.map(<[u8]>::to_vec);
        if !self.is_persistent {
            key = key.map(|key| Sha256::digest(key).to_vec());
            let shown = key.as_deref().and_then(|digest| digest.get(..4)).map(crate::text::hex);
            what = shown.map_or_else(|| operation.to_owned(), |shown| format!("{operation} #{shown}"));
        }
        if let Some(project) = entry.project {
            transaction.execute_batch(OUTBOX)?;
            transaction.execute("INSERT OR REPLACE INTO project VALUES (?1, ?2)", [entry.session, project])?;
        }
        let values = params![
            call.entry,
            entry.at.as_millisecond(),
            entry.session,
            payer.profile,
            payer.service,
            operation,
            what,
            key,
            price.verdict.unit.name(),
            integer(price.verdict.units.min),
            price.verdict.units.max.map(integer),
            entry.account,
            payer.key_digest,
            call.lock(),
        ];
        transaction.execute(
            "INSERT INTO ledger (id, at, session, profile, service, operation, what, key, unit, predicted_min,
                                 predicted_max, account, owner, lock, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'reserved')",
            values,
        )?;
        records::write_checksum(transaction, "ledger", call.entry)
    }

    /// Returns what a sender has spent of each unit in the period (UTC) that contains `now`.
    pub fn spent_in(&self, payer: Payer<'_>, period: Period, now: Timestamp) -> Result<BTreeMap<Unit, SpentUnits>> {
        self.read(|connection| of_period(connection, payer, period, now)).map(|entries| sums(&entries))
    }

    /// Returns what a session has spent of each unit.
    pub fn spent(&self, session: &str) -> Result<BTreeMap<Unit, SpentUnits>> {
        self.read(|connection| entries(connection, OF_SESSION, [session])).map(|entries| sums(&entries))
    }

    /// Returns the same without calls in flight; a reserved entry whose call is over counts.
    pub fn settled(&self, session: &str) -> Result<BTreeMap<Unit, SpentUnits>> {
        let mut entries = self.read(|connection| entries(connection, OF_SESSION, [session]))?;
        entries
            .retain(|entry| entry.state != State::Reserved || !RecordedCall::is_in_flight(&self.folder, &entry.lock));
        Ok(sums(&entries))
    }

    /// Returns the most requests accepted in 60 seconds, and how many were sent in the last 60: as
    /// `known` from the config, or else from the refusals of the last hour.
    ///
    /// The service accepted the requests of the 60 seconds before a refusal: their number is the
    /// limit. A single request refused after none shows nothing: others caused it.
    pub fn minute_limit(&self, payer: Payer<'_>, known: Option<u64>, now: Timestamp) -> Result<Option<(u64, u64)>> {
        let hour = self.read(|connection| requests(connection, payer, now))?;
        let is_refused = |entry: &&LedgerEntry| entry.pause().is_some();
        let limit = |refused: &LedgerEntry| {
            let before = hour.iter().filter(|entry| entry.number < refused.number && !is_refused(entry));
            let before = before.filter(|entry| refused.at.duration_since(entry.at) < MINUTE);
            let passed = before.map(|entry| entry.counts_as).sum::<u64>();
            (passed > 0 || refused.predicted_max.is_some_and(|max_charge| max_charge > 1)).then_some(passed.max(1))
        };
        let learned = hour.iter().filter(is_refused).filter_map(limit).min();
        let recent = || recent(&hour, now).map(|entry| entry.counts_as).sum();
        Ok(known.or(learned).map(|limit| (limit, recent())))
    }

    /// Returns when the last call with this claim was sent, if not before `from`, and its outcome.
    pub fn last_outcome(&self, payer: Payer<'_>, claim: &[u8], from: Timestamp) -> Result<Option<(Timestamp, String)>> {
        let which = "WHERE (profile = ?1 AND service = ?2 OR owner = ?3) AND key = ?4 AND at >= ?5
                     ORDER BY id DESC LIMIT 1";
        let values = params![payer.profile, payer.service, payer.key_digest, claim, from.as_millisecond()];
        let last = self.read(|connection| entries(connection, which, values))?.pop();
        Ok(last.map(|entry| (entry.at, entry.outcome.unwrap_or_default())))
    }

    /// Returns publicly uploaded files, and whether the counters showed that they were new.
    pub fn uploads(&self, payer: Payer<'_>) -> Result<Uploads> {
        let select = "SELECT substr(key, length(?4) + 1), state = 'free' AND outcome = ?3 FROM ledger
                      WHERE substr(key, 1, length(?4)) = ?4 AND state IN ('free', 'unknown', 'reserved')
                      AND (owner = ?1 OR ?1 IS NULL AND service = ?2) ORDER BY 2";
        let values = params![payer.key_digest, payer.service, ANSWERED, PUBLIC_UPLOAD.as_bytes()];
        let read = |row: &Row<'_>| Ok((String::from_utf8_lossy(row.get_ref(0)?.as_blob()?).into_owned(), row.get(1)?));
        self.read(|connection| connection.prepare(select)?.query_map(values, read)?.collect())
    }

    /// Returns the claims of a service's answered private scans, and when each was sent.
    pub fn scans_sent(&self, service: &str) -> Result<Vec<(Timestamp, Vec<u8>)>> {
        let select = "SELECT at, key FROM ledger
                      WHERE service = ?1 AND operation = ?2 AND outcome = ?3 AND key IS NOT NULL";
        let values = params![service, Kind::PrivateScan.name(), ANSWERED];
        let read = |row: &Row<'_>| Ok((moment(row.get(0)?), row.get(1)?));
        self.read(|connection| connection.prepare(select)?.query_map(values, read)?.collect())
    }

    /// Returns when the last call with this claim, or one that starts with `start`, was sent
    /// without a response, except the entry `except`. Entries that were lost may concern any file.
    pub fn unanswered(
        &self,
        payer: Payer<'_>,
        (start, claim): (&[u8], &[u8]),
        except: Option<i64>,
    ) -> Result<Option<Timestamp>> {
        // If responses are not stored, the ledger contains only the digest of a claim.
        let which = "WHERE state <> 'unsent' AND id IS NOT ?4
                     AND (profile = '' OR (owner = ?5 OR ?5 IS NULL AND service = ?1)
                          AND (substr(key, 1, length(?2)) = ?2 OR key = ?3)) ORDER BY id DESC LIMIT 1";
        let digest = Sha256::digest(claim).to_vec();
        let values = params![payer.service, start, digest, except, payer.key_digest];
        let last = self.read(|connection| entries(connection, which, values))?.pop();
        let may_have_arrived = |entry: &LedgerEntry| match entry.state {
            State::Unknown => true,
            State::Reserved => !RecordedCall::is_in_flight(&self.folder, &entry.lock),
            State::Charged | State::Free | State::Unsent => false,
        };
        Ok(last.filter(may_have_arrived).map(|entry| entry.at))
    }
}

impl RecordedCall {
    /// Locks the file of a request's claim; `None` if another call has locked it.
    fn begin(folder: &Path, entry: i64, service: &str, claim: Option<&[u8]>) -> io::Result<Option<Self>> {
        files::make_folder_in(folder, Path::new(CALLS))?;
        let of_claim = |claim| digest(&[service.as_bytes(), claim]);
        let path = folder.join(CALLS).join(claim.map_or_else(|| digest(&[&entry.to_le_bytes()]), of_claim));
        let file = files::append(&path)?;
        // If locks are unsupported, no other program has one either.
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        Ok((!is_taken).then_some(Self { entry, path, _locked: file }))
    }

    /// Returns the name of its lock, which identifies it in the ledger.
    fn lock(&self) -> Option<&str> {
        self.path.file_name()?.to_str()
    }

    /// Returns whether a program waits for the response to the call with this lock.
    fn is_in_flight(folder: &Path, lock: &str) -> bool {
        let file = OpenOptions::new().write(true).open(folder.join(CALLS).join(lock));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Removes the lock files of programs that were killed.
    fn remove_stale_locks(folder: &Path) {
        for file in folder.join(CALLS).read_dir().into_iter().flatten().flatten() {
            if file.file_name().to_str().is_some_and(|lock| !Self::is_in_flight(folder, lock)) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

pub(super) fn entries(connection: &Connection, which: &str, values: impl Params) -> rusqlite::Result<Vec<LedgerEntry>> {
    let mut select = connection.prepare_cached(&format!("SELECT * FROM ledger {which}"))?;
    select.query_map(values, LedgerEntry::read)?.collect()
}

/// Returns the entries of a sender that may belong to the period that contains `now`.
fn of_period(
    connection: &Connection,
    payer: Payer<'_>,
    period: Period,
    now: Timestamp,
) -> rusqlite::Result<Vec<LedgerEntry>> {
    let mut found = since(connection, payer, period.began(now))?;
    found.retain(|entry| entry.is_in(period, now));
    Ok(found)
}

/// Returns the calls of the last hour that are counted in requests, oldest first.
fn requests(connection: &Connection, payer: Payer<'_>, now: Timestamp) -> rusqlite::Result<Vec<LedgerEntry>> {
    let begin = now.checked_sub(HOUR).unwrap_or(Timestamp::MIN);
    let mut found = since(connection, payer, begin)?;
    found.retain(|entry| entry.unit == Unit::Request.name() && entry.at > begin && entry.at <= now);
    Ok(found)
}

/// Returns the entries of a sender that were not over before a moment, oldest first.
fn since(connection: &Connection, payer: Payer<'_>, moment: Timestamp) -> rusqlite::Result<Vec<LedgerEntry>> {
    let which = format!("WHERE {OF_PAYER} AND MAX(at, COALESCE(settled_at, at)) >= ?4 ORDER BY id");
    entries(connection, &which, params![payer.profile, payer.service, payer.key_digest, moment.as_millisecond()])
}

/// Returns the calls of the last 60 seconds, newest first, until a named pause ended.
fn recent(hour: &[LedgerEntry], now: Timestamp) -> impl Iterator<Item = &LedgerEntry> {
    let counts = move |entry: &&LedgerEntry| {
        let is_over = entry.pause().flatten().is_some_and(|until| until <= now);
        !is_over && now.duration_since(entry.at) < MINUTE
    };
    hour.iter().rev().take_while(counts)
}

/// Returns when the limit of requests a minute (§8.1.3) allows a call, if not now: perhaps a moment
/// the service named. The start of its minute is not documented, so the last 60 seconds count.
fn wait(connection: &Connection, entry: &NewEntry<'_>) -> rusqlite::Result<Option<Timestamp>> {
    let price = entry.price;
    if price.is_free() || price.verdict.unit != Unit::Request {
        return Ok(None);
    }
    let which = format!("WHERE {OF_PAYER} AND outcome LIKE '{TOO_FAST} until %' ORDER BY id DESC LIMIT 1");
    let payer = params![entry.payer.profile, entry.payer.service, entry.payer.key_digest];
    let named = entries(connection, &which, payer)?.first().and_then(|entry| entry.pause().flatten());
    // One that is further away was named before the clock was set back.
    let is_ahead = |until: &Timestamp| *until > entry.clock && entry.clock.duration_until(*until) <= HOUR;
    if let Some(until) = named.filter(is_ahead) {
        return Ok(Some(until));
    }
    let Some(limit) = entry.per_minute else { return Ok(None) };
    let hour = requests(connection, entry.payer, entry.at)?;
    // A call without a known maximum counts as one; one above the limit waits for a whole minute.
    let mut sum = price.verdict.units.max.unwrap_or(1).min(limit);
    for recent in recent(&hour, entry.at) {
        sum = sum.saturating_add(recent.counts_as);
        if sum > limit {
            let rest = MINUTE - entry.at.duration_since(recent.at);
            return Ok(Some(entry.clock.saturating_add(rest).unwrap_or(Timestamp::MAX)));
        }
    }
    Ok(None)
}

/// Formats the outcome of a call that the rate limit refused, with the end of the named pause.
pub fn too_fast(refusal: &impl fmt::Display, until: Option<Timestamp>) -> String {
    let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
    format!("{TOO_FAST}{until}: {refusal}")
}

/// Sums entries by unit for budgets; one without a maximum counts as one, and opens its sum.
fn sums(entries: &[LedgerEntry]) -> BTreeMap<Unit, SpentUnits> {
    let mut sums = BTreeMap::<Unit, SpentUnits>::new();
    for entry in entries {
        let cost = match entry.certain() {
            Some(charged) => SpentUnits { charged, ..SpentUnits::default() },
            None => {
                let charged = entry.settled.unwrap_or(0);
                SpentUnits { charged, unsure: entry.counts_as.saturating_sub(charged), is_open: entry.at_least }
            }
        };
        let sum = sums.entry(Unit::named(&entry.unit).unwrap_or(Unit::Request)).or_default();
        *sum = sum.and(cost);
    }
    sums
}

/// Records that entries of any cost may be lost. The record counts for every profile.
pub(super) fn note_lost(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute(
        "INSERT INTO ledger (at, session, profile, service, operation, what, unit, predicted_min, lock, state)
         VALUES (?1, '', '', '', ?2, 'calls that may be missing: the records were damaged', ?3, 1, '', 'unknown')",
        params![now.as_millisecond(), Kind::PrivateScan.name(), Unit::Request.name()],
    )?;
    records::write_checksum(&transaction, "ledger", transaction.last_insert_rowid())?;
    transaction.commit()
}

pub(super) fn integer(units: u64) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
