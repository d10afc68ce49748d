//! The processes of each report: a tree that folds, and a picture of when they started.

use super::inert::{Inert, pieces};
use super::{HtmlReport, HtmlSection, MAX_LISTED, decoded_lines, note_mark, rule_mark};
use crate::export::opened::OpenedReport;
use crate::report::{Pane, RowPlace};
use crate::text::count;
use maud::{Markup, html};
use std::io;
use std::ops::Range;

/// Maximum levels that are nested; browsers flatten a page of hundreds.
const MAX_LEVELS: usize = 20;

/// Maximum processes in a picture, and columns of their names with the indent.
const MAX_PICTURED: usize = 100;
const NAME_COLUMNS: usize = 48;

/// The left and right end of the time, and a process's height, in units of the picture.
const START: f64 = 360.0;
const END: f64 = 940.0;
const LINE: f64 = 22.0;

impl HtmlReport<'_> {
    /// Returns the trees, if they are written as a whole.
    pub(super) fn processes(&self) -> io::Result<Option<HtmlSection>> {
        let length = |opened: &OpenedReport<'_>| tree(opened).map_or(0, |section| opened.rows(section).len());
        let all: usize = self.merged.opened.iter().map(length).sum();
        if all == 0 {
            return Ok(None);
        }
        self.merged.check_cancel()?;
        let body = html! {
            @for opened in self.merged.opened.iter().filter(|opened| length(opened) > 0) {
                @let (all, listed) = (length(opened), length(opened).min(MAX_LISTED));
                @if self.merged.opened.len() > 1 { h3 { (Inert::words(self.merged.label(opened))) } }
                div.tree { (branch(opened, 0..listed, 0)) } "\n"
                (self.rest(listed, all, "process", &self.command(Some(opened), "--pane processes --format csv")))
                (timeline(opened))
            }
        };
        Ok(Some(("processes", "Processes", count(all as u64, "process"), body)))
    }
}

/// Returns the section of a tree that is written as a whole: its rows are not listed again.
fn tree(opened: &OpenedReport<'_>) -> Option<usize> {
    opened.report.tree().filter(|(_, section)| opened.is_whole(section)).map(|(section, _)| section)
}

/// Returns the rows of whole subtrees as a list; below the last level, all descendants in one list.
fn branch(opened: &OpenedReport<'_>, rows: Range<usize>, level: usize) -> Markup {
    let Some((section, tree)) = opened.report.tree() else { return Markup::default() };
    let end_of = |row: usize| if level < MAX_LEVELS { tree.depths().end_of(row).min(rows.end) } else { row + 1 };
    let starts = std::iter::successors(Some(rows.start), |row| Some(end_of(*row))).take_while(|row| *row < rows.end);
    html! {
        ul { @for place in starts.map(|row| RowPlace { section, row }) {
            @let (below, process) = (place.row + 1..end_of(place.row), process(opened, place));
            li {
                @if below.is_empty() { div.process { (process) } }
                @else { details open { summary.process { (process) } "\n" (branch(opened, below, level + 1)) } }
            } "\n"
        } }
    }
}

fn process(opened: &OpenedReport<'_>, place: RowPlace) -> Markup {
    let depth = opened.report.section(place.section).and_then(|tree| tree.depths().get(place.row)).map(usize::from);
    html! {
        @if let Some(depth) = depth.filter(|depth| *depth > MAX_LEVELS) { small { "level " (depth) " " } }
        (pieces(Pane::Processes, &opened.report.row(place.section, place.row)))
        (rule_mark(opened.rule(place))) (note_mark(opened.notes.get(&place).copied())) (decoded_lines(opened, place))
    }
}

/// Draws the processes in tree order, each at its start, joined to its parent, in sandbox units.
fn timeline(opened: &OpenedReport<'_>) -> Markup {
    let starts = opened.report.starts(MAX_PICTURED);
    let last = starts.iter().map(|start| start.offset).fold(0.0, f64::max);
    if last <= 0.0 {
        return Markup::default();
    }
    let x_of = |offset: f64| START + (END - START) * (offset / last);
    let y_of = |number: usize| LINE * (number as f64 + 0.5);
    let height = y_of(starts.len());
    html! {
        details.timeline open {
            summary { "When they started " small { "by the sandbox's own clock" } }
            div.wide { svg viewBox={ "0 0 1000 " (height + LINE) } role="img" aria-label="When processes started" {
                @for offset in [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| part * last) {
                    path.tick d=(format!("M{:.1} 0V{height}", x_of(offset))) {}
                    text.at x=(format!("{:.1}", x_of(offset))) y=(height + 14.0) text-anchor="middle" { (label(offset)) }
                }
                @for (number, start) in starts.iter().enumerate() {
                    @let (x, y) = (format!("{:.1}", x_of(start.offset)), y_of(number));
                    @let indent = usize::from(start.depth.min(12));
                    @let above = starts.iter().enumerate().take(number).rfind(|(_, above)| above.depth < start.depth);
                    @if let Some((above, parent)) = above {
                        path.join d=(format!("M{:.1} {}V{y}H{x}", x_of(parent.offset), y_of(above))) {}
                    }
                    text x=(indent * 8) y=(y + 4.0) { (Inert::words(start.name.visible_cut(NAME_COLUMNS - indent).as_str())) }
                    circle class={ "dot " (opened.rule(start.place).map_or("none", |rule| rule.severity.name())) } cx=(x) cy=(y) r="5" {}
                    text.at x=(format!("{:.1}", x_of(start.offset) + 9.0)) y=(y + 4.0) { (label(start.offset)) } "\n"
                }
            } }
        }
    }
}

fn label(offset: f64) -> String {
    format!("+{}", (offset * 10.0).round() / 10.0)
}
