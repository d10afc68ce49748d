//! Exit codes, by which scripts distinguish kinds of failure.

use super::*;
use crate::config::ConfigError;
use crate::log::Level;
use crate::report::page::PageError;
use crate::runtime::RunExit;
use crate::service::credential::CredentialError;
use crate::service::error::{ApiErrorKind, InvalidResponse, ServiceError};
use crate::service::profile::ProfileError;
use crate::team::TeamError;
use std::io::{self, Write};

/// Returns from the calling function with a failure of this kind and a [`format!`] message.
macro_rules! fail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::cli::exit::FailureKind::$kind.error(format!($($message)+)).into())
    };
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct CliError {
    kind: FailureKind,
    message: String,
}

/// Declares the kinds of failure, each with its exit code and the meaning shown in help and manual.
macro_rules! failure_kinds {
    ($($kind:ident = $code:literal, $meaning:literal;)+) => {
        /// Kinds of failure; the number is the exit code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum FailureKind { $($kind = $code,)+ }

        pub fn exit_codes() -> impl Iterator<Item = (u8, &'static str)> {
            [(0, "done"), $(($code, $meaning)),+].into_iter()
        }
    };
}

failure_kinds! {
    Other = 1, "any other error";
    Usage = 2, "invalid command line, or no terminal";
    Key = 3, "no API key, or it is rejected";
    Refused = 4, "not entitled";
    NotFound = 5, "not found, or no longer available";
    Quota = 6, "quota spent, or used up to quota --warn-at";
    Rate = 7, "too many requests in a short time";
    Network = 8, "network error, or the service is unavailable";
    Malformed = 9, "invalid response or document";
    DoesNotFit = 10, "cost with balances: it does not fit now, or not for certain";
    OverBudget = 11, "over the budget, of --max-cost, the config or the group; nothing was sent";
    Partial = 12, "partial result; each failure has its message";
    NotStored = 13, "not stored, and nothing is sent (--offline)";
    Config = 14, "invalid config; behaview config check names each mistake";
}

impl FailureKind {
    pub(super) fn error(self, message: impl Into<String>) -> CliError {
        CliError { kind: self, message: message.into() }
    }
}

/// The app was ended by a signal; the exit code has its number, as in shells.
#[derive(Debug, thiserror::Error)]
#[error("ended by signal {0}")]
pub(super) struct SignalExit(pub(super) u8);

/// Converts the end of the app to a result, which determines the exit code.
pub(super) fn app_result(exit: RunExit) -> Result<()> {
    match exit {
        RunExit::Signal(number) => Err(SignalExit(number).into()),
        RunExit::Done | RunExit::Demo => Ok(()),
    }
}

/// Prints an error on standard error and returns its exit code.
pub(super) fn report(error: &anyhow::Error, log: &Log) -> ExitCode {
    if let Some(SignalExit(number)) = error.downcast_ref() {
        return ExitCode::from(128_u8.saturating_add(*number));
    }
    if let Some(error) = error.downcast_ref() {
        return usage(error);
    }
    print_error(error, log);
    ExitCode::from(kind_of(error) as u8)
}

/// Prints an escaped failure on standard error, with the id of its log line if that says more.
pub(super) fn print_error(error: &anyhow::Error, log: &Log) {
    let advice = advice(error).map(|advice| format!(". {advice}")).unwrap_or_default();
    let line = logged(error, log).map(|line| format!(" [log {line}]")).unwrap_or_default();
    // Quoted parts were escaped when they were inserted, and are not escaped twice.
    let causes: Vec<_> = error.chain().map(|cause| text::to_visible(cause.to_string()).to_string()).collect();
    warn(text::own(&format!("{}{advice}{line}", causes.join(": "))));
}

/// Logs a failure, and returns the line that helps to find its cause: that of the failed call, or
/// of an internal error. For a refusal the log contains no more than the message.
fn logged(error: &anyhow::Error, log: &Log) -> Option<String> {
    let kind = kind_of(error);
    match error.downcast_ref::<GatewayError>() {
        // Nothing was sent, and nothing else failed.
        Some(GatewayError::Service { error: ServiceError::NoApiKey(_), .. }) => None,
        Some(GatewayError::Service { line: Some(line), .. }) => (kind != FailureKind::NotFound).then(|| line.clone()),
        _ if kind == FailureKind::DoesNotFit => None,
        _ => {
            // The message may name a file.
            let why = if log.is_terse() { format!("{kind:?}") } else { format!("{error:#}") };
            let line = log.write(Level::Error, "failed", &[("why", &why)]);
            line.filter(|_| kind == FailureKind::Other)
        }
    }
}

pub(super) fn advice(error: &anyhow::Error) -> Option<String> {
    error.downcast_ref::<GatewayError>().map(GatewayError::advice).filter(|advice| !advice.is_empty())
}

/// Returns whether a failure concerns one subject, so that the next may succeed. A web page in
/// place of a response, such as a login page, would be repeated.
pub(super) fn is_item_error(error: &anyhow::Error) -> bool {
    if let Some(GatewayError::Service { error: ServiceError::Unusable(InvalidResponse::WebPage), .. }) =
        error.downcast_ref()
    {
        return false;
    }
    let kind = kind_of(error);
    matches!(kind, FailureKind::NotFound | FailureKind::NotStored | FailureKind::Malformed | FailureKind::Partial)
}

/// Prints clap's message, escaped line by line: it quotes arguments, which may be file names.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let text = masked(&error.to_string());
    let text = text.lines().map(|line| format!("{}\n", Untrusted::from(line.trim_end()).visible())).collect::<String>();
    if error.use_stderr() {
        // clap wraps its help, and no list of values. Standard error may be closed.
        let _ = std::io::stderr().write_all(wrapped(&text).as_bytes());
    } else if let Err(error) = Output::new(false).print(text.as_bytes()) {
        return report(&error, &Log::default());
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

pub(super) fn kind_of(error: &anyhow::Error) -> FailureKind {
    if let Some(failed) = error.downcast_ref::<CliError>() {
        return failed.kind;
    }
    match error.downcast_ref::<ConfigError>() {
        // The mistake is on the command line or in a variable.
        Some(
            ConfigError::Override(..)
            | ConfigError::UnknownSetting(..)
            | ConfigError::SecretFlag(_)
            | ConfigError::UnknownProfile(..),
        ) => return FailureKind::Usage,
        Some(_) => return FailureKind::Config,
        None => {}
    }
    match error.downcast_ref::<GatewayError>() {
        Some(GatewayError::NotEntitled(_)) => FailureKind::Refused,
        Some(GatewayError::NamesKey) => FailureKind::Usage,
        Some(GatewayError::OverBudget(_)) => FailureKind::OverBudget,
        Some(GatewayError::Offline) => FailureKind::NotStored,
        Some(GatewayError::Team(error)) => kind_of_team(error),
        Some(GatewayError::Service { error, .. }) => kind_of_service(error),
        _ if error.is::<TeamError>() => error.downcast_ref().map_or(FailureKind::Other, kind_of_team),
        _ if error.is::<CredentialError>() => FailureKind::Key,
        _ if error.is::<ProfileError>() => FailureKind::Config,
        _ if error.is::<PageError>() => FailureKind::Malformed,
        // A damaged file.
        _ if error.downcast_ref::<io::Error>().is_some_and(|why| why.kind() == io::ErrorKind::InvalidData) => {
            FailureKind::Malformed
        }
        _ => FailureKind::Other,
    }
}

pub(super) fn kind_of_team(error: &TeamError) -> FailureKind {
    match error {
        TeamError::Address(_) | TeamError::Exposed(_) => FailureKind::Config,
        TeamError::Unreachable(_) => FailureKind::Network,
        TeamError::Rejected(_) | TeamError::Denied(_) => FailureKind::Refused,
        TeamError::NoSchema | TeamError::Newer(_) | TeamError::Failed(_) => FailureKind::Other,
        TeamError::Damaged | TeamError::Unusable(_) | TeamError::TooLarge => FailureKind::Malformed,
    }
}

fn kind_of_service(error: &ServiceError) -> FailureKind {
    match error {
        ServiceError::NoApiKey(_) => FailureKind::Key,
        ServiceError::Unsendable(_) => FailureKind::Usage,
        ServiceError::ForeignUpload(_) => FailureKind::Malformed,
        ServiceError::Unreachable(_)
        | ServiceError::Untrusted(_)
        | ServiceError::Lost(_)
        | ServiceError::Cancelled
        | ServiceError::Unsent
        | ServiceError::TooLong(_) => FailureKind::Network,
        ServiceError::Unusable(_) => FailureKind::Malformed,
        ServiceError::Refused(refusal) => match refusal.reason {
            ApiErrorKind::WrongKey => FailureKind::Key,
            ApiErrorKind::Forbidden => FailureKind::Refused,
            ApiErrorKind::WrongPassword | ApiErrorKind::TooLarge => FailureKind::Usage,
            ApiErrorKind::NotFound => FailureKind::NotFound,
            ApiErrorKind::QuotaSpent => FailureKind::Quota,
            ApiErrorKind::TooFast => FailureKind::Rate,
            ApiErrorKind::Down | ApiErrorKind::Redirected => FailureKind::Network,
            ApiErrorKind::Other => FailureKind::Other,
        },
    }
}
