//! The bytes of an answer as received, the key masked, in memory.

use bytes::Bytes;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

/// The largest body that is indexed, in bytes: row starts are 32-bit offsets.
pub const LARGEST: usize = u32::MAX as usize;

/// Bytes that are worked on between two questions whether the result is still wanted.
pub const WINDOW: usize = 256 * 1024;

/// From this size on, in bytes, the first rows are shown before all bytes are read.
pub const LARGE: u64 = 1 << 20;

/// A range of an answer's bytes. Clones and slices share the memory.
///
/// Of a large report the first bytes are shown while the others are still being read: [`Body::so_far`]
/// never waits, everything else waits for the end.
#[derive(Clone, Default)]
pub struct Body {
    first: Bytes,
    /// All bytes, once they are here; none if they were from the start.
    whole: Option<Arc<OnceLock<Bytes>>>,
}

/// The rest of a body that is being read. Dropped unread, it leaves the body cut.
pub struct Rest(Body);

impl Body {
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        Self { first: bytes.into(), whole: None }
    }

    /// A body of which only the first bytes are here.
    pub fn begun(first: Vec<u8>) -> (Self, Rest) {
        let body = Self { first: first.into(), whole: Some(Arc::default()) };
        (body.clone(), Rest(body))
    }

    pub fn is_whole(&self) -> bool {
        self.whole.as_deref().is_none_or(|whole| whole.get().is_some())
    }

    /// The bytes that are here.
    pub fn so_far(&self) -> &[u8] {
        self.whole.as_deref().and_then(OnceLock::get).unwrap_or(&self.first)
    }

    pub fn slice(&self, part: Range<usize>) -> Self {
        let all = self.all();
        Self { first: all.slice(cut(all, part)), whole: None }
    }

    /// The bytes of a range, cut to those that are here.
    pub fn window(&self, part: Range<usize>) -> &[u8] {
        let bytes = self.so_far();
        bytes.get(cut(bytes, part)).unwrap_or_default()
    }

    fn all(&self) -> &Bytes {
        self.whole.as_deref().map_or(&self.first, OnceLock::wait)
    }
}

impl Rest {
    /// Hands over all bytes, the first ones among them.
    pub fn finish(self, bytes: Vec<u8>) -> Body {
        // It is set once: this takes the value away.
        let _ = self.0.whole.as_ref().map(|whole| whole.set(bytes.into()));
        self.0.clone()
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        let _ = self.0.whole.as_ref().map(|whole| whole.set(self.0.first.clone()));
    }
}

fn cut(bytes: &[u8], part: Range<usize>) -> Range<usize> {
    let start = part.start.min(bytes.len());
    start..part.end.clamp(start, bytes.len())
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.all()
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", self.so_far().len())
    }
}
