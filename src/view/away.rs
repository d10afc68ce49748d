//! What is taken away, over the screen: indicators, downloads, the line that says where a file is written.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::list::{progress, since};
use super::overlay::{draw_line, draw_line_as, inside};
use super::theme::Meaning;
use crate::app::away::saving::SaveForm;
use crate::app::keys::key::{Key, Named};
use crate::app::over::artefacts::ArtefactList;
use crate::app::over::indicators::IndicatorList;
use crate::app::{Area, Model, panes};
use crate::report::indicators::ITSELF;
use crate::report::rules::Severity;
use crate::report::{Indicator, Place};
use crate::text::{Columns, thousands, words_in_rows_cut};

/// Columns of the mark and a kind's name, the gaps included.
const KIND: usize = 11;

/// Columns of a format's ending, the gap included.
const ENDING: usize = 12;

/// Columns from which on it stands beside an indicator where it was seen.
const WIDE: u16 = 80;

/// Kinds with their counts, then an indicator a row with its mark, and where it was seen.
pub(super) fn draw_indicators(buffer: &mut Canvas<'_>, area: Area, list: &IndicatorList, model: &Model) {
    let line = u16::try_from(list.line.rows()).unwrap_or(0);
    let below = area.height.saturating_sub(4 + line);
    let kind = list.kind.map_or("all kinds", |kind| kind.name());
    let count = thousands(list.count() as u64);
    let of = if line > 0 { format!(" of {}", thousands(list.all() as u64)) } else { String::new() };
    let identifier = model.chosen().and_then(|entry| entry.identifier.as_ref());
    let whose = identifier.map_or_else(String::new, |one| format!(" of {}", one.parts().sandbox.visible_cut(40)));
    let title = format!("Indicators{whose} · {kind} {count}{of}");
    let inside = inside(buffer, area, model, &title, list.scroll.top, list.count().max(usize::from(below)));
    draw_kinds(LineWriter::new(buffer, inside, 0), list);
    if line > 0 {
        draw_line(buffer, inside, 1, "/", &list.line.typed, list.line.is_typing);
    }
    if list.count() == 0 {
        LineWriter::new(buffer, inside, 2 + line).own("no row holds this", Meaning::Faint);
    }
    let window = || (list.scroll.top..).zip(list.shown(list.scroll.top).take(below.into()));
    let seen: Vec<_> = window().map(|(_, indicator)| seen(indicator, model)).collect();
    let widest = seen.iter().map(|words| words.columns()).max().unwrap_or(0);
    let room = usize::from(inside.width);
    let end = if inside.width >= WIDE { room.saturating_sub(widest + 1) } else { room };
    for (row, ((position, indicator), seen)) in (2 + line..inside.height).zip(window().zip(&seen)) {
        let line = LineWriter::new(buffer, inside, row);
        let line = if position == list.scroll.cursor { line.base(Meaning::Cursor) } else { line };
        draw_indicator(line, inside.x, end, indicator, seen, model);
    }
}

fn draw_kinds(mut line: LineWriter<'_, '_>, list: &IndicatorList) {
    let all = std::iter::once(("all".to_owned(), list.kind.is_none()));
    let kinds = list.kinds().into_iter();
    let kinds =
        kinds.map(|(kind, count)| (format!("{} {}", kind.name(), thousands(count as u64)), list.kind == Some(kind)));
    // The one that is shown is told apart without its colour.
    let words = all.chain(kinds).map(|(text, is_shown)| match is_shown {
        true => (format!("[{text}]"), Meaning::Focus),
        false => (format!(" {text} "), Meaning::Text),
    });
    let words: Vec<_> = words.collect();
    let mut words = words.iter().peekable();
    while let Some((text, meaning)) = words.next() {
        // A figure that is cut is another figure.
        let needs = text.columns() + if words.peek().is_some() { 2 } else { 0 };
        if line.room() < needs {
            line.own("…", Meaning::Faint);
            break;
        }
        line.own(text, *meaning);
    }
}

/// How much an indicator deserves a look, by the one judgement that exports go by too; it is noise only where every row is.
fn mark(indicator: &Indicator, model: &Model) -> Option<Severity> {
    let (open, rules) = model.open().zip(model.rules.as_ref())?;
    let mark = |place: Place| open.mark(rules, place);
    let is_noise = || indicator.places.iter().all(|place| mark(*place) == Some(Severity::Noise));
    let noise = Some(Severity::Noise).filter(|_| !indicator.places.is_empty() && is_noise());
    indicator.marked().and_then(mark).or(noise)
}

/// Where an indicator was seen first, and how often in all.
fn seen(indicator: &Indicator, model: &Model) -> String {
    let place = indicator.places.first();
    let section = place.and_then(|place| model.open()?.report.section(place.section));
    let Some((place, section)) = place.zip(section) else { return ITSELF.to_owned() };
    let pane = panes::info(section.pane()).map_or("", |info| info.short);
    let label = match section.attribute {
        Some(attribute) => attribute.label.to_owned(),
        None => section.name.visible_cut(20).to_string(),
    };
    let gap = if label.is_empty() { "" } else { " " };
    let more = match indicator.seen {
        0 | 1 => String::new(),
        several => format!(" +{}", thousands(several - 1)),
    };
    format!("{pane} {label}{gap}{}{more}", thousands(place.row as u64 + 1))
}

fn draw_indicator(
    mut line: LineWriter<'_, '_>,
    start: u16,
    end: usize,
    indicator: &Indicator,
    seen: &str,
    model: &Model,
) {
    let mark = mark(indicator, model);
    line.own(mark.map_or(" ", Severity::sign), Meaning::Price);
    line.own(" ", Meaning::Text);
    line.own(indicator.kind.name(), Meaning::Faint);
    line.tab(start, KIND);
    let meaning = if mark == Some(Severity::Noise) { Meaning::Faint } else { Meaning::Text };
    line.within(start, end, |line| line.visible(&indicator.defanged(), meaning));
    line.tab(start, end + 1);
    if line.room() > 0 {
        line.own(seen, Meaning::Detail);
    }
}

/// An artefact a row, with what it costs or since when it is held.
pub(super) fn draw_artefacts(buffer: &mut Canvas<'_>, area: Area, list: &ArtefactList, model: &Model) {
    let inside = inside(buffer, area, model, "Downloads", 0, 0);
    for (row, (artefact, held)) in (0..inside.height).zip(&list.rows) {
        let request = list.request(*artefact);
        let line = LineWriter::new(buffer, inside, row);
        let mut line = if usize::from(row) == list.scroll.cursor { line.base(Meaning::Cursor) } else { line };
        line.own(artefact.words(), Meaning::Text);
        line.tab(inside.x, 18);
        let call = model.calls.asking(&request);
        match (held, call) {
            (_, Some(call)) => line.own(&format!("◌ {}", progress(call, model.now)), Meaning::Strong),
            (Some(when), None) => {
                let (since, key) = (since(*when, model.now), model.way_to("fetch"));
                line.own(&format!("held {since}, 0: {key} writes it to a file"), Meaning::Free);
            }
            (None, None) => line.own(&format!("not held · {}", model.price(&request).short()), Meaning::Price),
        }
    }
    let Some(failure) = &list.failure else { return };
    let first = u16::try_from(list.rows.len()).unwrap_or(u16::MAX);
    let room = inside.height.saturating_sub(first);
    let rows = words_in_rows_cut(&failure.words(), usize::from(inside.width).max(10), room.into());
    for (row, text) in (first..inside.height).zip(rows) {
        LineWriter::new(buffer, inside, row).own(&text, Meaning::Problem);
    }
}

/// The path that is typed, and what will be written there.
pub(super) fn draw_save(buffer: &mut Canvas<'_>, area: Area, form: &SaveForm, model: &Model) {
    let inside = inside(buffer, area, model, &format!("Write {} to a file", form.words()), 0, 0);
    let meaning = if form.is_suggested { Meaning::Cursor } else { Meaning::Strong };
    draw_line_as(buffer, inside, 0, (">", meaning), &form.typed, true);
    let (words, meaning) = match (&form.failure, form.is_under_way, form.is_held()) {
        (_, true, _) => ("◌ writing …".to_owned(), Meaning::Strong),
        (Some(why), ..) => (why.clone(), Meaning::Problem),
        (None, false, false) => ("the end of the name says the format:".to_owned(), Meaning::Faint),
        (None, false, true) => ("the bytes as they came; nothing opens the file".to_owned(), Meaning::Faint),
    };
    let words = match form.is_suggested && form.failure.is_none() && !form.is_under_way {
        true => format!("typing replaces the name, {} changes its end; {words}", Key::Named(Named::Backspace)),
        false => words,
    };
    let rows = words_in_rows_cut(&words, usize::from(inside.width).max(10), inside.height.saturating_sub(1).into());
    let used = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(1);
    for (row, text) in (1..inside.height).zip(rows) {
        LineWriter::new(buffer, inside, row).own(&text, meaning);
    }
    if !form.is_held() {
        let y = inside.y.saturating_add(used).min(inside.y + inside.height);
        draw_formats(buffer, Area { y, height: inside.y + inside.height - y, ..inside }, &form.formats());
    }
}

/// Each format by its ending, a row each where there is room, or else the endings alone.
fn draw_formats(buffer: &mut Canvas<'_>, area: Area, formats: &[(String, &'static str)]) {
    if formats.len() > usize::from(area.height) {
        let endings: Vec<_> = formats.iter().map(|(ending, _)| ending.as_str()).collect();
        let rows = words_in_rows_cut(&endings.join("  "), usize::from(area.width).max(10), area.height.into());
        for (row, text) in (0..area.height).zip(rows) {
            LineWriter::new(buffer, area, row).own(&text, Meaning::Key);
        }
        return;
    }
    for (row, (ending, about)) in (0..area.height).zip(formats) {
        let mut line = LineWriter::new(buffer, area, row);
        line.own(ending, Meaning::Key);
        line.tab(area.x, ENDING);
        line.own_cut(about, usize::MAX, Meaning::Faint);
    }
}
