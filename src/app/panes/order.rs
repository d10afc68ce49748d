//! Which panes share the screen: those of a report that have rows, four at a time.

use super::{GROUP, PANES};
use crate::report::{Pane, Report};

/// Panes that stand on the screen together, in their places.
pub type Group = [Option<Pane>; GROUP];

/// The panes in the order in which they share the screen: those with rows first, so that no place is spent on nothing.
#[derive(Debug, Clone)]
pub struct Order {
    /// Every pane but the overview, which stands beside them.
    panes: Vec<Pane>,
    /// How many of them have rows.
    filled: usize,
}

impl Order {
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
    pub fn group(&self, number: usize) -> Group {
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

/// How many rows a pane is said to have: of the processes those of the tree, where there is one; what was made, ended or
/// injected stands beside them.
pub fn told(report: &Report, pane: Pane) -> usize {
    let tree = report.tree().filter(|(_, tree)| pane == Pane::Processes && !tree.is_empty());
    tree.map_or_else(|| report.count(pane), |(_, tree)| tree.len())
}

#[cfg(test)]
mod tests {
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
        let order = Order::of(Some(&report()));
        let first = [Some(Pane::Processes), Some(Pane::Registry), None, None];
        assert_eq!((order.group(1)[0], order.group_of(Pane::Tags)), (Some(Pane::Tags), Some(1)));
        assert_eq!((order.group(0), order.groups()), (first, 1));
        assert_eq!(order.neighbour(Pane::Processes, true), Pane::Registry);
        assert_eq!(order.neighbour(Pane::Registry, true), Pane::Overview);
        assert_eq!(order.neighbour(Pane::Mobile, true), Pane::Overview);
        assert_eq!(Order::of(None).groups(), 3);
    }
}
