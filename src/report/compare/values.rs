//! Values of a report that other reports may have as well, each as a hash of its normal form.
//!
//! A row's value makes it the same item in comparisons; an indicator's makes it the same indicator.

use super::identity::EqualityRule;
use crate::report::attributes::{Attribute, IndicatorSource, PROCESS_LIST, Sameness, ValueMeaning, ValueShape};
use crate::report::indicators::{Indicator, Indicators, Kind};
use crate::report::rows::{RowBytes, ValueMember};
use crate::report::work::Cancel;
use crate::report::{ATTRIBUTES, Body, Report, RowPlace, Section};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::io;

/// A value of a report in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportValue {
    pub hash: u64,
    /// The first row that has it.
    pub place: RowPlace,
    pub kind: ValueKind,
    /// The hash of the list that names such values: a cut one may have left it out.
    pub list: u64,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// What a row is about.
    Row,
    /// The data of a registry value.
    Data,
    Indicator(Kind),
}

impl ReportValue {
    /// Returns its kind for people, such as `Files written`, `data` or `host`.
    pub fn label(&self, report: &Report) -> String {
        match self.kind {
            ValueKind::Indicator(kind) => kind.name().to_owned(),
            ValueKind::Data => "data".to_owned(),
            ValueKind::Row => report.section(self.place.section).map_or_else(String::new, |section| {
                let label = section.attribute.map_or("", |known| known.label);
                format!("{} {label}", section.pane().short()).trim_end().to_owned()
            }),
        }
    }
}

impl Indicator {
    /// Returns its hash among stored values, and that of the lists that name its kind.
    pub fn hashes(&self, keys: &impl BuildHasher) -> (u64, u64) {
        (self.hash(keys), hash_of_list(self.kind, keys))
    }
}

impl Report {
    /// Returns the values of all rows, or of one; a value that several rows have is of the first.
    pub fn values_of(
        &self,
        only: Option<RowPlace>,
        keys: &impl BuildHasher,
        cancel: &Cancel,
    ) -> io::Result<Vec<ReportValue>> {
        let mut found = Vec::new();
        let mut room = Vec::new();
        for (number, section) in self.index.sections.iter().enumerate() {
            cancel.check()?;
            let is_meant = only.is_none_or(|place| place.section == number);
            let rule = is_meant.then(|| EqualityRule::of(section, self.registry, keys)).flatten();
            let Some(rule) = rule else { continue };
            let data = member_of_data(section).filter(|_| self.registry != ValueMember::Name);
            let mut add = |row: RowBytes<'_>| {
                let bytes = rule.bytes_of(&row);
                let mut push = |kind, hash| found.push(ReportValue { hash, place: row.place, kind, list: rule.kind });
                push(ValueKind::Row, rule.hash_key(&bytes, &mut room, keys).0);
                let data = data.and_then(|data| rule.hash_member(&bytes, data, &mut room, keys));
                data.into_iter().for_each(|hash| push(ValueKind::Data, hash));
            };
            match only {
                Some(place) => add(self.row_bytes_of(place)),
                None => self.each_row(number).for_each(add),
            }
        }
        let rows = |section: usize| match only {
            Some(place) if place.section == section => place.row..place.row + 1,
            Some(_) => 0..0,
            None => 0..self.section(section).map_or(0, Section::len),
        };
        let indicators = Indicators::among(self, &rows, &|_| None, cancel)?;
        for kind in Kind::ALL {
            let list = hash_of_list(kind, keys);
            found.extend(indicators.of_kind(kind).iter().filter_map(|indicator| {
                let place = *indicator.places.first()?;
                Some(ReportValue { hash: indicator.hash(keys), place, kind: ValueKind::Indicator(kind), list })
            }));
        }
        Ok(found)
    }

    /// Hashes the lists that may be incomplete; [`EVERY_LIST`] if the report itself is.
    pub fn incomplete_lists(&self, keys: &impl BuildHasher) -> BTreeSet<u64> {
        if !self.is_sound() {
            return [EVERY_LIST].into();
        }
        let cut = self.index.sections.iter().filter(|section| section.is_perhaps_cut());
        let lists = cut.flat_map(|section| {
            let rows = EqualityRule::of(section, self.registry, keys).map(|rule| rule.kind);
            let kinds = sources(section).iter().flat_map(|source| kinds_of(source.meaning));
            rows.into_iter().chain(kinds.map(|kind| hash_of_list(kind, keys)))
        });
        lists.collect()
    }

    /// Returns a report in which every list has this text: its values are all that the text can be.
    pub fn of_text(text: &str) -> Self {
        let member = |known: &Attribute| {
            let value = match &known.shape {
                ValueShape::Value | ValueShape::Moment => json!(text),
                ValueShape::Strings => json!([text]),
                ValueShape::ProcessTree => json!([{ "name": text }]),
                ValueShape::Records(_) => {
                    let names: BTreeSet<_> = known.key_groups.iter().flatten().copied().collect();
                    let names = names.into_iter().chain(known.holds.iter().map(|source| source.member));
                    names.map(|name| json!({ name: text })).collect()
                }
            };
            (known.name.to_owned(), value)
        };
        // A list of processes would become the tree. What differs between runs is no value.
        let is_meant = |known: &&Attribute| known.sameness != Sameness::Never && known.name != PROCESS_LIST;
        let known = ATTRIBUTES.iter().filter(is_meant);
        let body = Value::Object(known.map(member).collect()).to_string();
        Self::open(&Body::in_memory(body.into_bytes()))
    }
}

/// Stands for every list of a report that could not be read to its end.
pub const EVERY_LIST: u64 = 0;

fn sources(section: &Section) -> &'static [IndicatorSource] {
    section.attribute.map_or(&[], |known| known.holds.as_slice())
}

fn member_of_data(section: &Section) -> Option<&'static str> {
    sources(section).iter().find(|source| source.meaning == ValueMeaning::Data).map(|source| source.member)
}

/// Returns the kinds of indicators that a member may name.
fn kinds_of(meaning: ValueMeaning) -> Vec<Kind> {
    match meaning {
        ValueMeaning::Is(kind) => vec![kind],
        ValueMeaning::Module => vec![Kind::Path],
        _ => vec![Kind::Hash, Kind::Host, Kind::Address, Kind::Url, Kind::Mail, Kind::Path],
    }
}

fn hash_of_list(kind: Kind, keys: &impl BuildHasher) -> u64 {
    keys.hash_one(("list", kind.name()))
}
