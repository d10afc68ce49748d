//! The sections of the page: what the files did, the indicators, the processes, the ATT&CK matrix,
//! which sandbox saw what, and what was paid.

use super::*;
use crate::export::Part;
use crate::report::attack::{Technique, rank};
use crate::report::compare::{MAX_COLUMNS, Matrix, SeenFilter};
use crate::report::indicators::MergedIndicator;
use crate::report::rules::{RowsByRule, RuleRows};
use crate::report::{Attribute, Section};
use std::ops::Range;

/// Maximum rows of a rule; the others are counted.
const MAX_OF_RULE: usize = 20;

/// Returns the number of rows that at least one of these rules marks; equal texts count once.
fn distinct(rules: &[RuleRows<'_, SeenRow>]) -> u64 {
    rules.iter().flat_map(|rule| rule.known.keys()).collect::<BTreeSet<_>>().len() as u64
}

/// A row, with the numbers of the reports that have it.
type SeenRow = (RowPlace, BTreeSet<usize>);

impl HtmlReport<'_> {
    pub(super) fn findings(&self) -> io::Result<HtmlSection> {
        let found = self.rule_rows()?;
        let subjects = found.chunk_by(|one, other| one.rule.subject_place() == other.rule.subject_place());
        let subjects: Vec<_> = subjects.filter_map(|rules| Some((rules.first()?.rule, rules))).collect();
        let body = html! {
            p.chips { @for (first, rules) in &subjects {
                a class={ "chip " (first.severity.name()) } href={ "#s" (first.subject_place()) } {
                    (Inert::words(first.subject_name())) " "
                    small { (thousands(distinct(rules))) }
                } " "
            } }
            @for (first, rules) in &subjects {
                h3.subject id={ "s" (first.subject_place()) } { (Inert::words(first.subject_name())) }
                @for found in *rules { (self.rule(found)) }
            }
        };
        let size = format!("{} by {}", count(distinct(&found), "distinct row"), count(found.len() as u64, "rule"));
        Ok(("findings", "What it did", size, body))
    }

    fn rule_rows(&self) -> io::Result<Vec<RuleRows<'_, SeenRow>>> {
        let mut found = RowsByRule::<SeenRow>::new(MAX_OF_RULE);
        for (report, opened) in self.merged.opened.iter().enumerate() {
            for (place, number, rule) in opened.findings() {
                opened.job.cancel.check()?;
                let text = opened.report.row(place.section, place.row).text();
                let make = |_, _| (place, BTreeSet::from([report]));
                found.add((number, rule), &text, make, |(_, reports)| _ = reports.insert(report));
            }
        }
        Ok(found.into_rules())
    }

    fn rule(&self, RuleRows { number, rule, known, rows }: &RuleRows<'_, SeenRow>) -> Markup {
        self.listed.update(|listed| listed + rows.len() as u64);
        html! {
            details.rule open[rule.severity <= Severity::Medium] {
                summary {
                    (badge(rule.severity)) " " b { (Inert::words(&rule.name)) }
                    " " small { (count(known.len() as u64, "row")) }
                    @for technique in rule.techniques() { " " span.technique { (Inert::words(technique)) } }
                }
                p.why { (Inert::words(&rule.why)) }
                ul.list { @for (place, seen_by) in rows { (self.finding(*number, *place, seen_by)) } }
                (self.rest(rows.len(), known.len(), "row", &self.command(None, "--findings --format csv")))
            } "\n"
        }
    }

    fn finding(&self, rule: u16, place: RowPlace, seen_by: &BTreeSet<usize>) -> Markup {
        let reports = || seen_by.iter().filter_map(|report| Some((report, self.merged.opened.get(*report)?)));
        let Some((report, opened)) = reports().next() else { return Markup::default() };
        let pane = opened.report.section(place.section).map_or(Pane::Other, Section::pane);
        let id = format!("f{rule}.{report}.{}.{}", place.section, place.row);
        let sandboxes: Vec<_> = reports().map(|(_, opened)| self.merged.label(opened)).collect();
        html! {
            li id=(id) {
                (anchor(&id, "#")) " " (pieces(pane, &opened.report.row(place.section, place.row)))
                (note_mark(opened.notes.get(&place).copied())) " "
                small.where {
                    (pane.title()) " " (thousands(place.row as u64 + 1)) " "
                    @if self.merged.opened.len() > 1 { (Inert::words(sandboxes.join(", "))) }
                }
                (decoded_lines(opened, place))
            } "\n"
        }
    }
}

impl HtmlReport<'_> {
    pub(super) fn indicators(&self) -> io::Result<Option<HtmlSection>> {
        if self.merged.found.is_empty() {
            return Ok(None);
        }
        self.merged.job.cancel.check()?;
        let numbered = self.merged.found.iter().enumerate();
        let (to_block, others): (Vec<_>, Vec<_>) = numbered.partition(|(_, found)| found.is_to_block());
        let as_they_are = self.command(None, "--to-block --format csv");
        let body = html! {
            @if !to_block.is_empty() {
                h3 { "To block " small { (to_block.len()) } button.copy-all type="button" hidden { "Copy all" } }
                p.why { "Defanged; as they are: " code { (Inert::words(&as_they_are)) } }
                (self.indicator_table(&to_block, &as_they_are))
            }
            @for kind in others.chunk_by(|(_, one), (_, other)| one.kind() == other.kind()) {
                @let name = kind.first().map_or("", |(_, found)| found.kind().name());
                details {
                    summary { "Other: " b { (name) } " " small { (thousands(kind.len() as u64)) } }
                    (self.indicator_table(kind, &self.command(None, &format!("--kind {name} --format csv"))))
                } "\n"
            }
        };
        Ok(Some(("indicators", "Indicators", count(self.merged.found.len() as u64, "indicator"), body)))
    }

    fn indicator_table(&self, all: &[(usize, &MergedIndicator)], command: &str) -> Markup {
        let listed = all.get(..MAX_LISTED).unwrap_or(all);
        self.listed.update(|number| number + listed.len() as u64);
        html! {
            div.wide { table.indicators {
                thead { tr { th { "Kind" } th { "Value" } th { "Why" } th { "Seen in" } } }
                tbody { @for indicator in listed { (self.indicator(indicator)) } }
            } }
            (self.rest(listed.len(), all.len(), "indicator", command))
        }
    }

    fn indicator(&self, (number, found): &(usize, &MergedIndicator)) -> Markup {
        let id = format!("i{}", number + 1);
        let reason = self.merged.reason(found).map(|(reason, _)| reason.name);
        let rule = self.merged.rule_of(found);
        html! {
            tr id=(id) {
                td { (anchor(&id, found.kind().name())) }
                td { code.indicator { (Inert(found.defanged())) } (copy_button()) }
                td {
                    @if let Some(rule) = rule { (badge(rule.severity)) " " }
                    @if let Some(words) = reason.as_ref().or(rule.map(|rule| &rule.name)) { (Inert::words(words)) }
                    @for note in self.merged.notes_about(found) { (note_mark(Some(note))) }
                }
                td.where { (Inert::words(self.merged.seen_in(found))) }
            } "\n"
        }
    }
}

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
        self.merged.job.cancel.check()?;
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
        @if let Some(rule) = opened.rule(place) { " " (badge(rule.severity)) " " span.rule { (Inert::words(&rule.name)) } }
        (note_mark(opened.notes.get(&place).copied())) (decoded_lines(opened, place))
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
        if self.merged.job.what != Part::All || found.is_empty() {
            return Ok(None);
        }
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
        Ok(Some(("attack", "ATT&CK", count(found.len() as u64, "technique"), body)))
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
                    opened.job.cancel.check()?;
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
        let MergedReports { job, opened, .. } = &self.merged;
        if job.what != Part::All || opened.len() < 2 {
            return Ok(None);
        }
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
        let calls = &self.merged.job.context.paid;
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
