//! Numbers in a row, one for each row of a section: in memory while they are found, read in windows where they are kept.

use crate::report::body::Body;
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::Arc;

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
    here: Chunks<T>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(here: Vec<T>) -> Self {
        Self { kept: None, here: here.into() }
    }
}

impl<T: Number> Column<T> {
    /// Numbers that are kept, one after another; the first of them are here as well.
    pub(in crate::report) fn kept(bytes: Body, first: Vec<T>) -> Self {
        Self { kept: Some(bytes), here: first.into() }
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
            (Some(number), _) => Some(number),
            (None, Some(_)) => self.window(row..row.checked_add(1)?).ok()?.first().copied(),
            (None, None) => None,
        }
    }

    /// Some of the numbers, cut to those there are.
    pub(in crate::report) fn window(&self, rows: Range<usize>) -> io::Result<Cow<'_, [T]>> {
        let end = rows.end.min(self.len());
        let Some(bytes) = self.kept.as_ref().filter(|_| end > self.here.len()) else {
            return Ok(self.here.window(rows.start.min(end)..end));
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
        let more = std::mem::take(more.here());
        self.here().append(more);
    }

    /// Lets whoever gets a copy have the same memory.
    pub(in crate::report) fn share(&mut self) {
        self.here().share();
    }

    /// Gives the room back that no further number takes.
    pub(in crate::report) fn shrink(&mut self) {
        self.here.shrink();
    }

    /// Sets a number that is nothing yet.
    pub(super) fn set_once(&mut self, row: usize, number: T) {
        if self.here().get(row).is_some_and(|found| found == T::default()) {
            self.here().set(row, number);
        }
    }

    /// The numbers in memory, to be changed: only those of an index that is still being made are.
    fn here(&mut self) -> &mut Chunks<T> {
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

/// As many numbers are sooner shared than copied.
const WORTH_SHARING: usize = 4096;

/// Numbers in memory: those that were shared, then those that are this column's own. Each who hears of an arriving report's rows
/// makes an index of them, and most of what those hold is there once.
#[derive(Debug, Clone, Default)]
struct Chunks<T> {
    /// Each with how many numbers stand before it.
    shared: Vec<(usize, Arc<Vec<T>>)>,
    own: Vec<T>,
}

impl<T> From<Vec<T>> for Chunks<T> {
    fn from(own: Vec<T>) -> Self {
        Self { shared: Vec::new(), own }
    }
}

impl<T: Number> Chunks<T> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.before_own() + self.own.len()
    }

    /// How many numbers stand before this column's own.
    #[inline(always)]
    fn before_own(&self) -> usize {
        self.shared.last().map_or(0, |(before, last)| before + last.len())
    }

    #[inline(always)]
    fn get(&self, row: usize) -> Option<T> {
        let (before, chunk) = if self.shared.is_empty() { (0, self.own.as_slice()) } else { self.around(row) };
        chunk.get(row - before).copied()
    }

    /// The numbers that are in one piece with this one, and how many stand before them.
    fn around(&self, row: usize) -> (usize, &[T]) {
        let own = self.before_own();
        let shared = if row < own { self.shared_at(row).and_then(|at| self.shared.get(at)) } else { None };
        shared.map_or((own.min(row), self.own.as_slice()), |(before, chunk)| (*before, chunk.as_slice()))
    }

    /// Which of the shared ones a number is in.
    fn shared_at(&self, row: usize) -> Option<usize> {
        self.shared.partition_point(|(before, _)| *before <= row).checked_sub(1)
    }

    /// Some of the numbers that are there.
    fn window(&self, rows: Range<usize>) -> Cow<'_, [T]> {
        let (before, chunk) = self.around(rows.start);
        let found = chunk.get(rows.start - before..rows.end.saturating_sub(before));
        found.map_or_else(|| Cow::Owned(self.copied(&rows)), Cow::Borrowed)
    }

    /// Some of the numbers, from as many pieces as they are in.
    fn copied(&self, rows: &Range<usize>) -> Vec<T> {
        let mut copied = Vec::with_capacity(rows.len());
        while copied.len() < rows.len() {
            let row = rows.start + copied.len();
            let (before, chunk) = self.around(row);
            let found = chunk.get(row - before..chunk.len().min(rows.end - before)).unwrap_or_default();
            if found.is_empty() {
                break;
            }
            copied.extend_from_slice(found);
        }
        copied
    }

    #[inline(always)]
    fn push(&mut self, number: T) {
        self.own.push(number);
    }

    /// Lets those who get a copy have these numbers with it, and not as many others like them.
    fn share(&mut self) {
        if self.own.len() >= WORTH_SHARING {
            self.close();
        }
    }

    /// Ends what is this column's own.
    fn close(&mut self) {
        self.shrink();
        let (before, own) = (self.before_own(), std::mem::take(&mut self.own));
        if !own.is_empty() {
            self.shared.push((before, Arc::new(own)));
        }
    }

    fn append(&mut self, mut more: Self) {
        for (_, chunk) in more.shared {
            self.close();
            self.shared.push((self.before_own(), chunk));
        }
        self.own.append(&mut more.own);
    }

    /// Gives back the room that no number takes.
    fn shrink(&mut self) {
        self.own.shrink_to_fit();
    }

    fn set(&mut self, row: usize, number: T) {
        let own = self.before_own();
        let found = if row < own {
            let chunk = self.shared_at(row).and_then(|at| self.shared.get_mut(at));
            chunk.and_then(|(before, chunk)| Arc::make_mut(chunk).get_mut(row - *before))
        } else {
            self.own.get_mut(row - own)
        };
        if let Some(found) = found {
            *found = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a batch brings: so many numbers from this one on, shared or not.
    fn batches() -> impl Strategy<Value = Vec<(u32, usize, bool)>> {
        let some = prop_oneof![0..3_usize, WORTH_SHARING - 1..WORTH_SHARING + 2, 0..3 * WORTH_SHARING];
        prop::collection::vec((0..1000_u32, some, any::<bool>()), 0..8)
    }

    fn column((first, count, is_shared): (u32, usize, bool)) -> (Column<u32>, Vec<u32>) {
        let all: Vec<_> = (first..).take(count).collect();
        let mut column = Column::from(all.clone());
        if is_shared {
            column.share();
        }
        (column, all)
    }

    proptest! {
        #[test]
        fn batches_are_one_column(batches in batches(), picks in prop::collection::vec((any::<prop::sample::Index>(), 0..9000_usize), 8)) {
            let (mut found, mut wanted) = (Column::default(), Vec::new());
            for batch in batches {
                let (more, all) = column(batch);
                found.append(more.clone());
                wanted.extend(all);
                found.push(7);
                wanted.push(7);
                prop_assert!(more.unpacked().unwrap().len() == batch.1, "whoever shares a batch keeps it");
            }
            prop_assert_eq!(found.len(), wanted.len());
            for (pick, count) in picks {
                let row = pick.index(wanted.len() + 1);
                prop_assert_eq!(found.get(row), wanted.get(row).copied());
                let end = (row + count).min(wanted.len());
                prop_assert_eq!(&found.window(row..row + count).unwrap()[..], &wanted[row..end]);
                if wanted.get(row) == Some(&0) {
                    wanted[row] = 5;
                }
                found.set_once(row, 5);
            }
            prop_assert_eq!(&found.window(0..usize::MAX).unwrap()[..], &wanted[..]);
        }
    }

    #[test]
    fn who_gets_the_same_batch_has_the_same_memory() {
        let (batch, all) = column((1, WORTH_SHARING, true));
        let [mut one, mut other] = [Column::default(), column((1, 2, false)).0];
        one.append(batch.clone());
        other.append(batch);
        assert_eq!(one.get(1), Some(2));
        let place = |column: &Column<u32>, row| column.window(row..row + all.len()).unwrap().as_ptr();
        assert_eq!(place(&one, 0), place(&other, 2));
        one.set_once(0, 9);
        assert_eq!(place(&one, 0), place(&other, 2), "a number that is something already stays");
    }

    #[test]
    fn what_is_changed_is_changed_for_nobody_else() {
        let mut numbers = vec![0_u32; WORTH_SHARING];
        numbers[3] = 4;
        let mut batch = Column::from(numbers);
        batch.share();
        let mut one = batch.clone();
        one.set_once(2, 9);
        one.set_once(3, 9);
        assert_eq!((one.get(2), one.get(3)), (Some(9), Some(4)));
        assert_eq!((batch.get(2), batch.get(3)), (Some(0), Some(4)));
    }
}
