//! Findings of the rules: their list, hidden noise, and the reasons for a mark.

use crate::app::over::{Annotation, ListFilter, NotableScope, RowPicker, Shows, Spot, Spots, Target};
use crate::app::panes::{PANES, Scroll};
use crate::app::{Entry, List, Model, OpenReport, Opening, ReportJob};
use crate::export::What;
use crate::report::identifier::Identifier;
use crate::report::rules::{Marks, Rule, Rules, Severity};
use crate::report::{Body, Order, Pane, Place, Row, RowSet, Section};
use crate::text::{Untrusted, Visible, thousands};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A report whose rows are to be judged beside others.
#[derive(Debug)]
pub struct ReportToEvaluate {
    /// Its place in the list.
    pub entry: usize,
    /// What it is asked for by.
    pub identifier: Option<Identifier>,
    pub name: Untrusted,
    pub body: Body,
}

/// A finding, in one or several reports.
#[derive(Debug)]
pub struct NotableRow {
    /// The rule that matters most.
    pub rule: u16,
    pub row: Row,
    /// The sandboxes that saw it: the first by its name, the others counted.
    pub seen_by: Visible,
    /// Where the first of them has it.
    pub target: Target,
    /// Every further row that says the same: the place of its report in the list, and its own.
    pub also: Vec<(usize, Place)>,
}

const NOTHING_NOTABLE: &str = "No rule marks a row of this report.";

fn spot(rule: &Rule, shows: Shows, target: Target) -> Spot {
    let why = format!("{} {} {} {}", rule.id, rule.why, rule.severity.word(), rule.attack.join(" "));
    let (severity, head) = (Some(rule.severity), rule.name.clone().into());
    Spot { severity, head, why, seen_by: None, shows, target: Some(target), also: Vec::new() }
}

impl OpenReport {
    /// How a row is marked.
    pub fn mark(&self, rules: &Rules, place: Place) -> Option<Severity> {
        let marks = self.marks.as_ref()?;
        let rule = marks.rule(place.section, place.row).and_then(|rule| rules.rule(rule)).map(|rule| rule.severity);
        rule.or_else(|| marks.noise().contains(place.section, place.row).then_some(Severity::Noise))
    }

    /// Orders rows by severity; an untouched pane shows the first of them.
    fn arrange(&mut self, order: &Arc<Order>, focused: Option<Pane>) {
        let pane_of = |section: usize| self.report.section(section).map(Section::pane);
        let panes: BTreeSet<Pane> = order.sections().filter_map(pane_of).collect();
        for pane in panes {
            let state = self.panes.entry(pane).or_default();
            let is_untouched = state.scroll.cursor == 0 && focused != Some(pane);
            state.sift(&self.report, pane, |sieve| sieve.arrange(Arc::clone(order)));
            if is_untouched {
                state.scroll.cursor = 0;
            }
        }
    }

    /// Hides the rows that are noise in every pane, or shows them again.
    fn hide_noise(&mut self, hide: bool) {
        let Some(marks) = self.marks.clone() else { return };
        for pane in PANES.iter().map(|info| info.pane) {
            let noise = if hide { noise_of(self, &marks, pane) } else { RowSet::EMPTY };
            if !noise.is_empty() || self.panes.get(&pane).is_some_and(|state| !state.sieve().hidden().is_empty()) {
                let state = self.panes.entry(pane).or_default();
                state.sift(&self.report, pane, |sieve| sieve.hide(noise));
            }
        }
    }
}

fn noise_of(open: &OpenReport, marks: &Marks, pane: Pane) -> RowSet {
    let sections = open.report.sections(pane).into_iter();
    sections.flat_map(|section| marks.noise().rows(section).iter().map(move |row| (section, *row))).collect()
}

impl Model {
    /// Has a report judged, after it has been read.
    pub(in crate::app) fn have_judged(&mut self, opening: Opening) {
        let report = self.opened_mut(opening).map(|open| open.report.clone());
        let (rules, own) = (self.rules.clone(), self.settings.rules_file.clone());
        if let Some(report) = report {
            self.emit(ReportJob::Evaluate { opening, report, rules, own });
        }
    }

    pub(in crate::app) fn judged(&mut self, opening: Opening, marks: Marks) {
        let hide = self.hides_noise;
        let file = self.files.with_opening_mut(opening);
        if let Some((focused, open)) = file.and_then(|file| Some((file.focused(), file.list.opened_mut(opening)?))) {
            open.arrange(marks.order(), focused);
            open.marks = Some(Arc::new(marks));
            if hide {
                open.hide_noise(true);
            }
        }
        if self.open().is_some_and(|open| open.opening == opening) {
            self.fill_notable();
        }
        self.settle();
    }

    /// Hides noise in every pane, or shows it again.
    pub(in crate::app) fn toggle_noise(&mut self) {
        self.hides_noise = !self.hides_noise;
        let hide = self.hides_noise;
        self.files.reports_mut().for_each(|open| open.hide_noise(hide));
        let hidden = self.open().and_then(|open| open.marks.as_ref()).map_or(0, |marks| marks.noise().len());
        self.say(match hide {
            true => {
                let (hidden, way) = (thousands(hidden as u64), self.way_to("hide-noise"));
                format!("{hidden} rows that any machine makes by itself are hidden. {way} shows them.")
            }
            false => "Everything is shown.".to_owned(),
        });
        self.settle();
    }

    /// Lists all findings, the most severe first.
    pub(in crate::app) fn list_notable(&mut self) {
        self.list_notable_with(ListFilter::default())
    }

    fn list_notable_with(&mut self, filter: ListFilter) {
        let Some(open) = self.open().filter(|_| self.rules.is_some()) else { return };
        if open.marks.is_none() {
            self.say("The rules are still being applied.");
            return;
        }
        let spots = self.notable_spots();
        if spots.is_empty() {
            self.say(NOTHING_NOTABLE);
            return;
        }
        let picker = RowPicker { notable: Some(NotableScope::Open), ..RowPicker::new("What deserves a look", spots) };
        let mut list = Spots::new(picker);
        list.filter = filter;
        self.over.put(list);
        self.sift_list()
    }

    /// The findings of the open report, the most severe first.
    fn notable_spots(&self) -> Vec<Spot> {
        let Some((open, rules)) = self.open().zip(self.rules.as_ref()) else { return Vec::new() };
        let entry = self.list().map_or(0, |list| list.scroll.cursor);
        let identifier = self.chosen().and_then(|entry| entry.identifier.clone());
        let order = |section: usize| {
            let found = open.report.section(section);
            found.map(|found| (found.pane(), found.rank))
        };
        let found = open.marks.iter().flat_map(|marks| marks.notable());
        let found = found.filter_map(|(section, row, rule)| Some((rules.rule(rule)?, section, row)));
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(rule, section, row)| (rule.severity, order(*section), *row));
        let spots = found.into_iter().map(|(rule, section, row)| {
            let place = Place { section, row };
            let target = Target { file: None, identifier: identifier.clone(), entry, place: Some(place) };
            spot(rule, Shows::Open(place), target)
        });
        spots.collect()
    }

    /// Clears or refreshes a list of findings whose report was fetched again.
    pub(in crate::app) fn list_notable_anew(&mut self, identifier: &Identifier) {
        let is_open = self.chosen().is_some_and(|chosen| chosen.identifier.as_ref() == Some(identifier));
        match self.spots_mut() {
            Some(list) if is_open && list.source.notable == Some(NotableScope::Open) => {
                list.change(None, |picker| (picker.spots, picker.is_complete) = (Vec::new(), false));
                list.scroll = Scroll::default();
            }
            Some(list) if matches!(list.source.notable, Some(NotableScope::Held(_))) => self.reach_held(),
            _ => {}
        }
    }

    /// Which reports the top list of findings covers; none while it loads, since it may
    /// still show earlier rows.
    pub(in crate::app) fn listed_reach(&self) -> Option<NotableScope> {
        let list = self.over.top_as::<Spots>()?;
        list.source.notable.filter(|_| list.source.is_complete)
    }

    /// The visible findings of each report, to be written to a file.
    pub(in crate::app) fn listed_notable(&self) -> Option<What> {
        let list = self.over.top_as::<Spots>()?;
        let reach = self.listed_reach()?;
        let mut shown: BTreeMap<usize, RowSet> = match reach {
            NotableScope::Open => self.list().map(|list| (list.scroll.cursor, RowSet::EMPTY)).into_iter().collect(),
            NotableScope::Held(_) => self.held_here().map(|(entry, _)| (entry, RowSet::EMPTY)).collect(),
        };
        for (entry, place) in list.shown().flat_map(Spot::rows) {
            if let Some((rows, row)) = shown.get_mut(&entry).zip(u32::try_from(place.row).ok()) {
                rows.insert(place.section, row);
            }
        }
        Some(What::Notable(Some(Arc::new(shown.into_values().collect()))))
    }

    /// Fills a list of findings that waited for the rules.
    fn fill_notable(&mut self) {
        let waits = |list: &&mut Spots| list.source.notable == Some(NotableScope::Open) && !list.source.is_complete;
        if self.spots_mut().filter(waits).is_none() {
            return;
        }
        let found = self.notable_spots();
        if found.is_empty() {
            self.say(NOTHING_NOTABLE);
        }
        self.change_spots(|picker| (picker.spots, picker.is_complete) = (found, true));
    }

    /// Whether the top list of findings can cover several reports.
    pub(in crate::app) fn can_reach_further(&self) -> bool {
        self.over.top_as::<Spots>().is_some_and(|list| list.source.is_notable())
            && self.list().is_some_and(|list| list.held() > 1)
    }

    /// The reports of the list that are here, by their place.
    pub(in crate::app) fn held_here(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let entries = self.list().into_iter().flat_map(|list| list.entries().iter().enumerate());
        entries.filter(|(_, entry)| entry.here().is_some())
    }

    /// Lists the findings of every stored report of the file, or of the open one again.
    pub(in crate::app) fn reach_further(&mut self) {
        let reach = self.spots_mut().and_then(|list| list.source.notable);
        if matches!(reach, Some(NotableScope::Held(_))) {
            let filter = self.spots_mut().map(|list| std::mem::take(&mut list.filter));
            self.over.close();
            return self.list_notable_with(filter.unwrap_or_default());
        }
        self.reach_held()
    }

    fn reach_held(&mut self) {
        let Some(rules) = self.rules.clone() else { return };
        let number = self.next_number();
        let reports = self.held_here().filter_map(|(entry, found)| {
            let name = found.parts.as_ref().map(|parts| parts.sandbox.clone()).unwrap_or_default();
            let (identifier, body) = (found.identifier.clone(), found.here()?.body.clone());
            Some(ReportToEvaluate { entry, identifier, name, body })
        });
        let reports = reports.collect();
        self.change_spots(|picker| (picker.notable, picker.is_complete) = (Some(NotableScope::Held(number)), false));
        self.emit(ReportJob::EvaluateAll { number, reports, rules });
    }

    pub(in crate::app) fn judged_held(&mut self, number: u64, found: Vec<NotableRow>) {
        let Some(rules) = self.rules.clone() else { return };
        let (without, not_in_it) = self.not_judged();
        let which = if self.is_document() { "reports that are open" } else { "held reports of the file" };
        if self.spots_mut().is_none_or(|list| list.source.notable != Some(NotableScope::Held(number))) {
            return;
        }
        let spots = found.into_iter().filter_map(|NotableRow { rule, row, seen_by, target, also }| {
            let spot = spot(rules.rule(rule)?, Shows::Row(row), target);
            Some(Spot { seen_by: Some(seen_by), also, ..spot })
        });
        let all = RowPicker::new(format!("What deserves a look in all {which}{without}"), spots.collect());
        self.spots_mut().into_iter().for_each(|list| list.scroll = Scroll::default());
        self.change_spots(|picker| *picker = RowPicker { notable: Some(NotableScope::Held(number)), ..all });
        if let Some(words) = not_in_it.filter(|_| self.notice.is_none()) {
            self.say(words);
        }
    }

    /// Changes the list of rows to go to.
    fn change_spots(&mut self, change: impl FnOnce(&mut RowPicker)) {
        let report = self.open().map(|open| open.report.clone());
        if let Some(list) = self.spots_mut() {
            list.change(report.as_ref(), change);
        }
        self.settle_over();
    }

    /// The gaps of a list over all stored reports, for its title and as a message.
    fn not_judged(&self) -> (String, Option<String>) {
        let missing = Some(self.missing_reports().len() as u64).filter(|missing| *missing > 0);
        let has_more = self.list().is_some_and(List::has_more_pages);
        let title = missing.map(|missing| format!(" · without {} not held", thousands(missing))).unwrap_or_default();
        let sandboxes = match missing {
            Some(1) => Some("1 sandbox that is not held".to_owned()),
            Some(missing) => Some(format!("{} sandboxes that are not held", thousands(missing))),
            None => None,
        };
        let pages = has_more.then(|| "further sandboxes on pages that were not listed".to_owned());
        let words: Vec<_> = sandboxes.into_iter().chain(pages).collect();
        let words = (!words.is_empty()).then(|| format!("Not in it: {}.", words.join(", and ")));
        (title + if has_more { " · without unlisted pages" } else { "" }, words)
    }

    /// Whether the top list covers every stored report.
    pub fn leads_back_to_one(&self) -> bool {
        self.over.top_as::<Spots>().is_some_and(|list| matches!(list.source.notable, Some(NotableScope::Held(_))))
    }

    /// Which rules mark a row, and why.
    pub(in crate::app) fn reasons(&self, place: Place) -> Vec<Annotation> {
        let Some((open, rules)) = self.open().zip(self.rules.as_ref()) else { return Vec::new() };
        let reason = |rule: &Rule| {
            let head = format!("{} {}", rule.severity.sign(), rule.severity.word());
            Annotation { head, words: rule.words() }
        };
        let (none, marks) = (Marks::default(), open.marks.as_deref());
        rules.of_row(&open.report, marks.unwrap_or(&none), place.section, place.row).into_iter().map(reason).collect()
    }
}
