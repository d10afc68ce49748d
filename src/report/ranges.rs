//! Ranges of anything that can be put in order.

use crate::order;
use std::ops::Range;

/// Puts ranges in order, and those that meet together.
pub(crate) fn join<T: Ord + Copy>(ranges: &mut Vec<Range<T>>) {
    order::sort_by_key(ranges, |range| range.start);
    ranges.dedup_by(|next, last| {
        let meet = next.start <= last.end;
        if meet {
            last.end = last.end.max(next.end);
        }
        meet
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_meets_becomes_one() {
        let mut ranges = vec![7..9, 0..2, 2..3, 1..2, 4..8];
        join(&mut ranges);
        assert_eq!(ranges, [0..3, 4..9]);
    }
}
