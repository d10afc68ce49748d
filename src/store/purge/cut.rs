//! Taking a report out of the lists that it came with: its bytes go, and what else there is of a list stays where and what it is.

use super::super::blocks::{self, Shelf};
use super::super::error;
use super::super::held::{AnswerId, FoundReport, found};
use crate::report::identifier::Identifier;
use crate::report::json::Raw;
use rusqlite::{ToSql, Transaction, params};
use std::ops::Range;

/// What stands in the place of bytes that are gone.
const GONE: u8 = b' ';

/// Where a report stands in a list.
struct Place {
    answer: AnswerId,
    range: Range<usize>,
}

/// Takes every version of a report out of the lists that it came with; says how many bytes went.
///
/// # Errors
/// When it cannot be written; and where it is not known where one stands, so that another's bytes could go.
pub(super) fn out(transaction: &Transaction<'_>, profile: &str, identifier: &Identifier) -> rusqlite::Result<u64> {
    let mut gone = 0;
    while let Some(place) = next(transaction, profile, identifier)? {
        write_over(transaction, &place)?;
        let [first, after] = [place.range.start, place.range.end].map(in_table);
        let there = params![place.answer.0, first, after, identifier.as_bytes()];
        let delete = "DELETE FROM report WHERE answer = ?1 AND first = ?2 AND after = ?3 AND identifier = ?4";
        transaction.execute(delete, there)?;
        gone += place.range.len() as u64;
    }
    Ok(gone)
}

/// Where the report stands in a list; an answer that holds nothing else goes whole.
fn next(transaction: &Transaction<'_>, profile: &str, identifier: &Identifier) -> rusqlite::Result<Option<Place>> {
    let bytes = identifier.as_bytes();
    let which: (&str, &[&dyn ToSql]) = ("r.identifier = ?2", &[&bytes]);
    let in_list = "r.profile = ?1 AND NOT (r.first = 0 AND r.after = a.length)";
    let Some(report) = found(transaction, "", profile, which, in_list)?.into_iter().next() else { return Ok(None) };
    let FoundReport { answer, range, is_whole, .. } = report;
    let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    match range.filter(|(first, after)| is_whole && first < after) {
        Some((first, after)) => Ok(Some(Place { answer, range: first..after })),
        None => Err(error::damaged(&format!("where answer {} has a report is not what was written", answer.0))),
    }
}

/// Puts what is left of a report in its place: nothing that stands beside it moves, for where that stands is sealed, and may be
/// damaged.
///
/// What is no block of the list may be of that report all the same, and is missing from now on.
fn write_over(transaction: &Transaction<'_>, place: &Place) -> rusqlite::Result<()> {
    let Place { answer, range } = place;
    let overlaps = "DELETE FROM row_index WHERE answer = ?1 AND first < ?3 AND after > ?2";
    transaction.execute(overlaps, params![answer.0, in_table(range.start), in_table(range.end)])?;
    let (size, blocks) = blocks::all(transaction, *answer)?;
    let in_list = in_table(blocks.len());
    transaction
        .execute("DELETE FROM block WHERE answer = ?1 AND number NOT BETWEEN 0 AND ?2 - 1", [answer.0, in_list])?;
    let left = left_of(&blocks, size, range);
    let touched = range.start / size..range.end.div_ceil(size);
    for (number, block) in blocks.into_iter().enumerate().filter(|(number, _)| touched.contains(number)) {
        match block {
            Some(mut block) => {
                let first = number * size;
                let start = range.start.max(first);
                let end = range.end.min(first + block.len()).max(start);
                let left = left.get(start - range.start..end - range.start).unwrap_or_default();
                block.get_mut(start - first..end - first).unwrap_or_default().copy_from_slice(left);
                blocks::write_one(transaction, Shelf::Answer(*answer), number as u64, &block)?;
            }
            None => {
                let one = params![answer.0, in_table(number)];
                transaction.execute("DELETE FROM block WHERE answer = ?1 AND number = ?2", one)?;
                blocks::delete_moved(transaction, *answer, number)?;
            }
        }
    }
    Ok(())
}

/// As many bytes as a report had: its identifier and blanks, so that the list stays whole and need not be asked for again; blanks
/// alone where damage hides the identifier.
fn left_of(blocks: &[Option<Vec<u8>>], size: usize, range: &Range<usize>) -> Vec<u8> {
    let first = range.start / size;
    let whole = blocks.get(first..range.end.div_ceil(size)).and_then(|blocks| {
        let blocks: Option<Vec<_>> = blocks.iter().map(Option::as_deref).collect();
        Some(blocks?.concat())
    });
    let start = first * size;
    let entry = whole.as_deref().and_then(|whole| whole.get(range.start - start..range.end - start));
    let id = entry.and_then(|entry| Raw::new(entry).member("id"));
    let mut left = id.map(|id| [b"{\"id\":", id.bytes(), b"}"].concat()).unwrap_or_default();
    if left.len() > range.len() {
        left.clear();
    }
    left.resize(range.len(), GONE);
    left
}

fn in_table(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
