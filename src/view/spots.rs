//! A list of rows to go to.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::overlay::inside;
use super::pane::{draw_label, draw_pieces};
use super::theme::Meaning;
use crate::app::spots::{Shows, Spot, Spots};
use crate::app::{Area, Model};
use crate::report::Row;
use unicode_width::UnicodeWidthStr;

/// The most columns that our own words before a row take.
const HEAD: usize = 32;

/// Columns of the word beside a row, the gap included.
const LABEL: usize = 16;

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, spots: &Spots, model: &Model) {
    let more = if spots.is_complete { "" } else { " · looking …" };
    let title = format!("{}{more}", spots.title);
    let inside = inside(buffer, area, model, &title, spots.scroll.top, spots.spots.len());
    let shown = || spots.spots.iter().skip(spots.scroll.top).take(inside.height.into());
    let head =
        shown().map(|spot| spot.head.width()).max().unwrap_or(0).min(HEAD).min(usize::from(inside.width) / 2) + 1;
    for (row, (position, spot)) in (0..inside.height).zip((spots.scroll.top..).zip(shown())) {
        let line = LineWriter::new(buffer, inside, row);
        let line = if position == spots.scroll.cursor { line.base(Meaning::Cursor) } else { line };
        draw_spot(line, inside.x, head, spot, model);
    }
}

fn draw_spot(mut line: LineWriter<'_, '_>, start: u16, head: usize, spot: &Spot, model: &Model) {
    line.own_cut(
        &spot.head,
        head.saturating_sub(1),
        if spot.target.is_some() { Meaning::Strong } else { Meaning::Faint },
    );
    line.tab(start, head);
    match &spot.shows {
        Shows::Words(words) => line.own(words, Meaning::Faint),
        Shows::Row(row) => draw_row(&mut line, start, head, row),
        Shows::Open(place) => {
            let row = model.open().map(|open| open.report.row(place.section, place.row)).unwrap_or_default();
            draw_row(&mut line, start, head, &row);
        }
    }
}

fn draw_row(line: &mut LineWriter<'_, '_>, start: u16, head: usize, row: &Row) {
    draw_label(line, &row.label);
    line.tab(start, head + LABEL);
    draw_pieces(line, &row.pieces, Meaning::Text, true, None);
}
