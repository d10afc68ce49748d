//! JSON lines: a line a row, each with where it came from.

use super::{Job, Source, Summary, attribute, indicators, json, literal, object, own_literal};
use crate::report::index::Form;
use crate::report::{Pane, Place, Report};
use std::io::{self, Write};

/// Writes a line a row: `origin`, `report`, `received`, `pane`, `attribute`, `row` counted from 1 as on the screen, `value`; of an object's row
/// its `member`, of a process its `depth`. Where a string of a row is no Unicode, `escaped` is true, and all strings of the
/// value stand in their visible form.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    for source in job.sources {
        let report = source.open()?;
        summary.add_report(&report);
        if job.what == super::What::Indicators {
            summary.rows += indicators::lines(job, source, &report, out)?;
            continue;
        }
        let head = provenance(source, &report);
        for (pane, place) in job.places(&report) {
            job.go_on()?;
            write_row(&report, &head, pane, place, out)?;
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

fn write_row(
    report: &Report,
    head: &[(&'static str, Option<String>)],
    pane: Pane,
    place: Place,
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
    ];
    let line = object(head.iter().cloned().chain(own));
    out.write_all(line.strip_suffix('}').unwrap_or(&line).as_bytes())?;
    out.write_all(b",\"value\":")?;
    out.write_all(&value)?;
    out.write_all(b"}\n")
}
