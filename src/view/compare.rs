//! A comparison: a legend of its columns, a mark for each, and the items beside them.

use super::canvas::{Canvas, LineWriter};
use super::list::since;
use super::list_view::DrawList;
use super::overlay::{draw_line, inside};
use super::pane::{draw_label, draw_pieces};
use super::theme::Meaning;
use crate::app::compare::{Compare, OtherFile, OtherFiles};
use crate::app::{Area, Model, panes};
use crate::report::Recent;
use crate::report::compare::{Item, Matrix};
use crate::report::rows::Label;
use crate::text::thousands;

/// Columns of a pane's short name, the gap included; one less where it is narrow.
const PANE: usize = 6;

/// Columns of the word beside an item, the gap included.
const LABEL: usize = 16;

/// Columns beside the marks below which words are closer together, to leave room for the item.
const NARROW: usize = 48;

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, compare: &Compare, model: &Model) {
    let inside = inside(buffer, area, model, &title(compare), compare.scroll.top, compare.shown.len());
    let head = model.compare_head(compare);
    let rows = u16::try_from(head.len()).unwrap_or(u16::MAX);
    buffer.write_rows(inside, 0, head.iter().map(|row| (row, Meaning::Detail)));
    draw_numbers(LineWriter::new(buffer, inside, rows), compare);
    if compare.filter.rows() > 0 {
        let x = inside.x.saturating_add(u16::try_from(marks(compare)).unwrap_or(0)).min(inside.x + inside.width);
        let place = Area { x, width: inside.x + inside.width - x, ..inside };
        draw_line(buffer, place, rows, "/", &compare.filter.typed, compare.filter.is_typing);
    }
    let body = inside.y.saturating_add(rows).saturating_add(1);
    let body = Area { y: body, height: (inside.y + inside.height).saturating_sub(body), ..inside };
    let Some(matrix) = &compare.matrix else {
        let words =
            compare.failure.as_ref().map_or("comparing …".to_owned(), |why| format!("cannot be compared: {why}"));
        return LineWriter::new(buffer, body, 0).own(&words, Meaning::Faint);
    };
    if compare.shown.is_empty() {
        return LineWriter::new(buffer, body, 0).own("nothing of that kind", Meaning::Faint);
    }
    for row in 0..body.height {
        let position = compare.scroll.top + usize::from(row);
        let Some(item) = compare.shown.get(position).and_then(|n| matrix.items().get(*n as usize)) else { break };
        let line = LineWriter::of_list(buffer, body, row, position == compare.scroll.cursor);
        draw_item(line, compare, matrix, item);
    }
}

fn title(compare: &Compare) -> String {
    let pane = compare.pane.and_then(panes::info).map_or("all panes", |info| info.title);
    let other = compare.other.as_ref().map(|file| format!(" with {}", file.short())).unwrap_or_default();
    let all = compare.matrix.as_ref().map_or(0, |matrix| matrix.items().len()) as u64;
    let shown = compare.shown.len() as u64;
    let only = compare.only.words(&compare.here_words());
    format!("Compare{other} · {pane} · {only} · {} of {} items", thousands(shown), thousands(all))
}

/// Columns that the mark of one sandbox takes.
fn cell(compare: &Compare) -> usize {
    if compare.columns.len() > 9 { 3 } else { 2 }
}

fn marks(compare: &Compare) -> usize {
    compare.columns.len() * cell(compare) + 1
}

fn draw_numbers(mut line: LineWriter<'_, '_>, compare: &Compare) {
    for n in 0..compare.columns.len() {
        line.tab(n * cell(compare));
        line.own(&(n + 1).to_string(), if n == compare.here { Meaning::Cursor } else { Meaning::Strong });
    }
}

fn draw_item(mut line: LineWriter<'_, '_>, compare: &Compare, matrix: &Matrix, item: &Item) {
    for (n, column) in compare.columns.iter().enumerate() {
        line.tab(n * cell(compare));
        let (mark, meaning) = match (column.is_compared(), item.seen >> n & 1 == 1) {
            (false, _) => ("?", Meaning::Faint),
            (true, true) if item.other >> n & 1 == 1 => ("≠", Meaning::Strong),
            (true, true) => ("●", Meaning::Strong),
            (true, false) if matrix.is_perhaps_unlisted(item, n) => ("?", Meaning::Faint),
            (true, false) => ("·", Meaning::Faint),
        };
        line.own(mark, meaning);
    }
    let mut at = marks(compare);
    line.tab(at);
    let is_narrow = line.room() < NARROW;
    if compare.pane.is_none() {
        line.own(panes::info(item.pane).map_or("", |info| info.short), Meaning::Detail);
        at += PANE - usize::from(is_narrow);
        line.tab(at);
    }
    let row = matrix.row(item);
    draw_label(&mut line, &row.label);
    match (&row.label, is_narrow) {
        (Label::Known(""), true) => {}
        (_, true) => line.own(" ", Meaning::Text),
        (_, false) => line.tab(at + LABEL),
    }
    draw_pieces(&mut line, &row.pieces, Meaning::Text, true, None);
}

impl DrawList for OtherFiles {
    type Columns = ();

    fn title(_: &OtherFile, _: &Model) -> String {
        "Compare with which file?".to_owned()
    }

    fn columns(&self, _: &[&Recent], _: usize, _: &Model) {}

    fn draw_row(&self, mut line: LineWriter<'_, '_>, (): &(), recent: &Recent, model: &Model) {
        line.own(&format!("{}  ", recent.file.short()), Meaning::Text);
        if let Some(name) = &recent.name {
            line.visible(&name.visible_cut(40), Meaning::Strong);
            line.own("  ", Meaning::Text);
        }
        let held = format!("reports held: {}, last used {}", recent.reports, since(recent.opened, model.now));
        line.own(&held, Meaning::Faint);
    }
}
