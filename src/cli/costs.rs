//! `behaview quota --by` and `--statement`: who spent the quota of a month, by the ledger.

use super::*;
use crate::export::{Statement, StatementFormat};
use crate::quota::{CallCost, CostGrouping, CostSum, Holder, Projection, Unit};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::cmp::Ordering;

/// Parses a month such as 2026-11, as its first day.
pub(super) fn month(typed: &str) -> Result<Date, &'static str> {
    format!("{typed}-01").parse().map_err(|_| "expected a month as 2026-11")
}

pub(super) fn grouping(typed: &str) -> Result<CostGrouping, &'static str> {
    CostGrouping::named(typed).ok_or("expected user, project, operation, file or day")
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
pub(super) fn print_sums(
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
