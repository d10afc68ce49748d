//! Lists of rows to go to: places of an item, processes, and the findings of the rules with the reasons for each mark.

use crate::app::over::{ListSource, ListView, Scope, SheetRow};
use crate::app::panes::{Move, Scroll};
use crate::app::{Job, JobNumber, List, Model, OpenReport, ReportJob, Screen, Size};
use crate::export::What;
use crate::report::identifier::{Identifier, Sha256};
use crate::report::rows::Label;
use crate::report::rules::{Marks, Rule, Rules, Severity};
use crate::report::{Body, Cancel, Cancelled, Order, Pane, Place, Report, Row, RowSet, Section};
use crate::text::{Untrusted, Visible, count, said, thousands};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::slice::from_ref;
use std::sync::Arc;

/// Columns below which a finding seldom fits beside its reason.
const WIDE: u16 = 110;

/// Screen rows from which on some are spared for the chosen row.
const TALL: u16 = 14;

pub type Spots = ListView<RowPicker>;

#[derive(Debug)]
pub struct RowPicker {
    pub title: String,
    pub(super) spots: Vec<Spot>,
    pub is_complete: bool,
    pub(in crate::app) notable: Option<Scope>,
    job: Job,
}

#[derive(Debug, Clone)]
pub struct Spot {
    pub severity: Option<Severity>,
    /// Our own words before it.
    pub head: Cow<'static, str>,
    /// Further words on why it is there, which are sought in but not shown.
    pub why: String,
    pub seen_by: Option<Visible>,
    pub shows: Shows,
    /// Where it leads; nowhere for mere words.
    pub target: Option<Target>,
    /// Further rows with the same content: the place of the report in the list, and the row's own.
    pub(super) also: Vec<(usize, Place)>,
}

#[derive(Debug, Clone)]
pub enum Shows {
    Words(Cow<'static, str>),
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

    pub fn row(head: impl Into<Cow<'static, str>>, row: Row, target: Target) -> Self {
        Self { shows: Shows::Row(row), target: Some(target), ..Self::words(head, "") }
    }

    /// Every row with this content, with the place of its report in the list.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Place)> {
        let first = self.target.as_ref().and_then(|target| Some((target.entry, target.place?)));
        first.into_iter().chain(self.also.iter().copied())
    }

    pub fn said(&self) -> String {
        let severity = self.severity.map(|severity| severity.word().to_owned());
        let head = Some(self.head.to_string()).filter(|head| !head.is_empty());
        let by = self.seen_by.as_ref().map(|by| format!("seen by {by}"));
        [severity, head, by].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

fn text_of(row: &Row) -> String {
    let label = match &row.label {
        Label::Known(word) => (*word).to_owned(),
        Label::Named(name) => name.visible().to_string(),
    };
    format!("{label} {}", String::from_utf8_lossy(&row.text()))
}

impl RowPicker {
    pub fn new(title: impl Into<String>, spots: Vec<Spot>) -> Self {
        Self { title: title.into(), spots, is_complete: true, notable: None, job: Job::default() }
    }

    /// Screen rows below the list for the whole of the chosen row, where a part of it may be cut.
    fn told(room: Size) -> usize {
        match room.width < WIDE {
            true if room.height >= TALL => 2,
            is_narrow => usize::from(is_narrow),
        }
    }

    pub fn is_notable(&self) -> bool {
        self.notable.is_some()
    }
}

impl ListSource for RowPicker {
    type Row = Spot;

    fn rows(&self) -> &[Spot] {
        &self.spots
    }

    fn text(spot: &Spot, open: Option<&Report>) -> String {
        let shown = match (&spot.shows, open) {
            (Shows::Words(words), _) => words.to_string(),
            (Shows::Row(row), _) => text_of(row),
            (Shows::Open(place), Some(report)) => text_of(&report.row(place.section, place.row)),
            (Shows::Open(_), None) => String::new(),
        };
        let by = spot.seen_by.as_ref().map_or("", Visible::as_str);
        format!("{} {by} {} {shown}", spot.head, spot.why).to_lowercase()
    }

    fn first(&self) -> usize {
        self.spots.iter().position(|spot| spot.target.is_some()).unwrap_or(0)
    }

    fn beside(&self, room: Size, _: &Model) -> (usize, usize) {
        (0, Self::told(room))
    }

    fn height(&self, columns: usize) -> usize {
        let told = Self::told(Size { width: u16::try_from(columns).unwrap_or(u16::MAX), height: u16::MAX });
        self.spots.len().saturating_add(told.max(1))
    }
}

impl Model {
    pub(in crate::app) fn go_to_spot(&mut self) {
        let Some(target) = self.over.find_mut::<Spots>().and_then(|spots| spots.chosen()?.target.clone()) else {
            return;
        };
        let left = self.leave_list();
        self.go_to(target);
        self.set_left(left);
    }

    /// A row of the open report.
    pub(in crate::app) fn target_here(&self, place: Place) -> Target {
        let entry = self.list().map_or(0, |list| list.scroll.cursor);
        let identifier = self.chosen().and_then(|entry| entry.identifier.clone());
        Target { file: None, identifier, entry, place: Some(place) }
    }

    pub(in crate::app) fn go_to(&mut self, target: Target) {
        let is_elsewhere = target.file.as_ref().is_some_and(|file| self.file() != Some(file));
        // Other open files are loaded already.
        let is_aside = |file: &Sha256| self.files.of(file).is_some_and(|open| !open.list.entries.is_empty());
        let is_here = !is_elsewhere || target.file.as_ref().is_some_and(is_aside);
        match &target.file {
            // An open file is only shown.
            Some(file) if is_elsewhere || self.screen == Screen::Start => self.open_files(from_ref(file)),
            _ => {}
        };
        let is_chosen = self.list().is_some_and(|list| entry_of(list, &target) == Some(list.scroll.cursor));
        self.bound_for = Some(target);
        if is_here {
            self.files.zoom(self.files.is_zoomed() && is_chosen);
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
                self.warn("That report is no longer stored.");
                self.show_chosen()
            }
        };
        self.arrive();
    }

    fn choose_entry(&mut self, entry: usize) {
        self.files.focus_list();
        let height = self.height();
        let Some(list) = self.files.list_mut() else { return };
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
        None => Some(target.entry).filter(|entry| *entry < list.entries.len()),
    }
}

#[derive(Debug)]
pub struct ReportToEvaluate {
    pub entry: usize,
    pub identifier: Option<Identifier>,
    pub name: Untrusted,
    pub body: Body,
}

/// Most findings of one report: a list is read, and this is more than anybody reads.
const MOST_FINDINGS: usize = 5_000;

/// Columns of a sandbox's name.
const NAME: usize = 16;

impl Spot {
    /// The rows of several reports that the rules mark, the most severe first, as in the list of one report; a row that
    /// several sandboxes saw is listed once: the first by its name, the others counted.
    pub fn find_all(reports: &[ReportToEvaluate], rules: &Rules, cancel: &Cancel) -> Result<Vec<Self>, Cancelled> {
        let mut found = Vec::<(_, Self)>::new();
        let mut known: HashMap<(u16, Vec<u8>), usize> = HashMap::new();
        for judged in reports {
            let report = Report::open(&judged.body);
            let marks = rules.judge(&report, cancel)?;
            for (section, row, number) in marks.notable().take(MOST_FINDINGS) {
                let Some(rule) = rules.rule(number) else { continue };
                let (place, row) = (Place { section, row }, report.row(section, row));
                let at = *known.entry((number, row.text())).or_insert(found.len());
                if let Some((_, before)) = found.get_mut(at) {
                    before.also.push((judged.entry, place));
                    continue;
                }
                let pane = report.section(section).map(|found| (found.pane(), found.rank));
                let (identifier, entry) = (judged.identifier.clone(), judged.entry);
                let target = Target { file: None, identifier, entry, place: Some(place) };
                let seen_by = Some(judged.name.visible_cut(NAME));
                let spot = Self { seen_by, ..spot(rule, Shows::Row(row), target) };
                found.push(((rule.severity, pane, entry, place.row), spot));
            }
        }
        found.sort_by_key(|(rank, _)| *rank);
        let mut spots: Vec<_> = found.into_iter().map(|(_, spot)| spot).collect();
        for spot in &mut spots {
            let entry = spot.target.as_ref().map(|target| target.entry);
            let others: BTreeSet<_> = spot.also.iter().map(|(entry, _)| *entry).collect();
            let others = others.into_iter().filter(|other| Some(*other) != entry).count();
            if let Some(by) = spot.seen_by.as_mut().filter(|_| others > 0) {
                *by = said(format!("{by} +{others}"));
            }
        }
        Ok(spots)
    }
}

fn spot(rule: &Rule, shows: Shows, target: Target) -> Spot {
    let persists = if rule.subject == "persistence" { ": survives a reboot" } else { "" };
    let subject = format!("{}{persists}", rule.subject);
    let why = format!("{} {} {} {subject} {}", rule.id, rule.why, rule.severity.word(), rule.attack.join(" "));
    let (severity, head) = (Some(rule.severity), rule.name.clone().into());
    Spot { severity, head, why, seen_by: None, shows, target: Some(target), also: Vec::new() }
}

impl OpenReport {
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
            state.sift(&self.report, pane, |sieve| sieve.order = Some(Arc::clone(order)));
            if is_untouched {
                state.scroll.cursor = 0;
            }
        }
    }

    fn hide_noise(&mut self, hide: bool) {
        let Some(marks) = self.marks.clone() else { return };
        for pane in Pane::ALL {
            let sections = self.report.sections(pane).into_iter().filter(|_| hide);
            let rows = |section| marks.noise().rows(section).iter().map(move |row| (section, *row));
            let noise: RowSet = sections.flat_map(rows).collect();
            if !noise.is_empty() || self.panes.get(&pane).is_some_and(|state| !state.sieve.hidden.is_empty()) {
                let state = self.panes.entry(pane).or_default();
                state.sift(&self.report, pane, |sieve| sieve.hidden = noise);
            }
        }
    }
}

impl Model {
    pub(in crate::app) fn judged(&mut self, job: JobNumber, marks: Marks) {
        let hide = self.hides_noise;
        let file = self.files.with_opening_mut(job);
        if let Some((focused, open)) = file.and_then(|file| Some((file.focus, file.list.opened_mut(job)?))) {
            open.arrange(marks.order(), focused);
            open.marks = Some(Arc::new(marks));
            if hide {
                open.hide_noise(true);
            }
        }
        let is_listed = |list: &mut Spots| list.source.notable == Some(Scope::Sandbox);
        if self.open().is_some_and(|open| open.job.is(job)) && self.over.find_mut::<Spots>().is_some_and(is_listed) {
            let found = self.notable_spots();
            self.change_spots(|picker| (picker.spots, picker.is_complete) = (found, true));
        }
    }

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
    }

    pub(in crate::app) fn list_notable(&mut self) {
        let Some(open) = self.open().filter(|_| self.rules.is_some()) else { return };
        if open.marks.is_none() {
            return self.say("The rules are still being applied.");
        }
        let (scope, spots) = (self.scope(), self.notable_spots());
        if spots.is_empty() && scope == Scope::Sandbox {
            return self.say("No rule marks a row of this report.");
        }
        let picker = RowPicker { notable: Some(scope), ..RowPicker::new("Findings", spots) };
        self.over.put(Spots::new(picker));
        if scope == Scope::File {
            self.reach_held();
        }
    }

    pub(super) fn notable_spots(&self) -> Vec<Spot> {
        let Some((open, rules)) = self.open().zip(self.rules.as_ref()) else { return Vec::new() };
        let order = |section: usize| open.report.section(section).map(|found| (found.pane(), found.rank));
        let found = open.marks.iter().flat_map(|marks| marks.notable());
        let found = found.filter_map(|(section, row, rule)| Some((rules.rule(rule)?, section, row)));
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(rule, section, row)| (rule.severity, order(*section), *row));
        let spots = found.into_iter().map(|(rule, section, row)| {
            let place = Place { section, row };
            spot(rule, Shows::Open(place), self.target_here(place))
        });
        spots.collect()
    }

    /// Clears or refreshes a list of findings whose report was fetched again.
    pub(in crate::app) fn list_notable_anew(&mut self, identifier: &Identifier) {
        let is_open = self.chosen().is_some_and(|chosen| chosen.identifier.as_ref() == Some(identifier));
        match self.over.find_mut::<Spots>() {
            Some(list) if is_open && list.source.notable == Some(Scope::Sandbox) => {
                list.change(None, |picker| (picker.spots, picker.is_complete) = (Vec::new(), false));
                list.scroll = Scroll::default();
            }
            Some(list) if list.source.notable == Some(Scope::File) => self.reach_held(),
            _ => {}
        }
    }

    /// Which reports the top list covers; none while it loads.
    pub(in crate::app) fn listed_scope(&self) -> Option<Scope> {
        let list = self.over.top_as::<Spots>()?;
        list.source.notable.filter(|_| list.source.is_complete)
    }

    /// The visible findings of each report, to be written to a file.
    pub(in crate::app) fn listed_notable(&self) -> Option<What> {
        let list = self.over.top_as::<Spots>()?;
        let reach = self.listed_scope()?;
        let mut shown: BTreeMap<usize, RowSet> = match reach {
            Scope::Sandbox => self.list().map(|list| (list.scroll.cursor, RowSet::EMPTY)).into_iter().collect(),
            Scope::File => self.held_here().map(|(entry, _)| (entry, RowSet::EMPTY)).collect(),
        };
        for (entry, place) in list.shown(0).flat_map(Spot::rows) {
            if let Some((rows, row)) = shown.get_mut(&entry).zip(u32::try_from(place.row).ok()) {
                rows.insert(place.section, row);
            }
        }
        Some(What::Notable(Some(Arc::new(shown.into_values().collect()))))
    }

    pub(super) fn reach_held(&mut self) {
        let Some(rules) = self.rules.clone() else { return };
        let job = Job::default();
        let ticket = job.ticket();
        let reports = self.held_here().filter_map(|(entry, found)| {
            let name = found.parts.as_ref().map(|parts| parts.sandbox.clone()).unwrap_or_default();
            let (identifier, body) = (found.identifier.clone(), found.report()?.body.clone());
            Some(ReportToEvaluate { entry, identifier, name, body })
        });
        let reports = reports.collect();
        self.change_spots(|picker| {
            (picker.notable, picker.is_complete) = (Some(Scope::File), false);
            picker.job = job;
        });
        self.emit(ReportJob::EvaluateAll { ticket, reports, rules });
    }

    pub(in crate::app) fn judged_held(&mut self, job: JobNumber, found: Vec<Spot>) {
        let which = if self.is_document() { "reports that are open" } else { "stored reports of the file" };
        let Some(list) = self.over.find_mut::<Spots>().filter(|list| list.source.job.is(job)) else { return };
        list.scroll = Scroll::default();
        let all = RowPicker::new(format!("Findings in all {which}"), found);
        self.change_spots(|picker| *picker = RowPicker { notable: Some(Scope::File), ..all });
        if let Some(words) = self.not_judged().filter(|_| self.notice.is_none()) {
            self.say(words);
        }
    }

    pub(super) fn change_spots(&mut self, change: impl FnOnce(&mut RowPicker)) {
        let report = self.open().map(|open| open.report.clone());
        if let Some(list) = self.over.find_mut::<Spots>() {
            list.change(report.as_ref(), change);
        }
    }

    fn not_judged(&self) -> Option<String> {
        let missing = self.files.missing_reports(&self.calls).len() as u64;
        let missing = (missing > 0).then(|| format!("{} not stored", count(missing, "report")));
        let has_more = self.list().is_some_and(List::has_more_pages);
        let pages = has_more.then(|| "further sandboxes on pages that were not listed".to_owned());
        let words: Vec<_> = missing.into_iter().chain(pages).collect();
        (!words.is_empty()).then(|| format!("Not in it: {}.", words.join(", and ")))
    }

    pub(in crate::app) fn reasons(&self, place: Place) -> Vec<SheetRow> {
        let Some((open, rules)) = self.open().zip(self.rules.as_ref()) else { return Vec::new() };
        let reason = |rule: &Rule| {
            let head = format!("{} {}", rule.severity.sign(), rule.severity.word());
            SheetRow { head, text: rule.words() }
        };
        let (none, marks) = (Marks::default(), open.marks.as_deref());
        rules.of_row(&open.report, marks.unwrap_or(&none), place.section, place.row).into_iter().map(reason).collect()
    }
}
