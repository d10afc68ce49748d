//! A terminal that may not take everything at once.

use std::io::{self, Stdout, Write};
#[cfg(unix)]
use std::os::fd::AsFd;

/// Where the screen is written to. Whoever shares a terminal may have set it so that it takes what it has room for and refuses the
/// rest: room is waited for, a terminal that is gone is not.
#[derive(Debug)]
pub(super) struct Output<F>(F);

/// How long room is waited for at a time: meanwhile another may have put something else in the terminal's place.
#[cfg(unix)]
const A_WHILE: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

impl Output<Stdout> {
    /// The terminal on standard output.
    pub(super) fn terminal() -> Self {
        Self(io::stdout())
    }
}

#[cfg(unix)]
impl<F: AsFd> Write for Output<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            match rustix::io::write(&self.0, bytes) {
                Err(rustix::io::Errno::AGAIN) => {
                    // Whatever came of this, the next try says it.
                    let _ = poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], Some(&A_WHILE));
                }
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
impl<F: Write> Write for Output<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_there_is_no_room_for_is_waited_for() {
        let (terminal, mut reader) = UnixStream::pair().unwrap();
        terminal.set_nonblocking(true).unwrap();
        let frame: Vec<u8> = (0..4_000_000_u32).map(|at| at.to_le_bytes()[1]).collect();
        let read = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).map(|_| read)
        });
        Output(terminal).write_all(&frame).unwrap();
        assert!(read.join().unwrap().unwrap() == frame, "every byte has come, once");
    }

    #[test]
    fn a_terminal_that_is_gone_is_not_waited_for() {
        let (terminal, reader) = UnixStream::pair().unwrap();
        terminal.set_nonblocking(true).unwrap();
        drop(reader);
        assert!(Output(terminal).write_all(b"x").is_err());
    }
}
