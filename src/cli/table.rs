//! Text in columns, for people and for tools that split at blanks.

use std::fmt;
use unicode_width::UnicodeWidthChar;

/// Between two columns.
const GAP: &str = "  ";

/// Rows of cells, each column as wide as its widest cell. Cells hold text that may be shown.
pub(super) struct Table {
    /// Columns that are aligned to the right, as numbers are.
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
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| self.rows.iter().filter_map(|row| Some(width(row.get(column)?))).max();
        let widths: Vec<_> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
        for row in &self.rows {
            let padded = row.iter().zip(&widths).enumerate().map(|(column, (cell, wide))| {
                let blanks = " ".repeat(wide.saturating_sub(width(cell)));
                if self.right.contains(&column) { blanks + cell } else { format!("{cell}{blanks}") }
            });
            writeln!(f, "{}", padded.collect::<Vec<_>>().join(GAP).trim_end())?;
        }
        Ok(())
    }
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
        assert_eq!(table.to_string(), wanted);
    }
}
