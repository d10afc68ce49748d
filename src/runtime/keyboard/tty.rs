//! The keyboard of a Unix terminal.

use super::super::terminal::is_in_front_of;
use super::decoder::Decoder;
use super::{Alarm, Input};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const PIECE: usize = 4096;

/// Bytes that are read before the time is looked at: a paste may be long.
const IN_A_ROW: usize = 16 * PIECE;

/// How often it is looked whether this program is in front again, while something is typed for whoever is.
const BEHIND: Duration = Duration::from_millis(50);

/// Reads what is typed.
pub(in super::super) struct Keyboard {
    terminal: File,
    decoder: Decoder,
    unread: VecDeque<u8>,
    /// When something was read last.
    read: Instant,
}

/// What was waited for.
enum Came {
    Bytes,
    Alarm,
    Nothing,
}

impl Keyboard {
    /// The terminal on standard input, or else the one that the program belongs to.
    pub(in super::super) fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let terminal =
            if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned()?.into() } else { File::open("/dev/tty")? };
        Ok(Self::of(terminal))
    }

    fn of(terminal: File) -> Self {
        Self { terminal, decoder: Decoder::default(), unread: VecDeque::new(), read: Instant::now() }
    }

    /// Waits for what comes next, until the alarm rings, or until a moment if there is one; none if nothing came.
    pub(in super::super) fn next(&mut self, until: Option<Instant>, alarm: &Alarm) -> io::Result<Option<Input>> {
        let mut taken = 0;
        loop {
            while let Some(byte) = self.unread.pop_front() {
                if let Some(input) = self.decoder.feed(byte) {
                    return Ok(Some(input));
                }
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if taken >= IN_A_ROW && left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            match self.wait([left, self.patience()].into_iter().flatten().min(), alarm) {
                Came::Bytes => taken += self.read()?,
                Came::Alarm => return Ok(None),
                Came::Nothing if self.patience().is_some_and(|left| left.is_zero()) => {
                    if let Some(input) = self.decoder.silence() {
                        return Ok(Some(input));
                    }
                }
                Came::Nothing if until.is_some_and(|until| until <= Instant::now()) => return Ok(None),
                // A signal came.
                Came::Nothing => {}
            }
        }
    }

    /// How long it is until what has come is taken for all of it; none where it may be all for ever.
    fn patience(&self) -> Option<Duration> {
        self.decoder.patience().map(|patience| patience.saturating_sub(self.read.elapsed()))
    }

    /// Waits for bytes and the alarm, for so long if that is said. Behind the shell what is typed is the shell's: the system would
    /// stop whoever reads it there.
    fn wait(&self, time: Option<Duration>, alarm: &Alarm) -> Came {
        match self.come(time, alarm, true) {
            Came::Bytes if !is_in_front_of(&self.terminal) => {
                self.come(Some(time.map_or(BEHIND, |time| time.min(BEHIND))), alarm, false)
            }
            came => came,
        }
    }

    /// The same, of bytes only where they are wanted.
    fn come(&self, time: Option<Duration>, alarm: &Alarm, wants_bytes: bool) -> Came {
        let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let time = time.map(|time| Timespec { tv_sec: seconds(time), tv_nsec: time.subsec_nanos().into() });
        let terminal = PollFd::new(&self.terminal, PollFlags::IN);
        let alarm = alarm.heard().map(|heard| PollFd::new(heard, PollFlags::IN));
        let mut watched: Vec<_> = Some(terminal).filter(|_| wants_bytes).into_iter().chain(alarm).collect();
        let came = poll(&mut watched, time.as_ref()).unwrap_or(0);
        match watched.first() {
            Some(terminal) if wants_bytes && came > 0 && !terminal.revents().is_empty() => Came::Bytes,
            _ if came > 0 => Came::Alarm,
            _ => Came::Nothing,
        }
    }

    /// Reads what is there; says how many bytes.
    fn read(&mut self) -> io::Result<usize> {
        let mut piece = [0; PIECE];
        match self.terminal.read(&mut piece) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                self.read = Instant::now();
                self.unread.extend(piece.iter().take(read));
                Ok(read)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => Ok(0),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Key;
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    fn keyboard() -> (UnixStream, Keyboard) {
        let (typing, terminal) = UnixStream::pair().unwrap();
        (typing, Keyboard::of(File::from(OwnedFd::from(terminal))))
    }

    #[test]
    fn an_alarm_wakes_whoever_waits_for_a_key_and_no_key_is_lost() {
        let (mut typing, mut keyboard) = keyboard();
        let alarm = Alarm::default();
        alarm.connect().unwrap();
        for _ in 0..100 {
            alarm.set();
            std::thread::scope(|threads| {
                threads.spawn(|| alarm.ring());
                assert_eq!(keyboard.next(None, &alarm).unwrap(), None);
            });
            alarm.clear();
            typing.write_all(b"a").unwrap();
            assert_eq!(keyboard.next(None, &alarm).unwrap(), Some(Input::Key(Key::Char('a'))));
        }
        drop(typing);
        assert!(keyboard.next(None, &alarm).is_err());
    }

    #[test]
    fn an_alarm_that_rings_late_wakes_once() {
        let (_typing, mut keyboard) = keyboard();
        let alarm = Alarm::default();
        alarm.connect().unwrap();
        let mut wake = |alarm: &Alarm| {
            alarm.set();
            let began = Instant::now();
            assert_eq!(keyboard.next(Some(began + Duration::from_millis(50)), alarm).unwrap(), None);
            alarm.clear();
            began.elapsed() < Duration::from_millis(50)
        };
        alarm.ring_late();
        assert_eq!([wake(&alarm), wake(&alarm)], [true, false]);
    }

    #[test]
    fn what_comes_without_end_is_left_when_time_is_up() {
        let (mut typing, mut keyboard) = keyboard();
        typing.set_nonblocking(true).unwrap();
        typing.write_all(b"\x1b[200~").unwrap();
        while typing.write(&[b'x'; PIECE]).is_ok() {}
        assert_eq!(keyboard.next(Some(Instant::now()), &Alarm::default()).unwrap(), None);
        assert!(keyboard.unread.is_empty());
        assert!(typing.write(b"x").is_ok(), "something was read");
    }

    #[test]
    fn an_escape_is_a_key_after_a_moment_however_often_it_is_asked_for() {
        let (mut typing, mut keyboard) = keyboard();
        typing.write_all(b"\x1b").unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut found = None;
        while found.is_none() && Instant::now() < deadline {
            found = keyboard.next(Some(Instant::now()), &Alarm::default()).unwrap();
        }
        assert_eq!(found, Some(Input::Key("esc".parse().unwrap())));
    }
}
