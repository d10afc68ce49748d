//! Writes a MISP event per file, indicators as attributes; the same reports give the same UUIDs.

use super::opened::{Correlations, MergedReports, OpenedReport, techniques};
use super::{Export, Summary, list, object, own_literal};
use crate::report::Note;
use crate::report::identifier::Sha256;
use crate::report::indicators::{Kind, MergedIndicator, is_plain_host, same};
use crate::report::page::SampleVerdict;
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use uuid::Uuid;

/// The namespace of this program's events and attributes.
const OWN: Uuid = Uuid::from_u128(0x84f1_6a0c_2b7e_4d39_b5c8_0f92_e7d3_61ab);

/// Sharing limit: the own organisation, because a report of unknown origin may be private.
const TLP: &str = "tlp:amber+strict";

/// Writes a file's reports as one event; several events are a list, as MISP's search returns.
pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut summary = Summary::default();
    let mut files: Vec<(Option<Sha256>, Vec<OpenedReport<'_>>)> = Vec::new();
    for opened in job.opened() {
        let opened = opened?;
        summary.add_report(&opened.report);
        let file = opened.sample();
        match files.iter_mut().find(|(known, _)| file.is_some() && *known == file) {
            Some((_, reports)) => reports.push(opened),
            None => files.push((file, vec![opened])),
        }
    }
    let is_list = files.len() != 1;
    out.write_all(if is_list { b"{\"response\":[" } else { b"" })?;
    for (number, (file, reports)) in files.into_iter().enumerate() {
        out.write_all(if number == 0 { b"" } else { b",\n" })?;
        let merged = MergedReports::carried(job, reports)?;
        summary.left_out += merged.left_out;
        summary.rows += write_event(file.as_ref(), &merged, out)?;
    }
    out.write_all(if is_list { b"]}\n" } else { b"\n" })?;
    Ok(summary)
}

/// High, medium or undefined, by the worst verdict.
fn threat_level(reports: &[OpenedReport<'_>]) -> &'static str {
    match reports.iter().map(|opened| SampleVerdict::of(&opened.report)).min() {
        Some(SampleVerdict::Malicious) => "1",
        Some(SampleVerdict::Suspicious) => "2",
        _ => "4",
    }
}

fn tag(name: &str) -> String {
    object([("name", Some(own_literal(name))), ("local", Some("0".to_owned()))])
}

/// Writes an event; returns how many indicators were written.
fn write_event(file: Option<&Sha256>, merged: &MergedReports<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let all = || merged.opened.iter();
    let names = all().map(OpenedReport::name).collect::<io::Result<Vec<_>>>()?.join(" ");
    let event = &Uuid::new_v5(&OWN, format!("event {names}").as_bytes());
    let when = all().map(OpenedReport::analysed).max().unwrap_or(Timestamp::UNIX_EPOCH);
    let end = if merged.opened.len() == 1 { "" } else { "s" };
    let kind = match all().all(OpenedReport::is_private) {
        true => format!("Private behaviour report{end}"),
        false => format!("Behaviour report{end} of unknown origin"),
    };
    let sandboxes = all().map(OpenedReport::sandbox).collect::<Vec<_>>().join(", ");
    let info = match merged.opened.as_slice() {
        [one] if one.identifier.is_none() => format!("{kind} without an identifier, its bytes with SHA-256 {names}"),
        [_] => format!("{kind} by {sandboxes}: {names}"),
        _ => format!("{kind} by {sandboxes}: {}", file.map_or("", Sha256::as_str)),
    };
    // MISP's galaxy needs the full names of techniques, but a report has only their numbers.
    let tags: BTreeSet<_> = all().flat_map(techniques).collect();
    let tags = tags.iter().map(|id| tag(&format!("mitre-attack:technique=\"{id}\"")));
    let head = object([
        ("uuid", Some(own_literal(&event.to_string()))),
        ("info", Some(own_literal(&info))),
        ("date", Some(own_literal(&when.strftime("%Y-%m-%d").to_string()))),
        ("timestamp", Some(seconds(when))),
        // Finished analysis, for the own organisation only: the report is, or may be, private.
        ("threat_level_id", Some(own_literal(threat_level(&merged.opened)))),
        ("analysis", Some(own_literal("2"))),
        ("distribution", Some(own_literal("0"))),
        ("published", Some("false".to_owned())),
        ("Tag", Some(list(std::iter::once(tag(TLP)).chain(tags)))),
    ]);
    write!(out, "{{\"Event\":{},\"Attribute\":[", head.strip_suffix('}').unwrap_or(&head))?;
    let joined = Correlations::of(&merged.opened)?;
    let mut writing = MispEvent { merged, event, when, joined, noted: Vec::new() };
    let (alone, joined): (Vec<_>, Vec<_>) = merged.found.iter().partition(|found| writing.beside(found).is_empty());
    let mut comma = "";
    for found in alone {
        merged.job.cancel.check()?;
        write!(out, "{comma}{}", writing.attribute(found, None))?;
        comma = ",\n";
    }
    let objects = writing.objects(&joined)?;
    for comment in writing.comments() {
        write!(out, "{comma}{comment}")?;
        comma = ",\n";
    }
    out.write_all(b"]")?;
    if !objects.is_empty() {
        write!(out, ",\"Object\":[{}]", objects.join(",\n"))?;
    }
    out.write_all(b"}}")?;
    Ok(merged.found.len() as u64)
}

struct MispEvent<'a> {
    merged: &'a MergedReports<'a>,
    event: &'a Uuid,
    when: Timestamp,
    joined: Correlations,
    noted: Vec<&'a Note>,
}

/// A template of objects: name, category, UUID and version.
type Template = (&'static str, &'static str, &'static str, &'static str);

const FILE: Template = ("file", "file", "688c46fb-5edb-40a3-8273-1af7923e2215", "24");
const REGISTRY: Template = ("registry-key", "file", "8b3228ad-6d82-4fe6-b2ae-05426308f1d5", "4");

/// An attribute's relation to its object, and the value that tells equal attributes apart.
type Within<'a> = Option<(&'a str, &'a str)>;

impl<'a> MispEvent<'a> {
    /// Returns values of an indicator's objects: paths, hashes, a registry value's data.
    fn beside(&self, found: &MergedIndicator) -> &[Untrusted] {
        self.joined.of_value(found.kind(), found.value())
    }

    /// Returns the objects: each file with all its paths, each registry value with all its data.
    fn objects(&mut self, joined: &[&MergedIndicator]) -> io::Result<Vec<String>> {
        let paths = joined.iter().filter(|found| found.kind() == Kind::Path);
        let paths: HashMap<_, _> = paths.map(|path| (same(Kind::Path, path.value()), *path)).collect();
        let mut objects = Vec::new();
        // The object of a hash contains its paths.
        for found in joined.iter().filter(|found| found.kind() != Kind::Path) {
            self.merged.job.cancel.check()?;
            let beside = self.beside(found).to_vec();
            let of = found.value().legible();
            let (template, relation) = match found.kind() {
                Kind::Hash => (FILE, standing(self.merged, found).0),
                _ => (REGISTRY, "key"),
            };
            let mut attributes = vec![self.attribute(found, Some((relation, "")))];
            for value in &beside {
                match (found.kind(), paths.get(value)) {
                    (Kind::Hash, Some(path)) => attributes.push(self.attribute(path, Some(("filename", &of)))),
                    (Kind::Hash, None) => {}
                    _ => {
                        let what = ("text", "Persistence mechanism", false);
                        let within = Some(("data", &*of));
                        attributes.push(attribute(self.event, self.when, what, &value.legible(), "", within));
                    }
                }
            }
            objects.push(self.object(template, found.value(), list(attributes)));
        }
        Ok(objects)
    }

    /// Formats notes without an attribute, and lists perhaps cut, as attributes of their own.
    fn comments(&self) -> Vec<String> {
        let all = || self.merged.opened.iter();
        let notes = all().flat_map(OpenedReport::notes).map(|(_, note)| note);
        let notes = notes.filter(|note| !self.noted.contains(note)).map(|note| comment(self.event, note));
        let cut = all().filter_map(|opened| Some((opened.sandbox(), opened.report.cut_lists_label(None)?)));
        let cut = cut.map(|(sandbox, cut)| {
            let comment = format!("lists of {sandbox}");
            attribute(self.event, self.when, ("comment", "Other", false), &cut, &comment, None)
        });
        notes.chain(cut).collect()
    }

    fn object(&self, (name, category, template, version): Template, value: &Untrusted, attributes: String) -> String {
        let uuid = Uuid::new_v5(self.event, format!("object {name} {}", value.legible()).as_bytes());
        object([
            ("uuid", Some(own_literal(&uuid.to_string()))),
            ("name", Some(own_literal(name))),
            ("meta-category", Some(own_literal(category))),
            ("template_uuid", Some(own_literal(template))),
            ("template_version", Some(own_literal(version))),
            ("timestamp", Some(seconds(self.when))),
            ("distribution", Some(own_literal("5"))),
            ("Attribute", Some(attributes)),
        ])
    }

    fn attribute(&mut self, found: &MergedIndicator, within: Within<'_>) -> String {
        let notes = self.merged.notes_about(found);
        let remarks: String = notes.iter().map(|note| format!("; note: {}", note.text.visible())).collect();
        let reason = self.merged.reason(found);
        let to_ids = reason.is_some();
        let why = match reason {
            Some((reason, _)) => reason.explanation,
            None => format!("{} seen in {}", found.kind().name(), self.merged.seen_in(found)),
        };
        self.noted.extend(notes);
        let (kind, category) = standing(self.merged, found);
        let value = found.value().legible();
        attribute(self.event, self.when, (kind, category, to_ids), &value, &(why + &remarks), within)
    }
}

fn comment(event: &Uuid, note: &Note) -> String {
    let on = note.about.item.as_ref().map(|item| format!("{}: {}", item.attribute.visible(), item.text.visible()));
    let comment = format!("note on {}", on.unwrap_or_else(|| "the report".to_owned()));
    attribute(event, note.written, ("comment", "Other", false), &note.text.legible(), &comment, None)
}

fn seconds(when: Timestamp) -> String {
    own_literal(&when.as_second().max(0).to_string())
}

fn attribute(
    event: &Uuid,
    when: Timestamp,
    (kind, category, to_ids): (&'static str, &'static str, bool),
    value: &str,
    comment: &str,
    within: Within<'_>,
) -> String {
    // Equal attributes need other UUIDs: equal notes, a path with several hashes, equal data.
    let about = if kind == "comment" { comment } else { within.map_or("", |(_, of)| of) };
    let relation = within.map_or("", |(relation, _)| relation);
    let uuid = Uuid::new_v5(event, format!("{kind} {relation} {value}{about}").as_bytes());
    object([
        ("uuid", Some(own_literal(&uuid.to_string()))),
        ("type", Some(own_literal(kind))),
        ("object_relation", within.map(|(relation, _)| own_literal(relation))),
        ("category", Some(own_literal(category))),
        ("value", Some(own_literal(value))),
        ("to_ids", Some(to_ids.to_string())),
        ("timestamp", Some(seconds(when))),
        ("comment", Some(own_literal(comment))),
        ("distribution", Some(own_literal("5"))),
        ("disable_correlation", Some("false".to_owned())),
    ])
}

/// Returns type and category. Indicators only opened, read or named are not "Artifacts dropped"; as
/// the type `mutex` allows no other category, a mutex that was only opened has another type.
fn standing(merged: &MergedReports<'_>, found: &MergedIndicator) -> (&'static str, &'static str) {
    let value = found.value().as_bytes();
    let is_left = found.sightings().any(|sighting| sighting.indicator.is_left);
    let traced = if is_left { "Artifacts dropped" } else { "External analysis" };
    let kind = match found.kind() {
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
        Kind::Mutex if is_left => "mutex",
        Kind::Certificate if value.len() == 32 => "x509-fingerprint-md5",
        Kind::Certificate if value.len() == 40 => "x509-fingerprint-sha1",
        Kind::Certificate => "x509-fingerprint-sha256",
        // As in the templates `ja3s` and `ja4-plus`.
        Kind::Ja3 | Kind::Ja3s => "ja3-fingerprint-md5",
        Kind::Ja4 => "text",
        Kind::FileType => "mime-type",
        // MISP has no types for these.
        Kind::Mutex | Kind::Memory => "other",
    };
    let category = match found.kind() {
        Kind::Hash if merged.reports_of(found).any(|(report, _)| report.is_sample(found.value())) => "Payload delivery",
        Kind::FileType => "Payload delivery",
        Kind::Hash | Kind::Path | Kind::Key | Kind::Mutex => traced,
        Kind::Memory => "Other",
        _ => "Network activity",
    };
    (kind, category)
}
