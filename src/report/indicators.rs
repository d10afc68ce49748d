//! What a report holds that others can look for: hashes, hosts, addresses, URLs, mail addresses, paths, registry keys, mutexes;
//! each with the rows where it was seen.

mod gathered;
mod servers;
mod words;

pub(super) use servers::is_of_the_internet;
pub use servers::is_plain_host;

use super::attributes::{DESTINATION, ORIGIN};
use super::canonical::spell_out;
use super::identifier::Sha256;
use super::index::Section;
use super::json::Raw;
use super::rows::records::{Step, leaves};
use super::rows::{Place, Report};
use super::rules::Severity;
use super::work::Cancel;
use crate::text::{Untrusted, Visible};
use gathered::Gathered;
use std::borrow::Cow;
use std::io;

/// How many of its rows an indicator keeps; all of them are counted.
const MOST_PLACES: usize = 16;

/// The most indicators that are gathered at once, at some 250 bytes each: a report of nothing but short rows would take fifty times
/// its size.
pub const MOST: usize = 4_000_000;

/// Where an indicator that no row names was seen.
pub const ITSELF: &str = "the file itself";

/// What kind of thing an indicator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// SHA-256, SHA-1 or MD5 of a file.
    Hash,
    Host,
    Address,
    Url,
    Mail,
    Path,
    Key,
    Mutex,
    /// Fingerprint of a server's certificate.
    Certificate,
    /// JA3 of a TLS client.
    Ja3,
    /// JA3S of a TLS server.
    Ja3s,
    /// JA4 of a TLS client.
    Ja4,
    /// String from memory, often a fragment: STIX and MISP carry it only where this kind is asked for.
    Memory,
}

impl Kind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::Hash,
        Self::Host,
        Self::Address,
        Self::Url,
        Self::Mail,
        Self::Path,
        Self::Key,
        Self::Mutex,
        Self::Certificate,
        Self::Ja3,
        Self::Ja3s,
        Self::Ja4,
        Self::Memory,
    ];

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
            Self::Certificate => "certificate",
            Self::Ja3 => "ja3",
            Self::Ja3s => "ja3s",
            Self::Ja4 => "ja4",
            Self::Memory => "memory",
        }
    }

    /// Whether a program that sees one may open it or make a link of it.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Host | Self::Address | Self::Url | Self::Mail | Self::Memory)
    }
}

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indicator {
    pub kind: Kind,
    pub value: Untrusted,
    /// The first rows that name it; none for the file itself.
    pub places: Vec<Place>,
    /// The first of its own rows, which describe the indicator itself. Other rows only mention it:
    /// a command line mentions a file, and a process the files that it opened.
    pub own: Vec<Place>,
    /// How many rows name it in all.
    pub seen: u64,
    /// In how many of its rows it is all that is named.
    pub alone: u64,
    /// Whether one of these times says that the sample left it behind.
    pub is_left: bool,
    /// The row whose mark matters most, and the one of those that name nothing else.
    marked: [Option<(Severity, Place)>; 2],
    /// The last row that names it, by its number among all: a row counts once, however often it names it.
    last: u64,
}

impl Indicator {
    /// One that was not seen yet.
    fn new(kind: Kind, value: Untrusted) -> Self {
        let (places, own) = (Vec::new(), Vec::new());
        Self { kind, value, places, own, seen: 0, alone: 0, is_left: false, marked: [None; 2], last: 0 }
    }

    /// The row whose mark matters most, of all that name it. A command line names the system's own files beside those it does harm
    /// with, and numbers that look like a hash, so that of these only their own rows count, unless the sample left them behind. Of a
    /// host or an address no words count, nor a URL that names it.
    pub fn marked(&self) -> Option<Place> {
        let [any, own] = self.marked;
        let marked = if !matches!(self.kind, Kind::Path | Kind::Hash) || self.is_left { any } else { own };
        marked.map(|(_, place)| place)
    }

    /// Whether it is worth sharing in a blocklist: it is neither common to all networks nor shared
    /// by many files.
    pub fn can_be_blocked(&self) -> bool {
        std::str::from_utf8(self.value.as_bytes()).is_ok_and(|value| match self.kind {
            Kind::Hash => !is_of_no_file(value),
            Kind::Host | Kind::Address | Kind::Url => servers::is_of_somebody(self.kind, value),
            // Any program may touch these.
            _ => false,
        })
    }

    /// The defanged value in one line, as shown and copied.
    pub fn defanged(&self) -> Visible {
        if self.kind.is_live() { self.value.visible().defanged() } else { self.value.visible().disarmed() }
    }
}

/// All indicators of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indicators {
    found: Vec<Indicator>,
    /// How many of the rows that were looked through name none.
    pub without: u64,
}

impl Indicators {
    /// Collects the indicators of a whole report. `mark` gives the severity of a row.
    pub fn of(report: &Report, mark: &dyn Fn(Place) -> Option<Severity>, cancel: &Cancel) -> io::Result<Self> {
        Self::among(report, &|section| 0..report.section(section).map_or(0, Section::len), mark, cancel)
    }

    /// Collects the indicators of some rows of each section. `mark` gives the severity of a row.
    pub fn among<Rows: IntoIterator<Item = usize>>(
        report: &Report,
        rows: &dyn Fn(usize) -> Rows,
        mark: &dyn Fn(Place) -> Option<Severity>,
        cancel: &Cancel,
    ) -> io::Result<Self> {
        let mut gathered = Gathered::default();
        for (section, found) in report.index.sections.iter().enumerate() {
            let sources = found.attribute.map_or(&[][..], |known| known.holds.as_slice());
            if sources.is_empty() {
                gathered.pass_over(rows(section).into_iter().count() as u64);
                continue;
            }
            let has_destination = sources.iter().any(|source| source.member == DESTINATION);
            for (count, row) in rows(section).into_iter().enumerate() {
                if count % 4096 == 0 {
                    cancel.check()?;
                }
                let place = Place { section, row };
                let (record, mark) = (report.record(place), mark(place));
                gathered.begin_row(&record);
                let traffic = match has_destination {
                    true => Traffic::of(Raw::new(&record.value)),
                    false => Traffic::default(),
                };
                let passed_over = traffic.passed_over();
                leaves(&record.value, &mut |way, value| {
                    if !passed_over.iter().any(|end| is_named(way, end)) {
                        gathered.leaf(sources, way, value, (place, mark));
                    }
                });
                gathered.end_row()?;
            }
        }
        Ok(gathered.sorted())
    }

    /// With the file itself before the other hashes, where no row names it.
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
    pub fn all(&self) -> &[Indicator] {
        &self.found
    }

    /// Nothing but those of one kind.
    pub fn only(mut self, kind: Kind) -> Self {
        self.found.retain(|indicator| indicator.kind == kind);
        self
    }

    /// All but those of one kind.
    pub fn except(mut self, kind: Kind) -> Self {
        self.found.retain(|indicator| indicator.kind != kind);
        self
    }

    pub fn of_kind(&self, kind: Kind) -> &[Indicator] {
        let start = self.found.partition_point(|indicator| indicator.kind < kind);
        let end = self.found.partition_point(|indicator| indicator.kind <= kind);
        self.found.get(start..end).unwrap_or_default()
    }
}

/// A hash as it is kept, whatever its letters are like; none where the text is no hash.
pub(crate) fn hash(text: &Untrusted) -> Option<Untrusted> {
    let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default().trim();
    words::is_hash(plain).then(|| Untrusted::from(plain.to_ascii_lowercase()))
}

/// What makes two values one thing.
pub(crate) fn same(kind: Kind, value: &Untrusted) -> Untrusted {
    Untrusted::from(compared(kind, value).into_owned())
}

/// A value as it is compared: to Windows capitals of paths and keys are the same as small letters.
fn compared(kind: Kind, value: &Untrusted) -> Cow<'_, [u8]> {
    let value = value.as_bytes();
    let end = value.iter().rposition(|byte| !is_padding(char::from(*byte))).map_or(0, |last| last + 1);
    let trimmed = value.get(..end).unwrap_or_default();
    match kind {
        Kind::Key => spell_out(trimmed).to_ascii_lowercase().into(),
        Kind::Path if trimmed.contains(&b'<') => spell_out(trimmed).to_ascii_lowercase().into(),
        Kind::Path if trimmed.contains(&b'\\') => trimmed.to_ascii_lowercase().into(),
        Kind::Path => trimmed.into(),
        _ => value.into(),
    }
}

/// Whether a character at the end of a value is no part of it: sandboxes copy strings with the NUL behind them.
fn is_padding(character: char) -> bool {
    character == ' ' || character.is_ascii_control()
}

/// What a string from memory is, where it is something whole.
pub(crate) fn kind_in_memory(text: &str) -> Option<Kind> {
    let is_url = || servers::server(text).is_some_and(servers::is_server);
    let is_host = || servers::host(text).is_some_and(|host| is_plain_host(host.as_bytes()));
    if servers::address(text).is_some() {
        Some(Kind::Address)
    } else if is_url() {
        Some(Kind::Url)
    } else {
        is_host().then_some(Kind::Host)
    }
}

/// Whether a way to a value goes by a member of this name.
fn is_named(way: &[Step], wanted: &str) -> bool {
    way.iter().any(|step| matches!(step, Step::Member(name) if name.as_bytes() == wanted.as_bytes()))
}

/// Which ends of the traffic that network rules saw are others' machines.
#[derive(Default)]
struct Traffic {
    /// It went to the port of name servers.
    is_question: bool,
    /// It came from a machine of the internet to one that is none.
    is_answer: bool,
}

impl Traffic {
    fn of(record: Raw<'_>) -> Self {
        let said = |name| record.member("alert_context").and_then(|context| context.member(name)).map(Raw::text);
        let is_of = |name, wanted: &str| {
            said(name).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(wanted.as_bytes()))
        };
        let is_others = |name| {
            let address = said(name).and_then(|value| servers::address(std::str::from_utf8(value.as_bytes()).ok()?));
            address.is_some_and(|address| Indicator::new(Kind::Address, address).can_be_blocked())
        };
        Self {
            // A server of the sample's may listen there as well, but is hardly asked for names by connections.
            is_question: is_of("dest_port", "53") && !is_of("protocol", "tcp") && !is_of("proto", "tcp"),
            is_answer: is_others(ORIGIN) && !is_others(DESTINATION),
        }
    }

    /// The members that do not name a machine worth finding. A resolver only receives queries,
    /// which is harmless; the machine that ran the sample starts most of the traffic and receives
    /// the rest.
    fn passed_over(&self) -> &'static [&'static str] {
        match (self.is_answer, self.is_question) {
            (true, _) => &[DESTINATION],
            (false, true) => &[ORIGIN, DESTINATION],
            (false, false) => &[ORIGIN],
        }
    }
}

/// Whether a hash is that of a file without bytes, or none at all.
fn is_of_no_file(hash: &str) -> bool {
    const EMPTY: [&str; 3] = [
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ];
    let first = hash.bytes().next();
    EMPTY.contains(&hash) || hash.bytes().all(|byte| Some(byte) == first)
}

#[cfg(test)]
mod tests;
