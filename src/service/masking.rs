//! Masks the key in whatever the service says, as its bytes come: nobody behind this has it, so nobody can keep, show or write it.
//!
//! An occurrence is the key as it is, as it stands in an address, in small letters or in capitals, each character as itself or as JSON
//! may escape it. Its bytes become asterisks one by one, so that every place stays where it is, and JSON stays JSON.

use super::credential::{Credential, SHORTEST_KEY};
use crate::order;
use crate::request::encode;
use memchr::memmem::Finder;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use std::borrow::Cow;
use std::ops::Range;

/// Characters of a key that stand at the end of what broke off, from which on they are left out: fewer tell next to nothing of
/// it, and end many a text that has nothing to do with it.
const TELLING: usize = 4;

/// Longest spelling of a character: `\u0041`.
const LONGEST_ESCAPE: usize = 6;

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

/// What a text is to a key.
#[derive(PartialEq, Eq)]
enum Spelled {
    /// It begins with the key, in so many bytes.
    Whole(usize),
    /// More of it may make it the key, of which so many characters are there.
    Begun(usize),
    Not,
}

/// What stands behind a backslash.
enum Escape {
    /// This character, in so many bytes with the backslash.
    Of(u8, usize),
    /// More of it says what.
    Cut,
    /// Nothing that a key has.
    Other,
}

impl Masking {
    /// What hides this key.
    pub(super) fn of(key: &str) -> Self {
        if key.len() < SHORTEST_KEY {
            return Self::default();
        }
        let as_is = std::iter::once(key.to_owned());
        let forms = as_is.chain(in_addresses(key)).flat_map(|form| {
            let (small, capital) = (form.to_ascii_lowercase(), form.to_ascii_uppercase());
            [form, small, capital]
        });
        let mut forms: Vec<_> = forms.collect();
        order::sort(&mut forms);
        forms.dedup();
        let own = |text: &str| Finder::new(text).into_owned();
        let escapes = [("u00", true), ("/", key.contains('/')), ("\\", key.contains('\\')), ("\"", key.contains('"'))];
        let escapes = escapes.iter().filter(|(_, is_there)| *is_there).map(|(mark, _)| own(&format!("\\{mark}")));
        // What the key begins or ends with could make the key once more. A number stays one.
        let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
        let masks = if is_number { &b"987"[..] } else { b"*#-" };
        let ends = [key.as_bytes().first(), key.as_bytes().last()];
        let mask = masks.iter().find(|mask| !ends.contains(&Some(mask))).unwrap_or(&b'*');
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

/// Whether a text begins with the key, each character as itself or escaped.
fn spelled(text: &[u8], key: &[u8]) -> Spelled {
    let mut rest = text;
    for (come, wanted) in key.iter().enumerate() {
        let length = match rest {
            [] => return Spelled::Begun(come),
            [b'\\', ..] => match escape(rest) {
                Escape::Of(found, length) if found == *wanted => length,
                Escape::Cut => return Spelled::Begun(come),
                _ if *wanted == b'\\' => 1,
                _ => return Spelled::Not,
            },
            [found, ..] if found == wanted => 1,
            _ => return Spelled::Not,
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Spelled::Whole(text.len() - rest.len())
}

/// The character that a text spells which begins with a backslash.
fn escape(text: &[u8]) -> Escape {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match text {
        [_] => Escape::Cut,
        [_, byte @ (b'"' | b'\\' | b'/'), ..] => Escape::Of(*byte, 2),
        [_, b'u', b'0', b'0', high, low, ..] => match (digit(*high), digit(*low)) {
            (Some(high), Some(low)) => Escape::Of(high << 4 | low, LONGEST_ESCAPE),
            _ => Escape::Other,
        },
        [_, b'u', digits @ ..] if digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit) => Escape::Cut,
        _ => Escape::Other,
    }
}

/// Where the escape begins in whose middle a byte is, if so.
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
    (1..LONGEST_ESCAPE).filter_map(|back| at.checked_sub(back)).find(goes_on)
}

/// Where an escape ends in whose middle a byte is; the byte itself if it is in none. What follows a backslash must stay, or what
/// was JSON is none any more.
fn escape_end(text: &[u8], at: usize) -> usize {
    let Some(begin) = escape_around(text, at) else { return at };
    match text.get(begin + 1..).unwrap_or_default() {
        [b'u', rest @ ..] => begin + 2 + rest.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count(),
        _ => begin + 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keys with everything that one can have, and one that goes on with itself.
    const KEYS: [&str; 6] = [
        "c0ffee11C0FFEE22",
        "abababababababab",
        "u00e9nabcu00e9nabc",
        "q3Zk9/Tb+Wm2Lr==",
        r#"a\"u0041\\b/a\"u0041"#,
        "****************",
    ];

    /// A body that came in these pieces.
    fn masked<'a>(masking: &Masking, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut masked = masking.begin();
        let mut bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| masked.take(piece).into_owned()).collect();
        bytes.extend(masked.end(true).0);
        bytes
    }

    /// The pieces of a body that is cut at these places.
    fn cut<'a>(body: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut % (body.len() + 1)).chain([0, body.len()]).collect();
        ends.sort_unstable();
        ends.windows(2).map(|ends| &body[ends[0]..ends[1]]).collect()
    }

    /// Every spelling of a character by itself.
    fn spellings(byte: u8) -> Vec<String> {
        let mut forms = vec![char::from(byte).to_string(), format!("\\u{byte:04x}"), format!("\\u{byte:04X}")];
        forms.extend(b"\"\\/".contains(&byte).then(|| format!("\\{}", char::from(byte))));
        forms
    }

    /// Where a key ends that begins here in any spelling: all ways are tried.
    fn ends(text: &[u8], at: usize, key: &[u8]) -> Vec<usize> {
        let [first, rest @ ..] = key else { return vec![at] };
        let ways = spellings(*first).into_iter().filter(|form| text[at..].starts_with(form.as_bytes()));
        ways.flat_map(|form| ends(text, at + form.len(), rest)).collect()
    }

    fn forms(key: &str) -> [String; 3] {
        [key.to_owned(), key.to_ascii_lowercase(), key.to_ascii_uppercase()]
    }

    /// The key, each character in one of its spellings.
    fn spelling(key: &'static str) -> impl Strategy<Value = String> {
        (0..3_usize, proptest::collection::vec(0..8_usize, key.len())).prop_map(move |(form, ways)| {
            let form = &forms(key)[form];
            let spelled = form.bytes().zip(ways).map(|(byte, way)| {
                let mut found = spellings(byte);
                // Most are themselves.
                found.get_mut(way).map(std::mem::take).unwrap_or(char::from(byte).to_string())
            });
            spelled.collect()
        })
    }

    /// The key among bytes that look like it.
    fn body(key: &'static str) -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            spelling(key).prop_map(String::into_bytes),
            (spelling(key), 0..40_usize).prop_map(|(text, to)| text.as_bytes()[..to.min(text.len())].to_vec()),
            proptest::sample::select(vec!["\\", "\\\\", "\\u", "\\u00", "\\u0", "\\n", "\\u00e", "\"", "ab", "*", "é"])
                .prop_map(|text| text.as_bytes().to_vec()),
            proptest::collection::vec(any::<u8>(), 0..4),
        ];
        proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    fn key_and_body() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
        proptest::sample::select(KEYS.to_vec()).prop_flat_map(|key| (Just(key), body(key)))
    }

    #[test]
    fn a_number_stays_a_number() {
        let of = |key: &str, body: &str| String::from_utf8(masked(&Masking::of(key), [body.as_bytes()])).unwrap();
        assert_eq!(of("1234567890123456", r#"{"id":1234567890123456}"#), r#"{"id":9999999999999999}"#);
        assert_eq!(of("9999999999999998", "9999999999999998"), "7".repeat(16));
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter((key, body) in key_and_body(), cuts in proptest::collection::vec(any::<usize>(), 0..12)) {
            let masking = Masking::of(key);
            let whole = masked(&masking, [&body[..]]);
            prop_assert_eq!(masked(&masking, cut(&body, &cuts)), &whole[..]);
            prop_assert_eq!(masked(&masking, body.chunks(1)), whole);
        }

        #[test]
        fn the_key_is_gone_and_all_else_is_there((key, body) in key_and_body()) {
            let found = masked(&Masking::of(key), [&body[..]]);
            prop_assert_eq!(found.len(), body.len());
            let mut is_key = vec![false; body.len()];
            for (form, at) in forms(key).iter().flat_map(|form| (0..body.len()).map(move |at| (form, at))) {
                prop_assert!(memchr::memmem::find(&found, form.as_bytes()).is_none());
                // A key with a backslash in it can be read in several ways.
                prop_assert!(key.contains('\\') || ends(&found, at, form.as_bytes()).is_empty());
                for end in ends(&body, at, form.as_bytes()) {
                    is_key[at..end].fill(true);
                }
            }
            for (at, (now, before)) in found.iter().zip(&body).enumerate() {
                prop_assert!(is_key[at] || now == before, "{at}");
            }
        }

        #[test]
        fn json_stays_json(
            (key, words) in proptest::sample::select(KEYS.to_vec()).prop_flat_map(|key| {
                let escape = proptest::sample::select(vec!["", "\\\\", "\\n", "\\u00e9", "\\\"", "\\u", "\\", "x"]);
                (Just(key), proptest::collection::vec((escape, spelling(key)), 1..4))
            }),
        ) {
            let words: String = words.iter().map(|(escape, spelled)| format!("{escape}{spelled}")).collect();
            let body = format!(r#"{{"w":"{words}"}}"#);
            let found = masked(&Masking::of(key), [body.as_bytes()]);
            let is_json = |bytes: &[u8]| serde_json::from_slice::<&serde_json::value::RawValue>(bytes).is_ok();
            prop_assert!(!is_json(body.as_bytes()) || is_json(&found), "{} {}", body, String::from_utf8_lossy(&found));
        }
    }

    #[test]
    fn what_holds_no_key_goes_on_uncopied() {
        let masking = Masking::of("c0ffee11C0FFEE22");
        let mut masked = masking.begin();
        assert!(matches!(masked.take(br"C:\\x \u0000 c0ffee1?"), Cow::Borrowed(_)));
        assert_eq!(masked.take(b"{} c0ff"), &b"{} "[..]);
        assert_eq!(masked.take(b"ee11C0FFEE22 z"), &b"**************** z"[..]);
        assert!(masked.end(true).0.is_empty());
    }

    #[test]
    fn the_beginning_of_a_key_is_left_out_where_what_came_broke_off() {
        let masking = Masking::of("c0ffee11C0FFEE22");
        let end = |body: &str, is_end: bool| {
            let mut masked = masking.begin();
            let come = masked.take(body.as_bytes()).into_owned();
            String::from_utf8([come, masked.end(is_end).0].concat()).unwrap()
        };
        for (body, broken) in [
            (r#"{"a":"c0f"#, r#"{"a":"c0f"#),
            (r#"{"a":"c0ff"#, r#"{"a":""#),
            (r#"{"a":"xc0ffc0ffee11c0"#, r#"{"a":"xc0ff"#),
            (r#"{"a":"c0ffee11C0FFEE2"#, r#"{"a":""#),
            (r#"{"a":"c0f\u0066e\u00"#, r#"{"a":""#),
            (r#"{"a":"\u0063\u0030f"#, r#"{"a":"\u0063\u0030f"#),
            (r#"{"a":"c0ff"}"#, r#"{"a":"c0ff"}"#),
        ] {
            assert_eq!(end(body, false), broken);
            assert_eq!(end(body, true), body);
        }
    }

    #[test]
    fn a_word_is_no_key() {
        assert_eq!(masked(&Masking::of("any"), [&b"any company"[..]]), b"any company");
        assert_eq!(masked(&Masking::default(), [&b"any company"[..]]), b"any company");
    }
}
