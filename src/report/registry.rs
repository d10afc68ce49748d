//! One model of a registry value that was set: its key, the value's name, and its data.
//!
//! Sandboxes give two members, `key` and `value`. With most, `key` ends with the value's name and
//! `value` is its data; with some, `value` is the value's name and the data is not given. Ambiguous
//! keys are not split.

use super::json::{Kind, Raw};
use crate::text::Untrusted;

/// What the member `value` of `registry_keys_set` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueMember {
    /// The report names no sandbox, or is of several.
    #[default]
    Unclear,
    /// The data; the key ends with the value's name.
    Data,
    /// The value's name, under the key.
    Name,
}

/// Sandboxes, in small letters, that give the value's name.
const NAMING: [&str; 3] = ["lastline", "sndbox", "orcas"];

impl ValueMember {
    /// What it is in the reports of a sandbox.
    pub fn of(sandbox: &Untrusted) -> Self {
        let sandbox = String::from_utf8_lossy(sandbox.as_bytes()).to_lowercase();
        match sandbox.trim() {
            "" => Self::Unclear,
            name if NAMING.iter().any(|naming| name.contains(naming)) => Self::Name,
            _ => Self::Data,
        }
    }
}

/// A registry value that was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryValue {
    /// The key, without the value's name where that is clear.
    pub key: Untrusted,
    /// The value's name; none where it is unclear.
    pub name: Option<Untrusted>,
    /// Its data; none where it is not given or unclear.
    pub data: Option<Untrusted>,
}

impl RegistryValue {
    /// The value that a record of `registry_keys_set` gives; none where it has no key.
    pub fn of(record: Raw<'_>, member: ValueMember) -> Option<Self> {
        let text = |name| record.member(name).filter(|raw| raw.kind() != Kind::Object && raw.bytes() != b"null");
        let (key, value) = (text("key")?.text(), text("value").map(Raw::text));
        Some(match (member, value) {
            (ValueMember::Data, Some(data)) => {
                let bytes = key.as_bytes();
                let at = bytes.iter().rposition(|byte| *byte == b'\\');
                let split = at.and_then(|at| Some((bytes.get(..at)?, bytes.get(at + 1..)?)));
                let (key, name) = split.map_or_else(
                    || (key.clone(), None),
                    |(key, name)| (Untrusted::from(key), Some(Untrusted::from(name))),
                );
                Self { key, name, data: Some(data) }
            }
            (ValueMember::Name, name) => Self { key, name, data: None },
            (ValueMember::Unclear | ValueMember::Data, _) => Self { key, name: None, data: None },
        })
    }

    /// The key and the value's name as one path, as most sandboxes write it.
    pub fn path(&self) -> Untrusted {
        let name = self.name.as_ref().map(|name| [b"\\", name.as_bytes()].concat()).unwrap_or_default();
        Untrusted::from([self.key.as_bytes(), &name].concat())
    }
}
