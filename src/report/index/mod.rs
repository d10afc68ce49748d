//! Where the rows of a report start, found in one pass over bytes that may still be arriving.
//!
//! An index is made of batches, so that the first rows can be shown while the last bytes are read. A row costs four bytes, a
//! process ten.

pub(super) mod indexer;

use super::attributes::{ATTRIBUTES, Attribute, Pane, is_perhaps_cut};
use super::body::LARGEST;
use super::tree::Depths;
use crate::text::Untrusted;
use indexer::Indexer;

/// What a body holds, and where.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// The report's attributes and their sibling members, in the order of the bytes.
    pub sections: Vec<Section>,
    /// Offset of the value of `id`.
    pub id: Option<u32>,
    /// Offset of the value of `type`.
    pub kind: Option<u32>,
    /// Whether the body is a page of a list: its `data` is an array.
    pub is_page: bool,
    /// Whether the report or the list is in an envelope, under `data`.
    pub is_enveloped: bool,
    /// Whether `attributes` of a bare report have been seen.
    pub is_attributed: bool,
    /// Whether every byte has been read.
    pub is_complete: bool,
    /// Whether the bytes stop inside of a value: the body was cut short.
    pub is_cut: bool,
    /// Whether the body begins like JSON at all.
    pub is_json: bool,
}

/// One attribute's rows.
#[derive(Debug, Clone)]
pub struct Section {
    /// The attribute's name in the report.
    pub name: Untrusted,
    /// Its row in the table, if it has one.
    pub attribute: Option<&'static Attribute>,
    /// Place of that row in the table, after all of them where there is none.
    pub rank: usize,
    /// What the value turned out to be.
    pub form: Form,
    /// Whether it is a sibling of `attributes`, as `links` and `relationships` are. In a report
    /// without that member all sections are.
    pub is_beside: bool,
    /// Offset of each row's first byte.
    pub(super) starts: Vec<u32>,
    /// Depth of each process; empty for other forms.
    pub(super) depths: Depths,
    /// Offset at which each process continues after its children, 0 where it does not; empty for
    /// other forms.
    pub(super) tails: Vec<u32>,
    /// Offset after the last row, 0 while unknown.
    pub(super) end: u32,
}

/// What an attribute's value turned out to be, whatever the table says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One string, number or word: one row.
    Scalar,
    /// An array: a row an element.
    Array,
    /// An object: a row a member.
    Object,
    /// Consecutive single values of unknown attributes: a row a member.
    Loose,
    /// An array of processes with children: a row a process, at any depth, parents first.
    Processes,
}

impl Section {
    pub(super) fn new(name: Untrusted, attribute: Option<&'static Attribute>, form: Form, is_beside: bool) -> Self {
        let is_it = |row: &Attribute| attribute.is_some_and(|known| known.name == row.name);
        let rank = ATTRIBUTES.iter().position(is_it).unwrap_or(ATTRIBUTES.len());
        let (starts, depths, tails) = (Vec::new(), Depths::default(), Vec::new());
        Self { name, attribute, rank, form, is_beside, starts, depths, tails, end: 0 }
    }

    /// The pane that shows these rows.
    pub fn pane(&self) -> Pane {
        self.attribute.map_or(Pane::Other, |attribute| attribute.pane)
    }

    /// How many rows there are so far.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is a list of as many rows as the service seems to cut lists to.
    pub fn is_perhaps_cut(&self) -> bool {
        self.form == Form::Array && self.end().is_some() && is_perhaps_cut(self.len())
    }

    /// Offset of a row's first byte.
    pub fn start(&self, row: usize) -> Option<u32> {
        self.starts.get(row).copied()
    }

    /// Offsets of the rows' first bytes.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The first row that starts at this offset of the body or after it; the number of rows where none does.
    pub fn row_from(&self, at: usize) -> usize {
        self.starts.partition_point(|start| (*start as usize) < at)
    }

    /// Offset after the last row; none while it is not known.
    pub fn end(&self) -> Option<u32> {
        Some(self.end).filter(|end| *end > 0)
    }

    /// How deep each process stands; nothing for other forms.
    pub fn depths(&self) -> &Depths {
        &self.depths
    }

    /// Offset at which a process continues after its children, where its name may follow.
    pub fn tail(&self, row: usize) -> Option<u32> {
        self.tails.get(row).copied().filter(|tail| *tail > 0)
    }
}

/// What an indexer found since it was last asked.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Whether the first section continues the last section of the previous batch.
    pub(super) continues: bool,
    /// Processes that continue after their children, with the offsets. Their rows may be in an
    /// earlier batch.
    pub(super) tails: Vec<Tail>,
    pub(super) found: Index,
}

/// A process that continues after its children.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// Number of its section in the index.
    pub(super) section: usize,
    pub(super) row: u32,
    pub(super) at: u32,
}

impl From<Index> for Batch {
    /// All that there is to find.
    fn from(found: Index) -> Self {
        Self { continues: false, tails: Vec::new(), found }
    }
}

impl Index {
    /// Whether there is a section of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section.name.as_bytes() == name.as_bytes())
    }

    /// Adds the next batch.
    pub fn absorb(&mut self, batch: Batch) {
        let mut sections = batch.found.sections.into_iter();
        if batch.continues
            && let (Some(open), Some(more)) = (self.sections.last_mut(), sections.next())
        {
            open.starts.extend(more.starts);
            open.depths.append(&more.depths);
            open.tails.extend(more.tails);
            open.end = more.end;
        }
        self.sections.extend(sections);
        for tail in batch.tails {
            let known = self.sections.get_mut(tail.section).and_then(|found| found.tails.get_mut(tail.row as usize));
            if let Some(known) = known.filter(|known| **known == 0) {
                *known = tail.at;
            }
        }
        self.id = self.id.or(batch.found.id);
        self.kind = self.kind.or(batch.found.kind);
        self.is_page |= batch.found.is_page;
        self.is_enveloped |= batch.found.is_enveloped;
        self.is_attributed |= batch.found.is_attributed;
        self.is_json |= batch.found.is_json;
        self.is_complete = batch.found.is_complete;
        self.is_cut = batch.found.is_cut;
    }

    /// The index of a whole body; of a larger one than can be indexed, of its beginning.
    pub fn of(bytes: &[u8]) -> Self {
        let mut indexer = Indexer::default();
        indexer.feed(bytes.get(..LARGEST).unwrap_or(bytes));
        let mut index = Self::default();
        index.absorb(indexer.finish());
        index
    }
}
