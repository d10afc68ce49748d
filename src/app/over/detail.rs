//! One row of a report, whole: every member and element of it, wrapped to the width of the screen.

use crate::app::over::OverlayScreen;
use crate::app::panes::Move;
use crate::app::panes::scroll::scrolled;
use crate::app::{Place, Size};
use crate::report::rows::Line;
use crate::text::{Untrusted, Visible, words_in_rows};

/// Columns of indentation for each level.
const INDENT: usize = 2;

/// A row that is looked at whole.
#[derive(Debug)]
pub struct Detail {
    /// What it is a row of.
    pub title: String,
    pub lines: Vec<Line>,
    /// Why it is marked; shown below its lines.
    remarks: Vec<Annotation>,
    /// The first screen row that is shown.
    pub top: usize,
    /// The line that is chosen to be copied.
    chosen: usize,
    columns: usize,
    /// For each line, the screen row at which it starts; one more for the end.
    starts: Vec<usize>,
    /// The remarks as screen rows.
    told: Vec<DetailRow>,
}

/// Words of our own on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    pub head: String,
    /// The words, which are wrapped between words.
    pub words: String,
}

/// One screen row of a detail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetailRow {
    pub indent: usize,
    /// The member's name, on the first row of its line.
    pub name: Option<Visible>,
    /// A piece of the value.
    pub value: Visible,
    /// Whether it is of the line that is chosen, where there are several.
    pub is_chosen: bool,
}

impl Detail {
    pub fn new(title: String, lines: Vec<Line>, remarks: Vec<Annotation>, columns: usize) -> Self {
        let chosen = lines.iter().position(|line| line.value.is_some()).unwrap_or(0);
        let (starts, told) = (Vec::new(), Vec::new());
        let mut detail = Self { title, lines, remarks, top: 0, chosen, columns: 0, starts, told };
        detail.lay_out(columns);
        detail
    }

    /// Stays where an earlier look at the same row was.
    pub(super) fn stay(&mut self, before: &Self) {
        self.top = before.top;
        self.chosen = before.chosen.min(self.lines.len().saturating_sub(1));
    }

    /// Lays the row out for a width.
    fn lay_out(&mut self, columns: usize) {
        if columns == self.columns {
            return;
        }
        self.columns = columns;
        self.starts = vec![0];
        let mut at = 0;
        for line in &self.lines {
            at += line.value.as_ref().map_or(1, |value| value.lines(self.room(line)).count().max(1));
            self.starts.push(at);
        }
        self.told = self.remarks.iter().flat_map(|remark| remark.rows(columns)).collect();
        if !self.told.is_empty() && !self.lines.is_empty() {
            self.told.insert(0, DetailRow::default());
        }
    }

    /// Columns that a line's value has.
    fn room(&self, line: &Line) -> usize {
        self.columns
            .saturating_sub(indent(line) + line.name.as_ref().map_or(0, |name| name_of(name).width() + 2))
            .max(8)
    }

    /// Screen rows in all.
    pub fn count(&self) -> usize {
        self.ends() + self.told.len()
    }

    /// The screen row after the last line.
    fn ends(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn scroll_by(&mut self, movement: Move, height: usize) {
        self.top = scrolled(self.top, movement, self.count(), height);
    }

    pub fn chosen(&self) -> Option<&Line> {
        self.lines.get(self.chosen)
    }

    /// Whether there is more than one line with a value.
    pub fn has_values(&self) -> bool {
        self.lines.iter().filter(|line| line.value.is_some()).nth(1).is_some()
    }

    /// Chooses the next line with a value, or the one before, and brings it into sight.
    pub fn step(&mut self, forward: bool, height: usize) {
        let has_value = |(_, line): &(usize, &Line)| line.value.is_some();
        let lines = self.lines.iter().enumerate();
        let found = if forward {
            lines.skip(self.chosen + 1).find(has_value)
        } else {
            lines.take(self.chosen).rev().find(has_value)
        };
        let Some((chosen, _)) = found else { return };
        self.chosen = chosen;
        let start = self.starts.get(chosen).copied().unwrap_or(0);
        let end = self.starts.get(chosen + 1).copied().unwrap_or(start);
        if start < self.top || end > self.top + height {
            self.scroll_by(Move::First, height);
            self.scroll_by(Move::Down(start), height);
        }
    }

    /// The screen rows that are shown.
    pub fn rows(&self, height: usize) -> Vec<DetailRow> {
        let first = self.starts.partition_point(|start| *start <= self.top).saturating_sub(1);
        let mut rows = Vec::new();
        for (number, (line, start)) in self.lines.iter().zip(&self.starts).enumerate().skip(first) {
            let known = rows.len();
            if *start >= self.top + height {
                break;
            }
            let from = self.top.saturating_sub(*start);
            rows.extend(self.line_rows(line, from, height - rows.len()));
            if number == self.chosen && self.lines.len() > 1 {
                rows.iter_mut().skip(known).for_each(|row| row.is_chosen = true);
            }
        }
        let told = self.told.iter().skip(self.top.saturating_sub(self.ends()));
        rows.extend(told.take(height.saturating_sub(rows.len())).cloned());
        rows.truncate(height);
        rows
    }

    fn line_rows(&self, line: &Line, from: usize, most: usize) -> Vec<DetailRow> {
        let name = line.name.as_ref().map(name_of);
        let hanging = indent(line) + name.as_ref().map_or(0, |name| name.width() + 2);
        let pieces = match &line.value {
            Some(value) => value.wrapped(self.room(line), from..from + most),
            None => Vec::new(),
        };
        let mut rows: Vec<DetailRow> = pieces
            .into_iter()
            .map(|value| DetailRow { indent: hanging, name: None, value, is_chosen: false })
            .collect();
        if from == 0 {
            if rows.is_empty() {
                rows.push(DetailRow { indent: indent(line), name: None, value: Visible::default(), is_chosen: false });
            }
            if let Some(first) = rows.first_mut() {
                first.indent = indent(line);
                first.name = name;
            }
        }
        rows
    }
}

impl OverlayScreen for Detail {
    fn place(&self) -> Place {
        Place::Detail
    }

    fn height(&self, _: usize) -> usize {
        self.count()
    }

    fn go(&mut self, movement: Move, room: Size) {
        self.scroll_by(movement, room.height.into());
    }

    fn fit(&mut self, room: Size) {
        self.lay_out(room.width.into());
        self.go(Move::Up(0), room);
    }
}

impl Annotation {
    /// The invisible part of a value: that it is empty, or blanks at its ends.
    pub(in crate::app) fn of_blanks(line: &Line) -> Option<Self> {
        let value = line.value.as_ref()?.as_bytes();
        let words = match (value.is_empty(), value.starts_with(b" "), value.ends_with(b" ")) {
            (true, _, _) => "is empty",
            (_, true, true) => "begins and ends with a blank",
            (_, true, false) => "begins with a blank",
            (_, false, true) => "ends with a blank",
            _ => return None,
        };
        let head = line.name.as_ref().map_or_else(|| "value".to_owned(), |name| name.visible_cut(40).to_string());
        Some(Self { head, words: words.to_owned() })
    }

    fn rows(&self, columns: usize) -> Vec<DetailRow> {
        let head = Untrusted::from(self.head.as_str()).visible();
        let hanging = (head.width() + 2).min(columns / 3);
        let words = words_in_rows(&self.words, columns.saturating_sub(hanging).max(8)).into_iter();
        let row = |(n, words): (usize, String)| DetailRow {
            indent: if n == 0 { 0 } else { hanging },
            name: (n == 0).then(|| head.clone()),
            value: Untrusted::from(words).visible(),
            is_chosen: false,
        };
        words.enumerate().map(row).collect()
    }
}

fn indent(line: &Line) -> usize {
    (line.depth * INDENT).min(40)
}

fn name_of(name: &Untrusted) -> Visible {
    name.visible_cut(40)
}
