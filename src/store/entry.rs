//! An entry of the ledger, and what it counts as.

use super::held::moment;
use super::seal;
use crate::quota::Period;
use crate::quota::audit::{Call, Charge};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Row;

/// After so long a call that was never settled is over: the program that made it was killed.
pub(super) const ABANDONED: SignedDuration = SignedDuration::from_hours(1);

/// Units beyond which a number is no price: no question names so many files.
const MOST: u64 = 1_000_000;

/// What is known of a call in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was answered, or the counters say so: it cost what is settled.
    Charged,
    Free,
    Unsent,
    /// Whether it was charged is not known.
    Unknown,
    /// It is under way, or its program was killed.
    Reserved,
    /// It is not what was written: the disk has changed it, or another program.
    Damaged,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 6] = [Self::Charged, Self::Free, Self::Unsent, Self::Unknown, Self::Reserved, Self::Damaged];

    /// Its name, as in the store and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Charged => "charged",
            Self::Free => "free",
            Self::Unsent => "unsent",
            Self::Unknown => "unknown",
            Self::Reserved => "reserved",
            Self::Damaged => "damaged",
        }
    }

    /// A word that nobody knows is no reason to count too low.
    fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.name() == name).unwrap_or(Self::Unknown)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    pub number: i64,
    /// When it was written down, just before it was sent.
    pub at: Timestamp,
    /// Which run of the program.
    pub session: String,
    pub operation: String,
    pub what: String,
    /// What it was to be counted in.
    pub unit: String,
    /// Units that it was to cost at least.
    pub predicted_min: u64,
    /// Units that it was to cost at most; none where no limit was known.
    pub predicted_max: Option<u64>,
    /// What is known of it.
    pub state: State,
    /// Units that it cost, once that is known.
    pub settled: Option<u64>,
    /// When that was written down; of a call that a program left that was killed, no later than nobody can have waited for it.
    pub settled_at: Option<Timestamp>,
    /// What came of it, in words.
    pub outcome: Option<String>,
    /// What the service's counters said of it, in words.
    pub counted: Option<String>,
    pub(super) profile: String,
    account: Option<String>,
}

impl LedgerEntry {
    /// Whether it may be on the bill of the period that holds `now`: one that began yesterday and was answered today may be on
    /// either day's. What was spent under a clock that was ahead is on the bill of its own day.
    pub fn is_in(&self, period: Period, now: Timestamp) -> bool {
        let settled = self.settled_at.unwrap_or(self.at);
        period.meets(now, self.at.min(settled), self.at.max(settled))
    }

    /// What it counts as: never less than it may have cost, unless it [is open](Self::is_open).
    pub fn careful(&self) -> u64 {
        self.certain().unwrap_or_else(|| self.worst())
    }

    /// Whether it may have cost any number of units, so that what it counts as is a least.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Unknown | State::Reserved | State::Damaged) && self.predicted_max.is_none()
    }

    /// Units that it cost, where that is beyond doubt.
    pub(super) fn certain(&self) -> Option<u64> {
        match self.state {
            State::Charged => self.settled,
            State::Free | State::Unsent => Some(0),
            State::Unknown | State::Reserved | State::Damaged => None,
        }
    }

    fn worst(&self) -> u64 {
        let predicted = self.predicted_max.unwrap_or(self.predicted_min.max(1));
        // Whatever a damaged entry says was changed may be the price, if it can be one.
        let told = [predicted, self.predicted_min, self.settled.unwrap_or(0)].into_iter().filter(|told| *told <= MOST);
        if self.state == State::Damaged { told.fold(1, u64::max) } else { predicted }
    }

    /// As the counters see it; none if it cannot have been counted.
    pub(super) fn call(&self) -> Option<Call> {
        let charge = match self.state {
            State::Charged => Charge::Certain(self.careful()),
            State::Free | State::Unsent => return None,
            State::Unknown | State::Reserved | State::Damaged => Charge::Unsure(self.predicted_max),
        };
        let over = match self.state {
            State::Reserved => self.at.checked_add(ABANDONED).unwrap_or(Timestamp::MAX),
            _ => self.settled_at.unwrap_or(self.at).max(self.at),
        };
        let (account, operation) = (self.account.clone(), self.operation.clone());
        let is_counted = charge != Charge::Certain(0);
        is_counted.then_some(Call { number: self.number, from: self.at, until: over, account, operation, charge })
    }

    /// An entry, from a row that begins with [`seal::ENTRY`] and its seal. One that the seal does not vouch for is damaged,
    /// whatever it says.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let is_whole = seal::is_whole_entry(row)?;
        let number = |column| row.get_ref(column).ok().and_then(|value| value.as_i64().ok());
        let text = |column| row.get_ref(column).ok().and_then(|value| Some(lossy(value.as_bytes().ok()?)));
        // What cannot be is not known.
        let units = |column| number(column).and_then(|n| u64::try_from(n).ok());
        Ok(Self {
            number: number(0).unwrap_or(0),
            at: moment(number(1).unwrap_or(0)),
            session: text(2).unwrap_or_default(),
            profile: text(3).unwrap_or_default(),
            operation: text(4).unwrap_or_default(),
            what: text(5).unwrap_or_default(),
            unit: text(7).unwrap_or_default(),
            predicted_min: units(8).unwrap_or(0),
            predicted_max: units(9),
            account: text(10),
            state: text(11).filter(|_| is_whole).map_or(State::Damaged, |state| State::named(&state)),
            settled: units(12),
            settled_at: number(13).map(moment),
            outcome: text(14),
            counted: text(15),
        })
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
