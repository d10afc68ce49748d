//! What the loop waits for: messages from any thread, and what is typed. Both are waited for at once: a key needs no thread to
//! hand it on.

use super::keyboard::{Alarm, Input, Keyboard};
use crate::app::Message;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Puts messages into the loop's inbox, from any thread.
#[derive(Debug, Clone)]
pub struct Outbox {
    sender: Sender<Message>,
    alarm: Arc<Alarm>,
}

impl Outbox {
    /// Sends a message; a loop that has ended needs none.
    pub fn send(&self, message: Message) {
        if self.sender.send(message).is_ok() {
            self.alarm.ring();
        }
    }
}

/// There is no keyboard any more; said once.
#[derive(Debug)]
pub(super) struct Unheard;

/// What has come, in order.
pub(super) struct Inbox {
    messages: Receiver<Message>,
    alarm: Arc<Alarm>,
    keyboard: Option<Keyboard>,
    /// What was typed before the last frame was begun, and has not been taken in yet.
    ahead: VecDeque<Message>,
    /// The number of the last frame that was begun: what is typed answers that one.
    frame: u64,
    is_unheard: bool,
}

impl Inbox {
    /// An inbox without a keyboard, and the way into it.
    pub(super) fn new() -> (Outbox, Self) {
        let ((sender, messages), alarm) = (channel(), Arc::<Alarm>::default());
        let outbox = Outbox { sender, alarm: Arc::clone(&alarm) };
        let (keyboard, ahead) = (None, VecDeque::new());
        (outbox, Self { messages, alarm, keyboard, ahead, frame: 0, is_unheard: false })
    }

    /// Hears what is typed from now on.
    pub(super) fn listen(&mut self, keyboard: Keyboard) -> io::Result<()> {
        self.alarm.connect()?;
        self.keyboard = Some(keyboard);
        Ok(())
    }

    /// The number of the last frame that was begun, counted from 1.
    pub(super) fn frame(&self) -> u64 {
        self.frame
    }

    /// Begins a further frame, of which the first byte is still to be written: what was typed until now is no answer to it, and
    /// whoever reads it on the screen may answer at once.
    pub(super) fn turn(&mut self) -> u64 {
        self.read_ahead();
        self.frame += 1;
        self.frame
    }

    /// Hears what has been typed, to be taken in next.
    pub(super) fn read_ahead(&mut self) {
        while let Some(keyboard) = &mut self.keyboard {
            match keyboard.next(Some(Instant::now()), &self.alarm) {
                Ok(Some(input)) => self.ahead.extend(message(input, self.frame)),
                Ok(None) => return,
                Err(_) => self.lose_keyboard(),
            }
        }
    }

    fn lose_keyboard(&mut self) {
        (self.keyboard, self.is_unheard) = (None, true);
    }

    /// What is there already, beside what is yet to be read from the keyboard.
    pub(super) fn here(&mut self) -> Option<Message> {
        self.ahead.pop_front().or_else(|| self.messages.try_recv().ok())
    }

    /// Waits for the next message of another thread for so long.
    pub(super) fn message(&mut self, patience: Duration) -> Option<Message> {
        self.here().or_else(|| self.messages.recv_timeout(patience).ok())
    }

    /// Waits for what comes next, be it typed; for so long, if that is said. None if nothing came.
    pub(super) fn next(&mut self, patience: Option<Duration>) -> Result<Option<Message>, Unheard> {
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            if let Some(message) = self.here() {
                return Ok(Some(message));
            }
            if std::mem::take(&mut self.is_unheard) {
                return Err(Unheard);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let Some(keyboard) = &mut self.keyboard else { return Ok(self.other(left)) };
            self.alarm.set();
            // Whoever sent before that rang for nobody.
            let first = self.messages.try_recv().ok();
            let typed = if first.is_some() { Ok(None) } else { keyboard.next(until, &self.alarm) };
            self.alarm.clear();
            match (first, typed) {
                (Some(message), _) => return Ok(Some(message)),
                (None, Ok(input)) => {
                    if let Some(message) = input.and_then(|input| message(input, self.frame)) {
                        return Ok(Some(message));
                    }
                }
                (None, Err(_)) => self.lose_keyboard(),
            }
        }
    }

    /// The same where nobody types.
    fn other(&self, left: Option<Duration>) -> Option<Message> {
        match left {
            Some(left) => self.messages.recv_timeout(left).ok(),
            None => self.messages.recv().ok(),
        }
    }
}

/// What came from the terminal, to the app, with the number of the last frame that was begun by then.
fn message(input: Input, frame: u64) -> Option<Message> {
    match input {
        // A late answer to another program's question.
        Input::Answer(_) => None,
        Input::Key(key) => Some(Message::Typed { key, frame }),
        Input::Pointer(pointer) => Some(Message::Pointer(pointer)),
        Input::Paste(text) => Some(Message::Paste(text)),
        Input::Resize(size) => Some(Message::Resize(size)),
    }
}
