//! Indicators by themselves: as a table, as lines, as Markdown; and what STIX and MISP are made of.

use super::lines::Member;
use super::noted::ExportNotes;
use super::opened::OpenedReport;
use super::verdict::verdict;
use super::{csv, lines, list, literal, markdown, object, own_literal};
use crate::report::indicators::{ITSELF, Kind};
use crate::report::rules::{Rule, Severity};
use crate::report::{Indicator, Report};
use std::io::{self, Write};

/// The columns of the table. A note that is on no row has a line of its own, without a kind.
pub(super) const COLUMNS: [&str; 10] =
    ["origin", "report", "received", "kind", "value", "seen", "where", "severity", "rule", "note"];

/// Why an indicator is to be blocked.
pub(super) enum BlockReason<'a> {
    /// It is the file that was run.
    Sample,
    /// A rule marks a row that names it.
    Rule(&'a Rule),
}

impl BlockReason<'_> {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Sample => "the file that was run".to_owned(),
            Self::Rule(rule) => rule.name.clone(),
        }
    }

    /// With where it was seen.
    pub(super) fn words(&self, opened: &OpenedReport<'_>, indicator: &Indicator) -> String {
        let why = match self {
            Self::Sample => "The file that was run.".to_owned(),
            Self::Rule(rule) => format!("{}: {}", rule.severity.word(), rule.words()),
        };
        format!("{why} Seen in {}.", seen_in(&opened.report, indicator))
    }
}

/// The reason to block an indicator: it is the file that was run, unless the sandbox found it clean; or a
/// rule marks its row high or medium, since malware asks for harmless hosts as well. Values that are common
/// on harmless machines have none.
pub(super) fn reason<'a>(opened: &OpenedReport<'a>, indicator: &Indicator) -> Option<BlockReason<'a>> {
    if indicator.kind == Kind::Hash && opened.is_sample(&indicator.value) {
        return Some(BlockReason::Sample).filter(|_| verdict(&opened.report) != "benign");
    }
    let rule = opened.rule_of(indicator).filter(|rule| indicator.can_be_blocked() && rule.severity <= Severity::Medium);
    rule.map(BlockReason::Rule)
}

pub(super) fn csv(
    opened: &OpenedReport<'_>,
    head: &[String],
    noted: &ExportNotes<'_>,
    out: &mut dyn Write,
) -> io::Result<u64> {
    for [attribute, value, note] in csv::notes(noted) {
        let none = String::new;
        csv::line(out, head.iter().cloned().chain([none(), value, none(), attribute, none(), none(), note]))?;
    }
    let found = opened.indicators()?;
    for indicator in found.all() {
        let [severity, rule] = csv::marked(opened.rule_of(indicator));
        let own = [
            indicator.kind.name().to_owned(),
            csv::cell(&indicator.value),
            indicator.seen.to_string(),
            seen_in(&opened.report, indicator),
            severity,
            rule,
            csv::safe(&notes(noted, indicator)),
        ];
        csv::line(out, head.iter().cloned().chain(own))?;
    }
    Ok(found.all().len() as u64)
}

pub(super) fn lines(
    opened: &OpenedReport<'_>,
    head: &[Member],
    noted: &ExportNotes<'_>,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let found = opened.indicators()?;
    for indicator in found.all() {
        let places = indicator.places.iter().map(|place| {
            let name = opened.report.section(place.section).map(|section| literal(&section.name));
            object([("attribute", name), ("row", Some((place.row + 1).to_string()))])
        });
        let notes = list(noted.about(indicator).iter().map(|note| literal(&note.text)));
        let own = [
            ("kind", Some(own_literal(indicator.kind.name()))),
            ("value", Some(literal(&indicator.value))),
            ("seen", Some(indicator.seen.to_string())),
            ("where", Some(list(places))),
        ];
        let own = own.into_iter().chain(lines::marked(opened.rule_of(indicator)));
        let own = own.chain([("notes", Some(notes).filter(|notes| notes != "[]"))]);
        writeln!(out, "{}", object(head.iter().cloned().chain(own)))?;
    }
    Ok(found.all().len() as u64)
}

pub(super) fn markdown(opened: &OpenedReport<'_>, noted: &ExportNotes<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let found = opened.indicators()?;
    for kind in Kind::ALL.into_iter().filter(|kind| !found.of_kind(*kind).is_empty()) {
        let of_kind = found.of_kind(kind);
        writeln!(out, "\n## {} {}\n", kind.name(), of_kind.len())?;
        for indicator in of_kind {
            let value = markdown::code(indicator.defanged().as_str());
            let often = match indicator.seen {
                0 => ITSELF.to_owned(),
                1 => format!("seen once: {}", markdown::code(&seen_in(&opened.report, indicator))),
                times => format!("seen {times} times: {}", markdown::code(&seen_in(&opened.report, indicator))),
            };
            let rule = markdown::marked(opened.rule_of(indicator));
            let notes: String = noted.about(indicator).into_iter().map(markdown::note).collect();
            writeln!(out, "- {value} {often}{rule}{notes}")?;
        }
    }
    Ok(found.all().len() as u64)
}

/// The notes on its own rows.
pub(super) fn notes(noted: &ExportNotes<'_>, indicator: &Indicator) -> String {
    let notes = noted.about(indicator).into_iter().map(|note| note.text.visible().to_string());
    notes.collect::<Vec<_>>().join("; ")
}

/// The first rows that name it, such as `dns_lookups 1, tls 4`; rows are counted from 1, as on the screen.
pub(super) fn seen_in(report: &Report, indicator: &Indicator) -> String {
    if indicator.places.is_empty() {
        return ITSELF.to_owned();
    }
    let places = indicator.places.iter().map(|place| {
        let name = report.section(place.section).map(|section| section.name.visible().to_string());
        format!("{} {}", name.unwrap_or_default(), place.row + 1)
    });
    places.collect::<Vec<_>>().join(", ")
}
