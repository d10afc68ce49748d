//! Masks the key in whatever the service says, as its bytes come: nobody behind this has it, so nobody can keep, show or write it.
//! From the call on that carries a password, that is masked in the same way; only in what is held for good, where a sandbox's words
//! count, a password that may be one of those words stays.
//!
//! An occurrence is the key as it is, as it stands in an address, in small letters or in capitals, each character as itself or as JSON
//! may escape it. Its bytes become asterisks one by one, so that every place stays where it is, and JSON stays JSON.

mod spelling;

use super::credential::{Credential, SHORTEST_KEY};
use crate::order;
use crate::request::encode;
use memchr::memmem::Finder;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use spelling::{Escape, LONGEST_ESCAPE, Spelled, escape, escape_around, escape_end, spelled};
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
    /// The key: as it is and as it stands in an address, and both in small and in capital letters.
    forms: Vec<Finder<'static>>,
    /// How an escaped character of it begins.
    escapes: Vec<Finder<'static>>,
    mask: u8,
}

/// A text in which asterisks stand in the place of each of these keys, as in what the service says.
#[must_use]
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
    /// What hides this key.
    pub(super) fn of(key: &str) -> Self {
        Self::of_all(key, &[])
    }

    /// What hides this key and these passwords.
    pub(super) fn of_all(key: &str, passwords: &[&str]) -> Self {
        let mut secrets: Vec<_> = passwords.iter().copied().filter(|text| text.len() >= SHORTEST_PASSWORD).collect();
        secrets.extend(Some(key).filter(|key| key.len() >= SHORTEST_KEY));
        let has = |mark: char| secrets.iter().any(|text| text.contains(mark));
        let forms = secrets.iter().flat_map(|text| spelled_forms(text)).flat_map(|form| {
            let (small, capital) = (form.to_ascii_lowercase(), form.to_ascii_uppercase());
            [form, small, capital]
        });
        let mut forms: Vec<_> = forms.collect();
        order::sort(&mut forms);
        forms.dedup();
        let own = |text: &str| Finder::new(text).into_owned();
        let escapes = [("u00", true), ("/", has('/')), ("\\", has('\\')), ("\"", has('"'))];
        let escapes = escapes.iter().filter(|(_, is_there)| *is_there).map(|(mark, _)| own(&format!("\\{mark}")));
        // What one of them begins or ends with could make it once more. A number stays one.
        let is_number = secrets.iter().any(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let masks = if is_number { b"98765" } else { b"*#-+_" };
        let is_end =
            |mask: u8| secrets.iter().any(|text| [text.bytes().next(), text.bytes().last()].contains(&Some(mask)));
        let mask = masks.iter().find(|mask| !is_end(**mask)).unwrap_or(&b'*');
        Self { forms: forms.iter().map(|form| own(form)).collect(), escapes: escapes.collect(), mask: *mask }
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
        let literal = self.forms.iter().flat_map(|form| {
            let length = form.needle().len();
            places(form, text).map(move |at| at..at + length)
        });
        let escaped = self.escapes.iter().flat_map(|escape| places(escape, text)).flat_map(|at| self.around(text, at));
        let found = literal.chain(escaped).filter(|found| found.start < before);
        found.map(|found| escape_end(text, found.start)..found.end).collect()
    }

    /// The occurrences whose first escaped character is this one.
    fn around<'t>(&'t self, text: &'t [u8], at: usize) -> impl Iterator<Item = Range<usize>> + 't {
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        let byte = if let Escape::Of(byte, _) = escape(rest) { Some(byte) } else { None };
        let keys = self.forms.iter().map(Finder::needle);
        let ways = keys.flat_map(move |key| {
            let same = key.iter().enumerate().filter(move |(_, found)| byte == Some(**found));
            same.filter_map(move |(index, _)| before.strip_suffix(key.get(..index)?).map(|rest| (key, rest.len())))
        });
        ways.filter_map(|(key, start)| match spelled(text.get(start..)?, key) {
            Spelled::Whole(length) => Some(start..start + length),
            _ => None,
        })
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
        let keys = || self.forms.iter().map(Finder::needle);
        let from = text.len().saturating_sub(keys().map(<[u8]>::len).max()? * LONGEST_ESCAPE);
        let come = |at: usize| {
            let end = text.get(at..).unwrap_or_default();
            let of = |key: &[u8]| match spelled(end, key) {
                Spelled::Begun(come) => Some(come),
                _ => key.starts_with(end).then_some(end.len()),
            };
            self.forms.iter().filter_map(|form| of(form.needle())).max().map(|come| (at, come))
        };
        let begins = |byte: u8| byte == b'\\' || keys().any(|key| key.first() == Some(&byte));
        let mut end = text.get(from..).unwrap_or_default().iter().enumerate();
        end.find_map(|(at, byte)| if begins(*byte) { come(from + at) } else { None })
    }
}

/// A secret as it is, as it may stand in an address, and with what is not ASCII as JSON may escape it, each digit in either case.
fn spelled_forms(secret: &str) -> impl Iterator<Item = String> {
    let escaped = |is_small: bool| {
        let spell = move |unit: u16| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            _ if is_small => format!("\\u{unit:04x}"),
            _ => format!("\\u{unit:04X}"),
        };
        (!secret.is_ascii()).then(|| secret.encode_utf16().map(spell).collect())
    };
    let escaped = [true, false].into_iter().filter_map(escaped).collect::<Vec<_>>();
    std::iter::once(secret.to_owned()).chain(escaped).chain(in_addresses(secret))
}

/// The key as it may stand in an address: as this program writes it, or with more of it encoded, each digit in either case.
fn in_addresses(key: &str) -> impl Iterator<Item = String> {
    let each = [encode(key.as_bytes()), percent_encode(key.as_bytes(), NON_ALPHANUMERIC).to_string()];
    each.into_iter().flat_map(|form| {
        let mut parts = form.split('%');
        let first = parts.next().unwrap_or_default().to_owned();
        let small = parts.fold(first, |small, part| match part.split_at_checked(2) {
            Some((digits, rest)) => format!("{small}%{}{rest}", digits.to_ascii_lowercase()),
            None => format!("{small}%{part}"),
        });
        [form, small]
    })
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

/// Every place where something stands, also where two overlap.
fn places<'t>(finder: &'t Finder<'static>, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(text.get(from..)?)?;
        from = at + 1;
        Some(at)
    })
}

#[cfg(test)]
mod tests;
