//! Why the store could not do something, and what to do about it.

use super::salvage;
use rusqlite::ErrorCode;
use std::path::PathBuf;

/// Why the store could not do something.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store at {path}: {why}{}", advice(why))]
    Database { path: PathBuf, why: rusqlite::Error },
    /// The file or its folder said no.
    #[error(
        "the store at {path} cannot be written: {why}. Without it nothing is asked: make it writable, or choose another data folder"
    )]
    File { path: PathBuf, why: std::io::Error },
    /// A newer program has written it.
    #[error(
        "the store at {path} was written by a newer behaview (schema {found}); this one knows schema {known}: update it, or choose another data folder"
    )]
    Newer {
        path: PathBuf,
        found: usize,
        /// The newest version this program knows.
        known: usize,
    },
    /// A row is not what was written.
    #[error(
        "the store at {path} is damaged: what it says of {what} is not what was written. The next start sets it aside and saves what can be read, the ledger first"
    )]
    Damaged {
        path: PathBuf,
        /// What the row is about, safe to show.
        what: String,
    },
    /// It is damaged, and cannot be set aside under another program.
    #[error(
        "the store at {0} is damaged, and another behaview has it open: end that one. The next start sets it aside and saves what can be read, the ledger first"
    )]
    DamagedInUse(PathBuf),
    /// Another program sets it aside, and saves what can be read.
    #[error(
        "the store at {0} is being mended by another behaview, and can be opened when that one is done. If it was stopped, let it go on, or end it: the next start goes on with what it has done"
    )]
    Mending(PathBuf),
    /// It is damaged, and what can be read was not carried over.
    #[error(
        "the store at {path} is damaged, and was not mended: {why}. Nothing of it is lost by that: make room on the disk if it is full; the next start begins again"
    )]
    NotMended {
        path: PathBuf,
        /// What the system or the database said.
        why: String,
    },
    /// Another file is in its place, or none.
    #[error(
        "the store at {0}, or its log beside it, was deleted or replaced while it was open here, so that what is written to it would be lost: start again"
    )]
    Replaced(PathBuf),
    /// Another program has it open, and the index of its log was removed.
    #[error(
        "the store at {0} is open in another behaview, and the file {0}-shm, by which programs see each other's writes, was deleted meanwhile: end that one, and start again"
    )]
    NoIndex(PathBuf),
    /// A call cannot have the file that says that it is under way.
    #[error(
        "{path}, where the store says that a call is under way, cannot be made ({why}). If it is there already, remove it, unless another behaview still waits for an answer since before the store was deleted or replaced; if not, check the permissions of the folder"
    )]
    NoCall { path: PathBuf, why: std::io::Error },
    /// Another program has gone on with an answer that both were fetching, or deleted it.
    #[error("another behaview has gone on with it, or deleted it meanwhile: what that one gets is held")]
    Elsewhere,
    /// The path goes through a link.
    #[error(
        "{0}, where the store is to be, is a link, which is not followed: remove it, or choose another data folder"
    )]
    Link(PathBuf),
    /// What is there is no file, such as a pipe.
    #[error("{0}, where the store keeps a file, is no ordinary file: remove it, or choose another data folder")]
    NoFile(PathBuf),
    /// Nothing of reports is to be kept on disk, and something is.
    #[error(
        "nothing of reports is to be kept on disk (store.keep = \"nothing\"), but the store at {path} still holds {what}: behaview held --all --yes deletes that"
    )]
    StillHolds {
        path: PathBuf,
        /// Answers, notes and files, in words.
        what: String,
    },
}

/// Whether there may be no room on the disk.
pub(super) fn is_full(why: &rusqlite::Error) -> bool {
    matches!(why.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
}

/// What the database says where there is no room on the disk.
pub(super) fn full() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None)
}

/// What the database says where it is damaged.
pub(super) fn damaged(what: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), Some(what.to_owned()))
}

/// What to do about it, where that is known.
fn advice(error: &rusqlite::Error) -> &'static str {
    if salvage::is_damage(error) {
        return ". The next start sets it aside and saves what can be read, the ledger first";
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            ". Make room on the disk: behaview held deletes what is held; where that has no room either, as much as the file behaview.db-wal takes is enough, and the size of a list to take a report out of it"
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            ". Check the permissions of the file and its folder, or choose another data folder"
        }
        Some(ErrorCode::SystemIoFailure) => ". Check the disk: it may be full, or failing",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ". Another program is writing; try again",
        _ => "",
    }
}
