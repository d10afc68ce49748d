//! How severe a row is, by the word that its sandbox gives it, and what that was seen by; and the order in which rows are shown.

use super::Report;
use super::records::{Step, leaves};
use super::values::split_member;
use crate::report::index::{Form, Section};
use crate::report::json::{Kind, Raw};
use crate::report::work::{Cancel, Cancelled};
use crate::text::Untrusted;
use std::collections::BTreeMap;

/// What the service puts before its words.
const PREFIX: &[u8] = b"IMPACT_SEVERITY_";

/// The severity words, the most severe first; several mean the same. Unknown words come last.
const WORDS: [&[&str]; 5] =
    [&["critical"], &["high"], &["medium", "moderate"], &["low"], &["info", "informational", "information"]];

/// The word without what the service puts before it.
pub(super) fn word(text: Untrusted) -> Untrusted {
    text.as_bytes().strip_prefix(PREFIX).map(Untrusted::from).unwrap_or(text)
}

fn rank(text: Untrusted) -> usize {
    let word = word(text);
    let is_one = |words: &&[&str]| words.iter().any(|known| word.as_bytes().eq_ignore_ascii_case(known.as_bytes()));
    WORDS.iter().position(is_one).unwrap_or(WORDS.len())
}

impl Section {
    /// A row of a summary's techniques as one record: the number, the greatest severity, every
    /// description and reference; none for any other row. In the report the row is a member: the
    /// number with a list of observations.
    pub(in crate::report) fn technique(&self, row: &[u8]) -> Option<Vec<u8>> {
        if self.form != Form::Object || self.name.as_bytes() != b"attack_techniques" {
            return None;
        }
        let (id, seen) = split_member(row);
        let seen: Vec<_> = if seen.kind() == Kind::Array { seen.elements().collect() } else { vec![seen] };
        let all = |name| seen.iter().filter_map(move |one| one.member(name));
        let severity = all("severity").min_by_key(|severity| rank(severity.text()));
        let mut description = Vec::new();
        for text in all("description").map(Raw::content).filter(|text| !text.is_empty()) {
            let before: &[u8] = if description.is_empty() { b"" } else { b"; " };
            description.extend([before, text].concat());
        }
        let refs = all("refs").flat_map(Raw::elements).map(Raw::bytes).collect::<Vec<_>>().join(&b","[..]);
        let mut record = [br#"{"id":"#, id.bytes()].concat();
        record.extend(severity.iter().flat_map(|severity| [br#","severity":"#, severity.bytes()].concat()));
        record.extend([br#","description":""#, &description[..], br#"""#].concat());
        if !refs.is_empty() {
            record.extend([br#","refs":["#, &refs[..], b"]"].concat());
        }
        record.push(b'}');
        Some(record)
    }
}

/// The evidence in one line: each value with its name, except that a reference shows only its
/// `value`; at most `most` values, and the rest counted.
pub(super) fn evidence(raw: Raw<'_>, most: usize) -> Untrusted {
    let (mut joined, mut count) = (Vec::new(), 0_usize);
    leaves(raw.bytes(), &mut |way, value| {
        let name = match way.last() {
            Some(Step::Member(name)) => name.as_bytes(),
            Some(Step::Element(_)) | None => b"",
        };
        if name == b"ref" {
            return;
        }
        count += 1;
        if count > most {
            return;
        }
        let before: &[u8] = if joined.is_empty() { b"" } else { b", " };
        let is_told = !matches!(name, b"" | b"value");
        joined.extend([before, if is_told { name } else { b"" }, if is_told { b"=" } else { b"" }].concat());
        joined.extend_from_slice(value.text().as_bytes());
    });
    if count > most {
        joined.extend_from_slice(format!(", +{}", count - most).as_bytes());
    }
    Untrusted::from(joined)
}

/// Sections whose rows have an order of their own: the most severe first, rows of equal severity in
/// the order of the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    sections: BTreeMap<usize, Arranged>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Arranged {
    /// The row at each position.
    rows: Vec<u32>,
    /// The position of each row.
    positions: Vec<u32>,
}

impl Order {
    /// The order of a report's sections, without those that have no severity or are already sorted.
    pub(in crate::report) fn of(report: &Report, cancel: &Cancel) -> Result<Self, Cancelled> {
        let mut order = Self::default();
        for (number, section) in report.index.sections.iter().enumerate() {
            let Some(name) = severity(section) else { continue };
            cancel.check()?;
            let ranks = report.each_row(number).map(|row| {
                let technique = section.technique(row.bytes);
                let raw = Raw::new(technique.as_deref().unwrap_or(row.bytes));
                raw.member(name).map_or(WORDS.len(), |value| rank(value.text()))
            });
            let ranks: Vec<_> = ranks.collect();
            if !ranks.is_sorted() {
                order.sections.insert(number, Arranged::by(&ranks));
            }
        }
        Ok(order)
    }

    /// The sections that have an order of their own.
    pub fn sections(&self) -> impl Iterator<Item = usize> + '_ {
        self.sections.keys().copied()
    }

    pub fn row(&self, section: usize, position: usize) -> usize {
        let found = self.sections.get(&section).and_then(|found| found.rows.get(position));
        found.map_or(position, |row| *row as usize)
    }

    pub fn position(&self, section: usize, row: usize) -> usize {
        let found = self.sections.get(&section).and_then(|found| found.positions.get(row));
        found.map_or(row, |position| *position as usize)
    }
}

impl Arranged {
    fn by(ranks: &[usize]) -> Self {
        let mut rows: Vec<u32> = (0..).take(ranks.len()).collect();
        rows.sort_by_key(|row| ranks.get(*row as usize).copied().unwrap_or(usize::MAX));
        let mut positions = vec![0; rows.len()];
        for (position, row) in (0..).zip(&rows) {
            if let Some(place) = positions.get_mut(*row as usize) {
                *place = position;
            }
        }
        Self { rows, positions }
    }
}

/// The member of a section's records that says how severe each is.
fn severity(section: &Section) -> Option<&'static str> {
    section.attribute.and_then(|attribute| attribute.severity())
}
