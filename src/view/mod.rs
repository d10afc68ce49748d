//! Draws the model without changing it: the whole screen, or its rows as plain lines.
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
pub(crate) mod theme;

use crate::app::list::ListOrigin;
use crate::app::message::SMALLEST;
use crate::app::overlays::RowWindow;
use crate::app::overlays::stored::MARK;
use crate::app::panes::{NO_REPORT, Scroll, Tab};
use crate::app::{Area, KeyContext, Layout, Model, Screen, Size};
use crate::report::{Pane, RecentFile, Retention};
use crate::text::{ColumnWidth, count, to_visible, wrap, wrap_cut};
use canvas::{Canvas, LineWriter, StyledText, wrapped};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use theme::Role;
pub use theme::{Appearance, ColorDepth, Theme};

/// Characters of frames, which plain lines omit.
const FRAME: &[char] = &['─', '━', '│', '┃', '╭', '╮', '╰', '╯', '┏', '┓', '┗', '┛', '+', '-', '=', '|', '#', ' '];

/// Returns the model in lines: the context, its rows, and the enabled keys with their prices.
pub fn lines(model: &Model) -> Vec<String> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    let layout = model.layout();
    draw_content(&mut Canvas::new(&mut buffer, Appearance::default()), &layout, model);
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

/// Returns the bar as text: the keys, and the remaining quota.
pub fn bar(model: &Model) -> [String; 2] {
    let text = |pieces: Vec<StyledText>| pieces.into_iter().map(|(text, _)| text).collect::<String>();
    [bar::keys, bar::left].map(|part| text(part(model, usize::MAX)).trim().replace('│', ";"))
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

/// Columns: maximum of a file's name, of titles with names, reserved for program and file.
const MAX_NAME_COLUMNS: usize = 40;
const NAMED_TITLE_COLUMNS: u16 = 80;
const RESERVED_TITLE_COLUMNS: usize = 33;

/// The maximum rows of the detail; rows reserved for the hash line and recent files.
const MAX_DETAIL_ROWS: u16 = 4;
const RESERVED_START_ROWS: u16 = 6;

pub fn draw(buffer: &mut Buffer, look: Appearance, model: &Model) {
    let buffer = &mut Canvas::new(buffer, look);
    let whole = Area { x: 0, y: 0, width: buffer.area.width, height: buffer.area.height };
    if !model.size.is_enough() {
        let Size { width, height } = SMALLEST;
        let words = format!("behaview needs {width} columns and {height} rows. {} quits.", model.key_label("quit"));
        let rows = wrap(&words, usize::from(whole.width).max(1)).into_iter();
        return buffer.write_rows(whole, 0, rows.map(|row| (row, Role::Text)));
    }
    let layout = model.layout();
    draw_content(buffer, &layout, model);
    bar::draw(buffer, layout.bar, model);
    draw_message(buffer, &layout, model);
    buffer.show_ascii_borders();
}

fn draw_content(buffer: &mut Canvas<'_>, layout: &Layout, model: &Model) {
    draw_title(buffer, layout.title, model);
    match (model.screen, model.list()) {
        (Screen::File, Some(_)) => draw_file(buffer, layout, model),
        _ => draw_start(buffer, layout.content, model),
    }
    for (above, overlay) in (0..model.overlays.all.len()).rev().zip(&model.overlays.all) {
        buffer.has_keys = above == 0;
        overlay::draw(buffer, layout, overlay, model);
    }
}

fn draw_title(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    let right = right_of_title(model, area.width.into());
    let mut line = LineWriter::new(buffer, area, 0);
    line.own(" behaview", Role::Focus);
    let gap = usize::from(!right.is_empty());
    let mut left = line.room().saturating_sub(right.columns() + gap);
    for (at, (text, meaning)) in title(model, area.width).into_iter().enumerate() {
        let text = format!(" · {text}");
        // A part that does not fit is omitted with those after it; the open file is always shown.
        if text.columns() > left && at > 1 {
            break;
        }
        line.own_cut(&text, left, meaning);
        left = left.saturating_sub(text.columns());
    }
    if line.room() >= right.columns() {
        line.tab(usize::from(area.width) - right.columns());
        line.own(&right, Role::Price);
    }
}

/// Returns the parts of the title, the most important first.
fn title(model: &Model, columns: u16) -> Vec<StyledText> {
    let mut parts = Vec::new();
    match model.list().filter(|_| model.screen == Screen::File).map(|list| &list.origin) {
        None => parts.push((own_name(&model.service.name), Role::Faint)),
        Some(ListOrigin::Document(name)) => {
            let document = model.chosen().and_then(|entry| entry.document.as_ref());
            parts.extend(document.map(|document| (document.visible_cut(40).to_string(), Role::Strong)));
            parts.push((own_name(name), if document.is_some() { Role::Key } else { Role::Strong }));
        }
        Some(ListOrigin::Service(file)) => {
            let hash = if columns >= 150 { file.to_string() } else { file.short() };
            parts.extend([(own_name(&model.service.name), Role::Faint), (hash, Role::Strong)]);
            // A name in few columns is useless: sandbox and verdict get the room.
            let name = model.start.name_of(file).filter(|_| columns >= NAMED_TITLE_COLUMNS);
            let name = name.map(|name| name.visible_cut((usize::from(columns) / 5).min(MAX_NAME_COLUMNS)).to_string());
            parts.extend(name.map(|name| (name, Role::Strong)));
            let number = model.files.number().map(|(shown, all)| format!("file {shown} of {all}"));
            parts.extend(number.map(|number| (number, Role::Key)));
        }
    }
    let Some(entry) = model.chosen().filter(|_| model.screen == Screen::File) else { return parts };
    let known = list::known(entry, 40).into_iter().zip([Role::Strong, Role::Strong, Role::Faint]);
    parts.extend(known.filter_map(|(words, meaning)| Some((words?, meaning))));
    if let Some(report) = entry.report().filter(|_| !model.is_document()) {
        let since = list::age(report.received, model.now);
        parts.push(match &report.imported {
            Some(imported) => (format!("imported {since} {}", imported.label()), Role::Free),
            None => (format!("stored {since}"), Role::Free),
        });
    }
    parts
}

/// Escapes a name given by the user, which may come from a file's name.
fn own_name(name: &str) -> String {
    to_visible(name).cut(48).to_string()
}

/// Work in progress that may cost, for every screen: the call in flight, and the watched scans.
fn right_of_title(model: &Model, columns: usize) -> String {
    let all = model.calls.batch().map(|batch| format!("{} of {} · ", batch.sent(), batch.total));
    let all = all.unwrap_or_default();
    // The countdown to a poll implies that a scan is watched.
    let end = if model.follows.is_empty() { " " } else { " · " };
    let call = model.calls.paid().next().map(|call| format!("◌ {all}{}{end}", list::progress(call, model.now)));
    let first = call.unwrap_or(all);
    // The open file is named beside it, at least in short.
    let room = columns.saturating_sub(RESERVED_TITLE_COLUMNS + first.columns());
    format!("{first}{}", followed(model, room))
}

/// Describes the watched scans as long as fits: the next poll or their number, and costs so far.
fn followed(model: &Model, room: usize) -> String {
    if model.follows.is_empty() {
        return String::new();
    }
    let cost = crate::quota::price(&model.follows.made(), &model.quota_state.entitlements);
    let what = match model.following().filter(|_| model.screen == Screen::File) {
        Some(follow) => format!("poll in {} s, {} left", follow.seconds(model.passed), count(follow.left(), "call")),
        None => format!("watching {}", count(model.follows.len() as u64, "file")),
    };
    let forms = [format!("◷ {what}, {} so far ", cost.short()), format!("◷ {} so far ", cost.short())];
    forms.into_iter().find(|form| form.columns() <= room).unwrap_or_else(|| format!("◷ {} ", cost.short()))
}

fn draw_file(buffer: &mut Canvas<'_>, layout: &Layout, model: &Model) {
    let list = layout.list.zip(model.list());
    let has_focus = model.focused().is_none();
    if let Some((area, file)) = list.filter(|_| !has_focus) {
        list::draw(buffer, area, file, model);
    }
    draw_tabs(buffer, layout.tabs, model);
    match model.open() {
        Some(open) => {
            // The focused pane is drawn last, over shared borders and marks.
            let (focused, others): (Vec<_>, Vec<_>) =
                layout.panes.iter().partition(|(pane, _)| model.focused() == Some(*pane));
            for panes in [others, focused] {
                panes.iter().for_each(|(pane, area)| pane::draw(buffer, *area, *pane, open, model));
                for (pane, area) in panes {
                    let state = model.pane_state(pane);
                    buffer.scroll_mark(area, (state.scroll.top, state.count(&open.report, pane)));
                }
            }
        }
        None => draw_without_report(buffer, layout, model),
    }
    if let Some((area, file)) = list.filter(|_| has_focus) {
        list::draw(buffer, area, file, model);
    }
    draw_detail(buffer, layout, model);
}

/// Shows the full text of the row under the cursor as far as it fits; nothing under a message.
fn draw_detail(buffer: &mut Canvas<'_>, layout: &Layout, model: &Model) {
    let area = layout.detail;
    let columns = usize::from(area.width).saturating_sub(2).max(10);
    let words = match model.focused() {
        _ if area.height == 0 || !model.message().is_empty() => None,
        None => model.list().map(|list| list::chosen_text(list, model)),
        Some(pane) => {
            model.open().and_then(|open| pane::row_text(pane, open, model, columns * usize::from(MAX_DETAIL_ROWS)))
        }
    };
    let Some(words) = words else { return };
    // A long row covers the last rows of the panes, but not the one with the cursor.
    let wanted = u16::try_from(wrap(&words, columns).len()).unwrap_or(MAX_DETAIL_ROWS).min(MAX_DETAIL_ROWS);
    let free = if model.overlays.is_empty() { area.y.saturating_sub(below_cursor(layout, model) + 1) } else { 0 };
    let more = wanted.saturating_sub(area.height).min(free);
    buffer.lift_border(layout.content, more);
    let area = Area { y: area.y - more, height: area.height + more, ..area };
    let rows = wrap_cut(&words, columns, area.height.into()).into_iter();
    buffer.write_rows(area, 0, rows.map(|row| (format!(" {row}"), Role::Detail)));
}

/// Returns the screen row below the cursor's.
fn below_cursor(layout: &Layout, model: &Model) -> u16 {
    let (area, scroll, height) = match model.focused() {
        None => (layout.list, model.list().map_or_else(Scroll::default, |list| list.scroll), model.list_row_height()),
        Some(pane) => (layout.pane(pane), model.pane_state(pane).scroll, 1),
    };
    let rows = (scroll.cursor.saturating_sub(scroll.top) + 1) * height;
    area.unwrap_or_default().inside().y.saturating_add(u16::try_from(rows).unwrap_or(u16::MAX))
}

fn draw_message(buffer: &mut Canvas<'_>, layout: &Layout, model: &Model) {
    let is_problem = model.notice.as_ref().is_some_and(|notice| notice.is_problem);
    let meaning = if is_problem { Role::Problem } else { Role::Strong };
    let rows = model.message();
    let area = if layout.detail.height == 0 && model.overlays.is_empty() {
        // Drawn between the ends of the border.
        let columns = rows.iter().map(|row| row.columns() + 2).max().unwrap_or(0);
        let width = u16::try_from(columns).unwrap_or(u16::MAX);
        Area { x: layout.message.x + 1, width: width.min(layout.message.width.saturating_sub(2)), ..layout.message }
    } else {
        let more = layout.message.height.saturating_sub(layout.detail.height);
        buffer.lift_border(layout.content, if model.overlays.is_empty() { more } else { 0 });
        layout.message
    };
    buffer.clear(area);
    buffer.write_rows(area, 0, rows.into_iter().map(|row| (format!(" {row}"), meaning)));
}

/// Draws a tab per pane with key and number of rows; the focused one looks like a chosen row.
fn draw_tabs(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    if model.open().is_some_and(|open| open.report.is_of_another_kind()) {
        LineWriter::new(buffer, area, 0).own(&format!(" {NO_REPORT}"), Role::Problem);
    }
    for tab in Tab::all(model, area) {
        if tab.area.x > area.x + 1 {
            LineWriter::new(buffer, Area { x: tab.area.x - 1, ..tab.area }, 0).own("│", Role::Frame);
        }
        let has_focus = model.focused() == Some(tab.pane);
        let line = LineWriter::new(buffer, tab.area, 0);
        let mut line = if has_focus { line.under(Role::Cursor) } else { line };
        let [key, name, count] = match (has_focus, tab.is_empty) {
            (true, _) => [Role::Focus; 3],
            (false, true) => [Role::Faint; 3],
            (false, false) => [Role::Key, Role::Text, Role::Faint],
        };
        line.tab(tab.padding.into());
        for (words, meaning) in [(&*tab.key, key), (tab.pane.short(), name), (&*tab.count, count)] {
            if !words.is_empty() {
                line.own(words, meaning);
                line.own(" ", meaning);
            }
        }
    }
}

fn draw_without_report(buffer: &mut Canvas<'_>, layout: &Layout, model: &Model) {
    if let Some(area) = layout.pane(Pane::Overview) {
        pane::frame(buffer, area, " Overview ", "", false);
    }
    if layout.panes.iter().any(|(pane, _)| *pane != Pane::Overview) {
        list::draw_absent(buffer, layout.beside_list, model);
    } else if let (Some(area), true) = (
        layout.list,
        model.list().is_some_and(|list| list.failure.is_some()) || model.chosen().is_some_and(|e| e.failure.is_some()),
    ) {
        // Without room beside the list, a failure leaves it two rows.
        let kept = area.height.min(3);
        let lower = Area { y: area.y + kept, height: area.height - kept, ..area };
        buffer.clear(lower);
        list::draw_absent(buffer, lower, model);
    }
}

fn draw_start(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    let inside = pane::frame(buffer, area, " Which file? ", "", true);
    let rows = wrapped(start_text(model), inside.width.saturating_sub(4).into());
    // In little room, the end of the text gives way to the typed hash and the chosen file.
    let words = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(inside.height.saturating_sub(RESERVED_START_ROWS));
    let shown = rows.into_iter().take(words.into());
    buffer.write_rows(inside, 0, shown.map(|(text, meaning)| (format!("  {text}"), meaning)));
    draw_typed(buffer, inside, words, model);
    let below = words + 2;
    let recent = Area { y: inside.y + below.min(inside.height), height: inside.height.saturating_sub(below), ..inside };
    draw_recent(buffer, recent, model);
}

fn start_text(model: &Model) -> Vec<StyledText> {
    let [demo, help, palette, back, quit] =
        ["demo", "help", "palette", "back", "quit"].map(|name| model.key_label(name));
    let stored = match model.settings.forgets {
        Some(_) => "Each paid response is free from then on, and gone when this run ends.",
        None => "Each paid response is stored here, and free from then on.",
    };
    let words = if model.service.is_offline {
        vec![Role::Free.of("This run is offline: stored reports open, and nothing is sent.")]
    } else if !model.service.has_key {
        let missing = Role::Problem.of("No API key yet, so nothing can be sent to the service.");
        let [get, set] = model.service.key_help.clone().map(|words| Role::Text.of(words));
        let free = "made-up reports, no key, no network, no cost. Stored reports open without a key, too.";
        vec![missing, get, set, Role::Free.of(format!("{demo} tries the demo now: {free}"))]
    } else if model.start.recent.is_empty() {
        vec![
            ("This shows what sandboxes saw of your privately scanned files, and the bar below prices every key before you press it.".to_owned(), Role::Text),
            Role::Free.of(stored),
            (format!("{help} shows the keys that apply here, {palette} finds any command; {back} goes back, {quit} leaves."), Role::Text),
        ]
    } else {
        Vec::new()
    };
    let gap = || Role::Text.of("");
    let before = (!words.is_empty()).then(gap);
    let ask = "Type or paste the SHA-256 of a privately scanned file. Opening it costs nothing; listing its sandboxes does, and says so.";
    words.into_iter().chain(before).chain([Role::Text.of(ask), gap()]).collect()
}

fn draw_typed(buffer: &mut Canvas<'_>, inside: Area, row: u16, model: &Model) {
    let mut line = LineWriter::new(buffer, inside, row);
    line.own("  SHA-256 ", Role::Key);
    let typed = &model.start.typed;
    // An empty field takes digits of a hash only; other letters are keys.
    line.field(typed, "type its digits, 0 to 9 and a to f, or paste it", !typed.is_empty());
    if typed.is_empty() {
        return;
    }
    let more = match crate::report::identifier::Sha256::LENGTH.saturating_sub(typed.text.len()) {
        0 => format!(" {} opens it", model.key_label("open-chosen")),
        missing => format!(" {missing} to go"),
    };
    line.own(&more, Role::Faint);
}

fn draw_recent(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    if model.start.recent.is_empty() {
        return LineWriter::new(buffer, area, 0).own("  No file has been opened yet.", Role::Faint);
    }
    LineWriter::new(buffer, area, 0).own("  Files", Role::Strong);
    let fit = usize::from(area.height.saturating_sub(1));
    let scroll = model.start.scroll;
    let top = scroll.top.max(scroll.cursor.saturating_sub(fit.saturating_sub(1)));
    for (row, (position, recent)) in (1..area.height).zip(model.start.recent.iter().enumerate().skip(top).take(fit)) {
        let is_chosen = position == scroll.cursor && model.start.typed.is_empty();
        let mut line = LineWriter::of_list(buffer, area, row, is_chosen);
        line.own("  ", Role::Text);
        draw_earlier(&mut line, recent, model);
        if recent.notes > 0 {
            line.own(&format!("  {MARK}{}", recent.notes), Role::Key);
        }
        if recent.scan.as_ref().is_some_and(|scan| scan.is_pending(model.now)) {
            line.own("  ◷ scan not seen to its end", Role::Price);
        }
        if let Some(expires) = recent.expires.filter(|expires| *expires > model.now) {
            let expires = Retention::until(expires, model.now).short(model.now);
            line.own(&format!("  expires {expires}"), Role::Price);
        }
    }
}

fn draw_earlier(line: &mut LineWriter<'_>, recent: &RecentFile, model: &Model) {
    let hash = if model.size.width >= 140 { recent.file.to_string() } else { recent.file.short() };
    line.own(&format!("{hash}  "), Role::Text);
    if let Some(name) = &recent.name {
        line.visible(&name.visible_cut(line.room().min(40)), Role::Strong);
        line.own("  ", Role::Text);
    }
    let stored = match recent.reports {
        0 => "nothing stored".to_owned(),
        reports => format!("{} stored, last used {}", count(reports, "report"), list::since(recent.opened, model.now)),
    };
    line.own(&stored, Role::Faint);
}
