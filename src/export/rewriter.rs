//! JSON that any strict reader takes, whatever it is made of: rewritten as it streams by.

use crate::report::json::is_delimiter;
use crate::text::Untrusted;
use std::io::{self, Write};

/// How strings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    /// As they are; those that are no Unicode in their visible form.
    Plain,
    /// All in their visible form, from which their bytes can be read back.
    Visible,
}

/// A value as one line of JSON, and whether its strings stand in their visible form because one of them is no Unicode.
pub fn rewritten(value: &[u8]) -> (Vec<u8>, bool) {
    let (plain, is_foreign) = rewrite(value, Strings::Plain);
    if is_foreign { (rewrite(value, Strings::Visible).0, true) } else { (plain, false) }
}

/// A value, and whether a string of it is no Unicode.
pub(super) fn rewrite(value: &[u8], strings: Strings) -> (Vec<u8>, bool) {
    let mut rewriter = Rewriter::new(Vec::with_capacity(value.len()), strings);
    // Writing to memory does not fail.
    let _ = rewriter.feed(value).and_then(|()| rewriter.finish());
    (rewriter.out, rewriter.is_foreign)
}

/// Reads JSON as [`crate::report::json`] does, which goes on where a strict reader gives up, and writes what a strict one takes:
/// brackets that match, a value for each name, numbers that are numbers, strings without controls. Only the first value counts.
pub(super) struct Rewriter<W> {
    out: W,
    strings: Strings,
    open: Vec<Open>,
    state: State,
    /// Bytes of the string or word that is being read.
    token: Vec<u8>,
    at: u64,
    is_done: bool,
    /// Whether a string was found that is no Unicode.
    is_foreign: bool,
}

#[derive(Debug, Default)]
struct Open {
    object: bool,
    is_filled: bool,
    expects_name: bool,
    /// A name whose value has not come yet, as a literal.
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Text { is_escaped: bool },
    Word,
}

impl<W: Write> Rewriter<W> {
    pub(super) fn new(out: W, strings: Strings) -> Self {
        let (open, token) = (Vec::new(), Vec::new());
        Self { out, strings, open, state: State::Between, token, at: 0, is_done: false, is_foreign: false }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            self.byte(*byte)?;
            self.at += 1;
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        match self.state {
            _ if self.is_done => Ok(()),
            State::Text { is_escaped: false } if byte == b'"' => self.end_text(),
            State::Text { is_escaped } => {
                self.token.push(byte);
                self.state = State::Text { is_escaped: !is_escaped && byte == b'\\' };
                Ok(())
            }
            State::Word if !is_delimiter(byte) => {
                self.token.push(byte);
                Ok(())
            }
            State::Word => {
                self.end_word()?;
                self.between(byte)
            }
            State::Between => self.between(byte),
        }
    }

    fn between(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            _ if self.is_done => Ok(()),
            b'{' | b'[' => self.opens(byte),
            b'}' | b']' => self.closes(),
            b',' => {
                if let Some(open) = self.open.last_mut() {
                    open.expects_name = open.object;
                }
                Ok(())
            }
            b'"' => {
                self.state = State::Text { is_escaped: false };
                Ok(())
            }
            b' ' | b'\n' | b'\r' | b'\t' | b':' => Ok(()),
            // A byte order mark before the first value is no value.
            0xef | 0xbb | 0xbf if self.at < 3 && self.open.is_empty() => Ok(()),
            other => {
                self.token.push(other);
                self.state = State::Word;
                Ok(())
            }
        }
    }

    fn opens(&mut self, byte: u8) -> io::Result<()> {
        self.begin_value()?;
        self.out.write_all(&[byte])?;
        let object = byte == b'{';
        self.open.push(Open { object, expects_name: object, ..Open::default() });
        Ok(())
    }

    fn closes(&mut self) -> io::Result<()> {
        self.end_name()?;
        if let Some(closed) = self.open.pop() {
            self.out.write_all(if closed.object { b"}" } else { b"]" })?;
            self.end_value();
        }
        Ok(())
    }

    fn end_text(&mut self) -> io::Result<()> {
        self.state = State::Between;
        let literal = self.literal();
        if self.open.last().is_some_and(|open| open.object && open.expects_name) {
            self.end_name()?;
            if let Some(open) = self.open.last_mut() {
                open.name = Some(literal);
                open.expects_name = false;
            }
            return Ok(());
        }
        self.value(literal.as_bytes())
    }

    fn end_word(&mut self) -> io::Result<()> {
        self.state = State::Between;
        if is_word(&self.token) {
            let word = std::mem::take(&mut self.token);
            return self.value(&word);
        }
        let text = Untrusted::from(std::mem::take(&mut self.token));
        let literal = self.written(&text);
        self.value(literal.as_bytes())
    }

    fn value(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.begin_value()?;
        self.out.write_all(bytes)?;
        self.end_value();
        Ok(())
    }

    /// A name whose value never came stands for nothing.
    fn end_name(&mut self) -> io::Result<()> {
        if self.open.last().is_some_and(|open| open.name.is_some()) { self.value(b"null") } else { Ok(()) }
    }

    /// What stands before a value: a comma, a name.
    fn begin_value(&mut self) -> io::Result<()> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if std::mem::replace(&mut open.is_filled, true) {
            self.out.write_all(b",")?;
        }
        if open.object {
            open.expects_name = false;
            let name = open.name.take().unwrap_or_else(|| "\"\"".to_owned());
            self.out.write_all(name.as_bytes())?;
            self.out.write_all(b":")?;
        }
        Ok(())
    }

    fn end_value(&mut self) {
        self.is_done = self.open.is_empty();
    }

    /// The string that was read, as a literal.
    fn literal(&mut self) -> String {
        let text = Untrusted::from_json(&self.token);
        self.token.clear();
        self.written(&text)
    }

    fn written(&mut self, text: &Untrusted) -> String {
        let plain = if self.strings == Strings::Plain { text.json() } else { None };
        self.is_foreign |= plain.is_none();
        plain.unwrap_or_else(|| text.visible().json())
    }

    /// Ends whatever is open; nothing at all becomes null.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self.state {
            State::Text { .. } if !self.is_done => self.end_text()?,
            State::Word if !self.is_done => self.end_word()?,
            _ => {}
        }
        while !self.open.is_empty() {
            self.closes()?;
        }
        if !self.is_done { self.value(b"null") } else { Ok(()) }
    }
}

/// Whether bytes are `true`, `false`, `null`, or a number by the letter of RFC 8259 that readers can hold: beyond the range of a
/// double many refuse the whole document.
fn is_word(bytes: &[u8]) -> bool {
    let is_finite = || std::str::from_utf8(bytes).is_ok_and(|text| text.parse().is_ok_and(f64::is_finite));
    matches!(bytes, b"true" | b"false" | b"null") || is_number(bytes) && is_finite()
}

fn is_number(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (whole, rest) = bytes.split_at_checked(digits(bytes)).unwrap_or_default();
    if whole.is_empty() || whole.len() > 1 && whole.starts_with(b"0") {
        return false;
    }
    let rest = match rest.strip_prefix(b".") {
        Some(fraction) if digits(fraction) > 0 => fraction.get(digits(fraction)..).unwrap_or_default(),
        Some(_) => return false,
        None => rest,
    };
    match rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        Some(power) => {
            let power = power.strip_prefix(b"+").or_else(|| power.strip_prefix(b"-")).unwrap_or(power);
            !power.is_empty() && digits(power) == power.len()
        }
        None => rest.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::json::Raw;
    use crate::report::rows::records::{leaves, pointer};
    use proptest::prelude::*;

    fn text(value: &[u8]) -> String {
        String::from_utf8(rewritten(value).0).unwrap()
    }

    #[test]
    fn what_a_strict_reader_refuses_is_mended() {
        for (odd, mended) in [
            (&b"{\"a\":1}"[..], r#"{"a":1}"#),
            (b" [1, 2 ,\n3]", "[1,2,3]"),
            (br#"{"a":,"b":2}"#, r#"{"a":null,"b":2}"#),
            (br#"{1,"b":2}"#, r#"{"":1,"b":2}"#),
            (br#"[1 2 NaN 01 -0.5e+3 .5]"#, r#"[1,2,"NaN","01",-0.5e+3,".5"]"#),
            (br#"{"a":[1,{"b":"x"#, r#"{"a":[1,{"b":"x"}]}"#),
            (b"[1e999,-1E400,1e-999]", r#"["1e999","-1E400",1e-999]"#),
            (br#"[1}]"#, "[1]"),
            (b"\xef\xbb\xbf{}{}", "{}"),
            (b"", "null"),
            (b"\"\x1b[2J\x7f\"", r#""\u001b[2J\u007f""#),
            ("\"a\u{202e}b\u{1f600}\u{e0041}\"".as_bytes(), "\"a\\u202eb\u{1f600}\\udb40\\udc41\""),
            (br#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
            (br#""C:\\x41\\n""#, r#""C:\\x41\\n""#),
        ] {
            assert_eq!(text(odd), mended);
        }
    }

    #[test]
    fn strings_that_are_no_unicode_make_all_of_the_row_visible() {
        let (row, is_visible) = rewritten(br#"["\ud800","C:\\x1b","plain"]"#);
        assert!(is_visible);
        assert_eq!(String::from_utf8(row).unwrap(), r#"["\\u{d800}","C:\\x5cx1b","plain"]"#);
        assert!(!rewritten(br#"["C:\\x41"]"#).1);
    }

    fn leaf_texts(bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        leaves(bytes, &mut |way, raw| {
            found.push(format!("{} {}", pointer(way.iter().skip(1)).visible(), raw.text().visible()));
        });
        found
    }

    proptest! {
        #[test]
        fn whatever_comes_in_a_strict_reader_takes_what_comes_out(bytes in prop::collection::vec(prop_oneof![
            Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), Just(b'"'), Just(b'\\'), Just(b','), Just(b':'), Just(b'1'),
            Just(b'u'), Just(b'd'), Just(b'8'), Just(b'0'), Just(b'e'), Just(b'-'), any::<u8>()], 0..60)) {
            let (row, _) = rewritten(&bytes);
            let strict: Result<serde_json::Value, _> = serde_json::from_slice(&row);
            prop_assert!(strict.is_ok(), "{:?}", String::from_utf8_lossy(&row));
            let text = String::from_utf8(row).unwrap();
            prop_assert!(!text.chars().any(char::is_control));
        }

        #[test]
        fn no_leaf_is_lost(value in crate::report::json::tests::any_json()) {
            let bytes = serde_json::to_vec(&value).unwrap();
            prop_assert_eq!(Raw::new(&bytes).bytes(), &bytes[..]);
            let (row, is_visible) = rewritten(&bytes);
            prop_assert!(!is_visible);
            prop_assert_eq!(&serde_json::from_slice::<serde_json::Value>(&row).unwrap(), &value);
            prop_assert_eq!(leaf_texts(&row), leaf_texts(&bytes));
        }
    }
}
