//! Rewrites JSON of any kind into JSON that every strict reader takes.

use crate::report::json::{Event, Raw, Scanner, is_delimiter};
use crate::text::Untrusted;

/// How strings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    /// As they are, but in their visible form where they are not Unicode.
    Plain,
    /// All in their visible form, from which their bytes can be read back.
    Visible,
}

/// Rewrites a value as one line; the flag says that one string is not Unicode, so that all are in their visible form.
pub fn rewritten(value: &[u8]) -> (Vec<u8>, bool) {
    let (plain, is_foreign) = rewrite(b"", value, Strings::Plain);
    if is_foreign { (rewrite(b"", value, Strings::Visible).0, true) } else { (plain, false) }
}

/// Rewrites a value, and says whether one of its strings is not Unicode. `opening` is the bracket of a container whose inside follows.
///
/// [`Scanner`] continues where a strict reader stops. The result has brackets that match, a value for each
/// name, numbers that are numbers, strings without controls. Only the first value counts.
pub(super) fn rewrite(opening: &[u8], value: &[u8], strings: Strings) -> (Vec<u8>, bool) {
    let mut rewriter =
        Rewriter { out: Vec::with_capacity(value.len()), strings, open: Vec::new(), is_done: false, is_foreign: false };
    let mut scanner = Scanner::default();
    for bytes in [opening, value] {
        let start = scanner.position();
        scanner.feed(bytes, &mut |at, event| {
            let at = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
            rewriter.on_event(bytes.get(at..).unwrap_or_default(), event);
        });
    }
    rewriter.finish();
    (rewriter.out, rewriter.is_foreign)
}

struct Rewriter {
    out: Vec<u8>,
    strings: Strings,
    open: Vec<Container>,
    is_done: bool,
    is_foreign: bool,
}

/// An object or array whose closing bracket is still to come.
struct Container {
    is_object: bool,
    is_filled: bool,
    /// The literal of a name that has no value yet.
    name: Option<String>,
}

impl Rewriter {
    fn on_event(&mut self, rest: &[u8], event: Event<'_>) {
        match event {
            _ if self.is_done => {}
            // A scanner cuts long names: the bytes have the whole one.
            Event::Name(_) => {
                let name = self.literal(&Raw::new(rest).text());
                self.end_name();
                self.open.last_mut().into_iter().for_each(|open| open.name = Some(name.clone()));
            }
            Event::Open { object } => {
                self.begin_value();
                self.out.push(if object { b'{' } else { b'[' });
                self.open.push(Container { is_object: object, is_filled: false, name: None });
            }
            Event::Close => self.close(),
            Event::Text => {
                let literal = self.literal(&Raw::new(rest).text());
                self.write_value(literal.as_bytes());
            }
            Event::Word { .. } => self.write_word(rest.split(|byte| is_delimiter(*byte)).next().unwrap_or_default()),
        }
    }

    /// Writes a number or a constant; any other word, and a number beyond the range of a double, becomes a string.
    fn write_word(&mut self, word: &[u8]) {
        if serde_json::from_slice::<serde_json::Value>(word).is_ok() {
            return self.write_value(word);
        }
        let literal = self.literal(&Untrusted::from(word));
        self.write_value(literal.as_bytes());
    }

    fn write_value(&mut self, bytes: &[u8]) {
        self.begin_value();
        self.out.extend_from_slice(bytes);
        self.is_done = self.open.is_empty();
    }

    /// Writes null for a name without a value.
    fn end_name(&mut self) {
        if self.open.last().is_some_and(|open| open.name.is_some()) {
            self.write_value(b"null");
        }
    }

    /// Writes the comma and the name that precede a value.
    fn begin_value(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        if std::mem::replace(&mut open.is_filled, true) {
            self.out.push(b',');
        }
        if open.is_object {
            let name = open.name.take().unwrap_or_else(|| "\"\"".to_owned());
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(b':');
        }
    }

    fn close(&mut self) {
        self.end_name();
        if let Some(closed) = self.open.pop() {
            self.out.push(if closed.is_object { b'}' } else { b']' });
            self.is_done = self.open.is_empty();
        }
    }

    fn literal(&mut self, text: &Untrusted) -> String {
        let plain = if self.strings == Strings::Plain { text.json() } else { None };
        self.is_foreign |= plain.is_none();
        plain.unwrap_or_else(|| text.visible().json())
    }

    /// Closes every open container; no value at all becomes null.
    fn finish(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
        if !self.is_done {
            self.write_value(b"null");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
