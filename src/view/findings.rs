//! The list of findings: subjects, their rules in columns, and the rows of unfolded rules.

use super::canvas::{Canvas, LineWriter, Words};
use super::overlay::{DrawList, covered, shown_of};
use super::pane::{columns_of, draw_labelled, draw_pieces, severity_tint};
use super::theme::Tint;
use crate::app::over::findings::{FindingList, FindingRow, Findings, MarkedRow, RuleFindings};
use crate::app::over::{ListSource, Scope};
use crate::app::{Area, Model};
use crate::report::rules::Rule;
use crate::text::{Columns, Untrusted, count, said, thousands};

/// Columns of the list from which on severities have words beside their signs.
const WORDED: usize = 70;

/// Columns from which on the sandboxes are counted.
const COUNTED: usize = 48;

/// Columns from which on techniques are named; narrower lists have their identifiers.
const NAMED: usize = 96;

/// Columns of a rule's severity, of its rows and sandboxes, of a technique's identifier and of its name.
const SEVERITY: usize = 9;
const ROWS: usize = 7;
const SANDBOXES: usize = 11;
const IDENTIFIER: usize = 10;
const TECHNIQUE: usize = 38;

const NOWHERE: usize = usize::MAX;

/// Columns of the sign that says whether a rule is folded.
const FOLD: usize = 2;

/// Where columns begin; those without room are [`NOWHERE`].
#[derive(Default)]
pub(super) struct FindingColumns {
    title: usize,
    rows: usize,
    sandboxes: usize,
    technique: usize,
    /// Whether techniques have their names.
    is_named: bool,
    /// Of the rows of a rule: their panes, and their labels with how wide these are.
    pane: usize,
    label: usize,
    labels: usize,
}

impl DrawList for Findings {
    type Columns = FindingColumns;

    const HINT: &'static str = "words of a rule, a technique or a row, such as persistence";

    fn title(list: &FindingList, model: &Model) -> String {
        let name = || Some(model.chosen()?.parts.as_ref()?.sandbox.visible_cut(30));
        let name = (list.source.scope == Scope::Sandbox).then(|| name().unwrap_or_else(|| said("this report")));
        let whose = covered(name, list.source.reports, list.source.unread);
        let counted = list.source.rows().iter().filter_map(|row| match row {
            FindingRow::Rule(of) => Some(of.count),
            _ => None,
        });
        let (rules, rows) = counted.fold((0, 0), |(rules, rows), more| (rules + 1, rows + more));
        let found = list.shown(0).filter(|row| row.finding().is_some()).count();
        let rows = shown_of((if list.is_filtered() { found } else { rows }, rows), "row");
        format!("Findings · {whose} · {rows} by {}", count(rules, "rule"))
    }

    fn under_way(list: &FindingList) -> Option<&'static str> {
        (!list.source.is_complete).then_some("looking")
    }

    fn absent(list: &FindingList, _: &Model) -> String {
        if list.is_filtered() { "no match" } else { "No rule marks a row." }.to_owned()
    }

    fn columns(list: &FindingList, rows: &[&FindingRow], room: usize, model: &Model) -> FindingColumns {
        let is_of_file = list.source.scope == Scope::File;
        let titles = list.source.rows().iter().filter_map(|row| match row {
            FindingRow::Rule(of) => Some(rule(of.number, model)?.name.columns() + 2),
            _ => None,
        });
        let severity = if room >= WORDED { SEVERITY } else { 2 };
        let sandboxes = if is_of_file && room >= COUNTED { SANDBOXES } else { 0 };
        let technique = match room {
            NAMED.. => TECHNIQUE,
            WORDED.. => IDENTIFIER,
            _ => 0,
        };
        let title = severity + FOLD;
        let beside = title + ROWS + sandboxes + technique;
        let after = title + titles.max().unwrap_or(0).min(room.saturating_sub(beside));
        let found = || rows.iter().filter_map(|row| row.finding());
        let by = found().map(|finding| finding.seen_by.width() + 1).filter(|_| is_of_file).max().unwrap_or(0);
        let panes = found().map(|finding| finding.pane.short().columns() + 1).filter(|_| room >= WORDED).max();
        FindingColumns {
            title,
            rows: after,
            sandboxes: if sandboxes > 0 { after + ROWS } else { NOWHERE },
            technique: if technique > 0 { after + ROWS + sandboxes } else { NOWHERE },
            is_named: room >= NAMED,
            pane: title + by,
            label: title + by + panes.unwrap_or(0),
            labels: columns_of(found().map(|finding| &finding.row.label)),
        }
    }

    fn draw_head(_: &FindingList, buffer: &mut Canvas<'_>, area: Area, columns: &FindingColumns, _: &Model) {
        let mut line = LineWriter::new(buffer, area, 0);
        let FindingColumns { title, rows, sandboxes, technique, .. } = *columns;
        let heads = [(title, "rule"), (rows, "rows"), (sandboxes, "sandboxes"), (technique, "technique")];
        for (column, name) in [(0, "severity")].into_iter().chain(heads) {
            draw_cell(&mut line, column, name, Tint::Faint);
        }
    }

    fn draw_row(list: &FindingList, mut line: LineWriter<'_>, at: &FindingColumns, row: &FindingRow, model: &Model) {
        match row {
            FindingRow::Subject(subject) => {
                let (rows, rules) = (subject.count as u64, subject.rules.len() as u64);
                line.own(&subject.name, Tint::Strong);
                line.own(&format!(" · {} by {}", count(rows, "row"), count(rules, "rule")), Tint::Faint);
            }
            FindingRow::Rule(of) => {
                let rule = rule(of.number, model);
                rule.into_iter().for_each(|rule| draw_rule(list, &mut line, at, (rule, of)));
            }
            FindingRow::Row(finding) => draw_finding(list, line, at, finding),
            FindingRow::More(_, more) => {
                line.tab(at.title);
                let (more, way) = (count(*more as u64, "further row"), model.way_to("export"));
                line.own(&format!("and {more}; {way} writes all"), Tint::Faint);
            }
        }
    }

    /// Why the chosen rule matters, or the chosen row and who saw it.
    fn words_below(list: &FindingList, model: &Model) -> Option<Words> {
        let words = match list.chosen()? {
            FindingRow::Rule(of) => rule(of.number, model)?.words(),
            FindingRow::Row(finding) => {
                let (by, name) = (&finding.seen_by, &rule(finding.rule, model)?.name);
                format!("{by}: {name}: {}", Untrusted::from(finding.row.text()).visible())
            }
            FindingRow::Subject(_) | FindingRow::More(..) => return None,
        };
        Some((words, Tint::Detail))
    }
}

fn rule(number: u16, model: &Model) -> Option<&Rule> {
    model.rules.as_ref()?.rule(number)
}

fn draw_rule(list: &FindingList, line: &mut LineWriter<'_>, at: &FindingColumns, (rule, of): (&Rule, &RuleFindings)) {
    let meaning = severity_tint(rule.severity);
    line.own(rule.severity.sign(), meaning);
    if at.title > SEVERITY {
        line.own(&format!(" {}", rule.severity.word()), meaning);
    }
    line.tab(at.title - FOLD);
    line.own(if list.source.is_unfolded(of.number, list.is_filtered()) { "▾" } else { "▸" }, Tint::Faint);
    line.tab(at.title);
    line.own_cut(&rule.name, at.rows.saturating_sub(at.title + 1), Tint::Text);
    line.tab(at.rows);
    line.own(&thousands(of.count as u64), Tint::Strong);
    draw_cell(line, at.sandboxes, &format!("{} of {}", of.places.len(), list.source.reports), Tint::Text);
    let words = match at.is_named {
        true => rule.techniques().collect::<Vec<_>>().join(", "),
        false => rule.attack.first().cloned().unwrap_or_default(),
    };
    draw_cell(line, at.technique, &words, Tint::Detail);
}

fn draw_cell(line: &mut LineWriter<'_>, column: usize, words: &str, meaning: Tint) {
    if column != NOWHERE {
        line.tab(column);
        line.own_cut(words, line.room(), meaning);
    }
}

fn draw_finding(list: &FindingList, mut line: LineWriter<'_>, at: &FindingColumns, finding: &MarkedRow) {
    line.tab(at.title);
    if list.source.scope == Scope::File {
        line.visible(&finding.seen_by, Tint::Detail);
    }
    line.tab(at.pane);
    if at.label > at.pane {
        line.own(finding.pane.short(), Tint::Faint);
    }
    line.tab(at.label);
    draw_labelled(&mut line, at.label, at.labels, &finding.row.label);
    draw_pieces(&mut line, &finding.row.pieces, Tint::Text, None, None);
}
