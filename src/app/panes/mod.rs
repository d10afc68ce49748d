//! Panes: how each is looked at, and the order in which they share the screen.

pub mod facts;
mod moving;
pub mod scroll;
pub mod state;
pub mod tabs;

pub use scroll::{Move, Scroll};
pub use state::{Before, Branch, FoldStep, PaneState};

use crate::report::{Pane, Piece, Place, Report};

/// How many panes share the screen beside the overview.
const GROUP: usize = 4;

/// The panes in the order in which they share the screen: those with rows first, so that no place is spent on nothing.
#[derive(Debug, Clone)]
pub struct PaneOrder {
    /// Every pane but the overview.
    panes: Vec<Pane>,
    filled: usize,
    /// How many panes the first group has.
    first: usize,
}

/// The panes that join the first group on a large screen.
const JOINING: [Pane; 2] = [Pane::Network, Pane::Techniques];

impl PaneOrder {
    /// The order for a report that is known whole; without one, that of the table.
    pub fn of(report: Option<&Report>, is_large: bool) -> Self {
        let sections = report.iter().flat_map(|report| &report.index.sections);
        // Asked for several times with each key: a set of its own kind would take longer than all the rest.
        let mut with_rows = [false; Pane::ALL.len()];
        for section in sections.filter(|section| !section.is_empty()) {
            with_rows.get_mut(section.pane() as usize).into_iter().for_each(|found| *found = true);
        }
        let has_rows = |pane: &Pane| report.is_none() || with_rows.get(*pane as usize).copied().unwrap_or_default();
        let mut panes: Vec<Pane> = Pane::ALL.into_iter().filter(|pane| *pane != Pane::Overview).collect();
        panes.sort_by_key(|pane| !has_rows(pane));
        let filled = panes.iter().filter(|pane| has_rows(pane)).count();
        let filled = if filled == 0 { panes.len() } else { filled };
        let mut first = GROUP;
        for joining in JOINING.into_iter().filter(|_| is_large) {
            let at = panes.iter().take(filled).position(|pane| *pane == joining).filter(|at| *at >= first);
            if let Some(at) = at {
                panes.get_mut(first..=at).into_iter().for_each(|passed| passed.rotate_right(1));
                first += 1;
            }
        }
        Self { panes, filled, first }
    }

    /// Panes that are shown together; one without rows joins them where it has the focus.
    fn all_groups(&self) -> impl Iterator<Item = &[Pane]> {
        let (filled, _) = self.panes.split_at(self.filled);
        let (first, others) = filled.split_at(self.first.min(filled.len()));
        std::iter::once(first).chain(others.chunks(GROUP))
    }

    /// The panes of a group; none past the last one.
    pub fn group(&self, number: usize) -> &[Pane] {
        self.all_groups().nth(number).unwrap_or_default()
    }

    pub fn first(&self, number: usize) -> Option<Pane> {
        self.group(number).first().copied()
    }

    /// How many groups it takes to show every pane with rows.
    pub fn groups(&self) -> usize {
        1 + self.filled.saturating_sub(self.first).div_ceil(GROUP)
    }

    pub fn group_of(&self, pane: Pane) -> Option<usize> {
        self.all_groups().position(|group| group.contains(&pane))
    }

    /// The pane with rows before or after, round about, the overview after the last.
    pub fn neighbour(&self, pane: Pane, forward: bool) -> Pane {
        let stops: Vec<Pane> = Pane::ALL
            .into_iter()
            .filter(|found| *found == pane || !self.panes.iter().skip(self.filled).any(|empty| empty == found))
            .collect();
        let here = stops.iter().position(|found| *found == pane).unwrap_or(0);
        let step = if forward { 1 } else { stops.len().saturating_sub(1) };
        stops.get((here + step) % stops.len().max(1)).copied().unwrap_or(pane)
    }
}

/// Rows of a pane that are looked at to find how wide it should be.
const SAMPLE: usize = 40;

/// The columns in which nine of ten of a pane's first rows are whole, with marks and borders.
pub fn wanted_columns(report: &Report, pane: Pane) -> u16 {
    let state = PaneState::untouched();
    let width = |place: Place| {
        let row = report.row(place.section, place.row);
        let branch = state.branch(report, place).map_or(0, |branch| 2 * branch.guides.len() + 2);
        row.label.width() + row.pieces.iter().map(Piece::width).sum::<usize>() + branch
    };
    let mut widths: Vec<usize> = state.places(report, pane, 0..SAMPLE).into_iter().map(width).collect();
    widths.sort_unstable();
    let most = widths.get(widths.len() * 9 / 10).map_or(0, |width| width + 4);
    u16::try_from(most).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
