//! `behaview ledger`: calls and their cost, beside the service's counters. Sends nothing.

use super::*;
use crate::app::spending::counters::LEDGER_HEADING;
use crate::export::csv;
use crate::quota::audit::{self, LedgerEntry, Window};
use crate::quota::{CallCost, Period, State};
use crate::store::Payer;
use crate::team::Team;

#[derive(Debug, Args)]
#[command(after_help = examples("ledger"))]
pub(super) struct LedgerArgs {
    #[command(flatten)]
    time: LedgerTime,
    /// Print JSON, with totals and the comparison
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print what the team's calls cost, by day, person and operation; everyone's for a lead
    #[arg(long, conflicts_with_all = ["format", "session"])]
    team: bool,
    /// Print only the entries, one a line
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<LedgerFormat>,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct LedgerTime {
    /// The last run that sent a request
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

/// The members of a [`LedgerEntry`], in the order of CSV's columns.
const COLUMNS: &str = "recorded_at,session,operation,request,unit,predicted_min,predicted_max,settled,counts_as,\
    at_least,state,outcome,evidence";

#[derive(Debug, Serialize)]
struct LedgerTotal {
    unit: String,
    state: State,
    calls: u64,
    counts_as: u64,
    at_least: bool,
}

impl LedgerArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let (folders, config) = common.config()?;
        let profile = config.profile()?;
        let store = open_for_reading(&folders.store)?;
        let service = service_of(&profile);
        if self.team {
            return self.print_team(&super::team::team(&config)?, &service);
        }
        let payer = Payer { profile: &profile.name, service: &service, key_digest: None };
        let entries = self.time.of(store.entries(payer)?, crate::clock::now());
        let (compared, last) = compare(&entries, &store.windows(payer)?).unzip();
        match self.format {
            Some(LedgerFormat::Csv) => print_text(&String::from_utf8_lossy(&csv(&entries)?)),
            Some(LedgerFormat::Jsonl) => print_text(
                &entries.iter().map(|row| Ok(json_line(row)? + "\n")).collect::<serde_json::Result<String>>()?,
            ),
            None => {
                let totals = totals(&entries);
                let shown = json!({
                    "profile": profile.name,
                    "period": self.time.name(),
                    "entries": entries,
                    "totals": totals,
                    // Null without readings of the counters before and after.
                    "compared": compared,
                });
                print(self.json, &shown, || ledger_text(&entries, &totals, last.as_deref()))
            }
        }
    }

    fn print_team(&self, team: &Team, service: &str) -> Result<()> {
        let now = crate::clock::now();
        let period = self.time.name();
        let since = match period {
            "all" => Timestamp::UNIX_EPOCH,
            "month" => Period::Monthly.began(now),
            _ => Period::Daily.began(now),
        };
        let costs = runtime()?.block_on(team.costs(service, since))?;
        let shown = json!({"period": period, "team": costs});
        print(self.json, &shown, || {
            let cells = |cost: &CallCost| {
                let texts = [&cost.person, &cost.operation, &cost.file, &cost.project, &cost.unit];
                let [person, operation, file, project, unit] = texts.map(|text| text.visible().to_string());
                let file = Sha256::parse(&file).map_or(file, |file| file.short());
                let [calls, charged, saved] = [cost.calls, cost.charged, cost.saved].map(thousands);
                [to_visible(&cost.day).to_string(), person, operation, file, project, calls, charged, saved, unit]
            };
            match costs.is_empty() {
                true => "No call of the team was shared in this time; behaview ledger --team --all shows everything.\n"
                    .to_owned(),
                false => table(
                    ["day (UTC)", "person", "operation", "-file", "-project", ">calls", ">counts as", ">saved", "unit"],
                    costs.iter().map(cells),
                ),
            }
        })
    }
}

impl LedgerTime {
    fn name(&self) -> &'static str {
        match self {
            Self { all: true, .. } => "all",
            Self { session: true, .. } => "session",
            Self { month: true, .. } => "month",
            _ => "today",
        }
    }

    fn of(&self, mut entries: Vec<LedgerEntry>, now: Timestamp) -> Vec<LedgerEntry> {
        let last = entries.last().map(|entry| entry.session.clone());
        entries.retain(|entry| match self.name() {
            "all" => true,
            "session" => Some(&entry.session) == last.as_ref(),
            "month" => entry.is_in(Period::Monthly, now),
            _ => entry.is_in(Period::Daily, now),
        });
        entries
    }
}

/// Compares both counts of these entries (oldest first); `None` without readings around any.
fn compare(entries: &[LedgerEntry], windows: &[Window]) -> Option<(Value, String)> {
    let window = audit::around(windows, entries.first()?.at, entries.last()?.at)?;
    let since = window.since;
    let until = window.until;
    let others = entries.iter().filter(|entry| entry.at < since || entry.at > until).count();
    let summary = match others {
        0 => window.label(),
        _ => {
            let compared = entries.len() - others;
            let all = count(entries.len() as u64, "call");
            format!("{compared} of {all}: {}. The rest once behaview quota reads the counters", window.label())
        }
    };
    let last = format!("from {} to {}: {summary}", text::moment(since), text::moment(until));
    let shown = json!({
        "since": since,
        "until": until,
        "counted": window.rose,
        "certain": window.certain,
        "unsure": window.unsure,
        "not_compared": others,
        "summary": summary,
    });
    Some((shown, last))
}

fn totals(rows: &[LedgerEntry]) -> Vec<LedgerTotal> {
    let mut sums: BTreeMap<(&str, State), LedgerTotal> = BTreeMap::new();
    for LedgerEntry { unit, state, counts_as, at_least, .. } in rows {
        let empty = || LedgerTotal { unit: unit.clone(), state: *state, calls: 0, counts_as: 0, at_least: false };
        let sum = sums.entry((unit, *state)).or_insert_with(empty);
        sum.calls += 1;
        sum.counts_as = sum.counts_as.saturating_add(*counts_as);
        sum.at_least |= at_least;
    }
    sums.into_values().collect()
}

/// Entries, totals, and the comparison as the last line.
fn ledger_text(rows: &[LedgerEntry], totals: &[LedgerTotal], compared: Option<&str>) -> String {
    if rows.is_empty() {
        return "No request was sent in this time; behaview ledger --all shows everything.\n".to_owned();
    }
    let cells = |row: &LedgerEntry| row.cells().map(|cell| if cell.is_empty() { "-".to_owned() } else { cell });
    let total = |LedgerTotal { unit, state, calls, counts_as, at_least }: &LedgerTotal| {
        let least = if *at_least { "at least " } else { "" };
        [unit.clone(), state.name().to_owned(), thousands(*calls), format!("{least}{}", thousands(*counts_as))]
    };
    let entries = table(LEDGER_HEADING, rows.iter().map(cells));
    let sums = table(["counts", "state", ">calls", ">counts as"], totals.iter().map(total));
    let none = "no reading of the counters before and after these calls: behaview quota reads them, for nothing";
    format!("{entries}\n{sums}\n{}\n", compared.unwrap_or(none))
}

fn csv(rows: &[LedgerEntry]) -> Result<Vec<u8>> {
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
