//! `behaview quota` and `usage`: the service's own counters, and who spent a month's quota; both
//! calls are free. `behaview ledger`: calls and their cost, beside these counters; sends nothing.

use super::*;
use crate::app::spending::counters::{
    CountersView, KNOWN_HEADING, LEDGER_HEADING, OTHERS_HEADING, usage_remarks, usage_rows,
};
use crate::export::csv;
use crate::quota::audit::{self, LedgerEntry, Window};
use crate::quota::{
    Balance, Balances, CallCost, CostGrouping, CostSum, Holder, Period, Projection, State, Unit, Usage as UsageDetails,
};
use crate::store::Payer;
use crate::team::Team;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::cmp::Ordering;

#[derive(Debug, Args)]
#[command(after_help = examples("quota"))]
pub(super) struct QuotaArgs {
    /// Sum what was spent this month by user, day, operation or project: by the team's ledger, or
    /// this machine's
    #[arg(long, value_name = "WHAT", value_parser = grouping)]
    by: Option<CostGrouping>,
    /// Print a statement of the month, as md, csv or html; sends nothing
    #[arg(long, value_name = "FORMAT", value_parser = statement::format)]
    #[arg(conflicts_with_all = ["by", "warn_at", "json"])]
    statement: Option<statement::StatementFormat>,
    /// Another month than this one (UTC), as 2026-11
    #[arg(long, value_parser = month)]
    month: Option<Date>,
    /// Exit with code 6 if a day's or a month's limit is used up to this percentage
    #[arg(long, value_name = "PERCENT")]
    warn_at: Option<u64>,
    #[command(flatten)]
    form: FormatFlags,
}

impl QuotaArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let setup = setup(common, Spending::default())?;
        if let Some(format) = self.statement {
            return statement::print(&setup, self.month, format);
        }
        let balances = fetch_balances(&setup)?;
        let shown = CountersView::new(&balances, crate::clock::now());
        match self.by {
            Some(by) => print_sums(&setup, (by, self.month), &shown.projections, self.form.json)?,
            None => print(self.form.json, &shown, || counters_text(&shown))?,
        }
        self.warn_at.map_or(Ok(()), |percent| check_use(&balances, percent))
    }
}

/// Fails if a day's or a month's limit is used up to this percentage, and names the first.
fn check_use(balances: &Balances, percent: u64) -> Result<()> {
    let counters = balances.counters.iter().filter_map(|counter| Some((counter, counter.meaning?)));
    for (counter, (unit, period)) in counters.filter(|(_, (_, period))| *period >= Period::Daily) {
        for holder in Holder::ALL {
            let used = counter.limit(holder).and_then(Balance::percent_used);
            if let Some(used) = used.filter(|used| *used >= percent) {
                fail!(Quota, "{used} % of the {}'s {} {} are used", holder.name(), unit.plural(), period.current());
            }
        }
    }
    Ok(())
}

pub(super) fn fetch_balances(setup: &Setup) -> Result<Balances> {
    let balances = read_balances(&send(setup, &Request::Quotas, true)?.body)?;
    Ok(setup.gateway.completed(balances)?)
}

/// Parses a response to the quota call, fresh or saved.
pub(super) fn read_balances(response: &[u8]) -> Result<Balances, CliError> {
    Balances::parse(response).map_err(|why| FailureKind::Malformed.error(why))
}

fn counters_text(shown: &CountersView<'_>) -> String {
    let others = shown.rows(false).peekable().peek().map(|_| table(OTHERS_HEADING, shown.rows(false)));
    let others = others.map(|others| format!("\n{others}")).unwrap_or_default();
    let known = table(KNOWN_HEADING, shown.rows(true)) + "\n" + &table(["period", "resets"], shown.resets());
    with_remarks(known + &others, shown.remarks())
}

fn with_remarks(table: String, remarks: impl Iterator<Item = String>) -> String {
    table + &remarks.map(|remark| remark + "\n").collect::<String>()
}

/// Parses a month such as 2026-11, as its first day.
fn month(typed: &str) -> Result<Date, &'static str> {
    format!("{typed}-01").parse().map_err(|_| "expected a month as 2026-11")
}

fn grouping(typed: &str) -> Result<CostGrouping, &'static str> {
    CostGrouping::named(typed).ok_or("expected user, project, operation, file or day")
}

/// Returns a month's name, whose ledger counts, and the costs by it; sends no request.
pub(super) fn costs_of(setup: &Setup, month: Option<Date>) -> Result<(String, &'static str, Vec<CallCost>)> {
    let first = month.unwrap_or_else(|| setup.gateway.now().to_zoned(TimeZone::UTC).date().first_of_month());
    let month = first.strftime("%Y-%m").to_string();
    let mut costs = setup.runtime.block_on(setup.gateway.costs(first.to_zoned(TimeZone::UTC)?.timestamp()))?;
    costs.retain(|cost| cost.day.starts_with(&month));
    Ok((month, if setup.gateway.team.is_some() { "team" } else { "machine" }, costs))
}

/// Explains how far the service's counter of this month differs from a ledger.
fn explained(projections: &[Projection], costs: &[CallCost], holder: Holder) -> Option<String> {
    let counted = projections.iter().find(|projection| projection.holder == holder)?.used;
    let requests = costs.iter().filter(|cost| cost.unit == Untrusted::from(Unit::Request.name()));
    let known = requests.map(|cost| cost.charged).fold(0, u64::saturating_add);
    let difference = text::count(counted.abs_diff(known), "request");
    Some(match counted.cmp(&known) {
        Ordering::Equal => format!("The service counts the same for the {}.", holder.name()),
        Ordering::Less => format!("The service counts {difference} less: uncertain calls count at their maximum."),
        Ordering::Greater => format!(
            "The service counts {difference} more for the {}: of other programs, from before this ledger, not shared, \
             or of colleagues, which a lead sees.",
            holder.name()
        ),
    })
}

/// Prints the sums of a month, and where the pace of this one leads.
fn print_sums(
    setup: &Setup,
    (by, month): (CostGrouping, Option<Date>),
    projections: &[Projection],
    as_json: bool,
) -> Result<()> {
    let is_current = month.is_none();
    let (month, ledger, costs) = costs_of(setup, month)?;
    let sums = by.sum(&costs);
    let shown = json!({"by": by, "month": month, "ledger": ledger, "sums": sums, "projections": projections});
    print(as_json, &shown, || {
        let rows = sums.iter().map(CostSum::cells);
        let rows = table([by.name(), ">calls", ">counts as", ">saved", "unit"], rows);
        let rows = if sums.is_empty() { String::new() } else { rows + "\n" };
        let holder = if setup.gateway.team.is_some() { Holder::Group } else { Holder::User };
        let difference = explained(projections, &costs, holder).filter(|_| is_current);
        let lines = projections.iter().map(ToString::to_string).chain(difference);
        let lines: String = lines.map(|line| line + "\n").collect();
        format!("{rows}By the ledger of the {ledger}, {month}.\n{lines}")
    })
}

const DAYS_PER_CALL: u8 = 30;

#[derive(Debug, Args)]
#[command(after_help = examples("usage"))]
pub(super) struct UsageArgs {
    /// Days up to today, which began at 00:00 UTC; the service stores 60
    #[arg(long, value_name = "N", default_value_t = DAYS_PER_CALL, value_parser = clap::value_parser!(u8).range(1..=60))]
    days: u8,
    #[command(flatten)]
    form: FormatFlags,
}

#[derive(Serialize)]
struct UsageOutput<'a> {
    first: Date,
    last: Date,
    #[serde(flatten)]
    usage: &'a UsageDetails,
}

impl UsageArgs {
    pub(super) fn run(self, common: &Common) -> Result<()> {
        let setup = setup(common, Spending::default())?;
        let last = setup.gateway.now().to_zoned(TimeZone::UTC).date();
        let before = |days: u8| last.saturating_sub(i64::from(days).days());
        let mut usage = UsageDetails::default();
        // The latest days come first.
        for after in (0..self.days).step_by(DAYS_PER_CALL.into()) {
            let first = before(self.days.min(after + DAYS_PER_CALL) - 1);
            let request = Request::Usage { first, last: before(after) };
            match fetch(&setup, &request, true) {
                Ok(got) => {
                    let part = UsageDetails::parse(&got.body).map_err(|why| FailureKind::Malformed.error(why))?;
                    usage = usage.plus(part);
                }
                Err(error) => return print_cost(&setup).and(Err(error.into())),
            }
        }
        print_cost(&setup)?;
        let shown = UsageOutput { first: before(self.days - 1), last, usage: &usage };
        print(self.form.json, &shown, || usage_text(&usage))
    }
}

fn usage_text(usage: &UsageDetails) -> String {
    let rows = usage_rows(usage).into_iter().flat_map(|(day, counts)| {
        counts.into_iter().map(move |(endpoint, count)| [day.clone(), endpoint, thousands(count)])
    });
    with_remarks(table(["day", "endpoint", ">requests"], rows), usage_remarks(usage))
}

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
                    "period": self.time.period().0,
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
        let (name, period) = self.time.period();
        let since = period.map_or(Timestamp::UNIX_EPOCH, |period| period.began(crate::clock::now()));
        let costs = runtime()?.block_on(team.costs(service, since))?;
        let shown = json!({"period": name, "team": costs});
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
    /// Returns its name and its quota period, if it is one.
    fn period(&self) -> (&'static str, Option<Period>) {
        match self {
            Self { all: true, .. } => ("all", None),
            Self { session: true, .. } => ("session", None),
            Self { month: true, .. } => ("month", Some(Period::Monthly)),
            _ => ("today", Some(Period::Daily)),
        }
    }

    fn of(&self, mut entries: Vec<LedgerEntry>, now: Timestamp) -> Vec<LedgerEntry> {
        let last = entries.last().filter(|_| self.session).map(|entry| entry.session.clone());
        let (_, period) = self.period();
        entries.retain(|entry| {
            last.as_ref().is_none_or(|last| entry.session == *last)
                && period.is_none_or(|period| entry.is_in(period, now))
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_odd_is_named_and_cannot_touch_a_terminal() {
        let side =
            |allowed: u64, used: u64, from: &str| json!({"allowed": allowed, "used": used, "inherited_from": from});
        let balances = Balances::read(&json!({"data": {
            "api_requests_daily": {"user": side(10, 13, "red"), "group": side(60_000_000_000, 1, "\u{1b}[2Jgroup")},
            "intelligence_searches_monthly": {"user": side(0, 12, "red"), "group": side(1000, 12, "red")},
            "private_scans_monthly": {"user": {"allowed": -1, "used": 0}},
            "new\u{202e}counter": {"user": {"allowed": 3, "used": 1}},
        }}));
        let now = "2026-11-20T09:38:50Z".parse().unwrap();
        let view = CountersView::new(&balances, now);
        let shown = counters_text(&view);
        for words in [
            "13       10    -3  130",
            "day     00:00 UTC, in 14 h 21 min",
            r"The group's limits are those of \x1b[2Jgroup.",
            r"new\u{202e}counter",
            "unparsed: private_scans_monthly/user: not two whole numbers",
        ] {
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(squeezed(&shown).contains(&squeezed(words)), "{words}\n{shown}");
        }
        assert!(!shown.contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn days_have_endpoints_and_sums() {
        let usage = UsageDetails::read(&json!({"data": {
            "daily": {"2026-11-18": {"files": 1}, "2026-11-19": {"files": 20, "\u{1b}[2J": 40}},
            "total": {"files": 22, "\u{1b}[2J": 40},
        }}));
        let wanted = "day         endpoint  requests\n\
             2026-11-18  files            1\n\
             2026-11-18  (in all)         1\n\
             2026-11-19  \\x1b[2J         40\n\
             2026-11-19  files           20\n\
             2026-11-19  (in all)        60\n\
             total       \\x1b[2J         40\n\
             total       files           21\n\
             total       (in all)        61\n\
             unparsed: files: the days add up to 21, the service's total is 22\n";
        assert_eq!(usage_text(&usage), wanted);
    }
}
