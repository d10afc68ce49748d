//! What is taken away, over the screen: indicators, downloads, the line that says where a file is written.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::list::{progress, since};
use super::overlay::{draw_line_as, inside};
use super::theme::Meaning;
use crate::app::artefacts::ArtefactList;
use crate::app::indicators::IndicatorList;
use crate::app::key::{Key, Named};
use crate::app::saving::{SaveForm, formats};
use crate::app::{Area, Model};
use crate::report::Indicator;
use crate::text::{thousands, words_in_rows};

/// Columns of a kind's name, the gap included.
const KIND: usize = 9;

/// Columns that are kept at the right for where an indicator was seen.
const SEEN: u16 = 34;

/// Kinds with their counts, then an indicator a row with where it was seen.
pub(super) fn draw_indicators(buffer: &mut Canvas<'_>, area: Area, list: &IndicatorList, model: &Model) {
    let shown = list.shown();
    let below = area.height.saturating_sub(4);
    let title = format!("Indicators {}", thousands(shown.len() as u64));
    let inside = inside(buffer, area, model, &title, list.scroll.top, shown.len().max(usize::from(below)));
    draw_kinds(LineWriter::new(buffer, inside, 0), list);
    for row in 2..inside.height {
        let position = list.scroll.top + usize::from(row) - 2;
        let Some(indicator) = shown.get(position) else { break };
        draw_indicator(buffer, inside, (row, position == list.scroll.cursor), indicator, model);
    }
}

fn draw_kinds(mut line: LineWriter<'_, '_>, list: &IndicatorList) {
    let meaning = |is_shown: bool| if is_shown { Meaning::Focus } else { Meaning::Text };
    line.own("all", meaning(list.kind.is_none()));
    for (kind, count) in list.kinds() {
        line.own(" · ", Meaning::Faint);
        line.own(&format!("{} {}", kind.name(), thousands(count as u64)), meaning(list.kind == Some(kind)));
    }
}

fn draw_indicator(
    buffer: &mut Canvas<'_>,
    inside: Area,
    (row, is_chosen): (u16, bool),
    indicator: &Indicator,
    model: &Model,
) {
    let for_seen = if inside.width >= 80 { SEEN } else { 0 };
    let end = usize::from(inside.width.saturating_sub(for_seen));
    let line = LineWriter::new(buffer, inside, row);
    let mut line = if is_chosen { line.base(Meaning::Cursor) } else { line };
    line.own(indicator.kind.name(), Meaning::Faint);
    line.tab(inside.x, KIND);
    let value = indicator.defanged();
    let is_cut = value.width() > end.saturating_sub(KIND);
    line.within(inside.x, end - usize::from(is_cut && end > 0), |line| line.visible(&value, Meaning::Text));
    if is_cut {
        line.tab(inside.x, end.saturating_sub(1));
        line.own("…", Meaning::Faint);
    }
    line.tab(inside.x, end);
    let place = indicator.places.first();
    let section = place.and_then(|place| model.open()?.report.section(place.section));
    if let (Some(place), Some(section)) = (place, section) {
        line.own(" ", Meaning::Text);
        line.visible(&section.name.visible_cut(20), Meaning::Detail);
        line.own(&format!(" {}", thousands(place.row as u64 + 1)), Meaning::Detail);
        if indicator.seen > 1 {
            line.own(&format!(" +{}", thousands(indicator.seen - 1)), Meaning::Faint);
        }
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
        let call = model.under_way.iter().find(|call| call.request == request);
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
    let words = format!("{} {} {}", failure.what, failure.cost, failure.advice);
    let first = u16::try_from(list.rows.len()).unwrap_or(u16::MAX);
    let rows = words_in_rows(&words, usize::from(inside.width).max(10));
    for (row, text) in (first..inside.height).zip(rows) {
        LineWriter::new(buffer, inside, row).own(&text, Meaning::Problem);
    }
}

/// The path that is typed, and what will be written there.
pub(super) fn draw_save(buffer: &mut Canvas<'_>, area: Area, form: &SaveForm, model: &Model) {
    let inside = inside(buffer, area, model, &format!("Write {} to a file", form.words()), 0, 0);
    let meaning = if form.is_suggested { Meaning::Cursor } else { Meaning::Strong };
    draw_line_as(buffer, inside, 0, ">", &form.typed, meaning);
    let (words, meaning) = match (&form.failure, form.is_under_way, form.is_held()) {
        (_, true, _) => ("◌ writing …".to_owned(), Meaning::Strong),
        (Some(why), ..) => (why.clone(), Meaning::Problem),
        (None, false, false) => (formats(), Meaning::Faint),
        (None, false, true) => ("the bytes as they came; nothing opens the file".to_owned(), Meaning::Faint),
    };
    let words = match form.is_suggested && form.failure.is_none() && !form.is_under_way {
        true => format!("typing replaces the name, {} changes its end; {words}", Key::Named(Named::Backspace)),
        false => words,
    };
    let rows = words_in_rows(&words, usize::from(inside.width).max(10));
    for (row, text) in (1..inside.height).zip(rows) {
        LineWriter::new(buffer, inside, row).own(&text, meaning);
    }
}
