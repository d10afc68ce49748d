//! An answer of any kind as a tree that folds.

use crate::app::over::{OverlayScreen, RowWindow};
use crate::app::panes::Scroll;
use crate::app::{Place, Size};
use crate::report::rows::Line;
use crate::report::{Depths, Folds};
use jiff::Timestamp;

/// An answer that is looked at.
#[derive(Debug)]
pub struct AnswerTree {
    pub title: String,
    pub received: Timestamp,
    /// The answer taken apart, a line a leaf.
    pub lines: Vec<Line>,
    pub folds: Folds,
    pub scroll: Scroll,
    depths: Depths,
}

impl AnswerTree {
    /// An answer, unfolded.
    pub fn new(title: String, received: Timestamp, lines: Vec<Line>) -> Self {
        let depths: Vec<_> = lines.iter().map(|line| u16::try_from(line.depth).unwrap_or(u16::MAX)).collect();
        let depths = Depths::from(depths);
        Self { title, received, lines, folds: Folds::default(), scroll: Scroll::default(), depths }
    }

    pub fn count(&self) -> usize {
        self.folds.len(&self.depths)
    }

    /// The line at a visible position, with whether it has children and whether they are hidden.
    pub fn line(&self, position: usize) -> Option<(&Line, Option<bool>)> {
        let row = self.folds.row(position);
        let children = self.depths.has_children(row).then(|| self.folds.is_folded(row));
        Some((self.lines.get(row)?, children))
    }

    /// Folds the line, or goes to its parent.
    pub fn left(&mut self) {
        let row = self.folds.row(self.scroll.cursor);
        if self.depths.has_children(row) && !self.folds.is_folded(row) {
            self.folds.fold(row, &self.depths);
        } else if let Some(parent) = self.depths.parent(row) {
            self.scroll.cursor = self.folds.position(parent);
        }
    }

    pub fn right(&mut self) {
        self.folds.unfold(self.folds.row(self.scroll.cursor), &self.depths);
    }

    /// Folds or unfolds the line.
    pub fn toggle(&mut self) {
        let row = self.folds.row(self.scroll.cursor);
        if self.folds.is_folded(row) {
            self.folds.unfold(row, &self.depths)
        } else {
            self.folds.fold(row, &self.depths)
        }
    }

    pub fn fold_all(&mut self, fold: bool) {
        let row = self.folds.row(self.scroll.cursor);
        self.folds.fold_all(fold, &self.depths);
        self.scroll.cursor = self.folds.position(row);
    }

    pub fn chosen(&self) -> Option<&Line> {
        self.line(self.scroll.cursor).map(|(line, _)| line)
    }
}

impl OverlayScreen for AnswerTree {
    fn place(&self) -> Place {
        Place::Answer
    }

    fn choice(&self, _: Size) -> Option<RowWindow> {
        Some(RowWindow { scroll: self.scroll, count: self.count(), ..RowWindow::default() })
    }

    fn scroll(&mut self) -> Option<&mut Scroll> {
        Some(&mut self.scroll)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::rows::lines;

    #[test]
    fn an_answer_folds_and_climbs() {
        let lines = lines(br#"{"data":{"a":[1,2],"b":3}}"#);
        let mut tree = AnswerTree::new("t".to_owned(), Timestamp::UNIX_EPOCH, lines);
        assert_eq!(tree.count(), 6);
        tree.scroll.cursor = 3;
        tree.left();
        assert_eq!(tree.scroll.cursor, 2);
        tree.left();
        assert_eq!(tree.count(), 4);
        tree.toggle();
        tree.fold_all(true);
        assert_eq!((tree.count(), tree.scroll.cursor), (1, 0));
        tree.right();
        assert_eq!(tree.count(), 2);
    }
}
