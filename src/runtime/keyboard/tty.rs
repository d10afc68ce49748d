//! The keyboard of a Unix terminal.

use super::Input;
use super::decoder::Decoder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const PIECE: usize = 4096;

/// Reads what is typed.
pub(in super::super) struct Keyboard {
    terminal: File,
    decoder: Decoder,
    unread: VecDeque<u8>,
}

impl Keyboard {
    /// The terminal on standard input, or else the one that the program belongs to.
    pub(in super::super) fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let terminal =
            if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned()?.into() } else { File::open("/dev/tty")? };
        Ok(Self { terminal, decoder: Decoder::default(), unread: VecDeque::new() })
    }

    /// Waits for what comes next, until a moment if there is one; none if nothing came.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(in super::super) fn next(&mut self, until: Option<Instant>) -> io::Result<Option<Input>> {
        loop {
            while let Some(byte) = self.unread.pop_front() {
                if let Some(input) = self.decoder.feed(byte) {
                    return Ok(Some(input));
                }
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let patience = self.decoder.patience();
            let wait = [left, patience].into_iter().flatten().min();
            if wait.is_none_or(|wait| self.is_ready(wait)) {
                self.read()?;
            } else if left.is_some_and(|left| patience.is_none_or(|patience| left < patience)) {
                return Ok(None);
            } else if let Some(input) = self.decoder.silence() {
                return Ok(Some(input));
            }
        }
    }

    fn is_ready(&self, wait: Duration) -> bool {
        let wait =
            Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX), tv_nsec: wait.subsec_nanos().into() };
        poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&wait)).is_ok_and(|ready| ready > 0)
    }

    fn read(&mut self) -> io::Result<()> {
        let mut piece = [0; PIECE];
        match self.terminal.read(&mut piece) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                self.unread.extend(piece.iter().take(read));
                Ok(())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
