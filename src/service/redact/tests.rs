use super::*;
use proptest::prelude::*;

/// Keys with everything that one can have, and one that goes on with itself.
const KEYS: [&str; 7] = [
    "c0ffee11C0FFEE22",
    "abababababababab",
    "u00e9nabcu00e9nabc",
    "q3Zk9/Tb+Wm2Lr==",
    r#"a\"u0041\\b/a\"u0041"#,
    "****************",
    "%41%zz%25a%%bcdef",
];

/// A body that came in these pieces; more follows, so that what is begun at its end is no key.
fn redacted<'a>(redactor: &Redactor, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut stream = redactor.stream();
    let mut bytes: Vec<u8> = pieces.into_iter().chain([&b"\n"[..]]).flat_map(|piece| stream.take(piece)).collect();
    bytes.extend(stream.end());
    assert_eq!(bytes.pop(), Some(b'\n'));
    bytes
}

/// The pieces of a body that is cut at these places.
fn cut<'a>(body: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut ends: Vec<_> = cuts.iter().map(|cut| cut % (body.len() + 1)).chain([0, body.len()]).collect();
    ends.sort_unstable();
    ends.windows(2).map(|ends| &body[ends[0]..ends[1]]).collect()
}

/// Every spelling of a character by itself, in either case.
fn spellings(byte: u8) -> Vec<String> {
    let mut forms = Vec::new();
    for byte in [byte, byte.to_ascii_uppercase(), byte.to_ascii_lowercase()] {
        let (small, capital) = (format!("{byte:02x}"), format!("{byte:02X}"));
        forms.push(char::from(byte).to_string());
        forms.extend([&small, &capital].map(|digits| format!("\\u00{digits}")));
        forms.extend([&small, &capital].map(|digits| format!("%{digits}")));
        forms.extend([&small, &capital].map(|digits| format!("\\u0025{digits}")));
        forms.extend(b"\"\\/".contains(&byte).then(|| format!("\\{}", char::from(byte))));
    }
    forms.sort();
    forms.dedup();
    forms
}

/// Where a key ends that begins here in any spelling: all ways are tried.
fn ends(text: &[u8], at: usize, key: &[u8]) -> Vec<usize> {
    let [first, rest @ ..] = key else { return vec![at] };
    let ways = spellings(*first).into_iter().filter(|form| text[at..].starts_with(form.as_bytes()));
    ways.flat_map(|form| ends(text, at + form.len(), rest)).collect()
}

/// The key, each character in one of its spellings.
fn spelling(key: &'static str) -> impl Strategy<Value = String> {
    proptest::collection::vec(0..40_usize, key.len()).prop_map(move |ways| {
        let spelled = key.bytes().zip(ways).map(|(byte, way)| {
            let mut found = spellings(byte);
            // Half of them are themselves.
            found.get_mut(way).map(std::mem::take).unwrap_or(char::from(byte).to_string())
        });
        spelled.collect()
    })
}

/// The key among bytes that look like it.
fn body(key: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        spelling(key).prop_map(String::into_bytes),
        (spelling(key), 0..40_usize).prop_map(|(text, to)| text.as_bytes()[..to.min(text.len())].to_vec()),
        proptest::sample::select(vec![
            "\\", "\\\\", "\\u", "\\u00", "\\u0", "\\n", "\\u00e", "\"", "ab", "*", "é", "%", "%2", "%6"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn key_and_body() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    proptest::sample::select(KEYS.to_vec()).prop_flat_map(|key| (Just(key), body(key)))
}

#[test]
fn a_number_stays_a_number() {
    let of = |key: &str, body: &str| String::from_utf8(redacted(&Redactor::new(key), [body.as_bytes()])).unwrap();
    assert_eq!(of("1234567890123456", r#"{"id":1234567890123456}"#), r#"{"id":9999999999999999}"#);
    assert_eq!(of("9999999999999998", "9999999999999998"), "7".repeat(16));
}

proptest! {
    #[test]
    fn cuts_do_not_matter((key, body) in key_and_body(), cuts in proptest::collection::vec(any::<usize>(), 0..12)) {
        let redactor = Redactor::new(key);
        let whole = redacted(&redactor, [&body[..]]);
        prop_assert_eq!(redacted(&redactor, cut(&body, &cuts)), &whole[..]);
        prop_assert_eq!(redacted(&redactor, body.chunks(1)), whole);
    }

    #[test]
    fn the_key_is_gone_and_all_else_is_there((key, body) in key_and_body()) {
        let found = redacted(&Redactor::new(key), [&body[..]]);
        prop_assert_eq!(found.len(), body.len());
        let mut is_key = vec![false; body.len()];
        for at in 0..body.len() {
            prop_assert!(memchr::memmem::find(&found, key.as_bytes()).is_none());
            // A key with a backslash in it can be read in several ways.
            prop_assert!(key.contains('\\') || ends(&found, at, key.as_bytes()).is_empty());
            for end in ends(&body, at, key.as_bytes()) {
                is_key[at..end].fill(true);
            }
        }
        for (at, (now, before)) in found.iter().zip(&body).enumerate() {
            prop_assert!(is_key[at] || now == before, "{at}");
        }
    }

    #[test]
    fn json_stays_json(
        (key, words) in proptest::sample::select(KEYS.to_vec()).prop_flat_map(|key| {
            let escape = proptest::sample::select(vec!["", "\\\\", "\\n", "\\u00e9", "\\\"", "\\u", "\\", "x"]);
            (Just(key), proptest::collection::vec((escape, spelling(key)), 1..4))
        }),
    ) {
        let words: String = words.iter().map(|(escape, spelled)| format!("{escape}{spelled}")).collect();
        let body = format!(r#"{{"w":"{words}"}}"#);
        let found = redacted(&Redactor::new(key), [body.as_bytes()]);
        let is_json = |bytes: &[u8]| serde_json::from_slice::<&serde_json::value::RawValue>(bytes).is_ok();
        prop_assert!(!is_json(body.as_bytes()) || is_json(&found), "{} {}", body, String::from_utf8_lossy(&found));
    }
}

#[test]
fn pieces_go_on_as_soon_as_they_are_no_key() {
    let redactor = Redactor::new("c0ffee11C0FFEE22");
    let mut stream = redactor.stream();
    assert_eq!(stream.take(br"C:\\x \u0000 c0ffee1?"), br"C:\\x \u0000 c0ffee1?");
    assert_eq!(stream.take(b"{} c0ff"), b"{} ");
    assert_eq!(stream.take(b"ee11C0FFEE22 z"), b"**************** z");
    assert!(stream.end().is_empty());
}

#[test]
fn the_beginning_of_a_key_is_redacted_at_the_end() {
    let redactor = Redactor::new("c0ffee11C0FFEE22");
    for (body, expected) in [
        ("{\"a\":\"c0f", "{\"a\":\"c0f"),
        ("{\"a\":\"c0ff", "{\"a\":\"****"),
        ("{\"a\":\"c0ffee11C0FFEE2", "{\"a\":\"***************"),
        ("{\"a\":\"c0f\\u0066e\\u00", "{\"a\":\"**************"),
        ("{\"a\":\"c0ff\"}", "{\"a\":\"c0ff\"}"),
    ] {
        assert_eq!(String::from_utf8(redactor.redact(body.as_bytes())).unwrap(), expected);
    }
}

#[test]
fn the_key_is_redacted_in_base64() {
    let key = "q3Zk9/Tb+Wm2Lr==";
    for before in ["", "a", "ab", "abc"] {
        let encoded = BASE64_STANDARD.encode(format!("{before}{key}:x"));
        let found = redacted(&Redactor::new(key), [format!("basic {encoded}").as_bytes()]);
        let found = String::from_utf8(found).unwrap();
        assert!(found.starts_with("basic ") && found.matches('*').count() >= key.len() * 8 / 6 - 2, "{found}");
    }
}

#[test]
fn a_word_is_no_key() {
    assert_eq!(redacted(&Redactor::new("any"), [&b"any company"[..]]), b"any company");
    assert_eq!(redacted(&Redactor::default(), [&b"any company"[..]]), b"any company");
}
