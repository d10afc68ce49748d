//! A STIX 2.1 bundle: what each sandbox observed, and indicators for what others are to block of it. The same report gives the
//! same identifiers.

use super::indicators::Reason;
use super::noted::Noted;
use super::opened::Opened;
use super::verdict::verdict;
use super::{Job, Summary, indicators, list, literal, object, own_literal};
use crate::report::hives::HIVES;
use crate::report::indicators::Kind;
use crate::report::rules::{Rules, Severity};
use crate::report::{About, Indicator, Note};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use uuid::Uuid;

/// The namespace of identifiers of observables that are made of their values (STIX 2.1, §2.9).
const OBSERVABLES: Uuid = Uuid::from_u128(0x00ab_edb4_aa42_466c_9c01_fed2_3315_a9b7);

/// The namespace of this program's own objects.
const OWN: Uuid = Uuid::from_u128(0x3d6f_8c52_90a1_4e5b_8f0e_6b1d_27c4_a913);

/// Writes one bundle of all reports; what several saw stands in it once.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut bundle = Bundle { out, written: HashSet::new(), to_block: BTreeMap::new(), rows: 0 };
    let mut summary = Summary::default();
    let names =
        job.sources.iter().map(|source| source.identifier.as_ref().map(|i| literal(i.text())).unwrap_or_default());
    let id = Uuid::new_v5(&OWN, names.collect::<String>().as_bytes());
    write!(bundle.out, "{{\"type\":\"bundle\",\"id\":\"bundle--{id}\",\"objects\":[")?;
    let rules = Rules::shipped();
    for source in job.sources {
        let opened = Opened::new(job, source, Some(&rules))?;
        summary.add_report(&opened.report);
        bundle.report(&opened)?;
    }
    bundle.indicators()?;
    bundle.out.write_all(b"]}\n")?;
    Ok(Summary { rows: bundle.rows, ..summary })
}

struct Bundle<'a> {
    out: &'a mut dyn Write,
    written: HashSet<String>,
    /// What others are to block, by its identifier: how sure that is, and the object.
    to_block: BTreeMap<String, (Sureness, String)>,
    rows: u64,
}

/// How sure it is that something is to be blocked, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sureness {
    Malicious,
    Anomalous,
    Unknown,
}

impl Sureness {
    fn word(self) -> &'static str {
        match self {
            Self::Malicious => "malicious-activity",
            Self::Anomalous => "anomalous-activity",
            Self::Unknown => "unknown",
        }
    }
}

impl Bundle<'_> {
    /// Writes an object, unless one of the same identifier stands there already; gives the identifier back.
    fn write(&mut self, id: String, json: &str) -> io::Result<String> {
        if self.written.insert(id.clone()) {
            if self.rows > 0 {
                self.out.write_all(b",\n")?;
            }
            self.out.write_all(json.as_bytes())?;
            self.rows += 1;
        }
        Ok(id)
    }

    fn report(&mut self, opened: &Opened<'_>) -> io::Result<()> {
        let (report, identifier) = (&opened.report, opened.identifier.as_ref());
        let parts = identifier.map(|identifier| identifier.parts());
        let when = opened.analysed();
        let (analysed, when) = (when, own_literal(&moment_words(when)));
        let sample = match parts.as_ref().and_then(|parts| parts.file.as_ref()) {
            Some(file) => Some(self.file_by_hash(&Untrusted::from(file.as_str()))?),
            None => None,
        };
        let (mut observed, noted) = (Vec::new(), Noted::of(opened)?);
        let mut named: HashMap<&About, Vec<String>> = HashMap::new();
        for indicator in opened.indicators()?.all() {
            opened.go_on()?;
            let seen = self.observable(indicator)?;
            if let Some(reason) = indicators::reason(opened, indicator) {
                self.block(opened, indicator, &reason, &when);
            }
            // The sample was run; that it was seen beside it is said of everything else.
            if sample.as_ref() == Some(&seen) && indicator.places.is_empty() {
                continue;
            }
            for note in noted.about(indicator) {
                named.entry(&note.about).or_default().push(own_literal(&seen));
            }
            observed.push(own_literal(&seen));
        }
        let sandbox = parts.map(|parts| product(&parts.sandbox)).filter(|name| !name.is_empty());
        let name = match identifier {
            Some(identifier) => literal(identifier.text()),
            None => opened.digest()?,
        };
        let id =
            |name: &str| format!("malware-analysis--{}", Uuid::new_v5(&OWN, format!("analysis {name}").as_bytes()));
        let id = match id(&name) {
            // Another version of the same report.
            twice if self.written.contains(&twice) => id(&format!("{name} {}", opened.digest()?)),
            once => once,
        };
        let json = object([
            ("type", Some(own_literal("malware-analysis"))),
            ("spec_version", Some(own_literal("2.1"))),
            ("id", Some(own_literal(&id))),
            ("created", Some(when.clone())),
            ("modified", Some(when.clone())),
            ("product", Some(own_literal(sandbox.as_deref().unwrap_or("anonymized")))),
            ("analysis_started", Some(when)),
            ("result", Some(own_literal(verdict(report)))),
            ("sample_ref", sample.map(|sample| own_literal(&sample))),
            ("analysis_sco_refs", Some(list(observed)).filter(|refs| refs != "[]")),
        ]);
        let analysis = own_literal(&self.write(id, &json)?);
        let lost = noted.lost.iter().map(|(_, note)| *note);
        let notes = noted.whole.into_iter().chain(noted.on_rows().map(|(_, note)| note)).chain(lost);
        for note in notes {
            let about = named.remove(&note.about).unwrap_or_default();
            self.note(note, analysed, std::iter::once(analysis.clone()).chain(about))?;
        }
        Ok(())
    }

    /// A note, on the analysis and on what it names. When it was first written is not known; that it was after the analysis is.
    fn note(&mut self, note: &Note, analysed: Timestamp, about: impl Iterator<Item = String>) -> io::Result<()> {
        let item = note.about.item.as_ref();
        let on = item.map(|item| format!("On {}: {}", item.attribute.visible(), item.text.visible()));
        let name = format!("note {} {}", note.about.identifier.text().visible(), on.as_deref().unwrap_or_default());
        let id = format!("note--{}", Uuid::new_v5(&OWN, name.as_bytes()));
        let created = own_literal(&moment_words(analysed.min(note.written)));
        let json = object([
            ("type", Some(own_literal("note"))),
            ("spec_version", Some(own_literal("2.1"))),
            ("id", Some(own_literal(&id))),
            ("created", Some(created)),
            ("modified", Some(own_literal(&moment_words(note.written)))),
            ("abstract", on.map(|on| own_literal(&on))),
            ("content", Some(literal(&note.text))),
            ("object_refs", Some(list(about))),
        ]);
        self.write(id, &json).map(|_| ())
    }

    fn observable(&mut self, indicator: &Indicator) -> io::Result<String> {
        let value = &indicator.value;
        match indicator.kind {
            Kind::Hash => self.file_by_hash(value),
            Kind::Host => self.simple("domain-name", "value", value),
            Kind::Address if value.as_bytes().contains(&b':') => self.simple("ipv6-addr", "value", value),
            Kind::Address => self.simple("ipv4-addr", "value", value),
            Kind::Url => self.simple("url", "value", value),
            Kind::Mail => self.simple("email-addr", "value", value),
            Kind::Mutex => self.simple("mutex", "name", value),
            Kind::Key => self.simple("windows-registry-key", "key", &whole_hive(value)),
            Kind::Path => self.file_by_path(value),
        }
    }

    /// An observable of one property, of which its identifier is made.
    fn simple(&mut self, kind: &str, property: &'static str, value: &Untrusted) -> io::Result<String> {
        let value = plain(value);
        let id = identifier(kind, &[(property, canonical(&value))]);
        let json = observable(kind, &id, [(property, Some(own_literal(&value)))]);
        self.write(id, &json)
    }

    fn file_by_hash(&mut self, hash: &Untrusted) -> io::Result<String> {
        let hash = plain(hash);
        let algorithm = algorithm(&hash);
        let id = identifier("file", &[("hashes", format!("{{\"{algorithm}\":{}}}", canonical(&hash)))]);
        let hashes = format!("{{\"{algorithm}\":{}}}", own_literal(&hash));
        let json = observable("file", &id, [("hashes", Some(hashes))]);
        self.write(id, &json)
    }

    /// A file by its name and folder; a path that ends like a folder is one.
    fn file_by_path(&mut self, path: &Untrusted) -> io::Result<String> {
        let path = plain(path);
        let (folder, name) = match path.rfind(['\\', '/']) {
            Some(at) => path.split_at(at + 1),
            None => ("", path.as_str()),
        };
        if name.is_empty() {
            return self.folder(folder);
        }
        let parent = if folder.is_empty() { None } else { Some(self.folder(folder)?) };
        let mut own = vec![("name", canonical(name))];
        own.extend(parent.as_ref().map(|parent| ("parent_directory_ref", canonical(parent))));
        let id = identifier("file", &own);
        let parent = parent.map(|parent| own_literal(&parent));
        let json = observable("file", &id, [("name", Some(own_literal(name))), ("parent_directory_ref", parent)]);
        self.write(id, &json)
    }

    /// A folder by its path, without the separator at its end where it is no root.
    fn folder(&mut self, path: &str) -> io::Result<String> {
        let short = path.trim_end_matches(['\\', '/']);
        let path = if short.len() > 2 { short } else { path };
        self.simple("directory", "path", &Untrusted::from(path))
    }

    /// Takes in what others are to block, and why: of several reports the surest says it.
    fn block(&mut self, opened: &Opened<'_>, indicator: &Indicator, reason: &Reason<'_>, when: &str) {
        let value = plain(&indicator.value);
        let Some(path) = pattern_path(indicator.kind, &value) else { return };
        let pattern = format!("[{path} = '{}']", value.replace('\\', r"\\").replace('\'', r"\'"));
        let id = format!("indicator--{}", Uuid::new_v5(&OWN, pattern.as_bytes()));
        let sureness = match reason {
            Reason::Rule(rule) if rule.severity == Severity::High => Sureness::Malicious,
            Reason::Rule(_) => Sureness::Anomalous,
            Reason::Sample if verdict(&opened.report) == "malicious" => Sureness::Malicious,
            Reason::Sample => Sureness::Unknown,
        };
        if self.to_block.get(&id).is_some_and(|(known, _)| *known <= sureness) {
            return;
        }
        let json = object([
            ("type", Some(own_literal("indicator"))),
            ("spec_version", Some(own_literal("2.1"))),
            ("id", Some(own_literal(&id))),
            ("created", Some(when.to_owned())),
            ("modified", Some(when.to_owned())),
            ("name", Some(own_literal(&format!("{}: {}", indicator.kind.name(), reason.name())))),
            ("description", Some(own_literal(&reason.words(opened, indicator)))),
            ("indicator_types", Some(list([own_literal(sureness.word())]))),
            ("pattern", Some(own_literal(&pattern))),
            ("pattern_type", Some(own_literal("stix"))),
            ("valid_from", Some(when.to_owned())),
        ]);
        self.to_block.insert(id, (sureness, json));
    }

    /// Writes what others are to block.
    fn indicators(&mut self) -> io::Result<()> {
        for (id, (_, json)) in std::mem::take(&mut self.to_block) {
            self.write(id, &json)?;
        }
        Ok(())
    }
}

/// What a pattern compares with a value of this kind; none for what others are never told to block.
fn pattern_path(kind: Kind, value: &str) -> Option<String> {
    match kind {
        Kind::Hash => Some(format!("file:hashes.'{}'", algorithm(value))),
        Kind::Host => Some("domain-name:value".to_owned()),
        Kind::Address if value.contains(':') => Some("ipv6-addr:value".to_owned()),
        Kind::Address => Some("ipv4-addr:value".to_owned()),
        Kind::Url => Some("url:value".to_owned()),
        Kind::Mail | Kind::Path | Kind::Key | Kind::Mutex => None,
    }
}

/// A moment as STIX writes it.
fn moment_words(when: Timestamp) -> String {
    when.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Text as STIX holds it: Unicode as it is, anything else in its visible form.
fn plain(text: &Untrusted) -> String {
    match std::str::from_utf8(text.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => text.visible().into(),
    }
}

fn observable<const N: usize>(kind: &str, id: &str, own: [(&'static str, Option<String>); N]) -> String {
    let common =
        [("type", Some(own_literal(kind))), ("spec_version", Some(own_literal("2.1"))), ("id", Some(own_literal(id)))];
    object(common.into_iter().chain(own))
}

/// The identifier of an observable by the properties that make it what it is, in the order of their names (RFC 8785).
fn identifier(kind: &str, properties: &[(&'static str, String)]) -> String {
    let json = object(properties.iter().map(|(name, value)| (*name, Some(value.clone()))));
    format!("{kind}--{}", Uuid::new_v5(&OBSERVABLES, json.as_bytes()))
}

/// A literal as RFC 8785 writes it: nothing is escaped that need not be.
fn canonical(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str(r"\\"),
            '\u{8}' => literal.push_str(r"\b"),
            '\t' => literal.push_str(r"\t"),
            '\n' => literal.push_str(r"\n"),
            '\u{c}' => literal.push_str(r"\f"),
            '\r' => literal.push_str(r"\r"),
            control if control < ' ' => literal.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => literal.push(other),
        }
    }
    literal + "\""
}

fn algorithm(hash: &str) -> &'static str {
    match hash.len() {
        32 => "MD5",
        40 => "SHA-1",
        _ => "SHA-256",
    }
}

fn whole_hive(key: &Untrusted) -> Untrusted {
    let text = plain(key);
    let hive = text.split('\\').next().unwrap_or_default();
    let found = HIVES.iter().find(|known| hive.eq_ignore_ascii_case(known.short));
    found.map_or_else(
        || Untrusted::from(text.as_str()),
        |known| Untrusted::from(format!("{}{}", known.long, text.get(hive.len()..).unwrap_or_default())),
    )
}

/// A sandbox's name in lower case, with dashes between words.
fn product(name: &Untrusted) -> String {
    let name = plain(name).to_lowercase();
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
