//! The bytes of an answer while they come: what is here of them is a body like any other.

use super::room::{LARGE_PAGE, Room};
use super::{Body, Bytes};
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

/// Bytes of a piece: it has its room from the beginning, so nothing that is here moves when more comes.
const PIECE: usize = LARGE_PAGE;

/// Bytes that are gathered in memory, and can be read all the while.
#[derive(Debug, Default)]
pub struct Arriving {
    pieces: Pieces,
    length: u64,
}

/// Every piece but the last is full.
#[derive(Debug, Clone, Default)]
struct Pieces(Arc<RwLock<Vec<Piece>>>);

#[derive(Debug)]
struct Piece {
    room: Room,
    filled: usize,
}

impl Piece {
    /// Room for the next bytes; the first may be all that is needed, and take a few pages.
    fn next(before: usize) -> io::Result<Self> {
        let room = if before == 0 { Room::sparse(PIECE)? } else { Room::full(PIECE)? };
        Ok(Self { room, filled: 0 })
    }

    fn filled(&self) -> &[u8] {
        self.room.get(..self.filled).unwrap_or_default()
    }

    /// Takes as many bytes as fit, and gives the rest.
    fn fill<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (fits, rest) = bytes.split_at(bytes.len().min(PIECE - self.filled));
        let after = self.filled + fits.len();
        if let Some(room) = self.room.get_mut(self.filled..after) {
            room.copy_from_slice(fits);
        }
        self.filled = after;
        rest
    }
}

impl Arriving {
    /// Adds what came next.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut pieces = self.pieces.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut rest = pieces.last_mut().map_or(bytes, |last| last.fill(bytes));
        while !rest.is_empty() {
            let mut piece = Piece::next(pieces.len())?;
            rest = piece.fill(rest);
            pieces.push(piece);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// How many bytes are here.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What is here; it stays as long as it is now when more comes.
    pub fn body(&self) -> Body {
        Body::new(Here { pieces: self.pieces.clone(), length: self.length })
    }
}

struct Here {
    pieces: Pieces,
    length: u64,
}

impl Bytes for Here {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, at: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        let pieces = self.pieces.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut at = usize::try_from(at).map_err(io::Error::other)?;
        while !buffer.is_empty() {
            let found = pieces.get(at / PIECE).and_then(|piece| piece.filled().get(at % PIECE..));
            let found = found.filter(|found| !found.is_empty()).ok_or(io::ErrorKind::UnexpectedEof)?;
            let (taken, rest) = buffer.split_at_mut(found.len().min(buffer.len()));
            taken.copy_from_slice(found.get(..taken.len()).unwrap_or_default());
            at += taken.len();
            buffer = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    proptest! {
        #[test]
        fn what_is_here_reads_as_it_came_and_stays(sizes in prop::collection::vec(0..PIECE * 2, 1..6)) {
            let whole = bytes(sizes.iter().sum());
            let (mut arriving, mut bodies) = (Arriving::default(), Vec::new());
            for size in sizes {
                let at = usize::try_from(arriving.len()).unwrap();
                arriving.push(&whole[at..at + size]).unwrap();
                bodies.push(arriving.body());
            }
            for body in bodies {
                let length = usize::try_from(body.len()).unwrap();
                prop_assert!(body.whole().unwrap() == whole[..length]);
                let (start, end) = (length / 3, length / 3 + PIECE.min(length / 2));
                prop_assert!(body.window(start as u64..end as u64).unwrap() == whole[start..end]);
            }
        }
    }
}
