//! Standard output of the commands for scripts: raw bytes to a file or pipe, escaped on a terminal.

use crate::report::{Body, Index};
use crate::text::{Untrusted, escaped_json};
use serde::Serialize;
use std::fmt;
use std::io::{IsTerminal, Write};
use unicode_width::UnicodeWidthChar;

/// Prints a value of this program as JSON.
pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print_lines(escaped_json(&serde_json::to_string_pretty(value)?).as_bytes())
}

/// Prints a value of this program as one line of JSON.
pub(super) fn print_json_line(value: &impl Serialize) -> anyhow::Result<()> {
    print_lines(json_line(value)?.as_bytes())
}

/// A value of this program as one line of JSON.
pub(super) fn json_line(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(escaped_json(&serde_json::to_string(value)?))
}

/// Prints text of this program whose untrusted parts are escaped already.
pub(super) fn print_text(text: &str) -> anyhow::Result<()> {
    Output::new(false).print(crate::text::own(text).as_bytes())
}

/// Prints a report as received, in the service's envelope (specification §2.1) whether or not it
/// had one.
pub(super) fn print_report(body: &Body) -> anyhow::Result<()> {
    let index = Index::of(body);
    let (mut out, is_bare) = (Output::new(true), !index.is_enveloped);
    if is_bare {
        out.print(b"{\"data\":")?;
    }
    out.print(&without_mark(body))?;
    out.print(if is_bare { b"}\n" } else { b"\n" })?;
    if index.is_cut {
        fail!(BadAnswer, "the report stops in the middle: what came of it was printed");
    }
    Ok(())
}

/// A document without the byte order mark that some tools prepend.
pub(super) fn without_mark(body: &Body) -> Body {
    let mark = if body.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    body.slice(mark..body.len())
}

/// Prints a response as received.
pub(super) fn print_body(body: &Body) -> anyhow::Result<()> {
    let mut out = Output::new(true);
    out.print(body)?;
    out.print(b"\n")
}

/// Prints lines that contain untrusted text.
pub(super) fn print_lines(bytes: &[u8]) -> anyhow::Result<()> {
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

    pub(super) fn print(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self.write_all(bytes).and_then(|()| self.flush()) {
            // A reader that closes the pipe early is not a failure.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
            other => Ok(other?),
        }
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

/// The space between two columns.
const GAP: &str = "  ";

/// Rows of cells, each column as wide as its widest cell. The text of cells is escaped already.
pub(super) struct Table {
    /// Columns that are aligned to the right, such as numbers.
    right: &'static [usize],
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading; `right` has the indexes of columns with numbers.
    pub(super) fn new(heading: &[&str], right: &'static [usize]) -> Self {
        let heading = heading.iter().map(|cell| (*cell).to_owned()).collect();
        Self { right, rows: vec![heading] }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| self.rows.iter().filter_map(|row| Some(width(row.get(column)?))).max();
        let widths: Vec<_> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
        for row in &self.rows {
            let padded = row.iter().zip(&widths).enumerate().map(|(column, (cell, wide))| {
                let blanks = " ".repeat(wide.saturating_sub(width(cell)));
                if self.right.contains(&column) { blanks + cell } else { format!("{cell}{blanks}") }
            });
            writeln!(f, "{}", padded.collect::<Vec<_>>().join(GAP).trim_end())?;
        }
        Ok(())
    }
}

fn width(cell: &str) -> usize {
    cell.chars().filter_map(UnicodeWidthChar::width).sum()
}
