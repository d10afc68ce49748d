//! Standard output of the commands for scripts: raw bytes to a file or pipe, escaped on a terminal.

use crate::report::{Body, Index};
use crate::text::{self, Untrusted, escaped_json, said};
use anyhow::Result;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use unicode_width::UnicodeWidthChar;

/// Prints a command's result: JSON for programs, or text for people.
pub(super) fn print(as_json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
    if as_json { print_json(value) } else { print_text(&text()) }
}

pub(super) fn print_json(value: &impl Serialize) -> Result<()> {
    print_body(escaped_json(&serde_json::to_string_pretty(value)?).as_bytes())
}

pub(super) fn json_line(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(escaped_json(&serde_json::to_string(value)?))
}

/// Prints text of this program whose untrusted parts are escaped already.
pub(super) fn print_text(text: &str) -> Result<()> {
    Output::new(false).print(text::own(text).as_bytes())
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
        fail!(BadAnswer, "the report stops in the middle; its beginning was printed");
    }
    Ok(())
}

/// A document without the byte order mark that some tools prepend.
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

/// The result of printing; a reader that closes the pipe early is not a failure, and ends the program.
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

/// Text from outside in its visible form.
pub(super) fn visible(text: &str) -> String {
    Untrusted::from(text).visible().into()
}

/// A table as text; columns whose heading begins with `>` are aligned to the right. Cells are escaped already.
pub(super) fn table<const N: usize>(heading: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    table_within(usize::MAX, [usize::MAX; N], heading, rows)
}

/// The table in `room` columns of the terminal: what exceeds the `least` width of its column most is cut first.
pub(super) fn table_within<const N: usize>(
    room: usize,
    least: [usize; N],
    heading: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let is_right = heading.map(|cell| cell.starts_with('>'));
    let heading = heading.map(|cell| cell.trim_start_matches('>').to_owned());
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    let width = |cell: &String| cell.chars().filter_map(UnicodeWidthChar::width).sum::<usize>();
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column).map(width)).max().unwrap_or(0);
    let mut widths: [usize; N] = std::array::from_fn(widest);
    while widths.iter().sum::<usize>() + 2 * N.saturating_sub(1) > room {
        let shrinking = widths.iter_mut().zip(least).filter(|(wide, least)| **wide > *least);
        let Some((wide, _)) = shrinking.max_by_key(|(wide, least)| **wide - least) else { break };
        *wide -= 1;
    }
    let line = |row: &[String; N]| {
        let padded = row.iter().zip(widths).zip(is_right).map(|((cell, wide), is_right)| {
            let cell = if width(cell) > wide { said(cell).cut(wide).to_string() } else { cell.clone() };
            let blanks = " ".repeat(wide.saturating_sub(width(&cell)));
            if is_right { blanks + &cell } else { cell + &blanks }
        });
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
