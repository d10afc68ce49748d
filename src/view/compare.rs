//! Draws lists of report rows: a comparison with a mark per column, the hits of a search, findings.

use super::canvas::{Canvas, LineWriter, StyledText};
use super::draw_earlier;
use super::overlay::{DrawList, ListTable, covered, shown_of};
use super::pane::{columns_of, draw_label, draw_pieces, severity_tint};
use super::theme::Role;
use crate::app::compare::{Comparison, ComparisonList, OtherFileList, OtherFiles, column_letter};
use crate::app::find::{HitGroup, HitList, HitRow, HitSource, SearchHits, SearchProgress};
use crate::app::overlays::Scope;
use crate::app::overlays::findings::{FindingList, FindingRow, Findings, MarkedRow, RuleFindings};
use crate::app::overlays::stored::MARK;
use crate::app::panes::facts::ProcessRef;
use crate::app::panes::key;
use crate::app::{Area, Model};
use crate::prevalence::Rarity;
use crate::report::attributes::cut_lists_label;
use crate::report::compare::ComparedItem;
use crate::report::rules::Rule;
use crate::report::{Pane, RecentFile};
use crate::text::{ColumnWidth, Untrusted, count, thousands, to_visible};
use std::collections::HashSet;

/// Columns of a pane's short name, including the gap.
const PANE_COLUMNS: usize = 10;

impl DrawList for Comparison {
    fn title(list: &ComparisonList, _: &Model) -> String {
        let compare = &list.source;
        let pane = compare.pane.map_or("all panes", Pane::title);
        let other = compare.other.as_ref().map(|file| format!(" with {}", file.short())).unwrap_or_default();
        let unread = compare.matrix.as_ref().map_or(0, |matrix| matrix.unread());
        let unread = (unread > 0).then(|| format!(" · {unread} of {} could not be read whole", compare.stored()));
        let only = compare.only.label(&compare.here_label());
        let items = shown_of(list.counts(), "item");
        format!("Compare{other}{} · {pane} · {only} · {items}", unread.unwrap_or_default())
    }

    fn progress_text(list: &ComparisonList) -> Option<&'static str> {
        list.source.matrix.is_none().then_some("comparing")
    }

    fn absent(list: &ComparisonList, model: &Model) -> String {
        let [view, others] = list.source.hidden().map(|count| thousands(count as u64));
        let view = format!("{view} are hidden by the view: {} changes it", model.key_label("scope"));
        let others = list.source.pane.map(|pane| format!(" · {others} by the pane: {} shows all", key(pane, model)));
        format!("no match · {view}{}", others.unwrap_or_default())
    }

    fn draw_head(list: &ComparisonList, buffer: &mut Canvas<'_>, area: Area, model: &Model) {
        let compare = &list.source;
        let last = area.height.saturating_sub(1);
        let legend = Area { height: last, ..area };
        buffer.write_rows(legend, 0, model.compare_head(compare).into_iter().map(|row| (row, Role::Detail)));
        let mut numbers = LineWriter::new(buffer, area, last);
        for n in 0..compare.columns.len() {
            numbers.tab(n * cell(compare));
            numbers.own(&column_letter(n), if n == compare.here { Role::Cursor } else { Role::Strong });
        }
    }

    fn columns(list: &ComparisonList, items: &[&ComparedItem], room: usize, _: &Model) -> ListTable {
        let compare = &list.source;
        let rows: Vec<_> = compare.matrix.iter().flat_map(|matrix| items.iter().map(|item| matrix.row(item))).collect();
        let pane = if compare.pane.is_none() { PANE_COLUMNS } else { 0 };
        let marks = compare.columns.len() * cell(compare) + 1;
        ListTable { labels: columns_of(rows.iter().map(|row| &row.label)), ..ListTable::of([marks, pane, room]) }
    }

    fn draw_row(list: &ComparisonList, mut line: LineWriter<'_>, at: &ListTable, item: &ComparedItem, _: &Model) {
        let Some(matrix) = &list.source.matrix else { return };
        for n in 0..list.source.columns.len() {
            line.tab(n * cell(&list.source));
            line.own(matrix.sign(item, n), if item.seen >> n & 1 == 1 { Role::Strong } else { Role::Faint });
        }
        at.text(&mut line, 1, item.pane.short(), Role::Detail);
        at.row(&mut line, 2, &matrix.row(item), Role::Text);
    }
}

fn cell(compare: &Comparison) -> usize {
    if compare.columns.len() > 26 { 3 } else { 2 }
}

impl DrawList for OtherFiles {
    fn title(_: &OtherFileList, _: &Model) -> String {
        "Compare with which file?".to_owned()
    }

    fn draw_row(_: &OtherFileList, mut line: LineWriter<'_>, _: &ListTable, recent: &RecentFile, model: &Model) {
        draw_earlier(&mut line, recent, model);
    }
}

const LABELS: usize = 24;

impl DrawList for SearchHits {
    /// The title counts hits, and the rows are more.
    const COUNTS_ROWS: bool = false;

    fn title(list: &HitList, _: &Model) -> String {
        let title = if list.source.is_of_store { "Search all stored reports" } else { "Find in all panes" };
        let hits = Some(list.source.count()).filter(|hits| *hits > 0).map(|hits| format!(" · {}", count(hits, "hit")));
        let SearchProgress { done, all, cut_lists } = list.source.searched;
        let reports = (all > 0).then(|| format!(" · {} of {} reports", thousands(done), thousands(all)));
        let cut = cut_lists_label(cut_lists).map(|cut| format!(" · {cut}"));
        [Some(title.to_owned()), hits, reports, cut].into_iter().flatten().collect()
    }

    fn progress_text(list: &HitList) -> Option<&'static str> {
        list.filter.is_running().then_some("searching")
    }

    fn prompt(list: &HitList) -> String {
        let options = list.filter.options;
        let case = if options.is_case_sensitive { " Aa" } else { "" };
        format!("{}{case}", if options.is_regex { "regex" } else { "find" })
    }

    fn absent(list: &HitList, model: &Model) -> String {
        match (&list.filter.problem, &list.filter.pattern) {
            (Some(_), _) => String::new(),
            (None, Some(_)) => {
                let report = model.open().filter(|_| !list.source.is_of_store).map(|open| &open.report);
                let cut = report.and_then(|report| cut_lists_label(report.cut_lists(None).count() as u64));
                cut.map_or_else(|| "no match".to_owned(), |cut| format!("no match; {cut}"))
            }
            (None, None) => "type to search".to_owned(),
        }
    }

    fn draw_head(list: &HitList, buffer: &mut Canvas<'_>, area: Area, _: &Model) {
        let of_process = |process: &ProcessRef| {
            format!("of several with this name: process {}, or without a number", process.number())
        };
        let (words, meaning) = match (&list.filter.problem, &list.source.process) {
            (Some(problem), _) => (problem.clone(), Role::Problem),
            (None, Some(process)) => (of_process(process), Role::Faint),
            (None, None) if list.filter.typed.is_suggested => ("typing replaces this text".to_owned(), Role::Faint),
            (None, None) => return,
        };
        LineWriter::new(buffer, area, 0).own(&words, meaning);
    }

    fn draw_row<'a>(list: &'a HitList, mut line: LineWriter<'a>, _: &ListTable, row: &HitRow, model: &Model) {
        let Some(group) = list.source.groups.get(row.group) else { return };
        let Some(number) = row.at.checked_sub(1) else { return draw_group(&mut line, group, model) };
        let Some(hit) = group.hits.get(number) else {
            let more = group.count.saturating_sub(group.hits.len() as u64);
            return line.own(&format!("  and {} more", thousands(more)), Role::Faint);
        };
        line.own("  ", Role::Text);
        if let (Some(pane), HitSource::Report(..)) = (hit.pane(), &group.source) {
            line.own(&format!("{} ", pane.short()), Role::Key);
        }
        draw_label(&mut line, &hit.row.label);
        line.tab(if list.source.is_of_store { LABELS } else { LABELS - 6 });
        draw_pieces(&mut line, &hit.row.pieces, Role::Text, None, list.filter.pattern.as_deref());
    }
}

fn draw_group(line: &mut LineWriter<'_>, group: &HitGroup, model: &Model) {
    match &group.source {
        HitSource::Pane(pane) => {
            line.own(&key(*pane, model), Role::Key);
            line.own(" ", Role::Key);
            line.own(pane.title(), Role::Strong);
        }
        HitSource::Report(file, identifier, _) | HitSource::Notes(file, identifier) => {
            if matches!(group.source, HitSource::Notes(..)) {
                line.own(&format!("{MARK} "), Role::Key);
            }
            line.own(&file.as_ref().map_or("of no known file".to_owned(), |file| file.short()), Role::Strong);
            line.own(" · ", Role::Faint);
            line.visible(&identifier.parts().sandbox.visible_cut(40), Role::Strong);
            if let HitSource::Report(.., Some(profile)) = &group.source {
                line.own(" · stored for profile ", Role::Faint);
                line.visible(&Untrusted::from(profile.as_str()).visible_cut(40), Role::Strong);
            }
        }
    }
    line.own(&format!("  {}", thousands(group.count)), Role::Faint);
}

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

    const EMPTY: &'static str = "No rule marks a row.";

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
        ListTable { labels, ..ListTable::of([severity, FOLD, name, ROWS, sandboxes, technique]) }
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
    let at = ListTable { labels: at.labels, ..ListTable::of([indent, seen_by, pane, room]) };
    at.cell(&mut line, 1, |line, _| line.visible(&finding.seen_by, Role::Detail));
    at.text(&mut line, 2, finding.pane.short(), Role::Faint);
    let value = if finding.prevalence.rarity() == Rarity::Noise { Role::Faint } else { Role::Text };
    at.row(&mut line, 3, &finding.row, value);
}
