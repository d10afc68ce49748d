//! Draws the model without changing it.
//!
//! Text from outside arrives as [`Untrusted`](crate::text::Untrusted), and only as
//! [`Visible`](crate::text::Visible) enters a cell.

mod bar;
mod canvas;
mod compare;
mod list;
mod lists;
mod overlay;
mod pane;
mod screen;
pub(crate) mod theme;

use crate::app::overlays::RowWindow;
use crate::app::{Area, KeyContext, Model, Size};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
pub use screen::draw;
pub use theme::{Appearance, ColorDepth, Theme};

/// Characters of frames, which plain lines omit.
const FRAME: &[char] = &['─', '━', '│', '┃', '╭', '╮', '╰', '╯', '┏', '┓', '┗', '┛', '+', '-', '=', '|', '#', ' '];

/// Returns the model in lines: the context, its rows, and the enabled keys with their prices.
pub fn lines(model: &Model) -> Vec<String> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    let layout = model.layout();
    screen::draw_content(&mut canvas::Canvas::new(&mut buffer, Appearance::default()), &layout, model);
    let area = model.overlays.top().map_or(layout.content, |overlay| overlay::area(overlay, &layout, model));
    let mut lines = vec![row(&buffer, layout.title, 0).trim().to_owned()];
    let title = row(&buffer, area, 0);
    lines.push(format!("== {} ==", title.trim_matches(FRAME).replace(['─', '━'], "").trim()));
    let mut rows: Vec<String> = (1..area.height.saturating_sub(1)).map(|y| numbered(&buffer, area, y, model)).collect();
    // Consecutive empty lines become one.
    rows.dedup_by(|row, before| row.trim().is_empty() && before.trim().is_empty());
    while rows.last().is_some_and(|row| row.trim().is_empty()) {
        rows.pop();
    }
    lines.extend(rows);
    lines
}

pub fn keys(model: &Model) -> String {
    bar::text(&bar::keys(model, usize::MAX))
}

pub fn balances(model: &Model) -> String {
    bar::text(&bar::left(model, usize::MAX))
}

/// Returns a row inside a frame: whether it is chosen, its number, its text.
fn numbered(cells: &Buffer, area: Area, y: u16, model: &Model) -> String {
    let inside = Area { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let shown = row(cells, inside, y);
    let is_chosen = row(cells, Area { width: 2, ..area }, y).contains(['›', '>']);
    let text = shown.strip_prefix(['›', '>']).unwrap_or(&shown).trim_end().trim_end_matches('▏');
    let room = Size { width: inside.width, height: area.height.saturating_sub(2) };
    let number = rows(model).and_then(|rows| rows.at(usize::from(y - 1), room)).map(|row| row + 1);
    let mark = if is_chosen { "> " } else { "  " };
    match number.filter(|_| !text.trim().is_empty()) {
        Some(number) => format!("{mark}{number}: {}", text.trim_start_matches(' ')),
        None => format!("{mark}{text}"),
    }
}

/// Returns the window of rows that have numbers; `None` in a text field or without a cursor.
fn rows(model: &Model) -> Option<RowWindow> {
    match model.key_context() {
        KeyContext::List => {
            model.list().map(|list| RowWindow { scroll: list.scroll, count: list.count(), ..RowWindow::default() })
        }
        KeyContext::Pane => {
            let (pane, open) = model.focused().zip(model.open())?;
            let state = model.pane_state(pane);
            Some(RowWindow { scroll: state.scroll, count: state.count(&open.report, pane), ..RowWindow::default() })
        }
        place if place.has_line() && !place.seeks() => None,
        _ => model.rows_over(),
    }
}

fn row(cells: &Buffer, area: Area, y: u16) -> String {
    let mut text = String::new();
    let mut hidden = 0;
    for x in area.x..area.x.saturating_add(area.width) {
        let Some(cell) = cells.cell((x, area.y + y)) else { break };
        if hidden == 0 {
            text += cell.symbol();
            hidden = unicode_width::UnicodeWidthStr::width(cell.symbol()).saturating_sub(1);
        } else {
            hidden -= 1;
        }
    }
    text
}
