//! What a report holds that others can look for: hashes, hosts, addresses, URLs, mail addresses, paths, registry keys, mutexes;
//! each with the rows where it was seen.

use super::attributes::{DESTINATION, Meaning, Source};
use super::identifier::Sha256;
use super::index::Section;
use super::json::{Kind as JsonKind, Raw};
use super::rows::Report;
use super::rows::records::{Place, Step, leaves};
use super::rules::Severity;
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
    /// Whether one of these times says that the sample left it behind.
    pub is_left: bool,
    /// The row whose mark matters most, and the one of those that name nothing else.
    marked: [Option<(Severity, Place)>; 2],
}

impl Indicator {
    /// One that was not seen yet.
    fn new(kind: Kind, value: Untrusted) -> Self {
        Self { kind, value, places: Vec::new(), seen: 0, is_left: false, marked: [None; 2] }
    }

    /// The row whose mark matters most, of all that name it. A command line names the system's own files beside those it does harm
    /// with, so that of a path only its own rows count, unless the sample left it behind.
    #[must_use]
    pub fn marked(&self) -> Option<Place> {
        let [any, own] = self.marked;
        let marked = if self.kind != Kind::Path || self.is_left { any } else { own };
        marked.map(|(_, place)| place)
    }

    /// What is shown and copied: without teeth, in one line.
    #[must_use]
    pub fn defanged(&self) -> Visible {
        if self.kind.is_live() { self.value.visible().defanged() } else { self.value.visible().disarmed() }
    }
}

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
        Self::among(report, &|section| 0..report.section(section).map_or(0, Section::len), &|_| None, is_wanted)
    }

    /// Looks through some rows of each section only, which are marked like this.
    ///
    /// # Errors
    /// When the body cannot be read, and when nobody wants them any more.
    pub fn among<Rows: IntoIterator<Item = usize>>(
        report: &Report,
        rows: &dyn Fn(usize) -> Rows,
        mark: &dyn Fn(Place) -> Option<Severity>,
        is_wanted: &dyn Fn() -> bool,
    ) -> io::Result<Self> {
        let mut gathered = Gathered::default();
        for (section, found) in report.index.sections.iter().enumerate() {
            let sources = found.attribute.map_or(&[][..], |known| known.holds);
            if sources.is_empty() {
                continue;
            }
            let has_destination = sources.iter().any(|source| source.member == DESTINATION);
            for (count, row) in rows(section).into_iter().enumerate() {
                if count % 4096 == 0 {
                    still_wanted(is_wanted)?;
                }
                let place = Place { section, row };
                let (record, mark) = (report.record(place)?, mark(place));
                let is_question = has_destination && is_question(Raw::new(&record.value));
                // A resolver is asked for a name, and does nobody any harm by that.
                let is_resolver = |way: &[Step]| is_question && is_named(way, DESTINATION);
                leaves(&record.value, &mut |way, value| {
                    if !is_resolver(way) {
                        gathered.leaf(sources, way, value, (place, mark));
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
        self.found.insert(0, Indicator::new(Kind::Hash, value));
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

/// One row that names an indicator.
#[derive(Clone, Copy)]
struct Seen {
    place: Place,
    mark: Option<Severity>,
    is_left: bool,
    /// Whether the value is the thing itself, and not words that name it.
    is_itself: bool,
}

/// A row with its mark.
type Marked = (Place, Option<Severity>);

/// What has been found so far.
#[derive(Default)]
struct Gathered {
    found: Vec<Indicator>,
    known: HashMap<(Kind, Untrusted), usize>,
}

impl Gathered {
    fn leaf(&mut self, sources: &[Source], way: &[Step], value: Raw<'_>, (place, mark): Marked) {
        if value.kind() != JsonKind::Text {
            return;
        }
        let is_meant = |wanted: &str| if wanted.is_empty() { way.len() == 1 } else { is_named(way, wanted) };
        for source in sources.iter().filter(|source| is_meant(source.member)) {
            let text = value.text();
            let is_itself = source.meaning != Meaning::Words;
            let seen = Seen { place, mark, is_left: source.is_left, is_itself };
            match source.meaning {
                Meaning::Is(kind) => self.known_as(kind, &text, seen),
                Meaning::Words => self.words(&text, seen),
            }
        }
    }

    fn known_as(&mut self, kind: Kind, text: &Untrusted, seen: Seen) {
        let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default().trim();
        match kind {
            Kind::Hash => self.add(kind, hash(plain), seen),
            Kind::Host if plain.parse::<IpAddr>().is_ok() => self.add(Kind::Address, address(plain), seen),
            Kind::Host => self.add(kind, host(plain), seen),
            Kind::Address => self.add(kind, address(plain), seen),
            Kind::Url => self.url(plain, text, seen),
            Kind::Mail => self.add(kind, mail(plain), seen),
            Kind::Path | Kind::Key | Kind::Mutex => {
                self.add(kind, Some(text.clone()).filter(|text| !text.is_empty()), seen);
            }
        }
    }

    /// A URL, and the host or address in it.
    fn url(&mut self, plain: &str, text: &Untrusted, seen: Seen) {
        if let Some(server) = server(plain) {
            self.add(Kind::Url, Some(text.clone()), seen);
            let bare = server.trim_start_matches('[').trim_end_matches(']');
            self.known_as(Kind::Host, &Untrusted::from(bare), seen);
        }
    }

    /// What stands out among words, whatever it is.
    fn words(&mut self, text: &Untrusted, seen: Seen) {
        let Ok(plain) = std::str::from_utf8(text.as_bytes()) else { return };
        for word in split(plain) {
            if word.contains("://") {
                self.url(word, &Untrusted::from(word), seen);
            } else if let Some(found) = hash(word) {
                self.add(Kind::Hash, Some(found), seen);
            } else if is_path(word) {
                self.add(Kind::Path, Some(Untrusted::from(word)), seen);
            } else if word.contains('@') {
                self.add(Kind::Mail, mail(word), seen);
            } else {
                let bare = word.split_once(':').map_or(word, |(bare, _)| bare);
                self.add(Kind::Address, address(word).or_else(|| address(bare)), seen);
            }
        }
    }

    fn add(&mut self, kind: Kind, value: Option<Untrusted>, seen: Seen) {
        let Some(value) = value else { return };
        let next = self.found.len();
        let number = *self.known.entry((kind, same(kind, &value))).or_insert_with(|| {
            self.found.push(Indicator::new(kind, value));
            next
        });
        if let Some(indicator) = self.found.get_mut(number) {
            indicator.seen += 1;
            indicator.is_left |= seen.is_left;
            if indicator.places.len() < MOST_PLACES && indicator.places.last() != Some(&seen.place) {
                indicator.places.push(seen.place);
            }
            let counts = [true, seen.is_itself];
            for (marked, _) in indicator.marked.iter_mut().zip(counts).filter(|(_, counts)| *counts) {
                let mark = seen.mark.filter(|mark| marked.is_none_or(|(known, _)| *mark < known));
                *marked = mark.map(|mark| (mark, seen.place)).or(*marked);
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

/// What makes two values one thing: to Windows capitals of paths and keys are the same as small letters.
fn same(kind: Kind, value: &Untrusted) -> Untrusted {
    let is_of_windows = kind == Kind::Key || kind == Kind::Path && value.as_bytes().contains(&b'\\');
    if is_of_windows { Untrusted::from(value.as_bytes().to_ascii_lowercase()) } else { value.clone() }
}

/// Whether a way to a value goes by a member of this name.
fn is_named(way: &[Step], wanted: &str) -> bool {
    way.iter().any(|step| matches!(step, Step::Member(name) if name.as_bytes() == wanted.as_bytes()))
}

/// Whether what network rules saw went to the port of name servers.
fn is_question(record: Raw<'_>) -> bool {
    let said = |name| record.member("alert_context").and_then(|context| context.member(name));
    let is_of = |name, wanted: &str| {
        said(name).is_some_and(|value| value.text().as_bytes().eq_ignore_ascii_case(wanted.as_bytes()))
    };
    // A server of the sample's may listen there as well, but is hardly asked for names by connections.
    is_of("dest_port", "53") && !is_of("protocol", "tcp") && !is_of("proto", "tcp")
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

/// An address of another machine: each has itself, and the one that stands for none.
fn address(text: &str) -> Option<Untrusted> {
    let found = text.parse::<IpAddr>().ok().filter(|found| {
        let plain = found.to_canonical();
        !plain.is_loopback() && !plain.is_unspecified()
    });
    found.map(|address| Untrusted::from(address.to_string()))
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
pub(crate) fn server(url: &str) -> Option<&str> {
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
