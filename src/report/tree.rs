//! Folding a flat tree: rows in order with a depth each, and the rows that are visible while some are folded.

use std::collections::BTreeSet;

/// Which rows of a tree are folded, and so which rows are visible.
///
/// A row is known by its place: process identifiers repeat.
#[derive(Debug, Default, Clone)]
pub struct Folds {
    folded: BTreeSet<u32>,
    /// Visible rows in order; none while nothing is folded, when every row is visible.
    visible: Option<Vec<u32>>,
}

impl Folds {
    /// Nothing is folded.
    pub const NONE: Self = Self { folded: BTreeSet::new(), visible: None };

    /// How many rows of a tree with these depths are visible.
    #[must_use]
    pub fn len(&self, depths: &[u16]) -> usize {
        self.visible.as_ref().map_or(depths.len(), Vec::len)
    }

    /// The row that stands at a visible position.
    #[must_use]
    pub fn row(&self, position: usize) -> usize {
        let found = self.visible.as_ref().and_then(|rows| rows.get(position));
        found.map_or(position, |row| *row as usize)
    }

    /// The visible position of a row, or of the nearest visible one before it.
    #[must_use]
    pub fn position(&self, row: usize) -> usize {
        match &self.visible {
            None => row,
            Some(rows) => rows.partition_point(|visible| *visible as usize <= row).saturating_sub(1),
        }
    }

    /// Whether a row's children are hidden.
    #[must_use]
    pub fn is_folded(&self, row: usize) -> bool {
        u32::try_from(row).is_ok_and(|row| self.folded.contains(&row))
    }

    /// Hides a row's children.
    pub fn fold(&mut self, row: usize, depths: &[u16]) {
        if has_children(row, depths) {
            self.folded.extend(u32::try_from(row));
            self.refresh(depths);
        }
    }

    /// Shows a row's children.
    pub fn unfold(&mut self, row: usize, depths: &[u16]) {
        if u32::try_from(row).is_ok_and(|row| self.folded.remove(&row)) {
            self.refresh(depths);
        }
    }

    /// Folds every row that has children, or none.
    pub fn fold_all(&mut self, fold: bool, depths: &[u16]) {
        let rows = (0..depths.len()).filter(|row| fold && has_children(*row, depths));
        self.folded = rows.filter_map(|row| u32::try_from(row).ok()).collect();
        self.refresh(depths);
    }

    /// Whether anything is folded.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.folded.is_empty()
    }

    /// Finds the visible rows again, after a fold or after rows were added.
    pub fn refresh(&mut self, depths: &[u16]) {
        if self.folded.is_empty() {
            self.visible = None;
            return;
        }
        let mut rows = Vec::new();
        let mut hidden_below = u16::MAX;
        for (row, depth) in (0_u32..).zip(depths) {
            if *depth > hidden_below {
                continue;
            }
            hidden_below = if self.folded.contains(&row) { *depth } else { u16::MAX };
            rows.push(row);
        }
        self.visible = Some(rows);
    }
}

/// Whether the row after this one is deeper.
#[must_use]
pub fn has_children(row: usize, depths: &[u16]) -> bool {
    match (depths.get(row), depths.get(row + 1)) {
        (Some(depth), Some(next)) => next > depth,
        _ => false,
    }
}

/// The row's parent.
#[must_use]
pub fn parent(row: usize, depths: &[u16]) -> Option<usize> {
    let depth = *depths.get(row)?;
    depths.get(..row)?.iter().rposition(|above| *above < depth)
}

/// Whether another child of the same parent follows, at each depth from 1 to the row's own: what the guide lines show.
///
/// The search stops after `reach` rows, where a line is drawn as if it went on.
#[must_use]
pub fn guides(row: usize, depths: &[u16], reach: usize) -> Vec<bool> {
    let depth = depths.get(row).copied().unwrap_or_default();
    let mut guides = vec![false; usize::from(depth)];
    let mut open = depth;
    for next in depths.iter().skip(row + 1).take(reach) {
        if *next <= open {
            if *next == 0 {
                return guides;
            }
            if let Some(guide) = guides.get_mut(usize::from(*next) - 1) {
                *guide = true;
            }
            open = next - 1;
        }
    }
    guides
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEPTHS: [u16; 7] = [0, 1, 2, 2, 1, 0, 1];

    fn visible(folds: &Folds, depths: &[u16]) -> Vec<usize> {
        (0..folds.len(depths)).map(|n| folds.row(n)).collect()
    }

    #[test]
    fn folding_hides_the_subtree_only() {
        let mut folds = Folds::default();
        folds.fold(1, &DEPTHS);
        assert_eq!(visible(&folds, &DEPTHS), [0, 1, 4, 5, 6]);
        folds.fold(0, &DEPTHS);
        assert_eq!(visible(&folds, &DEPTHS), [0, 5, 6]);
        folds.unfold(0, &DEPTHS);
        assert_eq!(visible(&folds, &DEPTHS), [0, 1, 4, 5, 6]);
        folds.fold_all(true, &DEPTHS);
        assert_eq!(visible(&folds, &DEPTHS), [0, 5]);
        folds.fold_all(false, &DEPTHS);
        assert_eq!(visible(&folds, &DEPTHS).len(), 7);
    }

    #[test]
    fn a_leaf_does_not_fold() {
        let mut folds = Folds::default();
        folds.fold(2, &DEPTHS);
        assert!(!folds.any());
    }

    #[test]
    fn parents_and_guides() {
        assert_eq!(parent(3, &DEPTHS), Some(1));
        assert_eq!(parent(5, &DEPTHS), None);
        assert_eq!(guides(2, &DEPTHS, 100), [true, true]);
        assert_eq!(guides(3, &DEPTHS, 100), [true, false]);
        assert_eq!(guides(4, &DEPTHS, 100), [false]);
    }

    proptest! {
        #[test]
        fn visible_rows_agree_with_looking_at_every_ancestor(
            depths in prop::collection::vec(0_u16..6, 1..60),
            folded in prop::collection::vec(0_usize..60, 0..8),
        ) {
            let mut folds = Folds::default();
            for row in folded {
                folds.fold(row, &depths);
            }
            let naive: Vec<usize> = (0..depths.len())
                .filter(|row| {
                    let mut up = parent(*row, &depths);
                    while let Some(above) = up {
                        if folds.is_folded(above) {
                            return false;
                        }
                        up = parent(above, &depths);
                    }
                    true
                })
                .collect();
            prop_assert_eq!(visible(&folds, &depths), naive.clone());
            for (position, row) in naive.into_iter().enumerate() {
                prop_assert_eq!(folds.position(row), position);
            }
        }
    }
}
