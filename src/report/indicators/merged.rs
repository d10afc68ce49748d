//! Merges the indicators of several reports, each once, with its sightings.

use super::super::work::Cancel;
use super::{Indicator, Indicators, Kind, KnownNumbers, MAX_INDICATORS, is_same, refusal};
use crate::report::rules::Severity;
use crate::text::{Untrusted, Visible};
use std::io;
use std::iter::once;

/// An indicator's rows, rule and severity in one report.
#[derive(Debug, Clone)]
pub struct Sighting {
    /// The number of the report among those that are merged.
    pub report: usize,
    pub indicator: Indicator,
    /// The number of the rule that marks it.
    pub rule: Option<u16>,
    /// Its severity; noise only if all of its rows are.
    pub severity: Option<Severity>,
    /// Why it should not be blocked; `None` if it should.
    pub not_to_block: Option<&'static str>,
}

/// An indicator with its sighting in each report.
#[derive(Debug, Clone)]
pub struct MergedIndicator {
    pub first: Sighting,
    others: Vec<Sighting>,
}

impl MergedIndicator {
    pub fn kind(&self) -> Kind {
        self.first.indicator.kind
    }

    pub fn value(&self) -> &Untrusted {
        &self.first.indicator.value
    }

    /// Returns the defanged value in one line, as shown and copied.
    pub fn defanged(&self) -> Visible {
        self.first.indicator.defanged()
    }

    pub fn sightings(&self) -> impl Iterator<Item = &Sighting> {
        once(&self.first).chain(&self.others)
    }

    /// Returns how many rows of all reports name it.
    pub fn seen(&self) -> u64 {
        self.sightings().map(|sighting| sighting.indicator.seen).sum()
    }

    /// Returns the highest severity; noise only if every report has only noise.
    pub fn severity(&self) -> Option<Severity> {
        let marked = self.sightings().filter_map(|sighting| sighting.severity).min();
        marked.filter(|mark| *mark < Severity::Noise || self.sightings().all(|sighting| sighting.severity.is_some()))
    }

    /// Returns the number of the most severe rule.
    pub fn rule(&self) -> Option<u16> {
        let marked = self.sightings().filter(|sighting| sighting.rule.is_some());
        marked.min_by_key(|sighting| sighting.severity)?.rule
    }

    pub fn is_to_block(&self) -> bool {
        self.sightings().any(|sighting| sighting.not_to_block.is_none())
    }

    /// Explains why it should not be blocked, by the first report; `None` if it should.
    pub fn not_to_block(&self) -> Option<&'static str> {
        self.first.not_to_block.filter(|_| !self.is_to_block())
    }

    /// Returns whether only decoded text names it.
    pub fn is_decoded(&self) -> bool {
        self.sightings().all(|sighting| sighting.indicator.is_decoded)
    }
}

/// Merges the indicators of reports, one report after the other.
#[derive(Default)]
pub struct Merger {
    found: Vec<MergedIndicator>,
    known: KnownNumbers,
    count: usize,
}

impl Merger {
    /// Adds the indicators of a report; fails if all of them have too many.
    pub fn add(
        &mut self,
        found: Indicators,
        cancel: &Cancel,
        evaluate: impl Fn(Indicator) -> Sighting,
    ) -> io::Result<()> {
        self.count += found.found.len();
        if self.count > MAX_INDICATORS {
            return Err(refusal("the reports name"));
        }
        for (count, indicator) in found.found.into_iter().enumerate() {
            if count % 4096 == 0 {
                cancel.check()?;
            }
            let all = &self.found;
            let is_same =
                |known: usize| all.get(known).is_some_and(|known| is_same(&known.first.indicator, &indicator));
            let number = self.known.number_of(indicator.kind, &indicator.value, all.len(), is_same);
            let sighting = evaluate(indicator);
            match self.found.get_mut(number) {
                Some(known) => known.others.push(sighting),
                None => self.found.push(MergedIndicator { first: sighting, others: Vec::new() }),
            }
        }
        Ok(())
    }

    /// Sorts by kind, within a kind those to block first, otherwise in the order of the reports.
    pub fn sorted(mut self) -> Vec<MergedIndicator> {
        self.found.sort_by_key(|found| (found.kind(), !found.is_to_block()));
        self.found
    }
}
