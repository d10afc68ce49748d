//! The bytes of an answer as received, the key masked, in memory.

use bytes::Bytes;
use std::ops::{Deref, Range};

/// The largest body that is indexed, in bytes: row starts are 32-bit offsets.
pub const LARGEST: usize = u32::MAX as usize;

/// Bytes that are worked on between two questions whether the result is still wanted.
pub const WINDOW: usize = 256 * 1024;

/// A range of an answer's bytes. Clones and slices share the memory.
#[derive(Clone, Default)]
pub struct Body(Bytes);

impl Body {
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    pub fn slice(&self, part: Range<usize>) -> Self {
        Self(self.0.slice(self.cut(part)))
    }

    /// The bytes of a range, cut to what there is.
    pub fn window(&self, part: Range<usize>) -> &[u8] {
        self.0.get(self.cut(part)).unwrap_or_default()
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.0.as_ptr_range() == other.0.as_ptr_range()
    }

    fn cut(&self, part: Range<usize>) -> Range<usize> {
        let start = part.start.min(self.0.len());
        start..part.end.clamp(start, self.0.len())
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", self.len())
    }
}
