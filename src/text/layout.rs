//! How wide this program's own words are, and how they wrap.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a text on a terminal.
pub(crate) trait Columns {
    fn columns(&self) -> usize;
}

impl Columns for str {
    fn columns(&self) -> usize {
        self.width()
    }
}

/// Wraps words in rows of this many columns; a longer word is broken.
pub fn words_in_rows(text: &str, columns: usize) -> Vec<String> {
    let (mut rows, mut row, mut taken) = (Vec::new(), String::new(), 0);
    for word in text.split(' ') {
        let width = word.columns();
        if !row.is_empty() && taken + 1 + width > columns {
            rows.push(std::mem::take(&mut row));
            taken = 0;
        }
        if !row.is_empty() {
            row.push(' ');
            taken += 1;
        }
        if taken + width > columns {
            row = broken(word, columns, &mut rows);
            taken = row.columns();
        } else {
            row.push_str(word);
            taken += width;
        }
    }
    rows.push(row);
    rows
}

/// Wraps words in at most this many rows; `…` ends the last one where words had no room.
pub fn words_in_rows_cut(text: &str, columns: usize, most: usize) -> Vec<String> {
    let rows = words_in_rows(text, columns);
    if rows.len() <= most {
        return rows;
    }
    // Narrower by the sign's column.
    let mut rows = words_in_rows(text, columns.saturating_sub(1).max(1));
    rows.truncate(most);
    rows.last_mut().into_iter().for_each(|row| row.push('…'));
    rows
}

/// Breaks a word that is longer than a row; gives its end back.
fn broken(word: &str, columns: usize, rows: &mut Vec<String>) -> String {
    let (mut row, mut taken) = (String::new(), 0);
    for character in word.chars() {
        let width = character.width().unwrap_or(0);
        if !row.is_empty() && taken + width > columns {
            rows.push(std::mem::take(&mut row));
            taken = 0;
        }
        row.push(character);
        taken += width;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_words() {
        assert_eq!(words_in_rows("one two three", 8), ["one two", "three"]);
        assert_eq!(words_in_rows("indivisible x", 4), ["indi", "visi", "ble", "x"]);
        assert_eq!(words_in_rows("", 4), [""]);
        assert_eq!(words_in_rows_cut("one two three", 8, 2), ["one two", "three"]);
        assert_eq!(words_in_rows_cut("one two three", 7, 1), ["one…"]);
        assert_eq!(words_in_rows_cut("one", 7, 0), [""; 0]);
    }
}
