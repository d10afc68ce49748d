//! What is typed at the terminal, and what the terminal itself answers: told apart by the bytes, whoever asked and whenever it comes.

#[cfg(unix)]
mod alarm;
#[cfg(any(unix, test))]
mod decoder;
#[cfg(not(unix))]
mod events;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod tty;

#[cfg(unix)]
pub(super) use alarm::Alarm;
#[cfg(not(unix))]
pub(super) use events::{Alarm, Keyboard};
#[cfg(unix)]
pub(super) use tty::Keyboard;

use crate::app::keys::pointer::Pointer;
use crate::app::{Key, Size};

/// One thing that came from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Key(Key),
    Pointer(Pointer),
    Paste(String),
    /// The terminal has another size; on Unix a signal says so.
    #[cfg_attr(unix, allow(dead_code, reason = "a signal says so"))]
    Resize(Size),
    /// The terminal answered a question, this program's or another's: what stands between its introducer and its end.
    #[cfg_attr(not(unix), allow(dead_code, reason = "nothing is asked"))]
    Answer(Vec<u8>),
}
