//! Exit codes, so that a script can tell one failure from another.

use crate::config::ConfigError;
use crate::gate::GateError;
use crate::runtime::Unattended;
use crate::service::credential::CredentialError;
use crate::service::error::{Reason, ServiceError};
use crate::service::profile::ProfileError;
use crate::text::{self, Untrusted};
use std::io::Write;
use std::process::ExitCode;

/// A failure of a known kind.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub struct Failed {
    kind: Kind,
    words: String,
}

/// Kinds of failure; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anything that no other kind names.
    Other = 1,
    /// The command line or the config is wrong.
    Usage = 2,
    /// There is no key, or it is not accepted.
    Key = 3,
    /// The user is not entitled to it.
    Refused = 4,
    /// The service does not have it.
    NotFound = 5,
    /// The quota is spent.
    Quota = 6,
    /// Too many requests in a short time.
    Rate = 7,
    /// The service cannot be reached, or is not well.
    Network = 8,
    /// The answer is of no use.
    BadAnswer = 9,
    /// A plan takes more than is left, or may.
    DoesNotFit = 10,
    /// A call may cost more than the budget allows.
    OverBudget = 11,
}

impl Failed {
    /// The command line is wrong.
    #[must_use]
    pub fn usage(words: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, words: words.into() }
    }

    /// A document is no JSON, or holds no report.
    #[must_use]
    pub fn bad_answer(words: impl Into<String>) -> Self {
        Self { kind: Kind::BadAnswer, words: words.into() }
    }

    /// The user is not entitled to what was asked about.
    #[must_use]
    pub fn refused(words: impl Into<String>) -> Self {
        Self { kind: Kind::Refused, words: words.into() }
    }

    /// More is asked about than is left, or may be.
    #[must_use]
    pub fn does_not_fit(words: impl Into<String>) -> Self {
        Self { kind: Kind::DoesNotFit, words: words.into() }
    }
}

/// Says on standard error what went wrong, by way of the escaper, and gives the exit code.
pub(super) fn report(error: &anyhow::Error) -> ExitCode {
    let advice = match error.downcast_ref::<GateError>() {
        Some(GateError::Service { error, .. }) => format!(". {}", error.advice()),
        _ => String::new(),
    };
    let words = Untrusted::from(text::own(&format!("{error:#}{advice}")).as_ref()).visible();
    // Standard error that is closed leaves nobody to tell.
    let _ = writeln!(
        std::io::stderr(),
        "{}{words}",
        if words.as_str().starts_with("behaview") { "" } else { "behaview: " }
    );
    ExitCode::from(kind(error) as u8)
}

/// Says what clap says, line by line by way of the escaper: it quotes arguments, and those may be a file's name.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    let lines = text.lines().map(|line| format!("{}\n", Untrusted::from(line).visible()));
    let text = lines.collect::<String>();
    // Output that is closed leaves nobody to tell.
    let _ = if error.use_stderr() {
        std::io::stderr().write_all(text.as_bytes())
    } else {
        std::io::stdout().write_all(text.as_bytes())
    };
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn kind(error: &anyhow::Error) -> Kind {
    if let Some(failed) = error.downcast_ref::<Failed>() {
        return failed.kind;
    }
    let is_setup = error.is::<ConfigError>() || error.is::<ProfileError>() || error.is::<Unattended>();
    match error.downcast_ref::<GateError>() {
        Some(GateError::NotEntitled(_)) => Kind::Refused,
        Some(GateError::OverBudget(_)) => Kind::OverBudget,
        Some(GateError::Service { error, .. }) => kind_of_service(error),
        _ if error.is::<CredentialError>() => Kind::Key,
        _ if is_setup => Kind::Usage,
        _ => Kind::Other,
    }
}

fn kind_of_service(error: &ServiceError) -> Kind {
    match error {
        ServiceError::NoKey => Kind::Key,
        ServiceError::Unsendable(_) => Kind::Usage,
        ServiceError::Unreachable(_) | ServiceError::Lost(_) | ServiceError::TooLong(_) => Kind::Network,
        ServiceError::Unusable(_) => Kind::BadAnswer,
        ServiceError::Refused(refusal) => match refusal.reason {
            Reason::WrongKey => Kind::Key,
            Reason::Forbidden => Kind::Refused,
            Reason::NotFound => Kind::NotFound,
            Reason::QuotaSpent => Kind::Quota,
            Reason::TooFast => Kind::Rate,
            Reason::Down | Reason::Redirected => Kind::Network,
            Reason::Other => Kind::Other,
        },
    }
}
