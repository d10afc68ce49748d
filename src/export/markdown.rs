//! Writes Markdown; all text of a report is in code spans, and so never markup or a link.

use super::opened::{ExportRow, MergedReports, OpenedReport, decoded};
use super::plain::process;
use super::{Export, Summary, harmless};
use crate::report::attributes::{CODE, HIDDEN, PASSWORD, ValueShape};
use crate::report::indicators::{ITSELF, MergedIndicator};
use crate::report::json::{Kind as JsonKind, Raw};
use crate::report::page::ReportSummary;
use crate::report::rows::{Step, leaves, pointer};
use crate::report::rules::Rule;
use crate::report::{Identifier, Note, Pane};
use crate::text::Untrusted;
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
