//! The whole screen: title, content, bar.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::theme::{Look, Meaning};
use super::{bar, list, overlay, pane};
use crate::app::layout::SMALLEST;
use crate::app::list::Origin;
use crate::app::model::Notice;
use crate::app::notes::MARK;
use crate::app::panes::PaneInfo;
use crate::app::{Area, Layout, Model, PANES, Screen};
use crate::report::Pane;
use crate::text::{Untrusted, thousands, words_in_rows};
use ratatui::Frame;
use unicode_width::UnicodeWidthStr;

/// Rows of the start screen that its words leave free: the line that is typed in, and some earlier files.
const START_ROWS: u16 = 6;

/// Draws the model in a look.
pub fn draw(frame: &mut Frame<'_>, look: Look, model: &Model) {
    let buffer = &mut Canvas::new(frame.buffer_mut(), look);
    let whole = Area { x: 0, y: 0, width: buffer.area.width, height: buffer.area.height };
    if !model.size.is_enough() {
        return too_small(buffer, whole, model);
    }
    draw_content(buffer, model);
    let layout = model.layout();
    bar::draw(buffer, layout.bar, model);
    if let Some(notice) = &model.notice {
        draw_notice(buffer, layout.content, notice);
    }
}

/// Draws the title, and what stands below it.
pub(super) fn draw_content(buffer: &mut Canvas<'_>, model: &Model) {
    let layout = model.layout();
    draw_title(buffer, layout.title, model);
    match (model.screen, &model.list) {
        (Screen::File, Some(_)) => draw_file(buffer, &layout, model),
        _ => draw_start(buffer, layout.content, model),
    }
    if let Some(over) = &model.overlay {
        overlay::draw(buffer, layout.content, over, model);
    }
}

fn too_small(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    let (columns, rows, quit) = (SMALLEST.width, SMALLEST.height, model.way_to("quit"));
    let words = format!("behaview needs {columns} columns and {rows} rows. {quit} quits.");
    for (row, text) in (0..area.height).zip(words_in_rows(&words, usize::from(area.width).max(1))) {
        LineWriter::new(buffer, area, row).own(&text, Meaning::Text);
    }
}

fn draw_title(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    let right = right_of_title(model);
    let mut line = LineWriter::new(buffer, area, 0);
    line.own(" behaview ", Meaning::Focus);
    match model.list.as_ref().filter(|_| model.screen == Screen::File).map(|list| &list.origin) {
        None => line.own(&format!("· {}", own_name(&model.service.name)), Meaning::Faint),
        Some(Origin::Document(name)) => line.own(&format!("· {}", own_name(name)), Meaning::Strong),
        Some(Origin::Service(file)) => {
            line.own(&format!("· {} · ", own_name(&model.service.name)), Meaning::Faint);
            let hash = if usize::from(area.width) >= 130 { file.to_string() } else { file.short() };
            line.own(&hash, Meaning::Strong);
            if let Some((shown, all)) = model.file_number() {
                line.own(&format!(" · file {shown} of {all}"), Meaning::Key);
            }
        }
    }
    if let Some(entry) = model.chosen().filter(|_| model.screen == Screen::File) {
        if let Some(parts) = &entry.parts {
            line.own(" · ", Meaning::Faint);
            line.visible(&parts.sandbox.visible_cut(40), Meaning::Strong);
            if let Some(when) = list::when(parts) {
                line.own(&format!(" · {when} UTC"), Meaning::Faint);
            }
        }
        if let Some(here) = entry.here().filter(|_| !model.is_document()) {
            let since = list::since(here.received, model.now);
            let words = match &entry.imported {
                Some(imported) => format!(" · imported {since} {}, 0", imported.words()),
                None => format!(" · held since {since}, 0"),
            };
            line.own(&words, Meaning::Free);
        }
    }
    if line.room() > right.width() {
        line.tab(area.x, usize::from(area.width) - right.width());
        line.own(&right, Meaning::Price);
    }
}

/// A name that the user gave, made harmless: it may come from a file's name.
fn own_name(name: &str) -> String {
    Untrusted::from(name).visible_cut(48).to_string()
}

fn right_of_title(model: &Model) -> String {
    let all = model.batch.as_ref().map(|batch| format!("{} of {} · ", batch.total - batch.waiting.len(), batch.total));
    match model.under_way.iter().find(|call| call.is_paid) {
        Some(call) => format!("◌ {}{} ", all.unwrap_or_default(), list::progress(call, model.now)),
        None => all.unwrap_or_else(|| followed(model)),
    }
}

/// When the next look at a scan that is followed comes, and what it may still cost.
fn followed(model: &Model) -> String {
    let Some(follow) = model.following().filter(|_| model.screen == Screen::File) else { return String::new() };
    format!("◷ look in {} s, {} left ", follow.seconds(model.now), follow.left())
}

fn draw_file(buffer: &mut Canvas<'_>, layout: &Layout, model: &Model) {
    if let (Some(area), Some(file)) = (layout.list, &model.list) {
        list::draw(buffer, area, file, model);
    }
    draw_strip(buffer, layout.strip, model);
    match model.open() {
        Some(open) => layout.panes.iter().for_each(|(name, area)| pane::draw(buffer, *area, *name, open, model)),
        None => draw_without_report(buffer, layout, model),
    }
}

/// Every pane with its key and count: what is worth a look is seen without looking.
fn draw_strip(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    let Some(open) = model.open() else { return };
    let words = |info: &PaneInfo, is_full: bool| {
        let count = thousands(open.report.count(info.pane) as u64);
        let key = model.keys.of(&info.command).first().map(ToString::to_string).unwrap_or_default();
        if is_full { format!("{key} {} {count}", info.short) } else { format!("{key}·{count}") }
    };
    let all = |is_full| PANES.iter().map(|info| words(info, is_full).width() + 1).sum::<usize>();
    let is_full = all(true) < usize::from(area.width);
    let mut line = LineWriter::new(buffer, area, 0);
    line.own(" ", Meaning::Text);
    for info in &PANES {
        let meaning = match (model.focused() == Some(info.pane), open.report.count(info.pane)) {
            (true, _) => Meaning::Focus,
            (false, 0) => Meaning::Faint,
            (false, _) => Meaning::Text,
        };
        line.own(&words(info, is_full), meaning);
        line.own(" ", Meaning::Text);
    }
}

fn draw_without_report(buffer: &mut Canvas<'_>, layout: &Layout, model: &Model) {
    let places: Vec<Area> =
        layout.panes.iter().filter(|(name, _)| *name != Pane::Overview).map(|(_, area)| *area).collect();
    if let Some(area) = layout.pane(Pane::Overview) {
        pane::frame(buffer, area, " Overview ", "", false);
    }
    if let Some(area) = around(&places) {
        list::draw_absent(buffer, area, model);
    } else if let (Some(area), true) =
        (layout.list, model.list_failure.is_some() || model.chosen().is_some_and(|e| e.failure.is_some()))
    {
        // Without room beside the list, a failure leaves it two rows.
        let kept = area.height.min(3);
        let lower = Area { y: area.y + kept, height: area.height - kept, ..area };
        buffer.clear(lower);
        list::draw_absent(buffer, lower, model);
    }
}

/// The smallest area that holds all of these.
fn around(areas: &[Area]) -> Option<Area> {
    let x = areas.iter().map(|area| area.x).min()?;
    let y = areas.iter().map(|area| area.y).min()?;
    let right = areas.iter().map(|area| area.x + area.width).max()?;
    let bottom = areas.iter().map(|area| area.y + area.height).max()?;
    Some(Area { x, y, width: right - x, height: bottom - y })
}

fn draw_notice(buffer: &mut Canvas<'_>, content: Area, notice: &Notice) {
    let rows = words_in_rows(&notice.text, usize::from(content.width.saturating_sub(2)).max(10));
    let height = u16::try_from(rows.len()).unwrap_or(1).min(content.height);
    let area = Area { y: content.y + content.height - height, height, ..content };
    buffer.clear(area);
    let meaning = if notice.is_problem { Meaning::Problem } else { Meaning::Strong };
    for (row, text) in (0..height).zip(rows) {
        let mut line = LineWriter::new(buffer, area, row);
        line.own(" ", meaning);
        line.own(&text, meaning);
    }
}

fn draw_start(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    let inside = pane::frame(buffer, area, " Which file? ", "", true);
    let room = usize::from(inside.width.saturating_sub(4)).max(10);
    let rows = start_words(model).into_iter();
    let rows: Vec<_> = rows
        .flat_map(|(text, meaning)| words_in_rows(&text, room).into_iter().map(move |row| (row, meaning)))
        .collect();
    // Where there is little room, the words give way to what is typed and chosen.
    let words = inside.height.saturating_sub(START_ROWS);
    let words =
        if rows.len() <= usize::from(words) { words.min(u16::try_from(rows.len()).unwrap_or(words)) } else { 0 };
    for (row, (text, meaning)) in (0..words).zip(rows) {
        let mut line = LineWriter::new(buffer, inside, row);
        line.own("  ", meaning);
        line.own(&text, meaning);
    }
    draw_typed(buffer, inside, words, model);
    let below = words + 2;
    let recent = Area { y: inside.y + below.min(inside.height), height: inside.height.saturating_sub(below), ..inside };
    draw_recent(buffer, recent, model);
}

fn start_words(model: &Model) -> Vec<(String, Meaning)> {
    let demo = format!(
        "{} tries the demo now: made-up reports, no key, no network, no cost. Held reports open without a key, too.",
        model.way_to("demo")
    );
    let keys = format!(
        "{} shows the keys that apply here, {} finds any command; {} always goes back, {} leaves.",
        model.way_to("help"),
        model.way_to("palette"),
        model.way_to("back"),
        model.way_to("quit")
    );
    let mut words = Vec::new();
    if model.service.is_offline {
        words.extend([
            ("This run is offline: what is held opens, and nothing is sent.", Meaning::Free),
            ("", Meaning::Text),
        ]);
    } else if !model.service.has_key {
        words.extend([
            ("There is no API key yet, so the service cannot be asked.", Meaning::Problem),
            ("Set BEHAVIEW_API_KEY, or api_key in the config file (`behaview config path` says where), and start again.", Meaning::Text),
            (demo.as_str(), Meaning::Free),
        ]);
    } else if model.recent.is_empty() {
        words.extend([
            ("This shows what sandboxes saw of your privately scanned files, and the bar below prices every key before you press it.", Meaning::Text),
            ("What was paid for once is kept on this machine, and is free from then on.", Meaning::Free),
            (keys.as_str(), Meaning::Text),
        ]);
    }
    let gap = if words.is_empty() { None } else { Some(("", Meaning::Text)) };
    words.extend(gap);
    words.extend([
        ("Type or paste the SHA-256 of a privately scanned file. Opening it costs nothing; listing its sandboxes does, and says so.", Meaning::Text),
        ("", Meaning::Text),
    ]);
    words.into_iter().map(|(text, meaning)| (text.to_owned(), meaning)).collect()
}

fn draw_typed(buffer: &mut Canvas<'_>, inside: Area, row: u16, model: &Model) {
    let mut line = LineWriter::new(buffer, inside, row);
    line.own("  SHA-256 ", Meaning::Key);
    line.own(&model.typed, Meaning::Strong);
    line.own("▏", Meaning::Focus);
    let missing = crate::report::identifier::Sha256::LENGTH.saturating_sub(model.typed.len());
    if !model.typed.is_empty() {
        line.own(
            &if missing == 0 {
                format!(" {} opens it", model.way_to("open-file"))
            } else {
                format!(" {missing} to go")
            },
            Meaning::Faint,
        );
    }
}

fn draw_recent(buffer: &mut Canvas<'_>, area: Area, model: &Model) {
    if model.recent.is_empty() {
        return LineWriter::new(buffer, area, 0).own("  No file has been opened yet.", Meaning::Faint);
    }
    LineWriter::new(buffer, area, 0).own("  Earlier files", Meaning::Strong);
    let fit = usize::from(area.height.saturating_sub(1));
    let scroll = model.recent_scroll;
    let top = scroll.top.max(scroll.cursor.saturating_sub(fit.saturating_sub(1)));
    for (row, (position, recent)) in (1..area.height).zip(model.recent.iter().enumerate().skip(top).take(fit)) {
        let line = LineWriter::new(buffer, area, row);
        let is_chosen = position == scroll.cursor && model.typed.is_empty();
        let mut line = if is_chosen { line.base(Meaning::Cursor) } else { line };
        let held =
            if recent.reports == 1 { "1 report held".to_owned() } else { format!("{} reports held", recent.reports) };
        let hash = if area.width >= 140 { recent.file.to_string() } else { recent.file.short() };
        line.own(&format!("  {hash}  "), Meaning::Text);
        if let Some(name) = &recent.name {
            line.visible(&name.visible_cut(40), Meaning::Strong);
            line.own("  ", Meaning::Text);
        }
        line.own(&format!("{held}, opened {}", list::since(recent.opened, model.now)), Meaning::Faint);
        if recent.notes > 0 {
            line.own(&format!("  {MARK}{}", recent.notes), Meaning::Key);
        }
    }
}
