//! A comparison, with a legend of its columns, a mark for each, and the items beside them; and the hits of a search, by pane of the
//! report or by report of the whole store.

use super::canvas::{Canvas, LineWriter};
use super::overlay::DrawList;
use super::overlay::{draw_line, inside};
use super::pane::{draw_label, draw_pieces, key};
use super::screen::draw_earlier;
use super::theme::Tint;
use crate::app::compare::{Compare, OtherFile, OtherFiles};
use crate::app::find::{Finder, HitGroup, HitLine, HitSource, Quest};
use crate::app::over::held::MARK;
use crate::app::{Area, Model, panes};
use crate::report::Recent;
use crate::report::compare::{ComparedItem, Matrix};
use crate::report::rows::Label;
use crate::text::{Untrusted, count, thousands};

/// Columns of a pane's short name, the gap included; one less where it is narrow.
const PANE: usize = 6;

/// Columns of the word beside an item, the gap included.
const LABEL: usize = 16;

/// Columns beside the marks below which words are closer together, to leave room for the item.
const NARROW: usize = 48;

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, compare: &Compare, model: &Model) {
    let inside = inside(buffer, area, model, &title(compare), (compare.scroll.top, compare.shown.len()), 0);
    let head = model.compare_head(compare);
    let rows = u16::try_from(head.len()).unwrap_or(u16::MAX);
    buffer.write_rows(inside, 0, head.iter().map(|row| (row, Tint::Detail)));
    let mut numbers = LineWriter::new(buffer, inside, rows);
    for n in 0..compare.columns.len() {
        numbers.tab(n * cell(compare));
        numbers.own(&(n + 1).to_string(), if n == compare.here { Tint::Cursor } else { Tint::Strong });
    }
    if compare.filter.rows() > 0 {
        let x = inside.x.saturating_add(u16::try_from(marks(compare)).unwrap_or(0)).min(inside.x + inside.width);
        let place = Area { x, width: inside.x + inside.width - x, ..inside };
        draw_line(buffer, place, rows, ("/", Tint::Strong), &compare.filter.typed, compare.filter.is_typing);
    }
    let body = inside.y.saturating_add(rows).saturating_add(1);
    let body = Area { y: body, height: (inside.y + inside.height).saturating_sub(body), ..inside };
    let Some(matrix) = &compare.matrix else {
        let words =
            compare.failure.as_ref().map_or("comparing …".to_owned(), |why| format!("cannot be compared: {why}"));
        return LineWriter::new(buffer, body, 0).own(&words, Tint::Faint);
    };
    if compare.shown.is_empty() {
        return LineWriter::new(buffer, body, 0).own("nothing of that kind", Tint::Faint);
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

fn cell(compare: &Compare) -> usize {
    if compare.columns.len() > 9 { 3 } else { 2 }
}

fn marks(compare: &Compare) -> usize {
    compare.columns.len() * cell(compare) + 1
}

fn draw_item(mut line: LineWriter<'_, '_>, compare: &Compare, matrix: &Matrix, item: &ComparedItem) {
    for (n, column) in compare.columns.iter().enumerate() {
        line.tab(n * cell(compare));
        let (mark, meaning) = match (column.is_compared(), item.seen >> n & 1 == 1) {
            (false, _) => ("?", Tint::Faint),
            (true, true) if item.other >> n & 1 == 1 => ("≠", Tint::Strong),
            (true, true) => ("●", Tint::Strong),
            (true, false) if matrix.is_perhaps_unlisted(item, n) => ("?", Tint::Faint),
            (true, false) => ("·", Tint::Faint),
        };
        line.own(mark, meaning);
    }
    let mut at = marks(compare);
    line.tab(at);
    let is_narrow = line.room() < NARROW;
    if compare.pane.is_none() {
        line.own(panes::info(item.pane).map_or("", |info| info.short), Tint::Detail);
        at += PANE - usize::from(is_narrow);
        line.tab(at);
    }
    let row = matrix.row(item);
    draw_label(&mut line, &row.label);
    match (&row.label, is_narrow) {
        (Label::Known(""), true) => {}
        (_, true) => line.own(" ", Tint::Text),
        (_, false) => line.tab(at + LABEL),
    }
    draw_pieces(&mut line, &row.pieces, Tint::Text, None, None);
}

impl DrawList for OtherFiles {
    type Columns = ();

    fn title(_: &OtherFile, _: &Model) -> String {
        "Compare with which file?".to_owned()
    }

    fn columns(&self, _: &[&Recent], _: usize, _: &Model) {}

    fn draw_row(&self, mut line: LineWriter<'_, '_>, (): &(), recent: &Recent, model: &Model) {
        draw_earlier(&mut line, recent, model);
    }
}

const LABELS: usize = 24;

pub(super) fn draw_finder(buffer: &mut Canvas<'_>, area: Area, finder: &Finder, model: &Model) {
    let title = if finder.is_held { "Search all stored reports" } else { "Find in all panes" };
    let inside = inside(buffer, area, model, &format!("{title}{}", state(finder)), (0, 0), 0);
    let meaning = if finder.is_suggested { Tint::Cursor } else { Tint::Strong };
    draw_line(buffer, inside, 0, (&prompt(&finder.quest), meaning), &finder.quest.typed, finder.is_typed);
    let words = match &finder.process {
        Some(process) => Some(format!("of several with this name: process {}, or without a number", process.number())),
        None => finder.is_suggested.then(|| "typing replaces these words".to_owned()),
    };
    if let Some(words) = words.filter(|_| finder.quest.problem.is_none()) {
        LineWriter::new(buffer, inside, 1).own(&words, Tint::Faint);
    }
    if let Some(problem) = &finder.quest.problem {
        return LineWriter::new(buffer, inside, 1).own(problem, Tint::Problem);
    }
    for (row, (position, found)) in (2..inside.height).zip(finder.lines().enumerate().skip(finder.scroll.top)) {
        let line = LineWriter::of_list(buffer, inside, row, position == finder.scroll.cursor);
        draw_hit(line, found, finder, model);
    }
    if finder.groups.is_empty() && !finder.quest.is_running() {
        let words = if finder.quest.pattern.is_some() { "no match" } else { "type to search" };
        LineWriter::new(buffer, inside, 2).own(words, Tint::Faint);
    }
}

/// What stands before the words, by how they are meant.
fn prompt(quest: &Quest) -> String {
    let case = if quest.how.is_case_sensitive { " Aa" } else { "" };
    format!("{}{case}", if quest.how.is_regex { "regex" } else { "find" })
}

fn state(finder: &Finder) -> String {
    let hits = Some(finder.count()).filter(|hits| *hits > 0).map(|hits| format!(" · {}", count(hits, "hit")));
    let (done, all) = finder.searched;
    let reports = (all > 0).then(|| format!(" · {} of {} reports", thousands(done), thousands(all)));
    let more = finder.quest.is_running().then(|| " · searching …".to_owned());
    hits.into_iter().chain(reports).chain(more).collect()
}

fn draw_hit<'a>(mut line: LineWriter<'a, '_>, found: HitLine<'_>, finder: &'a Finder, model: &Model) {
    match found {
        HitLine::Group(group) => draw_group(&mut line, group, model),
        HitLine::More(group) => {
            line.own(
                &format!("  and {} more", thousands(group.count.saturating_sub(group.hits.len() as u64))),
                Tint::Faint,
            );
        }
        HitLine::Hit(group, hit) => {
            line.own("  ", Tint::Text);
            if let (Some(pane), HitSource::Report { .. }) = (hit.pane(), &group.of) {
                line.own(&format!("{} ", panes::info(pane).map_or("", |info| info.short)), Tint::Key);
            }
            match &hit.row.label {
                Label::Known(word) => line.own(word, Tint::Faint),
                Label::Named(name) => line.visible(&name.visible_cut(15), Tint::Faint),
            }
            line.tab(if finder.is_held { LABELS } else { LABELS - 6 });
            draw_pieces(&mut line, &hit.row.pieces, Tint::Text, None, finder.quest.pattern.as_deref());
        }
    }
}

fn draw_group(line: &mut LineWriter<'_, '_>, group: &HitGroup, model: &Model) {
    match &group.of {
        HitSource::Pane(pane) => {
            let info = panes::info(*pane);
            line.own(&info.map_or(String::new(), |info| key(info, model)), Tint::Key);
            line.own(info.map_or("", |info| info.title), Tint::Strong);
        }
        HitSource::Report { file, identifier, .. } | HitSource::Notes { file, identifier } => {
            if matches!(group.of, HitSource::Notes { .. }) {
                line.own(&format!("{MARK} "), Tint::Key);
            }
            line.own(&file.as_ref().map_or("of no known file".to_owned(), |file| file.short()), Tint::Strong);
            line.own(" · ", Tint::Faint);
            line.visible(&identifier.parts().sandbox.visible_cut(40), Tint::Strong);
            if let HitSource::Report { elsewhere: Some(profile), .. } = &group.of {
                line.own(" · stored for profile ", Tint::Faint);
                line.visible(&Untrusted::from(profile.as_str()).visible_cut(40), Tint::Strong);
            }
        }
    }
    line.own(&format!("  {}", thousands(group.count)), Tint::Faint);
}
