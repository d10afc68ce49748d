//! Raw bytes in compressed blocks that are read one at a time: opening a held report does not depend on its size.

use super::held::AnswerId;
use crate::report::body::Bytes;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a block before compression.
pub const BLOCK: usize = 256 * 1024;

/// Compression level: reports shrink to about a fifth, at the speed of a disk.
const LEVEL: i32 = 3;

/// Unpacked blocks that are kept at hand.
const AT_HAND: usize = 8;

/// Writes an answer's bytes, from a block on; blocks that stand there are written over.
pub(super) fn write(transaction: &Transaction<'_>, answer: AnswerId, first: u64, bytes: &[u8]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT OR REPLACE INTO block (answer, number, bytes) VALUES (?1, ?2, ?3)")?;
    for (number, block) in (i64::try_from(first).unwrap_or(i64::MAX)..).zip(bytes.chunks(BLOCK)) {
        let packed = zstd::bulk::compress(block, LEVEL)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        insert.execute(params![answer.0, number, packed])?;
    }
    Ok(())
}

/// An answer's bytes in the store.
pub(super) struct Blocks {
    connection: Arc<Mutex<Connection>>,
    at_hand: Mutex<VecDeque<(u64, Arc<[u8]>)>>,
    answer: AnswerId,
    length: u64,
}

impl Blocks {
    pub(super) fn new(connection: Arc<Mutex<Connection>>, answer: AnswerId, length: u64) -> Self {
        Self { connection, at_hand: Mutex::default(), answer, length }
    }

    fn block(&self, number: u64) -> io::Result<Arc<[u8]>> {
        let mut at_hand = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = at_hand.iter().find(|(found, _)| *found == number) {
            return Ok(Arc::clone(block));
        }
        let block: Arc<[u8]> = self.unpack(number)?.into();
        at_hand.truncate(AT_HAND - 1);
        at_hand.push_front((number, Arc::clone(&block)));
        Ok(block)
    }

    fn unpack(&self, number: u64) -> io::Result<Vec<u8>> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut select = connection
            .prepare_cached("SELECT bytes FROM block WHERE answer = ?1 AND number = ?2")
            .map_err(io::Error::other)?;
        let number = i64::try_from(number).map_err(io::Error::other)?;
        let packed: Option<Vec<u8>> =
            select.query_row(params![self.answer.0, number], |row| row.get(0)).optional().map_err(io::Error::other)?;
        let packed = packed.ok_or_else(|| io::Error::other("a block of it is missing in the store"))?;
        zstd::bulk::decompress(&packed, BLOCK).map_err(|_| io::Error::other("a block of it is damaged in the store"))
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
