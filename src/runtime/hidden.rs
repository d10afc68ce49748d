//! A line that is typed at the terminal and not shown.

use super::keyboard::{Alarm, Input, Keyboard};
use super::signals::HeldBack;
use super::terminal::Raw;
use crate::app::Key;
use crate::app::keys::key::Named;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The longest line that is taken, in letters.
const LONGEST: usize = 4096;

/// How often it is looked whether the system asks for the end.
const PACE: Duration = Duration::from_millis(100);

/// Asks for a line, and shows nothing of it. A signal that ends the program does so once the terminal is as it was.
pub fn ask(words: &str) -> io::Result<String> {
    let mut to = io::stderr();
    if !to.is_terminal() || !io::stdin().is_terminal() {
        return Err(io::Error::from(io::ErrorKind::NotConnected));
    }
    let signals = HeldBack::begin()?;
    // Before the question: whoever answers at once is not shown either.
    let raw = Raw::now()?;
    let asked = write!(to, "{words}").and_then(|()| to.flush());
    let typed = asked.and_then(|()| read(&signals));
    drop(raw);
    writeln!(to)?;
    signals.let_go()?;
    typed
}

fn read(signals: &HeldBack) -> io::Result<String> {
    // Nobody rings: what is waited for beside keys is looked at now and then.
    let (mut keyboard, alarm) = (Keyboard::open()?, Alarm::default());
    let mut typed = String::new();
    loop {
        if signals.has_any() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let Some(Input::Key(key)) = keyboard.next(Some(Instant::now() + PACE), &alarm)? else { continue };
        match key {
            Key::Named(Named::Enter) => return Ok(typed),
            Key::Ctrl('c' | 'd') => return Err(io::Error::from(io::ErrorKind::Interrupted)),
            Key::Ctrl('u') => typed.clear(),
            Key::Char(letter) if typed.len() < LONGEST => typed.push(letter),
            Key::Named(Named::Backspace) => drop(typed.pop()),
            _ => {}
        }
    }
}
