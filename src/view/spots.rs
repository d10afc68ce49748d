//! A list of rows to go to: why each is there, and what it says.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::overlay::{draw_line, inside_beside};
use super::pane::{columns_of, draw_labelled, draw_pieces};
use super::theme::Meaning;
use crate::app::over::spots::{Shows, Spot, Spots};
use crate::app::{Area, Model};
use crate::report::Row;
use crate::report::rules::Severity;
use crate::text::{Columns as _, Untrusted, count, thousands, words_in_rows_cut};
use std::borrow::Cow;

/// The most columns that our own words before a row take.
const HEAD: usize = 46;

/// Where it begins what can be typed: behind the cursor of the line.
const HINT: usize = 4;

/// Columns of a sign, the gap included.
const SIGN: usize = 2;

/// Where the parts of a row begin.
struct Columns {
    seen_by: usize,
    label: usize,
    /// Columns of the labels, the gap included.
    labels: usize,
}

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, list: &Spots, model: &Model) {
    let (shown, _) = list.counts();
    let head = u16::try_from(list.line.rows()).unwrap_or(0).min(area.inside().height);
    let room = model.overlay_room();
    let (tells, is_told_below) = (list.told(room), list.tells_below(room.width));
    let inside = inside_beside(buffer, area, model, &title(list), (list.scroll.top, shown), head + tells);
    if head > 0 {
        draw_line(buffer, inside, 0, "/", &list.line.typed, list.line.is_typing);
        if list.line.typed.is_empty() && list.is_notable() {
            let mut hint = LineWriter::new(buffer, inside, 0);
            hint.tab(inside.x, HINT);
            hint.own("words of a row or of its reason, such as persistence", Meaning::Faint);
        }
    }
    let body = Area { y: inside.y + head, height: inside.height.saturating_sub(head + tells), ..inside };
    if shown == 0 {
        LineWriter::new(buffer, body, 0).own("no row holds this", Meaning::Faint);
    }
    let window = list.spots().enumerate().skip(list.scroll.top).take(body.height.into());
    let window: Vec<_> = window.map(|(position, spot)| (position, spot, row_of(spot, model))).collect();
    let labels = window.iter().filter_map(|(.., row)| row.as_ref()).map(|row| &row.label);
    let columns = columns(list, body, columns_of(labels));
    for (at, (position, spot, row)) in (0..body.height).zip(&window) {
        let line = LineWriter::new(buffer, body, at);
        let line = if *position == list.scroll.cursor { line.base(Meaning::Cursor) } else { line };
        draw_spot(line, body.x, &columns, spot, row.as_deref(), is_told_below);
    }
    if let Some(spot) = list.chosen_spot().filter(|_| tells > 0) {
        let told = tells.min(inside.height);
        let below = Area { y: inside.y + inside.height - told, height: told, ..inside };
        let rows = words_in_rows_cut(&told_of(spot, model, is_told_below), below.width.max(1).into(), told.into());
        for (row, text) in (0..told).zip(rows) {
            LineWriter::new(buffer, below, row).own(&text, Meaning::Detail);
        }
    }
}

/// What is told of the chosen row: who saw it and why it is there, and the row itself where that is cut above.
fn told_of(spot: &Spot, model: &Model, is_reason_only: bool) -> String {
    let by = spot.seen_by.as_ref().map(|by| format!("{by}: ")).unwrap_or_default();
    match row_of(spot, model).filter(|_| !is_reason_only) {
        Some(row) => format!("{by}{}: {}", spot.head, Untrusted::from(row.text()).visible()),
        None => format!("{by}{}", spot.head),
    }
}

fn title(list: &Spots) -> String {
    let (shown, all) = list.counts();
    let more = if list.is_complete { "" } else { " · looking …" };
    let title = &list.title;
    match (list.is_notable(), shown == all) {
        (false, true) => format!("{title}{more}"),
        (true, true) => format!("{title} · {} · ! high · * medium · + low{more}", count(all as u64, "row")),
        (_, false) => format!("{title} · {} of {}{more}", thousands(shown as u64), count(all as u64, "row")),
    }
}

/// The row that a spot shows; none where it has words of our own.
fn row_of<'a>(spot: &'a Spot, model: &Model) -> Option<Cow<'a, Row>> {
    match &spot.shows {
        Shows::Words(_) => None,
        Shows::Row(row) => Some(Cow::Borrowed(row)),
        Shows::Open(place) => {
            Some(Cow::Owned(model.open().map(|open| open.report.row(place.section, place.row)).unwrap_or_default()))
        }
    }
}

/// Where the parts begin: no wider than what is shown of them needs.
fn columns(list: &Spots, body: Area, labels: usize) -> Columns {
    let room = usize::from(body.width);
    let spots = || list.spots().skip(list.scroll.top).take(body.height.into());
    let widest = |width: fn(&Spot) -> usize, most: usize| spots().map(width).max().unwrap_or(0).min(most);
    if list.tells_below(body.width) {
        return Columns { seen_by: SIGN, label: SIGN, labels };
    }
    let sign = if list.is_notable() { SIGN } else { 0 };
    let seen_by = sign + widest(|spot| spot.head.columns(), HEAD.min(room * 2 / 5)) + 1;
    let by = widest(|spot| spot.seen_by.as_ref().map_or(0, |by| by.width()), 20);
    let label = if by == 0 { seen_by } else { seen_by + by + 1 };
    Columns { seen_by, label, labels }
}

fn draw_spot(
    mut line: LineWriter<'_, '_>,
    start: u16,
    columns: &Columns,
    spot: &Spot,
    row: Option<&Row>,
    is_told_below: bool,
) {
    if let Some(severity) = spot.severity {
        let meaning = if severity == Severity::High { Meaning::Problem } else { Meaning::Price };
        line.own(severity.sign(), meaning);
        line.tab(start, SIGN);
    }
    if !is_told_below {
        let meaning = if spot.target.is_some() { Meaning::Strong } else { Meaning::Faint };
        let before = if spot.severity.is_some() { SIGN } else { 0 };
        line.own_cut(&spot.head, columns.seen_by.saturating_sub(before + 1), meaning);
        line.tab(start, columns.seen_by);
        if let Some(by) = &spot.seen_by {
            line.visible(by, Meaning::Detail);
        }
        line.tab(start, columns.label);
    }
    if let Shows::Words(words) = &spot.shows {
        line.own(words, Meaning::Faint);
    }
    if let Some(row) = row {
        let at = start.saturating_add(u16::try_from(columns.label).unwrap_or(u16::MAX));
        // Where it is narrow, words stand close together.
        let own = columns_of(std::iter::once(&row.label));
        draw_labelled(&mut line, at, if is_told_below { own } else { columns.labels }, &row.label);
        draw_pieces(&mut line, &row.pieces, Meaning::Text, true, None);
    }
}
