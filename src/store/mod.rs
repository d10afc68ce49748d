//! Data on disk: the ledger and notes in a small database, each response in a file.
//!
//! ```text
//! records.db         ledger, readings of the counters, notes, earlier files; copied once a day
//! records.copy.db    the last copy, restored if the database is damaged
//! reports/<service>/<file>/<operation>-<digest>.zst
//!                    a report, a list page with identifiers alone, or any other response
//! unread/            responses until they are read; those that are damaged or unusable stay
//! calls/             a lock for each call in flight
//! values.db          an index of the values of all reports; it can be made again from them
//! ```
//! A file is complete or absent. Its name is derived from the request, so no index is needed.

mod counters;
mod inventory;
mod ledger;
mod outbox;
mod records;
mod report_files;
mod reports;
mod value_index;
mod value_queries;
mod values;
mod work;

pub use inventory::EarlierFile;
pub use ledger::{ANSWERED, NewEntry, Payer, RecordedCall, Reserved, too_fast};
pub use outbox::UnsharedCalls;
pub use records::Store;
pub use report_files::{IMPORTED, service_id};
pub use reports::{NewResponse, ResponsePart, StoredReport, StoredResponse, bare};
pub use value_index::ValueIndex;

use rusqlite::ErrorCode;
use std::io;
use std::path::PathBuf;

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Errors of the store, each with advice.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the records of the store at {path}: {why}{}", advice(why))]
    Database { path: PathBuf, why: rusqlite::Error },
    #[error("the store at {path} cannot be written: {why}. No request is sent without it: make it writable")]
    File { path: PathBuf, why: io::Error },
    #[error(
        "the records of the store at {path} were written by a newer behaview (schema {found}, here {known}): update it"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{0} in the store is a link or not a regular file: remove it")]
    NoFile(PathBuf),
    /// Report data is on disk, although the configuration forbids it.
    #[error(
        "reports are not to be stored on disk (store.persist = false), but the store at {path} still has {what}: behaview store remove --all --yes deletes that"
    )]
    NotEmpty { path: PathBuf, what: String },
}

fn advice(why: &rusqlite::Error) -> &'static str {
    match why.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ". The next start restores the last copy",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ". Another program writes to it: try again",
        _ => ". Check the disk, and the permissions of the file and its folder",
    }
}
