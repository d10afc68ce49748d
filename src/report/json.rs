//! Lenient JSON: a scanner that finds where values start, and a reader for one small value.
//!
//! Both continue where a strict parser stops: a broken value never affects its neighbours. Neither
//! recurses: depth costs a byte a level. A strict parser would reject a whole report for one lone
//! surrogate, stop at a depth that process trees reach, and drop one of two equal members.

use crate::text::Untrusted;
use memchr::{memchr, memchr_iter};

/// Maximum length of a member name, in bytes; longer names are truncated.
const MAX_NAME: usize = 4096;

/// An event of a scanner, in the order of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A member's name, as written between its quotes.
    Name(&'a [u8]),
    Open {
        object: bool,
    },
    /// The innermost object or array closes; the offset is the one after the bracket.
    Close,
    /// A string starts; the offset is that of its opening quote.
    Text,
    /// A number, `true`, `false`, `null`, or a word that is not JSON.
    Word {
        /// Whether its first letter is that of `null`.
        is_null: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ScanState {
    #[default]
    Between,
    Text {
        name: bool,
        escaped: bool,
    },
    Word,
}

/// Finds where names and values start in bytes that come in pieces of any length.
#[derive(Debug, Default)]
pub struct Scanner {
    at: u64,
    name_at: u64,
    name: Vec<u8>,
    /// Open containers, innermost last: true for an object.
    open: Vec<bool>,
    expects_name: bool,
    state: ScanState,
}

impl Scanner {
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Returns whether the bytes so far end outside of every value.
    pub(crate) fn is_balanced(&self) -> bool {
        self.open.is_empty() && !matches!(self.state, ScanState::Text { .. })
    }

    /// Reads the next bytes and hands each event, with its offset, to `sink`.
    pub fn feed(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(u64, Event<'_>)) {
        while !bytes.is_empty() {
            let taken = match self.state {
                ScanState::Between => self.between(bytes, sink),
                ScanState::Text { name, escaped } => self.text(bytes, name, escaped, sink),
                ScanState::Word => self.word(bytes),
            };
            self.at += taken as u64;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
    }

    /// Returns bytes outside of strings and words, as far as the next of them.
    #[inline(always)]
    fn between(&mut self, bytes: &[u8], sink: &mut impl FnMut(u64, Event<'_>)) -> usize {
        for (byte, at) in bytes.iter().zip(self.at..) {
            match byte {
                b'"' => self.starts_text(at, sink),
                b',' => self.expects_name = self.open.last() == Some(&true),
                b' ' | b'\n' | b'\r' | b'\t' | b':' => {}
                b'{' => self.opens(at, true, sink),
                b'[' => self.opens(at, false, sink),
                b'}' | b']' => self.closes(at, sink),
                first => self.starts_word(at, *first, sink),
            }
            if self.state != ScanState::Between {
                return usize::try_from(at + 1 - self.at).unwrap_or(bytes.len());
            }
        }
        bytes.len()
    }

    fn opens(&mut self, at: u64, object: bool, sink: &mut impl FnMut(u64, Event<'_>)) {
        sink(at, Event::Open { object });
        self.open.push(object);
        self.expects_name = object;
    }

    fn closes(&mut self, at: u64, sink: &mut impl FnMut(u64, Event<'_>)) {
        if self.open.pop().is_some() {
            sink(at + 1, Event::Close);
        }
        self.expects_name = false;
    }

    #[inline(always)]
    fn starts_text(&mut self, at: u64, sink: &mut impl FnMut(u64, Event<'_>)) {
        if self.expects_name {
            self.name.clear();
            self.name_at = at;
        } else {
            sink(at, Event::Text);
        }
        self.state = ScanState::Text { name: self.expects_name, escaped: false };
    }

    fn starts_word(&mut self, at: u64, first: u8, sink: &mut impl FnMut(u64, Event<'_>)) {
        // A byte order mark before the first value is ignored.
        if !(at < 3 && self.open.is_empty() && matches!(first, 0xef | 0xbb | 0xbf)) {
            sink(at, Event::Word { is_null: first == b'n' });
            self.state = ScanState::Word;
        }
    }

    /// Scans bytes inside a text, and on: most of a report is text after text, one separator apart.
    #[inline(always)]
    fn text(&mut self, bytes: &[u8], name: bool, escaped: bool, sink: &mut impl FnMut(u64, Event<'_>)) -> usize {
        let mut name = name;
        let mut escaped = escaped;
        let mut rest = bytes;
        while let Some(end) = closing_quote(rest, escaped) {
            self.ends_text(name, rest.get(..end).unwrap_or_default(), sink);
            rest = rest.get(end + 1..).unwrap_or_default();
            let taken = bytes.len() - rest.len();
            let Some(next) = rest.strip_prefix(if name { b":\"" } else { b",\"" }) else {
                self.state = ScanState::Between;
                return taken;
            };
            self.expects_name = !name && self.open.last() == Some(&true);
            self.starts_text(self.at + taken as u64 + 1, sink);
            (name, escaped, rest) = (self.expects_name, false, next);
        }
        self.keep_name(name, rest);
        self.state = ScanState::Text { name, escaped: is_escaped(rest, rest.len(), escaped) };
        bytes.len()
    }

    #[inline(always)]
    fn ends_text(&mut self, name: bool, last: &[u8], sink: &mut impl FnMut(u64, Event<'_>)) {
        if name {
            self.keep_name(name, last);
            self.expects_name = false;
            sink(self.name_at, Event::Name(&self.name));
        }
    }

    fn keep_name(&mut self, name: bool, bytes: &[u8]) {
        if name {
            let room = MAX_NAME.saturating_sub(self.name.len()).min(bytes.len());
            self.name.extend_from_slice(bytes.get(..room).unwrap_or_default());
        }
    }

    #[inline(always)]
    fn word(&mut self, bytes: &[u8]) -> usize {
        let end = bytes.iter().position(|byte| is_delimiter(*byte));
        if end.is_some() {
            self.state = ScanState::Between;
        }
        end.unwrap_or(bytes.len())
    }
}

/// Finds the closing quote of the text that `bytes` continue; `escaped`: after a backslash.
///
/// Searches for quotes, and for backslashes only before them, because paths are full of them.
#[inline(always)]
fn closing_quote(bytes: &[u8], escaped: bool) -> Option<usize> {
    memchr_iter(b'"', bytes).find(|at| !is_escaped(bytes, *at, escaped))
}

/// Returns whether an odd number of backslashes precedes an offset.
#[inline(always)]
fn is_escaped(bytes: &[u8], at: usize, escaped: bool) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    let run = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    (run % 2 == 1) != (run == at && escaped)
}

/// Returns whether bytes are one value of RFC 8259, with any bytes in strings; others are lenient.
pub fn is_valid(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Returns whether a byte ends a number or a word.
pub(crate) fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"')
}

/// The kind of a value, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Object,
    Array,
    Text,
    /// A number, `true`, `false`, `null`, or a word that is not JSON.
    Word,
}

/// One value, as written, and the bytes after it.
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    /// Finds the first value in `bytes`, after separators; does not read the bytes after it.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(trim_start(bytes))
    }

    /// Returns the value's kind, by its first byte.
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::Text,
            _ => Kind::Word,
        }
    }

    /// Returns the value's own bytes, from its first to its last.
    pub fn bytes(self) -> &'a [u8] {
        self.0.get(..end_of(self.0)).unwrap_or(self.0)
    }

    /// Returns the number of bytes from the start of the value to the end of the input.
    pub fn length_to_end(self) -> usize {
        self.0.len()
    }

    /// Returns whether it is complete: bytes that were cut short end inside of a value.
    pub(crate) fn is_whole(self) -> bool {
        match self.kind() {
            Kind::Object | Kind::Array => container_end(self.0).is_some(),
            Kind::Text => text_end(self.0).is_some(),
            Kind::Word => true,
        }
    }

    /// Returns a string's content, or the other values as written.
    pub fn text(self) -> Untrusted {
        match self.kind() {
            Kind::Text => Untrusted::from_json(self.content()),
            _ => Untrusted::from(self.bytes()),
        }
    }

    /// Returns a string's content, still escaped; other values as written.
    pub fn content(self) -> &'a [u8] {
        if self.kind() != Kind::Text {
            return self.bytes();
        }
        let end = text_end(self.0).map_or(self.0.len(), |end| end - 1);
        self.0.get(1..end).unwrap_or_default()
    }

    /// Returns [`Self::content`] if only separators follow: a string ends at the last quote.
    pub(crate) fn content_alone(self) -> &'a [u8] {
        let value = self.0.trim_ascii_end();
        match value.strip_suffix(b",").unwrap_or(value) {
            // An escaped quote does not end a string.
            [b'"', content @ .., b'"'] if content.last() != Some(&b'\\') => content,
            _ => self.content(),
        }
    }

    /// Returns a whole number, written as a number or in a string.
    pub(crate) fn integer(self) -> Option<i64> {
        let bytes = self.bytes();
        let bare = bytes.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(bytes);
        std::str::from_utf8(bare).ok()?.parse().ok()
    }

    /// Returns an object's members in order; empty for another kind.
    pub fn members(self) -> impl Iterator<Item = (Untrusted, Raw<'a>)> {
        self.pairs().map(|(name, value)| (name.text(), value))
    }

    /// Returns an object's members in order, their names as written; empty for another kind.
    pub fn pairs(self) -> impl Iterator<Item = (Raw<'a>, Raw<'a>)> {
        members(self.inside(Kind::Object))
    }

    /// Returns an array's elements in order; empty for another kind.
    pub fn elements(self) -> impl Iterator<Item = Raw<'a>> {
        let mut rest = self.inside(Kind::Array);
        std::iter::from_fn(move || next_value(&mut rest))
    }

    /// Returns an array's elements; any other value as the only one.
    pub fn each(self) -> Vec<Self> {
        if self.kind() == Kind::Array { self.elements().collect() } else { vec![self] }
    }

    /// Returns the first member of this name.
    pub fn member(self, name: &str) -> Option<Raw<'a>> {
        let is_it = |found: &Raw<'_>| match found.content() {
            written if memchr(b'\\', written).is_none() => written == name.as_bytes(),
            _ => found.text().as_bytes() == name.as_bytes(),
        };
        self.pairs().find(|(found, _)| is_it(found)).map(|(_, value)| value)
    }

    fn inside(self, kind: Kind) -> &'a [u8] {
        if self.kind() == kind { self.0.get(1..).unwrap_or_default() } else { &[] }
    }
}

/// Iterates over members of an object, from inside it to its closing bracket; names as written.
pub(super) fn members(mut rest: &[u8]) -> impl Iterator<Item = (Raw<'_>, Raw<'_>)> {
    std::iter::from_fn(move || {
        let name = next_value(&mut rest)?;
        let value = next_value(&mut rest)?;
        Some((name, value))
    })
}

/// Takes the next value of a container; `None` at its closing bracket or the end of the bytes.
fn next_value<'a>(rest: &mut &'a [u8]) -> Option<Raw<'a>> {
    let value = trim_start(rest);
    if matches!(value.first(), None | Some(b'}' | b']')) {
        *rest = &[];
        return None;
    }
    *rest = value.get(end_of(value)..).unwrap_or_default();
    Some(Raw(value))
}

fn trim_start(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',' | b':'));
    start.and_then(|start| bytes.get(start..)).unwrap_or_default()
}

/// Returns the length of the value at the start of `bytes`; all of them if it is cut.
fn end_of(bytes: &[u8]) -> usize {
    let end = match bytes.first() {
        Some(b'"') => text_end(bytes),
        Some(b'{' | b'[') => container_end(bytes),
        _ => bytes.iter().position(|byte| is_delimiter(*byte)).map(|end| end.max(1)),
    };
    end.unwrap_or(bytes.len())
}

/// Returns the length of the string at the start of `bytes`, with its quotes; `None` if it is cut.
#[inline(always)]
pub(super) fn text_end(bytes: &[u8]) -> Option<usize> {
    closing_quote(bytes.get(1..)?, false).map(|end| end + 2)
}

fn container_end(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_u64;
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => {
                at += text_end(bytes.get(at..)?)?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
pub(crate) mod tests;
