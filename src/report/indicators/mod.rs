//! What a report holds that others can look for: hashes, hosts, addresses, URLs, mail addresses, paths, registry keys, mutexes;
//! each with the rows where it was seen.

mod merged;
mod servers;
mod words;

pub use merged::{MergedIndicator, Merging, Sighting};
pub(super) use servers::is_of_the_internet;
pub use servers::is_plain_host;

use super::attributes::{DESTINATION, IndicatorSource, ORIGIN, ValueMeaning};
use super::canonical::{spell_out, spell_out_str};
use super::command_line;
use super::identifier::Sha256;
use super::json::{Kind as JsonKind, Raw};
use super::rows::records::{Record, Step, leaves};
use super::rows::{Report, RowPlace};
use super::rules::Severity;
use super::work::Cancel;
use crate::text::{Untrusted, Visible, count, names};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::io;

/// How many of its rows an indicator keeps; all of them are counted.
const MOST_PLACES: usize = 16;

/// The most indicators that are gathered at once, at some 250 bytes each: a report of nothing but short rows would take fifty times
/// its size.
pub const MOST: usize = 4_000_000;

/// Where an indicator that no row names was seen.
pub const ITSELF: &str = "the file itself";

names! {
    /// What kind of thing an indicator is, in the order in which they are shown.
    Kind {
        /// SHA-256, SHA-1 or MD5 of a file.
        Hash "hash",
        Host "host",
        Address "address",
        Url "url",
        Mail "mail",
        Path "path",
        /// What a file is, in the words of the service.
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
        /// String from memory, often a fragment: STIX and MISP carry it only where this kind is asked for.
        Memory "memory",
    }
}

impl Kind {
    /// Whether a program that sees one may open it or make a link of it.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Host | Self::Address | Self::Url | Self::Mail | Self::Memory)
    }
}

/// A thing to look for elsewhere, with the rows that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indicator {
    pub kind: Kind,
    pub value: Untrusted,
    /// The first rows that name it; none for the file itself.
    pub places: Vec<RowPlace>,
    /// The first of its own rows, which describe the indicator itself. Other rows only mention it:
    /// a command line mentions a file, and a process the files that it opened.
    pub own: Vec<RowPlace>,
    /// How many rows name it in all.
    pub seen: u64,
    /// In how many of its rows it is all that is named.
    pub alone: u64,
    /// Whether one of these times says that the sample left it behind.
    pub is_left: bool,
    /// Whether it was only seen in what command lines hide.
    pub is_decoded: bool,
    /// The row whose mark matters most, and the one of those that name nothing else.
    marked: [Option<(Severity, RowPlace)>; 2],
    /// The last row that names it, by its number among all: a row counts once, however often it names it.
    last: u64,
}

impl Indicator {
    /// One that was not seen yet.
    fn new(kind: Kind, value: Untrusted) -> Self {
        let (places, own) = (Vec::new(), Vec::new());
        let (is_left, is_decoded) = (false, false);
        Self { kind, value, places, own, seen: 0, alone: 0, is_left, is_decoded, marked: [None; 2], last: 0 }
    }

    /// The row whose mark matters most, of all that name it. A command line names the system's own files beside those it does harm
    /// with, and numbers that look like a hash, so that of these only their own rows count, unless the sample left them behind. Of a
    /// host or an address no words count, nor a URL that names it.
    pub fn marked(&self) -> Option<RowPlace> {
        let [any, own] = self.marked;
        let marked = if !matches!(self.kind, Kind::Path | Kind::Hash) || self.is_left { any } else { own };
        marked.map(|(_, place)| place)
    }

    /// Why it is not worth sharing in a blocklist; none where it is neither common to all networks nor shared by many files.
    pub fn why_common(&self) -> Option<&'static str> {
        let Ok(value) = std::str::from_utf8(self.value.as_bytes()) else { return Some("it is not plain text") };
        match self.kind {
            Kind::Hash => is_of_no_file(value).then_some("it is the hash of an empty file, or of none"),
            Kind::Host | Kind::Address | Kind::Url => servers::why_common(self.kind, value),
            // Any program may touch these.
            _ => Some("any program may have it"),
        }
    }

    /// The defanged value in one line, as shown and copied.
    pub fn defanged(&self) -> Visible {
        if self.kind.is_live() { self.value.visible().defanged() } else { self.value.visible().disarmed() }
    }
}

/// The indicators of one report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indicators {
    found: Vec<Indicator>,
    /// How many of the rows that were looked through name none.
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

    /// With the file itself before the other hashes, where no row names it.
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

/// A hash as it is kept, whatever its letters are like; none where the text is no hash.
pub(crate) fn hash(text: &Untrusted) -> Option<Untrusted> {
    let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default().trim();
    words::is_hash(plain).then(|| Untrusted::from(plain.to_ascii_lowercase()))
}

/// Why no more is gathered.
fn refusal(who_names: &str) -> io::Error {
    let most = count(MOST as u64, "thing");
    let instead = "the rows of the panes can be written as CSV or JSON lines";
    io::Error::other(format!("{who_names} more than {most} to look for; {instead}"))
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

/// A text with the placeholders in it spelled out.
fn spelled(text: &str) -> Cow<'_, str> {
    if text.contains('<') { spell_out_str(text) } else { Cow::Borrowed(text) }
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

/// The members of an alert that name no machine worth finding.
///
/// A resolver only receives queries, which is harmless; the machine that ran the sample starts most of the traffic and receives
/// the rest.
fn passed_over(alert: Raw<'_>) -> &'static [&'static str] {
    let text = |name| alert.member("alert_context").and_then(|context| context.member(name)).map(Raw::text);
    let is =
        |name, wanted: &str| text(name).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(wanted.as_bytes()));
    let is_others = |name| {
        let address = text(name).and_then(|value| servers::address(str::from_utf8(value.as_bytes()).ok()?));
        address.is_some_and(|address| Indicator::new(Kind::Address, address).why_common().is_none())
    };
    if is_others(ORIGIN) && !is_others(DESTINATION) {
        return &[DESTINATION];
    }
    // A server of the sample's may listen on this port as well, but is hardly asked for names by connections.
    let is_query = is("dest_port", "53") && !is("protocol", "tcp") && !is("proto", "tcp");
    if is_query { &[ORIGIN, DESTINATION] } else { &[ORIGIN] }
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

/// One row that names an indicator.
#[derive(Clone, Copy)]
struct IndicatorRow {
    place: RowPlace,
    mark: Option<Severity>,
    is_left: bool,
    /// Whether the value is the thing itself, and not words that name it.
    is_itself: bool,
    /// Whether it is one of several that a list within the row names.
    is_listed: bool,
    is_decoded: bool,
}

/// What has been found so far.
#[derive(Default)]
struct Collector {
    found: Vec<Indicator>,
    known: KnownNumbers,
    /// The row that is looked through, by its number among all, from 1 on.
    row: u64,
    /// The first two indicators that the row names: more say no more.
    named: Vec<usize>,
    without: u64,
    /// Whether the row says that its strings are from memory.
    is_memory: bool,
    /// The name that the row resolves, and the addresses that it resolves to.
    looked_up: (Option<usize>, Vec<usize>),
    /// Addresses by their numbers, each with a name that leads to it.
    resolved: HashSet<(usize, usize)>,
}

impl Collector {
    /// Takes in what a row names; an error where more was found than is gathered.
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
                let (is_left, is_decoded) = (source.is_left, false);
                let seen = IndicatorRow { place, mark, is_left, is_itself, is_listed, is_decoded };
                match source.meaning {
                    _ if !is_meant => {}
                    ValueMeaning::Is(kind) => self.known_as(kind, &value.text(), seen),
                    ValueMeaning::Module => self.module(&value.text(), seen),
                    ValueMeaning::Words | ValueMeaning::Others | ValueMeaning::Data => {
                        let text = value.text();
                        self.words(&text, seen, source.meaning);
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
        let (name, addresses) = std::mem::take(&mut self.looked_up);
        self.resolved.extend(name.into_iter().flat_map(|name| addresses.iter().map(move |address| (*address, name))));
        if self.found.len() <= MOST {
            return Ok(());
        }
        Err(refusal("it names"))
    }

    fn known_as(&mut self, kind: Kind, text: &Untrusted, seen: IndicatorRow) {
        let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default();
        let plain = plain.trim_matches(|c: char| c.is_whitespace() || is_padding(c));
        let value = match kind {
            Kind::Host if servers::is_address(plain) => return self.add(Kind::Address, servers::address(plain), seen),
            Kind::Url => return self.url(plain, seen),
            Kind::Hash => hash(text),
            Kind::Host => servers::host(plain),
            Kind::Address => servers::address(plain),
            Kind::Mail => servers::mail(plain),
            Kind::Certificate => hash(&Untrusted::from(plain.replace(':', ""))),
            Kind::Ja3 | Kind::Ja3s => hash(text).filter(|hash| hash.as_bytes().len() == 32),
            Kind::Path if !plain.is_empty() => Some(Untrusted::from(words::unprefixed(&spelled(plain)))),
            Kind::Key if !plain.is_empty() => Some(Untrusted::from(plain)),
            Kind::Ja4 | Kind::FileType | Kind::Memory => Some(Untrusted::from(plain)),
            Kind::Path | Kind::Key | Kind::Mutex => Some(text.clone()),
        };
        self.add(kind, value.filter(|value| !value.is_empty()), seen);
    }

    /// A URL, and the host or address in it, of which the URL's mark says nothing: much lies on one machine.
    fn url(&mut self, plain: &str, seen: IndicatorRow) {
        if let Some(server) = servers::server(plain)
            .filter(|server| servers::is_server(server))
            .or_else(|| servers::server_without_scheme(plain))
        {
            self.add(Kind::Url, Some(Untrusted::from(plain)), seen);
            self.known_as(Kind::Host, &Untrusted::from(server), IndicatorRow { mark: None, ..seen });
        }
    }

    /// A module that was loaded by its path: mere names say nothing of where it is.
    fn module(&mut self, text: &Untrusted, seen: IndicatorRow) {
        let plain = words::unprefixed(std::str::from_utf8(text.as_bytes()).unwrap_or_default());
        if words::is_path(plain) {
            self.known_as(Kind::Path, &Untrusted::from(plain), seen);
        }
    }

    /// What stands out in the texts that a command line hides.
    fn decoded(&mut self, text: &Untrusted, seen: IndicatorRow) {
        for hidden in command_line::decoded(text.as_bytes()) {
            self.words(&hidden, IndicatorRow { is_decoded: true, ..seen }, ValueMeaning::Others);
        }
    }

    /// What stands out among words, whatever it is.
    fn words(&mut self, text: &Untrusted, seen: IndicatorRow, meaning: ValueMeaning) {
        let Ok(plain) = std::str::from_utf8(text.as_bytes()) else { return };
        // Placeholders in angle brackets would split the path that contains them.
        let plain = &*spelled(plain);
        for (kind, word) in words::named(plain) {
            // Binary data in hexadecimal digits is no hash of a file.
            if kind == Kind::Hash && meaning == ValueMeaning::Data {
                continue;
            }
            if self.is_memory && matches!(kind, Kind::Host | Kind::Address | Kind::Url | Kind::Mail) {
                self.known_as(Kind::Memory, &Untrusted::from(word), seen);
                continue;
            }
            // A program that is named by its path alone, say of those that were started, is what the row is about.
            let is_itself = meaning == ValueMeaning::Words && kind == Kind::Path && word == words::unprefixed(plain);
            // What waits pings a resolver, and what tests its connection asks anybody.
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
            // Addresses that a name leads to serve other names as well.
            let mark = seen.mark.filter(|_| kind != Kind::Address || !seen.is_listed);
            for (marked, _) in indicator.marked.iter_mut().zip(counts).filter(|(_, counts)| *counts) {
                let mark = mark.filter(|mark| marked.is_none_or(|(known, _)| *mark < known));
                *marked = mark.map(|mark| (mark, seen.place)).or(*marked);
            }
        }
    }

    /// The place of an indicator, which is new if it was not seen yet.
    fn number_of(&mut self, kind: Kind, value: Untrusted) -> usize {
        let (next, found, new) = (self.found.len(), &self.found, Indicator::new(kind, value));
        let is_same = |known: usize| found.get(known).is_some_and(|known| is_same(known, &new));
        let number = self.known.number_of(kind, &new.value, next, is_same);
        if number == next {
            self.found.push(new);
        }
        number
    }

    /// By kind; within a kind the order of the report stays.
    fn sorted(self) -> Indicators {
        let mut found = self.found;
        // An address serves other names as well: only where all are marked is it.
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

/// Whether both are one thing.
fn is_same(one: &Indicator, other: &Indicator) -> bool {
    one.kind == other.kind && compared(one.kind, &one.value) == compared(other.kind, &other.value)
}

/// The number of each indicator, by a hash of what it is; by the next hash where two have one.
#[derive(Default)]
struct KnownNumbers(HashMap<u64, u32>);

impl KnownNumbers {
    /// The number of an indicator; `next` where none that is known is the same.
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

/// Adds a row to the first ones, once.
fn add_place(places: &mut Vec<RowPlace>, place: RowPlace) {
    if places.len() < MOST_PLACES && places.last() != Some(&place) {
        if places.is_empty() {
            // Most are named once.
            places.reserve_exact(1);
        }
        places.push(place);
    }
}

#[cfg(test)]
mod tests;
