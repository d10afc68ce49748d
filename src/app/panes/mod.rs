//! Panes: their order, their groups on the screen, and their tabs.

pub mod facts;
pub(crate) mod moving;
pub(crate) mod state;

pub use moving::{MouseInput, MouseKind, Move, Scroll};
pub use state::{Before, FoldStep, OWN, PaneState, TreeBranch};

use crate::app::{Area, Command, Model};
use crate::report::attributes::AT_LEAST;
use crate::report::{Pane, Piece, Report, RowPlace};
use crate::text::{ColumnWidth, thousands};

/// Panes that share the screen beside the overview.
const GROUP_PANES: usize = 4;

/// The panes in display order: those with rows first, so that no area is empty.
#[derive(Debug, Clone)]
pub(crate) struct PaneOrder {
    panes: Vec<Pane>,
    filled: usize,
    first: usize,
}

/// The panes that join the first group on a large screen.
const LARGE_SCREEN_PANES: [Pane; 2] = [Pane::Network, Pane::Techniques];

impl PaneOrder {
    /// Returns the order for the panes that have rows, or for all of them.
    pub(crate) fn of(has_rows: impl Fn(Pane) -> bool, is_large: bool) -> Self {
        let panes = Pane::ALL.into_iter().filter(|pane| *pane != Pane::Overview);
        let (mut panes, empty): (Vec<Pane>, Vec<Pane>) = panes.partition(|pane| has_rows(*pane));
        let filled = if panes.is_empty() { empty.len() } else { panes.len() };
        panes.extend(empty);
        let mut first = GROUP_PANES;
        for joining in LARGE_SCREEN_PANES.into_iter().filter(|_| is_large) {
            let at = panes.iter().take(filled).position(|pane| *pane == joining).filter(|at| *at >= first);
            if let Some(at) = at {
                panes.get_mut(first..=at).into_iter().for_each(|passed| passed.rotate_right(1));
                first += 1;
            }
        }
        Self { panes, filled, first }
    }

    /// Returns the groups that are shown together; a focused pane without rows joins them.
    fn all_groups(&self) -> impl Iterator<Item = &[Pane]> {
        let (filled, _) = self.panes.split_at(self.filled);
        let (first, others) = filled.split_at(self.first.min(filled.len()));
        std::iter::once(first).chain(others.chunks(GROUP_PANES))
    }

    /// Returns the panes of a group; empty past the last one.
    pub(crate) fn group(&self, number: usize) -> &[Pane] {
        self.all_groups().nth(number).unwrap_or_default()
    }

    pub(crate) fn first(&self, number: usize) -> Option<Pane> {
        self.group(number).first().copied()
    }

    pub(crate) fn groups(&self) -> usize {
        1 + self.filled.saturating_sub(self.first).div_ceil(GROUP_PANES)
    }

    pub(crate) fn group_of(&self, pane: Pane) -> Option<usize> {
        self.all_groups().position(|group| group.contains(&pane))
    }

    /// Returns the next or previous pane with rows, wrapping around; the overview is the last.
    pub(crate) fn neighbour(&self, pane: Pane, forward: bool) -> Pane {
        let stops: Vec<Pane> = Pane::ALL
            .into_iter()
            .filter(|found| *found == pane || !self.panes.iter().skip(self.filled).any(|empty| empty == found))
            .collect();
        let here = stops.iter().position(|found| *found == pane).unwrap_or(0);
        let step = if forward { 1 } else { stops.len().saturating_sub(1) };
        stops.get((here + step) % stops.len().max(1)).copied().unwrap_or(pane)
    }
}

/// Rows of a pane that are sampled for its width.
const SAMPLED_ROWS: usize = 40;

/// Returns the columns that show nine of ten sampled rows whole, with marks and borders.
pub(crate) fn preferred_columns(report: &Report, pane: Pane) -> u16 {
    let state = PaneState::untouched();
    let width = |place: RowPlace| {
        let row = report.row(place.section, place.row);
        let branch = state.branch(report, place).map_or(0, |branch| 2 * branch.guides.len() + 2);
        row.label.width() + row.pieces.iter().map(Piece::width).sum::<usize>() + branch
    };
    let mut widths: Vec<usize> = state.places(report, pane, 0..SAMPLED_ROWS).map(width).collect();
    widths.sort_unstable();
    let most = widths.get(widths.len() * 9 / 10).map_or(0, |width| width + 4);
    u16::try_from(most).unwrap_or(u16::MAX)
}

/// The text of a document without a behaviour report.
pub const NO_REPORT: &str = "no behaviour report";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    pub pane: Pane,
    pub key: String,
    /// The number of rows; empty where it is unknown or does not fit.
    pub count: String,
    pub is_empty: bool,
    /// Blanks on either side.
    pub padding: u16,
    pub area: Area,
}

/// Forms of the tabs, widest first: blanks on either side, counts, counts of panes without rows.
const TAB_FORMS: [(u16, bool, bool); 5] =
    [(1, true, true), (0, true, true), (0, true, false), (0, false, true), (0, false, false)];

impl Tab {
    /// Returns the tabs of the open report in the widest form that fits.
    pub fn all(model: &Model, area: Area) -> Vec<Self> {
        let Some(open) = model.open().filter(|_| area.height > 0) else { return Vec::new() };
        // A zero would read as if the sandbox had checked and found nothing.
        let is_of_another_kind = open.report.is_of_another_kind();
        let indent = if is_of_another_kind { columns(NO_REPORT) + 3 } else { 0 };
        let end = area.y.saturating_add(area.height);
        let mut all = Vec::new();
        for (padding, has_counts, has_empty) in TAB_FORMS {
            let has_empty = has_empty && !is_of_another_kind;
            let is_cut = |pane| open.report.cut_lists(Some(pane)).next().is_some();
            let tab = |pane| Self::of(pane, (open.count(pane), is_cut(pane)), (padding, has_counts), model);
            let tabs = Pane::ALL.into_iter().map(tab);
            let tabs = tabs.filter(|tab| has_empty || !tab.is_empty || model.focused() == Some(tab.pane));
            all = placed(tabs, area, indent, padding);
            if all.iter().all(|tab: &Self| tab.area.y < end) {
                break;
            }
        }
        all.retain(|tab| tab.area.y < end);
        all
    }

    fn of(pane: Pane, (rows, is_cut): (usize, bool), (padding, has_counts): (u16, bool), model: &Model) -> Self {
        // The overview has facts, whose number is meaningless.
        let is_counted = has_counts && rows > 0 && pane != Pane::Overview;
        let more = if is_cut { AT_LEAST } else { "" };
        let count = if is_counted { rounded(rows as u64) + more } else { String::new() };
        let key = key(pane, model);
        let parts = [&*key, pane.short(), &*count].into_iter().filter(|part| !part.is_empty());
        let width = parts.map(|part| columns(part) + 1).sum::<u16>() - 1 + 2 * padding;
        Self { pane, key, count, is_empty: rows == 0, padding, area: Area { width, height: 1, ..Area::default() } }
    }
}

/// Places tabs in as many rows as they need.
fn placed(tabs: impl Iterator<Item = Tab>, area: Area, indent: u16, padding: u16) -> Vec<Tab> {
    let margin = area.x.saturating_add(1 - padding.min(1));
    let mut x = margin.saturating_add(indent);
    let mut y = area.y;
    let end = area.x.saturating_add(area.width);
    let place = |mut tab: Tab| {
        if x > margin && x.saturating_add(tab.area.width) > end {
            (x, y) = (margin, y.saturating_add(1));
        }
        (tab.area.x, tab.area.y) = (x, y);
        x = x.saturating_add(tab.area.width).saturating_add(1);
        tab
    };
    tabs.map(place).collect()
}

/// Returns the key of a pane; empty without one.
pub fn key(pane: Pane, model: &Model) -> String {
    let keys = Command::to_pane(pane).map(|command| model.settings.keys.of(command));
    keys.and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default()
}

fn columns(text: &str) -> u16 {
    u16::try_from(text.columns()).unwrap_or(u16::MAX)
}

/// Returns a number in few columns: `9,999`, `35k`, `1.2M`.
fn rounded(number: u64) -> String {
    match number {
        0..10_000 => thousands(number),
        10_000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests;
