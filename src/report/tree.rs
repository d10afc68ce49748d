//! Folding a flat tree: rows in order with a depth each, and the rows that are visible while some are folded or left out.

use super::body::Body;
use super::column::Column;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

/// How many rows are looked through at a time for a parent, which is most often near.
const STRIDE: usize = 4096;

/// How deep each row of a tree stands, parents before their children.
#[derive(Debug, Clone, Default)]
pub struct Depths(Column<u16>);

impl From<Vec<u16>> for Depths {
    fn from(depths: Vec<u16>) -> Self {
        Self(depths.into())
    }
}

impl Depths {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How deep a row stands; 0 at the root.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<u16> {
        self.0.get(row)
    }

    /// The depths of some rows, cut to those there are.
    ///
    /// # Errors
    /// When they are kept and cannot be read.
    pub fn window(&self, rows: Range<usize>) -> io::Result<Cow<'_, [u16]>> {
        self.0.window(rows)
    }

    /// Those there are of some rows; what cannot be read is not there.
    fn found(&self, rows: Range<usize>) -> Cow<'_, [u16]> {
        self.window(rows).unwrap_or_default()
    }

    /// Whether the row after this one is deeper.
    #[must_use]
    pub fn has_children(&self, row: usize) -> bool {
        matches!((self.get(row), self.get(row + 1)), (Some(depth), Some(next)) if next > depth)
    }

    /// The row's parent.
    #[must_use]
    pub fn parent(&self, row: usize) -> Option<usize> {
        let depth = self.get(row)?;
        let mut end = row;
        while end > 0 {
            let start = end.saturating_sub(STRIDE);
            if let Some(found) = self.found(start..end).iter().rposition(|above| *above < depth) {
                return Some(start + found);
            }
            end = start;
        }
        None
    }

    /// Whether another child of the same parent follows, at each depth from 1 to the row's own: what the guide lines show.
    ///
    /// The search stops after `reach` rows, where a line is drawn as if it went on.
    #[must_use]
    pub fn guides(&self, row: usize, reach: usize) -> Vec<bool> {
        let depth = self.get(row).unwrap_or_default();
        guides(depth, self.found(row + 1..(row + 1).saturating_add(reach)).iter().copied())
    }

    pub(super) fn kept(bytes: Body) -> Self {
        Self(Column::kept(bytes))
    }

    pub(super) fn verify(&self) -> io::Result<()> {
        self.0.verify()
    }

    pub(super) fn write(&self, to: &mut Vec<u8>) -> io::Result<()> {
        self.0.write(to)
    }

    pub(super) fn push(&mut self, depth: u16) {
        self.0.push(depth);
    }

    pub(super) fn append(&mut self, more: Self) {
        self.0.append(more.0);
    }
}

/// The guides of a row that stands so deep, by the depths of the rows after it.
fn guides(depth: u16, following: impl Iterator<Item = u16>) -> Vec<bool> {
    let mut guides = vec![false; usize::from(depth)];
    let mut open = depth;
    for next in following {
        if next <= open {
            if next == 0 {
                return guides;
            }
            if let Some(guide) = guides.get_mut(usize::from(next) - 1) {
                *guide = true;
            }
            open = next - 1;
        }
    }
    guides
}

/// Which rows of a tree are folded and which are kept, and so which rows are visible.
///
/// A row is known by its place: process identifiers repeat.
#[derive(Debug, Default, Clone)]
pub struct Folds {
    folded: BTreeSet<u32>,
    /// The only rows that are shown, each with those above it in the tree, in order; none while all are.
    kept: Option<Vec<u32>>,
    /// Visible rows in order; none while nothing is folded or left out, when every row is visible.
    visible: Option<Vec<u32>>,
}

impl Folds {
    /// Nothing is folded, everything is kept.
    pub const NONE: Self = Self { folded: BTreeSet::new(), kept: None, visible: None };

    /// How many rows of a tree with these depths are visible.
    #[must_use]
    pub fn len(&self, depths: &Depths) -> usize {
        self.visible.as_ref().map_or_else(|| depths.len(), Vec::len)
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
    pub fn fold(&mut self, row: usize, depths: &Depths) {
        if self.has_children(row, depths) {
            self.folded.extend(u32::try_from(row));
            self.refresh(depths);
        }
    }

    /// Shows a row's children.
    pub fn unfold(&mut self, row: usize, depths: &Depths) {
        if u32::try_from(row).is_ok_and(|row| self.folded.remove(&row)) {
            self.refresh(depths);
        }
    }

    /// Shows a row: what is folded above it is unfolded.
    pub fn reveal(&mut self, row: usize, depths: &Depths) {
        let mut above = depths.parent(row);
        let mut is_changed = false;
        while let Some(parent) = above {
            is_changed |= u32::try_from(parent).is_ok_and(|parent| self.folded.remove(&parent));
            above = depths.parent(parent);
        }
        if is_changed {
            self.refresh(depths);
        }
    }

    /// Folds every row that has children, or none.
    pub fn fold_all(&mut self, fold: bool, depths: &Depths) {
        let rows = (0..depths.len()).filter(|row| fold && depths.has_children(*row));
        self.folded = rows.filter_map(|row| u32::try_from(row).ok()).collect();
        self.refresh(depths);
    }

    /// Whether anything is folded.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.folded.is_empty()
    }

    /// Shows only these rows, given in order, and those above them in the tree; none shows all.
    pub fn keep(&mut self, rows: Option<&[u32]>, depths: &Depths) {
        self.kept = rows.map(|rows| with_ancestors(rows, depths));
        self.refresh(depths);
    }

    /// Whether the row has children that are kept; folded ones count.
    #[must_use]
    pub fn has_children(&self, row: usize, depths: &Depths) -> bool {
        let Some(kept) = &self.kept else { return depths.has_children(row) };
        let after = kept.partition_point(|kept| *kept as usize <= row);
        let next = kept.get(after).and_then(|next| depths.get(*next as usize));
        matches!((depths.get(row), next), (Some(depth), Some(next)) if next > depth)
    }

    /// As [`Depths::guides`], among the visible rows.
    #[must_use]
    pub fn guides(&self, row: usize, depths: &Depths, reach: usize) -> Vec<bool> {
        let (Some(visible), Some(depth)) = (&self.visible, depths.get(row)) else { return depths.guides(row, reach) };
        let following = visible.iter().skip(self.position(row).saturating_add(1)).take(reach);
        guides(depth, following.filter_map(|row| depths.get(*row as usize)))
    }

    /// Finds the visible rows again, after a fold or after rows were added.
    pub fn refresh(&mut self, depths: &Depths) {
        self.visible = match (&self.kept, self.folded.is_empty()) {
            (None, true) => None,
            (Some(kept), true) => Some(kept.clone()),
            (Some(kept), false) => Some(self.unfolded(kept.iter().copied(), depths)),
            (None, false) => Some(self.unfolded((0_u32..).take(depths.len()), depths)),
        };
    }

    fn unfolded(&self, rows: impl Iterator<Item = u32>, depths: &Depths) -> Vec<u32> {
        let depths = depths.found(0..depths.len());
        let mut hidden_below = u16::MAX;
        let is_visible = |row: &u32| {
            let depth = depths.get(*row as usize).copied().unwrap_or_default();
            let is_visible = depth <= hidden_below;
            if is_visible {
                hidden_below = if self.folded.contains(row) { depth } else { u16::MAX };
            }
            is_visible
        };
        rows.filter(is_visible).collect()
    }
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
    fn parents_and_guides() {
        assert_eq!(depths().parent(3), Some(1));
        assert_eq!(depths().parent(5), None);
        assert_eq!(depths().guides(2, 100), [true, true]);
        assert_eq!(depths().guides(3, 100), [true, false]);
        assert_eq!(depths().guides(4, 100), [false]);
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

    proptest! {
        #[test]
        fn visible_rows_agree_with_looking_at_every_ancestor(
            depths in prop::collection::vec(0_u16..6, 1..60),
            folded in prop::collection::vec(0_usize..60, 0..8),
            kept in prop::option::of(prop::collection::btree_set(0_u32..60, 0..20)),
        ) {
            let (depths, mut folds) = (Depths::from(depths), Folds::default());
            for row in folded {
                folds.fold(row, &depths);
            }
            let kept: Option<Vec<u32>> = kept.map(|kept| kept.into_iter().collect());
            folds.keep(kept.as_deref(), &depths);
            let is_above = |row: usize, below: u32| {
                let mut up = Some(below as usize);
                while let Some(at) = up.filter(|at| *at != row) {
                    up = depths.parent(at);
                }
                up.is_some() && (below as usize) < depths.len()
            };
            let naive: Vec<usize> = (0..depths.len())
                .filter(|row| {
                    if kept.as_ref().is_some_and(|kept| !kept.iter().any(|below| is_above(*row, *below))) {
                        return false;
                    }
                    let mut up = depths.parent(*row);
                    while let Some(above) = up {
                        if folds.is_folded(above) {
                            return false;
                        }
                        up = depths.parent(above);
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
