//! Why there is no answer, and what that cost.

use crate::log::LineId;
use crate::quota::{OverBudget, Settled};
use crate::service::error::ServiceError;
use crate::store::StoreError;
use jiff::Timestamp;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The same question is under way already, and is not sent twice.
    #[error("this is being fetched already")]
    UnderWay,
    /// Another program on the same store has asked the same a moment ago, and may still be waiting.
    #[error("nothing was sent: another behaview asked the same a moment ago. If its answer comes it is held and costs nothing; from {} on it can be asked again", .0.strftime("%H:%M:%S UTC"))]
    UnderWayElsewhere(Timestamp),
    /// The user is not entitled to it, so nothing was sent.
    #[error("nothing was sent: {0}")]
    NotEntitled(&'static str),
    /// Nothing is to be sent at all.
    #[error("nothing was sent: it is not held, and this run is offline")]
    Offline,
    /// It may cost more than the budget allows, so nothing was sent.
    #[error("nothing was sent: {0}")]
    OverBudget(OverBudget),
    /// The ledger could not be written, so nothing was sent.
    #[error("nothing was sent, because the ledger could not be written: {0}")]
    Ledger(StoreError),
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The service, or the way to it.
    #[error("{error}")]
    Service {
        /// What happened.
        error: ServiceError,
        /// What it counts as in the ledger.
        cost: Cost,
        /// The line of the log that tells more.
        line: Option<LineId>,
    },
    /// This program's own fault.
    #[error("internal error: {0}")]
    Internal(String),
}

impl GateError {
    /// A bug of this program's own: its words may quote an answer, and are shown like one.
    #[must_use]
    pub fn bug(words: &impl std::fmt::Display) -> Self {
        Self::Internal(crate::text::Untrusted::from(words.to_string()).visible_cut(300).to_string())
    }
}

/// What a call that failed counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Nothing was charged.
    Nothing,
    /// It may have been charged, at most this many units; none where no limit is known.
    Perhaps(Option<u64>),
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("It cost nothing."),
            Self::Perhaps(Some(units)) => {
                write!(f, "It may have cost {units}; the ledger counts it until the service's counters say otherwise.")
            }
            Self::Perhaps(None) => f.write_str("It may have been charged."),
        }
    }
}

impl Cost {
    pub(super) fn of(settled: Settled) -> Self {
        match settled {
            Settled::Exactly(0) => Self::Nothing,
            Settled::Exactly(units) | Settled::AtMost(units) => Self::Perhaps(Some(units)),
            Settled::Open => Self::Perhaps(None),
        }
    }
}
