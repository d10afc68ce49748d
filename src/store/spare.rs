//! Room that is kept for deleting. To delete is to write as well, so that where nothing is free on the disk nothing could be
//! deleted any more: a file beside the database takes a little while there is room, and gives it back when there is none.
//!
//! It is enough because no log is longer that cannot be taken over into the database. What may be long, and what a call begins with,
//! is committed only where there is room to take it over, and all of this file besides ([`Spare::check`]). What is short and belongs
//! to something that is there is not held up by that, least of all what a call has cost: the log is taken over whenever a few
//! pages are in it, and where that fails for want of room it cannot grow either, so that what stays in it is shorter than this file.

use super::error;
use super::folder::{self, beside};
use crate::files;
use rusqlite::Transaction;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Ending of the file.
const ENDING: &str = "-spare";

/// Its bytes: more than is written by one step of a deletion that goes on in steps.
const SIZE: u64 = 512 * 1024;

/// What opening a database takes: the index of its log, and the beginning of the log.
const TO_OPEN: u64 = 128 * 1024;

/// It is made where so many times as much is free, so that it does not take the last of the room itself.
const FREE: u64 = 4;

/// What a commit itself writes into the log.
const COMMIT: u64 = 8 * 1024;

/// Words of noise that are written at a time.
const NOISE: usize = 32 * 1024;

/// The spare room of a store that is open. What was given of it to open the store is taken back when that is closed.
pub(super) struct Spare {
    spare: PathBuf,
    store: PathBuf,
}

impl Spare {
    /// The spare room of the store at a path; it is made if it is not there and there is room.
    pub(super) fn keep(store: &Path) -> Self {
        let spare = Self { spare: file_of(store), store: store.to_owned() };
        let missing = SIZE.saturating_sub(own(&spare.spare).map_or(0, |about| room_in(&about)));
        let free = || store.parent().and_then(files::free_space);
        if missing > 0 && free().is_some_and(|free| free / FREE >= missing) {
            spare.take_back();
        }
        spare
    }

    /// Refuses what a transaction has written where it could not be taken over from the log into the database, or no room would
    /// be left to delete with.
    pub(super) fn check(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        // What waits to be written into the log takes its room there before anybody looks how much is left.
        transaction.cache_flush()?;
        let number = |pragma: &str| transaction.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let size = u64::try_from(number("page_count")?.saturating_mul(number("page_size")?)).unwrap_or(0);
        let now = std::fs::metadata(&self.store).map_or(0, |about| about.len());
        // That it is free is seen by taking it: what the system says of that counts neither quotas nor what others were promised.
        let wanted = size.saturating_sub(now).saturating_add(SIZE + COMMIT);
        let is_there = fill(&self.spare, wanted).is_ok();
        shorten(&self.spare, SIZE);
        if is_there { Ok(()) } else { Err(error::full()) }
    }

    /// Gives all of it, and takes it back afterwards, or as much of it as is free: deleting may need it again.
    pub(super) fn lend<T>(&self, work: impl FnOnce() -> T) -> T {
        shorten(&self.spare, 0);
        let done = work();
        self.take_back();
        done
    }

    fn take_back(&self) {
        // Less is better than nothing, and nothing is wrong with a store that has none.
        let _ = fill(&self.spare, SIZE);
        // Another program may have done so at the same time, or have ended while it looked how much is free.
        shorten(&self.spare, SIZE);
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if own(&self.spare).is_some_and(|about| about.len() != SIZE) {
            self.take_back();
        }
    }
}

pub(super) fn file_of(store: &Path) -> PathBuf {
    beside(store, ENDING)
}

/// Gives as much of it back as opening the store takes; says whether there was any.
pub(super) fn give_to_open(store: &Path) -> bool {
    let path = file_of(store);
    let length = own(&path).map_or(0, |about| about.len());
    length > 0 && shorten(&path, length.saturating_sub(TO_OPEN))
}

/// The file, if it is one, and nobody else's: what has another name besides was put there by somebody.
fn own(path: &Path) -> Option<Metadata> {
    std::fs::symlink_metadata(path).ok().filter(|about| about.is_file() && names(about) == 1)
}

#[cfg(unix)]
fn names(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(about)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// The bytes that it takes from the disk: a file may have holes, where nothing is given back.
#[cfg(unix)]
fn room_in(about: &Metadata) -> u64 {
    about.len().min(std::os::unix::fs::MetadataExt::blocks(about).saturating_mul(512))
}

#[cfg(not(unix))]
fn room_in(about: &Metadata) -> u64 {
    about.len()
}

/// Makes it no longer than this; says whether it is there, and that was possible.
fn shorten(path: &Path, length: u64) -> bool {
    let Some(about) = own(path) else { return false };
    about.len() <= length || OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(length)).is_ok()
}

/// Makes it so long, and of blocks that are there.
fn fill(path: &Path, length: u64) -> io::Result<()> {
    let about = own(path);
    if about.is_none() && path.symlink_metadata().is_ok() {
        // Its name is the store's, what it leads to is not.
        std::fs::remove_file(path)?;
    }
    let mut file = folder::append(path)?;
    let mut here = about.as_ref().map_or(0, Metadata::len);
    if about.is_some_and(|about| room_in(&about) < about.len()) {
        file.set_len(0)?;
        here = 0;
    }
    match length.saturating_sub(here) {
        0 => Ok(()),
        missing => take(&mut file, here, missing),
    }
}

/// Takes room behind what is there: from the system as it is, where it gives any, for that costs no time.
#[cfg(target_os = "linux")]
fn take(file: &mut File, here: u64, missing: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(&*file, FallocateFlags::empty(), here, missing) {
        Err(full @ (Errno::NOSPC | Errno::DQUOT)) => Err(full.into()),
        Err(_) => write_noise(file, missing),
        Ok(()) => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn take(file: &mut File, _: u64, missing: u64) -> io::Result<()> {
    write_noise(file, missing)
}

/// Writes bytes of which a file system that packs what it keeps cannot make less.
fn write_noise(file: &mut File, mut length: u64) -> io::Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let word = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let wanted = usize::try_from(length.div_ceil(8)).unwrap_or(NOISE).min(NOISE);
    let noise: Vec<u8> = std::iter::repeat_with(word).take(wanted).flatten().collect();
    while length > 0 {
        let piece = noise.get(..usize::try_from(length).unwrap_or(usize::MAX)).unwrap_or(&noise);
        file.write_all(piece)?;
        length = length.saturating_sub(piece.len() as u64);
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn taken(spare: &Path) -> (u64, bool) {
        let about = std::fs::symlink_metadata(spare).unwrap();
        (about.len(), about.is_file() && names(&about) == 1 && room_in(&about) == SIZE)
    }

    #[test]
    fn what_is_no_room_is_made_anew_and_what_is_somebody_elses_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (store, others) = (folder.path().join("behaview.db"), folder.path().join("others"));
        let path = file_of(&store);
        std::fs::write(&others, "precious").unwrap();
        let holes = || File::create(&path).unwrap().set_len(SIZE).unwrap();
        let link = || std::fs::hard_link(&others, &path).unwrap();
        let other_link = || std::os::unix::fs::symlink(&others, &path).unwrap();
        for put in [&holes as &dyn Fn(), &link, &other_link] {
            put();
            let spare = Spare::keep(&store);
            assert_eq!(taken(&path), (SIZE, true));
            spare.lend(|| assert_eq!(std::fs::metadata(&path).unwrap().len(), 0));
            assert_eq!(taken(&path), (SIZE, true));
            assert!(give_to_open(&store) && taken(&path).0 == SIZE - TO_OPEN);
            drop(spare);
            assert_eq!(taken(&path), (SIZE, true));
            std::fs::remove_file(&path).unwrap();
            // Nor is anything given that is not the store's.
            link();
            assert!(!give_to_open(&store));
            std::fs::remove_file(&path).unwrap();
            assert_eq!(std::fs::read(&others).unwrap(), b"precious");
        }
    }

    #[test]
    fn where_the_folder_is_gone_nothing_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let spare = Spare::keep(&inner.join("behaview.db"));
        std::fs::remove_dir_all(&inner).unwrap();
        spare.lend(|| ());
        assert!(!inner.exists());
    }
}
