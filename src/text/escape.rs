//! Turns bytes into units of the visible form; Unicode properties decide what is shown. Decodes the
//! inside of JSON string literals, without errors, and escapes what is not shown in JSON.

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, EmojiModifier, GeneralCategory, GeneralCategoryGroup, GraphemeClusterBreak,
    IndicSyllabicCategory, RegionalIndicator, VariationSelector,
};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// Maximum of combining marks on one base character; further ones are escaped.
const MAX_MARKS: usize = 3;

static IS_ASCII: AtomicBool = AtomicBool::new(false);

/// This program's own signs, and the ASCII substitute of each, equally wide.
static SIGNS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| include_str!("../../assets/ascii.tsv").lines().filter_map(|line| line.split_once('\t')).collect());

/// Switches to ASCII: replaces own signs by substitutes, and escapes all others from outside.
pub fn show_ascii_alone() {
    IS_ASCII.store(true, Ordering::Relaxed);
}

/// Returns whether only ASCII is shown.
pub fn is_ascii() -> bool {
    IS_ASCII.load(Ordering::Relaxed)
}

/// Returns the sign for omitted text.
pub(super) fn ellipsis() -> char {
    if is_ascii() { '>' } else { '…' }
}

/// Replaces own signs that the terminal cannot show; the width stays.
pub fn own(text: &str) -> Cow<'_, str> {
    if !is_ascii() || text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(in_ascii(text)) }
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
    /// A control below U+0080, a backslash or a blank at the end: `\xHH`. A byte outside of any
    /// character: `\x{HH}`, because a path may have a folder `x86`.
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

    /// Returns the number of bytes represented; a surrogate takes three in generalised UTF-8.
    fn source_len(&self) -> usize {
        match self {
            VisibleUnit::Shown { text, .. } => text.len(),
            VisibleUnit::Byte(_) => 1,
            VisibleUnit::CodePoint(code) => char::from_u32(*code).map_or(3, char::len_utf8),
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

/// Iterator over the units of a string; none depends on those before it.
#[derive(Clone, Debug)]
pub(super) struct VisibleUnits<'a> {
    rest: &'a [u8],
    is_ascii: bool,
}

impl<'a> VisibleUnits<'a> {
    pub(super) fn new(bytes: &'a [u8], is_ascii: bool) -> Self {
        VisibleUnits { rest: bytes, is_ascii }
    }
}

impl<'a> Iterator for VisibleUnits<'a> {
    type Item = VisibleUnit<'a>;

    fn next(&mut self) -> Option<VisibleUnit<'a>> {
        let unit = first_unit(self.rest, self.is_ascii)?;
        self.rest = self.rest.get(unit.source_len()..).unwrap_or_default();
        Some(unit)
    }
}

fn first_unit(bytes: &[u8], is_ascii: bool) -> Option<VisibleUnit<'_>> {
    let (&byte, after) = bytes.split_first()?;
    let as_is = match byte {
        b'\\' => !reads_as_escape(after),
        b' ' => !after.is_empty(),
        _ => byte.is_ascii() || !is_ascii,
    };
    let unit = if as_is { shown(bytes, is_ascii) } else { None };
    Some(unit.unwrap_or_else(|| escaped(byte, bytes)))
}

/// Returns the escape for the start of `bytes`, whose first byte is `byte`.
fn escaped(byte: u8, bytes: &[u8]) -> VisibleUnit<'_> {
    match code_point(bytes) {
        Some(code) if !byte.is_ascii() => VisibleUnit::CodePoint(code),
        _ => VisibleUnit::Byte(byte),
    }
}

/// Returns whether a backslash followed by `after` would read as an escape.
///
/// Only complete escapes count: a path through a folder `x64` or `x86` stays unchanged.
pub(super) fn reads_as_escape(after: &[u8]) -> bool {
    match after {
        [b'x', b'{', high, low, b'}', ..] => byte(*high, *low).is_some_and(|byte| !byte.is_ascii()),
        [b'x', b'2', b'0'] => true,
        [b'x', high, low, ..] => byte(*high, *low).is_some_and(|byte| byte.is_ascii_control() || byte == b'\\'),
        [b'u', b'{', digits @ ..] => {
            let count = digits.iter().take(7).take_while(|digit| digit.is_ascii_hexdigit()).count();
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

/// Returns the base character at the start of `bytes` and its marks, unless it has to be escaped.
fn shown(bytes: &[u8], is_ascii: bool) -> Option<VisibleUnit<'_>> {
    let base = first_char(bytes)?;
    let CharRole::Base(mut columns) = role(base) else { return None };
    let mut len = base.len_utf8();
    if !base.is_ascii() && !is_composed(bytes.get(..len)?) {
        return None;
    }
    if base != ' ' && !is_ascii {
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

/// Returns whether text is in NFC; an equal text in another form looks the same, so it is escaped.
fn is_composed(text: &[u8]) -> bool {
    const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
    str::from_utf8(text).is_ok_and(|text| NFC.is_normalized(text))
}

/// Returns the marks at the start of `bytes`, up to the maximum, and their widths in columns.
fn marks(mut bytes: &[u8]) -> impl Iterator<Item = (char, usize)> {
    std::iter::from_fn(move || {
        let mark = first_char(bytes)?;
        let CharRole::Mark(columns) = role(mark) else { return None };
        bytes = bytes.get(mark.len_utf8()..)?;
        Some((mark, columns))
    })
    .take(MAX_MARKS)
}

/// Returns the code point at the start of `bytes`, in generalised UTF-8.
fn code_point(bytes: &[u8]) -> Option<u32> {
    match bytes {
        [0xed, b @ 0xa0..=0xbf, c @ 0x80..=0xbf, ..] => Some(0xd000 | u32::from(b & 0x3f) << 6 | u32::from(c & 0x3f)),
        _ => first_char(bytes).map(u32::from),
    }
}

/// Returns the character at the start of `bytes`, if it is valid UTF-8.
fn first_char(bytes: &[u8]) -> Option<char> {
    bytes.get(..bytes.len().min(4))?.utf8_chunks().next()?.valid().chars().next()
}

const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();

const CLUSTER: CodePointMapDataBorrowed<'static, GraphemeClusterBreak> =
    CodePointMapData::<GraphemeClusterBreak>::new();

/// Controls, formats, surrogates, private use, unassigned; separators, as they resemble U+0020.
const HIDDEN_CATEGORIES: GeneralCategoryGroup = GeneralCategoryGroup::Other.union(GeneralCategoryGroup::Separator);

/// Characters that draw nothing, turn the direction, or change a neighbour.
const HIDDEN_SETS: [CodePointSetDataBorrowed<'static>; 5] = [
    CodePointSetData::new::<DefaultIgnorableCodePoint>(),
    CodePointSetData::new::<BidiControl>(),
    CodePointSetData::new::<VariationSelector>(),
    CodePointSetData::new::<RegionalIndicator>(),
    CodePointSetData::new::<EmojiModifier>(),
];

/// Non-marks that join their neighbours: conjoining jamo, letters like them, prepended signs.
const HIDDEN_CLUSTERS: [GraphemeClusterBreak; 4] =
    [GraphemeClusterBreak::L, GraphemeClusterBreak::V, GraphemeClusterBreak::T, GraphemeClusterBreak::Prepend];

/// Blanks without a property that says so: in braille, the null notehead, two hieroglyphs.
const BLANK: [char; 4] = ['\u{2800}', '\u{1d159}', '\u{13441}', '\u{13442}'];

/// The part a character may play in a visible form, with its width in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharRole {
    /// Shown, and may carry marks.
    Base(usize),
    /// Shown on a base, escaped elsewhere.
    Mark(usize),
    Hidden,
}

/// Decides how `character` is shown.
pub(super) fn role(character: char) -> CharRole {
    if matches!(character, ' '..='~') {
        return CharRole::Base(1);
    }
    let is_mark = GeneralCategoryGroup::Mark.contains(CATEGORY.get(character));
    match (CLUSTER.get(character), character.width()) {
        _ if is_hidden(character) => CharRole::Hidden,
        // Newer than the tables of the library that fills cells: it would get its own, or none.
        _ if is_mark && !joins_base(character) => CharRole::Hidden,
        (_, Some(columns)) if is_mark => CharRole::Mark(columns),
        // Spacing marks, like THAI CHARACTER SARA AM.
        (GraphemeClusterBreak::SpacingMark, Some(columns)) => CharRole::Mark(columns),
        // Symbols like the halfwidth voiced sound marks: libraries disagree about their width.
        (GraphemeClusterBreak::Extend, _) => CharRole::Hidden,
        (_, Some(columns @ 1..=2)) => CharRole::Base(columns),
        _ => CharRole::Hidden,
    }
}

/// Returns whether a character can be seen as itself, on its own or on a letter.
pub fn is_shown(character: char) -> bool {
    !matches!(role(character), CharRole::Hidden)
}

/// Returns whether the library that cuts text into cells joins a mark with its base.
fn joins_base(mark: char) -> bool {
    String::from_iter(['a', mark]).graphemes(true).count() == 1
}

fn is_hidden(character: char) -> bool {
    HIDDEN_CATEGORIES.contains(CATEGORY.get(character))
        || HIDDEN_CLUSTERS.contains(&CLUSTER.get(character))
        || HIDDEN_SETS.iter().any(|set| set.contains(character))
        // Draws nothing but pushes the next consonant under the last, like the Khmer coeng.
        || CodePointMapData::<IndicSyllabicCategory>::new().get(character) == IndicSyllabicCategory::InvisibleStacker
        || BLANK.contains(&character)
}

/// Escapes invisible characters in the strings of a JSON text; all but ASCII if `is_ascii`.
pub fn escaped_json(json: &str, is_ascii: bool) -> String {
    let mut escaped = String::with_capacity(json.len());
    for unit in VisibleUnits::new(json.as_bytes(), is_ascii) {
        let hidden = match unit {
            VisibleUnit::Shown { text, .. } => {
                escaped.push_str(text);
                continue;
            }
            // White space between values, and the backslash of an existing escape.
            VisibleUnit::Byte(byte @ (b'\n' | b'\\' | b' ')) => {
                escaped.push(char::from(byte));
                continue;
            }
            VisibleUnit::Byte(byte) => Some(char::from(byte)),
            VisibleUnit::CodePoint(code) => char::from_u32(code),
        };
        for unit in hidden.into_iter().flat_map(|hidden| hidden.encode_utf16(&mut [0; 2]).to_vec()) {
            // Writing to a String does not fail.
            _ = write!(escaped, r"\u{unit:04x}");
        }
    }
    escaped
}

/// Appends the decoded inside of a literal; invalid escapes stay as they are.
pub(crate) fn decode_json(raw: &[u8], decoded: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(backslash);
        decoded.extend_from_slice(plain);
        let taken = decode_escape(escape, decoded);
        rest = escape.get(taken..).unwrap_or_default();
    }
    decoded.extend_from_slice(rest);
}

/// Decodes the escape that starts `raw`; returns its length in bytes (1 for a bad escape).
fn decode_escape(raw: &[u8], decoded: &mut Vec<u8>) -> usize {
    // The most common one is the separator of a path.
    if let Some(simple) = raw.get(1).and_then(|letter| simple_escape(*letter)) {
        decoded.push(simple);
        return 2;
    }
    if let Some((code, taken)) = escaped_code_point(raw) {
        push_generalised_utf8(code, decoded);
        return taken;
    }
    decoded.push(b'\\');
    1
}

fn simple_escape(letter: u8) -> Option<u8> {
    Some(match letter {
        b'"' | b'\\' | b'/' => letter,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// Returns the code point of one `\uXXXX` or a surrogate pair, and their length in bytes.
fn escaped_code_point(raw: &[u8]) -> Option<(u32, usize)> {
    let first = code_unit(raw)?;
    let second = raw.get(6..).and_then(code_unit);
    match (first, second) {
        (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
            Some((0x10000 + ((u32::from(first) & 0x3ff) << 10 | u32::from(low) & 0x3ff), 12))
        }
        _ => Some((u32::from(first), 6)),
    }
}

/// Returns the UTF-16 code unit of the `\uXXXX` at the start of `raw`.
#[inline(always)]
fn code_unit(raw: &[u8]) -> Option<u16> {
    let digits = raw.strip_prefix(br"\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

#[inline(always)]
fn push_generalised_utf8(code: u32, decoded: &mut Vec<u8>) {
    let [_, _, high, low] = code.to_be_bytes();
    match char::from_u32(code) {
        Some(character) => decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        // A surrogate, in the three bytes of generalised UTF-8.
        None => decoded.extend([0xe0 | high >> 4, 0x80 | (high & 0x0f) << 2 | low >> 6, 0x80 | low & 0x3f]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_sign_has_a_stand_in_of_its_width() {
        for (signs, ascii) in SIGNS.iter() {
            for sign in signs.chars().map(String::from) {
                assert_eq!(in_ascii(&sign), *ascii);
                assert_eq!((sign.width(), ascii.width()), (1, 1), "{sign}");
            }
        }
        assert_eq!(in_ascii("┌─ 3 · 4 … é"), "+- 3 - 4 > ?");
    }
}
