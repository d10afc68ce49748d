//! `behaview quota --by` and `--statement`: who spent the quota of a month, by the ledger.

use super::*;
use crate::export::{Statement, StatementFormat};
use crate::quota::{CallCost, CostGrouping, CostSum, Projection};
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Parses a month such as 2026-11, as its first day.
pub(super) fn month(typed: &str) -> Result<Date, &'static str> {
    format!("{typed}-01").parse().map_err(|_| "expected a month as 2026-11")
}

pub(super) fn grouping(typed: &str) -> Result<CostGrouping, &'static str> {
    CostGrouping::named(typed).ok_or("expected user, project, operation or day")
}

pub(super) fn format(typed: &str) -> Result<StatementFormat, &'static str> {
    StatementFormat::named(typed).ok_or("expected md, csv or html")
}

/// Returns a month's name, whose ledger counts, and the costs by it; sends no request.
fn costs_of(setup: &Setup, month: Option<Date>) -> Result<(String, &'static str, Vec<CallCost>)> {
    let first = month.unwrap_or_else(|| setup.gateway.now().to_zoned(TimeZone::UTC).date().first_of_month());
    let month = first.strftime("%Y-%m").to_string();
    let mut costs = runtime()?.block_on(setup.gateway.costs(first.to_zoned(TimeZone::UTC)?.timestamp()))?;
    costs.retain(|cost| cost.day.starts_with(&month));
    Ok((month, if setup.gateway.team.is_some() { "team" } else { "machine" }, costs))
}

/// Prints the sums of a month, and where the pace of this one leads.
pub(super) fn print_sums(
    setup: &Setup,
    (by, month): (CostGrouping, Option<Date>),
    projections: &[Projection],
    as_json: bool,
) -> Result<()> {
    let (month, ledger, costs) = costs_of(setup, month)?;
    let sums = by.sum(&costs);
    let shown = json!({"by": by, "month": month, "ledger": ledger, "sums": sums, "projections": projections});
    print(as_json, &shown, || {
        let rows = sums.iter().map(CostSum::cells);
        let rows = table([by.name(), ">calls", ">counts as", ">saved", "unit"], rows);
        let rows = if sums.is_empty() { String::new() } else { rows + "\n" };
        let projections: String = projections.iter().map(|projection| format!("{projection}\n")).collect();
        format!("{rows}By the ledger of the {ledger}, {month}.\n{projections}")
    })
}

/// Prints a statement of a month.
pub(super) fn print_statement(setup: &Setup, month: Option<Date>, format: StatementFormat) -> Result<()> {
    let (month, ledger, costs) = costs_of(setup, month)?;
    let profile = to_visible(&setup.gateway.client.profile().name);
    let read = setup.gateway.now().strftime("%F %R UTC");
    let words = "Spent: the units that calls count as. Saved: what stored responses saved when a call was to be sent.";
    let remark = format!("Profile {profile}, by the ledger of the {ledger}, read {read}. {words}");
    let mut out = Vec::new();
    Statement(format!("Statement of {month}"), remark, &costs).write(format, &mut out)?;
    Output::new(false).print(&out)
}
