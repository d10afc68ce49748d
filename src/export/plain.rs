//! Plain text: under a heading for each report and each pane a line a row, whole and defanged; or a line an indicator, and nothing else.

use super::noted::ExportNotes;
use super::opened::OpenedReport;
use super::{Job, Summary, What};
use crate::report::rows::{Label, Row};
use crate::report::rules::Rule;
use crate::report::tree::{Depths, Parents};
use crate::report::{Note, Pane, Piece, Place};
use crate::text::{Untrusted, Visible};
use jiff::Timestamp;
use std::io::{self, Write};

/// What stands before a note.
const NOTE: &str = "note: ";

/// A text of a pane without teeth: where hosts stand, a name is a host whatever it ends in.
pub fn harmless(pane: Pane, text: &Untrusted) -> Visible {
    let visible = text.visible();
    if pane == Pane::Network { visible.disarmed_among_hosts() } else { visible.disarmed() }
}

/// A row as its pane shows it, in one line without teeth.
pub fn line(pane: Pane, row: &Row) -> String {
    let label = match &row.label {
        Label::Known(word) => (*word).to_owned(),
        Label::Named(name) => harmless(pane, name).to_string(),
    };
    let pieces = row.pieces.iter().map(|piece| match piece {
        Piece::Value(text) | Piece::Detail(text) => harmless(pane, text).to_string(),
        Piece::Own(words) => words.to_string(),
    });
    let gap = if label.is_empty() { "" } else { " " };
    format!("{label}{gap}{}", pieces.collect::<String>())
}

/// A process as its pane shows it, for who is below it and written without it.
pub(super) fn process(opened: &OpenedReport<'_>, pane: Pane, place: Place) -> String {
    line(pane, &Row { label: Label::default(), ..opened.report.row(place.section, place.row) })
}

pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    job.each_report(Some(job.rules), |opened| match job.what.is_indicators() {
        true => write_indicators(opened, out),
        false => write_rows(opened, out),
    })
}

/// Nothing but the things themselves, without teeth: the formats for other programs have them as they are. One that begins with `=` or
/// the like stands so: a formula is of concern where cells are read, and CSV marks it there; here a mark would be a part of the thing for
/// every program that reads a line as one.
fn write_indicators(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let found = opened.indicators()?;
    for indicator in found.all() {
        writeln!(out, "{}", indicator.defanged())?;
    }
    Ok(found.all().len() as u64)
}

fn write_rows(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let noted = ExportNotes::of(opened)?;
    if !matches!(opened.job.what, What::Row(_)) {
        writeln!(out, "{}", heading(opened))?;
    }
    if let Some(note) = noted.whole {
        writeln!(out, "{}", words(note))?;
    }
    for (item, note) in &noted.lost {
        let item = format!("{} {}", item.attribute.visible().disarmed(), item.text.visible().disarmed());
        writeln!(out, "{}  (on {item}, which is not in this report any more)", words(note))?;
    }
    let (mut rows, mut last, mut nested) = (0, None, Nested::default());
    for (pane, place) in opened.places() {
        opened.go_on()?;
        if last != Some(pane) && !matches!(opened.job.what, What::Row(_)) {
            writeln!(out, "## {}", opened.heading(pane))?;
            last = Some(pane);
        }
        let depths = opened.report.section(place.section).map(|section| section.depths());
        let named = |row| process(opened, pane, Place { row, ..place });
        let (indent, level) = nested.indent(place.section, place.row, depths, named);
        let rule = opened.rule(place).map(marked).unwrap_or_default();
        let note = noted.at(place).map(|note| format!("  ({})", words(note))).unwrap_or_default();
        writeln!(out, "{indent}{level}{}{rule}{note}", line(pane, &opened.report.whole_row(place)))?;
        rows += 1;
    }
    Ok(rows)
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
    let words = Untrusted::from(rule.words()).visible().disarmed();
    format!("  ({}: {words})", rule.severity.word())
}

fn words(note: &Note) -> String {
    format!("{NOTE}{}", note.text.visible().disarmed())
}

/// The deepest level that a process is indented to; deeper ones say theirs.
const DEEPEST: usize = 20;

/// The part of a tree that has been written.
#[derive(Default)]
pub(super) struct Nested {
    /// The section, and the next row of it.
    next: (usize, usize),
    /// The depths of the processes that were written and go on.
    above: Vec<u16>,
    parents: Parents,
}

impl Nested {
    /// The prefix of a row: an indent for each written ancestor; its level, where that is too deep to indent; and
    /// its parent in the words of `named`, where that is left out and another row precedes it.
    pub(super) fn indent(
        &mut self,
        section: usize,
        row: usize,
        depths: Option<&Depths>,
        named: impl Fn(usize) -> String,
    ) -> (String, String) {
        if self.next.0 != section || self.next.1 > row {
            *self = Self { next: (section, row), ..Self::default() };
        }
        let depth = |row| depths.and_then(|depths| depths.get(row)).unwrap_or_default();
        // Rows that are left out end their siblings' subtrees as well.
        let lowest = (self.next.1..=row).map(depth).min().unwrap_or_default();
        self.above.retain(|above| *above < lowest);
        let (steps, own) = (self.above.len().min(DEEPEST), depth(row));
        let is_left_out = own > 0 && self.above.last().is_none_or(|above| above + 1 < own);
        self.above.push(own);
        self.next = (section, row + 1);
        let level = if usize::from(own) > DEEPEST { format!("level {own} ") } else { String::new() };
        let parent = depths.filter(|_| is_left_out).and_then(|depths| self.parents.of(row, depths));
        let parent = parent.map(|parent| format!("(below {}, which is left out) ", named(parent)));
        ("  ".repeat(steps), level + &parent.unwrap_or_default())
    }
}
