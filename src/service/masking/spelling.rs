//! How a text spells a key: each character as itself, or as JSON may escape it.

/// Longest spelling of a character: `\u0041`.
pub(super) const LONGEST_ESCAPE: usize = 6;

/// What a text is to a key.
#[derive(PartialEq, Eq)]
pub(super) enum Spelled {
    /// It begins with the key, in so many bytes.
    Whole(usize),
    /// More of it may make it the key, of which so many characters are there.
    Begun(usize),
    Not,
}

/// What stands behind a backslash.
pub(super) enum Escape {
    /// This character, in so many bytes with the backslash.
    Of(u8, usize),
    /// More of it says what.
    Cut,
    /// Nothing that a key has.
    Other,
}

/// Whether a text begins with the key, each character as itself or escaped.
pub(super) fn spelled(text: &[u8], key: &[u8]) -> Spelled {
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
pub(super) fn escape(text: &[u8]) -> Escape {
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
