//! Rows as they were drawn last: a step of the cursor draws two of them, and takes the others from here.
//!
//! A row is kept under everything that it is drawn from, and only while that cannot change unseen: what is filtered, annotated or
//! still read is drawn anew. What has not been shown for some frames is let go of: who goes to and fro has not gone far.

use super::strokes::Strokes;
use crate::app::message::Opening;
use crate::app::panes::Branch;
use crate::report::Place;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Frames that a row is kept for, at least, after the last one that showed it.
const FRAMES: u64 = 8;

/// What a row of a pane is drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowKey {
    pub(super) opening: Opening,
    pub(super) place: Place,
    /// Columns that it has.
    pub(super) width: u16,
    /// Columns of the labels.
    pub(super) labels: usize,
    /// Columns that are scrolled off.
    pub(super) shift: usize,
    pub(super) is_wanted: bool,
    pub(super) branch: Option<Branch>,
    /// Whether the report has been judged, which happens once: its mark, if any, follows from its place.
    pub(super) is_judged: bool,
}

/// The place alone tells most rows apart: the rest is compared.
impl Hash for RowKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.hash(state);
    }
}

/// The rows of the last frames.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// Which frame is drawn.
    frame: u64,
    rows: HashMap<RowKey, Known, RandomState>,
}

/// A row that was drawn.
#[derive(Debug)]
struct Known {
    /// The last frame that showed it.
    frame: u64,
    strokes: Rc<Strokes>,
}

impl Memo {
    /// Begins a frame.
    pub(super) fn turn(&mut self) {
        self.frame += 1;
        if self.frame.is_multiple_of(FRAMES) {
            self.rows.retain(|_, row| row.frame + FRAMES >= self.frame);
        }
    }

    /// A row as it was drawn before.
    pub(super) fn recall(&mut self, key: &RowKey) -> Option<&Rc<Strokes>> {
        let row = self.rows.get_mut(key)?;
        row.frame = self.frame;
        Some(&row.strokes)
    }

    /// Keeps a row that was drawn in this frame.
    pub(super) fn keep(&mut self, key: RowKey, strokes: Rc<Strokes>) {
        self.rows.insert(key, Known { frame: self.frame, strokes });
    }
}
