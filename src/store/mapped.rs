//! The index of the database's log, which programs share in memory that stands for its file. SQLite sees to it that each page of
//! memory has disk, if blocks are as large as pages. Where they are smaller, a page may be there in part, and to write to the rest
//! of it on a full disk ends the program by a signal that nobody can catch: there its disk is taken before.

use super::error;
use super::folder::{INDEX, beside};
use super::salvage::PAGE;
use crate::files;
use std::fs::OpenOptions;
use std::path::Path;

/// What opening a database takes in all, and making it.
const TO_OPEN: u64 = 96 * 1024;
const TO_MAKE: u64 = 512 * 1024;

/// Refuses to open a database where its index may come to be there in part.
pub(super) fn check(path: &Path) -> rusqlite::Result<()> {
    let is_new = std::fs::metadata(path).map_or(0, |about| about.len()) < PAGE as u64;
    let wanted = if is_new { TO_MAKE } else { TO_OPEN };
    let may_lack = files::free_space(path).is_some_and(|free| free < wanted) && has_small_blocks(path);
    // What the system says is free does not count what is kept for some users.
    if may_lack && !path.parent().is_some_and(|folder| files::can_take(folder, wanted)) {
        return Err(error::full());
    }
    Ok(())
}

/// Takes the disk of the index of a database that is open.
pub(super) fn take(path: &Path) {
    if has_small_blocks(path)
        && let Ok(index) = OpenOptions::new().write(true).open(beside(path, INDEX))
    {
        files::allocate(&index);
    }
}

fn has_small_blocks(path: &Path) -> bool {
    files::has_small_blocks(path) == Some(true)
}
