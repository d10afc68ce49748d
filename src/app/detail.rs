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
}

impl Detail {
    /// Lays a row out for so many columns.
    #[must_use]
    pub fn new(title: String, lines: Vec<Line>, columns: usize) -> Self {
        let mut detail = Self { title, lines, top: 0, columns: 0, starts: Vec::new() };
        detail.fit(columns);
        detail
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

    /// The screen rows that are shown.
    #[must_use]
    pub fn rows(&self, height: usize) -> Vec<DetailRow> {
        let first = self.starts.partition_point(|start| *start <= self.top).saturating_sub(1);
        let mut rows = Vec::new();
        for (line, start) in self.lines.iter().zip(&self.starts).skip(first) {
            if *start >= self.top + height {
                break;
            }
            let from = self.top.saturating_sub(*start);
            rows.extend(self.line_rows(line, from, height - rows.len()));
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
        let mut rows: Vec<DetailRow> =
            pieces.into_iter().map(|value| DetailRow { indent: hanging, name: None, value }).collect();
        if from == 0 {
            if rows.is_empty() {
                rows.push(DetailRow { indent: indent(line), name: None, value: Visible::default() });
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
