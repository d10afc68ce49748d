//! Taking a report out of the lists that it came with: its bytes go, and what else there is of a list stays what it is.

use super::super::blocks::{self, BLOCK, Shelf};
use super::super::held::{AnswerId, FoundReport, found};
use super::super::{error, seal};
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

/// Takes every version of a report out of the lists that it came with, those of the service or those that were imported; says how
/// many bytes went.
pub(super) fn out(
    transaction: &Transaction<'_>,
    profile: &str,
    identifier: &Identifier,
    is_import: bool,
) -> rusqlite::Result<u64> {
    let mut gone = 0;
    // Where the next one stands is asked when the one before is gone: that moves what is behind it.
    while let Some(place) = next(transaction, profile, identifier, is_import)? {
        let (size, blocks) = blocks::all(transaction, place.answer)?;
        let whole: Option<Vec<_>> = blocks.iter().map(Option::as_deref).collect();
        let shorter = whole.and_then(|blocks| without(&blocks.concat(), &place.range));
        let shift = match &shorter {
            Some((bytes, shift)) => {
                write_anew(transaction, place.answer, bytes)?;
                *shift
            }
            None => {
                blank(transaction, &place, size, blocks)?;
                0
            }
        };
        let [first, after, shift] = [place.range.start, place.range.end, shift].map(in_table);
        let there = params![place.answer.0, first, after, identifier.as_bytes()];
        let delete = "DELETE FROM report WHERE answer = ?1 AND first = ?2 AND after = ?3 AND identifier = ?4";
        transaction.execute(delete, there)?;
        if shift > 0 {
            seal::move_reports(transaction, place.answer, after, shift)?;
            seal::renew(transaction, place.answer)?;
        }
        gone += place.range.len() as u64;
    }
    Ok(gone)
}

/// Where the report stands in a list; an answer that holds nothing else goes whole.
fn next(
    transaction: &Transaction<'_>,
    profile: &str,
    identifier: &Identifier,
    is_import: bool,
) -> rusqlite::Result<Option<Place>> {
    let (bytes, not) = (identifier.as_bytes(), if is_import { "NOT " } else { "" });
    let which: (&str, &[&dyn ToSql]) = ("r.identifier = ?2", &[&bytes]);
    let in_list =
        format!("r.profile = ?1 AND NOT (r.first = 0 AND r.after = a.length) AND a.imported_from IS {not}NULL");
    let Some(report) = found(transaction, "", profile, which, &in_list)?.into_iter().next() else { return Ok(None) };
    let FoundReport { answer, range, is_whole, .. } = report;
    let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    match range.filter(|(first, after)| is_whole && first < after) {
        Some((first, after)) => Ok(Some(Place { answer, range: first..after })),
        None => Err(error::damaged(&format!("where answer {} has a report is not what was written", answer.0))),
    }
}

/// A list with no more of a report than its identifier, and by how much it is shorter: it stays whole, and need not be asked for
/// again.
fn without(list: &[u8], range: &Range<usize>) -> Option<(Vec<u8>, usize)> {
    let (head, entry, tail) = (list.get(..range.start)?, list.get(range.clone())?, list.get(range.end..)?);
    let stub = [b"{\"id\":", Raw::new(entry).member("id")?.bytes(), b"}"].concat();
    let shift = entry.len().checked_sub(stub.len())?;
    Some(([head, &stub, tail].concat(), shift))
}

fn write_anew(transaction: &Transaction<'_>, answer: AnswerId, bytes: &[u8]) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM block WHERE answer = ?1", [answer.0])?;
    // Rows are elsewhere now: an index is made anew.
    transaction.execute("DELETE FROM row_index WHERE answer = ?1", [answer.0])?;
    let lengths = params![in_table(bytes.len()), in_table(BLOCK), answer.0];
    transaction.execute("UPDATE answer SET length = ?1, block = ?2 WHERE id = ?3", lengths)?;
    blocks::write(transaction, Shelf::Answer(answer), 0, bytes)
}

/// Takes the bytes of a report out of a list that cannot be written anew because it is damaged: all else stays where it is.
///
/// What is no block of the list may be of that report all the same, and is missing from now on.
fn blank(
    transaction: &Transaction<'_>,
    place: &Place,
    size: usize,
    blocks: Vec<Option<Vec<u8>>>,
) -> rusqlite::Result<()> {
    let Place { answer, range } = place;
    let overlaps = "DELETE FROM row_index WHERE answer = ?1 AND first < ?3 AND after > ?2";
    transaction.execute(overlaps, params![answer.0, in_table(range.start), in_table(range.end)])?;
    let in_list = in_table(blocks.len());
    transaction
        .execute("DELETE FROM block WHERE answer = ?1 AND number NOT BETWEEN 0 AND ?2 - 1", [answer.0, in_list])?;
    for (number, block) in blocks.into_iter().enumerate() {
        let at = |byte: usize, block: &[u8]| byte.saturating_sub(number.saturating_mul(size)).min(block.len());
        match block {
            Some(block) if at(range.start, &block) == at(range.end, &block) => {}
            Some(mut block) if at(range.end, &block) - at(range.start, &block) < block.len() => {
                let gone = at(range.start, &block)..at(range.end, &block);
                block.get_mut(gone).unwrap_or_default().fill(GONE);
                blocks::write_one(transaction, Shelf::Answer(*answer), number as u64, &block)?;
            }
            wholly => {
                let one = params![answer.0, in_table(number)];
                transaction.execute("DELETE FROM block WHERE answer = ?1 AND number = ?2", one)?;
                if wholly.is_none() {
                    blocks::delete_moved(transaction, *answer, number)?;
                }
            }
        }
    }
    Ok(())
}

fn in_table(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
