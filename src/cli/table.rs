//! Text in columns, for people and for tools that split at blanks.

use crate::runtime::terminal_size;
use std::fmt;
use unicode_width::UnicodeWidthChar;

/// What stands before a row's second line.
const INDENT: &str = "    ";

/// What stands between two columns.
const GAP: &str = "  ";

/// Rows of cells, each column as wide as its widest cell. Cells hold text that may be shown.
///
/// On a terminal that is too narrow for it a row takes two lines; into a file or pipe it is always one.
pub(super) struct Table {
    /// Columns whose cells stand at the right, as numbers do.
    right: &'static [usize],
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading; the columns at these places hold numbers.
    pub(super) fn new(heading: &[&str], right: &'static [usize]) -> Self {
        let heading = heading.iter().map(|cell| (*cell).to_owned()).collect();
        Self { right, rows: vec![heading] }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
        (0..columns).map(|column| widest(column).unwrap_or(0)).collect()
    }

    /// The rows as text for a terminal of so many columns, or for none.
    fn text(&self, room: Option<usize>) -> String {
        let widths = self.widths();
        let Some(room) = room.filter(|room| *room < together(&widths)) else {
            return self.rows.iter().map(|row| self.line(row, &widths, 0) + "\n").collect();
        };
        let fitting = (1..widths.len()).take_while(|count| together(widths.get(..*count).unwrap_or_default()) <= room);
        let first = fitting.last().unwrap_or(1);
        let (before, behind) = widths.split_at_checked(first).unwrap_or((&widths, &[]));
        let is_in_step = INDENT.len() + together(behind) <= room;
        let mut text = String::new();
        for row in &self.rows {
            let (cells, rest) = row.split_at_checked(first).unwrap_or((row, &[]));
            text += &(self.line(cells, before, 0) + "\n");
            let second = if is_in_step {
                self.line(rest, behind, first)
            } else {
                rest.iter().filter(|cell| !cell.is_empty()).map(String::as_str).collect::<Vec<_>>().join(GAP)
            };
            if !second.is_empty() {
                text += &format!("{INDENT}{second}\n");
            }
        }
        text
    }

    /// Cells beside each other, the first of which stands in this column.
    fn line(&self, cells: &[String], widths: &[usize], first: usize) -> String {
        let padded = cells.iter().zip(widths).enumerate().map(|(place, (cell, wide))| {
            let blanks = " ".repeat(wide.saturating_sub(width(cell)));
            if self.right.contains(&(first + place)) { blanks + cell } else { format!("{cell}{blanks}") }
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(terminal_size().map(|(columns, _)| columns.into())))
    }
}

/// The width of columns beside each other.
fn together(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

fn width(cell: &str) -> usize {
    cell.chars().filter_map(UnicodeWidthChar::width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_right_and_no_line_ends_in_blanks() {
        let mut table = Table::new(&["day", "calls", "bar"], &[1]);
        table.row(["2026-11-20".to_owned(), "12".to_owned(), String::new()]);
        table.row(["語".to_owned(), "1".to_owned(), "#".to_owned()]);
        let wanted = "day         calls  bar\n2026-11-20     12\n語              1  #\n";
        assert_eq!(table.text(None), wanted);
        assert_eq!(table.text(Some(22)), wanted);
    }

    #[test]
    fn a_row_that_is_wider_than_the_terminal_takes_two_lines() {
        let mut table = Table::new(&["day", "calls", "left", "remarks"], &[1, 2]);
        table.row(["2026-11-20", "1,200", "5", ""].map(str::to_owned));
        table.row(["2026-11-21", "3", "12", "a word"].map(str::to_owned));
        let wanted =
            "day         calls\n    left  remarks\n2026-11-20  1,200\n       5\n2026-11-21      3\n      12  a word\n";
        assert_eq!(table.text(Some(22)), wanted);
        let wanted = "day\n    calls  left  remarks\n2026-11-20\n    1,200  5\n2026-11-21\n    3  12  a word\n";
        assert_eq!(table.text(Some(12)), wanted);
    }
}
