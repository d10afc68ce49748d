//! What a report holds that others can look for: hashes, hosts, addresses, URLs, mail addresses, paths, registry keys, mutexes;
//! each with the rows where it was seen.

use super::identifier::Sha256;
use super::index::Section;
use super::json::{Kind as JsonKind, Raw};
use super::records::{Place, Step, leaves};
use super::rows::Report;
use super::wanted::still_wanted;
use crate::text::{Untrusted, Visible};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

/// How many of its rows an indicator keeps; all of them are counted.
const MOST_PLACES: usize = 16;

/// Where an indicator that no row names was seen.
pub const ITSELF: &str = "the file itself";

/// What kind of thing an indicator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// SHA-256, SHA-1 or MD5 of a file.
    Hash,
    /// Name of a host.
    Host,
    /// IPv4 or IPv6 address.
    Address,
    /// URL.
    Url,
    /// Mail address.
    Mail,
    /// Path of a file.
    Path,
    /// Registry key.
    Key,
    /// Mutex.
    Mutex,
}

impl Kind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 8] =
        [Self::Hash, Self::Host, Self::Address, Self::Url, Self::Mail, Self::Path, Self::Key, Self::Mutex];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Host => "host",
            Self::Address => "address",
            Self::Url => "url",
            Self::Mail => "mail",
            Self::Path => "path",
            Self::Key => "key",
            Self::Mutex => "mutex",
        }
    }

    /// Whether a program that sees one may open it or make a link of it.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Host | Self::Address | Self::Url | Self::Mail)
    }
}

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indicator {
    /// What it is.
    pub kind: Kind,
    /// The thing itself.
    pub value: Untrusted,
    /// The first rows that name it; none for the file itself.
    pub places: Vec<Place>,
    /// How many times it is named in all.
    pub seen: u64,
}

impl Indicator {
    /// What is shown and copied: without teeth, in one line.
    #[must_use]
    pub fn defanged(&self) -> Visible {
        if self.kind.is_live() { self.value.visible().defanged() } else { self.value.visible().disarmed() }
    }
}

/// Where the values of an attribute come from, and what they are.
struct Source {
    /// Name of the attribute.
    attribute: &'static str,
    /// Name of the member that holds the value, at any depth below the row; empty for the row itself.
    member: &'static str,
    /// What it is.
    meaning: Meaning,
}

/// What a value is known to be by its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Is(Kind),
    /// Words in which hashes, URLs, addresses and paths may stand.
    Words,
}

const fn is(attribute: &'static str, member: &'static str, kind: Kind) -> Source {
    Source { attribute, member, meaning: Meaning::Is(kind) }
}

const fn words(attribute: &'static str, member: &'static str) -> Source {
    Source { attribute, member, meaning: Meaning::Words }
}

/// Where the traffic went that network rules saw.
const DESTINATION: &str = "dest_ip";

/// Where to look. What no row names is not looked at: a version number is no address.
static SOURCES: &[Source] = &[
    is("files_dropped", "sha256", Kind::Hash),
    is("files_dropped", "path", Kind::Path),
    is("files_written", "", Kind::Path),
    is("files_deleted", "", Kind::Path),
    is("files_copied", "source", Kind::Path),
    is("files_copied", "destination", Kind::Path),
    is("files_attribute_changed", "", Kind::Path),
    is("files_opened", "", Kind::Path),
    is("databases_opened", "", Kind::Path),
    is("databases_deleted", "", Kind::Path),
    is("processes_tree", "files_opened", Kind::Path),
    is("processes_tree", "files_written", Kind::Path),
    is("registry_keys_set", "key", Kind::Key),
    words("registry_keys_set", "value"),
    is("registry_keys_deleted", "", Kind::Key),
    is("registry_keys_opened", "", Kind::Key),
    is("mutexes_created", "", Kind::Mutex),
    is("mutexes_opened", "", Kind::Mutex),
    is("dns_lookups", "hostname", Kind::Host),
    is("dns_lookups", "resolved_ips", Kind::Address),
    is("ip_traffic", "destination_ip", Kind::Address),
    is("http_conversations", "url", Kind::Url),
    is("tls", "sni", Kind::Host),
    is("memory_pattern_domains", "", Kind::Host),
    is("memory_pattern_urls", "", Kind::Url),
    is("memory_pattern_ips", "", Kind::Address),
    is("ids_alerts", "hostname", Kind::Host),
    is("ids_alerts", DESTINATION, Kind::Address),
    is("ids_alerts", "url", Kind::Url),
    is("ids_results", "hostname", Kind::Host),
    is("ids_results", DESTINATION, Kind::Address),
    is("ids_results", "url", Kind::Url),
    words("command_executions", ""),
    words("processes_created", ""),
    words("processes_injected", ""),
    words("text_highlighted", ""),
    words("text_decoded", ""),
    words("crypto_plain_text", ""),
    words("signature_matches", "match_data"),
    words("sms_sent", "body"),
    words("shared_preferences_sets", "value"),
    words("hosts_file", ""),
];

/// All indicators of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indicators {
    found: Vec<Indicator>,
}

impl Indicators {
    /// Looks through a whole report.
    ///
    /// # Errors
    /// When the body cannot be read, and when nobody wants them any more.
    pub fn of(report: &Report, is_wanted: &dyn Fn() -> bool) -> io::Result<Self> {
        Self::among(report, &|section| 0..report.section(section).map_or(0, Section::len), is_wanted)
    }

    /// Looks through some rows of each section only.
    ///
    /// # Errors
    /// When the body cannot be read, and when nobody wants them any more.
    pub fn among<Rows: IntoIterator<Item = usize>>(
        report: &Report,
        rows: &dyn Fn(usize) -> Rows,
        is_wanted: &dyn Fn() -> bool,
    ) -> io::Result<Self> {
        let mut gathered = Gathered::default();
        for (section, found) in report.index.sections.iter().enumerate() {
            let name = found.attribute.map(|attribute| attribute.name).unwrap_or_default();
            let sources: Vec<_> = SOURCES.iter().filter(|source| source.attribute == name).collect();
            if sources.is_empty() {
                continue;
            }
            let has_destination = sources.iter().any(|source| source.member == DESTINATION);
            for (count, row) in rows(section).into_iter().enumerate() {
                if count % 4096 == 0 {
                    still_wanted(is_wanted)?;
                }
                let place = Place { section, row };
                let record = report.record(place)?;
                let is_question = has_destination && is_question(Raw::new(&record.value));
                // A resolver is asked for a name, and does nobody any harm by that.
                let is_resolver = |way: &[Step]| is_question && is_named(way, DESTINATION);
                leaves(&record.value, &mut |way, value| {
                    if !is_resolver(way) {
                        gathered.leaf(&sources, way, value, place);
                    }
                });
            }
        }
        Ok(gathered.sorted())
    }

    /// With the file itself before the other hashes, where no row names it.
    #[must_use]
    pub fn with_sample(mut self, sample: Option<&Sha256>) -> Self {
        let value = sample.map(|sample| Untrusted::from(sample.as_str()));
        let Some(value) = value.filter(|value| !self.of_kind(Kind::Hash).iter().any(|found| found.value == *value))
        else {
            return self;
        };
        self.found.insert(0, Indicator { kind: Kind::Hash, value, places: Vec::new(), seen: 0 });
        self
    }

    /// Every indicator: kind by kind, in each in the order of the report.
    #[must_use]
    pub fn all(&self) -> &[Indicator] {
        &self.found
    }

    /// Nothing but those of one kind.
    #[must_use]
    pub fn only(mut self, kind: Kind) -> Self {
        self.found.retain(|indicator| indicator.kind == kind);
        self
    }

    /// Those of one kind.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> &[Indicator] {
        let start = self.found.partition_point(|indicator| indicator.kind < kind);
        let end = self.found.partition_point(|indicator| indicator.kind <= kind);
        self.found.get(start..end).unwrap_or_default()
    }
}

/// What has been found so far.
#[derive(Default)]
struct Gathered {
    found: Vec<Indicator>,
    known: HashMap<(Kind, Untrusted), usize>,
}

impl Gathered {
    fn leaf(&mut self, sources: &[&Source], way: &[Step], value: Raw<'_>, place: Place) {
        if value.kind() != JsonKind::Text {
            return;
        }
        let is_meant = |wanted: &str| if wanted.is_empty() { way.len() == 1 } else { is_named(way, wanted) };
        for source in sources.iter().filter(|source| is_meant(source.member)) {
            let text = value.text();
            match source.meaning {
                Meaning::Is(kind) => self.known_as(kind, &text, place),
                Meaning::Words => self.words(&text, place),
            }
        }
    }

    fn known_as(&mut self, kind: Kind, text: &Untrusted, place: Place) {
        let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default().trim();
        match kind {
            Kind::Hash => self.add(kind, hash(plain), place),
            Kind::Host if plain.parse::<IpAddr>().is_ok() => self.add(Kind::Address, address(plain), place),
            Kind::Host => self.add(kind, host(plain), place),
            Kind::Address => self.add(kind, address(plain), place),
            Kind::Url => self.url(plain, text, place),
            Kind::Mail => self.add(kind, mail(plain), place),
            Kind::Path | Kind::Key | Kind::Mutex => {
                self.add(kind, Some(text.clone()).filter(|text| !text.is_empty()), place);
            }
        }
    }

    /// A URL, and the host or address in it.
    fn url(&mut self, plain: &str, text: &Untrusted, place: Place) {
        if let Some(server) = server(plain) {
            self.add(Kind::Url, Some(text.clone()), place);
            let bare = server.trim_start_matches('[').trim_end_matches(']');
            self.known_as(Kind::Host, &Untrusted::from(bare), place);
        }
    }

    /// What stands out among words, whatever it is.
    fn words(&mut self, text: &Untrusted, place: Place) {
        let Ok(plain) = std::str::from_utf8(text.as_bytes()) else { return };
        for word in split(plain) {
            if word.contains("://") {
                self.url(word, &Untrusted::from(word), place);
            } else if let Some(found) = hash(word) {
                self.add(Kind::Hash, Some(found), place);
            } else if is_path(word) {
                self.add(Kind::Path, Some(Untrusted::from(word)), place);
            } else if word.contains('@') {
                self.add(Kind::Mail, mail(word), place);
            } else {
                let bare = word.split_once(':').map_or(word, |(bare, _)| bare);
                self.add(Kind::Address, address(word).or_else(|| address(bare)), place);
            }
        }
    }

    fn add(&mut self, kind: Kind, value: Option<Untrusted>, place: Place) {
        let Some(value) = value else { return };
        let next = self.found.len();
        let number = *self.known.entry((kind, value)).or_insert_with_key(|(kind, value)| {
            self.found.push(Indicator { kind: *kind, value: value.clone(), places: Vec::new(), seen: 0 });
            next
        });
        if let Some(indicator) = self.found.get_mut(number) {
            indicator.seen += 1;
            if indicator.places.len() < MOST_PLACES && indicator.places.last() != Some(&place) {
                indicator.places.push(place);
            }
        }
    }

    /// By kind; within a kind the order of the report stays.
    fn sorted(self) -> Indicators {
        let mut found = self.found;
        found.sort_by_key(|indicator| indicator.kind);
        Indicators { found }
    }
}

/// Whether a way to a value goes by a member of this name.
fn is_named(way: &[Step], wanted: &str) -> bool {
    way.iter().any(|step| matches!(step, Step::Member(name) if name.as_bytes() == wanted.as_bytes()))
}

/// Whether what network rules saw went to the port of name servers.
fn is_question(record: Raw<'_>) -> bool {
    let port = record.member("alert_context").and_then(|context| context.member("dest_port"));
    port.is_some_and(|port| port.text().as_bytes() == b"53")
}

/// The words of a text: what stands in double quotes is one.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let is_border = |c: char| {
        c.is_whitespace() || matches!(c, '\'' | '`' | '<' | '>' | '(' | ')' | '{' | '}' | ',' | ';' | '|' | '=')
    };
    text.split('"').enumerate().flat_map(move |(number, part)| {
        let quoted = (number % 2 == 1 && is_path(part)).then_some(part);
        let words = quoted.is_none().then(|| part.split(is_border));
        quoted.into_iter().chain(words.into_iter().flatten())
    })
}

/// A path that says itself where it begins.
fn is_path(word: &str) -> bool {
    let bytes = word.as_bytes();
    let has_drive = matches!(bytes, [drive, b':', b'\\', _, ..] if drive.is_ascii_alphabetic());
    has_drive || word.starts_with(r"\\") && word.len() > 4
}

fn hash(text: &str) -> Option<Untrusted> {
    let fits = matches!(text.len(), 32 | 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| Untrusted::from(text.to_ascii_lowercase()))
}

fn address(text: &str) -> Option<Untrusted> {
    text.parse::<IpAddr>().ok().map(|address| Untrusted::from(address.to_string()))
}

/// A host as a resolver takes it, in lower case.
fn host(text: &str) -> Option<Untrusted> {
    let text = text.trim_end_matches('.');
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.chars().any(|c| c.is_whitespace() || c.is_control() || "/:@?#\\\"'".contains(c))
    };
    let fits = text.len() <= 253 && text.contains('.') && text.split('.').all(is_label);
    fits.then(|| Untrusted::from(text.to_lowercase()))
}

fn mail(text: &str) -> Option<Untrusted> {
    let text = text.trim_start_matches("mailto:");
    // A miner's user and its mail address, a path and a file's name: what stands before a slash is something else.
    let text = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let (user, domain) = text.rsplit_once('@')?;
    let is_user = !user.is_empty() && user.chars().all(|c| c.is_alphanumeric() || ".!#$%&*+?^_~-".contains(c));
    (is_user && domain.is_ascii() && host(domain).is_some()).then(|| Untrusted::from(text))
}

/// The server that a URL names, without user and port; none for what is no URL.
fn server(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    let end = server.find(']').map_or_else(|| server.find(':'), |bracket| Some(bracket + 1));
    let server = end.and_then(|end| server.get(..end)).unwrap_or(server);
    (is_scheme && !server.is_empty() && !url.contains(char::is_whitespace)).then_some(server)
}

#[cfg(test)]
mod tests;
