//! A list of rows to go to: where an item was seen, what deserves a look, what names a process.

use super::layout::Size;
use super::list::List;
use super::message::Effect;
use super::model::{Focus, Model};
use super::overlay::Overlay;
use super::panes::{Move, Scroll};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rows::Label;
use crate::report::rules::Severity;
use crate::report::{Place, Report, Row};
use crate::text::Visible;
use std::borrow::Cow;

/// Columns below which a list of rows has none to spare for words of our own.
const NARROW: u16 = 66;

/// Rows to go to.
#[derive(Debug)]
pub struct Places {
    /// What they have in common.
    pub title: String,
    /// The rows, and words between them.
    pub(super) spots: Vec<Spot>,
    /// Those that are shown, by their number.
    pub(super) shown: Vec<usize>,
    /// Cursor and window.
    pub scroll: Scroll,
    /// Whether more may come.
    pub is_complete: bool,
    /// What is sought among them.
    pub typed: String,
    /// Whether keys go into it.
    pub is_typing: bool,
    /// Of what deserves a look: whether it is of every held report of the file, and under which number that was asked for.
    pub(super) notable: Option<Reach>,
}

/// How far a list of what deserves a look reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The report that is open.
    Open,
    /// Every held report of the file, asked for under this number.
    Held(u64),
}

/// One of them.
#[derive(Debug, Clone)]
pub struct Spot {
    /// How much it deserves a look, where that is what the list is about.
    pub severity: Option<Severity>,
    /// Our own words before it.
    pub head: Cow<'static, str>,
    /// Further words on why it is there, which are sought in but not shown.
    pub why: String,
    /// The sandboxes that saw it, where it is not plain which.
    pub seen_by: Option<Visible>,
    /// What it shows.
    pub shows: Shows,
    /// Where it leads; nowhere for mere words.
    pub target: Option<Target>,
}

/// What a spot shows.
#[derive(Debug, Clone)]
pub enum Shows {
    /// Our own words.
    Words(Cow<'static, str>),
    /// A row that has been decoded.
    Row(Row),
    /// A row of the open report, decoded when it is looked at.
    Open(Place),
}

/// A row of a report, be it open or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The file; none for the one that is open.
    pub file: Option<Sha256>,
    /// The report.
    pub identifier: Option<Identifier>,
    /// The report's place in the list, where it has no identifier.
    pub entry: usize,
    /// The row.
    pub place: Place,
}

impl Spot {
    /// Words that lead nowhere.
    #[must_use]
    pub fn words(head: impl Into<Cow<'static, str>>, words: impl Into<Cow<'static, str>>) -> Self {
        Self {
            severity: None,
            head: head.into(),
            why: String::new(),
            seen_by: None,
            shows: Shows::Words(words.into()),
            target: None,
        }
    }

    /// A row that has been decoded.
    #[must_use]
    pub fn row(head: impl Into<Cow<'static, str>>, row: Row, target: Target) -> Self {
        Self {
            severity: None,
            head: head.into(),
            why: String::new(),
            seen_by: None,
            shows: Shows::Row(row),
            target: Some(target),
        }
    }

    /// Whether every word stands in what it shows, or in our words before it.
    fn holds(&self, words: &[String], open: Option<&Report>) -> bool {
        let shown = match (&self.shows, open) {
            (Shows::Words(words), _) => words.to_string(),
            (Shows::Row(row), _) => text_of(row),
            (Shows::Open(place), Some(report)) => text_of(&report.row(place.section, place.row)),
            (Shows::Open(_), None) => String::new(),
        };
        let by = self.seen_by.as_ref().map_or("", Visible::as_str);
        let text = format!("{} {by} {} {shown}", self.head, self.why).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// A row as it can be read.
fn text_of(row: &Row) -> String {
    let label = match &row.label {
        Label::Known(word) => (*word).to_owned(),
        Label::Named(name) => name.visible().to_string(),
    };
    format!("{label} {}", String::from_utf8_lossy(&row.text()))
}

impl Places {
    /// A list, the cursor on the first row that leads somewhere.
    #[must_use]
    pub fn new(title: impl Into<String>, spots: Vec<Spot>) -> Self {
        let cursor = spots.iter().position(|spot| spot.target.is_some()).unwrap_or(0);
        let shown = (0..spots.len()).collect();
        Self {
            title: title.into(),
            spots,
            shown,
            scroll: Scroll { cursor, top: 0 },
            is_complete: true,
            typed: String::new(),
            is_typing: false,
            notable: None,
        }
    }

    /// The rows that are shown.
    pub fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.shown.iter().filter_map(|number| self.spots.get(*number))
    }

    /// How many rows are shown, and how many there are.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.spots.len())
    }

    /// The rows that it takes above those of the list: the line that is typed into.
    #[must_use]
    pub fn head_rows(&self) -> usize {
        usize::from(self.is_typing || !self.typed.is_empty())
    }

    /// Whether it is told of the chosen row alone why it is there: beside each there is no room in so few columns.
    #[must_use]
    pub fn tells_below(&self, columns: u16) -> bool {
        self.is_notable() && columns < NARROW
    }

    /// The chosen row.
    #[must_use]
    pub fn chosen_spot(&self) -> Option<&Spot> {
        self.spots.get(*self.shown.get(self.scroll.cursor)?)
    }

    /// Whether it is a list of what deserves a look.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.notable.is_some()
    }

    /// Moves, in so much room.
    pub fn go(&mut self, movement: Move, room: Size) {
        let beside = self.head_rows() + usize::from(self.tells_below(room.width));
        self.scroll.go(movement, self.shown.len(), usize::from(room.height).saturating_sub(beside));
    }

    /// Where the chosen row leads.
    #[must_use]
    pub fn chosen(&self) -> Option<&Target> {
        self.chosen_spot()?.target.as_ref()
    }
}

impl Model {
    /// Goes to the chosen row of the list.
    pub(super) fn go_to_place(&mut self) -> Vec<Effect> {
        let Some(target) = (match &self.overlay {
            Some(Overlay::Places(places)) => places.chosen().cloned(),
            _ => None,
        }) else {
            return Vec::new();
        };
        let left = self.leave_list();
        let effects = self.go_to(target);
        self.left = left;
        effects
    }

    pub(super) fn places_mut(&mut self) -> Option<&mut Places> {
        match &mut self.overlay {
            Some(Overlay::Places(places)) => Some(places),
            _ => None,
        }
    }

    /// Begins to type what is sought in a list of rows.
    pub(super) fn seek_places(&mut self) -> Vec<Effect> {
        self.places_mut().into_iter().for_each(|places| places.is_typing = true);
        Vec::new()
    }

    /// Ends typing; what was found stays.
    pub(super) fn keep_sought_places(&mut self) -> Vec<Effect> {
        self.places_mut().into_iter().for_each(|places| places.is_typing = false);
        Vec::new()
    }

    /// Shows every row of the list again.
    pub(super) fn drop_sought_places(&mut self) -> Vec<Effect> {
        if let Some(places) = self.places_mut() {
            places.is_typing = false;
            places.typed.clear();
        }
        self.sift_places();
        Vec::new()
    }

    /// Shows the rows of the list that hold every word that is typed, in what they show or in why they are there.
    pub(super) fn sift_places(&mut self) {
        let over = self.overlay.take_if(|over| matches!(over, Overlay::Places(_)));
        let Some(Overlay::Places(mut places)) = over else { return };
        let words: Vec<String> = places.typed.split_whitespace().map(str::to_lowercase).collect();
        let open = self.open().map(|open| &open.report);
        let holds = |(_, spot): &(usize, &Spot)| words.is_empty() || spot.holds(&words, open);
        let shown = places.spots.iter().enumerate().filter(holds).map(|(number, _)| number).collect();
        places.shown = shown;
        places.scroll = Scroll::default();
        places.go(Move::First, self.overlay_room());
        self.overlay = Some(Overlay::Places(places));
    }

    /// Goes to a row, be its report open or not, its file the one that is open or another whose reports are held.
    pub(super) fn go_to(&mut self, target: Target) -> Vec<Effect> {
        self.is_zoomed = false;
        let effects = match target.file.clone().filter(|file| self.file() != Some(file)) {
            Some(file) => self.open_file(file),
            None => self.choose_target(&target),
        };
        self.bound_for = Some(target);
        self.arrive();
        effects
    }

    /// Chooses the sandbox that a target is of.
    fn choose_target(&mut self, target: &Target) -> Vec<Effect> {
        self.focus = Focus::List;
        let height = self.height();
        let Some(list) = &mut self.list else { return Vec::new() };
        let entry = entry_of(list, target);
        let count = list.count();
        list.scroll.go(Move::First, count, height);
        list.scroll.go(Move::Down(entry), count, height);
        self.show_chosen()
    }

    /// Goes on towards a row, after its file's reports were found.
    pub(super) fn go_on(&mut self) -> Vec<Effect> {
        let target =
            self.bound_for.clone().filter(|target| target.file.is_none() || target.file.as_ref() == self.file());
        target.map(|target| self.choose_target(&target)).unwrap_or_default()
    }

    /// Puts the cursor on the row that it is bound for, once that has been found.
    pub(super) fn arrive(&mut self) {
        let Some(target) = self.bound_for.clone() else { return };
        let is_its_file = target.file.is_none() || target.file.as_ref() == self.file();
        let is_chosen = self.list.as_ref().is_some_and(|list| entry_of(list, &target) == list.scroll.cursor);
        let place = target.place;
        let found = self.open().and_then(|open| open.report.section(place.section));
        if found.is_none_or(|section| !is_its_file || !is_chosen || section.len() <= place.row) {
            return;
        }
        self.bound_for = None;
        self.show_row(place);
    }
}

/// Place of a target's report in a list.
fn entry_of(list: &List, target: &Target) -> usize {
    let by_name = |identifier: &Identifier| list.entries.iter().position(|e| e.identifier.as_ref() == Some(identifier));
    target.identifier.as_ref().and_then(by_name).unwrap_or(target.entry)
}
