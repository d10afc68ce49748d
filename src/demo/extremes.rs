//! The unfriendly report that is too large to keep as text: floods, depths and lengths.

use std::fmt::Write;

/// A report object of the file with this hash. Its grammar is sound; some strings are not Unicode.
pub(super) fn report(sha256: &str) -> String {
    let mut attributes = String::from(r#"{"sandbox_name":"Extremes","analysis_date":1794474845"#);
    for (name, value) in [
        ("text_highlighted", strings()),
        ("tags", r#"["A_TAG","A_TAG","A_TAG"]"#.to_owned()),
        ("processes_tree", descent(200, r#"{"process_id":"4","name":"deeper.exe","children":["#, "]}")),
        ("an_attribute_nobody_has_named", descent(200, r#"{"deeper":["#, "]}")),
        ("registry_keys_set", wide_object(400)),
        (r"\udc00 a name of half a character", r#"["\ud800"]"#.to_owned()),
    ] {
        // Writing to a string cannot fail.
        let _ = write!(attributes, r#","{name}":{value}"#);
    }
    format!(r#"{{"id":"{sha256}_Extremes-1794474999","type":"file_behaviour","attributes":{attributes}}}}}"#)
}

/// Strings that are long or loud; the escapes are JSON's.
fn strings() -> String {
    let strings = [
        "A".repeat(100_000),
        format!("Z{}", r"\u0353".repeat(3_000)),
        r"\u001b[31m".repeat(500),
        r"\u202e\u2066".repeat(300),
        r"\u200b".repeat(2_000),
        format!("lone {} surrogates {}", r"\ud83d", r"\udc00\ud800"),
        r"\udb40\udc41\udb40\udc42\ufe0f\udb40\udd00".repeat(50),
        format!(r"{}\r\n{}\u0000", r"line one\n".repeat(40), r"tab\t".repeat(40)),
        format!(r"\u001b]52;c;{}\u0007", "QUFB".repeat(1_000)),
        r"\u5bbd\u5b57".repeat(400),
        r"\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67".repeat(60),
        String::new(),
        " ".repeat(500),
    ];
    let quoted: Vec<String> = strings.iter().map(|string| format!("\"{string}\"")).collect();
    format!("[{}]", quoted.join(","))
}

/// `depth` openings, each inside the one before it, and as many closings.
fn descent(depth: usize, open: &str, close: &str) -> String {
    format!("[{}{}]", open.repeat(depth), close.repeat(depth))
}

/// One row with an object of many keys where a string belongs, every key twice.
fn wide_object(keys: usize) -> String {
    let pairs: Vec<String> = (0..keys).map(|key| format!(r#""k{0}":{key},"k{0}":null"#, key / 2)).collect();
    format!(r#"[{{"key":"HKCU\\Software\\Wide","value":{{{}}}}}]"#, pairs.join(","))
}
