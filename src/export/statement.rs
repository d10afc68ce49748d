//! Writes a statement: what calls cost by person, project, operation and day. Text is inert.

use super::{csv, markdown};
use crate::quota::{CallCost, CostGrouping};
use crate::text::{Untrusted, names, thousands};
use maud::{DOCTYPE, html};
use std::io::{self, Write};

names! {
    /// A format of statements.
    StatementFormat { Markdown "md", Csv "csv", Html "html", }
}

const COLUMNS: [&str; 4] = ["calls", "spent", "saved", "unit"];

const STYLE: &str = "body{font:1em sans-serif;margin:2em}td,th{padding:.2em 1em;text-align:left}";

/// A statement of costs, with a title and a remark of the program's own.
pub struct Statement<'a>(pub String, pub String, pub &'a [CallCost]);

impl Statement<'_> {
    /// Writes the whole statement.
    pub fn write(&self, format: StatementFormat, out: &mut dyn Write) -> io::Result<()> {
        match format {
            StatementFormat::Markdown => self.write_markdown(out),
            StatementFormat::Html => out.write_all(self.html().as_bytes()),
            StatementFormat::Csv => {
                csv::line(out, ["by", "name"].into_iter().chain(COLUMNS))?;
                let mut tables = self.tables(csv::cell, |number| number.to_string());
                tables.try_for_each(|(by, rows)| {
                    rows.into_iter().try_for_each(|row| csv::line(out, [by.to_owned()].into_iter().chain(row)))
                })
            }
        }
    }

    /// Returns the rows of each table: a name with its sums.
    fn tables(
        &self,
        text: fn(&Untrusted) -> String,
        number: fn(u64) -> String,
    ) -> impl Iterator<Item = (&'static str, Vec<[String; 5]>)> {
        CostGrouping::ALL.into_iter().map(move |by| {
            let sums = by.sum(self.2).into_iter();
            let row = sums.map(|sum| {
                let [calls, spent, saved] = [sum.calls, sum.charged, sum.saved].map(number);
                [text(&sum.name), calls, spent, saved, text(&sum.unit)]
            });
            (by.name(), row.collect())
        })
    }

    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# {}\n\n{}", self.0, self.1)?;
        // A bar ends a cell, even in a code span.
        for (by, rows) in self.tables(|text| markdown::text(text).replace('|', "\\|"), thousands) {
            writeln!(out, "\n| {by} | {} |\n|---|---:|---:|---:|---|", COLUMNS.join(" | "))?;
            rows.iter().try_for_each(|row| writeln!(out, "| {} |", row.join(" | ")))?;
        }
        Ok(())
    }

    fn html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
            title { (self.0) }
            style { (STYLE) }
            h1 { (self.0) }
            p { (self.1) }
            @for (by, rows) in self.tables(|text| text.visible().disarmed().to_string(), thousands) {
                table {
                    tr { th { (by) } @for column in COLUMNS { th { (column) } } }
                    @for row in rows { tr { @for cell in row { td { (cell) } } } }
                }
            }
        };
        page.into_string()
    }
}
