//! The only user of the database: answers as they were received, reports that are held, and the ledger.
//!
//! ```text
//! answer 1 ──< block     raw bytes of an answer, in compressed blocks that are read one at a time
//! answer 1 ──< row_index 1 ──< index_block
//!                        where the rows of a report begin, in compressed blocks as well
//! answer 1 ──< report    which part of an answer is the report of which sandbox
//! ledger                 what was asked, what it was to cost, what came of it
//! counters               what the service's own counters said, at each look
//! service                which address the name of a profile stands for
//! file                   files that were opened
//! note                   what analysts wrote of reports and of things in them
//! used                   days that the store was used on
//! ```

mod age;
mod aside;
mod blocks;
mod brought;
mod calls;
mod connection;
mod database;
mod entry;
mod error;
mod folder;
mod forget;
mod growing;
mod held;
mod history;
mod import;
mod inventory;
mod keep;
mod ledger;
mod listed;
mod mapped;
mod notes;
mod numbers;
mod purge;
mod recent;
mod salvage;
mod schema;
mod seal;
mod sent;
mod services;
mod spare;
mod used;

pub use age::Outdated;
pub use blocks::BLOCK;
pub use brought::Brought;
pub use calls::Call;
pub use connection::tell_of_waits;
pub use database::Store;
pub use entry::{LedgerEntry, State};
pub use error::StoreError;
pub use growing::Growing;
pub use held::{AnswerId, HeldAnswer, HeldReport};
pub use import::{Import, Standing};
pub use keep::Keep;
pub use ledger::{Entry, NEAR, Reserved, Settlement, Whose};
pub use purge::Purged;
pub use salvage::Salvaged;
pub use services::HeldAs;
pub use used::Wait;
