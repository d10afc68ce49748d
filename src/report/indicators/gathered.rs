//! Indicators as they are found, row by row: each once, however it is spelled.

use super::{Indicator, Indicators, Kind, MOST, MOST_PLACES, compared, hash, is_named, is_padding, servers, words};
use crate::report::attributes::{Meaning, Source};
use crate::report::canonical::spell_out_str;
use crate::report::json::{Kind as JsonKind, Raw};
use crate::report::rows::Place;
use crate::report::rows::records::{Record, Step};
use crate::report::rules::Severity;
use crate::text::{Untrusted, count};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::io;

/// One row that names an indicator.
#[derive(Clone, Copy)]
struct IndicatorRow {
    place: Place,
    mark: Option<Severity>,
    is_left: bool,
    /// Whether the value is the thing itself, and not words that name it.
    is_itself: bool,
    /// Whether it is one of several that a list within the row names.
    is_listed: bool,
}

/// A row with its mark.
pub(super) type Marked = (Place, Option<Severity>);

/// What has been found so far.
#[derive(Default)]
pub(super) struct Gathered {
    found: Vec<Indicator>,
    /// The place of each among these, by a hash of what it is; by the next number where two have one hash.
    known: HashMap<u64, u32>,
    /// The row that is looked through, by its number among all, from 1 on.
    row: u64,
    named: Vec<usize>,
    without: u64,
    /// The member that the row is, where it is one of an object.
    member: Option<Untrusted>,
    /// Whether the row says that its strings are from memory.
    is_memory: bool,
    /// The name that the row resolves, and the addresses that it resolves to.
    looked_up: (Option<usize>, Vec<usize>),
    /// Names by their numbers, each with an address that it leads to.
    resolved: HashSet<(usize, usize)>,
}

impl Gathered {
    /// Takes in what a leaf of the row names.
    pub(super) fn leaf(&mut self, sources: &[Source], way: &[Step], value: Raw<'_>, (place, mark): Marked) {
        if value.kind() != JsonKind::Text {
            return;
        }
        let member = self.member.take();
        let is_meant = |wanted: &str| match wanted {
            "" => way.len() == 1,
            _ => is_named(way, wanted) || member.as_ref().is_some_and(|name| name.as_bytes() == wanted.as_bytes()),
        };
        for source in sources.iter().filter(|source| is_meant(source.member)) {
            let text = value.text();
            let is_itself = matches!(source.meaning, Meaning::Is(_));
            let is_listed = way.iter().skip(1).any(|step| matches!(step, Step::Element(_)));
            let seen = IndicatorRow { place, mark, is_left: source.is_left, is_itself, is_listed };
            match source.meaning {
                Meaning::Is(kind) => self.known_as(kind, &text, seen),
                Meaning::Module => self.module(&text, seen),
                Meaning::Words | Meaning::Others | Meaning::Data => self.words(&text, seen, source.meaning),
            }
        }
        self.member = member;
    }

    fn known_as(&mut self, kind: Kind, text: &Untrusted, seen: IndicatorRow) {
        let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default();
        let plain = plain.trim_matches(|c: char| c.is_whitespace() || is_padding(c));
        match kind {
            Kind::Hash => self.add(kind, hash(text), seen),
            Kind::Host if servers::is_address(plain) => self.add(Kind::Address, servers::address(plain), seen),
            Kind::Host => self.add(kind, servers::host(plain), seen),
            Kind::Address => self.add(kind, servers::address(plain), seen),
            Kind::Url => self.url(plain, seen),
            Kind::Mail => self.add(kind, servers::mail(plain), seen),
            Kind::Path if plain.contains('<') => {
                let spelled = spell_out_str(plain);
                self.add(kind, Some(Untrusted::from(words::unprefixed(&spelled))), seen);
            }
            Kind::Path if !plain.is_empty() => self.add(kind, Some(Untrusted::from(words::unprefixed(plain))), seen),
            Kind::Key if !plain.is_empty() => self.add(kind, Some(Untrusted::from(plain)), seen),
            Kind::Certificate => self.add(kind, hash(&Untrusted::from(plain.replace(':', ""))), seen),
            Kind::Ja3 | Kind::Ja3s => self.add(kind, hash(text).filter(|hash| hash.as_bytes().len() == 32), seen),
            Kind::Ja4 | Kind::Memory => {
                self.add(kind, Some(Untrusted::from(plain)).filter(|text| !text.is_empty()), seen);
            }
            Kind::Path | Kind::Key | Kind::Mutex => {
                self.add(kind, Some(text.clone()).filter(|text| !text.is_empty()), seen);
            }
        }
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

    /// What stands out among words, whatever it is.
    fn words(&mut self, text: &Untrusted, seen: IndicatorRow, meaning: Meaning) {
        let Ok(plain) = std::str::from_utf8(text.as_bytes()) else { return };
        // Placeholders in angle brackets would split the path that contains them.
        let spelled = if plain.contains('<') { spell_out_str(plain) } else { Cow::Borrowed(plain) };
        let plain = &*spelled;
        for (kind, word) in words::named(plain) {
            // Binary data in hexadecimal digits is no hash of a file.
            if kind == Kind::Hash && meaning == Meaning::Data {
                continue;
            }
            if self.is_memory && matches!(kind, Kind::Host | Kind::Address | Kind::Url | Kind::Mail) {
                self.known_as(Kind::Memory, &Untrusted::from(word), seen);
                continue;
            }
            // A program that is named by its path alone, say of those that were started, is what the row is about.
            let is_itself = meaning == Meaning::Words && kind == Kind::Path && word == words::unprefixed(plain);
            // What waits pings a resolver, and what tests its connection asks anybody.
            let mark = seen.mark.filter(|_| !matches!(kind, Kind::Host | Kind::Address));
            self.known_as(kind, &Untrusted::from(word), IndicatorRow { is_itself, mark, ..seen });
        }
    }

    fn add(&mut self, kind: Kind, value: Option<Untrusted>, seen: IndicatorRow) {
        let Some(value) = value else { return };
        let number = self.number_of(kind, value);
        // More than two say no more than two do.
        if self.named.len() < 2 && !self.named.contains(&number) {
            self.named.push(number);
        }
        match kind {
            Kind::Host if !seen.is_listed => self.looked_up.0 = Some(number),
            Kind::Address if seen.is_listed => self.looked_up.1.push(number),
            _ => {}
        }
        if let Some(indicator) = self.found.get_mut(number) {
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
        let is_same = |known: &Indicator| known.kind == kind && compared(kind, &known.value) == compared(kind, &value);
        let mut hash = self.known.hasher().hash_one((kind, compared(kind, &value)));
        while let Some(known) = self.known.get(&hash).and_then(|known| usize::try_from(*known).ok()) {
            if self.found.get(known).is_some_and(is_same) {
                return known;
            }
            hash = hash.wrapping_add(1);
        }
        let number = self.found.len();
        self.known.extend(u32::try_from(number).map(|number| (hash, number)));
        self.found.push(Indicator::new(kind, value));
        number
    }

    pub(super) fn begin_row(&mut self, record: &Record<'_>) {
        const FROM_MEMORY: &[u8] = b"memory";
        self.row += 1;
        self.member.clone_from(&record.member);
        let raw = Raw::new(&record.value);
        let says = |member| raw.member(member).is_some_and(|words| has_word(words.content(), FROM_MEMORY));
        self.is_memory = raw.member("match_data").is_some() && ["name", "description"].into_iter().any(says);
    }

    /// Ends the row; an error where more was found than is gathered.
    pub(super) fn end_row(&mut self) -> io::Result<()> {
        match self.named.as_slice() {
            [] => self.without += 1,
            [one] => self.found.get_mut(*one).into_iter().for_each(|found| found.alone += 1),
            _ => {}
        }
        self.named.clear();
        let (name, addresses) = std::mem::take(&mut self.looked_up);
        if let Some(name) = name {
            self.resolved.extend(addresses.into_iter().map(|address| (address, name)));
        }
        if self.found.len() > MOST { Err(too_many()) } else { Ok(()) }
    }

    /// Counts rows in which nothing is looked for.
    pub(super) fn pass_over(&mut self, rows: u64) {
        self.without += rows;
    }

    /// By kind; within a kind the order of the report stays.
    pub(super) fn sorted(self) -> Indicators {
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

/// Whether a text holds a word in any case.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Adds a row to the first ones, once.
fn add_place(places: &mut Vec<Place>, place: Place) {
    if places.len() < MOST_PLACES && places.last() != Some(&place) {
        if places.is_empty() {
            // Most are named once.
            places.reserve_exact(1);
        }
        places.push(place);
    }
}

fn too_many() -> io::Error {
    let most = count(MOST as u64, "thing");
    io::Error::other(format!(
        "it names more than {most} to look for; what is in its panes can be written as CSV or JSON lines"
    ))
}
