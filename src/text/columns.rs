//! How wide our own words are.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a text on a terminal.
pub(crate) trait Columns {
    /// Its width; most texts are ASCII, and as wide as they are long.
    fn columns(&self) -> usize;
}

/// Whether a character joins no other, be it before it or behind: letters of ASCII and Latin, punctuation, arrows, lines, blocks.
pub(crate) fn stands_alone(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{25ff}')
}

/// Whether a character that stands alone takes one column, as is seen at once: letters, and the signs that screens are made of.
pub(crate) fn is_single(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{ff}' | '…' | '\u{2500}'..='\u{259f}')
}

impl Columns for str {
    fn columns(&self) -> usize {
        if self.is_ascii() {
            return self.len();
        }
        let alone = |c: char| match c {
            c if is_single(c) => Some(1),
            c if stands_alone(c) => c.width(),
            _ => None,
        };
        self.chars().map(alone).sum::<Option<usize>>().unwrap_or_else(|| self.width())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_single_stands_alone_in_one_column() {
        for c in ('\0'..=char::MAX).filter(|c| is_single(*c)) {
            assert!(stands_alone(c) && c.width() == Some(1), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_as_wide_as_the_library_says(text in r"[ -~·…│─éà世👍\u{301}\u{fe0f}\u{200d}\u{231a}]{0,12}") {
            prop_assert_eq!(text.columns(), text.width());
        }
    }
}
