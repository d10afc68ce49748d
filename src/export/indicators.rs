//! Indicators by themselves: as a table, as lines, as Markdown; and what STIX and MISP are made of.

use super::noted::Noted;
use super::{Job, Source, Summary, What, csv, lines, list, literal, markdown, object, own_literal};
use crate::report::indicators::Kind;
use crate::report::{Indicator, Indicators, Report};
use std::io::{self, Write};

/// The columns of the table.
const COLUMNS: [&str; 8] = ["origin", "report", "received", "kind", "value", "seen", "where", "note"];

/// The indicators of a report: all, or those of the kind that is wanted.
pub(super) fn of(job: &Job<'_>, report: &Report) -> io::Result<Indicators> {
    let all = Indicators::among(report, &|section| 0..job.rows(report, section).end(), job.is_wanted)?;
    Ok(match &job.what {
        What::OfKind(kind) => all.only(*kind),
        _ => all,
    })
}

pub(super) fn csv(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    csv::line(out, COLUMNS)?;
    for source in job.sources {
        let report = source.open()?;
        summary.add_report(&report);
        let (head, noted) = (csv::provenance(source, &report), Noted::of(job, source, &report)?);
        for indicator in of(job, &report)?.all() {
            let own = [
                indicator.kind.name().to_owned(),
                csv::cell(&indicator.value.visible()),
                indicator.seen.to_string(),
                seen_in(&report, indicator),
                csv::safe(&notes(&noted, indicator)),
            ];
            csv::line(out, head.iter().cloned().chain(own))?;
            summary.rows += 1;
        }
    }
    Ok(summary)
}

pub(super) fn lines(job: &Job<'_>, source: &Source, report: &Report, out: &mut dyn Write) -> io::Result<u64> {
    let (head, noted) = (lines::provenance(source, report), Noted::of(job, source, report)?);
    let found = of(job, report)?;
    for indicator in found.all() {
        let places = indicator.places.iter().map(|place| {
            let name = report.section(place.section).map(|section| literal(&section.name));
            object([("attribute", name), ("row", Some((place.row + 1).to_string()))])
        });
        let own = [
            ("kind", Some(own_literal(indicator.kind.name()))),
            ("value", Some(literal(&indicator.value))),
            ("seen", Some(indicator.seen.to_string())),
            ("where", Some(list(places))),
            (
                "notes",
                Some(list(noted.about(indicator).iter().map(|note| literal(&note.text)))).filter(|notes| notes != "[]"),
            ),
        ];
        writeln!(out, "{}", object(head.iter().cloned().chain(own)))?;
    }
    Ok(found.all().len() as u64)
}

pub(super) fn markdown(report: &Report, found: &Indicators, noted: &Noted<'_>, out: &mut dyn Write) -> io::Result<()> {
    for kind in Kind::ALL.into_iter().filter(|kind| !found.of_kind(*kind).is_empty()) {
        let of_kind = found.of_kind(kind);
        writeln!(out, "\n## {} {}\n", kind.name(), of_kind.len())?;
        for indicator in of_kind {
            let value = markdown::code(indicator.defanged().as_str());
            let often = if indicator.seen == 1 { "once".to_owned() } else { format!("{} times", indicator.seen) };
            let notes: String = noted.about(indicator).into_iter().map(markdown::note).collect();
            writeln!(out, "- {value} seen {often}: {}{notes}", markdown::code(&seen_in(report, indicator)))?;
        }
    }
    Ok(())
}

/// The notes on the rows that name it.
pub(super) fn notes(noted: &Noted<'_>, indicator: &Indicator) -> String {
    let notes = noted.about(indicator).into_iter().map(|note| note.text.visible().to_string());
    notes.collect::<Vec<_>>().join("; ")
}

/// The first rows that name it, such as `dns_lookups 1, tls 4`; rows are counted from 1, as on the screen.
pub(super) fn seen_in(report: &Report, indicator: &Indicator) -> String {
    let places = indicator.places.iter().map(|place| {
        let name = report.section(place.section).map(|section| section.name.visible().to_string());
        format!("{} {}", name.unwrap_or_default(), place.row + 1)
    });
    places.collect::<Vec<_>>().join(", ")
}
