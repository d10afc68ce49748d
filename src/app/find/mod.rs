//! Filters, hits over all panes or over all stored reports, and the way to them and back.

pub mod finding;

use crate::app::keys::type_over;
use crate::app::over::{OverlayScreen, RowWindow, TYPED};
use crate::app::panes::facts::ProcessRef;
use crate::app::panes::{Before, Scroll};
use crate::app::{Key, Opening, Place as KeyPlace, Size};
use crate::report::find::{self, How, Pattern, Scope};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rows::records::{leaves, pointer};
use crate::report::{Cancel, Pane, Piece, Place, Report, Row, RowSet};
use crate::text::Untrusted;
use jiff::Timestamp;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Most hits that are kept of a group; the others are counted.
pub const MOST_HITS: usize = 50;

/// Words that are typed, and the search that runs for them.
#[derive(Debug, Clone, Default)]
pub struct Quest {
    pub typed: String,
    pub how: How,
    pub pattern: Option<Arc<Pattern>>,
    pub problem: Option<String>,
    pub(in crate::app) run: Option<Run>,
}

/// A search that runs. Dropping it cancels the search.
#[derive(Debug, Clone)]
pub(in crate::app) struct Run {
    number: u64,
    cancel: Arc<CancelOnDrop>,
    /// Whether nothing has come of it yet.
    pub(super) is_new: bool,
}

#[derive(Debug, Default)]
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Goes with a search to those who perform it.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub number: u64,
    pub cancel: Cancel,
}

impl Quest {
    /// Compiles the typed pattern; an invalid one keeps the last. Returns whether there is something new to search.
    pub(super) fn renew_pattern(&mut self) -> bool {
        match Pattern::new(&self.typed, self.how) {
            Ok(pattern) => {
                self.problem = None;
                self.pattern = Some(Arc::new(pattern));
                true
            }
            Err(_) if self.typed.is_empty() => {
                (self.problem, self.pattern, self.run) = (None, None, None);
                false
            }
            Err(bad) => {
                self.problem = Some(bad.to_string());
                false
            }
        }
    }

    /// Begins a search under a number; one that runs is stopped.
    pub(super) fn begin(&mut self, number: u64) -> Ticket {
        let cancel = Arc::<CancelOnDrop>::default();
        let ticket = Ticket { number, cancel: cancel.0.clone() };
        self.run = Some(Run { number, cancel, is_new: true });
        ticket
    }

    pub(super) fn run_mut(&mut self, number: u64) -> Option<&mut Run> {
        self.run.as_mut().filter(|run| run.number == number && !run.cancel.0.is_cancelled())
    }

    pub(super) fn runs(&self, number: u64) -> bool {
        self.run.as_ref().is_some_and(|run| run.number == number)
    }

    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    pub(super) fn unsought(&self) -> Self {
        Self { typed: self.typed.clone(), how: self.how, ..Self::default() }
    }

    pub fn words(&self) -> String {
        let close = if self.how.is_regex { "/" } else { "" };
        let case = if self.how.is_case_sensitive { " Aa" } else { "" };
        format!("/{}{close}{case}", self.typed)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub quest: Quest,
    pub is_typed: bool,
    pub(in crate::app) before: Before,
    /// The row that was chosen at the last change, and the row under the cursor that replaces it until the cursor moves.
    pub(in crate::app) stand_in: Option<(Place, Option<Place>)>,
    /// Offset of the body up to which rows have been searched.
    pub(in crate::app) covered: usize,
}

impl Filter {
    /// The same words, of which nothing has been sought yet.
    pub(in crate::app) fn anew(self) -> Self {
        let pattern = self.quest.pattern.clone();
        Self { quest: Quest { pattern, ..self.quest.unsought() }, is_typed: self.is_typed, ..Self::default() }
    }
}

/// Hits over all panes of a report, or over all stored reports.
#[derive(Debug, Default)]
pub struct Finder {
    pub quest: Quest,
    /// Whether the words are suggested from the last search or a row: the first letter replaces them.
    pub is_suggested: bool,
    pub is_typed: bool,
    pub is_held: bool,
    pub groups: Vec<HitGroup>,
    pub scroll: Scroll,
    /// Reports that have been searched, and reports in all; nothing where one report is searched.
    pub searched: (u64, u64),
    /// The opening that is searched, where it is one report.
    pub(super) of: Option<Opening>,
    /// The one process that is meant, where others have the name that is sought.
    pub process: Option<ProcessRef>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitGroup {
    pub of: HitSource,
    pub count: u64,
    pub hits: Vec<Hit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HitSource {
    Pane(Pane),
    Report {
        file: Option<Sha256>,
        identifier: Identifier,
        received: Timestamp,
        /// The other profile that holds it, where it cannot be opened with this one.
        elsewhere: Option<String>,
    },
    Notes {
        file: Option<Sha256>,
        identifier: Identifier,
    },
}

impl HitSource {
    /// Why a hit cannot be gone to from here, if so. What another profile holds may be of another service: it is not mixed in.
    pub(super) fn out_of_reach(&self) -> Option<String> {
        match self {
            Self::Report { elsewhere: Some(profile), .. } => {
                let name = Untrusted::from(profile.as_str()).visible_cut(40);
                Some(format!("Profile {name} holds this report: behaview --profile {name} opens it."))
            }
            Self::Report { file: None, .. } | Self::Notes { file: None, .. } => {
                Some("The report does not say which file it is of, so it cannot be opened here.".to_owned())
            }
            Self::Pane(_) | Self::Report { .. } | Self::Notes { .. } => None,
        }
    }
}

/// A row or a note that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The row's pane, and its place in the report; none for a note.
    pub at: Option<(Pane, Place)>,
    /// Place of its kind among the rows of its pane.
    pub rank: usize,
    pub row: Row,
}

impl HitGroup {
    /// The hits in a report, all counted and `most` of them decoded; none where there are none.
    pub fn of_report(report: &Report, of: HitSource, pattern: &Pattern, most: usize, cancel: &Cancel) -> Option<Self> {
        let mut found = RowSet::default();
        find::search(report, pattern, &Scope::default(), 1, cancel, &mut |rows| {
            found.extend(&rows);
            ControlFlow::Continue(())
        });
        let sections = Pane::ALL.into_iter().flat_map(|pane| report.sections(pane).into_iter().map(move |n| (pane, n)));
        let places = sections.flat_map(|(pane, n)| found.rows(n).iter().map(move |row| (pane, n, *row)));
        let hits =
            places.map(|(pane, section, row)| Hit::new(report, pane, section, row, pattern)).take(most).collect();
        (!found.is_empty()).then_some(Self { of, count: found.len() as u64, hits })
    }
}

impl Hit {
    /// A matching row, with the field that matches.
    pub fn new(report: &Report, pane: Pane, section: usize, row: u32, pattern: &Pattern) -> Self {
        let place = Place { section, row: row as usize };
        let mut row = report.row(section, place.row);
        let field = field(report, place, &row, pattern);
        row.pieces.extend(field.into_iter().flatten());
        let rank = report.section(section).map_or(0, |section| section.rank);
        Self { at: Some((pane, place)), rank, row }
    }

    pub fn pane(&self) -> Option<Pane> {
        self.at.map(|(pane, _)| pane)
    }
}

/// Bytes that are shown of a field that is in no line.
const LONGEST_FIELD: usize = 200;

/// The field with the match, where the row's line does not show it.
fn field(report: &Report, place: Place, row: &Row, pattern: &Pattern) -> Option<[Piece; 4]> {
    if pattern.is_match(&row.text()) {
        return None;
    }
    let record = report.record(place);
    let mut found = None;
    leaves(&record.value, &mut |way, value| {
        let text = value.text();
        if found.is_none() && pattern.is_match(text.as_bytes()) {
            let start = text.as_bytes().get(..LONGEST_FIELD).unwrap_or(text.as_bytes());
            found = Some((pointer(way.iter().skip(1)), Untrusted::from(start)));
        }
    });
    let (name, text) = found.filter(|(name, _)| !name.is_empty())?;
    Some([Piece::Own("  ".into()), Piece::Detail(name), Piece::Own(": ".into()), Piece::Detail(text)])
}

#[derive(Debug, Clone, Copy)]
pub enum HitLine<'a> {
    Group(&'a HitGroup),
    Hit(&'a HitGroup, &'a Hit),
    /// How many further hits there are.
    More(&'a HitGroup),
}

impl HitGroup {
    fn has_more(&self) -> bool {
        self.count > self.hits.len() as u64
    }

    fn lines(&self) -> impl Iterator<Item = HitLine<'_>> {
        let hits = self.hits.iter().map(move |hit| HitLine::Hit(self, hit));
        std::iter::once(HitLine::Group(self)).chain(hits).chain(self.has_more().then_some(HitLine::More(self)))
    }
}

impl Finder {
    pub fn of(quest: Quest, is_held: bool) -> Self {
        Self { is_suggested: !quest.typed.is_empty(), is_typed: true, quest, is_held, ..Self::default() }
    }

    pub(super) fn forget_hits(&mut self) {
        self.groups.clear();
        self.scroll = Scroll::default();
        self.searched = (0, 0);
    }

    pub fn lines(&self) -> impl Iterator<Item = HitLine<'_>> {
        self.groups.iter().flat_map(HitGroup::lines)
    }

    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// The hit under the cursor, or the first of the group under it.
    pub fn chosen(&self) -> Option<(&HitGroup, &Hit)> {
        match self.lines().nth(self.scroll.cursor)? {
            HitLine::Hit(group, hit) => Some((group, hit)),
            HitLine::Group(group) => Some((group, group.hits.first()?)),
            HitLine::More(group) => Some((group, group.hits.last()?)),
        }
    }

    /// The number of the chosen hit among all of them, counted from 1; of those that are only counted none is ever chosen.
    pub(super) fn number(&self) -> u64 {
        let mut before = 0;
        let mut at = self.scroll.cursor;
        for group in &self.groups {
            let lines = group.lines().count();
            if at < lines {
                return before + (at as u64).clamp(1, group.hits.len().max(1) as u64);
            }
            at -= lines;
            before += group.count;
        }
        before
    }

    pub(super) fn choose_hit(&mut self) {
        let cursor = self.scroll.cursor;
        let chosen = match self.lines().nth(cursor) {
            Some(HitLine::Group(group)) if !group.hits.is_empty() => cursor + 1,
            Some(HitLine::More(_)) => cursor.saturating_sub(1),
            _ => cursor,
        };
        self.scroll.cursor = chosen;
    }

    pub(super) fn step(&mut self, forward: bool) {
        let hits: Vec<usize> =
            (0..).zip(self.lines()).filter(|(_, line)| matches!(line, HitLine::Hit(..))).map(|(at, _)| at).collect();
        let cursor = self.scroll.cursor;
        let found = if forward {
            hits.iter().find(|at| **at > cursor).or(hits.first())
        } else {
            hits.iter().rfind(|at| **at < cursor).or(hits.last())
        };
        self.scroll.cursor = found.copied().unwrap_or(cursor);
    }

    /// Adds hits to their groups; panes come in their order, reports as they are found.
    pub(super) fn add(&mut self, more: Vec<HitGroup>) {
        for group in more {
            match self.groups.iter_mut().find(|known| known.of == group.of) {
                Some(known) => {
                    known.count += group.count;
                    let room = MOST_HITS.saturating_sub(known.hits.len());
                    known.hits.extend(group.hits.into_iter().take(room));
                }
                None => self.groups.push(group),
            }
        }
        for group in self.groups.iter_mut().filter(|group| matches!(group.of, HitSource::Pane(_))) {
            // In the order of the pane, not of the bytes.
            group.hits.sort_by_key(|hit| hit.rank);
        }
        self.groups.sort_by_key(|group| match group.of {
            HitSource::Pane(pane) => Some(pane),
            HitSource::Report { .. } | HitSource::Notes { .. } => None,
        });
    }
}

impl OverlayScreen for Finder {
    fn place(&self) -> KeyPlace {
        if self.is_typed { KeyPlace::Finder } else { KeyPlace::Hits }
    }

    fn choice(&self, _: Size) -> Option<RowWindow> {
        Some(RowWindow { scroll: self.scroll, count: self.lines().count(), above: TYPED, below: 0 })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }

    fn press(&mut self, key: Key, most: usize) -> bool {
        let is_changed = self.is_typed && type_over(&mut self.quest.typed, &mut self.is_suggested, key, most);
        if is_changed {
            self.process = None;
        }
        is_changed
    }
}
