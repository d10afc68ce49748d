//! Numbers in a row, one for each row of a section: in memory while they are found, read in windows where they are kept.

use crate::report::body::Body;
use std::borrow::Cow;
use std::io;
use std::ops::Range;

/// A number of a column, as it is kept: little-endian.
pub(in crate::report) trait Number: Copy + Default + PartialEq {
    /// How many bytes it takes.
    const SIZE: usize;

    fn read(bytes: &[u8]) -> Self;

    fn write(self, to: &mut Vec<u8>);
}

impl Number for u16 {
    const SIZE: usize = 2;

    fn read(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0, Self::from_le_bytes)
    }

    fn write(self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_le_bytes());
    }
}

impl Number for u32 {
    const SIZE: usize = 4;

    fn read(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0, Self::from_le_bytes)
    }

    fn write(self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_le_bytes());
    }
}

/// Numbers in a row.
#[derive(Debug, Clone)]
pub(in crate::report) struct Column<T> {
    /// Where they are kept; none where they are in memory.
    kept: Option<Body>,
    /// All of them; the first, where they are kept.
    here: Vec<T>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(here: Vec<T>) -> Self {
        Self { kept: None, here }
    }
}

impl<T: Number> Column<T> {
    /// Numbers that are kept, one after another; the first of them are here as well.
    pub(in crate::report) fn kept(bytes: Body, first: Vec<T>) -> Self {
        Self { kept: Some(bytes), here: first }
    }

    #[inline(always)]
    pub(in crate::report) fn len(&self) -> usize {
        let kept = |bytes: &Body| usize::try_from(bytes.len() / T::SIZE as u64).unwrap_or(usize::MAX);
        self.kept.as_ref().map_or(self.here.len(), kept)
    }

    /// A number; none past the end, or where it cannot be read.
    #[inline(always)]
    pub(in crate::report) fn get(&self, row: usize) -> Option<T> {
        match (self.here.get(row), &self.kept) {
            (Some(number), _) => Some(*number),
            (None, Some(_)) => self.window(row..row.checked_add(1)?).ok()?.first().copied(),
            (None, None) => None,
        }
    }

    /// Some of the numbers, cut to those there are.
    pub(in crate::report) fn window(&self, rows: Range<usize>) -> io::Result<Cow<'_, [T]>> {
        let end = rows.end.min(self.len());
        let Some(bytes) = self.kept.as_ref().filter(|_| end > self.here.len()) else {
            return Ok(Cow::Borrowed(self.here.get(rows.start.min(end)..end).unwrap_or_default()));
        };
        let at = |row: usize| (row as u64).saturating_mul(T::SIZE as u64);
        let bytes = bytes.window(at(rows.start)..at(end))?;
        Ok(Cow::Owned(bytes.chunks_exact(T::SIZE).map(T::read).collect()))
    }

    #[inline(always)]
    pub(in crate::report) fn push(&mut self, number: T) {
        self.here().push(number);
    }

    pub(in crate::report) fn append(&mut self, mut more: Self) {
        self.here().append(more.here());
    }

    /// Gives the room back that no further number takes.
    pub(in crate::report) fn shrink(&mut self) {
        self.here.shrink_to_fit();
    }

    /// Sets a number that is nothing yet.
    pub(super) fn set_once(&mut self, row: usize, number: T) {
        if let Some(found) = self.here().get_mut(row).filter(|found| **found == T::default()) {
            *found = number;
        }
    }

    /// The numbers in memory, to be changed: only those of an index that is still being made are.
    fn here(&mut self) -> &mut Vec<T> {
        debug_assert!(self.kept.is_none(), "an index that is kept is whole");
        &mut self.here
    }

    /// The same numbers in memory.
    pub(in crate::report) fn unpacked(&self) -> io::Result<Self> {
        Ok(self.window(0..usize::MAX)?.into_owned().into())
    }

    /// Reads every number that is kept.
    pub(in crate::report) fn verify(&self) -> io::Result<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let mut windows = kept.windows();
        while windows.read()?.is_some() {}
        Ok(())
    }

    /// Writes some numbers as they are kept.
    pub(in crate::report) fn write(&self, rows: Range<usize>, to: &mut Vec<u8>) -> io::Result<()> {
        self.window(rows)?.iter().for_each(|number| number.write(to));
        Ok(())
    }
}
