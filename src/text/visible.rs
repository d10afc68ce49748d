//! The visible form: text that a terminal shows and cannot obey.

use std::fmt::{self, Write as _};
use std::ops::Range;

use super::charset;
use super::escape::{Unit, Units};
use unicode_width::UnicodeWidthChar;

/// Escaped text with its width; only the escaper makes one.
///
/// It holds no control, no invisible character and no line end, and begins with no combining
/// mark, so it neither moves the cursor nor touches what stands beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visible {
    text: String,
    columns: usize,
}

impl Visible {
    /// Takes text that is known to be in visible form, `columns` wide.
    pub(super) fn from_parts(text: String, columns: usize) -> Self {
        Visible { text, columns }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Width in terminal columns.
    pub fn width(&self) -> usize {
        self.columns
    }

    /// The start of the text, at most so many columns wide; one that does not fit ends with `…`.
    pub fn cut(&self, columns: usize) -> Visible {
        if self.columns <= columns {
            return self.clone();
        }
        let mut left = columns.saturating_sub(1);
        let end = self.text.char_indices().find_map(|(at, letter)| {
            let rest = left.checked_sub(letter.width().unwrap_or(0));
            left = rest.unwrap_or(left);
            rest.is_none().then_some(at)
        });
        let kept = self.text.get(..end.unwrap_or(self.text.len())).unwrap_or_default();
        let mut cut = Visible { text: kept.to_owned(), columns: columns.saturating_sub(1) - left };
        if columns > 0 {
            cut.push_ellipsis(charset::current().ellipsis());
        }
        cut
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text as a JSON literal, its quotes included.
    pub fn json(&self) -> String {
        let mut literal = String::with_capacity(self.text.len() + 2);
        literal.push('"');
        for shown in self.text.chars() {
            if matches!(shown, '"' | '\\') {
                literal.push('\\');
            }
            literal.push(shown);
        }
        literal.push('"');
        literal
    }

    pub(super) fn push(&mut self, unit: &Unit<'_>) {
        match unit {
            Unit::Shown { text, .. } => self.text.push_str(text),
            // Writing to a String does not fail.
            escape => _ = write!(self.text, "{escape}"),
        }
        self.columns += unit.columns();
    }

    /// Appends those columns of a unit that lie in `part`. An escape can be split; half of a wide
    /// character cannot be shown and becomes a space.
    pub(super) fn push_part(&mut self, unit: &Unit<'_>, part: Range<usize>) {
        if part == (0..unit.columns()) {
            return self.push(unit);
        }
        let columns = part.len();
        let escape = match unit {
            Unit::Shown { .. } => None,
            escape => Some(escape.to_string()),
        };
        match escape.as_ref().and_then(|escape| escape.get(part)) {
            Some(piece) => self.text.push_str(piece),
            None => self.text.extend(std::iter::repeat_n(' ', columns)),
        }
        self.columns += columns;
    }

    /// Appends the one-column sign that says something was left out.
    pub(super) fn push_ellipsis(&mut self, ellipsis: char) {
        self.text.push(ellipsis);
        self.columns += 1;
    }

    /// Where the text ends now: its length in bytes and its width in columns.
    pub(super) fn end(&self) -> (usize, usize) {
        (self.text.len(), self.columns)
    }

    /// Goes back to an earlier `end`.
    pub(super) fn cut_back(&mut self, (len, columns): (usize, usize)) {
        self.text.truncate(len);
        self.columns = columns;
    }
}

impl From<Units<'_>> for Visible {
    fn from(mut units: Units<'_>) -> Self {
        let mut visible = Visible::default();
        loop {
            let plain = units.take_plain();
            visible.text.push_str(plain);
            visible.columns += plain.len();
            match units.next() {
                Some(unit) => visible.push(&unit),
                None => return visible,
            }
        }
    }
}

impl fmt::Display for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl AsRef<str> for Visible {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl From<Visible> for String {
    fn from(visible: Visible) -> String {
        visible.text
    }
}
