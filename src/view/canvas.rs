//! Drawing primitives: the frame's buffer with a theme, rows written from the left, texts elided to
//! their most useful parts: of a path or registry key the root and last parts, of a command its
//! programs without folders, of a URL the start, of other text both ends.

use super::theme::{Appearance, Role};
use crate::app::Area;
use crate::app::overlays::generic::TextField;
use crate::report::canonical::{HIVES, Hive};
use crate::report::command_line::{self, ENDINGS};
use crate::report::find::Pattern;
use crate::text::{self, ColumnWidth, Untrusted, Visible, is_shown, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::symbols::border;
use ratatui::symbols::merge::MergeStrategy;
use ratatui::widgets::{Block, Clear, Scrollbar, ScrollbarOrientation, ScrollbarState, StatefulWidget, Widget};
use std::ops::Range;

pub(super) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    look: Appearance,
    pub(super) area: Rect,
    /// Whether the drawn screen receives the keys; false below an overlay.
    pub(super) has_keys: bool,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, look: Appearance) -> Self {
        Self { area: buffer.area, buffer, look, has_keys: true }
    }

    pub(super) fn clear(&mut self, area: Area) {
        Clear.render(rect(area).intersection(self.area), self.buffer);
    }

    /// Writes the program's own text into an area from row `top` on.
    pub(super) fn write_rows(&mut self, area: Area, top: u16, rows: impl IntoIterator<Item = (impl AsRef<str>, Role)>) {
        for (row, (text, meaning)) in (top..area.height).zip(rows) {
            LineWriter::new(self, area, row).own(text.as_ref(), meaning);
        }
    }

    /// Draws a border; merges it with borders of neighbours.
    pub(super) fn border(&mut self, area: Area, has_focus: bool) {
        let meaning = if has_focus { Role::Focus } else { Role::Frame };
        let set = if has_focus { border::THICK } else { border::ROUNDED };
        let style = opaque(self.look.style(meaning));
        let block = Block::bordered().border_set(set).merge_borders(MergeStrategy::Fuzzy);
        block.border_style(style).render(rect(area).intersection(self.area), self.buffer);
    }

    /// Moves the lower border of an area up, and clears the rows below it.
    pub(super) fn lift_border(&mut self, area: Area, rows: u16) {
        let lower = area.y.saturating_add(area.height.saturating_sub(1));
        let Some(to) = lower.checked_sub(rows).filter(|_| rows > 0) else { return };
        for x in area.x..area.x.saturating_add(area.width) {
            let border = self.buffer.cell((x, lower)).cloned();
            if let Some((cell, border)) = self.buffer.cell_mut((x, to)).zip(border) {
                *cell = border;
            }
        }
        self.clear(Area { y: to + 1, height: rows, ..area });
    }

    /// Marks the visible part of the rows on the right border, if not all are visible.
    pub(super) fn scroll_mark(&mut self, area: Area, (top, count): (usize, usize)) {
        let rows = usize::from(area.inside().height);
        if rows < 2 || count <= rows {
            return;
        }
        let bar = Scrollbar::new(ScrollbarOrientation::VerticalRight).thumb_symbol("▐");
        let bar = bar.track_symbol(None).begin_symbol(None).end_symbol(None);
        let bar = bar.thumb_style(opaque(self.look.style(Role::Faint)));
        let mut state = ScrollbarState::new(count - rows).position(top).viewport_content_length(rows);
        let side = rect(Area { y: area.y + 1, height: area.inside().height, ..area });
        bar.render(side.intersection(self.area), self.buffer, &mut state);
    }

    /// Replaces the characters of borders and marks by ASCII.
    pub(super) fn show_ascii_borders(&mut self) {
        if !text::is_ascii() {
            return;
        }
        for cell in self.buffer.content.iter_mut().filter(|cell| !cell.symbol().is_ascii()) {
            let symbol = text::own(cell.symbol()).into_owned();
            cell.set_symbol(&symbol);
        }
    }
}

pub(super) fn rect(area: Area) -> Rect {
    Rect { x: area.x, y: area.y, width: area.width, height: area.height }
}

fn opaque(style: Style) -> Style {
    Style::reset().patch(style)
}

/// Columns too few to elide a text.
const MIN_ELIDED_COLUMNS: usize = 8;

/// The program's own text with its role.
pub(super) type StyledText = (String, Role);

impl Role {
    pub(super) fn of(self, words: impl Into<String>) -> StyledText {
        (words.into(), self)
    }
}

pub(super) fn wrapped(words: Vec<StyledText>, columns: usize) -> Vec<StyledText> {
    let rows = words.into_iter().map(|(text, meaning)| (wrap(&text, columns.max(10)), meaning));
    rows.flat_map(|(rows, meaning)| rows.into_iter().map(move |row| (row, meaning))).collect()
}

/// As many of these rows as fit; the last one shows that others follow.
pub(super) fn fitting(mut rows: Vec<StyledText>, height: u16) -> Vec<StyledText> {
    let is_cut = rows.len() > usize::from(height);
    rows.truncate(height.into());
    rows.last_mut().filter(|_| is_cut).into_iter().for_each(|(last, _)| last.push_str(" …"));
    rows
}

pub(super) struct LineWriter<'a> {
    buffer: &'a mut Buffer,
    look: Appearance,
    start: u16,
    x: u16,
    y: u16,
    end: u16,
    /// Whether its end shows that something did not fit.
    is_cut: bool,
    base: Option<Role>,
    /// The pattern whose matches are marked in outside text.
    pub(super) pattern: Option<&'a Pattern>,
    pub(super) shows_sought: bool,
}

impl<'a> LineWriter<'a> {
    /// Starts at a row of an area; a row outside of the area has no room.
    pub(super) fn new(canvas: &'a mut Canvas<'_>, area: Area, row: u16) -> Self {
        let row = Area { y: area.y.saturating_add(row), height: u16::from(row < area.height), ..area };
        let cells = rect(row).intersection(canvas.area);
        let end = if cells.height == 0 { cells.x } else { cells.right() };
        Self {
            buffer: &mut *canvas.buffer,
            look: canvas.look,
            start: cells.x,
            x: cells.x,
            y: cells.y,
            end,
            is_cut: false,
            base: None,
            pattern: None,
            shows_sought: false,
        }
    }

    pub(super) fn of_list(canvas: &'a mut Canvas<'_>, area: Area, row: u16, is_chosen: bool) -> Self {
        let line = Self::new(canvas, area, row);
        if is_chosen { line.base(Role::Cursor) } else { line }
    }

    /// Sets the role of the whole row, below the roles of its pieces; a chosen row also has a sign.
    pub(super) fn base(self, meaning: Role) -> Self {
        let line = self.under(meaning);
        if matches!(meaning, Role::Cursor | Role::Strong) && line.x > 0 && line.room() > 0 {
            let style = opaque(line.look.style(meaning));
            line.buffer.set_string(line.x - 1, line.y, text::own("›"), style);
        }
        line
    }

    /// Sets the role of the whole row without a sign; roles of pieces override it.
    pub(super) fn under(mut self, meaning: Role) -> Self {
        self.base = Some(meaning);
        let row = Rect { x: self.x, y: self.y, width: self.end - self.x, height: 1 };
        self.buffer.set_style(row, self.look.style(meaning));
        self
    }

    pub(super) fn room(&self) -> usize {
        usize::from(self.end - self.x)
    }

    /// Writes the program's own text; `…` at the end of the row replaces what does not fit.
    pub(super) fn own(&mut self, text: &str, meaning: Role) {
        // Text from outside is never passed here; a mistake shows as a sign.
        let text: String = text.chars().map(|c| if is_shown(c) { c } else { '\u{fffd}' }).collect();
        self.write(&text, meaning, &[]);
    }

    /// Writes text in the style of its role, with matches marked.
    fn write(&mut self, text: &str, meaning: Role, matches: &[Range<usize>]) {
        let room = self.room();
        let style = self.style(meaning);
        let of_match = self.style(Role::Found);
        let cells = &mut self.buffer;
        let (end, _) = cells.set_stringn(self.x, self.y, text::own(text), room, style);
        let written = Rect { x: self.x, y: self.y, width: end - self.x, height: 1 };
        for span in matches {
            let columns = |part: Option<&str>| u16::try_from(part.map_or(0, ColumnWidth::columns)).unwrap_or(u16::MAX);
            let x = self.x.saturating_add(columns(text.get(..span.start)));
            let found = Rect { x, width: columns(text.get(span.clone())), ..written }.intersection(written);
            cells.set_style(found, of_match);
            self.shows_sought |= !found.is_empty();
        }
        self.x = end;
        if !self.is_cut && self.end > self.start && text.trim_end_matches(' ').columns() > room {
            let last = self.end - 1;
            let before = cells.cell_mut((last.saturating_sub(1), self.y)).filter(|_| last > self.start);
            // Half of a wide character cannot be shown.
            before.filter(|cell| cell.symbol().columns() > 1).into_iter().for_each(|cell| _ = cell.set_symbol(" "));
            cells.set_string(last, self.y, text::own("…"), style);
            (self.is_cut, self.x) = (true, self.end);
        }
    }

    /// Writes own text in this many columns; `…` replaces the rest; visible forms stay as they are.
    pub(super) fn own_cut(&mut self, text: &str, columns: usize, meaning: Role) {
        let end = usize::from(self.x - self.start).saturating_add(columns);
        self.within(end, |line| line.own(text, meaning));
    }

    /// Writes a text field: the end of its text, the cursor if focused, and a hint if empty.
    pub(super) fn field(&mut self, field: &TextField, hint: &str, has_keys: bool) {
        let meaning = if field.is_suggested { Role::Cursor } else { Role::Strong };
        self.typed(&field.text, self.room().saturating_sub(2), meaning);
        if has_keys {
            self.own("▏", Role::Focus);
        }
        if field.is_empty() {
            self.own(if has_keys { " " } else { "" }, Role::Faint);
            self.own(hint, Role::Faint);
        }
    }

    /// Writes the end of typed text in this many columns; `…` replaces the beginning.
    fn typed(&mut self, typed: &str, columns: usize, meaning: Role) {
        let text = Untrusted::from(typed.trim_end_matches(' '));
        let blanks = typed.len() - text.as_bytes().len();
        let width = text.visible().width() + blanks;
        if width <= columns {
            self.visible(&text.visible(), meaning);
        } else {
            let shown = columns.saturating_sub(1);
            self.own("…", Role::Faint);
            self.visible(&text.visible_window(width - shown, shown.saturating_sub(blanks)), meaning);
        }
        self.own(&" ".repeat(blanks.min(columns)), meaning);
    }

    pub(super) fn outside(&mut self, text: &Untrusted, meaning: Role) {
        // Without any room, the end of the row shows the cut.
        self.visible(&text.visible_cut(self.room().max(1)), meaning);
    }

    /// Writes text, elided if it is too long; a hive has its usual abbreviation.
    pub(super) fn elided(&mut self, text: &Untrusted, columns: usize, meaning: Role) {
        let columns = columns.min(self.room());
        let whole = text.visible();
        let (hive, long) = hive(whole.as_str()).unwrap_or(("", 0));
        if columns < MIN_ELIDED_COLUMNS || long == 0 && whole.width() <= columns {
            return self.outside(text, meaning);
        }
        let shown = format!("{hive}{}", whole.as_str().get(long..).unwrap_or_default());
        let mut at = 0;
        let end = shown.columns();
        for kept in visible_ranges(&shown, columns) {
            if kept.start > at {
                self.own("…", Role::Faint);
            }
            if let Some(ours) = hive.get(kept.start.min(hive.len())..kept.end.min(hive.len())) {
                self.own(ours, meaning);
            }
            let from = kept.start.max(hive.len());
            let to = kept.end.max(hive.len());
            self.visible(&text.visible_window(from - hive.len() + long, to - from), meaning);
            at = kept.end;
        }
        if at < end {
            self.own("…", Role::Faint);
        }
    }

    pub(super) fn visible(&mut self, text: &Visible, meaning: Role) {
        let matches = self.pattern.map(|pattern| pattern.spans(text.as_str())).unwrap_or_default();
        self.write(text.as_str(), meaning, &matches);
    }

    /// Restricts `write` to the columns before this one.
    pub(super) fn within(&mut self, column: usize, write: impl FnOnce(&mut Self)) {
        let end = self.end;
        let is_cut = self.is_cut;
        self.end = self.at(column).clamp(self.x, end);
        write(self);
        (self.end, self.is_cut) = (end, is_cut);
    }

    /// Moves on to this column, unless the text is past it.
    pub(super) fn tab(&mut self, column: usize) {
        self.x = self.at(column).min(self.end).max(self.x);
    }

    pub(super) fn is_past(&self, column: usize) -> bool {
        self.x >= self.at(column)
    }

    /// Returns the cell of a column, counted from the start of the row.
    fn at(&self, column: usize) -> u16 {
        self.start.saturating_add(u16::try_from(column).unwrap_or(u16::MAX))
    }

    fn style(&self, meaning: Role) -> Style {
        let style = self.look.style(meaning);
        match self.base.map(|base| self.look.style(base)) {
            None => style,
            // A reversed row shows one style; the roles of its pieces are visible in other rows.
            Some(base) if base.add_modifier.contains(Modifier::REVERSED) => base,
            Some(base) => base.patch(style),
        }
    }
}

/// The maximum root before a gap, in columns: a drive, a hive, a short variable.
const MAX_ROOT_COLUMNS: usize = 8;

/// Last parts of a path that have priority over its root.
const LAST_PARTS: usize = 2;

const SEPARATORS: [char; 2] = ['\\', '/'];

/// Returns the usual abbreviation of a key's hive, and the length of the long name.
pub(super) fn hive(text: &str) -> Option<(&'static str, usize)> {
    HIVES.into_iter().find_map(|Hive { short, long, .. }| {
        let is_it = text.get(..long.len()).is_some_and(|start| start.eq_ignore_ascii_case(long));
        let ends = text.get(long.len()..).is_some_and(|rest| rest.is_empty() || rest.starts_with('\\'));
        (is_it && ends).then_some((short, long.len()))
    })
}

/// Returns the column ranges of a text that are shown in this many columns; `…` replaces each gap.
pub(super) fn visible_ranges(text: &str, columns: usize) -> Vec<Range<usize>> {
    let width = text.columns();
    if width <= columns {
        let whole = 0..width;
        return vec![whole];
    }
    if text.contains("://") {
        // The host is at the beginning of a URL.
        let beginning = 0..columns.saturating_sub(1);
        return vec![beginning];
    }
    command(text, columns).or_else(|| path(text, columns)).unwrap_or_else(|| {
        let head = columns.saturating_sub(1) / 3;
        vec![0..head, width + head + 1 - columns.max(1)..width]
    })
}

/// Returns the root of a path and the last parts that fit; with an opening quotation mark.
fn path(text: &str, columns: usize) -> Option<Vec<Range<usize>>> {
    let width = text.columns();
    let root = text.find(SEPARATORS).and_then(|end| text.get(..end)).map_or(0, ColumnWidth::columns);
    let root = if root > MAX_ROOT_COLUMNS { 0 } else { root };
    let quote = usize::from(text.starts_with('"'));
    let quoted = |tail: Range<usize>| if quote > 0 { vec![0..quote, tail] } else { vec![tail] };
    // From the end, and no further than it fits: a text may consist of separators only.
    let tails = text.rmatch_indices(SEPARATORS).filter_map(|(at, _)| text.get(at..)).map(ColumnWidth::columns);
    let ends: Vec<_> = tails.take_while(|tail| tail + quote < columns).collect();
    let beside_root = ends.iter().filter(|tail| root + 1 + **tail <= columns).count();
    let bare = ends.len().min(LAST_PARTS);
    match (beside_root >= bare, ends.get(beside_root.max(1) - 1), ends.get(bare.max(1) - 1)) {
        (true, Some(tail), _) if root > 0 => Some(vec![0..root, width - tail..width]),
        (_, _, Some(tail)) => Some(quoted(width - tail..width)),
        // The last part does not fit: its end has the file type.
        _ if text.contains('\\') => Some(quoted(width + 1 + quote - columns..width)),
        _ => None,
    }
}

/// Returns the omitted part of a folder: as little as possible, at most all except its hive.
fn gap(folder: &str, wanted: usize) -> Range<usize> {
    let root = folder.find(SEPARATORS).and_then(|end| folder.get(..end)).unwrap_or(folder);
    let is_hive = HIVES.iter().any(|hive| [hive.short, hive.long].iter().any(|name| root.eq_ignore_ascii_case(name)));
    let least = if is_hive { root.columns() } else { 0 };
    let most = if root.columns() > MAX_ROOT_COLUMNS { least } else { root.columns() };
    let all = folder.columns();
    let ends = || folder.match_indices(SEPARATORS).filter_map(|(at, _)| folder.get(..at)).map(ColumnWidth::columns);
    let enough = |from: usize| ends().chain([all]).find(|end| *end > from + wanted).map(|end| from..end);
    enough(most).or_else(|| enough(least)).unwrap_or(least..all)
}

/// Cuts a command's paths to their last parts, from the left, until it fits; else its end.
fn command(text: &str, columns: usize) -> Option<Vec<Range<usize>>> {
    let program = text.get(command_line::program(text.as_bytes())).unwrap_or_default();
    let end = program.len().checked_sub(4).and_then(|start| program.as_bytes().get(start..)).unwrap_or_default();
    let is_program = ENDINGS.iter().any(|ending| end.eq_ignore_ascii_case(ending));
    let is_command = text.trim_start().starts_with('"') || !program.contains(SEPARATORS) || is_program;
    if !is_command || command_line::split(text.as_bytes()).1.is_empty() {
        return None;
    }
    let mut left_out: Vec<Range<usize>> = Vec::new();
    let mut width = text.columns();
    for (start, folder) in folders(text) {
        if width <= columns {
            break;
        }
        let gap = gap(folder, width - columns);
        if gap.len() > 1 {
            width -= gap.len() - 1;
            left_out.push(start + gap.start..start + gap.end);
        }
    }
    let mut kept = Vec::new();
    let mut at = 0;
    let mut room = if width > columns { columns.saturating_sub(1) } else { columns };
    for gap in left_out.into_iter().chain(std::iter::once(text.columns()..text.columns())) {
        let length = (gap.start - at).min(room);
        kept.push(at..at + length);
        room = room.saturating_sub(length + 1);
        at = gap.end;
        if room == 0 {
            break;
        }
    }
    kept.retain(|range| !range.is_empty());
    Some(kept)
}

/// Returns the folders of the paths in a command, each with the column where it starts.
fn folders(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let program = command_line::program(text.as_bytes());
    std::iter::successors(Some(program), |word| next_word(text, word.end)).filter_map(|word| {
        let folder = text.get(word.clone())?;
        let folder = folder.get(..folder.rfind('\\')?)?;
        Some((text.get(..word.start)?.columns(), folder))
    })
}

/// Returns a command's next word, without double quotes, but with the blanks between them.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let is_open = text.get(..from)?.matches('"').count() % 2 == 1 && text.get(from..)?.starts_with('"');
    let from = from + usize::from(is_open);
    let start = from + text.get(from..)?.find(|letter: char| !letter.is_whitespace())?;
    let word = text.get(start..)?;
    let quotes = word.len() - word.trim_start_matches(['"', '\'']).len();
    let inner = word.get(quotes..)?;
    let is_end = |letter: char| if word.starts_with('"') { letter == '"' } else { letter.is_whitespace() };
    let length = inner.find(is_end).unwrap_or(inner.len());
    Some(start + quotes..start + quotes + length).filter(|word| word.end > from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Appearance;
    use ratatui::buffer::Buffer;

    /// Writes texts in sequence, and returns the row.
    fn row(columns: u16, words: &[&str]) -> String {
        let mut cells = Buffer::empty(Rect { x: 0, y: 0, width: columns, height: 1 });
        let area = Area { x: 0, y: 0, width: columns, height: 1 };
        let mut canvas = Canvas::new(&mut cells, Appearance::default());
        let mut line = LineWriter::new(&mut canvas, area, 0);
        words.iter().for_each(|words| line.own(words, Role::Text));
        line.outside(&Untrusted::from("!"), Role::Text);
        let mut hidden = 0;
        let seen = cells.content().iter().filter(|cell| {
            let is_hidden = std::mem::replace(&mut hidden, cell.symbol().columns().saturating_sub(1)) > 0;
            !is_hidden
        });
        seen.map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn row_without_space_ends_in_an_ellipsis() {
        for (columns, words, shown) in [
            (7, &["gone"][..], "gone!  "),
            (5, &["gone"], "gone!"),
            (4, &["gone"], "gon…"),
            (3, &["gone"], "go…"),
            (1, &["gone"], "…"),
            (4, &["日本"], "日 …"),
            (3, &["日本"], "日…"),
            (4, &["a", "b", "c   "], "abc…"),
            (0, &["gone"], ""),
        ] {
            assert_eq!(row(columns, words), shown, "{words:?}");
        }
    }
}

#[cfg(test)]
mod tests_elide {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, columns: usize) -> String {
        let mut shown = String::new();
        let mut at = 0;
        for range in visible_ranges(text, columns) {
            shown += if range.start > at { "…" } else { "" };
            shown += &text.chars().skip(range.start).take(range.len()).collect::<String>();
            at = range.end;
        }
        shown + if at < text.chars().count() { "…" } else { "" }
    }

    #[test]
    fn shortening_preserves_path_ends_and_programs() {
        let key = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\LumenUpdate";
        let line = r#""C:\Windows\System32\cmd.exe" /c %USERPROFILE%\AppData\Local\Temp\svchost64.exe "%SAMPLEPATH%\03bd9a.exe""#;
        let add = r"reg.exe add HKCU\Software\Microsoft\Windows\CurrentVersion\Run /v X";
        let half = r#"C:\Program Files (x86)\Adobe\Acrobat Reader DC\Reader\AcroRd32.exe" "C:\Users\user\Desktop\Brochure 20mm.pdf"#;
        let quoted = r#""C:\Program Files (x86)\Adobe\Reader\AcroCEF\RdrCEF.exe" --backgroundcolor=16514043"#;
        let whole = r#""C:\Program Files\Vendor\1.3.36.372\GoogleCrashHandler.exe""#;
        for (text, columns, kept) in [
            (key, 40, r"HKCU…\CurrentVersion\Run\LumenUpdate"),
            (key, 22, r"HKCU…\Run\LumenUpdate"),
            (key, 20, r"…\Run\LumenUpdate"),
            (key, 14, r"…\LumenUpdate"),
            (r"C:\Program Files\Vendor\a.dll", 17, r"C:…\Vendor\a.dll"),
            (r"C:\a-very-long-file-name-without-end", 13, "…-without-end"),
            ("no path at all but-long", 12, "no path at …"),
            (line, 60, r#""…\cmd.exe" /c …\svchost64.exe "%SAMPLEPATH%\03bd9a.exe""#),
            (line, 40, r#""…\cmd.exe" /c …\svchost64.exe "…\03bd9…"#),
            ("powershell  -Command Add-MpPreference", 24, "powershell  -Command Ad…"),
            (r"%TEMP%\a.exe", 100, r"%TEMP%\a.exe"),
            (add, 60, r"reg.exe add HKCU…\Microsoft\Windows\CurrentVersion\Run /v X"),
            (add, 30, r"reg.exe add HKCU…\Run /v X"),
            // A quoted path with blanks is shortened as one; its closing mark has an opening one.
            (half, 44, r#"…\AcroRd32.exe" "C:…\Brochure 20mm.pdf"#),
            (quoted, 40, r#""…\RdrCEF.exe" --backgroundcolor=165140…"#),
            (quoted, 42, r#""…\RdrCEF.exe" --backgroundcolor=16514043"#),
            (whole, 38, r#""…\1.3.36.372\GoogleCrashHandler.exe""#),
            (whole, 27, r#""…\GoogleCrashHandler.exe""#),
            (whole, 12, r#""…ndler.exe""#),
        ] {
            assert_eq!(shown(text, columns), kept);
        }
    }

    proptest! {
        #[test]
        fn shortened_ranges_fit_and_are_in_order(text in r#"[a-z :\\/."%é日]{0,80}"#, columns in 8_usize..60) {
            let mut at = 0;
            let mut width = 0;
            for range in visible_ranges(&text, columns) {
                prop_assert!(range.start >= at && range.start <= range.end && range.end <= text.columns());
                width += range.len() + usize::from(range.start > at);
                at = range.end;
            }
            prop_assert!(width + usize::from(at < text.columns()) <= columns, "{width} {columns}");
        }
    }
}
