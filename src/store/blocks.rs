//! Bytes in compressed blocks that are read one at a time: opening a held report does not depend on its size.

use super::database::Reach;
use super::held::AnswerId;
use super::numbers;
use super::seal;
use crate::report::Body;
use crate::report::body::{Bytes, KeptIndex, Numbers, Stretch};
use rusqlite::{Connection, OptionalExtension, Row, Statement, Transaction, params};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

/// Bytes of a block before compression: small enough that a row costs little, large enough that reports shrink to about a fifth.
pub const BLOCK: usize = 64 * 1024;

/// Compression level: a higher one takes longer than the disk, and saves little.
const LEVEL: i32 = 1;

/// Unpacked blocks that are kept at hand: about one for each pane and what it is read by.
const AT_HAND: usize = 24;

/// Why nothing is read any more of what is not there.
const GONE: &str =
    "it was deleted from the store meanwhile, or made anew there: open it again to see what is held of it";

/// What blocks are of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shelf {
    Answer(AnswerId),
    /// The numbers of an index.
    Index(i64),
}

impl Shelf {
    /// What messages call it.
    fn name(self) -> String {
        match self {
            Self::Answer(AnswerId(id)) => format!("answer {id}"),
            Self::Index(id) => format!("index {id}"),
        }
    }

    /// The seal of a block that stands here.
    fn seal(self, number: i64, packed: &[u8]) -> i64 {
        let (table, _, id) = self.table();
        seal::of_block(table, id, number, packed)
    }

    /// The table that its blocks are in, the column that says so, and what stands there.
    fn table(self) -> (&'static str, &'static str, i64) {
        match self {
            Self::Answer(AnswerId(id)) => ("block", "answer", id),
            Self::Index(id) => ("index_block", "row_index", id),
        }
    }
}

/// Writes bytes in blocks, from a block on; an answer's blocks that stand there are written over.
pub(super) fn write(transaction: &Transaction<'_>, shelf: Shelf, first: u64, bytes: &[u8]) -> rusqlite::Result<()> {
    Writer::new(transaction, shelf, first)?.write(bytes)
}

/// Writes one block, of whatever size, over the one that stands there.
pub(super) fn write_one(
    transaction: &Transaction<'_>,
    shelf: Shelf,
    number: u64,
    block: &[u8],
) -> rusqlite::Result<()> {
    Writer::new(transaction, shelf, number)?.write_block(block)
}

/// Writes a whole body in blocks.
pub(super) fn write_body(transaction: &Transaction<'_>, shelf: Shelf, body: &Body) -> rusqlite::Result<()> {
    let (mut writer, mut windows) = (Writer::new(transaction, shelf, 0)?, body.windows());
    while let Some(window) = windows.read().map_err(failed)? {
        writer.write(window)?;
    }
    Ok(())
}

/// Writes pieces of any size in blocks.
fn write_pieces(
    transaction: &Transaction<'_>,
    shelf: Shelf,
    pieces: &mut dyn Iterator<Item = io::Result<Vec<u8>>>,
) -> rusqlite::Result<()> {
    let (mut writer, mut left) = (Writer::new(transaction, shelf, 0)?, Vec::new());
    for piece in pieces {
        left.append(&mut piece.map_err(failed)?);
        let rest = left.split_off(left.len() - left.len() % BLOCK);
        writer.write(&std::mem::replace(&mut left, rest))?;
    }
    writer.write(&left)
}

/// Writes blocks one after another, each with a checksum.
struct Writer<'a> {
    insert: Statement<'a>,
    compressor: Compressor<'static>,
    shelf: Shelf,
    id: i64,
    number: i64,
}

impl<'a> Writer<'a> {
    fn new(transaction: &'a Transaction<'_>, shelf: Shelf, first: u64) -> rusqlite::Result<Self> {
        let mut compressor = Compressor::new(LEVEL).map_err(failed)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true)).map_err(failed)?;
        let (table, column, id) = shelf.table();
        let insert = format!("INSERT OR REPLACE INTO {table} ({column}, number, bytes, seal) VALUES (?1, ?2, ?3, ?4)");
        let (insert, number) = (transaction.prepare(&insert)?, i64::try_from(first).unwrap_or(i64::MAX));
        Ok(Self { insert, compressor, shelf, id, number })
    }

    /// Writes what comes next; only the last of it may leave a block unfilled.
    fn write(&mut self, bytes: &[u8]) -> rusqlite::Result<()> {
        bytes.chunks(BLOCK).try_for_each(|block| self.write_block(block))
    }

    fn write_block(&mut self, block: &[u8]) -> rusqlite::Result<()> {
        let packed = self.compressor.compress(block).map_err(failed)?;
        self.insert.execute(params![self.id, self.number, packed, self.shelf.seal(self.number, &packed)])?;
        self.number = self.number.saturating_add(1);
        Ok(())
    }
}

/// What is held is not what was written: that is told from a disk or a database that fails.
fn not_as_written(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn failed(error: io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// How many bytes each of an answer's blocks has, behind its number, in their order; without those that cannot be unpacked.
pub(super) fn unpacked(connection: &Connection, answer: AnswerId) -> rusqlite::Result<Vec<(i64, usize)>> {
    let mut select = connection.prepare("SELECT number, bytes FROM block WHERE answer = ?1 ORDER BY number")?;
    let (mut rows, mut found) = (select.query([answer.0])?, Vec::new());
    while let Some(row) = rows.next()? {
        let packed = row.get::<_, Vec<u8>>(1)?;
        let unpacked = zstd::stream::decode_all(packed.as_slice()).ok();
        found.extend(unpacked.map(|block| Ok::<_, rusqlite::Error>((row.get(0)?, block.len()))).transpose()?);
    }
    Ok(found)
}

/// An answer's bytes in one piece; none if a block is damaged.
pub(super) fn read_all(transaction: &Connection, answer: AnswerId) -> rusqlite::Result<Option<Vec<u8>>> {
    let blocks: Option<Vec<_>> = all(transaction, answer)?.1.into_iter().collect();
    Ok(blocks.map(|blocks| blocks.concat()))
}

/// The bytes of each of an answer's blocks, and how many those are but for the last; none in the place of a block that is missing
/// or is not what was written there.
pub(super) fn all(transaction: &Connection, answer: AnswerId) -> rusqlite::Result<(usize, Vec<Option<Vec<u8>>>)> {
    let (shelf, lengths) = (Shelf::Answer(answer), "SELECT length, block FROM answer WHERE id = ?1");
    let [length, size] = transaction.query_row(lengths, [answer.0], |row| {
        let length = |column| row.get::<_, i64>(column).map(|length| usize::try_from(length).unwrap_or(0));
        Ok([length(0)?, length(1)?.max(1)])
    })?;
    let mut select = transaction.prepare("SELECT bytes, seal FROM block WHERE answer = ?1 AND number = ?2")?;
    let mut decompressor = Decompressor::new().map_err(failed)?;
    let mut block = |number: usize| {
        let in_table = i64::try_from(number).unwrap_or(i64::MAX);
        let packed = |row: &Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Option<i64>>(1)?));
        let found = select.query_row([answer.0, in_table], packed).optional()?;
        let found = found.filter(|(packed, seal)| seal.is_none_or(|seal| seal == shelf.seal(in_table, packed)));
        let whole = size.min(length.saturating_sub(number.saturating_mul(size)));
        let unpacked = found.and_then(|(packed, _)| decompressor.decompress(&packed, size).ok());
        Ok(unpacked.filter(|block| block.len() == whole))
    };
    Ok((size, (0..length.div_ceil(size)).map(&mut block).collect::<rusqlite::Result<_>>()?))
}

/// Deletes a block of an answer that damage has put elsewhere: its seal still says where it was written.
pub(super) fn delete_moved(transaction: &Transaction<'_>, answer: AnswerId, number: usize) -> rusqlite::Result<()> {
    let (shelf, number) = (Shelf::Answer(answer), i64::try_from(number).unwrap_or(i64::MAX));
    let mut select = transaction.prepare("SELECT rowid, bytes, seal FROM block NOT INDEXED WHERE seal IS NOT NULL")?;
    let (mut rows, mut moved) = (select.query([])?, Vec::new());
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(2)? == shelf.seal(number, &row.get::<_, Vec<u8>>(1)?) {
            moved.push(row.get::<_, i64>(0)?);
        }
    }
    for row in moved {
        transaction.execute("DELETE FROM block WHERE rowid = ?1", [row])?;
    }
    Ok(())
}

/// Bytes in the store.
pub(super) struct Blocks {
    reach: Reach,
    shelf: Shelf,
    length: u64,
    /// Bytes of a block before compression.
    size: u64,
    at_hand: Mutex<AtHand>,
    /// What a first screen reads, kept beside the index: no block is unpacked for it.
    first: OnceLock<Vec<Stretch>>,
}

/// Blocks that were unpacked last, the newest first.
#[derive(Default)]
struct AtHand {
    blocks: VecDeque<(u64, Arc<Vec<u8>>)>,
    decompressors: Vec<Decompressor<'static>>,
}

impl Blocks {
    pub(super) fn new(reach: Reach, shelf: Shelf, length: u64, size: u64) -> Self {
        Self { reach, shelf, length, size: size.max(1), at_hand: Mutex::default(), first: OnceLock::new() }
    }

    fn block(&self, number: u64) -> io::Result<Arc<Vec<u8>>> {
        if let Some(block) = self.found(number) {
            return Ok(block);
        }
        let mut block = vec![0; self.size_of(number)];
        self.unpack(number, &mut block)?;
        let block = Arc::new(block);
        let mut at_hand = self.at_hand();
        at_hand.blocks.truncate(AT_HAND - 1);
        at_hand.blocks.push_front((number, Arc::clone(&block)));
        Ok(block)
    }

    /// A block that was read before.
    fn found(&self, number: u64) -> Option<Arc<Vec<u8>>> {
        self.at_hand().blocks.iter().find(|(found, _)| *found == number).map(|(_, block)| Arc::clone(block))
    }

    /// Bytes that are at hand without their blocks.
    fn stretch(&self, at: u64, length: usize) -> Option<&[u8]> {
        let stretches = self.first.get()?;
        let after = stretches.partition_point(|stretch| stretch.at <= at);
        stretches.get(after.checked_sub(1)?)?.part(at, length)
    }

    fn at_hand(&self) -> MutexGuard<'_, AtHand> {
        self.at_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of a block before compression; none past the last.
    fn size_of(&self, number: u64) -> usize {
        let size = self.length.saturating_sub(number.saturating_mul(self.size)).min(self.size);
        usize::try_from(size).unwrap_or(0)
    }

    /// Sets aside what stands in a block that cannot be read, and names it. The rest of the answer is served as before.
    fn set_aside(&self, number: u64, damage: &'static str) -> io::Error {
        let Shelf::Answer(AnswerId(answer)) = self.shelf else {
            return not_as_written(format!("block {number} of its index {damage} in the store"));
        };
        let place = |number: u64| i64::try_from(number.saturating_mul(self.size)).unwrap_or(i64::MAX);
        let (first, after) = (place(number), place(number.saturating_add(1)));
        let is_done = self.reach.with(|connection| {
            let overlaps = "DELETE FROM report WHERE answer = ?1 AND first < ?3 AND after > ?2";
            connection.execute(overlaps, params![answer, first, after])?;
            connection.execute("UPDATE answer SET usable = 0 WHERE id = ?1", [answer])
        });
        let aside = match is_done {
            Ok(_) => "what stood in it is set aside, and can be fetched again",
            Err(_) => "and it could not be set aside",
        };
        not_as_written(format!("block {number} of answer {answer} {damage} in the store: {aside}"))
    }

    /// Unpacks a block into a place of its size; several are unpacked at a time.
    fn unpack(&self, number: u64, place: &mut [u8]) -> io::Result<()> {
        // Before, for a look at all blocks is long; and after, for then it was all there in between.
        self.there()?;
        let found = self.packed(number)?;
        self.there()?;
        let Some((packed, seal)) = found else { return Err(self.set_aside(number, "is missing")) };
        let free = self.at_hand().decompressors.pop();
        let mut decompressor = free.map_or_else(Decompressor::new, Ok)?;
        let unpacked = decompressor.decompress_to_buffer(&packed, place);
        self.at_hand().decompressors.push(decompressor);
        if !unpacked.is_ok_and(|size| size == place.len()) {
            return Err(self.set_aside(number, "is damaged"));
        }
        let sealed = self.shelf.seal(i64::try_from(number).unwrap_or(i64::MAX), &packed);
        if seal.is_some_and(|found| found != sealed) {
            // A sound block of something else: this one may be found when all are put in order again.
            return Err(not_as_written(self.reach.damaged(&format!("block {number} of {}", self.shelf.name()))));
        }
        Ok(())
    }

    fn packed(&self, number: u64) -> io::Result<Option<(Vec<u8>, Option<i64>)>> {
        let (table, shelf, id) = self.shelf.table();
        let number = i64::try_from(number).map_err(io::Error::other)?;
        let found = self.reach.look_up(|connection, how| {
            let select = format!("SELECT bytes, seal FROM {table} {how} WHERE {shelf} = ?1 AND number = ?2");
            let mut select = connection.prepare_cached(&select)?;
            let rows = select.query_map(params![id, number], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        });
        Ok(found.map_err(io::Error::other)?.into_iter().next())
    }

    /// Refuses what is not in the store any more as it was found there: of an answer nothing is taken out but it gets shorter.
    fn there(&self) -> io::Result<()> {
        let (select, id) = match self.shelf {
            Shelf::Answer(AnswerId(id)) => ("SELECT 1 FROM answer WHERE id = ?1 AND length >= ?2", id),
            Shelf::Index(id) => ("SELECT 1 FROM row_index WHERE id = ?1 AND length >= ?2", id),
        };
        let values = [id, i64::try_from(self.length).unwrap_or(i64::MAX)];
        let is_there = self.reach.read(|connection| connection.prepare_cached(select)?.exists(values));
        if is_there.map_err(io::Error::other)? { Ok(()) } else { Err(io::Error::other(GONE)) }
    }

    /// The answer that a part is of, and the part's offsets as the database has them.
    fn place(&self, part: &Range<u64>) -> io::Result<Option<(i64, i64, i64)>> {
        let Shelf::Answer(AnswerId(answer)) = self.shelf else { return Ok(None) };
        let offset = |at: u64| i64::try_from(at).map_err(io::Error::other);
        Ok(Some((answer, offset(part.start)?, offset(part.end)?)))
    }
}

impl Bytes for Blocks {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, mut at: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        if let Some(bytes) = self.stretch(at, buffer.len()) {
            buffer.copy_from_slice(bytes);
            return Ok(());
        }
        while !buffer.is_empty() {
            let (number, whole) = (at / self.size, self.size_of(at / self.size));
            if at.is_multiple_of(self.size) && whole > 0 && whole <= buffer.len() && self.found(number).is_none() {
                // What is read whole is not looked at again soon.
                let (head, tail) = buffer.split_at_mut(whole);
                self.unpack(number, head)?;
                buffer = tail;
                at += whole as u64;
                continue;
            }
            let block = self.block(number)?;
            let start = usize::try_from(at % self.size).map_err(io::Error::other)?;
            let found = block.get(start..).filter(|found| !found.is_empty()).ok_or(io::ErrorKind::UnexpectedEof)?;
            let taken = found.len().min(buffer.len());
            let (head, tail) = buffer.split_at_mut(taken);
            head.copy_from_slice(found.get(..taken).unwrap_or_default());
            buffer = tail;
            at += taken as u64;
        }
        Ok(())
    }

    fn is_packed(&self) -> bool {
        true
    }

    fn have_at_hand(&self, stretches: Vec<Stretch>) {
        // Those of an earlier look are the same.
        let _ = self.first.set(stretches);
    }

    fn keeps_index(&self) -> bool {
        matches!(self.shelf, Shelf::Answer(_))
    }

    fn kept_index(&self, part: &Range<u64>) -> io::Result<Option<KeptIndex>> {
        let Some(place) = self.place(part)? else { return Ok(None) };
        let found: Option<(i64, Vec<u8>, i64)> = self
            .reach
            .read(|connection| {
                let select = "SELECT id, head, length FROM row_index WHERE answer = ?1 AND first = ?2 AND after = ?3";
                let mut select = connection.prepare_cached(select)?;
                select.query_row(place, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()
            })
            .map_err(io::Error::other)?;
        let Some((id, mut head, length)) = found else { return Ok(None) };
        // A damaged index leads to that of something else.
        let sealed =
            head.split_last_chunk().map(|(head, seal)| i64::from_le_bytes(*seal) == seal::of_head(place, head));
        if sealed != Some(true) {
            return Ok(None);
        }
        head.truncate(head.len().saturating_sub(size_of::<i64>()));
        let length = u64::try_from(length).map_err(io::Error::other)?;
        let numbers = Self::new(self.reach.clone(), Shelf::Index(id), length, BLOCK as u64);
        Ok(Some(KeptIndex { head, numbers: Body::new(numbers) }))
    }

    fn keep_index(&self, part: &Range<u64>, head: &[u8], numbers: Numbers<'_>) -> io::Result<()> {
        let Some(place) = self.place(part)? else { return Ok(()) };
        let (answer, first, after) = place;
        // The head begins with a checksum of all of it: sealed with the place, it is of no other part.
        let head = [head, &seal::of_head(place, head).to_le_bytes()].concat();
        let write = |transaction: &Transaction<'_>| {
            let place = params![answer, first, after];
            transaction.execute("DELETE FROM row_index WHERE answer = ?1 AND first = ?2 AND after = ?3", place)?;
            // Of an answer of which something was deleted meanwhile the rows are elsewhere.
            let insert = format!(
                "INSERT INTO row_index (id, answer, first, after, head, length)
                 SELECT {}, id, ?2, ?3, ?4, ?5 FROM answer WHERE id = ?1 AND length >= ?6",
                numbers::next("row_index")
            );
            let [length, whole] = [numbers.length, self.length].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
            if transaction.execute(&insert, params![answer, first, after, head, length, whole])? == 0 {
                return Ok(());
            }
            write_pieces(transaction, Shelf::Index(transaction.last_insert_rowid()), numbers.pieces)
        };
        self.reach.with_room(write).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests;
