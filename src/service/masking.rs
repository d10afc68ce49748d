//! Masks the key in whatever the service says, as its bytes come: nobody behind this has it, so nobody can keep, show or write it.
//! From the call on that carries a password, that is masked in the same way; only in what is held for good, where a sandbox's words
//! count, a password that may be one of those words stays.
//!
//! An occurrence is the key with each character in either case: as itself, as JSON may escape it, or percent-escaped as in an address.
//! Its bytes become asterisks one by one, so that every place stays where it is, and JSON stays JSON.

mod spelling;

use super::credential::{Credential, SHORTEST_KEY};
use spelling::{LONGEST, escape_around, escape_end, spelled};
use std::borrow::Cow;
use std::ops::Range;

/// A shorter password is not masked: it stands in the names of which every answer is made, and in any scan's id.
pub(super) const SHORTEST_PASSWORD: usize = 5;

/// Whether a password is a word such as those that answers are made of: nobody could read them without it.
pub(super) fn is_word(password: &str) -> bool {
    let is_short = password.len() < SHORTEST_KEY || password.contains('_');
    is_short && password.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte))
}

/// Whether a password is told apart from any word or number that a sandbox may write: it is long, or more than letters or digits.
pub(super) fn is_no_word(password: &str) -> bool {
    let is_mixed = || {
        password.contains(char::is_alphabetic)
            && password.contains(|letter: char| !letter.is_alphabetic() && letter != '_')
    };
    !is_word(password) && (password.len() >= SHORTEST_KEY || password.len() >= 8 && is_mixed())
}

/// Characters of a key that stand at the end of what broke off, from which on they are left out: fewer tell next to nothing of
/// it, and end many a text that has nothing to do with it.
const TELLING: usize = 4;

/// What is looked for, made once.
#[derive(Default)]
pub(super) struct Masking {
    forms: Vec<Vec<u8>>,
    /// By byte, whether an occurrence may begin with it.
    begins: Vec<bool>,
    mask: u8,
}

/// A text in which asterisks stand in the place of each of these keys, as in what the service says.
pub fn without_keys<'a>(keys: &[Credential], text: &'a [u8]) -> Cow<'a, [u8]> {
    keys.iter().fold(Cow::Borrowed(text), |text, key| {
        let masking = Masking::of(key.expose());
        let mut masked = masking.begin();
        let first = masked.take(&text).into_owned();
        let whole = [first, masked.end(true).0].concat();
        if *whole == *text { text } else { Cow::Owned(whole) }
    })
}

/// One body on its way.
pub(super) struct Masked<'m> {
    masking: &'m Masking,
    /// The end of what came, if an occurrence may begin there.
    held: Vec<u8>,
    /// So many bytes of it are of an occurrence that began before.
    covered: usize,
}

impl Masking {
    pub(super) fn of(key: &str) -> Self {
        Self::of_all(key, &[])
    }

    /// What hides this key and these passwords.
    pub(super) fn of_all(key: &str, passwords: &[&str]) -> Self {
        let mut secrets: Vec<_> = passwords.iter().copied().filter(|text| text.len() >= SHORTEST_PASSWORD).collect();
        secrets.extend(Some(key).filter(|key| key.len() >= SHORTEST_KEY));
        let forms: Vec<_> = secrets.iter().flat_map(|text| spelled_forms(text)).map(String::into_bytes).collect();
        let firsts = || forms.iter().filter_map(|form| form.first());
        let is_first = |byte: u8| firsts().any(|first| first.eq_ignore_ascii_case(&byte)) || b"\\%".contains(&byte);
        let begins = (0..=u8::MAX).map(is_first).collect();
        // What one of them begins or ends with could make it once more. A number stays one.
        let is_number = secrets.iter().any(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let masks = if is_number { b"98765" } else { b"*#-+_" };
        let is_end =
            |mask: u8| secrets.iter().any(|text| [text.bytes().next(), text.bytes().last()].contains(&Some(mask)));
        let mask = masks.iter().find(|mask| !is_end(**mask)).unwrap_or(&b'*');
        Self { begins, mask: *mask, forms }
    }

    /// Whether a key seems to have been masked in a text.
    pub(super) fn has_masked(&self, text: &[u8]) -> bool {
        let is_masked = |bytes: &[u8]| bytes.iter().all(|byte| *byte == self.mask);
        !self.forms.is_empty() && text.windows(SHORTEST_KEY).any(is_masked)
    }

    /// Whether nothing of a text is masked or left out: neither the key is in it nor, at its end, the beginning of one.
    pub(super) fn leaves(&self, text: &[u8]) -> bool {
        let mut masked = self.begin();
        let first = masked.take(text).into_owned();
        [first, masked.end(false).0].concat() == text
    }

    /// Masks a body from its beginning.
    pub(super) fn begin(&self) -> Masked<'_> {
        Masked { masking: self, held: Vec::new(), covered: 0 }
    }

    /// What to mask of the occurrences that begin before a byte.
    fn marks(&self, text: &[u8], before: usize) -> Vec<Range<usize>> {
        let starts = text.iter().take(before).enumerate().filter(|(_, byte)| self.may_begin(**byte));
        let found = starts.flat_map(|(at, _)| {
            let rest = text.get(at..).unwrap_or_default();
            let length = move |form: &Vec<u8>| spelled(rest, form).whole;
            self.forms.iter().filter_map(length).map(move |length| at..at + length)
        });
        found.map(|found| escape_end(text, found.start)..found.end).collect()
    }

    fn may_begin(&self, byte: u8) -> bool {
        self.begins.get(usize::from(byte)) == Some(&true)
    }

    /// Where the end of a text begins that more of it may make an occurrence; it does not begin in the middle of an escape.
    fn settled(&self, text: &[u8]) -> usize {
        let mut at = self.begun(text).map_or(text.len(), |(at, _)| at);
        while let Some(begin) = escape_around(text, at) {
            at = begin;
        }
        at
    }

    /// Where the longest end of a text begins that more of it may make an occurrence, and how many characters of the key it has.
    fn begun(&self, text: &[u8]) -> Option<(usize, usize)> {
        let from = text.len().saturating_sub(self.forms.iter().map(Vec::len).max()? * LONGEST);
        let mut starts = (from..text.len()).filter(|at| text.get(*at).is_some_and(|byte| self.may_begin(*byte)));
        starts.find_map(|at| {
            let end = text.get(at..).unwrap_or_default();
            self.forms.iter().filter_map(|form| spelled(end, form).begun).max().map(|come| (at, come))
        })
    }
}

/// A secret as it is, and with what is not ASCII as JSON may escape it.
fn spelled_forms(secret: &str) -> impl Iterator<Item = String> {
    let spell = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    let escaped = (!secret.is_ascii()).then(|| secret.encode_utf16().map(spell).collect());
    std::iter::once(secret.to_owned()).chain(escaped)
}

impl Masked<'_> {
    /// What may be handed over when a piece has come: uncopied where nothing of it is masked and nothing was held back.
    pub(super) fn take<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if self.masking.forms.is_empty() {
            return Cow::Borrowed(piece);
        }
        let text = if self.held.is_empty() {
            Cow::Borrowed(piece)
        } else {
            let mut text = std::mem::take(&mut self.held);
            text.extend_from_slice(piece);
            Cow::Owned(text)
        };
        let end = self.masking.settled(&text);
        self.hand_over(text, end)
    }

    /// What was held back, when nothing more comes. Where that is not known for the end of the whole, the beginning of a key is left
    /// out, for a later call may bring it with its rest; says whether it was.
    pub(super) fn end(mut self, is_end: bool) -> (Vec<u8>, bool) {
        let text = std::mem::take(&mut self.held);
        let is_left_out = !is_end && self.masking.begun(&text).is_some_and(|(_, come)| come >= TELLING);
        let end = if is_left_out { self.masking.settled(&text) } else { text.len() };
        (self.hand_over(Cow::Owned(text), end).into_owned(), is_left_out)
    }

    /// Hands a text over to this byte, and holds the rest back.
    fn hand_over<'a>(&mut self, text: Cow<'a, [u8]>, end: usize) -> Cow<'a, [u8]> {
        let mut marks = self.masking.marks(&text, end);
        marks.push(0..self.covered);
        self.covered = marks.iter().map(|mark| mark.end).max().unwrap_or(0).saturating_sub(end);
        self.held = text.get(end..).unwrap_or_default().to_vec();
        marks.retain(|mark| !mark.is_empty());
        match text {
            Cow::Borrowed(piece) if marks.is_empty() => Cow::Borrowed(piece.get(..end).unwrap_or(piece)),
            text => {
                let mut text = text.into_owned();
                text.truncate(end);
                for mark in marks {
                    let mark = mark.start.min(end)..mark.end.min(end);
                    text.get_mut(mark).unwrap_or_default().fill(self.masking.mask);
                }
                Cow::Owned(text)
            }
        }
    }
}

#[cfg(test)]
mod tests;
