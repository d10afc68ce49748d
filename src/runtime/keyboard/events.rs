//! The keyboard where the system tells keys apart by itself.

use super::Input;
use crate::app::keys::key::Named;
use crate::app::keys::pointer::{Does, Pointer};
use crate::app::{Key, Size};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use std::io;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is typed is read on a thread of its own: here nothing waits for a key and for another thread at once.
pub(in super::super) struct Keyboard {
    typed: Receiver<io::Result<Input>>,
    heard: Arc<Bell>,
}

/// An alarm that any thread can ring.
#[derive(Debug, Default)]
pub(in super::super) struct Alarm(Mutex<Arc<Bell>>);

/// What a loop waits for.
#[derive(Debug, Default)]
struct Bell {
    has_rung: Mutex<bool>,
    rung: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.has_rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.rung.notify_all();
    }

    /// Waits until it rings, for so long if that is said; says whether it has.
    fn wait(&self, time: Option<Duration>) -> bool {
        let rung = self.has_rung.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rung = match time {
            Some(time) => {
                let waited = self.rung.wait_timeout_while(rung, time, |rung| !*rung);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.rung.wait_while(rung, |rung| !*rung).unwrap_or_else(PoisonError::into_inner),
        };
        std::mem::take(&mut *rung)
    }
}

impl Alarm {
    /// It is heard as it is.
    pub(in super::super) fn connect(&self) -> io::Result<()> {
        Ok(())
    }

    /// It rings whether it is waited for or not.
    pub(in super::super) fn set(&self) {}

    pub(in super::super) fn ring(&self) {
        self.bell().ring();
    }

    /// What has rung is found to have by the next wait.
    pub(in super::super) fn clear(&self) {}

    fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Keyboard {
    pub(in super::super) fn open() -> io::Result<Self> {
        let ((sender, typed), heard) = (channel(), Arc::<Bell>::default());
        let bell = Arc::clone(&heard);
        let read = move || {
            loop {
                let input = event::read().map(input).transpose();
                let is_over = input.as_ref().is_some_and(Result::is_err);
                if input.is_some_and(|input| sender.send(input).is_err()) || is_over {
                    return bell.ring();
                }
                bell.ring();
            }
        };
        std::thread::Builder::new().name("keyboard".to_owned()).spawn(read)?;
        Ok(Self { typed, heard })
    }

    /// Waits for what comes next, until the alarm rings, or until a moment if there is one; none if nothing came.
    pub(in super::super) fn next(&mut self, until: Option<Instant>, alarm: &Alarm) -> io::Result<Option<Input>> {
        // One bell for both.
        *alarm.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&self.heard);
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        match self.typed.try_recv() {
            Ok(input) => input.map(Some),
            Err(TryRecvError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(TryRecvError::Empty) if left.is_some_and(|left| left.is_zero()) => Ok(None),
            Err(TryRecvError::Empty) => {
                self.heard.wait(left);
                self.typed.try_recv().ok().transpose()
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
