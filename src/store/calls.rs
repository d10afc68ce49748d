//! Calls in flight: each locks a file named after its request, until it is settled or its program
//! ends.
//!
//! The file is locked, checked and removed only within transactions, so that two programs never
//! lock different files of the same name.

use super::shelf::digest;
use crate::files;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A call that is recorded in the ledger and may be sent. It is in flight until this is dropped.
#[derive(Debug)]
pub struct Call {
    pub(super) entry: i64,
    path: PathBuf,
    _lock: File,
}

impl Call {
    /// Locks the file of a request; `None` if another call has locked it.
    pub(super) fn begin(folder: &Path, entry: i64, lock: &str) -> io::Result<Option<Self>> {
        let path = file_of(folder, lock);
        files::make_folder_in(folder, Path::new(FOLDER))?;
        let file = files::append_in(&path)?;
        // If locks are unsupported, no other program has one either.
        let is_free = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        Ok(is_free.then_some(Self { entry, path, _lock: file }))
    }

    /// The number of its entry in the ledger.
    pub fn entry(&self) -> i64 {
        self.entry
    }

    /// Removes the file while it is locked.
    pub(super) fn end(&self) {
        // A file that remains is removed with the next call.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Name of a call's lock: a digest of service and claim or, without a claim, of its entry's number.
pub(super) fn lock_of(service: &str, claim: Option<&[u8]>, entry: i64) -> String {
    match claim {
        Some(claim) => digest(&[service.as_bytes(), claim]),
        None => digest(&[&entry.to_le_bytes()]),
    }
}

/// Whether a program waits for the response to a request.
pub(super) fn is_in_flight(folder: &Path, lock: &str) -> bool {
    let file = OpenOptions::new().write(true).open(file_of(folder, lock));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Removes the lock files of programs that were killed.
pub(super) fn remove_left(folder: &Path) {
    let files = folder.join(FOLDER).read_dir().into_iter().flatten().flatten();
    for file in files {
        let is_left = file.file_name().to_str().is_some_and(|lock| !is_in_flight(folder, lock));
        if is_left {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

const FOLDER: &str = "calls";

fn file_of(folder: &Path, lock: &str) -> PathBuf {
    folder.join(FOLDER).join(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_in_flight_until_its_call_ends() {
        let folder = tempfile::tempdir().unwrap();
        let call = Call::begin(folder.path(), 1, "a").unwrap().unwrap();
        assert!(is_in_flight(folder.path(), "a") && !is_in_flight(folder.path(), "b"));
        assert!(Call::begin(folder.path(), 2, "a").unwrap().is_none());
        remove_left(folder.path());
        assert!(is_in_flight(folder.path(), "a"), "what is locked stays");
        call.end();
        drop(call);
        assert!(!is_in_flight(folder.path(), "a") && Call::begin(folder.path(), 3, "a").unwrap().is_some());
        remove_left(folder.path());
        assert_eq!(folder.path().join(FOLDER).read_dir().unwrap().count(), 0);
    }
}
