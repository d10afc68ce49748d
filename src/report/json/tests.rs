//! The scanner and the reader of one value, against a strict parser and against other bytes.

use super::*;
use proptest::prelude::*;

/// Events as text, so that a test reads as a picture.
fn events(pieces: &[&[u8]]) -> String {
    let mut out = String::new();
    let mut scanner = Scanner::default();
    for piece in pieces {
        scanner.feed(piece, &mut |at, event| {
            let word = match event {
                Event::Name(name) => format!("{}=", String::from_utf8_lossy(name)),
                Event::Open { object: true } => "{".into(),
                Event::Open { object: false } => "[".into(),
                Event::Close => "/".into(),
                Event::Text => "text".into(),
                Event::Word { .. } => "word".into(),
            };
            out += &format!("{at}{word} ");
        });
    }
    out
}

#[test]
fn names_and_values_are_found_at_their_offsets() {
    let json = br#"{"a":["x\"y",12,{}],"b":null}"#;
    assert_eq!(events(&[json]), "0{ 1a= 5[ 6text 13word 16{ 18/ 19/ 20b= 24word 29/ ");
}

#[test]
fn broken_bytes_cost_themselves_only() {
    assert_eq!(events(&[b"[nul, \"a\"}]]"]), "0[ 1word 6text 10/ ");
    assert_eq!(events(&[b"\xef\xbb\xbf{\"a\":1}"]), "3{ 4a= 8word 10/ ");
    assert_eq!(events(&[b"42"]), "0word ");
}

#[test]
fn a_cut_string_keeps_what_came() {
    assert_eq!(Raw::new(br#""abc"#).text(), Untrusted::from("abc"));
    assert_eq!(Raw::new(br#""ab\""#).text(), Untrusted::from("ab\""));
    assert_eq!(Raw::new(b"\"").text(), Untrusted::from(""));
}

#[test]
fn members_keep_doubles_and_order() {
    let raw = Raw::new(br#"{"k":1,"k":[2,3],"z":"w"}"#);
    let names: Vec<_> = raw.members().map(|(name, value)| (name, value.bytes().to_vec())).collect();
    assert_eq!(names.len(), 3);
    assert_eq!(names[1].1, b"[2,3]");
    assert_eq!(raw.member("z").unwrap().text(), Untrusted::from("w"));
}

pub(crate) fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn pieces_of_any_length_give_the_same_events(bytes: Vec<u8>, cut in 0_usize..64) {
        let cut = cut.min(bytes.len());
        prop_assert_eq!(events(&[&bytes]), events(&[&bytes[..cut], &bytes[cut..]]));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(events(&[&bytes]), events(&single));
    }

    #[test]
    fn members_and_elements_agree_with_a_strict_parser(value in any_json()) {
        let text = serde_json::to_vec_pretty(&value).unwrap();
        let raw = Raw::new(&text);
        prop_assert_eq!(raw.bytes(), &text[..]);
        if let Some(array) = value.as_array() {
            let found: Vec<serde_json::Value> =
                raw.elements().map(|raw| serde_json::from_slice(raw.bytes()).unwrap()).collect();
            prop_assert_eq!(&found, array);
        }
        if let Some(object) = value.as_object() {
            let found: Vec<(Vec<u8>, serde_json::Value)> = raw
                .members()
                .map(|(name, raw)| (name.as_bytes().to_vec(), serde_json::from_slice(raw.bytes()).unwrap()))
                .collect();
            let wanted: Vec<_> = object.iter().map(|(k, v)| (k.as_bytes().to_vec(), v.clone())).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
