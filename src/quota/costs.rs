//! Who spent what: the calls of a ledger, summed by person, day, operation, file or project.

use super::audit::LedgerEntry;
use crate::text::{Untrusted, names, thousands};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What calls of one operation, person, day (UTC), project and file cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallCost {
    pub day: String,
    pub person: Untrusted,
    pub operation: Untrusted,
    /// Empty without one.
    pub project: Untrusted,
    /// The SHA-256 of the file; empty for calls about none.
    pub file: Untrusted,
    pub unit: Untrusted,
    pub calls: u64,
    #[serde(rename = "counts_as")]
    pub charged: u64,
    /// The units that stored responses have saved.
    pub saved: u64,
}

names! {
    /// What costs are summed by.
    CostGrouping { User "user", Project "project", Operation "operation", File "file", Day "day", }
}

/// The sum of costs with one name and unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostSum {
    pub name: Untrusted,
    pub unit: Untrusted,
    pub calls: u64,
    #[serde(rename = "counts_as")]
    pub charged: u64,
    pub saved: u64,
}

impl CostSum {
    /// Returns the cells of a row: name, calls, units spent and saved, unit.
    pub fn cells(&self) -> [String; 5] {
        let [calls, charged, saved] = [self.calls, self.charged, self.saved].map(thousands);
        [self.name.visible_cut(64).to_string(), calls, charged, saved, self.unit.visible_cut(20).to_string()]
    }
}

impl CallCost {
    /// Returns the cost of one call of this machine.
    pub fn of_entry(entry: &LedgerEntry, project: &str) -> Self {
        Self {
            day: entry.at.strftime("%F").to_string(),
            person: Untrusted::from("this machine"),
            operation: Untrusted::from(&*entry.operation),
            project: Untrusted::from(project),
            file: Untrusted::from(entry.file.as_deref().unwrap_or_default()),
            unit: Untrusted::from(&*entry.unit),
            calls: 1,
            charged: entry.counts_as,
            saved: entry.saved(),
        }
    }
}

impl LedgerEntry {
    /// Returns the units that it would have cost, had its response not been stored.
    pub fn saved(&self) -> u64 {
        let why = self.outcome.as_deref().and_then(|outcome| outcome.strip_prefix("not sent: "));
        if why.is_some_and(|why| why.contains("stored")) { self.predicted_max.unwrap_or(1) } else { 0 }
    }
}

impl CostGrouping {
    /// Returns the sums: the last day first, otherwise the highest cost.
    pub fn sum(self, costs: &[CallCost]) -> Vec<CostSum> {
        let mut sums = BTreeMap::new();
        for cost in costs {
            let name = match self {
                Self::User => cost.person.clone(),
                Self::Project => cost.project.clone(),
                Self::File => cost.file.clone(),
                Self::Operation => cost.operation.clone(),
                Self::Day => Untrusted::from(&*cost.day),
            };
            let name = if name.is_empty() { Untrusted::from("(none)") } else { name };
            let empty = CostSum { name: name.clone(), unit: cost.unit.clone(), calls: 0, charged: 0, saved: 0 };
            let sum = sums.entry((name, cost.unit.clone())).or_insert(empty);
            sum.calls = sum.calls.saturating_add(cost.calls);
            sum.charged = sum.charged.saturating_add(cost.charged);
            sum.saved = sum.saved.saturating_add(cost.saved);
        }
        let mut sums: Vec<_> = sums.into_values().rev().collect();
        if self != Self::Day {
            sums.sort_by_key(|sum| Reverse((sum.charged, sum.saved)));
        }
        sums
    }
}
