//! CSV (RFC 4180): a line a value, which no program that opens it takes for a formula.

use super::noted::ExportNotes;
use super::opened::OpenedReport;
use super::{Job, Summary, attribute, indicators};
use crate::report::index::Form;
use crate::report::rows::records::{Step, leaves, pointer};
use crate::report::rules::Rule;
use crate::report::tree::Parents;
use crate::report::{Note, Place};
use crate::text::Untrusted;
use std::io::{self, Write};

/// What a program for tables takes for the start of a formula, wide and small forms among them.
const FORMULA: [char; 12] = [
    '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\u{fe66}', '\u{fe62}', '\u{fe63}', '\u{fe6b}',
];

/// A second separator: where the comma is a decimal sign, programs split cells at it, in quotes as well.
const SEPARATOR: char = ';';

/// The columns. A cell is as it is where all of its text is visible, else in its visible form. A cell that
/// would begin like a formula or with a `'` has a `'` before it, and so has a part behind a `;`: a reader
/// removes one at each of these places. Depth and parent (a row) are of processes; severity and rule are of
/// findings. A note on the whole report has a line of its own, as has one on an item that is gone.
const COLUMNS: [&str; 13] = [
    "origin",
    "report",
    "received",
    "pane",
    "attribute",
    "row",
    "depth",
    "parent",
    "path",
    "value",
    "severity",
    "rule",
    "note",
];

pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let is_indicators = job.what.is_indicators();
    line(out, if is_indicators { &indicators::COLUMNS[..] } else { &COLUMNS })?;
    job.each_report(Some(job.rules), |opened| {
        let (head, noted) = (provenance(opened), ExportNotes::of(opened)?);
        match is_indicators {
            true => indicators::csv(opened, &head, &noted, out),
            false => write_rows(opened, &head, &noted, out),
        }
    })
}

fn write_rows(
    opened: &OpenedReport<'_>,
    head: &[String],
    noted: &ExportNotes<'_>,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let (report, mut rows, mut parents) = (&opened.report, 0, Parents::default());
    for [attribute, value, note] in notes(noted) {
        let none = String::new;
        let own = [none(), attribute, none(), none(), none(), none(), value, none(), none(), note];
        line(out, head.iter().cloned().chain(own))?;
    }
    for (pane, place) in opened.places() {
        opened.go_on()?;
        let record = report.record(place);
        let (name, member) = attribute(report, place, &record);
        let ([depth, parent], [severity, rule]) = (standing(opened, place, &mut parents), marked(opened.rule(place)));
        let note = noted.at(place).map(|note| cell(&note.text)).unwrap_or_default();
        let member = member.map(Step::Member);
        let mut written = Ok(());
        leaves(&record.value, &mut |way, value| {
            // The first step leads to the value itself.
            let below = way.get(1..).unwrap_or_default();
            let path = pointer(member.iter().chain(below));
            let path = path.legible();
            let own = [
                pane.name().to_owned(),
                cell(&name),
                (place.row + 1).to_string(),
                depth.clone(),
                parent.clone(),
                safe(&path),
                cell(&value.text()),
                severity.clone(),
                rule.clone(),
                note.clone(),
            ];
            if written.is_ok() {
                written = line(out, head.iter().cloned().chain(own));
            }
        });
        written?;
        rows += 1;
    }
    Ok(rows)
}

/// How deep a process stands, and the row of its parent.
fn standing(opened: &OpenedReport<'_>, place: Place, parents: &mut Parents) -> [String; 2] {
    let section = opened.report.section(place.section).filter(|section| section.form == Form::Processes);
    let depths = section.map(|section| section.depths());
    let depth = depths.and_then(|depths| depths.get(place.row)).map(|depth| depth.to_string());
    let parent = depths.and_then(|depths| parents.of(place.row, depths)).map(|parent| (parent + 1).to_string());
    [depth.unwrap_or_default(), parent.unwrap_or_default()]
}

/// Severity and words of the rule that marks something.
pub(super) fn marked(rule: Option<&Rule>) -> [String; 2] {
    let words = rule.map(|rule| cell(&Untrusted::from(rule.words())));
    [rule.map(|rule| rule.severity.word().to_owned()).unwrap_or_default(), words.unwrap_or_default()]
}

/// Attribute, value and note of each note that is on no row.
pub(super) fn notes(noted: &ExportNotes<'_>) -> Vec<[String; 3]> {
    let line = |attribute: Option<&Untrusted>, value: Option<&Untrusted>, note: &Note| {
        let shown = |text: Option<&Untrusted>| text.map(cell).unwrap_or_default();
        [shown(attribute), shown(value), cell(&note.text)]
    };
    let lost = noted.lost.iter().map(|(item, note)| line(Some(&item.attribute), Some(&item.text), note));
    noted.whole.iter().map(|note| line(None, None, note)).chain(lost).collect()
}

/// The first cells of each line.
pub(super) fn provenance(opened: &OpenedReport<'_>) -> [String; 3] {
    let (source, identifier) = (opened.source, opened.identifier.as_ref());
    [
        cell(&Untrusted::from(source.origin.as_str())),
        identifier.map(|identifier| cell(identifier.text())).unwrap_or_default(),
        source.received.map(|received| received.to_string()).unwrap_or_default(),
    ]
}

/// A cell that holds text from outside.
pub(super) fn cell(text: &Untrusted) -> String {
    safe(&text.legible())
}

/// A cell that no program for tables takes for a formula.
pub fn safe(text: &str) -> String {
    let parts = text.split(SEPARATOR).enumerate().map(|(number, part)| {
        // Some programs skip blanks before a formula; quotes begin and end again behind a separator.
        let start = part.trim_start_matches(|c: char| c.is_whitespace() || number > 0 && c == '"');
        let sign = if start.starts_with(FORMULA) || start.starts_with('\'') { "'" } else { "" };
        format!("{sign}{part}")
    });
    parts.collect::<Vec<_>>().join(";")
}

/// One line: every cell in quotes.
pub fn line<T: AsRef<str>>(out: &mut dyn Write, cells: impl IntoIterator<Item = T>) -> io::Result<()> {
    let cells = cells.into_iter().map(|cell| format!("\"{}\"", cell.as_ref().replace('"', "\"\"")));
    write!(out, "{}\r\n", cells.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_begins_like_a_formula_wherever_a_program_takes_it_to_begin() {
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
