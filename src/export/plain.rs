//! Writes defanged plain text: a line per row below headings of report and pane, or per indicator.

use super::opened::{ExportRow, OpenedReport, decoded};
use super::{Export, Part, Summary};
use crate::report::rows::{Label, Row};
use crate::report::rules::Rule;
use crate::report::{Identifier, Note, Pane, RowPlace};
use crate::text::{Untrusted, Visible};
use jiff::Timestamp;
use std::io::{self, Write};

/// Defangs a text of a pane; in a pane of hosts every name is a host, whatever its ending.
pub fn harmless(pane: Pane, text: &Untrusted) -> Visible {
    text.visible().disarmed_where(pane == Pane::Network)
}

/// Returns a row as its pane shows it, in one defanged line.
pub fn line(pane: Pane, row: &Row) -> String {
    let (label, text) = row.label_and_text(|text| harmless(pane, text).into());
    let gap = if label.is_empty() { "" } else { " " };
    format!("{label}{gap}{text}")
}

/// Returns a process as its pane shows it, to name the parent of a row that is written without it.
pub(super) fn process(opened: &OpenedReport<'_>, pane: Pane, place: RowPlace) -> String {
    line(pane, &Row { label: Label::default(), ..opened.report.row(place.section, place.row) })
}

/// Writes rows, or indicators alone, defanged: formats for programs have the values as they are. A
/// value that begins with `=` has no mark as in CSV: only readers of cells evaluate formulas, and
/// programs that read lines would take the mark for a part of the value.
pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    match job.what.is_indicators() {
        true => job.each_indicator(out, |_, _| Ok(()), |_, found, out| writeln!(out, "{}", found.defanged())),
        false => job.each_report(|opened| write_rows(opened, out)),
    }
}

fn write_rows(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let has_headings = !matches!(opened.job.what, Part::Row(_));
    if has_headings {
        writeln!(out, "{}", heading(opened))?;
        let cut = opened.report.cut_lists_label(None);
        cut.map_or(Ok(()), |cut| writeln!(out, "lists: {cut}"))?;
    }
    for note in &opened.loose {
        let item =
            note.about.item.as_ref().map(|item| [&item.attribute, &item.text].map(|text| text.visible().disarmed()));
        let on = item.map(|[attribute, text]| format!("  (on {attribute} {text}, which is no longer in this report)"));
        writeln!(out, "{}{}", note_text(note), on.unwrap_or_default())?;
    }
    let mut last = None;
    opened.each_row(&mut |row| {
        let pane = row.pane;
        if last != Some(pane) && has_headings {
            writeln!(out, "## {}", opened.heading(pane))?;
            last = Some(pane);
        }
        let (indent, level) = row.indent(|parent| process(opened, pane, parent));
        let rule = row.rule.map(marked).unwrap_or_default();
        let note = row.note.map(|note| format!("  ({})", note_text(note))).unwrap_or_default();
        writeln!(out, "{indent}{level}{}{rule}{note}", line(pane, &opened.report.whole_row(row.place)))?;
        decoded(&row.record).iter().try_for_each(|text| writeln!(out, "{indent}  → decoded {}", harmless(pane, text)))
    })
}

/// Returns a report's heading: sandbox, time of the run, file; without identifier its origin.
fn heading(opened: &OpenedReport<'_>) -> String {
    let Some(parts) = opened.identifier.as_ref().map(Identifier::parts) else {
        return format!("# {}", Untrusted::from(opened.source.origin.as_str()).visible().disarmed());
    };
    let ran = parts.when.and_then(|when| Timestamp::from_second(when).ok());
    let ran = ran.map(|ran| ran.strftime(" · ran %Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default();
    let file = parts.file.map(|file| format!(" · {}", file.as_str())).unwrap_or_default();
    format!("# {}{ran}{file}", parts.sandbox.visible().disarmed())
}

fn marked(rule: &Rule) -> String {
    let label = Untrusted::from(rule.label()).visible().disarmed();
    format!("  ({}: {label})", rule.severity.name())
}

fn note_text(note: &Note) -> String {
    format!("note: {}", note.text.visible().disarmed())
}

/// Maximum level of indentation; deeper processes show their level as a number.
const MAX_INDENT: usize = 20;

impl ExportRow<'_> {
    /// Formats a row's prefix: an indent for each written ancestor, its level if that is too deep,
    /// and its parent as `named` formats it if the parent is not written.
    pub(super) fn indent(&self, named: impl Fn(RowPlace) -> String) -> (String, String) {
        let depth = self.depth.filter(|depth| usize::from(*depth) > MAX_INDENT);
        let level = depth.map(|depth| format!("level {depth} ")).unwrap_or_default();
        let parent = self.parent.filter(|_| self.is_orphan).map(|row| named(RowPlace { row, ..self.place }));
        let parent = parent.map(|parent| format!("(below {parent}, which is left out) ")).unwrap_or_default();
        ("  ".repeat(self.steps.min(MAX_INDENT)), level + &parent)
    }
}
