//! Asks the terminal whether its background is light, without waiting for the answer and without leaving a byte of it behind.
//!
//! The answer to the question for the colour (OSC 11) arrives as if it were typed: `alt-]`, some characters, and an end.
//! Nothing is drawn later for it: what it says is put on the screen when it is there.

use crate::app::{Key, Message};

/// What `COLORFGBG` says of the background: the last of its numbers is one of the sixteen colours.
pub(super) fn of_variable(value: &str) -> Option<bool> {
    let number: u8 = value.rsplit(';').next()?.parse().ok()?;
    (number < 16).then_some(matches!(number, 7 | 9..=15))
}

/// How an answer begins, after the keys that announce it.
const HEAD: &str = "11;rgb";

/// The longest answer, in characters.
const LONGEST: usize = 40;

/// Whether the colour in an answer is a light one; none where it names no colour.
fn of_answer(answer: &str) -> Option<bool> {
    let colours = answer.strip_prefix(HEAD)?.trim_start_matches('a').strip_prefix(':')?;
    let mut parts = colours.split('/').map(|part| {
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(part, 16).ok()?) / f64::from(most))
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

/// Asks the terminal; what comes is for an [`Answer`] that is awaited.
#[cfg(unix)]
pub(super) fn ask() -> std::io::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout();
    out.write_all(b"\x1b]11;?\x1b\\")?;
    out.flush()
}

#[cfg(not(unix))]
pub(super) fn ask() -> std::io::Result<()> {
    Ok(())
}

/// Takes the answer out of what is typed.
#[derive(Debug, Default)]
pub(super) struct Answer {
    is_awaited: bool,
    /// What has come of it.
    text: String,
    /// The keys that may be an answer: where they turn out to be none, they count as typed.
    keys: Vec<Message>,
}

impl Answer {
    pub(super) fn new(is_awaited: bool) -> Self {
        Self { is_awaited, ..Self::default() }
    }

    /// What a message comes to: itself, nothing as long as it may be part of an answer, or what the answer says.
    pub(super) fn pass(&mut self, message: Message) -> Vec<Message> {
        let Message::Typed { key, .. } = &message else { return vec![message] };
        match (key, self.keys.is_empty()) {
            (Key::Alt(']'), true) if self.is_awaited => self.keys.push(message),
            (_, true) => return vec![message],
            (Key::Alt('\\') | Key::Ctrl('g'), false) if self.text.starts_with(HEAD) => {
                let is_light = of_answer(&self.text);
                *self = Self::default();
                return is_light.map(|is_light| Message::Background { is_light }).into_iter().collect();
            }
            (Key::Char(c), false) if self.goes_on_with(*c) => {
                self.text.push(*c);
                self.keys.push(message);
            }
            (_, false) => {
                self.text.clear();
                self.keys.push(message);
                return std::mem::take(&mut self.keys);
            }
        }
        Vec::new()
    }

    fn goes_on_with(&self, c: char) -> bool {
        match HEAD.as_bytes().get(self.text.len()) {
            Some(expected) => char::from(*expected) == c,
            None => self.text.len() < LONGEST && (c.is_ascii_hexdigit() || matches!(c, ':' | '/')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_are_told_apart() {
        assert_eq!(
            (of_variable("15;0"), of_variable("0;15"), of_variable("0;default;7")),
            (Some(false), Some(true), Some(true))
        );
        assert_eq!((of_variable(""), of_variable("0;default")), (None, None));
        assert_eq!(of_answer("11;rgb:ffff/ffff/dddd"), Some(true));
        assert_eq!(of_answer("11;rgb:1c/1c/1c"), Some(false));
        assert_eq!(of_answer("11;rgba:0000/2b2b/3636/ffff"), Some(false));
        for odd in ["", "11;rgb:", "11;rgb://", "11;rgb:zz/1/1", "11;rgb:fffffffff/1/1", "11;rgb:1/1"] {
            assert_eq!(of_answer(odd), None, "{odd}");
        }
    }

    fn typed(answer: &mut Answer, keys: &[Key]) -> Vec<String> {
        let passed = keys.iter().flat_map(|key| answer.pass(Message::Typed { key: *key, frame: 0 }));
        let words = |message: Message| match message {
            Message::Typed { key, .. } => key.to_string(),
            other => format!("{other:?}"),
        };
        passed.map(words).collect()
    }

    fn keys(text: &str) -> Vec<Key> {
        text.chars().map(Key::Char).collect()
    }

    #[test]
    fn an_answer_is_no_typing_whenever_it_comes() {
        let mut answer = Answer::new(true);
        assert_eq!(typed(&mut answer, &keys("f")), ["f"]);
        let coming = [&[Key::Alt(']')][..], &keys("11;rgb:ffff/ffff/ffff")].concat();
        assert!(typed(&mut answer, &coming).is_empty());
        assert_eq!(typed(&mut answer, &[Key::Ctrl('g')]), ["Background { is_light: true }"]);
        assert_eq!(typed(&mut answer, &[Key::Char('f'), Key::Alt(']'), Key::Char('1')]).len(), 3);
    }

    #[test]
    fn keys_that_only_look_like_an_answer_are_typed() {
        let mut answer = Answer::new(true);
        assert_eq!(typed(&mut answer, &[&[Key::Alt(']')][..], &keys("11;x")].concat()).len(), 5);
        assert_eq!(typed(&mut answer, &[Key::Alt(']'), Key::Alt(']')]).len(), 2);
        let endless = [&[Key::Alt(']')][..], &keys(&format!("11;rgb:{}", "f".repeat(60)))].concat();
        assert_eq!(typed(&mut answer, &endless).len(), endless.len());
        let whole = [&[Key::Alt(']')][..], &keys("11;rgb:0/0/0"), &[Key::Alt('\\')]].concat();
        assert_eq!(typed(&mut answer, &whole), ["Background { is_light: false }"]);
    }
}
