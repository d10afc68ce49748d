//! Keys, mouse and pastes, read by crossterm on a thread of its own.
//!
//! Only a key that comes alone, as the first since a frame was drawn, carries that frame's number, and so can spend. No part
//! of a burst (a paste without brackets, a late reply of the terminal) does.

use super::Outbox;
use crate::app::keys::KeyName;
use crate::app::keys::pointer::{MouseAction, Pointer};
use crate::app::{Key, Size, TerminalEvent};
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long the next part of a burst is waited for. crossterm reads nothing in no time at all.
const BURST: Duration = Duration::from_millis(1);

/// How often a program in the background checks for being in front again while the user types for the shell.
#[cfg(unix)]
const BEHIND: Duration = Duration::from_millis(50);

/// Reads the terminal and sends what it finds to the loop.
pub(super) struct Keyboard {
    outbox: Outbox,
    /// The number of the last frame that was begun.
    frame: Arc<AtomicU64>,
    /// The last frame that a key, or a paste, has answered.
    answered: u64,
}

impl Keyboard {
    /// A keyboard whose keys answer the frame with the number in `frame`.
    pub(super) fn new(outbox: Outbox, frame: Arc<AtomicU64>) -> Self {
        Self { outbox, frame, answered: 0 }
    }

    /// Sends everything typed so far.
    pub(super) fn read_pending(&mut self) -> io::Result<()> {
        let mut events = Vec::new();
        // Loaded before: no key of a burst answers a frame that is drawn while the burst is read.
        let on_screen = self.frame.load(Ordering::SeqCst);
        while event::poll(BURST)? {
            events.push(event::read()?);
        }
        let is_alone = events.len() == 1 && self.answered < on_screen;
        let messages = events.into_iter().filter_map(|event| message(event, if is_alone { on_screen } else { 0 }));
        for message in messages {
            if matches!(message, TerminalEvent::KeyInput { .. } | TerminalEvent::Paste(_)) {
                self.answered = on_screen;
            }
            self.outbox.send(message);
        }
        Ok(())
    }

    /// Reads until the terminal is gone.
    pub(super) fn run(&mut self) {
        while wait_for_input().is_ok() && self.read_pending().is_ok() {}
    }
}

/// Waits for input without reading it: the kernel stops a background process that reads a terminal.
#[cfg(unix)]
fn wait_for_input() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::io::IsTerminal;
    let (stdin, own);
    let terminal: &dyn std::os::fd::AsFd = if io::stdin().is_terminal() {
        stdin = io::stdin();
        &stdin
    } else {
        own = std::fs::File::open("/dev/tty")?;
        &own
    };
    loop {
        let mut watched = PollFd::new(&terminal, PollFlags::IN);
        let polled = poll(std::slice::from_mut(&mut watched), None);
        match polled {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) if watched.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(_) if super::terminal::is_in_front() => return Ok(()),
            Ok(_) => std::thread::sleep(BEHIND),
        }
    }
}

#[cfg(not(unix))]
fn wait_for_input() -> io::Result<()> {
    event::poll(Duration::from_secs(3600)).map(|_| ())
}

fn message(event: Event, frame: u64) -> Option<TerminalEvent> {
    match event {
        Event::Key(event) => key(event).map(|key| TerminalEvent::KeyInput { key, frame }),
        Event::Mouse(event) => pointer(event).map(TerminalEvent::Pointer),
        Event::Paste(text) => Some(TerminalEvent::Paste(text)),
        Event::Resize(width, height) => Some(TerminalEvent::Resize(Size { width, height })),
        _ => None,
    }
}

fn pointer(event: MouseEvent) -> Option<Pointer> {
    let does = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => MouseAction::Press,
        MouseEventKind::Drag(MouseButton::Left) => MouseAction::Drag,
        MouseEventKind::Up(MouseButton::Left) => MouseAction::Release,
        MouseEventKind::ScrollUp => MouseAction::Up,
        MouseEventKind::ScrollDown => MouseAction::Down,
        _ => return None,
    };
    Some(Pointer { x: event.column, y: event.row, does })
}

/// The app's name for a key press; none where it has none.
pub(super) fn key(event: KeyEvent) -> Option<Key> {
    let KeyEvent { code, modifiers, kind, .. } = event;
    if kind == KeyEventKind::Release {
        return None;
    }
    // AltGr arrives on Windows as Ctrl and Alt together, and makes a character.
    let is_alt_gr = cfg!(windows) && modifiers.contains(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let named = match code {
        KeyCode::Char(c) if c.is_control() => return None,
        KeyCode::Char(c) if is_alt_gr => return Some(Key::Char(c)),
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            return Some(Key::Ctrl(c.to_ascii_lowercase()));
        }
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::ALT) => return Some(Key::Alt(c)),
        KeyCode::Char(_) if modifiers.contains(KeyModifiers::META) => return None,
        KeyCode::Char(c) => return Some(Key::Char(c)),
        KeyCode::F(number) => return Some(Key::F(number)),
        KeyCode::Enter => KeyName::Enter,
        KeyCode::Esc => KeyName::Esc,
        KeyCode::Tab => KeyName::Tab,
        KeyCode::BackTab => KeyName::BackTab,
        KeyCode::Backspace => KeyName::Backspace,
        KeyCode::Delete => KeyName::Delete,
        KeyCode::Insert => KeyName::Insert,
        KeyCode::Up => KeyName::Up,
        KeyCode::Down => KeyName::Down,
        KeyCode::Left => KeyName::Left,
        KeyCode::Right => KeyName::Right,
        KeyCode::Home => KeyName::Home,
        KeyCode::End => KeyName::End,
        KeyCode::PageUp => KeyName::PageUp,
        KeyCode::PageDown => KeyName::PageDown,
        _ => return None,
    };
    Some(Key::Named(named))
}
