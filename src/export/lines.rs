//! JSON lines: a line a row, each with where it came from.

use super::noted::ExportNotes;
use super::opened::OpenedReport;
use super::{Job, Summary, attribute, indicators, literal, object, own_literal, rewritten};
use crate::report::index::Form;
use crate::report::rules::Rule;
use crate::report::tree::Parents;
use crate::report::{Note, Pane, Place};
use std::io::{self, Write};

/// A member of a line: its name, and its value as JSON where it has one.
pub(super) type Member = (&'static str, Option<String>);

/// Writes a line a row: `origin`, `report`, `received`, `pane`, `attribute`, `row` (from 1), `value`; of an
/// object's row its `member`, of a process its `depth` and the row of its `parent`; `severity` and `rule` where a rule marks it; its `note`. A note on the whole report is a line of its own, without `row`
/// and `value`, as is one on an `item` that the report no longer has. Where a string of a row is not
/// Unicode, `escaped` is true, and all strings of the value are in their visible form.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    job.each_report(Some(job.rules), |opened| {
        let (head, noted) = (provenance(opened), ExportNotes::of(opened)?);
        write_notes(&head, &noted, out)?;
        if job.what.is_indicators() {
            return indicators::lines(opened, &head, &noted, out);
        }
        let (mut rows, mut parents) = (0, Parents::default());
        for (pane, place) in opened.places() {
            opened.go_on()?;
            write_row((opened, &mut parents), &head, pane, place, noted.at(place), out)?;
            rows += 1;
        }
        Ok(rows)
    })
}

/// Where a report came from, as the first members of each line.
fn provenance(opened: &OpenedReport<'_>) -> Vec<Member> {
    vec![
        ("origin", Some(own_literal(&opened.source.origin))),
        ("report", opened.identifier.as_ref().map(|identifier| literal(identifier.text()))),
        ("received", opened.source.received.map(|received| own_literal(&received.to_string()))),
    ]
}

/// Severity and words of the rule that marks something, where one does.
pub(super) fn marked(rule: Option<&Rule>) -> [Member; 2] {
    let severity = rule.map(|rule| own_literal(rule.severity.word()));
    [("severity", severity), ("rule", rule.map(|rule| own_literal(&rule.words())))]
}

/// The lines of notes that are on no row.
fn write_notes(head: &[Member], noted: &ExportNotes<'_>, out: &mut dyn Write) -> io::Result<()> {
    let whole = noted.whole.map(|note| (None, note));
    let lost = noted.lost.iter().map(|(item, note)| (Some(*item), *note));
    for (item, note) in whole.into_iter().chain(lost) {
        let own = [
            ("attribute", item.map(|item| literal(&item.attribute))),
            ("item", item.map(|item| literal(&item.text))),
            ("note", Some(literal(&note.text))),
        ];
        writeln!(out, "{}", object(head.iter().cloned().chain(own)))?;
    }
    Ok(())
}

fn write_row(
    (opened, parents): (&OpenedReport<'_>, &mut Parents),
    head: &[Member],
    pane: Pane,
    place: Place,
    note: Option<&Note>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let report = &opened.report;
    let record = report.record(place);
    let (name, member) = attribute(report, place, &record);
    let (value, is_visible) = rewritten(&record.value);
    let processes = report.section(place.section).filter(|section| section.form == Form::Processes);
    let parent = processes.and_then(|section| parents.of(place.row, section.depths()));
    let own = [
        ("pane", Some(own_literal(pane.name()))),
        ("attribute", Some(literal(&name))),
        ("row", Some((place.row + 1).to_string())),
        ("member", member.as_ref().map(literal)),
        ("depth", processes.map(|_| record.depth.to_string())),
        ("parent", parent.map(|parent| (parent + 1).to_string())),
        ("escaped", is_visible.then(|| "true".to_owned())),
    ];
    let own = own.into_iter().chain(marked(opened.rule(place))).chain([("note", note.map(|note| literal(&note.text)))]);
    let line = object(head.iter().cloned().chain(own));
    out.write_all(line.strip_suffix('}').unwrap_or(&line).as_bytes())?;
    out.write_all(b",\"value\":")?;
    out.write_all(&value)?;
    out.write_all(b"}\n")
}
