//! A password typed at the terminal and not shown.

use super::keyboard::key;
use super::signals::BlockedSignals;
use super::terminal::RawModeGuard;
use crate::app::Key;
use crate::app::keys::KeyName;
use crossterm::event::{self, Event};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// The longest password, in bytes.
const LONGEST: usize = 4096;

/// How often a signal that asks for the end is checked for.
const PACE: Duration = Duration::from_millis(100);

/// Asks for a line without echo. A signal that ends the program does so once the terminal is as it was: this is why the modes
/// are not left to a crate, of which none restores them when a signal comes.
pub fn ask(words: &str) -> io::Result<String> {
    let mut to = io::stderr();
    if !to.is_terminal() || !io::stdin().is_terminal() {
        return Err(io::Error::from(io::ErrorKind::NotConnected));
    }
    let signals = BlockedSignals::begin()?;
    // Before the question: a quick answer is not shown either.
    let raw = RawModeGuard::now()?;
    let asked = write!(to, "{words}").and_then(|()| to.flush());
    let typed = asked.and_then(|()| read(&signals));
    drop(raw);
    writeln!(to)?;
    signals.let_go()?;
    typed
}

fn read(signals: &BlockedSignals) -> io::Result<String> {
    let mut typed = String::new();
    while !signals.has_any() {
        if !event::poll(PACE)? {
            continue;
        }
        let Event::Key(event) = event::read()? else { continue };
        match key(event) {
            Some(Key::Named(KeyName::Enter)) => return Ok(typed),
            Some(Key::Ctrl('c' | 'd')) => break,
            Some(Key::Ctrl('u')) => typed.clear(),
            Some(Key::Char(letter)) if typed.len() < LONGEST => typed.push(letter),
            Some(Key::Named(KeyName::Backspace)) => drop(typed.pop()),
            _ => {}
        }
    }
    Err(io::Error::from(io::ErrorKind::Interrupted))
}
