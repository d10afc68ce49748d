//! The escaper: bytes in, units of the visible form out; every other function stands on it.

use std::fmt;

use super::class::{Role, role};

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

/// The smallest part of a visible form; at least one column wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit<'a> {
    /// A base character and its marks, as they are.
    Shown { text: &'a str, columns: usize },
    /// A control below U+0080 or a backslash: `\xHH`. A byte that belongs to no character: `\x{HH}`, for a path may have a
    /// folder `x86`.
    Byte(u8),
    /// Any other code point, surrogates included: `\u{H…}`.
    CodePoint(u32),
}

impl Unit<'_> {
    pub(super) fn columns(&self) -> usize {
        match self {
            Unit::Shown { columns, .. } => *columns,
            Unit::Byte(byte) if byte.is_ascii() => r"\x00".len(),
            Unit::Byte(_) => r"\x{00}".len(),
            Unit::CodePoint(code) => r"\u{0}".len() + code.checked_ilog(16).unwrap_or(0) as usize,
        }
    }

    /// How many bytes of the source the unit stands for.
    fn source_len(&self) -> usize {
        match self {
            Unit::Shown { text, .. } => text.len(),
            Unit::Byte(_) => 1,
            Unit::CodePoint(code) => char::from_u32(*code).map_or(SURROGATE_LEN, char::len_utf8),
        }
    }
}

impl fmt::Display for Unit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::Shown { text, .. } => f.write_str(text),
            Unit::Byte(byte) if byte.is_ascii() => write!(f, r"\x{byte:02x}"),
            Unit::Byte(byte) => write!(f, r"\x{{{byte:x}}}"),
            Unit::CodePoint(code) => write!(f, r"\u{{{code:x}}}"),
        }
    }
}

/// The units of a string, in order.
///
/// What a unit is depends on nothing before it, so a walk can start again wherever one stopped.
#[derive(Clone, Debug)]
pub(super) struct Units<'a> {
    rest: &'a [u8],
    charset: Charset,
}

impl<'a> Units<'a> {
    pub(super) fn new(bytes: &'a [u8], charset: Charset) -> Self {
        Units { rest: bytes, charset }
    }

    /// The letters that come next and are a unit each, as far as that is seen at once; a mark may follow the letter after them.
    pub(super) fn take_plain(&mut self) -> &'a str {
        let is_plain = |pair: &[u8]| match pair {
            [b'\\', b'x' | b'u'] => false,
            [letter, next] => matches!(letter, b' '..=b'~') && next.is_ascii(),
            _ => false,
        };
        let end = self.rest.windows(2).position(|pair| !is_plain(pair)).unwrap_or(self.rest.len().saturating_sub(1));
        let (plain, rest) = self.rest.split_at(end);
        let Ok(plain) = str::from_utf8(plain) else { return "" };
        self.rest = rest;
        plain
    }
}

impl<'a> Iterator for Units<'a> {
    type Item = Unit<'a>;

    fn next(&mut self) -> Option<Unit<'a>> {
        let unit = first_unit(self.rest, self.charset)?;
        self.rest = self.rest.get(unit.source_len()..).unwrap_or_default();
        Some(unit)
    }
}

fn first_unit(bytes: &[u8], charset: Charset) -> Option<Unit<'_>> {
    let (&byte, after) = bytes.split_first()?;
    let as_is = match byte {
        b'\\' => !reads_as_escape(after),
        _ => byte.is_ascii() || charset == Charset::Unicode,
    };
    let unit = if as_is { shown(bytes, charset) } else { None };
    Some(unit.unwrap_or_else(|| escaped(byte, bytes)))
}

/// The escape for what `bytes`, of which `byte` is the first, start with.
fn escaped(byte: u8, bytes: &[u8]) -> Unit<'_> {
    match code_point(bytes) {
        Some(code) if !byte.is_ascii() => Unit::CodePoint(code),
        _ => Unit::Byte(byte),
    }
}

/// Whether a backslash followed by `after` would read as an escape.
///
/// Nothing else is one: a path through a folder `x64` or `x86` stays as it is.
pub(super) fn reads_as_escape(after: &[u8]) -> bool {
    match after {
        [b'x', b'{', high, low, b'}', ..] => byte(*high, *low).is_some_and(|byte| !byte.is_ascii()),
        [b'x', high, low, ..] => byte(*high, *low).is_some_and(|byte| byte.is_ascii_control() || byte == b'\\'),
        [b'u', b'{', digits @ ..] => {
            let count = digits.iter().take(7).take_while(|b| b.is_ascii_hexdigit());
            let count = count.count();
            (1..=6).contains(&count) && digits.get(count) == Some(&b'}')
        }
        _ => false,
    }
}

/// The byte that two hexadecimal digits stand for.
fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// The base character that `bytes` start with and its marks, unless it has to be escaped.
fn shown(bytes: &[u8], charset: Charset) -> Option<Unit<'_>> {
    let base = first_char(bytes)?;
    let Role::Base(mut columns) = role(base) else {
        return None;
    };
    let mut len = base.len_utf8();
    if base != ' ' && charset == Charset::Unicode {
        for (mark, width) in marks(bytes.get(len..)?) {
            len += mark.len_utf8();
            columns += width;
        }
    }
    let text = str::from_utf8(bytes.get(..len)?).ok()?;
    Some(Unit::Shown { text, columns })
}

/// The marks that `bytes` start with, as many as a base may carry, and their widths in columns.
fn marks(mut bytes: &[u8]) -> impl Iterator<Item = (char, usize)> {
    std::iter::from_fn(move || {
        let mark = first_char(bytes)?;
        let Role::Mark(columns) = role(mark) else {
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
