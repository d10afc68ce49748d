//! How far in a process is written, where not all of its ancestors are.

use crate::report::tree::{Depths, Parents};

/// The deepest level that a process is indented to; deeper ones say theirs.
const DEEPEST: usize = 20;

/// What was written of a tree so far.
#[derive(Default)]
pub(super) struct Nested {
    /// The section, and the next row of it.
    next: (usize, usize),
    /// The depths of the processes that were written and go on.
    above: Vec<u16>,
    parents: Parents,
}

impl Nested {
    /// What stands before a row: as many steps as processes above it are written; its level, where that is too deep to be seen; and
    /// the one that started it in these words, where that is left out: whoever is written above it did not.
    pub(super) fn indent(
        &mut self,
        section: usize,
        row: usize,
        depths: Option<&Depths>,
        named: impl Fn(usize) -> String,
    ) -> (String, String) {
        if self.next.0 != section || self.next.1 > row {
            *self = Self { next: (section, row), ..Self::default() };
        }
        let depth = |row| depths.and_then(|depths| depths.get(row)).unwrap_or_default();
        // What is left out ends others as well.
        let lowest = (self.next.1..=row).map(depth).min().unwrap_or_default();
        self.above.retain(|above| *above < lowest);
        let (steps, own) = (self.above.len().min(DEEPEST), depth(row));
        let is_left_out = own > 0 && self.above.last().is_none_or(|above| above + 1 < own);
        self.above.push(own);
        self.next = (section, row + 1);
        let level = if usize::from(own) > DEEPEST { format!("level {own} ") } else { String::new() };
        let parent = depths.filter(|_| is_left_out).and_then(|depths| self.parents.of(row, depths));
        let parent = parent.map(|parent| format!("(below {}, which is left out) ", named(parent)));
        ("  ".repeat(steps), level + &parent.unwrap_or_default())
    }
}
