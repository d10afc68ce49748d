//! What a call cost: the state in which the ledger records it, and its units.

use super::{Unit, Units};
use std::fmt;

/// State of a call in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It cost the settled units, by its answer or by the counters.
    Charged,
    Free,
    Unsent,
    /// It may have been charged.
    Unknown,
    /// It is in flight, or its outcome could not be written.
    Reserved,
}

impl State {
    pub(crate) const ALL: [Self; 5] = [Self::Charged, Self::Free, Self::Unsent, Self::Unknown, Self::Reserved];

    pub fn name(self) -> &'static str {
        match self {
            Self::Charged => "charged",
            Self::Free => "free",
            Self::Unsent => "unsent",
            Self::Unknown => "unknown",
            Self::Reserved => "reserved",
        }
    }
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was never sent.
    Unsent,
    /// It was answered, and the response does not narrow the price.
    Answered,
    /// The response contains this many of the items that are charged one by one; without a maximum
    /// if it does not say for all that was asked about.
    Items(Units),
    /// It was answered, and its subject (the analysis requested or the file uploaded) existed
    /// before (`true`) or did not.
    Existed(bool),
    /// It was answered with an error. The specification does not say whether errors are charged;
    /// they may be.
    Failed,
    /// No response was received; the service may have processed the call nevertheless.
    Unknown,
}

/// The cost of a call, as far as its outcome shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    pub state: State,
    pub unit: Unit,
    /// From the certain to the possible units.
    pub units: Units,
}

impl Settlement {
    /// A call that did not leave this machine.
    pub const UNSENT: Self = Self { state: State::Unsent, unit: Unit::Request, units: Units::NOTHING };

    /// A call of which nothing is known.
    pub const UNKNOWN: Self = Self { state: State::Unknown, units: Units { min: 0, max: None }, ..Self::UNSENT };
}

/// What it cost, as a sentence.
impl fmt::Display for Settlement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.state, self.units.max) {
            (State::Reserved, _) => f.write_str("It may have been charged; the ledger could not be written."),
            (_, Some(0)) => f.write_str("It cost nothing."),
            (State::Charged, _) => f.write_str("Its price was paid."),
            (_, None) => f.write_str("It may have been charged."),
            (_, Some(most)) => {
                let units = self.unit.count(most);
                write!(f, "It may have cost {units}; the ledger counts it until the service's counters say otherwise.")
            }
        }
    }
}
