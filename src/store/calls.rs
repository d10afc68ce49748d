//! Calls in flight: each holds a lock on a file named by its question, until its program settles it or ends.
//!
//! The file is locked, looked at and removed within transactions alone, so that no two programs lock two files of one name.

use super::shelf::digest;
use crate::files;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A call that is written down in the ledger and may be sent: it is in flight until this is dropped.
#[derive(Debug)]
pub struct Call {
    pub(super) entry: i64,
    path: PathBuf,
    _lock: File,
}

impl Call {
    /// Locks the file of a question; none where another call has it locked.
    pub(super) fn begin(folder: &Path, entry: i64, lock: &str) -> io::Result<Option<Self>> {
        let path = file_of(folder, lock);
        let file = files::append(&path)?;
        // Where there is no lock to be had, no other program has one either.
        let is_free = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        Ok(is_free.then_some(Self { entry, path, _lock: file }))
    }

    /// The number of its entry in the ledger.
    pub fn entry(&self) -> i64 {
        self.entry
    }

    /// Removes the file while it is locked.
    pub(super) fn end(&self) {
        // One that stays is removed with the next call.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The name of the lock of a question to a service; of a call without one, its entry.
pub(super) fn lock_of(service: &str, claim: Option<&[u8]>, entry: i64) -> String {
    match claim {
        Some(claim) => digest(&[service.as_bytes(), claim]),
        None => digest(&[&entry.to_le_bytes()]),
    }
}

/// Whether a program waits for the response to a question.
pub(super) fn is_in_flight(folder: &Path, lock: &str) -> bool {
    let file = OpenOptions::new().write(true).open(file_of(folder, lock));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Removes the files that programs left when they were killed.
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
