//! What stands over the screen: a row whole, the keys, the prices.

use super::line::{LineWriter, rect};
use super::list::progress;
use super::pane::frame;
use super::theme::Meaning;
use super::{away, held};
use crate::app::answer::AnswerTree;
use crate::app::detail::Detail;
use crate::app::notes::NoteForm;
use crate::app::palette::{Confirm, Confirmed, Palette, Prompt};
use crate::app::planner::Planner;
use crate::app::sheet::{HEAD, Sheet};
use crate::app::{Area, Model, Overlay};
use crate::request::Request;
use crate::text::{Untrusted, thousands, words_in_rows};
use ratatui::buffer::Buffer;
use ratatui::widgets::{Clear, Widget};
use unicode_width::UnicodeWidthStr;

/// Rows of an overlay that asks something.
const SMALL: usize = 6;

/// Empties an area.
pub(super) fn clear(buffer: &mut Buffer, area: Area) {
    Clear.render(rect(area).intersection(buffer.area), buffer);
}

pub(super) fn draw(buffer: &mut Buffer, area: Area, overlay: &Overlay, model: &Model) {
    let rows = match overlay {
        Overlay::Sheet(sheet) => sheet.count(),
        Overlay::Detail(detail) => detail.count(),
        Overlay::Palette(_) | Overlay::Answer(_) | Overlay::Planner(_) => usize::MAX,
        Overlay::Indicators(_) | Overlay::Finder(_) | Overlay::Compare(_) | Overlay::Held(_) => usize::MAX,
        Overlay::Artefacts(list) => list.rows.len() + usize::from(list.failure.is_some()) * 3,
        Overlay::Prompt(_) | Overlay::Confirm(_) | Overlay::Save(_) | Overlay::Note(_) | Overlay::Age(_) => SMALL,
        Overlay::Places(places) => places.spots.len(),
        Overlay::OtherFile(other) => other.files.len(),
    };
    // As low as it needs to be, at the bottom: what it is about stays in sight.
    let height = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2).min(area.height);
    let area = Area { y: area.y + area.height - height, height, ..area };
    clear(buffer, area);
    match overlay {
        Overlay::Sheet(sheet) => draw_sheet(buffer, area, sheet),
        Overlay::Detail(detail) => draw_detail(buffer, area, detail),
        Overlay::Palette(palette) => draw_palette(buffer, area, palette),
        Overlay::Finder(finder) => super::finder::draw(buffer, area, finder),
        Overlay::Prompt(form) => draw_form(buffer, area, form, model),
        Overlay::Confirm(confirm) => draw_confirm(buffer, area, confirm),
        Overlay::Answer(answer) => draw_answer(buffer, area, answer, model),
        Overlay::Planner(planner) => draw_planner(buffer, area, planner, model),
        Overlay::Indicators(list) => away::draw_indicators(buffer, area, list, model),
        Overlay::Artefacts(list) => away::draw_artefacts(buffer, area, list, model),
        Overlay::Save(form) => away::draw_save(buffer, area, form),
        Overlay::Compare(compare) => super::compare::draw(buffer, area, compare, model),
        Overlay::OtherFile(other) => super::compare::draw_files(buffer, area, other, model),
        Overlay::Places(places) => super::places::draw(buffer, area, places, model),
        Overlay::Note(form) => draw_note(buffer, area, form),
        Overlay::Age(typed) => draw_age(buffer, area, typed),
        Overlay::Held(screen) => {
            let inside = inside(buffer, area, &held::title(screen), 0, 0);
            held::draw(buffer, inside, screen, model);
        }
    }
}

fn draw_palette(buffer: &mut Buffer, area: Area, palette: &Palette) {
    let found = palette.matching();
    let inside = inside(buffer, area, "What to do?", 0, 0);
    draw_line(buffer, inside, 0, ":", &palette.typed);
    for row in 2..inside.height {
        let position = palette.scroll.top + usize::from(row) - 2;
        let Some(item) = found.get(position) else { break };
        let line = LineWriter::new(buffer, inside, row);
        let mut line = if position == palette.scroll.cursor { line.base(Meaning::Cursor) } else { line };
        line.own(&item.key, Meaning::Key);
        line.tab(inside.x, 8);
        line.own(item.name, Meaning::Strong);
        line.tab(inside.x, 30);
        if let Some(price) = &item.price {
            line.own(&format!("{price} · "), Meaning::Price);
        }
        line.own(item.help, Meaning::Text);
    }
    if found.is_empty() {
        LineWriter::new(buffer, inside, 2).own("nothing is called so", Meaning::Faint);
    }
}

fn draw_planner(buffer: &mut Buffer, area: Area, planner: &Planner, model: &Model) {
    let inside = inside(buffer, area, "What would it cost?", 0, 0);
    draw_line(buffer, inside, 0, "+", &planner.typed);
    let room = usize::from(inside.width).saturating_sub(HEAD).max(10);
    let rows = planner.rows(model).into_iter().flat_map(|row| {
        let text = words_in_rows(&row.text, room).into_iter();
        text.enumerate().map(move |(n, text)| (if n == 0 { row.head.clone() } else { String::new() }, text))
    });
    for (row, (head, text)) in (2..inside.height).zip(rows) {
        let mut line = LineWriter::new(buffer, inside, row);
        line.own(&head, Meaning::Key);
        line.tab(inside.x, HEAD);
        line.own(&text, Meaning::Text);
    }
}

/// A line that is typed into: its end is what is seen.
pub(super) fn draw_line(buffer: &mut Buffer, area: Area, row: u16, prompt: &str, typed: &str) {
    let visible = Untrusted::from(typed).visible();
    let room = usize::from(area.width).saturating_sub(prompt.width() + 3);
    let shown = Untrusted::from(typed).visible_window(visible.width().saturating_sub(room), room);
    let mut line = LineWriter::new(buffer, area, row);
    line.own(&format!("{prompt} "), Meaning::Key);
    line.visible(&shown, Meaning::Strong);
    line.own("▏", Meaning::Focus);
}

fn draw_form(buffer: &mut Buffer, area: Area, form: &Prompt, model: &Model) {
    let inside = inside(buffer, area, form.ask.help, 0, 0);
    if form.ask.input.is_empty() {
        LineWriter::new(buffer, inside, 0).own("nothing has to be typed", Meaning::Faint);
    } else {
        draw_line(buffer, inside, 0, ">", &form.typed);
    }
    let request = form.request(model.now);
    let call = request.as_ref().ok().and_then(|request| model.under_way.iter().find(|call| call.request == *request));
    let room = usize::from(inside.width).max(10);
    let words = match (&form.failure, call, &request) {
        (Some(failure), _, _) => vec![
            (failure.what.clone(), Meaning::Problem),
            (failure.cost.clone(), Meaning::Text),
            (failure.advice.clone(), Meaning::Text),
        ],
        (None, Some(call), _) => vec![(format!("◌ asking … {}", progress(call, model.now)), Meaning::Strong)],
        (None, None, Err(missing)) => {
            vec![(form.ask.input.to_owned(), Meaning::Text), (missing.clone(), Meaning::Faint)]
        }
        (None, None, Ok(request)) => vec![(priced(form, request, model), Meaning::Price)],
    };
    let rows = words
        .into_iter()
        .flat_map(|(text, meaning)| words_in_rows(&text, room).into_iter().map(move |row| (row, meaning)));
    for (row, (text, meaning)) in (1..inside.height).zip(rows) {
        LineWriter::new(buffer, inside, row).own(&text, meaning);
    }
}

fn draw_age(buffer: &mut Buffer, area: Area, typed: &str) {
    let inside = inside(buffer, area, "Delete what is older than how many days?", 0, 0);
    draw_line(buffer, inside, 0, ">", typed);
    LineWriter::new(buffer, inside, 2).own("Enter says what that would be, and asks.", Meaning::Faint);
}

fn draw_note(buffer: &mut Buffer, area: Area, form: &NoteForm) {
    let title = match &form.about.item {
        Some(item) => format!("Note on {}", item.text.visible_cut(60)),
        None => format!("Note on the report of {}", form.about.identifier.parts().sandbox.visible_cut(40)),
    };
    let inside = inside(buffer, area, &title, 0, 0);
    draw_line(buffer, inside, 0, ">", &form.typed);
    let words = if form.is_there {
        "An empty line deletes the note. It is kept on this machine only, and costs nothing."
    } else {
        "It is kept on this machine only, and costs nothing."
    };
    let rows = words_in_rows(words, usize::from(inside.width).max(10));
    for (row, text) in (2..inside.height).zip(rows) {
        LineWriter::new(buffer, inside, row).own(&text, Meaning::Faint);
    }
}

fn priced(form: &Prompt, request: &Request, model: &Model) -> String {
    match form.held_since(model.now) {
        Some(since) => format!("{} · 0, held since {}", request.words(), super::list::since(since, model.now)),
        None => format!("{} · {}", request.words(), model.price(request).short()),
    }
}

fn draw_confirm(buffer: &mut Buffer, area: Area, confirm: &Confirm) {
    let inside = inside(buffer, area, "Are you sure?", 0, 0);
    let room = usize::from(inside.width).max(10);
    let does = match &confirm.what {
        Confirmed::One(_) | Confirmed::All => "y sends it, esc does not.",
        Confirmed::Raw => "y copies it, esc does not.",
        Confirmed::Replace(_) => "y writes over it, esc does not.",
        Confirmed::NoNote | Confirmed::Purge(_) => "y deletes it, esc does not.",
    };
    let words = [(confirm.why.as_str(), Meaning::Problem), (does, Meaning::Text)];
    let rows = words
        .into_iter()
        .flat_map(|(text, meaning)| words_in_rows(text, room).into_iter().map(move |row| (row, meaning)));
    for (row, (text, meaning)) in (0..inside.height).zip(rows) {
        LineWriter::new(buffer, inside, row).own(&text, meaning);
    }
}

fn draw_answer(buffer: &mut Buffer, area: Area, answer: &AnswerTree, model: &Model) {
    let since = super::list::since(answer.received, model.now);
    let title = format!("{} · held since {since}", answer.title);
    let inside = inside(buffer, area, &title, answer.scroll.top, answer.count());
    for row in 0..inside.height {
        let position = answer.scroll.top + usize::from(row);
        let Some((found, children)) = answer.line(position) else { break };
        let line = LineWriter::new(buffer, inside, row);
        let mut line = if position == answer.scroll.cursor { line.base(Meaning::Cursor) } else { line };
        line.tab(inside.x, (found.depth * 2).min(40));
        line.own(
            match children {
                Some(true) => "▸ ",
                Some(false) => "▾ ",
                None => "  ",
            },
            Meaning::Faint,
        );
        if let Some(name) = &found.name {
            line.visible(&name.visible_cut(40), Meaning::Key);
            line.own(": ", Meaning::Faint);
        }
        if let Some(value) = &found.value {
            line.outside(value, Meaning::Text);
        }
    }
}

pub(super) fn inside(buffer: &mut Buffer, area: Area, title: &str, top: usize, count: usize) -> Area {
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
        let line = LineWriter::new(buffer, inside, row);
        let mut line = if shown.is_chosen { line.base(Meaning::Cursor) } else { line };
        line.tab(inside.x, shown.indent);
        if let Some(name) = &shown.name {
            line.visible(name, Meaning::Key);
            line.own(": ", Meaning::Faint);
        }
        line.visible(&shown.value, Meaning::Text);
    }
}
