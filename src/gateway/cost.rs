//! The cost of a failed call.

use crate::quota::{Settled, Unit};

/// The cost of a failed call in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    Nothing,
    /// It may have been charged: at most this many of a unit, or `None` if no limit is known.
    Perhaps(Option<(u64, Unit)>),
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("It cost nothing."),
            Self::Perhaps(Some((units, unit))) => {
                let units = unit.count(*units);
                write!(f, "It may have cost {units}; the ledger counts it until the service's counters say otherwise.")
            }
            Self::Perhaps(None) => f.write_str("It may have been charged."),
        }
    }
}

impl Cost {
    pub(super) fn of(settled: Settled, unit: Unit) -> Self {
        match settled {
            Settled::Exactly(0) => Self::Nothing,
            Settled::Exactly(units) | Settled::AtMost(units) => Self::Perhaps(Some((units, unit))),
            Settled::Open => Self::Perhaps(None),
        }
    }
}
