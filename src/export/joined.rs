//! What stands together in one record: a file's path and its hash, a registry value and its data. Apart from each other they are
//! two things; together they are one that others can look for.

use super::What;
use super::opened::OpenedReport;
use crate::report::Place;
use crate::report::attributes::{Meaning, Source};
use crate::report::indicators::{Kind, hash, same};
use crate::report::json::{Kind as JsonKind, Raw};
use crate::text::Untrusted;
use std::collections::HashMap;
use std::io;

/// Members of a record about one thing: its name, and a property. They are joined in each attribute that is
/// known to hold the first as something of this kind.
const TOGETHER: [(Kind, &str, &str); 2] = [(Kind::Path, "path", "sha256"), (Kind::Key, "key", "value")];

/// What belongs to what.
#[derive(Debug, Default)]
pub(super) struct Correlations {
    hashes: HashMap<Untrusted, Vec<Untrusted>>,
    paths: HashMap<Untrusted, Vec<Untrusted>>,
    data: HashMap<Untrusted, Vec<Untrusted>>,
}

impl Correlations {
    /// Joins what the rows that are written say; nothing where one kind only is wanted.
    pub(super) fn of(opened: &OpenedReport<'_>) -> io::Result<Self> {
        let mut joined = Self::default();
        if matches!(opened.job.what, What::OfKind(_)) {
            return Ok(joined);
        }
        for (number, section) in opened.report.index.sections.iter().enumerate() {
            let holds = section.attribute.map_or(&[][..], |known| known.holds);
            for (kind, name, beside) in TOGETHER.into_iter().filter(|(kind, name, _)| names(holds, *kind, name)) {
                for row in opened.rows(number).unwrap_or_default().iter() {
                    opened.go_on()?;
                    let place = Place { section: number, row };
                    if let Some(value) = opened.report.registry_value(place) {
                        // Ambiguous data is left out.
                        value.data.iter().for_each(|data| joined.add(kind, value.path(), data.clone()));
                        continue;
                    }
                    let record = opened.report.record(place);
                    let raw = Raw::new(&record.value);
                    let text = |member| raw.member(member).filter(|raw| raw.kind() == JsonKind::Text);
                    if let Some((name, beside)) = text(name).zip(text(beside)) {
                        joined.add(kind, name.text(), beside.text());
                    }
                }
            }
        }
        Ok(joined)
    }

    fn add(&mut self, kind: Kind, name: Untrusted, beside: Untrusted) {
        if name.is_empty() || beside.is_empty() {
            return;
        }
        if kind == Kind::Key {
            return put(&mut self.data, same(kind, &name), beside);
        }
        if let Some(hash) = hash(&beside) {
            let name = same(kind, &name);
            put(&mut self.paths, hash.clone(), name.clone());
            put(&mut self.hashes, name, hash);
        }
    }

    /// The hashes of the files that had this path, in the order of the report.
    pub(super) fn hashes(&self, path: &Untrusted) -> &[Untrusted] {
        self.hashes.get(&same(Kind::Path, path)).map_or(&[], Vec::as_slice)
    }

    /// The paths that a file with this hash had, each as [`same`] makes it.
    pub(super) fn paths(&self, hash: &Untrusted) -> &[Untrusted] {
        self.paths.get(hash).map_or(&[], Vec::as_slice)
    }

    /// The data that this registry value was given.
    pub(super) fn data(&self, key: &Untrusted) -> &[Untrusted] {
        self.data.get(&same(Kind::Key, key)).map_or(&[], Vec::as_slice)
    }
}

fn names(holds: &[Source], kind: Kind, member: &str) -> bool {
    holds.iter().any(|source| source.member == member && matches!(source.meaning, Meaning::Is(found) if found == kind))
}

fn put(map: &mut HashMap<Untrusted, Vec<Untrusted>>, key: Untrusted, value: Untrusted) {
    let values = map.entry(key).or_default();
    if !values.contains(&value) {
        values.push(value);
    }
}
