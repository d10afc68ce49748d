//! Redacts the key in each response as its bytes arrive, so later code cannot store or show it.
//!
//! A response repeats the key as it was sent: in a header, a parameter or an address. So an
//! occurrence is the key in any case: plain, JSON-escaped, percent-encoded, or in base64 of UTF-8
//! or UTF-16 (PowerShell). An asterisk replaces each byte: offsets stay the same.

use super::credential::{Credential, MIN_KEY};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use regex::bytes::Regex;
use std::borrow::Cow;

const MASK: u8 = b'*';

/// Maximum length of a character of the key: `%`, and two digits, each of them JSON-escaped.
const MAX_SPELLING_BYTES: usize = 18;

/// The forms of the key that are searched for.
#[derive(Default)]
pub(super) struct Redactor {
    key: Vec<u8>,
    spellings: Option<Regex>,
    /// Characters of an occurrence other than letters and digits.
    signs: Vec<u8>,
}

impl Redactor {
    /// Creates a redactor for a key; it ignores a short key, which may be any word.
    pub(super) fn new(key: &str) -> Self {
        if key.len() < MIN_KEY {
            return Self::default();
        }
        let spelled: String = key.bytes().map(spelling).collect();
        let wide: Vec<u8> = key.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let encoded = [base64_forms(key.as_bytes()), base64_forms(&wide)].concat();
        let all = Regex::new(&format!("(?-u)(?i:{spelled})|{}", encoded.join("|")));
        let spellings = all.or_else(|_| Regex::new(&regex::escape(key))).ok();
        Self { key: key.into(), spellings, signs: [key.as_bytes(), b"\\%+/-_="].concat() }
    }

    /// Returns whether a key seems to have been redacted in a text.
    pub(super) fn has_redacted(&self, text: &[u8]) -> bool {
        !self.key.is_empty() && text.windows(MIN_KEY).any(|bytes| bytes.iter().all(|byte| *byte == MASK))
    }

    /// Returns a whole text without the key.
    pub(super) fn redact(&self, text: &[u8]) -> Vec<u8> {
        let mut stream = self.stream();
        [stream.take(text), stream.end()].concat()
    }

    pub(super) fn stream(&self) -> RedactedStream<'_> {
        RedactedStream { redactor: self, pending: Vec::new() }
    }

    fn mask(&self, text: &mut [u8]) {
        let found = self.spellings.iter().flat_map(|all| all.find_iter(text)).map(|found| found.range());
        for range in found.collect::<Vec<_>>() {
            text.get_mut(range).unwrap_or_default().fill(MASK);
        }
    }
}

/// Returns a text with these keys replaced by asterisks, as in responses.
pub fn without_keys<'a>(keys: &[Credential], text: &'a [u8]) -> Cow<'a, [u8]> {
    let whole = keys.iter().fold(text.to_vec(), |text, key| Redactor::new(key.expose()).redact(&text));
    if whole == text { Cow::Borrowed(text) } else { Cow::Owned(whole) }
}

pub(super) struct RedactedStream<'r> {
    redactor: &'r Redactor,
    /// The end of the received bytes, where an occurrence may begin.
    pending: Vec<u8>,
}

impl RedactedStream<'_> {
    /// Returns the bytes that are final after this piece.
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.pending);
        text.extend_from_slice(piece);
        self.redactor.mask(&mut text);
        let begin = text.len().saturating_sub(self.redactor.key.len() * MAX_SPELLING_BYTES);
        let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && !self.redactor.signs.contains(byte);
        let end = text.get(begin..).unwrap_or_default().iter().rposition(ends).map_or(0, |at| at + 1);
        self.pending = text.split_off(begin + end);
        text
    }

    /// Returns the pending bytes after the last piece; redacts a start of the key cut off there.
    pub(super) fn end(mut self) -> Vec<u8> {
        let key = &self.redactor.key;
        let is_cut = |start: &[u8]| self.pending.to_ascii_lowercase().ends_with(&start.to_ascii_lowercase());
        let cut = (MIN_KEY..key.len()).rev().find(|length| key.get(..*length).is_some_and(is_cut));
        let begin = self.pending.len() - cut.unwrap_or(0);
        self.pending.get_mut(begin..).unwrap_or_default().fill(MASK);
        self.pending
    }
}

/// Returns a character as responses spell it, as a pattern.
fn spelling(byte: u8) -> String {
    let encoded = |byte: u8| format!("%{byte:02x}").bytes().map(json_spelling).collect::<String>();
    let small = encoded(byte.to_ascii_lowercase());
    let capital = encoded(byte.to_ascii_uppercase());
    format!("(?:{}|{small}|{capital})", json_spelling(byte))
}

fn json_spelling(byte: u8) -> String {
    let small = byte.to_ascii_lowercase();
    let capital = byte.to_ascii_uppercase();
    let escape = if b"\"\\/".contains(&byte) { r"\\?" } else { "" };
    format!(r"(?:{escape}{}|\\u00(?:{small:02x}|{capital:02x}))", regex::escape(&char::from(byte).to_string()))
}

/// Returns base64 characters that depend on the key alone, at each offset, in both alphabets.
fn base64_forms(key: &[u8]) -> Vec<String> {
    let forms = (0..3).flat_map(|offset| {
        let bytes = [vec![0; offset], key.to_vec()].concat();
        let own = (offset * 8).div_ceil(6)..bytes.len() * 8 / 6;
        [BASE64_STANDARD.encode(&bytes), BASE64_URL_SAFE.encode(&bytes)]
            .map(|text| regex::escape(text.get(own.clone()).unwrap_or_default()))
    });
    forms.collect()
}

#[cfg(test)]
mod tests;
