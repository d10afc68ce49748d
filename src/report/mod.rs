//! A behaviour report in memory: its bytes as received, an index of where its rows start, and the tables that say what they mean.
//!
//! ```text
//! Body (bytes, read in windows) ── Indexer ──> Index (where rows start) ── Report::row ──> Row (decoded pieces)
//!                                                 │
//!                                ATTRIBUTES (name, pane, label, shape)
//! ```
//!
//! An index may be kept beside its bytes, and is then read in windows like them: opening a held report does not read it whole.
//! Nothing here holds the report as values: a row is decoded when it is looked at, so a report of a million rows costs
//! a few bytes a row.

pub mod analysis;
pub mod arriving;
pub mod attributes;
pub mod body;
mod column;
pub mod compare;
pub(crate) mod fan_out;
pub mod find;
mod folds;
pub mod hashes;
pub mod hives;
mod holding;
pub mod identifier;
pub mod index;
mod indexer;
pub mod indicators;
pub mod json;
mod kept;
pub mod note;
pub mod origin;
pub mod page;
pub(crate) mod ranges;
pub mod records;
pub mod retention;
mod row_set;
pub mod rows;
pub mod rules;
mod severity;
mod stream;
pub mod tree;
mod values;
pub mod verdict;
pub(crate) mod wanted;

pub use analysis::{Analysis, PendingScan};
pub use arriving::Arriving;
pub use attributes::{ATTRIBUTES, Attribute, Pane};
pub use body::Body;
pub use folds::Folds;
pub use holding::{Doomed, Held, Holding, Others, Purge, Recent, Version, whose};
pub use identifier::Identifier;
pub use index::{Index, Section};
pub use indexer::Indexer;
pub use indicators::{Indicator, Indicators};
pub use note::{About, Item, Note};
pub use origin::Imported;
pub use records::Place;
pub use retention::Retention;
pub use row_set::RowSet;
pub use rows::{Piece, Report, Row};
pub use severity::Order;
pub use tree::Depths;
