//! The ledger in rows, for commands and the app.

use crate::app::overlays::{TextPage, TextRow, paragraph};
use crate::quota::audit::LedgerEntry;
use crate::quota::{Period, SpentUnits, Unit, Units, in_units};
use crate::text::thousands;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Maximum entries that the app shows, the latest.
pub const MAX_ENTRIES: usize = 500;

/// The heading of the [cells](LedgerEntry::cells); narrow screens drop columns with `-` first.
pub const HEADING: [&str; 8] =
    ["time (UTC)", "-operation", "what", "predicted", "settled", "state", "outcome", "-counters"];

impl LedgerEntry {
    /// Returns the cells of the entry; empty for an unknown value.
    pub fn cells(&self) -> [String; 8] {
        let predicted = Units { min: self.predicted_min, max: self.predicted_max };
        let predicted = Unit::named(&self.unit).map_or_else(|| predicted.to_string(), |unit| predicted.label(unit));
        [
            self.at.strftime("%F %T").to_string(),
            self.operation.clone(),
            self.what.clone(),
            predicted,
            self.settled.map(thousands).unwrap_or_default(),
            self.state.name().to_owned(),
            self.outcome.clone().unwrap_or_default(),
            self.counted.clone().unwrap_or_default(),
        ]
    }

    fn paragraph(&self, now: Timestamp) -> TextRow {
        let [_, _, what, predicted, settled, state, outcome, counters] = self.cells();
        let settled = format!("{state} {settled}").trim_end().to_owned();
        let parts = [what, format!("predicted {predicted}"), settled, outcome, counters];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let is_today = Period::Daily.meets(now, self.at, self.at);
        let time = self.at.strftime(if is_today { "%H:%M:%S" } else { "%m-%d %H:%M" });
        paragraph(&time.to_string(), parts.join(" · "))
    }
}

/// The ledger as the app shows it: its last entries; sums by session, day and month.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerPage {
    pub rows: Vec<LedgerEntry>,
    /// Units spent in each of these periods.
    pub sums: [(&'static str, BTreeMap<Unit, SpentUnits>); 3],
    /// Entries before the visible ones.
    pub older: u64,
}

impl TextPage {
    /// Returns the ledger, the latest entry first, below the sums of this session, day and month.
    pub(crate) fn ledger(page: &LedgerPage, now: Timestamp, columns: usize) -> Self {
        let sums = page.sums.iter().map(|(time, spent)| format!("{time} {}", in_units(spent)));
        let mut paragraphs = vec![paragraph("spent", sums.collect::<Vec<_>>().join(" · ")), paragraph("", "")];
        paragraphs.extend(page.rows.iter().rev().map(|row| row.paragraph(now)));
        if page.rows.is_empty() {
            paragraphs.push(paragraph("", "No call has been sent yet."));
        }
        if page.older > 0 {
            let older = thousands(page.older);
            paragraphs.push(paragraph("", format!("{older} older entries: behaview ledger --all")));
        }
        Self::new("The ledger: predicted, settled, counted; times in UTC", paragraphs, columns)
    }
}
