//! A list over the screen: its filter line, its rows, and the facts of the chosen one.

use super::canvas::{Canvas, LineWriter};
use super::overlay::{draw_line, inside_beside};
use super::theme::Meaning;
use crate::app::over::list_view::{ListSource, ListView};
use crate::app::{Area, Model};
use crate::text::words_in_rows_cut;

/// How a list of one kind is drawn.
pub(super) trait DrawList: ListSource + Sized {
    /// Where the parts of a row begin.
    type Columns;

    /// The text of a list without rows.
    const EMPTY: &'static str = "no row holds this";

    /// What can be typed into its filter line.
    const HINT: &'static str = "";

    fn title(list: &ListView<Self>, model: &Model) -> String;

    /// Where the parts of these rows begin, within this many columns.
    fn columns(&self, rows: &[&Self::Row], room: usize, model: &Model) -> Self::Columns;

    /// Draws what stands above the rows.
    fn draw_head(&self, _line: LineWriter<'_, '_>, _columns: &Self::Columns) {}

    fn draw_row(&self, line: LineWriter<'_, '_>, columns: &Self::Columns, row: &Self::Row, model: &Model);

    /// The words below the rows, about the chosen one or about the list.
    fn words_below(&self, _chosen: Option<&Self::Row>, _model: &Model) -> Option<(String, Meaning)> {
        None
    }
}

/// Where it begins what can be typed: behind the cursor of the line.
const HINT: usize = 4;

pub(super) fn draw<S: DrawList>(buffer: &mut Canvas<'_>, area: Area, list: &ListView<S>, model: &Model) {
    let rows = list.rows(model.overlay_room());
    let part = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
    let (filter, above, below) = (part(list.filter.rows()), part(rows.above), part(rows.below));
    let shown = (list.scroll.top, rows.count);
    let inside = inside_beside(buffer, area, model, &S::title(list, model), shown, above + below);
    if filter > 0 {
        draw_line(buffer, inside, 0, "/", &list.filter.typed, list.filter.is_typing);
        if list.filter.typed.is_empty() {
            let mut hint = LineWriter::new(buffer, inside, 0);
            hint.tab(HINT);
            hint.own(S::HINT, Meaning::Faint);
        }
    }
    let above = above.min(inside.height);
    let body = Area { y: inside.y + above, height: inside.height.saturating_sub(above + below), ..inside };
    let window: Vec<_> = list.shown().skip(list.scroll.top).take(body.height.into()).collect();
    let columns = list.source.columns(&window, body.width.into(), model);
    if above > filter && list.counts().1 > 0 {
        list.source.draw_head(LineWriter::new(buffer, inside, filter), &columns);
    }
    if window.is_empty() {
        let words = if list.counts().1 == 0 { S::EMPTY } else { "no row holds this" };
        LineWriter::new(buffer, body, 0).own(words, Meaning::Faint);
    }
    for (at, (position, row)) in (0..body.height).zip((list.scroll.top..).zip(&window)) {
        let line = LineWriter::of_list(buffer, body, at, position == list.scroll.cursor);
        list.source.draw_row(line, &columns, row, model);
    }
    let Some((words, meaning)) = list.source.words_below(list.chosen(), model).filter(|_| below > 0) else { return };
    // Where there is room an empty row stands before the words.
    let told = words_in_rows_cut(&words, usize::from(inside.width).max(10), below.into());
    let first = inside.height - below.min(inside.height) + u16::from(told.len() < below.into() && below > 2);
    buffer.write_rows(inside, first, told.into_iter().map(|row| (row, meaning)));
}
