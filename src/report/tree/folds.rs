//! Folding a flat tree: which rows are visible while some are folded or left out.

use super::{Depths, Guides};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Which rows of a tree are folded and which are kept, and so which rows are visible.
///
/// A row is known by its place: process identifiers repeat. What is hidden is kept in stretches, so that a fold costs as much as
/// what it hides, and a row is found among them by halving; that everything is folded takes no list of it.
#[derive(Debug, Default, Clone)]
pub struct Folds {
    /// Whether every row with children is folded, but for some.
    is_all: bool,
    /// Rows that are folded, in order; where all are, those that are not.
    turned: Vec<u32>,
    /// The only rows that are shown, each with those above it in the tree, in order; none while all are.
    kept: Option<Vec<u32>>,
    /// What the folds hide, in order: places among the rows that are kept.
    hidden: Arc<Vec<Stretch>>,
}

/// Rows after one another that a fold hides; the folded row itself stands before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    start: u32,
    end: u32,
    /// How many rows are visible before it.
    before: u32,
}

impl Stretch {
    /// How many rows are hidden up to its end.
    fn hidden(&self) -> usize {
        (self.end - self.before) as usize
    }
}

impl Folds {
    /// These rows are folded; what that hides is found by [`Folds::refresh`], once there are rows.
    pub fn of(rows: &[u32]) -> Self {
        let folded: BTreeSet<_> = rows.iter().copied().collect();
        Self { turned: folded.into_iter().collect(), ..Self::default() }
    }

    /// The rows that are folded, in order.
    pub fn folded(&self, depths: &Depths) -> Vec<u32> {
        if !self.is_all {
            return self.turned.clone();
        }
        let found = depths.found(0..depths.len());
        let folded = (0..found.len()).filter(|row| is_parent(&found, *row) && self.is_folded(*row));
        folded.filter_map(|row| u32::try_from(row).ok()).collect()
    }

    /// How many rows of a tree with these depths are visible.
    pub fn len(&self, depths: &Depths) -> usize {
        let kept = self.kept.as_ref().map_or_else(|| depths.len(), Vec::len);
        kept.saturating_sub(self.hidden.last().map_or(0, Stretch::hidden))
    }

    /// The row that stands at a visible position.
    pub fn row(&self, position: usize) -> usize {
        self.kept_row(self.place(position))
    }

    /// The visible position of a row, or of the nearest visible one before it.
    pub fn position(&self, row: usize) -> usize {
        let place = match &self.kept {
            None => row,
            Some(kept) => kept.partition_point(|kept| *kept as usize <= row).saturating_sub(1),
        };
        let after = self.hidden.partition_point(|stretch| stretch.start as usize <= place);
        match after.checked_sub(1).and_then(|last| self.hidden.get(last)) {
            Some(stretch) if place < stretch.end as usize => (stretch.before as usize).saturating_sub(1),
            Some(stretch) => place - stretch.hidden(),
            None => place,
        }
    }

    /// Whether a row's children are hidden, if it has any.
    pub fn is_folded(&self, row: usize) -> bool {
        let is_turned = u32::try_from(row).is_ok_and(|row| self.turned.binary_search(&row).is_ok());
        is_turned != self.is_all
    }

    /// Hides a row's children.
    pub fn fold(&mut self, row: usize, depths: &Depths) {
        self.turn(row, true, depths);
    }

    /// Shows a row's children.
    pub fn unfold(&mut self, row: usize, depths: &Depths) {
        self.turn(row, false, depths);
    }

    fn turn(&mut self, row: usize, fold: bool, depths: &Depths) {
        if self.is_folded(row) == fold || !self.has_children(row, depths) {
            return;
        }
        let Ok(number) = u32::try_from(row) else { return };
        match self.turned.binary_search(&number) {
            Ok(at) => drop(self.turned.remove(at)),
            Err(at) => self.turned.insert(at, number),
        }
        self.hide_anew(row, depths);
    }

    /// Shows a row: what is folded above it is unfolded.
    pub fn reveal(&mut self, row: usize, depths: &Depths) {
        let mut above = depths.parent(row);
        while let Some(parent) = above.filter(|_| self.any()) {
            self.unfold(parent, depths);
            above = depths.parent(parent);
        }
    }

    /// Folds every row that has children, or none.
    pub fn fold_all(&mut self, fold: bool, depths: &Depths) {
        self.is_all = fold;
        self.turned.clear();
        self.refresh(depths);
    }

    /// Whether anything is folded.
    pub fn any(&self) -> bool {
        self.is_all || !self.turned.is_empty()
    }

    /// Shows only these rows, given in order, and those above them in the tree; none shows all.
    pub fn keep(&mut self, rows: Option<&[u32]>, depths: &Depths) {
        self.kept = rows.map(|rows| with_ancestors(rows, depths));
        self.refresh(depths);
    }

    /// Whether the row has children that are kept; folded ones count.
    pub fn has_children(&self, row: usize, depths: &Depths) -> bool {
        let Some(kept) = &self.kept else { return depths.has_children(row) };
        let after = kept.partition_point(|kept| *kept as usize <= row);
        let next = kept.get(after).and_then(|next| depths.get(*next as usize));
        matches!((depths.get(row), next), (Some(depth), Some(next)) if next > depth)
    }

    /// As [`Depths::guides`], among the visible rows.
    pub fn guides(&self, row: usize, depths: &Depths, reach: usize) -> Vec<bool> {
        let Some(depth) = depths.get(row).filter(|_| self.kept.is_some() || !self.hidden.is_empty()) else {
            return depths.guides(row, reach);
        };
        let (mut guides, mut reach) = (Guides::of(depth), reach);
        for places in self.visible_from(self.position(row).saturating_add(1), depths) {
            let places = places.start..places.end.min(places.start.saturating_add(reach));
            reach -= places.len();
            let goes_on = match &self.kept {
                None => guides.look(depths, places),
                Some(_) => places.into_iter().all(|at| depths.get(self.kept_row(at)).is_none_or(|d| guides.see(d))),
            };
            if !goes_on || reach == 0 {
                break;
            }
        }
        guides.found
    }

    /// Finds the visible rows again, after rows were added.
    pub fn refresh(&mut self, depths: &Depths) {
        self.hidden = match self.any() {
            false => Arc::default(),
            true if self.is_all && self.turned.is_empty() && self.kept.is_none() => depths.closed(),
            true => Arc::new(self.all_hidden(depths)),
        };
    }

    /// What is hidden of a tree in which every row with children is folded.
    pub(super) fn closed(depths: &Depths) -> Vec<Stretch> {
        Self { is_all: true, ..Self::default() }.all_hidden(depths)
    }

    fn all_hidden(&self, depths: &Depths) -> Vec<Stretch> {
        let mut hidden = self.hidden_in(0..depths.len(), depths);
        count_visible(&mut hidden, 0);
        hidden
    }

    /// Finds what is hidden below a row again, after it was folded or unfolded.
    fn hide_anew(&mut self, row: usize, depths: &Depths) {
        if self.row(self.position(row)) != row {
            return;
        }
        let end = depths.end_of(row);
        let found = self.hidden_in(row..end, depths);
        let stretch = |row: usize| {
            let place = self.places_before(row);
            self.hidden.partition_point(|stretch| (stretch.start as usize) < place)
        };
        let (first, after) = (stretch(row + 1), stretch(end));
        let hidden = Arc::make_mut(&mut self.hidden);
        hidden.splice(first..after, found);
        count_visible(hidden, first);
    }

    /// What is hidden among some rows, of which no one is hidden by a row before them; not yet with the number of rows before it.
    fn hidden_in(&self, rows: Range<usize>, depths: &Depths) -> Vec<Stretch> {
        let depths = depths.found(rows.clone());
        let (mut found, mut reached) = (Vec::new(), 0);
        while let Some(folded) = self.next_folded(rows.start, reached, &depths) {
            let Some((depth, below)) = depths.get(folded..).and_then(<[u16]>::split_first) else { break };
            let length = below.iter().position(|below| below <= depth).unwrap_or(below.len());
            reached = folded + 1 + length;
            let place = |row: usize| u32::try_from(self.places_before(rows.start + row));
            if let (Ok(start), Ok(end)) = (place(folded + 1), place(reached))
                && start < end
            {
                found.push(Stretch { start, end, before: 0 });
            }
        }
        found
    }

    /// The next folded row from one on, both counted from the first of those with these depths.
    fn next_folded(&self, first: usize, from: usize, depths: &[u16]) -> Option<usize> {
        if self.is_all {
            return (from..depths.len()).find(|row| is_parent(depths, *row) && self.is_folded(first + row));
        }
        let next = self.turned.partition_point(|row| (*row as usize) < first + from);
        self.turned.get(next).map(|row| *row as usize - first).filter(|row| *row < depths.len())
    }

    /// How many of the rows that are kept stand before a row.
    fn places_before(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept.partition_point(|kept| (*kept as usize) < row))
    }

    /// The place of a visible position among the rows that are kept.
    fn place(&self, position: usize) -> usize {
        let after = self.hidden.partition_point(|stretch| stretch.before as usize <= position);
        position + after.checked_sub(1).and_then(|last| self.hidden.get(last)).map_or(0, Stretch::hidden)
    }

    /// The row at a place among those that are kept.
    fn kept_row(&self, place: usize) -> usize {
        let found = self.kept.as_ref().and_then(|kept| kept.get(place));
        found.map_or(place, |row| *row as usize)
    }

    /// The places that are visible from a position on, those after one another together.
    fn visible_from(&self, position: usize, depths: &Depths) -> impl Iterator<Item = Range<usize>> {
        let end = self.kept.as_ref().map_or_else(|| depths.len(), Vec::len);
        let after = self.hidden.partition_point(|stretch| stretch.before as usize <= position);
        let later = self.hidden.get(after..).unwrap_or_default();
        let starts = std::iter::once(self.place(position)).chain(later.iter().map(|stretch| stretch.end as usize));
        let ends = later.iter().map(|stretch| stretch.start as usize).chain([end]);
        starts.zip(ends).map(|(start, end)| start..end.max(start))
    }
}

/// Counts the visible rows before each stretch, from one on.
fn count_visible(stretches: &mut [Stretch], first: usize) {
    let last = first.checked_sub(1).and_then(|last| stretches.get(last));
    let mut hidden = last.map_or(0, |last| last.end - last.before);
    for stretch in stretches.iter_mut().skip(first) {
        stretch.before = stretch.start - hidden;
        hidden += stretch.end - stretch.start;
    }
}

/// Whether the row after this one is deeper.
fn is_parent(depths: &[u16], row: usize) -> bool {
    matches!((depths.get(row), depths.get(row + 1)), (Some(depth), Some(next)) if next > depth)
}

/// Rows in order, with every row that stands above one of them in the tree.
fn with_ancestors(rows: &[u32], depths: &Depths) -> Vec<u32> {
    let end = rows.last().map_or(0, |last| *last as usize + 1);
    let depths = depths.found(0..end);
    let (mut found, mut above, mut wanted) = (Vec::new(), Vec::<u32>::new(), rows.iter().copied().peekable());
    for (row, depth) in (0_u32..).zip(depths.iter()) {
        let is_above = |up: &u32| depths.get(*up as usize).is_some_and(|up| up < depth);
        above.truncate(above.partition_point(is_above));
        above.push(row);
        if wanted.next_if_eq(&row).is_some() {
            let known = found.last().copied();
            found.extend(above.iter().copied().filter(|up| known.is_none_or(|known| *up > known)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn depths() -> Depths {
        vec![0, 1, 2, 2, 1, 0, 1].into()
    }

    fn visible(folds: &Folds, depths: &Depths) -> Vec<usize> {
        (0..folds.len(depths)).map(|n| folds.row(n)).collect()
    }

    #[test]
    fn folding_hides_the_subtree_only() {
        let mut folds = Folds::default();
        folds.fold(1, &depths());
        assert_eq!(visible(&folds, &depths()), [0, 1, 4, 5, 6]);
        folds.fold(0, &depths());
        assert_eq!(visible(&folds, &depths()), [0, 5, 6]);
        folds.unfold(0, &depths());
        assert_eq!(visible(&folds, &depths()), [0, 1, 4, 5, 6]);
        folds.fold_all(true, &depths());
        assert_eq!(visible(&folds, &depths()), [0, 5]);
        folds.fold_all(false, &depths());
        assert_eq!(visible(&folds, &depths()).len(), 7);
    }

    #[test]
    fn a_leaf_does_not_fold() {
        let mut folds = Folds::default();
        folds.fold(2, &depths());
        assert!(!folds.any());
    }

    #[test]
    fn what_is_kept_keeps_those_above_it() {
        let (mut folds, depths) = (Folds::default(), depths());
        folds.keep(Some(&[3, 6]), &depths);
        assert_eq!(visible(&folds, &depths), [0, 1, 3, 5, 6]);
        assert_eq!(folds.guides(1, &depths, 100), [false]);
        assert!(folds.has_children(1, &depths) && !folds.has_children(3, &depths));
        folds.fold(0, &depths);
        assert_eq!(visible(&folds, &depths), [0, 5, 6]);
        folds.keep(None, &depths);
        assert_eq!(visible(&folds, &depths), [0, 5, 6]);
        folds.keep(Some(&[]), &depths);
        assert_eq!(folds.len(&depths), 0);
    }

    /// What is done to the folds of a tree.
    #[derive(Debug, Clone)]
    enum Step {
        Fold(usize),
        Unfold(usize),
        Reveal(usize),
        FoldAll(bool),
        Keep(Option<Vec<u32>>),
    }

    fn step() -> impl Strategy<Value = Step> {
        let rows = prop::collection::btree_set(0_u32..60, 0..20).prop_map(|rows| rows.into_iter().collect());
        prop_oneof![
            6 => (0_usize..60).prop_map(Step::Fold),
            4 => (0_usize..60).prop_map(Step::Unfold),
            1 => (0_usize..60).prop_map(Step::Reveal),
            1 => any::<bool>().prop_map(Step::FoldAll),
            1 => prop::option::of(rows).prop_map(Step::Keep),
        ]
    }

    /// The rows that nothing folded stands above and, where only some are kept, that stand at or above one of them.
    fn naive(folds: &Folds, kept: Option<&[u32]>, depths: &Depths) -> Vec<usize> {
        let above = |row: usize| std::iter::successors(Some(row), |row| depths.parent(*row));
        let is_kept = |row: usize| {
            let below = |below: &u32| (*below as usize) < depths.len() && above(*below as usize).any(|up| up == row);
            kept.is_none_or(|kept| kept.iter().any(below))
        };
        let is_open = |row: usize| above(row).skip(1).all(|up| !folds.is_folded(up));
        (0..depths.len()).filter(|row| is_kept(*row) && is_open(*row)).collect()
    }

    proptest! {
        #[test]
        fn visible_rows_agree_with_looking_at_every_ancestor(
            depths in prop::collection::vec(0_u16..6, 1..60),
            steps in prop::collection::vec(step(), 1..20),
        ) {
            let (depths, mut folds, mut kept) = (Depths::from(depths), Folds::default(), None);
            for step in steps {
                match step {
                    Step::Fold(row) => folds.fold(row, &depths),
                    Step::Unfold(row) => folds.unfold(row, &depths),
                    Step::Reveal(row) => folds.reveal(row, &depths),
                    Step::FoldAll(fold) => folds.fold_all(fold, &depths),
                    Step::Keep(rows) => {
                        folds.keep(rows.as_deref(), &depths);
                        kept = rows;
                    }
                }
                let naive = naive(&folds, kept.as_deref(), &depths);
                prop_assert_eq!(visible(&folds, &depths), naive.clone());
                let mut anew = Folds::of(&folds.folded(&depths));
                anew.keep(kept.as_deref(), &depths);
                prop_assert_eq!(&anew.hidden, &folds.hidden);
                for (position, row) in naive.iter().enumerate() {
                    prop_assert_eq!(folds.position(*row), position);
                    let (depth, later) = (depths.get(*row).unwrap(), naive.get(position + 1..).unwrap_or_default());
                    let at = |level| later.iter().map(|row| depths.get(*row).unwrap()).find(|below| *below <= level);
                    let guides: Vec<bool> = (1..=depth).map(|level| at(level) == Some(level)).collect();
                    prop_assert_eq!(folds.guides(*row, &depths, 100), guides);
                }
            }
        }
    }
}
