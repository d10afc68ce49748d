//! Wakes a loop that waits for the keyboard.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// An alarm that any thread can ring. It wakes a loop that waits; one that does not finds what there is by itself.
#[derive(Debug, Default)]
pub(in super::super) struct Alarm {
    /// Whether somebody waits for it.
    is_set: AtomicBool,
    /// Where it is rung, and where that is heard.
    line: OnceLock<(UnixStream, UnixStream)>,
}

impl Alarm {
    /// Makes it heard beside the keyboard.
    pub(in super::super) fn connect(&self) -> io::Result<()> {
        let line = UnixStream::pair()?;
        line.0.set_nonblocking(true)?;
        line.1.set_nonblocking(true)?;
        // Only the first counts.
        let _ = self.line.set(line);
        Ok(())
    }

    pub(super) fn heard(&self) -> Option<&UnixStream> {
        self.line.get().map(|(_, heard)| heard)
    }

    /// From now on somebody waits for it.
    pub(in super::super) fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
    }

    /// Rings, if somebody waits for it.
    pub(in super::super) fn ring(&self) {
        if self.is_set.swap(false, Ordering::SeqCst) {
            self.ring_late();
        }
    }

    /// Rings, whoever has stopped waiting since it was looked at.
    pub(super) fn ring_late(&self) {
        if let Some((line, _)) = self.line.get() {
            // A line that is full has been rung.
            let _ = (&mut &*line).write(&[0]);
        }
    }

    pub(in super::super) fn clear(&self) {
        self.is_set.store(false, Ordering::SeqCst);
        if let Some(mut heard) = self.heard() {
            // Whoever was about to ring just now is heard once for nothing, the next time.
            let _ = heard.read(&mut [0; 16]);
        }
    }
}
