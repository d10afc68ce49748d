//! Numbers in a row, one for each row of a section.

use std::borrow::Cow;
use std::ops::Range;

/// Numbers in a row.
#[derive(Debug, Clone)]
pub(super) struct Column<T> {
    numbers: Vec<T>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { numbers: Vec::new() }
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self { numbers }
    }
}

impl<T: Copy + Default + PartialEq> Column<T> {
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn get(&self, row: usize) -> Option<T> {
        self.numbers.get(row).copied()
    }

    /// Some of the numbers, cut to those there are.
    pub(super) fn window(&self, rows: Range<usize>) -> Cow<'_, [T]> {
        let end = rows.end.min(self.len());
        Cow::Borrowed(self.numbers.get(rows.start.min(end)..end).unwrap_or_default())
    }

    pub(super) fn push(&mut self, number: T) {
        self.numbers.push(number);
    }

    pub(super) fn append(&mut self, more: Self) {
        self.numbers.extend(more.numbers);
    }

    /// Sets a number that is nothing yet.
    pub(super) fn set_once(&mut self, row: usize, number: T) {
        if let Some(found) = self.numbers.get_mut(row).filter(|found| **found == T::default()) {
            *found = number;
        }
    }
}
