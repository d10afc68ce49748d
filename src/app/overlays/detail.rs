//! The details of a row, wrapped to the screen; a response as a folding tree.

use crate::app::overlays::{OverlayScreen, RowWindow, TextRow};
use crate::app::panes::moving::scrolled;
use crate::app::panes::{FoldStep, Move, Scroll, facts};
use crate::app::{KeyContext, Model, Size};
use crate::report::attack::Technique;
use crate::report::attributes::PERHAPS_CUT;
use crate::report::command_line::decoded;
use crate::report::rows::Line;
use crate::report::{Depths, Folds, Row};
use crate::text::{Untrusted, Visible, thousands, wrap};
use jiff::Timestamp;

const INDENT_COLUMNS: usize = 2;

/// A row with all its members, line by line.
#[derive(Debug)]
pub struct Detail {
    pub title: String,
    pub(crate) lines: Vec<Line>,
    remarks: Vec<TextRow>,
    pub top: usize,
    /// The index of the chosen line, which can be copied.
    chosen: usize,
    columns: usize,
    /// Screen rows, each with the index of its line; rows of remarks have none.
    rows: Vec<(Option<usize>, DetailRow)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetailRow {
    pub indent: usize,
    /// The member's name, on the first row of its line.
    pub name: Option<Visible>,
    pub value: Visible,
}

impl Detail {
    pub(crate) fn new(title: String, lines: Vec<Line>, remarks: Vec<TextRow>, columns: usize) -> Self {
        let chosen = lines.iter().position(|line| line.value.is_some()).unwrap_or(0);
        let mut detail = Self { title, lines, remarks, top: 0, chosen, columns: 0, rows: Vec::new() };
        detail.lay_out(columns);
        detail
    }

    pub(super) fn stay(&mut self, before: &Self) {
        self.top = before.top;
        self.chosen = before.chosen.min(self.lines.len().saturating_sub(1));
    }

    pub fn count(&self) -> usize {
        self.rows.len()
    }

    fn scroll_by(&mut self, movement: Move, height: usize) {
        self.top = scrolled(self.top, movement, self.count(), height);
    }

    pub(crate) fn chosen(&self) -> Option<&Line> {
        self.lines.get(self.chosen)
    }

    pub(crate) fn has_values(&self) -> bool {
        self.lines.iter().filter(|line| line.value.is_some()).nth(1).is_some()
    }

    /// Chooses the next or previous line with a value, and scrolls to it.
    pub(crate) fn step(&mut self, forward: bool, height: usize) {
        let has_value = |(_, line): &(usize, &Line)| line.value.is_some();
        let lines = self.lines.iter().enumerate();
        let found = if forward {
            lines.skip(self.chosen + 1).find(has_value)
        } else {
            lines.take(self.chosen).rev().find(has_value)
        };
        let Some((chosen, _)) = found else { return };
        self.chosen = chosen;
        let is_its = |(line, _): &(Option<usize>, DetailRow)| *line == Some(chosen);
        let start = self.rows.iter().position(is_its).unwrap_or(0);
        let last = self.rows.iter().rposition(is_its).unwrap_or(0);
        if start < self.top || last >= self.top + height {
            self.scroll_by(Move::First, height);
            self.scroll_by(Move::Down(start), height);
        }
    }

    /// Returns the visible rows, each with whether it belongs to the chosen one of several lines.
    pub fn rows(&self) -> impl Iterator<Item = (&DetailRow, bool)> {
        let is_chosen = |line: &Option<usize>| self.lines.len() > 1 && *line == Some(self.chosen);
        self.rows.iter().skip(self.top).map(move |(line, row)| (row, is_chosen(line)))
    }
}

/// Maximum of screen rows of one value; longer values are for export.
const MAX_ROWS: usize = 20_000;

fn line_rows(line: &Line, columns: usize) -> Vec<DetailRow> {
    let name = line.name.as_ref().map(|name| name.visible_cut(40));
    let indent = (line.depth * INDENT_COLUMNS).min(40);
    let hanging = indent + name.as_ref().map_or(0, |name| name.width() + 2);
    let room = columns.saturating_sub(hanging).max(8);
    let mut values = line.value.iter().flat_map(|value| value.lines(room)).take(MAX_ROWS).collect::<Vec<_>>();
    if values.len() == MAX_ROWS {
        values.push(Untrusted::from("…").visible());
    }
    values.resize_with(values.len().max(1), Visible::default);
    let row = |value| DetailRow { indent: hanging, value, ..DetailRow::default() };
    let mut rows: Vec<_> = values.into_iter().map(row).collect();
    if let Some(first) = rows.first_mut() {
        first.indent = indent;
        first.name = name;
    }
    rows
}

impl OverlayScreen for Detail {
    fn key_context(&self) -> KeyContext {
        KeyContext::Detail
    }

    fn height(&self, _: usize) -> usize {
        self.count()
    }

    fn lay_out(&mut self, columns: usize) {
        if columns == self.columns {
            return;
        }
        self.columns = columns;
        let of_line = |(number, line)| line_rows(line, columns).into_iter().map(move |row| (Some(number), row));
        let lines = self.lines.iter().enumerate().flat_map(of_line);
        let remarks: Vec<_> = self.remarks.iter().flat_map(|remark| remark_rows(remark, columns)).collect();
        let gap = (!remarks.is_empty() && !self.lines.is_empty()).then(DetailRow::default);
        self.rows = lines.chain(gap.into_iter().chain(remarks).map(|row| (None, row))).collect();
    }

    fn go(&mut self, movement: Move, room: Size, _: Option<RowWindow>) {
        self.scroll_by(movement, room.height.into());
    }
}

/// Returns a line, followed by the ATT&CK technique that it names or the decoded command line.
fn explained(line: Line) -> impl Iterator<Item = Line> {
    let depth = line.depth;
    let name = line.name.as_ref();
    let value = line.value.as_ref();
    let id = if name.is_some_and(|name| name.as_bytes() == b"id") { value } else { name };
    let technique = id.and_then(|id| Technique::of(id.as_bytes()));
    let technique = technique.map(|technique| ("→ ATT&CK", Untrusted::from(technique.label())));
    let hidden = value.map(|value| decoded(value.as_bytes())).unwrap_or_default();
    let hidden = hidden.into_iter().map(|text| ("→ decoded", text));
    let more = technique.into_iter().chain(hidden);
    let more = more.map(move |(name, text)| Line { depth, name: Some(Untrusted::from(name)), value: Some(text) });
    std::iter::once(line).chain(more)
}

/// Returns a remark on what a value does not show: that it is empty, or has blanks at its ends.
fn blanks(line: &Line) -> Option<TextRow> {
    let value = line.value.as_ref()?.as_bytes();
    let remark = match (value.is_empty(), value.starts_with(b" "), value.ends_with(b" ")) {
        (true, _, _) => "is empty",
        (_, true, true) => "begins and ends with a blank",
        (_, true, false) => "begins with a blank",
        (_, false, true) => "ends with a blank",
        _ => return None,
    };
    let head = line.name.as_ref().map_or_else(|| "value".to_owned(), |name| name.visible_cut(40).to_string());
    Some(TextRow { head, text: remark.to_owned() })
}

fn remark_rows(remark: &TextRow, columns: usize) -> Vec<DetailRow> {
    let head = Untrusted::from(remark.head.as_str()).visible();
    let hanging = (head.width() + 2).min(columns / 3);
    let rows = wrap(&remark.text, columns.saturating_sub(hanging).max(8)).into_iter();
    let row = |(n, text): (usize, String)| DetailRow {
        indent: if n == 0 { 0 } else { hanging },
        name: (n == 0).then(|| head.clone()),
        value: Untrusted::from(text).visible(),
    };
    rows.enumerate().map(row).collect()
}

/// A stored response as a tree of its members.
#[derive(Debug)]
pub struct ResponseTree {
    pub title: String,
    pub received: Timestamp,
    pub(crate) lines: Vec<Line>,
    pub(crate) folds: Folds,
    pub scroll: Scroll,
    depths: Depths,
}

impl ResponseTree {
    pub(crate) fn new(title: String, received: Timestamp, lines: Vec<Line>) -> Self {
        let depths: Vec<_> = lines.iter().map(|line| u16::try_from(line.depth).unwrap_or(u16::MAX)).collect();
        Self { title, received, lines, folds: Folds::default(), scroll: Scroll::default(), depths: Depths(depths) }
    }

    pub fn count(&self) -> usize {
        self.folds.len(&self.depths)
    }

    /// Returns the line at a visible position, and whether its children, if any, are hidden.
    pub fn line(&self, position: usize) -> Option<(&Line, Option<bool>)> {
        let row = self.folds.row(position);
        let children = self.depths.has_children(row).then(|| self.folds.is_folded(row));
        Some((self.lines.get(row)?, children))
    }

    pub(crate) fn fold(&mut self, step: FoldStep) {
        let row = self.folds.row(self.scroll.cursor);
        step.take(&mut self.folds, &mut self.scroll, row, &self.depths);
    }

    pub(crate) fn chosen(&self) -> Option<&Line> {
        self.line(self.scroll.cursor).map(|(line, _)| line)
    }
}

impl OverlayScreen for ResponseTree {
    fn key_context(&self) -> KeyContext {
        KeyContext::Response
    }

    fn choice(&self, _: Size, _: &Model) -> Option<RowWindow> {
        Some(RowWindow { scroll: self.scroll, count: self.count(), ..RowWindow::default() })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }
}

impl Model {
    pub(crate) fn open_value(&mut self) {
        let columns = usize::from(self.overlay_room().width);
        let chosen = self.overlays.top_as::<ResponseTree>().and_then(|response| response.chosen().cloned());
        if let Some(line) = chosen.filter(|line| line.value.is_some()) {
            self.overlays.put(Detail::new("value".to_owned(), vec![Line { depth: 0, ..line }], Vec::new(), columns));
        }
    }

    pub(crate) fn open_detail(&mut self) {
        let columns = usize::from(self.overlay_room().width);
        let Some(open) = self.open() else { return };
        if let Some(id) = self.files.current_rule_row().and_then(Row::name).cloned() {
            let remarks = open.reasons(self.rules.as_deref(), id.visible().as_ref());
            let lines = explained(Line { depth: 0, name: Some("id".into()), value: Some(id) }).collect();
            return self.overlays.put(Detail::new("technique by our rules alone".to_owned(), lines, remarks, columns));
        }
        let Some(place) = self.note_target() else { return };
        let section = open.report.section(place.section);
        let name = section.map(|section| section.name.visible_cut(60).to_string()).unwrap_or_default();
        let cut = section.filter(|section| section.is_perhaps_cut());
        let cut = cut.map(|section| format!(" of {}{PERHAPS_CUT}", section.len())).unwrap_or_default();
        let title = format!("{name} · row {}{cut}", thousands(place.row as u64 + 1));
        let lines = open.report.lines(place.section, place.row);
        let remarks = self.reasons(place).into_iter().chain(self.values.remarks(place));
        let remarks = remarks.chain(lines.iter().filter_map(blanks)).collect();
        let lines = lines.into_iter().chain(facts::facts(&open.report, place)).flat_map(explained);
        let lines = lines.chain(self.note_line()).collect();
        self.overlays.put(Detail::new(title, lines, remarks, columns));
    }
}
