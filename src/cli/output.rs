//! Standard output of the commands for scripts: raw bytes to a file or pipe, escaped on a terminal.

use super::*;
use crate::report::Index;
use crate::runtime::BlockedSignals;
use crate::text::{ColumnWidth, escaped_json, wrap};
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

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
