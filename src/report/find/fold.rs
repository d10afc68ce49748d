//! Letters without their case: what a search that ignores case compares.

use crate::order;
use std::sync::LazyLock;

/// Every character beyond ASCII that has a case, after what it is without: sorted, so that the cases of a letter stand together.
static CASED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let all = ('\u{80}'..LAST_WITH_CASE).map(|c| (without_case(c), c));
    let mut cased: Vec<_> = all.filter(|(folded, c)| folded != c).collect();
    order::sort(&mut cased);
    cased
});

/// The letters of most alphabets without their case, from the first beyond ASCII.
static NEAR: LazyLock<Vec<char>> = LazyLock::new(|| ('\u{80}'..'\u{800}').map(without_case).collect());

/// A character without its case, where that is one character; a dotless i stays what it is.
pub(super) fn fold(c: char) -> char {
    match u32::from(c).checked_sub(0x80) {
        None => c.to_ascii_lowercase(),
        Some(at) => usize::try_from(at).ok().and_then(|at| NEAR.get(at).copied()).unwrap_or_else(|| without_case(c)),
    }
}

fn without_case(c: char) -> char {
    if c == 'ı' {
        return c;
    }
    single(single(c, c.to_uppercase()), single(c, c.to_uppercase()).to_lowercase())
}

fn single(otherwise: char, mut found: impl Iterator<Item = char>) -> char {
    match (found.next(), found.next()) {
        (Some(one), None) => one,
        _ => otherwise,
    }
}

/// Appends text without its case; bytes that are no text stay as they are.
pub(super) fn fold_into(text: &[u8], folded: &mut Vec<u8>) {
    if text.is_ascii() {
        folded.extend(text.iter().map(u8::to_ascii_lowercase));
        return;
    }
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            folded.extend_from_slice(fold(c).encode_utf8(&mut [0; 4]).as_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
}

/// Every character that is this one without its case.
pub(super) fn variants(folded: char) -> Vec<char> {
    let mut found = vec![folded];
    found.extend(Some(folded.to_ascii_uppercase()).filter(|upper| *upper != folded));
    let first = CASED.partition_point(|(known, _)| *known < folded);
    let cases = CASED.iter().skip(first).take_while(|(known, _)| *known == folded);
    found.extend(cases.map(|(_, other)| *other));
    found
}

/// No character from here on has a case.
const LAST_WITH_CASE: char = '\u{1f000}';

#[cfg(test)]
mod tests {
    use super::*;

    /// Kelvin sign and long s: the only characters beyond ASCII that are an ASCII letter in another case.
    const ASCII_IN_DISGUISE: [(char, char); 2] = [('k', '\u{212a}'), ('s', '\u{17f}')];

    #[test]
    fn nothing_but_the_disguised_folds_to_ascii_and_nothing_late_has_a_case() {
        for c in '\u{80}'..=char::MAX {
            let folded = fold(c);
            assert_eq!(folded.is_ascii(), ASCII_IN_DISGUISE.contains(&(folded, c)), "{c:?}");
            assert!(c < LAST_WITH_CASE || folded == c, "{c:?}");
            assert!(variants(folded).contains(&c), "{c:?}");
        }
    }

    #[test]
    fn letters_fold_to_one_of_their_cases() {
        assert_eq!((fold('Σ'), fold('ς'), fold('É'), fold('Я')), ('σ', 'σ', 'é', 'я'));
        assert_eq!(variants('σ'), ['σ', 'Σ', 'ς']);
        assert_eq!(variants('k'), ['k', 'K', '\u{212a}']);
        assert_eq!(variants('中'), ['中']);
    }
}
