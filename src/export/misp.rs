//! A MISP event a report: its indicators as attributes. The same report gives the same identifiers.

use super::opened::{Correlations, OpenedReport};
use super::verdict::{reason, seen_in, techniques, verdict};
use super::{Export, Summary, list, object, own_literal};
use crate::report::indicators::{Kind, is_plain_host, same};
use crate::report::rules::Rules;
use crate::report::{Indicator, Note};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use uuid::Uuid;

/// The namespace of this program's events and attributes.
const OWN: Uuid = Uuid::from_u128(0x84f1_6a0c_2b7e_4d39_b5c8_0f92_e7d3_61ab);

/// How far it may go: a private report is for the own organisation, and one of unknown origin may be private.
const TLP: &str = "tlp:amber+strict";

/// A report is one event; several are in the list that MISP's own search gives.
pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let (rules, is_list) = (Rules::shipped(), job.sources.len() != 1);
    let (mut events, mut left_out) = (HashSet::new(), 0);
    out.write_all(if is_list { b"{\"response\":[" } else { b"" })?;
    let summary = job.each_report(&rules, |opened| {
        out.write_all(if events.is_empty() { b"" } else { b",\n" })?;
        let name = opened.name()?;
        let mut event = Uuid::new_v5(&OWN, format!("event {name}").as_bytes());
        if !events.insert(event) {
            // Another version of the same report.
            event = Uuid::new_v5(&OWN, format!("event {name} {}", opened.digest()?).as_bytes());
        }
        let (rows, more_left_out) = write_event(opened, &name, &event, out)?;
        left_out += more_left_out;
        Ok(rows)
    })?;
    out.write_all(if is_list { b"]}\n" } else { b"\n" })?;
    Ok(Summary { left_out, ..summary })
}

fn tag(name: &str) -> String {
    object([("name", Some(own_literal(name))), ("local", Some("0".to_owned()))])
}

/// Writes an event; returns how many rows were written, and how many left out.
fn write_event(opened: &OpenedReport<'_>, name: &str, event: &Uuid, out: &mut dyn Write) -> io::Result<(u64, u64)> {
    let when = opened.analysed();
    let whose = if opened.is_private() { "Private behaviour report" } else { "Behaviour report of unknown origin" };
    let info = match &opened.identifier {
        Some(identifier) => format!("{whose} by {}: {name}", identifier.parts().sandbox.visible_cut(100)),
        None => format!("{whose} without an identifier, its bytes with SHA-256 {name}"),
    };
    // High, medium, undefined.
    let threat = match verdict(&opened.report) {
        "malicious" => "1",
        "suspicious" => "2",
        _ => "4",
    };
    // The galaxy of techniques is sought by their whole names, and a report gives their numbers.
    let tags = techniques(opened).into_iter().map(|id| tag(&format!("mitre-attack:technique=\"{id}\"")));
    let head = object([
        ("uuid", Some(own_literal(&event.to_string()))),
        ("info", Some(own_literal(&info))),
        ("date", Some(own_literal(&when.strftime("%Y-%m-%d").to_string()))),
        ("timestamp", Some(seconds(when))),
        // Finished analysis, for the own organisation only: the report is, or may be, private.
        ("threat_level_id", Some(own_literal(threat))),
        ("analysis", Some(own_literal("2"))),
        ("distribution", Some(own_literal("0"))),
        ("published", Some("false".to_owned())),
        ("Tag", Some(list(std::iter::once(tag(TLP)).chain(tags)))),
    ]);
    write!(out, "{{\"Event\":{},\"Attribute\":[", head.strip_suffix('}').unwrap_or(&head))?;
    let mut writing = MispEvent { opened, event, when, joined: Correlations::of(opened)?, noted: Vec::new() };
    let (found, left_out) = opened.carried()?;
    let (alone, joined): (Vec<_>, Vec<_>) =
        found.all().iter().partition(|indicator| writing.beside(indicator).is_empty());
    let mut comma = "";
    for indicator in alone {
        opened.go_on()?;
        write!(out, "{comma}{}", writing.attribute(indicator, None))?;
        comma = ",\n";
    }
    let objects = writing.objects(&joined)?;
    // Notes beside no attribute stand by themselves.
    let notes = opened.notes().map(|(_, note)| note).filter(|note| !writing.noted.contains(note));
    let comments: Vec<_> = notes.map(|note| comment(event, note)).collect();
    for comment in &comments {
        write!(out, "{comma}{comment}")?;
        comma = ",\n";
    }
    out.write_all(b"]")?;
    if !objects.is_empty() {
        write!(out, ",\"Object\":[{}]", objects.join(",\n"))?;
    }
    out.write_all(b"}}")?;
    Ok(((found.all().len() + comments.len()) as u64, left_out))
}

/// An event that is being written.
struct MispEvent<'a> {
    opened: &'a OpenedReport<'a>,
    event: &'a Uuid,
    when: Timestamp,
    joined: Correlations,
    /// The notes that are written beside an attribute.
    noted: Vec<&'a Note>,
}

/// An object of several attributes, as its template has it: name, category, template and its version.
type Template = (&'static str, &'static str, &'static str, &'static str);

const FILE: Template = ("file", "file", "688c46fb-5edb-40a3-8273-1af7923e2215", "24");
const REGISTRY: Template = ("registry-key", "file", "8b3228ad-6d82-4fe6-b2ae-05426308f1d5", "4");

/// What an attribute is in its object, if it is in one, and of what it is so where several objects may have it.
type Within<'a> = Option<(&'a str, &'a str)>;

impl<'a> MispEvent<'a> {
    /// What stands with an indicator in an object: the paths of a hash, the hashes of a path, the data of a value.
    fn beside(&self, indicator: &Indicator) -> &[Untrusted] {
        self.joined.of_value(indicator.kind, &indicator.value)
    }

    /// A file with every path that it had; a registry value with all its data.
    fn objects(&mut self, joined: &[&Indicator]) -> io::Result<Vec<String>> {
        let paths = joined.iter().filter(|indicator| indicator.kind == Kind::Path);
        let paths: HashMap<_, _> = paths.map(|path| (same(Kind::Path, &path.value), *path)).collect();
        let mut objects = Vec::new();
        // A path stands with its hash.
        for indicator in joined.iter().filter(|indicator| indicator.kind != Kind::Path) {
            self.opened.go_on()?;
            let (beside, of) = (self.beside(indicator).to_vec(), indicator.value.legible());
            let (template, relation) = match indicator.kind {
                Kind::Hash => (FILE, standing(self.opened, indicator).0),
                _ => (REGISTRY, "key"),
            };
            let mut attributes = vec![self.attribute(indicator, Some((relation, "")))];
            for value in &beside {
                match (indicator.kind, paths.get(value)) {
                    (Kind::Hash, Some(path)) => attributes.push(self.attribute(path, Some(("filename", &of)))),
                    (Kind::Hash, None) => {}
                    _ => {
                        let (what, within) = (("text", "Persistence mechanism", false), Some(("data", &*of)));
                        attributes.push(attribute(self.event, self.when, what, &value.legible(), "", within));
                    }
                }
            }
            objects.push(self.object(template, &indicator.value, list(attributes)));
        }
        Ok(objects)
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

    /// An indicator as an attribute, of an object where it has a relation to one.
    fn attribute(&mut self, indicator: &Indicator, within: Within<'_>) -> String {
        let notes = self.opened.notes_about(indicator);
        let words: String = notes.iter().map(|note| format!("; note: {}", note.text.visible())).collect();
        let reason = reason(self.opened, indicator);
        let to_ids = reason.is_some();
        let why = match reason {
            Some(reason) => reason.words,
            None => format!("{} seen in {}", indicator.kind.name(), seen_in(&self.opened.report, indicator)),
        };
        self.noted.extend(notes);
        let (kind, category) = standing(self.opened, indicator);
        let what = (kind, category, to_ids);
        attribute(self.event, self.when, what, &indicator.value.legible(), &(why + &words), within)
    }
}

/// A note as an attribute by itself.
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
    // Notes may say the same of several things; a path stands with each hash that was there, and values are set to the same data.
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

/// Type and category. A thing that was only opened, read or named is in no category for remains; the
/// type of a mutex has no other category, so that one that was only opened has another type.
fn standing(opened: &OpenedReport<'_>, indicator: &Indicator) -> (&'static str, &'static str) {
    let value = indicator.value.as_bytes();
    let traced = if indicator.is_left { "Artifacts dropped" } else { "External analysis" };
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
        Kind::Mutex if indicator.is_left => "mutex",
        Kind::Certificate if value.len() == 32 => "x509-fingerprint-md5",
        Kind::Certificate if value.len() == 40 => "x509-fingerprint-sha1",
        Kind::Certificate => "x509-fingerprint-sha256",
        // The types that its templates `ja3s` and `ja4-plus` have for them.
        Kind::Ja3 | Kind::Ja3s => "ja3-fingerprint-md5",
        Kind::Ja4 => "text",
        Kind::FileType => "mime-type",
        // MISP has no types for these.
        Kind::Mutex | Kind::Memory => "other",
    };
    let category = match indicator.kind {
        Kind::Hash if opened.is_sample(&indicator.value) => "Payload delivery",
        Kind::FileType => "Payload delivery",
        Kind::Hash | Kind::Path | Kind::Key | Kind::Mutex => traced,
        Kind::Memory => "Other",
        _ => "Network activity",
    };
    (kind, category)
}
