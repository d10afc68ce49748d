//! What the rules make of the open report: the list of what deserves a look, noise that is hidden, and why a row is marked.

use super::list::OpenReport;
use super::message::{Effect, Opening};
use super::model::Model;
use super::overlay::Overlay;
use super::panes::PANES;
use super::spots::{Shows, Spot, Spots, Target};
use crate::report::Place;
use crate::report::rows::Line;
use crate::report::rules::{Marks, Rules, Severity};
use crate::report::{Order, Pane, RowSet, Section};
use crate::text::{Untrusted, thousands};
use std::collections::BTreeSet;
use std::sync::Arc;

impl OpenReport {
    /// How a row is marked.
    #[must_use]
    pub fn mark(&self, rules: &Rules, place: Place) -> Option<Severity> {
        let marks = self.marks.as_ref()?;
        let rule = marks.rule(place.section, place.row).and_then(|rule| rules.rule(rule)).map(|rule| rule.severity);
        rule.or_else(|| marks.noise().contains(place.section, place.row).then_some(Severity::Noise))
    }

    /// Shows rows by how severe they say that they are; where nobody has moved yet, the first of them are seen.
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
    /// Asks for a report to be judged, after it has been read.
    pub(super) fn to_be_judged(&self, opening: Opening) -> Vec<Effect> {
        let entries = self.list.iter().flat_map(|list| &list.entries);
        let open = entries.filter_map(|entry| entry.open.as_ref()).find(|open| open.opening == opening);
        let body = open.map(|open| open.report.body.clone());
        let (rules, own) = (self.rules.clone(), self.rules_file.clone());
        body.map(|body| Effect::Judge { opening, body, rules, own }).into_iter().collect()
    }

    pub(super) fn ruled(&mut self, rules: Arc<Rules>, problems: &[String]) -> Vec<Effect> {
        self.rules = Some(rules);
        if !problems.is_empty() {
            self.warn(problems.join(" "));
        }
        Vec::new()
    }

    pub(super) fn judged(&mut self, opening: Opening, marks: Marks) -> Vec<Effect> {
        let hide = self.hides_noise;
        let focused = self.focused();
        if let Some(open) = self.opened_mut(opening) {
            open.arrange(marks.order(), focused);
            open.marks = Some(Arc::new(marks));
            if hide {
                open.hide_noise(true);
            }
        }
        self.settle();
        Vec::new()
    }

    /// Hides noise in every pane, or shows it again.
    pub(super) fn toggle_noise(&mut self) -> Vec<Effect> {
        self.hides_noise = !self.hides_noise;
        let hide = self.hides_noise;
        if let Some(open) = self.open_mut() {
            open.hide_noise(hide);
        }
        let hidden = self.open().and_then(|open| open.marks.as_ref()).map_or(0, |marks| marks.noise().len());
        self.say(match hide {
            true => {
                format!("{} rows that any machine makes by itself are hidden. ~ shows them.", thousands(hidden as u64))
            }
            false => "Everything is shown.".to_owned(),
        });
        self.settle();
        Vec::new()
    }

    /// Lists every row that deserves a look, the most severe first.
    pub(super) fn list_notable(&mut self) -> Vec<Effect> {
        let Some((open, rules)) = self.open().zip(self.rules.as_ref()) else { return Vec::new() };
        let Some(marks) = &open.marks else {
            self.say("The rules are still being applied.");
            return Vec::new();
        };
        let entry = self.list.as_ref().map_or(0, |list| list.scroll.cursor);
        let identifier = self.chosen().and_then(|entry| entry.identifier.clone());
        let order = |section: usize| {
            let found = open.report.section(section);
            found.map(|found| (Pane::ALL.iter().position(|pane| *pane == found.pane()), found.rank))
        };
        let found = marks.notable().filter_map(|(section, row, rule)| Some((rules.rule(rule)?, section, row)));
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(rule, section, row)| (rule.severity, order(*section), *row));
        let spots = found.into_iter().map(|(rule, section, row)| {
            let place = Place { section, row };
            let target = Target { file: None, identifier: identifier.clone(), entry, place: Some(place) };
            let head = format!("{} {}", rule.severity.sign(), rule.name);
            Spot { head: head.into(), shows: Shows::Open(place), target: Some(target) }
        });
        let spots: Vec<_> = spots.collect();
        if spots.is_empty() {
            self.say("No rule marks a row of this report.");
            return Vec::new();
        }
        let count = thousands(spots.len() as u64);
        let signs = "! high · * medium · + low";
        self.put_over(Overlay::Spots(Spots::new(format!("What deserves a look · {count} rows · {signs}"), spots)));
        Vec::new()
    }

    /// Which rules mark a row, and why, as lines before its fields.
    pub(super) fn reasons(&self, place: Place) -> Vec<Line> {
        let Some((open, rules)) = self.open().zip(self.rules.as_ref()) else { return Vec::new() };
        let reason = |rule: &crate::report::rules::Rule| {
            let attack = rule.attack.iter().map(|id| format!(" · {id}")).collect::<String>();
            let words = format!("{}. {} (rule {}{attack})", rule.name, rule.why, rule.id);
            let sign = format!("{} {}", rule.severity.sign(), rule.severity.word());
            Line { depth: 0, name: Some(Untrusted::from(sign)), value: Some(Untrusted::from(words)) }
        };
        rules.of_row(&open.report, place.section, place.row).into_iter().map(reason).collect()
    }
}
