//! Filters, and hits in all panes or in all stored reports.

pub mod controller;

use crate::app::overlays::generic::TextField;
use crate::app::overlays::{ListSource, ListView};
use crate::app::panes::facts::ProcessRef;
use crate::app::panes::{Before, Scroll};
use crate::app::{Effect, Job, JobNumber, KeyContext, Model, OpenReport, SearchJob, Size, Ticket};
use crate::report::find::{self, MatchOptions, Pattern, SearchScope};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rows::{leaves, pointer};
use crate::report::{Cancel, Pane, Piece, Report, Row, RowPlace, RowSet};
use crate::text::Untrusted;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Maximum of decoded hits of a group; the others are counted.
pub const MAX_HITS: usize = 50;

/// Typed text, and the search that runs for it.
#[derive(Debug, Default)]
pub struct SearchQuery {
    pub typed: TextField,
    pub is_typing: bool,
    pub options: MatchOptions,
    pub pattern: Option<Arc<Pattern>>,
    pub problem: Option<String>,
    pub(crate) search: Option<RunningSearch>,
}

#[derive(Debug)]
pub(crate) struct RunningSearch {
    job: Job,
    /// Whether the search has no results yet.
    pub(crate) is_new: bool,
}

impl SearchQuery {
    /// Compiles the typed pattern, keeps the last if invalid; returns whether a search is needed.
    pub(crate) fn update_pattern(&mut self) -> bool {
        if self.typed.is_empty() {
            (self.problem, self.pattern, self.search) = (None, None, None);
            return false;
        }
        let compiled = Pattern::new(&self.typed.text, self.options);
        self.problem = compiled.as_ref().err().cloned();
        self.pattern = compiled.ok().map(Arc::new).or(self.pattern.take());
        self.problem.is_none()
    }

    /// Focuses its field; the first letter replaces earlier text.
    pub(crate) fn begin_typing(&mut self) {
        (self.typed.is_suggested, self.is_typing) = (!self.typed.is_empty(), true);
    }

    /// Returns its screen rows above a list.
    pub fn rows(&self) -> usize {
        usize::from(self.is_typing || !self.typed.is_empty())
    }

    /// Returns whether a lower-case text contains every typed word.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.typed.text.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }

    /// Starts a search; cancels a running one.
    pub(crate) fn begin(&mut self) -> Ticket {
        let run = self.search.insert(RunningSearch { job: Job::default(), is_new: true });
        run.job.ticket()
    }

    pub(crate) fn run_mut(&mut self, job: JobNumber) -> Option<&mut RunningSearch> {
        self.search.as_mut().filter(|run| run.job.is(job))
    }

    pub(crate) fn runs(&self, job: JobNumber) -> bool {
        self.search.as_ref().is_some_and(|run| run.job.is(job))
    }

    pub fn is_running(&self) -> bool {
        self.search.is_some()
    }

    pub(super) fn without_results(&self) -> Self {
        Self { typed: self.typed.clone(), options: self.options, ..Self::default() }
    }

    pub fn label(&self) -> String {
        let close = if self.options.is_regex { "/" } else { "" };
        let case = if self.options.is_case_sensitive { " Aa" } else { "" };
        format!("/{}{close}{case}", self.typed.text)
    }
}

#[derive(Debug, Default)]
pub struct Filter {
    pub query: SearchQuery,
    pub(crate) unfiltered: Before,
    /// The row chosen at the last change; the row that replaces it until the cursor moves.
    pub(crate) substitute: Option<(RowPlace, Option<RowPlace>)>,
    /// The offset in the body up to which rows have been searched.
    pub(crate) searched_bytes: usize,
}

impl Filter {
    pub(crate) fn restarted(self) -> Self {
        Self { query: SearchQuery { problem: None, search: None, ..self.query }, ..Self::default() }
    }
}

pub type HitList = ListView<SearchHits>;

/// Hits in all panes of a report, or in all stored reports.
#[derive(Debug, Default)]
pub struct SearchHits {
    pub is_of_store: bool,
    pub groups: Vec<HitGroup>,
    rows: Vec<HitRow>,
    pub searched: SearchProgress,
    /// The report that is searched, if only one.
    pub(crate) report: Option<JobNumber>,
    /// The process to which hits are limited, if others have its name.
    pub process: Option<ProcessRef>,
}

/// Numbers of a search of stored reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchProgress {
    pub done: u64,
    pub all: u64,
    /// Lists of the searched reports that the service may have cut.
    pub cut_lists: u64,
}

/// A row of the list: the heading of a group, a hit, or the number of further hits.
#[derive(Debug, Clone, Copy)]
pub struct HitRow {
    pub group: usize,
    /// 0 for the heading; hits count from 1.
    pub at: usize,
}

/// The hits of one pane or one report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitGroup {
    pub source: HitSource,
    pub count: u64,
    pub hits: Vec<Hit>,
}

/// The location of a group's hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HitSource {
    Pane(Pane),
    /// A stored report; the other profile's name if this profile cannot open it.
    Report(Option<Sha256>, Identifier, Option<String>),
    Notes(Option<Sha256>, Identifier),
}

impl HitSource {
    /// Explains why the hit cannot be opened, if so: reports of other profiles are not mixed in.
    pub(super) fn why_unreachable(&self) -> Option<String> {
        match self {
            Self::Report(.., Some(profile)) => {
                let name = Untrusted::from(profile.as_str()).visible_cut(40);
                Some(format!("Stored by profile {name}: behaview --profile {name} opens it."))
            }
            Self::Report(None, ..) | Self::Notes(None, _) => {
                Some("The report does not name its file, so it cannot be opened here.".to_owned())
            }
            Self::Pane(_) | Self::Report(..) | Self::Notes(..) => None,
        }
    }
}

/// A matching row, and the start of a matching field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The row's pane, and its place in the report; `None` for a note.
    pub at: Option<(Pane, RowPlace)>,
    /// The rank of its kind among the rows of its pane.
    pub rank: usize,
    pub row: Row,
}

impl HitGroup {
    /// Returns the hits in a report, all counted, `max_hits` decoded; `None` without hits.
    pub fn of_report(
        report: &Report,
        of: HitSource,
        pattern: &Pattern,
        max_hits: usize,
        cancel: &Cancel,
    ) -> Option<Self> {
        let mut found = RowSet::default();
        find::search(report, pattern, &SearchScope::default(), 1, cancel, &mut |rows| {
            found.extend(&rows);
            ControlFlow::Continue(())
        });
        let sections = Pane::ALL.into_iter().flat_map(|pane| report.sections(pane).into_iter().map(move |n| (pane, n)));
        let places = sections.flat_map(|(pane, n)| found.rows(n).iter().map(move |row| (pane, n, *row)));
        let hits =
            places.map(|(pane, section, row)| Hit::new(report, pane, section, row, pattern)).take(max_hits).collect();
        (!found.is_empty()).then_some(Self { source: of, count: found.len() as u64, hits })
    }
}

impl Hit {
    pub fn new(report: &Report, pane: Pane, section: usize, row: u32, pattern: &Pattern) -> Self {
        let place = RowPlace { section, row: row as usize };
        let mut row = report.row(section, place.row);
        let field = matching_field_start(report, place, &row, pattern);
        row.pieces.extend(field.into_iter().flatten());
        Self { at: Some((pane, place)), rank: report.section(section).map_or(0, |section| section.rank()), row }
    }

    pub fn pane(&self) -> Option<Pane> {
        self.at.map(|(pane, _)| pane)
    }
}

/// Maximum bytes of a field that is not on its row's line.
const MAX_FIELD_BYTES: usize = 200;

/// Returns the start of the first matching field, if the row's line hides it.
fn matching_field_start(report: &Report, place: RowPlace, row: &Row, pattern: &Pattern) -> Option<[Piece; 4]> {
    if pattern.is_match(&row.text()) {
        return None;
    }
    let record = report.record(place);
    let mut found = None;
    leaves(&record.value, &mut |way, value| {
        let text = value.text();
        if found.is_none() && pattern.is_match(text.as_bytes()) {
            let start = text.as_bytes().get(..MAX_FIELD_BYTES).unwrap_or(text.as_bytes());
            found = Some((pointer(way.iter().skip(1)), Untrusted::from(start)));
        }
    });
    let (name, text) = found.filter(|(name, _)| !name.is_empty())?;
    Some([Piece::Own("  ".into()), Piece::Detail(name), Piece::Own(": ".into()), Piece::Detail(text)])
}

impl ListSource for SearchHits {
    type Row = HitRow;

    const PLACES: (KeyContext, KeyContext) = (KeyContext::Finder, KeyContext::Hits);

    fn rows(&self) -> &[HitRow] {
        &self.rows
    }

    fn matching(&self, _: &str) -> Option<Vec<u32>> {
        Some((0..).take(self.rows.len()).collect())
    }

    fn is_in(&self, row: &HitRow, pane: Pane) -> bool {
        let Some(group) = self.groups.get(row.group) else { return false };
        let is_in = |hit: &Hit| hit.pane() == Some(pane);
        match (&group.source, row.at) {
            (HitSource::Pane(of), _) => *of == pane,
            (_, 0) => group.hits.iter().any(is_in),
            (_, at) => group.hits.get(at - 1).is_some_and(is_in),
        }
    }

    /// Returns a row for remarks on the typed text.
    fn beside(&self, _: Size, _: &Model) -> (usize, usize) {
        (1, 0)
    }

    fn on_typed(list: &mut HitList, open: Option<&OpenReport>) -> Option<Effect> {
        list.source.process = None;
        list.search(open).map(Effect::from)
    }
}

impl SearchHits {
    /// Adds hits to their groups; panes are in their order, reports in order of arrival.
    pub(super) fn add(&mut self, more: Vec<HitGroup>) {
        for group in more {
            match self.groups.iter_mut().find(|known| known.source == group.source) {
                Some(known) => {
                    known.count += group.count;
                    known.hits.extend(group.hits.into_iter().take(MAX_HITS.saturating_sub(known.hits.len())));
                }
                None => self.groups.push(group),
            }
        }
        for group in self.groups.iter_mut().filter(|group| matches!(group.source, HitSource::Pane(_))) {
            // Sorts in the order of the pane, not of the bytes.
            group.hits.sort_by_key(|hit| hit.rank);
        }
        self.groups.sort_by_key(|group| match group.source {
            HitSource::Pane(pane) => Some(pane),
            HitSource::Report(..) | HitSource::Notes(..) => None,
        });
        let rows = self.groups.iter().enumerate().flat_map(|(number, group)| {
            let has_more = group.count > group.hits.len() as u64;
            (0..=group.hits.len() + usize::from(has_more)).map(move |at| HitRow { group: number, at })
        });
        self.rows = rows.collect();
    }

    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    fn is_hit(&self, row: &HitRow) -> bool {
        self.groups.get(row.group).is_some_and(|group| (1..=group.hits.len()).contains(&row.at))
    }
}

impl HitList {
    pub(crate) fn of(query: SearchQuery, is_of_store: bool) -> Self {
        Self::typing(SearchHits { is_of_store, ..SearchHits::default() }, query)
    }

    pub(super) fn search(&mut self, open: Option<&OpenReport>) -> Option<SearchJob> {
        let open = open.filter(|_| !self.source.is_of_store);
        self.source.report = open.map(|open| open.job.number());
        if !self.filter.update_pattern() {
            // Hits of the previous text do not belong to this one.
            self.filter.search = None;
            self.forget_hits();
            return None;
        }
        let pattern = self.filter.pattern.clone()?;
        let ticket = self.filter.begin();
        let process = self.source.process.clone();
        let report = open.map(|open| open.report.clone());
        match report {
            Some(report) => Some(SearchJob::Panes(ticket, report, pattern, process)),
            None => self.source.is_of_store.then_some(SearchJob::Stored(ticket, pattern)),
        }
    }

    pub(super) fn forget_hits(&mut self) {
        self.change(|found| {
            found.groups.clear();
            found.rows.clear();
            found.searched = SearchProgress::default();
        });
        self.scroll = Scroll::default();
    }

    /// Returns the hit at the cursor; the first on a heading, the last on the row below hits.
    pub(crate) fn hit(&self) -> Option<(&HitGroup, &Hit)> {
        let row = self.chosen()?;
        let group = self.source.groups.get(row.group)?;
        Some((group, group.hits.get(row.at.saturating_sub(1)).or(group.hits.last())?))
    }

    /// Returns the chosen hit's number, from 1; counted hits without a row are never chosen.
    pub(super) fn number(&self) -> u64 {
        let Some(row) = self.chosen() else { return 0 };
        let before = self.source.groups.iter().take(row.group).map(|group| group.count).sum::<u64>();
        let most = self.source.groups.get(row.group).map_or(1, |group| group.hits.len().max(1));
        before + row.at.clamp(1, most) as u64
    }

    /// Moves the cursor from a row above or below hits to a hit.
    pub(super) fn choose_hit(&mut self) {
        let Some(row) = self.chosen().filter(|row| !self.source.is_hit(row)) else { return };
        self.scroll.cursor = if row.at == 0 { self.scroll.cursor + 1 } else { self.scroll.cursor.saturating_sub(1) };
    }

    pub(super) fn step(&mut self, forward: bool) {
        let is_hit = |at: &usize| self.shown(*at).next().is_some_and(|row| self.source.is_hit(row));
        let found = in_circle(self.scroll.cursor, self.counts().0, forward).find(is_hit);
        self.scroll.cursor = found.unwrap_or(self.scroll.cursor);
    }
}

/// Returns the positions after or before a cursor, wrapping around to the cursor itself.
pub(crate) fn in_circle(cursor: usize, count: usize, forward: bool) -> impl Iterator<Item = usize> {
    (1..=count).map(move |n| if forward { cursor + n } else { cursor + 2 * count - n } % count)
}
