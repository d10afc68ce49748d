//! Writes CSV (RFC 4180), one line per value; no spreadsheet reads a cell as a formula.

use super::opened::{ExportRow, MergedReports, OpenedReport};
use super::{Export, Summary};
use crate::report::command_line;
use crate::report::indicators::MergedIndicator;
use crate::report::rows::{Step, leaves, pointer};
use crate::report::rules::Rule;
use crate::text::Untrusted;
use std::io::{self, Write};

/// Characters that begin a formula in a spreadsheet, including their full-width and small forms.
const FORMULA: [char; 12] = [
    '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\u{fe66}', '\u{fe62}', '\u{fe63}', '\u{fe6b}',
];

/// A second separator: in locales with a decimal comma, spreadsheets split even quoted cells at it.
const SEPARATOR: char = ';';

/// The columns of rows. A cell has the text itself if all of it is visible, else its visible form.
/// A `'` precedes a cell, or a part after a `;`, that begins like a formula or with a `'`; readers
/// remove it. Only processes have depth and parent (a row), only findings severity and rule.
/// `decoded` has texts hidden in command lines, between `;`; `perhaps_cut` is `yes` where the
/// service may have cut the list. Notes on the report or a lost item have their own lines.
const COLUMNS: &str =
    "origin,report,received,pane,attribute,row,depth,parent,path,value,severity,rule,note,decoded,perhaps_cut";

/// The columns of indicators; a note that is on no row has a line without a kind.
const INDICATOR_COLUMNS: &str = "origin,report,received,kind,value,to_block,sandboxes,seen,where,severity,rule,note";

pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    if job.what.is_indicators() {
        line(out, INDICATOR_COLUMNS.split(','))?;
        return job.each_indicator(out, |opened, out| write_loose(opened, INDICATOR_COLUMNS, out), write_indicator);
    }
    line(out, COLUMNS.split(','))?;
    job.each_report(|opened| {
        write_loose(opened, COLUMNS, out)?;
        let head = HEAD.map(|cell| cell(opened));
        opened.each_row(&mut |row| write_row(&row, &head, out))
    })
}

/// The first three cells of a line: origin, report and time of receipt.
const HEAD: [fn(&OpenedReport<'_>) -> String; 3] = [
    |opened| cell(&Untrusted::from(opened.source.origin.as_str())),
    |opened| opened.identifier.as_ref().map(|identifier| cell(identifier.text())).unwrap_or_default(),
    |opened| opened.source.received.map(|received| received.to_string()).unwrap_or_default(),
];

fn write_loose(opened: &OpenedReport<'_>, columns: &str, out: &mut dyn Write) -> io::Result<()> {
    let head = HEAD.map(|cell| cell(opened));
    opened.loose.iter().try_for_each(|note| {
        let item = note.about.item.as_ref();
        let own = columns.split(',').skip(head.len()).map(|column| match column {
            "attribute" | "where" => item.map(|item| cell(&item.attribute)).unwrap_or_default(),
            "value" => item.map(|item| cell(&item.text)).unwrap_or_default(),
            "note" => cell(&note.text),
            _ => String::new(),
        });
        line(out, head.iter().cloned().chain(own))
    })
}

fn write_row(row: &ExportRow<'_>, head: &[String], out: &mut dyn Write) -> io::Result<()> {
    let [severity, rule] = marked(row.rule);
    let note = row.note.map(|note| cell(&note.text)).unwrap_or_default();
    let member = row.member.clone().map(Step::Member);
    let mut written = Ok(());
    leaves(&row.record.value, &mut |way, value| {
        // The first step leads to the value itself.
        let path = pointer(member.iter().chain(way.iter().skip(1)));
        let text = value.text();
        let decoded = command_line::decoded(text.as_bytes()).into_iter().map(|text| text.legible().into_owned());
        let own = [
            row.pane.name().to_owned(),
            cell(&row.attribute),
            (row.place.row + 1).to_string(),
            row.depth.map(|depth| depth.to_string()).unwrap_or_default(),
            row.parent.map(|parent| (parent + 1).to_string()).unwrap_or_default(),
            cell(&path),
            cell(&text),
            severity.clone(),
            rule.clone(),
            note.clone(),
            safe(&decoded.collect::<Vec<_>>().join("; ")),
            if row.is_perhaps_cut { "yes" } else { "" }.to_owned(),
        ];
        if written.is_ok() {
            written = line(out, head.iter().cloned().chain(own));
        }
    });
    written
}

fn write_indicator(merged: &MergedReports<'_>, found: &MergedIndicator, out: &mut dyn Write) -> io::Result<()> {
    let head = HEAD.map(|cell| merged.each_word(found, cell));
    let [severity, rule] = marked(merged.rule_of(found));
    let notes = merged.notes_about(found).into_iter().map(|note| note.text.visible().to_string());
    let own = [
        found.kind().name().to_owned(),
        cell(found.value()),
        if found.is_to_block() { "yes" } else { "" }.to_owned(),
        safe(&merged.each_word(found, OpenedReport::sandbox)),
        found.seen().to_string(),
        safe(&merged.seen_in(found)),
        severity,
        rule,
        safe(&notes.collect::<Vec<_>>().join("; ")),
    ];
    line(out, head.into_iter().chain(own))
}

/// Severity and label of a rule; empty without one.
fn marked(rule: Option<&Rule>) -> [String; 2] {
    let label = rule.map(|rule| cell(&Untrusted::from(rule.label())));
    [rule.map(|rule| rule.severity.name().to_owned()).unwrap_or_default(), label.unwrap_or_default()]
}

pub(crate) fn cell(text: &Untrusted) -> String {
    safe(&text.legible())
}

/// Returns a cell that no spreadsheet reads as a formula.
pub fn safe(text: &str) -> String {
    let parts = text.split(SEPARATOR).enumerate().map(|(number, part)| {
        // Some programs skip blanks before a formula; quotes start again after a separator.
        let start = part.trim_start_matches(|c: char| c.is_whitespace() || number > 0 && c == '"');
        let sign = if start.starts_with(FORMULA) || start.starts_with('\'') { "'" } else { "" };
        format!("{sign}{part}")
    });
    parts.collect::<Vec<_>>().join(";")
}

/// Writes one line, with every cell in quotes.
pub fn line<T: AsRef<str>>(out: &mut dyn Write, cells: impl IntoIterator<Item = T>) -> io::Result<()> {
    let cells = cells.into_iter().map(|cell| format!("\"{}\"", cell.as_ref().replace('"', "\"\"")));
    write!(out, "{}\r\n", cells.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_starts_are_escaped_in_every_cell() {
        for (text, cell) in [
            ("=1", "'=1"),
            (" \u{fe66}1", "' \u{fe66}1"),
            ("'x", "''x"),
            ("a;=1;b", "a;'=1;b"),
            ("a; \"=1;-2", "a;' \"=1;'-2"),
            ("a;'b", "a;''b"),
            ("a;b; c=1", "a;b; c=1"),
        ] {
            assert_eq!(safe(text), cell);
        }
    }
}
