//! Writes a STIX 2.1 bundle: observables of each sandbox, indicators to block, stable identifiers.

use super::opened::{Correlations, MergedReports, OpenedReport, seen_in, techniques};
use super::{Export, Member, Summary, list, literal, object, own_literal};
use crate::report::canonical::{HIVES, spell_out_str};
use crate::report::indicators::{Kind, MergedIndicator, kind_in_memory, same};
use crate::report::page::SampleVerdict;
use crate::report::{Indicator, Note, NoteSubject};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use uuid::Uuid;

/// Writes one bundle of all reports, with each object once.
pub(super) fn write(job: &Export<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let merged = MergedReports::carried(job, job.opened().collect::<io::Result<_>>()?)?;
    let mut bundle = Bundle { out, written: HashSet::new(), left_out: merged.left_out };
    let names =
        job.sources.iter().map(|source| source.identifier.as_ref().map(|i| literal(i.text())).unwrap_or_default());
    let id = own_id("bundle", &names.collect::<String>());
    write!(bundle.out, "{{\"type\":\"bundle\",\"id\":\"{id}\",\"objects\":[")?;
    bundle.write(MARKING.to_owned(), MARKING_OBJECT.trim_end())?;
    let mut summary = Summary::default();
    for (number, opened) in merged.opened.iter().enumerate() {
        let found = merged.found.iter().flat_map(MergedIndicator::sightings);
        let found: Vec<_> =
            found.filter(|sighting| sighting.report == number).map(|sighting| &sighting.indicator).collect();
        bundle.write_report(opened, &found)?;
        summary.add_report(&opened.report);
    }
    merged.found.iter().try_for_each(|found| bundle.block(&merged, found))?;
    bundle.out.write_all(b"]}\n")?;
    // The marking is not an indicator's object.
    let objects = bundle.written.len() as u64 - 1;
    Ok(Summary { rows: merged.found.len() as u64, objects, left_out: bundle.left_out, ..summary })
}

struct Bundle<'a> {
    out: &'a mut dyn Write,
    written: HashSet<String>,
    /// Number of rows without an object: STIX has none for most rows, nor for devices and pipes.
    left_out: u64,
}

/// Indicator types of STIX, in the order of decreasing certainty.
const ACTIVITIES: [&str; 3] = ["malicious-activity", "anomalous-activity", "unknown"];

/// The paths and folders of a report, and the values that belong together.
struct SeenThings<'a> {
    joined: Correlations,
    paths: HashMap<Untrusted, &'a Untrusted>,
    /// The paths that contain other paths, in their form for comparison.
    folders: HashSet<Untrusted>,
}

#[derive(Default)]
struct References<'n> {
    /// The observables, each once, as literals.
    observed: Vec<String>,
    /// Registry keys with their rows: objects cannot state if one was set, deleted or opened.
    keys: Vec<(String, String)>,
    /// The objects that each note is about, as literals.
    noted: HashMap<&'n NoteSubject, Vec<String>>,
}

impl Bundle<'_> {
    /// Writes an object, unless one of the same identifier was written; returns the identifier.
    fn write(&mut self, id: String, json: &str) -> io::Result<String> {
        let comma = if self.written.is_empty() { "" } else { ",\n" };
        if self.written.insert(id.clone()) {
            write!(self.out, "{comma}{json}")?;
        }
        Ok(id)
    }

    fn write_report(&mut self, opened: &OpenedReport<'_>, found: &[&Indicator]) -> io::Result<()> {
        let identifier = opened.identifier.as_ref();
        let analysed = opened.analysed();
        let when = own_literal(&timestamp_text(analysed));
        let sample = opened.sample();
        let sample = sample.map(|file| self.file(Some(&Untrusted::from(file.as_str())), None)).transpose()?;
        let References { observed, keys, mut noted } = self.observe(opened, found, sample.as_deref())?;
        let sandbox = identifier.map(|identifier| product(&identifier.parts().sandbox)).filter(|name| !name.is_empty());
        let name = identifier.map_or_else(|| opened.digest(), |identifier| Ok(literal(identifier.text())))?;
        let mut id = own_id("malware-analysis", &format!("analysis {name}"));
        if self.written.contains(&id) {
            // Another version of the same report.
            id = own_id("malware-analysis", &format!("analysis {name} {}", opened.digest()?));
        }
        let own = [
            ("product", Some(own_literal(sandbox.as_deref().unwrap_or("anonymized")))),
            ("analysis_started", Some(when.clone())),
            ("result", Some(own_literal(SampleVerdict::of(&opened.report).name()))),
            ("sample_ref", sample.map(|sample| own_literal(&sample))),
            ("labels", opened.report.cut_lists_label(None).map(|cut| list([own_literal(&cut)]))),
            ("analysis_sco_refs", Some(list(observed)).filter(|refs| refs != "[]")),
        ];
        self.write_dated(&id, [&when, &when], own)?;
        self.write_techniques(opened, &id, &when)?;
        for (key, how) in keys {
            self.relate(&id, &key, Some(&how), &when)?;
        }
        for (_, note) in opened.notes() {
            let about = noted.remove(&note.about).unwrap_or_default();
            self.write_note(note, analysed, std::iter::once(own_literal(&id)).chain(about))?;
        }
        Ok(())
    }

    /// Writes an object with the times of its creation and last change.
    fn write_dated<'m>(
        &mut self,
        id: &str,
        [created, modified]: [&str; 2],
        own: impl IntoIterator<Item = Member<'m>>,
    ) -> io::Result<()> {
        let dates = [("created", Some(created.to_owned())), ("modified", Some(modified.to_owned()))];
        self.write(id.to_owned(), &object(begun(id).into_iter().chain(dates).chain(own))).map(drop)
    }

    fn observe<'n>(
        &mut self,
        opened: &OpenedReport<'n>,
        found: &[&Indicator],
        sample: Option<&str>,
    ) -> io::Result<References<'n>> {
        let mut references = References::default();
        let mut known = HashSet::new();
        let paths = found.iter().filter(|found| found.kind == Kind::Path);
        let paths: HashMap<_, _> = paths.map(|path| (same(Kind::Path, &path.value), &path.value)).collect();
        let joined = Correlations::of(std::slice::from_ref(opened))?;
        let seen = SeenThings { joined, folders: folders(&paths), paths };
        for indicator in found {
            opened.job.cancel.check()?;
            let objects = self.observables(indicator, &seen)?;
            if objects.is_empty() {
                self.left_out += indicator.alone;
            }
            for id in objects {
                // The sample was run; all other observables were seen with it.
                if sample == Some(id.as_str()) && indicator.places.is_empty() {
                    continue;
                }
                for note in opened.notes_about(indicator) {
                    let about = references.noted.entry(&note.about).or_default();
                    about.extend(Some(own_literal(&id)).filter(|id| !about.contains(id)));
                }
                if indicator.kind == Kind::Key {
                    references.keys.push((id.clone(), format!("Seen in {}.", seen_in(&opened.report, indicator))));
                }
                references.observed.extend(known.insert(id.clone()).then(|| own_literal(&id)));
            }
        }
        Ok(references)
    }

    /// Writes an analysis's ATT&CK techniques, named by number: the names are ATT&CK's own.
    fn write_techniques(&mut self, opened: &OpenedReport<'_>, analysis: &str, when: &str) -> io::Result<()> {
        for number in techniques(opened) {
            let id = own_id("attack-pattern", &format!("technique {number}"));
            let address = format!("https://attack.mitre.org/techniques/{}", number.replace('.', "/"));
            let reference = object([
                ("source_name", Some(own_literal("mitre-attack"))),
                ("url", Some(own_literal(&address))),
                ("external_id", Some(own_literal(&number))),
            ]);
            let own = [("name", Some(own_literal(&number))), ("external_references", Some(list([reference])))];
            self.write_dated(&id, [when, when], own)?;
            self.relate(analysis, &id, None, when)?;
        }
        Ok(())
    }

    /// Writes the relationship of an analysis with an object, and its description if it has one.
    fn relate(&mut self, analysis: &str, with: &str, how: Option<&str>, when: &str) -> io::Result<()> {
        let own = [
            ("relationship_type", Some(own_literal("related-to"))),
            ("description", how.map(own_literal)),
            ("source_ref", Some(own_literal(analysis))),
            ("target_ref", Some(own_literal(with))),
        ];
        self.write_dated(&own_id("relationship", &format!("{analysis} {with}")), [when, when], own)
    }

    /// Writes a note on the analysis and its objects, created at an unknown time after it.
    fn write_note(&mut self, note: &Note, analysed: Timestamp, about: impl Iterator<Item = String>) -> io::Result<()> {
        let item = note.about.item.as_ref();
        let on = item.map(|item| format!("On {}: {}", item.attribute.visible(), item.text.visible()));
        let name = format!("note {} {}", note.about.identifier.text().visible(), on.as_deref().unwrap_or_default());
        let dates = [analysed.min(note.written), note.written].map(|when| own_literal(&timestamp_text(when)));
        let own = [
            ("abstract", on.map(|on| own_literal(&on))),
            ("content", Some(literal(&note.text))),
            ("object_refs", Some(list(about))),
        ];
        self.write_dated(&own_id("note", &name), dates.each_ref().map(String::as_str), own)
    }

    /// Writes an indicator's objects, and returns their identifiers. Each known pair of hash and
    /// path is a file object. STIX lacks objects for some kinds, and for addresses without scheme.
    fn observables(&mut self, indicator: &Indicator, seen: &SeenThings<'_>) -> io::Result<Vec<String>> {
        let value = &indicator.value;
        let text = plain(value);
        let kind = match indicator.kind {
            Kind::Memory => kind_in_memory(&text).unwrap_or(Kind::Memory),
            kind => kind,
        };
        let beside = seen.joined.of_value(kind, value);
        let one = match kind {
            Kind::Hash => {
                let paths = beside.iter().filter_map(|path| seen.paths.get(path).copied());
                let paths: Vec<_> = paths.filter(|path| !is_device(&plain(path))).collect();
                if !paths.is_empty() {
                    return paths.into_iter().map(|path| self.file(Some(value), Some(path))).collect();
                }
                self.file(Some(value), None)
            }
            Kind::Path if is_device(&text) => return Ok(Vec::new()),
            Kind::Path if !beside.is_empty() => {
                return beside.iter().map(|hash| self.file(Some(hash), Some(value))).collect();
            }
            Kind::Path if seen.folders.contains(&same(Kind::Path, value)) => self.folder(&text),
            Kind::Path => self.file(None, Some(value)),
            Kind::Certificate => self.observable("x509-certificate", |literal| {
                vec![("hashes", Some(format!("{{\"{}\":{}}}", algorithm(&text), literal(&text))))]
            }),
            Kind::Key => match self.registry_key(value, beside)? {
                Some(key) => Ok(key),
                None => return Ok(Vec::new()),
            },
            kind => match property(kind, &text) {
                Some((object, property, value)) => self.simple(object, property, &value),
                None => return Ok(Vec::new()),
            },
        };
        Ok(vec![one?])
    }

    /// Writes an observable. Its identifier is derived from its properties as by RFC 8785; `own`
    /// returns these, sorted by name, with literals of the function that it is called with.
    fn observable(
        &mut self,
        kind: &str,
        own: impl Fn(fn(&str) -> String) -> Vec<Member<'static>>,
    ) -> io::Result<String> {
        let id = format!("{kind}--{}", Uuid::new_v5(&OBSERVABLES, object(own(canonical)).as_bytes()));
        let json = object(begun(&id).into_iter().chain(own(own_literal)));
        self.write(id, &json)
    }

    /// Writes a registry key, one with data as a value of its parent; `None` for an unknown hive.
    fn registry_key(&mut self, key: &Untrusted, data: &[Untrusted]) -> io::Result<Option<String>> {
        if data.is_empty() {
            let key = whole_hive(&plain(key));
            return key.map(|key| self.simple("windows-registry-key", "key", &key)).transpose();
        }
        let (key, name) = split_path(key, b"\\");
        let Some(key) = whole_hive(key.trim_end_matches('\\')) else { return Ok(None) };
        let own = |literal: fn(&str) -> String| {
            let value = |data| object([("data", Some(literal(&plain(data)))), ("name", Some(literal(&name)))]);
            vec![("key", Some(literal(&key))), ("values", Some(list(data.iter().map(value))))]
        };
        self.observable("windows-registry-key", own).map(Some)
    }

    /// Writes an observable with one property.
    fn simple(&mut self, kind: &str, property: &'static str, value: &str) -> io::Result<String> {
        self.observable(kind, |literal| vec![(property, Some(literal(value)))])
    }

    /// Writes a file by hash, name and folder, or both; a path with a final separator is a folder.
    fn file(&mut self, hash: Option<&Untrusted>, path: Option<&Untrusted>) -> io::Result<String> {
        let hash = hash.map(plain);
        let (folder, name) = path.map(|path| split_path(path, br"\/")).unwrap_or_default();
        if hash.is_none() && name.is_empty() {
            return self.folder(&folder);
        }
        let parent = if folder.is_empty() { None } else { Some(self.folder(&folder)?) };
        self.observable("file", |literal| {
            let hashes = hash.as_ref().map(|hash| format!("{{\"{}\":{}}}", algorithm(hash), literal(hash)));
            let name = Some(&*name).filter(|name| !name.is_empty()).map(literal);
            vec![("hashes", hashes), ("name", name), ("parent_directory_ref", parent.as_deref().map(literal))]
        })
    }

    /// Writes a folder, without the separator at the end of its path unless it is a root.
    fn folder(&mut self, path: &str) -> io::Result<String> {
        let short = path.trim_end_matches(['\\', '/']);
        self.simple("directory", "path", if short.len() > 2 { short } else { path })
    }

    /// Writes an indicator to block, with the most certain reason; nothing without a reason.
    fn block(&mut self, merged: &MergedReports<'_>, found: &MergedIndicator) -> io::Result<()> {
        let Some((reason, opened)) = merged.reason(found) else { return Ok(()) };
        let Some(pattern) = pattern(found.kind(), &plain(found.value())) else { return Ok(()) };
        let when = own_literal(&timestamp_text(opened.analysed()));
        let own = [
            ("name", Some(own_literal(&format!("{}: {}", found.kind().name(), reason.name)))),
            ("description", Some(own_literal(&reason.explanation))),
            ("indicator_types", Some(list(ACTIVITIES.get(reason.activity).map(|words| own_literal(words))))),
            ("pattern", Some(own_literal(&pattern))),
            ("pattern_type", Some(own_literal("stix"))),
            ("valid_from", Some(when.clone())),
        ];
        self.write_dated(&own_id("indicator", &pattern), [&when, &when], own)
    }
}

/// The namespace of this program's own objects.
const OWN: Uuid = Uuid::from_u128(0x3d6f_8c52_90a1_4e5b_8f0e_6b1d_27c4_a913);

/// The namespace of identifiers derived from the values of observables (STIX 2.1, §2.9).
const OBSERVABLES: Uuid = Uuid::from_u128(0x00ab_edb4_aa42_466c_9c01_fed2_3315_a9b7);

/// TLP:AMBER+STRICT as defined by OASIS: a private report is for the own organisation.
const MARKING: &str = "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003";

const MARKING_OBJECT: &str = include_str!("../../assets/stix/marking.json");

/// Returns the common properties of an object, with its marking; `id` begins with the type.
fn begun(id: &str) -> [Member<'static>; 4] {
    let kind = id.split_once("--").map_or("", |(kind, _)| kind);
    [
        ("type", Some(own_literal(kind))),
        ("spec_version", Some(own_literal("2.1"))),
        ("id", Some(own_literal(id))),
        ("object_marking_refs", Some(list([own_literal(MARKING)]))),
    ]
}

/// Returns the identifier of an object of this program, derived from a unique name.
fn own_id(kind: &str, name: &str) -> String {
    format!("{kind}--{}", Uuid::new_v5(&OWN, name.as_bytes()))
}

fn timestamp_text(when: Timestamp) -> String {
    when.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Returns text for STIX: Unicode unchanged, anything else in its visible form.
fn plain(text: &Untrusted) -> String {
    match std::str::from_utf8(text.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => text.visible().into(),
    }
}

/// Returns a literal of RFC 8785: serde_json escapes only what has to be escaped, in the same way.
fn canonical(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn algorithm(hash: &str) -> &'static str {
    match hash.len() {
        32 => "MD5",
        40 => "SHA-1",
        _ => "SHA-256",
    }
}

/// Splits a path's bytes after the last separator; visible forms may contain more backslashes.
fn split_path(path: &Untrusted, separators: &[u8]) -> (String, String) {
    let path = path.as_bytes();
    let start = path.iter().rposition(|byte| separators.contains(byte)).map_or(0, |last| last + 1);
    let (folder, name) = path.split_at_checked(start).unwrap_or_default();
    (plain(&Untrusted::from(folder)), plain(&Untrusted::from(name)))
}

/// Returns a registry key with its hive's long name; `None` without a known hive.
fn whole_hive(key: &str) -> Option<String> {
    let text = spell_out_str(key);
    let hive = text.split(['\\', '/']).next().unwrap_or_default();
    let known = HIVES.iter().find(|known| hive.eq_ignore_ascii_case(known.short))?;
    Some(format!("{}{}", known.long, text.get(hive.len()..).unwrap_or_default()))
}

/// Returns a sandbox's name in lower case, with dashes between words.
fn product(name: &Untrusted) -> String {
    let name = plain(name).to_lowercase();
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The devices of Windows that contain files.
const VOLUMES: [&str; 4] = ["harddiskvolume", "cdrom", "mup", "lanmanredirector"];

fn is_device(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    if matches!(path.as_str(), "nul" | "con" | "aux" | "prn" | "conin$" | "conout$") {
        return true;
    }
    if let Some(device) = path.strip_prefix(r"\device\") {
        return !device.contains('\\') || !VOLUMES.iter().any(|volume| device.starts_with(volume));
    }
    let spaces = [r"\\.\", r"\??\", r"\\?\"];
    if let Some(inside) = spaces.iter().find_map(|space| path.strip_prefix(space)) {
        // A path on a drive, on a volume, or on another machine.
        let is_volume = inside.starts_with("volume{") && inside.contains('\\');
        let is_pipe = inside.split('\\').nth(2) == Some("pipe");
        return !(inside.get(1..3) == Some(r":\") || is_volume || inside.starts_with(r"unc\") && !is_pipe);
    }
    // A pipe of another machine.
    let is_pipe = path.strip_prefix(r"\\").is_some_and(|machine| machine.split('\\').nth(1) == Some("pipe"));
    is_pipe || path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// Returns the paths that contain other paths, in their form for comparison.
fn folders(paths: &HashMap<Untrusted, &Untrusted>) -> HashSet<Untrusted> {
    let mut sorted: Vec<_> = paths.keys().map(Untrusted::as_bytes).collect();
    sorted.sort();
    let has_below = |path: &&Untrusted| {
        [b'\\', b'/'].into_iter().any(|separator| {
            let start = [path.as_bytes(), &[separator]].concat();
            let first = sorted.partition_point(|known| *known < start.as_slice());
            sorted.get(first).is_some_and(|below| below.starts_with(&start))
        })
    };
    paths.keys().filter(has_below).cloned().collect()
}

/// Returns a URL valid by RFC 3986, percent-encoded if need be; `None` if that is not enough.
fn uri(text: &str) -> Option<String> {
    if !text.contains("://") || text.contains('\\') {
        return None;
    }
    let parsed = url::Url::parse(text).ok()?;
    let is_edged = |label: &str| label.starts_with('-') || label.ends_with('-');
    if parsed.host_str()?.split('.').any(is_edged) {
        return None;
    }
    // Browsers read `127.1` as an address; other programs do not.
    let is_short = matches!(parsed.host()?, url::Host::Ipv4(address) if !text.contains(&address.to_string()));
    let whole = if is_uri(text) && !is_short { text.to_owned() } else { parsed.to_string() };
    is_uri(&whole).then_some(whole)
}

fn is_uri(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let mut escapes = text.split('%').skip(1);
    let path = text.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    text.bytes().all(is_allowed)
        && escapes.all(|rest| rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)))
        && text.matches('#').count() < 2
        && !path.contains(['[', ']'])
}

/// Returns whether a text is a host name by RFC 1123 and RFC 5891; a service's `_ldap._tcp` is not.
fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_encoded = label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
        let is_reserved = label.as_bytes().get(2..4) == Some(b"--") && !is_encoded;
        let is_edged = label.starts_with('-') || label.ends_with('-');
        !label.is_empty() && label.len() < 64 && !is_reserved && !is_edged && !label.contains('_')
    };
    text.split('.').all(is_label) && matches!(url::Host::parse(text), Ok(url::Host::Domain(_)))
}

fn is_mail(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    text.is_ascii() && parts.is_some_and(|(local, host)| !local.is_empty() && is_host(host))
}

/// Returns an IPv6 address without a dotted IPv4 part.
fn in_groups(text: &str) -> String {
    match text.parse::<std::net::Ipv6Addr>() {
        Ok(address) if text.contains('.') => address.segments().map(|group| format!("{group:x}")).join(":"),
        _ => text.to_owned(),
    }
}

/// Returns the STIX object, property and value of an indicator; `None` if STIX does not allow it.
fn property(kind: Kind, text: &str) -> Option<(&'static str, &'static str, String)> {
    match kind {
        Kind::Host if is_host(text) => Some(("domain-name", "value", text.to_owned())),
        Kind::Address if text.contains(':') => Some(("ipv6-addr", "value", in_groups(text))),
        Kind::Address => Some(("ipv4-addr", "value", text.to_owned())),
        Kind::Url => Some(("url", "value", uri(text)?)),
        Kind::Mail if is_mail(text) => Some(("email-addr", "value", text.to_owned())),
        Kind::Mutex => Some(("mutex", "name", text.to_owned())),
        _ => None,
    }
}

fn pattern(kind: Kind, text: &str) -> Option<String> {
    let (path, value) = match kind {
        Kind::Hash => (format!("file:hashes.'{}'", algorithm(text)), text.to_owned()),
        _ => property(kind, text).map(|(object, property, value)| (format!("{object}:{property}"), value))?,
    };
    Some(format!("[{path} = '{}']", value.replace('\\', r"\\").replace('\'', r"\'")))
}
