//! Findings: rows that rules match, by subject and rule; and the reports that lists cover: that of
//! the chosen sandbox, or all stored ones of the file.

use crate::app::overlays::{ListSource, ListView, Target, text_of};
use crate::app::panes::{FoldStep, Scroll};
use crate::app::{Effect, Job, JobNumber, KeyContext, ListEntry, Model, OpenReport, Overlay, ReportJob, Size};
use crate::export::Part;
use crate::prevalence::{Prevalence, SandboxValue, StableBuildHasher};
use crate::report::compare::ValueHashes;
use crate::report::identifier::Identifier;
use crate::report::rules::{Marks, RowsByRule, RuleRows, Rules};
use crate::report::{Body, Cancel, Cancelled, Pane, Report, Row, RowPlace, RowSet};
use crate::text::{Untrusted, Visible, to_visible};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::slice::from_ref;
use std::sync::Arc;

/// Maximum of listed rows of a rule; the others are counted and exported.
const MAX_LISTED_ROWS: usize = 1_000;

/// Columns of a sandbox's name; screen rows from which two describe the chosen row.
const NAME_WIDTH: usize = 16;
const TALL_ROWS: u16 = 14;

pub type FindingList = ListView<Findings>;

/// The rows that rules match, by subject and rule.
#[derive(Debug, Default)]
pub struct Findings {
    pub scope: Scope,
    pub reports: usize,
    pub totals: FindingTotals,
    pub is_complete: bool,
    rows: Vec<FindingRow>,
    /// The indices of rules whose rows are shown.
    pub(crate) unfolded: BTreeSet<u16>,
    /// The indices of folded rules although a filter matches their rows.
    folded: BTreeSet<u16>,
    job: Job,
}

#[derive(Debug, Default)]
pub struct FindingTotals {
    /// Rows that at least one rule matches; equal texts count once.
    pub distinct: usize,
    /// The number of reports that could not be read, or not completely.
    pub unread: usize,
    /// The number of lists that the service may have cut.
    pub cut_lists: u64,
}

/// A row of the list of findings.
#[derive(Debug)]
pub enum FindingRow {
    Subject(FindingSubject),
    Rule(RuleFindings),
    Row(MarkedRow),
    /// A rule's rows that are only counted: the rule's index and their number.
    More(u16, usize),
}

/// The heading of one subject's rules.
#[derive(Debug, Default)]
pub struct FindingSubject {
    pub name: String,
    pub rules: Vec<u16>,
    /// The hashes of the distinct rows that these rules match.
    pub rows: HashSet<u64>,
}

/// The rows that one rule matches in all covered reports.
#[derive(Debug)]
pub struct RuleFindings {
    pub number: u16,
    /// Distinct rows.
    pub count: usize,
    /// All rows, by index of the report in the list and by pane.
    pub places: BTreeMap<usize, BTreeMap<Pane, RowSet>>,
    filter_text: Arc<str>,
}

/// A row that a rule matches; equal rows of several sandboxes are one.
#[derive(Debug)]
pub struct MarkedRow {
    pub rule: u16,
    /// The hash of its text.
    pub number: u64,
    pub pane: Pane,
    pub row: Row,
    /// The first sandbox that saw it, and the number of the others.
    pub seen_by: Visible,
    pub(crate) target: Target,
    /// The row in each report, by their indices in the list.
    places: Vec<(usize, RowPlace)>,
    /// What it is about.
    pub value: Option<ValueHashes>,
    /// How common it is among stored files, once counted.
    pub prevalence: Prevalence,
    filter_text: Arc<str>,
}

impl MarkedRow {
    /// Adds the number of other sandboxes that saw it, and its rule's text.
    fn complete(self, filter_text: &Arc<str>) -> Self {
        let sandboxes = self.places.iter().map(|(entry, _)| entry).collect::<BTreeSet<_>>().len();
        let more = if sandboxes > 1 { format!(" +{}", sandboxes - 1) } else { String::new() };
        let seen_by = to_visible(format!("{}{more}", self.seen_by));
        Self { seen_by, filter_text: Arc::clone(filter_text), ..self }
    }

    pub(crate) fn summary(&self, rules: Option<&Rules>) -> String {
        let rule = rules.and_then(|rules| rules.rule(self.rule));
        let rule = rule.map(|rule| format!("{} · {} · ", rule.severity.name(), rule.name)).unwrap_or_default();
        let common = self.prevalence.label().map(|label| format!(" · {label}")).unwrap_or_default();
        format!("{rule}seen by {}{common}", self.seen_by)
    }
}

impl FindingRow {
    fn rules(&self) -> &[u16] {
        match self {
            Self::Subject(subject) => &subject.rules,
            Self::Rule(RuleFindings { number, .. }) | Self::Row(MarkedRow { rule: number, .. }) => from_ref(number),
            Self::More(rule, _) => from_ref(rule),
        }
    }

    pub fn finding(&self) -> Option<&MarkedRow> {
        if let Self::Row(finding) = self { Some(finding) } else { None }
    }

    /// Counts rows among stored files by `count`, from sandbox and values; sorts rare rows first.
    pub fn count_all(rows: &mut [Self], count: &dyn Fn(&[SandboxValue]) -> Vec<Prevalence>) {
        let mut listed: Vec<_> =
            rows.iter_mut().filter_map(|row| if let Self::Row(of) = row { Some(of) } else { None }).collect();
        let sandbox = |row: &MarkedRow| row.target.identifier.as_ref().map(|id| id.parts().sandbox).unwrap_or_default();
        let values: Vec<_> = listed.iter().map(|row| (sandbox(row), row.value.unwrap_or_default())).collect();
        for (row, counted) in listed.iter_mut().zip(count(&values)) {
            row.prevalence = counted;
        }
        for alike in rows.chunk_by_mut(|one, other| one.finding().is_some() && other.finding().is_some()) {
            alike.sort_by_key(|row| row.finding().map(|row| row.prevalence.rarity()));
        }
    }

    /// Finds matches of rules in several reports, by subject; severe rules first, then rare ones.
    pub fn find_all(
        reports: &[ReportToEvaluate],
        rules: &Rules,
        cancel: &Cancel,
    ) -> Result<(Vec<Self>, FindingTotals), Cancelled> {
        let mut unread = 0;
        let mut cut_lists = 0;
        let mut found = RowsByRule::<MarkedRow>::new(MAX_LISTED_ROWS);
        let mut places = HashMap::<u16, BTreeMap<usize, BTreeMap<Pane, RowSet>>>::new();
        for input in reports {
            let (report, marks) = input.evaluate(rules, cancel)?;
            unread += usize::from(input.body.is_whole() && !report.is_sound());
            cut_lists += report.cut_lists(None).count() as u64;
            let order = |section: usize| report.section(section).map(|found| (found.pane(), found.rank()));
            let mut notable: Vec<_> = marks.notable().collect();
            notable.sort_by_key(|(section, row, _)| (order(*section), *row));
            for (section, row, number) in notable {
                cancel.check()?;
                let Some(rule) = rules.rule(number) else { continue };
                let place = RowPlace { section, row };
                let marked = report.row(section, row);
                let pane = report.section(section).map_or(Pane::Other, |section| section.pane());
                let text = marked.text();
                let make = |rule, number| input.row((rule, number), &report, place, pane, marked);
                let number = found.add((number, rule), &text, make, |before| before.places.push((input.entry, place)));
                let rows = places.entry(number).or_default().entry(input.entry).or_default().entry(pane).or_default();
                rows.insert(section, u32::try_from(row).unwrap_or(u32::MAX));
            }
        }
        let mut distinct = HashSet::new();
        let mut rows = Vec::<Self>::new();
        let mut heading = 0;
        for RuleRows { number, rule, known, rows: listed } in found.into_rules() {
            if !matches!(rows.get(heading), Some(Self::Subject(subject)) if subject.name == rule.subject_name()) {
                heading = rows.len();
                let name = rule.subject_name().to_owned();
                rows.push(Self::Subject(FindingSubject { name, ..FindingSubject::default() }));
            }
            if let Some(Self::Subject(subject)) = rows.get_mut(heading) {
                subject.rules.push(number);
                subject.rows.extend(known.keys());
            }
            distinct.extend(known.keys().copied());
            let count = known.len();
            let more = count - listed.len();
            let filter_text: Arc<str> = Arc::from(rule.filter_text());
            let places = places.remove(&number).unwrap_or_default();
            rows.push(Self::Rule(RuleFindings { number, count, places, filter_text: Arc::clone(&filter_text) }));
            rows.extend(listed.into_iter().map(|row| Self::Row(row.complete(&filter_text))));
            rows.extend((more > 0).then_some(Self::More(number, more)));
        }
        Ok((rows, FindingTotals { distinct: distinct.len(), unread, cut_lists }))
    }
}

#[derive(Debug)]
pub struct ReportToEvaluate {
    entry: usize,
    identifier: Option<Identifier>,
    name: Untrusted,
    body: Body,
    /// The report with its matches, if the rules were applied before.
    evaluated: Option<(Report, Arc<Marks>)>,
}

impl ReportToEvaluate {
    fn of(entry: usize, found: &ListEntry) -> Option<Self> {
        let name = found.name().unwrap_or_default();
        let evaluated = found.open.as_ref().and_then(|open| Some((open.report.clone(), open.marks.clone()?)));
        let body = found.report()?.body.clone();
        Some(Self { entry, identifier: found.identifier.clone(), name, body, evaluated })
    }

    fn evaluate(&self, rules: &Rules, cancel: &Cancel) -> Result<(Report, Arc<Marks>), Cancelled> {
        if let Some(evaluated) = &self.evaluated {
            return Ok(evaluated.clone());
        }
        let report = Report::open(&self.body);
        let marks = rules.evaluate(&report, cancel)?;
        Ok((report, Arc::new(marks)))
    }

    fn row(&self, (rule, number): (u16, u64), report: &Report, place: RowPlace, pane: Pane, row: Row) -> MarkedRow {
        let values = report.values_of(Some(place), &StableBuildHasher, &Cancel::default()).unwrap_or_default();
        let entry = self.entry;
        MarkedRow {
            rule,
            number,
            pane,
            row,
            seen_by: self.name.visible_cut(NAME_WIDTH),
            target: Target { file: None, identifier: self.identifier.clone(), entry, place: Some(place) },
            places: vec![(entry, place)],
            value: values.first().map(|value| value.hashes),
            prevalence: Prevalence::default(),
            filter_text: Arc::default(),
        }
    }
}

impl Findings {
    pub fn rules(&self) -> impl Iterator<Item = &RuleFindings> {
        self.rows.iter().filter_map(|row| if let FindingRow::Rule(of) = row { Some(of) } else { None })
    }

    pub fn is_unfolded(&self, rule: u16, is_filtered: bool) -> bool {
        if is_filtered { !self.folded.contains(&rule) } else { self.unfolded.contains(&rule) }
    }

    fn fold(&mut self, rules: &[u16], fold: bool, is_filtered: bool) {
        let turned = if is_filtered { &mut self.folded } else { &mut self.unfolded };
        match fold == is_filtered {
            true => turned.extend(rules),
            false => turned.retain(|rule| !rules.contains(rule)),
        }
    }
}

impl ListSource for Findings {
    type Row = FindingRow;

    const PLACES: (KeyContext, KeyContext) = (KeyContext::FilterLine, KeyContext::Rows);

    fn rows(&self) -> &[FindingRow] {
        &self.rows
    }

    fn text(row: &FindingRow) -> String {
        match row {
            FindingRow::Subject(_) | FindingRow::More(..) => String::new(),
            FindingRow::Rule(found) => found.filter_text.to_string(),
            FindingRow::Row(finding) => {
                format!("{} {} {}", finding.filter_text, finding.seen_by, text_of(&finding.row))
            }
        }
    }

    fn is_in(&self, row: &FindingRow, pane: Pane) -> bool {
        match row {
            FindingRow::Rule(of) => of.places.values().any(|panes| panes.contains_key(&pane)),
            row => row.finding().is_some_and(|finding| finding.pane == pane),
        }
    }

    /// Adds headings above matching rows; folded rules hide their rows.
    fn arrange(&self, found: Vec<u32>, is_filtered: bool) -> Vec<u32> {
        let rows = found.iter().filter_map(|number| self.rows.get(*number as usize));
        let rules: BTreeSet<u16> = rows.flat_map(|row| row.rules().iter().copied()).collect();
        let is_shown = |(number, row): &(u32, &FindingRow)| match row {
            FindingRow::Subject(subject) => subject.rules.iter().any(|rule| rules.contains(rule)),
            FindingRow::Rule(of) => rules.contains(&of.number),
            FindingRow::Row(MarkedRow { rule, .. }) | FindingRow::More(rule, _) => {
                self.is_unfolded(*rule, is_filtered) && found.binary_search(number).is_ok()
            }
        };
        (0..).zip(&self.rows).filter(is_shown).map(|(number, _)| number).collect()
    }

    /// Returns the height with all rules unfolded: folding does not move the list.
    fn height(&self, _: usize) -> usize {
        self.rows.len().max(8) + 3
    }

    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        if room.height >= TALL_ROWS { (1, 2) } else { (0, 1) }
    }

    fn on_typed(list: &mut FindingList, _: Option<&OpenReport>) -> Option<Effect> {
        list.source.folded.clear();
        list.apply_filter();
        list.go_to_first();
        None
    }
}

impl FindingList {
    pub(crate) fn is_folded(&self) -> bool {
        self.source.rules().any(|of| !self.source.is_unfolded(of.number, self.is_filtered()))
    }

    /// Folds or unfolds the chosen rule, its subject's rules or all; or moves to the heading above.
    pub(crate) fn fold(&mut self, step: FoldStep) {
        let all = || self.source.rules().map(|of| of.number).collect();
        let of = |row: &FindingRow| if matches!(step, FoldStep::All(_)) { all() } else { row.rules().to_vec() };
        let Some(rules) = self.chosen().map(of) else { return };
        let is_filtered = self.is_filtered();
        let is_heading = self.is_on_heading();
        let is_folded = |rule: &u16| !self.source.is_unfolded(*rule, is_filtered);
        let fold = match step {
            FoldStep::Left if !is_heading || rules.iter().all(is_folded) => {
                let is_above = |row: &FindingRow| match row {
                    FindingRow::Rule(_) => !is_heading,
                    row => matches!(row, FindingRow::Subject(_)),
                };
                let above = (0..self.scroll.cursor).rev().find(|at| self.shown(*at).next().is_some_and(is_above));
                return self.scroll.cursor = above.unwrap_or(self.scroll.cursor);
            }
            FoldStep::Left | FoldStep::Right => step == FoldStep::Left,
            FoldStep::Toggle => !rules.iter().any(is_folded),
            FoldStep::All(fold) => fold,
        };
        self.change(|source| source.fold(&rules, fold, is_filtered));
    }

    /// Moves the cursor to the first rule or matching row.
    fn go_to_first(&mut self) {
        let is_filtered = self.is_filtered();
        let is_first = |row: &FindingRow| match row {
            FindingRow::Rule(_) => !is_filtered,
            row => row.finding().is_some(),
        };
        let cursor = self.shown(0).position(is_first).unwrap_or(0);
        self.scroll = Scroll { cursor, top: 0 };
    }

    pub(crate) fn is_on_heading(&self) -> bool {
        matches!(self.chosen(), Some(FindingRow::Subject(_) | FindingRow::Rule(_)))
    }

    pub(crate) fn target(&self) -> Option<&Target> {
        self.chosen().and_then(FindingRow::finding).filter(|_| self.source.is_complete).map(|finding| &finding.target)
    }

    /// Returns all rows that pass the filter, by index of the report; including folded ones.
    pub(crate) fn marked_rows(&self, has_filter: bool) -> BTreeMap<usize, RowSet> {
        let mut rows = BTreeMap::<usize, RowSet>::new();
        let is_in = |pane: Pane| !has_filter || self.pane.is_none_or(|shown| shown == pane);
        let is_left = |row: &&FindingRow| !has_filter || self.filter.is_in(&Findings::text(row).to_lowercase());
        for row in self.source.rows().iter().filter(is_left) {
            match row {
                FindingRow::Rule(of) => of.places.iter().for_each(|(entry, panes)| {
                    let panes = panes.iter().filter(|(pane, _)| is_in(**pane));
                    panes.for_each(|(_, more)| rows.entry(*entry).or_default().extend(more));
                }),
                FindingRow::Row(finding) if is_in(finding.pane) => finding.places.iter().for_each(|(entry, place)| {
                    rows.entry(*entry).or_default().insert(place.section, u32::try_from(place.row).unwrap_or(u32::MAX));
                }),
                _ => {}
            }
        }
        rows
    }
}

/// The scope of findings and indicators; saved for the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Sandbox,
    #[default]
    File,
}

impl Scope {
    pub fn label(self) -> &'static str {
        match self {
            Self::Sandbox => "this sandbox",
            Self::File => "all sandboxes",
        }
    }

    pub fn other(self) -> Self {
        if self == Self::Sandbox { Self::File } else { Self::Sandbox }
    }
}

impl Model {
    /// Opens the list of findings, or restores one left for a row.
    pub(crate) fn list_findings(&mut self) {
        if self.return_to::<FindingList>() {
            return self.follow_scope();
        }
        let unfolded = self.files.shown().map(|file| file.unfolded.clone()).unwrap_or_default();
        self.overlays.put(FindingList::new(Findings { unfolded, ..Findings::default() }));
        self.find_findings();
    }

    /// Applies the rules to the covered reports, for the list of findings.
    pub(crate) fn find_findings(&mut self) {
        let scope = self.scope();
        let rules = self.rules_or_file();
        let reports: Vec<_> = self.covered().filter_map(|(entry, found)| ReportToEvaluate::of(entry, found)).collect();
        let Some(list) = self.overlays.find_mut::<FindingList>() else { return };
        list.source.scope = scope;
        list.source.reports = reports.len();
        list.source.is_complete = false;
        list.source.job = Job::default();
        let ticket = list.source.job.ticket();
        self.emit(ReportJob::EvaluateAll(ticket, reports, rules));
    }

    pub(crate) fn show_findings(&mut self, job: JobNumber, found: (Vec<FindingRow>, FindingTotals)) {
        let Some(list) = self.overlays.find_mut::<FindingList>().filter(|list| list.source.job.is(job)) else { return };
        list.change(|source| ((source.rows, source.totals), source.is_complete) = (found, true));
        list.go_to_first();
    }

    /// Returns the findings of the top list for an export, in the order of reports.
    pub(crate) fn listed_findings(&self) -> Option<Part> {
        let mut found = self.overlays.top_as::<FindingList>().filter(|list| list.source.is_complete)?.marked_rows(true);
        let rows = self.covered().map(|(entry, _)| found.remove(&entry).unwrap_or_default());
        Some(Part::Findings(Some(Arc::new(rows.collect()))))
    }

    /// Returns the scope of lists; a single stored report leaves no choice.
    pub fn scope(&self) -> Scope {
        match self.chosen().and_then(ListEntry::report) {
            None => Scope::File,
            Some(_) if self.stored_reports().nth(1).is_some() => self.remembered.scope,
            Some(_) => Scope::Sandbox,
        }
    }

    /// Returns the stored reports of the file, with their indices in the list.
    pub(crate) fn stored_reports(&self) -> impl Iterator<Item = (usize, &ListEntry)> {
        let entries = self.list().into_iter().flat_map(|list| list.entries.iter().enumerate());
        entries.filter(|(_, entry)| entry.report().is_some())
    }

    /// Returns the stored reports in the scope, with their indices in the list.
    pub(crate) fn covered(&self) -> impl Iterator<Item = (usize, &ListEntry)> {
        let only = self.list().map(|list| list.scroll.cursor).filter(|_| self.scope() == Scope::Sandbox);
        self.stored_reports().filter(move |(entry, _)| only.is_none_or(|only| only == *entry))
    }

    /// Returns whether the top list is complete; `None` if it does not depend on the scope.
    pub(crate) fn is_listed(&self) -> Option<bool> {
        match self.overlays.top()? {
            Overlay::Findings(list) => Some(list.source.is_complete),
            Overlay::Indicators(list) => Some(list.source.is_complete()),
            _ => None,
        }
    }

    /// Returns whether the top list depends on the scope, and both scopes are available.
    pub(crate) fn has_scope(&self) -> bool {
        let is_stored = self.chosen().is_some_and(|entry| entry.report().is_some());
        self.is_listed().is_some() && is_stored && self.stored_reports().nth(1).is_some()
    }

    /// Switches to the other scope and saves that choice.
    pub(crate) fn toggle_scope(&mut self) {
        self.remembered.scope = self.scope().other();
        self.follow_scope()
    }

    /// Rebuilds the top list if it covers another scope.
    pub(crate) fn follow_scope(&mut self) {
        let scope = self.scope();
        let count = self.covered().count();
        match self.overlays.top() {
            Some(Overlay::Findings(list)) if (list.source.scope, list.source.reports) != (scope, count) => {
                self.find_findings()
            }
            Some(Overlay::Indicators(list)) if list.source.scope != scope => self.find_indicators(),
            _ => {}
        }
    }
}
