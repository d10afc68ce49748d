//! What stands over the screen: a row whole, the keys, the prices.

use super::line::{LineWriter, rect};
use super::pane::frame;
use super::theme::Meaning;
use crate::app::detail::Detail;
use crate::app::sheet::{HEAD, Sheet};
use crate::app::{Area, Overlay};
use crate::text::thousands;
use ratatui::buffer::Buffer;
use ratatui::widgets::{Clear, Widget};

/// Empties an area.
pub(super) fn clear(buffer: &mut Buffer, area: Area) {
    Clear.render(rect(area).intersection(buffer.area), buffer);
}

pub(super) fn draw(buffer: &mut Buffer, area: Area, overlay: &Overlay) {
    let rows = match overlay {
        Overlay::Sheet(sheet) => sheet.count(),
        Overlay::Detail(detail) => detail.count(),
    };
    // As low as it needs to be, at the bottom: what it is about stays in sight.
    let height = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2).min(area.height);
    let area = Area { y: area.y + area.height - height, height, ..area };
    clear(buffer, area);
    match overlay {
        Overlay::Sheet(sheet) => draw_sheet(buffer, area, sheet),
        Overlay::Detail(detail) => draw_detail(buffer, area, detail),
    }
}

fn inside(buffer: &mut Buffer, area: Area, title: &str, top: usize, count: usize) -> Area {
    let height = usize::from(area.inside().height);
    let right = if count > height {
        format!(
            " {}–{} of {} · esc closes ",
            thousands(top as u64 + 1),
            thousands((top + height).min(count) as u64),
            thousands(count as u64)
        )
    } else {
        " esc closes ".to_owned()
    };
    let inside = frame(buffer, area, &format!(" {title} "), &right, true);
    Area { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
}

fn draw_sheet(buffer: &mut Buffer, area: Area, sheet: &Sheet) {
    let inside = inside(buffer, area, &sheet.title, sheet.top, sheet.count());
    for (row, shown) in (0..inside.height).zip(sheet.rows()) {
        let mut line = LineWriter::new(buffer, inside, row);
        line.own(&shown.head, Meaning::Key);
        line.tab(inside.x, HEAD);
        line.own(&shown.text, Meaning::Text);
    }
}

fn draw_detail(buffer: &mut Buffer, area: Area, detail: &Detail) {
    let inside = inside(buffer, area, &detail.title, detail.top, detail.count());
    for (row, shown) in (0..inside.height).zip(detail.rows(inside.height.into())) {
        let mut line = LineWriter::new(buffer, inside, row);
        line.tab(inside.x, shown.indent);
        if let Some(name) = &shown.name {
            line.visible(name, Meaning::Key);
            line.own(": ", Meaning::Faint);
        }
        line.visible(&shown.value, Meaning::Text);
    }
}
