//! A MISP event a report: its indicators as attributes. The same report gives the same identifiers.

use super::noted::Noted;
use super::{Job, Source, Summary, indicators, object, own_literal};
use crate::report::indicators::Kind;
use crate::report::rules::{Marks, Rules};
use crate::report::{Indicator, Report};
use jiff::Timestamp;
use std::io::{self, Write};
use uuid::Uuid;

/// The namespace of this program's events and attributes.
const OWN: Uuid = Uuid::from_u128(0x84f1_6a0c_2b7e_4d39_b5c8_0f92_e7d3_61ab);

/// One report is one event; several stand in the list that MISP's own search gives.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    let (rules, is_list) = (Rules::shipped(), job.sources.len() != 1);
    out.write_all(if is_list { b"{\"response\":[" } else { b"" })?;
    for (number, source) in job.sources.iter().enumerate() {
        out.write_all(if number > 0 { b",\n" } else { b"" })?;
        let report = source.open()?;
        summary.add_report(&report);
        let marks = rules.judge(&report, job.is_wanted)?;
        summary.rows += write_event(job, source, &report, &marks, out)?;
    }
    out.write_all(if is_list { b"]}\n" } else { b"\n" })?;
    Ok(summary)
}

/// The members of an event before its attributes.
fn head(event: &Uuid, when: Timestamp, info: &str) -> String {
    object([
        ("uuid", Some(own_literal(&event.to_string()))),
        ("info", Some(own_literal(info))),
        ("date", Some(own_literal(&when.strftime("%Y-%m-%d").to_string()))),
        ("timestamp", Some(own_literal(&when.as_second().max(0).to_string()))),
        // Undefined threat, finished analysis, for the own organisation only: the report is private.
        ("threat_level_id", Some(own_literal("4"))),
        ("analysis", Some(own_literal("2"))),
        ("distribution", Some(own_literal("0"))),
        ("published", Some("false".to_owned())),
    ])
}

fn write_event(job: &Job<'_>, source: &Source, report: &Report, marks: &Marks, out: &mut dyn Write) -> io::Result<u64> {
    let identifier = source.identifier(report);
    let name = identifier.as_ref().map(|identifier| identifier.text().visible().to_string()).unwrap_or_default();
    let parts = identifier.as_ref().map(|identifier| identifier.parts());
    let event = Uuid::new_v5(&OWN, format!("event {name}").as_bytes());
    let when = parts.as_ref().and_then(|parts| parts.when).and_then(|when| Timestamp::from_second(when).ok());
    let when = when.or(source.received).unwrap_or(Timestamp::UNIX_EPOCH);
    let sandbox = parts.as_ref().map(|parts| parts.sandbox.visible_cut(100).to_string()).unwrap_or_default();
    let head = head(&event, when, &format!("Private behaviour report by {sandbox}: {name}"));
    write!(out, "{{\"Event\":{},\"Attribute\":[", head.strip_suffix('}').unwrap_or(&head))?;
    let mut rows = 0;
    let sample = parts.and_then(|parts| parts.file);
    if let Some(sample) = &sample {
        write_attribute(
            &event,
            when,
            ("sha256", "Payload delivery", true),
            sample.as_str(),
            "the file that was run",
            out,
        )?;
        rows += 1;
    }
    let noted = Noted::of(job, source, report)?;
    let mut said = Vec::new();
    for indicator in indicators::of(job, report)?.all() {
        job.go_on()?;
        let value = indicator.value.visible();
        if sample.as_ref().is_some_and(|sample| sample.as_str() == value.as_str()) {
            continue;
        }
        out.write_all(if rows > 0 { b",\n" } else { b"" })?;
        let notes = noted.about(indicator);
        let words: String = notes.iter().map(|note| format!("; note: {}", note.text.visible())).collect();
        let comment = format!("seen in {}{words}", indicators::seen_in(report, indicator));
        said.extend(notes);
        write_attribute(&event, when, standing(indicator, marks), value.as_str(), &comment, out)?;
        rows += 1;
    }
    // What no indicator says stands by itself.
    let lost = noted.lost.iter().map(|(_, note)| *note);
    let others = noted.on_rows().map(|(_, note)| note).chain(lost).filter(|note| !said.contains(note));
    for note in noted.whole.into_iter().chain(others) {
        out.write_all(if rows > 0 { b",\n" } else { b"" })?;
        let on = note.about.item.as_ref().map(|item| format!("{}: {}", item.attribute.visible(), item.text.visible()));
        let comment = format!("note on {}", on.unwrap_or_else(|| "the report".to_owned()));
        let text = note.text.visible();
        write_attribute(&event, note.written, ("comment", "Other", false), text.as_str(), &comment, out)?;
        rows += 1;
    }
    out.write_all(b"]}}")?;
    Ok(rows)
}

fn write_attribute(
    event: &Uuid,
    when: Timestamp,
    (kind, category, to_ids): (&'static str, &'static str, bool),
    value: &str,
    comment: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Notes may say the same of several things.
    let about = if kind == "comment" { comment } else { "" };
    let uuid = Uuid::new_v5(event, format!("{kind} {value}{about}").as_bytes());
    let json = object([
        ("uuid", Some(own_literal(&uuid.to_string()))),
        ("type", Some(own_literal(kind))),
        ("category", Some(own_literal(category))),
        ("value", Some(own_literal(value))),
        ("to_ids", Some(to_ids.to_string())),
        ("timestamp", Some(own_literal(&when.as_second().max(0).to_string()))),
        ("comment", Some(own_literal(comment))),
        ("distribution", Some(own_literal("5"))),
        ("disable_correlation", Some("false".to_owned())),
    ]);
    out.write_all(json.as_bytes())
}

/// Type, category, and whether it is fit for detection: only what a rule marks as deserving a look is, for programs that do harm ask for
/// harmless hosts as well.
fn standing(indicator: &Indicator, marks: &Marks) -> (&'static str, &'static str, bool) {
    let (kind, category, can_be_sought) = kind(indicator);
    let is_marked = indicator.places.iter().any(|place| marks.rule(place.section, place.row).is_some());
    (kind, category, can_be_sought && is_marked)
}

/// Type, category, and whether its kind is fit for detection: what any program may touch is not.
fn kind(indicator: &Indicator) -> (&'static str, &'static str, bool) {
    let value = indicator.value.as_bytes();
    match indicator.kind {
        Kind::Hash if value.len() == 32 => ("md5", "Artifacts dropped", true),
        Kind::Hash if value.len() == 40 => ("sha1", "Artifacts dropped", true),
        Kind::Hash => ("sha256", "Artifacts dropped", true),
        Kind::Host if !is_plain_host(value) => ("other", "Network activity", false),
        Kind::Host if value.iter().filter(|byte| **byte == b'.').count() > 1 => ("hostname", "Network activity", true),
        Kind::Host => ("domain", "Network activity", true),
        Kind::Address => ("ip-dst", "Network activity", true),
        Kind::Url => ("url", "Network activity", true),
        Kind::Mail => ("email", "Network activity", false),
        Kind::Path => ("filename", "Artifacts dropped", false),
        Kind::Key => ("regkey", "Artifacts dropped", false),
        Kind::Mutex => ("mutex", "Artifacts dropped", false),
    }
}

/// A host that MISP takes for one: letters, digits, dashes, dots.
fn is_plain_host(value: &[u8]) -> bool {
    let ends_well = value.rsplit(|byte| *byte == b'.').next().is_some_and(|last| last.len() >= 2);
    ends_well && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}
