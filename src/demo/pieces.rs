//! A response body as an iterator of pieces, so that a report of any size is served in bounded memory.

use std::convert::Infallible;
use std::io::Write;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::{Body, Bytes, Frame, SizeHint};

/// A body, made piece by piece as the client reads it.
pub(super) struct Pieces {
    next: Box<dyn Iterator<Item = Bytes> + Send>,
    left: Option<u64>,
}

impl Pieces {
    /// A body held whole, with a known length.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let left = Some(bytes.len() as u64);
        Pieces { next: Box::new(std::iter::once(bytes).filter(|piece| !piece.is_empty())), left }
    }

    /// A body of unknown length.
    pub fn made(pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Self {
        Pieces { next: Box::new(pieces), left: None }
    }

    /// Several bodies, one after the other.
    pub fn joined(parts: Vec<Pieces>) -> Self {
        let left = parts.iter().map(|part| part.left).sum();
        Pieces { next: Box::new(parts.into_iter().flatten()), left }
    }

    /// The length in bytes, if it is known before the body is made.
    pub fn length(&self) -> Option<u64> {
        self.left
    }

    /// The same body, compressed.
    pub fn gzipped(self) -> Self {
        Pieces::made(Gzipped { source: self, encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())) })
    }
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces::whole("")
    }
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let piece = self.next.next()?;
        self.left = self.left.map(|left| left.saturating_sub(piece.len() as u64));
        Some(piece)
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

struct Gzipped {
    source: Pieces,
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Iterator for Gzipped {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        for piece in self.source.by_ref() {
            let encoder = self.encoder.as_mut()?;
            encoder.write_all(&piece).ok()?;
            let ready = mem::take(encoder.get_mut());
            if !ready.is_empty() {
                return Some(ready.into());
            }
        }
        let rest = self.encoder.take()?.finish().ok()?;
        Some(rest.into())
    }
}
