//! JSON lines: a line a row, each with where it came from.

use super::json::rewritten;
use super::opened::{ExportRow, OpenedReport};
use super::{Export, Member, Summary, list, literal, object, own_literal};
use crate::report::rules::Rule;
use std::io::{self, Write};

/// Writes a line a row: `origin`, `report`, `received`, `pane`, `attribute`, `row` (from 1), `value`; of an
/// object's row its `member`, of a process its `depth` and the row of its `parent`; `severity` and `rule` where a rule marks it; its `note`. A note on the whole report is a line of its own, without `row`
/// and `value`, as is one on an `item` that the report no longer has. Where a string of a row is not
/// Unicode, `escaped` is true, and all strings of the value are in their visible form.
pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    job.each_report(job.rules, |opened| {
        let head = [
            ("origin", Some(own_literal(&opened.source.origin))),
            ("report", opened.identifier.as_ref().map(|identifier| literal(identifier.text()))),
            ("received", opened.source.received.map(|received| own_literal(&received.to_string()))),
        ];
        for note in &opened.loose {
            let item = note.about.item.as_ref();
            let own = [
                ("attribute", item.map(|item| literal(&item.attribute))),
                ("item", item.map(|item| literal(&item.text))),
                ("note", Some(literal(&note.text))),
            ];
            writeln!(out, "{}", object(head.iter().cloned().chain(own)))?;
        }
        match job.what.is_indicators() {
            true => write_indicators(opened, &head, out),
            false => opened.each_row(&mut |row| write_row(&row, &head, out)),
        }
    })
}

fn write_row(row: &ExportRow<'_>, head: &[Member<'_>], out: &mut dyn Write) -> io::Result<()> {
    let (value, is_visible) = rewritten(&row.record.value);
    let own = [
        ("pane", Some(own_literal(row.pane.name()))),
        ("attribute", Some(literal(&row.attribute))),
        ("row", Some((row.place.row + 1).to_string())),
        ("member", row.member.as_ref().map(literal)),
        ("depth", row.depth.map(|depth| depth.to_string())),
        ("parent", row.parent.map(|parent| (parent + 1).to_string())),
        ("escaped", is_visible.then(|| "true".to_owned())),
    ];
    let end = [("note", row.note.map(|note| literal(&note.text))), ("value", Some(value))];
    writeln!(out, "{}", object(head.iter().cloned().chain(own).chain(marked(row.rule)).chain(end)))
}

fn write_indicators(opened: &OpenedReport<'_>, head: &[Member<'_>], out: &mut dyn Write) -> io::Result<u64> {
    let found = opened.indicators()?;
    for indicator in found.all() {
        let places = indicator.places.iter().map(|place| {
            let name = opened.report.section(place.section).map(|section| literal(&section.name));
            object([("attribute", name), ("row", Some((place.row + 1).to_string()))])
        });
        let own = [
            ("kind", Some(own_literal(indicator.kind.name()))),
            ("value", Some(literal(&indicator.value))),
            ("seen", Some(indicator.seen.to_string())),
            ("decoded", indicator.is_decoded.then(|| "true".to_owned())),
            ("where", Some(list(places))),
        ];
        let notes = list(opened.notes_about(indicator).iter().map(|note| literal(&note.text)));
        let end = [("notes", Some(notes).filter(|notes| notes != "[]"))];
        let own = own.into_iter().chain(marked(opened.rule_of(indicator))).chain(end);
        writeln!(out, "{}", object(head.iter().cloned().chain(own)))?;
    }
    Ok(found.all().len() as u64)
}

/// Severity and words of the rule that marks something.
fn marked(rule: Option<&Rule>) -> [Member<'static>; 2] {
    let severity = rule.map(|rule| own_literal(rule.severity.word()));
    [("severity", severity), ("rule", rule.map(|rule| own_literal(&rule.words())))]
}
