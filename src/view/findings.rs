//! The list of findings: subjects, their rules in columns, and the rows of unfolded rules.

use super::canvas::{LineWriter, StyledText};
use super::overlay::{DrawList, ListTable, covered, shown_of};
use super::pane::{columns_of, severity_tint};
use super::theme::Role;
use crate::app::Model;
use crate::app::overlays::Scope;
use crate::app::overlays::findings::{FindingList, FindingRow, Findings, MarkedRow, RuleFindings};
use crate::prevalence::Rarity;
use crate::report::attributes::cut_lists_label;
use crate::report::rules::Rule;
use crate::text::{ColumnWidth, Untrusted, count, thousands, to_visible};
use std::collections::HashSet;

/// Widths from which the list has counts of sandboxes, severities' names, techniques' names.
const COUNTED_COLUMNS: usize = 48;
const WORDED_COLUMNS: usize = 70;
const NAMED_COLUMNS: usize = 96;

/// Widths of cells: fold sign, severity, counts of distinct rows and sandboxes, a technique's
/// identifier and name, the sandboxes of a row, and its pane.
const FOLD: usize = 2;
const SEVERITY: usize = 9;
const ROWS: usize = 10;
const SANDBOXES: usize = 11;
const IDENTIFIER: usize = 10;
const TECHNIQUE: usize = 38;
const SEEN_BY: usize = 18;
const PANE: usize = 10;

impl DrawList for Findings {
    const HEADS: &'static [&'static str] = &["severity", "", "rule", "distinct", "sandboxes", "technique"];

    const HINT: &'static str = "words of a rule, a technique or a row, such as persistence";

    fn title(list: &FindingList, model: &Model) -> String {
        let name = || Some(model.chosen()?.parts.as_ref()?.sandbox.visible_cut(30));
        let name = (list.source.scope == Scope::Sandbox).then(|| name().unwrap_or_else(|| to_visible("this report")));
        let rules = list.source.rules().count() as u64;
        let totals = &list.source.totals;
        let scope = covered(name, list.source.reports, totals.unread, model);
        let found: HashSet<_> = list.shown(0).filter_map(|row| Some(row.finding()?.number)).collect();
        let found = if list.is_filtered() { found.len() } else { totals.distinct };
        let rows = shown_of((found, totals.distinct), "distinct row");
        let cut = cut_lists_label(totals.cut_lists).map(|cut| format!(" · {cut}")).unwrap_or_default();
        format!("Findings · {scope} · {rows} by {}{cut}", count(rules, "rule"))
    }

    fn progress_text(list: &FindingList) -> Option<&'static str> {
        (!list.source.is_complete).then_some("looking")
    }

    fn absent(list: &FindingList, _: &Model) -> String {
        if list.is_filtered() { "no match" } else { "No rule marks a row." }.to_owned()
    }

    fn columns(list: &FindingList, rows: &[&FindingRow], room: usize, model: &Model) -> ListTable {
        let names = list.source.rules().filter_map(|of| Some(rule(of.number, model)?.name.columns() + 2));
        let severity = if room >= WORDED_COLUMNS { SEVERITY } else { 2 };
        let sandboxes = if list.source.scope == Scope::File && room >= COUNTED_COLUMNS { SANDBOXES } else { 0 };
        let technique = match room {
            NAMED_COLUMNS.. => TECHNIQUE,
            WORDED_COLUMNS.. => IDENTIFIER,
            _ => 0,
        };
        let beside = severity + FOLD + ROWS + sandboxes + technique;
        let name = names.max().unwrap_or(0).min(room.saturating_sub(beside));
        let labels = columns_of(rows.iter().filter_map(|row| row.finding()).map(|finding| &finding.row.label));
        ListTable::of([severity, FOLD, name, ROWS, sandboxes, technique], labels)
    }

    fn draw_row(list: &FindingList, mut line: LineWriter<'_>, at: &ListTable, row: &FindingRow, model: &Model) {
        match row {
            FindingRow::Subject(subject) => {
                let rows = count(subject.rows.len() as u64, "row");
                let rules = count(subject.rules.len() as u64, "rule");
                line.own(&subject.name, Role::Strong);
                line.own(&format!(" · {rows} by {rules}"), Role::Faint);
            }
            FindingRow::Rule(of) => {
                let rule = rule(of.number, model);
                rule.into_iter().for_each(|rule| draw_rule(list, &mut line, at, (rule, of)));
            }
            FindingRow::Row(finding) => draw_finding(list, line, at, finding),
            FindingRow::More(_, more) => {
                let more = count(*more as u64, "further row");
                let way = model.key_label("export");
                at.cell(&mut line, 2, |line, _| line.own(&format!("and {more}; {way} writes all"), Role::Faint));
            }
        }
    }

    /// Returns the rationale of the chosen rule, or the chosen row and its sandboxes.
    fn text_below(list: &FindingList, model: &Model) -> Option<StyledText> {
        let words = match list.chosen()? {
            FindingRow::Rule(of) => rule(of.number, model)?.label(),
            FindingRow::Row(finding) => {
                let name = &rule(finding.rule, model)?.name;
                let common = finding.prevalence.label().map(|label| format!(" · {label}")).unwrap_or_default();
                format!("{}: {name}: {}{common}", finding.seen_by, Untrusted::from(finding.row.text()).visible())
            }
            FindingRow::Subject(_) | FindingRow::More(..) => return None,
        };
        Some((words, Role::Detail))
    }
}

fn rule(number: u16, model: &Model) -> Option<&Rule> {
    model.rules.as_ref()?.rule(number)
}

fn draw_rule(list: &FindingList, line: &mut LineWriter<'_>, at: &ListTable, (rule, of): (&Rule, &RuleFindings)) {
    let techniques = match line.room() {
        NAMED_COLUMNS.. => rule.techniques().collect::<Vec<_>>().join(", "),
        _ => rule.attack.first().cloned().unwrap_or_default(),
    };
    let meaning = severity_tint(rule.severity);
    at.cell(line, 0, |line, _| {
        line.own(rule.severity.sign(), meaning);
        if line.room() > 0 {
            line.own(&format!(" {}", rule.severity.name()), meaning);
        }
    });
    let fold = if list.source.is_unfolded(of.number, list.is_filtered()) { "▾" } else { "▸" };
    at.text(line, 1, fold, Role::Faint);
    at.text(line, 2, &rule.name, Role::Text);
    at.text(line, 3, &thousands(of.count as u64), Role::Strong);
    at.text(line, 4, &format!("{} of {}", of.places.len(), list.source.reports), Role::Text);
    at.text(line, 5, &techniques, Role::Detail);
}

fn draw_finding(list: &FindingList, mut line: LineWriter<'_>, at: &ListTable, finding: &MarkedRow) {
    let room = line.room();
    let (indent, pane) = if room >= WORDED_COLUMNS { (SEVERITY + FOLD, PANE) } else { (2 + FOLD, 0) };
    let seen_by = if list.source.scope == Scope::File { SEEN_BY.min(room * 2 / 5) } else { 0 };
    let at = ListTable::of([indent, seen_by, pane, room], at.labels);
    at.cell(&mut line, 1, |line, _| line.visible(&finding.seen_by, Role::Detail));
    at.text(&mut line, 2, finding.pane.short(), Role::Faint);
    let value = if finding.prevalence.rarity() == Rarity::Noise { Role::Faint } else { Role::Text };
    at.row(&mut line, 3, &finding.row, value);
}
