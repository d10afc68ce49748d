//! A string from outside: kept byte for byte, seen only through the escaper.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::escape::{Charset, VisibleUnit, VisibleUnits, current, reads_as_escape};
use super::json;
use super::visible::Visible;

/// A line is never narrower than this many columns, so that every unit fits in one:
/// `\u{10ffff}` is the widest.
const NARROWEST_LINE: usize = 10;

/// An owned string from outside.
///
/// Holds any bytes: UTF-8, lone surrogates in generalised UTF-8 (three bytes each), and bytes
/// that are no text at all. It is compared by its bytes, its `Debug` is escaped, and it has no
/// `Display`:
///
/// ```compile_fail
/// println!("{}", behaview::text::Untrusted::from("\u{1b}[2J"));
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Untrusted {
    bytes: Box<[u8]>,
}

impl Untrusted {
    /// Decodes the inside of a JSON string literal: the bytes between the quotes.
    ///
    /// Never fails. A bad escape, or one cut short by the end, is kept as written; a lone surrogate
    /// is kept in generalised UTF-8; bytes that are not UTF-8 are kept.
    pub fn from_json(raw: &[u8]) -> Self {
        json::decode(raw).into()
    }

    /// Decodes as [`Untrusted::from_json`] does, and appends the bytes: for who compares many texts, and shows none.
    pub fn decode_json(raw: &[u8], decoded: &mut Vec<u8>) {
        json::decode_into(raw, decoded);
    }

    /// Borrows the string.
    pub fn as_untrusted_str(&self) -> UntrustedStr<'_> {
        UntrustedStr::new(&self.bytes)
    }

    /// The bytes, for searching, comparing and keeping; never for printing.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the string has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The string as it is, for others to read as data and not as a screen; in its visible form where its bytes are no Unicode, so
    /// that two different ones stay two.
    pub fn unicode(&self) -> String {
        str::from_utf8(&self.bytes).map_or_else(|_| self.visible().to_string(), str::to_owned)
    }

    pub fn json(&self) -> Option<String> {
        self.as_untrusted_str().json()
    }

    pub fn visible(&self) -> Visible {
        self.as_untrusted_str().visible()
    }

    /// The text for another program: as it is where all of it can be seen, and else in its visible form.
    ///
    /// Backslashes and a blank at the end are not escaped there, so two texts may come out the same,
    /// which on a screen they never do.
    pub fn legible(&self) -> Cow<'_, str> {
        let can_be_seen = |unit| matches!(unit, VisibleUnit::Shown { .. } | VisibleUnit::Byte(b'\\' | b' '));
        let seen =
            VisibleUnits::new(&self.bytes, Charset::Unicode).all(can_be_seen).then(|| str::from_utf8(&self.bytes).ok());
        seen.flatten().map_or_else(|| String::from(self.visible()).into(), Cow::from)
    }

    pub fn visible_cut(&self, columns: usize) -> Visible {
        self.as_untrusted_str().visible_cut(columns)
    }

    pub fn visible_window(&self, skip: usize, columns: usize) -> Visible {
        self.as_untrusted_str().visible_window(skip, columns)
    }

    pub fn lines(&self, columns: usize) -> Lines<'_> {
        self.as_untrusted_str().lines(columns)
    }

    pub fn wrapped(&self, columns: usize, range: Range<usize>) -> Vec<Visible> {
        self.as_untrusted_str().wrapped(columns, range)
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<&[u8]> for Untrusted {
    fn from(bytes: &[u8]) -> Self {
        bytes.to_vec().into()
    }
}

impl From<Vec<u8>> for Untrusted {
    fn from(bytes: Vec<u8>) -> Self {
        Untrusted { bytes: bytes.into_boxed_slice() }
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_untrusted_str().fmt(f)
    }
}

/// A borrowed string from outside, and how it is to be shown.
#[derive(Clone, Copy)]
pub struct UntrustedStr<'a> {
    bytes: &'a [u8],
    charset: Charset,
}

impl<'a> UntrustedStr<'a> {
    /// Takes any bytes; they are shown in the characters that the terminal has.
    pub fn new(bytes: &'a [u8]) -> Self {
        UntrustedStr { bytes, charset: current() }
    }

    /// The same string, shown in ASCII alone: every other character is escaped.
    pub fn ascii_only(self) -> Self {
        UntrustedStr { charset: Charset::Ascii, ..self }
    }

    /// The whole string.
    pub fn visible(self) -> Visible {
        match self.plain() {
            Some(text) => Visible::from_parts(text.to_owned(), text.len()),
            None => self.units().into(),
        }
    }

    /// The string as a JSON literal, its quotes included; none for bytes that are no Unicode.
    ///
    /// What the visible form shows stands as it is, all else as `\uXXXX`: a literal holds no control.
    pub fn json(self) -> Option<String> {
        json::encode(self.units())
    }

    /// The start of the string, at most `columns` wide.
    ///
    /// A string that does not fit loses whole units and ends with `…` (`>` in ASCII). The work
    /// depends on `columns`, not on the length of the string.
    pub fn visible_cut(self, columns: usize) -> Visible {
        let mut shown = Visible::default();
        let mut before_ellipsis = shown.end();
        for unit in self.units() {
            shown.push(&unit);
            if shown.width() > columns {
                shown.cut_back(before_ellipsis);
                if columns > 0 {
                    shown.push_ellipsis(self.ellipsis());
                }
                break;
            }
            if shown.width() < columns {
                before_ellipsis = shown.end();
            }
        }
        shown
    }

    /// The part of the visible form from column `skip` on, at most `columns` wide.
    ///
    /// A wide character on an edge shows as a space in the column that is inside, so what scrolls
    /// stays aligned. The work depends on `skip + columns`, not on the length of the string.
    pub fn visible_window(self, skip: usize, columns: usize) -> Visible {
        let end = skip.saturating_add(columns);
        let mut shown = Visible::default();
        let mut at = 0;
        for unit in self.units() {
            if at >= end {
                break;
            }
            let width = unit.columns();
            if at + width > skip {
                shown.push_part(&unit, skip.saturating_sub(at)..width.min(end - at));
            }
            at += width;
        }
        shown
    }

    /// The string in lines of at most `columns` columns (ten, if fewer are asked for).
    ///
    /// No unit is split, and a line also ends after a line feed, which still shows as `\x0a`. All
    /// lines together are the visible form.
    pub fn lines(self, columns: usize) -> Lines<'a> {
        Lines { units: self.units(), columns: columns.max(NARROWEST_LINE) }
    }

    /// Those of the [`lines`](Self::lines) that have a number in `range`, counted from 0.
    ///
    /// The work depends on where the range ends. A view that scrolls through a very long string
    /// keeps a clone of [`Lines`] where it stands instead.
    pub fn wrapped(self, columns: usize, range: Range<usize>) -> Vec<Visible> {
        let lines = self.lines(columns).skip(range.start);
        lines.take(range.len()).collect()
    }

    fn units(self) -> VisibleUnits<'a> {
        VisibleUnits::new(self.bytes, self.charset)
    }

    /// The text, if it is its own visible form and one byte is one column.
    fn plain(self) -> Option<&'a str> {
        let is_plain = self.bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let is_escape = |at| self.bytes.get(at + 1..).is_some_and(reads_as_escape);
        if !is_plain || self.bytes.ends_with(b" ") || memchr::memchr_iter(b'\\', self.bytes).any(is_escape) {
            return None;
        }
        str::from_utf8(self.bytes).ok()
    }

    fn ellipsis(self) -> char {
        self.charset.ellipsis()
    }
}

impl fmt::Debug for UntrustedStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({})", self.visible())
    }
}

/// The lines of a string that is too long for one.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    units: VisibleUnits<'a>,
    columns: usize,
}

impl Iterator for Lines<'_> {
    type Item = Visible;

    fn next(&mut self) -> Option<Visible> {
        let mut line = Visible::default();
        let mut ahead = self.units.clone();
        while let Some(unit) = ahead.next().filter(|unit| line.width() + unit.columns() <= self.columns) {
            line.push(&unit);
            self.units = ahead.clone();
            if unit == VisibleUnit::Byte(b'\n') {
                break;
            }
        }
        (!line.is_empty()).then_some(line)
    }
}
