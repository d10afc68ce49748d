//! Asks the terminal whether its background is light, without waiting long and without leaving a byte of the answer behind.
//!
//! The question for the colour (OSC 11) is followed by one that every terminal answers (primary device attributes): when that
//! answer is there, no other will come. A terminal that answers neither in time may still do so later, as if it were typed:
//! [`Late`] takes that out.

use crate::app::key::Named;
use crate::app::{Key, Message};

/// What `COLORFGBG` says of the background: the last of its numbers is one of the sixteen colours.
pub(super) fn of_variable(value: &str) -> Option<bool> {
    let number: u8 = value.rsplit(';').next()?.parse().ok()?;
    (number < 16).then_some(matches!(number, 7 | 9..=15))
}

/// Whether the colour in an answer to OSC 11 is a light one; none where there is no such answer.
fn of_answer(answer: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(answer);
    let colours = text.split("\u{1b}]11;rgb").nth(1)?.trim_start_matches('a').strip_prefix(':')?;
    let mut parts = colours.split(['\u{7}', '\u{1b}']).next()?.split('/').map(|part| {
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(part, 16).ok()?) / f64::from(most))
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

/// Whether the answer that every terminal gives is complete.
#[cfg(unix)]
fn is_answered(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    text.rsplit("\u{1b}[?").next().is_some_and(|last| text.contains("\u{1b}[?") && last.contains('c'))
}

/// Asks the terminal. Says whether the background is light, if it answered, and whether an answer may still come.
#[cfg(unix)]
pub(super) fn ask() -> std::io::Result<(Option<bool>, bool)> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::io::{Read, Write};
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_millis(150);
    let mut terminal = std::fs::File::options().read(true).open("/dev/tty")?;
    let mut out = std::io::stdout();
    out.write_all(b"\x1b]11;?\x1b\\\x1b[c")?;
    out.flush()?;
    let (deadline, mut answer) = (Instant::now() + PATIENCE, Vec::new());
    while !is_answered(&answer) {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        let ready = poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&wait));
        if left.is_zero() || !ready.is_ok_and(|ready| ready > 0) {
            return Ok((of_answer(&answer), true));
        }
        let mut part = [0; 128];
        let read = terminal.read(&mut part)?;
        answer.extend(part.iter().take(read));
        if read == 0 || answer.len() > 4096 {
            break;
        }
    }
    Ok((of_answer(&answer), false))
}

#[cfg(not(unix))]
pub(super) fn ask() -> std::io::Result<(Option<bool>, bool)> {
    Ok((None, false))
}

/// Takes an answer that comes late out of what is typed: it arrives as `alt-]`, some characters, and an end.
#[derive(Debug, Default)]
pub(super) struct Late {
    is_awaited: bool,
    /// Characters of it that may still come.
    left: usize,
}

impl Late {
    /// The longest answer, in characters.
    const LONGEST: usize = 40;

    pub(super) fn new(is_awaited: bool) -> Self {
        Self { is_awaited, left: 0 }
    }

    /// The message, unless it belongs to a late answer.
    pub(super) fn pass(&mut self, message: Message) -> Option<Message> {
        let Message::Typed { key, .. } = &message else { return Some(message) };
        match (key, self.left) {
            (Key::Alt(']'), 0) if self.is_awaited => {
                *self = Self { is_awaited: false, left: Self::LONGEST };
                None
            }
            (_, 0) => Some(message),
            (Key::Alt('\\') | Key::Ctrl('g'), _) => {
                self.left = 0;
                None
            }
            (Key::Named(Named::Enter | Named::Tab | Named::Up | Named::Down), _) => {
                self.left = 0;
                Some(message)
            }
            _ => {
                self.left -= 1;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_are_told_apart() {
        assert_eq!(
            (of_variable("15;0"), of_variable("0;15"), of_variable("0;default;7")),
            (Some(false), Some(true), Some(true))
        );
        assert_eq!((of_variable(""), of_variable("0;default")), (None, None));
        assert_eq!(of_answer(b"\x1b]11;rgb:ffff/ffff/dddd\x1b\\\x1b[?62c"), Some(true));
        assert_eq!(of_answer(b"\x1b]11;rgb:1c/1c/1c\x07"), Some(false));
        assert_eq!(of_answer(b"\x1b]11;rgba:0000/2b2b/3636/ffff\x07"), Some(false));
        for odd in [
            &b""[..],
            b"\x1b[?62c",
            b"\x1b]11;rgb:",
            b"\x1b]11;rgb://",
            b"\x1b]11;rgb:zz/1/1\x07",
            b"\x1b]11;rgb:fffffffff/1/1",
        ] {
            assert_eq!(of_answer(odd), None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_answer_is_whole_when_its_last_letter_is_there() {
        assert!(is_answered(b"\x1b]11;rgb:1c/1c/1c\x07\x1b[?62;4c") && is_answered(b"\x1b[?6c"));
        assert!(!is_answered(b"\x1b]11;rgb:1c/1c/1c\x07") && !is_answered(b"\x1b[?62;4") && !is_answered(b""));
    }

    #[test]
    fn a_late_answer_is_no_typing() {
        let mut late = Late::new(true);
        let mut typed = |keys: &[Key]| {
            keys.iter().filter(|key| late.pass(Message::Typed { key: **key, frame: 0 }).is_some()).count()
        };
        let answer: Vec<_> = "11;rgb:ffff/ffff/ffff".chars().map(Key::Char).collect();
        assert_eq!(typed(&[Key::Char('f')]), 1);
        assert_eq!(typed(&[Key::Alt(']')]) + typed(&answer) + typed(&[Key::Ctrl('g')]), 0);
        assert_eq!(typed(&[Key::Char('f'), Key::Alt(']')]), 2);
    }
}
