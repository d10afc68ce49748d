//! Errors of the gateway, with the cost of the failed call.

use super::Cost;
use crate::quota::OverBudget;
use crate::service::error::{Reason, ServiceError};
use crate::store::StoreError;
use jiff::Timestamp;
use std::time::Duration;

/// The reason why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The same request is in flight already, and is not sent twice.
    #[error("nothing was sent: the same is under way already")]
    UnderWay,
    /// Another program on the same store has the same request in flight.
    #[error(
        "nothing was sent: another behaview is asking or doing the same. An answer that is stored costs nothing here once it is there; if that program ends without one it can be asked again"
    )]
    UnderWayElsewhere,
    /// The same file was sent before, without the user's knowledge.
    #[error(
        "nothing was sent: the same file may have been sent for a scan on {}, and no answer came: it may have arrived, and been charged. Look for its scan before it is sent again",
        crate::text::moment(*.0)
    )]
    SentBefore(Timestamp),
    /// The user is not entitled to it, so nothing was sent.
    #[error("nothing was sent: {0}")]
    NotEntitled(&'static str),
    /// The API key was typed in place of another value.
    #[error(
        "nothing was sent: what was typed is the key itself, or holds it. The service knows no file or report by it. Take another key if it may have been seen"
    )]
    NamesKey,
    /// Only a stored answer was requested, and none is stored.
    #[error("nothing was sent: the answer was held, and is gone. To ask the service costs what is shown now")]
    NotHeld,
    /// This run is offline and sends nothing.
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
    /// The service, or the connection to it, failed.
    #[error("{error}")]
    Service {
        error: ServiceError,
        /// Its cost in the ledger.
        cost: Cost,
        /// The log line with the details.
        line: Option<String>,
    },
    #[error("internal error: {0}")]
    Internal(String),
}

impl GatewayError {
    /// Whether the service may have received the request, though no answer confirms it.
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

    /// Advice on an error of the service, in a sentence or two; may be empty.
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

    /// A bug of this program. Its message may quote an answer, and is escaped like one.
    pub fn bug(words: &impl std::fmt::Display) -> Self {
        Self::Internal(crate::text::Untrusted::from(words.to_string()).visible_cut(300).to_string())
    }
}
