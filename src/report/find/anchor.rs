//! Where in raw JSON a text may stand, found without decoding: a few bytes of it, in every way that they can be written.
//!
//! JSON writes the same text in many ways (`\\`, `\/`, `\u0041`). An anchor is a short piece of what is sought; every way to
//! write it is sought at once. What is found plainly can be compared where it stands; anything else is a reason to decode.

use super::fold::variants;
use crate::order;
use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, Input, MatchKind, Span};
use memchr::memchr2;

/// Most characters of an anchor: more make no scan faster.
const LONGEST: usize = 3;

/// Most cases in which several letters are sought at once.
const CASES: usize = 16;

/// ASCII characters from the most to the least common in reports; those that are not here are rare.
const COMMON: &[u8] = b"etainosrlcdmupf.hgw0b1v2-y_ 345k689x7:j,zq";

/// Finds places that may hold a text.
#[derive(Debug)]
pub(super) struct Anchor {
    /// A letter in its two cases, where the anchor is one: the scanner then finds every other way to write it.
    letter: Option<[u8; 2]>,
    scanner: Scanner,
    /// Patterns before this one are the anchor plainly written.
    plain: usize,
    /// Where the anchor stands in what is sought.
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
    pub(super) at: usize,
    /// Whether it stands there plainly.
    pub(super) is_plain: bool,
}

impl Anchor {
    /// An anchor of a text that is not empty and, unless case matters, without its case.
    pub(super) fn of(text: &str, is_case_sensitive: bool) -> Option<Self> {
        let (offset, piece) = choose(text, is_case_sensitive);
        let ways = Ways::of(piece, is_case_sensitive);
        let letter = ways.letter();
        let by_scanner = if letter.is_some() { &[][..] } else { &ways.plain };
        Some(Self { letter, scanner: Scanner::of(by_scanner, &ways.other)?, plain: ways.plain.len(), offset })
    }

    /// An anchor of several texts without their case, none of them empty: it tells where one of them may stand, and not which.
    pub(super) fn of_any(texts: &[String]) -> Option<Self> {
        let ways = texts.iter().map(|text| Ways::of(choose(text, false).1, false));
        let mut all: Vec<_> = ways.flat_map(|ways| [ways.plain, ways.other].concat()).collect();
        order::sort(&mut all);
        all.dedup();
        Some(Self { letter: None, scanner: Scanner::of(&[], &all)?, plain: 0, offset: 0 })
    }

    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        Scan::new(self, bytes).next(0).is_some()
    }
}

/// A walk from one place to the next.
pub(super) struct Scan<'a> {
    anchor: &'a Anchor,
    bytes: &'a [u8],
    /// The next place at which a letter stands that is written otherwise, after all bytes where there is none; none where it
    /// was not looked for.
    other: Option<usize>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(anchor: &'a Anchor, bytes: &'a [u8]) -> Self {
        Self { anchor, bytes, other: None }
    }

    /// The next place from `from` on, which never goes back.
    #[inline(always)]
    pub(super) fn next(&mut self, from: usize) -> Option<Candidate> {
        let scanner = &self.anchor.scanner;
        let (at, pattern) = match self.anchor.letter {
            Some([small, large]) => {
                let other = match self.other.filter(|other| *other >= from) {
                    Some(other) => other,
                    None => scanner.find(self.bytes, from).map_or(self.bytes.len(), |(at, _)| at),
                };
                self.other = Some(other);
                match memchr2(small, large, self.bytes.get(from..other).unwrap_or_default()) {
                    Some(plain) => (from + plain, 0),
                    None => (Some(other).filter(|other| *other < self.bytes.len())?, usize::MAX),
                }
            }
            None => scanner.find(self.bytes, from)?,
        };
        Some(Candidate { at, is_plain: pattern < self.anchor.plain })
    }
}

impl Scanner {
    fn of(plain: &[Vec<u8>], other: &[Vec<u8>]) -> Option<Self> {
        let patterns: Vec<_> = plain.iter().chain(other).collect();
        let searcher = packed::Config::new().builder().extend(&patterns).build();
        let automaton = || AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&patterns).ok();
        searcher.map(Self::Packed).or_else(|| automaton().map(Self::Automaton))
    }

    /// The next place from `from` on, with the number of the pattern.
    #[inline(always)]
    fn find(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        let span = Span { start: from.min(bytes.len()), end: bytes.len() };
        let found = match self {
            Self::Packed(searcher) => searcher.find_in(bytes, span),
            Self::Automaton(automaton) => automaton.find(Input::new(bytes).span(span)),
        }?;
        Some((found.start(), found.pattern().as_usize()))
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
        order::sort(&mut other);
        other.dedup();
        Self { plain, other }
    }

    /// The one letter that is plainly written, small and large, where there are other ways to write it as well.
    fn letter(&self) -> Option<[u8; 2]> {
        match self.plain.as_slice() {
            [small] | [small, _] if !self.other.is_empty() => match (small.as_slice(), self.plain.last()?.as_slice()) {
                ([small], [large]) => Some([*small, *large]),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The piece of a text that is rarest, with where it starts: as many plain characters as can be had.
fn choose(text: &str, is_case_sensitive: bool) -> (usize, &str) {
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let cases = |c: char| if is_case_sensitive { 1 } else { variants(c).len() };
    let is_fit = |window: &&[(usize, char)]| {
        window.iter().all(|(_, c)| is_plain(*c)) && window.iter().map(|(_, c)| cases(*c)).product::<usize>() <= CASES
    };
    let windows = (1..=LONGEST).rev().filter_map(|length| {
        let plain = places.windows(length).filter(is_fit);
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
    !c.is_control() && !matches!(c, '"' | '\\' | '/')
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
