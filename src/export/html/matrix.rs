//! Tables of all reports: the ATT&CK matrix, which sandbox saw what, and what was paid.

use super::inert::{Inert, pieces};
use super::{HtmlReport, HtmlSection};
use crate::export::Part;
use crate::report::attack::{Technique, rank};
use crate::report::compare::{MAX_COLUMNS, Matrix, SeenFilter};
use crate::report::rules::Severity;
use crate::report::{Attribute, Pane, Piece};
use crate::text::{Untrusted, count, moment, thousands};
use maud::html;
use std::collections::BTreeMap;
use std::io;

/// Maximum rows of techniques that are read of a list, and techniques that are shown.
const MAX_ROWS: usize = 10_000;
const MAX_TECHNIQUES: usize = 400;

/// Maximum items of a pane that are compared in the page.
const MAX_ITEMS: usize = 200;

/// Counts of a technique: rows where sandboxes name it, rows of rules, and their highest severity.
type TechniqueCount = (u64, u64, Option<Severity>);

impl HtmlReport<'_> {
    /// Returns a column for each tactic, in the order of MITRE's matrix.
    pub(super) fn techniques(&self) -> io::Result<Option<HtmlSection>> {
        let found: Vec<_> = self.technique_counts()?.into_iter().collect();
        let listed = found.get(..MAX_TECHNIQUES).unwrap_or(&found);
        let body = html! {
            div.matrix { @for column in listed.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
                @let tactic = column.first().and_then(|((_, id), _)| Technique::of(id.as_bytes()));
                div.tactic {
                    h3 { (tactic.map_or("Other", Technique::tactic)) " " small { (column.len()) } }
                    @for ((_, id), (named, marked, severity)) in column {
                        div class={ "cell " (severity.map_or("none", Severity::name)) } {
                            b { (Inert::of(id)) } " " (Technique::of(id.as_bytes()).map_or("", |technique| technique.name)) " "
                            @if *named > 0 { small { "named " (count(*named, "time")) } }
                            @if *marked > 0 { small { (count(*marked, "row")) " by rules" } }
                        } "\n"
                    }
                }
            } }
            (self.rest(listed.len(), found.len(), "technique", &self.command(None, "--pane techniques --format csv")))
        };
        let section = ("attack", "ATT&CK", count(found.len() as u64, "technique"), body);
        Ok(Some(section).filter(|_| *self.what == Part::All && !found.is_empty()))
    }

    /// Returns the techniques by the place of their tactic in the matrix.
    fn technique_counts(&self) -> io::Result<BTreeMap<(usize, Untrusted), TechniqueCount>> {
        let mut found = BTreeMap::<(usize, Untrusted), TechniqueCount>::new();
        for opened in &self.merged.opened {
            for technique in &opened.marks.techniques {
                let (_, marked, severity) = found.entry((rank(&technique.id), technique.id.clone())).or_default();
                *marked += technique.rows.len() as u64;
                *severity = severity.map_or(Some(technique.severity), |known| Some(known.min(technique.severity)));
            }
            let sections = (0..).zip(&opened.report.index.sections);
            for (section, known) in sections.filter(|(_, known)| known.attribute.is_some_and(Attribute::is_technique)) {
                for row in (0..known.len().min(MAX_ROWS)).map(|row| opened.report.row(section, row)) {
                    opened.check_cancel()?;
                    let Some(id) = row.pieces.iter().find_map(Piece::value) else { continue };
                    let id = Untrusted::from(id.as_bytes().trim_ascii());
                    found.entry((rank(&id), id)).or_default().0 += 1;
                }
            }
        }
        Ok(found)
    }

    /// Returns the items of all reports with a sign for each report; nothing for a single report.
    pub(super) fn sandboxes(&self) -> io::Result<Option<HtmlSection>> {
        let opened = &self.merged.opened;
        let job = opened.first().map(|first| first.job).filter(|_| *self.what == Part::All && opened.len() > 1);
        let Some(job) = job else { return Ok(None) };
        let columns: Vec<_> = opened.iter().take(MAX_COLUMNS).collect();
        let bodies: Vec<_> = columns.iter().map(|one| Some(one.report.body.clone())).collect();
        let matrix = Matrix::of(&bodies).with_techniques(job.rules, job.cancel)?;
        let sides: Vec<u64> = (0..columns.len()).map(|number| 1 << number).collect();
        let everywhere = matrix.select(None, SeenFilter::All, &sides, 0).len();
        let body = html! {
            p.why { "● seen · not seen ≠ with other values than the first that saw it ◇ by our rules alone ? perhaps cut from its list" }
            ol.legend { @for one in &columns { li { (Inert::words(self.merged.label(one))) } } }
            (self.rest(columns.len(), opened.len(), "report", "behaview compare"))
            @for items in matrix.items().chunk_by(|one, other| one.pane == other.pane) {
                @let pane = items.first().map_or(Pane::Other, |item| item.pane);
                @let command = self.command(None, &format!("--pane {}", pane.name())).replacen("export", "compare", 1);
                details {
                    summary { (pane.title()) " " small { (thousands(items.len() as u64)) } }
                    div.wide { table.seen {
                        thead { tr { @for number in 1..=columns.len() { th { (number) } } th { "Item" } } }
                        tbody { @for item in items.iter().take(MAX_ITEMS) { tr {
                            @for column in 0..columns.len() { td.sign { (matrix.sign(item, column)) } }
                            td { (pieces(pane, &matrix.row(item))) }
                        } "\n" } }
                    } }
                    (self.rest(items.len().min(MAX_ITEMS), items.len(), "item", &command))
                } "\n"
            }
        };
        let size =
            format!("{}, {} in all reports", count(matrix.items().len() as u64, "item"), thousands(everywhere as u64));
        Ok(Some(("sandboxes", "Who saw what", size, body)))
    }

    /// Returns the calls about the file, each once, as the ledger has them.
    pub(super) fn paid(&self) -> Option<HtmlSection> {
        let calls = self.merged.opened.first()?.job.paid;
        let mut sums = BTreeMap::<&str, u64>::new();
        calls.iter().for_each(|call| *sums.entry(&call.unit).or_default() += call.units);
        let sums: Vec<_> = sums.iter().map(|(unit, units)| count(*units, unit)).collect();
        let body = html! {
            div.wide { table.paid {
                thead { tr { th { "Sent" } th { "Call" } th { "Charged" } } }
                tbody { @for call in calls { tr {
                    td.time { (moment(call.sent)) } td { (Inert::words(&call.what)) }
                    td { @if !call.is_certain { "at most " } (Inert::words(count(call.units, &call.unit))) }
                } "\n" } }
            } }
        };
        Some(("paid", "Paid", sums.join(", "), body)).filter(|_| !calls.is_empty())
    }
}
