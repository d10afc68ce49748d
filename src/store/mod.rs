//! Data on disk: the ledger and notes in a small database, each response in a file.
//!
//! ```text
//! records.db         ledger, readings of the counters, notes, earlier files; copied once a day
//! records.copy.db    the last copy, restored if the database is damaged
//! reports/<service>/<file>/<operation>-<digest>.zst
//!                    a report, the skeleton of a list page, or any other response
//! incoming/          responses that are stored and not read yet
//! quarantine/        responses that are damaged or unusable
//! calls/             a lock for each call in flight
//! ```
//! A file is complete or absent. Its name is derived from the request, so no index is needed.

mod answers;
mod calls;
mod checksum;
mod entry;
mod error;
mod format;
mod history;
mod inventory;
mod ledger;
mod notes;
mod page;
mod privileges;
mod rate;
mod recent;
mod records;
mod sent;
mod shelf;
mod spent;

pub use answers::{Incoming, NewAnswer, NewImport, StoredAnswer, StoredReport};
pub use calls::Call;
pub use entry::{LedgerEntry, State};
pub use error::StoreError;
pub use inventory::Purged;
pub use ledger::{NewEntry, Reserved, Settlement};
pub use page::PageReport;
pub use rate::TOO_FAST;
pub use records::{Keep, Store};
pub use sent::ANSWERED;
pub use shelf::{IMPORTED, service_id};
pub use spent::Whose;
