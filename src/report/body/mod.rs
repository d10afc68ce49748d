//! The bytes of an answer as received, the key masked, read in windows, wherever they lie.

pub mod arriving;
mod room;

use super::ranges;
use crate::text::set_length;
use room::Room;
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes a sequential reader takes at a time.
pub const WINDOW: u64 = 256 * 1024;

/// The largest body that is opened, in bytes: row starts are kept as 32-bit offsets.
pub const LARGEST: u64 = u32::MAX as u64;

/// A place that bytes can be read from at any offset: memory, a file, the store.
///
/// Reading may bring a block into a cache, as memory that is paged in does; and where it finds a block damaged, it may set aside
/// what stands in it, so that this is not offered again. It hides no other state.
pub trait Bytes: Send + Sync {
    /// Length in bytes.
    fn length(&self) -> u64;

    /// Fills `buffer` with the bytes from offset `at`.
    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// The bytes of a range where they lie; none where they do not lie in memory as they are.
    fn in_place(&self, _range: &Range<u64>) -> Option<&[u8]> {
        None
    }

    /// Whether the bytes are packed, so that looking at them twice costs twice.
    fn is_packed(&self) -> bool {
        false
    }

    /// Whether an index can be kept here.
    fn keeps_index(&self) -> bool {
        false
    }

    /// Has these stretches at hand from now on: they are read again and again, or before all others.
    fn have_at_hand(&self, _stretches: Vec<Stretch>) {}

    /// The index that is kept of a part of these bytes; a place that keeps nothing has none.
    fn kept_index(&self, _part: &Range<u64>) -> io::Result<Option<KeptIndex>> {
        Ok(None)
    }

    /// Keeps the index of a part of these bytes in place of an earlier one, if this is a place that keeps.
    fn keep_index(&self, _part: &Range<u64>, _head: &[u8], _numbers: Numbers<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// Some bytes, and where they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The offset of the first.
    pub at: u64,
    pub bytes: Vec<u8>,
}

impl Stretch {
    /// So many of the bytes from an offset on, if it has them all.
    pub fn part(&self, at: u64, length: usize) -> Option<&[u8]> {
        let start = usize::try_from(at.checked_sub(self.at)?).ok()?;
        self.bytes.get(start..)?.get(..length)
    }
}

/// An index as it is kept: what it means, only [`super::Index`] knows.
#[derive(Debug)]
pub struct KeptIndex {
    pub head: Vec<u8>,
    /// What is read in windows.
    pub numbers: Body,
}

/// What is read of an index in windows, on its way to where it is kept: there can be a lot of it.
pub struct Numbers<'a> {
    /// How many bytes they take.
    pub length: u64,
    /// The bytes, in pieces of any size.
    pub pieces: &'a mut dyn Iterator<Item = io::Result<Vec<u8>>>,
}

/// A range of an answer's bytes. Clones share the bytes.
#[derive(Clone)]
pub struct Body {
    bytes: Arc<dyn Bytes>,
    range: Range<u64>,
}

impl Body {
    /// The whole of a place.
    pub fn new(bytes: impl Bytes + 'static) -> Self {
        let range = 0..bytes.length();
        Self { bytes: Arc::new(bytes), range }
    }

    /// Bytes that are in memory already.
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        Self::new(InMemory(bytes))
    }

    /// A file on disk, read in place.
    pub fn on_disk(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self::new(OnDisk { file, length, ahead: Mutex::default() }))
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Where this body lies in the whole place.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Whether there are no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of this body, cut to what there is.
    pub fn slice(&self, part: Range<u64>) -> Self {
        let start = (self.range.start.saturating_add(part.start)).min(self.range.end);
        let end = (self.range.start.saturating_add(part.end)).clamp(start, self.range.end);
        Self { bytes: Arc::clone(&self.bytes), range: start..end }
    }

    /// The bytes of a range, cut to what there is.
    pub fn window(&self, part: Range<u64>) -> io::Result<Vec<u8>> {
        let mut buffer = Vec::new();
        self.read(part, &mut buffer)?;
        Ok(buffer)
    }

    /// Reads the bytes of a range, cut to what there is, into a buffer that is used again and again.
    pub fn read(&self, part: Range<u64>, buffer: &mut Vec<u8>) -> io::Result<()> {
        let part = self.slice(part);
        let length = usize::try_from(part.len()).map_err(io::Error::other)?;
        if buffer.capacity() < length {
            // What is in it need not be moved to where there is room.
            buffer.clear();
        }
        set_length(buffer, length);
        self.bytes.read_at(part.range.start, buffer)
    }

    /// The bytes of a range, cut to what there is: where they lie in memory already, or else in `room`, which is used again and
    /// again.
    pub fn look<'a>(&'a self, part: Range<u64>, room: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let start = (self.range.start.saturating_add(part.start)).min(self.range.end);
        let end = (self.range.start.saturating_add(part.end)).clamp(start, self.range.end);
        if let Some(bytes) = self.bytes.in_place(&(start..end)) {
            return Ok(bytes);
        }
        self.read(part, room)?;
        Ok(room)
    }

    /// The whole body, window after window.
    pub fn windows(&self) -> Windows<'_> {
        Windows { body: self, at: 0, room: Vec::new() }
    }

    /// Writes the whole body.
    pub fn copy_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut windows = self.windows();
        while let Some(window) = windows.read()? {
            out.write_all(window)?;
        }
        Ok(())
    }

    /// Whether the bytes are packed where they lie, so that looking at them twice costs twice.
    pub fn is_packed(&self) -> bool {
        self.bytes.is_packed()
    }

    /// Whether this is the same part of the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes) && self.range == other.range
    }

    /// The same bytes in memory, unpacked on two threads.
    pub fn unpacked(&self) -> io::Result<Self> {
        let mut bytes = Room::full(usize::try_from(self.len()).map_err(io::Error::other)?)?;
        let middle = self.len() / 2;
        let (first, second) = bytes.split_at_mut(usize::try_from(middle).map_err(io::Error::other)?);
        let (start, place) = (self.range.start, &self.bytes);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| place.read_at(start + middle, second));
            place.read_at(start, first)?;
            other.join().unwrap_or_else(|_| Err(io::Error::other("a thread that unpacks has a bug")))
        })?;
        Ok(Self::new(InMemory(bytes)))
    }

    /// Whether an index of these bytes can be kept.
    pub fn keeps_index(&self) -> bool {
        self.bytes.keeps_index()
    }

    /// The same bytes, and what is read of them from now on.
    pub(super) fn watched(&self) -> (Self, Arc<Watched>) {
        let watched = Arc::new(Watched { body: self.clone(), seen: Mutex::default() });
        (Self { bytes: Arc::clone(&watched) as Arc<dyn Bytes>, range: 0..self.len() }, watched)
    }

    /// Has these stretches at hand from now on, where that is sooner than reading them.
    pub(super) fn have_at_hand(&self, mut stretches: Vec<Stretch>) {
        stretches.iter_mut().for_each(|stretch| stretch.at = stretch.at.saturating_add(self.range.start));
        self.bytes.have_at_hand(stretches);
    }

    /// The index that is kept of these bytes.
    pub(super) fn kept_index(&self) -> io::Result<Option<KeptIndex>> {
        self.bytes.kept_index(&self.range)
    }

    /// Keeps an index of these bytes, where they are kept.
    pub(super) fn keep_index(&self, head: &[u8], numbers: Numbers<'_>) -> io::Result<()> {
        self.bytes.keep_index(&self.range, head, numbers)
    }

    /// The whole body in one piece, for answers that are known to be small.
    pub fn whole(&self) -> io::Result<Vec<u8>> {
        self.window(0..self.len())
    }
}

/// A body that is read window after window, all into the same memory.
#[derive(Debug)]
pub struct Windows<'a> {
    body: &'a Body,
    at: u64,
    room: Vec<u8>,
}

impl Windows<'_> {
    /// The next window; none at the end.
    pub fn read(&mut self) -> io::Result<Option<&[u8]>> {
        let start = self.at;
        self.at = self.body.len().min(start + WINDOW);
        if start < self.at { self.body.look(start..self.at, &mut self.room).map(Some) } else { Ok(None) }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", self.len())
    }
}

/// A body of which it is seen what is read.
pub(super) struct Watched {
    body: Body,
    seen: Mutex<Vec<Range<u64>>>,
}

impl Watched {
    /// What was read, in order, each byte once.
    pub(super) fn seen(&self) -> Vec<Range<u64>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ranges::join(&mut seen);
        seen
    }
}

impl Bytes for Watched {
    fn length(&self) -> u64 {
        self.body.len()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(at..at.saturating_add(buffer.len() as u64));
        self.body.bytes.read_at(self.body.range.start.saturating_add(at), buffer)
    }
}

struct InMemory<T>(T);

impl<T: Deref<Target = [u8]> + Send + Sync> Bytes for InMemory<T> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(at).map_err(io::Error::other)?;
        let found = self.0.get(start..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn in_place(&self, range: &Range<u64>) -> Option<&[u8]> {
        self.0.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }
}

/// How many bytes of a file are read where fewer are wanted: the rows of a screen stand one behind the other.
const AHEAD: u64 = 8 * 1024;

struct OnDisk {
    file: File,
    length: u64,
    /// What was read last, if that was little.
    ahead: Mutex<Stretch>,
}

impl OnDisk {
    /// Fills `buffer` out of what was read ahead, once that is where it is looked for; says whether it could.
    fn read_ahead(&self, at: u64, buffer: &mut [u8]) -> bool {
        // Whoever looks at the same time reads for himself.
        let Ok(mut ahead) = self.ahead.try_lock() else { return false };
        if let Some(found) = ahead.part(at, buffer.len()) {
            buffer.copy_from_slice(found);
            return true;
        }
        let length = usize::try_from(self.length.saturating_sub(at).min(AHEAD)).unwrap_or(0);
        set_length(&mut ahead.bytes, length);
        ahead.at = at;
        if fill_from(&self.file, at, &mut ahead.bytes).is_err() {
            ahead.bytes.clear();
        }
        ahead.part(at, buffer.len()).map(|found| buffer.copy_from_slice(found)).is_some()
    }
}

impl Bytes for OnDisk {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let is_little = (buffer.len() as u64) < AHEAD;
        if is_little && self.read_ahead(at, buffer) { Ok(()) } else { fill_from(&self.file, at, buffer) }
    }
}

/// Fills `buffer` with a file's bytes from this offset on.
#[cfg(unix)]
fn fill_from(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

/// Fills `buffer` with a file's bytes from this offset on.
#[cfg(windows)]
fn fill_from(file: &File, mut at: u64, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        at += read as u64;
        buffer = buffer.get_mut(read..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
