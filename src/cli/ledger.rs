//! `behaview ledger`: calls and their cost, with the service's counters for comparison. Sends
//! nothing.

use super::*;
use crate::export::csv;
use crate::quota::audit::Window;
use crate::quota::{Period, State, Units};
use crate::store::{LedgerEntry, Whose};

const EXAMPLES: &str = "\
Examples:
  behaview ledger --month
  behaview ledger --all --format csv

An entry is charged, free, unsent, unknown (lost or refused) or reserved (in flight, or its program was \
killed: the next call makes that unknown). What is unknown or reserved counts at its highest price until the service's counters say \
otherwise: behaview quota reads them, and costs nothing.";

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
    /// Today, from 00:00 UTC, as without an option
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

/// An entry; CSV has its members as columns, in this order.
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

const COLUMNS: &str = "time,session,operation,what,unit,predicted_min,predicted_max,settled,counts_as,at_least,\
    state,outcome,counted";

#[derive(Debug, Serialize)]
struct LedgerTotal {
    unit: String,
    state: State,
    calls: u64,
    counts_as: u64,
    at_least: bool,
}

impl LedgerArgs {
    pub(super) fn run(self, common: &Common) -> anyhow::Result<()> {
        let (folders, config) = common.config()?;
        let profile = config.profile()?;
        let store = super::setup::open_to_look(&folders.store)?;
        let service = super::setup::service_of(&profile);
        let whose = Whose { profile: &profile.name, service: &service, owner: None };
        let (time, entries) = self.time.of(store.entries(whose)?, crate::clock::now());
        let compared = Reconciliation::of(&entries, &store.windows(whose)?);
        let entries: Vec<_> = entries.iter().map(entry).collect();
        match self.format {
            Some(LedgerFormat::Csv) => print_text(&String::from_utf8_lossy(&csv(&entries)?)),
            Some(LedgerFormat::Jsonl) => print_text(
                &entries.iter().map(|row| Ok(json_line(row)? + "\n")).collect::<serde_json::Result<String>>()?,
            ),
            None => {
                let totals = totals(&entries);
                let shown = json!({
                    "profile": profile.name,
                    "time": time,
                    "entries": entries,
                    "totals": totals,
                    // Null without readings of the counters before and after.
                    "compared": compared,
                });
                print(self.json, &shown, || ledger_text(&entries, &totals, compared.as_ref()))
            }
        }
    }
}

impl LedgerTime {
    /// The name of the time, and its entries.
    fn of(&self, mut entries: Vec<LedgerEntry>, now: Timestamp) -> (&'static str, Vec<LedgerEntry>) {
        let last = entries.last().map(|entry| entry.session.clone());
        let name = match self {
            Self { all: true, .. } => return ("all", entries),
            Self { session: true, .. } => "session",
            Self { month: true, .. } => "month",
            _ => "today",
        };
        entries.retain(|entry| match name {
            "session" => Some(&entry.session) == last.as_ref(),
            "month" => entry.is_in(Period::Monthly, now),
            _ => entry.is_in(Period::Daily, now),
        });
        (name, entries)
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
    /// Entries that no readings stand around.
    not_compared: usize,
    words: String,
}

impl Reconciliation {
    /// Compares these entries, the oldest first; `None` without two readings around any of them.
    fn of(entries: &[LedgerEntry], windows: &[Window]) -> Option<Self> {
        let (first, last) = (entries.first()?.at, entries.last()?.at);
        let touched = windows.iter().filter(|window| window.until >= first && window.since <= last);
        let since = touched.clone().next()?.since;
        let until = touched.clone().map(|window| window.until).max()?;
        let sum = |of: fn(&Window) -> u64| touched.clone().map(of).fold(0, u64::saturating_add);
        let (counted, certain) = (sum(|window| window.rose), sum(|window| window.certain));
        let unsure = touched.map(|window| window.unsure).sum();
        let not_compared = entries.iter().filter(|entry| entry.at < since || entry.at > until).count();
        let mut words = words(counted, certain, unsure);
        if not_compared > 0 {
            words += &format!(" ({not_compared} more of these calls until behaview quota reads the counters)");
        }
        Some(Self { since, until, counted, certain, unsure, not_compared, words })
    }
}

fn words(counted: u64, certain: u64, unsure: Option<u64>) -> String {
    let rest = counted.saturating_sub(certain);
    let why = match unsure {
        Some(0) if counted == certain => "they agree".to_owned(),
        _ if counted == certain => "calls whose outcome is not known seem to have cost nothing".to_owned(),
        _ if counted < certain => "a price is too high, or the counters lag".to_owned(),
        Some(0) => format!("{rest} by others with the same key, or a price is too low"),
        _ => format!("{rest} by others with the same key, or by calls whose outcome is not known"),
    };
    format!("the counters rose by {counted}, this program accounts for {certain}: {why}")
}

fn entry(entry: &LedgerEntry) -> EntryOutput {
    EntryOutput {
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

/// Text in visible form. Most text of the ledger is escaped already.
fn safe(text: &str) -> String {
    said(text).into()
}

fn totals(rows: &[EntryOutput]) -> Vec<LedgerTotal> {
    let mut sums: BTreeMap<(&str, State), LedgerTotal> = BTreeMap::new();
    for EntryOutput { unit, state, counts_as, at_least, .. } in rows {
        let empty = || LedgerTotal { unit: unit.clone(), state: *state, calls: 0, counts_as: 0, at_least: false };
        let sum = sums.entry((unit, *state)).or_insert_with(empty);
        sum.calls += 1;
        sum.counts_as = sum.counts_as.saturating_add(*counts_as);
        sum.at_least |= at_least;
    }
    sums.into_values().collect()
}

/// Entries, totals, and the comparison as the last line.
fn ledger_text(entries: &[EntryOutput], totals: &[LedgerTotal], compared: Option<&Reconciliation>) -> String {
    if entries.is_empty() {
        return "Nothing was asked of the service in this time; behaview ledger --all shows everything.\n".to_owned();
    }
    let dash = || "-".to_owned();
    let cells = |row: &EntryOutput| {
        [
            row.time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            row.operation.clone(),
            row.what.clone(),
            Units { min: row.predicted_min, max: row.predicted_max }.to_string(),
            row.settled.map_or_else(dash, thousands),
            row.state.name().to_owned(),
            row.outcome.clone().unwrap_or_else(dash),
            row.counted.clone().unwrap_or_else(dash),
        ]
    };
    let total = |LedgerTotal { unit, state, calls, counts_as, at_least }: &LedgerTotal| {
        let least = if *at_least { "at least " } else { "" };
        [unit.clone(), state.name().to_owned(), thousands(*calls), format!("{least}{}", thousands(*counts_as))]
    };
    let heading = ["time (UTC)", "operation", "what", "predicted", "settled", "state", "outcome", "counters"];
    let entries = table(heading, entries.iter().map(cells));
    let sums = table(["counts", "state", ">calls", ">counts as"], totals.iter().map(total));
    let last = compared.map_or_else(
        || "no reading of the counters before and after these calls: behaview quota reads them, for nothing".into(),
        |compared| {
            let time = crate::text::moment;
            format!("from {} to {}: {}", time(compared.since), time(compared.until), compared.words)
        },
    );
    format!("{entries}\n{sums}\n{last}\n")
}

fn csv(rows: &[EntryOutput]) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    csv::line(&mut out, COLUMNS.split(','))?;
    for row in rows {
        let row = serde_json::to_value(row)?;
        let cells = COLUMNS.split(',').map(|name| match row.get(name) {
            Some(Value::String(text)) => csv::safe(text),
            None | Some(Value::Null) => csv::safe(""),
            Some(other) => csv::safe(&other.to_string()),
        });
        csv::line(&mut out, cells)?;
    }
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
