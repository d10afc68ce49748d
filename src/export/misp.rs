//! A MISP event a report: its indicators as attributes. The same report gives the same identifiers.

use super::noted::Noted;
use super::opened::Opened;
use super::verdict::{techniques, verdict};
use super::{Job, Summary, indicators, list, object, own_literal};
use crate::report::indicators::{Kind, is_plain_host};
use crate::report::rules::Rules;
use crate::report::{Indicator, Report};
use jiff::Timestamp;
use std::collections::HashSet;
use std::io::{self, Write};
use uuid::Uuid;

/// The namespace of this program's events and attributes.
const OWN: Uuid = Uuid::from_u128(0x84f1_6a0c_2b7e_4d39_b5c8_0f92_e7d3_61ab);

/// The category of what a sample left behind.
const DROPPED: &str = "Artifacts dropped";

/// Levels of threat.
const HIGH: &str = "1";
const MEDIUM: &str = "2";
const UNDEFINED: &str = "4";

/// One report is one event; several stand in the list that MISP's own search gives.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    let (rules, is_list) = (Rules::shipped(), job.sources.len() != 1);
    let mut events = HashSet::new();
    out.write_all(if is_list { b"{\"response\":[" } else { b"" })?;
    for (number, source) in job.sources.iter().enumerate() {
        out.write_all(if number > 0 { b",\n" } else { b"" })?;
        let opened = Opened::new(job, source, Some(&rules))?;
        summary.add_report(&opened.report);
        let name = opened.name()?;
        let mut event = Uuid::new_v5(&OWN, format!("event {name}").as_bytes());
        if !events.insert(event) {
            // Another version of the same report.
            event = Uuid::new_v5(&OWN, format!("event {name} {}", opened.digest()?).as_bytes());
        }
        summary.rows += write_event(&opened, &name, &event, out)?;
    }
    out.write_all(if is_list { b"]}\n" } else { b"\n" })?;
    Ok(summary)
}

/// The members of an event before its attributes.
fn head(event: &Uuid, when: Timestamp, info: &str, report: &Report) -> String {
    let threat = match verdict(report) {
        "malicious" => HIGH,
        "suspicious" => MEDIUM,
        _ => UNDEFINED,
    };
    // The galaxy of techniques is sought by their whole names, and a report gives their numbers.
    let tags = techniques(report).into_iter().map(|id| {
        object([
            ("name", Some(own_literal(&format!("mitre-attack:technique=\"{id}\"")))),
            ("local", Some("0".to_owned())),
        ])
    });
    let tags = list(tags);
    object([
        ("uuid", Some(own_literal(&event.to_string()))),
        ("info", Some(own_literal(info))),
        ("date", Some(own_literal(&when.strftime("%Y-%m-%d").to_string()))),
        ("timestamp", Some(own_literal(&when.as_second().max(0).to_string()))),
        // Finished analysis, for the own organisation only: the report is private.
        ("threat_level_id", Some(own_literal(threat))),
        ("analysis", Some(own_literal("2"))),
        ("distribution", Some(own_literal("0"))),
        ("published", Some("false".to_owned())),
        ("Tag", Some(tags).filter(|tags| tags != "[]")),
    ])
}

fn write_event(opened: &Opened<'_>, name: &str, event: &Uuid, out: &mut dyn Write) -> io::Result<u64> {
    let parts = opened.identifier.as_ref().map(|identifier| identifier.parts());
    let when = opened.analysed();
    let info = match &parts {
        Some(parts) => format!("Private behaviour report by {}: {name}", parts.sandbox.visible_cut(100)),
        None => format!("Behaviour report without an identifier, its bytes with SHA-256 {name}"),
    };
    let head = head(event, when, &info, &opened.report);
    write!(out, "{{\"Event\":{},\"Attribute\":[", head.strip_suffix('}').unwrap_or(&head))?;
    let (mut rows, mut said, noted) = (0, Vec::new(), Noted::of(opened)?);
    for indicator in opened.indicators()?.all() {
        opened.go_on()?;
        out.write_all(if rows > 0 { b",\n" } else { b"" })?;
        let notes = noted.about(indicator);
        let words: String = notes.iter().map(|note| format!("; note: {}", note.text.visible())).collect();
        let reason = indicators::reason(opened, indicator);
        let why = match &reason {
            Some(reason) => reason.words(opened, indicator),
            None => format!("seen in {}", indicators::seen_in(&opened.report, indicator)),
        };
        said.extend(notes);
        let (kind, category) = standing(opened, indicator);
        let what = (kind, category, reason.is_some());
        write_attribute(event, when, what, &indicator.value.legible(), &(why + &words), out)?;
        rows += 1;
    }
    // What no indicator says stands by itself.
    let lost = noted.lost.iter().map(|(_, note)| *note);
    let others = noted.on_rows().map(|(_, note)| note).chain(lost).filter(|note| !said.contains(note));
    for note in noted.whole.into_iter().chain(others) {
        out.write_all(if rows > 0 { b",\n" } else { b"" })?;
        let on = note.about.item.as_ref().map(|item| format!("{}: {}", item.attribute.visible(), item.text.visible()));
        let comment = format!("note on {}", on.unwrap_or_else(|| "the report".to_owned()));
        write_attribute(event, note.written, ("comment", "Other", false), &note.text.legible(), &comment, out)?;
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

/// Type and category. What was only opened, read or named is in none that says it was left behind; a mutex has no other.
fn standing(opened: &Opened<'_>, indicator: &Indicator) -> (&'static str, &'static str) {
    let value = indicator.value.as_bytes();
    let traced = if indicator.is_left { DROPPED } else { "External analysis" };
    let kind = match indicator.kind {
        Kind::Hash if value.len() == 32 => "md5",
        Kind::Hash if value.len() == 40 => "sha1",
        Kind::Hash => "sha256",
        Kind::Host if !is_plain_host(value) => "other",
        Kind::Host if value.iter().filter(|byte| **byte == b'.').count() > 1 => "hostname",
        Kind::Host => "domain",
        Kind::Address => "ip-dst",
        Kind::Url => "url",
        Kind::Mail => "email",
        Kind::Path => "filename",
        Kind::Key => "regkey",
        Kind::Mutex => "mutex",
    };
    let category = match indicator.kind {
        Kind::Hash if opened.is_sample(&indicator.value) => "Payload delivery",
        Kind::Hash | Kind::Path | Kind::Key => traced,
        Kind::Host | Kind::Address | Kind::Url | Kind::Mail => "Network activity",
        Kind::Mutex => DROPPED,
    };
    (kind, category)
}
