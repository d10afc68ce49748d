//! A list of rows to go to: places of an item, findings, processes.

use crate::app::over::{ListSource, ListView};
use crate::app::panes::Move;
use crate::app::{List, Model, Screen, Size};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rows::Label;
use crate::report::rules::Severity;
use crate::report::{Place, Report, Row};
use crate::text::Visible;
use std::borrow::Cow;

/// Columns below which a list of rows has none to spare for words of our own.
const NARROW: u16 = 66;

/// Columns below which a finding seldom fits beside its reason.
const WIDE: u16 = 110;

/// Screen rows from which on some are spared for the chosen row.
const TALL: u16 = 14;

/// Techniques of ATT&CK by which something stays on a machine, in small letters: rules and reports name them by number, analysts
/// ask for them by what they do.
const PERSISTING: [&str; 15] = [
    "ta0003", "t1037", "t1053", "t1098", "t1136", "t1176", "t1197", "t1505", "t1542", "t1543", "t1546", "t1547",
    "t1556", "t1574", "t1624",
];

/// A list of rows to go to.
pub type Spots = ListView<RowPicker>;

/// Rows to go to.
#[derive(Debug)]
pub struct RowPicker {
    /// What they have in common.
    pub title: String,
    /// The rows, and words between them.
    pub(super) spots: Vec<Spot>,
    pub is_complete: bool,
    /// Of findings: whether they are of every stored report of the file, and under which number these were asked for.
    pub(in crate::app) notable: Option<NotableScope>,
}

/// Which reports a list of findings covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum NotableScope {
    /// The report that is open.
    Open,
    /// Every stored report of the file, requested under this number.
    Held(u64),
}

#[derive(Debug, Clone)]
pub struct Spot {
    /// Its severity, in a list of findings.
    pub severity: Option<Severity>,
    /// Our own words before it.
    pub head: Cow<'static, str>,
    /// Further words on why it is there, which are sought in but not shown.
    pub why: String,
    /// The sandboxes that saw it, where it is not plain which.
    pub seen_by: Option<Visible>,
    pub shows: Shows,
    /// Where it leads; nowhere for mere words.
    pub target: Option<Target>,
    /// Further rows with the same content: the place of the report in the list, and the row's own.
    pub(super) also: Vec<(usize, Place)>,
}

/// What a spot shows.
#[derive(Debug, Clone)]
pub enum Shows {
    Words(Cow<'static, str>),
    /// A row that has been decoded.
    Row(Row),
    /// A row of the open report, decoded when it is looked at.
    Open(Place),
}

/// A row of a report, open or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The file; none for the one that is open.
    pub file: Option<Sha256>,
    pub identifier: Option<Identifier>,
    /// The report's place in the list, where it has no identifier.
    pub entry: usize,
    /// The row; none for the report itself.
    pub place: Option<Place>,
}

impl Spot {
    /// Words that lead nowhere.
    pub fn words(head: impl Into<Cow<'static, str>>, words: impl Into<Cow<'static, str>>) -> Self {
        Self {
            severity: None,
            head: head.into(),
            why: String::new(),
            seen_by: None,
            shows: Shows::Words(words.into()),
            target: None,
            also: Vec::new(),
        }
    }

    /// A row that has been decoded.
    pub fn row(head: impl Into<Cow<'static, str>>, row: Row, target: Target) -> Self {
        Self {
            severity: None,
            head: head.into(),
            why: String::new(),
            seen_by: None,
            shows: Shows::Row(row),
            target: Some(target),
            also: Vec::new(),
        }
    }

    /// Every row with this content, with the place of its report in the list.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Place)> {
        let first = self.target.as_ref().and_then(|target| Some((target.entry, target.place?)));
        first.into_iter().chain(self.also.iter().copied())
    }

    /// Severity, reason and sandboxes in one line.
    pub fn said(&self) -> String {
        let severity = self.severity.map(|severity| severity.word().to_owned());
        let head = Some(self.head.to_string()).filter(|head| !head.is_empty());
        let by = self.seen_by.as_ref().map(|by| format!("seen by {by}"));
        [severity, head, by].into_iter().flatten().collect::<Vec<_>>().join(" · ")
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

impl RowPicker {
    pub fn new(title: impl Into<String>, spots: Vec<Spot>) -> Self {
        Self { title: title.into(), spots, is_complete: true, notable: None }
    }

    /// Whether only the chosen row shows its reason, for lack of columns.
    pub fn tells_below(&self, columns: u16) -> bool {
        self.is_notable() && columns < NARROW
    }

    /// Screen rows below the list for the chosen row: why it is there where no row says so, or the whole of it where a part is cut.
    fn told(&self, room: Size) -> usize {
        match room {
            Size { width, .. } if self.tells_below(width) => 1,
            Size { width, height } if width < WIDE && height >= TALL => 2,
            _ => 0,
        }
    }

    /// Whether it is a list of findings.
    pub fn is_notable(&self) -> bool {
        self.notable.is_some()
    }
}

impl ListSource for RowPicker {
    type Row = Spot;

    fn rows(&self) -> &[Spot] {
        &self.spots
    }

    /// What a row shows, and why it is there.
    fn text(spot: &Spot, open: Option<&Report>) -> String {
        let shown = match (&spot.shows, open) {
            (Shows::Words(words), _) => words.to_string(),
            (Shows::Row(row), _) => text_of(row),
            (Shows::Open(place), Some(report)) => text_of(&report.row(place.section, place.row)),
            (Shows::Open(_), None) => String::new(),
        };
        let by = spot.seen_by.as_ref().map_or("", Visible::as_str);
        let mut text = format!("{} {by} {} {shown}", spot.head, spot.why).to_lowercase();
        if PERSISTING.iter().any(|technique| text.contains(technique)) {
            text += " persistence: survives a reboot";
        }
        text
    }

    /// The first row that leads somewhere.
    fn first(&self) -> usize {
        self.spots.iter().position(|spot| spot.target.is_some()).unwrap_or(0)
    }

    fn beside(&self, room: Size) -> (usize, usize) {
        (0, self.told(room))
    }

    fn height(&self, columns: usize) -> usize {
        let told = self.told(Size { width: u16::try_from(columns).unwrap_or(u16::MAX), height: u16::MAX });
        self.spots.len().saturating_add(told.max(1))
    }
}

impl Model {
    pub(in crate::app) fn go_to_spot(&mut self) {
        let Some(target) = self.spots_mut().and_then(|spots| spots.chosen()?.target.clone()) else { return };
        let left = self.leave_list();
        self.go_to(target);
        self.set_left(left);
    }

    pub(super) fn spots_mut(&mut self) -> Option<&mut Spots> {
        self.over.find_mut::<Spots>()
    }

    /// Goes to a row of any stored report.
    pub(in crate::app) fn go_to(&mut self, target: Target) {
        let is_elsewhere = target.file.as_ref().is_some_and(|file| self.file() != Some(file));
        // Other open files are loaded already.
        let is_aside = |file: &Sha256| self.list_of(file).is_some_and(|list| !list.entries().is_empty());
        let is_here = !is_elsewhere || target.file.as_ref().is_some_and(is_aside);
        match &target.file {
            // An open file is only shown.
            Some(file) if is_elsewhere || self.screen == Screen::Start => self.open_file(file.clone()),
            _ => {}
        };
        let is_chosen = self.list().is_some_and(|list| entry_of(list, &target) == Some(list.scroll.cursor));
        self.bound_for = Some(target);
        if is_here {
            self.zoom(self.is_zoomed() && is_chosen);
            self.go_on();
        }
    }

    /// Continues a jump after the file is loaded: to its report first, then to its row.
    pub(in crate::app) fn go_on(&mut self) {
        let Some(target) = self.bound_for.clone() else { return };
        let chosen = self.list().map(|list| (entry_of(list, &target), list.scroll.cursor));
        match chosen {
            Some((Some(entry), cursor)) if entry != cursor || target.place.is_none() => self.choose_entry(entry),
            Some((Some(_), _)) => self.show_chosen(),
            Some((None, _)) | None => {
                self.bound_for = None;
                self.warn("That report is not held any more.");
                self.show_chosen()
            }
        };
        self.arrive();
    }

    /// Chooses a sandbox by its place in the list.
    fn choose_entry(&mut self, entry: usize) {
        self.focus_list();
        let height = self.height();
        let Some(list) = self.list_mut() else { return };
        let count = list.count();
        list.scroll.go(Move::First, count, height);
        list.scroll.go(Move::Down(entry), count, height);
        self.show_chosen()
    }

    /// Puts the cursor on the row that it is bound for, once that has been found.
    pub(in crate::app) fn arrive(&mut self) {
        let Some(target) = self.bound_for.clone() else { return };
        let is_its_file = target.file.is_none() || target.file.as_ref() == self.file();
        let is_chosen = self.list().is_some_and(|list| entry_of(list, &target) == Some(list.scroll.cursor));
        if !is_its_file || !is_chosen {
            return;
        }
        let Some(place) = target.place else {
            self.bound_for = None;
            return;
        };
        let Some(report) = self.open().map(|open| &open.report) else { return };
        let is_found = report.section(place.section).is_some_and(|section| section.len() > place.row);
        if is_found || report.index.is_complete {
            self.bound_for = None;
        }
        if is_found {
            self.show_row(place);
        }
    }
}

/// Place of a target's report in a list; none for one that is not in it.
fn entry_of(list: &List, target: &Target) -> Option<usize> {
    match &target.identifier {
        Some(identifier) => list.place_of(identifier),
        None => Some(target.entry).filter(|entry| *entry < list.entries().len()),
    }
}
