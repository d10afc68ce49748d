//! Two generic overlays: a list with filter and cursor, a form; their traits, and the text field.

use crate::app::find::{SearchQuery, in_circle};
use crate::app::keys::BACKSPACE;
use crate::app::overlays::{OverlayScreen, RowWindow};
use crate::app::panes::{Move, Scroll};
use crate::app::{Effect, Failure, Key, KeyContext, Model, OpenReport, Size};
use crate::report::Pane;
use jiff::Timestamp;
use std::fmt;

/// The content of a list overlay; [`ListView`] adds cursor, filter and scrolling.
pub trait ListSource: Sized {
    type Row;

    /// The key contexts while the filter is typed and while rows are chosen.
    const PLACES: (KeyContext, KeyContext) = (KeyContext::FilterLine, KeyContext::Picker);

    /// Whether rows are ranked, and each typed letter chooses the best.
    const IS_RANKED: bool = false;

    fn rows(&self) -> &[Self::Row];

    /// Returns indices of matching rows if the source finds them; `None` to match texts.
    fn matching(&self, _typed: &str) -> Option<Vec<u32>> {
        None
    }

    /// Returns whether a row belongs to a pane, in lists that filter by pane.
    fn is_in(&self, _: &Self::Row, _: Pane) -> bool {
        true
    }

    fn text(_: &Self::Row) -> String {
        String::new()
    }

    fn first(&self) -> usize {
        0
    }

    /// Returns the visible rows for the matching ones: adds headings, omits folded rows.
    fn arrange(&self, found: Vec<u32>, _is_filtered: bool) -> Vec<u32> {
        found
    }

    /// Returns the screen rows above and below the list.
    fn beside(&self, _: Size, _: &Model) -> (usize, usize) {
        (0, 0)
    }

    /// Returns the screen rows at a width, without the filter line.
    fn height(&self, _: usize) -> usize {
        usize::MAX
    }

    /// Applies a changed filter; returns the job of a slow search.
    fn on_typed(list: &mut ListView<Self>, _: Option<&OpenReport>) -> Option<Effect> {
        list.apply_filter();
        if Self::IS_RANKED {
            list.scroll = Scroll::default();
        }
        None
    }
}

/// A list overlay over a [`ListSource`].
#[derive(Debug)]
pub struct ListView<S> {
    pub source: S,
    pub scroll: Scroll,
    /// The text that filters the rows, or that is searched for.
    pub filter: SearchQuery,
    /// The pane whose rows are shown; `None` for all.
    pub pane: Option<Pane>,
    shown: Vec<u32>,
    /// Each row's text for the filter, built at the first typed key: for each it takes too long.
    texts: Vec<String>,
}

impl<S: ListSource> ListView<S> {
    pub(crate) fn new(source: S) -> Self {
        let mut list = Self {
            scroll: Scroll { cursor: source.first(), top: 0 },
            source,
            filter: SearchQuery::default(),
            pane: None,
            shown: Vec::new(),
            texts: Vec::new(),
        };
        list.shown = list.matching();
        list
    }

    /// Creates a list whose line is being typed, with a suggested text.
    pub(crate) fn typing(source: S, query: SearchQuery) -> Self {
        let mut list = Self::new(source);
        list.filter = query;
        list.filter.begin_typing();
        list
    }

    pub fn chosen(&self) -> Option<&S::Row> {
        self.source.rows().get(self.chosen_number()? as usize)
    }

    /// Returns the index of the chosen row among all rows of the source.
    pub(crate) fn chosen_number(&self) -> Option<u32> {
        self.shown.get(self.scroll.cursor).copied()
    }

    /// Returns the visible rows from an index on.
    pub fn shown(&self, from: usize) -> impl Iterator<Item = &S::Row> {
        self.shown.iter().skip(from).filter_map(|number| self.source.rows().get(*number as usize))
    }

    /// Returns the numbers of visible rows and of all.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.source.rows().len())
    }

    /// Returns whether the filter or a pane hides rows.
    pub fn is_filtered(&self) -> bool {
        !self.filter.typed.is_empty() || self.pane.is_some()
    }

    /// Toggles between the rows of one pane and all rows.
    pub(crate) fn show_pane(&mut self, pane: Pane) {
        self.pane = Some(pane).filter(|pane| self.pane != Some(*pane));
        self.apply_filter();
    }

    /// Returns the window of rows, between the rows above and below the list.
    pub fn window(&self, room: Size, model: &Model) -> RowWindow {
        let filter = self.filter.rows();
        let left = Size { height: room.height.saturating_sub(u16::try_from(filter).unwrap_or(0)), ..room };
        let (above, below) = self.source.beside(left, model);
        RowWindow { scroll: self.scroll, count: self.shown.len(), above: filter + above, below }
    }

    /// Changes the content; the cursor stays on its row, or near it.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut S)) {
        change(&mut self.source);
        self.texts.clear();
        self.apply_filter();
    }

    pub(super) fn apply_filter(&mut self) {
        let chosen = self.chosen_number().filter(|_| !S::IS_RANKED);
        self.shown = self.matching();
        chosen.into_iter().for_each(|chosen| self.scroll.stay_on(chosen, &self.shown));
    }

    fn matching(&mut self) -> Vec<u32> {
        let rows = self.source.rows();
        let found = self.source.matching(&self.filter.typed.text);
        let has_words = found.is_none() && !self.filter.typed.is_empty();
        if has_words && self.texts.len() != rows.len() {
            self.texts = rows.iter().map(|row| S::text(row).to_lowercase()).collect();
        }
        let has_text = |n: &u32| !has_words || self.texts.get(*n as usize).is_some_and(|text| self.filter.is_in(text));
        let is_in = |row| self.pane.is_none_or(|pane| self.source.is_in(row, pane));
        let is_shown = |n: &u32| has_text(n) && rows.get(*n as usize).is_some_and(is_in);
        let found = found.unwrap_or_else(|| (0..).take(rows.len()).collect());
        self.source.arrange(found.into_iter().filter(is_shown).collect(), self.is_filtered())
    }
}

impl<S: ListSource> OverlayScreen for ListView<S> {
    fn key_context(&self) -> KeyContext {
        if self.filter.is_typing { S::PLACES.0 } else { S::PLACES.1 }
    }

    fn height(&self, columns: usize) -> usize {
        self.source.height(columns).saturating_add(self.filter.rows())
    }

    fn choice(&self, room: Size, model: &Model) -> Option<RowWindow> {
        Some(self.window(room, model))
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn filter(&mut self) -> Option<&mut SearchQuery> {
        Some(&mut self.filter)
    }

    fn on_typed(&mut self, open: Option<&OpenReport>, _: Timestamp) -> Option<Effect> {
        S::on_typed(self, open)
    }
}

impl Model {
    /// Starts or ends typing in the list's line; its text stays.
    pub(crate) fn filter_list(&mut self, is_typing: bool) {
        if let Some(line) = self.overlays.top_mut().and_then(|overlay| overlay.screen_mut().filter()) {
            line.is_typing = is_typing;
        }
    }
}

/// The content of a form; [`InputForm`] adds fields and cursor.
pub trait FormSource: Sized {
    /// Processes a key of its own before the field; returns whether it did.
    fn press(_: &mut InputForm<Self>, _: Key) -> bool {
        false
    }

    fn on_typed(_: &mut InputForm<Self>, _: Timestamp) -> Option<Effect> {
        None
    }

    fn go(form: &mut InputForm<Self>, movement: Move) {
        match movement {
            Move::Down(1..) | Move::PageDown(_) => form.step(true),
            Move::Up(1..) | Move::PageUp(_) => form.step(false),
            _ => {}
        }
    }

    /// Lines with options, above the text fields.
    fn choices(_: &InputForm<Self>) -> Vec<ChoiceLine> {
        Vec::new()
    }
}

#[derive(Debug)]
pub struct ChoiceLine {
    pub label: &'static str,
    pub chosen: String,
    pub about: String,
    pub has_other: bool,
}

/// A form with text fields over a [`FormSource`].
#[derive(Debug)]
pub struct InputForm<S> {
    pub source: S,
    pub fields: Vec<TextField>,
    /// The line that has the keys.
    pub chosen: usize,
    pub failure: Option<Failure>,
}

impl<S: FormSource> InputForm<S> {
    pub(crate) fn new(source: S, text: String) -> Self {
        Self { fields: vec![text.into()], ..Self::with_fields(source, 0) }
    }

    pub(crate) fn with_fields(source: S, count: usize) -> Self {
        Self { source, fields: vec![TextField::default(); count], chosen: 0, failure: None }
    }

    pub fn text(&self) -> &str {
        self.fields.first().map_or("", |field| &field.text)
    }

    /// Moves to the next or previous line that can be changed.
    pub(crate) fn step(&mut self, forward: bool) {
        let choices = S::choices(self);
        let can_change = |line: &usize| choices.get(*line).is_none_or(|choice| choice.has_other);
        let mut lines = in_circle(self.chosen, choices.len() + self.fields.len(), forward);
        self.chosen = lines.find(can_change).unwrap_or(self.chosen);
    }
}

impl<S: FormSource> OverlayScreen for InputForm<S> {
    fn key_context(&self) -> KeyContext {
        if self.chosen < S::choices(self).len() { KeyContext::Choice } else { KeyContext::Form }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        let field = self.chosen.checked_sub(S::choices(self).len())?;
        self.fields.get_mut(field)
    }

    fn press(&mut self, key: Key) -> bool {
        S::press(self, key)
    }

    fn on_typed(&mut self, _: Option<&OpenReport>, now: Timestamp) -> Option<Effect> {
        self.failure = None;
        S::on_typed(self, now)
    }

    fn go(&mut self, movement: Move, _: Size, _: Option<RowWindow>) {
        S::go(self, movement);
    }
}

/// The maximum of typed text in bytes: a search runs after each key.
const MAX_TYPED_BYTES: usize = 4 << 10;

/// The maximum of pasted text in bytes: about a thousand hashes.
const MAX_PASTED_BYTES: usize = 64 << 10;

/// A line of typed text, edited at its end.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TextField {
    pub text: String,
    /// Whether the program suggested the text: a first letter replaces it, other keys edit it.
    pub is_suggested: bool,
}

/// Omits the text, which may be a password.
impl fmt::Debug for TextField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextField")
    }
}

impl From<String> for TextField {
    fn from(text: String) -> Self {
        Self { text, is_suggested: false }
    }
}

impl TextField {
    pub(crate) fn suggested(text: String) -> Self {
        Self { is_suggested: !text.is_empty(), text }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Edits the text; returns whether the key edits text.
    pub(crate) fn press(&mut self, key: Key) -> bool {
        self.change(key, MAX_TYPED_BYTES)
    }

    /// Inserts pasted text: controls become blanks, the final line break is dropped.
    pub(crate) fn paste(&mut self, text: &str) {
        for c in text.trim_end_matches(['\r', '\n']).chars() {
            self.change(Key::Char(if c.is_control() { ' ' } else { c }), MAX_PASTED_BYTES);
        }
    }

    fn change(&mut self, key: Key, most: usize) -> bool {
        if self.is_suggested && matches!(key, Key::Char(_)) {
            self.text.clear();
        }
        match key {
            Key::Char(c) if self.text.len() < most => self.text.push(c),
            Key::Char(_) => {}
            BACKSPACE => drop(self.text.pop()),
            Key::Ctrl('w') => self.take_word(),
            Key::Ctrl('u') => self.text.clear(),
            _ => return false,
        }
        self.is_suggested = false;
        true
    }

    fn take_word(&mut self) {
        let text = self.text.trim_end();
        let blank = text.char_indices().rfind(|(_, c)| c.is_whitespace());
        self.text.truncate(blank.map_or(0, |(at, blank)| at + blank.len_utf8()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_field_limits_length_and_deletes_words() {
        let mut field = TextField::suggested("a".to_owned());
        (0..=MAX_TYPED_BYTES).for_each(|_| assert!(field.press(Key::Char('b'))));
        assert_eq!(field.text, "b".repeat(MAX_TYPED_BYTES));
        field.paste("c\td e\n");
        assert!(field.text.ends_with("bc d e"));
        assert!(field.press(Key::Ctrl('w')) && field.press(BACKSPACE));
        assert!(field.text.ends_with("bc d") && !field.press(crate::app::keys::ENTER));
    }
}
