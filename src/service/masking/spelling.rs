//! How a text spells a key: each character in either case, as itself, as JSON may escape it, or percent-escaped.

/// Longest JSON escape of a character: `\u0041`.
const LONGEST_ESCAPE: usize = 6;

/// Longest spelling of a character: percent-escaped, with `%` and both digits escaped by JSON.
pub(super) const LONGEST: usize = 3 * LONGEST_ESCAPE;

/// What the beginning of a text is to a key.
#[derive(Default)]
pub(super) struct Spelled {
    /// Bytes of the longest spelling of the whole key.
    pub(super) whole: Option<usize>,
    /// Characters of the key at which the text ends, where more of it may make it the key.
    pub(super) begun: Option<usize>,
}

/// What a character may be read as.
#[derive(Clone, Copy)]
enum Way {
    /// This byte, in so many bytes.
    Of(u8, usize),
    /// The text ends in the middle of it.
    Cut,
    /// Nothing that a key has.
    Other,
}

/// What the beginning of a text is to the key. All ways to read it are followed: a key may hold `\` and `%` itself.
pub(super) fn spelled(text: &[u8], key: &[u8]) -> Spelled {
    let (mut ends, mut begun) = (vec![0], None);
    for (come, wanted) in key.iter().enumerate() {
        let mut next = Vec::new();
        for end in ends {
            let rest = text.get(end..).unwrap_or_default();
            for way in [literal(rest), escape(rest), percent(rest)] {
                match way {
                    Way::Of(byte, length) if byte.eq_ignore_ascii_case(wanted) && !next.contains(&(end + length)) => {
                        next.push(end + length);
                    }
                    Way::Cut => begun = Some(come),
                    Way::Of(..) | Way::Other => {}
                }
            }
        }
        if next.is_empty() {
            return Spelled { whole: None, begun };
        }
        ends = next;
    }
    Spelled { whole: ends.into_iter().max(), begun }
}

/// A character as itself.
fn literal(text: &[u8]) -> Way {
    text.first().map_or(Way::Cut, |byte| Way::Of(*byte, 1))
}

/// A character as JSON escapes it.
fn escape(text: &[u8]) -> Way {
    match text {
        [b'\\'] => Way::Cut,
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => Way::Of(*byte, 2),
        [b'\\', b'u', b'0', b'0', high, low, ..] => match digit(*high).zip(digit(*low)) {
            Some((high, low)) => Way::Of(high << 4 | low, LONGEST_ESCAPE),
            None => Way::Other,
        },
        [b'\\', b'u', digits @ ..] if digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit) => Way::Cut,
        _ => Way::Other,
    }
}

/// A percent-escaped character; JSON may have escaped the sign and the digits.
fn percent(text: &[u8]) -> Way {
    let (mut found, mut length) = (0, 0);
    for is_sign in [true, false, false] {
        let rest = text.get(length..).unwrap_or_default();
        let way = match escape(rest) {
            Way::Other => literal(rest),
            escaped => escaped,
        };
        let Way::Of(byte, more) = way else { return way };
        match digit(byte) {
            _ if is_sign && byte == b'%' => {}
            Some(digit) if !is_sign => found = found << 4 | digit,
            _ => return Way::Other,
        }
        length += more;
    }
    Way::Of(found, length)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Where the escape begins in whose middle a byte is, if so.
pub(super) fn escape_around(text: &[u8], at: usize) -> Option<usize> {
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
pub(super) fn escape_end(text: &[u8], at: usize) -> usize {
    let Some(begin) = escape_around(text, at) else { return at };
    match text.get(begin + 1..).unwrap_or_default() {
        [b'u', rest @ ..] => begin + 2 + rest.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count(),
        _ => begin + 2,
    }
}
