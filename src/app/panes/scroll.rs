//! A cursor among rows and the window of them that is shown.

/// How far a list is scrolled. The cursor is always among the rows that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scroll {
    pub cursor: usize,
    pub top: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    Up(usize),
    Down(usize),
    First,
    Last,
}

impl Scroll {
    /// Moves among `count` rows of which `height` are shown.
    pub fn go(&mut self, movement: Move, count: usize, height: usize) {
        let last = count.saturating_sub(1);
        self.cursor = match movement {
            Move::Up(rows) => self.cursor.saturating_sub(rows),
            Move::Down(rows) => self.cursor.saturating_add(rows).min(last),
            Move::First => 0,
            Move::Last => last,
        };
        if matches!(movement, Move::Up(1) | Move::Down(1)) {
            self.turn(count, height);
        }
        self.settle(count, height);
    }

    /// Turns half a page at an end of the window: between two turns rows stand still to be read.
    fn turn(&mut self, count: usize, height: usize) {
        let shown = self.top..self.top.saturating_add(height.max(1));
        if !shown.contains(&self.cursor) {
            self.top = self.cursor.saturating_sub(height / 2).min(count.saturating_sub(height));
        }
    }

    /// Stays on what has this number, or goes to the nearest of those that are shown now, given in order.
    pub(in crate::app) fn stay_on(&mut self, number: u32, shown: &[u32]) {
        let after = shown.partition_point(|shown| *shown < number);
        let around = shown.iter().enumerate().skip(after.saturating_sub(1)).take(2);
        let nearest = around.min_by_key(|(_, shown)| shown.abs_diff(number));
        self.cursor = nearest.map_or(0, |(place, _)| place);
    }

    /// Brings cursor and window back among the rows, after rows or height have changed.
    pub fn settle(&mut self, count: usize, height: usize) {
        self.cursor = self.cursor.min(count.saturating_sub(1));
        let height = height.max(1);
        let highest = self.cursor.saturating_sub(height - 1);
        self.top = self.top.clamp(highest, self.cursor).min(count.saturating_sub(height).max(highest));
    }
}

/// The top of a window after a movement; it shows no row past the last.
pub(in crate::app) fn scrolled(top: usize, movement: Move, count: usize, height: usize) -> usize {
    // A cursor in a window of one row moves as the window itself does.
    let mut scroll = Scroll { cursor: top, top };
    scroll.go(movement, count.saturating_sub(height) + 1, 1);
    scroll.cursor
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn movement() -> impl Strategy<Value = Move> {
        prop_oneof![
            (0_usize..50).prop_map(Move::Up),
            (0_usize..50).prop_map(Move::Down),
            Just(Move::First),
            Just(Move::Last)
        ]
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_among_the_rows_that_are_shown(
            steps in prop::collection::vec((movement(), 0_usize..100, 0_usize..40), 1..40),
        ) {
            let mut scroll = Scroll::default();
            for (movement, count, height) in steps {
                scroll.go(movement, count, height);
                let shown = scroll.top..scroll.top + height.max(1);
                prop_assert!(shown.contains(&scroll.cursor), "{scroll:?} {shown:?}");
                prop_assert!(scroll.cursor < count.max(1));
                // No rows are left empty while there are rows above.
                prop_assert!(scroll.top == 0 || scroll.top + height.max(1) <= count);
            }
        }
    }
}
