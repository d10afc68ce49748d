//! Plain text: under a heading for each report and each pane a line a row, whole and defanged; or a line an indicator, and nothing else.

use super::opened::{ExportRow, OpenedReport};
use super::{Export, Part, Summary};
use crate::report::rows::{Label, Row};
use crate::report::rules::Rule;
use crate::report::{Note, Pane, RowPlace};
use crate::text::{Untrusted, Visible};
use jiff::Timestamp;
use std::io::{self, Write};

/// A text of a pane without teeth: where hosts stand, a name is a host whatever it ends in.
pub fn harmless(pane: Pane, text: &Untrusted) -> Visible {
    let visible = text.visible();
    if pane == Pane::Network { visible.disarmed_among_hosts() } else { visible.disarmed() }
}

/// A row as its pane shows it, in one line without teeth.
pub fn line(pane: Pane, row: &Row) -> String {
    let (label, text) = row.words(|text| harmless(pane, text).into());
    let gap = if label.is_empty() { "" } else { " " };
    format!("{label}{gap}{text}")
}

/// A process as its pane shows it, for who is below it and written without it.
pub(super) fn process(opened: &OpenedReport<'_>, pane: Pane, place: RowPlace) -> String {
    line(pane, &Row { label: Label::default(), ..opened.report.row(place.section, place.row) })
}

/// Of indicators nothing but the things themselves, without teeth: the formats for other programs have them as they are. One that begins with `=` or
/// the like stands so: a formula is of concern where cells are read, and CSV marks it there; here a mark would be a part of the thing for
/// every program that reads a line as one.
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
    }
    for note in &opened.loose {
        let item =
            note.about.item.as_ref().map(|item| [&item.attribute, &item.text].map(|text| text.visible().disarmed()));
        let on =
            item.map(|[attribute, text]| format!("  (on {attribute} {text}, which is not in this report any more)"));
        writeln!(out, "{}{}", words(note), on.unwrap_or_default())?;
    }
    let mut last = None;
    opened.each_row(&mut |row| {
        let (pane, place) = (row.pane, row.place);
        if last != Some(pane) && has_headings {
            writeln!(out, "## {}", opened.heading(pane))?;
            last = Some(pane);
        }
        let (indent, level) = row.indent(|parent| process(opened, pane, parent));
        let rule = row.rule.map(marked).unwrap_or_default();
        let note = row.note.map(|note| format!("  ({})", words(note))).unwrap_or_default();
        writeln!(out, "{indent}{level}{}{rule}{note}", line(pane, &opened.report.whole_row(place)))?;
        row.decoded().iter().try_for_each(|text| writeln!(out, "{indent}  → decoded {}", harmless(pane, text)))
    })
}

/// Whose report it is: sandbox, when it ran, file; what it is of where it has no identifier.
fn heading(opened: &OpenedReport<'_>) -> String {
    let parts = opened.identifier.as_ref().map(|identifier| identifier.parts());
    let Some(parts) = parts else {
        return format!("# {}", Untrusted::from(opened.source.origin.as_str()).visible().disarmed());
    };
    let ran = parts.when.and_then(|when| Timestamp::from_second(when).ok());
    let ran = ran.map(|ran| ran.strftime(" · ran %Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default();
    let file = parts.file.map(|file| format!(" · {}", file.as_str())).unwrap_or_default();
    format!("# {}{ran}{file}", parts.sandbox.visible().disarmed())
}

/// The rule behind what it marks.
fn marked(rule: &Rule) -> String {
    let words = Untrusted::from(rule.label()).visible().disarmed();
    format!("  ({}: {words})", rule.severity.name())
}

fn words(note: &Note) -> String {
    format!("note: {}", note.text.visible().disarmed())
}

/// The deepest level that a process is indented to; deeper ones say theirs.
const DEEPEST: usize = 20;

impl ExportRow<'_> {
    /// The prefix of a row: an indent for each written ancestor; its level, where that is too deep to indent; and
    /// its parent in the words of `named`, where that is left out.
    pub(super) fn indent(&self, named: impl Fn(RowPlace) -> String) -> (String, String) {
        let depth = self.depth.filter(|depth| usize::from(*depth) > DEEPEST);
        let level = depth.map(|depth| format!("level {depth} ")).unwrap_or_default();
        let parent = self.parent.filter(|_| self.is_orphan).map(|row| named(RowPlace { row, ..self.place }));
        let parent = parent.map(|parent| format!("(below {parent}, which is left out) ")).unwrap_or_default();
        ("  ".repeat(self.steps.min(DEEPEST)), level + &parent)
    }
}
