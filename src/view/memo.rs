//! What was drawn last: a step of the cursor draws two rows of a pane, and takes the others, and the other panes, from here.
//!
//! A row or a pane is kept under everything that it is drawn from, and only while that cannot change unseen: what is filtered,
//! annotated or still read is drawn anew. What has not been shown for some frames is let go of: who goes to and fro has not gone
//! far.

use super::strokes::{Block, Strokes};
use crate::app::message::Opening;
use crate::app::panes::{Branch, Sight};
use crate::report::{Pane, Place};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Frames that something is kept for, at least, after the last one that showed it.
const FRAMES: u64 = 8;

/// What is kept, by everything that it is drawn from but the report, which [`Opening`] tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// A row of a pane.
    Row(RowKey),
    /// A pane without the focus, its border included.
    Pane(PaneKey),
    /// The strip that names all panes.
    Strip(StripKey),
}

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

/// What a pane is drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PaneKey {
    pub(super) opening: Opening,
    pub(super) pane: Pane,
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) sight: Sight,
    pub(super) is_judged: bool,
}

/// What the strip is drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StripKey {
    pub(super) opening: Opening,
    pub(super) width: u16,
    pub(super) focus: Option<Pane>,
}

/// The place alone tells most rows apart, the pane most panes: the rest is compared.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Row(row) => row.place.hash(state),
            Self::Pane(pane) => pane.pane.hash(state),
            Self::Strip(strip) => strip.focus.hash(state),
        }
    }
}

/// What was drawn in the last frames.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// Which frame is drawn.
    frame: u64,
    known: HashMap<Key, Known, RandomState>,
}

/// Something that was drawn.
#[derive(Debug)]
struct Known {
    /// The last frame that asked for it.
    frame: u64,
    block: Block,
}

impl Memo {
    /// Begins a frame.
    pub(super) fn turn(&mut self) {
        self.frame += 1;
        if self.frame.is_multiple_of(FRAMES) {
            // The rows of a pane are not asked for while it is drawn as a whole: whoever goes there finds them still.
            self.known.retain(|_, known| known.frame + FRAMES >= self.frame || Rc::strong_count(&known.block) > 1);
        }
    }

    /// Something as it was drawn before.
    pub(super) fn recall(&mut self, key: &Key) -> Option<&Block> {
        let known = self.known.get_mut(key)?;
        known.frame = self.frame;
        Some(&known.block)
    }

    /// Keeps what was drawn in this frame.
    pub(super) fn keep(&mut self, key: Key, rows: Vec<Strokes>) -> Block {
        let block = Block::from(rows);
        self.known.insert(key, Known { frame: self.frame, block: Rc::clone(&block) });
        block
    }
}
