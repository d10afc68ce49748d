//! What objects of STIX are written with: their beginnings, identifiers and literals, and the marking of each.

use crate::export::{list, object, own_literal};
use crate::report::canonical::spell_out_str;
use crate::report::hives::HIVES;
use crate::text::Untrusted;
use jiff::Timestamp;
use uuid::Uuid;

/// The namespace of identifiers of observables that are made of their values (STIX 2.1, §2.9).
const OBSERVABLES: Uuid = Uuid::from_u128(0x00ab_edb4_aa42_466c_9c01_fed2_3315_a9b7);

/// TLP:AMBER+STRICT as OASIS has defined it: a private report is for the own organisation.
pub(super) const MARKING: &str = "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003";

pub(super) fn marking() -> String {
    let tlp = object([
        ("extension_type", Some(own_literal("property-extension"))),
        ("tlp_2_0", Some(own_literal("amber+strict"))),
    ]);
    let extension = object([("extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d", Some(tlp))]);
    object([
        ("type", Some(own_literal("marking-definition"))),
        ("spec_version", Some(own_literal("2.1"))),
        ("id", Some(own_literal(MARKING))),
        ("created", Some(own_literal("2022-10-01T00:00:00.000Z"))),
        ("name", Some(own_literal("TLP:AMBER+STRICT"))),
        ("extensions", Some(extension)),
    ])
}

/// The beginning of an object, marked.
fn begun<'a>(kind: &str, id: &str) -> [(&'a str, Option<String>); 4] {
    [
        ("type", Some(own_literal(kind))),
        ("spec_version", Some(own_literal("2.1"))),
        ("id", Some(own_literal(id))),
        ("object_marking_refs", Some(list([own_literal(MARKING)]))),
    ]
}

/// The same with when it was made and changed, which for what is not observed is one moment.
pub(super) fn dated<'a>(
    kind: &str,
    id: &str,
    (created, modified): (&str, &str),
) -> impl Iterator<Item = (&'a str, Option<String>)> {
    let dates = [("created", Some(created.to_owned())), ("modified", Some(modified.to_owned()))];
    begun(kind, id).into_iter().chain(dates)
}

/// A moment as STIX writes it.
pub(super) fn moment_words(when: Timestamp) -> String {
    when.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Text as STIX holds it: Unicode as it is, anything else in its visible form.
pub(super) fn plain(text: &Untrusted) -> String {
    match std::str::from_utf8(text.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => text.visible().into(),
    }
}

pub(super) fn observable<const N: usize>(kind: &str, id: &str, own: [(&'static str, Option<String>); N]) -> String {
    object(begun(kind, id).into_iter().chain(own))
}

/// The identifier of an observable by the properties that make it what it is, in the order of their names (RFC 8785).
pub(super) fn identifier(kind: &str, properties: &[(&'static str, String)]) -> String {
    let json = object(properties.iter().map(|(name, value)| (*name, Some(value.clone()))));
    format!("{kind}--{}", Uuid::new_v5(&OBSERVABLES, json.as_bytes()))
}

/// A literal as RFC 8785 writes it: nothing is escaped that need not be.
pub(super) fn canonical(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str(r"\\"),
            '\u{8}' => literal.push_str(r"\b"),
            '\t' => literal.push_str(r"\t"),
            '\n' => literal.push_str(r"\n"),
            '\u{c}' => literal.push_str(r"\f"),
            '\r' => literal.push_str(r"\r"),
            control if control < ' ' => literal.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => literal.push(other),
        }
    }
    literal + "\""
}

pub(super) fn algorithm(hash: &str) -> &'static str {
    match hash.len() {
        32 => "MD5",
        40 => "SHA-1",
        _ => "SHA-256",
    }
}

pub(super) fn whole_hive(key: &Untrusted) -> Untrusted {
    let text = plain(key);
    let text = spell_out_str(&text).into_owned();
    let hive = text.split(['\\', '/']).next().unwrap_or_default();
    let found = HIVES.iter().find(|known| hive.eq_ignore_ascii_case(known.short));
    found.map_or_else(
        || Untrusted::from(text.as_str()),
        |known| Untrusted::from(format!("{}{}", known.long, text.get(hive.len()..).unwrap_or_default())),
    )
}

/// A sandbox's name in lower case, with dashes between words.
pub(super) fn product(name: &Untrusted) -> String {
    let name = plain(name).to_lowercase();
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
