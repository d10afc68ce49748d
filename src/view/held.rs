//! Everything that is held, a row a thing, with what is known of the chosen one below.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::list::since;
use super::overlay::draw_line as draw_sought;
use super::theme::Meaning;
use crate::app::over::held::{self, HeldScreen, rows_beside};
use crate::app::over::notes::MARK;
use crate::app::{Area, Model};
use crate::report::{Held, Holding, Retention};
use crate::text::{bytes, thousands, words_in_rows_cut};

/// Where the columns begin, by how wide the screen is: file, what, received, raw, on disk, at the service, from.
struct Columns {
    what: usize,
    received: usize,
    raw: Option<usize>,
    on_disk: usize,
    service: Option<usize>,
    from: Option<usize>,
}

impl Columns {
    fn of(width: usize) -> Self {
        match width {
            0..60 => Self { what: 0, received: 17, raw: None, on_disk: 28, service: None, from: None },
            60..100 => Self { what: 15, received: 35, raw: None, on_disk: 47, service: Some(58), from: None },
            _ => Self { what: 15, received: 42, raw: Some(59), on_disk: 71, service: Some(82), from: Some(94) },
        }
    }
}

/// The title: how much there is.
pub(super) fn title(held: &HeldScreen) -> String {
    let sum = |of: fn(&Holding) -> u64| bytes(held.lines.iter().map(of).fold(0, u64::saturating_add));
    let all = thousands(held.lines.len() as u64);
    let count = match held.line.typed.is_empty() {
        true => all,
        false => format!("{} of {all}", thousands(held.shown().len() as u64)),
    };
    format!("Held: {count} · {} · {} on disk · {}", sum(|l| l.bytes), sum(|l| l.on_disk), held.order.name())
}

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, held: &HeldScreen, model: &Model) {
    if held.lines.is_empty() {
        return LineWriter::new(buffer, area, 0).own("Nothing is held.", Meaning::Faint);
    }
    let head = u16::try_from(held.line.rows()).unwrap_or(0).min(area.height);
    if head > 0 {
        draw_sought(buffer, area, 0, "/", &held.line.typed, held.line.is_typing);
    }
    let area = Area { y: area.y + head, height: area.height - head, ..area };
    if held.shown().len() == 0 {
        return LineWriter::new(buffer, area, 0).own("no row holds this", Meaning::Faint);
    }
    let columns = Columns::of(area.width.into());
    draw_heading(LineWriter::new(buffer, area, 0), area, &columns);
    let beside = rows_beside(area.height.into());
    let rows = usize::from(area.height).saturating_sub(beside).max(1);
    for (row, (position, thing)) in (1..area.height).zip(held.shown().enumerate().skip(held.scroll.top).take(rows)) {
        let Some(thing) = thing else { break };
        let line = LineWriter::new(buffer, area, row);
        let line = if position == held.scroll.cursor { line.base(Meaning::Cursor) } else { line };
        draw_line(line, area, thing, &columns, model);
    }
    if let Some(thing) = held.chosen().filter(|_| usize::from(area.height) > beside) {
        let below = u16::try_from(beside - 2).unwrap_or(2);
        let said = Area { y: area.y + area.height - below, height: below, ..area };
        let words = words_in_rows_cut(&about(thing, model), usize::from(area.width).max(10), below.into());
        for (row, text) in (0..said.height).zip(words) {
            LineWriter::new(buffer, said, row).own(&text, Meaning::Faint);
        }
    }
}

fn draw_heading(mut line: LineWriter<'_, '_>, area: Area, columns: &Columns) {
    let mut head = |column: Option<usize>, text: &str| {
        if let Some(column) = column {
            line.tab(area.x, column);
            line.own(text, Meaning::Strong);
        }
    };
    head(Some(0).filter(|_| columns.what > 0), "file");
    head(Some(columns.what), "sandbox");
    head(Some(columns.received), "received");
    head(columns.raw, "size");
    head(Some(columns.on_disk), "on disk");
    head(columns.service, "at service");
    head(columns.from, "from");
}

fn draw_line(mut line: LineWriter<'_, '_>, area: Area, thing: &Holding, columns: &Columns, model: &Model) {
    if columns.what > 0 {
        let file = thing.file.as_ref().map_or_else(|| "-".to_owned(), |file| file.short());
        line.own(&file, Meaning::Text);
    }
    line.tab(area.x, columns.what);
    let notes = if thing.notes > 0 { format!(" {MARK}{}", thing.notes) } else { String::new() };
    let room = columns.received.saturating_sub(columns.what + 2 + notes.chars().count());
    line.visible(&held::title(thing).cut(room), Meaning::Strong);
    line.own(&notes, Meaning::Key);
    let all = [Some(columns.received), columns.raw, Some(columns.on_disk), columns.service, columns.from];
    let mut cell = |column: Option<usize>, text: &str, meaning| {
        if let Some(column) = column {
            line.tab(area.x, column);
            // Two numbers that touch are read as one.
            let next = all.iter().flatten().find(|next| **next > column).map_or(usize::MAX, |next| next - column - 1);
            line.own_cut(text, line.room().min(next), meaning);
        }
    };
    let received = since(thing.received, model.now);
    let received = match columns.raw {
        // Where there is little room a date is told without its year.
        None => received.get(5..).filter(|short| !short.is_empty()).unwrap_or(&received),
        Some(_) => &received,
    };
    cell(Some(columns.received), received, Meaning::Text);
    cell(columns.raw, &bytes(thing.bytes), Meaning::Text);
    cell(Some(columns.on_disk), &bytes(thing.on_disk), Meaning::Text);
    cell(columns.service, &thing.retention(model.now).map(Retention::short).unwrap_or_default(), Meaning::Text);
    cell(columns.from, &from(thing), Meaning::Text);
}

fn from(thing: &Holding) -> String {
    match &thing.imported {
        Some(imported) => format!("file {}", imported.from.visible_cut(24)),
        None if matches!(thing.what, Held::Notes(_)) => "notes alone".to_owned(),
        None if thing.is_quarantined() => "quarantined".to_owned(),
        None => own(&thing.profile),
    }
}

/// All that is known of a thing, in sentences.
fn about(thing: &Holding, model: &Model) -> String {
    let name = thing.name.as_ref().map(|name| format!("{} · ", name.visible_cut(40))).unwrap_or_default();
    let from = match &thing.imported {
        Some(imported) => format!("imported {}", imported.words()),
        None if matches!(thing.what, Held::Notes(_)) => "notes alone, on a report that is not stored".to_owned(),
        None => format!("asked of {}", own(&thing.profile)),
    };
    let service = thing.retention(model.now).map(|found| format!(" · {}", found.words())).unwrap_or_default();
    let when = crate::text::moment(thing.received);
    let size = format!("{}, {} on disk", bytes(thing.bytes), bytes(thing.on_disk));
    format!("{name}{from} on {when} · {size}{service}")
}

/// A profile's name, made harmless.
fn own(name: &str) -> String {
    crate::text::Untrusted::from(name).visible_cut(24).to_string()
}
