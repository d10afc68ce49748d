//! Calls under way: each holds a lock on a file of its own beside the database, as long as somebody waits for its answer.
//!
//! A lock ends with its program, however that ends, and asks no clock: not one that was set back, not two that differ, nor that of
//! a machine which slept. The file goes when what came of its call is written down: where one is missing that should be there,
//! somebody has removed it, and nothing is known of the call.

use super::folder::{beside, create_new};
use super::used::{self, Identity};
use crate::files;
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
    /// Tells its own file from one that a later store has put in its place.
    file: Option<Identity>,
    _lock: File,
}

/// What a call's lock tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    UnderWay,
    Over,
    /// Its file is not there, or is none, or here nothing can be locked.
    Unknown,
}

/// A call that nobody waits for, though nobody wrote down what came of it.
pub(super) struct Left {
    pub(super) entry: i64,
    path: PathBuf,
}

impl Call {
    /// Begins the call of an entry. Nobody else may write to the database meanwhile, who would take it for one that is over.
    pub(super) fn begin(store: &Path, entry: i64) -> io::Result<Self> {
        let path = file_of(store, entry);
        let lock = create_new(&path)?;
        // Where there is no lock to be had nobody can look for one either.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = used::identity(&path);
        Ok(Self { entry, path, file, _lock: lock })
    }

    /// The number of its entry in the ledger.
    pub fn entry(&self) -> i64 {
        self.entry
    }

    /// Removes the file of a call after what came of it was written down.
    pub(super) fn end(self) {
        if used::identity(&self.path) == self.file {
            // What stays is tidied up with the next call.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Left {
    /// Removes its file, once the ledger knows of it.
    pub(super) fn remove(&self) {
        // What cannot be removed says of itself that it is over.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The file of an entry's call.
pub(super) fn file_of(store: &Path, entry: i64) -> PathBuf {
    beside(store, &format!("{CALL}{entry}"))
}

/// What the lock of an entry's call tells.
pub(super) fn sign(store: &Path, entry: i64) -> Sign {
    let path = file_of(store, entry);
    // To open a pipe is to wait for its other end; and what a link leads to is not the store's.
    if path.is_symlink() || files::is_special(&path) {
        return Sign::Unknown;
    }
    let locked = OpenOptions::new().write(true).open(path).map(|file| file.try_lock());
    match locked {
        Ok(Ok(())) => Sign::Over,
        Ok(Err(TryLockError::WouldBlock)) => Sign::UnderWay,
        Ok(Err(TryLockError::Error(_))) | Err(_) => Sign::Unknown,
    }
}

/// What programs that were killed have left. Nobody else may write to the database meanwhile.
pub(super) fn left(store: &Path) -> Vec<Left> {
    let names = store.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    let entry = |name: std::ffi::OsString| {
        let number = name.to_str()?.strip_prefix(store.file_name()?.to_str()?)?.strip_prefix(CALL)?;
        number.parse().ok()
    };
    let over = names.filter_map(|file| entry(file.file_name())).filter(|entry| sign(store, *entry) == Sign::Over);
    over.map(|entry| Left { entry, path: file_of(store, entry) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_under_way_until_it_is_dropped_and_unknown_without_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("behaview.db");
        let signs = || [7, 8].map(|entry| sign(&store, entry));
        assert_eq!(signs(), [Sign::Unknown; 2]);
        let call = Call::begin(&store, 7).unwrap();
        assert_eq!(signs(), [Sign::UnderWay, Sign::Unknown]);
        assert!(Call::begin(&store, 7).is_err());
        drop(call);
        assert_eq!(signs(), [Sign::Over, Sign::Unknown]);
        left(&store).iter().for_each(Left::remove);
        Call::begin(&store, 7).unwrap().end();
        assert_eq!(signs(), [Sign::Unknown; 2]);
    }

    #[cfg(unix)]
    #[test]
    fn a_call_that_ends_leaves_the_file_that_is_anothers() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("behaview.db");
        let call = Call::begin(&store, 1).unwrap();
        std::fs::remove_file(file_of(&store, 1)).unwrap();
        let other = Call::begin(&store, 1).unwrap();
        call.end();
        assert_eq!(sign(&store, other.entry), Sign::UnderWay);
    }

    #[test]
    fn what_a_killed_program_left_is_over_and_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("behaview.db");
        let others = ["behaview.db", "behaview.db-call-x", "behaview.db-wal", "other.db-call-1"];
        for name in others.into_iter().chain(["behaview.db-call-1"]) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let call = Call::begin(&store, 2).unwrap();
        assert_eq!([1, 2].map(|entry| sign(&store, entry)), [Sign::Over, Sign::UnderWay]);
        left(&store).iter().for_each(Left::remove);
        let left = |name: &&str| folder.path().join(name).exists();
        assert!(others.iter().all(left) && left(&"behaview.db-call-2") && !left(&"behaview.db-call-1"));
        assert_eq!(sign(&store, call.entry), Sign::UnderWay);
    }
}
