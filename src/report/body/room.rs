//! Memory for many bytes, which goes back to the system with it.

use memmap2::MmapMut;
use std::io;
use std::ops::{Deref, DerefMut};

/// Bytes of a page, where the system gives large ones.
pub(super) const LARGE_PAGE: usize = 2 << 20;

/// Memory by itself.
#[derive(Debug)]
pub(super) struct Room(MmapMut);

impl Room {
    /// Room for so many zeros, of which only what is written to takes memory.
    pub(super) fn sparse(length: usize) -> io::Result<Self> {
        MmapMut::map_anon(length).map(Self)
    }

    /// Room for so many zeros, all of which will be written to: in large pages where the system has such, because to be given a
    /// small page at a time takes longer than to fill it.
    pub(super) fn full(length: usize) -> io::Result<Self> {
        let room = Self::sparse(length)?;
        #[cfg(target_os = "linux")]
        // A system without large pages gives the usual ones.
        let _ = room.0.advise(memmap2::Advice::HugePage);
        Ok(room)
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
