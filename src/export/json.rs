//! Reports as JSON in the envelope of the service, `notes` beside the attributes.

use super::noted::ExportNotes;
use super::opened::{OpenedReport, SelectedRows};
use super::rewriter::{Strings, rewrite};
use super::{Job, Summary, list, literal, object, own_literal};
use crate::report::index::{Form, Section};
use crate::report::{Note, Pane, Place, Report};
use crate::text::Untrusted;
use std::collections::HashSet;
use std::io::{self, Write};

/// Writes reports as JSON in the envelope of the service (specification §2.1), `notes` beside the attributes; several as a list.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let (is_list, mut number) = (job.sources.len() != 1, 0);
    out.write_all(if is_list { b"{\"data\":[" } else { b"{\"data\":" })?;
    let summary = job.each_report(None, |opened| {
        out.write_all(if number > 0 { b"," } else { b"" })?;
        number += 1;
        write_report(opened, out)?;
        Ok(opened.places().count() as u64)
    })?;
    out.write_all(if is_list { b"]}\n" } else { b"}\n" })?;
    Ok(summary)
}

fn write_report(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = &opened.report;
    let mut head = Vec::new();
    head.extend(opened.identifier.as_ref().map(|identifier| format!("\"id\":{}", literal(identifier.text()))));
    head.extend(report.kind().map(|kind| format!("\"type\":{}", literal(&kind))));
    write!(out, "{{{}{}\"attributes\":{{", head.join(","), if head.is_empty() { "" } else { "," })?;
    let is_beside = |section: &Section| report.index.is_attributed && section.is_beside;
    write_sections(opened, &|section| !is_beside(section), &mut MemberNames::default(), false, out)?;
    out.write_all(b"}")?;
    let mut names = MemberNames::default();
    for taken in ["id", "type", "attributes", "notes"] {
        names.next(&Untrusted::from(taken));
    }
    write_sections(opened, &is_beside, &mut names, true, out)?;
    write_notes(report, &ExportNotes::of(opened)?, out)?;
    out.write_all(b"}")
}

/// The sections that are wanted, each a member; `has_members` says that members stand before them.
fn write_sections(
    opened: &OpenedReport<'_>,
    is_wanted: &dyn Fn(&Section) -> bool,
    names: &mut MemberNames,
    mut has_members: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let report = &opened.report;
    let sections = Pane::ALL.into_iter().flat_map(|pane| report.sections(pane));
    let sections = sections.filter_map(|number| Some((number, report.section(number)?, opened.rows(number)?)));
    let is_head =
        |section: &Section| matches!(section.name.as_bytes(), b"id" | b"type") && section.form == Form::Scalar;
    for (number, section, rows) in sections.filter(|(_, section, _)| is_wanted(section) && !is_head(section)) {
        opened.go_on()?;
        if rows.len() == 0 && matches!(section.form, Form::Loose | Form::Scalar) {
            continue;
        }
        out.write_all(if has_members { b"," } else { b"" })?;
        has_members = true;
        let is_list = matches!(section.form, Form::Array | Form::Object | Form::Processes);
        if is_list && rows.len() == section.len() {
            write_section(report, section, &names.next(&section.name), out)?;
        } else {
            write_rows(report, number, section, (&rows, names), out)?;
        }
    }
    Ok(())
}

/// Some rows of an attribute, each by itself.
fn write_rows(
    report: &Report,
    number: usize,
    section: &Section,
    (rows, names): (&SelectedRows<'_>, &mut MemberNames),
    out: &mut dyn Write,
) -> io::Result<()> {
    let (open, close) = match section.form {
        Form::Array | Form::Processes => ("[", "]"),
        Form::Object => ("{", "}"),
        Form::Scalar | Form::Loose => ("", ""),
    };
    if !open.is_empty() {
        write!(out, "{}:{open}", names.next(&section.name))?;
    }
    for (count, row) in rows.iter().enumerate() {
        let record = report.record(Place { section: number, row });
        out.write_all(if count > 0 { b"," } else { b"" })?;
        // Single values stand among the attributes, others in an object of their own.
        let name = match (&record.member, open.is_empty()) {
            (member, true) => Some(names.next(member.as_ref().unwrap_or(&section.name))),
            (member, false) => member.as_ref().map(literal),
        };
        name.map_or(Ok(()), |name| write!(out, "{name}:"))?;
        out.write_all(&rewrite(b"", &record.value, Strings::Plain).0)?;
    }
    out.write_all(close.as_bytes())
}

/// The notes, each with what it is on; the row is the first that it is on.
fn write_notes(report: &Report, noted: &ExportNotes<'_>, out: &mut dyn Write) -> io::Result<()> {
    let entry = |attribute: Option<&Untrusted>, row: Option<usize>, note: &Note| {
        object([
            ("attribute", attribute.map(literal)),
            ("row", row.map(|row| row.to_string())),
            ("item", note.about.item.as_ref().map(|item| literal(&item.text))),
            ("note", Some(literal(&note.text))),
            ("written", Some(own_literal(&note.written.to_string()))),
        ])
    };
    let name = |place: Place| report.section(place.section).map(|section| &section.name);
    let rows = noted.on_rows().map(|(place, note)| entry(name(place), Some(place.row + 1), note));
    let lost = noted.lost.iter().map(|(item, note)| entry(Some(&item.attribute), None, note));
    let all = noted.whole.map(|note| entry(None, None, note)).into_iter().chain(rows).chain(lost);
    let all = list(all);
    if all == "[]" { Ok(()) } else { write!(out, ",\"notes\":{all}") }
}

/// One list, its rows as they follow each other in the bytes.
fn write_section(report: &Report, section: &Section, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let start = section.start(0).map_or(0, |start| start as usize);
    let end = section.end().map_or(report.body.len(), |end| end as usize);
    let opening = if section.form == Form::Object { b"{" } else { b"[" };
    let rows = if section.is_empty() { &[][..] } else { report.body.window(start..end) };
    write!(out, "{name}:")?;
    out.write_all(&rewrite(opening, rows, Strings::Plain).0)
}

/// The member names of one object.
#[derive(Default)]
struct MemberNames(HashSet<Untrusted>);

impl MemberNames {
    /// The literal of a name, with a number added where it was there before: most readers keep the last of two equal names only.
    fn next(&mut self, name: &Untrusted) -> String {
        let numbered = |number: usize| match number {
            1 => name.clone(),
            _ => Untrusted::from([name.as_bytes(), format!(" ({number})").as_bytes()].concat()),
        };
        let name = (1..).map(numbered).find(|name| self.0.insert(name.clone()));
        name.as_ref().map(literal).unwrap_or_default()
    }
}
