//! The keyboard of a Unix terminal.

use super::Input;
use super::decoder::Decoder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const PIECE: usize = 4096;

/// How long it may take until nothing is read any more.
const AT_MOST: Duration = Duration::from_millis(500);

/// Reads what is typed.
pub(in super::super) struct Keyboard {
    terminal: File,
    decoder: Decoder,
    unread: VecDeque<u8>,
    /// Where it is asked to rest.
    asked: Option<UnixStream>,
}

/// Keeps the keyboard from reading.
pub(in super::super) struct Rest(UnixStream);

/// As long as this lives nothing is read: what is typed is somebody else's.
pub(in super::super) struct Resting<'a>(&'a Rest);

impl Rest {
    /// Waits until nothing is read any more; a keyboard that has ended reads nothing either.
    pub(in super::super) fn begin(&self) -> Resting<'_> {
        let _ = self.0.set_read_timeout(Some(AT_MOST));
        let _ = (&self.0).write_all(&[0]).and_then(|()| (&self.0).read_exact(&mut [0]));
        Resting(self)
    }
}

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        let _ = (&self.0.0).write_all(&[0]);
    }
}

impl Keyboard {
    /// The terminal on standard input, or else the one that the program belongs to.
    pub(in super::super) fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let terminal =
            if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned()?.into() } else { File::open("/dev/tty")? };
        Ok(Self { terminal, decoder: Decoder::default(), unread: VecDeque::new(), asked: None })
    }

    /// The way to keep it from reading while it is read on another thread.
    ///
    /// # Errors
    /// When the system refuses.
    pub(in super::super) fn rest(&mut self) -> io::Result<Rest> {
        let (asking, asked) = UnixStream::pair()?;
        self.asked = Some(asked);
        Ok(Rest(asking))
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
            if self.is_ready(wait) {
                self.read()?;
            } else if left.is_some_and(|left| patience.is_none_or(|patience| left < patience)) {
                return Ok(None);
            } else if let Some(input) = self.decoder.silence() {
                return Ok(Some(input));
            }
        }
    }

    /// Whether something comes in this time, if there is one.
    fn is_ready(&mut self, wait: Option<Duration>) -> bool {
        let seconds = |wait: Duration| i64::try_from(wait.as_secs()).unwrap_or(i64::MAX);
        let wait = wait.map(|wait| Timespec { tv_sec: seconds(wait), tv_nsec: wait.subsec_nanos().into() });
        loop {
            let terminal = PollFd::new(&self.terminal, PollFlags::IN);
            let mut watched: Vec<_> = [terminal]
                .into_iter()
                .chain(self.asked.as_ref().map(|asked| PollFd::new(asked, PollFlags::IN)))
                .collect();
            let is_ready = poll(&mut watched, wait.as_ref()).is_ok_and(|ready| ready > 0);
            if watched.get(1).is_none_or(|asked| asked.revents().is_empty()) {
                return is_ready;
            }
            self.make_way();
        }
    }

    /// Reads nothing until it may again.
    fn make_way(&mut self) {
        let turn = |mut asked: &UnixStream| {
            asked.read_exact(&mut [0])?;
            asked.write_all(&[0])?;
            asked.read_exact(&mut [0])
        };
        // Whoever could ask is gone.
        if self.asked.as_ref().is_some_and(|asked| turn(asked).is_err()) {
            self.asked = None;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Key;
    use std::os::fd::OwnedFd;

    #[test]
    fn while_it_rests_what_is_typed_is_somebody_elses() {
        let (mut typing, terminal) = UnixStream::pair().unwrap();
        let mut shell = terminal.try_clone().unwrap();
        let terminal = File::from(OwnedFd::from(terminal));
        let mut keyboard = Keyboard { terminal, decoder: Decoder::default(), unread: VecDeque::new(), asked: None };
        let rest = keyboard.rest().unwrap();
        let (sender, keys) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            while let Ok(Some(Input::Key(key))) = keyboard.next(None) {
                sender.send(key).unwrap();
            }
        });
        for _ in 0..20 {
            typing.write_all(b"a").unwrap();
            assert_eq!(keys.recv().unwrap(), Key::Char('a'));
            let resting = rest.begin();
            typing.write_all(b"b").unwrap();
            let mut read = [0];
            shell.read_exact(&mut read).unwrap();
            assert_eq!(read, *b"b");
            drop(resting);
        }
        drop(rest);
        typing.write_all(b"c").unwrap();
        assert_eq!(keys.recv().unwrap(), Key::Char('c'));
        drop(typing);
        reader.join().unwrap();
        assert!(keys.recv().is_err());
    }
}
