//! Calls under way: each holds a lock on a file of its own beside the database, as long as somebody waits for its answer.
//!
//! A lock ends with its program, however that ends, and asks no clock: not one that was set back, not two that differ, nor that of
//! a machine which slept.

use super::folder::{beside, create};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// What a call's file adds to the name of the database, before the number of its entry.
const CALL: &str = "-call-";

/// A call that is written down in the ledger and may be sent: it is under way until this is dropped.
#[derive(Debug)]
pub struct Call {
    pub(super) entry: i64,
    path: PathBuf,
    _lock: File,
}

/// What a call's lock tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Somebody waits for it.
    UnderWay,
    /// Nobody does.
    Over,
    /// Here nothing can be locked.
    Unknown,
}

impl Call {
    /// Begins the call of an entry. Nobody else may write to the database meanwhile, who would take it for one that is over.
    pub(super) fn begin(store: &Path, entry: i64) -> io::Result<Self> {
        let path = file_of(store, entry);
        let lock = create(&path)?;
        // Where there is no lock to be had nobody can look for one either.
        let _ = lock.try_lock();
        Ok(Self { entry, path, _lock: lock })
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // What stays is tidied up with the next call.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What the lock of an entry's call tells.
pub(super) fn sign(store: &Path, entry: i64) -> Sign {
    match OpenOptions::new().write(true).open(file_of(store, entry)) {
        Ok(file) => match file.try_lock() {
            Ok(()) => Sign::Over,
            Err(TryLockError::WouldBlock) => Sign::UnderWay,
            Err(TryLockError::Error(_)) => Sign::Unknown,
        },
        Err(why) if why.kind() == io::ErrorKind::NotFound => Sign::Over,
        Err(_) => Sign::Unknown,
    }
}

/// Removes what programs that were killed have left. Nobody else may write to the database meanwhile.
pub(super) fn tidy(store: &Path) {
    let names = store.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    for name in names.map(|file| file.file_name()) {
        let number = store.file_name().and_then(|own| name.to_str()?.strip_prefix(own.to_str()?)?.strip_prefix(CALL));
        if let Some(entry) = number.and_then(|number| number.parse().ok())
            && sign(store, entry) == Sign::Over
        {
            // What cannot be removed says of itself that it is over.
            let _ = std::fs::remove_file(file_of(store, entry));
        }
    }
}

fn file_of(store: &Path, entry: i64) -> PathBuf {
    beside(store, &format!("{CALL}{entry}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_under_way_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("behaview.db");
        let signs = || [7, 8].map(|entry| sign(&store, entry));
        assert_eq!(signs(), [Sign::Over; 2]);
        let call = Call::begin(&store, 7).unwrap();
        assert_eq!(signs(), [Sign::UnderWay, Sign::Over]);
        drop(call);
        assert_eq!(signs(), [Sign::Over; 2]);
    }

    #[test]
    fn what_a_killed_program_left_is_over_and_tidied_up() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("behaview.db");
        let others = ["behaview.db", "behaview.db-call-x", "behaview.db-wal", "other.db-call-1"];
        for name in others.into_iter().chain(["behaview.db-call-1"]) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let call = Call::begin(&store, 2).unwrap();
        assert_eq!([1, 2].map(|entry| sign(&store, entry)), [Sign::Over, Sign::UnderWay]);
        tidy(&store);
        let left = |name: &&str| folder.path().join(name).exists();
        assert!(others.iter().all(left) && left(&"behaview.db-call-2") && !left(&"behaview.db-call-1"));
        assert_eq!(sign(&store, call.entry), Sign::UnderWay);
    }
}
