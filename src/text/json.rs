//! Decodes the inside of JSON string literals, without errors, and escapes the controls in JSON.

use super::escape::{VisibleUnit, VisibleUnits};
use std::fmt::Write as _;

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
    if let Some((code, taken)) = code_point(raw) {
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
fn code_point(raw: &[u8]) -> Option<(u32, usize)> {
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
