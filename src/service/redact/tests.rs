use super::*;
use proptest::prelude::*;

/// Keys with everything that one can have, and one that goes on with itself.
const KEYS: [&str; 6] = [
    "c0ffee11C0FFEE22",
    "abababababababab",
    "u00e9nabcu00e9nabc",
    "q3Zk9/Tb+Wm2Lr==",
    r#"a\"u0041\\b/a\"u0041"#,
    "%41%zz%25a%%bcdef",
];

/// A body that came in these pieces.
fn redacted<'a>(redactor: &Redactor, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut stream = redactor.stream();
    let mut bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| stream.take(piece)).collect();
    bytes.extend(stream.end());
    bytes
}

/// The key as a service repeats it: plain, in JSON, in an address, in an address in JSON.
fn spelled(key: &str, way: usize) -> String {
    let escaped = |text: &str| text.bytes().map(|byte| format!("\\u{byte:04X}")).collect::<String>();
    let encoded: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
    match way {
        0 => key.to_owned(),
        1 => key.to_ascii_uppercase(),
        2 => escaped(key),
        3 => escaped(&encoded),
        4 => encoded,
        7 => BASE64_STANDARD.encode(format!("{key}>>").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()),
        5 => key.replace('\\', "\\\\").replace('"', "\\\"").replace('/', "\\/"),
        _ => BASE64_STANDARD.encode(key),
    }
}

fn key_and_bodies() -> impl Strategy<Value = (&'static str, Vec<(usize, String)>)> {
    let words = prop_oneof!["[a-z ]{0,9}", Just("C:\\\\x\\n{\"a\":1}".to_owned())];
    (proptest::sample::select(KEYS.to_vec()), proptest::collection::vec((0..8_usize, words), 1..5))
}

proptest! {
    #[test]
    fn the_key_is_gone_and_all_else_is_there((key, parts) in key_and_bodies(), step in 1..40_usize) {
        let redactor = Redactor::new(key);
        let body: String = parts.iter().map(|(way, words)| format!("<{}>{words}", spelled(key, *way))).collect();
        let found = redacted(&redactor, body.as_bytes().chunks(step));
        prop_assert_eq!(&found, &redactor.redact(body.as_bytes()), "pieces do not matter");
        let found = String::from_utf8(found).unwrap();
        prop_assert_eq!(found.len(), body.len());
        for (way, words) in &parts {
            prop_assert!(found.contains(words.as_str()));
            prop_assert!(!found.contains(&spelled(key, *way)), "{}", found);
        }
    }
}

#[test]
fn the_beginning_of_a_key_is_redacted_at_the_end() {
    let redactor = Redactor::new("c0ffee11C0FFEE22c0ffee");
    for (body, expected) in [
        ("{\"a\":\"c0ffee11C0FFEE", "{\"a\":\"c0ffee11C0FFEE"),
        ("{\"a\":\"c0ffee11C0FFEE22c", "{\"a\":\"*****************"),
        ("{\"a\":\"c0ffee11C0FFEE22c\"", "{\"a\":\"c0ffee11C0FFEE22c\""),
    ] {
        assert_eq!(String::from_utf8(redactor.redact(body.as_bytes())).unwrap(), expected);
    }
}

#[test]
fn a_word_is_no_key() {
    assert_eq!(redacted(&Redactor::new("any"), [&b"any company"[..]]), b"any company");
    assert_eq!(redacted(&Redactor::default(), [&b"any company"[..]]), b"any company");
}
