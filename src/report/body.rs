//! The bytes of a response in memory, with the key redacted.

use bytes::Bytes;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

/// Maximum size of an indexed body, in bytes: row starts are 32-bit offsets.
pub const LARGEST: usize = u32::MAX as usize;

/// Bytes that are processed between two checks for cancellation.
pub const WINDOW: usize = 256 * 1024;

/// Size from which the first rows are shown before all bytes are read, in bytes.
pub const LARGE: u64 = 1 << 20;

/// A range of a response's bytes. Clones and slices share the memory.
///
/// The first bytes of a large report are shown while the others arrive: [`Body::so_far`] and
/// [`Body::window`] never wait, all other methods wait for the end.
#[derive(Clone, Default)]
pub struct Body {
    bytes: Bytes,
    /// Replaces this body once more bytes have arrived; `None` if it is complete.
    longer: Option<Arc<OnceLock<Body>>>,
}

/// Appends the remaining bytes of a body. If it is dropped before the end, the body stays cut.
pub struct BodyFiller(Body);

impl Body {
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), longer: None }
    }

    /// Returns a body with only its first bytes, and the filler for the rest.
    pub fn begun(first: Vec<u8>) -> (Self, BodyFiller) {
        let body = Self { bytes: first.into(), longer: Some(Arc::default()) };
        (body.clone(), BodyFiller(body))
    }

    /// Waits for this many bytes, or all; returns the body with the bytes so far.
    pub fn wait_for(&self, length: usize) -> &Self {
        let mut latest = self;
        while let Some(place) = &latest.longer {
            let is_short = latest.bytes.len() < length;
            let Some(longer) = (if is_short { Some(place.wait()) } else { place.get() }) else { break };
            latest = longer;
        }
        latest
    }

    /// Returns whether it began as a part, even if its end has arrived since.
    pub fn is_streamed(&self) -> bool {
        self.longer.is_some()
    }

    /// Returns whether all of it has arrived.
    pub fn is_whole(&self) -> bool {
        self.wait_for(0).longer.is_none()
    }

    /// Returns the received bytes.
    pub fn so_far(&self) -> &[u8] {
        &self.wait_for(0).bytes
    }

    pub fn slice(&self, part: Range<usize>) -> Self {
        let all = self.all();
        Self { bytes: all.slice(cut(all, part)), longer: None }
    }

    /// Returns the bytes of a range, cut to the received ones.
    pub fn window(&self, part: Range<usize>) -> &[u8] {
        let bytes = self.so_far();
        bytes.get(cut(bytes, part)).unwrap_or_default()
    }

    fn set_longer(&self, longer: Self) {
        // Each place is set only once.
        let _ = self.longer.as_ref().map(|place| place.set(longer));
    }

    fn all(&self) -> &Bytes {
        &self.wait_for(usize::MAX).bytes
    }
}

impl BodyFiller {
    /// Replaces the bytes by the ones received so far, which include the first.
    pub fn grow(&mut self, bytes: Vec<u8>) {
        let longer = Body { bytes: bytes.into(), longer: Some(Arc::default()) };
        std::mem::replace(&mut self.0, longer.clone()).set_longer(longer);
    }

    /// Completes the body with all of its bytes, which include the first.
    pub fn finish(mut self, bytes: Vec<u8>) -> Body {
        let whole = Body::in_memory(bytes);
        std::mem::take(&mut self.0).set_longer(whole.clone());
        whole
    }
}

impl Drop for BodyFiller {
    fn drop(&mut self) {
        self.0.set_longer(Body { bytes: self.0.bytes.clone(), longer: None });
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
