//! One row of a report, whole: every member and element of it, wrapped to the width of the screen.

use super::panes::Move;
use super::sheet::scrolled;
use crate::report::rows::Line;
use crate::text::Visible;

/// Columns of indentation for each level.
const INDENT: usize = 2;

/// A row that is looked at whole.
#[derive(Debug)]
pub struct Detail {
    /// What it is a row of.
    pub title: String,
    /// The row taken apart.
    pub lines: Vec<Line>,
    /// The first screen row that is shown.
    pub top: usize,
    /// The line that is chosen to be copied.
    chosen: usize,
    columns: usize,
    /// For each line, the screen row at which it starts; one more for the end.
    starts: Vec<usize>,
}

/// One screen row of a detail.
#[derive(Debug, PartialEq, Eq)]
pub struct DetailRow {
    /// Columns of indentation.
    pub indent: usize,
    /// The member's name, on the first row of its line.
    pub name: Option<Visible>,
    /// A piece of the value.
    pub value: Visible,
    /// Whether it is of the line that is chosen, where there are several.
    pub is_chosen: bool,
}

impl Detail {
    /// Lays a row out for so many columns.
    #[must_use]
    pub fn new(title: String, lines: Vec<Line>, columns: usize) -> Self {
        let chosen = lines.iter().position(|line| line.value.is_some()).unwrap_or(0);
        let mut detail = Self { title, lines, top: 0, chosen, columns: 0, starts: Vec::new() };
        detail.fit(columns);
        detail
    }

    /// The same with the first value chosen that stands below so many lines, which are only remarks.
    #[must_use]
    pub fn below(mut self, remarks: usize) -> Self {
        let first = self.lines.iter().enumerate().skip(remarks).find(|(_, line)| line.value.is_some());
        self.chosen = first.map_or(self.chosen, |(at, _)| at);
        self
    }

    /// Lays the row out again for another width.
    pub fn fit(&mut self, columns: usize) {
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
    }

    /// Columns that a line's value has.
    fn room(&self, line: &Line) -> usize {
        self.columns
            .saturating_sub(indent(line) + line.name.as_ref().map_or(0, |name| name_of(name).width() + 2))
            .max(8)
    }

    /// Screen rows in all.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Scrolls.
    pub fn go(&mut self, movement: Move, height: usize) {
        self.top = scrolled(self.top, movement, self.count(), height);
    }

    /// The line that is chosen.
    #[must_use]
    pub fn chosen(&self) -> Option<&Line> {
        self.lines.get(self.chosen)
    }

    /// Whether there is more than one line with a value.
    #[must_use]
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
            self.go(Move::First, height);
            self.go(Move::Down(start), height);
        }
    }

    /// The screen rows that are shown.
    #[must_use]
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

fn indent(line: &Line) -> usize {
    (line.depth * INDENT).min(40)
}

fn name_of(name: &crate::text::Untrusted) -> Visible {
    name.visible_cut(40)
}
