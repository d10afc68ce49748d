//! Why there is no answer, and what that cost.

use super::Cost;
use crate::log::LineId;
use crate::quota::OverBudget;
use crate::service::error::{Reason, ServiceError};
use crate::store::StoreError;
use jiff::Timestamp;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The same question is under way already, and is not sent twice.
    #[error("nothing was sent: the same is under way already")]
    UnderWay,
    /// Another program on the same store has asked the same, and waits for the answer.
    #[error(
        "nothing was sent: another behaview is asking or doing the same. An answer that is stored costs nothing here once it is there; if that program ends without one it can be asked again"
    )]
    UnderWayElsewhere,
    /// The same was sent before, of which whoever sends it does not know.
    #[error(
        "nothing was sent: the same file may have been sent for a scan on {}, and no answer came: it may have arrived, and been charged. Look for its scan before it is sent again",
        crate::text::moment(*.0)
    )]
    SentBefore(Timestamp),
    /// The user is not entitled to it, so nothing was sent.
    #[error("nothing was sent: {0}")]
    NotEntitled(&'static str),
    /// The key was typed in the place of something else.
    #[error(
        "nothing was sent: what was typed is the key itself, or holds it. The service knows no file or report by it. Take another key if it may have been seen"
    )]
    NamesKey,
    /// Only what is held was wanted, and it is not.
    #[error("nothing was sent: the answer was held, and is gone. To ask the service costs what is shown now")]
    NotHeld,
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
        error: ServiceError,
        /// What it counts as in the ledger.
        cost: Cost,
        /// The line of the log that tells more.
        line: Option<LineId>,
    },
    #[error("internal error: {0}")]
    Internal(String),
}

impl GatewayError {
    /// Whether the service may have taken in what was sent, though no answer says so.
    pub fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Service { error, .. } if error.may_have_arrived())
    }

    /// Whether the service says that the quota is spent.
    pub fn says_spent(&self) -> bool {
        matches!(self, Self::Service { error: ServiceError::Refused(refusal), .. } if refusal.reason == Reason::QuotaSpent)
    }

    /// How long the service says to wait.
    pub fn wait(&self) -> Option<Duration> {
        match self {
            Self::Service { error: ServiceError::Refused(refusal), .. } => refusal.retry_after,
            _ => None,
        }
    }

    /// What to do about what the service did, in a sentence or two; empty where there is nothing to say.
    pub fn advice(&self) -> String {
        match self {
            Self::Service { error, .. } => error.advice(),
            _ => String::new(),
        }
    }

    /// Whether nothing left this machine.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::Service { error, .. } => !error.may_be_charged(),
            Self::Internal(_) => false,
            Self::UnderWay
            | Self::UnderWayElsewhere
            | Self::SentBefore(_)
            | Self::NotEntitled(_)
            | Self::NamesKey
            | Self::NotHeld
            | Self::Offline
            | Self::OverBudget(_)
            | Self::Ledger(_)
            | Self::Store(_) => true,
        }
    }

    /// A bug of this program's own: its words may quote an answer, and are shown like one.
    pub fn bug(words: &impl std::fmt::Display) -> Self {
        Self::Internal(crate::text::Untrusted::from(words.to_string()).visible_cut(300).to_string())
    }
}
