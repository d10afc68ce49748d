//! Exit codes, so that a script can tell one failure from another.

use super::output::Output;
use crate::config::ConfigError;
use crate::gate::GateError;
use crate::log::{Level, LineId, Log};
use crate::report::page::PageError;
use crate::runtime::{Exit, Unattended};
use crate::service::credential::CredentialError;
use crate::service::error::{Reason, ServiceError};
use crate::service::profile::ProfileError;
use crate::text::{self, Untrusted};
use std::io::{self, Write};
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
pub(super) enum Kind {
    /// Anything that no other kind names.
    Other = 1,
    /// The command line, or a variable that stands for a part of it, is wrong.
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
    /// Some of what was asked for is there, and some is not.
    Partial = 12,
    /// It is not held, and nothing is to be sent.
    NotHeld = 13,
    /// The config is wrong.
    Config = 14,
}

/// What each exit code means; help, man page and README are made from this.
const MEANINGS: [(Kind, &str); 14] = [
    (Kind::Other, "something else went wrong"),
    (Kind::Usage, "the command line is wrong, or there is no terminal"),
    (Kind::Key, "no key, or it is not accepted"),
    (Kind::Refused, "not entitled"),
    (Kind::NotFound, "not found, or not any more"),
    (Kind::Quota, "quota spent"),
    (Kind::Rate, "too many requests in a short time"),
    (Kind::Network, "network, or the service is not well"),
    (Kind::BadAnswer, "an answer or a document that is of no use"),
    (Kind::DoesNotFit, "cost with balances: it does not fit now, or not for certain"),
    (Kind::OverBudget, "over the budget, of --max-cost or of the config; nothing was sent"),
    (Kind::Partial, "some of several are there, others not; each failure is told by itself"),
    (Kind::NotHeld, "not held, and nothing is sent (--offline)"),
    (Kind::Config, "the config is wrong; behaview config check says where"),
];

/// Every exit code with its meaning.
pub fn exit_codes() -> impl Iterator<Item = (u8, &'static str)> {
    std::iter::once((0, "done")).chain(MEANINGS.iter().map(|(kind, words)| (*kind as u8, *words)))
}

impl Failed {
    /// The command line is wrong.
    pub fn usage(words: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, words: words.into() }
    }

    /// A document is no JSON, or holds no report.
    pub fn bad_answer(words: impl Into<String>) -> Self {
        Self { kind: Kind::BadAnswer, words: words.into() }
    }

    /// What was asked for is not there.
    pub fn not_found(words: impl Into<String>) -> Self {
        Self { kind: Kind::NotFound, words: words.into() }
    }

    /// The user is not entitled to what was asked about.
    pub fn refused(words: impl Into<String>) -> Self {
        Self { kind: Kind::Refused, words: words.into() }
    }

    /// Some of several are there.
    pub fn partial(words: impl Into<String>) -> Self {
        Self { kind: Kind::Partial, words: words.into() }
    }

    /// The config is wrong.
    pub fn config(words: impl Into<String>) -> Self {
        Self { kind: Kind::Config, words: words.into() }
    }

    /// A call may cost more than the budget allows.
    pub fn over_budget(words: impl Into<String>) -> Self {
        Self { kind: Kind::OverBudget, words: words.into() }
    }

    /// None of several is there: a failure of the kind of one of them.
    pub fn like(error: &anyhow::Error, words: impl Into<String>) -> Self {
        Self { kind: kind(error), words: words.into() }
    }

    /// A failure of a kind that was found before.
    pub(super) fn of(kind: Kind, words: impl Into<String>) -> Self {
        Self { kind, words: words.into() }
    }

    /// More is asked about than is left, or may be.
    pub fn does_not_fit(words: impl Into<String>) -> Self {
        Self { kind: Kind::DoesNotFit, words: words.into() }
    }
}

/// The system ended the app: the shell is told of it as of any program that a signal ended.
#[derive(Debug, thiserror::Error)]
#[error("ended by signal {0}")]
struct Signalled(u8);

/// Ctrl-c where the terminal hands it over as a key: the shell is told of it as of a signal.
pub(super) fn interrupted() -> anyhow::Error {
    Signalled(2).into()
}

/// What the end of the app is to the shell.
pub(super) fn of_app(exit: Exit) -> anyhow::Result<()> {
    match exit {
        Exit::Signal(number) => Err(Signalled(number).into()),
        Exit::Done | Exit::Demo => Ok(()),
    }
}

/// Says on standard error what went wrong, and gives the exit code.
pub(super) fn report(error: &anyhow::Error, log: &Log) -> ExitCode {
    if let Some(Signalled(number)) = error.downcast_ref() {
        return ExitCode::from(128_u8.saturating_add(*number));
    }
    say(error, log);
    ExitCode::from(kind(error) as u8)
}

/// Says on standard error what went wrong, by way of the escaper, with the line of the log where that tells more.
pub(super) fn say(error: &anyhow::Error, log: &Log) {
    let advice = advice(error).map(|advice| format!(". {advice}")).unwrap_or_default();
    let line = logged(error, log).map(|line| format!(" [log {line}]")).unwrap_or_default();
    let causes: Vec<_> = error.chain().map(told).collect();
    let words = format!("{}{advice}{line}", causes.join(": "));
    let words = text::own(&words);
    // Standard error that is closed leaves nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}{words}", if words.starts_with("behaview") { "" } else { "behaview: " });
}

/// Logs a failure, and gives the line that helps to find its cause: that of the call that failed, or of what nobody foresaw. Of what
/// was answered, if only by a no, the log knows no more than was said.
fn logged(error: &anyhow::Error, log: &Log) -> Option<LineId> {
    let kind = kind(error);
    let line = match error.downcast_ref::<GateError>() {
        // Nothing was sent, and nothing else went wrong.
        Some(GateError::Service { error: ServiceError::NoKey, .. }) => None,
        Some(GateError::Service { line: Some(line), .. }) => Some(line.clone()),
        _ if kind == Kind::DoesNotFit => None,
        _ => {
            let line = log.write(Level::Error, "failed", &[("why", &format!("{error:#}"))]);
            line.filter(|_| kind == Kind::Other)
        }
    };
    line.filter(|_| kind != Kind::NotFound)
}

/// An error's words: what they quote has been escaped already where it was put in, and is not once more.
fn told(cause: &(dyn std::error::Error + 'static)) -> String {
    text::said(cause.to_string()).to_string()
}

/// What to do about a failure of the service's.
pub(super) fn advice(error: &anyhow::Error) -> Option<String> {
    error.downcast_ref::<GateError>().map(GateError::advice).filter(|advice| !advice.is_empty())
}

/// Whether a failure says something of what was asked for alone, so that the next may be there.
pub(super) fn is_of_one(error: &anyhow::Error) -> bool {
    matches!(kind(error), Kind::NotFound | Kind::NotHeld | Kind::BadAnswer | Kind::Partial)
}

/// Says what clap says, line by line by way of the escaper: it quotes arguments, and those may be a file's name.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    let lines = text.lines().map(|line| format!("{}\n", Untrusted::from(line).visible()));
    let text = lines.collect::<String>();
    if error.use_stderr() {
        // Standard error that is closed leaves nobody to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
    } else if let Err(error) = Output::new(false).print(text.as_bytes()) {
        return report(&error, &Log::default());
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Of which kind a failure is.
pub(super) fn kind(error: &anyhow::Error) -> Kind {
    if let Some(failed) = error.downcast_ref::<Failed>() {
        return failed.kind;
    }
    if let Some(config) = error.downcast_ref::<ConfigError>() {
        return kind_of_config(config);
    }
    match error.downcast_ref::<GateError>() {
        Some(GateError::NotEntitled(_)) => Kind::Refused,
        Some(GateError::NamesKey) => Kind::Usage,
        Some(GateError::OverBudget(_)) => Kind::OverBudget,
        Some(GateError::Offline) => Kind::NotHeld,
        Some(GateError::Service { error, .. }) => kind_of_service(error),
        _ if error.is::<CredentialError>() => Kind::Key,
        _ if error.is::<ProfileError>() => Kind::Config,
        _ if error.is::<Unattended>() => Kind::Usage,
        _ if error.is::<PageError>() || is_damaged(error) => Kind::BadAnswer,
        _ => Kind::Other,
    }
}

/// Whether a file is not what was written there.
pub(super) fn is_damaged(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<io::Error>(), Some(why) if why.kind() == io::ErrorKind::InvalidData)
}

fn kind_of_config(error: &ConfigError) -> Kind {
    match error {
        ConfigError::NoHome
        | ConfigError::Missing(_)
        | ConfigError::Dangling(_)
        | ConfigError::Unreadable { .. }
        | ConfigError::Invalid { .. }
        | ConfigError::Exposed(_)
        | ConfigError::KeyAsName => Kind::Config,
        // What is wrong came from the command line or a variable.
        ConfigError::Override(..)
        | ConfigError::UnknownSetting(..)
        | ConfigError::SecretFlag(_)
        | ConfigError::UnknownProfile(..) => Kind::Usage,
    }
}

fn kind_of_service(error: &ServiceError) -> Kind {
    match error {
        ServiceError::NoKey => Kind::Key,
        ServiceError::Unsendable(_) | ServiceError::LongAddress | ServiceError::Unfinished(_) => Kind::Usage,
        ServiceError::ForeignUpload(_) | ServiceError::KeyInAddress => Kind::BadAnswer,
        ServiceError::Unreachable(_)
        | ServiceError::Untrusted(_)
        | ServiceError::Lost(_)
        | ServiceError::GivenUp
        | ServiceError::Unsent
        | ServiceError::TooLong(_) => Kind::Network,
        ServiceError::Unkept(_) => Kind::Other,
        ServiceError::Unusable(_) => Kind::BadAnswer,
        ServiceError::Refused(refusal) => match refusal.reason {
            Reason::WrongKey => Kind::Key,
            Reason::Forbidden => Kind::Refused,
            Reason::WrongPassword | Reason::TooLarge => Kind::Usage,
            Reason::NotFound => Kind::NotFound,
            Reason::QuotaSpent => Kind::Quota,
            Reason::TooFast => Kind::Rate,
            Reason::Down | Reason::Redirected => Kind::Network,
            Reason::Other => Kind::Other,
        },
    }
}
