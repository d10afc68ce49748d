//! Room that is kept for deleting. To delete is to write as well, so that where nothing is free on the disk nothing could be
//! deleted any more: a file beside the database takes a little while there is room, and gives it back when there is none.

use super::folder::beside;
use crate::files;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ending of the file.
const ENDING: &str = "-spare";

/// Ending of the database's log.
const LOG: &str = "-wal";

/// Its bytes: more than is written by one step of a deletion that goes on in steps.
const SIZE: u64 = 512 * 1024;

/// What opening a database takes: the index of its log, and the beginning of the log.
const TO_OPEN: u64 = 128 * 1024;

/// It is made where so many times as much is free, so that it does not take the last of the room itself.
const FREE: u64 = 4;

/// The spare room of a store that is open. What was given of it to open the store is taken back when that is closed.
pub(super) struct Spare {
    spare: PathBuf,
    store: PathBuf,
}

impl Spare {
    /// The spare room of the store at a path; it is made if it is not there and there is room.
    pub(super) fn keep(store: &Path) -> Self {
        let spare = Self { spare: file_of(store), store: store.to_owned() };
        let missing = SIZE.saturating_sub(length(&spare.spare).unwrap_or(0));
        let free = || store.parent().and_then(files::free_space);
        if missing > 0 && free().is_some_and(|free| free / FREE >= missing) {
            spare.take_back();
        }
        spare
    }

    /// Whether the log of the store can be taken over into it once this is given back.
    pub(super) fn is_enough_for_log(&self) -> bool {
        let Self { spare, store } = self;
        let free = store.parent().and_then(files::free_space).unwrap_or(0);
        let given = length(spare).unwrap_or(0).saturating_add(free);
        length(&beside(store, LOG)).is_none_or(|log| log <= given)
    }

    /// Gives all of it back, to delete with.
    pub(super) fn give(&self) {
        shorten(&self.spare, SIZE);
    }

    /// Takes back what was given, or as much of it as is free: deleting may need it again.
    pub(super) fn take_back(&self) {
        let missing = SIZE.saturating_sub(length(&self.spare).unwrap_or(0));
        // Less is better than nothing, and nothing is wrong with a store that has none.
        let _ = files::append(&self.spare).and_then(|mut file| file.write_all(&noise(missing)));
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if length(&self.spare).is_some_and(|length| length < SIZE) {
            self.take_back();
        }
    }
}

/// Where it is.
pub(super) fn file_of(store: &Path) -> PathBuf {
    beside(store, ENDING)
}

/// Gives as much of it back as opening the store takes; says whether there was any.
pub(super) fn give_to_open(store: &Path) -> bool {
    shorten(&file_of(store), TO_OPEN)
}

/// How long it is; none where it is not there, or no ordinary file is.
fn length(path: &Path) -> Option<u64> {
    std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file).map(|about| about.len())
}

fn shorten(path: &Path, by: u64) -> bool {
    let Some(length) = length(path).filter(|length| *length > 0) else { return false };
    OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(length.saturating_sub(by))).is_ok()
}

/// Bytes of which a file system that packs what it keeps cannot make less.
fn noise(length: u64) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let word = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(word).flatten().take(usize::try_from(length).unwrap_or(0)).collect()
}
