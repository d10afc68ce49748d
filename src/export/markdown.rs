//! Writes text for people: Markdown, in which all text of a report is in code spans, and so never
//! markup or a link; and plain text, defanged, a line per row below headings of report and pane, or
//! per indicator.

use super::opened::{ExportRow, MergedReports, OpenedReport, decoded};
use super::{Export, Part, Summary};
use crate::report::attributes::{CODE, HIDDEN, PASSWORD, ValueShape};
use crate::report::indicators::{ITSELF, MergedIndicator};
use crate::report::json::{Kind as JsonKind, Raw};
use crate::report::page::ReportSummary;
use crate::report::rows::{Label, Row, Step, leaves, pointer};
use crate::report::rules::Rule;
use crate::report::{Identifier, Note, Pane, RowPlace};
use crate::text::{Untrusted, Visible};
use jiff::Timestamp;
use std::io::{self, Write};

pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    if job.what.is_indicators() {
        let mut last = None;
        return job.each_indicator(out, write_head, |merged, found, out| {
            if last.replace(found.kind()) != Some(found.kind()) {
                writeln!(out, "\n## {}\n", found.kind().name())?;
            }
            write_indicator(merged, found, out)
        });
    }
    job.each_report(|opened| {
        write_head(opened, out)?;
        let rows = write_rows(opened, out)?;
        writeln!(out)?;
        Ok(rows)
    })
}

fn write_head(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let source = opened.source;
    let identifier = opened.identifier.as_ref();
    let parts = identifier.map(Identifier::parts);
    let moment = |when: Timestamp| when.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    let sandbox = parts.as_ref().map_or_else(|| "a sandbox".to_owned(), |parts| text(&parts.sandbox));
    writeln!(out, "# Behaviour report by {sandbox}\n")?;
    let lines = [
        ("verdict", ReportSummary::of(&opened.report).label().map(|verdict| text(&verdict))),
        ("ran", opened.ran().map(moment)),
        ("file", parts.and_then(|parts| parts.file).map(|file| format!("`{file}`"))),
        ("report", identifier.map(|identifier| text(identifier.text()))),
        ("from", Some(text(&Untrusted::from(source.origin.as_str())))),
        ("received", source.received.map(moment)),
    ];
    for (name, value) in lines {
        value.map_or(Ok(()), |value| writeln!(out, "- {name} {value}"))?;
    }
    if opened.report.index.is_cut {
        writeln!(out, "- the report stops in the middle; its beginning is here")?;
    }
    if let Some(cut) = opened.report.cut_lists_label(None) {
        writeln!(out, "- lists {}", code(&cut))?;
    }
    for Note { about, text: words, .. } in &opened.loose {
        let on = about.item.as_ref().map(|item| {
            format!(" on {} {}, which is no longer in this report", text(&item.attribute), text(&item.text))
        });
        writeln!(out, "- note {}{}", text(words), on.unwrap_or_default())?;
    }
    Ok(())
}

fn write_rows(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let mut last = None;
    opened.each_row(&mut |row| {
        if last != Some(row.pane) {
            writeln!(out, "\n## {}\n", opened.heading(row.pane))?;
            last = Some(row.pane);
        }
        write_row(opened, &row, out)
    })
}

/// Writes a row as a list item, and each leaf of an object as an item below it.
fn write_row(opened: &OpenedReport<'_>, row: &ExportRow<'_>, out: &mut dyn Write) -> io::Result<()> {
    let pane = row.pane;
    let raw = Raw::new(&row.record.value);
    let (indent, level) = row.indent(|parent| code(&process(opened, pane, parent)));
    let known = opened.report.section(row.place.section).and_then(|section| section.attribute);
    let label = match known.map(|known| known.label) {
        Some("") => String::new(),
        Some(word) => format!("{word} "),
        None => text(&row.attribute) + " ",
    };
    let member = row.member.as_ref().map(|member| value(pane, member) + " ").unwrap_or_default();
    let is_leaf = matches!(raw.kind(), JsonKind::Text | JsonKind::Word);
    // The text that the pane shows, or a name for other objects.
    let shown = match known.map(|known| &known.shape) {
        Some(ValueShape::Moment) if is_leaf => code(&process(opened, pane, row.place)),
        _ if is_leaf => value(pane, &raw.text()),
        Some(ValueShape::Records(_) | ValueShape::ProcessTree) => code(&process(opened, pane, row.place)),
        _ => {
            let names = ["name", "rule_title", "rule_msg", "path", "key", "hostname", "url"];
            let found = names.iter().find_map(|name| raw.member(name)).filter(|found| found.kind() == JsonKind::Text);
            found.map_or_else(|| "record".to_owned(), |found| value(pane, &found.text()))
        }
    };
    let behind = marked(row.rule) + &row.note.map(note).unwrap_or_default();
    writeln!(out, "{indent}- {level}{label}{member}{shown}{behind}")?;
    let mut written = Ok(());
    leaves(&row.record.value, &mut |steps, raw| {
        let way = pointer(steps.iter().skip(1));
        let name = if way.is_empty() { String::new() } else { value(pane, &way) + " " };
        if is_leaf || written.is_err() {
            return;
        }
        written = match steps {
            [_, Step::Member(member)] if CODE.iter().any(|code| member.as_bytes() == code.as_bytes()) => {
                writeln!(out, "{indent}  - {}", name.trim_end())
                    .and_then(|()| write_block(&format!("{indent}    "), &raw.text(), out))
            }
            [.., Step::Member(member)] if member.as_bytes() == PASSWORD.as_bytes() => {
                writeln!(out, "{indent}  - {name}{HIDDEN}")
            }
            _ => writeln!(out, "{indent}  - {name}{}", value(pane, &raw.text())),
        };
    });
    let mut hidden = decoded(&row.record).into_iter();
    written.and_then(|()| hidden.try_for_each(|text| writeln!(out, "{indent}  - decoded {}", value(pane, &text))))
}

fn write_indicator(merged: &MergedReports<'_>, found: &MergedIndicator, out: &mut dyn Write) -> io::Result<()> {
    let to_block = if found.is_to_block() { " to block," } else { "" };
    let often = match found.seen() {
        0 => ITSELF.to_owned(),
        1 => format!("seen once: {}", code(&merged.seen_in(found))),
        times => format!("seen {times} times: {}", code(&merged.seen_in(found))),
    };
    let rule = marked(merged.rule_of(found));
    let notes: String = merged.notes_about(found).into_iter().map(note).collect();
    writeln!(out, "- {}{to_block} {often}{rule}{notes}", code(found.defanged().as_str()))
}

fn marked(rule: Option<&Rule>) -> String {
    let label = |rule: &Rule| text(&Untrusted::from(rule.label()));
    rule.map(|rule| format!(" - {} {}", rule.severity.name(), label(rule))).unwrap_or_default()
}

fn note(note: &Note) -> String {
    format!(" - note {}", text(&note.text))
}

/// Returns a value, defanged: the user may paste it into other programs than Markdown viewers.
fn value(pane: Pane, text: &Untrusted) -> String {
    code(harmless(pane, text).as_str())
}

/// Returns text outside the panes, defanged, in a code span.
pub(crate) fn text(text: &Untrusted) -> String {
    value(Pane::Other, text)
}

/// Returns the same for a cell of a table, which a bar ends even in a code span; some viewers split
/// a span at an escaped bar, too.
pub(crate) fn cell(words: &Untrusted) -> String {
    text(words).replace('|', "\\x7c")
}

/// Writes a defanged code block; escapes controls, but not backslashes: rules have many.
fn write_block(indent: &str, text: &Untrusted, out: &mut dyn Write) -> io::Result<()> {
    let shown = |line: &[u8]| {
        let tabs = line.split(|byte| *byte == b'\t').map(|part| {
            let parts = part.split(|byte| *byte == b'\\').map(|part| harmless(Pane::Other, &part.into()).to_string());
            parts.collect::<Vec<_>>().join("\\")
        });
        tabs.collect::<Vec<_>>().join("\t")
    };
    let lines = text.as_bytes().split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines: Vec<_> = lines.map(shown).collect();
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "{indent}{fence}")?;
    lines.iter().try_for_each(|line| writeln!(out, "{indent}{line}"))?;
    writeln!(out, "{indent}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns a code span: its fence is longer than any run of backticks inside.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    // Blanks keep backticks off the fence; viewers strip one at each end, unless all are blank.
    let needs_room = text.starts_with('`')
        || text.ends_with('`')
        || text.starts_with(' ') && text.ends_with(' ') && !text.trim().is_empty();
    match (text.is_empty(), needs_room) {
        (true, _) => "(empty)".to_owned(),
        (false, true) => format!("{fence} {text} {fence}"),
        (false, false) => format!("{fence}{text}{fence}"),
    }
}

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
fn process(opened: &OpenedReport<'_>, pane: Pane, place: RowPlace) -> String {
    line(pane, &Row { label: Label::default(), ..opened.report.row(place.section, place.row) })
}

/// Writes rows, or indicators alone, defanged: formats for programs have the values as they are. A
/// value that begins with `=` has no mark as in CSV: only readers of cells evaluate formulas, and
/// programs that read lines would take the mark for a part of the value.
pub(super) fn write_plain(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    match job.what.is_indicators() {
        true => job.each_indicator(out, |_, _| Ok(()), |_, found, out| writeln!(out, "{}", found.defanged())),
        false => job.each_report(|opened| write_plain_rows(opened, out)),
    }
}

fn write_plain_rows(opened: &OpenedReport<'_>, out: &mut dyn Write) -> io::Result<u64> {
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
        let label = |rule: &Rule| Untrusted::from(rule.label()).visible().disarmed();
        let rule = row.rule.map(|rule| format!("  ({}: {})", rule.severity.name(), label(rule))).unwrap_or_default();
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

fn note_text(note: &Note) -> String {
    format!("note: {}", note.text.visible().disarmed())
}

/// Maximum level of indentation; deeper processes show their level as a number.
const MAX_INDENT: usize = 20;

impl ExportRow<'_> {
    /// Formats a row's prefix: an indent for each written ancestor, its level if that is too deep,
    /// and its parent as `named` formats it if the parent is not written.
    fn indent(&self, named: impl Fn(RowPlace) -> String) -> (String, String) {
        let depth = self.depth.filter(|depth| usize::from(*depth) > MAX_INDENT);
        let level = depth.map(|depth| format!("level {depth} ")).unwrap_or_default();
        let parent = self.parent.filter(|_| self.is_orphan).map(|row| named(RowPlace { row, ..self.place }));
        let parent = parent.map(|parent| format!("(below {parent}, which is left out) ")).unwrap_or_default();
        ("  ".repeat(self.steps.min(MAX_INDENT)), level + &parent)
    }
}
