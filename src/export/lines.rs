//! JSON lines: a line a row, each with where it came from.

use super::noted::Noted;
use super::{Job, Source, Summary, attribute, indicators, json, literal, object, own_literal};
use crate::report::index::Form;
use crate::report::{Note, Pane, Place, Report};
use std::io::{self, Write};

/// Writes a line a row: `origin`, `report`, `received`, `pane`, `attribute`, `row` counted from 1, `value`; of an object's row
/// its `member`, of a process its `depth`; the `note` on it. A note on the report as a whole is a line of its own, without `row`
/// and `value`, and so is one on what the report does not have any more, which is its `item`. Where a string of a row is no
/// Unicode, `escaped` is true, and all strings of the value stand in their visible form.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    for source in job.sources {
        let report = source.open()?;
        summary.add_report(&report);
        if job.what.is_indicators() {
            summary.rows += indicators::lines(job, source, &report, out)?;
            continue;
        }
        let (head, noted) = (provenance(source, &report), Noted::of(job, source, &report)?);
        write_notes(&head, &noted, out)?;
        for (pane, place) in job.places(&report) {
            job.go_on()?;
            write_row(&report, &head, pane, place, noted.at(place), out)?;
            summary.rows += 1;
        }
    }
    Ok(summary)
}

/// Where a report came from, as the first members of each line.
pub(super) fn provenance(source: &Source, report: &Report) -> Vec<(&'static str, Option<String>)> {
    vec![
        ("origin", Some(own_literal(&source.origin))),
        ("report", source.identifier(report).map(|identifier| literal(identifier.text()))),
        ("received", source.received.map(|received| own_literal(&received.to_string()))),
    ]
}

/// The lines of notes that are on no row.
fn write_notes(head: &[(&'static str, Option<String>)], noted: &Noted<'_>, out: &mut dyn Write) -> io::Result<()> {
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
    report: &Report,
    head: &[(&'static str, Option<String>)],
    pane: Pane,
    place: Place,
    note: Option<&Note>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let record = report.record(place)?;
    let (name, member) = attribute(report, place, &record);
    let (value, is_visible) = json::rewritten(&record.value);
    let is_process = report.section(place.section).is_some_and(|section| section.form == Form::Processes);
    let own = [
        ("pane", Some(own_literal(pane.name()))),
        ("attribute", Some(literal(&name))),
        ("row", Some((place.row + 1).to_string())),
        ("member", member.as_ref().map(literal)),
        ("depth", is_process.then(|| record.depth.to_string())),
        ("escaped", is_visible.then(|| "true".to_owned())),
        ("note", note.map(|note| literal(&note.text))),
    ];
    let line = object(head.iter().cloned().chain(own));
    out.write_all(line.strip_suffix('}').unwrap_or(&line).as_bytes())?;
    out.write_all(b",\"value\":")?;
    out.write_all(&value)?;
    out.write_all(b"}\n")
}
