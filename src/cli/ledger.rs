//! `behaview ledger`: calls and their cost, with the service's counters for comparison. Sends
//! nothing.

use super::Common;
use super::output::{Table, json_line, print_json, print_text};
use crate::export::csv;
use crate::quota::audit::Window;
use crate::quota::{Period, Units};
use crate::store::{LedgerEntry, State, Whose};
use crate::text::{said, thousands};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

const EXAMPLES: &str = "\
Examples:
  behaview ledger --month
  behaview ledger --all --format csv

An entry is charged, free, unsent, unknown (lost or refused) or reserved (under way, or its program was \
killed: the next call makes that unknown). What is unknown or reserved counts at its highest price until the service's counters say \
otherwise: behaview quota looks at them, and costs nothing.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LedgerArgs {
    #[command(flatten)]
    time: LedgerTime,
    /// Print JSON, with totals and the comparison
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print only the entries, one a line
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<LedgerFormat>,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct LedgerTime {
    /// The last run that asked anything
    #[arg(long)]
    session: bool,
    /// Today, from 00:00 UTC; this is what is shown unless told otherwise
    #[arg(long)]
    today: bool,
    /// This month, from the 1st, 00:00 UTC
    #[arg(long)]
    month: bool,
    /// Everything
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LedgerFormat {
    /// Comma-separated, with a heading
    Csv,
    /// One JSON object a line
    Jsonl,
}

/// The output of `ledger --json`.
#[derive(Serialize)]
struct LedgerOutput<'a> {
    profile: &'a str,
    time: &'static str,
    entries: Vec<EntryOutput>,
    totals: Vec<LedgerTotal>,
    /// `None` without readings of the counters before and after.
    compared: Option<Reconciliation>,
}

impl LedgerArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (folders, config) = common.config()?;
        let profile = config.profile(None)?;
        let store = super::setup::open_to_look(&folders.store)?;
        let service = super::setup::service_of(&profile);
        let whose = Whose { profile: &profile.name, service: &service, owner: None };
        let entries = self.time.of(store.entries(whose)?, crate::clock::now());
        let compared = Reconciliation::of(&entries, &store.windows(whose)?);
        let rows = entries.iter().map(EntryOutput::of).collect::<Vec<_>>();
        match self.format {
            Some(LedgerFormat::Csv) => print_text(&String::from_utf8_lossy(&csv(&rows)?)),
            Some(LedgerFormat::Jsonl) => print_text(&lines(&rows)?),
            None if self.json => {
                let (time, totals) = (self.time.name(), totals(&rows));
                print_json(&LedgerOutput { profile: &profile.name, time, entries: rows, totals, compared })
            }
            None => print_text(&ledger_text(&rows, compared.as_ref())),
        }
    }
}

impl LedgerTime {
    fn name(&self) -> &'static str {
        match self {
            Self { session: true, .. } => "session",
            Self { month: true, .. } => "month",
            Self { all: true, .. } => "all",
            _ => "today",
        }
    }

    fn of(&self, entries: Vec<LedgerEntry>, now: Timestamp) -> Vec<LedgerEntry> {
        let last = entries.last().map(|entry| entry.session.clone());
        let fits = |entry: &LedgerEntry| match self {
            Self { session: true, .. } => Some(&entry.session) == last.as_ref(),
            Self { month: true, .. } => entry.is_in(Period::Monthly, now),
            Self { all: true, .. } => true,
            _ => entry.is_in(Period::Daily, now),
        };
        entries.into_iter().filter(fits).collect()
    }
}

/// The units that the service counted, compared with those that this program accounts for.
#[derive(Debug, Serialize)]
struct Reconciliation {
    since: Timestamp,
    until: Timestamp,
    /// Requests by which the user's counter rose from the first reading to the last.
    counted: u64,
    /// Requests that this program's calls certainly cost.
    certain: u64,
    /// Requests that its other calls may have cost; `None` if no limit is known.
    unsure: Option<u64>,
    /// The comparison as text.
    words: String,
}

impl Reconciliation {
    /// Compares these entries, the oldest first; `None` without two readings around any of them.
    fn of(entries: &[LedgerEntry], windows: &[Window]) -> Option<Self> {
        let (first, last) = (entries.first()?.at, entries.last()?.at);
        let mut touched = windows.iter().filter(|window| window.until >= first && window.since <= last).peekable();
        let since = touched.peek()?.since;
        let (mut until, mut counted, mut certain, mut unsure) = (since, 0_u64, 0_u64, Some(0_u64));
        for window in touched {
            until = until.max(window.until);
            counted = counted.saturating_add(window.rose);
            certain = certain.saturating_add(window.certain);
            unsure = unsure.zip(window.unsure).map(|(sum, more)| sum.saturating_add(more));
        }
        let words = words(counted, certain, unsure);
        Some(Self { since, until, counted, certain, unsure, words })
    }

    /// The last line of the text.
    fn line(&self) -> String {
        let time = crate::text::moment;
        format!("from {} to {}: {}", time(self.since), time(self.until), self.words)
    }
}

fn words(counted: u64, certain: u64, unsure: Option<u64>) -> String {
    let rest = counted.saturating_sub(certain);
    let start = format!("the counters rose by {counted}, this program accounts for {certain}");
    match (counted.checked_sub(certain), unsure) {
        (Some(0), Some(0)) => format!("{start}: they agree"),
        (Some(0), _) => format!("{start}: calls whose outcome is not known seem to have cost nothing"),
        (None, _) => format!("{start}: a price is too high, or the counters lag"),
        (Some(_), Some(0)) => format!("{start}: {rest} by others with the same key, or a price is too low"),
        _ => format!("{start}: {rest} by others with the same key, or by calls whose outcome is not known"),
    }
}

/// Formats a cell of the CSV.
type Cell = fn(&EntryOutput) -> String;

/// The columns of the CSV, named like the members in JSON.
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

/// An entry in the output.
#[derive(Debug, Serialize)]
struct EntryOutput {
    time: Timestamp,
    session: String,
    operation: String,
    what: String,
    unit: String,
    predicted_min: u64,
    /// `None` if no limit was known.
    predicted_max: Option<u64>,
    /// `None` until it is known.
    settled: Option<u64>,
    /// The units counted for it: never less than it may have cost.
    counts_as: u64,
    /// Whether it may have cost more than that: no limit was known, and the response was lost.
    at_least: bool,
    state: State,
    outcome: Option<String>,
    counted: Option<String>,
}

/// The sum of the entries of one unit and one state.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct LedgerTotal {
    unit: String,
    state: State,
    calls: u64,
    counts_as: u64,
    at_least: bool,
}

impl EntryOutput {
    fn of(entry: &LedgerEntry) -> Self {
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

/// Text in visible form. Most text of the ledger is escaped already.
fn safe(text: &str) -> String {
    said(text).into()
}

/// The sums of the entries, by unit and state.
fn totals(rows: &[EntryOutput]) -> Vec<LedgerTotal> {
    let mut sums: BTreeMap<(&str, State), (u64, u64, bool)> = BTreeMap::new();
    for row in rows {
        let (calls, units, at_least) = sums.entry((&row.unit, row.state)).or_default();
        *calls += 1;
        *units = units.saturating_add(row.counts_as);
        *at_least |= row.at_least;
    }
    let total = |((unit, state), (calls, counts_as, at_least)): ((&str, State), _)| LedgerTotal {
        unit: unit.to_owned(),
        state,
        calls,
        counts_as,
        at_least,
    };
    sums.into_iter().map(total).collect()
}

/// The ledger as text: entries, totals, and the comparison as the last line.
fn ledger_text(rows: &[EntryOutput], compared: Option<&Reconciliation>) -> String {
    if rows.is_empty() {
        return "Nothing was asked of the service in this time; behaview ledger --all shows everything.\n".to_owned();
    }
    let mut entries =
        Table::new(&["time (UTC)", "operation", "what", "predicted", "settled", "state", "outcome", "counters"], &[]);
    let mut before = None;
    for row in rows {
        // One reading of the counters may explain several calls; it is printed only once.
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
    for LedgerTotal { unit, state, calls, counts_as, at_least } in totals(rows) {
        let least = if at_least { "at least " } else { "" };
        sums.row([unit, state.name().to_owned(), thousands(calls), format!("{least}{}", thousands(counts_as))]);
    }
    let last = compared.map_or_else(
        || "the counters were not looked at before and after these calls: behaview quota looks, for nothing".to_owned(),
        Reconciliation::line,
    );
    format!("{entries}\n{sums}\n{last}\n")
}

/// One JSON object per line.
fn lines(rows: &[EntryOutput]) -> serde_json::Result<String> {
    rows.iter().map(|row| Ok(json_line(row)? + "\n")).collect()
}

/// Comma-separated values in the format of all exports.
fn csv(rows: &[EntryOutput]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    csv::line(&mut out, COLUMNS.map(|(name, _)| name))?;
    rows.iter().try_for_each(|row| csv::line(&mut out, COLUMNS.map(|(_, cell)| csv::safe(&cell(row)))))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{words, *};

    #[test]
    fn a_difference_is_explained() {
        for (counted, certain, unsure, end) in [
            (3, 3, Some(0), "they agree"),
            (3, 3, Some(1), "seem to have cost nothing"),
            (2, 3, Some(0), "or the counters lag"),
            (5, 3, Some(0), "2 by others with the same key, or a price is too low"),
            (5, 3, Some(1), "2 by others with the same key, or by calls whose outcome is not known"),
            (5, 3, None, "or by calls whose outcome is not known"),
        ] {
            let words = words(counted, certain, unsure);
            let start = format!("the counters rose by {counted}, this program accounts for {certain}: ");
            assert!(words.starts_with(&start) && words.ends_with(end), "{words}");
        }
    }

    #[test]
    fn what_is_visible_already_is_not_escaped_twice() {
        assert_eq!(safe(r"report ab\x1b[2J"), r"report ab\x1b[2J");
        assert_eq!(safe("report ab\u{1b}[2J"), r"report ab\x1b[2J");
        assert_eq!(safe(r"a\x5cx1b"), r"a\x5cx1b");
        assert_eq!(safe("\\x1b\u{202e}"), r"\x5cx1b\u{202e}");
    }
}
