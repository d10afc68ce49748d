//! Where in raw JSON a text may stand, found without decoding: a few bytes of it, in every way that they can be written.
//!
//! JSON writes the same text in many ways (`\\`, `\/`, `\u0041`). An anchor is a short piece of what is sought; every way to
//! write it is sought at once. What is found plainly can be compared where it stands; anything else is a reason to decode.

use super::fold::variants;
use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, Input, MatchKind, Span};

/// Most characters of an anchor: more make no scan faster.
const LONGEST: usize = 3;

/// ASCII characters from the most to the least common in reports; those that are not here are rare.
const COMMON: &[u8] = b"etainosrlcdmupf.hgw0b1v2-y_ 345k689x7:j,zq";

/// Finds places that may hold a text.
#[derive(Debug)]
pub(super) struct Anchor {
    scanner: Scanner,
    /// Patterns before this one are the anchor plainly written.
    plain: usize,
    /// Where the anchor stands in what is sought, as JSON most often writes it.
    pub(super) offset: usize,
}

#[derive(Debug)]
enum Scanner {
    Packed(Searcher),
    Automaton(AhoCorasick),
}

/// A place that may hold what is sought.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Where the anchor begins.
    pub(super) at: usize,
    /// Whether it stands there plainly.
    pub(super) is_plain: bool,
}

impl Anchor {
    /// An anchor of a text that is not empty and, unless case matters, without its case.
    pub(super) fn of(text: &str, is_case_sensitive: bool) -> Option<Self> {
        let (start, piece) = choose(text);
        let ways = Ways::of(piece, is_case_sensitive);
        let offset = text.get(..start).map_or(0, |before| encode(before).len());
        Some(Self { scanner: Scanner::of(&ways.plain, &ways.other)?, plain: ways.plain.len(), offset })
    }

    /// An anchor of several texts without their case, none of them empty: it tells where one of them may stand, and not which.
    pub(super) fn of_any(texts: &[String]) -> Option<Self> {
        let ways = texts.iter().map(|text| Ways::of(choose(text).1, false));
        let mut all: Vec<_> = ways.flat_map(|ways| [ways.plain, ways.other].concat()).collect();
        all.sort();
        all.dedup();
        Some(Self { scanner: Scanner::of(&[], &all)?, plain: 0, offset: 0 })
    }

    /// The next place from `from` on.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<Candidate> {
        let span = Span { start: from.min(bytes.len()), end: bytes.len() };
        let found = match &self.scanner {
            Scanner::Packed(searcher) => searcher.find_in(bytes, span),
            Scanner::Automaton(automaton) => automaton.find(Input::new(bytes).span(span)),
        }?;
        Some(Candidate { at: found.start(), is_plain: found.pattern().as_usize() < self.plain })
    }
}

impl Scanner {
    fn of(plain: &[Vec<u8>], other: &[Vec<u8>]) -> Option<Self> {
        let patterns: Vec<_> = plain.iter().chain(other).collect();
        let searcher = packed::Config::new().builder().extend(&patterns).build();
        let automaton = || AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&patterns).ok();
        searcher.map(Self::Packed).or_else(|| automaton().map(Self::Automaton))
    }
}

/// The ways in which JSON can write a piece of text.
struct Ways {
    /// As it is, in every case of its letters.
    plain: Vec<Vec<u8>>,
    /// How the others begin, or what is in them.
    other: Vec<Vec<u8>>,
}

impl Ways {
    fn of(piece: &str, is_case_sensitive: bool) -> Self {
        let cases = |c: char| if is_case_sensitive { vec![c] } else { variants(c) };
        let mut plain = vec![Vec::new()];
        let mut other: Vec<Vec<u8>> = Vec::new();
        for c in piece.chars() {
            match c {
                '"' | '\\' | '\0'..='\u{1f}' => other.push(b"\\".to_vec()),
                _ => {}
            }
            let (near, far): (Vec<_>, Vec<_>) = cases(c).into_iter().partition(|v| v.is_ascii() == c.is_ascii());
            plain = near
                .iter()
                .flat_map(|v| plain.iter().map(|p| [p.as_slice(), v.encode_utf8(&mut [0; 4]).as_bytes()].concat()))
                .collect();
            other.extend(far.iter().map(|v| v.encode_utf8(&mut [0; 4]).as_bytes().to_vec()));
            other.extend(near.iter().chain(&far).flat_map(|v| escapes(*v)));
        }
        if piece == "\"" || piece == "\\" {
            plain.clear();
        }
        other.sort();
        other.dedup();
        Self { plain, other }
    }
}

/// The piece of a text that is rarest, with where it starts: as many plain characters as can be had.
fn choose(text: &str) -> (usize, &str) {
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let windows = (1..=LONGEST).rev().filter_map(|length| {
        let plain = places.windows(length).filter(|window| window.iter().all(|(_, c)| is_plain(*c)));
        let rarest = plain.min_by_key(|window| window.iter().map(|(_, c)| frequency(*c)).sum::<usize>())?;
        let (start, (last, end)) = (rarest.first()?.0, rarest.last()?);
        Some((start, text.get(start..last + end.len_utf8())?))
    });
    let single = places
        .iter()
        .max_by_key(|(_, c)| !c.is_ascii())
        .map(|(at, c)| (*at, text.get(*at..at + c.len_utf8()).unwrap_or(text)));
    let mut windows = windows;
    windows.next().or(single).unwrap_or((0, text))
}

fn is_plain(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_control() && !matches!(c, '"' | '\\' | '/')
}

fn frequency(c: char) -> usize {
    COMMON.iter().position(|common| char::from(*common) == c.to_ascii_lowercase()).map_or(0, |at| COMMON.len() - at)
}

/// How the `\u` escapes of a character begin; those of ASCII alike.
fn escapes(c: char) -> Vec<Vec<u8>> {
    if c.is_ascii() {
        return vec![br"\u00".to_vec()];
    }
    let mut units = [0; 2];
    let first = c.encode_utf16(&mut units).first().copied().unwrap_or_default();
    let mut ways = vec![br"\u".to_vec()];
    for digit in format!("{first:04x}").chars() {
        let cases = [digit, digit.to_ascii_uppercase()];
        let cases = if cases[0] == cases[1] { &cases[..1] } else { &cases[..] };
        let longer = |way: &Vec<u8>| {
            cases.iter().map(|c| [way.as_slice(), c.to_string().as_bytes()].concat()).collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(longer).collect();
    }
    ways
}

/// A text as JSON most often writes it, without the quotes.
pub(super) fn encode(text: &str) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => encoded.extend([b'\\', byte]),
            b'\n' => encoded.extend(br"\n"),
            b'\r' => encoded.extend(br"\r"),
            b'\t' => encoded.extend(br"\t"),
            _ => encoded.push(byte),
        }
    }
    encoded
}
