//! What the terminal can show: every character, or ASCII alone. Decided once, before anything is shown.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::escape::Charset;

static IS_ASCII: AtomicBool = AtomicBool::new(false);

/// Our own signs, and what stands for each in ASCII, in as many columns.
const SIGNS: &[(&str, &str)] = &[
    ("─━┄═", "-"),
    ("│┃║", "|"),
    ("┌┐└┘├┤┬┴┼┏┓┗┛┣┫╭╮╰╯╔╗╚╝", "+"),
    ("…›▸▶→", ">"),
    ("‹◀←", "<"),
    ("▾▼↓", "v"),
    ("▹▿", ":"),
    ("▲↑", "^"),
    ("●•", "*"),
    ("○", "o"),
    ("◌", "~"),
    ("◷", "@"),
    ("·–—", "-"),
    ("█▇▆▅▄", "#"),
    ("▃▂▁", "_"),
    ("▏▎▌▐▕", "|"),
    ("░▒▓", "."),
    ("×", "x"),
    ("≤", "<"),
    ("≥", ">"),
    ("≠", "!"),
    ("✎", "&"),
];

/// Shows ASCII alone from now on: own signs get their stand-ins, everything else from outside is escaped.
pub fn show_ascii_alone() {
    IS_ASCII.store(true, Ordering::Relaxed);
}

/// Whether ASCII alone is shown.
pub fn is_ascii() -> bool {
    IS_ASCII.load(Ordering::Relaxed)
}

/// What is shown now.
pub(super) fn current() -> Charset {
    if is_ascii() { Charset::Ascii } else { Charset::Unicode }
}

/// Our own words as the terminal can show them, as wide as they were.
pub fn own(text: &str) -> Cow<'_, str> {
    if current() == Charset::Unicode || text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(in_ascii(text)) }
}

fn in_ascii(text: &str) -> String {
    let stand_in = |c: char| SIGNS.iter().find(|(signs, _)| signs.contains(c)).map_or("?", |(_, ascii)| ascii);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() { shown.push(c) } else { shown.push_str(stand_in(c)) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_sign_has_a_stand_in_of_its_width() {
        for (signs, ascii) in SIGNS {
            for sign in signs.chars().map(String::from) {
                assert_eq!(in_ascii(&sign), *ascii);
                assert_eq!((sign.width(), ascii.width()), (1, 1), "{sign}");
            }
        }
        assert_eq!(in_ascii("┌─ 3 · 4 … é"), "+- 3 - 4 > ?");
    }
}
