//! Markdown for people: all text of a report is in code spans, so that none is markup or a link.

use super::noted::ExportNotes;
use super::opened::OpenedReport;
use super::plain::{Nested, process};
use super::{Job, Summary, attribute, harmless, indicators};
use crate::report::attributes::{HIDDEN, PASSWORD, Shape};
use crate::report::json::{Kind, Raw};
use crate::report::rows::records::{Step, leaves, pointer};
use crate::report::rows::verdict;
use crate::report::rules::Rule;
use crate::report::{Note, Pane, Place};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::io::{self, Write};

pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    job.each_report(Some(job.rules), |opened| {
        let noted = ExportNotes::of(opened)?;
        write_head(opened, &noted, out)?;
        let rows = match job.what.is_indicators() {
            true => indicators::markdown(opened, &noted, out)?,
            false => write_rows(opened, &noted, out)?,
        };
        writeln!(out)?;
        Ok(rows)
    })
}

fn write_head(opened: &OpenedReport<'_>, noted: &ExportNotes<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (source, identifier) = (opened.source, opened.identifier.as_ref());
    let parts = identifier.map(|identifier| identifier.parts());
    let visible = |text: &Untrusted| value(Pane::Other, text);
    let sandbox = parts.as_ref().map_or_else(|| "a sandbox".to_owned(), |parts| visible(&parts.sandbox));
    writeln!(out, "# Behaviour report by {sandbox}\n")?;
    if let Some(verdict) = verdict::of_body(&opened.report.body) {
        writeln!(out, "- verdict {}", visible(&verdict))?;
    }
    if let Some(ran) = opened.ran() {
        writeln!(out, "- ran {}", moment(ran))?;
    }
    if let Some(file) = parts.and_then(|parts| parts.file) {
        writeln!(out, "- file `{file}`")?;
    }
    if let Some(identifier) = identifier {
        writeln!(out, "- report {}", visible(identifier.text()))?;
    }
    writeln!(out, "- from {}", visible(&Untrusted::from(source.origin.as_str())))?;
    if let Some(received) = source.received {
        writeln!(out, "- received {}", moment(received))?;
    }
    if opened.report.index.is_cut {
        writeln!(out, "- it stops in the middle: what came of it is here")?;
    }
    if let Some(whole) = noted.whole {
        writeln!(out, "- note {}", value(Pane::Other, &whole.text))?;
    }
    for (item, lost) in &noted.lost {
        let (attribute, item) = (value(Pane::Other, &item.attribute), value(Pane::Other, &item.text));
        writeln!(
            out,
            "- note {} on {attribute} {item}, which is not in this report any more",
            value(Pane::Other, &lost.text)
        )?;
    }
    Ok(())
}

fn moment(when: Timestamp) -> String {
    when.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn write_rows(opened: &OpenedReport<'_>, noted: &ExportNotes<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let (mut rows, mut last, mut nested) = (0, None, Nested::default());
    for (pane, place) in opened.places() {
        opened.go_on()?;
        if last != Some(pane) {
            writeln!(out, "\n## {}\n", opened.heading(pane))?;
            last = Some(pane);
        }
        let depths = opened.report.section(place.section).map(|section| section.depths());
        let named = |row| code(&process(opened, pane, Place { row, ..place }));
        let indent = nested.indent(place.section, place.row, depths, named);
        write_row(opened, pane, place, noted.at(place), indent, out)?;
        rows += 1;
    }
    Ok(rows)
}

/// A row as an item of a list; of an object each leaf as an item below it.
fn write_row(
    opened: &OpenedReport<'_>,
    pane: Pane,
    place: Place,
    noted: Option<&Note>,
    (indent, level): (String, String),
    out: &mut dyn Write,
) -> io::Result<()> {
    let report = &opened.report;
    let record = report.record(place);
    let (name, member) = attribute(report, place, &record);
    let known = report.section(place.section).and_then(|section| section.attribute);
    let label = match known.map(|known| known.label) {
        Some("") => String::new(),
        Some(word) => format!("{word} "),
        None => value(Pane::Other, &name) + " ",
    };
    let member = member.map(|member| value(pane, &member) + " ").unwrap_or_default();
    let raw = Raw::new(&record.value);
    let behind = marked(opened.rule(place)) + &noted.map(note).unwrap_or_default();
    if matches!(raw.kind(), Kind::Text | Kind::Word) {
        let is_moment = known.is_some_and(|known| matches!(known.shape, Shape::Moment));
        let shown = if is_moment { code(&process(opened, pane, place)) } else { value(pane, &raw.text()) };
        return writeln!(out, "{indent}- {level}{label}{member}{shown}{behind}");
    }
    writeln!(out, "{indent}- {level}{label}{member}{}{behind}", lead(opened, pane, place, raw))?;
    let code = known.map_or(&[][..], |known| known.code);
    let mut written = Ok(());
    leaves(&record.value, &mut |steps, raw| {
        let way = pointer(steps.iter().skip(1));
        let name = if way.is_empty() { String::new() } else { value(pane, &way) + " " };
        if written.is_err() {
            return;
        }
        written = match steps {
            [_, Step::Member(member)] if code.iter().any(|code| member.as_bytes() == code.as_bytes()) => {
                writeln!(out, "{indent}  - {}", name.trim_end())
                    .and_then(|()| block(&format!("{indent}    "), &raw.text(), out))
            }
            [.., Step::Member(member)] if member.as_bytes() == PASSWORD.as_bytes() => {
                writeln!(out, "{indent}  - {name}{HIDDEN}")
            }
            _ => writeln!(out, "{indent}  - {name}{}", value(pane, &raw.text())),
        };
    });
    written
}

/// The rule behind what it marks.
pub(super) fn marked(rule: Option<&Rule>) -> String {
    let words = |rule: &Rule| value(Pane::Other, &Untrusted::from(rule.words()));
    rule.map(|rule| format!(" - {} {}", rule.severity.word(), words(rule))).unwrap_or_default()
}

/// A note behind what it is on.
pub(super) fn note(note: &Note) -> String {
    format!(" - note {}", value(Pane::Other, &note.text))
}

/// The first line of an object: what its pane shows, or its name where the pane shows the object alone.
fn lead(opened: &OpenedReport<'_>, pane: Pane, place: Place, raw: Raw<'_>) -> String {
    let shape = opened.report.section(place.section).and_then(|section| section.attribute).map(|known| &known.shape);
    if matches!(shape, Some(Shape::Records(_) | Shape::ProcessTree)) {
        return code(&process(opened, pane, place));
    }
    let named = ["name", "rule_title", "rule_msg", "path", "key", "hostname", "url"];
    let found = named.iter().find_map(|name| raw.member(name)).filter(|found| found.kind() == Kind::Text);
    found.map_or_else(|| "record".to_owned(), |found| value(pane, &found.text()))
}

/// A value, its addresses without their teeth: what reads Markdown is not all that a text is pasted into.
fn value(pane: Pane, text: &Untrusted) -> String {
    code(harmless(pane, text).as_str())
}

/// Writes a block of code unchanged. Addresses in it are not defanged: a rule with changed strings finds
/// nothing. The attribute marks code, never the text, or a report could exempt any address.
/// Nothing in a block is markup or a link; control characters are escaped, backslashes are not, since rules
/// are full of them.
fn block(indent: &str, text: &Untrusted, out: &mut dyn Write) -> io::Result<()> {
    let shown = |line: &[u8]| {
        let tabs = line.split(|byte| *byte == b'\t').map(|part| {
            let parts = part.split(|byte| *byte == b'\\').map(|part| Untrusted::from(part).visible().to_string());
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

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A code span: its fence is longer than any run of backticks inside.
pub(super) fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    // Blanks inside keep backticks off the fence; a reader takes one off at each end, and keeps blanks alone.
    let needs_room = text.starts_with('`')
        || text.ends_with('`')
        || text.starts_with(' ') && text.ends_with(' ') && !text.trim().is_empty();
    match (text.is_empty(), needs_room) {
        (true, _) => "(empty)".to_owned(),
        (false, true) => format!("{fence} {text} {fence}"),
        (false, false) => format!("{fence}{text}{fence}"),
    }
}
