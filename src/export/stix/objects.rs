//! Parts of STIX objects: common properties, identifiers, literals, patterns, and the marking.

use crate::export::{Member, list, own_literal};
use crate::report::canonical::{HIVES, spell_out_str};
use crate::report::indicators::Kind;
use crate::text::Untrusted;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// The namespace of this program's own objects.
const OWN: Uuid = Uuid::from_u128(0x3d6f_8c52_90a1_4e5b_8f0e_6b1d_27c4_a913);

/// The namespace of identifiers derived from the values of observables (STIX 2.1, §2.9).
const OBSERVABLES: Uuid = Uuid::from_u128(0x00ab_edb4_aa42_466c_9c01_fed2_3315_a9b7);

/// TLP:AMBER+STRICT as defined by OASIS: a private report is for the own organisation.
pub(super) const MARKING: &str = "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003";

pub(super) const MARKING_OBJECT: &str = concat!(
    r#"{"type":"marking-definition","spec_version":"2.1","id":"marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003","#,
    r#""created":"2022-10-01T00:00:00.000Z","name":"TLP:AMBER+STRICT","extensions":"#,
    r#"{"extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d":"#,
    r#"{"extension_type":"property-extension","tlp_2_0":"amber+strict"}}}"#
);

/// Returns the common properties of an object, with its marking; `id` begins with the type.
pub(super) fn begun(id: &str) -> [Member<'static>; 4] {
    let kind = id.split_once("--").map_or("", |(kind, _)| kind);
    [
        ("type", Some(own_literal(kind))),
        ("spec_version", Some(own_literal("2.1"))),
        ("id", Some(own_literal(id))),
        ("object_marking_refs", Some(list([own_literal(MARKING)]))),
    ]
}

/// Returns the identifier of an object of this program, derived from a unique name.
pub(super) fn own_id(kind: &str, name: &str) -> String {
    format!("{kind}--{}", Uuid::new_v5(&OWN, name.as_bytes()))
}

/// Derives an observable's identifier from its identifying properties as JSON (RFC 8785).
pub(super) fn observable_id(kind: &str, properties: &str) -> String {
    format!("{kind}--{}", Uuid::new_v5(&OBSERVABLES, properties.as_bytes()))
}

pub(super) fn timestamp_text(when: Timestamp) -> String {
    when.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Returns text for STIX: Unicode unchanged, anything else in its visible form.
pub(super) fn plain(text: &Untrusted) -> String {
    match std::str::from_utf8(text.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => text.visible().into(),
    }
}

/// Returns a literal of RFC 8785: serde_json escapes only what has to be escaped, in the same way.
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

/// Splits a path's bytes after the last separator; visible forms may contain more backslashes.
pub(super) fn split_path(path: &Untrusted, separators: &[u8]) -> (String, String) {
    let path = path.as_bytes();
    let start = path.iter().rposition(|byte| separators.contains(byte)).map_or(0, |last| last + 1);
    let (folder, name) = path.split_at_checked(start).unwrap_or_default();
    (plain(&Untrusted::from(folder)), plain(&Untrusted::from(name)))
}

/// Returns a registry key with its hive's long name; `None` without a known hive.
pub(super) fn whole_hive(key: &str) -> Option<String> {
    let text = spell_out_str(key);
    let hive = text.split(['\\', '/']).next().unwrap_or_default();
    let known = HIVES.iter().find(|known| hive.eq_ignore_ascii_case(known.short))?;
    Some(format!("{}{}", known.long, text.get(hive.len()..).unwrap_or_default()))
}

/// Returns a sandbox's name in lower case, with dashes between words.
pub(super) fn product(name: &Untrusted) -> String {
    let name = plain(name).to_lowercase();
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The devices of Windows that contain files.
const VOLUMES: [&str; 4] = ["harddiskvolume", "cdrom", "mup", "lanmanredirector"];

pub(super) fn is_device(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    if matches!(path.as_str(), "nul" | "con" | "aux" | "prn" | "conin$" | "conout$") {
        return true;
    }
    if let Some(device) = path.strip_prefix(r"\device\") {
        return !device.contains('\\') || !VOLUMES.iter().any(|volume| device.starts_with(volume));
    }
    let spaces = [r"\\.\", r"\??\", r"\\?\"];
    if let Some(inside) = spaces.iter().find_map(|space| path.strip_prefix(space)) {
        // A path on a drive, on a volume, or on another machine.
        let is_volume = inside.starts_with("volume{") && inside.contains('\\');
        let is_pipe = inside.split('\\').nth(2) == Some("pipe");
        return !(inside.get(1..3) == Some(r":\") || is_volume || inside.starts_with(r"unc\") && !is_pipe);
    }
    // A pipe of another machine.
    let is_pipe = path.strip_prefix(r"\\").is_some_and(|machine| machine.split('\\').nth(1) == Some("pipe"));
    is_pipe || path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// Returns the paths that contain other paths, in their form for comparison.
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

/// Returns a URL valid by RFC 3986, percent-encoded if need be; `None` if that is not enough.
fn uri(text: &str) -> Option<String> {
    if !text.contains("://") || text.contains('\\') {
        return None;
    }
    let parsed = url::Url::parse(text).ok()?;
    let is_edged = |label: &str| label.starts_with('-') || label.ends_with('-');
    if parsed.host_str()?.split('.').any(is_edged) {
        return None;
    }
    // Browsers read `127.1` as an address; other programs do not.
    let is_short = matches!(parsed.host()?, url::Host::Ipv4(address) if !text.contains(&address.to_string()));
    let whole = if is_uri(text) && !is_short { text.to_owned() } else { parsed.to_string() };
    is_uri(&whole).then_some(whole)
}

fn is_uri(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let mut escapes = text.split('%').skip(1);
    let path = text.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    text.bytes().all(is_allowed)
        && escapes.all(|rest| rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)))
        && text.matches('#').count() < 2
        && !path.contains(['[', ']'])
}

/// Returns whether a text is a host name by RFC 1123 and RFC 5891; a service's `_ldap._tcp` is not.
fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        let is_encoded = label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
        let is_reserved = label.as_bytes().get(2..4) == Some(b"--") && !is_encoded;
        let is_edged = label.starts_with('-') || label.ends_with('-');
        !label.is_empty() && label.len() < 64 && !is_reserved && !is_edged && !label.contains('_')
    };
    text.split('.').all(is_label) && matches!(url::Host::parse(text), Ok(url::Host::Domain(_)))
}

fn is_mail(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    text.is_ascii() && parts.is_some_and(|(local, host)| !local.is_empty() && is_host(host))
}

/// Returns an IPv6 address without a dotted IPv4 part.
fn in_groups(text: &str) -> String {
    match text.parse::<std::net::Ipv6Addr>() {
        Ok(address) if text.contains('.') => address.segments().map(|group| format!("{group:x}")).join(":"),
        _ => text.to_owned(),
    }
}

/// Returns the STIX object, property and value of an indicator; `None` if STIX does not allow it.
pub(super) fn property(kind: Kind, text: &str) -> Option<(&'static str, &'static str, String)> {
    match kind {
        Kind::Host if is_host(text) => Some(("domain-name", "value", text.to_owned())),
        Kind::Address if text.contains(':') => Some(("ipv6-addr", "value", in_groups(text))),
        Kind::Address => Some(("ipv4-addr", "value", text.to_owned())),
        Kind::Url => Some(("url", "value", uri(text)?)),
        Kind::Mail if is_mail(text) => Some(("email-addr", "value", text.to_owned())),
        Kind::Mutex => Some(("mutex", "name", text.to_owned())),
        _ => None,
    }
}

pub(super) fn pattern(kind: Kind, text: &str) -> Option<String> {
    let (path, value) = match kind {
        Kind::Hash => (format!("file:hashes.'{}'", algorithm(text)), text.to_owned()),
        _ => property(kind, text).map(|(object, property, value)| (format!("{object}:{property}"), value))?,
    };
    Some(format!("[{path} = '{}']", value.replace('\\', r"\\").replace('\'', r"\'")))
}
