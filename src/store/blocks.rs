//! Raw bytes in compressed blocks that are read one at a time: opening a held report does not depend on its size.

use super::held::AnswerId;
use crate::report::body::Bytes;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a block before compression.
const BLOCK: usize = 256 * 1024;

/// Compression level: reports shrink to about a fifth, at the speed of a disk.
const LEVEL: i32 = 3;

/// Unpacked blocks that are kept at hand.
const AT_HAND: usize = 8;

/// Writes an answer's bytes.
pub(super) fn write(transaction: &Transaction<'_>, answer: AnswerId, bytes: &[u8]) -> rusqlite::Result<()> {
    let mut packer = packer().map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let mut insert = transaction.prepare("INSERT INTO block (answer, number, bytes) VALUES (?1, ?2, ?3)")?;
    for (number, block) in (0_i64..).zip(bytes.chunks(BLOCK)) {
        let packed =
            packer.compress(block).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        insert.execute(params![answer.0, number, packed])?;
    }
    Ok(())
}

/// Each block carries a checksum: a byte that flips on the disk is found when the block is read.
fn packer() -> io::Result<zstd::bulk::Compressor<'static>> {
    let mut packer = zstd::bulk::Compressor::new(LEVEL)?;
    packer.include_checksum(true)?;
    Ok(packer)
}

/// An answer's bytes in one piece; none if a block is damaged.
pub(super) fn read_all(transaction: &Transaction<'_>, answer: AnswerId) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut select = transaction.prepare("SELECT bytes FROM block WHERE answer = ?1 ORDER BY number")?;
    let mut rows = select.query([answer.0])?;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next()? {
        let Ok(block) = zstd::bulk::decompress(&row.get::<_, Vec<u8>>(0)?, BLOCK) else { return Ok(None) };
        bytes.extend(block);
    }
    Ok(Some(bytes))
}

/// An answer's bytes in the store.
pub(super) struct Blocks {
    connection: Arc<Mutex<Connection>>,
    /// To set aside what is found to be damaged.
    writer: Arc<Mutex<Connection>>,
    at_hand: Mutex<VecDeque<(u64, Arc<[u8]>)>>,
    answer: AnswerId,
    length: u64,
}

impl Blocks {
    pub(super) fn new(
        connection: Arc<Mutex<Connection>>,
        writer: Arc<Mutex<Connection>>,
        answer: AnswerId,
        length: u64,
    ) -> Self {
        Self { connection, writer, at_hand: Mutex::default(), answer, length }
    }

    fn block(&self, number: u64) -> io::Result<Arc<[u8]>> {
        let mut at_hand = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = at_hand.iter().find(|(found, _)| *found == number) {
            return Ok(Arc::clone(block));
        }
        let block: Arc<[u8]> = match self.unpack(number)? {
            Ok(block) => block.into(),
            Err(damage) => return Err(self.set_aside(number, damage)),
        };
        at_hand.truncate(AT_HAND - 1);
        at_hand.push_front((number, Arc::clone(&block)));
        Ok(block)
    }

    /// Sets aside what stands in a block that cannot be read, and names it. The rest of the answer is served as before.
    fn set_aside(&self, number: u64, damage: &'static str) -> io::Error {
        let connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, after) =
            (number.saturating_mul(BLOCK as u64), number.saturating_add(1).saturating_mul(BLOCK as u64));
        let place = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        let reports = connection.execute(
            "DELETE FROM report WHERE answer = ?1 AND first < ?3 AND after > ?2",
            params![self.answer.0, place(first), place(after)],
        );
        let answer = connection.execute("UPDATE answer SET usable = 0 WHERE id = ?1", [self.answer.0]);
        let aside = match (reports, answer) {
            (Ok(_), Ok(_)) => "what stood in it is set aside, and can be fetched again",
            _ => "and it could not be set aside",
        };
        io::Error::other(format!("block {number} of answer {} {damage} in the store: {aside}", self.answer.0))
    }

    /// A block; or what is wrong with it.
    fn unpack(&self, number: u64) -> io::Result<Result<Vec<u8>, &'static str>> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut select = connection
            .prepare_cached("SELECT bytes FROM block WHERE answer = ?1 AND number = ?2")
            .map_err(io::Error::other)?;
        let number = i64::try_from(number).map_err(io::Error::other)?;
        let packed: Option<Vec<u8>> =
            select.query_row(params![self.answer.0, number], |row| row.get(0)).optional().map_err(io::Error::other)?;
        let Some(packed) = packed else { return Ok(Err("is missing")) };
        Ok(zstd::bulk::decompress(&packed, BLOCK).map_err(|_| "is damaged"))
    }
}

impl Bytes for Blocks {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, mut at: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            let block = self.block(at / BLOCK as u64)?;
            let start = usize::try_from(at % BLOCK as u64).map_err(io::Error::other)?;
            let found = block.get(start..).filter(|found| !found.is_empty()).ok_or(io::ErrorKind::UnexpectedEof)?;
            let taken = found.len().min(buffer.len());
            let (head, tail) = buffer.split_at_mut(taken);
            head.copy_from_slice(found.get(..taken).unwrap_or_default());
            buffer = tail;
            at += taken as u64;
        }
        Ok(())
    }
}
