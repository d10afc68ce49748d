//! A line that is typed at the terminal and not shown.

use super::terminal::Raw;
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::{self, IsTerminal, Write};

/// The longest line that is taken, in letters.
const LONGEST: usize = 4096;

/// Asks for a line, and shows nothing of it.
///
/// # Errors
/// When there is no terminal, or the line is given up with ctrl-c.
pub fn ask(words: &str) -> io::Result<String> {
    let mut to = io::stderr();
    if !to.is_terminal() || !io::stdin().is_terminal() {
        return Err(io::Error::from(io::ErrorKind::NotConnected));
    }
    write!(to, "{words}")?;
    to.flush()?;
    let typed = read();
    writeln!(to)?;
    typed
}

fn read() -> io::Result<String> {
    let _raw = Raw::now()?;
    let mut typed = String::new();
    loop {
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match key.code {
            KeyCode::Enter => return Ok(typed),
            KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
            KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => typed.clear(),
            KeyCode::Char(letter) if typed.len() < LONGEST => typed.push(letter),
            KeyCode::Backspace => drop(typed.pop()),
            _ => {}
        }
    }
}
