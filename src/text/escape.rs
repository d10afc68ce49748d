//! The escaper: bytes in, units of the visible form out; every other function stands on it.

use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::class::{CharRole, role};

/// The most combining marks shown on one base character; further ones are escaped.
const MARKS: usize = 3;

/// Which characters a visible form may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Charset {
    /// Every character that can be seen and measured.
    #[default]
    Unicode,
    Ascii,
}

impl Charset {
    /// What says that something was left out.
    pub(super) fn ellipsis(self) -> char {
        match self {
            Self::Unicode => '…',
            Self::Ascii => '>',
        }
    }
}

static IS_ASCII: AtomicBool = AtomicBool::new(false);

/// This program's own signs, and the ASCII substitute of each, in as many columns.
const SIGNS: &[(&str, &str)] = &[
    ("─┄", "-"),
    ("━═", "="),
    ("│", "|"),
    ("┃║", "#"),
    ("┌┐└┘├┤┬┴┼┏┓┗┛┣┫╭╮╰╯╔╗╚╝", "+"),
    ("…›▸▶→", ">"),
    ("‹◀←", "<"),
    ("▾▼↓", "v"),
    ("▹▿", ":"),
    ("▲↑", "^"),
    ("●•", "*"),
    ("○", "o"),
    ("◌", "~"),
    ("◷", "@"),
    ("·–—", "-"),
    ("█▇▆▅▄", "#"),
    ("▃▂▁", "_"),
    ("▏▎▌▐▕", "|"),
    ("░▒▓", "."),
    ("×", "x"),
    ("≤", "<"),
    ("≥", ">"),
    ("≠", "!"),
    ("✎", "&"),
];

/// Shows ASCII alone from now on: own signs get their stand-ins, everything else from outside is escaped.
pub fn show_ascii_alone() {
    IS_ASCII.store(true, Ordering::Relaxed);
}

/// Whether ASCII alone is shown.
pub fn is_ascii() -> bool {
    IS_ASCII.load(Ordering::Relaxed)
}

/// The characters that the terminal has.
pub(super) fn current() -> Charset {
    if is_ascii() { Charset::Ascii } else { Charset::Unicode }
}

/// Our own words as the terminal can show them, as wide as they were.
pub fn own(text: &str) -> Cow<'_, str> {
    if current() == Charset::Unicode || text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(in_ascii(text)) }
}

fn in_ascii(text: &str) -> String {
    let stand_in = |c: char| SIGNS.iter().find(|(signs, _)| signs.contains(c)).map_or("?", |(_, ascii)| ascii);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() { shown.push(c) } else { shown.push_str(stand_in(c)) }
    }
    shown
}

/// The smallest part of a visible form; at least one column wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VisibleUnit<'a> {
    /// A base character and its marks, as they are.
    Shown { text: &'a str, columns: usize },
    /// A control below U+0080, a backslash or a blank at the end: `\xHH`. A byte that belongs to no character: `\x{HH}`, for a path may have a
    /// folder `x86`.
    Byte(u8),
    /// Any other code point, surrogates included: `\u{H…}`.
    CodePoint(u32),
}

impl VisibleUnit<'_> {
    pub(super) fn columns(&self) -> usize {
        match self {
            VisibleUnit::Shown { columns, .. } => *columns,
            VisibleUnit::Byte(byte) if byte.is_ascii() => r"\x00".len(),
            VisibleUnit::Byte(_) => r"\x{00}".len(),
            VisibleUnit::CodePoint(code) => r"\u{0}".len() + code.checked_ilog(16).unwrap_or(0) as usize,
        }
    }

    /// The number of bytes that the unit represents.
    fn source_len(&self) -> usize {
        match self {
            VisibleUnit::Shown { text, .. } => text.len(),
            VisibleUnit::Byte(_) => 1,
            VisibleUnit::CodePoint(code) => char::from_u32(*code).map_or(SURROGATE_LEN, char::len_utf8),
        }
    }
}

impl fmt::Display for VisibleUnit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VisibleUnit::Shown { text, .. } => f.write_str(text),
            VisibleUnit::Byte(byte) if byte.is_ascii() => write!(f, r"\x{byte:02x}"),
            VisibleUnit::Byte(byte) => write!(f, r"\x{{{byte:x}}}"),
            VisibleUnit::CodePoint(code) => write!(f, r"\u{{{code:x}}}"),
        }
    }
}

/// The units of a string, in order.
///
/// A unit depends on nothing before it, so a walk can start again wherever one stopped.
#[derive(Clone, Debug)]
pub(super) struct VisibleUnits<'a> {
    rest: &'a [u8],
    charset: Charset,
}

impl<'a> VisibleUnits<'a> {
    pub(super) fn new(bytes: &'a [u8], charset: Charset) -> Self {
        VisibleUnits { rest: bytes, charset }
    }
}

impl<'a> Iterator for VisibleUnits<'a> {
    type Item = VisibleUnit<'a>;

    fn next(&mut self) -> Option<VisibleUnit<'a>> {
        let unit = first_unit(self.rest, self.charset)?;
        self.rest = self.rest.get(unit.source_len()..).unwrap_or_default();
        Some(unit)
    }
}

fn first_unit(bytes: &[u8], charset: Charset) -> Option<VisibleUnit<'_>> {
    let (&byte, after) = bytes.split_first()?;
    let as_is = match byte {
        b'\\' => !reads_as_escape(after),
        b' ' => !after.is_empty(),
        _ => byte.is_ascii() || charset == Charset::Unicode,
    };
    let unit = if as_is { shown(bytes, charset) } else { None };
    Some(unit.unwrap_or_else(|| escaped(byte, bytes)))
}

/// The escape for what `bytes`, of which `byte` is the first, start with.
fn escaped(byte: u8, bytes: &[u8]) -> VisibleUnit<'_> {
    match code_point(bytes) {
        Some(code) if !byte.is_ascii() => VisibleUnit::CodePoint(code),
        _ => VisibleUnit::Byte(byte),
    }
}

/// Whether a backslash followed by `after` would read as an escape.
///
/// Nothing else is one: a path through a folder `x64` or `x86` stays as it is.
pub(super) fn reads_as_escape(after: &[u8]) -> bool {
    match after {
        [b'x', b'{', high, low, b'}', ..] => byte(*high, *low).is_some_and(|byte| !byte.is_ascii()),
        [b'x', b'2', b'0'] => true,
        [b'x', high, low, ..] => byte(*high, *low).is_some_and(|byte| byte.is_ascii_control() || byte == b'\\'),
        [b'u', b'{', digits @ ..] => {
            let count = digits.iter().take(7).take_while(|b| b.is_ascii_hexdigit());
            let count = count.count();
            (1..=6).contains(&count) && digits.get(count) == Some(&b'}')
        }
        _ => false,
    }
}

/// Decodes a byte from two hexadecimal digits.
fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// The base character that `bytes` start with and its marks, unless it has to be escaped.
fn shown(bytes: &[u8], charset: Charset) -> Option<VisibleUnit<'_>> {
    let base = first_char(bytes)?;
    let CharRole::Base(mut columns) = role(base) else {
        return None;
    };
    let mut len = base.len_utf8();
    if !base.is_ascii() && !is_composed(bytes.get(..len)?) {
        return None;
    }
    if base != ' ' && charset == Charset::Unicode {
        for (mark, width) in marks(bytes.get(len..)?) {
            let end = len + mark.len_utf8();
            if !is_composed(bytes.get(..end)?) {
                break;
            }
            len = end;
            columns += width;
        }
    }
    let text = str::from_utf8(bytes.get(..len)?).ok()?;
    Some(VisibleUnit::Shown { text, columns })
}

/// Whether text is in composed form (Unicode's NFC). A canonically equal text in another form looks
/// the same, so its characters are escaped.
fn is_composed(text: &[u8]) -> bool {
    const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
    str::from_utf8(text).is_ok_and(|text| NFC.is_normalized(text))
}

/// The marks that `bytes` start with, as many as a base may carry, and their widths in columns.
fn marks(mut bytes: &[u8]) -> impl Iterator<Item = (char, usize)> {
    std::iter::from_fn(move || {
        let mark = first_char(bytes)?;
        let CharRole::Mark(columns) = role(mark) else {
            return None;
        };
        bytes = bytes.get(mark.len_utf8()..)?;
        Some((mark, columns))
    })
    .take(MARKS)
}

/// The length of a surrogate in generalised UTF-8, in bytes.
const SURROGATE_LEN: usize = 3;

/// The code point that `bytes` start with, in generalised UTF-8.
fn code_point(bytes: &[u8]) -> Option<u32> {
    match bytes {
        [0xed, b @ 0xa0..=0xbf, c @ 0x80..=0xbf, ..] => Some(0xd000 | u32::from(b & 0x3f) << 6 | u32::from(c & 0x3f)),
        _ => first_char(bytes).map(u32::from),
    }
}

/// The character that `bytes` start with, if they are UTF-8 as far as it goes.
fn first_char(bytes: &[u8]) -> Option<char> {
    let len = match bytes.first()? {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    str::from_utf8(bytes.get(..len)?).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_sign_has_a_stand_in_of_its_width() {
        for (signs, ascii) in SIGNS {
            for sign in signs.chars().map(String::from) {
                assert_eq!(in_ascii(&sign), *ascii);
                assert_eq!((sign.width(), ascii.width()), (1, 1), "{sign}");
            }
        }
        assert_eq!(in_ascii("┌─ 3 · 4 … é"), "+- 3 - 4 > ?");
    }
}
