//! What the view draws on: the frame's buffer in one look, and rows that are filled from the left.

use super::elide;
use super::theme::{Look, Meaning, Tone};
use crate::app::Area;
use crate::report::find::Pattern;
use crate::text::{self, Columns, Untrusted, Visible, is_shown};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::widgets::{Block, Clear, Widget};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Borders where the terminal shows ASCII only.
const ASCII: border::Set<'_> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// The same for the pane that has the focus.
const ASCII_FOCUS: border::Set<'_> =
    border::Set { vertical_left: "#", vertical_right: "#", horizontal_top: "=", horizontal_bottom: "=", ..ASCII };

/// A buffer that is drawn on.
pub(super) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    look: Look,
    pub(super) area: Rect,
    /// Whether the drawn screen receives the keys; false below an overlay.
    pub(super) has_keys: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, look: Look) -> Self {
        let area = buffer.area;
        Self { buffer, look, area, has_keys: true }
    }

    /// Gives cells a tone, under the tones of text that is written into them later.
    pub(super) fn set_tone(&mut self, area: Rect, tone: Tone) {
        self.buffer.set_style(area, self.look.tone(tone));
    }

    /// Writes one grapheme of this width; own signs as the terminal can show them.
    pub(super) fn put(&mut self, x: u16, y: u16, grapheme: &str, width: usize, tone: Tone) {
        let (style, end) = (self.look.tone(tone), x.saturating_add(u16::try_from(width).unwrap_or(u16::MAX)));
        // A grapheme that the buffer has no room for would cover cells of the next row.
        if end <= self.area.right() {
            if let Some(cell) = self.buffer.cell_mut((x, y)) {
                cell.set_symbol(&text::own(grapheme)).set_style(style);
            }
            for covered in x + 1..end {
                self.buffer.cell_mut((covered, y)).into_iter().for_each(Cell::reset);
            }
        }
    }

    pub(super) fn clear(&mut self, area: Area) {
        Clear.render(rect(area).intersection(self.area), self.buffer);
    }

    /// Writes own words into the rows of an area from `first` on, as far as there is room.
    pub(super) fn write_rows<T: AsRef<str>>(
        &mut self,
        area: Area,
        first: u16,
        rows: impl IntoIterator<Item = (T, Meaning)>,
    ) {
        for (row, (text, meaning)) in (first..area.height).zip(rows) {
            LineWriter::new(self, area, row).own(text.as_ref(), meaning);
        }
    }

    pub(super) fn border(&mut self, area: Area, has_focus: bool) {
        let meaning = if has_focus { Meaning::Focus } else { Meaning::Frame };
        let set = match (text::is_ascii(), has_focus) {
            (false, false) => border::ROUNDED,
            (false, true) => border::THICK,
            (true, false) => ASCII,
            (true, true) => ASCII_FOCUS,
        };
        let style = Style::reset().patch(self.look.style(meaning));
        Block::bordered().border_set(set).border_style(style).render(rect(area), self.buffer);
    }
}

/// The cells of a layout's area.
pub(super) fn rect(area: Area) -> Rect {
    Rect { x: area.x, y: area.y, width: area.width, height: area.height }
}

/// Columns in which there is nothing to choose from a text.
const SHORTEST: usize = 8;

/// The longest selection bar: as wide as most panes, so that a step of the cursor changes few cells.
const LONGEST_BAR: u16 = 44;

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
    /// Where the selection bar begins.
    bar: Option<u16>,
    /// The pattern whose matches are marked in outside text.
    sought: Option<&'a Pattern>,
    /// Whether a match was written.
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

    /// Writes into a row of a list, of which the chosen one has the cursor.
    pub(super) fn of_list(buffer: &'a mut Canvas<'c>, area: Area, row: u16, is_chosen: bool) -> Self {
        let line = Self::new(buffer, area, row);
        if is_chosen { line.base(Meaning::Cursor) } else { line }
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

    /// Marks the row at its side, for terminals without colour, in the tone of the selection bar.
    pub(super) fn point(&mut self) {
        if self.x > 0 && self.room() > 0 {
            self.buffer.put(self.x - 1, self.y, "›", 1, Tone { is_opaque: true, ..Meaning::Cursor.into() });
        }
    }

    /// Begins the selection bar: the head of a pane's row is not part of it.
    pub(super) fn begin_bar(&mut self) {
        self.bar = Some(self.x);
    }

    /// Ends the selection bar. It has one tone, so that a step of the cursor changes few cells; only matches stay
    /// marked in it.
    pub(super) fn end_bar(&mut self) {
        if let Some(start) = self.bar.take() {
            let row = Rect { x: start, y: self.y, width: self.x.saturating_sub(start).min(LONGEST_BAR), height: 1 };
            self.buffer.set_tone(row, Tone { is_opaque: self.sought.is_none(), ..Meaning::Cursor.into() });
        }
    }

    /// Marks matches in the outside text that follows.
    pub(super) fn mark(&mut self, sought: Option<&'a Pattern>) {
        self.sought = sought;
    }

    pub(super) fn room(&self) -> usize {
        usize::from(self.end - self.x)
    }

    /// Skips this many columns of the text that follows.
    pub(super) fn shift(&mut self, columns: usize) {
        self.skip = columns;
    }

    /// Writes this program's own words; `…` at the end of the row says that some had no room.
    pub(super) fn own(&mut self, text: &str, meaning: Meaning) {
        let text = self.without_skipped(text);
        // Text from outside is never passed here; a mistake shows as a sign.
        let text: String = text.chars().map(|c| if is_shown(c) { c } else { '\u{fffd}' }).collect();
        self.write(&text, meaning, &[]);
    }

    /// The rest of a text behind the columns that are scrolled off.
    fn without_skipped<'t>(&mut self, text: &'t str) -> &'t str {
        let mut skip = std::mem::take(&mut self.skip);
        for (at, grapheme) in text.grapheme_indices(true) {
            if skip == 0 {
                return text.get(at..).unwrap_or_default();
            }
            skip = skip.saturating_sub(grapheme.columns());
        }
        self.skip = skip;
        ""
    }

    /// Writes text in the tone of its meaning, and what matches in the tone of a match.
    fn write(&mut self, text: &str, meaning: Meaning, matches: &[Range<usize>]) {
        let (tone, of_match) = (self.tone(meaning), self.tone(Meaning::Found));
        for (at, grapheme) in text.grapheme_indices(true) {
            let width = grapheme.columns();
            if width > self.room() {
                return self.end_with(text.get(at..).unwrap_or_default(), tone);
            }
            let is_match = matches.iter().any(|span| span.start < at + grapheme.len() && at < span.end);
            self.shows_sought |= is_match;
            self.put(grapheme, width, if is_match { of_match } else { tone });
        }
    }

    /// Writes `…` at the end of the row where visible text had no room.
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

    /// Writes own words in this many columns; `…` replaces the rest. Visible forms in them stay as they are.
    pub(super) fn own_cut(&mut self, text: &str, columns: usize, meaning: Meaning) {
        let columns = columns.min(self.room());
        if text.columns() <= columns {
            return self.own(text, meaning);
        }
        let mut left = columns;
        let cut = text.grapheme_indices(true).find(|(_, grapheme)| {
            left = left.saturating_sub(grapheme.columns());
            left == 0
        });
        let fits = cut.and_then(|(at, _)| text.get(..at)).unwrap_or(text);
        self.own(&format!("{fits}…"), meaning);
    }

    /// Writes the end of typed text in this many columns; `…` replaces the beginning.
    pub(super) fn typed(&mut self, typed: &str, columns: usize, meaning: Meaning) {
        let text = Untrusted::from(typed.trim_end_matches(' '));
        let blanks = typed.len() - text.as_bytes().len();
        let width = text.visible().width() + blanks;
        if width <= columns {
            self.visible(&text.visible(), meaning);
        } else {
            let shown = columns.saturating_sub(1);
            self.own("…", Meaning::Faint);
            self.visible(&text.visible_window(width - shown, shown.saturating_sub(blanks)), meaning);
        }
        self.own(&" ".repeat(blanks.min(columns)), meaning);
    }

    /// Text from outside, by way of the escaper, cut at the end of the row.
    pub(super) fn outside(&mut self, text: &Untrusted, meaning: Meaning) {
        if self.skip == 0 {
            // Without any room the end of the row shows the cut.
            return self.visible(&text.visible_cut(self.room().max(1)), meaning);
        }
        let width = text.visible().width();
        let skipped = self.skip.min(width);
        self.skip -= skipped;
        if skipped < width {
            self.visible(&text.visible_window(skipped, self.room()), meaning);
        }
    }

    /// Writes outside text in this many columns, without its least useful part where it is longer, and a
    /// registry key's hive by its usual name.
    pub(super) fn elided(&mut self, text: &Untrusted, columns: usize, meaning: Meaning) {
        let (columns, whole) = (columns.min(self.room()), text.visible());
        let (hive, long) = elide::hive(whole.as_str()).unwrap_or(("", 0));
        if columns < SHORTEST || long == 0 && whole.width() <= columns {
            return self.outside(text, meaning);
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

    /// Writes text that the escaper has made visible.
    pub(super) fn visible(&mut self, text: &Visible, meaning: Meaning) {
        let matches = self.sought.map(|sought| sought.spans(text.as_str())).unwrap_or_default();
        self.write(text.as_str(), meaning, &matches);
    }

    /// Whether a match was marked.
    pub(super) fn shows_sought(&self) -> bool {
        self.shows_sought
    }

    /// Lets `write` have the columns before this one alone.
    pub(super) fn within(&mut self, column: usize, write: impl FnOnce(&mut Self)) {
        let (end, is_cut) = (self.end, self.is_cut);
        self.end = self.at(column).clamp(self.x, end);
        write(self);
        (self.end, self.is_cut) = (end, is_cut);
    }

    /// Whether the text reaches this column.
    pub(super) fn starts_after(&self, column: usize) -> bool {
        self.x >= self.at(column)
    }

    /// Moves on to this column, unless the text is past it.
    pub(super) fn tab(&mut self, column: usize) {
        let target = self.at(column).min(self.end);
        if target > self.x {
            (self.x, self.last) = (target, target - 1);
        }
    }

    /// The cell of a column, counted from the start of the row.
    fn at(&self, column: usize) -> u16 {
        self.start.saturating_add(u16::try_from(column).unwrap_or(u16::MAX))
    }

    /// The tone of a meaning in this row.
    fn tone(&self, meaning: Meaning) -> Tone {
        Tone { base: self.base, ..meaning.into() }
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

    /// Writes words one after another, and returns the row.
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
}
