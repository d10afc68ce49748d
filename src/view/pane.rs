//! A pane of a report: its frame with title and count, and the rows that fit.

use super::canvas::Canvas;
use super::line::LineWriter;
use super::theme::Meaning;
use crate::app::list::OpenReport;
use crate::app::notes::MARK;
use crate::app::panes::{self, Branch, PaneInfo, PaneState, Shown};
use crate::app::{Area, Model};
use crate::report::identifier::Identifier;
use crate::report::rows::Label;
use crate::report::{Pane, Piece};
use crate::text::thousands;
use unicode_width::UnicodeWidthStr;

/// Columns that labels have at most.
const LABELS: usize = 15;

/// Deepest level of a process tree that is drawn with its guides; deeper ones are told by a number.
const GUIDES: usize = 24;

/// Draws a frame and gives back its inside.
pub(super) fn frame(buffer: &mut Canvas<'_>, area: Area, title: &str, right: &str, has_focus: bool) -> Area {
    let meaning = if has_focus { Meaning::Focus } else { Meaning::Faint };
    buffer.border(area, has_focus);
    let top = Area { x: area.x.saturating_add(2), width: area.width.saturating_sub(4), ..area };
    let title_meaning = if has_focus { Meaning::Focus } else { Meaning::Strong };
    let left = usize::from(top.width).saturating_sub(right.width());
    let mut line = LineWriter::new(buffer, top, 0);
    line.tab(top.x, left);
    line.own(right, meaning);
    let left = u16::try_from(left).unwrap_or(u16::MAX);
    LineWriter::new(buffer, Area { width: left, ..top }, 0).own(title, title_meaning);
    area.inside()
}

/// Draws a pane of the report that is open.
pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, pane: Pane, open: &OpenReport, model: &Model) {
    let has_focus = model.focused() == Some(pane);
    let state = model.pane_state(pane);
    let count = state.count(&open.report, pane);
    let inside = frame(buffer, area, &title(pane, open, state, model), &position(state, count, has_focus), has_focus);
    if count == 0 {
        return LineWriter::new(buffer, inside, 0).own(&absent(open, pane), Meaning::Faint);
    }
    let labels = label_columns(open, pane);
    let identifier = model.chosen().and_then(|entry| entry.identifier.as_ref());
    for row in 0..inside.height {
        let position = state.scroll.top + usize::from(row);
        let Some(shown) = state.shown(&open.report, pane, position) else { break };
        let line = LineWriter::new(buffer, inside, row);
        let line = match (position == state.scroll.cursor, has_focus) {
            (true, true) => line.base(Meaning::Cursor),
            _ => line,
        };
        draw_row(line, inside.x, &shown, labels, state);
        if let Some(identifier) = identifier
            && let Some(place) = state.place(&open.report, pane, position)
            && model.notes.on_row(identifier, open, place.section, &shown.row).is_some()
        {
            let end = Area { x: inside.x + inside.width.saturating_sub(2), width: inside.width.min(2), ..inside };
            LineWriter::new(buffer, end, row).own(&format!(" {MARK}"), Meaning::Key);
        }
    }
    if pane == Pane::Overview {
        draw_note(buffer, inside, identifier, model);
    }
}

/// The note on the report stands in the last row of its overview.
fn draw_note(buffer: &mut Canvas<'_>, inside: Area, identifier: Option<&Identifier>, model: &Model) {
    let Some(note) = identifier.and_then(|identifier| model.notes.on_report(identifier)) else { return };
    let last = Area { y: inside.y + inside.height.saturating_sub(1), height: inside.height.min(1), ..inside };
    buffer.clear(last);
    let mut line = LineWriter::new(buffer, last, 0);
    line.own(&format!("{MARK} "), Meaning::Key);
    line.outside(note, Meaning::Strong);
}

/// Why a pane shows no row.
fn absent(open: &OpenReport, pane: Pane) -> String {
    match (&open.unreadable, open.report.index.is_complete, open.report.count(pane)) {
        (Some(why), _, _) => format!("cannot be read: {why}"),
        (None, true, 0) => "nothing reported".to_owned(),
        (None, true, _) => "no row is like this".to_owned(),
        (None, false, _) => "reading …".to_owned(),
    }
}

/// The key that goes to a pane, with a blank behind it; empty where it has none.
fn key(info: &PaneInfo, model: &Model) -> String {
    model.keys.of(&info.command).first().map(|key| format!("{key} ")).unwrap_or_default()
}

fn title(pane: Pane, open: &OpenReport, state: &PaneState, model: &Model) -> String {
    let (key, title) = panes::info(pane).map_or((String::new(), ""), |info| (key(info, model), info.title));
    let more = if open.report.index.is_complete { "" } else { "+" };
    let all = thousands(open.report.count(pane) as u64);
    if state.sieve().is_open() {
        return format!(" {key}{title} {all}{more}{} ", kinds(pane, open));
    }
    format!(" {key}{title} {} of {all}{more} ", thousands(state.wanted(&open.report, pane) as u64))
}

/// What a pane with several kinds of rows holds of each.
fn kinds(pane: Pane, open: &OpenReport) -> String {
    let sections = open.report.sections(pane);
    let found: Vec<_> = sections.iter().filter_map(|n| open.report.section(*n)).filter(|s| !s.is_empty()).collect();
    if found.len() < 2 || pane == Pane::Overview {
        return String::new();
    }
    let known = found.iter().filter_map(|section| {
        let label = section.attribute.map(|attribute| attribute.label).filter(|label| !label.is_empty())?;
        Some(format!(" · {label} {}", thousands(section.len() as u64)))
    });
    known.collect()
}

fn position(state: &PaneState, count: usize, has_focus: bool) -> String {
    if has_focus && count > 0 {
        format!(" {}/{} ", thousands(state.scroll.cursor as u64 + 1), thousands(count as u64))
    } else {
        String::new()
    }
}

/// Columns of the labels of a pane, the gap included; none where no row has one.
fn label_columns(open: &OpenReport, pane: Pane) -> usize {
    let sections = open.report.sections(pane);
    let widths = sections.iter().filter_map(|n| open.report.section(*n)).map(|section| match section.attribute {
        Some(attribute) => attribute.label.width(),
        None => section.name.visible_cut(LABELS).width(),
    });
    widths.max().filter(|widest| *widest > 0).map_or(0, |widest| widest.min(LABELS) + 1)
}

fn draw_row(mut line: LineWriter<'_, '_>, start: u16, shown: &Shown, labels: usize, state: &PaneState) {
    match &shown.branch {
        Some(branch) => draw_branch(&mut line, branch),
        None => {
            match &shown.row.label {
                Label::Known(word) => line.own(word, Meaning::Faint),
                Label::Named(name) => line.visible(&name.visible_cut(LABELS), Meaning::Faint),
            }
            line.tab(start, labels);
            if state.shift > 0 {
                line.own("…", Meaning::Faint);
            }
            line.shift(state.shift);
        }
    }
    let mut room = if state.shift == 0 { value_room(&shown.row.pieces, line.room()) } else { None };
    // What only stands above what is wanted steps back.
    let value = if shown.is_wanted { Meaning::Text } else { Meaning::Faint };
    for piece in &shown.row.pieces {
        match (piece, room) {
            (Piece::Value(text), Some(columns)) => {
                line.elided(text, columns, value);
                room = None;
            }
            (Piece::Value(text), None) => line.outside(text, value),
            (Piece::Detail(text), _) => line.outside(text, Meaning::Detail),
            (Piece::Own(text), _) => line.own(text, Meaning::Faint),
        }
    }
}

/// Columns for the first value of a row that does not fit whole: what is said about it keeps its place, up to half the row.
fn value_room(pieces: &[Piece], room: usize) -> Option<usize> {
    let width = |piece: &Piece| match piece {
        Piece::Value(text) | Piece::Detail(text) => text.visible().width(),
        Piece::Own(text) => text.width(),
    };
    let total: usize = pieces.iter().map(width).sum();
    let first = pieces.iter().find(|piece| matches!(piece, Piece::Value(_))).map(width)?;
    (total > room).then(|| room.saturating_sub(total - first).max(room / 2))
}

fn draw_branch(line: &mut LineWriter<'_, '_>, branch: &Branch) {
    let depth = branch.guides.len();
    if depth > GUIDES {
        line.own(&format!("… level {} ", thousands(depth as u64 + 1)), Meaning::Faint);
    } else if let Some((last, above)) = branch.guides.split_last() {
        above.iter().for_each(|goes_on| line.own(if *goes_on { "│ " } else { "  " }, Meaning::Faint));
        line.own(if *last { "├─" } else { "└─" }, Meaning::Faint);
    }
    let mark = match branch.children {
        Some(true) => "▸ ",
        Some(false) => "▾ ",
        None => "• ",
    };
    line.own(mark, if branch.children == Some(true) { Meaning::Strong } else { Meaning::Faint });
}
