//! Lists of rows to go to, and the jump to them; marks by rules in panes.

use crate::app::overlays::{ListSource, ListView, Overlay, TextRow};
use crate::app::panes::Move;
use crate::app::{JobNumber, KeyContext, List, Model, OpenReport, Screen};
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rules::{Marks, Rule, Rules};
use crate::report::{Order, Pane, Row, RowPlace, RowSet, Section};
use crate::text::thousands;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;

pub type RowPicker = ListView<PickerRows>;

#[derive(Debug)]
pub struct PickerRows {
    pub title: String,
    pub(crate) picker_rows: Vec<PickerRow>,
}

#[derive(Debug, Clone)]
pub struct PickerRow {
    /// The program's text before the row.
    pub head: Cow<'static, str>,
    /// The program's text instead of a row.
    pub text: Cow<'static, str>,
    pub row: Option<Row>,
    /// The pane of its row, in lists with rows of several panes.
    pub(crate) pane: Option<Pane>,
    /// Its target; `None` for plain text.
    pub target: Option<Target>,
}

/// A row of a report, open or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The file; `None` for the open one.
    pub(crate) file: Option<Sha256>,
    pub(crate) identifier: Option<Identifier>,
    /// The report's index in the list, for a report without identifier.
    pub(crate) entry: usize,
    /// The row; `None` for the report itself.
    pub(crate) place: Option<RowPlace>,
}

impl PickerRow {
    pub(crate) fn text(head: impl Into<Cow<'static, str>>, words: impl Into<Cow<'static, str>>) -> Self {
        Self { head: head.into(), text: words.into(), row: None, pane: None, target: None }
    }

    pub(crate) fn row(head: impl Into<Cow<'static, str>>, row: Row, target: Target) -> Self {
        Self { row: Some(row), target: Some(target), ..Self::text(head, "") }
    }
}

pub(crate) fn text_of(row: &Row) -> String {
    let (label, text) = row.label_and_text(|text| String::from_utf8_lossy(text.as_bytes()).into_owned());
    format!("{label} {text}")
}

impl PickerRows {
    pub(crate) fn new(title: impl Into<String>, picker_rows: Vec<PickerRow>) -> Self {
        Self { title: title.into(), picker_rows }
    }
}

impl ListSource for PickerRows {
    type Row = PickerRow;

    const PLACES: (KeyContext, KeyContext) = (KeyContext::FilterLine, KeyContext::Rows);

    fn rows(&self) -> &[PickerRow] {
        &self.picker_rows
    }

    fn text(picker_row: &PickerRow) -> String {
        format!("{} {}{}", picker_row.head, picker_row.text, picker_row.row.as_ref().map(text_of).unwrap_or_default())
    }

    fn is_in(&self, picker_row: &PickerRow, pane: Pane) -> bool {
        picker_row.pane == Some(pane)
    }

    fn first(&self) -> usize {
        self.picker_rows.iter().position(|picker_row| picker_row.target.is_some()).unwrap_or(0)
    }

    fn height(&self, _: usize) -> usize {
        self.picker_rows.len() + 1
    }
}

impl Model {
    pub(crate) fn chosen_target(&self) -> Option<&Target> {
        match self.overlays.top()? {
            Overlay::Findings(list) => list.target(),
            Overlay::RowPicker(picker_rows) => picker_rows.chosen()?.target.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn go_to_chosen(&mut self) {
        match self.overlays.top() {
            Some(Overlay::HitList(_)) => self.go_to_hit(),
            Some(Overlay::Indicators(_)) => self.go_to_indicator(),
            _ => self.chosen_target().cloned().into_iter().for_each(|target| self.leave_list_for(|m| m.go_to(target))),
        }
    }

    /// Goes from the top list to one of its rows; back returns to the list.
    pub(crate) fn leave_list_for(&mut self, go: impl FnOnce(&mut Self)) {
        let left = self.leave_list();
        go(self);
        self.set_left(left);
    }

    pub(crate) fn go_to(&mut self, target: Target) {
        let is_elsewhere = target.file.as_ref().is_some_and(|file| self.file() != Some(file));
        // Other open files are loaded already.
        let is_aside = |file: &Sha256| self.files.of(file).is_some_and(|open| !open.list.entries.is_empty());
        let is_here = !is_elsewhere || target.file.as_ref().is_some_and(is_aside);
        let to_open = target.file.as_ref().filter(|_| is_elsewhere || self.screen == Screen::Start);
        to_open.into_iter().for_each(|file| self.open_files(from_ref(file)));
        let is_chosen = self.list().is_some_and(|list| entry_of(list, &target) == Some(list.scroll.cursor));
        self.bound_for = Some(target);
        if is_here {
            self.files.zoom(self.files.is_zoomed() && is_chosen);
            self.go_on();
        }
    }

    /// Continues a jump after the file is loaded: to its report first, then to its row.
    pub(crate) fn go_on(&mut self) {
        let Some(target) = self.bound_for.clone() else { return };
        match self.list().map(|list| (entry_of(list, &target), list.scroll.cursor)) {
            Some((Some(entry), cursor)) if entry != cursor || target.place.is_none() => self.choose_entry(entry),
            Some((Some(_), _)) => self.show_chosen(),
            Some((None, _)) | None => {
                self.bound_for = None;
                self.warn("That report is no longer stored.");
                self.show_chosen()
            }
        };
        self.arrive();
    }

    fn choose_entry(&mut self, entry: usize) {
        self.files.focus_list();
        let height = self.height();
        let Some(file) = self.files.shown_mut() else { return };
        file.go_in_list(Move::First, height);
        file.go_in_list(Move::Down(entry), height);
        self.show_chosen()
    }

    /// Moves the cursor to the target row once it is indexed.
    pub(crate) fn arrive(&mut self) {
        let Some(target) = self.bound_for.clone() else { return };
        let is_its_file = target.file.is_none() || target.file.as_ref() == self.file();
        let is_chosen = self.list().is_some_and(|list| entry_of(list, &target) == Some(list.scroll.cursor));
        if !is_its_file || !is_chosen {
            return;
        }
        let Some(place) = target.place else { return self.bound_for = None };
        let Some(report) = self.open().map(|open| &open.report) else { return };
        let is_found = report.section(place.section).is_some_and(|section| section.len() > place.row);
        if is_found || report.index.is_complete {
            self.bound_for = None;
        }
        if is_found {
            self.show_row(place);
        }
    }

    pub(crate) fn on_rules_applied(&mut self, job: JobNumber, marks: Marks) {
        let focused = self.files.with_opening_mut(job).and_then(|file| file.focus);
        if let Some(open) = self.files.opened_mut(job) {
            open.arrange(&marks.order, focused);
            let alone = marks.techniques.iter().filter(|technique| !technique.is_named);
            let own = alone.map(|it| (it.severity, it.row())).collect();
            open.panes.entry(Pane::Techniques).or_default().set_own(&open.report, Pane::Techniques, own);
            open.marks = Some(Arc::new(marks));
            if self.hides_noise {
                open.hide_noise(true);
            }
        }
    }

    pub(crate) fn toggle_noise(&mut self) {
        self.hides_noise = !self.hides_noise;
        self.files.reports_mut().for_each(|open| open.hide_noise(self.hides_noise));
        let hidden = self.open().and_then(|open| open.marks.as_ref()).map_or(0, |marks| marks.noise.len());
        self.say(match self.hides_noise {
            true => {
                let hidden = thousands(hidden as u64);
                let way = self.key_label("hide-noise");
                format!("{hidden} rows that any machine makes by itself are hidden. {way} shows them.")
            }
            false => "Everything is shown.".to_owned(),
        });
    }

    pub(crate) fn reasons(&self, place: RowPlace) -> Vec<TextRow> {
        let Some((open, rules)) = self.open().zip(self.rules.as_ref()) else { return Vec::new() };
        let none = Marks::default();
        let marks = open.marks.as_deref();
        rules.of_row(&open.report, marks.unwrap_or(&none), place.section, place.row).into_iter().map(reason).collect()
    }
}

fn entry_of(list: &List, target: &Target) -> Option<usize> {
    match &target.identifier {
        Some(identifier) => list.place_of(identifier),
        None => Some(target.entry).filter(|entry| *entry < list.entries.len()),
    }
}

impl OpenReport {
    pub(super) fn reasons(&self, rules: Option<&Rules>, technique: &str) -> Vec<TextRow> {
        let marks = self.marks.iter().flat_map(|it| it.notable());
        let marks = marks.filter_map(|(.., rule)| Some((rules?.rule(rule)?.severity, rule))).collect::<BTreeSet<_>>();
        let rules = marks.into_iter().filter_map(|(_, rule)| rules?.rule(rule));
        rules.filter(|rule| rule.attack.iter().any(|id| id == technique)).map(reason).collect()
    }

    /// Orders rows by severity; an untouched pane shows the most severe.
    fn arrange(&mut self, order: &Arc<Order>, focused: Option<Pane>) {
        let pane_of = |section: usize| self.report.section(section).map(Section::pane);
        let panes: BTreeSet<Pane> = order.sections().filter_map(pane_of).collect();
        for pane in panes {
            let state = self.panes.entry(pane).or_default();
            let is_untouched = state.scroll.cursor == 0 && focused != Some(pane);
            state.filter_rows(&self.report, pane, |row_filter| row_filter.order = Some(Arc::clone(order)));
            if is_untouched {
                state.scroll.cursor = 0;
            }
        }
    }

    fn hide_noise(&mut self, hide: bool) {
        let Some(marks) = self.marks.clone() else { return };
        for pane in Pane::ALL {
            let sections = self.report.sections(pane).into_iter().filter(|_| hide);
            let rows = |section| marks.noise.rows(section).iter().map(move |row| (section, *row));
            let noise: RowSet = sections.flat_map(rows).collect();
            if !noise.is_empty() || self.panes.get(&pane).is_some_and(|state| !state.row_filter.hidden.is_empty()) {
                let state = self.panes.entry(pane).or_default();
                state.filter_rows(&self.report, pane, |row_filter| row_filter.hidden = noise);
            }
        }
    }
}

fn reason(rule: &Rule) -> TextRow {
    TextRow { head: format!("{} {}", rule.severity.sign(), rule.severity.name()), text: rule.label() }
}
