//! Errors of the gateway, with the cost of the failed call.

use crate::quota::{BudgetPeriod, OverBudget, Settlement, State};
use crate::service::error::{ApiError, ServiceError};
use crate::store::StoreError;
use crate::team::TeamError;
use jiff::Timestamp;

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    #[error("nothing was sent: the same is in flight already, here or in another behaview")]
    InFlight,
    #[error(
        "nothing was sent: the file may have been sent for a scan on {}, without a response, and charged. Check for that scan first",
        crate::text::moment(*.0)
    )]
    SentBefore(Timestamp),
    #[error("nothing was sent: {0}")]
    NotEntitled(&'static str),
    #[error("nothing was sent: the request contains the API key. Replace the key if others may have seen it")]
    NamesKey,
    #[error("nothing was sent: the stored response was deleted. A new request costs the price that is shown now")]
    NotStored,
    #[error("nothing was sent: it is not stored, and this run is offline")]
    Offline,
    #[error("nothing was sent: {0}")]
    Team(TeamError),
    #[error("nothing was sent: {0}")]
    OverBudget(OverBudget),
    #[error("nothing was sent: the day of the budget is not known, because the counters could not be read: {0}")]
    DayUnknown(ServiceError),
    #[error("nothing was sent, because the ledger could not be written: {0}")]
    Ledger(StoreError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{error}{}", if cost.state == State::Reserved { "; the ledger could not be written" } else { "" })]
    Service { error: ServiceError, cost: Settlement, line: Option<String> },
    #[error("internal error: {0}")]
    Internal(String),
}

impl GatewayError {
    /// Returns the failure of a call that was cancelled or rejected before anything was sent.
    pub(super) fn unsent(error: ServiceError) -> Self {
        Self::Service { error, cost: Settlement::UNSENT, line: None }
    }

    /// Returns whether the service may have received the request, though no response confirms it.
    pub fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Service { error, .. } if error.may_have_arrived())
    }

    /// Returns whether the file to be sent is the cause.
    pub fn is_of_content(&self) -> bool {
        matches!(self, Self::Service { error: ServiceError::Unsendable(_), .. })
    }

    /// Returns the service's refusal of the request, if that is the cause.
    pub fn refusal(&self) -> Option<&ApiError> {
        match self {
            Self::Service { error: ServiceError::Refused(refusal), .. } => Some(refusal),
            _ => None,
        }
    }

    /// Returns the cost of the failed call.
    pub fn cost(&self) -> Settlement {
        match self {
            Self::Service { cost, .. } => *cost,
            Self::Internal(_) => Settlement::UNKNOWN,
            _ => Settlement::UNSENT,
        }
    }

    /// Advises the user, in a sentence or two; may be empty.
    pub fn advice(&self) -> String {
        match self {
            Self::Service { error, .. } => return error.advice(),
            Self::InFlight => "Wait for the response.",
            Self::Offline => "Leave --offline out, and `offline` in the config file.",
            Self::Ledger(_) | Self::Store(_) => "Check the disk's free space and the data folder's permissions.",
            Self::Team(TeamError::Damaged | TeamError::Unusable(_)) => "It has to be fetched again, at its price.",
            Self::Team(_) => "--set 'team.unreachable=go on' sends and pays without it.",
            Self::OverBudget(OverBudget { reserve: 1.., .. }) => "--incident spends what is reserved for incidents.",
            Self::OverBudget(OverBudget { span: BudgetPeriod::Group(_), .. }) => "`behaview team budget` shows it.",
            Self::OverBudget(_) => "`behaview config show` says what sets the budget.",
            _ => "",
        }
        .to_owned()
    }

    /// Returns whether nothing left this machine.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::Service { error, .. } => !error.may_be_charged(),
            error => error.cost().state == State::Unsent,
        }
    }

    /// Returns a bug of this program. Its message may quote a response, so it is escaped.
    pub fn bug(message: &impl std::fmt::Display) -> Self {
        Self::Internal(crate::text::Untrusted::from(message.to_string()).visible_cut(300).to_string())
    }
}
