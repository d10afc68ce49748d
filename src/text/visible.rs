//! The visible form: text that a terminal shows and cannot obey.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::Path;

use super::escape::{Charset, VisibleUnit, VisibleUnits, current};
use super::untrusted::UntrustedStr;
use unicode_width::UnicodeWidthChar;

/// Escaped text with its width; only the escaper makes one.
///
/// It holds no control, no invisible character and no line end, and begins with no combining
/// mark, so it neither moves the cursor nor changes its neighbours.
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

    /// The start of the text in at most this many columns; one that does not fit ends with `…`.
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
            cut.push_ellipsis(current().ellipsis());
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

    pub(super) fn push(&mut self, unit: &VisibleUnit<'_>) {
        match unit {
            VisibleUnit::Shown { text, .. } => self.text.push_str(text),
            // Writing to a String does not fail.
            escape => _ = write!(self.text, "{escape}"),
        }
        self.columns += unit.columns();
    }

    /// Appends those columns of a unit that lie in `part`. An escape can be split; half of a wide
    /// character cannot be shown and becomes a space.
    pub(super) fn push_part(&mut self, unit: &VisibleUnit<'_>, part: Range<usize>) {
        if part == (0..unit.columns()) {
            return self.push(unit);
        }
        let columns = part.len();
        let escape = match unit {
            VisibleUnit::Shown { .. } => None,
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

impl From<VisibleUnits<'_>> for Visible {
    fn from(units: VisibleUnits<'_>) -> Self {
        let mut visible = Visible::default();
        units.for_each(|unit| visible.push(&unit));
        visible
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

/// This program's words, with outside text in its visible form already: they are not escaped twice. Where
/// a character cannot be shown, as in messages of the system, the whole text is escaped.
pub fn said(words: impl AsRef<str>) -> Visible {
    let words = words.as_ref();
    // A blank at the end is the program's own.
    let text = words.trim_end_matches(' ');
    let escaped = Visible::from(VisibleUnits::new(text.as_bytes(), Charset::Unicode));
    if escaped.as_str().replace(r"\x5c", r"\") != text {
        return escaped;
    }
    // Each backslash that was escaped once more takes three columns fewer.
    let more = escaped.as_str().len().saturating_sub(text.len());
    let width = escaped.width() + words.len() - text.len();
    Visible::from_parts(words.to_owned(), width.saturating_sub(more))
}

/// A path in its visible form, whatever it is made of.
pub fn path(path: impl AsRef<Path>) -> Visible {
    UntrustedStr::new(path.as_ref().as_os_str().as_encoded_bytes()).visible()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Untrusted;

    #[test]
    fn what_is_said_is_escaped_once() {
        for text in ["a\u{1b}[2J", r"C:\x\x1b", "\u{202e}b", "é日\u{301}", r"\x5cx1b"] {
            let once = Untrusted::from(text).visible();
            assert_eq!(said(once.as_str()), once, "{text:?}");
        }
        assert_eq!(said("a\u{7}b · c").as_str(), r"a\x07b · c");
        assert_eq!(said("a\u{7}\\x1b").as_str(), r"a\x07\x5cx1b");
    }

    #[test]
    fn a_visible_form_is_cut_where_it_is_too_wide() {
        let words = said("日本 and more");
        assert_eq!((words.cut(20), words.cut(7).as_str().to_owned()), (words.clone(), "日本 a…".to_owned()));
        assert_eq!((words.cut(4).as_str(), words.cut(2).as_str(), words.cut(0).as_str()), ("日…", "…", ""));
    }
}
