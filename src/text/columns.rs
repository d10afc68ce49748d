//! How wide our own words are.

use unicode_width::UnicodeWidthStr;

/// Columns of a text on a terminal.
pub(crate) trait Columns {
    /// Its width; most texts are ASCII, and as wide as they are long.
    fn columns(&self) -> usize;
}

impl Columns for str {
    fn columns(&self) -> usize {
        if self.is_ascii() { self.len() } else { self.width() }
    }
}
