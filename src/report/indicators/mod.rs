//! Collects a report's indicators with their rows: hashes, hosts, URLs, paths, registry keys etc.

mod extract;
mod merged;

pub use extract::is_plain_host;
pub(super) use extract::is_public_target;
pub use merged::{MergedIndicator, Merger, Sighting};

use super::attributes::{DESTINATION, IndicatorSource, ORIGIN, ValueMeaning};
use super::canonical::{spell_out, spell_out_str};
use super::command_line;
use super::identifier::Sha256;
use super::json::{Kind as JsonKind, Raw};
use super::rows::{Record, Report, RowPlace, Step, leaves};
use super::rules::Severity;
use super::work::Cancel;
use crate::text::{Untrusted, Visible, count, names};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::io;

/// Maximum of rows that an indicator stores; all of them are counted.
const MAX_PLACES: usize = 16;

/// Maximum number of indicators, at 250 bytes each: short rows would take fifty times their size.
pub(crate) const MAX_INDICATORS: usize = 4_000_000;

/// The place of an indicator that no row names.
pub const ITSELF: &str = "the file itself";

names! {
    /// The kind of an indicator, in the order in which they are shown.
    Kind {
        /// SHA-256, SHA-1 or MD5 of a file.
        Hash "hash",
        Host "host",
        Address "address",
        Url "url",
        Mail "mail",
        Path "path",
        /// File type, as the service names it.
        FileType "type",
        Key "key",
        Mutex "mutex",
        /// Fingerprint of a server's certificate.
        Certificate "certificate",
        /// JA3 of a TLS client.
        Ja3 "ja3",
        /// JA3S of a TLS server.
        Ja3s "ja3s",
        /// JA4 of a TLS client.
        Ja4 "ja4",
        /// String from memory, often a fragment: STIX and MISP contain it only if selected.
        Memory "memory",
    }
}

/// An indicator, with the rows that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indicator {
    pub kind: Kind,
    pub value: Untrusted,
    /// The first rows that name it; none for the file itself.
    pub places: Vec<RowPlace>,
    /// The first of its own rows; others only mention it, as a command line mentions a file.
    pub own: Vec<RowPlace>,
    /// How many rows name it in all.
    pub seen: u64,
    /// In how many of its rows it is the only indicator.
    pub alone: u64,
    /// Whether a row shows that the sample left it behind.
    pub is_left: bool,
    /// Whether only hidden texts of command lines name it.
    pub is_decoded: bool,
    /// The row with the most severe mark, and the one among rows that name nothing else.
    marked: [Option<(Severity, RowPlace)>; 2],
    /// The number of the last row that names it: a row counts once, even if it names it twice.
    last: u64,
}

impl Indicator {
    fn new(kind: Kind, value: Untrusted) -> Self {
        let places = Vec::new();
        let own = Vec::new();
        let marked = [None; 2];
        Self { kind, value, places, own, seen: 0, alone: 0, is_left: false, is_decoded: false, marked, last: 0 }
    }

    /// Returns the row with the most severe mark. For files and hashes only own rows count, unless
    /// the sample left them: command lines also name system files, and numbers that resemble
    /// hashes. For hosts and addresses, text and URLs that name them do not count.
    pub fn marked(&self) -> Option<RowPlace> {
        let [any, own] = self.marked;
        let marked = if !matches!(self.kind, Kind::Path | Kind::Hash) || self.is_left { any } else { own };
        marked.map(|(_, place)| place)
    }

    /// Returns the hash by which two values are one indicator.
    pub(super) fn hash(&self, keys: &impl BuildHasher) -> u64 {
        keys.hash_one(("indicator", self.kind.name(), compared(self.kind, &self.value)))
    }

    /// Explains why it is unfit for a blocklist (common to networks or files); `None` if it is fit.
    pub fn why_not_public(&self) -> Option<&'static str> {
        let Ok(value) = std::str::from_utf8(self.value.as_bytes()) else { return Some("it is not plain text") };
        match self.kind {
            Kind::Hash => is_of_no_file(value).then_some("it is the hash of an empty file, or of none"),
            Kind::Host | Kind::Address | Kind::Url => extract::why_not_public(self.kind, value),
            // Any program may touch these.
            _ => Some("any program may have it"),
        }
    }

    /// Returns the defanged value in one line, as shown and copied.
    pub(crate) fn defanged(&self) -> Visible {
        match self.kind {
            // Programs may open these, or turn them into links.
            Kind::Host | Kind::Address | Kind::Url | Kind::Mail | Kind::Memory => self.value.visible().defanged(),
            _ => self.value.visible().disarmed(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indicators {
    found: Vec<Indicator>,
    /// Number of searched rows without an indicator.
    pub without: u64,
}

impl Indicators {
    /// Collects the indicators of some rows of each section. `mark` gives the severity of a row.
    pub fn among<Rows: IntoIterator<Item = usize>>(
        report: &Report,
        rows: &dyn Fn(usize) -> Rows,
        mark: &dyn Fn(RowPlace) -> Option<Severity>,
        cancel: &Cancel,
    ) -> io::Result<Self> {
        let mut collector = Collector::default();
        for (section, found) in report.index.sections.iter().enumerate() {
            let sources = found.attribute.map_or(&[][..], |known| known.holds.as_slice());
            if sources.is_empty() {
                collector.without += rows(section).into_iter().count() as u64;
                continue;
            }
            for (count, row) in rows(section).into_iter().enumerate() {
                if count % 4096 == 0 {
                    cancel.check()?;
                }
                let place = RowPlace { section, row };
                collector.take(&report.record(place), sources, place, mark(place))?;
            }
        }
        Ok(collector.sorted())
    }

    /// Adds the file itself before the other hashes, if no row names it.
    pub fn with_sample(mut self, sample: Option<&Sha256>) -> Self {
        let value = sample.map(|sample| Untrusted::from(sample.as_str()));
        let new = value.filter(|value| !self.of_kind(Kind::Hash).iter().any(|found| found.value == *value));
        self.found.splice(0..0, new.map(|value| Indicator::new(Kind::Hash, value)));
        self
    }

    pub fn of_kind(&self, kind: Kind) -> &[Indicator] {
        let start = self.found.partition_point(|indicator| indicator.kind < kind);
        let end = self.found.partition_point(|indicator| indicator.kind <= kind);
        self.found.get(start..end).unwrap_or_default()
    }
}

/// Returns a hash in lower case; `None` if the text is not a hash.
pub(crate) fn hash(text: &Untrusted) -> Option<Untrusted> {
    let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default().trim();
    extract::is_hash(plain).then(|| Untrusted::from(plain.to_ascii_lowercase()))
}

fn refusal(who_names: &str) -> io::Error {
    let most = count(MAX_INDICATORS as u64, "thing");
    let instead = "the rows of the panes can be written as CSV or JSON lines";
    io::Error::other(format!("{who_names} more than {most} to look for; {instead}"))
}

/// Returns the key by which two values are one indicator.
pub(crate) fn same(kind: Kind, value: &Untrusted) -> Untrusted {
    Untrusted::from(compared(kind, value).into_owned())
}

/// Returns a value in the form in which it is compared: Windows ignores the case of paths and keys.
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

/// Returns a text with the placeholders in it spelled out.
fn spelled(text: &str) -> Cow<'_, str> {
    if text.contains('<') { spell_out_str(text) } else { Cow::Borrowed(text) }
}

/// Returns whether a final character is padding: sandboxes copy strings with their NUL.
fn is_padding(character: char) -> bool {
    character == ' ' || character.is_ascii_control()
}

/// Returns the kind of a string from memory, if it is a complete indicator.
pub(crate) fn kind_in_memory(text: &str) -> Option<Kind> {
    if extract::parse_address(text).is_some() {
        return Some(Kind::Address);
    }
    if extract::host_of_url(text).is_some_and(extract::is_host_name) {
        return Some(Kind::Url);
    }
    extract::host(text).filter(|host| is_plain_host(host.as_bytes())).map(|_| Kind::Host)
}

/// Returns whether the path to a value contains a member of this name.
fn is_named(way: &[Step], wanted: &str) -> bool {
    way.iter().any(|step| matches!(step, Step::Member(name) if name.as_bytes() == wanted.as_bytes()))
}

/// Returns an alert's members whose machine is not an indicator.
///
/// A resolver only receives queries, which is harmless; the sample's machine is in all traffic.
fn passed_over(alert: Raw<'_>) -> &'static [&'static str] {
    let text = |name| alert.member("alert_context").and_then(|context| context.member(name)).map(Raw::text);
    let is =
        |name, wanted: &str| text(name).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(wanted.as_bytes()));
    let is_others = |name| {
        let address = text(name).and_then(|value| extract::parse_address(str::from_utf8(value.as_bytes()).ok()?));
        address.is_some_and(|address| Indicator::new(Kind::Address, address).why_not_public().is_none())
    };
    if is_others(ORIGIN) && !is_others(DESTINATION) {
        return &[DESTINATION];
    }
    // A server of the sample may use this port too, but TCP is rarely used for queries.
    let is_query = is("dest_port", "53") && !is("protocol", "tcp") && !is("proto", "tcp");
    if is_query { &[ORIGIN, DESTINATION] } else { &[ORIGIN] }
}

/// Returns whether a hash is that of an empty file, or not of any file.
fn is_of_no_file(hash: &str) -> bool {
    const EMPTY: [&str; 3] = [
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ];
    let first = hash.bytes().next();
    EMPTY.contains(&hash) || hash.bytes().all(|byte| Some(byte) == first)
}

#[derive(Clone, Copy)]
struct IndicatorRow {
    place: RowPlace,
    mark: Option<Severity>,
    is_left: bool,
    /// Whether the value is the indicator itself, and not text that mentions it.
    is_itself: bool,
    /// Whether it is one of several that a list within the row names.
    is_listed: bool,
    is_decoded: bool,
}

#[derive(Default)]
struct Collector {
    found: Vec<Indicator>,
    known: KnownNumbers,
    /// The number of the current row, from 1 on.
    row: u64,
    /// The first two indicators of the row; more are not needed.
    named: Vec<usize>,
    without: u64,
    /// Whether the row says that its strings are from memory.
    is_memory: bool,
    /// The name that the row resolves, and the addresses that it resolves to.
    looked_up: (Option<usize>, Vec<usize>),
    /// Numbers of addresses, each with that of a name that resolves to it.
    resolved: HashSet<(usize, usize)>,
}

impl Collector {
    /// Adds the indicators of a row; fails if there are too many.
    fn take(
        &mut self,
        row: &Record<'_>,
        sources: &[IndicatorSource],
        place: RowPlace,
        mark: Option<Severity>,
    ) -> io::Result<()> {
        let raw = Raw::new(&row.value);
        let has_memory = |text: &[u8]| text.windows(6).any(|part| part.eq_ignore_ascii_case(b"memory"));
        let says = |member| raw.member(member).is_some_and(|words| has_memory(words.content()));
        self.is_memory = raw.member("match_data").is_some() && ["name", "description"].into_iter().any(says);
        self.row += 1;
        let is_alert = sources.iter().any(|source| source.member == DESTINATION);
        let passed_over = if is_alert { passed_over(raw) } else { &[] };
        let is_member = |wanted: &str| row.member.as_ref().is_some_and(|name| name.as_bytes() == wanted.as_bytes());
        leaves(&row.value, &mut |way, value| {
            if value.kind() != JsonKind::Text || passed_over.iter().any(|end| is_named(way, end)) {
                return;
            }
            let is_listed = way.iter().skip(1).any(|step| matches!(step, Step::Element(_)));
            for source in sources {
                let is_meant = match source.member {
                    "" => way.len() == 1,
                    wanted => is_named(way, wanted) || is_member(wanted),
                };
                let is_itself = matches!(source.meaning, ValueMeaning::Is(_));
                let is_left = source.is_left;
                let seen = IndicatorRow { place, mark, is_left, is_itself, is_listed, is_decoded: false };
                match source.meaning {
                    _ if !is_meant => {}
                    ValueMeaning::Is(kind) => self.known_as(kind, &value.text(), seen),
                    ValueMeaning::Module => self.module(&value.text(), seen),
                    ValueMeaning::Words | ValueMeaning::Others | ValueMeaning::Data => {
                        let text = value.text();
                        self.add_from_text(&text, seen, source.meaning);
                        self.decoded(&text, seen);
                    }
                    ValueMeaning::Encoded => self.decoded(&value.text(), seen),
                }
            }
        });
        match self.named.as_slice() {
            [] => self.without += 1,
            [one] => self.found.get_mut(*one).into_iter().for_each(|found| found.alone += 1),
            _ => {}
        }
        self.named.clear();
        if let (Some(name), addresses) = std::mem::take(&mut self.looked_up) {
            self.resolved.extend(addresses.into_iter().map(|address| (address, name)));
        }
        if self.found.len() > MAX_INDICATORS { Err(refusal("it names")) } else { Ok(()) }
    }

    fn known_as(&mut self, kind: Kind, text: &Untrusted, seen: IndicatorRow) {
        let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default();
        let plain = plain.trim_matches(|c: char| c.is_whitespace() || is_padding(c));
        let value = match kind {
            Kind::Host if extract::is_address(plain) => {
                return self.add(Kind::Address, extract::parse_address(plain), seen);
            }
            Kind::Url => return self.url(plain, seen),
            Kind::Hash => hash(text),
            Kind::Host => extract::host(plain),
            Kind::Address => extract::parse_address(plain),
            Kind::Mail => extract::mail(plain),
            Kind::Certificate => hash(&Untrusted::from(plain.replace(':', ""))),
            Kind::Ja3 | Kind::Ja3s => hash(text).filter(|hash| hash.as_bytes().len() == 32),
            Kind::Path if !plain.is_empty() => Some(Untrusted::from(extract::unprefixed(&spelled(plain)))),
            Kind::Key if !plain.is_empty() => Some(Untrusted::from(plain)),
            Kind::Ja4 | Kind::FileType | Kind::Memory => Some(Untrusted::from(plain)),
            Kind::Path | Kind::Key | Kind::Mutex => Some(text.clone()),
        };
        self.add(kind, value.filter(|value| !value.is_empty()), seen);
    }

    /// Adds a URL; also its host or address, without the mark: one machine serves many URLs.
    fn url(&mut self, plain: &str, seen: IndicatorRow) {
        if let Some(server) = extract::host_of_url(plain)
            .filter(|server| extract::is_host_name(server))
            .or_else(|| extract::authority_without_scheme(plain))
        {
            self.add(Kind::Url, Some(Untrusted::from(plain)), seen);
            self.known_as(Kind::Host, &Untrusted::from(server), IndicatorRow { mark: None, ..seen });
        }
    }

    /// Adds a module with a path; a mere name does not show where it is.
    fn module(&mut self, text: &Untrusted, seen: IndicatorRow) {
        let plain = extract::unprefixed(std::str::from_utf8(text.as_bytes()).unwrap_or_default());
        if extract::is_path(plain) {
            self.known_as(Kind::Path, &Untrusted::from(plain), seen);
        }
    }

    /// Adds the indicators in the hidden texts of a command line.
    fn decoded(&mut self, text: &Untrusted, seen: IndicatorRow) {
        for hidden in command_line::decoded(text.as_bytes()) {
            self.add_from_text(&hidden, IndicatorRow { is_decoded: true, ..seen }, ValueMeaning::Others);
        }
    }

    fn add_from_text(&mut self, text: &Untrusted, seen: IndicatorRow, meaning: ValueMeaning) {
        let Ok(plain) = std::str::from_utf8(text.as_bytes()) else { return };
        // Placeholders in angle brackets would split the path that contains them.
        let plain = &*spelled(plain);
        for (kind, word) in extract::named(plain) {
            // Binary data in hexadecimal digits is not a hash of a file.
            if kind == Kind::Hash && meaning == ValueMeaning::Data {
                continue;
            }
            if self.is_memory && matches!(kind, Kind::Host | Kind::Address | Kind::Url | Kind::Mail) {
                self.known_as(Kind::Memory, &Untrusted::from(word), seen);
                continue;
            }
            // A path alone, such as that of a started program, is the subject of the row.
            let is_itself = meaning == ValueMeaning::Words && kind == Kind::Path && word == extract::unprefixed(plain);
            // Pings for a delay, and tests of the connection, use public machines.
            let mark = seen.mark.filter(|_| !matches!(kind, Kind::Host | Kind::Address));
            self.known_as(kind, &Untrusted::from(word), IndicatorRow { is_itself, mark, ..seen });
        }
    }

    fn add(&mut self, kind: Kind, value: Option<Untrusted>, seen: IndicatorRow) {
        let Some(value) = value else { return };
        let number = self.number_of(kind, value);
        if self.named.len() < 2 && !self.named.contains(&number) {
            self.named.push(number);
        }
        match kind {
            Kind::Host if !seen.is_listed => self.looked_up.0 = Some(number),
            Kind::Address if seen.is_listed => self.looked_up.1.push(number),
            _ => {}
        }
        if let Some(indicator) = self.found.get_mut(number) {
            indicator.is_decoded = seen.is_decoded && (indicator.is_decoded || indicator.seen == 0);
            indicator.seen += u64::from(indicator.last != self.row);
            indicator.last = self.row;
            indicator.is_left |= seen.is_left;
            add_place(&mut indicator.places, seen.place);
            if seen.is_itself && !seen.is_listed {
                add_place(&mut indicator.own, seen.place);
            }
            let counts = [true, seen.is_itself];
            // An address that a name resolves to serves other names as well.
            let mark = seen.mark.filter(|_| kind != Kind::Address || !seen.is_listed);
            for (marked, _) in indicator.marked.iter_mut().zip(counts).filter(|(_, counts)| *counts) {
                let mark = mark.filter(|mark| marked.is_none_or(|(known, _)| *mark < known));
                *marked = mark.map(|mark| (mark, seen.place)).or(*marked);
            }
        }
    }

    fn number_of(&mut self, kind: Kind, value: Untrusted) -> usize {
        let next = self.found.len();
        let new = Indicator::new(kind, value);
        let is_same = |known: usize| self.found.get(known).is_some_and(|known| is_same(known, &new));
        let number = self.known.number_of(kind, &new.value, next, is_same);
        if number == next {
            self.found.push(new);
        }
        number
    }

    /// Sorts by kind; within a kind the order of the report stays.
    fn sorted(self) -> Indicators {
        let mut found = self.found;
        // An address is marked only if all names that resolve to it are.
        let mut pairs: Vec<_> = self.resolved.into_iter().collect();
        pairs.sort();
        for names in pairs.chunk_by(|one, other| one.0 == other.0) {
            let marks = names.iter().map(|(_, name)| found.get(*name).and_then(|name| name.marked[0]));
            let carried = marks.collect::<Option<Vec<_>>>().and_then(|marks| marks.into_iter().min());
            let address = names.first().and_then(|(address, _)| found.get_mut(*address));
            if let Some(address) = address.filter(|address| address.marked[0].is_none()) {
                address.marked[0] = carried;
            }
        }
        found.sort_by_key(|indicator| indicator.kind);
        Indicators { found, without: self.without }
    }
}

fn is_same(one: &Indicator, other: &Indicator) -> bool {
    one.kind == other.kind && compared(one.kind, &one.value) == compared(other.kind, &other.value)
}

/// The number of each indicator, by its hash; on a collision by the next free hash.
#[derive(Default)]
struct KnownNumbers(HashMap<u64, u32>);

impl KnownNumbers {
    /// Returns the number of an indicator; `next` if it is new.
    fn number_of(&mut self, kind: Kind, value: &Untrusted, next: usize, is_same: impl Fn(usize) -> bool) -> usize {
        let mut hash = self.0.hasher().hash_one((kind, compared(kind, value)));
        while let Some(known) = self.0.get(&hash).and_then(|known| usize::try_from(*known).ok()) {
            if is_same(known) {
                return known;
            }
            hash = hash.wrapping_add(1);
        }
        self.0.extend(u32::try_from(next).map(|number| (hash, number)));
        next
    }
}

fn add_place(places: &mut Vec<RowPlace>, place: RowPlace) {
    if places.len() < MAX_PLACES && places.last() != Some(&place) {
        if places.is_empty() {
            // Most indicators have one row.
            places.reserve_exact(1);
        }
        places.push(place);
    }
}

#[cfg(test)]
mod tests;
