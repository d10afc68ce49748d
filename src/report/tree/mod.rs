//! A flat tree: rows in order with a depth each, parents before their children.

pub(super) mod folds;
pub(super) mod listed;

/// How deep each row of a tree stands, parents before their children.
#[derive(Debug, Clone, Default)]
pub struct Depths(Vec<u16>);

impl From<Vec<u16>> for Depths {
    fn from(depths: Vec<u16>) -> Self {
        Self(depths)
    }
}

impl Depths {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The depths of all rows, 0 at the root.
    pub fn rows(&self) -> &[u16] {
        &self.0
    }

    /// The depths of the rows from one on.
    pub fn after(&self, row: usize) -> &[u16] {
        self.0.get(row..).unwrap_or_default()
    }

    /// How deep a row stands; 0 at the root.
    pub fn get(&self, row: usize) -> Option<u16> {
        self.0.get(row).copied()
    }

    /// Whether the row after this one is deeper.
    pub fn has_children(&self, row: usize) -> bool {
        matches!((self.get(row), self.get(row + 1)), (Some(depth), Some(next)) if next > depth)
    }

    pub fn parent(&self, row: usize) -> Option<usize> {
        let depth = self.get(row)?;
        self.0.get(..row)?.iter().rposition(|above| *above < depth)
    }

    /// The row after the last one that stands below this one in the tree.
    pub fn end_of(&self, row: usize) -> usize {
        let Some(depth) = self.get(row) else { return row };
        let below = self.after(row + 1);
        row + 1 + below.iter().position(|below| *below <= depth).unwrap_or(below.len())
    }

    /// Whether another child of the same parent follows, at each depth from 1 to the row's own: what the guide lines show.
    ///
    /// The search stops after `reach` rows, where a line is drawn as if it went on.
    pub fn guides(&self, row: usize, reach: usize) -> Vec<bool> {
        guides(self.get(row).unwrap_or_default(), self.after(row + 1).iter().copied().take(reach))
    }

    pub(super) fn push(&mut self, depth: u16) {
        self.0.push(depth);
    }

    pub(super) fn append(&mut self, more: &Self) {
        self.0.extend_from_slice(&more.0);
    }
}

/// The guides of a row that stands so deep, by the depths of the rows after it.
fn guides(depth: u16, later: impl Iterator<Item = u16>) -> Vec<bool> {
    let (mut found, mut open) = (vec![false; usize::from(depth)], depth);
    for depth in later {
        if open == 0 {
            break;
        }
        if depth <= open {
            open = depth.saturating_sub(1);
            if let Some(guide) = usize::from(depth).checked_sub(1).and_then(|level| found.get_mut(level)) {
                *guide = true;
            }
        }
    }
    found
}

/// The parents of rows that are asked for in order: each row of the tree is read once, however many siblings there are.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    /// The next row to read.
    next: usize,
    /// The last row read, below its ancestors: depth and row of each.
    open: Vec<(u16, usize)>,
}

impl Parents {
    pub(crate) fn of(&mut self, row: usize, depths: &Depths) -> Option<usize> {
        if self.next > row + 1 {
            *self = Self::default();
        }
        while self.next <= row {
            let depth = depths.get(self.next)?;
            self.open.truncate(self.open.partition_point(|(above, _)| *above < depth));
            self.open.push((depth, self.next));
            self.next += 1;
        }
        self.open.iter().nth_back(1).map(|(_, parent)| *parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_subtree_ends_where_the_next_row_is_no_deeper(
            depths in prop::collection::vec(prop_oneof![1 => Just(0_u16), 200 => 1_u16..6], 1..600),
        ) {
            let (tree, mut parents) = (Depths::from(depths.clone()), Parents::default());
            for row in 0..depths.len() {
                let naive = (row + 1..depths.len()).find(|below| depths[*below] <= depths[row]);
                prop_assert_eq!(tree.end_of(row), naive.unwrap_or(depths.len()));
                let parent = (0..row).rev().find(|above| depths[*above] < depths[row]);
                prop_assert_eq!(tree.parent(row), parent);
                prop_assert_eq!(parents.of(row, &tree), parent);
            }
        }
    }
}
