//! A STIX 2.1 bundle: what each sandbox observed, and indicators for what others are to block of it. The same report gives the
//! same identifiers.

mod objects;

use self::objects::{
    MARKING, algorithm, canonical, dated, folders, identifier, is_device, marking, moment_words, observable, plain,
    product, whole_hive,
};
use super::indicators::BlockReason;
use super::joined::Correlations;
use super::noted::ExportNotes;
use super::opened::OpenedReport;
use super::verdict::{techniques, verdict};
use super::{Job, Summary, indicators, list, literal, object, own_literal};
use crate::report::indicators::{Kind, kind_in_memory, same};
use crate::report::rules::{Rules, Severity};
use crate::report::{About, Indicator, Note};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use uuid::Uuid;

/// The namespace of this program's own objects.
const OWN: Uuid = Uuid::from_u128(0x3d6f_8c52_90a1_4e5b_8f0e_6b1d_27c4_a913);

/// Writes one bundle of all reports; an object that several reports have is in it once.
pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> io::Result<Summary> {
    let mut bundle = Bundle {
        out,
        written: HashSet::new(),
        to_block: BTreeMap::new(),
        rows: 0,
        joined: Correlations::default(),
        folders: HashSet::new(),
        keys: Vec::new(),
        left_out: 0,
    };
    let names =
        job.sources.iter().map(|source| source.identifier.as_ref().map(|i| literal(i.text())).unwrap_or_default());
    let id = Uuid::new_v5(&OWN, names.collect::<String>().as_bytes());
    write!(bundle.out, "{{\"type\":\"bundle\",\"id\":\"bundle--{id}\",\"objects\":[")?;
    let rules = Rules::shipped();
    bundle.write(MARKING.to_owned(), &marking())?;
    let summary = job.each_report(Some(&rules), |opened| bundle.report(opened).map(|()| 0))?;
    bundle.indicators()?;
    bundle.out.write_all(b"]}\n")?;
    // The marking is no row.
    Ok(Summary { rows: bundle.rows.saturating_sub(1), left_out: bundle.left_out, ..summary })
}

struct Bundle<'a> {
    out: &'a mut dyn Write,
    written: HashSet<String>,
    /// What others are to block, by its identifier: how sure that is, and the object.
    to_block: BTreeMap<String, (Confidence, String)>,
    rows: u64,
    /// What belongs together in the report that is being written.
    joined: Correlations,
    /// Its paths that others lie below, as they are compared.
    folders: HashSet<Untrusted>,
    /// Its registry keys by their objects, and where each was seen: that it was set, deleted or opened has no place in its object.
    keys: Vec<(String, String)>,
    /// Rows without an object: STIX has none for most rows of a report, nor for devices and pipes.
    left_out: u64,
}

/// How sure it is that something is to be blocked, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Confidence {
    Malicious,
    Anomalous,
    Unknown,
}

impl Confidence {
    fn word(self) -> &'static str {
        match self {
            Self::Malicious => "malicious-activity",
            Self::Anomalous => "anomalous-activity",
            Self::Unknown => "unknown",
        }
    }
}

/// What each note is about, by identifiers.
type NoteTargets<'n> = HashMap<&'n About, Vec<String>>;

impl Bundle<'_> {
    /// Writes an object, unless one of the same identifier was written; returns the identifier.
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

    fn report(&mut self, opened: &OpenedReport<'_>) -> io::Result<()> {
        let (report, identifier) = (&opened.report, opened.identifier.as_ref());
        let parts = identifier.map(|identifier| identifier.parts());
        let when = opened.analysed();
        let (analysed, when) = (when, own_literal(&moment_words(when)));
        let sample = match parts.as_ref().and_then(|parts| parts.file.as_ref()) {
            Some(file) => Some(self.file(Some(&Untrusted::from(file.as_str())), None)?),
            None => None,
        };
        let noted = ExportNotes::of(opened)?;
        self.joined = Correlations::of(opened)?;
        let (observed, mut named) = self.observed(opened, &noted, sample.as_deref(), &when)?;
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
        let json = object(dated("malware-analysis", &id, (&when, &when)).chain([
            ("product", Some(own_literal(sandbox.as_deref().unwrap_or("anonymized")))),
            ("analysis_started", Some(when.clone())),
            ("result", Some(own_literal(verdict(report)))),
            ("sample_ref", sample.map(|sample| own_literal(&sample))),
            ("analysis_sco_refs", Some(list(observed)).filter(|refs| refs != "[]")),
        ]));
        let id = self.write(id, &json)?;
        self.techniques(opened, &id, &when)?;
        for (key, how) in std::mem::take(&mut self.keys) {
            self.relate(&id, &key, Some(&how), &when)?;
        }
        let analysis = own_literal(&id);
        let lost = noted.lost.iter().map(|(_, note)| *note);
        let notes = noted.whole.into_iter().chain(noted.on_rows().map(|(_, note)| note)).chain(lost);
        for note in notes {
            let about = named.remove(&note.about).unwrap_or_default();
            self.note(note, analysed, std::iter::once(analysis.clone()).chain(about))?;
        }
        Ok(())
    }

    /// What a report observed, by identifiers, and which of it each note is about.
    fn observed<'n>(
        &mut self,
        opened: &OpenedReport<'_>,
        noted: &ExportNotes<'n>,
        sample: Option<&str>,
        when: &str,
    ) -> io::Result<(Vec<String>, NoteTargets<'n>)> {
        let (mut observed, mut known, mut named) = (Vec::new(), HashSet::new(), HashMap::<_, Vec<_>>::new());
        let (found, left_out) = opened.carried()?;
        self.left_out += left_out;
        let paths = found.of_kind(Kind::Path).iter();
        let paths: HashMap<_, _> = paths.map(|path| (same(Kind::Path, &path.value), &path.value)).collect();
        self.folders = folders(&paths);
        for indicator in found.all() {
            opened.go_on()?;
            let seen = self.observable(indicator, &paths)?;
            if let Some(reason) = indicators::reason(opened, indicator) {
                self.block(opened, indicator, &reason, when);
            }
            for seen in seen {
                // The sample was run; all other observables were seen with it.
                if sample == Some(seen.as_str()) && indicator.places.is_empty() {
                    continue;
                }
                for note in noted.about(indicator) {
                    let about = named.entry(&note.about).or_default();
                    about.extend(Some(own_literal(&seen)).filter(|seen| !about.contains(seen)));
                }
                if indicator.kind == Kind::Key {
                    let how = format!("Seen in {}.", indicators::seen_in(&opened.report, indicator));
                    self.keys.push((seen.clone(), how));
                }
                observed.extend(known.insert(seen.clone()).then(|| own_literal(&seen)));
            }
        }
        Ok((observed, named))
    }

    /// The techniques of ATT&CK that an analysis names. They are known by their numbers; their names are ATT&CK's own.
    fn techniques(&mut self, opened: &OpenedReport<'_>, analysis: &str, when: &str) -> io::Result<()> {
        for number in techniques(opened) {
            let id = format!("attack-pattern--{}", Uuid::new_v5(&OWN, format!("technique {number}").as_bytes()));
            let address = format!("https://attack.mitre.org/techniques/{}", number.replace('.', "/"));
            let reference = object([
                ("source_name", Some(own_literal("mitre-attack"))),
                ("url", Some(own_literal(&address))),
                ("external_id", Some(own_literal(&number))),
            ]);
            let own = [("name", Some(own_literal(&number))), ("external_references", Some(list([reference])))];
            let json = object(dated("attack-pattern", &id, (when, when)).chain(own));
            let technique = self.write(id, &json)?;
            self.relate(analysis, &technique, None, when)?;
        }
        Ok(())
    }

    /// Says that an analysis has to do with something, and how.
    fn relate(&mut self, analysis: &str, with: &str, how: Option<&str>, when: &str) -> io::Result<()> {
        let id = format!("relationship--{}", Uuid::new_v5(&OWN, format!("{analysis} {with}").as_bytes()));
        let own = [
            ("relationship_type", Some(own_literal("related-to"))),
            ("description", how.map(own_literal)),
            ("source_ref", Some(own_literal(analysis))),
            ("target_ref", Some(own_literal(with))),
        ];
        let json = object(dated("relationship", &id, (when, when)).chain(own));
        self.write(id, &json).map(|_| ())
    }

    /// A note, on the analysis and on what it names. When it was first written is not known; that it was after the analysis is.
    fn note(&mut self, note: &Note, analysed: Timestamp, about: impl Iterator<Item = String>) -> io::Result<()> {
        let item = note.about.item.as_ref();
        let on = item.map(|item| format!("On {}: {}", item.attribute.visible(), item.text.visible()));
        let name = format!("note {} {}", note.about.identifier.text().visible(), on.as_deref().unwrap_or_default());
        let id = format!("note--{}", Uuid::new_v5(&OWN, name.as_bytes()));
        let created = own_literal(&moment_words(analysed.min(note.written)));
        let modified = own_literal(&moment_words(note.written));
        let json = object(dated("note", &id, (&created, &modified)).chain([
            ("abstract", on.map(|on| own_literal(&on))),
            ("content", Some(literal(&note.text))),
            ("object_refs", Some(list(about))),
        ]));
        self.write(id, &json).map(|_| ())
    }

    /// What an indicator is, by identifiers: a file whose hash and path are known is one object with both, of each pair of them.
    fn observable(&mut self, indicator: &Indicator, paths: &HashMap<Untrusted, &Untrusted>) -> io::Result<Vec<String>> {
        let value = &indicator.value;
        let kind = match indicator.kind {
            Kind::Memory => kind_in_memory(&plain(value)).unwrap_or(Kind::Memory),
            kind => kind,
        };
        let one = match kind {
            Kind::Hash => {
                let names = self.joined.paths(value).iter().filter_map(|path| paths.get(path).copied());
                let names: Vec<_> = names.collect();
                if !names.is_empty() {
                    return names.into_iter().map(|path| self.file(Some(value), Some(path))).collect();
                }
                self.file(Some(value), None)
            }
            Kind::Path => {
                let hashes = self.joined.hashes(value).to_vec();
                if !hashes.is_empty() {
                    return hashes.iter().map(|hash| self.file(Some(hash), Some(value))).collect();
                }
                let path = plain(value);
                if is_device(&path) {
                    return Ok(self.leave_out(indicator));
                }
                match self.folders.contains(&same(Kind::Path, value)) {
                    true => self.folder(&path),
                    false => self.file(None, Some(value)),
                }
            }
            Kind::Host if !is_host(&plain(value)) => return Ok(self.leave_out(indicator)),
            Kind::Host => self.simple("domain-name", "value", value),
            Kind::Address if value.as_bytes().contains(&b':') => {
                self.simple("ipv6-addr", "value", &Untrusted::from(in_groups(&plain(value))))
            }
            Kind::Address => self.simple("ipv4-addr", "value", value),
            // STIX has nothing for these, nor for an address that lost its scheme.
            Kind::Ja3 | Kind::Ja3s | Kind::Ja4 | Kind::Memory => return Ok(self.leave_out(indicator)),
            Kind::Certificate => self.certificate(value),
            Kind::Url => match uri(&plain(value)) {
                Some(uri) => self.simple("url", "value", &Untrusted::from(uri)),
                None => return Ok(self.leave_out(indicator)),
            },
            Kind::Mail if !is_mail(&plain(value)) => return Ok(self.leave_out(indicator)),
            Kind::Mail => self.simple("email-addr", "value", value),
            Kind::Mutex => self.simple("mutex", "name", value),
            Kind::Key => self.registry_key(value),
        };
        Ok(vec![one?])
    }

    /// Counts the rows that name nothing else.
    fn leave_out(&mut self, indicator: &Indicator) -> Vec<String> {
        self.left_out += indicator.alone;
        Vec::new()
    }

    fn certificate(&mut self, hash: &Untrusted) -> io::Result<String> {
        let hash = plain(hash);
        let hashes = format!("{{\"{}\":{}}}", algorithm(&hash), canonical(&hash));
        let id = identifier("x509-certificate", &[("hashes", hashes.clone())]);
        let json = observable("x509-certificate", &id, [("hashes", Some(hashes))]);
        self.write(id, &json)
    }

    /// A registry key; one that was set to data is a value of its key, whose name is the last part of the path.
    fn registry_key(&mut self, key: &Untrusted) -> io::Result<String> {
        let data: Vec<_> = self.joined.data(key).iter().map(plain).collect();
        let whole = plain(&whole_hive(key));
        let Some((key, name)) = whole.rsplit_once('\\').filter(|_| !data.is_empty()) else {
            return self.simple("windows-registry-key", "key", &Untrusted::from(whole));
        };
        let values = |literal: fn(&str) -> String| {
            let value = |data: &String| object([("data", Some(literal(data))), ("name", Some(literal(name)))]);
            list(data.iter().map(value))
        };
        let id = identifier("windows-registry-key", &[("key", canonical(key)), ("values", values(canonical))]);
        let own = [("key", Some(own_literal(key))), ("values", Some(values(own_literal)))];
        let json = observable("windows-registry-key", &id, own);
        self.write(id, &json)
    }

    /// An observable of one property, of which its identifier is made.
    fn simple(&mut self, kind: &str, property: &'static str, value: &Untrusted) -> io::Result<String> {
        let value = plain(value);
        let id = identifier(kind, &[(property, canonical(&value))]);
        let json = observable(kind, &id, [(property, Some(own_literal(&value)))]);
        self.write(id, &json)
    }

    /// A file by its hash, by its name and folder, or by both; a path that ends like a folder is one.
    fn file(&mut self, hash: Option<&Untrusted>, path: Option<&Untrusted>) -> io::Result<String> {
        let path = path.map(plain);
        let (folder, name) =
            match path.as_deref().map(|path| path.split_at(path.rfind(['\\', '/']).map_or(0, |at| at + 1))) {
                Some((folder, "")) if hash.is_none() => return self.folder(folder),
                Some((folder, name)) => (folder, name),
                None => ("", ""),
            };
        let hash = hash.map(plain);
        let parent = if folder.is_empty() { None } else { Some(self.folder(folder)?) };
        let own = |literal: fn(&str) -> String| {
            let hashes = hash.as_ref().map(|hash| format!("{{\"{}\":{}}}", algorithm(hash), literal(hash)));
            let name = Some(name).filter(|name| !name.is_empty()).map(literal);
            [("hashes", hashes), ("name", name), ("parent_directory_ref", parent.as_deref().map(literal))]
        };
        let known = own(canonical).into_iter().filter_map(|(name, value)| Some((name, value?)));
        let id = identifier("file", &known.collect::<Vec<_>>());
        let json = observable("file", &id, own(own_literal));
        self.write(id, &json)
    }

    /// A folder by its path, without the separator at its end where it is no root.
    fn folder(&mut self, path: &str) -> io::Result<String> {
        let short = path.trim_end_matches(['\\', '/']);
        let path = if short.len() > 2 { short } else { path };
        self.simple("directory", "path", &Untrusted::from(path))
    }

    /// Takes in what others are to block, and why: of several reports the surest says it.
    fn block(&mut self, opened: &OpenedReport<'_>, indicator: &Indicator, reason: &BlockReason<'_>, when: &str) {
        let value = plain(&indicator.value);
        let Some(path) = pattern_path(indicator.kind, &value) else { return };
        let pattern = format!("[{path} = '{}']", value.replace('\\', r"\\").replace('\'', r"\'"));
        let id = format!("indicator--{}", Uuid::new_v5(&OWN, pattern.as_bytes()));
        let sureness = match reason {
            BlockReason::Rule(rule) if rule.severity == Severity::High => Confidence::Malicious,
            BlockReason::Rule(_) => Confidence::Anomalous,
            BlockReason::Sample if verdict(&opened.report) == "malicious" => Confidence::Malicious,
            BlockReason::Sample => Confidence::Unknown,
        };
        if self.to_block.get(&id).is_some_and(|(known, _)| *known <= sureness) {
            return;
        }
        let json = object(dated("indicator", &id, (when, when)).chain([
            ("name", Some(own_literal(&format!("{}: {}", indicator.kind.name(), reason.name())))),
            ("description", Some(own_literal(&reason.words(opened, indicator)))),
            ("indicator_types", Some(list([own_literal(sureness.word())]))),
            ("pattern", Some(own_literal(&pattern))),
            ("pattern_type", Some(own_literal("stix"))),
            ("valid_from", Some(when.to_owned())),
        ]));
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

/// A URL by the letter of RFC 3986, encoded where it is not; `None` if that does not make it one.
fn uri(text: &str) -> Option<String> {
    if !text.contains("://") || text.contains('\\') {
        return None;
    }
    let parsed = url::Url::parse(text).ok()?;
    let whole = if is_uri(text) { text.to_owned() } else { parsed.to_string() };
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

/// Whether a text is a host name by RFC 1123 and RFC 5891, which services' names such as
/// `_ldap._tcp` are not.
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

/// An IPv6 address in groups of four digits alone.
fn in_groups(text: &str) -> String {
    match text.parse::<std::net::Ipv6Addr>() {
        Ok(address) if text.contains('.') => address.segments().map(|group| format!("{group:x}")).join(":"),
        _ => text.to_owned(),
    }
}

/// The property that a pattern compares with a value; none for a kind that is never blocked.
fn pattern_path(kind: Kind, value: &str) -> Option<String> {
    match kind {
        Kind::Hash => Some(format!("file:hashes.'{}'", algorithm(value))),
        Kind::Host => Some("domain-name:value".to_owned()),
        Kind::Address if value.contains(':') => Some("ipv6-addr:value".to_owned()),
        Kind::Address => Some("ipv4-addr:value".to_owned()),
        Kind::Url => Some("url:value".to_owned()),
        _ => None,
    }
}
