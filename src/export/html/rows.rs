//! The rows of the panes as folded tables, the first of each list.

use super::inert::{Inert, pieces};
use super::processes::tree;
use super::{HtmlReport, MAX_LISTED, anchor, note_mark, row_id, rule_mark};
use crate::export::Part;
use crate::export::opened::{OpenedReport, decoded};
use crate::report::{Pane, RowPlace};
use crate::text::thousands;
use maud::{Markup, html};
use std::io::{self, Write};

pub(super) fn decoded_lines(opened: &OpenedReport<'_>, place: RowPlace) -> Markup {
    html! { @for text in decoded(&opened.report.record(place)) { div.decoded { "decoded " code { (Inert::of(&text)) } } } }
}

impl HtmlReport<'_> {
    pub(super) fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        for (number, opened) in self.merged.opened.iter().enumerate() {
            let sandbox =
                html! { @if self.merged.opened.len() > 1 { h3 { (Inert::words(self.merged.label(opened))) } "\n" } };
            out.write_all(sandbox.into_string().as_bytes())?;
            for pane in Pane::ALL {
                opened.check_cancel()?;
                out.write_all(self.pane(number, opened, pane).into_string().as_bytes())?;
            }
        }
        Ok(())
    }

    fn pane(&self, number: usize, opened: &OpenedReport<'_>, pane: Pane) -> Markup {
        let command = self.command(Some(opened), &format!("--pane {} --format csv", pane.name()));
        let sections: Vec<_> =
            opened.report.sections(pane).into_iter().filter(|list| !opened.rows(*list).is_empty()).collect();
        html! {
            @if !sections.is_empty() { details open[*self.what != Part::All] {
                summary { (opened.heading(pane)) }
                @for section in sections {
                    @let rows = opened.rows(section);
                    @if tree(opened) == Some(section) { p.why { "The " a href="#processes" { "tree" } " has its own section." } }
                    @else { div.wide { table.rows { tbody { @for row in rows.iter().take(MAX_LISTED) {
                        (row_markup(number, opened, pane, RowPlace { section, row: *row as usize }))
                    } } } } }
                    (self.rest(MAX_LISTED, rows.len(), "row", &command))
                }
            } "\n" }
        }
    }
}

fn row_markup(number: usize, opened: &OpenedReport<'_>, pane: Pane, place: RowPlace) -> Markup {
    let id = row_id(number, place);
    html! {
        tr class=[opened.marks.noise.contains(place.section, place.row).then_some("noise")] id=(id) {
            td.number { (anchor(&id, &thousands(place.row as u64 + 1))) }
            td {
                (pieces(pane, &opened.report.whole_row(place))) (rule_mark(opened.rule(place))) (note_mark(opened.notes.get(&place).copied()))
                (decoded_lines(opened, place))
            }
        } "\n"
    }
}
