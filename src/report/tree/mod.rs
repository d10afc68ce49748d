//! A flat tree: rows in order with a depth each, parents before their children.

pub(super) mod folds;
pub(super) mod listed;

use super::body::Body;
use super::index::column::Column;
use folds::{Folds, Stretch};
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How many rows are looked through at a time for a parent or for the end of a subtree, which are most often near: at first,
/// and at the most.
const STRIDE: usize = 64;
const LONGEST_STRIDE: usize = 16 * 1024;

/// How deep each row of a tree stands, parents before their children.
#[derive(Debug, Clone, Default)]
pub struct Depths {
    rows: Column<u16>,
    /// What is hidden where every row with children is folded, once it was looked for.
    closed: OnceLock<Arc<Vec<Stretch>>>,
}

impl From<Vec<u16>> for Depths {
    fn from(depths: Vec<u16>) -> Self {
        Self { rows: depths.into(), closed: OnceLock::new() }
    }
}

impl Depths {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How deep a row stands; 0 at the root.
    pub fn get(&self, row: usize) -> Option<u16> {
        self.rows.get(row)
    }

    /// The depths of some rows, cut to those there are.
    pub fn window(&self, rows: Range<usize>) -> io::Result<Cow<'_, [u16]>> {
        self.rows.window(rows)
    }

    /// Those there are of some rows; what cannot be read is not there.
    pub(super) fn found(&self, rows: Range<usize>) -> Cow<'_, [u16]> {
        self.window(rows).unwrap_or_default()
    }

    /// Whether the row after this one is deeper.
    pub fn has_children(&self, row: usize) -> bool {
        matches!((self.get(row), self.get(row + 1)), (Some(depth), Some(next)) if next > depth)
    }

    pub fn parent(&self, row: usize) -> Option<usize> {
        let depth = self.get(row)?;
        let (mut end, mut stride) = (row, STRIDE);
        while end > 0 {
            let start = end.saturating_sub(stride);
            if let Some(found) = self.found(start..end).iter().rposition(|above| *above < depth) {
                return Some(start + found);
            }
            (end, stride) = (start, longer(stride));
        }
        None
    }

    /// The row after the last one that stands below this one in the tree.
    pub fn end_of(&self, row: usize) -> usize {
        let Some(depth) = self.get(row) else { return row };
        let (mut start, mut stride) = (row + 1, STRIDE);
        loop {
            let depths = self.found(start..start.saturating_add(stride));
            match depths.iter().position(|below| *below <= depth) {
                Some(found) => return start + found,
                None if depths.is_empty() => return start,
                None => (start, stride) = (start + depths.len(), longer(stride)),
            }
        }
    }

    /// Whether another child of the same parent follows, at each depth from 1 to the row's own: what the guide lines show.
    ///
    /// The search stops after `reach` rows, where a line is drawn as if it went on.
    pub fn guides(&self, row: usize, reach: usize) -> Vec<bool> {
        let mut guides = Guides::of(self.get(row).unwrap_or_default());
        guides.look(self, row + 1..(row + 1).saturating_add(reach));
        guides.found
    }

    /// Finds what it hides to fold every row, which takes a look at each: who does so beside the screen spares that the key that
    /// is pressed for it.
    pub fn look_ahead(&self) {
        self.closed();
    }

    /// What is hidden where every row with children is folded.
    fn closed(&self) -> Arc<Vec<Stretch>> {
        Arc::clone(self.closed.get_or_init(|| Arc::new(Folds::closed(self))))
    }

    pub(super) fn kept(bytes: Body, first: Vec<u16>) -> Self {
        Self { rows: Column::kept(bytes, first), closed: OnceLock::new() }
    }

    pub(super) fn unpacked(&self) -> io::Result<Self> {
        Ok(Self { rows: self.rows.unpacked()?, closed: self.closed.clone() })
    }

    pub(super) fn verify(&self) -> io::Result<()> {
        self.rows.verify()
    }

    pub(super) fn write(&self, rows: Range<usize>, to: &mut Vec<u8>) -> io::Result<()> {
        self.rows.write(rows, to)
    }

    pub(super) fn push(&mut self, depth: u16) {
        self.closed.take();
        self.rows.push(depth);
    }

    pub(super) fn append(&mut self, more: Self) {
        self.closed.take();
        self.rows.append(more.rows);
    }

    pub(in crate::report) fn share(&mut self) {
        self.rows.share();
    }

    pub(in crate::report) fn shrink(&mut self) {
        self.rows.shrink();
    }
}

fn longer(stride: usize) -> usize {
    (stride * 4).min(LONGEST_STRIDE)
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

/// The guides of a row, as the rows after it are looked at.
pub(super) struct Guides {
    pub(super) found: Vec<bool>,
    /// The deepest level of which it is not known yet.
    open: u16,
}

impl Guides {
    /// Nothing is known yet of a row that stands so deep.
    pub(super) fn of(depth: u16) -> Self {
        Self { found: vec![false; usize::from(depth)], open: depth }
    }

    /// Looks at a row that stands so deep; says whether it is worth while to look at the next.
    pub(super) fn see(&mut self, depth: u16) -> bool {
        if depth <= self.open {
            self.open = depth.saturating_sub(1);
            if let Some(guide) = usize::from(depth).checked_sub(1).and_then(|level| self.found.get_mut(level)) {
                *guide = true;
            }
        }
        self.open > 0
    }

    /// Looks at rows one after another; says whether it is worth while to go on.
    pub(super) fn look(&mut self, depths: &Depths, mut rows: Range<usize>) -> bool {
        let mut stride = STRIDE;
        while self.open > 0 && !rows.is_empty() {
            let found = depths.found(rows.start..rows.end.min(rows.start + stride));
            if found.is_empty() || !found.iter().all(|depth| self.see(*depth)) {
                return false;
            }
            (rows.start, stride) = (rows.start + found.len(), longer(stride));
        }
        self.open > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parents_and_guides() {
        let depths: Depths = vec![0, 1, 2, 2, 1, 0, 1].into();
        assert_eq!((depths.parent(3), depths.parent(5)), (Some(1), None));
        assert_eq!(depths.guides(2, 100), [true, true]);
        assert_eq!(depths.guides(3, 100), [true, false]);
        assert_eq!(depths.guides(4, 100), [false]);
    }

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
