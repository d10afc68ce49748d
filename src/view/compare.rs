//! Draws a comparison: the legend, a mark per column, the items; and the hits of a search.

use super::canvas::{Canvas, LineWriter};
use super::overlay::{DrawList, ListTable, shown_of};
use super::pane::{columns_of, draw_label, draw_pieces};
use super::screen::draw_earlier;
use super::theme::Role;
use crate::app::compare::{Comparison, ComparisonList, OtherFileList, OtherFiles, column_letter};
use crate::app::find::{HitGroup, HitList, HitRow, HitSource, SearchHits};
use crate::app::overlays::stored::MARK;
use crate::app::panes::facts::ProcessRef;
use crate::app::panes::key;
use crate::app::{Area, Model};
use crate::report::attributes::cut_lists_label;
use crate::report::compare::ComparedItem;
use crate::report::{Pane, RecentFile};
use crate::text::{Untrusted, count, thousands};

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
        ListTable::of([marks, pane, room], columns_of(rows.iter().map(|row| &row.label)))
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
        let (done, all) = list.source.searched;
        let reports = (all > 0).then(|| format!(" · {} of {} reports", thousands(done), thousands(all)));
        [Some(title.to_owned()), hits, reports].into_iter().flatten().collect()
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
