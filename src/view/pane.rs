//! Draws a pane of a report: its frame with title and count, and the visible rows.

use super::canvas::{Canvas, LineWriter};
use super::theme::Role;
use crate::app::list::OpenReport;
use crate::app::overlays::stored::MARK;
use crate::app::panes::{NO_REPORT, OWN, PaneState, TreeBranch, key};
use crate::app::{Area, Model};
use crate::report::attributes::{AT_LEAST, PERHAPS_CUT};
use crate::report::find::Pattern;
use crate::report::note::Notes;
use crate::report::rows::Label;
use crate::report::rules::Severity;
use crate::report::{Pane, Piece, Row, RowPlace, Section};
use crate::text::{ColumnWidth, Untrusted, thousands};

/// The maximum columns of labels, and the maximum in the narrow overview.
const MAX_LABEL_COLUMNS: usize = 15;
const OVERVIEW_LABEL_COLUMNS: usize = 10;
const MARK_WIDTH: usize = 1;

/// Deepest level of a process tree that is drawn with guides; deeper ones show a number.
const MAX_GUIDE_DEPTH: usize = 24;

pub(super) fn frame(buffer: &mut Canvas<'_>, area: Area, title: &str, right: &str, has_focus: bool) -> Area {
    let meaning = if has_focus { Role::Focus } else { Role::Faint };
    buffer.border(area, has_focus);
    let top = Area { x: area.x.saturating_add(2), width: area.width.saturating_sub(4), ..area };
    let title_meaning = if has_focus { Role::Focus } else { Role::Strong };
    let left = usize::from(top.width).saturating_sub(right.columns());
    let mut line = LineWriter::new(buffer, top, 0);
    line.tab(left);
    line.own(right, meaning);
    let columns = u16::try_from(left).unwrap_or(u16::MAX);
    // A title is not part of the border and has another colour.
    buffer.clear(Area { width: u16::try_from(title.columns()).unwrap_or(columns).min(columns), height: 1, ..top });
    LineWriter::new(buffer, Area { width: columns, ..top }, 0).own_cut(title, left, title_meaning);
    area.inside()
}

pub(super) fn draw(buffer: &mut Canvas<'_>, area: Area, pane: Pane, open: &OpenReport, model: &Model) {
    let has_focus = model.focused() == Some(pane);
    let state = model.pane_state(pane);
    let count = state.count(&open.report, pane);
    let inside =
        frame(buffer, area, &title(pane, open, state, model), &position(state, pane, open, has_focus), has_focus);
    if count == 0 {
        LineWriter::new(buffer, inside, 0).own(absent(open, pane), Role::Faint);
        return draw_problem(buffer, inside, state);
    }
    let notes = model.chosen().and_then(|entry| model.notes_on(entry.identifier.as_ref()?));
    let rows = PaneRows { open, state, labels: label_columns(open, pane), notes, model };
    let top = state.scroll.top;
    let places = state.places(&open.report, pane, top..top + usize::from(inside.height));
    for (row, place) in (0..inside.height).zip(places) {
        let has_cursor = has_focus && top + usize::from(row) == state.scroll.cursor;
        let line = Area { y: inside.y.saturating_add(row), height: 1, ..inside };
        rows.draw(buffer, line, place, has_cursor);
    }
    if let Some(note) = notes.and_then(Notes::on_report).filter(|_| pane == Pane::Overview) {
        let mut line = last_row(buffer, inside);
        line.own(&format!("{MARK} "), Role::Key);
        line.outside(&note.text, Role::Strong);
    }
    draw_problem(buffer, inside, state);
}

pub(super) fn severity_tint(severity: Severity) -> Role {
    match severity {
        Severity::High => Role::Problem,
        Severity::Medium => Role::Price,
        _ => Role::Faint,
    }
}

/// Returns the full text of the row under the cursor, with severity and rule; cut at `columns`.
pub(super) fn row_text(pane: Pane, open: &OpenReport, model: &Model, columns: usize) -> Option<String> {
    let state = model.pane_state(pane);
    let place = state.place(&open.report, pane, state.scroll.cursor)?;
    let (label, text) = open.row(state, place).label_and_text(|text| text.visible_cut(columns).into());
    let gap = if label.is_empty() { "" } else { "  " };
    let rules = model.rules.as_ref();
    let rule = rules.and_then(|rules| rules.rule(open.marks.as_ref()?.rule(place.section, place.row)?));
    let rule = rule.map(|rule| format!(": {}", rule.name)).unwrap_or_default();
    let severity = state.own_row(place).map(|(severity, _)| *severity).or_else(|| open.mark(rules?, place));
    let mark = severity.map(|severity| format!("{} {}{rule} · ", severity.sign(), severity.name()));
    let common = model.values.label(place, &model.key_label("pivot")).map(|common| format!(" · {common}"));
    Some(format!("{}{label}{gap}{text}{}", mark.unwrap_or_default(), common.unwrap_or_default()))
}

struct PaneRows<'a> {
    open: &'a OpenReport,
    state: &'a PaneState,
    labels: usize,
    notes: Option<&'a Notes>,
    model: &'a Model,
}

impl PaneRows<'_> {
    fn draw(&self, buffer: &mut Canvas<'_>, mut inside: Area, place: RowPlace, has_cursor: bool) {
        let report = &self.open.report;
        let notes = self.notes.filter(|_| place.section != OWN);
        let note = notes.and_then(|notes| notes.on_row(report, place.section, &report.row(place.section, place.row)));
        let width = inside.width.saturating_sub(2);
        if note.is_some() {
            let end = Area { x: inside.x + width, width: inside.width - width, ..inside };
            LineWriter::new(buffer, end, 0).own(&format!(" {MARK}"), Role::Key);
            inside.width = width;
        }
        let found = self.open.row(self.state, place);
        let branch = self.state.branch(report, place);
        let mark = self.state.own_row(place).map(|(severity, _)| *severity);
        let mark = mark.or_else(|| self.open.mark(self.model.rules.as_ref()?, place));
        let marked = (mark, self.state.passes_filter(place));
        let draw = |buffer: &mut Canvas<'_>, shift: usize, is_elided: bool| {
            let line = LineWriter::of_list(buffer, inside, 0, has_cursor);
            self.draw_row(line, marked, &found, branch.as_ref(), (shift, is_elided))
        };
        let is_shown = draw(buffer, self.state.shift, true);
        // Scrolls the row to a match in its elided part, unless the user scrolled it.
        let hidden = self.pattern().filter(|_| !is_shown && self.state.shift == 0 && branch.is_none());
        if let Some(shift) = hidden.and_then(|pattern| shift_to(pattern, &found)) {
            buffer.clear(inside);
            draw(buffer, shift, false);
        }
    }

    fn pattern(&self) -> Option<&Pattern> {
        self.state.filter.as_ref().and_then(|filter| filter.query.pattern.as_deref())
    }

    /// Draws a row, elided if `is_elided` and not scrolled; returns whether a match is visible.
    fn draw_row<'l>(
        &'l self,
        mut line: LineWriter<'l>,
        (mark, passes_filter): (Option<Severity>, bool),
        found: &Row,
        branch: Option<&TreeBranch>,
        (shift, is_elided): (usize, bool),
    ) -> bool {
        // The column is reserved before the rules are applied, so that no text moves.
        line.own(mark.map_or(" ", Severity::sign), mark.map_or(Role::Faint, severity_tint));
        let pieces = &found.pieces;
        match branch {
            Some(branch) => draw_branch(&mut line, branch, passes_filter),
            None => draw_labelled(&mut line, MARK_WIDTH, self.labels, &found.label),
        }
        let is_shifted = branch.is_none() && shift > 0 && width_of(pieces) > line.room();
        if is_shifted {
            line.own("…", Role::Faint);
        }
        // Mere ancestors of matching rows are faint.
        let steps_back = !passes_filter || mark == Some(Severity::Noise);
        let value = if steps_back { Role::Faint } else { Role::Text };
        let shift = if is_shifted { Some(shift) } else { (!is_elided).then_some(0) };
        draw_pieces(&mut line, pieces, value, shift, self.pattern());
        line.shows_sought
    }
}

const CONTEXT_COLUMNS: usize = 12;

/// Returns the offset of a row that shows its match; `None` if the row's line has no match.
fn shift_to(pattern: &Pattern, row: &Row) -> Option<usize> {
    let (_, text) = row.label_and_text(|text| text.visible().into());
    let found = pattern.spans(&text).into_iter().next()?;
    text.get(..found.start).map(|before| before.columns().saturating_sub(CONTEXT_COLUMNS))
}

/// Returns the last row of a pane, for text that replaces rows.
fn last_row<'a>(buffer: &'a mut Canvas<'_>, inside: Area) -> LineWriter<'a> {
    let last = Area { y: inside.y + inside.height.saturating_sub(1), height: inside.height.min(1), ..inside };
    buffer.clear(last);
    LineWriter::new(buffer, last, 0)
}

/// Shows why the filter is invalid; the rows of the last valid one stay.
fn draw_problem(buffer: &mut Canvas<'_>, inside: Area, state: &PaneState) {
    if let Some(problem) = state.filter.as_ref().and_then(|filter| filter.query.problem.as_ref()) {
        last_row(buffer, inside).own(problem, Role::Problem);
    }
}

fn absent(open: &OpenReport, pane: Pane) -> &'static str {
    match (open.report.index.is_complete, open.count(pane)) {
        (true, _) if !open.report.index.is_json => "cannot be read: it is not JSON",
        (true, 0) if open.report.is_of_another_kind() => NO_REPORT,
        (true, 0) => "nothing reported",
        (true, _) => "no matching row",
        (false, _) => "reading …",
    }
}

fn title(pane: Pane, open: &OpenReport, state: &PaneState, model: &Model) -> String {
    let title = format!("{} {}", key(pane, model), pane.title());
    let title = title.trim_start();
    if state.row_filter.is_open() {
        let own = Some(state.own_rows().len() as u64).filter(|own| *own > 0);
        let own = own.map_or(String::new(), |own| format!(" · by our rules alone {}", thousands(own)));
        return format!(" {title}{}{}{own} ", filter_label(state), kinds(pane, open));
    }
    let cut = open.report.cut_lists(Some(pane)).next().map_or("", |_| PERHAPS_CUT);
    // The count is of all rows, whether filters, folds or noise hide the others.
    let all = thousands(open.count(pane) as u64);
    let hidden = match state.row_filter.hidden.len() as u64 {
        0 => String::new(),
        hidden => format!(" · {} noise hidden", thousands(hidden)),
    };
    let wanted = thousands(state.count_passing(&open.report, pane) as u64);
    let part = if state.is_subtree() { " · one subtree" } else { "" };
    format!(" {title} {wanted} of {all}{cut}{part}{}{hidden} ", filter_label(state))
}

/// Returns the filter's text in the title; the next letter goes at its end.
fn filter_label(state: &PaneState) -> String {
    let Some(filter) = &state.filter else { return String::new() };
    let words = Untrusted::from(filter.query.label()).visible_cut(30);
    let end = if filter.query.is_typing { "▏" } else { "" };
    let waits = if filter.query.is_running() { " …" } else { "" };
    format!(" · {words}{end}{waits}")
}

fn kinds(pane: Pane, open: &OpenReport) -> String {
    let sections = open.report.sections(pane);
    let found: Vec<_> = sections.iter().filter_map(|n| open.report.section(*n)).filter(|s| !s.is_empty()).collect();
    let cut = |section: &Section| if section.is_perhaps_cut() { PERHAPS_CUT } else { "" };
    if found.len() < 2 || pane == Pane::Overview {
        return found.first().map_or("", |section| cut(section)).to_owned();
    }
    let known = found.iter().filter_map(|section| {
        let label = section.attribute.map(|attribute| attribute.label).filter(|label| !label.is_empty())?;
        Some(format!(" · {label} {}{}", thousands(section.len() as u64), cut(section)))
    });
    known.collect()
}

/// Returns the cursor's row, none for a mere ancestor of matches, and the number of rows.
fn position(state: &PaneState, pane: Pane, open: &OpenReport, has_focus: bool) -> String {
    let is_open = state.row_filter.is_open();
    let count = if is_open { state.count(&open.report, pane) } else { state.count_passing(&open.report, pane) };
    let at = if is_open { Some(state.scroll.cursor) } else { state.filtered_before(&open.report, pane) };
    let at = at.map_or("-".to_owned(), |at| thousands(at as u64 + 1));
    let is_cut = open.report.cut_lists(Some(pane)).next().is_some();
    let more = if open.report.index.is_complete && !is_cut { "" } else { AT_LEAST };
    let count = match count {
        0 => return String::new(),
        count => thousands(count as u64),
    };
    if has_focus { format!(" {at}/{count}{more} ") } else { format!(" {count}{more} ") }
}

fn label_columns(open: &OpenReport, pane: Pane) -> usize {
    let sections = open.report.sections(pane);
    let own = open.panes.get(&pane).and_then(|state| state.own_rows().first()).map(|_| MAX_LABEL_COLUMNS);
    let known = sections.iter().filter_map(|n| open.report.section(*n)).map(|section| match section.attribute {
        // A label much longer than the others reaches into its row's value.
        Some(attribute) if pane == Pane::Overview => attribute.label.columns().min(OVERVIEW_LABEL_COLUMNS),
        Some(attribute) if attribute.is_technique() => MAX_LABEL_COLUMNS,
        Some(attribute) => attribute.label.columns(),
        None => section.name.visible_cut(MAX_LABEL_COLUMNS).width(),
    });
    widest(known.chain(own))
}

/// Returns columns for labels of these widths, including the gap; zero without labels.
fn widest(widths: impl Iterator<Item = usize>) -> usize {
    widths.max().filter(|widest| *widest > 0).map_or(0, |widest| widest.min(MAX_LABEL_COLUMNS) + 1)
}

pub(super) fn draw_label(line: &mut LineWriter<'_>, label: &Label) {
    match label {
        Label::Known(word) => line.own(word, Role::Faint),
        Label::Named(name) => line.visible(&name.visible_cut(MAX_LABEL_COLUMNS), Role::Faint),
    }
}

/// Draws a row's label and a gap up to this many columns; a longer label reaches into the value.
pub(super) fn draw_labelled(line: &mut LineWriter<'_>, from: usize, columns: usize, label: &Label) {
    draw_label(line, label);
    if columns > 0 && line.is_past(from + columns) {
        line.own(" ", Role::Text);
    }
    line.tab(from + columns);
}

pub(super) fn columns_of<'a>(labels: impl Iterator<Item = &'a Label>) -> usize {
    widest(labels.map(Label::width))
}

/// Draws a row's text with marked matches: from an offset on, or whole with the first value elided.
pub(super) fn draw_pieces<'a>(
    line: &mut LineWriter<'a>,
    pieces: &[Piece],
    value: Role,
    shift: Option<usize>,
    pattern: Option<&'a Pattern>,
) {
    line.pattern = pattern;
    let mut room = shift.is_none().then(|| value_room(pieces, line.room()));
    let mut skip = shift.unwrap_or(0);
    for (at, piece) in pieces.iter().enumerate() {
        let width = piece.width();
        let skipped = skip.min(width);
        skip -= skipped;
        if skipped > 0 && skipped == width {
            continue;
        }
        match (piece, room.take()) {
            (Piece::Value(text), Some(columns)) => line.elided(text, columns, value),
            (Piece::Value(text) | Piece::Detail(text), kept) => {
                room = kept;
                let meaning = if matches!(piece, Piece::Value(_)) { value } else { Role::Detail };
                match skipped {
                    0 => line.outside(text, meaning),
                    _ => line.visible(&text.visible_window(skipped, line.room()), meaning),
                }
            }
            (Piece::Own(text) | Piece::Known(text), kept) => {
                room = kept;
                // Shows that the next part does not fit; a single time keeps its day and minute.
                let more = if at + 1 < pieces.len() { "…" } else { "" };
                let text: String = text.chars().skip(skipped).collect();
                match shift.is_none() && at > 0 && text.columns() + more.columns() > line.room() {
                    true => line.own_cut(&(text + more), line.room(), Role::Faint),
                    false => line.own(&text, Role::Faint),
                }
            }
        }
    }
}

/// Returns columns of a row's first value: details keep up to two fifths beside a longer one.
fn value_room(pieces: &[Piece], room: usize) -> usize {
    let first = pieces.iter().find(|piece| matches!(piece, Piece::Value(_))).map_or(0, Piece::width);
    room.saturating_sub(width_of(pieces) - first).max(room * 3 / 5)
}

pub(super) fn width_of(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::width).sum()
}

fn draw_branch(line: &mut LineWriter<'_>, branch: &TreeBranch, passes_filter: bool) {
    let depth = branch.guides.len();
    if depth > MAX_GUIDE_DEPTH {
        line.own(&format!("… level {} ", thousands(depth as u64 + 1)), Role::Faint);
    } else if let Some((last, above)) = branch.guides.split_last() {
        above.iter().for_each(|has_next| line.own(if *has_next { "│ " } else { "  " }, Role::Faint));
        line.own(if *last { "├─" } else { "└─" }, Role::Faint);
    }
    let mark = match branch.children {
        Some(true) if passes_filter => "▸ ",
        Some(true) => "▹ ",
        Some(false) if passes_filter => "▾ ",
        Some(false) => "▿ ",
        None => "• ",
    };
    line.own(mark, if branch.children == Some(true) { Role::Strong } else { Role::Faint });
}
