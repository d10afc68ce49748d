//! String literals as a service writes them, and as it should not.

use behaview::text::{Untrusted, escaped_json, is_shown};
use proptest::prelude::*;

fn decoded(raw: &str) -> Vec<u8> {
    Untrusted::from_json(raw.as_bytes()).as_bytes().to_vec()
}

#[test]
fn escapes_are_decoded() {
    for (raw, text) in [
        (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r"C:\\x41\u0000", "C:\\x41\0"),
        (r"\u00e9\u65E5", "é日"),
        (r"\ud83d\ude00", "😀"),
        (r"\\ud83d", r"\ud83d"),
    ] {
        assert_eq!(decoded(raw), text.as_bytes());
    }
}

#[test]
fn invalid_escapes_are_unchanged() {
    for raw in [r"\q", r"\u12", r"\u12g4", r"\x41", r"\u+123", r"\", r"a\u", "\n\u{1b}", "é"] {
        assert_eq!(decoded(raw), raw.as_bytes());
    }
    assert_eq!(Untrusted::from_json(b"a\xff\\n").as_bytes(), b"a\xff\n");
}

#[test]
fn lone_surrogates_are_preserved() {
    for (raw, bytes) in [
        (r"\ud83d", &b"\xed\xa0\xbd"[..]),
        (r"\ude00\ud83d", b"\xed\xb8\x80\xed\xa0\xbd"),
        (r"\ud83d\n", b"\xed\xa0\xbd\n"),
        (r"\ud83d\ud83d\ude00", b"\xed\xa0\xbd\xf0\x9f\x98\x80"),
        (r"\ud83d\ude0", b"\xed\xa0\xbd\\ude0"),
    ] {
        assert_eq!(decoded(raw), bytes);
    }
}

/// The text as a literal in which every character is `\uXXXX`, the widest way to write it.
fn widest_literal(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_valid_literal_decodes_to_its_string(text in any::<String>()) {
        let raw = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(decoded(&raw[1..raw.len() - 1]), text.as_bytes());
        prop_assert_eq!(decoded(&widest_literal(&text)), text.as_bytes());
    }

    #[test]
    fn escaped_json_is_visible_and_equivalent(
        texts in prop::collection::vec(r#"[\PC\p{C}\\\\"xu\u{202e}\u{7f}\u{9b}\u{300}\u{e0041}]{0,12}"#, 0..5),
    ) {
        for json in [serde_json::to_string(&texts).unwrap(), serde_json::to_string_pretty(&texts).unwrap()] {
            let escaped = escaped_json(&json, false);
            prop_assert!(escaped.chars().all(|character| character == '\n' || is_shown(character)), "{}", escaped);
            prop_assert_eq!(&serde_json::from_str::<Vec<String>>(&escaped).unwrap(), &texts);
        }
    }
}
