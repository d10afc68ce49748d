//! Redacts the key in every response as its bytes arrive. Later code never sees the key, so it
//! cannot store or show it.
//!
//! An occurrence is the key with each character in either case and in any mix of plain,
//! JSON-escaped and percent-encoded form, or the key in base64. Each of its bytes is replaced by an
//! asterisk, so that offsets stay the same and JSON stays valid.

use super::credential::{Credential, MIN_KEY};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use std::borrow::Cow;

/// If a response ends within the key, its part of the key is redacted from this many characters on.
const TELLING: usize = 4;

/// The forms of the key that are searched for.
#[derive(Default)]
pub(super) struct Redactor {
    key: Vec<u8>,
    /// The key in base64, at each offset within a group of three bytes.
    base64: Vec<Vec<u8>>,
    /// For each byte, whether an occurrence may begin with it.
    begins: Vec<bool>,
    mask: u8,
}

/// The result of matching the beginning of a text with the key.
#[derive(Clone, Copy, Default)]
struct Occurrence {
    /// Length of the longest spelling of the whole key, in bytes.
    whole: Option<usize>,
    /// Number of matched characters if the text ends within a possible key.
    cut: Option<usize>,
}

impl Redactor {
    /// A redactor for a key; it ignores a short key, which may be any word.
    pub(super) fn new(key: &str) -> Self {
        if key.len() < MIN_KEY {
            return Self::default();
        }
        let base64 = base64_forms(key);
        // A number must stay a number, and the mask must not form the key again.
        let masks = if key.bytes().all(|byte| byte.is_ascii_digit()) { "9876543210" } else { "*#-+_" };
        let is_unused = |mask: &u8| !key.as_bytes().contains(mask);
        let mask = masks.bytes().find(is_unused).or_else(|| masks.bytes().next()).unwrap_or(b'*');
        let firsts: Vec<u8> =
            base64.iter().filter_map(|form| form.first().copied()).chain(key.bytes().take(1)).collect();
        let is_first =
            |byte: u8| firsts.iter().any(|first| first.eq_ignore_ascii_case(&byte)) || b"\\%".contains(&byte);
        Self { key: key.as_bytes().to_vec(), base64, begins: (0..=u8::MAX).map(is_first).collect(), mask }
    }

    /// Whether a key seems to have been redacted in a text.
    pub(super) fn has_redacted(&self, text: &[u8]) -> bool {
        !self.key.is_empty() && text.windows(MIN_KEY).any(|bytes| bytes.iter().all(|byte| *byte == self.mask))
    }

    /// Whether a text contains the key, or ends within it.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.redact(text) != text
    }

    /// A whole text without the key.
    pub(super) fn redact(&self, text: &[u8]) -> Vec<u8> {
        let mut stream = self.stream();
        let start = stream.take(text);
        [start, stream.end()].concat()
    }

    /// Redacts a body from its beginning.
    pub(super) fn stream(&self) -> RedactedStream<'_> {
        RedactedStream { redactor: self, pending: Vec::new() }
    }

    /// Redacts a text. Returns the offset from which further text may complete an occurrence, or
    /// change an escape before one.
    fn settle(&self, text: &mut [u8], is_end: bool) -> usize {
        let may_begin = |byte: &u8| self.begins.get(usize::from(*byte)) == Some(&true);
        let mut at = 0;
        while let Some(begin) = text.get(at..).and_then(|rest| rest.iter().position(may_begin)) {
            at += begin;
            let length = match self.occurrence(text.get(at..).unwrap_or_default()) {
                Occurrence { cut: Some(_), .. } if !is_end => {
                    while let Some(begin) = escape_around(text, at) {
                        at = begin;
                    }
                    return at;
                }
                Occurrence { whole: Some(length), .. } => length,
                Occurrence { cut: Some(TELLING..), .. } => text.len() - at,
                _ => {
                    at += 1;
                    continue;
                }
            };
            let end = at + length;
            let start = escape_end(text, at).min(end);
            text.get_mut(start..end).unwrap_or_default().fill(self.mask);
            at = end;
        }
        text.len()
    }

    fn occurrence(&self, text: &[u8]) -> Occurrence {
        let mut found = spelled(text, &self.key);
        for form in &self.base64 {
            if text.starts_with(form) {
                found.whole = found.whole.max(Some(form.len()));
            } else if form.starts_with(text) {
                found.cut = found.cut.max(Some(text.len()));
            }
        }
        found
    }
}

/// A text with these keys replaced by asterisks, as in responses.
pub fn without_keys<'a>(keys: &[Credential], text: &'a [u8]) -> Cow<'a, [u8]> {
    let whole = keys.iter().fold(text.to_vec(), |text, key| Redactor::new(key.expose()).redact(&text));
    if whole == text { Cow::Borrowed(text) } else { Cow::Owned(whole) }
}

pub(super) struct RedactedStream<'r> {
    redactor: &'r Redactor,
    /// The end of the received bytes, if an occurrence may begin there.
    pending: Vec<u8>,
}

impl RedactedStream<'_> {
    /// The bytes that are final after this piece.
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.pending);
        text.extend_from_slice(piece);
        if !self.redactor.key.is_empty() {
            let settled = self.redactor.settle(&mut text, false);
            self.pending = text.split_off(settled);
        }
        text
    }

    /// The pending bytes, after the last piece.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.redactor.settle(&mut self.pending, true);
        self.pending
    }
}

/// The base64 characters that depend on the key alone, at each offset and in both alphabets.
fn base64_forms(key: &str) -> Vec<Vec<u8>> {
    let forms = (0..3).flat_map(|offset| {
        let bytes = [vec![0; offset], key.as_bytes().to_vec()].concat();
        let own = (offset * 8).div_ceil(6)..bytes.len() * 8 / 6;
        [BASE64_STANDARD.encode(&bytes), BASE64_URL_SAFE.encode(&bytes)]
            .map(|text| text.as_bytes().get(own.clone()).unwrap_or_default().to_vec())
    });
    let mut forms: Vec<_> = forms.collect();
    forms.dedup();
    forms
}

/// A character of a text.
#[derive(Clone, Copy)]
enum CodeUnit {
    /// This byte, spelled with this many bytes.
    Byte(u8, usize),
    /// The text ends within the character.
    Cut,
    None,
}

/// Matches the beginning of a text with the key. Follows every way to decode it, because a key may
/// itself contain `\` and `%`.
fn spelled(text: &[u8], key: &[u8]) -> Occurrence {
    let (mut ends, mut cut) = (vec![0], None);
    for (come, wanted) in key.iter().enumerate() {
        let mut next = Vec::new();
        for end in ends {
            let rest = text.get(end..).unwrap_or_default();
            for unit in [literal(rest), json_escape(rest), percent_escape(rest)] {
                match unit {
                    CodeUnit::Byte(byte, length)
                        if byte.eq_ignore_ascii_case(wanted) && !next.contains(&(end + length)) =>
                    {
                        next.push(end + length);
                    }
                    CodeUnit::Cut => cut = Some(come),
                    CodeUnit::Byte(..) | CodeUnit::None => {}
                }
            }
        }
        if next.is_empty() {
            return Occurrence { whole: None, cut };
        }
        ends = next;
    }
    Occurrence { whole: ends.into_iter().max(), cut }
}

/// The start of the JSON escape that contains this byte in its middle, if any.
fn escape_around(text: &[u8], at: usize) -> Option<usize> {
    let goes_on = |begin: &usize| {
        let (before, rest) = text.split_at_checked(*begin).unwrap_or_default();
        let is_escape = rest.first() == Some(&b'\\')
            && before.iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2);
        is_escape
            && match rest.get(1..at - begin) {
                Some([b'u', digits @ ..]) => digits.iter().all(u8::is_ascii_hexdigit),
                between => between.is_some_and(<[u8]>::is_empty),
            }
    };
    (1..6).filter_map(|back| at.checked_sub(back)).find(goes_on)
}

/// The end of the escape that contains this byte in its middle; otherwise the byte itself. The
/// characters after a backslash must stay, or the JSON becomes invalid.
fn escape_end(text: &[u8], at: usize) -> usize {
    let Some(begin) = escape_around(text, at) else { return at };
    match text.get(begin + 1..).unwrap_or_default() {
        [b'u', rest @ ..] => begin + 2 + rest.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count(),
        _ => begin + 2,
    }
}

fn literal(text: &[u8]) -> CodeUnit {
    text.first().map_or(CodeUnit::Cut, |byte| CodeUnit::Byte(*byte, 1))
}

fn json_escape(text: &[u8]) -> CodeUnit {
    match text {
        [b'\\'] => CodeUnit::Cut,
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => CodeUnit::Byte(*byte, 2),
        [b'\\', b'u', b'0', b'0', high, low, ..] => match digit(*high).zip(digit(*low)) {
            Some((high, low)) => CodeUnit::Byte(high << 4 | low, 6),
            None => CodeUnit::None,
        },
        [b'\\', b'u', digits @ ..] if digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit) => CodeUnit::Cut,
        _ => CodeUnit::None,
    }
}

/// Decodes a percent-encoded character; JSON may have escaped the sign and the digits.
fn percent_escape(text: &[u8]) -> CodeUnit {
    let (mut found, mut length) = (0, 0);
    for is_sign in [true, false, false] {
        let rest = text.get(length..).unwrap_or_default();
        let unit = match json_escape(rest) {
            CodeUnit::None => literal(rest),
            escaped => escaped,
        };
        let CodeUnit::Byte(byte, more) = unit else { return unit };
        match digit(byte) {
            _ if is_sign && byte == b'%' => {}
            Some(digit) if !is_sign => found = found << 4 | digit,
            _ => return CodeUnit::None,
        }
        length += more;
    }
    CodeUnit::Byte(found, length)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests;
