//! What a command gives back: standard output, raw to a file or pipe and escaped on a terminal; and
//! exit codes, by which scripts distinguish kinds of failure.

use super::*;
use crate::config::ConfigError;
use crate::log::Level;
use crate::report::Index;
use crate::report::page::PageError;
use crate::runtime::{BlockedSignals, RunExit};
use crate::service::credential::CredentialError;
use crate::service::error::{ApiErrorKind, InvalidResponse, ServiceError};
use crate::service::profile::ProfileError;
use crate::team::TeamError;
use crate::text::{ColumnWidth, escaped_json, wrap};
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

/// Returns from the calling function with a failure of this kind and a [`format!`] message.
macro_rules! fail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::cli::output::FailureKind::$kind.error(format!($($message)+)).into())
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

/// Prints a command's result: JSON for programs, or text for people.
pub(super) fn print(as_json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
    if as_json { print_json(value) } else { print_text(&wrapped(&text())) }
}

pub(super) fn print_json(value: &impl Serialize) -> Result<()> {
    print_body(escaped_json(&serde_json::to_string_pretty(value)?, false).as_bytes())
}

pub(super) fn json_line(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(escaped_json(&serde_json::to_string(value)?, false))
}

/// Prints text of this program whose untrusted parts are escaped already.
pub(super) fn print_text(text: &str) -> Result<()> {
    Output::new(false).print(text::own(text).as_bytes())
}

/// Shows a text of this program by the user's pager, if standard output is a terminal.
pub(super) fn page_text(text: &str, is_plain: bool) -> Result<()> {
    let is_simple = is_plain || variable("TERM").is_some_and(|term| term == "dumb");
    if is_simple || !std::io::stdout().is_terminal() {
        return print_text(text);
    }
    // As git starts it: colours, no screen of its own, an end without a key if the text fits.
    let pager = variable("PAGER").unwrap_or_else(|| "less -FRX".to_owned());
    let mut words = pager.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    // Ctrl-C belongs to the pager; this program ends with it anyway.
    BlockedSignals::begin()?;
    let Ok(mut child) = command.args(words).stdin(Stdio::piped()).spawn() else { return print_text(text) };
    // A pager that was left before its end is no failure.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(text::own(text).as_bytes()));
    child.wait()?;
    Ok(())
}

/// Prints a report as received, always in the service's envelope (specification §2.1).
pub(super) fn print_report(body: &Body) -> Result<()> {
    let index = Index::of(body);
    let (before, behind) = if index.is_enveloped { ("", "\n") } else { ("{\"data\":", "}\n") };
    let mut out = Output::new(true);
    out.print(before.as_bytes())?;
    out.print(&without_mark(body))?;
    out.print(behind.as_bytes())?;
    if index.is_cut {
        fail!(Malformed, "the report stops in the middle; its beginning was printed");
    }
    Ok(())
}

/// Returns a document without the byte order mark that some tools prepend.
pub(super) fn without_mark(body: &Body) -> Body {
    let mark = if body.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    body.slice(mark..body.len())
}

/// Prints lines that contain untrusted text, such as a response as received.
pub(super) fn print_body(bytes: &[u8]) -> Result<()> {
    let mut out = Output::new(true);
    out.print(bytes)?;
    out.print(b"\n")
}

/// Standard output: raw bytes to a file or pipe, escaped on a terminal.
pub(super) struct Output {
    is_escaped: bool,
}

impl Output {
    /// Standard output; text that is safe already needs no escaping.
    pub(super) fn new(needs_escaping: bool) -> Self {
        Self { is_escaped: needs_escaping && std::io::stdout().is_terminal() }
    }

    pub(super) fn print(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(or_end(self.write_all(bytes).and_then(|()| self.flush()))?)
    }
}

/// Ends the program if a reader closes the pipe early, which is not a failure.
pub(super) fn or_end<T>(printed: std::io::Result<T>) -> std::io::Result<T> {
    match printed {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other,
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = std::io::stdout().lock();
        if self.is_escaped {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            lines.map(escaped).try_for_each(|line| out.write_all(line.as_bytes()))?;
        } else {
            out.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().lock().flush()
    }
}

fn escaped(line: &[u8]) -> String {
    let end = if line.ends_with(b"\n") { "\n" } else { "" };
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    // Blanks at the end of a line are not at the end of a value.
    let blanks = line.iter().rev().take_while(|byte| **byte == b' ').count();
    let text = line.get(..line.len() - blanks).unwrap_or_default();
    format!("{}{:blanks$}{end}", Untrusted::from(text).visible(), "")
}

pub(super) fn visible(text: &str) -> String {
    Untrusted::from(text).visible().into()
}

/// Returns columns of the terminal; `None` without a terminal, or if its size is unknown.
pub(super) fn room() -> Option<usize> {
    runtime::terminal_size().map(|(columns, _)| columns.into()).filter(|columns| *columns > 0)
}

/// Wraps lines that are wider than the terminal, with their indent; a line with a wider word stays.
pub(super) fn wrapped(text: &str) -> String {
    let room = room().unwrap_or(usize::MAX);
    let line = |line: &str| {
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        let longest = words.split(' ').map(ColumnWidth::columns).max();
        match line.columns() > room && longest.is_some_and(|longest| indent + longest <= room) {
            true => wrap(words, room - indent).iter().map(|row| format!("{:indent$}{row}\n", "")).collect(),
            false => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// Formats a table as text, as wide as the terminal; [`text::table`] has the signs of the heading.
pub(super) fn table<const N: usize>(heading: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let rows = rows.into_iter().map(Vec::from).collect();
    let (table, left_out) = text::table(&heading, rows, room().unwrap_or(usize::MAX));
    let left_out = (!left_out.is_empty()).then(|| format!("(no room for: {}; --json has it)\n", left_out.join(", ")));
    table + &left_out.unwrap_or_default()
}
