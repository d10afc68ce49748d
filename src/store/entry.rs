//! Entries of the ledger, and their cost for budgets and audits.

use super::format::moment;
use super::sent::ANSWERED;
use crate::quota::Period;
use crate::quota::audit::{AuditedCall, Charge};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Row;

/// Time after which an unsettled call is over: the program that made it was killed.
pub(super) const ABANDONED: SignedDuration = SignedDuration::from_hours(1);

/// State of a call in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was answered, or the counters show that it was charged: it cost the settled units.
    Charged,
    Free,
    Unsent,
    /// It may have been charged.
    Unknown,
    /// It is in flight, or its program was killed.
    Reserved,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Charged, Self::Free, Self::Unsent, Self::Unknown, Self::Reserved];

    /// Its name, as in the store and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Charged => "charged",
            Self::Free => "free",
            Self::Unsent => "unsent",
            Self::Unknown => "unknown",
            Self::Reserved => "reserved",
        }
    }

    /// Parses a name. An unknown one counts as unknown, so that no cost is underestimated.
    fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.name() == name).unwrap_or(Self::Unknown)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    pub number: i64,
    /// When it was recorded, just before it was sent.
    pub at: Timestamp,
    /// Identifies the run of the program.
    pub session: String,
    pub operation: String,
    pub what: String,
    /// The unit that it is counted in.
    pub unit: String,
    /// Minimum predicted cost, in units.
    pub predicted_min: u64,
    /// Maximum predicted cost, in units; `None` if no limit was known.
    pub predicted_max: Option<u64>,
    /// Whether it was charged, as far as known.
    pub state: State,
    /// Cost in units, once known.
    pub settled: Option<u64>,
    /// When it was settled. For a call of a killed program, no later than any program can have
    /// waited for it.
    pub settled_at: Option<Timestamp>,
    /// Its outcome, in words.
    pub outcome: Option<String>,
    /// Evidence from the service's counters, in words.
    pub counted: Option<String>,
    pub(super) profile: String,
    account: Option<String>,
}

impl LedgerEntry {
    /// Whether it may belong to the quota period that contains `now`: a call that began yesterday
    /// and was answered today may be charged to either day. A call recorded under a clock that was
    /// ahead belongs to the day of that clock.
    pub fn is_in(&self, period: Period, now: Timestamp) -> bool {
        let settled = self.settled_at.unwrap_or(self.at);
        period.meets(now, self.at.min(settled), self.at.max(settled))
    }

    /// Its cost for budgets: never less than it may have cost, unless it [is open](Self::is_open).
    pub fn careful(&self) -> u64 {
        self.certain().unwrap_or_else(|| self.worst())
    }

    /// Whether it may have cost any number of units, so that its cost for budgets is a lower bound.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Unknown | State::Reserved) && self.predicted_max.is_none()
    }

    /// Whether it was answered, and the counters showed that it cost less than its price.
    pub(super) fn is_lowered(&self) -> bool {
        let is_less = self.settled.is_some_and(|settled| settled < self.predicted_min);
        is_less && self.counted.is_some() && self.outcome.as_deref() == Some(ANSWERED)
    }

    /// Cost in units, if certain.
    pub(super) fn certain(&self) -> Option<u64> {
        match self.state {
            State::Charged => self.settled,
            State::Free | State::Unsent => Some(0),
            State::Unknown | State::Reserved => None,
        }
    }

    fn worst(&self) -> u64 {
        self.predicted_max.unwrap_or(self.predicted_min.max(1))
    }

    /// The call as input for the audit of the counters; `None` if it cannot have been counted.
    pub(super) fn call(&self) -> Option<AuditedCall> {
        let charge = match self.state {
            State::Charged => Charge::Certain(self.careful()),
            State::Free | State::Unsent => return None,
            State::Unknown | State::Reserved => Charge::Unsure(self.predicted_max),
        };
        let over = match self.state {
            State::Reserved => self.at.checked_add(ABANDONED).unwrap_or(Timestamp::MAX),
            _ => self.settled_at.unwrap_or(self.at).max(self.at),
        };
        let (account, operation) = (self.account.clone(), self.operation.clone());
        let is_counted = charge != Charge::Certain(0);
        is_counted.then_some(AuditedCall {
            number: self.number,
            from: self.at,
            until: over,
            account,
            operation,
            charge,
        })
    }

    /// An entry, from a row with all of its columns.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let units = |name: &str| row.get::<_, Option<i64>>(name).map(|n| n.and_then(|n| u64::try_from(n).ok()));
        Ok(Self {
            number: row.get("id")?,
            at: moment(row.get("at")?),
            session: row.get("session")?,
            profile: row.get("profile")?,
            operation: row.get("operation")?,
            what: row.get("what")?,
            unit: row.get("unit")?,
            predicted_min: units("predicted_min")?.unwrap_or(0),
            predicted_max: units("predicted_max")?,
            account: row.get("account")?,
            state: State::named(&row.get::<_, String>("state")?),
            settled: units("settled")?,
            settled_at: row.get::<_, Option<i64>>("settled_at")?.map(moment),
            outcome: row.get("outcome")?,
            counted: row.get("counted")?,
        })
    }
}
