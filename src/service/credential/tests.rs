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

type Configured = (Option<SecretString>, Option<String>);

fn find(
    set: &[(&str, &str)],
    configured: &Configured,
    home: Option<&Path>,
) -> Result<Option<Credential>, CredentialError> {
    let get = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
    Credential::find(&get, configured.0.as_ref(), configured.1.as_deref(), home)
}

#[cfg(unix)]
#[test]
fn places_are_tried_in_the_documented_order() {
    let home = tempfile::tempdir().unwrap();
    let official = home.path().join(OFFICIAL_FILE);
    std::fs::write(&official, "apikey=\"official\"\nproxy=\"\"\n").unwrap();
    let set_mode = |mode| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&official, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(0o600);
    let mut configured = (Some("config".into()), Some("echo command; echo more".to_owned()));
    let mut set: Vec<_> = VARIABLES.iter().map(|name| (*name, *name)).collect();
    while !set.is_empty() {
        let found = find(&set, &configured, Some(home.path())).unwrap().unwrap();
        assert_eq!(found.expose(), set[0].1);
        set.remove(0);
    }
    let next = |configured: &Configured| find(&[], configured, Some(home.path())).unwrap().unwrap();
    assert_eq!(next(&configured).expose(), "config");
    configured.0 = None;
    assert_eq!(next(&configured).expose(), "command");
    configured.1 = None;
    assert_eq!((next(&configured).expose(), next(&configured).source), ("official", KeySource::OfficialFile));
    assert!(find(&[], &configured, None).unwrap().is_none());
    for mode in [0o640, 0o604, 0o660, 0o601] {
        set_mode(mode);
        assert!(matches!(find(&[], &configured, Some(home.path())), Err(CredentialError::Exposed(_))), "{mode:o}");
    }
}

#[test]
fn the_official_file_is_read_in_all_its_forms() {
    let home = tempfile::tempdir().unwrap();
    let of = |text: &str| {
        crate::files::replace(&home.path().join(OFFICIAL_FILE), text.as_bytes()).unwrap();
        find(&[], &Configured::default(), Some(home.path())).map(|found| found.map(|key| key.expose().to_owned()))
    };
    for text in [
        "apikey=\"abc\"\n",
        "apikey = 'abc'",
        "\u{feff}# made by hand\r\nAPIKey = \"\"\"abc\"\"\"\r\nproxy = \"http://h\"\r\n",
        "proxy = \"\"\n\"apikey\" = \"abc\"\n[other]\napikey = \"no\"\n",
    ] {
        assert_eq!(of(text).unwrap().as_deref(), Some("abc"), "{text}");
    }
    assert_eq!(of("proxy = \"http://h\"\n").unwrap(), None);
    for text in ["apikey = abc\n", "apikey = 5ecret\n", "apikey = 12345678\n", "apikey = \"\"\n", "apikey: abc\n"] {
        let error = of(text).unwrap_err().to_string();
        assert!(!error.contains("abc") && !error.contains("5ecret") && !error.contains("1234"), "{error}");
    }
}

#[test]
fn a_bad_key_is_named_by_its_place_and_never_shown() {
    let error = find(&[("VT_API_KEY", "sec ret")], &Configured::default(), None).unwrap_err();
    assert!(error.to_string().contains("VT_API_KEY") && !error.to_string().contains("sec"));
    let found = Credential::new("secret", KeySource::Config).unwrap();
    assert!(!format!("{found:?}").contains("secret"));
    let failing = (None, Some("exit 3".to_owned()));
    assert!(matches!(find(&[], &failing, None), Err(CredentialError::CommandFailed(_))));
}
