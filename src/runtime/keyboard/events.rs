//! The keyboard where the system tells keys apart by itself.

use super::Input;
use crate::app::key::Named;
use crate::app::pointer::{Does, Pointer};
use crate::app::{Key, Size};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use std::io;
use std::time::Instant;

/// Reads what is typed.
pub(in super::super) struct Keyboard;

/// Nobody else reads it here, so it never has to make way.
pub(in super::super) struct Rest;

impl Rest {
    /// Nothing is to be waited for.
    pub(in super::super) fn begin(&self) {}
}

impl Keyboard {
    /// The way to keep it from reading.
    pub(in super::super) fn rest(&mut self) -> io::Result<Rest> {
        Ok(Rest)
    }

    /// The system's only one.
    pub(in super::super) fn open() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for what comes next, until a moment if there is one; none if nothing came.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(in super::super) fn next(&mut self, until: Option<Instant>) -> io::Result<Option<Input>> {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if let Some(left) = left
                && !event::poll(left)?
            {
                return Ok(None);
            }
            if let Some(input) = input(event::read()?) {
                return Ok(Some(input));
            }
        }
    }
}

fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(event) if event.kind != KeyEventKind::Release => key(event.code, event.modifiers).map(Input::Key),
        Event::Mouse(event) => pointer(event).map(Input::Pointer),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(width, height) => Some(Input::Resize(Size { width, height })),
        _ => None,
    }
}

fn pointer(event: MouseEvent) -> Option<Pointer> {
    let does = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Does::Press,
        MouseEventKind::Drag(MouseButton::Left) => Does::Drag,
        MouseEventKind::Up(MouseButton::Left) => Does::Release,
        MouseEventKind::ScrollUp => Does::Up,
        MouseEventKind::ScrollDown => Does::Down,
        _ => return None,
    };
    Some(Pointer { x: event.column, y: event.row, does })
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    let named = match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            return Some(Key::Ctrl(c.to_ascii_lowercase()));
        }
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::ALT) => return Some(Key::Alt(c)),
        KeyCode::Char(_) if modifiers.contains(KeyModifiers::META) => return None,
        KeyCode::Char(c) => return Some(Key::Char(c)),
        KeyCode::F(number) => return Some(Key::F(number)),
        KeyCode::Enter => Named::Enter,
        KeyCode::Esc => Named::Esc,
        KeyCode::Tab => Named::Tab,
        KeyCode::BackTab => Named::BackTab,
        KeyCode::Backspace => Named::Backspace,
        KeyCode::Delete => Named::Delete,
        KeyCode::Insert => Named::Insert,
        KeyCode::Up => Named::Up,
        KeyCode::Down => Named::Down,
        KeyCode::Left => Named::Left,
        KeyCode::Right => Named::Right,
        KeyCode::Home => Named::Home,
        KeyCode::End => Named::End,
        KeyCode::PageUp => Named::PageUp,
        KeyCode::PageDown => Named::PageDown,
        _ => return None,
    };
    Some(Key::Named(named))
}
