//! The text field of forms, lists, filters and the start screen.

use crate::app::Key;
use crate::app::keys::BACKSPACE;
use std::fmt;

/// The maximum of typed text in bytes: a search runs after each key.
const MAX_TYPED_BYTES: usize = 4 << 10;

/// The maximum of pasted text in bytes: about a thousand hashes.
const MAX_PASTED_BYTES: usize = 64 << 10;

/// A line of typed text, edited at its end.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TextField {
    pub text: String,
    /// Whether the program suggested the text: a first letter replaces it, other keys edit it.
    pub is_suggested: bool,
}

/// Omits the text, which may be a password.
impl fmt::Debug for TextField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextField")
    }
}

impl From<String> for TextField {
    fn from(text: String) -> Self {
        Self { text, is_suggested: false }
    }
}

impl TextField {
    pub(crate) fn suggested(text: String) -> Self {
        Self { is_suggested: !text.is_empty(), text }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Edits the text; returns whether the key edits text.
    pub(crate) fn press(&mut self, key: Key) -> bool {
        self.change(key, MAX_TYPED_BYTES)
    }

    /// Inserts pasted text: controls become blanks, the final line break is dropped.
    pub(crate) fn paste(&mut self, text: &str) {
        for c in text.trim_end_matches(['\r', '\n']).chars() {
            self.change(Key::Char(if c.is_control() { ' ' } else { c }), MAX_PASTED_BYTES);
        }
    }

    fn change(&mut self, key: Key, most: usize) -> bool {
        if self.is_suggested && matches!(key, Key::Char(_)) {
            self.text.clear();
        }
        match key {
            Key::Char(c) if self.text.len() < most => self.text.push(c),
            Key::Char(_) => {}
            BACKSPACE => drop(self.text.pop()),
            Key::Ctrl('w') => self.take_word(),
            Key::Ctrl('u') => self.text.clear(),
            _ => return false,
        }
        self.is_suggested = false;
        true
    }

    fn take_word(&mut self) {
        let text = self.text.trim_end();
        let blank = text.char_indices().rfind(|(_, c)| c.is_whitespace());
        self.text.truncate(blank.map_or(0, |(at, blank)| at + blank.len_utf8()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_field_limits_length_and_deletes_words() {
        let mut field = TextField::suggested("a".to_owned());
        (0..=MAX_TYPED_BYTES).for_each(|_| assert!(field.press(Key::Char('b'))));
        assert_eq!(field.text, "b".repeat(MAX_TYPED_BYTES));
        field.paste("c\td e\n");
        assert!(field.text.ends_with("bc d e"));
        assert!(field.press(Key::Ctrl('w')) && field.press(BACKSPACE));
        assert!(field.text.ends_with("bc d") && !field.press(crate::app::keys::ENTER));
    }
}
