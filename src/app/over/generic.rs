//! The two generic overlays: a list of which a row is chosen, and a form whose lines are typed into; and what each kind adds to these.

use crate::app::compare::Compare;
use crate::app::keys::{type_into, type_over};
use crate::app::over::{OverlayScreen, RowWindow, SMALL};
use crate::app::panes::{Move, Scroll};
use crate::app::{Command, Failure, Key, Model, Place, Size};
use crate::report::Report;
use std::fmt;

pub trait ListSource {
    type Row;

    fn rows(&self) -> &[Self::Row];

    /// What a row is filtered by; rows of the open report are read in it.
    fn text(row: &Self::Row, open: Option<&Report>) -> String;

    fn first(&self) -> usize {
        0
    }

    /// Screen rows above and below those of the list, in so much room.
    fn beside(&self, _: Size) -> (usize, usize) {
        (0, 0)
    }

    /// Screen rows that it fills at a width, without its filter line.
    fn height(&self, _: usize) -> usize {
        usize::MAX
    }
}

#[derive(Debug)]
pub struct ListView<S> {
    pub source: S,
    pub scroll: Scroll,
    pub filter: ListFilter,
    /// The rows that are shown, by their number.
    shown: Vec<usize>,
    /// What each row is filtered by, once something is typed: reading all rows at each key takes too long.
    texts: Vec<String>,
}

impl<S: ListSource> ListView<S> {
    pub fn new(source: S) -> Self {
        let shown = (0..source.rows().len()).collect();
        let scroll = Scroll { cursor: source.first(), top: 0 };
        Self { source, scroll, filter: ListFilter::default(), shown, texts: Vec::new() }
    }

    pub fn chosen(&self) -> Option<&S::Row> {
        self.source.rows().get(*self.shown.get(self.scroll.cursor)?)
    }

    pub fn shown(&self) -> impl Iterator<Item = &S::Row> {
        self.shown.iter().filter_map(|number| self.source.rows().get(*number))
    }

    /// How many rows are shown, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.source.rows().len())
    }

    /// Changes what the list is of; the cursor keeps its place.
    pub fn change(&mut self, open: Option<&Report>, change: impl FnOnce(&mut S)) {
        change(&mut self.source);
        self.texts.clear();
        self.apply_filter(open);
    }

    fn apply_filter(&mut self, open: Option<&Report>) {
        let rows = self.source.rows();
        if self.filter.typed.is_empty() {
            self.shown = (0..rows.len()).collect();
            return;
        }
        if self.texts.len() != rows.len() {
            self.texts = rows.iter().map(|row| S::text(row, open).to_lowercase()).collect();
        }
        let matches = |(_, text): &(usize, &String)| self.filter.is_in(text);
        self.shown = self.texts.iter().enumerate().filter(matches).map(|(number, _)| number).collect();
    }

    /// The rows among what stands above and below them, in so much room.
    pub fn rows(&self, room: Size) -> RowWindow {
        let filter = self.filter.rows();
        let left = Size { height: room.height.saturating_sub(u16::try_from(filter).unwrap_or(0)), ..room };
        let (above, below) = self.source.beside(left);
        RowWindow { scroll: self.scroll, count: self.shown.len(), above: filter + above, below }
    }
}

impl<S: ListSource> OverlayScreen for ListView<S> {
    fn place(&self) -> Place {
        if self.filter.is_typing { Place::SoughtLine } else { Place::Picker }
    }

    fn height(&self, columns: usize) -> usize {
        self.source.height(columns).saturating_add(self.filter.rows())
    }

    fn choice(&self, room: Size) -> Option<RowWindow> {
        Some(self.rows(room))
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn sought(&mut self) -> Option<&mut ListFilter> {
        Some(&mut self.filter)
    }

    fn sift(&mut self, open: Option<&Report>) {
        let chosen = self.shown.get(self.scroll.cursor).copied();
        self.apply_filter(open);
        chosen.into_iter().for_each(|chosen| self.scroll.stay_on(chosen, &self.shown));
    }
}

#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    pub typed: String,
    pub is_typing: bool,
}

impl ListFilter {
    /// The rows that it takes above those of the list.
    pub fn rows(&self) -> usize {
        usize::from(self.is_typing || !self.typed.is_empty())
    }

    /// Whether a row that says this in small letters holds every word that is typed.
    pub fn is_in(&self, text: &str) -> bool {
        self.typed.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }

    pub(in crate::app) fn press(&mut self, key: Key, most: usize) -> bool {
        self.is_typing && type_into(&mut self.typed, key, most)
    }
}

/// Commands that open a line: the user goes straight on typing after them.
const OPEN_A_LINE: [&str; 6] = ["filter", "find", "find-from-list", "find-stored", "palette", "note"];

/// A form that is typed into where nothing can be: what follows a key that is off would act as keys otherwise.
pub type IdleLine = InputForm<TypeAheadGuard>;

/// Why nothing can be typed.
#[derive(Debug)]
pub struct TypeAheadGuard {
    pub why: String,
}

impl FormSource for TypeAheadGuard {}

impl Model {
    /// Handles a disabled key: one that opens a line elsewhere opens a line that does nothing, others get a message.
    pub(in crate::app) fn take_off_key(&mut self, key: Key) {
        let opens = |command: &'static Command| OPEN_A_LINE.contains(&command.name);
        let Some(why) = self.off_words(key) else { return };
        if self.settings.keys.having(key).any(opens) {
            self.over.put(IdleLine::with_fields(TypeAheadGuard { why }, 1));
        } else {
            self.say(why);
        }
    }

    /// Starts or ends typing into the filter line; the filter stays.
    pub(in crate::app) fn seek_in_list(&mut self, is_typing: bool) {
        if let Some(line) = self.over.top_mut().and_then(|over| over.screen_mut().sought()) {
            line.is_typing = is_typing;
        }
        self.settle_over();
    }

    pub(in crate::app) fn sift_list(&mut self) {
        if self.over.top_as::<Compare>().is_some() {
            return self.sift();
        }
        let report = self.open().map(|open| open.report.clone());
        if let Some(list) = self.over.top_mut() {
            list.screen_mut().sift(report.as_ref());
        }
        self.settle_over();
    }
}

pub trait FormSource: Sized {
    fn height(_: &InputForm<Self>, _: usize) -> usize {
        SMALL
    }

    /// Types a key into the line that has the keys, up to a length in bytes; returns whether the line takes the key.
    fn press(form: &mut InputForm<Self>, key: Key, most: usize) -> bool {
        form.type_key(key, most)
    }

    fn go(_: &mut InputForm<Self>, _: Move) {}
}

#[derive(Clone, Default)]
pub struct TextField {
    pub text: String,
    /// Whether the program suggested the text: the first letter replaces it.
    pub is_suggested: bool,
}

pub struct InputForm<S> {
    pub source: S,
    pub fields: Vec<TextField>,
    /// The line that has the keys.
    pub chosen: usize,
    pub failure: Option<Failure>,
}

/// The text may be a password and is not shown.
impl<S: fmt::Debug> fmt::Debug for InputForm<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InputForm({:?})", self.source)
    }
}

impl<S> InputForm<S> {
    pub fn new(source: S, text: String) -> Self {
        Self { fields: vec![TextField { text, is_suggested: false }], ..Self::with_fields(source, 0) }
    }

    pub fn with_fields(source: S, count: usize) -> Self {
        Self { source, fields: vec![TextField::default(); count], chosen: 0, failure: None }
    }

    pub fn text(&self) -> &str {
        self.fields.first().map_or("", |field| &field.text)
    }

    pub(in crate::app) fn type_key(&mut self, key: Key, most: usize) -> bool {
        let Some(field) = self.fields.get_mut(self.chosen) else { return false };
        let is_typed = type_over(&mut field.text, &mut field.is_suggested, key, most);
        self.failure.take_if(|_| is_typed);
        is_typed
    }

    pub fn step(&mut self, by: isize) {
        let count = self.fields.len().max(1).cast_signed();
        self.chosen = (self.chosen.cast_signed() + by).rem_euclid(count).unsigned_abs();
    }
}

impl<S: FormSource> OverlayScreen for InputForm<S> {
    fn place(&self) -> Place {
        Place::Form
    }

    fn height(&self, columns: usize) -> usize {
        S::height(self, columns)
    }

    fn press(&mut self, key: Key, most: usize) -> bool {
        S::press(self, key, most)
    }

    fn go(&mut self, movement: Move, _: Size) {
        S::go(self, movement);
    }
}
