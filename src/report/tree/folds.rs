//! Folding a flat tree: which rows are visible while some are folded or left out.

use super::{Depths, guides};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which rows of a tree are folded and which are kept, and so which rows are visible.
///
/// A row is identified by its place, because process identifiers repeat. The visible rows are
/// computed again after each change.
#[derive(Debug, Default, Clone)]
pub struct Folds {
    /// Whether every row with children is folded, with the exception of some.
    is_all: bool,
    /// Rows that are folded; where all are, those that are not.
    turned: BTreeSet<u32>,
    /// The only rows that are shown, each with those above it in the tree, in order; none while all are.
    kept: Option<Vec<u32>>,
    /// The visible rows, in order; none while all are.
    visible: Option<Arc<Vec<u32>>>,
}

impl Folds {
    /// These rows are folded; what that hides is found by [`Folds::refresh`], once there are rows.
    pub fn of(rows: &[u32]) -> Self {
        Self { turned: rows.iter().copied().collect(), ..Self::default() }
    }

    /// The rows that are folded, in order.
    pub fn folded(&self, depths: &Depths) -> Vec<u32> {
        if !self.is_all {
            return self.turned.iter().copied().collect();
        }
        let folded = (0..depths.len()).filter(|row| depths.has_children(*row) && self.is_folded(*row));
        folded.filter_map(|row| u32::try_from(row).ok()).collect()
    }

    /// How many rows of a tree with these depths are visible.
    pub fn len(&self, depths: &Depths) -> usize {
        self.visible.as_ref().map_or_else(|| depths.len(), |visible| visible.len())
    }

    /// The row that stands at a visible position.
    pub fn row(&self, position: usize) -> usize {
        let found = self.visible.as_ref().and_then(|visible| visible.get(position));
        found.map_or(position, |row| *row as usize)
    }

    /// The visible position of a row, or of the nearest visible one before it.
    pub fn position(&self, row: usize) -> usize {
        let before = |visible: &Arc<Vec<u32>>| visible.partition_point(|visible| *visible as usize <= row);
        self.visible.as_ref().map_or(row, |visible| before(visible).saturating_sub(1))
    }

    /// Whether a row's children are hidden, if it has any.
    pub fn is_folded(&self, row: usize) -> bool {
        let is_turned = !self.turned.is_empty() && u32::try_from(row).is_ok_and(|row| self.turned.contains(&row));
        is_turned != self.is_all
    }

    /// Hides a row's children.
    pub fn fold(&mut self, row: usize, depths: &Depths) {
        self.turn(row, true, depths);
        self.refresh(depths);
    }

    /// Shows a row's children.
    pub fn unfold(&mut self, row: usize, depths: &Depths) {
        self.turn(row, false, depths);
        self.refresh(depths);
    }

    fn turn(&mut self, row: usize, fold: bool, depths: &Depths) {
        if self.is_folded(row) == fold || !self.has_children(row, depths) {
            return;
        }
        let Ok(row) = u32::try_from(row) else { return };
        if !self.turned.remove(&row) {
            self.turned.insert(row);
        }
    }

    /// Shows a row: unfolds every folded row above it.
    pub fn reveal(&mut self, row: usize, depths: &Depths) {
        let mut above = depths.parent(row);
        while let Some(parent) = above.filter(|_| self.any()) {
            self.turn(parent, false, depths);
            above = depths.parent(parent);
        }
        self.refresh(depths);
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
        let Some((visible, depth)) = self.visible.as_ref().zip(depths.get(row)) else {
            return depths.guides(row, reach);
        };
        let later = visible.iter().skip(self.position(row).saturating_add(1)).take(reach);
        guides(depth, later.filter_map(|row| depths.get(*row as usize)))
    }

    /// Finds the visible rows again, after rows were added.
    pub fn refresh(&mut self, depths: &Depths) {
        self.visible = (self.any() || self.kept.is_some()).then(|| match &self.kept {
            Some(kept) => self.unhidden(kept.iter().copied(), depths),
            None => self.unhidden((0..).take(depths.len()), depths),
        });
    }

    /// Those of some rows that no folded row hides.
    fn unhidden(&self, rows: impl Iterator<Item = u32>, depths: &Depths) -> Arc<Vec<u32>> {
        let (mut visible, mut folded) = (Vec::new(), None);
        for row in rows {
            let depth = depths.get(row as usize).unwrap_or_default();
            if folded.is_some_and(|folded| depth > folded) {
                continue;
            }
            visible.push(row);
            folded = self.is_folded(row as usize).then_some(depth);
        }
        Arc::new(visible)
    }
}

/// Rows in order, with every row that stands above one of them in the tree.
fn with_ancestors(rows: &[u32], depths: &Depths) -> Vec<u32> {
    let end = rows.last().map_or(0, |last| *last as usize + 1);
    let depths = depths.rows().get(..end).unwrap_or(depths.rows());
    let (mut found, mut above, mut wanted) = (Vec::new(), Vec::<u32>::new(), rows.iter().copied().peekable());
    for (row, depth) in (0_u32..).zip(depths) {
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

    fn visible(folds: &Folds, depths: &Depths) -> Vec<usize> {
        (0..folds.len(depths)).map(|n| folds.row(n)).collect()
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
                prop_assert_eq!(visible(&anew, &depths), naive.clone());
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
