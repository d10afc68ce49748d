//! What objects of STIX are written with: their beginnings, identifiers and literals, and the marking of each.

use crate::export::{list, object, own_literal};
use crate::report::canonical::spell_out_str;
use crate::report::hives::HIVES;
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
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

/// The same with the times of creation and change.
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

/// A literal as RFC 8785 has it: serde_json escapes only what has to be escaped, in the same way.
pub(super) fn canonical(text: &str) -> String {
    serde_json::Value::from(text).to_string()
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

/// The devices of Windows that files lie on.
const VOLUMES: [&str; 4] = ["harddiskvolume", "cdrom", "mup", "lanmanredirector"];

/// Whether a path is that of a device or pipe.
pub(super) fn is_device(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    if let Some(device) = path.strip_prefix(r"\device\") {
        return !device.contains('\\') || !VOLUMES.iter().any(|volume| device.starts_with(volume));
    }
    let spaces = [r"\\.\", r"\??\", r"\\?\"];
    if let Some(inside) = spaces.iter().find_map(|space| path.strip_prefix(space)) {
        // A drive with something on it, a volume, or another machine.
        let is_volume = inside.starts_with("volume{") && inside.contains('\\');
        let is_pipe = inside.split('\\').nth(2) == Some("pipe");
        return !(inside.get(1..3) == Some(r":\") || is_volume || inside.starts_with(r"unc\") && !is_pipe);
    }
    // One of another machine.
    let is_pipe = path.strip_prefix(r"\\").is_some_and(|machine| machine.split('\\').nth(1) == Some("pipe"));
    is_pipe || path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// Those of some paths that others lie below, as they are compared.
pub(super) fn folders(paths: &HashMap<Untrusted, &Untrusted>) -> HashSet<Untrusted> {
    let mut sorted: Vec<_> = paths.keys().map(Untrusted::as_bytes).collect();
    sorted.sort();
    let has_below = |path: &&Untrusted| {
        [b'\\', b'/'].into_iter().any(|separator| {
            let start = [path.as_bytes(), &[separator]].concat();
            let first = sorted.partition_point(|known| *known < start.as_slice());
            sorted.get(first).is_some_and(|below| below.starts_with(&start))
        })
    };
    paths.keys().filter(has_below).cloned().collect()
}
