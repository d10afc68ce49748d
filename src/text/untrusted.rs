//! A string from outside, byte for byte, and its visible form, which contains no control sequences.

use super::escape::{VisibleUnit, VisibleUnits, decode_json, ellipsis, escaped_json, is_ascii, reads_as_escape};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::Path;
use unicode_width::UnicodeWidthChar;

/// Minimum width of a line, in columns: the longest unit, `\u{10ffff}`, fits.
const MIN_LINE_COLUMNS: usize = 10;

/// An owned string from outside.
///
/// Contains any bytes: UTF-8, lone surrogates in generalised UTF-8 (three bytes each), other bytes.
/// It is compared by its bytes, its `Debug` is escaped, and it has no `Display`:
///
/// ```compile_fail
/// println!("{}", behaview::text::Untrusted::from("\u{1b}[2J"));
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Untrusted {
    bytes: Box<[u8]>,
}

impl Untrusted {
    /// Decodes the inside of a JSON string literal, and never fails.
    ///
    /// Bad escapes and bytes outside of UTF-8 stay; a lone surrogate becomes generalised UTF-8.
    pub fn from_json(raw: &[u8]) -> Self {
        let mut decoded = Vec::with_capacity(raw.len());
        decode_json(raw, &mut decoded);
        decoded.into()
    }

    /// Returns the bytes, to search, compare and store; never to print.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the string for programs that read it as data.
    ///
    /// Bytes that are not Unicode become their visible form, so different strings stay different.
    pub fn unicode(&self) -> String {
        str::from_utf8(&self.bytes).map_or_else(|_| self.visible().to_string(), str::to_owned)
    }

    /// Returns the string as a JSON literal with its quotes; `None` for bytes that are not Unicode.
    ///
    /// Characters that the visible form escapes are written as `\uXXXX`.
    pub fn json(&self) -> Option<String> {
        let literal = serde_json::to_string(str::from_utf8(&self.bytes).ok()?).ok()?;
        // A combining mark at the start would join the quote.
        Some(format!("\"{}", escaped_json(literal.strip_prefix('"')?, is_ascii())))
    }

    /// Returns the text for another program: unchanged if all is visible, else in its visible form.
    ///
    /// Backslashes and a blank at the end are not escaped: two texts may have the same result.
    pub fn legible(&self) -> Cow<'_, str> {
        let can_be_seen = |unit| matches!(unit, VisibleUnit::Shown { .. } | VisibleUnit::Byte(b'\\' | b' '));
        let seen = VisibleUnits::new(&self.bytes, false).all(can_be_seen).then(|| str::from_utf8(&self.bytes).ok());
        seen.flatten().map_or_else(|| String::from(self.visible()).into(), Cow::from)
    }

    /// Returns the visible form of the whole string; in ASCII if only that is shown.
    pub fn visible(&self) -> Visible {
        match self.plain() {
            Some(text) => Visible { text: text.to_owned(), columns: text.len() },
            None => self.units().into(),
        }
    }

    /// Returns the visible form in ASCII: every other character is escaped.
    pub fn visible_ascii(&self) -> Visible {
        VisibleUnits::new(&self.bytes, true).into()
    }

    /// Returns the start of the string, at most `columns` wide; reads no further.
    ///
    /// A string that does not fit loses whole units and ends with `…` (`>` in ASCII).
    pub fn visible_cut(&self, columns: usize) -> Visible {
        let mut shown = Visible::default();
        let mut length = 0;
        let mut width = 0;
        for unit in self.units() {
            shown.push(&unit);
            if shown.columns > columns {
                shown.text.truncate(length);
                shown.columns = width;
                if columns > 0 {
                    shown.push_ellipsis();
                }
                break;
            }
            if shown.columns < columns {
                (length, width) = (shown.text.len(), shown.columns);
            }
        }
        shown
    }

    /// Returns the part of the visible form from column `skip` on, at most `columns` wide.
    ///
    /// A wide character on an edge shows as a space in the column that is inside, so scrolled
    /// rows stay aligned. The work depends on `skip + columns`, not on the length of the string.
    pub fn visible_window(&self, skip: usize, columns: usize) -> Visible {
        let end = skip.saturating_add(columns);
        let mut shown = Visible::default();
        let mut at = 0;
        for unit in self.units() {
            if at >= end {
                break;
            }
            let width = unit.columns();
            if at + width > skip {
                shown.push_part(&unit, skip.saturating_sub(at)..width.min(end - at));
            }
            at += width;
        }
        shown
    }

    /// Returns the string in lines of at most `columns` columns (at least ten).
    ///
    /// Splits no unit; a line also ends after a line feed, shown as `\x0a`. Loses nothing.
    pub fn lines(&self, columns: usize) -> impl Iterator<Item = Visible> {
        let columns = columns.max(MIN_LINE_COLUMNS);
        let mut units = self.units();
        std::iter::from_fn(move || {
            let mut line = Visible::default();
            let mut ahead = units.clone();
            while let Some(unit) = ahead.next().filter(|unit| line.columns + unit.columns() <= columns) {
                line.push(&unit);
                units = ahead.clone();
                if unit == VisibleUnit::Byte(b'\n') {
                    break;
                }
            }
            (!line.is_empty()).then_some(line)
        })
    }

    fn units(&self) -> VisibleUnits<'_> {
        VisibleUnits::new(&self.bytes, is_ascii())
    }

    /// Returns the text, if it is its own visible form and one byte is one column.
    fn plain(&self) -> Option<&str> {
        let is_plain = self.bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let is_escape = |at| self.bytes.get(at + 1..).is_some_and(reads_as_escape);
        if !is_plain || self.bytes.ends_with(b" ") || memchr::memchr_iter(b'\\', &self.bytes).any(is_escape) {
            return None;
        }
        str::from_utf8(&self.bytes).ok()
    }
}

/// Serializes it as its Unicode text.
impl serde::Serialize for Untrusted {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.unicode())
    }
}

macro_rules! from {
    ($($text:ty),*) => {
        $(impl From<$text> for Untrusted {
            fn from(text: $text) -> Self {
                Self { bytes: Vec::from(text).into_boxed_slice() }
            }
        })*
    };
}

from!(&str, String, &[u8], Vec<u8>);

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({})", self.visible())
    }
}

/// Escaped text with its width; only the escaper makes one.
///
/// Has no control, invisible character, line end or leading mark, and so changes no neighbour.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visible {
    pub(super) text: String,
    pub(super) columns: usize,
}

impl Visible {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn width(&self) -> usize {
        self.columns
    }

    /// Returns the text's start in at most this many columns, with `…` if it does not fit.
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
        let start = self.text.get(..end.unwrap_or(self.text.len())).unwrap_or_default();
        let mut cut = Visible { text: start.to_owned(), columns: columns.saturating_sub(1) - left };
        if columns > 0 {
            cut.push_ellipsis();
        }
        cut
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text as a JSON literal, its quotes included.
    pub fn json(&self) -> String {
        serde_json::Value::from(self.as_str()).to_string()
    }

    fn push(&mut self, unit: &VisibleUnit<'_>) {
        match unit {
            VisibleUnit::Shown { text, .. } => self.text.push_str(text),
            // Writing to a String does not fail.
            escape => _ = write!(self.text, "{escape}"),
        }
        self.columns += unit.columns();
    }

    /// Appends a unit's columns in `part`: part of an escape, a space for half a wide character.
    fn push_part(&mut self, unit: &VisibleUnit<'_>, part: Range<usize>) {
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

    /// Appends the sign for omitted text, one column wide.
    fn push_ellipsis(&mut self) {
        self.text.push(ellipsis());
        self.columns += 1;
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

impl From<Visible> for String {
    fn from(visible: Visible) -> String {
        visible.text
    }
}

/// Makes this program's own text visible; outside text in it is visible already, so it is not
/// escaped twice. A character that cannot be shown, as in the system's messages, escapes it all.
pub fn to_visible(words: impl AsRef<str>) -> Visible {
    let words = words.as_ref();
    // A blank at the end is of this program.
    let text = words.trim_end_matches(' ');
    let escaped = Visible::from(VisibleUnits::new(text.as_bytes(), false));
    if escaped.as_str().replace(r"\x5c", r"\") != text {
        return escaped;
    }
    // Each backslash was escaped again, in three columns more.
    let more = escaped.as_str().len().saturating_sub(text.len());
    let width = escaped.width() + words.len() - text.len();
    Visible { text: words.to_owned(), columns: width.saturating_sub(more) }
}

/// Returns a path in its visible form, also if it is not UTF-8.
pub fn path(path: impl AsRef<Path>) -> Visible {
    Untrusted::from(path.as_ref().as_os_str().as_encoded_bytes()).visible()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_escaped_once() {
        for text in ["a\u{1b}[2J", r"C:\x\x1b", "\u{202e}b", "é日\u{301}", r"\x5cx1b"] {
            let once = Untrusted::from(text).visible();
            assert_eq!(to_visible(once.as_str()), once, "{text:?}");
        }
        assert_eq!(to_visible("a\u{7}b · c").as_str(), r"a\x07b · c");
        assert_eq!(to_visible("a\u{7}\\x1b").as_str(), r"a\x07\x5cx1b");
    }

    #[test]
    fn a_visible_form_is_cut_where_it_is_too_wide() {
        let words = to_visible("日本 and more");
        assert_eq!((words.cut(20), words.cut(7).as_str().to_owned()), (words.clone(), "日本 a…".to_owned()));
        assert_eq!((words.cut(4).as_str(), words.cut(2).as_str(), words.cut(0).as_str()), ("日…", "…", ""));
    }
}
