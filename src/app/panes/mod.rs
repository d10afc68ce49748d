//! The table of panes: title, key, place; and how far each is scrolled and folded.

pub(super) mod arriving;
pub mod facts;
pub(super) mod moving;
pub mod scroll;
pub mod sieve;

pub use scroll::{Move, Scroll};

use crate::app::commands::{A_REPORT, Act};
use crate::app::find::Filter;
use crate::app::keys::place::PANED;
use crate::app::panes::sieve::Sieve;
use crate::app::{Command, Key};
use crate::report::attributes::title;
use crate::report::index::Form;
use crate::report::{Folds, Pane, Place, Report, Row, Section};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

#[derive(Debug)]
pub struct PaneInfo {
    pub pane: Pane,
    pub title: &'static str,
    /// Title in a few letters.
    pub short: &'static str,
    pub command: Command,
}

/// How many panes stand on the screen at once.
pub const GROUP: usize = 4;

/// A row of the table: a pane with its titles, the name of its command and its key.
macro_rules! pane {
    ($pane:ident, $short:literal, $name:literal, $key:literal) => {
        PaneInfo {
            pane: Pane::$pane,
            title: Pane::$pane.title(),
            short: $short,
            command: Command {
                name: $name,
                keys: &[Key::Char($key)],
                label: Pane::$pane.title(),
                help: concat!("Go to the pane ", title!($pane), "; in a comparison, show its items only, or all again"),
                rank: 0,
                place: PANED,
                when: A_REPORT,
                act: Act::Local(|model| model.go_to_pane(Pane::$pane)),
            },
        }
    };
}

/// Every pane. Four at a time share the screen, beside the overview.
pub static PANES: [PaneInfo; 13] = [
    pane!(Processes, "proc", "pane-processes", '1'),
    pane!(Tags, "tags", "pane-tags", '2'),
    pane!(Registry, "reg", "pane-registry", '3'),
    pane!(Files, "file", "pane-files", '4'),
    pane!(Network, "net", "pane-network", '5'),
    pane!(Commands, "cmd", "pane-commands", '6'),
    pane!(Modules, "mod", "pane-modules", '7'),
    pane!(Services, "svc", "pane-services", '8'),
    pane!(Techniques, "att", "pane-techniques", '9'),
    pane!(Text, "text", "pane-text", 't'),
    pane!(Mobile, "mob", "pane-mobile", 'm'),
    pane!(Other, "oth", "pane-other", 'o'),
    pane!(Overview, "over", "pane-overview", '0'),
];

pub fn info(wanted: Pane) -> Option<&'static PaneInfo> {
    PANES.iter().find(|info| info.pane == wanted)
}

/// How one pane of one report is looked at.
///
/// What decides which rows are shown is shared with who draws them, and is copied when it changes: the same is seen to be the same
/// at once.
#[derive(Debug, Clone, Default)]
pub struct PaneState {
    pub scroll: Scroll,
    /// Columns that are scrolled off at the left.
    pub shift: usize,
    folds: Arc<Folds>,
    /// Which rows are let through.
    sieve: Arc<Sieve>,
    pub filter: Option<Filter>,
}

/// How a pane was looked at before a filter.
#[derive(Debug, Clone, Default)]
pub struct Before {
    folds: Arc<Folds>,
    scroll: Scroll,
    /// The row that was chosen.
    chosen: Option<Place>,
}

/// A pane in its first state.
static UNTOUCHED: LazyLock<PaneState> = LazyLock::new(PaneState::default);

/// One row as a pane shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleRow {
    pub row: Row,
    /// For a process: its place in the tree.
    pub branch: Option<Branch>,
    /// Whether the row is shown for its own sake, and not only because it stands above one in the tree.
    pub is_wanted: bool,
}

/// A process's place in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Whether another child follows, at each depth down to this row's.
    pub guides: Vec<bool>,
    /// Whether there are children, and whether they are hidden.
    pub children: Option<bool>,
}

/// Rows that are searched for the next child of a guide line.
const GUIDE_REACH: usize = 2_000;

impl PaneState {
    /// A pane in its first state.
    pub fn untouched() -> &'static Self {
        &UNTOUCHED
    }

    /// A pane whose tree is folded at these rows.
    pub fn folded(rows: &[u32]) -> Self {
        Self { folds: Arc::new(Folds::of(rows)), ..Self::default() }
    }

    /// How it is looked at now, to be gone back to.
    pub fn before(&self, report: &Report, pane: Pane) -> Before {
        let chosen = self.place(report, pane, self.scroll.cursor);
        Before { folds: Arc::clone(&self.folds), scroll: self.scroll, chosen }
    }

    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    pub fn folds_mut(&mut self) -> &mut Folds {
        Arc::make_mut(&mut self.folds)
    }

    /// How many rows the pane shows of this report: those that are let through, with those above them in the tree, without what
    /// is folded away.
    pub fn count(&self, report: &Report, pane: Pane) -> usize {
        report.sections(pane).into_iter().map(|section| self.section_count(report, section)).sum()
    }

    /// How many rows are let through, folded ones included.
    pub fn wanted(&self, report: &Report, pane: Pane) -> usize {
        report.sections(pane).into_iter().map(|section| self.wanted_of(report, section)).sum()
    }

    /// How many rows that are let through come before the one under the cursor; none where this only stands above one in the tree.
    pub fn wanted_before(&self, report: &Report, pane: Pane) -> Option<usize> {
        let here = self.place(report, pane, self.scroll.cursor).filter(|here| self.is_wanted(*here))?;
        let before = report.sections(pane).into_iter().take_while(|section| *section != here.section);
        let before = before.map(|section| self.wanted_of(report, section)).sum::<usize>();
        Some(before + self.sieve.position(here.section, here.row))
    }

    /// Which rows are let through.
    pub fn sieve(&self) -> &Sieve {
        &self.sieve
    }

    /// Whether a process is shown with those below it alone.
    pub fn is_subtree(&self) -> bool {
        self.sieve.alone().is_some()
    }

    /// Recomputes the visible rows after rows were added.
    pub fn refresh(&mut self, report: &Report, pane: Pane) {
        let sections = report.sections(pane);
        Arc::make_mut(&mut self.sieve).refresh(sections.iter().map(|section| (*section, length(report, *section))));
        for section in sections {
            if let Some(tree) = report.section(section).filter(|found| found.form == Form::Processes) {
                Arc::make_mut(&mut self.folds).keep(self.sieve.rows(section), tree.depths());
            }
        }
    }

    fn wanted_of(&self, report: &Report, section: usize) -> usize {
        self.sieve.rows(section).map_or_else(|| length(report, section), <[u32]>::len)
    }

    fn section_count(&self, report: &Report, section: usize) -> usize {
        report.section(section).map_or(0, |found| match found.form {
            Form::Processes => self.folds.len(found.depths()),
            _ => self.wanted_of(report, section),
        })
    }

    /// The row that stands at a position of the pane.
    pub fn place(&self, report: &Report, pane: Pane, position: usize) -> Option<Place> {
        self.places(report, pane, position..position.saturating_add(1)).next()
    }

    /// The rows that stand at some positions of the pane, as far as there are any.
    pub fn places<'a>(
        &'a self,
        report: &'a Report,
        pane: Pane,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Place> + 'a {
        let mut before = 0;
        report.sections(pane).into_iter().flat_map(move |section| {
            let (first, count) = (before, self.section_count(report, section));
            before += count;
            let within = |position: usize| position.saturating_sub(first).min(count);
            let is_tree = report.section(section).is_some_and(|found| found.form == Form::Processes);
            (within(positions.start)..within(positions.end)).map(move |at| {
                let row = if is_tree { self.folds.row(at) } else { self.sieve.row(section, at) };
                Place { section, row }
            })
        })
    }

    /// The position of a row, or of the nearest one before it that is shown.
    pub fn position(&self, report: &Report, pane: Pane, place: Place) -> usize {
        let mut before = 0;
        for section in report.sections(pane) {
            let count = self.section_count(report, section);
            if section == place.section && count > 0 {
                let is_tree = report.section(section).is_some_and(|found| found.form == Form::Processes);
                let within =
                    if is_tree { self.folds.position(place.row) } else { self.sieve.position(section, place.row) };
                return before + within.min(count - 1);
            }
            if section == place.section {
                return before.saturating_sub(1);
            }
            before += count;
        }
        0
    }

    /// The position at which a row stands, after taking away what hides it: folds, a filter, its being noise, another subtree.
    pub fn reveal(&mut self, report: &Report, pane: Pane, place: Place) -> usize {
        if !self.sieve.lets_through(place.section, place.row) {
            self.filter = None;
            self.sift(report, pane, |sieve| {
                sieve.find(None);
                sieve.show(place.section, place.row);
                if !sieve.lone_has(place.section, place.row) {
                    sieve.isolate(None);
                }
            });
        }
        self.bring(report, pane, place)
    }

    /// The positions at which sections begin, the first left out.
    pub fn borders(&self, report: &Report, pane: Pane) -> Vec<usize> {
        let counts = report.sections(pane).into_iter().map(|section| self.section_count(report, section));
        let mut at = 0;
        let ends = counts.map(|count| {
            at += count;
            at
        });
        let mut ends: Vec<usize> = ends.filter(|end| *end > 0).collect();
        ends.pop();
        ends.dedup();
        ends
    }

    /// The row at a position, decoded.
    pub fn shown(&self, report: &Report, pane: Pane, position: usize) -> Option<VisibleRow> {
        let place = self.place(report, pane, position)?;
        let (branch, is_wanted) = (self.branch(report, place), self.is_wanted(place));
        Some(VisibleRow { row: report.row(place.section, place.row), branch, is_wanted })
    }

    /// The tree prefix of a process.
    pub fn branch(&self, report: &Report, place: Place) -> Option<Branch> {
        let tree = report.section(place.section).filter(|section| section.form == Form::Processes)?.depths();
        let children = self.folds.has_children(place.row, tree).then(|| self.folds.is_folded(place.row));
        Some(Branch { guides: self.folds.guides(place.row, tree, GUIDE_REACH), children })
    }

    /// Whether a row is shown for its own sake.
    pub fn is_wanted(&self, place: Place) -> bool {
        self.sieve.lets_through(place.section, place.row)
    }
}

fn length(report: &Report, section: usize) -> usize {
    report.section(section).map_or(0, Section::len)
}

impl PaneState {
    /// Lets other rows through; the cursor stays on its row, or goes to the nearest that is shown.
    pub fn sift(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut Sieve)) {
        self.look_anew(report, pane, |state| change(Arc::make_mut(&mut state.sieve)));
    }

    /// Shows the rows that a filter found, `change` says how; the first unfold the tree, for all that is found is to be seen.
    pub(in crate::app) fn sift_found(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut Sieve)) {
        self.look_anew(report, pane, |state| {
            if state.sieve.found().is_none() {
                state.folds = Arc::default();
            }
            change(Arc::make_mut(&mut state.sieve));
        });
    }

    /// Restores the view from before the filter; the cursor stays on its row, unfolded.
    pub(in crate::app) fn unsift(&mut self, report: &Report, pane: Pane) {
        let Some(before) = self.filter.as_ref().map(|filter| filter.before.clone()) else { return };
        self.look_anew(report, pane, |state| {
            state.folds = Arc::clone(&before.folds);
            Arc::make_mut(&mut state.sieve).find(None);
        });
        if self.place(report, pane, self.scroll.cursor) == before.chosen {
            // Rows may have come before it since.
            let above = before.scroll.cursor.saturating_sub(before.scroll.top);
            self.scroll.top = self.scroll.cursor.saturating_sub(above);
        }
    }

    /// Changes the visible rows; the cursor stays on its row, or moves to the nearest one.
    fn look_anew(&mut self, report: &Report, pane: Pane, change: impl FnOnce(&mut Self)) {
        // Before the change: afterwards another row stands where the cursor is.
        let chosen = self.chosen(report, pane);
        change(self);
        self.refresh(report, pane);
        self.scroll.cursor = chosen.map_or(0, |chosen| self.bring(report, pane, chosen));
        let stands = self.place(report, pane, self.scroll.cursor);
        if let (Some(filter), Some(chosen)) = (&mut self.filter, chosen) {
            filter.stand_in = Some((chosen, stands));
        }
    }

    /// The chosen row: that under the cursor, or the one that it replaces while a filter is typed.
    fn chosen(&self, report: &Report, pane: Pane) -> Option<Place> {
        let here = self.place(report, pane, self.scroll.cursor);
        let unsettled = self.filter.as_ref().filter(|filter| filter.is_typed || filter.quest.is_running());
        match unsettled.and_then(|filter| filter.stand_in) {
            Some((chosen, stands)) if stands == here => Some(chosen),
            _ => here,
        }
    }

    /// The position of a row, which is shown though something above it was folded, or of the nearest one where it is filtered out.
    pub(super) fn bring(&mut self, report: &Report, pane: Pane, place: Place) -> usize {
        if let Some(tree) = report.section(place.section).filter(|found| found.form == Form::Processes) {
            self.folds_mut().reveal(place.row, tree.depths());
        }
        let at = self.position(report, pane, place);
        let rank = |place: Place| self.rank(report, pane, place);
        let away = |at: usize| Some((rank(self.place(report, pane, at)?).abs_diff(rank(place)), at));
        let nearest = (at.saturating_sub(1)..=at.saturating_add(1)).filter_map(away).min();
        nearest.map_or(at, |(_, at)| at)
    }

    /// The position at which a row would stand if everything were shown.
    fn rank(&self, report: &Report, pane: Pane, place: Place) -> usize {
        let before = report.sections(pane).into_iter().take_while(|section| *section != place.section);
        before.map(|section| length(report, section)).sum::<usize>() + self.sieve.rank(place.section, place.row)
    }
}

/// Panes that stand on the screen together, in their places.
pub type PaneGroup = [Option<Pane>; GROUP];

/// The panes in the order in which they share the screen: those with rows first, so that no place is spent on nothing.
#[derive(Debug, Clone)]
pub struct PaneOrder {
    /// Every pane but the overview.
    panes: Vec<Pane>,
    /// How many of them have rows.
    filled: usize,
}

impl PaneOrder {
    /// The order for a report that is known whole; without one, that of the table.
    pub fn of(report: Option<&Report>) -> Self {
        let sections = report.iter().flat_map(|report| &report.index.sections);
        // Asked for several times with each key: a set of its own kind would take longer than all the rest.
        let mut with_rows = [false; Pane::ALL.len()];
        for section in sections.filter(|section| !section.is_empty()) {
            with_rows.get_mut(section.pane() as usize).into_iter().for_each(|found| *found = true);
        }
        let has_rows = |pane: &Pane| with_rows.get(*pane as usize).copied().unwrap_or_default();
        let all = || PANES.iter().map(|info| info.pane).filter(|pane| *pane != Pane::Overview);
        let mut panes: Vec<Pane> = all().filter(has_rows).collect();
        let filled = panes.len();
        panes.extend(all().filter(|pane| !has_rows(pane)));
        Self { filled: if filled == 0 { panes.len() } else { filled }, panes }
    }

    /// The panes of a group of at most four, those without rows among themselves; none past the last group.
    pub fn group(&self, number: usize) -> PaneGroup {
        let (filled, empty) = self.panes.split_at(self.filled.min(self.panes.len()));
        let mut group = [None; GROUP];
        let panes = filled.chunks(GROUP).chain(empty.chunks(GROUP)).nth(number).unwrap_or_default();
        group.iter_mut().zip(panes).for_each(|(place, pane)| *place = Some(*pane));
        group
    }

    /// The first pane of a group.
    pub fn first(&self, number: usize) -> Option<Pane> {
        self.group(number).into_iter().flatten().next()
    }

    /// How many groups it takes to show every pane with rows.
    pub fn groups(&self) -> usize {
        self.filled.div_ceil(GROUP)
    }

    /// The group that shows a pane; none for the overview, which belongs to no group.
    pub fn group_of(&self, pane: Pane) -> Option<usize> {
        let at = self.panes.iter().position(|found| *found == pane)?;
        Some(at.checked_sub(self.filled).map_or(at / GROUP, |beyond| self.groups() + beyond / GROUP))
    }

    /// The pane with rows before or after, round about, the overview after the last.
    pub fn neighbour(&self, pane: Pane, forward: bool) -> Pane {
        let stops: Vec<Pane> = PANES
            .iter()
            .map(|info| info.pane)
            .filter(|found| *found == pane || !self.panes.iter().skip(self.filled).any(|empty| empty == found))
            .collect();
        let here = stops.iter().position(|found| *found == pane).unwrap_or(0);
        let step = if forward { 1 } else { stops.len().saturating_sub(1) };
        stops.get((here + step) % stops.len().max(1)).copied().unwrap_or(pane)
    }
}

/// The number of rows in a pane's title: of processes that of the tree, without those that were created,
/// terminated or injected.
pub fn told(report: &Report, pane: Pane) -> usize {
    let tree = report.tree().filter(|(_, tree)| pane == Pane::Processes && !tree.is_empty());
    tree.map_or_else(|| report.count(pane), |(_, tree)| tree.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::RowSet;

    #[test]
    fn every_pane_has_a_row_a_key_and_a_place() {
        assert_eq!(PANES.each_ref().map(|info| info.pane), Pane::ALL);
        for pane in Pane::ALL {
            assert!(info(pane).is_some(), "{pane:?}");
            assert!(super::PaneOrder::of(None).group_of(pane).is_some() || pane == Pane::Overview, "{pane:?}");
        }
        let mut keys: Vec<_> = PANES.iter().map(|info| info.command.keys[0].to_string()).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), PANES.len());
    }

    /// A registry pane with three kinds of rows, and a tree.
    fn report() -> Report {
        let json = br#"{"processes_tree":[{"name":"a","children":[{"name":"b"},{"name":"c"}]},{"name":"d"}],
            "registry_keys_set":["s0","s1","s2"],"registry_keys_deleted":["d0"],"registry_keys_opened":["o0","o1"]}"#;
        let body = crate::report::Body::in_memory(json.to_vec());
        let index = crate::report::Index::of(&body);
        Report::new(body, index)
    }

    /// Every row that a pane shows; `^` stands before one that only stands above another.
    fn rows(state: &PaneState, report: &Report, pane: Pane) -> Vec<String> {
        let rows = (0..state.count(report, pane)).map(|at| {
            let place = state.place(report, pane, at).unwrap();
            assert_eq!(state.position(report, pane, place), at);
            let shown = state.shown(report, pane, at).unwrap();
            let crate::report::Piece::Value(text) = &shown.row.pieces[0] else { panic!("a value") };
            format!("{}{}", if shown.is_wanted { "" } else { "^" }, text.visible())
        });
        rows.collect()
    }

    #[test]
    fn a_pane_shows_what_is_found_without_what_is_hidden() {
        let (report, mut state) = (report(), PaneState::default());
        let all = ["s0", "s1", "s2", "d0", "o0", "o1"];
        assert_eq!(rows(&state, &report, Pane::Registry), all);
        state.scroll.cursor = 5;
        let found = [(1, 1), (1, 2), (3, 0)].into_iter().collect();
        state.sift(&report, Pane::Registry, |sieve| sieve.find(Some(found)));
        assert_eq!(rows(&state, &report, Pane::Registry), ["s1", "s2", "o0"]);
        assert_eq!((state.scroll.cursor, state.borders(&report, Pane::Registry)), (2, vec![2]));
        state.sift(&report, Pane::Registry, |sieve| sieve.hide([(1, 2), (3, 1)].into_iter().collect()));
        assert_eq!(rows(&state, &report, Pane::Registry), ["s1", "o0"]);
        state.sift(&report, Pane::Registry, |sieve| sieve.find(None));
        assert_eq!(rows(&state, &report, Pane::Registry), ["s0", "s1", "d0", "o0"]);
        assert_eq!(state.scroll.cursor, 3);
        state.sift(&report, Pane::Registry, |sieve| sieve.hide(RowSet::EMPTY));
        assert_eq!(rows(&state, &report, Pane::Registry), all);
    }

    #[test]
    fn the_nearest_stands_for_a_row_that_is_filtered_out() {
        let (report, mut state) = (report(), PaneState::default());
        state.scroll.cursor = 3;
        state.sift(&report, Pane::Registry, |sieve| sieve.find(Some([(1, 0), (3, 0)].into_iter().collect())));
        assert_eq!(state.scroll.cursor, 1);
        state.sift(&report, Pane::Registry, |sieve| sieve.find(Some([(1, 0)].into_iter().collect())));
        assert_eq!(state.scroll.cursor, 0);
    }

    #[test]
    fn a_tree_keeps_those_above_what_is_found() {
        let (report, mut state) = (report(), PaneState::default());
        state.sift(&report, Pane::Processes, |sieve| sieve.find(Some([(0, 2)].into_iter().collect())));
        assert_eq!(rows(&state, &report, Pane::Processes), ["^a", "c"]);
        assert_eq!(state.wanted(&report, Pane::Processes), 1);
        let shown = state.shown(&report, Pane::Processes, 1).unwrap();
        assert_eq!(shown.branch, Some(Branch { guides: vec![false], children: None }));
        state.sift(&report, Pane::Processes, |sieve| sieve.find(Some(RowSet::EMPTY)));
        assert_eq!((state.count(&report, Pane::Processes), state.scroll.cursor), (0, 0));
    }
}

#[cfg(test)]
mod order_tests {
    use super::*;
    use crate::report::{Body, Index};

    fn report() -> Report {
        let json = br#"{"processes_tree":[{"name":"a"}],"registry_keys_set":["s0"]}"#;
        let body = Body::in_memory(json.to_vec());
        let index = Index::of(&body);
        Report::new(body, index)
    }

    #[test]
    fn panes_with_rows_come_before_those_without() {
        let order = PaneOrder::of(Some(&report()));
        let first = [Some(Pane::Processes), Some(Pane::Registry), None, None];
        assert_eq!((order.group(1)[0], order.group_of(Pane::Tags)), (Some(Pane::Tags), Some(1)));
        assert_eq!((order.group(0), order.groups()), (first, 1));
        assert_eq!(order.neighbour(Pane::Processes, true), Pane::Registry);
        assert_eq!(order.neighbour(Pane::Registry, true), Pane::Overview);
        assert_eq!(order.neighbour(Pane::Mobile, true), Pane::Overview);
        assert_eq!(PaneOrder::of(None).groups(), 3);
    }
}
