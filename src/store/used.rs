//! Whether a program has the store open: each holds a lock on a file beside the database as long as it does.
//!
//! The lock says so whatever has become of the database, which may not be readable any more; and it ends with its program,
//! however that ends. What is done to the file by hand, no lock keeps off: that shows by its being another file.

use super::error::StoreError;
use super::folder::{BESIDE, beside, create};
use std::fs::{File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the file that is locked adds to the name of the database. It stays: whoever removed it could not know who locks it.
pub(super) const FILE: &str = "-open";

/// How long somebody waits for a database that is set aside and mended, before it is said: most often it takes less.
const UNSAID: Duration = Duration::from_secs(1);

/// How long between two looks meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// Told once of a wait that is not short, and asked whether to go on with it.
pub type Wait<'a> = &'a dyn Fn(&StoreError) -> ControlFlow<()>;

/// What tells one file from another, whatever they are called.
pub(super) type Identity = (u64, u64);

/// A database that is open here: as long as this lives nobody sets it aside.
pub(super) struct Use {
    of: Option<Identity>,
    /// The log and its index. As long as the database is open nobody removes them but by hand; who finds them gone makes others,
    /// and two programs that have different ones neither see what the other writes nor wait for it.
    beside: [Option<Identity>; 2],
    _lock: File,
}

impl Use {
    /// Begins to use what is at this path; waits while it is set aside, for whose end nobody can vouch.
    pub(super) fn begin(path: &Path, wait: Wait<'_>) -> Result<Self, StoreError> {
        let failed = |why| StoreError::File { path: path.to_owned(), why };
        let (lock, began) = (create(&beside(path, FILE)).map_err(failed)?, Instant::now());
        while let Err(TryLockError::WouldBlock) = lock.try_lock_shared() {
            if began.elapsed() < UNSAID {
                std::thread::sleep(LOOK);
                continue;
            }
            let mending = StoreError::Mending(path.to_owned());
            if wait(&mending).is_break() {
                return Err(mending);
            }
            // Where there is no lock to be had nobody can look for one either.
            while lock.lock_shared().is_err_and(|why| why.kind() == io::ErrorKind::Interrupted) {}
            break;
        }
        Ok(Self { of: identity(path), beside: beside_it(path), _lock: lock })
    }

    pub(super) fn is_of(&self, file: Option<Identity>) -> bool {
        self.of == file
    }

    /// Whether another file is in the place of the database, its log or the log's index, or none.
    pub(super) fn is_replaced(&self, path: &Path) -> bool {
        let is_other = |(known, found): (&Option<Identity>, Option<Identity>)| known.is_some() && *known != found;
        !self.is_of(identity(path)) || self.beside.iter().zip(beside_it(path)).any(is_other)
    }

    /// Whether another program has made a log or an index of its own in the place of this one's.
    pub(super) fn is_log_replaced(&self, path: &Path) -> bool {
        let is_other = |(known, found): (&Option<Identity>, Option<Identity>)| found.is_some() && *known != found;
        self.beside.iter().zip(beside_it(path)).any(is_other)
    }
}

fn beside_it(path: &Path) -> [Option<Identity>; 2] {
    BESIDE.map(|ending| identity(&beside(path, ending)))
}

/// Refuses a log without its index while another program has the database open: whoever made an index of his own would neither see
/// what that one writes nor wait for it. A program that ends removes the index first, and the log right after.
pub(super) fn check_index(path: &Path) -> Result<(), StoreError> {
    let ([log, index], began) = (BESIDE.map(|ending| beside(path, ending)), Instant::now());
    while log.exists() && !index.exists() && alone(path).is_ok_and(|lock| lock.is_none()) {
        if began.elapsed() > UNSAID {
            return Err(StoreError::NoIndex(path.to_owned()));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// The right to set a database aside, which nobody uses nor begins to as long as the lock lives; none where somebody does.
pub(super) fn alone(path: &Path) -> io::Result<Option<File>> {
    let lock = create(&beside(path, FILE))?;
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        // Where nothing can be locked, whoever else has it open finds another file in its place.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(lock)),
    }
}

/// What the file at a path is; none where there is none, or the system does not say. A system that does not say removes and
/// renames no file that is open.
pub(super) fn identity(path: &Path) -> Option<Identity> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let about = std::fs::metadata(path).ok()?;
        Some((about.dev(), about.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
