//! One row of cells, filled from the left and never past its end, which says where something had no room.

use super::canvas::Canvas;
use super::elide;
use super::theme::{Meaning, Tone};
use crate::app::Area;
use crate::report::find::Pattern;
use crate::text::{Columns, Untrusted, Visible, is_shown, is_single, stands_alone};
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// The cells of a layout's area.
pub(super) fn rect(area: Area) -> Rect {
    Rect { x: area.x, y: area.y, width: area.width, height: area.height }
}

/// Columns in which there is nothing to choose from a text.
const SHORTEST: usize = 8;

/// The longest bar over what is chosen: as wide as most panes, and a step of the cursor changes little in one that is wider.
const LONGEST_BAR: u16 = 44;

/// The first character of a text and its columns, if it is a grapheme by itself and that is seen at once: most of our signs are.
fn sign(text: &str) -> Option<(&str, usize)> {
    let mut characters = text.chars();
    let first = characters.next().filter(|first| stands_alone(*first))?;
    let is_alone = characters.next().is_none_or(stands_alone);
    is_alone.then(|| Some((text.get(..first.len_utf8())?, first.width()?)))?
}

/// The graphemes of a text, each with its place and its columns; most are letters of one byte and one column.
fn graphemes(text: &str) -> impl Iterator<Item = (usize, &str, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, rest) = (at, text.get(at..)?);
        let (grapheme, columns) = match rest.as_bytes() {
            // A mark is no ASCII.
            [b' '..=b'~'] | [b' '..=b'~', b'\0'..=b'\x7f', ..] => (rest.get(..1)?, 1),
            _ => sign(rest).or_else(|| rest.graphemes(true).next().map(|grapheme| (grapheme, grapheme.columns())))?,
        };
        at += grapheme.len();
        Some((start, grapheme, columns))
    })
}

/// The letters at the beginning of a text that are of one column each and join no others, and how many they are.
fn plain(text: &str) -> (&str, usize) {
    let mut count = 0;
    let mut last = 0;
    for (at, letter) in text.char_indices() {
        if !is_single(letter) {
            // A mark may join the letter before it.
            let is_joined = count > 0 && !stands_alone(letter);
            let end = if is_joined { last } else { at };
            return (text.get(..end).unwrap_or_default(), count - usize::from(is_joined));
        }
        (count, last) = (count + 1, at);
    }
    (text, count)
}

/// As many of these rows as there is room for; the last of them says where others would follow.
pub(super) fn fitting(mut rows: Vec<(String, Meaning)>, height: u16) -> Vec<(String, Meaning)> {
    let is_cut = rows.len() > usize::from(height);
    rows.truncate(height.into());
    rows.last_mut().filter(|_| is_cut).into_iter().for_each(|(last, _)| last.push_str(" …"));
    rows
}

/// A writer over one row.
pub(super) struct LineWriter<'a, 'c> {
    buffer: &'a mut Canvas<'c>,
    start: u16,
    x: u16,
    y: u16,
    end: u16,
    /// Where the last grapheme was put.
    last: u16,
    /// Whether its end says that something had no room.
    is_cut: bool,
    /// Columns that are still to be left out at the left.
    skip: usize,
    base: Option<Meaning>,
    /// Where the bar over what is chosen begins.
    bar: Option<u16>,
    /// What is marked wherever it stands in text from outside.
    sought: Option<&'a Pattern>,
    /// Whether what is sought stands in what was written.
    shows_sought: bool,
}

impl<'a, 'c> LineWriter<'a, 'c> {
    /// Writes into a row of an area, counted from its top.
    ///
    /// A row outside of the area or of the screen has no room.
    pub(super) fn new(buffer: &'a mut Canvas<'c>, area: Area, row: u16) -> Self {
        let row = Area { y: area.y.saturating_add(row), height: u16::from(row < area.height), ..area };
        let cells = rect(row).intersection(buffer.area);
        let end = if cells.height == 0 { cells.x } else { cells.x + cells.width };
        let (start, x, y, last) = (cells.x, cells.x, cells.y, cells.x);
        Self {
            buffer,
            start,
            x,
            y,
            end,
            last,
            is_cut: false,
            skip: 0,
            base: None,
            bar: None,
            sought: None,
            shows_sought: false,
        }
    }

    /// Gives the whole row a meaning, under those of its pieces.
    pub(super) fn base(mut self, meaning: Meaning) -> Self {
        self.base = Some(meaning);
        let row = Rect { x: self.x, y: self.y, width: self.end - self.x, height: 1 };
        self.buffer.set_tone(row, meaning.into());
        if meaning == Meaning::Cursor {
            self.point();
        }
        self
    }

    /// A mark beside the row, so that it is known without its colour; it looks like the bar that comes after it.
    pub(super) fn point(&mut self) {
        if self.x > 0 && self.room() > 0 {
            self.buffer.put(self.x - 1, self.y, "›", 1, Tone { is_opaque: true, ..Meaning::Cursor.into() });
        }
    }

    /// Begins the bar over what is chosen: a row of a pane says before and beside it what is said of it, which needs no bar.
    pub(super) fn begin_bar(&mut self) {
        self.bar = Some(self.x);
    }

    /// Ends the bar, if there is one. It has one tone, so that a step of the cursor changes little; only what is sought stays
    /// marked in it.
    pub(super) fn end_bar(&mut self) {
        if let Some(start) = self.bar.take() {
            let row = Rect { x: start, y: self.y, width: self.x.saturating_sub(start).min(LONGEST_BAR), height: 1 };
            self.buffer.set_tone(row, Tone { is_opaque: self.sought.is_none(), ..Meaning::Cursor.into() });
        }
    }

    /// Marks what is sought in the text from outside that comes next.
    pub(super) fn mark(&mut self, sought: Option<&'a Pattern>) {
        self.sought = sought;
    }

    pub(super) fn room(&self) -> usize {
        usize::from(self.end - self.x)
    }

    /// Leaves out so many columns of what comes next.
    pub(super) fn shift(&mut self, columns: usize) {
        self.skip = columns;
    }

    /// Our own words; where they have no room, the row ends with `…`.
    pub(super) fn own(&mut self, text: &str, meaning: Meaning) {
        let text = self.without_skipped(text);
        let tone = self.tone(meaning);
        // Words from outside have no business here; should any come by mistake, they are seen to.
        self.write(text, tone, |grapheme| grapheme.chars().all(is_shown));
    }

    /// What is left of a text whose first columns are left out.
    fn without_skipped<'t>(&mut self, text: &'t str) -> &'t str {
        if self.skip == 0 {
            return text;
        }
        let mut left = std::mem::take(&mut self.skip);
        for (at, _, width) in graphemes(text) {
            if left == 0 {
                return text.get(at..).unwrap_or_default();
            }
            left = left.saturating_sub(width);
        }
        self.skip = left;
        ""
    }

    /// Writes a text in one tone: letters of one column together, others one by one; what is not meant to be here is told by a sign.
    fn write(&mut self, text: &str, tone: Tone, is_meant: impl Fn(&str) -> bool) {
        let mut rest = text;
        while self.room() > 0 {
            let (letters, columns) = plain(rest);
            let put = self.put_plain(letters, columns, tone);
            rest = rest.get(put..).unwrap_or_default();
            if put < letters.len() {
                break;
            }
            let Some((_, grapheme, width)) = graphemes(rest).next() else { return };
            let (shown, width) = if is_meant(grapheme) { (grapheme, width) } else { ("\u{fffd}", 1) };
            if width > self.room() {
                break;
            }
            self.put(shown, width, tone);
            rest = rest.get(grapheme.len()..).unwrap_or_default();
        }
        self.end_with(rest, tone);
    }

    /// Says at the end of the row that this has no room, if there is anything to see in it: nothing that is cut looks whole.
    fn end_with(&mut self, rest: &str, tone: Tone) {
        if self.is_cut || self.end == self.start || rest.trim_matches(' ').is_empty() {
            return;
        }
        let at = self.end - 1;
        // Half of a wide character is none.
        let half = if self.x == self.end { self.last.max(self.start)..at } else { at..at };
        half.for_each(|x| self.buffer.put(x, self.y, " ", 1, tone));
        self.buffer.put(at, self.y, "…", 1, tone);
        (self.is_cut, self.x, self.last) = (true, self.end, at);
    }

    /// Our own words in so many columns, `…` in the place of what does not fit. What is in its visible form already stays in it.
    pub(super) fn own_cut(&mut self, text: &str, columns: usize, meaning: Meaning) {
        let columns = columns.min(self.room());
        if text.columns() <= columns {
            return self.own(text, meaning);
        }
        let mut left = columns;
        let cut = graphemes(text).find(|(_, _, width)| {
            left = left.saturating_sub(*width);
            left == 0
        });
        let fits = cut.and_then(|(at, _, _)| text.get(..at)).unwrap_or(text);
        self.own(&format!("{fits}…"), meaning);
    }

    /// The end of what is typed, in so many columns, for the next letter comes there; `…` stands for what is before it.
    pub(super) fn typed(&mut self, typed: &str, columns: usize, meaning: Meaning) {
        let text = Untrusted::from(typed);
        let whole = text.visible();
        if whole.width() <= columns {
            return self.visible(&whole, meaning);
        }
        let shown = columns.saturating_sub(1);
        self.own("…", Meaning::Faint);
        self.visible(&text.visible_window(whole.width() - shown, shown), meaning);
    }

    /// Text from outside, by way of the escaper, cut at the end of the row.
    pub(super) fn outside(&mut self, text: &Untrusted, meaning: Meaning) {
        if self.skip == 0 {
            // Where there is no room at all, it is the end of the row that says so.
            return self.visible(&text.visible_cut(self.room().max(1)), meaning);
        }
        let width = text.visible().width();
        let skipped = self.skip.min(width);
        self.skip -= skipped;
        if skipped < width {
            self.visible(&text.visible_window(skipped, self.room()), meaning);
        }
    }

    /// The same of a text whose visible form is known.
    pub(super) fn outside_known(&mut self, text: &Untrusted, whole: &Visible, meaning: Meaning) {
        if self.skip == 0 && whole.width() <= self.room() {
            self.visible(whole, meaning)
        } else {
            self.outside(text, meaning)
        }
    }

    /// Text from outside, whose visible form is known, in so many columns, without what tells least where it is longer; a
    /// registry key's hive by its usual name.
    pub(super) fn elided(&mut self, text: &Untrusted, whole: &Visible, columns: usize, meaning: Meaning) {
        let columns = columns.min(self.room());
        let (hive, long) = elide::hive(whole.as_str()).unwrap_or(("", 0));
        if columns < SHORTEST || long == 0 && whole.width() <= columns {
            return self.outside_known(text, whole, meaning);
        }
        let shown = format!("{hive}{}", whole.as_str().get(long..).unwrap_or_default());
        let (mut at, end) = (0, shown.columns());
        for kept in elide::kept(&shown, columns) {
            if kept.start > at {
                self.own("…", Meaning::Faint);
            }
            if let Some(ours) = hive.get(kept.start.min(hive.len())..kept.end.min(hive.len())) {
                self.own(ours, meaning);
            }
            let (from, to) = (kept.start.max(hive.len()), kept.end.max(hive.len()));
            self.visible(&text.visible_window(from - hive.len() + long, to - from), meaning);
            at = kept.end;
        }
        if at < end {
            self.own("…", Meaning::Faint);
        }
    }

    /// Text that the escaper has made visible.
    pub(super) fn visible(&mut self, text: &Visible, meaning: Meaning) {
        let found = self.sought.map(|sought| sought.spans(text.as_str())).unwrap_or_default();
        let (usual, sought) = (self.tone(meaning), self.tone(Meaning::Found));
        if found.is_empty() {
            return self.write(text.as_str(), usual, |_| true);
        }
        let mut found = found.into_iter().peekable();
        for (at, grapheme, width) in graphemes(text.as_str()) {
            while found.next_if(|span| span.end <= at).is_some() {}
            let is_found = found.peek().is_some_and(|span| span.start < at + grapheme.len());
            if width > self.room() {
                return self.end_with(text.as_str().get(at..).unwrap_or_default(), usual);
            }
            self.shows_sought |= is_found;
            self.put(grapheme, width, if is_found { sought } else { usual });
        }
    }

    /// Whether what is sought was marked in what was written.
    pub(super) fn shows_sought(&self) -> bool {
        self.shows_sought
    }

    /// Writes into the columns before this one alone.
    pub(super) fn within(&mut self, start: u16, column: usize, write: impl FnOnce(&mut Self)) {
        let (end, is_cut) = (self.end, self.is_cut);
        self.end = start.saturating_add(u16::try_from(column).unwrap_or(u16::MAX)).clamp(self.x, end);
        write(self);
        (self.end, self.is_cut) = (end, is_cut);
    }

    /// Whether what is written reaches past this column, or up to it.
    pub(super) fn starts_after(&self, start: u16, column: usize) -> bool {
        usize::from(self.x.saturating_sub(start)) >= column
    }

    /// Goes on at this column of the row, if it is not past it already.
    pub(super) fn tab(&mut self, start: u16, column: usize) {
        let target = start.saturating_add(u16::try_from(column).unwrap_or(u16::MAX));
        let target = target.min(self.end);
        if target > self.x {
            (self.x, self.last) = (target, target - 1);
        }
    }

    /// The tone of a meaning in this row.
    fn tone(&self, meaning: Meaning) -> Tone {
        Tone { base: self.base, ..meaning.into() }
    }

    /// Writes letters of one column each, of which there are so many; those that have no room are left out. Gives the length of
    /// what has room.
    fn put_plain(&mut self, letters: &str, columns: usize, tone: Tone) -> usize {
        let room = self.room();
        let cut = if columns > room { letters.char_indices().nth(room) } else { None };
        let letters = cut.and_then(|(at, _)| letters.get(..at)).unwrap_or(letters);
        let columns = u16::try_from(columns.min(room)).unwrap_or(u16::MAX);
        self.buffer.put_plain(self.x, self.y, letters, tone);
        self.x += columns;
        self.last = self.x.saturating_sub(1);
        letters.len()
    }

    fn put(&mut self, grapheme: &str, width: usize, tone: Tone) {
        if width == 0 || width > self.room() {
            return;
        }
        self.buffer.put(self.x, self.y, grapheme, width, tone);
        self.last = self.x;
        self.x += u16::try_from(width).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Look;
    use ratatui::buffer::Buffer;

    /// The row of so many columns that these words are written into, one after another.
    fn row(columns: u16, words: &[&str]) -> String {
        let mut cells = Buffer::empty(Rect { x: 0, y: 0, width: columns, height: 1 });
        let area = Area { x: 0, y: 0, width: columns, height: 1 };
        let mut canvas = Canvas::new(&mut cells, Look::default());
        let mut line = LineWriter::new(&mut canvas, area, 0);
        words.iter().for_each(|words| line.own(words, Meaning::Text));
        line.outside(&Untrusted::from("!"), Meaning::Text);
        let mut hidden = 0;
        let seen = cells.content().iter().filter(|cell| {
            let is_hidden = std::mem::replace(&mut hidden, cell.symbol().columns().saturating_sub(1)) > 0;
            !is_hidden
        });
        seen.map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn a_row_that_has_no_room_says_so() {
        for (columns, words, shown) in [
            (7, &["held"][..], "held!  "),
            (5, &["held"], "held!"),
            (4, &["held"], "hel…"),
            (3, &["held"], "he…"),
            (1, &["held"], "…"),
            (4, &["日本"], "日 …"),
            (3, &["日本"], "日…"),
            (4, &["a", "b", "c   "], "abc…"),
            (0, &["held"], ""),
        ] {
            assert_eq!(row(columns, words), shown, "{words:?}");
        }
    }

    #[test]
    fn what_stands_alone_joins_nothing() {
        let alone: Vec<char> = ('\u{20}'..'\u{3000}').filter(|c| stands_alone(*c)).collect();
        let last = "\u{301}\u{200d}\u{600}\u{1f1e6}\u{e0e}\u{fe0f}\r".chars();
        for next in last.chain(['a', '─', '·', '1']) {
            for first in &alone {
                let text = format!("{first}{next}");
                let naive: Vec<_> =
                    text.grapheme_indices(true).map(|(at, found)| (at, found, found.columns())).collect();
                assert_eq!(graphemes(&text).collect::<Vec<_>>(), naive, "{text:?}");
                let plain = plain(&text).0.len();
                assert!(naive.iter().any(|(at, _, _)| *at == plain) || plain == text.len(), "{text:?}");
            }
        }
    }
}
