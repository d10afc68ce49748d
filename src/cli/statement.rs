//! `behaview quota --statement`: what a month's calls cost, as Markdown, CSV or HTML.

use super::*;
use crate::export::{csv, markdown};
use crate::quota::{CallCost, CostGrouping};
use crate::text::names;
use jiff::civil::Date;
use maud::{DOCTYPE, html};
use std::io::Write as _;

names! {
    /// A format of statements.
    StatementFormat { Markdown "md", Csv "csv", Html "html", }
}

const STATEMENT_COLUMNS: [&str; 4] = ["calls", "spent", "saved", "unit"];

const STATEMENT_STYLE: &str = "body{font:1em sans-serif;margin:2em}td,th{padding:.2em 1em;text-align:left}";

pub(super) fn format(typed: &str) -> Result<StatementFormat, &'static str> {
    StatementFormat::named(typed).ok_or("expected md, csv or html")
}

/// Prints what a month's calls cost by person, project, operation and day. Text is inert.
pub(super) fn print(setup: &Setup, month: Option<Date>, format: StatementFormat) -> Result<()> {
    let (month, ledger, costs) = counters::costs_of(setup, month)?;
    let profile = to_visible(&setup.gateway.client.profile().name);
    let read = setup.gateway.now().strftime("%F %R UTC");
    let words = "Spent: the units that calls count as. Saved: what stored responses saved when a call was to be sent.";
    let title = format!("Statement of {month}");
    let remark = format!("Profile {profile}, by the ledger of the {ledger}, read {read}. {words}");
    let mut out = Vec::new();
    match format {
        StatementFormat::Markdown => {
            writeln!(out, "# {title}\n\n{remark}")?;
            for (by, rows) in statement_tables(&costs, markdown::cell, thousands) {
                writeln!(out, "\n| {by} | {} |\n|---|---:|---:|---:|---|", STATEMENT_COLUMNS.join(" | "))?;
                rows.iter().try_for_each(|row| writeln!(out, "| {} |", row.join(" | ")))?;
            }
        }
        StatementFormat::Html => out.extend(statement_page(&title, &remark, &costs).into_bytes()),
        StatementFormat::Csv => {
            csv::line(&mut out, ["by", "name"].into_iter().chain(STATEMENT_COLUMNS))?;
            for (by, rows) in statement_tables(&costs, csv::cell, |number| number.to_string()) {
                rows.into_iter().try_for_each(|row| csv::line(&mut out, [by.to_owned()].into_iter().chain(row)))?;
            }
        }
    }
    Output::new(false).print(&out)
}

/// Returns the rows of each table of a statement: a name with its sums.
fn statement_tables(
    costs: &[CallCost],
    text: fn(&Untrusted) -> String,
    number: fn(u64) -> String,
) -> impl Iterator<Item = (&'static str, Vec<[String; 5]>)> {
    CostGrouping::ALL.into_iter().map(move |by| {
        let row = by.sum(costs).into_iter().map(|sum| {
            let [calls, spent, saved] = [sum.calls, sum.charged, sum.saved].map(number);
            [text(&sum.name), calls, spent, saved, text(&sum.unit)]
        });
        (by.name(), row.collect())
    })
}

fn statement_page(title: &str, remark: &str, costs: &[CallCost]) -> String {
    let page = html! {
        (DOCTYPE)
        meta charset="utf-8";
        meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
        title { (title) }
        style { (STATEMENT_STYLE) }
        h1 { (title) }
        p { (remark) }
        @for (by, rows) in statement_tables(costs, |text| text.visible().disarmed().to_string(), thousands) {
            table {
                tr { th { (by) } @for column in STATEMENT_COLUMNS { th { (column) } } }
                @for row in rows { tr { @for cell in row { td { (cell) } } } }
            }
        }
    };
    page.into_string()
}
