//! A behaviour report in memory: its bytes, an index of its rows, and tables that explain them.
//!
//! ```text
//! Body (bytes) ── Indexer ──> Index (where rows start) ── Report::row ──> Row (decoded pieces)
//!                                 │
//!                ATTRIBUTES (pane, comparison and indicators of each)
//! ```
//!
//! A report is not stored as values: a row is decoded when shown, so a million rows cost a few
//! bytes each beside the report's own. Reading a row cannot fail.

pub mod analysis;
pub mod attack;
pub mod attributes;
pub mod body;
pub mod canonical;
pub mod command_line;
pub mod compare;
pub mod document;
pub mod find;
pub mod identifier;
pub mod index;
pub mod indicators;
pub mod json;
pub mod note;
pub mod page;
mod row_set;
pub mod rows;
pub mod rules;
mod stored;
pub mod tree;
pub(crate) mod work;

pub use analysis::{Analysis, PendingScan};
pub use attributes::{ATTRIBUTES, Attribute, Pane};
pub use body::Body;
pub use identifier::Identifier;
pub use index::{Index, Indexer, Section};
pub use indicators::{Indicator, Indicators};
pub use note::{Item, Note, NoteSubject};
pub use page::{GroupEntry, GroupPage};
pub use row_set::{Order, RowSet};
pub use rows::{Piece, Report, Row, RowPlace};
pub use stored::{
    Deletion, DeletionTarget, ImportOrigin, RecentFile, Retention, StoredContent, StoredItem, label_owners,
};
pub use tree::{Depths, Folds};
pub use work::{Cancel, Cancelled};
