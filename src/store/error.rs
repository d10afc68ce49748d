//! Why the store could not do something, and what to do about it.

use rusqlite::ErrorCode;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the records of the store at {path}: {why}{}", advice(why))]
    Database { path: PathBuf, why: rusqlite::Error },
    #[error("the store at {path} cannot be written: {why}. Nothing is asked without it: make it writable")]
    File { path: PathBuf, why: std::io::Error },
    #[error(
        "the records of the store at {path} were written by a newer behaview (schema {found}, here {known}): update it"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{0}, where the store is to be, is a link, which is not followed: remove it")]
    Link(PathBuf),
    #[error("{0}, where the store keeps a file, is no ordinary file: remove it")]
    NoFile(PathBuf),
    /// Report data is on disk, although none is to be stored there.
    #[error(
        "nothing of reports is to be kept on disk (store.keep = \"nothing\"), but the store at {path} still has {what}: behaview held --all --yes deletes that"
    )]
    NotEmpty { path: PathBuf, what: String },
}

/// Whether an error means a damaged database, and not a refusal by the system or another program.
pub(super) fn is_damage(why: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, PermissionDenied, ReadOnly};
    !matches!(
        why.sqlite_error_code(),
        Some(
            CannotOpen
                | DatabaseBusy
                | DatabaseLocked
                | DiskFull
                | OutOfMemory
                | PermissionDenied
                | ReadOnly
                | ErrorCode::SystemIoFailure
        )
    )
}

fn advice(why: &rusqlite::Error) -> &'static str {
    match why.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ". The next start brings back the last copy",
        Some(ErrorCode::DiskFull) => ". Make room on the disk",
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            ". Check the permissions of the file and its folder"
        }
        Some(ErrorCode::SystemIoFailure) => ". Check the disk: it may be full, or failing",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ". Another program is writing; try again",
        _ => "",
    }
}
