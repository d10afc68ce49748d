//! The ledger as text, CSV and JSON. Every text passes the escaper, and no cell begins what a spreadsheet would compute.

use super::compared::Compared;
use crate::cli::output::json_line;
use crate::cli::table::Table;
use crate::export::csv;
use crate::quota::Units;
use crate::store::{LedgerEntry, State};
use crate::text::{said, thousands};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// A cell of the CSV.
type Cell = fn(&Row) -> String;

/// The columns of the CSV, named as the members in JSON.
const COLUMNS: [(&str, Cell); 13] = [
    ("time", |row| row.time.to_string()),
    ("session", |row| row.session.clone()),
    ("operation", |row| row.operation.clone()),
    ("what", |row| row.what.clone()),
    ("unit", |row| row.unit.clone()),
    ("predicted_min", |row| row.predicted_min.to_string()),
    ("predicted_max", |row| row.predicted_max.map(|n| n.to_string()).unwrap_or_default()),
    ("settled", |row| row.settled.map(|n| n.to_string()).unwrap_or_default()),
    ("counts_as", |row| row.counts_as.to_string()),
    ("at_least", |row| row.at_least.to_string()),
    ("state", |row| row.state.name().to_owned()),
    ("outcome", |row| row.outcome.clone().unwrap_or_default()),
    ("counted", |row| row.counted.clone().unwrap_or_default()),
];

/// An entry as it is shown.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    time: Timestamp,
    session: String,
    operation: String,
    what: String,
    unit: String,
    predicted_min: u64,
    /// None where no limit was known.
    predicted_max: Option<u64>,
    /// None as long as it is not known.
    settled: Option<u64>,
    /// What it counts as: never less than it may have cost.
    counts_as: u64,
    /// Whether it may have cost more than that: no limit was known, and the answer was lost.
    at_least: bool,
    state: State,
    outcome: Option<String>,
    counted: Option<String>,
}

/// What entries of one unit and one state sum up to.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Total {
    unit: String,
    state: State,
    calls: u64,
    counts_as: u64,
    at_least: bool,
}

impl Row {
    pub(super) fn of(entry: &LedgerEntry) -> Self {
        Self {
            time: entry.at,
            session: safe(&entry.session),
            operation: safe(&entry.operation),
            what: safe(&entry.what),
            unit: safe(&entry.unit),
            predicted_min: entry.predicted_min,
            predicted_max: entry.predicted_max,
            settled: entry.settled,
            counts_as: entry.careful(),
            at_least: entry.is_open(),
            state: entry.state,
            outcome: entry.outcome.as_deref().map(safe),
            counted: entry.counted.as_deref().map(safe),
        }
    }

    fn predicted(&self) -> String {
        Units::Range { min: self.predicted_min, max: self.predicted_max, why: "" }.to_string()
    }
}

/// Text that may be shown. What is in visible form already, as most of the ledger is, stays as it is.
fn safe(text: &str) -> String {
    said(text).into()
}

/// What the entries sum up to, by unit and state.
pub(super) fn totals(rows: &[Row]) -> Vec<Total> {
    let mut sums: BTreeMap<(&str, State), (u64, u64, bool)> = BTreeMap::new();
    for row in rows {
        let (calls, units, at_least) = sums.entry((&row.unit, row.state)).or_default();
        *calls += 1;
        *units = units.saturating_add(row.counts_as);
        *at_least |= row.at_least;
    }
    let total = |((unit, state), (calls, counts_as, at_least)): ((&str, State), _)| Total {
        unit: unit.to_owned(),
        state,
        calls,
        counts_as,
        at_least,
    };
    sums.into_iter().map(total).collect()
}

/// The ledger for people: entries, totals, and the comparison as its last line.
pub(super) fn text(rows: &[Row], compared: Option<&Compared>) -> String {
    if rows.is_empty() {
        return "Nothing was asked of the service in this time; behaview ledger --all shows everything.\n".to_owned();
    }
    let mut entries =
        Table::new(&["time (UTC)", "operation", "what", "predicted", "settled", "state", "outcome", "counters"], &[]);
    let mut before = None;
    for row in rows {
        // What one look at the counters said of several calls is said once.
        let counted = row.counted.as_ref().map(|counted| if before == Some(counted) { "the same" } else { counted });
        before = row.counted.as_ref();
        let dash = || "-".to_owned();
        entries.row([
            row.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            row.operation.clone(),
            row.what.clone(),
            row.predicted(),
            row.settled.map_or_else(dash, thousands),
            row.state.name().to_owned(),
            row.outcome.clone().unwrap_or_else(dash),
            counted.map_or_else(dash, str::to_owned),
        ]);
    }
    let mut sums = Table::new(&["counts", "state", "calls", "counts as"], &[2, 3]);
    for Total { unit, state, calls, counts_as, at_least } in totals(rows) {
        let least = if at_least { "at least " } else { "" };
        sums.row([unit, state.name().to_owned(), thousands(calls), format!("{least}{}", thousands(counts_as))]);
    }
    let last = compared.map_or_else(
        || "the counters were not looked at before and after these calls: behaview quota looks, for nothing".to_owned(),
        Compared::line,
    );
    format!("{entries}\n{sums}\n{last}\n")
}

/// One object a line.
pub(super) fn lines(rows: &[Row]) -> serde_json::Result<String> {
    rows.iter().map(|row| Ok(json_line(row)? + "\n")).collect()
}

/// Comma-separated values, as every export writes them.
pub(super) fn csv(rows: &[Row]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    csv::line(&mut out, COLUMNS.map(|(name, _)| name))?;
    rows.iter().try_for_each(|row| csv::line(&mut out, COLUMNS.map(|(_, cell)| csv::safe(&cell(row)))))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_visible_already_is_not_escaped_twice() {
        assert_eq!(safe(r"report ab\x1b[2J"), r"report ab\x1b[2J");
        assert_eq!(safe("report ab\u{1b}[2J"), r"report ab\x1b[2J");
        assert_eq!(safe(r"a\x5cx1b"), r"a\x5cx1b");
        assert_eq!(safe("\\x1b\u{202e}"), r"\x5cx1b\u{202e}");
    }
}
