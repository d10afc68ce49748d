//! Indicators as they are found, row by row: each once, however it is spelled.

use super::{Indicator, Indicators, Kind, MOST, MOST_PLACES, compared, hash, is_named, servers, words};
use crate::order;
use crate::report::attributes::{Meaning, Source};
use crate::report::json::{Kind as JsonKind, Raw};
use crate::report::rows::records::{Place, Step};
use crate::report::rules::Severity;
use crate::text::{Untrusted, count};
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::io;

/// One row that names an indicator.
#[derive(Clone, Copy)]
struct Seen {
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
    /// What it names.
    named: Vec<usize>,
    without: u64,
}

impl Gathered {
    /// Takes in what a leaf of the row names.
    pub(super) fn leaf(&mut self, sources: &[Source], way: &[Step], value: Raw<'_>, (place, mark): Marked) {
        if value.kind() != JsonKind::Text {
            return;
        }
        let is_meant = |wanted: &str| if wanted.is_empty() { way.len() == 1 } else { is_named(way, wanted) };
        for source in sources.iter().filter(|source| is_meant(source.member)) {
            let text = value.text();
            let is_itself = matches!(source.meaning, Meaning::Is(_));
            let is_listed = way.iter().skip(1).any(|step| matches!(step, Step::Element(_)));
            let seen = Seen { place, mark, is_left: source.is_left, is_itself, is_listed };
            match source.meaning {
                Meaning::Is(kind) => self.known_as(kind, &text, seen),
                Meaning::Module => self.module(&text, seen),
                Meaning::Words | Meaning::Others => self.words(&text, seen, source.meaning == Meaning::Words),
            }
        }
    }

    fn known_as(&mut self, kind: Kind, text: &Untrusted, seen: Seen) {
        let plain = std::str::from_utf8(text.as_bytes()).unwrap_or_default().trim();
        match kind {
            Kind::Hash => self.add(kind, hash(text), seen),
            Kind::Host if servers::is_address(plain) => self.add(Kind::Address, servers::address(plain), seen),
            Kind::Host => self.add(kind, servers::host(plain), seen),
            Kind::Address => self.add(kind, servers::address(plain), seen),
            Kind::Url => self.url(plain, text, seen),
            Kind::Mail => self.add(kind, servers::mail(plain), seen),
            Kind::Path if plain != words::unprefixed(plain) => {
                self.add(kind, Some(Untrusted::from(words::unprefixed(plain))), seen);
            }
            Kind::Path | Kind::Key | Kind::Mutex => {
                self.add(kind, Some(text.clone()).filter(|text| !text.is_empty()), seen);
            }
        }
    }

    /// A URL, and the host or address in it, of which the URL's mark says nothing: much lies on one machine.
    fn url(&mut self, plain: &str, text: &Untrusted, seen: Seen) {
        if let Some(server) = servers::server(plain).or_else(|| servers::server_without_scheme(plain)) {
            self.add(Kind::Url, Some(text.clone()), seen);
            self.known_as(Kind::Host, &Untrusted::from(server), Seen { mark: None, ..seen });
        }
    }

    /// A module that was loaded by its path: mere names say nothing of where it is.
    fn module(&mut self, text: &Untrusted, seen: Seen) {
        let plain = words::unprefixed(std::str::from_utf8(text.as_bytes()).unwrap_or_default());
        if words::is_path(plain) {
            self.known_as(Kind::Path, &Untrusted::from(plain), seen);
        }
    }

    /// What stands out among words, whatever it is.
    fn words(&mut self, text: &Untrusted, seen: Seen, is_about: bool) {
        let Ok(plain) = std::str::from_utf8(text.as_bytes()) else { return };
        for (kind, word) in words::named(plain) {
            // A program that is named by its path alone, say of those that were started, is what the row is about.
            let is_itself = is_about && kind == Kind::Path && word == words::unprefixed(plain);
            // What waits pings a resolver, and what tests its connection asks anybody.
            let mark = seen.mark.filter(|_| !matches!(kind, Kind::Host | Kind::Address));
            self.known_as(kind, &Untrusted::from(word), Seen { is_itself, mark, ..seen });
        }
    }

    fn add(&mut self, kind: Kind, value: Option<Untrusted>, seen: Seen) {
        let Some(value) = value else { return };
        let number = self.number_of(kind, value);
        // More than two say no more than two do.
        if self.named.len() < 2 && !self.named.contains(&number) {
            self.named.push(number);
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

    /// Begins the next row.
    pub(super) fn begin_row(&mut self) {
        self.row += 1;
    }

    /// Ends the row; an error where more was found than is gathered.
    pub(super) fn end_row(&mut self) -> io::Result<()> {
        match self.named.as_slice() {
            [] => self.without += 1,
            [one] => self.found.get_mut(*one).into_iter().for_each(|found| found.alone += 1),
            _ => {}
        }
        self.named.clear();
        if self.found.len() > MOST { Err(too_many()) } else { Ok(()) }
    }

    /// Counts rows in which nothing is looked for.
    pub(super) fn pass_over(&mut self, rows: u64) {
        self.without += rows;
    }

    /// By kind; within a kind the order of the report stays.
    pub(super) fn sorted(self) -> Indicators {
        let mut found = self.found;
        order::sort_by_key(&mut found, |indicator| indicator.kind);
        Indicators { found, without: self.without }
    }
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
