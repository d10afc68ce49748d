//! Our own words in rows.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Words in rows of at most so many columns; a word that is longer is broken.
#[must_use]
pub fn words_in_rows(text: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        if rows.last().is_some_and(|row| !row.is_empty() && row.width() + 1 + word.width() > columns) {
            rows.push(String::new());
        }
        if let Some(row) = rows.last_mut().filter(|row| !row.is_empty()) {
            row.push(' ');
        }
        push_broken(&mut rows, word, columns);
    }
    rows
}

/// The same in so many rows at most; `…` at the end of the last one stands for words that have no room.
#[must_use]
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

fn push_broken(rows: &mut Vec<String>, word: &str, columns: usize) {
    for character in word.chars() {
        let width = character.width().unwrap_or(0);
        if rows.last().is_none_or(|row| !row.is_empty() && row.width() + width > columns) {
            rows.push(String::new());
        }
        if let Some(row) = rows.last_mut() {
            row.push(character);
        }
    }
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
